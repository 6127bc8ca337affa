// RUN: ingot-opt --onnx-legalize --split-input-file --verify-diagnostics %s | FileCheck %s

module attributes {onnx.opset_import = {"ai.onnx" = 20 : i64}} {

// A dimension of one element has its coordinate in the middle.
// CHECK-LABEL: @aligned
// CHECK: %[[LAST:.*]] = arith.subi
// CHECK: %[[AT:.*]] = arith.subf
// CHECK: %[[SOME:.*]] = arith.cmpi sgt, %[[LAST]]
// CHECK: arith.select %[[SOME]], %[[AT]], %{{.*}} : f32
func.func @aligned(%theta: tensor<2x2x3xf32>, %size: tensor<4xi64>) -> tensor<*xf32> {
  %0 = onnx.node "AffineGrid"(%theta, %size) {align_corners = 1 : i64} : (tensor<2x2x3xf32>, tensor<4xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// CHECK-LABEL: @half_pixel
// CHECK-NOT: arith.select
// CHECK: return %{{.*}} : tensor<2x5x1x4x3xf32>
func.func @half_pixel(%theta: tensor<2x3x4xf32>) -> tensor<*xf32> {
  %size = arith.constant dense<[2, 3, 5, 1, 4]> : tensor<5xi64>
  %0 = onnx.node "AffineGrid"(%theta, %size) : (tensor<2x3x4xf32>, tensor<5xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// CHECK-LABEL: @open_batch
// CHECK: ingot.require {{.*}}, "node 'grid': dimension 0 of theta is {0}, not {1}, the first element of size"
func.func @open_batch(%theta: tensor<?x2x3xf32>) -> tensor<*xf32> {
  %size = arith.constant dense<[2, 3, 5, 4]> : tensor<4xi64>
  %0 = onnx.node "AffineGrid"(%theta, %size) : (tensor<?x2x3xf32>, tensor<4xi64>) -> tensor<*xf32> loc("grid")
  return %0 : tensor<*xf32>
}

}

// -----

module attributes {onnx.opset_import = {"ai.onnx" = 20 : i64}} {
func.func @wrong(%theta: tensor<2x2x3xf32>, %flat: tensor<2x6xf32>, %five: tensor<5xi64>, %three: tensor<3xi64>) -> tensor<2x2x3xf32> {
  // expected-error @+1 {{AffineGrid (opset 20) is invalid: dimension 1 of theta is 2, not 3}}
  %0 = onnx.node "AffineGrid"(%theta, %five) : (tensor<2x2x3xf32>, tensor<5xi64>) -> tensor<*xf32>
  // expected-error @+1 {{AffineGrid (opset 20) is invalid: size needs 4 or 5 elements, but has 3}}
  %1 = onnx.node "AffineGrid"(%theta, %three) : (tensor<2x2x3xf32>, tensor<3xi64>) -> tensor<*xf32>
  // expected-error @+1 {{AffineGrid (opset 20) is invalid: theta needs rank 3 and size rank 1, but they have 2 and 1}}
  %2 = onnx.node "AffineGrid"(%flat, %five) : (tensor<2x6xf32>, tensor<5xi64>) -> tensor<*xf32>
  %negative = arith.constant dense<[2, 3, -1, 4]> : tensor<4xi64>
  // expected-error @+1 {{AffineGrid (opset 20) is invalid: 'size' is -1 at [2], but must be in [0, 2147483647]}}
  %3 = onnx.node "AffineGrid"(%theta, %negative) : (tensor<2x2x3xf32>, tensor<4xi64>) -> tensor<*xf32>
  return %theta : tensor<2x2x3xf32>
}
}
