// RUN: ingot-opt %s --nn-insert-norm-observers --split-input-file | FileCheck %s

// What products by constants alone read, of both kinds; two of one name are
// told apart.
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

// Not what others read, what is normalized over more than the last dimension,
// or has a scale that a run computes.
// CHECK: ingot.observed = []
// CHECK-LABEL: func.func @none
// CHECK-NOT: ingot.observe
func.func @none(%x: tensor<3x2xf32>, %t: tensor<2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) {
  %s = arith.constant dense<2.0> : tensor<2xf32>
  %a = arith.constant dense<2.0> : tensor<3x2xf32>
  %w = arith.constant dense<1.0> : tensor<2x2xf32>
  %n = nn.layer_norm %x scale(%s) {axis = 1 : i64, epsilon = 1.0e-5 : f32} : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32> loc("read")
  %0 = nn.matmul %n, %w : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %m = nn.layer_norm %x scale(%a) {axis = 0 : i64, epsilon = 1.0e-5 : f32} : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> loc("all")
  %1 = nn.matmul %m, %w : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %o = nn.rms_norm %x, %t {axis = 1 : i64, epsilon = 1.0e-5 : f32} : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32> loc("computed")
  %2 = nn.matmul %o, %w : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  return %n, %0, %1, %2 : tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>
}
