// RUN: ingot-opt --onnx-legalize --split-input-file --verify-diagnostics %s | FileCheck %s

// A failing node reports one error, and no errors that follow from it.

module attributes {onnx.opset_import = {"ai.onnx" = 18 : i64}} {
func.func @lengths(%x: tensor<4x4xf32>, %lengths: tensor<0xi64>) {
  // expected-error @below {{ReverseSequence (opset 18) is invalid: 'sequence_lens' has 0 elements, but must have 4}}
  %0 = onnx.node "ReverseSequence"(%x, %lengths) {batch_axis = 1 : i64, time_axis = 0 : i64} : (tensor<4x4xf32>, tensor<0xi64>) -> tensor<*xf32>
  return
}
}

// -----

module attributes {onnx.opset_import = {"ai.onnx" = 18 : i64}} {
func.func @axes(%x: tensor<f32>, %lengths: tensor<1xi64>) {
  // expected-error @below {{ReverseSequence (opset 18) is invalid: 'axis' is 0, but must be left out: the data has no axes}}
  %0 = onnx.node "ReverseSequence"(%x, %lengths) {batch_axis = 1 : i64, time_axis = 0 : i64} : (tensor<f32>, tensor<1xi64>) -> tensor<*xf32>
  return
}
}

// -----

module attributes {onnx.opset_import = {"ai.onnx" = 18 : i64}} {
func.func @complex(%x: tensor<2x2xcomplex<f32>>) {
  // expected-error @below {{NonZero (opset 18) is not supported: arithmetic on complex numbers}}
  %0 = onnx.node "NonZero"(%x) : (tensor<2x2xcomplex<f32>>) -> tensor<*xi64>
  return
}
}

// -----

// All of no elements are true.
module attributes {onnx.opset_import = {"ai.onnx" = 18 : i64}} {
// CHECK-LABEL: func.func @nothing
func.func @nothing(%x: tensor<3x2xf32>, %none: tensor<0xi1>) -> tensor<*xf32> {
  // CHECK: nn.gather {{.*}} -> tensor<0x2xf32>
  %0 = onnx.node "Compress"(%x, %none) {axis = 0 : i64} : (tensor<3x2xf32>, tensor<0xi1>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// CHECK-LABEL: func.func @no_channels
// CHECK-NEXT: return %arg0
func.func @no_channels(%x: tensor<?x0xf32>) -> tensor<*xf32> {
  %0 = onnx.node "LRN"(%x) {size = 3 : i64} : (tensor<?x0xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
}

// -----

// The run compares sizes that only one of two types knows.
module attributes {onnx.opset_import = {"ai.onnx" = 18 : i64}} {
// CHECK-LABEL: func.func @open_updates
// CHECK: nn.scatter_elements
func.func @open_updates(%x: tensor<5x4xf32>, %i: tensor<?x4xi64>, %u: tensor<3x4xf32>) -> tensor<*xf32> {
  %0 = onnx.node "ScatterElements"(%x, %i, %u) {axis = 0 : i64} : (tensor<5x4xf32>, tensor<?x4xi64>, tensor<3x4xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
}

// -----

// Rows are moved as a whole. Only the step of a row is computed, and clamped to
// the data.
module attributes {onnx.opset_import = {"ai.onnx" = 18 : i64}} {
// CHECK-LABEL: func.func @turned
// CHECK-DAG: ingot.require %{{.*}}, "sequence_lens has {0} elements, but there are {1} sequences"
// CHECK: linalg.generic
// CHECK: %[[T:.*]] = linalg.index 0
// CHECK: %[[B:.*]] = linalg.index 1
// CHECK: %[[C:.*]] = linalg.index 2
// CHECK: tensor.extract %arg1[%[[B]]] : tensor<?xi64>
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: %[[AT:.*]] = arith.select
// CHECK: tensor.extract %arg0[%[[AT]], %[[B]], %[[C]]]
func.func @turned(%x: tensor<7x3x5xf32>, %lengths: tensor<?xi64>) -> tensor<*xf32> {
  %0 = onnx.node "ReverseSequence"(%x, %lengths) {batch_axis = 1 : i64, time_axis = 0 : i64} : (tensor<7x3x5xf32>, tensor<?xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
}
