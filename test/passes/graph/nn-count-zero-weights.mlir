// RUN: ingot-opt %s --nn-count-zero-weights --split-input-file | FileCheck %s
// RUN: ingot-opt %s --nn-count-zero-weights --split-input-file --remarks-filter=zeros 2>&1 | FileCheck %s --check-prefix=REMARK

// Weights that products share count once.
// CHECK: module attributes {ingot.statistics = #ingot.statistics<weights = 14, zero_weights = 4>}
// REMARK: remark: [Analysis] weights | Category:zeros | Reason="3 of its 6 weights are zero"
// REMARK: remark: [Analysis] weights | Category:zeros | Reason="3 of its 6 weights are zero"
// REMARK: remark: [Analysis] weights | Category:zeros | Reason="3 of its 6 weights are zero"
// REMARK: remark: [Analysis] weights | Category:zeros | Reason="1 of its 8 weights are zero"
func.func @zeros(%x: tensor<?x3xf32>, %y: tensor<1x1x4xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>, tensor<1x8x4xf32>) {
  %w = arith.constant dense<[[1.0, 0.0], [-0.0, 2.0], [0.0, 0x7FC00000]]> : tensor<3x2xf32>
  %v = arith.constant dense<[[[1.0]], [[2.0]], [[0.0]], [[4.0]], [[5.0]], [[6.0]], [[7.0]], [[8.0]]]> : tensor<8x1x1xf32>
  %0 = nn.matmul %x, %w : (tensor<?x3xf32>, tensor<3x2xf32>) -> tensor<?x2xf32>
  %1 = nn.matmul %0, %w {transpose_b} : (tensor<?x2xf32>, tensor<3x2xf32>) -> tensor<?x3xf32>
  %2 = nn.matmul %1, %w : (tensor<?x3xf32>, tensor<3x2xf32>) -> tensor<?x2xf32>
  %3 = nn.conv %y, %v {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64}
    : (tensor<1x1x4xf32>, tensor<8x1x1xf32>) -> tensor<1x8x4xf32>
  return %0, %2, %3 : tensor<?x2xf32>, tensor<?x2xf32>, tensor<1x8x4xf32>
}

// -----

// Nothing to report: computed weights, and weights without zeros.
// CHECK: module {
// REMARK-NOT: remark
func.func @none(%x: tensor<2x3xf32>, %computed: tensor<3x2xf32>) -> tensor<2x2xf32> {
  %w = arith.constant dense<[[1.0, 3.0], [4.0, 2.0]]> : tensor<2x2xf32>
  %0 = nn.matmul %x, %computed : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %1 = nn.matmul %0, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
