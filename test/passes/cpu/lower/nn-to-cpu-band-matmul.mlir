// RUN: ingot-opt --pass-pipeline='builtin.module(func.func(nn-to-cpu))' --split-input-file %s | FileCheck %s

// Rows of a constant matrix whose elements are 0 except for a few neighbours.
// The last rows begin earlier, so that all taps are within the columns.

// CHECK-LABEL: @left
// CHECK-DAG: %[[STARTS:.*]] = arith.constant dense<[0, 2, 6]> : tensor<3xi32>
// CHECK-DAG: %[[WEIGHTS:.*]] = arith.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00], [0.000000e+00, 5.000000e+00]]> : tensor<3x2xf32>
// CHECK: cpu.band_matmul ins(%arg0, %[[STARTS]], %[[WEIGHTS]] : tensor<?x8x32xf32>, tensor<3xi32>, tensor<3x2xf32>) outs({{.*}} : tensor<?x3x32xf32>) attributes {dim = 1 : i64}
func.func @left(%x: tensor<?x8x32xf32>) -> tensor<?x3x32xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
                             [0.0, 0.0, 3.0, 4.0, 0.0, 0.0, 0.0, 0.0],
                             [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 5.0]]> : tensor<3x8xf32>
  %y = nn.matmul %w, %x {ingot.backend = #ingot.backend<native>} : (tensor<3x8xf32>, tensor<?x8x32xf32>) -> tensor<?x3x32xf32>
  return %y : tensor<?x3x32xf32>
}

// -----

// Bytes are read directly. The result has the shape of the image. The slice and
// the gather behind it give the order of rows and channels.

// CHECK-LABEL: @picture
// CHECK-DAG: arith.constant dense<[5, 5, 2, 0]> : tensor<4xi32>
// CHECK-DAG: arith.constant dense<{{\[\[}}0.000000e+00, 0.000000e+00, 0.000000e+00, 4.000000e+00], [3.000000e+00, 3.000000e+00, 0.000000e+00, 0.000000e+00], [2.000000e+00,
// CHECK: cpu.band_matmul ins(%arg0, {{.*}} : tensor<2x9x3xui8>, tensor<4xi32>, tensor<4x4xf32>)
// CHECK-SAME: attributes {dim = 1 : i64, order = array<i64: 2, 1, 0>}
// CHECK-NOT: nn.{{cast|slice|gather|matmul}}
func.func @picture(%x: tensor<2x9x3xui8>) -> tensor<2x4x3xf32> {
  %w = arith.constant dense<[[1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
                             [0.0, 0.0, 2.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0],
                             [0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 3.0, 0.0, 0.0],
                             [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 4.0]]> : tensor<4x9xf32>
  %bgr = arith.constant dense<[2, 1, 0]> : tensor<3xi64>
  %f = nn.cast %x : tensor<2x9x3xui8> -> tensor<2x9x3xf32>
  %y = nn.matmul %w, %f {ingot.backend = #ingot.backend<native>} : (tensor<4x9xf32>, tensor<2x9x3xf32>) -> tensor<2x4x3xf32>
  %flipped = nn.slice %y {starts = array<i64: 0, 3, 0>, sizes = array<i64: -1, 4, -1>, steps = array<i64: 1, -1, 1>} : tensor<2x4x3xf32> -> tensor<2x4x3xf32>
  %ordered = nn.gather %flipped, %bgr {axis = 2 : i64} : (tensor<2x4x3xf32>, tensor<3xi64>) -> tensor<2x4x3xf32>
  return %ordered : tensor<2x4x3xf32>
}

// -----

// Must not fire: rows with many nonzero elements.

// CHECK-LABEL: @wide
// CHECK-NOT: cpu.band_matmul
func.func @wide(%x: tensor<8x32xf32>) -> tensor<2x32xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
                             [0.0, 0.0, 3.0, 4.0, 5.0, 6.0, 7.0, 0.0]]> : tensor<2x8xf32>
  %y = nn.matmul %w, %x {ingot.backend = #ingot.backend<native>} : (tensor<2x8xf32>, tensor<8x32xf32>) -> tensor<2x32xf32>
  return %y : tensor<2x32xf32>
}

// -----

// Must not fire: single elements of few columns, for which panels are faster.

// CHECK-LABEL: @short
// CHECK-NOT: cpu.band_matmul
func.func @short(%x: tensor<5x8xf32>) -> tensor<5x2xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
                             [0.0, 0.0, 3.0, 4.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<2x8xf32>
  %y = nn.matmul %x, %w {ingot.backend = #ingot.backend<native>, transpose_b} : (tensor<5x8xf32>, tensor<2x8xf32>) -> tensor<5x2xf32>
  return %y : tensor<5x2xf32>
}
