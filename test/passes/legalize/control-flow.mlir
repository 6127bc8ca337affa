// RUN: ingot-opt --onnx-legalize --split-input-file --verify-diagnostics %s | FileCheck %s

module attributes {onnx.opset_import = {"ai.onnx" = 21 : i64}} {

// CHECK-LABEL: @taken
// CHECK: %[[Y:.*]] = nn.relu %arg0
// CHECK: return %[[Y]]
func.func @taken(%x: tensor<7x2xf32>) -> tensor<*xf32> {
  %c = arith.constant dense<true> : tensor<i1>
  %0 = onnx.node "If"(%c) graphs "then_branch" {
    %1 = onnx.node "Relu"(%x) : (tensor<7x2xf32>) -> tensor<7x2xf32>
    onnx.yield %1 : tensor<7x2xf32>
  }, "else_branch" {
    onnx.yield %x : tensor<7x2xf32>
  } : (tensor<i1>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
}

// -----

module attributes {onnx.opset_import = {"ai.onnx" = 21 : i64}} {
func.func @errors(%c: tensor<i1>) {
  // expected-error@+1 {{If (opset 21) is not supported: a computed condition}}
  onnx.node "If"(%c) graphs "then_branch" {
    onnx.yield
  }, "else_branch" {
    onnx.yield
  } : (tensor<i1>) -> ()
  // expected-error@+1 {{Loop (opset 21) is not supported: loops are not lowered yet}}
  onnx.node "Loop"(%c) : (tensor<i1>) -> ()
  return
}
}
