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

// Blocks of weights, which a reshape makes and another one joins, and zero
// points that integers subtract.
// CHECK-LABEL: func.func @blocks
// CHECK: %[[SPLIT:.*]] = nn.reshape %{{.*}} : tensor<2x16xui8> -> tensor<2x2x8xui8>
// CHECK: %[[JOINED:.*]] = nn.reshape %[[SPLIT]] : tensor<2x2x8xui8> -> tensor<2x16xui8>
// CHECK-DAG: %[[S:.*]] = arith.constant dense<{{\[\[}}5.000000e-01, 2.500000e-01], [1.250000e-01, 1.000000e+00]]> : tensor<2x2xf32>
// CHECK-DAG: %[[Z:.*]] = arith.constant dense<3> : tensor<2x2xui8>
// CHECK: nn.dequantize_blocks %[[JOINED]], %[[S]] zero_point(%[[Z]]) {axis = 1 : i64, block_size = 8 : i64}
func.func @blocks() -> tensor<2x16xf32> {
  %w = arith.constant dense<7> : tensor<2x16xui8>
  %s = arith.constant dense<[[[0.5], [0.25]], [[0.125], [1.0]]]> : tensor<2x2x1xf32>
  %z = arith.constant dense<3> : tensor<i32>
  %c = nn.cast %w : tensor<2x16xui8> -> tensor<2x16xi32>
  %d = nn.sub %c, %z : tensor<2x16xi32>, tensor<i32> -> tensor<2x16xi32>
  %r = nn.reshape %d : tensor<2x16xi32> -> tensor<2x2x8xi32>
  %f = nn.cast %r : tensor<2x2x8xi32> -> tensor<2x2x8xf32>
  %m = nn.mul %f, %s : tensor<2x2x8xf32>, tensor<2x2x1xf32> -> tensor<2x2x8xf32>
  %0 = nn.reshape %m : tensor<2x2x8xf32> -> tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}

// -----

// A transpose in the chain moves the scales, and the blocks of a dequantize.
// CHECK-LABEL: func.func @transposed
// CHECK: %[[T:.*]] = nn.transpose %{{.*}} {perm = array<i64: 1, 0>} : tensor<2x3xsi8> -> tensor<3x2xsi8>
// CHECK: nn.dequantize %[[T]], %{{.*}} {axis = 1 : i64} : (tensor<3x2xsi8>, tensor<2xf32>) -> tensor<3x2xf32>
// CHECK: nn.dequantize_blocks %{{.*}}, %{{.*}} {axis = 0 : i64, block_size = 8 : i64} : (tensor<16x2xsi8>, tensor<2x2xf32>) -> tensor<16x2xf32>
func.func @transposed() -> (tensor<3x2xf32>, tensor<16x2xf32>) {
  %w = arith.constant dense<1> : tensor<2x3xsi8>
  %v = arith.constant dense<1> : tensor<2x16xsi8>
  %s = arith.constant dense<[[2.0], [4.0]]> : tensor<2x1xf32>
  %t = arith.constant dense<[[0.5, 0.25], [0.125, 1.0]]> : tensor<2x2xf32>
  %f = nn.cast %w : tensor<2x3xsi8> -> tensor<2x3xf32>
  %d = nn.div %f, %s : tensor<2x3xf32>, tensor<2x1xf32> -> tensor<2x3xf32>
  %0 = nn.transpose %d {perm = array<i64: 1, 0>} : tensor<2x3xf32> -> tensor<3x2xf32>
  %b = nn.dequantize_blocks %v, %t {axis = 1 : i64, block_size = 8 : i64} : (tensor<2x16xsi8>, tensor<2x2xf32>) -> tensor<2x16xf32>
  %1 = nn.transpose %b {perm = array<i64: 1, 0>} : tensor<2x16xf32> -> tensor<16x2xf32>
  return %0, %1 : tensor<3x2xf32>, tensor<16x2xf32>
}

// -----

// Halves of bytes are unpacked when compiling. Integers that nothing scales are
// weights of a product, and stay floats elsewhere.
// CHECK-LABEL: func.func @unpacked
// CHECK: %[[W:.*]] = arith.constant dense<{{\[\[}}5], [6]]> : tensor<2x1xui8>
// CHECK: %[[F:.*]] = nn.cast %[[W]]
// CHECK: %[[D:.*]] = nn.dequantize %[[W]]
// CHECK: %[[Y:.*]] = nn.matmul %{{.*}}, %[[D]]
// CHECK: return %[[Y]], %[[F]]
func.func @unpacked(%x: tensor<1x2xf32>) -> (tensor<1x1xf32>, tensor<2x1xf32>) {
  %w = arith.constant dense<[[0x15], [0x26]]> : tensor<2x1xui8>
  %m = arith.constant dense<15> : tensor<ui8>
  %a = nn.and %w, %m : tensor<2x1xui8>, tensor<ui8> -> tensor<2x1xui8>
  %f = nn.cast %a : tensor<2x1xui8> -> tensor<2x1xf32>
  %0 = nn.matmul %x, %f : (tensor<1x2xf32>, tensor<2x1xf32>) -> tensor<1x1xf32>
  return %0, %f : tensor<1x1xf32>, tensor<2x1xf32>
}

// -----

// Blocks along both dimensions stay floats. A reshape that divides weights of
// one scale ends the chain.
// CHECK-LABEL: func.func @uneven
// CHECK-NOT: nn.dequantize
// CHECK: %[[D:.*]] = nn.dequantize %{{.*}} {axis = 0 : i64} : (tensor<2x9xsi8>, tensor<2xf32>) -> tensor<2x9xf32>
// CHECK-NOT: nn.dequantize
// CHECK: %[[R:.*]] = nn.reshape %[[D]] : tensor<2x9xf32> -> tensor<3x6xf32>
// CHECK: return %{{.*}}, %[[R]]
func.func @uneven() -> (tensor<16x16xf32>, tensor<3x6xf32>) {
  %w = arith.constant dense<1> : tensor<2x8x2x8xsi8>
  %s = arith.constant dense<[[[[0.5], [0.25]]], [[[0.125], [1.0]]]]> : tensor<2x1x2x1xf32>
  %v = arith.constant dense<1> : tensor<2x9xsi8>
  %t = arith.constant dense<[[2.0], [4.0]]> : tensor<2x1xf32>
  %f = nn.cast %w : tensor<2x8x2x8xsi8> -> tensor<2x8x2x8xf32>
  %m = nn.mul %f, %s : tensor<2x8x2x8xf32>, tensor<2x1x2x1xf32> -> tensor<2x8x2x8xf32>
  %0 = nn.reshape %m : tensor<2x8x2x8xf32> -> tensor<16x16xf32>
  %g = nn.cast %v : tensor<2x9xsi8> -> tensor<2x9xf32>
  %n = nn.mul %t, %g : tensor<2x1xf32>, tensor<2x9xf32> -> tensor<2x9xf32>
  %1 = nn.reshape %n : tensor<2x9xf32> -> tensor<3x6xf32>
  return %0, %1 : tensor<16x16xf32>, tensor<3x6xf32>
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

// -----

// Must not fire: integers that a run computes. The number of paths through their
// operations does not matter.
// CHECK-LABEL: @computed
// CHECK-COUNT-48: nn.add
// CHECK: nn.cast
func.func @computed(%x: tensor<4xi32>) -> tensor<4xf32> {
  %0 = nn.add %x, %x : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %1 = nn.add %0, %0 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %2 = nn.add %1, %1 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %3 = nn.add %2, %2 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %4 = nn.add %3, %3 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %5 = nn.add %4, %4 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %6 = nn.add %5, %5 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %7 = nn.add %6, %6 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %8 = nn.add %7, %7 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %9 = nn.add %8, %8 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %10 = nn.add %9, %9 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %11 = nn.add %10, %10 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %12 = nn.add %11, %11 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %13 = nn.add %12, %12 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %14 = nn.add %13, %13 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %15 = nn.add %14, %14 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %16 = nn.add %15, %15 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %17 = nn.add %16, %16 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %18 = nn.add %17, %17 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %19 = nn.add %18, %18 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %20 = nn.add %19, %19 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %21 = nn.add %20, %20 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %22 = nn.add %21, %21 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %23 = nn.add %22, %22 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %24 = nn.add %23, %23 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %25 = nn.add %24, %24 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %26 = nn.add %25, %25 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %27 = nn.add %26, %26 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %28 = nn.add %27, %27 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %29 = nn.add %28, %28 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %30 = nn.add %29, %29 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %31 = nn.add %30, %30 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %32 = nn.add %31, %31 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %33 = nn.add %32, %32 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %34 = nn.add %33, %33 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %35 = nn.add %34, %34 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %36 = nn.add %35, %35 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %37 = nn.add %36, %36 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %38 = nn.add %37, %37 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %39 = nn.add %38, %38 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %40 = nn.add %39, %39 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %41 = nn.add %40, %40 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %42 = nn.add %41, %41 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %43 = nn.add %42, %42 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %44 = nn.add %43, %43 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %45 = nn.add %44, %44 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %46 = nn.add %45, %45 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %47 = nn.add %46, %46 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %y = nn.cast %47 : tensor<4xi32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}
