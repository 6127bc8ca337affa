// RUN: ingot-opt %s --nn-clamp-bytes --split-input-file | FileCheck %s

// 6 / 0.4 rounds to 15, and the zero point is 10. A clamp of 7 bits before it
// is merged.
// CHECK-LABEL: func.func @bounds
// CHECK: %[[A:.*]] = nn.clamp %arg0 {max = 2.500000e+01 : f64, min = 1.000000e+01 : f64} : tensor<4xui8> -> tensor<4xui8>
// CHECK: %[[B:.*]] = nn.clamp %arg0 {max = 1.270000e+02 : f64, min = 1.000000e+01 : f64} : tensor<4xui8> -> tensor<4xui8>
// CHECK: return %[[A]], %[[B]]
func.func @bounds(%x: tensor<4xui8>) -> (tensor<4xui8>, tensor<4xui8>) {
  %s = arith.constant dense<0.4> : tensor<f32>
  %z = arith.constant dense<10> : tensor<ui8>
  %0 = nn.dequantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<4xui8>, tensor<f32>, tensor<ui8>) -> tensor<4xf32>
  %1 = nn.clamp %0 {max = 6.0 : f64, min = 0.0 : f64} : tensor<4xf32> -> tensor<4xf32>
  %2 = nn.quantize %1, %s zero_point(%z) {axis = 0 : i64} : (tensor<4xf32>, tensor<f32>, tensor<ui8>) -> tensor<4xui8>
  %3 = nn.clamp %x {max = 127.0 : f64, min = 0xFFF0000000000000 : f64} : tensor<4xui8> -> tensor<4xui8>
  %4 = nn.dequantize %3, %s zero_point(%z) {axis = 0 : i64} : (tensor<4xui8>, tensor<f32>, tensor<ui8>) -> tensor<4xf32>
  %5 = nn.relu %4 : tensor<4xf32> -> tensor<4xf32>
  %6 = nn.quantize %5, %s zero_point(%z) {axis = 0 : i64} : (tensor<4xf32>, tensor<f32>, tensor<ui8>) -> tensor<4xui8>
  %7 = nn.clamp %6 {max = 127.0 : f64, min = 0xFFF0000000000000 : f64} : tensor<4xui8> -> tensor<4xui8>
  return %2, %7 : tensor<4xui8>, tensor<4xui8>
}

// -----

// Must not fire: another scale behind the relu, words, and other functions.
// CHECK-LABEL: func.func @stay
// CHECK-NOT: nn.clamp
// CHECK: return
func.func @stay(%x: tensor<4xui8>, %w: tensor<4xi16>) -> (tensor<4xui8>, tensor<4xi16>, tensor<4xui8>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %t = arith.constant dense<0.25> : tensor<f32>
  %z = arith.constant dense<10> : tensor<ui8>
  %0 = nn.dequantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<4xui8>, tensor<f32>, tensor<ui8>) -> tensor<4xf32>
  %1 = nn.relu %0 : tensor<4xf32> -> tensor<4xf32>
  %2 = nn.quantize %1, %t zero_point(%z) {axis = 0 : i64} : (tensor<4xf32>, tensor<f32>, tensor<ui8>) -> tensor<4xui8>
  %3 = nn.dequantize %w, %s {axis = 0 : i64} : (tensor<4xi16>, tensor<f32>) -> tensor<4xf32>
  %4 = nn.relu %3 : tensor<4xf32> -> tensor<4xf32>
  %5 = nn.quantize %4, %s {axis = 0 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xi16>
  %6 = nn.tanh %0 : tensor<4xf32> -> tensor<4xf32>
  %7 = nn.quantize %6, %s zero_point(%z) {axis = 0 : i64} : (tensor<4xf32>, tensor<f32>, tensor<ui8>) -> tensor<4xui8>
  return %2, %5, %7 : tensor<4xui8>, tensor<4xi16>, tensor<4xui8>
}
