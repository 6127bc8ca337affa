// RUN: ingot-opt %s --nn-assign-precision | FileCheck %s
// RUN: ingot-opt %s --nn-assign-precision='keep=b*=bf16,[ab]?=fp32' | FileCheck %s --check-prefix=KEEP
// RUN: not ingot-opt %s --nn-assign-precision='keep=b3=fp32' 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not ingot-opt %s --nn-assign-precision='keep=b1=int8' 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not ingot-opt %s --nn-assign-precision='keep==fp32' 2>&1 | FileCheck %s --check-prefix=EMPTY

// RUN: ingot-opt %s --nn-assign-precision=computed-only | FileCheck %s --check-prefix=COMPUTED
// RUN: ingot-opt %s --nn-assign-precision='computed-only keep=a1=int8,[ab]?=fp32' -o /dev/null

// NONE: error: rule 'b3=fp32' is of no node of the model; names like it: 'b1'
// OTHER: error: rule 'b1=int8' names int8, but the model is compiled in bf16: use GLOB=fp32, or GLOB=bf16 to except some from a later rule
// EMPTY: error: rule '=fp32' has no name before the sign

// CHECK-LABEL: @heavy
// CHECK: nn.conv {{.*}}ingot.precision = #ingot.precision<bf16>
// CHECK: nn.matmul {{.*}}ingot.precision = #ingot.precision<bf16>
// CHECK-NOT: ingot.precision
func.func @heavy(%x: tensor<1x8x8x4xf32>, %w: tensor<4x4x1x1xf32>, %b: tensor<4x4xf32>) -> tensor<1x8x8x4xf32> {
  %0 = nn.conv %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 1, 1>} : (tensor<1x8x8x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x8x8x4xf32>
  %1 = nn.matmul %0, %b : (tensor<1x8x8x4xf32>, tensor<4x4xf32>) -> tensor<1x8x8x4xf32>
  %2 = nn.softmax %1 {axis = 3 : i64} : tensor<1x8x8x4xf32> -> tensor<1x8x8x4xf32>
  return %2 : tensor<1x8x8x4xf32>
}

// Other types, and what someone chose already.
// CHECK-LABEL: @stays
// CHECK: nn.matmul %{{.*}}, %{{.*}} : (tensor<2x4xf64>
// CHECK: nn.matmul {{.*}}ingot.precision = #ingot.precision<fp32>
func.func @stays(%a: tensor<2x4xf64>, %b: tensor<4x4xf64>, %c: tensor<2x4xf32>, %d: tensor<4x4xf32>)
    -> (tensor<2x4xf64>, tensor<2x4xf32>) {
  %0 = nn.matmul %a, %b : (tensor<2x4xf64>, tensor<4x4xf64>) -> tensor<2x4xf64>
  %1 = nn.matmul %c, %d {ingot.precision = #ingot.precision<fp32>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  return %0, %1 : tensor<2x4xf64>, tensor<2x4xf32>
}

// The first rule that fits a node decides.
// KEEP-LABEL: @named
// KEEP: nn.matmul %{{[^{]*}} : (tensor<2x4xf32>
// KEEP: nn.matmul {{.*}}#ingot.precision<bf16>
func.func @named(%a: tensor<2x4xf32>, %b: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %0 = nn.matmul %a, %b : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32> loc("a1")
  %1 = nn.matmul %0, %b : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32> loc("b1")
  return %1 : tensor<2x4xf32>
}

// Products of what a run computes, not of constants; no convolutions.
// COMPUTED-LABEL: @heavy
// COMPUTED: nn.conv %{{[^{]*}} {channels_last,
// COMPUTED-LABEL: @computed
// COMPUTED: nn.matmul %{{.*}}, %{{.*}} {ingot.precision = #ingot.precision<bf16>, transpose_b}
// COMPUTED: nn.matmul %{{[^{]*}} : (tensor<2x2xf32>
func.func @computed(%a: tensor<2x4xf32>) -> tensor<2x2xf32> {
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %0 = nn.matmul %a, %a {transpose_b} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x2xf32>
  %1 = nn.matmul %0, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
