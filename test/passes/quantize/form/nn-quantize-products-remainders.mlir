// RUN: ingot-opt --nn-quantize-products --split-input-file %s | FileCheck %s

// Few weights beyond bytes are bounded. The remainder of output 0 is multiplied by the data that its tap sees.
// CHECK-LABEL: @remainder
func.func @remainder(%x: tensor<1x4x6xui8>) -> tensor<1x2x3xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %w = arith.constant dense<[[[1, 2, 3], [4, 5, 255], [1, 2, 3], [1, 2, 3]], [[4, 5, 6], [7, 8, 9], [1, 2, 3], [1, 2, 3]]]> : tensor<2x4x3xui8>
  %zx = arith.constant dense<7> : tensor<ui8>
  %z = arith.constant dense<100> : tensor<ui8>
  %0 = nn.dequantize %x, %s zero_point(%zx) {axis = 0 : i64} : (tensor<1x4x6xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x6xf32>
  %1 = nn.dequantize %w, %s zero_point(%z) {axis = 0 : i64} : (tensor<2x4x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x4x3xf32>
  // CHECK: %[[W:.*]] = arith.constant dense<{{.*}}[-96, -95, 127]{{.*}}> : tensor<2x4x3xi8>
  // CHECK: %[[Y:.*]] = nn.conv %arg0, %[[W]] {{.*}}x_zero_point = 7 : i64
  // CHECK: %[[ONE:.*]] = nn.slice %arg0 {sizes = array<i64: 1, 1, 6>, starts = array<i64: 0, 1, 0>, steps = array<i64: 1, 1, 1>}
  // CHECK: %[[ZERO:.*]] = arith.constant dense<7> : tensor<ui8>
  // CHECK: %[[PADDED:.*]] = nn.pad constant %[[ONE]] value(%[[ZERO]])
  // CHECK: %[[SEEN:.*]] = nn.slice %[[PADDED]] {sizes = array<i64: 1, 1, 3>, starts = array<i64: 0, 0, 2>, steps = array<i64: 1, 1, 2>}
  // CHECK: %[[SUMS:.*]] = nn.cast %[[Y]]
  // CHECK: %[[REST:.*]] = arith.constant dense<{{\[\[}}2.800000e+01], [0.000000e+00]]> : tensor<2x1xf32>
  // CHECK: %[[F:.*]] = nn.cast %[[SEEN]]
  // CHECK: %[[LESS:.*]] = nn.sub %[[F]]
  // CHECK: %[[MORE:.*]] = nn.mul %[[LESS]], %[[REST]]
  // CHECK: nn.add %[[SUMS]], %[[MORE]]
  %2 = nn.conv %0, %1 {dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 1, 1>, strides = array<i64: 2>}
    : (tensor<1x4x6xf32>, tensor<2x4x3xf32>) -> tensor<1x2x3xf32>
  return %2 : tensor<1x2x3xf32>
}

// -----

// Rows of a transposed matrix are outputs.
// CHECK-LABEL: @remainder_of_row
func.func @remainder_of_row(%x: tensor<3x4xui8>) -> tensor<3x2xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %w = arith.constant dense<[[1, 2, 3, 4], [5, 0, 7, 8]]> : tensor<2x4xui8>
  %z = arith.constant dense<129> : tensor<ui8>
  %0 = nn.dequantize %x, %s {axis = 0 : i64} : (tensor<3x4xui8>, tensor<f32>) -> tensor<3x4xf32>
  %1 = nn.dequantize %w, %s zero_point(%z) {axis = 0 : i64} : (tensor<2x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x4xf32>
  // CHECK: arith.constant dense<{{.*}}[-124, -128, -122, -121]]> : tensor<2x4xi8>
  // CHECK: nn.slice %arg0 {sizes = array<i64: 3, 1>, starts = array<i64: 0, 1>, steps = array<i64: 1, 1>}
  // CHECK: arith.constant dense<[0.000000e+00, -1.000000e+00]> : tensor<2xf32>
  %2 = nn.matmul %0, %1 {transpose_b} : (tensor<3x4xf32>, tensor<2x4xf32>) -> tensor<3x2xf32>
  return %2 : tensor<3x2xf32>
}

// -----

// Groups of one channel take remainders too.
// CHECK-LABEL: @remainder_of_channel
func.func @remainder_of_channel(%x: tensor<1x2x8xui8>) -> tensor<1x2x4xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %w = arith.constant dense<[[[1, 2, 3, 4, 5]], [[4, 5, 6, 255, 8]]]> : tensor<2x1x5xui8>
  %z = arith.constant dense<100> : tensor<ui8>
  %0 = nn.dequantize %x, %s {axis = 0 : i64} : (tensor<1x2x8xui8>, tensor<f32>) -> tensor<1x2x8xf32>
  %1 = nn.dequantize %w, %s zero_point(%z) {axis = 0 : i64} : (tensor<2x1x5xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x1x5xf32>
  // CHECK: nn.conv %arg0, %{{.*}} {{.*}}groups = 2 : i64{{.*}} : (tensor<1x2x8xui8>, tensor<2x1x5xi8>) -> tensor<1x2x4xi32>
  // CHECK: nn.slice %arg0 {sizes = array<i64: 1, 1, 4>, starts = array<i64: 0, 1, 3>, steps = array<i64: 1, 1, 1>}
  // CHECK: arith.constant dense<{{\[\[}}0.000000e+00], [2.800000e+01]]> : tensor<2x1xf32>
  %2 = nn.conv %0, %1 {dilations = array<i64: 1>, groups = 2 : i64, pads = array<i64: 0, 0>, strides = array<i64: 1>}
    : (tensor<1x2x8xf32>, tensor<2x1x5xf32>) -> tensor<1x2x4xf32>
  return %2 : tensor<1x2x4xf32>
}
