// RUN: ingot-opt --onnx-legalize --split-input-file --verify-diagnostics %s | FileCheck %s

module attributes {onnx.opset_import = {"ai.onnx" = 18 : i64}} {

// CHECK-LABEL: @constant_slice
// CHECK: nn.slice %arg0 {sizes = array<i64: -1, 8, -1>, starts = array<i64: 0, 7, 0>, steps = array<i64: 1, -1, 1>}
func.func @constant_slice(%x: tensor<?x8x64xf32>) -> tensor<*xf32> {
  %start = arith.constant dense<-1> : tensor<1xi64>
  %end = arith.constant dense<-9223372036854775807> : tensor<1xi64>
  %axis = arith.constant dense<1> : tensor<1xi64>
  %0 = onnx.node "Slice"(%x, %start, %end, %axis, %start) : (tensor<?x8x64xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// A forward slice is a view.
// CHECK-LABEL: @dynamic_slice
// CHECK-NOT: linalg.generic
// CHECK: tensor.extract_slice %arg0[{{.*}}] [{{.*}}] [1] : tensor<?xf32> to tensor<?xf32>
func.func @dynamic_slice(%x: tensor<?xf32>) -> tensor<*xf32> {
  %start = arith.constant dense<1> : tensor<1xi64>
  %end = arith.constant dense<-1> : tensor<1xi64>
  %0 = onnx.node "Slice"(%x, %start, %end) : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// All elements of a dimension up to its size are the whole dimension.
// CHECK-LABEL: @up_to_itself
// CHECK-NOT: tensor.extract_slice
// CHECK: return %arg0
func.func @up_to_itself(%x: tensor<?x4xf32>) -> tensor<*xf32> {
  %zero = arith.constant dense<0> : tensor<1xi64>
  %shape = onnx.node "Shape"(%x) {start = 0 : i64, end = 1 : i64} : (tensor<?x4xf32>) -> tensor<*xi64>
  %0 = onnx.node "Slice"(%x, %zero, %shape, %zero) : (tensor<?x4xf32>, tensor<1xi64>, tensor<*xi64>, tensor<1xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// Positions from data are clamped so that sums with them do not overflow.
// CHECK-LABEL: @positions_of_data
// CHECK-COUNT-2: arith.minsi {{.*}}, %c281474976710656{{.*}} : index
func.func @positions_of_data(%x: tensor<?xf32>, %start: tensor<1xi64>, %end: tensor<1xi64>) -> tensor<*xf32> {
  %0 = onnx.node "Slice"(%x, %start, %end) : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// CHECK-LABEL: @backward
// CHECK: linalg.generic
// CHECK: tensor.extract %arg0
// CHECK: -> tensor<?xf32>
func.func @backward(%x: tensor<?xf32>) -> tensor<*xf32> {
  %start = arith.constant dense<-1> : tensor<1xi64>
  %end = arith.constant dense<1> : tensor<1xi64>
  %axis = arith.constant dense<0> : tensor<1xi64>
  %0 = onnx.node "Slice"(%x, %start, %end, %axis, %start) : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// x[i:i+1] has at most one element, so a list of starts made from it has one.
// CHECK-LABEL: @one_position
// CHECK: %[[LENGTH:.+]] = arith.minsi {{.*}}, %c1
// CHECK: ingot.require {{.*}} "dimension 0 of 'starts' is {0}, but must be {1}"
// CHECK: ingot.require {{.*}} "dimension 0 of 'ends' is {0}, but must be {1}"
// CHECK: tensor.extract_slice {{.*}} to tensor<?x4xf32>
func.func @one_position(%x: tensor<7x4xf32>, %list: tensor<?xi64>, %i: tensor<1xi64>) -> tensor<*xf32> {
  %one = arith.constant dense<1> : tensor<1xi64>
  %next = onnx.node "Add"(%i, %one) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %after = onnx.node "Add"(%next, %one) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %start = onnx.node "Slice"(%list, %i, %next) : (tensor<?xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
  %end = onnx.node "Slice"(%list, %next, %after) : (tensor<?xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
  %0 = onnx.node "Slice"(%x, %start, %end) : (tensor<7x4xf32>, tensor<*xi64>, tensor<*xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// The axes give the number of starts, and so does the dimension if it is the only one.
// CHECK-LABEL: @known_length
// CHECK: ingot.require {{.*}} "dimension 0 of 'starts' is {0}, but must be {1}"
// CHECK: tensor.extract_slice {{.*}} to tensor<?x?xf32>
// CHECK: ingot.require {{.*}} "dimension 0 of 'ends' is {0}, but must be {1}"
// CHECK: tensor.extract_slice {{.*}} to tensor<?xf32>
func.func @known_length(%x: tensor<7x4xf32>, %z: tensor<?xf32>, %start: tensor<?xi64>, %end: tensor<?xi64>) -> (tensor<*xf32>, tensor<*xf32>) {
  %axes = arith.constant dense<[0, 1]> : tensor<2xi64>
  %0 = onnx.node "Slice"(%x, %start, %end, %axes) : (tensor<7x4xf32>, tensor<?xi64>, tensor<?xi64>, tensor<2xi64>) -> tensor<*xf32>
  %1 = onnx.node "Slice"(%z, %start, %end) : (tensor<?xf32>, tensor<?xi64>, tensor<?xi64>) -> tensor<*xf32>
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @split
// CHECK: nn.slice {{.*}} -> tensor<2x4xf32>
// CHECK: nn.slice {{.*}} starts = array<i64: 0, 4>{{.*}} -> tensor<2x3xf32>
func.func @split(%x: tensor<2x7xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0:2 = onnx.node "Split"(%x) {axis = 1 : i64, num_outputs = 2 : i64} : (tensor<2x7xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %0#0, %0#1 : tensor<*xf32>, tensor<*xf32>
}
}

// -----

module attributes {onnx.opset_import = {"ai.onnx" = 9 : i64}} {
// CHECK-LABEL: @attributes
// CHECK: nn.slice %arg0 {sizes = array<i64: -1, 2>, starts = array<i64: 0, 1>
func.func @attributes(%x: tensor<2x7xf32>) -> tensor<*xf32> {
  %0 = onnx.node "Slice"(%x) {axes = array<i64: 1>, starts = array<i64: 1>, ends = array<i64: 3>} : (tensor<2x7xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
}

// -----

module attributes {onnx.opset_import = {"ai.onnx" = 18 : i64}} {
func.func @errors(%x: tensor<2x7xf32>) {
  %s = arith.constant dense<[3, 3]> : tensor<2xi64>
  // expected-error@+1 {{Split (opset 18) is invalid: 'split' adds up to 6 of 7 elements}}
  %0:2 = onnx.node "Split"(%x, %s) {axis = 1 : i64} : (tensor<2x7xf32>, tensor<2xi64>) -> (tensor<*xf32>, tensor<*xf32>)
  %z = arith.constant dense<[0, 0]> : tensor<2xi64>
  %a = arith.constant dense<[0, 1]> : tensor<2xi64>
  // expected-error@+1 {{Slice (opset 18) is invalid: 'steps' is 0 at [0], but must be other than 0}}
  %1 = onnx.node "Slice"(%x, %z, %s, %a, %z) : (tensor<2x7xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  return
}

func.func @unknown_length(%x: tensor<2x7xf32>, %s: tensor<?xi64>) {
  // expected-error@+1 {{Slice (opset 18) is not supported: input 1 has an open number of elements; fix it with --shape}}
  %0 = onnx.node "Slice"(%x, %s, %s) : (tensor<2x7xf32>, tensor<?xi64>, tensor<?xi64>) -> tensor<*xf32>
  return
}
}
