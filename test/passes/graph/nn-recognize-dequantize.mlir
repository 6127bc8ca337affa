// RUN: ingot-opt %s --nn-recognize-dequantize --split-input-file | FileCheck %s

// One scale, in either order of the factors.
// CHECK-LABEL: func.func @scalar
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{\[\[}}1, -2], [3, 4]]> : tensor<2x2xsi8>
// CHECK: %[[A:.*]] = nn.dequantize %[[W]], %{{.*}} {axis = 0 : i64} : (tensor<2x2xsi8>, tensor<f32>) -> tensor<2x2xf32>
// CHECK: %[[B:.*]] = nn.dequantize %[[W]], %{{.*}} {axis = 0 : i64}
// CHECK: return %[[A]], %[[B]]
func.func @scalar() -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %w = arith.constant dense<[[1, -2], [3, 4]]> : tensor<2x2xsi8>
  %s = arith.constant dense<0.5> : tensor<f32>
  %f = nn.cast %w : tensor<2x2xsi8> -> tensor<2x2xf32>
  %0 = nn.mul %f, %s : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
  %1 = nn.mul %s, %f : tensor<f32>, tensor<2x2xf32> -> tensor<2x2xf32>
  return %0, %1 : tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// A scale for each row behind a reshape, and one zero point for all, which is
// a byte that is cast.
// CHECK-LABEL: func.func @rows
// CHECK: %[[Z:.*]] = arith.constant dense<128> : tensor<2xui8>
// CHECK: nn.dequantize %{{.*}}, %{{.*}} zero_point(%[[Z]]) {axis = 0 : i64} : (tensor<2x3xui8>, tensor<2xf32>, tensor<2xui8>) -> tensor<2x3xf32>
func.func @rows() -> tensor<2x3xf32> {
  %w = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xui8>
  %s = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %z = arith.constant dense<128> : tensor<ui8>
  %f = nn.cast %w : tensor<2x3xui8> -> tensor<2x3xf32>
  %g = nn.cast %z : tensor<ui8> -> tensor<f32>
  %r = nn.reshape %s : tensor<2xf32> -> tensor<2x1xf32>
  %d = nn.sub %f, %g : tensor<2x3xf32>, tensor<f32> -> tensor<2x3xf32>
  %0 = nn.mul %d, %r : tensor<2x3xf32>, tensor<2x1xf32> -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// Must not fire: zero points between integers or beyond the type, a scale for
// each element, computed integers, truth values, and wide integers.
// CHECK-LABEL: func.func @none
// CHECK-NOT: nn.dequantize
// CHECK: return
func.func @none(%x: tensor<2x2xsi8>, %t: tensor<f32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %w = arith.constant dense<1> : tensor<2x2xsi8>
  %b = arith.constant dense<true> : tensor<2x2xi1>
  %i = arith.constant dense<1> : tensor<2x2xi32>
  %s = arith.constant dense<0.5> : tensor<f32>
  %each = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %far = arith.constant dense<128.0> : tensor<f32>
  %f = nn.cast %w : tensor<2x2xsi8> -> tensor<2x2xf32>
  %between = nn.sub %f, %s : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
  %beyond = nn.sub %f, %far : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
  %fx = nn.cast %x : tensor<2x2xsi8> -> tensor<2x2xf32>
  %fb = nn.cast %b : tensor<2x2xi1> -> tensor<2x2xf32>
  %fi = nn.cast %i : tensor<2x2xi32> -> tensor<2x2xf32>
  %0 = nn.mul %between, %s : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
  %1 = nn.mul %beyond, %s : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
  %2 = nn.mul %f, %each : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x2xf32>
  %3 = nn.mul %fx, %s : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
  %4 = nn.mul %fb, %s : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
  %5 = nn.mul %fi, %s : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
  %6 = nn.mul %f, %t : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}
