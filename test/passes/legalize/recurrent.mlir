// RUN: ingot-opt --onnx-legalize --split-input-file --verify-diagnostics %s | FileCheck %s

module attributes {onnx.opset_import = {"ai.onnx" = 22 : i64}} {

// One product for the input of all steps, and one per step for the state.
// CHECK-LABEL: @lstm
// CHECK: nn.matmul {{.*}} bias({{.*}}) {transpose_b} : {{.*}} -> tensor<?x12xf32>
// CHECK: scf.for
// CHECK: nn.matmul {{.*}} {transpose_b} : {{.*}} -> tensor<?x12xf32>
// CHECK: tensor.insert_slice
// CHECK: scf.for
// CHECK: nn.concat {{.*}} -> tensor<7x2x?x3xf32>
func.func @lstm(%x: tensor<7x?x5xf32>, %w: tensor<2x12x5xf32>, %r: tensor<2x12x3xf32>, %b: tensor<2x24xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0:3 = onnx.node "LSTM"(%x, %w, %r, %b) {direction = "bidirectional", hidden_size = 3 : i64} : (tensor<7x?x5xf32>, tensor<2x12x5xf32>, tensor<2x12x3xf32>, tensor<2x24xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return %0#0, %0#1 : tensor<*xf32>, tensor<*xf32>
}

// A sequence that has ended keeps its state.
// CHECK-LABEL: @gru
// CHECK-COUNT-2: ingot.require %{{.*}}, "sequence_lens has {0}, but there are {1} steps"
// CHECK: scf.for
// CHECK: %[[MASK:.*]] = nn.less
// CHECK: nn.select %[[MASK]]
func.func @gru(%x: tensor<7x2x5xf32>, %w: tensor<1x9x5xf32>, %r: tensor<1x9x3xf32>, %b: tensor<1x18xf32>, %l: tensor<2xi32>) -> tensor<*xf32> {
  %0:2 = onnx.node "GRU"(%x, %w, %r, %b, %l) {linear_before_reset = 1 : i64, hidden_size = 3 : i64} : (tensor<7x2x5xf32>, tensor<1x9x5xf32>, tensor<1x9x3xf32>, tensor<1x18xf32>, tensor<2xi32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %0#0 : tensor<*xf32>
}

// If the type of X lacks the width, W gives it, and the run checks it.
// CHECK-LABEL: @open_width
// CHECK: ingot.require {{.*}}, "dimension 2 of W is {0}, not {1}"
// CHECK: nn.matmul {{.*}} {transpose_b} : (tensor<14x5xf32>, tensor<3x5xf32>) -> tensor<14x3xf32>
// CHECK: scf.for
func.func @open_width(%x: tensor<7x2x?xf32>, %w: tensor<1x3x5xf32>, %r: tensor<1x3x3xf32>) -> tensor<*xf32> {
  %0:2 = onnx.node "RNN"(%x, %w, %r) {hidden_size = 3 : i64} : (tensor<7x2x?xf32>, tensor<1x3x5xf32>, tensor<1x3x3xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %0#0 : tensor<*xf32>
}
}

// -----

module attributes {onnx.opset_import = {"ai.onnx" = 22 : i64}} {
func.func @errors(%x: tensor<7x2x5xf32>, %w: tensor<1x3x5xf32>, %r: tensor<1x3x3xf32>) {
  // expected-error@+1 {{RNN (opset 22) is not supported: activation Swish}}
  %0:2 = onnx.node "RNN"(%x, %w, %r) {hidden_size = 3 : i64, activations = ["Swish"]} : (tensor<7x2x5xf32>, tensor<1x3x5xf32>, tensor<1x3x3xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  // expected-error@+1 {{RNN (opset 22) is invalid: W does not have the shape that hidden_size and direction ask for}}
  %1:2 = onnx.node "RNN"(%x, %w, %r) {hidden_size = 4 : i64} : (tensor<7x2x5xf32>, tensor<1x3x5xf32>, tensor<1x3x3xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return
}
}
