// RUN: ingot-opt --onnx-legalize %s | FileCheck %s

// Sizes are read from their source, so that a -1 beside them can be computed.

module attributes {onnx.opset_import = {"ai.onnx" = 21 : i64}} {

// Attention heads: the list has sizes of the product's operand.

// CHECK-LABEL: @heads
// CHECK: tensor.reshape {{.*}} -> tensor<?x?x4x64xf32>
// CHECK: return %{{.*}} : tensor<?x?x256xf32>
func.func @heads(%x: tensor<?x?x256xf32>, %w: tensor<256x256xf32>) -> tensor<*xf32> {
  %zero = arith.constant dense<0> : tensor<1xi64>
  %one = arith.constant dense<1> : tensor<1xi64>
  %rest = arith.constant dense<-1> : tensor<1xi64>
  %size = arith.constant dense<64> : tensor<1xi64>
  %h = onnx.node "Relu"(%x) : (tensor<?x?x256xf32>) -> tensor<*xf32>
  %p = onnx.node "MatMul"(%h, %w) : (tensor<*xf32>, tensor<256x256xf32>) -> tensor<*xf32>
  %s = onnx.node "Shape"(%h) : (tensor<*xf32>) -> tensor<3xi64>
  %b = onnx.node "Gather"(%s, %zero) {axis = 0 : i64} : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %l = onnx.node "Gather"(%s, %one) {axis = 0 : i64} : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %list = onnx.node "Concat"(%b, %l, %rest, %size) {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xi64>
  %q = onnx.node "Reshape"(%p, %list) : (tensor<*xf32>, tensor<4xi64>) -> tensor<*xf32>
  %back = onnx.node "Concat"(%b, %l, %rest) {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
  %r = onnx.node "Reshape"(%q, %back) : (tensor<*xf32>, tensor<3xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// Dimensions of inputs with one name are equal. A size of -1 in the list has no
// source.

// CHECK-LABEL: @expanded
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>
// CHECK: %[[B:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK: nn.broadcast_to %{{.*}} sizes(%[[B]]) : tensor<1x1x4xf32> -> tensor<?x1x4xf32>
func.func @expanded(%x: tensor<?x4xf32> {ingot.dim_names = ["batch", ""], ingot.name = "x"},
                    %m: tensor<?xi64> {ingot.dim_names = ["batch"], ingot.name = "m"},
                    %c: tensor<1x1x4xf32>) -> tensor<*xf32> {
  %s = onnx.node "Shape"(%m) : (tensor<?xi64>) -> tensor<1xi64>
  %ones = arith.constant dense<1> : tensor<3xi64>
  %tail = arith.constant dense<-1> : tensor<2xi64>
  %minus = arith.constant dense<-1> : tensor<3xi64>
  %list = onnx.node "Concat"(%s, %tail) {axis = 0 : i64} : (tensor<1xi64>, tensor<2xi64>) -> tensor<3xi64>
  %is = onnx.node "Equal"(%list, %minus) : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
  %sizes = onnx.node "Where"(%is, %ones, %list) : (tensor<3xi1>, tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
  %r = onnx.node "Expand"(%c, %sizes) : (tensor<1x1x4xf32>, tensor<3xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// Pixels in a row, and as rows and columns again.

// CHECK-LABEL: @pixels
// CHECK: return %{{.*}} : tensor<?x32x?x?xf32>
func.func @pixels(%x: tensor<?x32x?x?xf32>) -> tensor<*xf32> {
  %flat = arith.constant dense<[0, 0, -1]> : tensor<3xi64>
  %zero = arith.constant dense<0> : tensor<1xi64>
  %rest = arith.constant dense<-1> : tensor<1xi64>
  %hw = arith.constant dense<[2, 3]> : tensor<2xi64>
  %s = onnx.node "Shape"(%x) : (tensor<?x32x?x?xf32>) -> tensor<4xi64>
  %b = onnx.node "Gather"(%s, %zero) {axis = 0 : i64} : (tensor<4xi64>, tensor<1xi64>) -> tensor<1xi64>
  %p = onnx.node "Gather"(%s, %hw) {axis = 0 : i64} : (tensor<4xi64>, tensor<2xi64>) -> tensor<2xi64>
  %f = onnx.node "Reshape"(%x, %flat) : (tensor<?x32x?x?xf32>, tensor<3xi64>) -> tensor<*xf32>
  %list = onnx.node "Concat"(%b, %rest, %p) {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>, tensor<2xi64>) -> tensor<4xi64>
  %r = onnx.node "Reshape"(%f, %list) : (tensor<*xf32>, tensor<4xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// As many positions as there are, at most all of them: the sum keeps the data's
// size.

// CHECK-LABEL: @positions
// CHECK-SAME: %[[X:.*]]: tensor<?x?x8xf32>
// CHECK: %[[ADD:.*]] = nn.add
// CHECK-NOT: tensor.dim %[[ADD]]
func.func @positions(%x: tensor<?x?x8xf32>, %w: tensor<1x512x8xf32>) -> tensor<*xi64> {
  %zero = arith.constant dense<0> : tensor<1xi64>
  %one = arith.constant dense<1> : tensor<1xi64>
  %s = onnx.node "Shape"(%x) : (tensor<?x?x8xf32>) -> tensor<3xi64>
  %l = onnx.node "Gather"(%s, %one) {axis = 0 : i64} : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %p = onnx.node "Slice"(%w, %zero, %l, %one) : (tensor<1x512x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  %y = onnx.node "Add"(%x, %p) : (tensor<?x?x8xf32>, tensor<*xf32>) -> tensor<*xf32>
  %r = onnx.node "Shape"(%y) : (tensor<*xf32>) -> tensor<*xi64>
  return %r : tensor<*xi64>
}

// Two rows of equal pixels have one size: the shape of both reshapes is known.

// CHECK-LABEL: @rows_of_pixels
// CHECK: return %{{.*}} : tensor<?x?x?x32xf32>
func.func @rows_of_pixels(%x: tensor<?x32x?x?xf32>) -> tensor<*xf32> {
  %s = onnx.node "Shape"(%x) : (tensor<?x32x?x?xf32>) -> tensor<4xi64>
  %two = arith.constant dense<[0, 1]> : tensor<2xi64>
  %bhw = arith.constant dense<[0, 2, 3]> : tensor<3xi64>
  %rest = arith.constant dense<-1> : tensor<1xi64>
  %bc = onnx.node "Gather"(%s, %two) {axis = 0 : i64} : (tensor<4xi64>, tensor<2xi64>) -> tensor<2xi64>
  %flat = onnx.node "Concat"(%bc, %rest) {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<3xi64>
  %relu = onnx.node "Relu"(%x) : (tensor<?x32x?x?xf32>) -> tensor<*xf32>
  %a = onnx.node "Reshape"(%x, %flat) : (tensor<?x32x?x?xf32>, tensor<3xi64>) -> tensor<*xf32>
  %b = onnx.node "Reshape"(%relu, %flat) : (tensor<*xf32>, tensor<3xi64>) -> tensor<*xf32>
  %sum = onnx.node "Add"(%a, %b) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %t = onnx.node "Transpose"(%sum) {perm = [0, 2, 1]} : (tensor<*xf32>) -> tensor<*xf32>
  %sizes = onnx.node "Gather"(%s, %bhw) {axis = 0 : i64} : (tensor<4xi64>, tensor<3xi64>) -> tensor<3xi64>
  %list = onnx.node "Concat"(%sizes, %rest) {axis = 0 : i64} : (tensor<3xi64>, tensor<1xi64>) -> tensor<4xi64>
  %r = onnx.node "Reshape"(%t, %list) : (tensor<*xf32>, tensor<4xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}
}
