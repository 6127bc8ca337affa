// RUN: ingot-opt --nn-fold-channel-scales --split-input-file %s | FileCheck %s

// The data of a depthwise convolution have a scale for each channel. The weights take the scales, and the data are
// divided by them. The relu has no effect on bytes without negative numbers.
// CHECK-LABEL: @pair
func.func @pair(%x: tensor<1x2x4xf32>) -> tensor<1x2x4xf32> {
  %s = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %z = arith.constant dense<0> : tensor<2xui8>
  %w = arith.constant dense<[[[1, 2, 3]], [[4, 5, 6]]]> : tensor<2x1x3xi8>
  %t = arith.constant dense<[3.0, 5.0]> : tensor<2xf32>
  // CHECK: %[[S:.*]] = arith.constant dense<{{\[\[}}5.000000e-01], [2.500000e-01]]> : tensor<2x1xf32>
  // CHECK: %[[D:.*]] = nn.div %arg0, %[[S]]
  // CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<f32>
  // CHECK: %[[Q:.*]] = nn.quantize %[[D]], %[[ONE]] zero_point(%{{.*}}) {axis = 0 : i64} : (tensor<1x2x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4xui8>
  // CHECK: %[[T:.*]] = arith.constant dense<[1.500000e+00, 1.250000e+00]> : tensor<2xf32>
  // CHECK: %[[W:.*]] = nn.dequantize %{{.*}}, %[[T]] zero_point(%{{.*}}) {axis = 0 : i64}
  // CHECK: %[[X:.*]] = nn.dequantize %[[Q]], %{{.*}} : (tensor<1x2x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4xf32>
  // CHECK: nn.conv %[[X]], %[[W]]
  %r = nn.relu %x : tensor<1x2x4xf32> -> tensor<1x2x4xf32>
  %0 = nn.quantize %r, %s zero_point(%z) {axis = 1 : i64} : (tensor<1x2x4xf32>, tensor<2xf32>, tensor<2xui8>) -> tensor<1x2x4xui8>
  %1 = nn.dequantize %0, %s zero_point(%z) {axis = 1 : i64} : (tensor<1x2x4xui8>, tensor<2xf32>, tensor<2xui8>) -> tensor<1x2x4xf32>
  %2 = nn.dequantize %w, %t {axis = 0 : i64} : (tensor<2x1x3xi8>, tensor<2xf32>) -> tensor<2x1x3xf32>
  %3 = nn.conv %1, %2 {dilations = array<i64: 1>, groups = 2 : i64, pads = array<i64: 1, 1>, strides = array<i64: 1>}
    : (tensor<1x2x4xf32>, tensor<2x1x3xf32>) -> tensor<1x2x4xf32>
  return %3 : tensor<1x2x4xf32>
}

// -----

// A clamp to at least the saturated range vanishes: 127.4 and 255 steps round to 127 and more. The second one is less.
// CHECK-LABEL: @clamps
func.func @clamps(%x: tensor<1x2x4xf32>) -> (tensor<1x2x4xi8>, tensor<1x2x4xi8>) {
  %s = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  // CHECK: nn.div %arg0
  %0 = nn.clamp %x {max = 63.7 : f64, min = -64.0 : f64} : tensor<1x2x4xf32> -> tensor<1x2x4xf32>
  %1 = nn.quantize %0, %s {axis = 1 : i64} : (tensor<1x2x4xf32>, tensor<2xf32>) -> tensor<1x2x4xi8>
  // CHECK: %[[C:.*]] = nn.clamp %arg0 {max = 6.300000e+01
  // CHECK: nn.div %[[C]]
  %2 = nn.clamp %x {max = 63.0 : f64, min = -64.0 : f64} : tensor<1x2x4xf32> -> tensor<1x2x4xf32>
  %3 = nn.quantize %2, %s {axis = 1 : i64} : (tensor<1x2x4xf32>, tensor<2xf32>) -> tensor<1x2x4xi8>
  return %1, %3 : tensor<1x2x4xi8>, tensor<1x2x4xi8>
}

// -----

// Must not fire: zero points differ, and a convolution with more than one channel in a group mixes scales.
// CHECK-LABEL: @others
// CHECK: nn.quantize %arg0, %{{.*}} zero_point(%{{.*}}) {axis = 1 : i64}
// CHECK: nn.dequantize %arg1, %{{.*}} {axis = 1 : i64}
func.func @others(%x: tensor<1x2x4xf32>, %y: tensor<1x2x4xui8>) -> (tensor<1x2x4xui8>, tensor<1x2x4xf32>) {
  %s = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %z = arith.constant dense<[0, 1]> : tensor<2xui8>
  %w = arith.constant dense<1> : tensor<2x2x3xi8>
  %t = arith.constant dense<[3.0, 5.0]> : tensor<2xf32>
  %0 = nn.quantize %x, %s zero_point(%z) {axis = 1 : i64} : (tensor<1x2x4xf32>, tensor<2xf32>, tensor<2xui8>) -> tensor<1x2x4xui8>
  %1 = nn.dequantize %y, %s {axis = 1 : i64} : (tensor<1x2x4xui8>, tensor<2xf32>) -> tensor<1x2x4xf32>
  %2 = nn.dequantize %w, %t {axis = 0 : i64} : (tensor<2x2x3xi8>, tensor<2xf32>) -> tensor<2x2x3xf32>
  %3 = nn.conv %1, %2 {dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 1, 1>, strides = array<i64: 1>}
    : (tensor<1x2x4xf32>, tensor<2x2x3xf32>) -> tensor<1x2x4xf32>
  return %0, %3 : tensor<1x2x4xui8>, tensor<1x2x4xf32>
}

// -----

// Must not fire: the scales are one number, those of rows are of another axis, and constants are folded elsewhere.
// CHECK-LABEL: @scalars
// CHECK-NOT: nn.div
func.func @scalars(%x: tensor<1x2x2xf32>) -> (tensor<1x2x2xui8>, tensor<1x2x2xui8>, tensor<1x2x2xui8>) {
  %s = arith.constant dense<0.5> : tensor<2xf32>
  %t = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %c = arith.constant dense<3.0> : tensor<1x2x2xf32>
  %0 = nn.quantize %x, %s {axis = 1 : i64} : (tensor<1x2x2xf32>, tensor<2xf32>) -> tensor<1x2x2xui8>
  %1 = nn.quantize %x, %t {axis = 2 : i64} : (tensor<1x2x2xf32>, tensor<2xf32>) -> tensor<1x2x2xui8>
  %2 = nn.quantize %c, %t {axis = 1 : i64} : (tensor<1x2x2xf32>, tensor<2xf32>) -> tensor<1x2x2xui8>
  return %0, %1, %2 : tensor<1x2x2xui8>, tensor<1x2x2xui8>, tensor<1x2x2xui8>
}
