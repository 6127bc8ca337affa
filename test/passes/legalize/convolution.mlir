// RUN: ingot-opt --onnx-legalize --split-input-file --verify-diagnostics %s | FileCheck %s

module attributes {onnx.opset_import = {"ai.onnx" = 22 : i64}} {

// CHECK-LABEL: @auto_pad
// CHECK: nn.conv {{.*}} pads = array<i64: 0, 0, 1, 1>, strides = array<i64: 2, 2>{{.*}} -> tensor<?x4x4x4xf32>
// CHECK: nn.conv {{.*}} pads = array<i64: 1, 1, 0, 0>, strides = array<i64: 2, 2>
func.func @auto_pad(%x: tensor<?x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0 = onnx.node "Conv"(%x, %w) {auto_pad = "SAME_UPPER", strides = array<i64: 2, 2>} : (tensor<?x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<*xf32>
  %1 = onnx.node "Conv"(%x, %w) {auto_pad = "SAME_LOWER", strides = array<i64: 2, 2>} : (tensor<?x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<*xf32>
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @one_dimension
// CHECK: nn.conv %{{.*}}, %{{.*}} bias(%{{.*}}) {{.*}}groups = 2 : i64{{.*}} -> tensor<1x4x?xf32>
func.func @one_dimension(%x: tensor<1x4x?xf32>, %w: tensor<4x2x3xf32>, %b: tensor<4xf32>) -> tensor<*xf32> {
  %0 = onnx.node "Conv"(%x, %w, %b) {group = 2 : i64, kernel_shape = array<i64: 3>} : (tensor<1x4x?xf32>, tensor<4x2x3xf32>, tensor<4xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// A result that is larger than data and kernel reach is extended at its end.
// CHECK-LABEL: @output_shape
// CHECK: nn.conv_transpose {{.*}} pads = array<i64: 0, 0, -1, -1>{{.*}} -> tensor<1x2x10x8xf32>
// CHECK: nn.conv_transpose {{.*}} pads = array<i64: 0, 0, 1, 1>{{.*}} -> tensor<1x2x6x6xf32>
func.func @output_shape(%x: tensor<1x1x3x3xf32>, %w: tensor<1x2x3x3xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0 = onnx.node "ConvTranspose"(%x, %w) {strides = array<i64: 3, 2>, output_shape = array<i64: 10, 8>} : (tensor<1x1x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<*xf32>
  %1 = onnx.node "ConvTranspose"(%x, %w) {auto_pad = "SAME_UPPER", strides = array<i64: 2, 2>} : (tensor<1x1x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<*xf32>
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}
}

// -----

module attributes {onnx.opset_import = {"ai.onnx" = 22 : i64}} {
func.func @errors(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@+1 {{Conv (opset 22) is invalid: strides needs 2 elements, but has 1}}
  %0 = onnx.node "Conv"(%x, %w) {strides = array<i64: 2>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<*xf32>
  // expected-error@+1 {{Conv (opset 22) is invalid: dilations needs positive elements, but has 0}}
  %1 = onnx.node "Conv"(%x, %w) {dilations = array<i64: 1, 0>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<*xf32>
  // expected-error@+1 {{Conv (opset 22) is invalid: kernel_shape has 5 where the weights have 3}}
  %2 = onnx.node "Conv"(%x, %w) {kernel_shape = array<i64: 5, 3>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<*xf32>
  // expected-error@+1 {{Conv (opset 22) is invalid: expects 6 input channels (3 a group, 2 groups), but got 3}}
  %3 = onnx.node "Conv"(%x, %w) {group = 2 : i64} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<*xf32>
  // expected-error@+1 {{Conv (opset 22) is invalid: auto_pad is LEFT}}
  %4 = onnx.node "Conv"(%x, %w) {auto_pad = "LEFT"} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<*xf32>
  return
}
}
