// RUN: ingot-opt --onnx-legalize --split-input-file --verify-diagnostics %s | FileCheck %s

module attributes {onnx.opset_import = {"ai.onnx" = 22 : i64}} {

// CHECK-LABEL: @ceil_mode
// CHECK: nn.max_pool {{.*}} pads = array<i64: 0, 0, 1, 1>{{.*}} -> tensor<1x3x4x4xf32>
// CHECK: nn.avg_pool %arg0 {{.*}} pads = array<i64: 0, 0, 1, 1>
// With count_include_pad only what lies in the padded input counts.
// CHECK: %[[PAD:.*]] = nn.pad constant %arg0
// CHECK: nn.avg_pool %[[PAD]] {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pads = array<i64: 0, 0, 1, 1>
func.func @ceil_mode(%x: tensor<1x3x8x8xf32>, %y: tensor<1x3x8x8xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %0 = onnx.node "MaxPool"(%x) {kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>, ceil_mode = 1 : i64} : (tensor<1x3x8x8xf32>) -> tensor<*xf32>
  %1 = onnx.node "AveragePool"(%x) {kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>, ceil_mode = 1 : i64} : (tensor<1x3x8x8xf32>) -> tensor<*xf32>
  %2 = onnx.node "AveragePool"(%x) {kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, ceil_mode = 1 : i64, count_include_pad = 1 : i64} : (tensor<1x3x8x8xf32>) -> tensor<*xf32>
  return %0, %1, %2 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
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
func.func @errors(%x: tensor<1x3x8x?xf32>) {
  // expected-error@+1 {{MaxPool (opset 22) is invalid: kernel_shape is missing}}
  %0 = onnx.node "MaxPool"(%x) : (tensor<1x3x8x?xf32>) -> tensor<*xf32>
  // expected-error@+1 {{MaxPool (opset 22) is not supported: ceil_mode with a dynamic spatial dimension; fix it with --shape}}
  %1 = onnx.node "MaxPool"(%x) {kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>, ceil_mode = 1 : i64} : (tensor<1x3x8x?xf32>) -> tensor<*xf32>
  // expected-error@+1 {{MaxPool (opset 22) is invalid: the dilated kernel is larger than the padded input}}
  %2 = onnx.node "MaxPool"(%x) {kernel_shape = array<i64: 9, 1>} : (tensor<1x3x8x?xf32>) -> tensor<*xf32>
  return
}
}
