// RUN: ingot-opt --nn-fold-dequantize --split-input-file %s | FileCheck %s

// All products behind the scale take it. The bias stays.
// CHECK-LABEL: @products
// CHECK: %[[B:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK: %[[R:.*]] = nn.round %arg0
// CHECK-NOT: nn.mul
// CHECK: %[[W:.*]] = arith.constant dense<1.500000e+00> : tensor<3x2x1x1xf32>
// CHECK: nn.conv %[[R]], %[[W]]
// CHECK: %[[F:.*]] = nn.reshape %[[R]]
// CHECK: %[[V:.*]] = arith.constant dense<{{\[}}[5.000000e-01, 1.000000e+00], [1.500000e+00, 2.000000e+00]]> : tensor<2x2xf32>
// CHECK: nn.matmul %[[F]], %[[V]] bias(%[[B]])
func.func @products(%x: tensor<1x2x1x1xf32>) -> (tensor<1x3x1x1xf32>, tensor<1x2xf32>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %w = arith.constant dense<3.0> : tensor<3x2x1x1xf32>
  %v = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = nn.round %x : tensor<1x2x1x1xf32> -> tensor<1x2x1x1xf32>
  %1 = nn.mul %0, %s : tensor<1x2x1x1xf32>, tensor<f32> -> tensor<1x2x1x1xf32>
  %2 = nn.conv %1, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x2x1x1xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x1x1xf32>
  %3 = nn.reshape %1 : tensor<1x2x1x1xf32> -> tensor<1x2xf32>
  %4 = nn.matmul %3, %v bias(%b) : (tensor<1x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  return %2, %4 : tensor<1x3x1x1xf32>, tensor<1x2xf32>
}

// -----

// Must not fire: data that are no integers, another user, computed weights, a
// scale for each column, and weights that become too small for f32.
// CHECK-LABEL: @no
// CHECK-COUNT-5: nn.mul
func.func @no(%x: tensor<2x2xf32>, %c: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %k = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %tiny = arith.constant dense<1.0e-30> : tensor<f32>
  %w = arith.constant dense<3.0> : tensor<2x2xf32>
  %small = arith.constant dense<1.0e-30> : tensor<2x2xf32>
  %0 = nn.mul %x, %s : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
  %1 = nn.matmul %0, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = nn.round %x : tensor<2x2xf32> -> tensor<2x2xf32>
  %3 = nn.mul %2, %s : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
  %4 = nn.matmul %3, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %5 = nn.round %c : tensor<2x2xf32> -> tensor<2x2xf32>
  %6 = nn.mul %5, %s : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
  %7 = nn.matmul %6, %c : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %8 = nn.mul %5, %k : tensor<2x2xf32>, tensor<2xf32> -> tensor<2x2xf32>
  %9 = nn.matmul %8, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %10 = nn.mul %5, %tiny : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
  %11 = nn.matmul %10, %small : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1, %3, %4, %7, %9, %11 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}
