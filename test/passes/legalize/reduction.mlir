// RUN: ingot-opt --onnx-legalize --split-input-file --verify-diagnostics %s | FileCheck %s

module attributes {onnx.opset_import = {ai.onnx = 24 : i64}} {

// CHECK-LABEL: @axes
func.func @axes(%x: tensor<2x?x4xf32>) -> (tensor<2x?xf32>, tensor<1x1x1xf32>, tensor<2x?x4xf32>, tensor<2x?x4xf32>) {
  %last = arith.constant dense<-1> : tensor<1xi64>
  // CHECK: nn.reduce mean %arg0 {axes = array<i64: 2>} : tensor<2x?x4xf32> -> tensor<2x?xf32>
  %0 = onnx.node "ReduceMean"(%x, %last) {keepdims = 0 : i64} : (tensor<2x?x4xf32>, tensor<1xi64>) -> tensor<2x?xf32>
  // CHECK: nn.reduce max %arg0 {axes = array<i64: 0, 1, 2>, keep_dims}
  %1 = onnx.node "ReduceMax"(%x) : (tensor<2x?x4xf32>) -> tensor<1x1x1xf32>
  %none = arith.constant dense<> : tensor<0xi64>
  %2 = onnx.node "ReduceSum"(%x, %none) {noop_with_empty_axes = 1 : i64} : (tensor<2x?x4xf32>, tensor<0xi64>) -> tensor<2x?x4xf32>
  // Without axes, elements are still squared.
  // CHECK: %[[SQ:.*]] = nn.reduce sum_square %arg0 {axes = array<i64>, keep_dims}
  %3 = onnx.node "ReduceSumSquare"(%x) {noop_with_empty_axes = 1 : i64} : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  // CHECK: return %{{.*}}, %{{.*}}, %arg0, %[[SQ]]
  return %0, %1, %2, %3 : tensor<2x?xf32>, tensor<1x1x1xf32>, tensor<2x?x4xf32>, tensor<2x?x4xf32>
}

// CHECK-LABEL: @composed
func.func @composed(%x: tensor<2x3xf32>, %i: tensor<2x3xi32>) -> (tensor<1x1xf32>, tensor<1x1xi32>, tensor<1x1xf32>) {
  // CHECK: nn.abs
  // CHECK: nn.reduce sum
  %0 = onnx.node "ReduceL1"(%x) : (tensor<2x3xf32>) -> tensor<1x1xf32>
  // CHECK: nn.cast %arg1 : tensor<2x3xi32> -> tensor<2x3xf64>
  // CHECK: nn.reduce sum_square
  // CHECK: nn.sqrt
  // CHECK: nn.cast %{{.*}} : tensor<1x1xf64> -> tensor<1x1xi32>
  %1 = onnx.node "ReduceL2"(%i) : (tensor<2x3xi32>) -> tensor<1x1xi32>
  // CHECK: nn.reduce max
  // CHECK: nn.exp
  // CHECK: nn.reduce sum
  // CHECK: nn.log
  // CHECK: nn.add
  %2 = onnx.node "ReduceLogSumExp"(%x) : (tensor<2x3xf32>) -> tensor<1x1xf32>
  return %0, %1, %2 : tensor<1x1xf32>, tensor<1x1xi32>, tensor<1x1xf32>
}

// CHECK-LABEL: @one_axis
func.func @one_axis(%x: tensor<2x5xf32>) -> (tensor<2x1xi64>, tensor<2x5xf32>, tensor<2x3xf32>, tensor<2x3xi64>, tensor<2x5xf32>) {
  // CHECK: nn.arg_reduce max %arg0 {axis = 1 : i64, keep_dims, select_last_index}
  %0 = onnx.node "ArgMax"(%x) {axis = -1 : i64, select_last_index = 1 : i64} : (tensor<2x5xf32>) -> tensor<2x1xi64>
  %axis = arith.constant dense<1> : tensor<i32>
  // CHECK: nn.cumsum %arg0 {axis = 1 : i64, exclusive}
  %1 = onnx.node "CumSum"(%x, %axis) {exclusive = 1 : i64} : (tensor<2x5xf32>, tensor<i32>) -> tensor<2x5xf32>
  %k = arith.constant dense<3> : tensor<1xi64>
  // CHECK: nn.top_k %arg0 {axis = 1 : i64, k = 3 : i64, smallest}
  %2, %3 = onnx.node "TopK"(%x, %k) {largest = 0 : i64} : (tensor<2x5xf32>, tensor<1xi64>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
  // CHECK: nn.arg_reduce max %arg0 {axis = 1 : i64, keep_dims}
  // CHECK: nn.equal
  // CHECK: nn.cast %{{.*}} : tensor<2x5xi1> -> tensor<2x5xf32>
  %4 = onnx.node "Hardmax"(%x) : (tensor<2x5xf32>) -> tensor<2x5xf32>
  return %0, %1, %2, %3, %4 : tensor<2x1xi64>, tensor<2x5xf32>, tensor<2x3xf32>, tensor<2x3xi64>, tensor<2x5xf32>
}

// Dynamic sizes have a lowering, too.
// CHECK-LABEL: @computed
func.func @computed(%x: tensor<2x3xf32>, %axes: tensor<1xi64>, %k: tensor<1xi64>) -> (tensor<?x?xf32>, tensor<?xui8>, tensor<2x?xf32>, tensor<2x3xf32>) {
  // CHECK: linalg.generic
  // CHECK: scf.for
  // CHECK: arith.maximumf
  %0 = onnx.node "ReduceMax"(%x, %axes) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<?x?xf32>
  %u = onnx.node "Cast"(%x) {to = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xui8>
  // CHECK: arith.addi
  // CHECK: nn.cast %{{.*}} : tensor<?x?xi64> -> tensor<?x?xui8>
  // CHECK: nn.reshape %{{.*}} : tensor<?x?xui8> -> tensor<?xui8>
  %1 = onnx.node "ReduceSum"(%u, %axes) {keepdims = 0 : i64} : (tensor<2x3xui8>, tensor<1xi64>) -> tensor<?xui8>
  // CHECK: nn.top_k %arg0 count(%{{.*}}) {axis = 1 : i64, k = 3 : i64} : tensor<2x3xf32> -> tensor<2x?xf32>
  %2, %3 = onnx.node "TopK"(%x, %k) : (tensor<2x3xf32>, tensor<1xi64>) -> (tensor<2x?xf32>, tensor<2x?xi64>)
  // CHECK: nn.select %{{.*}} : tensor<i1>, tensor<2x3xf32>, tensor<2x3xf32>
  %4 = onnx.node "CumSum"(%x, %k) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x3xf32>
  return %0, %1, %2, %4 : tensor<?x?xf32>, tensor<?xui8>, tensor<2x?xf32>, tensor<2x3xf32>
}

// The number of dynamic axes gives the number of reduced dimensions.
// CHECK-LABEL: @axes_twice
// CHECK: ingot.require %{{.*}}, "{1} axes name {0} dimensions: one of them twice"
func.func @axes_twice(%x: tensor<2x3xf32>, %axes: tensor<2xi64>) -> tensor<?x?xf32> {
  %0 = onnx.node "ReduceSum"(%x, %axes) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: @global
func.func @global(%x: tensor<1x3x?x?xf32>) -> (tensor<1x3x1x1xf32>, tensor<1x3x1x1xf32>, tensor<1x3x1x1xf32>) {
  // CHECK: nn.reduce mean %arg0 {axes = array<i64: 2, 3>, keep_dims}
  %0 = onnx.node "GlobalAveragePool"(%x) : (tensor<1x3x?x?xf32>) -> tensor<1x3x1x1xf32>
  // An empty dimension has no largest element.
  // CHECK-COUNT-2: ingot.require %{{.*}}, "expects elements to pool, but spatial dimension {{[01]}} has {0}"
  // CHECK: nn.reduce max %arg0 {axes = array<i64: 2, 3>, keep_dims}
  %1 = onnx.node "GlobalMaxPool"(%x) : (tensor<1x3x?x?xf32>) -> tensor<1x3x1x1xf32>
  // CHECK: nn.reduce sum_square
  // CHECK: nn.sqrt
  %2 = onnx.node "GlobalLpPool"(%x) : (tensor<1x3x?x?xf32>) -> tensor<1x3x1x1xf32>
  return %0, %1, %2 : tensor<1x3x1x1xf32>, tensor<1x3x1x1xf32>, tensor<1x3x1x1xf32>
}
}

// -----

module attributes {onnx.opset_import = {ai.onnx = 9 : i64}} {
// CHECK-LABEL: @old
func.func @old(%x: tensor<2x3x4xf32>) -> (tensor<2x1x4xf32>, tensor<2x2x4xf32>, tensor<2x3x4xf32>) {
  // CHECK: nn.reduce sum %arg0 {axes = array<i64: 1>, keep_dims}
  %0 = onnx.node "ReduceSum"(%x) {axes = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>
  // CHECK: nn.top_k %arg0 {axis = 1 : i64, k = 2 : i64}
  %1, %2 = onnx.node "TopK"(%x) {axis = 1 : i64, k = 2 : i64} : (tensor<2x3x4xf32>) -> (tensor<2x2x4xf32>, tensor<2x2x4xi64>)
  // The axis and the dimensions behind it are merged.
  // CHECK: nn.reshape %arg0 : tensor<2x3x4xf32> -> tensor<2x12xf32>
  // CHECK: nn.reshape %{{.*}} : tensor<2x12xf32> -> tensor<2x3x4xf32>
  %3 = onnx.node "Hardmax"(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %0, %1, %3 : tensor<2x1x4xf32>, tensor<2x2x4xf32>, tensor<2x3x4xf32>
}
}

// -----

module attributes {onnx.opset_import = {ai.onnx = 24 : i64}} {
func.func @wrong(%x: tensor<2x3xf32>, %axes: tensor<1xi64>, %v: tensor<?xf32>, %none: tensor<1x2x0xf32>) -> tensor<2xf32> {
  %three = arith.constant dense<3> : tensor<1xi64>
  // expected-error @+1 {{ReduceSum (opset 24) is invalid: 'axes' is 3 at [0], but must be in [-2, 1]}}
  %1 = onnx.node "ReduceSum"(%x, %three) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2xf32>
  %twice = arith.constant dense<[1, -1]> : tensor<2xi64>
  // expected-error @+1 {{ReduceMax (opset 24) is invalid: 'axes' is -1 at [1], which names dimension 1 twice}}
  %2 = onnx.node "ReduceMax"(%x, %twice) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2xf32>
  %nine = arith.constant dense<9> : tensor<1xi64>
  // expected-error @+1 {{TopK (opset 24) is invalid: 'K' is 9, but must be in [0, 3]}}
  %3, %4 = onnx.node "TopK"(%x, %nine) : (tensor<2x3xf32>, tensor<1xi64>) -> (tensor<2x9xf32>, tensor<2x9xi64>)
  // expected-error @+1 {{GlobalMaxPool (opset 24) is invalid: expects elements to pool, but spatial dimension 0 has 0}}
  %5 = onnx.node "GlobalMaxPool"(%none) : (tensor<1x2x0xf32>) -> tensor<1x2x1xf32>
  return %1 : tensor<2xf32>
}
}
