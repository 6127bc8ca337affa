// RUN: ingot-opt %s --nn-prune-channels --split-input-file | FileCheck %s
// RUN: ingot-opt --nn-prune-channels --split-input-file --remarks-filter='prune' %s 2>&1 | FileCheck %s --check-prefix=REMARK
// Results are tested by nn-prune-channels.py.

// Channel 1 is zero, and relu keeps it zero: the next convolution does not read
// it.
// CHECK: module attributes {ingot.statistics = #ingot.statistics<channels = 5, channels_removed = 1, unpruned_bytes = 84, pruned_bytes = 56>}
// CHECK-LABEL: func.func @zero
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{\[\[\[\[}}1.000000e+00]]], {{\[\[\[}}3.000000e+00]]]]> : tensor<2x1x1x1xf32>
// CHECK-DAG: %[[B:.*]] = arith.constant dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>
// CHECK: %[[X:.*]] = nn.conv %{{.*}}, %[[W]] bias(%[[B]]) {{.*}} -> tensor<?x2x?x?xf32>
// CHECK: %[[R:.*]] = nn.relu %[[X]] : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>
// CHECK: nn.conv %[[R]], %{{.*}} : (tensor<?x2x?x?xf32>, tensor<2x2x1x3xf32>) -> tensor<?x2x?x?xf32>
// REMARK: 1 of its 3 output channels vanish
func.func @zero(%x: tensor<?x1x?x?xf32>) -> tensor<?x2x?x?xf32> {
  %w = arith.constant dense<[[[[1.0]]], [[[-0.0]]], [[[3.0]]]]> : tensor<3x1x1x1xf32>
  %b = arith.constant dense<[0.5, -0.5, 0.25]> : tensor<3xf32>
  %v = arith.constant dense<1.0> : tensor<2x3x1x3xf32>
  %0 = nn.conv %x, %w bias(%b) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64}
    : (tensor<?x1x?x?xf32>, tensor<3x1x1x1xf32>, tensor<3xf32>) -> tensor<?x3x?x?xf32>
  %1 = nn.relu %0 : tensor<?x3x?x?xf32> -> tensor<?x3x?x?xf32>
  %2 = nn.conv %1, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 1, 0, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64}
    : (tensor<?x3x?x?xf32>, tensor<2x3x1x3xf32>) -> tensor<?x2x?x?xf32>
  return %2 : tensor<?x2x?x?xf32>
}

// -----

// A constant channel moves into the bias of the next convolution, which had
// none: 2 (4 + 5).
// CHECK-LABEL: func.func @number
// CHECK: %[[B:.*]] = arith.constant dense<1.800000e+01> : tensor<1xf32>
// CHECK: nn.conv %{{.*}} bias(%[[B]]) {{.*}} : (tensor<1x1x4x4xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>)
func.func @number(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x4x3xf32> {
  %w = arith.constant dense<[[[[1.0]]], [[[0.0]]]]> : tensor<2x1x1x1xf32>
  %b = arith.constant dense<[0.0, 2.0]> : tensor<2xf32>
  %v = arith.constant dense<[[[[2.0, 3.0]], [[4.0, 5.0]]]]> : tensor<1x2x1x2xf32>
  %0 = nn.conv %x, %w bias(%b) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64}
    : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %1 = nn.conv %0, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64}
    : (tensor<1x2x4x4xf32>, tensor<1x2x1x2xf32>) -> tensor<1x1x4x3xf32>
  return %1 : tensor<1x1x4x3xf32>
}

// -----

// Must not fire if padding is read beside the channel, or if it is the model's
// result.
// CHECK: module {
// CHECK-LABEL: func.func @padded
// CHECK: nn.conv {{.*}} -> tensor<1x2x4x4xf32>
// CHECK: return %{{.*}}, %{{.*}} : tensor<1x1x4x5xf32>, tensor<1x2x4xf32>
// REMARK: 1 of its 2 output channels are constants that stay: one of them is read where padding or other channels meet it
// REMARK: 1 of its 2 output channels are constants that stay: one of them is an output of the model
func.func @padded(%x: tensor<1x1x4x4xf32>, %y: tensor<1x1x4xf32>) -> (tensor<1x1x4x5xf32>, tensor<1x2x4xf32>) {
  %w = arith.constant dense<[[[[1.0]]], [[[0.0]]]]> : tensor<2x1x1x1xf32>
  %u = arith.constant dense<[[[1.0]], [[0.0]]]> : tensor<2x1x1xf32>
  %b = arith.constant dense<[0.0, 2.0]> : tensor<2xf32>
  %v = arith.constant dense<[[[[2.0, 3.0]], [[4.0, 5.0]]]]> : tensor<1x2x1x2xf32>
  %0 = nn.conv %x, %w bias(%b) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64}
    : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %1 = nn.conv %0, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 1, 0, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64}
    : (tensor<1x2x4x4xf32>, tensor<1x2x1x2xf32>) -> tensor<1x1x4x5xf32>
  %2 = nn.conv %y, %u {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64}
    : (tensor<1x1x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4xf32>
  return %1, %2 : tensor<1x1x4x5xf32>, tensor<1x2x4xf32>
}

// -----

// Depthwise: as many groups as channels remain. Dynamic sizes are taken from
// the remaining data.
// CHECK-LABEL: func.func @depthwise
// CHECK: nn.conv {{.*}} {dilations = array<i64: 1, 1>, groups = 2 : i64, {{.*}} : (tensor<?x2x?x?xf32>, tensor<2x1x1x1xf32>) -> tensor<?x2x?x?xf32>
// CHECK: tensor.dim %{{.*}}, %c2 : tensor<?x2x?x?xf32>
func.func @depthwise(%x: tensor<?x1x?x?xf32>) -> (tensor<?x1x?x?xf32>, index) {
  %w = arith.constant dense<[[[[1.0]]], [[[0.0]]], [[[3.0]]]]> : tensor<3x1x1x1xf32>
  %u = arith.constant dense<[[[[4.0]]], [[[5.0]]], [[[6.0]]]]> : tensor<3x1x1x1xf32>
  %v = arith.constant dense<[[[[7.0]], [[8.0]], [[9.0]]]]> : tensor<1x3x1x1xf32>
  %c2 = arith.constant 2 : index
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64}
    : (tensor<?x1x?x?xf32>, tensor<3x1x1x1xf32>) -> tensor<?x3x?x?xf32>
  %1 = nn.conv %0, %u {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 3 : i64}
    : (tensor<?x3x?x?xf32>, tensor<3x1x1x1xf32>) -> tensor<?x3x?x?xf32>
  %2 = nn.conv %1, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64}
    : (tensor<?x3x?x?xf32>, tensor<1x3x1x1xf32>) -> tensor<?x1x?x?xf32>
  %3 = tensor.dim %1, %c2 : tensor<?x3x?x?xf32>
  return %2, %3 : tensor<?x1x?x?xf32>, index
}

// -----

// Must not fire: channels that another op reads, computed weights, and channels
// that only one side of a sum has.
// CHECK-LABEL: func.func @other
// CHECK: nn.lrn {{.*}} tensor<1x2x4x4xf32>
// CHECK: nn.matmul {{.*}} tensor<1x2xf32>
// CHECK: nn.matmul {{.*}} tensor<1x2xf32>
// REMARK: one of them is read by an operation that takes its channels all together
// REMARK: one of them is read by a product whose weights or bias are computed
// REMARK: one of them meets a channel that the model computes otherwise
func.func @other(%x: tensor<1x1x4x4xf32>, %y: tensor<1x4xf32>, %computed: tensor<2x4xf32>, %z: tensor<1x2xf32>)
    -> (tensor<1x1x4x4xf32>, tensor<1x4xf32>, tensor<1x1xf32>) {
  %w = arith.constant dense<[[[[1.0]]], [[[0.0]]]]> : tensor<2x1x1x1xf32>
  %v = arith.constant dense<[[[[2.0]], [[4.0]]]]> : tensor<1x2x1x1xf32>
  %m = arith.constant dense<[[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]> : tensor<4x2xf32>
  %n = arith.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64}
    : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = nn.lrn %0 {size = 3 : i64, alpha = 1.0 : f32, beta = 1.0 : f32, k = 1.0 : f32} : tensor<1x2x4x4xf32> -> tensor<1x2x4x4xf32>
  %2 = nn.conv %1, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64}
    : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x4x4xf32>
  %3 = nn.matmul %y, %m : (tensor<1x4xf32>, tensor<4x2xf32>) -> tensor<1x2xf32>
  %4 = nn.matmul %3, %computed : (tensor<1x2xf32>, tensor<2x4xf32>) -> tensor<1x4xf32>
  %5 = nn.matmul %y, %m : (tensor<1x4xf32>, tensor<4x2xf32>) -> tensor<1x2xf32>
  %6 = nn.add %5, %z : tensor<1x2xf32>, tensor<1x2xf32> -> tensor<1x2xf32>
  %7 = nn.matmul %6, %n : (tensor<1x2xf32>, tensor<2x1xf32>) -> tensor<1x1xf32>
  return %2, %4, %7 : tensor<1x1x4x4xf32>, tensor<1x4xf32>, tensor<1x1xf32>
}

// -----

// Must not fire: channels along the concatenated dimension, beside others along
// another dimension.

// CHECK-LABEL: @join_along_channels
// CHECK: nn.concat
func.func @join_along_channels(%x: tensor<1x3x4xf32>, %y: tensor<1x4x1x3xf32>) -> tensor<1x4x9xf32> {
  %w = arith.constant dense<1.0> : tensor<6x3x1xf32>
  %0 = nn.conv %x, %w {dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 0, 0>, strides = array<i64: 1>} : (tensor<1x3x4xf32>, tensor<6x3x1xf32>) -> tensor<1x6x4xf32>
  %1 = nn.transpose %0 {perm = array<i64: 0, 2, 1>} : tensor<1x6x4xf32> -> tensor<1x4x6xf32>
  %2 = nn.reshape %y : tensor<1x4x1x3xf32> -> tensor<1x4x3xf32>
  %v = arith.constant dense<1.0> : tensor<4x4x1xf32>
  %3 = nn.conv %2, %v {dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 0, 0>, strides = array<i64: 1>} : (tensor<1x4x3xf32>, tensor<4x4x1xf32>) -> tensor<1x4x3xf32>
  %4 = nn.concat %3, %1 {axis = 2 : i64} : (tensor<1x4x3xf32>, tensor<1x4x6xf32>) -> tensor<1x4x9xf32>
  return %4 : tensor<1x4x9xf32>
}
