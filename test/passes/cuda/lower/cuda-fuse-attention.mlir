// RUN: ingot-opt --pass-pipeline='builtin.module(func.func(cuda-fuse-attention),canonicalize)' --split-input-file %s | FileCheck %s
// RUN: ingot-opt --pass-pipeline='builtin.module(func.func(cuda-fuse-attention{half=fp16 keep=kept=fp32}),canonicalize)' --split-input-file %s | FileCheck %s --check-prefix=FP16

// Heads come from within a position and go back there: no transpose is left.
// The scale is at the queries.

// CHECK-LABEL: @self_attention
// CHECK-SAME: (%[[Q:.*]]: tensor<1x7x2x16xf32>, %[[K:.*]]: tensor<1x7x2x16xf32>, %[[V:.*]]: tensor<1x7x2x16xf32>)
// CHECK-NOT: nn.
// CHECK: %[[Y:.*]] = cuda.attention ins(%[[Q]], %[[K]], %[[V]] :
// CHECK-SAME: scale = 2.500000e-01
// CHECK: cuda.yield
// CHECK: return %[[Y]]

// The user asked for f16: the factors are rounded.
// FP16-LABEL: @self_attention
// FP16-COUNT-3: nn.cast %{{.*}} : tensor<1x7x2x16xf32> -> tensor<1x7x2x16xf16>
// FP16: cuda.attention {{.*}}xf16>) outs(%{{.*}} : tensor<1x7x2x16xf32>)
func.func @self_attention(%q: tensor<1x7x2x16xf32>, %k: tensor<1x7x2x16xf32>, %v: tensor<1x7x2x16xf32>)
    -> tensor<1x7x2x16xf32> {
  %c = arith.constant dense<0.25> : tensor<f32>
  %0 = nn.mul %q, %c : tensor<1x7x2x16xf32>, tensor<f32> -> tensor<1x7x2x16xf32>
  %1 = nn.transpose %0 {perm = array<i64: 0, 2, 1, 3>} : tensor<1x7x2x16xf32> -> tensor<1x2x7x16xf32>
  %2 = nn.transpose %k {perm = array<i64: 0, 2, 1, 3>} : tensor<1x7x2x16xf32> -> tensor<1x2x7x16xf32>
  %3 = nn.transpose %v {perm = array<i64: 0, 2, 1, 3>} : tensor<1x7x2x16xf32> -> tensor<1x2x7x16xf32>
  %4 = nn.matmul %1, %2 {transpose_b} : (tensor<1x2x7x16xf32>, tensor<1x2x7x16xf32>) -> tensor<1x2x7x7xf32>
  %5 = nn.softmax %4 {axis = 3 : i64} : tensor<1x2x7x7xf32> -> tensor<1x2x7x7xf32>
  %6 = nn.matmul %5, %3 : (tensor<1x2x7x7xf32>, tensor<1x2x7x16xf32>) -> tensor<1x2x7x16xf32>
  %7 = nn.transpose %6 {perm = array<i64: 0, 2, 1, 3>} : tensor<1x2x7x16xf32> -> tensor<1x7x2x16xf32>
  return %7 : tensor<1x7x2x16xf32>
}

// -----

// Products that are assigned bf16 multiply bf16. The mask stays f32, and its
// queries come last.

// CHECK-LABEL: @masked
// CHECK: nn.transpose %arg3 {perm = array<i64: 0, 1, 3, 2>} : tensor<1x1x7x9xf32> -> tensor<1x1x9x7xf32>
// CHECK: cuda.attention ins({{.*}} : tensor<2x7x3x16xbf16>, tensor<2x9x3x16xbf16>, tensor<2x9x3x32xbf16>)
// CHECK-SAME: mask(%{{.*}} : tensor<1x1x9x7xf32>)
// CHECK-SAME: outs({{.*}} : tensor<2x7x3x32xf32>)
func.func @masked(%q: tensor<2x3x7x16xf32>, %k: tensor<2x3x9x16xf32>, %v: tensor<2x3x9x32xf32>,
                  %m: tensor<1x1x7x9xf32>) -> tensor<2x3x7x32xf32> {
  %0 = nn.matmul %q, %k {ingot.precision = #ingot.precision<bf16>, transpose_b} : (tensor<2x3x7x16xf32>, tensor<2x3x9x16xf32>) -> tensor<2x3x7x9xf32>
  %1 = nn.add %0, %m : tensor<2x3x7x9xf32>, tensor<1x1x7x9xf32> -> tensor<2x3x7x9xf32>
  %2 = nn.softmax %1 {axis = 3 : i64} : tensor<2x3x7x9xf32> -> tensor<2x3x7x9xf32>
  %3 = nn.matmul %2, %v {ingot.precision = #ingot.precision<bf16>} : (tensor<2x3x7x9xf32>, tensor<2x3x9x32xf32>) -> tensor<2x3x7x32xf32>
  return %3 : tensor<2x3x7x32xf32>
}

// -----

// A rule keeps a node in f32.

// FP16-LABEL: @kept
// FP16-NOT: f16
// FP16: cuda.attention
// FP16-NOT: f16
func.func @kept(%q: tensor<1x7x16xf32>, %k: tensor<1x9x16xf32>) -> tensor<1x7x16xf32> {
  %0 = nn.matmul %q, %k {transpose_b} : (tensor<1x7x16xf32>, tensor<1x9x16xf32>) -> tensor<1x7x9xf32> loc("kept")
  %1 = nn.softmax %0 {axis = 2 : i64} : tensor<1x7x9xf32> -> tensor<1x7x9xf32>
  %2 = nn.matmul %1, %k : (tensor<1x7x9xf32>, tensor<1x9x16xf32>) -> tensor<1x7x16xf32>
  return %2 : tensor<1x7x16xf32>
}

// -----

// The kernel does not hold heads of 144 elements.

// CHECK-LABEL: @large
// CHECK-NOT: cuda.attention
func.func @large(%q: tensor<1x7x144xf32>, %k: tensor<1x9x144xf32>) -> tensor<1x7x144xf32> {
  %0 = nn.matmul %q, %k {transpose_b} : (tensor<1x7x144xf32>, tensor<1x9x144xf32>) -> tensor<1x7x9xf32>
  %1 = nn.softmax %0 {axis = 2 : i64} : tensor<1x7x9xf32> -> tensor<1x7x9xf32>
  %2 = nn.matmul %1, %k : (tensor<1x7x9xf32>, tensor<1x9x144xf32>) -> tensor<1x7x144xf32>
  return %2 : tensor<1x7x144xf32>
}

// -----

// Queries and keys may be open, but not the elements of a head.

// CHECK-LABEL: @open_heads
// FP16-LABEL: @open_heads
// CHECK-NOT: cuda.attention
func.func @open_heads(%q: tensor<1x7x?xf32>, %k: tensor<1x9x?xf32>, %v: tensor<1x9x16xf32>) -> tensor<1x7x16xf32> {
  %0 = nn.matmul %q, %k {transpose_b} : (tensor<1x7x?xf32>, tensor<1x9x?xf32>) -> tensor<1x7x9xf32>
  %1 = nn.softmax %0 {axis = 2 : i64} : tensor<1x7x9xf32> -> tensor<1x7x9xf32>
  %2 = nn.matmul %1, %v : (tensor<1x7x9xf32>, tensor<1x9x16xf32>) -> tensor<1x7x16xf32>
  return %2 : tensor<1x7x16xf32>
}

// -----

// CHECK-LABEL: @open
// FP16-LABEL: @open
// CHECK: cuda.attention ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<1x?x1x16xf32>, tensor<1x9x1x16xf32>
func.func @open(%q: tensor<1x?x16xf32>, %k: tensor<1x9x16xf32>) -> tensor<1x?x16xf32> {
  %0 = nn.matmul %q, %k {transpose_b} : (tensor<1x?x16xf32>, tensor<1x9x16xf32>) -> tensor<1x?x9xf32>
  %1 = nn.softmax %0 {axis = 2 : i64} : tensor<1x?x9xf32> -> tensor<1x?x9xf32>
  %2 = nn.matmul %1, %k : (tensor<1x?x9xf32>, tensor<1x9x16xf32>) -> tensor<1x?x16xf32>
  return %2 : tensor<1x?x16xf32>
}

// -----

// Another op uses the scores.

// CHECK-LABEL: @used
// CHECK-NOT: cuda.attention
func.func @used(%q: tensor<1x7x16xf32>, %k: tensor<1x9x16xf32>) -> (tensor<1x7x16xf32>, tensor<1x7x9xf32>) {
  %0 = nn.matmul %q, %k {transpose_b} : (tensor<1x7x16xf32>, tensor<1x9x16xf32>) -> tensor<1x7x9xf32>
  %1 = nn.softmax %0 {axis = 2 : i64} : tensor<1x7x9xf32> -> tensor<1x7x9xf32>
  %2 = nn.matmul %1, %k : (tensor<1x7x9xf32>, tensor<1x9x16xf32>) -> tensor<1x7x16xf32>
  return %2, %1 : tensor<1x7x16xf32>, tensor<1x7x9xf32>
}
