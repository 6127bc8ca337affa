// RUN: ingot-opt --onnx-legalize --split-input-file --verify-diagnostics %s | FileCheck %s

module attributes {onnx.opset_import = {ai.onnx = 24 : i64}} {

// CHECK-LABEL: @linear
func.func @linear(%x: tensor<?x3xf32>, %s: tensor<1xf32>, %z: tensor<1xi8>, %sc: tensor<3xf32>, %zc: tensor<3xui8>)
    -> (tensor<?x3xf32>, tensor<?x3xui8>) {
  // CHECK: nn.quantize %arg0, %{{.*}} zero_point(%{{.*}}) {{.*}} : (tensor<?x3xf32>, tensor<f32>, tensor<i8>) -> tensor<?x3xi8>
  %0 = onnx.node "QuantizeLinear"(%x, %s, %z) : (tensor<?x3xf32>, tensor<1xf32>, tensor<1xi8>) -> tensor<?x3xi8>
  // CHECK: nn.dequantize
  %1 = onnx.node "DequantizeLinear"(%0, %s, %z) : (tensor<?x3xi8>, tensor<1xf32>, tensor<1xi8>) -> tensor<?x3xf32>
  // CHECK: nn.quantize %arg0, %arg3 zero_point(%arg4) {axis = 1 : i64}
  %2 = onnx.node "QuantizeLinear"(%x, %sc, %zc) {axis = -1 : i64} : (tensor<?x3xf32>, tensor<3xf32>, tensor<3xui8>) -> tensor<?x3xui8>
  return %1, %2 : tensor<?x3xf32>, tensor<?x3xui8>
}

// The last block is shorter: 5 elements in blocks of 2.
// CHECK-LABEL: @blocks
func.func @blocks(%x: tensor<2x5xi8>, %s: tensor<2x3xf32>) -> tensor<2x5xf32> {
  // CHECK: nn.broadcast_to %{{.*}} : tensor<2x3x1xf32> -> tensor<2x3x2xf32>
  // CHECK: nn.slice %{{.*}} : tensor<2x6xf32> -> tensor<2x5xf32>
  // CHECK: nn.mul
  %0 = onnx.node "DequantizeLinear"(%x, %s) {axis = 1 : i64, block_size = 2 : i64} : (tensor<2x5xi8>, tensor<2x3xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// CHECK-LABEL: @products
func.func @products(%a: tensor<2x3xui8>, %b: tensor<3x4xi8>, %az: tensor<ui8>, %bz: tensor<4xi8>, %s: tensor<f32>, %yz: tensor<i8>)
    -> (tensor<2x4xi32>, tensor<2x4xi8>) {
  // CHECK: nn.cast %arg0 : tensor<2x3xui8> -> tensor<2x3xi32>
  // CHECK: nn.sub
  // CHECK: nn.sub %{{.*}} : tensor<3x4xi32>, tensor<4xi32> -> tensor<3x4xi32>
  // CHECK: nn.matmul %{{.*}} : (tensor<2x3xi32>, tensor<3x4xi32>) -> tensor<2x4xi32>
  %0 = onnx.node "MatMulInteger"(%a, %b, %az, %bz) : (tensor<2x3xui8>, tensor<3x4xi8>, tensor<ui8>, tensor<4xi8>) -> tensor<2x4xi32>
  // CHECK: nn.matmul
  // CHECK: nn.round
  // CHECK: nn.clamp %{{.*}} {max = 1.270000e+02 : f64, min = -1.280000e+02 : f64}
  // CHECK: nn.cast %{{.*}} : tensor<2x4xf32> -> tensor<2x4xi8>
  %1 = onnx.node "QLinearMatMul"(%a, %s, %az, %b, %s, %bz, %s, %yz) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x4xi8>, tensor<f32>, tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<2x4xi8>
  return %0, %1 : tensor<2x4xi32>, tensor<2x4xi8>
}
}

// -----

module attributes {onnx.opset_import = {ai.onnx = 24 : i64}} {
func.func @wrong(%x: tensor<2x3xf32>, %s: tensor<2xf32>, %z: tensor<3xui8>, %s3: tensor<3xf32>, %d: tensor<2x?xf32>) -> tensor<2x3xui8> {
  // expected-error @+1 {{QuantizeLinear (opset 24) is invalid: expects 3 scales, but got 2}}
  %0 = onnx.node "QuantizeLinear"(%x, %s) : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xui8>
  // expected-error @+1 {{QuantizeLinear (opset 24) is invalid: scale and zero point have different shapes}}
  %1 = onnx.node "QuantizeLinear"(%x, %s, %z) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2xf32>, tensor<3xui8>) -> tensor<2x3xui8>
  // expected-error @+1 {{QuantizeLinear (opset 24) is not supported: quantization to floats}}
  %2 = onnx.node "QuantizeLinear"(%x, %s3) {output_dtype = 17 : i64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf8E4M3FN>
  // expected-error @+1 {{QuantizeLinear (opset 24) is not supported: blocks with a dynamic dimension; fix it with --shape}}
  %3 = onnx.node "QuantizeLinear"(%d, %x) {block_size = 2 : i64} : (tensor<2x?xf32>, tensor<2x3xf32>) -> tensor<2x?xui8>
  return %1 : tensor<2x3xui8>
}
}
