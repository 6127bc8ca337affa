// RUN: ingot-opt %s --nn-insert-channel-observers --split-input-file | FileCheck %s

// Inputs of all kinds of products by constants. Two tensors of one name get
// different names.
// CHECK: ingot.observed = ["norm", "norm#2"]
// CHECK-LABEL: func.func @both
// CHECK: %[[N:.*]] = nn.layer_norm
// CHECK: %[[A:.*]] = nn.abs %[[N]]
// CHECK: %[[M:.*]] = nn.reduce max %[[A]] {axes = array<i64: 0, 1>} : tensor<?x3x2xf32> -> tensor<2xf32>
// CHECK: ingot.observe 0 %[[M]] : tensor<2xf32>
// CHECK: nn.rms_norm
// CHECK: ingot.observe 1
func.func @both(%x: tensor<?x3x2xf32>, %y: tensor<3x2xf32>) -> (tensor<?x3x2xf32>, tensor<3x2xf32>) {
  %s = arith.constant dense<2.0> : tensor<2xf32>
  %w = arith.constant dense<1.0> : tensor<2x2xf32>
  %n = nn.layer_norm %x scale(%s) {axis = 2 : i64, epsilon = 1.0e-5 : f32} : (tensor<?x3x2xf32>, tensor<2xf32>) -> tensor<?x3x2xf32> loc("norm")
  %0 = nn.matmul %n, %w : (tensor<?x3x2xf32>, tensor<2x2xf32>) -> tensor<?x3x2xf32> loc("q")
  %m = nn.rms_norm %y, %s {axis = 1 : i64, epsilon = 1.0e-5 : f32} : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32> loc("norm")
  %1 = nn.matmul %m, %w : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32> loc("k")
  return %0, %1 : tensor<?x3x2xf32>, tensor<3x2xf32>
}

// -----

// Inputs behind a pool, and inputs that sums and products read, too.
// CHECK: ingot.observed = ["tanh"]
// CHECK-LABEL: func.func @pooled
// CHECK: nn.reduce max {{.*}} {axes = array<i64: 0, 2, 3>} : tensor<1x2x4x4xf32> -> tensor<2xf32>
func.func @pooled(%x: tensor<1x2x4x4xf32>) -> (tensor<1x2x1x1xf32>, tensor<1x2x4x4xf32>) {
  %w = arith.constant dense<1.0> : tensor<2x2x1x1xf32>
  %t = nn.tanh %x : tensor<1x2x4x4xf32> -> tensor<1x2x4x4xf32> loc("tanh")
  %p = nn.reduce mean %t {axes = array<i64: 2, 3>, keep_dims} : tensor<1x2x4x4xf32> -> tensor<1x2x1x1xf32>
  %0 = nn.conv %p, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x2x1x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x1x1xf32> loc("squeeze")
  %1 = nn.mul %t, %0 : tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32> -> tensor<1x2x4x4xf32>
  return %0, %1 : tensor<1x2x1x1xf32>, tensor<1x2x4x4xf32>
}

// -----

// Must not fire: inputs with other users, inputs that are only moved, and
// groups of several channels.
// CHECK: ingot.observed = []
// CHECK-LABEL: func.func @none
// CHECK-NOT: ingot.observe
func.func @none(%x: tensor<1x4x2x2xf32>, %y: tensor<3x2xf32>) -> (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) {
  %w = arith.constant dense<1.0> : tensor<4x2x1x1xf32>
  %v = arith.constant dense<1.0> : tensor<2x2xf32>
  %t = nn.tanh %x : tensor<1x4x2x2xf32> -> tensor<1x4x2x2xf32> loc("grouped")
  %0 = nn.conv %t, %w {dilations = array<i64: 1, 1>, groups = 2 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x4x2x2xf32>, tensor<4x2x1x1xf32>) -> tensor<1x4x2x2xf32>
  %n = nn.tanh %y : tensor<3x2xf32> -> tensor<3x2xf32> loc("returned")
  %1 = nn.matmul %n, %v : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %m = nn.slice %n {starts = array<i64: 0, 0>, sizes = array<i64: 3, 2>, steps = array<i64: 1, 1>} : tensor<3x2xf32> -> tensor<3x2xf32> loc("moved")
  %2 = nn.matmul %m, %v : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  return %0, %t, %2, %n : tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>
}
