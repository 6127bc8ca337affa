// RUN: ingot-opt %s --ingot-attach-calibration=file=%S/Inputs/equalized.json --nn-equalize-layers --split-input-file | FileCheck %s
// RUN: ingot-opt %s --ingot-attach-calibration=file=%S/Inputs/plain.json --nn-equalize-layers --split-input-file | FileCheck %s --check-prefix=PLAIN
// RUN: ingot-opt %s --nn-equalize-layers --split-input-file | FileCheck %s --check-prefix=PLAIN

// Fires only if the calibration was made from equalized weights.
// PLAIN-LABEL: func.func @pair
// PLAIN: arith.constant dense<{{\[\[\[\[1.600000e\+01\]\]\], \[\[\[1.000000e\+00\]\]\]\]}}> : tensor<2x1x1x1xf32>

// The first channel is 16 times as large in the first convolution as in the
// second: a factor of 4. The second channel is balanced already.
// CHECK-LABEL: func.func @pair
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{\[\[\[\[4.000000e\+00\]\]\], \[\[\[1.000000e\+00\]\]\]\]}}> : tensor<2x1x1x1xf32>
// CHECK-DAG: %[[B:.*]] = arith.constant dense<[2.500000e-01, 1.000000e+00]> : tensor<2xf32>
// CHECK: nn.conv %arg0, %[[W]] bias(%[[B]]
// CHECK: nn.relu
// CHECK: %[[V:.*]] = arith.constant dense<{{\[\[\[\[4.000000e\+00\]\], \[\[1.000000e\+00\]\]\]\]}}> : tensor<1x2x1x1xf32>
// CHECK: nn.conv %{{.*}}, %[[V]] {
func.func @pair(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {
  %w = arith.constant dense<[[[[16.0]]], [[[1.0]]]]> : tensor<2x1x1x1xf32>
  %b = arith.constant dense<1.0> : tensor<2xf32>
  %v = arith.constant dense<1.0> : tensor<1x2x1x1xf32>
  %c = nn.conv %x, %w bias(%b) {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %r = nn.relu %c : tensor<1x2x4x4xf32> -> tensor<1x2x4x4xf32>
  %d = nn.conv %r, %v {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x4x4xf32>
  return %d : tensor<1x1x4x4xf32>
}

// -----

// Through a depthwise convolution, which has the channel on both sides: the
// first channel, 256, 1 and 1, becomes 8, 8 and 4. The second does not change.
// CHECK-LABEL: func.func @chain
// CHECK: %[[W:.*]] = arith.constant dense<{{\[\[\[\[8.000000e\+00\]\]\], \[\[\[1.000000e\+00\]\]\]\]}}> : tensor<2x1x1x1xf32>
// CHECK: nn.conv %arg0, %[[W]] {
// CHECK: %[[D:.*]] = arith.constant dense<{{\[\[\[\[8.000000e\+00\]\]\], \[\[\[1.000000e\+00\]\]\]\]}}> : tensor<2x1x1x1xf32>
// CHECK: nn.conv %{{.*}}, %[[D]] {
// CHECK: %[[V:.*]] = arith.constant dense<{{\[\[\[\[4.000000e\+00\]\], \[\[1.000000e\+00\]\]\]\]}}> : tensor<1x2x1x1xf32>
// CHECK: nn.conv %{{.*}}, %[[V]] {
func.func @chain(%x: tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32> {
  %w = arith.constant dense<[[[[256.0]]], [[[1.0]]]]> : tensor<2x1x1x1xf32>
  %d = arith.constant dense<1.0> : tensor<2x1x1x1xf32>
  %v = arith.constant dense<1.0> : tensor<1x2x1x1xf32>
  %a = nn.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x1x2x2xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x2x2xf32>
  %b = nn.conv %a, %d {dilations = array<i64: 1, 1>, groups = 2 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x2x2x2xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x2x2xf32>
  %c = nn.conv %b, %v {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x2x2x2xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x2x2xf32>
  return %c : tensor<1x1x2x2xf32>
}

// -----

// Must not fire: a result with other users, or an op in between that does not
// scale.
// CHECK-LABEL: func.func @not
// CHECK-COUNT-1: arith.constant dense<1.600000e+01>
// CHECK: nn.conv %arg0
// CHECK: nn.sigmoid
func.func @not(%x: tensor<1x1x4x4xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) {
  %w = arith.constant dense<16.0> : tensor<1x1x1x1xf32>
  %v = arith.constant dense<1.0> : tensor<1x1x1x1xf32>
  %c = nn.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %s = nn.sigmoid %c : tensor<1x1x4x4xf32> -> tensor<1x1x4x4xf32>
  %d = nn.conv %s, %v {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %e = nn.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %f = nn.conv %e, %v {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  return %d, %e, %f : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>
}
