// RUN: ingot-opt %s --nn-merge-branches | FileCheck %s
// Results, and more shapes, are tested by nn-merge-branches.py.

// Kernels of 3 and 1 over data of dynamic size.
// CHECK-LABEL: func.func @dynamic
// CHECK: %[[W:.*]] = arith.constant dense<{{\[\[\[}}1.000000e+00, 6.000000e+00, 3.000000e+00]]]>
// CHECK: %[[Y:.*]] = nn.conv %{{.*}}, %[[W]] {{.*}}pads = array<i64: 1, 1>
// CHECK-NOT: nn.add
// CHECK: return %[[Y]]
func.func @dynamic(%x: tensor<?x1x?xf32>) -> tensor<?x1x?xf32> {
  %w3 = arith.constant dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32>
  %w1 = arith.constant dense<4.0> : tensor<1x1x1xf32>
  %0 = nn.conv %x, %w3 {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, groups = 1 : i64}
    : (tensor<?x1x?xf32>, tensor<1x1x3xf32>) -> tensor<?x1x?xf32>
  %1 = nn.conv %x, %w1 {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64}
    : (tensor<?x1x?xf32>, tensor<1x1x1xf32>) -> tensor<?x1x?xf32>
  %2 = nn.add %0, %1 : tensor<?x1x?xf32>, tensor<?x1x?xf32> -> tensor<?x1x?xf32>
  return %2 : tensor<?x1x?xf32>
}

// Must not fire: sizes that agree only for some data.
// CHECK-LABEL: func.func @unknown_sizes
// CHECK-COUNT-2: nn.conv
// CHECK: nn.add
func.func @unknown_sizes(%x: tensor<?x1x?xf32>) -> tensor<?x1x?xf32> {
  %w3 = arith.constant dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32>
  %w1 = arith.constant dense<4.0> : tensor<1x1x1xf32>
  %0 = nn.conv %x, %w3 {strides = array<i64: 2>, pads = array<i64: 1, 0>, dilations = array<i64: 1>, groups = 1 : i64}
    : (tensor<?x1x?xf32>, tensor<1x1x3xf32>) -> tensor<?x1x?xf32>
  %1 = nn.conv %x, %w1 {strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64}
    : (tensor<?x1x?xf32>, tensor<1x1x1xf32>) -> tensor<?x1x?xf32>
  %2 = nn.add %0, %1 : tensor<?x1x?xf32>, tensor<?x1x?xf32> -> tensor<?x1x?xf32>
  return %2 : tensor<?x1x?xf32>
}

// Must not fire: computed weights.
// CHECK-LABEL: func.func @computed_weights
// CHECK-COUNT-2: nn.conv
func.func @computed_weights(%x: tensor<1x1x8xf32>, %w: tensor<1x1x1xf32>) -> tensor<1x1x8xf32> {
  %w1 = arith.constant dense<4.0> : tensor<1x1x1xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64}
    : (tensor<1x1x8xf32>, tensor<1x1x1xf32>) -> tensor<1x1x8xf32>
  %1 = nn.conv %x, %w1 {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64}
    : (tensor<1x1x8xf32>, tensor<1x1x1xf32>) -> tensor<1x1x8xf32>
  %2 = nn.add %0, %1 : tensor<1x1x8xf32>, tensor<1x1x8xf32> -> tensor<1x1x8xf32>
  return %2 : tensor<1x1x8xf32>
}

// Must not fire: two small convolutions that would have 90,000 x 90,000 weights
// as one.
// CHECK-LABEL: func.func @large_between
// CHECK-COUNT-4: nn.conv
// CHECK: nn.add
func.func @large_between(%x: tensor<1x1x8xf32>) -> tensor<1x90000x8xf32> {
  %up = arith.constant dense<1.0> : tensor<90000x1x1xf32>
  %down = arith.constant dense<2.0> : tensor<1x90000x1xf32>
  %0 = nn.conv %x, %up {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64}
    : (tensor<1x1x8xf32>, tensor<90000x1x1xf32>) -> tensor<1x90000x8xf32>
  %1 = nn.conv %0, %down {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64}
    : (tensor<1x90000x8xf32>, tensor<1x90000x1xf32>) -> tensor<1x1x8xf32>
  %2 = nn.conv %1, %up {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64}
    : (tensor<1x1x8xf32>, tensor<90000x1x1xf32>) -> tensor<1x90000x8xf32>
  %3 = nn.conv %x, %up {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64}
    : (tensor<1x1x8xf32>, tensor<90000x1x1xf32>) -> tensor<1x90000x8xf32>
  %4 = nn.add %2, %3 : tensor<1x90000x8xf32>, tensor<1x90000x8xf32> -> tensor<1x90000x8xf32>
  return %4 : tensor<1x90000x8xf32>
}

// Must not fire: taps so far apart that one kernel for both has 2^60 taps.
// CHECK-LABEL: func.func @far_apart
// CHECK-COUNT-2: nn.conv
// CHECK: nn.add
func.func @far_apart(%x: tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32> {
  %w2 = arith.constant dense<1.0> : tensor<1x1x2x2x2xf32>
  %w3 = arith.constant dense<2.0> : tensor<1x1x3x3x3xf32>
  %0 = nn.conv %x, %w2 {strides = array<i64: 1, 1, 1>, pads = array<i64: 1048573, 1048573, 1048573, 0, 0, 0>, dilations = array<i64: 1048573, 1048573, 1048573>, groups = 1 : i64}
    : (tensor<1x1x1x1x1xf32>, tensor<1x1x2x2x2xf32>) -> tensor<1x1x1x1x1xf32>
  %1 = nn.conv %x, %w3 {strides = array<i64: 1, 1, 1>, pads = array<i64: 2097152, 2097152, 2097152, 0, 0, 0>, dilations = array<i64: 1048576, 1048576, 1048576>, groups = 1 : i64}
    : (tensor<1x1x1x1x1xf32>, tensor<1x1x3x3x3xf32>) -> tensor<1x1x1x1x1xf32>
  %2 = nn.add %0, %1 : tensor<1x1x1x1x1xf32>, tensor<1x1x1x1x1xf32> -> tensor<1x1x1x1x1xf32>
  return %2 : tensor<1x1x1x1x1xf32>
}

// The largest possible number of channels: no list of channels is made.
// CHECK-LABEL: func.func @two_thousand_million_channels
// CHECK: nn.add
func.func @two_thousand_million_channels(%x: tensor<1x2147483647x1xf32>) -> tensor<1x2147483647x1xf32> {
  %0 = nn.add %x, %x : tensor<1x2147483647x1xf32>, tensor<1x2147483647x1xf32> -> tensor<1x2147483647x1xf32>
  return %0 : tensor<1x2147483647x1xf32>
}
