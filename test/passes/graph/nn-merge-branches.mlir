// RUN: ingot-opt %s --nn-merge-branches | FileCheck %s
// What is computed, and more shapes, are tested by nn-merge-branches.py.

// Kernels 3 and 1 over data of unknown sizes.
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

// Sizes that agree only for some data: left alone.
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

// Weights that are computed: left alone.
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
