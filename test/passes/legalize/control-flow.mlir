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

// A computed condition; sizes that differ become dynamic.

// CHECK-LABEL: @computed
// CHECK: %[[C:.*]] = tensor.extract %arg0[]
// CHECK: %[[Y:.*]] = scf.if %[[C]] -> (tensor<?x2xf32>)
// CHECK: nn.concat
// CHECK: tensor.cast %{{.*}} : tensor<14x2xf32> to tensor<?x2xf32>
// CHECK: } else {
// CHECK: tensor.cast %arg1
// CHECK: return %[[Y]]
func.func @computed(%c: tensor<i1>, %x: tensor<7x2xf32>) -> tensor<*xf32> {
  %0 = onnx.node "If"(%c) graphs "then_branch" {
    %1 = onnx.node "Concat"(%x, %x) {axis = 0 : i64} : (tensor<7x2xf32>, tensor<7x2xf32>) -> tensor<14x2xf32>
    onnx.yield %1 : tensor<14x2xf32>
  }, "else_branch" {
    onnx.yield %x : tensor<7x2xf32>
  } : (tensor<i1>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// Different ranks: the ops behind are computed in both branches.

// CHECK-LABEL: @ranks
// CHECK: %[[Y:.*]] = scf.if
// CHECK: nn.reshape %arg1 {{.*}} -> tensor<7xf32>
// CHECK: nn.reduce
// CHECK: } else {
// CHECK: nn.reduce
// CHECK: }
// CHECK-NOT: nn.reduce
// CHECK: return %[[Y]] : tensor<f32>
func.func @ranks(%c: tensor<i1>, %x: tensor<7x1xf32>) -> tensor<*xf32> {
  %one = arith.constant dense<1> : tensor<1xi64>
  %0 = onnx.node "If"(%c) graphs "then_branch" {
    %1 = onnx.node "Squeeze"(%x, %one) : (tensor<7x1xf32>, tensor<1xi64>) -> tensor<*xf32>
    onnx.yield %1 : tensor<*xf32>
  }, "else_branch" {
    onnx.yield %x : tensor<7x1xf32>
  } : (tensor<i1>) -> tensor<*xf32>
  %none = onnx.absent
  %2 = onnx.node "ReduceMax"(%0, %none) {keepdims = 0 : i64} : (tensor<*xf32>, none) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}

// If the ops behind only fit one branch, the run checks that it is this branch.

// CHECK-LABEL: @only
// CHECK: %[[DIM:.*]] = tensor.dim %arg0
// CHECK: %[[C:.*]] = tensor.extract
// CHECK: ingot.require %[[C]], "its else branch cannot be taken: MatMul (opset 21) is invalid
// CHECK-NOT: scf.if
// CHECK: nn.matmul
func.func @only(%x: tensor<?x4xf32>, %w: tensor<4x2xf32>) -> tensor<*xf32> {
  %zero = arith.constant dense<0> : tensor<1xi64>
  %one = arith.constant dense<1> : tensor<1xi64>
  %s = onnx.node "Shape"(%x) : (tensor<?x4xf32>) -> tensor<2xi64>
  %d = onnx.node "Gather"(%s, %zero) {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
  %c = onnx.node "Equal"(%d, %one) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %0 = onnx.node "If"(%c) graphs "then_branch" {
    %1 = onnx.node "Squeeze"(%x, %zero) : (tensor<?x4xf32>, tensor<1xi64>) -> tensor<*xf32>
    onnx.yield %1 : tensor<*xf32>
  }, "else_branch" {
    %1 = onnx.node "Transpose"(%x) {perm = [1, 0]} : (tensor<?x4xf32>) -> tensor<4x?xf32>
    %2 = onnx.node "Unsqueeze"(%1, %zero) : (tensor<4x?xf32>, tensor<1xi64>) -> tensor<*xf32>
    %shape = arith.constant dense<[5, -1]> : tensor<2xi64>
    %3 = onnx.node "Concat"(%2, %2, %2, %2, %2) {axis = 2 : i64} : (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %4 = onnx.node "Reshape"(%3, %shape) : (tensor<*xf32>, tensor<2xi64>) -> tensor<*xf32>
    %5 = onnx.node "Transpose"(%4) {perm = [1, 0]} : (tensor<*xf32>) -> tensor<*xf32>
    onnx.yield %5 : tensor<*xf32>
  } : (tensor<1xi1>) -> tensor<*xf32>
  %2 = onnx.node "MatMul"(%0, %w) : (tensor<*xf32>, tensor<4x2xf32>) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}

// A static size decides, whatever the other sizes are.

// CHECK-LABEL: @known_size
// CHECK-NOT: scf.if
// CHECK-NOT: ingot.require
// CHECK: return %{{.*}} : tensor<?xf32>
func.func @known_size(%x: tensor<?x1xf32>) -> tensor<*xf32> {
  %one = arith.constant dense<1> : tensor<1xi64>
  %s = onnx.node "Shape"(%x) : (tensor<?x1xf32>) -> tensor<2xi64>
  %d = onnx.node "Gather"(%s, %one) {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
  %c = onnx.node "Equal"(%d, %one) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %0 = onnx.node "If"(%c) graphs "then_branch" {
    %1 = onnx.node "Squeeze"(%x, %one) : (tensor<?x1xf32>, tensor<1xi64>) -> tensor<*xf32>
    onnx.yield %1 : tensor<*xf32>
  }, "else_branch" {
    onnx.yield %x : tensor<?x1xf32>
  } : (tensor<1xi1>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
}

// -----

module attributes {onnx.opset_import = {"ai.onnx" = 21 : i64}} {
func.func @errors(%c: tensor<i1>, %two: tensor<2xi1>, %n: tensor<3xf32>, %x: tensor<4xf32>) {
  // expected-error@+1 {{If (opset 21) is invalid: the condition needs one element}}
  onnx.node "If"(%two) graphs "then_branch" { onnx.yield }, "else_branch" { onnx.yield } : (tensor<2xi1>) -> ()
  // expected-error@+1 {{If (opset 21) is invalid: the condition needs to be a bool}}
  onnx.node "If"(%n) graphs "then_branch" { onnx.yield }, "else_branch" { onnx.yield } : (tensor<3xf32>) -> ()
  // expected-error@+1 {{If (opset 21) is invalid: a branch is missing, or has inputs}}
  onnx.node "If"(%c) graphs "then_branch" { onnx.yield } : (tensor<i1>) -> ()
  // expected-error@+1 {{If (opset 21) is invalid: the branch does not give 1 values}}
  %0 = onnx.node "If"(%c) graphs "then_branch" { onnx.yield }, "else_branch" { onnx.yield } : (tensor<i1>) -> tensor<4xf32>
  // expected-error@+1 {{If (opset 21) is not supported: output 0 has rank 1 in one branch and 2 in the other, with a computed condition; give both one rank, or make the condition constant}}
  %1 = onnx.node "If"(%c) graphs "then_branch" {
    onnx.yield %x : tensor<4xf32>
  }, "else_branch" {
    %s = arith.constant dense<[2, 2]> : tensor<2xi64>
    %r = onnx.node "Reshape"(%x, %s) : (tensor<4xf32>, tensor<2xi64>) -> tensor<2x2xf32>
    onnx.yield %r : tensor<2x2xf32>
  } : (tensor<i1>) -> tensor<*xf32>
  // expected-error@+1 {{If (opset 21) is invalid: output 0 has another element type in each branch}}
  %2 = onnx.node "If"(%c) graphs "then_branch" {
    onnx.yield %x : tensor<4xf32>
  }, "else_branch" {
    onnx.yield %c : tensor<i1>
  } : (tensor<i1>) -> tensor<*xf32>
  // All missing operators of bodies are reported at once.
  %3 = onnx.node "If"(%c) graphs "then_branch" {
    // expected-error@+1 {{Foo (opset 21) is not supported}}
    %a = onnx.node "Foo"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.yield %a : tensor<4xf32>
  }, "else_branch" {
    // expected-error@+1 {{Bar (opset 21) is not supported}}
    %a = onnx.node "Bar"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.yield %a : tensor<4xf32>
  } : (tensor<i1>) -> tensor<*xf32>
  return
}
}
