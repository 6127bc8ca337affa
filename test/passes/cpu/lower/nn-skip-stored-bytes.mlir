// RUN: ingot-opt --pass-pipeline='builtin.module(func.func(nn-skip-stored-bytes))' --split-input-file %s | FileCheck %s

// The epilogue of a product goes on with the rounded floats.
// CHECK-LABEL: func.func @epilogue
// CHECK: %[[R:.*]] = nn.round
// CHECK-NEXT: %[[M:.*]] = nn.mul %[[R]]
// CHECK-NEXT: %[[C:.*]] = nn.clamp %[[M]]
// CHECK-NEXT: nn.cast %[[C]] {in_range} : tensor<2x8xf32> -> tensor<2x8xui8>
func.func @epilogue(%x: tensor<2x8xui8>, %w: tensor<8x8xi8>) -> tensor<2x8xui8> {
  %scale = arith.constant dense<0.05> : tensor<f32>
  %zero = arith.constant dense<128> : tensor<i32>
  %0 = nn.matmul %x, %w : (tensor<2x8xui8>, tensor<8x8xi8>) -> tensor<2x8xi32>
  %1 = nn.cast %0 : tensor<2x8xi32> -> tensor<2x8xf32>
  %2 = nn.clamp %1 {max = 127.0 : f64, min = -128.0 : f64} : tensor<2x8xf32> -> tensor<2x8xf32>
  %3 = nn.round %2 : tensor<2x8xf32> -> tensor<2x8xf32>
  %4 = nn.cast %3 {in_range} : tensor<2x8xf32> -> tensor<2x8xi32>
  %5 = nn.add %4, %zero : tensor<2x8xi32>, tensor<i32> -> tensor<2x8xi32>
  %6 = nn.cast %5 : tensor<2x8xi32> -> tensor<2x8xui8>
  %7 = nn.cast %6 : tensor<2x8xui8> -> tensor<2x8xi32>
  %8 = nn.sub %7, %zero : tensor<2x8xi32>, tensor<i32> -> tensor<2x8xi32>
  %9 = nn.cast %8 : tensor<2x8xi32> -> tensor<2x8xf32>
  %10 = nn.mul %9, %scale : tensor<2x8xf32>, tensor<f32> -> tensor<2x8xf32>
  %11 = nn.clamp %10 {max = 255.0 : f64, min = 0.0 : f64} : tensor<2x8xf32> -> tensor<2x8xf32>
  %12 = nn.cast %11 {in_range} : tensor<2x8xf32> -> tensor<2x8xui8>
  return %12 : tensor<2x8xui8>
}

// -----

// A product of floats reads floats from memory.
// CHECK-LABEL: func.func @product
// CHECK: %[[R:.*]] = nn.round
// CHECK-NEXT: nn.matmul %[[R]], %arg1
func.func @product(%x: tensor<2x8xf32>, %w: tensor<8x8xf32>) -> tensor<2x8xf32> {
  %0 = nn.clamp %x {max = 255.0 : f64, min = 0.0 : f64} : tensor<2x8xf32> -> tensor<2x8xf32>
  %1 = nn.round %0 : tensor<2x8xf32> -> tensor<2x8xf32>
  %2 = nn.cast %1 {in_range} : tensor<2x8xf32> -> tensor<2x8xi32>
  %3 = nn.cast %2 : tensor<2x8xi32> -> tensor<2x8xui8>
  %4 = nn.cast %3 : tensor<2x8xui8> -> tensor<2x8xf32>
  %5 = nn.matmul %4, %w : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  return %5 : tensor<2x8xf32>
}

// -----

// Must not fire: another op reads the bytes.
// CHECK-LABEL: func.func @shared
// CHECK: %[[B:.*]] = nn.cast %{{.*}} : tensor<8xi32> -> tensor<8xui8>
// CHECK: nn.cast %[[B]] : tensor<8xui8> -> tensor<8xf32>
func.func @shared(%x: tensor<8xf32>) -> (tensor<8xui8>, tensor<8xf32>) {
  %0 = nn.clamp %x {max = 255.0 : f64, min = 0.0 : f64} : tensor<8xf32> -> tensor<8xf32>
  %1 = nn.round %0 : tensor<8xf32> -> tensor<8xf32>
  %2 = nn.cast %1 {in_range} : tensor<8xf32> -> tensor<8xi32>
  %3 = nn.cast %2 : tensor<8xi32> -> tensor<8xui8>
  %4 = nn.cast %3 : tensor<8xui8> -> tensor<8xf32>
  return %3, %4 : tensor<8xui8>, tensor<8xf32>
}

// -----

// Must not fire: the integers may be larger than a byte, or the zero points
// differ.
// CHECK-LABEL: func.func @wraps
// CHECK-COUNT-2: nn.cast %{{.*}} : tensor<8xi32> -> tensor<8xui8>
func.func @wraps(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = arith.constant dense<3> : tensor<i32>
  %0 = nn.clamp %x {max = 256.0 : f64, min = 0.0 : f64} : tensor<8xf32> -> tensor<8xf32>
  %1 = nn.round %0 : tensor<8xf32> -> tensor<8xf32>
  %2 = nn.cast %1 {in_range} : tensor<8xf32> -> tensor<8xi32>
  %3 = nn.cast %2 : tensor<8xi32> -> tensor<8xui8>
  %4 = nn.cast %3 : tensor<8xui8> -> tensor<8xf32>
  %5 = nn.clamp %x {max = 250.0 : f64, min = 0.0 : f64} : tensor<8xf32> -> tensor<8xf32>
  %6 = nn.round %5 : tensor<8xf32> -> tensor<8xf32>
  %7 = nn.cast %6 {in_range} : tensor<8xf32> -> tensor<8xi32>
  %8 = nn.cast %7 : tensor<8xi32> -> tensor<8xui8>
  %9 = nn.cast %8 : tensor<8xui8> -> tensor<8xi32>
  %10 = nn.sub %9, %zero : tensor<8xi32>, tensor<i32> -> tensor<8xi32>
  %11 = nn.cast %10 : tensor<8xi32> -> tensor<8xf32>
  return %4, %11 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Must not fire: a later product has the epilogue that reads the bytes. The
// bytes of the later product are read in its own epilogue.
// CHECK-LABEL: func.func @residual
// CHECK: %[[B:.*]] = nn.cast %{{.*}} : tensor<2x8xi32> -> tensor<2x8xui8>
// CHECK: %[[S:.*]] = nn.matmul
// CHECK: %[[R:.*]] = nn.round
// CHECK-DAG: %[[F:.*]] = nn.cast %[[B]] : tensor<2x8xui8> -> tensor<2x8xf32>
// CHECK: nn.add %[[F]], %[[R]]
func.func @residual(%x: tensor<2x8xf32>, %v: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<2x8xf32> {
  %0 = nn.matmul %x, %v : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %1 = nn.clamp %0 {max = 255.0 : f64, min = 0.0 : f64} : tensor<2x8xf32> -> tensor<2x8xf32>
  %2 = nn.round %1 : tensor<2x8xf32> -> tensor<2x8xf32>
  %3 = nn.cast %2 {in_range} : tensor<2x8xf32> -> tensor<2x8xi32>
  %4 = nn.cast %3 : tensor<2x8xi32> -> tensor<2x8xui8>
  %5 = nn.matmul %x, %w : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %6 = nn.clamp %5 {max = 255.0 : f64, min = 0.0 : f64} : tensor<2x8xf32> -> tensor<2x8xf32>
  %7 = nn.round %6 : tensor<2x8xf32> -> tensor<2x8xf32>
  %8 = nn.cast %7 {in_range} : tensor<2x8xf32> -> tensor<2x8xi32>
  %9 = nn.cast %8 : tensor<2x8xi32> -> tensor<2x8xui8>
  %10 = nn.cast %4 : tensor<2x8xui8> -> tensor<2x8xf32>
  %11 = nn.cast %9 : tensor<2x8xui8> -> tensor<2x8xf32>
  %12 = nn.add %10, %11 : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x8xf32>
  return %12 : tensor<2x8xf32>
}
