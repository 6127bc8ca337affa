// RUN: ingot-opt %s --nn-repeat-channels | FileCheck %s

// Channel c becomes channels 3 c to 3 c + 2 of the input of a depthwise convolution. Weights stay.
// CHECK-LABEL: @repeat
// CHECK-SAME: %[[X:.*]]: tensor<?x8x8x4xf32>, %[[W:.*]]: tensor<12x1x3x3xf32>
// CHECK: %[[N:.*]] = tensor.dim %[[X]], %c0
// CHECK: %[[EMPTY:.*]] = tensor.empty(%[[N]]) : tensor<?x8x8x4x3xf32>
// CHECK: %[[COPIES:.*]] = linalg.broadcast ins(%[[X]] : tensor<?x8x8x4xf32>) outs(%[[EMPTY]] : tensor<?x8x8x4x3xf32>) dimensions = [4]
// CHECK: %[[ALL:.*]] = tensor.collapse_shape %[[COPIES]] {{\[\[}}0], [1], [2], [3, 4]] : tensor<?x8x8x4x3xf32> into tensor<?x8x8x12xf32>
// CHECK: nn.conv %[[ALL]], %[[W]] {{.*}}groups = 12 : i64
func.func @repeat(%x: tensor<?x8x8x4xf32>, %w: tensor<12x1x3x3xf32>) -> tensor<?x8x8x12xf32> {
  %0 = nn.conv %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 4 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<?x8x8x4xf32>, tensor<12x1x3x3xf32>) -> tensor<?x8x8x12xf32>
  return %0 : tensor<?x8x8x12xf32>
}

// Bytes, too.
// CHECK-LABEL: @bytes
// CHECK: linalg.broadcast {{.*}}tensor<1x8x8x4x2xui8>
// CHECK: nn.conv {{.*}}groups = 8 : i64{{.*}}x_zero_point = 7
func.func @bytes(%x: tensor<1x8x8x4xui8>) -> tensor<1x8x8x8xi32> {
  %w = arith.constant dense<3> : tensor<8x1x3x3xi8>
  %0 = nn.conv %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 4 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>, x_zero_point = 7 : i64} : (tensor<1x8x8x4xui8>, tensor<8x1x3x3xi8>) -> tensor<1x8x8x8xi32>
  return %0 : tensor<1x8x8x8xi32>
}

// Must not fire: one output per channel, one channel, larger groups, and ops
// without a kernel.
// CHECK-LABEL: @stays
// CHECK-NOT: linalg.broadcast
// CHECK: return
func.func @stays(%x: tensor<1x8x8x4xf32>, %one: tensor<1x8x8x1xf32>,
                 %a: tensor<4x1x3x3xf32>, %b: tensor<8x1x3x3xf32>, %c: tensor<8x2x3x3xf32>)
    -> (tensor<1x8x8x4xf32>, tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) {
  %0 = nn.conv %x, %a {channels_last, dilations = array<i64: 1, 1>, groups = 4 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x8x8x4xf32>, tensor<4x1x3x3xf32>) -> tensor<1x8x8x4xf32>
  %1 = nn.conv %one, %b {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x8x8x1xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x8x8xf32>
  %2 = nn.conv %x, %c {channels_last, dilations = array<i64: 1, 1>, groups = 2 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x8x8x4xf32>, tensor<8x2x3x3xf32>) -> tensor<1x8x8x8xf32>
  %3 = nn.conv %x, %b {channels_last, dilations = array<i64: 1, 1>, groups = 4 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>, ingot.backend = #ingot.backend<loops>} : (tensor<1x8x8x4xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x8x8xf32>
  return %0, %1, %2, %3 : tensor<1x8x8x4xf32>, tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>
}
