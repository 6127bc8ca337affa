// RUN: ingot-opt --onnx-legalize --split-input-file --verify-diagnostics %s | FileCheck %s

module attributes {onnx.opset_import = {ai.onnx = 24 : i64}} {

// Attributes have ONNX's defaults.
// CHECK-LABEL: @direct
func.func @direct(%x: tensor<3xf32>, %s: tensor<1xf32>) -> tensor<3xf32> {
  // CHECK: nn.sigmoid
  %0 = onnx.node "Sigmoid"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  // CHECK: nn.gelu %{{.*}} {tanh_approximation}
  %1 = onnx.node "Gelu"(%0) {approximate = "tanh"} : (tensor<3xf32>) -> tensor<3xf32>
  // CHECK: nn.leaky_relu %{{.*}} {alpha = 0.00999999977 : f32}
  %2 = onnx.node "LeakyRelu"(%1) : (tensor<3xf32>) -> tensor<3xf32>
  // CHECK: nn.hard_sigmoid %{{.*}} {alpha = 2.000000e-01 : f32, beta = 5.000000e-01 : f32}
  %3 = onnx.node "HardSigmoid"(%2) : (tensor<3xf32>) -> tensor<3xf32>
  // CHECK: nn.prelu
  %4 = onnx.node "PRelu"(%3, %s) : (tensor<3xf32>, tensor<1xf32>) -> tensor<3xf32>
  // CHECK: nn.swish
  %5 = onnx.node "Swish"(%4) {alpha = 2.0 : f32} : (tensor<3xf32>) -> tensor<3xf32>
  // CHECK: nn.hard_swish
  %6 = onnx.node "HardSwish"(%5) : (tensor<3xf32>) -> tensor<3xf32>
  return %6 : tensor<3xf32>
}

// A slope that does not broadcast has one element per channel.
// CHECK-LABEL: @channel_slope
func.func @channel_slope(%x: tensor<2x3x4xf32>, %s: tensor<3xf32>) -> tensor<2x3x4xf32> {
  // CHECK: %[[S:.*]] = nn.reshape %arg1 : tensor<3xf32> -> tensor<3x1xf32>
  // CHECK: nn.prelu %arg0, %[[S]]
  %0 = onnx.node "PRelu"(%x, %s) : (tensor<2x3x4xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// CHECK-LABEL: @composed
func.func @composed(%x: tensor<?xf32>, %i: tensor<3xi8>) -> (tensor<?xf32>, tensor<3xi8>) {
  // CHECK: %[[E:.*]] = nn.elu %{{.*}} {alpha = 1.67326319 : f32}
  // CHECK: nn.mul %[[E]]
  %0 = onnx.node "Selu"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  // CHECK: nn.softplus
  // CHECK: nn.tanh
  // CHECK: nn.mul
  %1 = onnx.node "Mish"(%0) : (tensor<?xf32>) -> tensor<?xf32>
  // CHECK: nn.abs
  // CHECK: nn.div
  %2 = onnx.node "Softsign"(%1) : (tensor<?xf32>) -> tensor<?xf32>
  // CHECK: nn.greater
  // CHECK: nn.select
  %3 = onnx.node "ThresholdedRelu"(%2) : (tensor<?xf32>) -> tensor<?xf32>
  // CHECK: nn.div
  // CHECK: nn.elu
  // CHECK: nn.select
  %4 = onnx.node "Celu"(%3) {alpha = 2.0 : f32} : (tensor<?xf32>) -> tensor<?xf32>
  // Integers are shrunk as real numbers.
  // CHECK: nn.cast %{{.*}} : tensor<3xf64> -> tensor<3xi8>
  %5 = onnx.node "Shrink"(%i) {lambd = 1.5 : f32} : (tensor<3xi8>) -> tensor<3xi8>
  return %4, %5 : tensor<?xf32>, tensor<3xi8>
}
}

// -----

module attributes {onnx.opset_import = {ai.onnx = 24 : i64}} {
func.func @wrong(%x: tensor<3xf32>, %s: tensor<2x3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{Gelu (opset 24) is invalid: approximate is 'erf'}}
  %0 = onnx.node "Gelu"(%x) {approximate = "erf"} : (tensor<3xf32>) -> tensor<3xf32>
  // expected-error @+1 {{Celu (opset 24) is invalid: alpha is 0}}
  %1 = onnx.node "Celu"(%x) {alpha = 0.0 : f32} : (tensor<3xf32>) -> tensor<3xf32>
  // expected-error @+1 {{PRelu (opset 24) is invalid: the slope does not broadcast to the data}}
  %2 = onnx.node "PRelu"(%x, %s) : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<3xf32>
  return %2 : tensor<3xf32>
}
}
