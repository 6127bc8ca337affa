// RUN: ingot-opt --pass-pipeline='builtin.module(func.func(nn-tabulate-bytes))' --split-input-file %s | FileCheck %s

// The ops between two scales are a function of 256 bytes. Byte 0 stands for
// -6.4, whose sigmoid is rounded to 0, and so on.
// CHECK-LABEL: func.func @sigmoid
// CHECK: %[[TABLE:.*]] = arith.constant dense<{{.*}}> : tensor<256xui8>
// CHECK: %[[Y:.*]] = nn.gather %[[TABLE]], %arg0 {axis = 0 : i64} : (tensor<256xui8>, tensor<2x?xui8>) -> tensor<2x?xui8>
// CHECK-NEXT: return %[[Y]]
func.func @sigmoid(%x: tensor<2x?xui8>) -> tensor<2x?xui8> {
  %scale = arith.constant dense<0.05> : tensor<f32>
  %zero = arith.constant dense<128> : tensor<i32>
  %other = arith.constant dense<0.00390625> : tensor<f32>
  %0 = nn.cast %x : tensor<2x?xui8> -> tensor<2x?xi32>
  %1 = nn.sub %0, %zero : tensor<2x?xi32>, tensor<i32> -> tensor<2x?xi32>
  %2 = nn.cast %1 : tensor<2x?xi32> -> tensor<2x?xf32>
  %3 = nn.mul %2, %scale : tensor<2x?xf32>, tensor<f32> -> tensor<2x?xf32>
  %4 = nn.sigmoid %3 : tensor<2x?xf32> -> tensor<2x?xf32>
  %5 = nn.div %4, %other : tensor<2x?xf32>, tensor<f32> -> tensor<2x?xf32>
  %6 = nn.clamp %5 {min = 0.0 : f64, max = 255.0 : f64} : tensor<2x?xf32> -> tensor<2x?xf32>
  %7 = nn.round %6 : tensor<2x?xf32> -> tensor<2x?xf32>
  %8 = nn.cast %7 : tensor<2x?xf32> -> tensor<2x?xui8>
  return %8 : tensor<2x?xui8>
}

// -----

// Entries are in the order of the bits: those of negative signed bytes come
// last.
// CHECK-LABEL: func.func @signed
// CHECK: arith.constant dense<"0x00010203{{.*}}7E7F00000000{{.*}}00"> : tensor<256xi8>
// CHECK: nn.gather %{{.*}}, %arg0
func.func @signed(%x: tensor<8xi8>) -> tensor<8xi8> {
  %0 = nn.cast %x : tensor<8xi8> -> tensor<8xf32>
  %1 = nn.relu %0 : tensor<8xf32> -> tensor<8xf32>
  %2 = nn.cast %1 : tensor<8xf32> -> tensor<8xi8>
  return %2 : tensor<8xi8>
}

// -----

// x sigmoid(x), with a pair of scales for the sigmoid, is one table.
// CHECK-LABEL: func.func @twice
// CHECK-COUNT-1: nn.gather %{{.*}}, %arg0
// CHECK-NOT: nn.
func.func @twice(%x: tensor<8xui8>) -> tensor<8xui8> {
  %low = arith.constant dense<0.00390625> : tensor<f32>
  %high = arith.constant dense<256.0> : tensor<f32>
  %0 = nn.cast %x : tensor<8xui8> -> tensor<8xf32>
  %1 = nn.sigmoid %0 : tensor<8xf32> -> tensor<8xf32>
  %2 = nn.mul %1, %high : tensor<8xf32>, tensor<f32> -> tensor<8xf32>
  %3 = nn.clamp %2 {min = 0.0 : f64, max = 255.0 : f64} : tensor<8xf32> -> tensor<8xf32>
  %4 = nn.cast %3 : tensor<8xf32> -> tensor<8xui8>
  %5 = nn.cast %4 : tensor<8xui8> -> tensor<8xf32>
  %6 = nn.mul %5, %low : tensor<8xf32>, tensor<f32> -> tensor<8xf32>
  %7 = nn.mul %6, %0 : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  %8 = nn.cast %7 : tensor<8xf32> -> tensor<8xui8>
  return %8 : tensor<8xui8>
}

// -----

// A function of a function is one table, even if the first one is constant.
// CHECK-LABEL: func.func @constant
// CHECK: nn.gather %{{.*}}, %arg0
// CHECK-NOT: nn.
func.func @constant(%x: tensor<8xui8>) -> tensor<8xui8> {
  %none = arith.constant dense<0.0> : tensor<f32>
  %0 = nn.cast %x : tensor<8xui8> -> tensor<8xf32>
  %1 = nn.mul %0, %none : tensor<8xf32>, tensor<f32> -> tensor<8xf32>
  %2 = nn.cast %1 : tensor<8xf32> -> tensor<8xui8>
  %3 = nn.cast %2 : tensor<8xui8> -> tensor<8xf32>
  %4 = nn.exp %3 : tensor<8xf32> -> tensor<8xf32>
  %5 = nn.cast %4 : tensor<8xf32> -> tensor<8xui8>
  return %5 : tensor<8xui8>
}

// -----

// Must not fire: two tensors of bytes, a scale for each channel, floats with
// other users, and integers only.
// CHECK-LABEL: func.func @declined
// CHECK-NOT: nn.gather
func.func @declined(%x: tensor<4x2xui8>, %y: tensor<4x2xui8>) -> (tensor<4x2xui8>, tensor<4x2xui8>, tensor<4x2xui8>, tensor<4x2xf32>, tensor<4x2xui8>) {
  %scales = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %sign = arith.constant dense<128> : tensor<ui8>
  %0 = nn.cast %x : tensor<4x2xui8> -> tensor<4x2xf32>
  %1 = nn.cast %y : tensor<4x2xui8> -> tensor<4x2xf32>
  %2 = nn.add %0, %1 : tensor<4x2xf32>, tensor<4x2xf32> -> tensor<4x2xf32>
  %3 = nn.cast %2 : tensor<4x2xf32> -> tensor<4x2xui8>
  %4 = nn.mul %0, %scales : tensor<4x2xf32>, tensor<2xf32> -> tensor<4x2xf32>
  %5 = nn.cast %4 : tensor<4x2xf32> -> tensor<4x2xui8>
  %6 = nn.exp %0 : tensor<4x2xf32> -> tensor<4x2xf32>
  %7 = nn.cast %6 : tensor<4x2xf32> -> tensor<4x2xui8>
  %8 = nn.xor %x, %sign : tensor<4x2xui8>, tensor<ui8> -> tensor<4x2xui8>
  return %3, %5, %7, %6, %8 : tensor<4x2xui8>, tensor<4x2xui8>, tensor<4x2xui8>, tensor<4x2xf32>, tensor<4x2xui8>
}

// -----

// If it is cheap, a kernel's epilogue computes the function in registers, also
// with a result of two users. Another function of many elements, or with a
// result of two users, becomes a table.
// CHECK-LABEL: func.func @epilogue
// CHECK: nn.max_pool
// CHECK-NOT: nn.gather
// CHECK: nn.leaky_relu
// CHECK: nn.max_pool
// CHECK: nn.gather
// CHECK: nn.max_pool
// CHECK-NOT: nn.gather
// CHECK: nn.max_pool
// CHECK: nn.gather
// CHECK: nn.max_pool
// CHECK-NOT: nn.gather
// CHECK: return
func.func @epilogue(%x: tensor<1x64x64x8xui8>, %few: tensor<1x4x4x8xui8>) -> (tensor<1x32x32x8xui8>, tensor<1x32x32x8xui8>, tensor<1x2x2x8xui8>, tensor<1x2x2x8xui8>, tensor<1x32x32x8xui8>) {
  %0 = nn.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, channels_last} : tensor<1x64x64x8xui8> -> tensor<1x32x32x8xui8>
  %1 = nn.cast %0 : tensor<1x32x32x8xui8> -> tensor<1x32x32x8xf32>
  %2 = nn.leaky_relu %1 {alpha = 1.0e-1 : f32} : tensor<1x32x32x8xf32> -> tensor<1x32x32x8xf32>
  %3 = nn.cast %2 : tensor<1x32x32x8xf32> -> tensor<1x32x32x8xui8>
  %4 = nn.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, channels_last} : tensor<1x64x64x8xui8> -> tensor<1x32x32x8xui8>
  %5 = nn.cast %4 : tensor<1x32x32x8xui8> -> tensor<1x32x32x8xf32>
  %6 = nn.tanh %5 : tensor<1x32x32x8xf32> -> tensor<1x32x32x8xf32>
  %7 = nn.cast %6 : tensor<1x32x32x8xf32> -> tensor<1x32x32x8xui8>
  %8 = nn.max_pool %few {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, channels_last} : tensor<1x4x4x8xui8> -> tensor<1x2x2x8xui8>
  %9 = nn.cast %8 : tensor<1x2x2x8xui8> -> tensor<1x2x2x8xf32>
  %10 = nn.tanh %9 : tensor<1x2x2x8xf32> -> tensor<1x2x2x8xf32>
  %11 = nn.cast %10 : tensor<1x2x2x8xf32> -> tensor<1x2x2x8xui8>
  %12 = nn.max_pool %few {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, channels_last} : tensor<1x4x4x8xui8> -> tensor<1x2x2x8xui8>
  %13 = nn.cast %12 : tensor<1x2x2x8xui8> -> tensor<1x2x2x8xf32>
  %14 = nn.tanh %13 : tensor<1x2x2x8xf32> -> tensor<1x2x2x8xf32>
  %15 = nn.mul %13, %14 : tensor<1x2x2x8xf32>, tensor<1x2x2x8xf32> -> tensor<1x2x2x8xf32>
  %16 = nn.cast %15 : tensor<1x2x2x8xf32> -> tensor<1x2x2x8xui8>
  %17 = nn.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, channels_last} : tensor<1x64x64x8xui8> -> tensor<1x32x32x8xui8>
  %18 = nn.cast %17 : tensor<1x32x32x8xui8> -> tensor<1x32x32x8xf32>
  %19 = nn.mul %18, %18 : tensor<1x32x32x8xf32>, tensor<1x32x32x8xf32> -> tensor<1x32x32x8xf32>
  %20 = nn.mul %18, %19 : tensor<1x32x32x8xf32>, tensor<1x32x32x8xf32> -> tensor<1x32x32x8xf32>
  %21 = nn.cast %20 : tensor<1x32x32x8xf32> -> tensor<1x32x32x8xui8>
  return %3, %7, %11, %16, %21 : tensor<1x32x32x8xui8>, tensor<1x32x32x8xui8>, tensor<1x2x2x8xui8>, tensor<1x2x2x8xui8>, tensor<1x32x32x8xui8>
}
