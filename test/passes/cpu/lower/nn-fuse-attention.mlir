// RUN: ingot-opt --pass-pipeline='builtin.module(func.func(nn-fuse-attention),canonicalize)' --split-input-file %s | FileCheck %s
// RUN: ingot-opt --pass-pipeline='builtin.module(ingot-attach-targets{levels=znver4,sapphirerapids},func.func(nn-fuse-attention{or-f32}))' --split-input-file %s | FileCheck %s --check-prefix=ORF32
// RUN: ingot-opt --pass-pipeline='builtin.module(ingot-attach-targets{levels=x86-64-v3,znver4},func.func(nn-fuse-attention{or-f32}))' --split-input-file %s | FileCheck %s --check-prefix=SOME
// RUN: ingot-opt --pass-pipeline='builtin.module(func.func(nn-fuse-attention))' --split-input-file --mlir-print-debuginfo %s | FileCheck %s --check-prefix=LOC

// Heads come from within a position and go back there: no transpose is left. The scale is at the queries.

// CHECK-LABEL: @self_attention
// CHECK-SAME: (%[[Q:.*]]: tensor<1x7x2x16xf32>, %[[K:.*]]: tensor<1x7x2x16xf32>, %[[V:.*]]: tensor<1x7x2x16xf32>)
// CHECK-NOT: nn.
// CHECK: %[[Y:.*]] = cpu.attention ins(%[[Q]], %[[K]], %[[V]] :
// CHECK-SAME: scale = 2.500000e-01
// CHECK: return %[[Y]]
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

// Scores are divided, and keys masked. Heads in front are moved inside.

// CHECK-LABEL: @masked
// CHECK-SAME: %[[M:[a-z0-9]+]]: tensor<1x1x1x9xf32>)
// CHECK-DAG: %[[Q:.*]] = nn.transpose %arg0 {perm = array<i64: 0, 2, 1, 3>}
// CHECK-DAG: %[[K:.*]] = nn.transpose %arg1 {perm = array<i64: 0, 2, 1, 3>}
// CHECK-DAG: %[[V:.*]] = nn.transpose %arg2 {perm = array<i64: 0, 2, 1, 3>}
// CHECK-DAG: %[[C:.*]] = tensor.collapse_shape %[[M]] {{.*}} : tensor<1x1x1x9xf32> into tensor<9xf32>
// CHECK-DAG: %[[T:.*]] = tensor.expand_shape %[[C]] {{.*}} : tensor<9xf32> into tensor<1x1x9x1xf32>
// CHECK: cpu.attention ins(%[[Q]], %[[K]], %[[V]] : {{.*}}) mask(%[[T]] : tensor<1x1x9x1xf32>)
// CHECK-SAME: outs({{.*}} : tensor<2x7x3x32xf32>) attributes {scale = 2.500000e-01
// CHECK: nn.transpose {{.*}} : tensor<2x7x3x32xf32> -> tensor<2x3x7x32xf32>
func.func @masked(%q: tensor<2x3x7x16xf32>, %k: tensor<2x3x9x16xf32>, %v: tensor<2x3x9x32xf32>,
                  %m: tensor<1x1x1x9xf32>) -> tensor<2x3x7x32xf32> {
  %c = arith.constant dense<4.0> : tensor<f32>
  %0 = nn.matmul %q, %k {transpose_b} : (tensor<2x3x7x16xf32>, tensor<2x3x9x16xf32>) -> tensor<2x3x7x9xf32>
  %1 = nn.div %0, %c : tensor<2x3x7x9xf32>, tensor<f32> -> tensor<2x3x7x9xf32>
  %2 = nn.add %1, %m : tensor<2x3x7x9xf32>, tensor<1x1x1x9xf32> -> tensor<2x3x7x9xf32>
  %3 = nn.softmax %2 {axis = 3 : i64} : tensor<2x3x7x9xf32> -> tensor<2x3x7x9xf32>
  %4 = nn.matmul %3, %v : (tensor<2x3x7x9xf32>, tensor<2x3x9x32xf32>) -> tensor<2x3x7x32xf32>
  return %4 : tensor<2x3x7x32xf32>
}

// -----

// A single head; a mask of queries and keys is transposed.

// CHECK-LABEL: @single_head
// CHECK: nn.transpose {{.*}} {perm = array<i64: 0, 1, 3, 2>} : tensor<1x1x7x9xf32> -> tensor<1x1x9x7xf32>
// CHECK: cpu.attention {{.*}} mask({{.*}} : tensor<1x1x9x7xf32>) outs({{.*}} : tensor<2x7x1x16xf32>)
// CHECK-SAME: scale = 1.000000e+00
// CHECK: tensor.collapse_shape {{.*}} : tensor<2x7x1x16xf32> into tensor<2x7x16xf32>
func.func @single_head(%q: tensor<2x7x16xf32>, %k: tensor<2x9x16xf32>, %v: tensor<2x9x16xf32>, %m: tensor<7x9xf32>)
    -> tensor<2x7x16xf32> {
  %0 = nn.matmul %q, %k {transpose_b} : (tensor<2x7x16xf32>, tensor<2x9x16xf32>) -> tensor<2x7x9xf32>
  %1 = nn.add %m, %0 : tensor<7x9xf32>, tensor<2x7x9xf32> -> tensor<2x7x9xf32>
  %2 = nn.softmax %1 {axis = 2 : i64} : tensor<2x7x9xf32> -> tensor<2x7x9xf32>
  %3 = nn.matmul %2, %v : (tensor<2x7x9xf32>, tensor<2x9x16xf32>) -> tensor<2x7x16xf32>
  return %3 : tensor<2x7x16xf32>
}

// -----

// Scales of both operands cancel out. Queries alone, times the scale of the scores, would exceed f32.

// CHECK-LABEL: @cancelled
// CHECK: cpu.attention {{.*}}scale = 1.000000e+00
// CHECK-LABEL: @scores_too_large
// CHECK-NOT: cpu.attention
// CHECK-LABEL: @scores_too_small
// CHECK-NOT: cpu.attention
func.func @cancelled(%q: tensor<1x7x16xf32>, %k: tensor<1x9x16xf32>) -> tensor<1x7x16xf32> {
  %c = arith.constant dense<0x72000000> : tensor<f32>
  %0 = nn.mul %q, %c : tensor<1x7x16xf32>, tensor<f32> -> tensor<1x7x16xf32>
  %1 = nn.div %k, %c : tensor<1x9x16xf32>, tensor<f32> -> tensor<1x9x16xf32>
  %2 = nn.matmul %0, %1 {transpose_b} : (tensor<1x7x16xf32>, tensor<1x9x16xf32>) -> tensor<1x7x9xf32>
  %3 = nn.softmax %2 {axis = 2 : i64} : tensor<1x7x9xf32> -> tensor<1x7x9xf32>
  %4 = nn.matmul %3, %k : (tensor<1x7x9xf32>, tensor<1x9x16xf32>) -> tensor<1x7x16xf32>
  return %4 : tensor<1x7x16xf32>
}
func.func @scores_too_large(%q: tensor<1x7x16xf32>, %k: tensor<1x9x16xf32>) -> tensor<1x7x16xf32> {
  %c = arith.constant dense<1.0e+30> : tensor<f32>
  %0 = nn.matmul %q, %k {transpose_b} : (tensor<1x7x16xf32>, tensor<1x9x16xf32>) -> tensor<1x7x9xf32>
  %1 = nn.mul %0, %c : tensor<1x7x9xf32>, tensor<f32> -> tensor<1x7x9xf32>
  %2 = nn.softmax %1 {axis = 2 : i64} : tensor<1x7x9xf32> -> tensor<1x7x9xf32>
  %3 = nn.matmul %2, %k : (tensor<1x7x9xf32>, tensor<1x9x16xf32>) -> tensor<1x7x16xf32>
  return %3 : tensor<1x7x16xf32>
}
func.func @scores_too_small(%q: tensor<1x7x16xf32>, %k: tensor<1x9x16xf32>) -> tensor<1x7x16xf32> {
  %c = arith.constant dense<0.0> : tensor<f32>
  %0 = nn.matmul %q, %k {transpose_b} : (tensor<1x7x16xf32>, tensor<1x9x16xf32>) -> tensor<1x7x9xf32>
  %1 = nn.mul %0, %c : tensor<1x7x9xf32>, tensor<f32> -> tensor<1x7x9xf32>
  %2 = nn.softmax %1 {axis = 2 : i64} : tensor<1x7x9xf32> -> tensor<1x7x9xf32>
  %3 = nn.matmul %2, %k : (tensor<1x7x9xf32>, tensor<1x9x16xf32>) -> tensor<1x7x16xf32>
  return %3 : tensor<1x7x16xf32>
}

// -----

// The kernel's location has all nodes that it computes.

// CHECK-LABEL: @names
// LOC: #[[QK:.*]] = loc("QK")
// LOC: #[[SCALE:.*]] = loc("Scale")
// LOC: #[[MASK:.*]] = loc("Mask")
// LOC: #[[SOFTMAX:.*]] = loc("Softmax")
// LOC: #[[PV:.*]] = loc("PV")
// LOC: #[[ALL:.*]] = loc(fused[#[[QK]], #[[SCALE]], #[[MASK]], #[[SOFTMAX]], #[[PV]]])
// LOC: @names
// LOC: cpu.attention
// LOC: -> tensor<1x7x1x16xf32> loc(#[[ALL]])
func.func @names(%q: tensor<1x7x16xf32>, %k: tensor<1x9x16xf32>, %m: tensor<9xf32>) -> tensor<1x7x16xf32> {
  %c = arith.constant dense<0.25> : tensor<f32>
  %0 = nn.matmul %q, %k {transpose_b} : (tensor<1x7x16xf32>, tensor<1x9x16xf32>) -> tensor<1x7x9xf32> loc("QK")
  %1 = nn.mul %0, %c : tensor<1x7x9xf32>, tensor<f32> -> tensor<1x7x9xf32> loc("Scale")
  %2 = nn.add %1, %m : tensor<1x7x9xf32>, tensor<9xf32> -> tensor<1x7x9xf32> loc("Mask")
  %3 = nn.softmax %2 {axis = 2 : i64} : tensor<1x7x9xf32> -> tensor<1x7x9xf32> loc("Softmax")
  %4 = nn.matmul %3, %k : (tensor<1x7x9xf32>, tensor<1x9x16xf32>) -> tensor<1x7x16xf32> loc("PV")
  return %4 : tensor<1x7x16xf32>
}

// -----

// The transpose of an input's heads belongs to a node, not to the input.

// CHECK-LABEL: @inputs
// LOC: #[[NODE:.*]] = loc("PV")
// LOC: @inputs
// LOC-COUNT-3: nn.transpose {{.*}} loc(#[[NODE]])
// LOC: cpu.attention
func.func @inputs(%q: tensor<1x2x7x16xf32> loc("q"), %k: tensor<1x2x9x16xf32> loc("k")) -> tensor<1x2x7x16xf32> {
  %0 = nn.matmul %q, %k {transpose_b} : (tensor<1x2x7x16xf32>, tensor<1x2x9x16xf32>) -> tensor<1x2x7x9xf32> loc("QK")
  %1 = nn.softmax %0 {axis = 3 : i64} : tensor<1x2x7x9xf32> -> tensor<1x2x7x9xf32> loc("Softmax")
  %2 = nn.matmul %1, %k : (tensor<1x2x7x9xf32>, tensor<1x2x9x16xf32>) -> tensor<1x2x7x16xf32> loc("PV")
  return %2 : tensor<1x2x7x16xf32>
}

// -----

// Must not fire: the scores have another user.

// CHECK-LABEL: @scores_returned
// CHECK-NOT: cpu.attention
func.func @scores_returned(%q: tensor<1x2x7x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>)
    -> (tensor<1x2x7x16xf32>, tensor<1x2x7x9xf32>) {
  %0 = nn.matmul %q, %k {transpose_b} : (tensor<1x2x7x16xf32>, tensor<1x2x9x16xf32>) -> tensor<1x2x7x9xf32>
  %1 = nn.softmax %0 {axis = 3 : i64} : tensor<1x2x7x9xf32> -> tensor<1x2x7x9xf32>
  %2 = nn.matmul %1, %v : (tensor<1x2x7x9xf32>, tensor<1x2x9x16xf32>) -> tensor<1x2x7x16xf32>
  return %2, %0 : tensor<1x2x7x16xf32>, tensor<1x2x7x9xf32>
}

// -----

// Must not fire: the probabilities have another user.

// CHECK-LABEL: @probabilities_returned
// CHECK-NOT: cpu.attention
func.func @probabilities_returned(%q: tensor<1x2x7x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>)
    -> (tensor<1x2x7x16xf32>, tensor<1x2x7x9xf32>) {
  %0 = nn.matmul %q, %k {transpose_b} : (tensor<1x2x7x16xf32>, tensor<1x2x9x16xf32>) -> tensor<1x2x7x9xf32>
  %1 = nn.softmax %0 {axis = 3 : i64} : tensor<1x2x7x9xf32> -> tensor<1x2x7x9xf32>
  %2 = nn.matmul %1, %v : (tensor<1x2x7x9xf32>, tensor<1x2x9x16xf32>) -> tensor<1x2x7x16xf32>
  return %2, %1 : tensor<1x2x7x16xf32>, tensor<1x2x7x9xf32>
}

// -----

// Must not fire: a softmax over queries, and a logarithm of the softmax.

// CHECK-LABEL: @other_softmax
// CHECK-NOT: cpu.attention
func.func @other_softmax(%q: tensor<1x2x9x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>)
    -> (tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) {
  %0 = nn.matmul %q, %k {transpose_b} : (tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) -> tensor<1x2x9x9xf32>
  %1 = nn.softmax %0 {axis = 2 : i64} : tensor<1x2x9x9xf32> -> tensor<1x2x9x9xf32>
  %2 = nn.matmul %1, %v : (tensor<1x2x9x9xf32>, tensor<1x2x9x16xf32>) -> tensor<1x2x9x16xf32>
  %3 = nn.matmul %k, %q {transpose_b} : (tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) -> tensor<1x2x9x9xf32>
  %4 = nn.softmax %3 {axis = 3 : i64, log} : tensor<1x2x9x9xf32> -> tensor<1x2x9x9xf32>
  %5 = nn.matmul %4, %v : (tensor<1x2x9x9xf32>, tensor<1x2x9x16xf32>) -> tensor<1x2x9x16xf32>
  return %2, %5 : tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>
}

// -----

// Must not fire: heads that do not fill vectors, batches that may broadcast,
// keys of two sizes.

// CHECK-LABEL: @sizes
// CHECK-NOT: cpu.attention
func.func @sizes(%q: tensor<1x2x7x24xf32>, %k: tensor<1x2x9x24xf32>, %v: tensor<1x2x9x16xf32>,
                 %dq: tensor<?x1x7x16xf32>, %dk: tensor<?x1x9x16xf32>, %dv: tensor<?x1x9x16xf32>)
    -> (tensor<1x2x7x16xf32>, tensor<?x1x7x16xf32>) {
  %0 = nn.matmul %q, %k {transpose_b} : (tensor<1x2x7x24xf32>, tensor<1x2x9x24xf32>) -> tensor<1x2x7x9xf32>
  %1 = nn.softmax %0 {axis = 3 : i64} : tensor<1x2x7x9xf32> -> tensor<1x2x7x9xf32>
  %2 = nn.matmul %1, %v : (tensor<1x2x7x9xf32>, tensor<1x2x9x16xf32>) -> tensor<1x2x7x16xf32>
  %6 = nn.matmul %dq, %dk {transpose_b} : (tensor<?x1x7x16xf32>, tensor<?x1x9x16xf32>) -> tensor<?x1x7x9xf32>
  %7 = nn.softmax %6 {axis = 3 : i64} : tensor<?x1x7x9xf32> -> tensor<?x1x7x9xf32>
  %8 = nn.matmul %7, %dv : (tensor<?x1x7x9xf32>, tensor<?x1x9x16xf32>) -> tensor<?x1x7x16xf32>
  return %2, %8 : tensor<1x2x7x16xf32>, tensor<?x1x7x16xf32>
}

// -----

// More keys than fit on the stack at once, and dynamic sizes without products
// of bf16. The mask is as long as the keys, since both dimensions have one
// name.

// CHECK-LABEL: @many
// CHECK: cpu.attention {{.*}} tensor<1x1025x1x16xf32>
// CHECK: cpu.attention {{.*}} mask({{.*}} : tensor<1x1x?x1xf32>) outs({{.*}} : tensor<1x?x1x16xf32>)
// CHECK-NOT: nn.matmul
func.func @many(%mq: tensor<1x1x2x16xf32>, %mk: tensor<1x1x1025x16xf32>, %mv: tensor<1x1x1025x16xf32>,
                %x: tensor<1x1x?x16xf32> {ingot.dim_names = ["", "", "n", ""]},
                %mask: tensor<1x1x1x?xf32> {ingot.dim_names = ["", "", "", "n"]})
    -> (tensor<1x1x2x16xf32>, tensor<1x1x?x16xf32>) {
  %3 = nn.matmul %mq, %mk {transpose_b} : (tensor<1x1x2x16xf32>, tensor<1x1x1025x16xf32>) -> tensor<1x1x2x1025xf32>
  %4 = nn.softmax %3 {axis = 3 : i64} : tensor<1x1x2x1025xf32> -> tensor<1x1x2x1025xf32>
  %5 = nn.matmul %4, %mv : (tensor<1x1x2x1025xf32>, tensor<1x1x1025x16xf32>) -> tensor<1x1x2x16xf32>
  %6 = nn.matmul %x, %x {transpose_b, ingot.backend = #ingot.backend<loops>} : (tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>) -> tensor<1x1x?x?xf32>
  %7 = nn.add %6, %mask : tensor<1x1x?x?xf32>, tensor<1x1x1x?xf32> -> tensor<1x1x?x?xf32>
  %8 = nn.softmax %7 {axis = 3 : i64, ingot.backend = #ingot.backend<native>} : tensor<1x1x?x?xf32> -> tensor<1x1x?x?xf32>
  %9 = nn.matmul %8, %x {ingot.backend = #ingot.backend<loops>} : (tensor<1x1x?x?xf32>, tensor<1x1x?x16xf32>) -> tensor<1x1x?x16xf32>
  return %5, %9 : tensor<1x1x2x16xf32>, tensor<1x1x?x16xf32>
}

// -----

// A position bias and a mask are added first, once for layers that share them. Must not fire for three summands.

// CHECK-LABEL: @biased
// CHECK-SAME: %[[BIAS:[a-z0-9]+]]: tensor<1x2x7x9xf32>, %[[MASK:[a-z0-9]+]]: tensor<3x1x1x9xf32>
// CHECK: %[[SUM:.*]] = nn.add %[[BIAS]], %[[MASK]] : tensor<1x2x7x9xf32>, tensor<3x1x1x9xf32> -> tensor<3x2x7x9xf32>
// CHECK: %[[T:.*]] = nn.transpose %[[SUM]]
// CHECK: cpu.attention {{.*}} mask(%[[T]] : tensor<3x2x9x7xf32>)
// CHECK: cpu.attention {{.*}} mask({{.*}} : tensor<3x2x9x7xf32>)
// CHECK-NOT: cpu.attention
func.func @biased(%q: tensor<3x2x7x16xf32>, %k: tensor<3x2x9x16xf32>, %v: tensor<3x2x9x16xf32>,
                  %bias: tensor<1x2x7x9xf32>, %mask: tensor<3x1x1x9xf32>, %half: tensor<f32>)
    -> (tensor<3x2x7x16xf32>, tensor<3x2x7x16xf32>, tensor<3x2x7x16xf32>) {
  %0 = nn.matmul %q, %k {transpose_b} : (tensor<3x2x7x16xf32>, tensor<3x2x9x16xf32>) -> tensor<3x2x7x9xf32>
  %1 = nn.add %0, %bias : tensor<3x2x7x9xf32>, tensor<1x2x7x9xf32> -> tensor<3x2x7x9xf32>
  %2 = nn.add %1, %mask : tensor<3x2x7x9xf32>, tensor<3x1x1x9xf32> -> tensor<3x2x7x9xf32>
  %3 = nn.softmax %2 {axis = 3 : i64} : tensor<3x2x7x9xf32> -> tensor<3x2x7x9xf32>
  %4 = nn.matmul %3, %v : (tensor<3x2x7x9xf32>, tensor<3x2x9x16xf32>) -> tensor<3x2x7x16xf32>
  %5 = nn.matmul %q, %k {transpose_b} : (tensor<3x2x7x16xf32>, tensor<3x2x9x16xf32>) -> tensor<3x2x7x9xf32>
  %other = nn.mul %mask, %half : tensor<3x1x1x9xf32>, tensor<f32> -> tensor<3x1x1x9xf32>
  %wide = nn.add %bias, %other : tensor<1x2x7x9xf32>, tensor<3x1x1x9xf32> -> tensor<3x2x7x9xf32>
  %6 = nn.add %wide, %5 : tensor<3x2x7x9xf32>, tensor<3x2x7x9xf32> -> tensor<3x2x7x9xf32>
  %7 = nn.softmax %6 {axis = 3 : i64} : tensor<3x2x7x9xf32> -> tensor<3x2x7x9xf32>
  %8 = nn.matmul %7, %v : (tensor<3x2x7x9xf32>, tensor<3x2x9x16xf32>) -> tensor<3x2x7x16xf32>
  %9 = nn.matmul %q, %k {transpose_b} : (tensor<3x2x7x16xf32>, tensor<3x2x9x16xf32>) -> tensor<3x2x7x9xf32>
  %10 = nn.add %9, %bias : tensor<3x2x7x9xf32>, tensor<1x2x7x9xf32> -> tensor<3x2x7x9xf32>
  %11 = nn.add %10, %mask : tensor<3x2x7x9xf32>, tensor<3x1x1x9xf32> -> tensor<3x2x7x9xf32>
  %12 = nn.add %11, %mask : tensor<3x2x7x9xf32>, tensor<3x1x1x9xf32> -> tensor<3x2x7x9xf32>
  %13 = nn.softmax %12 {axis = 3 : i64} : tensor<3x2x7x9xf32> -> tensor<3x2x7x9xf32>
  %14 = nn.matmul %13, %v : (tensor<3x2x7x9xf32>, tensor<3x2x9x16xf32>) -> tensor<3x2x7x16xf32>
  return %4, %8, %14 : tensor<3x2x7x16xf32>, tensor<3x2x7x16xf32>, tensor<3x2x7x16xf32>
}

// -----

// Must not fire: the summand broadcasts the keys. Ops for another backend are
// left alone.

// CHECK-LABEL: @others
// CHECK-NOT: cpu.attention
func.func @others(%q: tensor<1x2x7x16xf32>, %k: tensor<1x2x1x16xf32>, %v: tensor<1x2x9x16xf32>, %m: tensor<9xf32>,
                  %k2: tensor<1x2x9x16xf32>)
    -> (tensor<1x2x7x16xf32>, tensor<1x2x7x16xf32>) {
  %0 = nn.matmul %q, %k {transpose_b} : (tensor<1x2x7x16xf32>, tensor<1x2x1x16xf32>) -> tensor<1x2x7x1xf32>
  %1 = nn.add %0, %m : tensor<1x2x7x1xf32>, tensor<9xf32> -> tensor<1x2x7x9xf32>
  %2 = nn.softmax %1 {axis = 3 : i64} : tensor<1x2x7x9xf32> -> tensor<1x2x7x9xf32>
  %3 = nn.matmul %2, %v : (tensor<1x2x7x9xf32>, tensor<1x2x9x16xf32>) -> tensor<1x2x7x16xf32>
  %7 = nn.matmul %q, %k2 {transpose_b} : (tensor<1x2x7x16xf32>, tensor<1x2x9x16xf32>) -> tensor<1x2x7x9xf32>
  %8 = nn.softmax %7 {axis = 3 : i64, ingot.backend = #ingot.backend<loops>} : tensor<1x2x7x9xf32> -> tensor<1x2x7x9xf32>
  %9 = nn.matmul %8, %v : (tensor<1x2x7x9xf32>, tensor<1x2x9x16xf32>) -> tensor<1x2x7x16xf32>
  return %3, %9 : tensor<1x2x7x16xf32>, tensor<1x2x7x16xf32>
}

// -----

// Both products are bf16, so the kernel is. Must not be bf16 if only one
// product is.

// CHECK-LABEL: @of_bf16
// ORF32-LABEL: @of_bf16
// ORF32: cpu.attention {{.*}}#ingot.precision<bf16>
// CHECK: cpu.attention {{.*}} attributes {ingot.precision = #ingot.precision<bf16>, scale = 1.000000e+00 : f32}
func.func @of_bf16(%q: tensor<1x7x16xf32>, %k: tensor<1x9x16xf32>, %v: tensor<1x9x16xf32>) -> tensor<1x7x16xf32> {
  %0 = nn.matmul %q, %k {ingot.precision = #ingot.precision<bf16>, transpose_b} : (tensor<1x7x16xf32>, tensor<1x9x16xf32>) -> tensor<1x7x9xf32>
  %1 = nn.softmax %0 {axis = 2 : i64} : tensor<1x7x9xf32> -> tensor<1x7x9xf32>
  %2 = nn.matmul %1, %v {ingot.precision = #ingot.precision<bf16>} : (tensor<1x7x9xf32>, tensor<1x9x16xf32>) -> tensor<1x7x16xf32>
  return %2 : tensor<1x7x16xf32>
}

// CHECK-LABEL: @of_both
// CHECK: cpu.attention {{.*}} attributes {scale = 1.000000e+00 : f32}
func.func @of_both(%q: tensor<1x7x16xf32>, %k: tensor<1x9x16xf32>, %v: tensor<1x9x16xf32>) -> tensor<1x7x16xf32> {
  %0 = nn.matmul %q, %k {transpose_b} : (tensor<1x7x16xf32>, tensor<1x9x16xf32>) -> tensor<1x7x9xf32>
  %1 = nn.softmax %0 {axis = 2 : i64} : tensor<1x7x9xf32> -> tensor<1x7x9xf32>
  %2 = nn.matmul %1, %v {ingot.precision = #ingot.precision<bf16>} : (tensor<1x7x9xf32>, tensor<1x9x16xf32>) -> tensor<1x7x16xf32>
  return %2 : tensor<1x7x16xf32>
}

// The attention of one product, which was declared bf16 although some level does not multiply bf16.
// ORF32-LABEL: @left
// ORF32-NOT: ingot.precision
// SOME-LABEL: @left
// SOME: nn.matmul {{.*}} {ingot.precision = #ingot.precision<bf16>}
func.func @left(%a: tensor<1x7x16xf32>, %b: tensor<1x16x16xf32>) -> tensor<1x7x16xf32> {
  %0 = nn.matmul %a, %b {ingot.precision = #ingot.precision<bf16>} : (tensor<1x7x16xf32>, tensor<1x16x16xf32>) -> tensor<1x7x16xf32>
  return %0 : tensor<1x7x16xf32>
}

// -----

// Zeros if all probabilities are NaN, as PyTorch's exporters write masks of bits.

// CHECK-LABEL: @safe
// CHECK-NOT: nn.is_nan
// CHECK: cpu.attention {{.*}} attributes {safe, scale = 1.000000e+00 : f32}
func.func @safe(%q: tensor<1x7x16xf32>, %k: tensor<1x9x16xf32>, %v: tensor<1x9x16xf32>, %m: tensor<7x9xf32>)
    -> tensor<1x7x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<1xf32>
  %0 = nn.matmul %q, %k {transpose_b} : (tensor<1x7x16xf32>, tensor<1x9x16xf32>) -> tensor<1x7x9xf32>
  %1 = nn.add %0, %m : tensor<1x7x9xf32>, tensor<7x9xf32> -> tensor<1x7x9xf32>
  %2 = nn.softmax %1 {axis = 2 : i64} : tensor<1x7x9xf32> -> tensor<1x7x9xf32>
  %3 = nn.is_nan %2 : tensor<1x7x9xf32> -> tensor<1x7x9xi1>
  %4 = nn.select %3, %zero, %2 : tensor<1x7x9xi1>, tensor<1xf32>, tensor<1x7x9xf32> -> tensor<1x7x9xf32>
  %5 = nn.matmul %4, %v : (tensor<1x7x9xf32>, tensor<1x9x16xf32>) -> tensor<1x7x16xf32>
  return %5 : tensor<1x7x16xf32>
}

// -----

// Must not fire: other values than zeros, or a test of other values for NaN.

// CHECK-LABEL: @ones
// CHECK-NOT: cpu.attention
// CHECK-LABEL: @of_scores
// CHECK-NOT: cpu.attention
func.func @ones(%q: tensor<1x7x16xf32>, %k: tensor<1x9x16xf32>, %v: tensor<1x9x16xf32>) -> tensor<1x7x16xf32> {
  %one = arith.constant dense<1.0> : tensor<1xf32>
  %0 = nn.matmul %q, %k {transpose_b} : (tensor<1x7x16xf32>, tensor<1x9x16xf32>) -> tensor<1x7x9xf32>
  %1 = nn.softmax %0 {axis = 2 : i64} : tensor<1x7x9xf32> -> tensor<1x7x9xf32>
  %2 = nn.is_nan %1 : tensor<1x7x9xf32> -> tensor<1x7x9xi1>
  %3 = nn.select %2, %one, %1 : tensor<1x7x9xi1>, tensor<1xf32>, tensor<1x7x9xf32> -> tensor<1x7x9xf32>
  %4 = nn.matmul %3, %v : (tensor<1x7x9xf32>, tensor<1x9x16xf32>) -> tensor<1x7x16xf32>
  return %4 : tensor<1x7x16xf32>
}
func.func @of_scores(%q: tensor<1x7x16xf32>, %k: tensor<1x9x16xf32>, %v: tensor<1x9x16xf32>) -> tensor<1x7x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<1xf32>
  %0 = nn.matmul %q, %k {transpose_b} : (tensor<1x7x16xf32>, tensor<1x9x16xf32>) -> tensor<1x7x9xf32>
  %1 = nn.softmax %0 {axis = 2 : i64} : tensor<1x7x9xf32> -> tensor<1x7x9xf32>
  %2 = nn.is_nan %0 : tensor<1x7x9xf32> -> tensor<1x7x9xi1>
  %3 = nn.select %2, %zero, %1 : tensor<1x7x9xi1>, tensor<1xf32>, tensor<1x7x9xf32> -> tensor<1x7x9xf32>
  %4 = nn.matmul %3, %v : (tensor<1x7x9xf32>, tensor<1x9x16xf32>) -> tensor<1x7x16xf32>
  return %4 : tensor<1x7x16xf32>
}

// -----

// Zeros for queries that are masked completely, as ONNX's Attention gives: selected behind the kernel.

// CHECK-LABEL: @zeroed
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<f32>
// CHECK: %[[Y:.*]] = cpu.attention
// CHECK-NOT: safe
// CHECK: %[[NONE:.*]] = nn.transpose %{{.*}} {perm = array<i64: 0, 2, 1, 3>} : tensor<1x1x7x1xi1> -> tensor<1x7x1x1xi1>
// CHECK: nn.select %[[NONE]], %[[ZERO]], %[[Y]]
func.func @zeroed(%q: tensor<1x2x7x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>,
                  %m: tensor<1x1x7x9xf32>) -> tensor<1x2x7x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<1xf32>
  %lowest = arith.constant dense<0xFF800000> : tensor<1xf32>
  %0 = nn.matmul %q, %k {transpose_b} : (tensor<1x2x7x16xf32>, tensor<1x2x9x16xf32>) -> tensor<1x2x7x9xf32>
  %1 = nn.add %0, %m : tensor<1x2x7x9xf32>, tensor<1x1x7x9xf32> -> tensor<1x2x7x9xf32>
  %2 = nn.softmax %1 {axis = 3 : i64} : tensor<1x2x7x9xf32> -> tensor<1x2x7x9xf32>
  %3 = nn.reduce max %m {axes = array<i64: 3>, keep_dims} : tensor<1x1x7x9xf32> -> tensor<1x1x7x1xf32>
  %4 = nn.equal %3, %lowest : tensor<1x1x7x1xf32>, tensor<1xf32> -> tensor<1x1x7x1xi1>
  %5 = nn.select %4, %zero, %2 : tensor<1x1x7x1xi1>, tensor<1xf32>, tensor<1x2x7x9xf32> -> tensor<1x2x7x9xf32>
  %6 = nn.matmul %5, %v : (tensor<1x2x7x9xf32>, tensor<1x2x9x16xf32>) -> tensor<1x2x7x16xf32>
  return %6 : tensor<1x2x7x16xf32>
}

// -----

// An attention of bytes keeps its numbers. The mask has the queries last.

// CHECK-LABEL: @bytes
// CHECK: %[[M:.*]] = nn.transpose %arg3 {perm = array<i64: 0, 1, 3, 2>}
// CHECK: cpu.attention ins(%arg0, %arg1, %arg2 : tensor<1x8x2x16xui8>, tensor<1x9x2x16xui8>, tensor<1x9x2x32xi8>) mask(%[[M]] : tensor<1x1x9x8xf32>)
// CHECK-SAME: bytes = #cpu.attention_bytes<values_signed = true, src_zero = 128, keys_zero = 3, product_scale = {{.*}}, p_scale = {{.*}}, p_most = 255, result_scale = {{.*}}>, scale = 2.500000e-01 : f32}
func.func @bytes(%q: tensor<1x8x2x16xui8>, %k: tensor<1x9x2x16xui8>, %v: tensor<1x9x2x32xi8>, %m: tensor<1x1x8x9xf32>) -> tensor<1x8x2x32xf32> {
  %y = nn.byte_attention %q, %k, %v mask(%m) {q_zero_point = 128 : i64, k_zero_point = 3 : i64, v_zero_point = 0 : i64, product_scale = 1.0e-2 : f32, scale = 2.5e-1 : f32, p_scale = 4.0e-3 : f32, p_most = 255 : i64, result_scale = 1.0e-4 : f32} : (tensor<1x8x2x16xui8>, tensor<1x9x2x16xui8>, tensor<1x9x2x32xi8>, tensor<1x1x8x9xf32>) -> tensor<1x8x2x32xf32>
  return %y : tensor<1x8x2x32xf32>
}
