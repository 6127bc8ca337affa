// RUN: ingot-opt --onnx-legalize --split-input-file --verify-diagnostics %s | FileCheck %s

module attributes {onnx.opset_import = {"ai.onnx" = 13 : i64}} {

// CHECK-LABEL: @gemm
// CHECK: nn.matmul %arg0, %arg1 bias(%arg2) {transpose_b} : {{.*}} -> tensor<?x8xf32>
// CHECK: %[[C:.*]] = nn.mul %arg2
// CHECK: %[[AB:.*]] = nn.matmul %arg0, %arg1 {transpose_b}
// CHECK: %[[S:.*]] = nn.mul %[[AB]]
// CHECK: nn.add %[[S]], %[[C]]
func.func @gemm(%a: tensor<?x4xf32>, %b: tensor<8x4xf32>, %c: tensor<8xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0 = onnx.node "Gemm"(%a, %b, %c) {transB = 1 : i64} : (tensor<?x4xf32>, tensor<8x4xf32>, tensor<8xf32>) -> tensor<*xf32>
  %1 = onnx.node "Gemm"(%a, %b, %c) {transB = 1 : i64, alpha = 0.5 : f32, beta = 2.0 : f32} : (tensor<?x4xf32>, tensor<8x4xf32>, tensor<8xf32>) -> tensor<*xf32>
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @vectors
// CHECK: %[[B:.*]] = nn.reshape %arg1 : tensor<4xf32> -> tensor<4x1xf32>
// CHECK: nn.matmul %arg0, %[[B]]
// CHECK: return {{.*}} : tensor<?xf32>, tensor<f32>
func.func @vectors(%a: tensor<?x4xf32>, %b: tensor<4xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0 = onnx.node "MatMul"(%a, %b) : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<*xf32>
  %1 = onnx.node "MatMul"(%b, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<*xf32>
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// A product of two operands becomes a matmul between transposes; others become
// a loop nest.
// CHECK-LABEL: @einsum
// CHECK: nn.transpose %arg1 {perm = array<i64: 0, 2, 1>}
// CHECK: nn.matmul {{.*}} -> tensor<2x3x6xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "reduction"]
func.func @einsum(%a: tensor<2x3x5xf32>, %b: tensor<2x6x5xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0 = onnx.node "Einsum"(%a, %b) {equation = "bij,bkj->bik"} : (tensor<2x3x5xf32>, tensor<2x6x5xf32>) -> tensor<*xf32>
  %1 = onnx.node "Einsum"(%a) {equation = "bij->b"} : (tensor<2x3x5xf32>) -> tensor<*xf32>
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// Without a sum, the result is only written, not added to.
// CHECK-LABEL: @outer_product
// CHECK-NOT: linalg.fill
// CHECK: linalg.generic
// CHECK-NOT: arith.addf
// CHECK: return
func.func @outer_product(%a: tensor<2x3xf32>, %b: tensor<5xf32>) -> tensor<*xf32> {
  %0 = onnx.node "Einsum"(%a, %b) {equation = "ab,z->azb"} : (tensor<2x3xf32>, tensor<5xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// More than two operands are multiplied in pairs, the cheapest pair first.
// CHECK-LABEL: @chain
// CHECK-NOT: linalg.generic
// CHECK: nn.matmul %arg1, %{{.*}} -> tensor<30x1xf32>
// CHECK: nn.matmul %arg0, %{{.*}} -> tensor<20x1xf32>
// CHECK-LABEL: @bilinear
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel"]
// CHECK-NOT: linalg.generic
// CHECK: nn.matmul {{.*}} : (tensor<7x64xf32>, tensor<64x4xf32>)
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @chain(%a: tensor<20x30xf32>, %b: tensor<30x40xf32>, %c: tensor<40xf32>) -> tensor<*xf32> {
  %0 = onnx.node "Einsum"(%a, %b, %c) {equation = "ij,jk,k->i"} : (tensor<20x30xf32>, tensor<30x40xf32>, tensor<40xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
func.func @bilinear(%a: tensor<7x8xf32>, %w: tensor<4x8x8xf32>, %b: tensor<7x8xf32>) -> tensor<*xf32> {
  %0 = onnx.node "Einsum"(%a, %w, %b) {equation = "bn,anm,bm->ba"} : (tensor<7x8xf32>, tensor<4x8x8xf32>, tensor<7x8xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
}

// -----

module attributes {onnx.opset_import = {"ai.onnx" = 13 : i64}} {
func.func @errors(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) {
  // expected-error@+1 {{MatMul (opset 13) is invalid: expects equal inner dimensions, but got 3 and 2}}
  %0 = onnx.node "MatMul"(%a, %b) : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<*xf32>
  // expected-error@+1 {{Einsum (opset 13) is invalid: a label stands for 3 and 4 elements}}
  %1 = onnx.node "Einsum"(%a, %b) {equation = "ij,ij->i"} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<*xf32>
  // expected-error@+1 {{Einsum (opset 13) is invalid: term 'ijk' does not fit input 0 of rank 2}}
  %2 = onnx.node "Einsum"(%a) {equation = "ijk->i"} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}
}

// -----

// C broadcasts to the product. The product must not broadcast to C.
module attributes {onnx.opset_import = {"ai.onnx" = 18 : i64}} {
func.func @gemm_wide_addend(%a: tensor<3x5xf32>, %b: tensor<5x1xf32>, %c: tensor<1x4xf32>) {
  // expected-error @below {{Gemm (opset 18) is invalid: C does not broadcast to the product}}
  %0 = onnx.node "Gemm"(%a, %b, %c) {alpha = 5.0e-01 : f32} : (tensor<3x5xf32>, tensor<5x1xf32>, tensor<1x4xf32>) -> tensor<*xf32>
  return
}
}
