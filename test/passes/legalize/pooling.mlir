// RUN: ingot-opt --onnx-legalize --split-input-file --verify-diagnostics %s | FileCheck %s

module attributes {onnx.opset_import = {"ai.onnx" = 22 : i64}} {

// CHECK-LABEL: @ceil_mode
// CHECK: nn.max_pool {{.*}} pads = array<i64: 0, 0, 1, 1>{{.*}} -> tensor<1x3x4x4xf32>
// CHECK: nn.avg_pool %arg0 {{.*}} pads = array<i64: 0, 0, 1, 1>
// With count_include_pad, only elements of the padded input are counted.
// CHECK: %[[PAD:.*]] = nn.pad constant %arg0
// CHECK: nn.avg_pool %[[PAD]] {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pads = array<i64: 0, 0, 1, 1>
func.func @ceil_mode(%x: tensor<1x3x8x8xf32>, %y: tensor<1x3x8x8xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %0 = onnx.node "MaxPool"(%x) {kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>, ceil_mode = 1 : i64} : (tensor<1x3x8x8xf32>) -> tensor<*xf32>
  %1 = onnx.node "AveragePool"(%x) {kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>, ceil_mode = 1 : i64} : (tensor<1x3x8x8xf32>) -> tensor<*xf32>
  %2 = onnx.node "AveragePool"(%x) {kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, ceil_mode = 1 : i64, count_include_pad = 1 : i64} : (tensor<1x3x8x8xf32>) -> tensor<*xf32>
  return %0, %1, %2 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// A dynamic dimension has at most one extra window. It is cut off only if the
// end padding is long enough for a window to begin in it. The pooling itself
// requires that one window fits (nn-require-sizes).
// CHECK-LABEL: @ceil_mode_open
// CHECK-NOT: ingot.require
// CHECK: nn.max_pool %arg0 {{.*}} pads = array<i64: 0, 0, 0, 1>{{.*}} -> tensor<1x3x3x?xf32>
// CHECK-NOT: tensor.extract_slice
// CHECK: nn.max_pool %arg0 {{.*}} pads = array<i64: 0, 0, 0, 2>
// CHECK: tensor.extract_slice
func.func @ceil_mode_open(%x: tensor<1x3x7x?xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0 = onnx.node "MaxPool"(%x) {kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>, ceil_mode = 1 : i64} : (tensor<1x3x7x?xf32>) -> tensor<*xf32>
  %1 = onnx.node "MaxPool"(%x) {kernel_shape = array<i64: 1, 2>, strides = array<i64: 1, 2>, pads = array<i64: 0, 0, 0, 1>, ceil_mode = 1 : i64} : (tensor<1x3x7x?xf32>) -> tensor<*xf32>
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// Padding that follows from the size never is the maximum, and is not counted.
// CHECK-LABEL: @auto_pad_open
// CHECK-DAG: %[[LOW:.*]] = arith.constant dense<0xFF800000> : tensor<f32>
// CHECK: %[[FILL:.*]] = nn.broadcast_to %[[LOW]]
// CHECK: tensor.insert_slice %arg0 into %[[FILL]]
// CHECK: nn.max_pool {{.*}} pads = array<i64: 0, 0, 1, 0>
// CHECK: tensor.insert_slice %arg0
// CHECK: nn.div
func.func @auto_pad_open(%x: tensor<1x3x8x?xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0 = onnx.node "MaxPool"(%x) {kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>, auto_pad = "SAME_UPPER"} : (tensor<1x3x8x?xf32>) -> tensor<*xf32>
  %1 = onnx.node "AveragePool"(%x) {kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>, auto_pad = "SAME_UPPER"} : (tensor<1x3x8x?xf32>) -> tensor<*xf32>
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @indices
// CHECK: nn.max_pool_with_indices {{.*}}column_major{{.*}} -> tensor<?x3x6x6xf32>, tensor<?x3x6x6xi64>
func.func @indices(%x: tensor<?x3x8x8xf32>) -> (tensor<*xf32>, tensor<*xi64>) {
  %0, %1 = onnx.node "MaxPool"(%x) {kernel_shape = array<i64: 3, 3>, storage_order = 1 : i64} : (tensor<?x3x8x8xf32>) -> (tensor<*xf32>, tensor<*xi64>)
  return %0, %1 : tensor<*xf32>, tensor<*xi64>
}

// CHECK-LABEL: @lp_pool
// CHECK: nn.mul
// CHECK: nn.avg_pool {{.*}}count_include_pad
// CHECK: nn.sqrt
func.func @lp_pool(%x: tensor<1x3x8xf32>) -> tensor<*xf32> {
  %0 = onnx.node "LpPool"(%x) {kernel_shape = array<i64: 3>, p = 2 : i64} : (tensor<1x3x8xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// A dynamic output_shape must have room for all windows.
// CHECK-LABEL: @unpool_computed
// CHECK: ingot.require {{.*}}, "node 'unpool': 'output_shape' is {0} at [2], but the windows need at least {1}"
// CHECK: ingot.require {{.*}}, "node 'unpool': 'output_shape' is {0} at [3], but the windows need at least {1}"
func.func @unpool_computed(%x: tensor<1x1x2x2xf32>, %i: tensor<1x1x2x2xi64>, %s: tensor<4xi64>) -> tensor<*xf32> {
  %0 = onnx.node "MaxUnpool"(%x, %i, %s) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi64>, tensor<4xi64>) -> tensor<*xf32> loc("unpool")
  return %0 : tensor<*xf32>
}

// CHECK-LABEL: @unpool
// CHECK: nn.scatter_elements none
// CHECK: nn.reshape {{.*}} -> tensor<1x1x4x4xf32>
func.func @unpool(%x: tensor<1x1x2x2xf32>, %i: tensor<1x1x2x2xi64>) -> tensor<*xf32> {
  %0 = onnx.node "MaxUnpool"(%x, %i) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
}

// -----

module attributes {onnx.opset_import = {"ai.onnx" = 22 : i64}} {
func.func @errors(%x: tensor<1x3x8x?xf32>) -> tensor<*xi64> {
  // expected-error@+1 {{MaxPool (opset 22) is invalid: kernel_shape is missing}}
  %0 = onnx.node "MaxPool"(%x) : (tensor<1x3x8x?xf32>) -> tensor<*xf32>
  // expected-error@+1 {{MaxPool (opset 22) is not supported: indices with auto_pad and a dynamic spatial dimension; fix it with --shape}}
  %1, %3 = onnx.node "MaxPool"(%x) {kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>, auto_pad = "SAME_UPPER"} : (tensor<1x3x8x?xf32>) -> (tensor<*xf32>, tensor<*xi64>)
  // expected-error@+1 {{MaxPool (opset 22) is invalid: the dilated kernel is larger than the padded input}}
  %2 = onnx.node "MaxPool"(%x) {kernel_shape = array<i64: 9, 1>} : (tensor<1x3x8x?xf32>) -> tensor<*xf32>
  return %3 : tensor<*xi64>
}
}
