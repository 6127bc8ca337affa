// RUN: ingot-opt --onnx-legalize --split-input-file --verify-diagnostics %s | FileCheck %s

module attributes {onnx.opset_import = {"ai.onnx" = 18 : i64}} {

// The batch that the shape list takes from the data is the data's batch.
// CHECK-LABEL: @computed_reshape
// CHECK-NOT: ingot.require
// CHECK: nn.reshape %arg0 : tensor<?x8x64xf32> -> tensor<?x16x32xf32>
func.func @computed_reshape(%x: tensor<?x8x64xf32>) -> tensor<*xf32> {
  %0 = onnx.node "Shape"(%x) {end = 1 : i64} : (tensor<?x8x64xf32>) -> tensor<*xi64>
  %c = arith.constant dense<[-1, 32]> : tensor<2xi64>
  %1 = onnx.node "Concat"(%0, %c) {axis = 0 : i64} : (tensor<*xi64>, tensor<2xi64>) -> tensor<*xi64>
  %2 = onnx.node "Reshape"(%x, %1) : (tensor<?x8x64xf32>, tensor<*xi64>) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}

// CHECK-LABEL: @constant_reshape
// CHECK: nn.reshape %arg0 : tensor<2x8x6xf32> -> tensor<2x4x12xf32>
// CHECK: nn.reshape %arg0 : tensor<2x8x6xf32> -> tensor<16x6xf32>
// CHECK: nn.reshape %arg0 : tensor<2x8x6xf32> -> tensor<1x2x8x1x6xf32>
func.func @constant_reshape(%x: tensor<2x8x6xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %c = arith.constant dense<[0, 4, -1]> : tensor<3xi64>
  %0 = onnx.node "Reshape"(%x, %c) : (tensor<2x8x6xf32>, tensor<3xi64>) -> tensor<*xf32>
  %1 = onnx.node "Flatten"(%x) {axis = -1 : i64} : (tensor<2x8x6xf32>) -> tensor<*xf32>
  %axes = arith.constant dense<[0, -2]> : tensor<2xi64>
  %2 = onnx.node "Unsqueeze"(%x, %axes) : (tensor<2x8x6xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %0, %1, %2 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @expand
// CHECK: %[[N:.*]] = tensor.dim %arg0
// CHECK: nn.broadcast_to %arg0 sizes(%[[N]]) : tensor<?x1xf32> -> tensor<3x?x4xf32>
func.func @expand(%x: tensor<?x1xf32>) -> tensor<*xf32> {
  %c = arith.constant dense<[3, 1, 4]> : tensor<3xi64>
  %0 = onnx.node "Expand"(%x, %c) : (tensor<?x1xf32>, tensor<3xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// CHECK-LABEL: @small_constants
// CHECK-DAG: %[[R:.*]] = arith.constant dense<[1, 4, 7]> : tensor<3xi64>
// CHECK-DAG: %[[C:.*]] = arith.constant dense<7> : tensor<2x3xi32>
// CHECK: return %[[R]], %[[C]]
func.func @small_constants() -> (tensor<*xi64>, tensor<*xi32>) {
  %a = onnx.node "Constant"() {value_int = 1 : i64} : () -> tensor<i64>
  %b = arith.constant dense<10> : tensor<i64>
  %c = arith.constant dense<3> : tensor<i64>
  %0 = onnx.node "Range"(%a, %b, %c) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  %s = arith.constant dense<[2, 3]> : tensor<2xi64>
  %1 = onnx.node "ConstantOfShape"(%s) {value = dense<7> : tensor<1xi32>} : (tensor<2xi64>) -> tensor<*xi32>
  return %0, %1 : tensor<*xi64>, tensor<*xi32>
}
}

// -----

module attributes {onnx.opset_import = {"ai.onnx" = 18 : i64}} {
func.func @errors(%x: tensor<2x3xf32>) {
  %a = arith.constant dense<[-1, -1]> : tensor<2xi64>
  // expected-error@+1 {{Reshape (opset 18) is invalid: 'shape' is -1 at [1], but element 0 is, too}}
  %0 = onnx.node "Reshape"(%x, %a) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<*xf32>
  %b = arith.constant dense<[2, 4]> : tensor<2xi64>
  // expected-error@+1 {{Reshape (opset 18) is invalid: 'shape' asks for 8 elements, but the data has 6}}
  %1 = onnx.node "Reshape"(%x, %b) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<*xf32>
  // expected-error@+1 {{Flatten (opset 18) is invalid: 'axis' is 3, but must be in [-2, 2]}}
  %2 = onnx.node "Flatten"(%x) {axis = 3 : i64} : (tensor<2x3xf32>) -> tensor<*xf32>
  %c = arith.constant dense<1> : tensor<1xi64>
  // expected-error@+1 {{Squeeze (opset 18) is invalid: dimension 1 of 3 elements cannot be squeezed, but 'axes' names it}}
  %3 = onnx.node "Squeeze"(%x, %c) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<*xf32>
  return
}
}

// -----

module attributes {onnx.opset_import = {"ai.onnx" = 18 : i64}} {

// The run checks that there are as many elements as the shape has.
// CHECK-LABEL: @data_of_another_size
// CHECK: %[[ROWS:.*]] = tensor.dim %arg0
// CHECK: %[[FITS:.*]] = arith.cmpi eq
// CHECK: ingot.require %{{.*}}, "node 'fold0': the shape has another number of elements than the data"
// CHECK: nn.reshape %arg0 : tensor<?x3xf32> -> tensor<2x3xf32>
func.func @data_of_another_size(%x: tensor<?x3xf32>) -> tensor<*xf32> {
  %c = arith.constant dense<[2, 3]> : tensor<2xi64>
  %0 = onnx.node "Reshape"(%x, %c) : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<*xf32> loc("fold0")
  return %0 : tensor<*xf32>
}

// Known parts of a list are computed at compile time, negative ones too.
// CHECK-LABEL: @negative_parts
// CHECK: -> tensor<?x3x4xf32>
func.func @negative_parts(%x: tensor<?x4x3xf32>) -> tensor<*xf32> {
  %0 = onnx.node "Shape"(%x) {end = 1 : i64} : (tensor<?x4x3xf32>) -> tensor<*xi64>
  %c = arith.constant dense<[-6, -8]> : tensor<2xi64>
  %1 = onnx.node "Concat"(%0, %c) {axis = 0 : i64} : (tensor<*xi64>, tensor<2xi64>) -> tensor<*xi64>
  %d = arith.constant dense<[1, -2, -2]> : tensor<3xi64>
  %2 = onnx.node "Div"(%1, %d) : (tensor<*xi64>, tensor<3xi64>) -> tensor<*xi64>
  %3 = onnx.node "Reshape"(%x, %2) : (tensor<?x4x3xf32>, tensor<*xi64>) -> tensor<*xf32>
  return %3 : tensor<*xf32>
}

// Sizes from data may be negative, and their product may wrap around.
// CHECK-LABEL: @shape_of_another_size
// CHECK: arith.cmpi sge
// CHECK: arith.mului_extended
// CHECK: ingot.require
// CHECK: tensor.reshape
func.func @shape_of_another_size(%x: tensor<12xf32>, %s: tensor<2xi64>) -> tensor<*xf32> {
  %0 = onnx.node "Reshape"(%x, %s) : (tensor<12xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// The list has sizes of dimensions and one size from data. The former are not
// taken for -1, and an unchanged dimension is the data's.
// CHECK-LABEL: @dimensions_beside_data
// CHECK: %[[BATCH:.*]] = tensor.dim %arg0, %{{.*}}
// CHECK-NOT: arith.select %{{.*}}, %[[BATCH]]
// CHECK: tensor.from_elements %[[BATCH]], %{{.*}}, %{{.*}} : tensor<3xindex>
// CHECK: tensor.reshape
func.func @dimensions_beside_data(%x: tensor<?x12xf32>, %rows: tensor<1xi64>) -> tensor<*xf32> {
  %batch = onnx.node "Shape"(%x) {start = 0 : i64, end = 1 : i64} : (tensor<?x12xf32>) -> tensor<*xi64>
  %rest = arith.constant dense<-1> : tensor<1xi64>
  %shape = onnx.node "Concat"(%batch, %rows, %rest) {axis = 0 : i64} : (tensor<*xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
  %0 = onnx.node "Reshape"(%x, %shape) : (tensor<?x12xf32>, tensor<*xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// A copied dimension does not determine the remaining one, not even if the data
// is empty.
// CHECK-LABEL: @copied_beside_left
// CHECK-NOT: ingot.require
// CHECK: nn.reshape %arg0 : tensor<?x3x4xf32> -> tensor<?x12xf32>
// CHECK: nn.reshape %arg1 : tensor<0x3x4xf32> -> tensor<0x12xf32>
func.func @copied_beside_left(%x: tensor<?x3x4xf32>, %none: tensor<0x3x4xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %c = arith.constant dense<[0, -1]> : tensor<2xi64>
  %0 = onnx.node "Reshape"(%x, %c) : (tensor<?x3x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  %1 = onnx.node "Reshape"(%none, %c) : (tensor<0x3x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @squeezed
// CHECK-COUNT-2: ingot.require %{{.*}}, "dimension {{[01]}} of {0} elements cannot be squeezed"
func.func @squeezed(%x: tensor<?x?xf32>, %axes: tensor<1xi64>) -> tensor<*xf32> {
  %0 = onnx.node "Squeeze"(%x, %axes) : (tensor<?x?xf32>, tensor<1xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

}

// -----

module attributes {onnx.opset_import = {"ai.onnx" = 18 : i64}} {
func.func @left_beside_nothing(%x: tensor<?x3xf32>) {
  %c = arith.constant dense<[-1, 0]> : tensor<2xi64>
  // expected-error@+1 {{Reshape (opset 18) is invalid: 'shape' has a -1 beside a 0, so that the -1 may be any size}}
  %0 = onnx.node "Reshape"(%x, %c) {allowzero = 1 : i64} : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<*xf32>
  return
}
}
