// RUN: ingot-opt --onnx-legalize --split-input-file --verify-diagnostics %s | FileCheck %s

module attributes {onnx.opset_import = {ai.onnx = 24 : i64, ingot.contract = 24 : i64}} {

// Facts that are known at compile time need no check; others are checked in the
// run.
// CHECK-LABEL: @attention
// CHECK-NOT: ingot.require
// CHECK: ingot.require %{{.*}}, "node 'att': dimension 0 of V is {0}, but dimension 0 of Q is {1}"
// CHECK: ingot.require %{{.*}}, "node 'att': dimension 2 of V is {0}, but dimension 2 of K is {1}"
// CHECK: ingot.require %{{.*}}, "node 'att': the last dimension of attn_mask is {1}, but there are {0} keys"
// CHECK-NOT: ingot.require
// CHECK-NOT: onnx.node
func.func @attention(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x?x8xf32>, %v: tensor<?x3x?x8xf32>, %m: tensor<1x?xf32>) -> tensor<2x3x4x8xf32> {
  onnx.node "ingot.contract"::"Attention"(%q, %k, %v, %m) : (tensor<2x3x4x8xf32>, tensor<2x3x?x8xf32>, tensor<?x3x?x8xf32>, tensor<1x?xf32>) -> () loc("att")
  return %q : tensor<2x3x4x8xf32>
}

// The run checks the labels, which cannot count from the end.
// CHECK-LABEL: @labels
// CHECK: ingot.require %{{.*}}, "node 'loss': target has {0}, but there are {1} classes"
// CHECK: ingot.require %{{.*}}, "node 'loss': target has {0}, but there are {1} classes"
func.func @labels(%a: tensor<2x3xf32>, %t: tensor<2xi64>) -> tensor<2x3xf32> {
  onnx.node "ingot.contract"::"NegativeLogLikelihoodLoss"(%a, %t) : (tensor<2x3xf32>, tensor<2xi64>) -> () loc("loss")
  return %a : tensor<2x3xf32>
}

// The function of a window would make an empty one of a negative size.
// CHECK-LABEL: @window
// CHECK: ingot.require %{{.*}}, "node 'hann': 'size' is {0}, but must be at least {1}"
// CHECK-NOT: onnx.node
func.func @window(%n: tensor<i64>) -> tensor<i64> {
  onnx.node "ingot.contract"::"HannWindow"(%n) : (tensor<i64>) -> () loc("hann")
  return %n : tensor<i64>
}

// CHECK-LABEL: @fits
// CHECK-NOT: ingot.require
func.func @fits(%a: tensor<2x3xf32>, %x: tensor<?x5xf32>, %t: tensor<4xi64>) -> tensor<2x3xf32> {
  onnx.node "ingot.contract"::"SwiGLU"(%a, %a) : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
  return %a : tensor<2x3xf32>
}

}

// -----

module attributes {onnx.opset_import = {ai.onnx = 24 : i64, ingot.contract = 24 : i64}} {
func.func @wrong(%a: tensor<2x3xf32>, %b: tensor<1x3xf32>, %q: tensor<2x4x6xf32>, %x: tensor<2x4x3x8xf32>, %c: tensor<2x3x4xf32>, %d: tensor<2x3x2xf32>, %t: tensor<3xi64>) -> tensor<2x3xf32> {
  // expected-error @+1 {{SwiGLU (opset 24) is invalid: dimension 0 of B is 1, but dimension 0 of A is 2}}
  onnx.node "ingot.contract"::"SwiGLU"(%a, %b) : (tensor<2x3xf32>, tensor<1x3xf32>) -> ()
  // expected-error @+1 {{Attention (opset 24) is invalid: dimension 2 of Q is 6, no multiple of 4 (q_num_heads)}}
  onnx.node "ingot.contract"::"Attention"(%q, %q, %q) {kv_num_heads = 2 : i64, q_num_heads = 4 : i64} : (tensor<2x4x6xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>) -> ()
  // expected-error @+1 {{FlexAttention (opset 24) is invalid: Q has rank 3, but needs 4}}
  onnx.node "ingot.contract"::"FlexAttention"(%q, %q, %q) : (tensor<2x4x6xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>) -> ()
  // expected-error @+1 {{RotaryEmbedding (opset 24) is invalid: dimension 2 of sin_cache is 2, but dimension 2 of cos_cache is 4}}
  %turned = onnx.node "RotaryEmbedding"(%x, %c, %d) : (tensor<2x4x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x2xf32>) -> tensor<2x4x3x8xf32>
  // expected-error @+1 {{NegativeLogLikelihoodLoss (opset 24) is invalid: dimension 0 of the labels is 3, but dimension 0 of the scores is 2}}
  onnx.node "ingot.contract"::"NegativeLogLikelihoodLoss"(%a, %t) : (tensor<2x3xf32>, tensor<3xi64>) -> ()
  %size = arith.constant dense<-3> : tensor<i64>
  // expected-error @+1 {{BlackmanWindow (opset 24) is invalid: 'size' is -3, but must be at least 0}}
  onnx.node "ingot.contract"::"BlackmanWindow"(%size) : (tensor<i64>) -> ()
  %labels = arith.constant dense<[2, -1]> : tensor<2xi64>
  onnx.node "ingot.contract"::"SoftmaxCrossEntropyLoss"(%a, %labels) {ignore_index = -1 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> ()
  // expected-error @+1 {{SoftmaxCrossEntropyLoss (opset 24) is invalid: 'labels' is -1 at [1], but must be in [0, 2] or 7 (ignore_index)}}
  onnx.node "ingot.contract"::"SoftmaxCrossEntropyLoss"(%a, %labels) {ignore_index = 7 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> ()
  return %a : tensor<2x3xf32>
}
}
