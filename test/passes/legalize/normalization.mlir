// RUN: ingot-opt --onnx-legalize --split-input-file --verify-diagnostics %s | FileCheck %s

module attributes {onnx.opset_import = {ai.onnx = 24 : i64}} {

// CHECK-LABEL: @trailing
func.func @trailing(%x: tensor<?x3x4xf32>, %s: tensor<4xf32>, %w: tensor<3x1xf32>) -> (tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x1xf32>) {
  // CHECK: nn.softmax %arg0 {axis = 1 : i64}
  %0 = onnx.node "Softmax"(%x) {axis = 1 : i64} : (tensor<?x3x4xf32>) -> tensor<?x3x4xf32>
  // CHECK: nn.layer_norm %arg0 scale(%arg1) bias(%arg1) {axis = 2 : i64, epsilon = 9.99999974E-6 : f32}
  %1 = onnx.node "LayerNormalization"(%x, %s, %s) : (tensor<?x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x3x4xf32>
  // CHECK: nn.rms_norm %arg0, %arg1 {axis = 2 : i64
  %2 = onnx.node "RMSNormalization"(%x, %s) : (tensor<?x3x4xf32>, tensor<4xf32>) -> tensor<?x3x4xf32>
  // A norm is composed of other ops if the mean is a result, or if the scale
  // varies over more dimensions.
  // CHECK: nn.reduce mean
  // CHECK: nn.reduce mean
  // CHECK: nn.reciprocal
  %3, %4 = onnx.node "LayerNormalization"(%x, %w) : (tensor<?x3x4xf32>, tensor<3x1xf32>) -> (tensor<?x3x4xf32>, tensor<?x3x1xf32>)
  return %0, %1, %2, %4 : tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x1xf32>
}

// CHECK-LABEL: @channels
func.func @channels(%x: tensor<2x4x?x?xf32>, %v: tensor<4xf32>) -> (tensor<2x4x?x?xf32>, tensor<2x4x?x?xf32>, tensor<2x4x?x?xf32>, tensor<2x4x?x?xf32>) {
  // CHECK: nn.batch_norm %arg0, %arg1, %arg1, %arg1, %arg1 {epsilon = 9.99999974E-6 : f32}
  %0 = onnx.node "BatchNormalization"(%x, %v, %v, %v, %v) : (tensor<2x4x?x?xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x?x?xf32>
  // CHECK: nn.group_norm %arg0, %arg1, %arg1 {{{.*}}groups = 4 : i64}
  %1 = onnx.node "InstanceNormalization"(%x, %v, %v) : (tensor<2x4x?x?xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x?x?xf32>
  // CHECK: nn.group_norm %arg0, %arg1, %arg1 {{{.*}}groups = 2 : i64}
  %2 = onnx.node "GroupNormalization"(%x, %v, %v) {num_groups = 2 : i64} : (tensor<2x4x?x?xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x?x?xf32>
  // CHECK: nn.lrn %arg0 {alpha = 9.99999974E-5 : f32, beta = 7.500000e-01 : f32, k = 1.000000e+00 : f32, size = 3 : i64}
  %3 = onnx.node "LRN"(%x) {size = 3 : i64} : (tensor<2x4x?x?xf32>) -> tensor<2x4x?x?xf32>
  return %0, %1, %2, %3 : tensor<2x4x?x?xf32>, tensor<2x4x?x?xf32>, tensor<2x4x?x?xf32>, tensor<2x4x?x?xf32>
}

// A window of more than all channels holds all channels, and divides by its own
// size.
// CHECK-LABEL: @wide_window
func.func @wide_window(%x: tensor<2x4x?x?xf32>) -> tensor<2x4x?x?xf32> {
  // CHECK: nn.lrn %arg0 {alpha = 0.699999988 : f32, {{.*}}size = 7 : i64}
  %0 = onnx.node "LRN"(%x) {size = 10 : i64, alpha = 1.0 : f32} : (tensor<2x4x?x?xf32>) -> tensor<2x4x?x?xf32>
  return %0 : tensor<2x4x?x?xf32>
}

// CHECK-LABEL: @composed
func.func @composed(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  // A norm of zero gives zero.
  // CHECK: nn.reduce sum_square
  // CHECK: nn.div
  // CHECK: nn.select
  %0 = onnx.node "LpNormalization"(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: nn.reduce mean %arg0 {axes = array<i64: 0>, keep_dims}
  // CHECK: nn.sqrt
  // CHECK: nn.div
  %1 = onnx.node "MeanVarianceNormalization"(%x) {axes = array<i64: 0>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0, %1 : tensor<2x4xf32>, tensor<2x4xf32>
}
}

// -----

module attributes {onnx.opset_import = {ai.onnx = 11 : i64}} {
// CHECK-LABEL: @old
func.func @old(%x: tensor<?x3x4xf32>) -> tensor<?x3x4xf32> {
  // CHECK: nn.reshape %arg0 : tensor<?x3x4xf32> -> tensor<?x12xf32>
  // CHECK: nn.softmax %{{.*}} {axis = 1 : i64, log}
  // CHECK: nn.reshape %{{.*}} : tensor<?x12xf32> -> tensor<?x3x4xf32>
  %0 = onnx.node "LogSoftmax"(%x) : (tensor<?x3x4xf32>) -> tensor<?x3x4xf32>
  return %0 : tensor<?x3x4xf32>
}
}

// -----

module attributes {onnx.opset_import = {ai.onnx = 18 : i64}} {
// Scale and bias of a group are repeated for its channels.
// CHECK-LABEL: @group_scales
func.func @group_scales(%x: tensor<2x4x3xf32>, %v: tensor<2xf32>) -> tensor<2x4x3xf32> {
  // CHECK: nn.broadcast_to %{{.*}} : tensor<2x1xf32> -> tensor<2x2xf32>
  // CHECK: nn.group_norm %{{.*}} : (tensor<2x4x3xf32>, tensor<4xf32>, tensor<4xf32>)
  %0 = onnx.node "GroupNormalization"(%x, %v, %v) {num_groups = 2 : i64} : (tensor<2x4x3xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}
}

// -----

module attributes {onnx.opset_import = {ai.onnx = 24 : i64}} {
func.func @wrong(%x: tensor<2x4x3xf32>, %v: tensor<3xf32>, %d: tensor<2x?x3xf32>, %dv: tensor<?xf32>) -> tensor<2x4x3xf32> {
  // expected-error @+1 {{Softmax (opset 24) is invalid: 'axis' is 3, but must be in [-3, 2]}}
  %0 = onnx.node "Softmax"(%x) {axis = 3 : i64} : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  // expected-error @+1 {{BatchNormalization (opset 24) is invalid: input 1 has 3 elements for 4 channels}}
  %1 = onnx.node "BatchNormalization"(%x, %v, %v, %v, %v) : (tensor<2x4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x4x3xf32>
  // expected-error @+1 {{InstanceNormalization (opset 24) is not supported: a dynamic channel dimension; fix it with --shape}}
  %2 = onnx.node "InstanceNormalization"(%d, %dv, %dv) : (tensor<2x?x3xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<2x?x3xf32>
  // expected-error @+1 {{GroupNormalization (opset 24) is invalid: num_groups is 3, but there are 4 channels}}
  %3 = onnx.node "GroupNormalization"(%x, %v, %v) {num_groups = 3 : i64} : (tensor<2x4x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x4x3xf32>
  // expected-error @+1 {{LRN (opset 24) is invalid: size is 0}}
  %4 = onnx.node "LRN"(%x) {size = 0 : i64} : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  // expected-error @+1 {{LRN (opset 24) is not supported: a window of 9223372036854775807 channels}}
  %lrn = onnx.node "LRN"(%d) {size = 9223372036854775807 : i64} : (tensor<2x?x3xf32>) -> tensor<2x?x3xf32>
  // expected-error @+1 {{LpNormalization (opset 24) is invalid: p is 3, but only 1 and 2 are defined}}
  %5 = onnx.node "LpNormalization"(%x) {p = 3 : i64} : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  %four = arith.constant dense<1.0> : tensor<4xf32>
  // expected-error @+1 {{LayerNormalization (opset 24) is invalid: input 1 does not broadcast to the data}}
  %6 = onnx.node "LayerNormalization"(%x, %four) : (tensor<2x4x3xf32>, tensor<4xf32>) -> tensor<2x4x3xf32>
  return %6 : tensor<2x4x3xf32>
}
}
