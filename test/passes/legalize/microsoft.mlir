// RUN: ingot-opt --onnx-legalize --split-input-file --verify-diagnostics %s | FileCheck %s

module attributes {onnx.opset_import = {ai.onnx = 17 : i64, com.microsoft = 1 : i64}} {

// CHECK-LABEL: @add
func.func @add(%x: tensor<2x3xui8>, %s: tensor<f32>, %z: tensor<ui8>) -> tensor<2x3xui8> {
  // CHECK: %[[A:.*]] = nn.dequantize %arg0, %arg1 zero_point(%arg2)
  // CHECK: %[[B:.*]] = nn.dequantize %arg0, %arg1 zero_point(%arg2)
  // CHECK: %[[C:.*]] = nn.add %[[A]], %[[B]]
  // CHECK: nn.quantize %[[C]], %arg1 zero_point(%arg2) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  %0 = onnx.node "com.microsoft"::"QLinearAdd"(%x, %s, %z, %x, %s, %z, %s, %z) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  return %0 : tensor<2x3xui8>
}

// Channels last: pooling with channels first, between transposes.
// CHECK-LABEL: @pool
func.func @pool(%x: tensor<1x4x4x2xui8>, %s: tensor<f32>, %z: tensor<ui8>) -> tensor<1x1x1x2xui8> {
  // CHECK: nn.transpose %{{.*}} {perm = array<i64: 0, 3, 1, 2>}
  // CHECK: nn.reduce mean %{{.*}} {axes = array<i64: 2, 3>, keep_dims} : tensor<1x2x4x4xf32> -> tensor<1x2x1x1xf32>
  // CHECK: nn.transpose %{{.*}} {perm = array<i64: 0, 2, 3, 1>}
  // CHECK: nn.quantize
  %0 = onnx.node "com.microsoft"::"QLinearGlobalAveragePool"(%x, %s, %z, %s, %z) {channels_last = 1 : i64} : (tensor<1x4x4x2xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x1x1x2xui8>
  return %0 : tensor<1x1x1x2xui8>
}

// Sums of constant columns are constants for any zero point.
// CHECK-LABEL: @dynamic
func.func @dynamic(%x: tensor<?x2xf32>, %s: tensor<f32>, %b: tensor<2xf32>) -> tensor<?x2xf32> {
  %w = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
  %a = onnx.absent
  // CHECK: nn.quantize %arg0
  // CHECK: nn.matmul %{{.*}} : (tensor<?x2xui8>, tensor<2x2xi8>) -> tensor<?x2xi32>
  // CHECK: arith.constant dense<{{\[\[}}4, 6]]> : tensor<1x2xi32>
  // CHECK: nn.sub
  // CHECK: nn.mul
  // CHECK: nn.add %{{.*}}, %arg2
  %0 = onnx.node "com.microsoft"::"DynamicQuantizeMatMul"(%x, %w, %s, %a, %b) : (tensor<?x2xf32>, tensor<2x2xi8>, tensor<f32>, none, tensor<2xf32>) -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}

// Data is read in the order of the weights' blocks. An order that is sorted
// already needs nothing.
// CHECK-LABEL: @grouped
func.func @grouped(%x: tensor<?x32xf32>, %s: tensor<2xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>) {
  %w = arith.constant dense<1> : tensor<1x2x8xui8>
  %a = onnx.absent
  %odd = arith.constant dense<[0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]> : tensor<32xi32>
  // CHECK: %[[O:.*]] = arith.constant dense<[0, 2, 4, {{.*}}, 29, 31]> : tensor<32xi64>
  // CHECK: %[[G:.*]] = nn.gather %arg0, %[[O]] {axis = 1 : i64}
  // CHECK: nn.packed_matmul %[[G]]
  %0 = onnx.node "com.microsoft"::"MatMulNBits"(%x, %w, %s, %a, %odd) {K = 32 : i64, N = 1 : i64, bits = 4 : i64, block_size = 16 : i64} : (tensor<?x32xf32>, tensor<1x2x8xui8>, tensor<2xf32>, none, tensor<32xi32>) -> tensor<?x1xf32>
  %sorted = arith.constant dense<[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]> : tensor<32xi32>
  // CHECK: nn.packed_matmul %arg0
  %1 = onnx.node "com.microsoft"::"MatMulNBits"(%x, %w, %s, %a, %sorted) {K = 32 : i64, N = 1 : i64, bits = 4 : i64, block_size = 16 : i64} : (tensor<?x32xf32>, tensor<1x2x8xui8>, tensor<2xf32>, none, tensor<32xi32>) -> tensor<?x1xf32>
  return %0, %1 : tensor<?x1xf32>, tensor<?x1xf32>
}

// A byte has two numbers, the lower bits first. Without zero points, 8 is 0.
// CHECK-LABEL: @lookup
func.func @lookup(%i: tensor<?xi64>) -> tensor<?x4xf16> {
  // CHECK-DAG: %[[W:.*]] = arith.constant dense<{{\[\[}}1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<2x4xui4>
  // CHECK-DAG: %[[Z:.*]] = arith.constant dense<8> : tensor<2x1xui4>
  %w = arith.constant dense<[[33, 67], [101, 135]]> : tensor<2x2xui8>
  %s = arith.constant dense<2.0> : tensor<2x1xf16>
  // CHECK: %[[D:.*]] = nn.dequantize_blocks %[[W]], %{{.*}} zero_point(%[[Z]]) {axis = 1 : i64, block_size = 16 : i64} : (tensor<2x4xui4>, tensor<2x1xf32>, tensor<2x1xui4>) -> tensor<2x4xf16>
  // CHECK: nn.gather %[[D]], %arg0 {axis = 0 : i64}
  %0 = onnx.node "com.microsoft"::"GatherBlockQuantized"(%w, %i, %s) {block_size = 16 : i64} : (tensor<2x2xui8>, tensor<?xi64>, tensor<2x1xf16>) -> tensor<?x4xf16>
  return %0 : tensor<?x4xf16>
}

// Level 4 allows int8 instead of floats.
// CHECK-LABEL: @packed
func.func @packed(%x: tensor<?x20xf32>, %s: tensor<6xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
  %w = arith.constant dense<1> : tensor<3x2x8xui8>
  // CHECK: nn.packed_matmul %arg0, %{{.*}} {bits = 4 : i64, block_size = 16 : i64, depth = 20 : i64, may_round_a}
  %0 = onnx.node "com.microsoft"::"MatMulNBits"(%x, %w, %s) {K = 20 : i64, N = 3 : i64, bits = 4 : i64, block_size = 16 : i64, accuracy_level = 4 : i64} : (tensor<?x20xf32>, tensor<3x2x8xui8>, tensor<6xf32>) -> tensor<?x3xf32>
  // CHECK: nn.packed_matmul %arg0, %{{.*}} {bits = 4 : i64, block_size = 16 : i64, depth = 20 : i64}
  %1 = onnx.node "com.microsoft"::"MatMulNBits"(%x, %w, %s) {K = 20 : i64, N = 3 : i64, bits = 4 : i64, block_size = 16 : i64, accuracy_level = 1 : i64} : (tensor<?x20xf32>, tensor<3x2x8xui8>, tensor<6xf32>) -> tensor<?x3xf32>
  return %0, %1 : tensor<?x3xf32>, tensor<?x3xf32>
}
}

// -----

module attributes {onnx.opset_import = {ai.onnx = 17 : i64, com.microsoft = 1 : i64}} {
func.func @scale(%x: tensor<2x3xui8>, %z: tensor<ui8>) -> tensor<2x3xui8> {
  %s = arith.constant dense<0.0> : tensor<f32>
  // expected-error @below {{QLinearSigmoid (opset 1) is invalid: 'input 1' is 0.000000, but must be finite and above 0}}
  %0 = onnx.node "com.microsoft"::"QLinearSigmoid"(%x, %s, %z, %s, %z) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  return %0 : tensor<2x3xui8>
}
}

// -----

module attributes {onnx.opset_import = {ai.onnx = 17 : i64, com.microsoft = 1 : i64}} {
func.func @lstm(%x: tensor<2x1x3xf32>, %w: tensor<1x3x8xi8>, %r: tensor<1x2x8xi8>, %s: tensor<1xf32>, %z: tensor<1xui8>) -> tensor<2x1x1x2xf32> {
  %a = onnx.absent
  // expected-error @below {{DynamicQuantizeLSTM (opset 1) is invalid: input 9 does not have the type of weights and the shape of their scale}}
  %0 = onnx.node "com.microsoft"::"DynamicQuantizeLSTM"(%x, %w, %r, %a, %a, %a, %a, %a, %s, %z, %s, %z) {hidden_size = 2 : i64} : (tensor<2x1x3xf32>, tensor<1x3x8xi8>, tensor<1x2x8xi8>, none, none, none, none, none, tensor<1xf32>, tensor<1xui8>, tensor<1xf32>, tensor<1xui8>) -> tensor<2x1x1x2xf32>
  return %0 : tensor<2x1x1x2xf32>
}
}
