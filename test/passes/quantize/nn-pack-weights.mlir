// RUN: ingot-opt --nn-pack-weights --split-input-file %s | FileCheck %s

// Two blocks of eight, of signed numbers: codes and zero points are 8 more.
// CHECK-LABEL: @signed
func.func @signed(%x: tensor<?x16xf32>, %b: tensor<1xf32>) -> tensor<?x1xf32> {
  %w = arith.constant dense<[[-8, -7, 0, 1, 2, 3, 4, 7, 0, 0, 0, 0, 0, 0, 0, 1]]> : tensor<1x16xi4>
  %s = arith.constant dense<[[0.5, 0.25]]> : tensor<1x2xf32>
  %z = arith.constant dense<[[1, -1]]> : tensor<1x2xi4>
  %0 = nn.dequantize_blocks %w, %s zero_point(%z) {axis = 1 : i64, block_size = 8 : i64} : (tensor<1x16xi4>, tensor<1x2xf32>, tensor<1x2xi4>) -> tensor<1x16xf32>
  // CHECK: %[[Q:.*]] = arith.constant dense<{{\[\[}}[16, 152, 186, 252], [136, 136, 136, 152]]]> : tensor<1x2x4xui8>
  // CHECK: %[[S:.*]] = arith.constant dense<{{\[\[}}5.000000e-01, 2.500000e-01]]> : tensor<1x2xf32>
  // CHECK: %[[Z:.*]] = arith.constant dense<{{\[\[}}9, 7]]> : tensor<1x2xui8>
  // CHECK: %[[Y:.*]] = nn.packed_matmul %arg0, %[[Q]], %[[S]] zero_point{{s?}}(%[[Z]]) {bits = 4 : i64, block_size = 8 : i64, depth = 16 : i64}
  // CHECK: nn.add %[[Y]], %arg1
  %1 = nn.matmul %x, %0 bias(%b) {transpose_b} : (tensor<?x16xf32>, tensor<1x16xf32>, tensor<1xf32>) -> tensor<?x1xf32>
  return %1 : tensor<?x1xf32>
}

// -----

// Blocks along the outputs, and of no whole words.
// CHECK-LABEL: @no
// CHECK-NOT: packed_matmul
func.func @no(%x: tensor<2x16xf32>) -> (tensor<2x16xf32>, tensor<2x16xf32>) {
  %w = arith.constant dense<1> : tensor<16x16xi4>
  %s = arith.constant dense<0.5> : tensor<16x2xf32>
  %t = arith.constant dense<0.5> : tensor<4x16xf32>
  %0 = nn.dequantize_blocks %w, %s {axis = 1 : i64, block_size = 8 : i64} : (tensor<16x16xi4>, tensor<16x2xf32>) -> tensor<16x16xf32>
  %1 = nn.dequantize_blocks %w, %t {axis = 0 : i64, block_size = 4 : i64} : (tensor<16x16xi4>, tensor<4x16xf32>) -> tensor<16x16xf32>
  %2 = nn.matmul %x, %0 : (tensor<2x16xf32>, tensor<16x16xf32>) -> tensor<2x16xf32>
  %3 = nn.matmul %x, %1 : (tensor<2x16xf32>, tensor<16x16xf32>) -> tensor<2x16xf32>
  return %2, %3 : tensor<2x16xf32>, tensor<2x16xf32>
}
