// RUN: ingot-opt %s --split-input-file --verify-diagnostics | FileCheck %s
// RUN: ingot-opt %s --split-input-file --verify-diagnostics | ingot-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func @nodes
func.func @nodes(%x: tensor<?xf32>, %s: !onnx.opaque<"seq(tensor(float))">) -> tensor<?xf32> {
  // CHECK: %[[NONE:.*]] = onnx.absent
  %none = onnx.absent
  // CHECK: onnx.node "Clip"(%{{.*}}, %[[NONE]], %{{.*}}) : (tensor<?xf32>, none, tensor<?xf32>) -> tensor<?xf32>
  %0 = onnx.node "Clip"(%x, %none, %x) : (tensor<?xf32>, none, tensor<?xf32>) -> tensor<?xf32>
  // CHECK: onnx.node "com.acme"::"Foo"(%{{.*}}) {alpha = 1.000000e+00 : f32, axes = array<i64: 1, 2>}
  %1 = onnx.node "com.acme"::"Foo"(%0) {alpha = 1.0 : f32, axes = array<i64: 1, 2>} : (tensor<?xf32>) -> tensor<?xf32>
  // CHECK: onnx.sequence(%{{.*}}, %{{.*}} : tensor<?xf32>, tensor<?xf32>) : <"seq">
  %list = onnx.sequence(%x, %x : tensor<?xf32>, tensor<?xf32>) : <"seq">
  // CHECK: onnx.sequence() : <"seq">
  %nothing = onnx.sequence() : <"seq">
  // CHECK: onnx.node "SequenceLength"(%{{.*}}) : (!onnx.opaque<"seq(tensor(float))">) -> tensor<i64>
  %2 = onnx.node "SequenceLength"(%s) : (!onnx.opaque<"seq(tensor(float))">) -> tensor<i64>
  return %1 : tensor<?xf32>
}

// -----

// CHECK-LABEL: func @graphs
func.func @graphs(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: onnx.node "If"(%{{.*}}) graphs "then_branch" {
  // CHECK:   onnx.yield %{{.*}} : tensor<4xf32>
  // CHECK: }, "else_branch" {
  // CHECK: } : (tensor<i1>) -> tensor<4xf32>
  %0 = onnx.node "If"(%c) graphs "then_branch" {
    %1 = onnx.node "Relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.yield %1 : tensor<4xf32>
  }, "else_branch" {
    onnx.yield %x : tensor<4xf32>
  } : (tensor<i1>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @names(%c: tensor<i1>) {
  // expected-error @+1 {{expects a name for each graph, but got 0 names for 1 graphs}}
  "onnx.node"(%c) <{domain = "", op_type = "If", node_attrs = {}}> ({
    onnx.yield
  }) : (tensor<i1>) -> ()
  return
}

// -----

func.func @absent() {
  // expected-error @+1 {{'onnx.absent' op result #0 must be none type, but got 'tensor<f32>'}}
  %0 = "onnx.absent"() : () -> tensor<f32>
  return
}

// -----

func.func @yield(%x: tensor<4xf32>) {
  // expected-error @+1 {{'onnx.yield' op must be the last operation in the parent block}}
  onnx.yield %x : tensor<4xf32>
  return
}
