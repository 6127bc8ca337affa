// RUN: ingot-opt --onnx-legalize --split-input-file --verify-diagnostics %s | FileCheck %s
// The pass as a whole. The lowering of each operator is tested in the files beside this one.

module attributes {onnx.opset_import = {ai.onnx = 21 : i64}} {
// The node's name is kept. Ops that are not ONNX do not change.
// RUN: ingot-opt --onnx-legalize --split-input-file --verify-diagnostics --mlir-print-debuginfo %s | FileCheck %s --check-prefix=LOC
// CHECK-LABEL: func.func @names
// LOC: nn.relu {{.*}} loc(#[[AT:.*]])
// LOC: #[[AT]] = loc("the relu")
func.func @names(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: nn.relu
  %0 = onnx.node "Relu"(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("the relu")
  // CHECK: arith.addf
  %1 = arith.addf %0, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
}

// -----

// All missing operators are reported together.
module attributes {onnx.opset_import = {ai.onnx = 21 : i64, com.acme = 1 : i64}} {
func.func @missing(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{Conv (opset 21) is invalid}}
  %0 = onnx.node "Conv"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+2 {{com.acme::Foo (opset 1) is not supported}}
  // expected-note @+1 {{domain 'com.acme' is unknown: add a function for the operator to the model}}
  %1 = onnx.node "com.acme"::"Foo"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = onnx.node "Relu"(%1) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{NoSuchOp (opset 21) is not supported}}
  %3 = onnx.node "NoSuchOp"(%2) : (tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
}

// -----

// A flag must be 0 or 1, and a keyword must be known, even if the operator
// ignores them here.
module attributes {onnx.opset_import = {ai.onnx = 21 : i64}} {
func.func @attributes(%x: tensor<1x1x4xf32>) {
  // expected-error @+1 {{MaxPool (opset 21) is invalid: 'storage_order' is 7, but must be 0 or 1}}
  %0 = onnx.node "MaxPool"(%x) {kernel_shape = array<i64: 2>, storage_order = 7 : i64} : (tensor<1x1x4xf32>) -> tensor<1x1x3xf32>
  // expected-error @+1 {{Cast (opset 21) is invalid: 'round_mode' is 'away', but must be up, down or nearest}}
  %1 = onnx.node "Cast"(%x) {round_mode = "away", to = 11 : i64} : (tensor<1x1x4xf32>) -> tensor<1x1x4xf64>
  return
}
}
