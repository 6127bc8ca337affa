// RUN: ingot-opt %s --nn-merge-scale-shifts --split-input-file | FileCheck %s

// Quantization-aware training writes several ops behind a product of bytes: the
// scales of the bytes, a division by the training's factor, and a
// normalization.
// CHECK-LABEL: @trained
// CHECK-DAG: %[[SCALE:.*]] = arith.constant dense<{{\[\[\[}}1.000000e+00]], {{\[\[}}1.600000e+01]]]> : tensor<2x1x1xf32>
// CHECK-DAG: %[[SHIFT:.*]] = arith.constant dense<{{\[\[\[}}1.100000e+01]], {{\[\[}}2.000000e+01]]]> : tensor<2x1x1xf32>
// CHECK: %[[X:.*]] = nn.cast %{{.*}} : tensor<1x2x3x3xi32>
// CHECK-NEXT: %[[M:.*]] = nn.mul %[[X]], %[[SCALE]]
// CHECK-NEXT: %[[A:.*]] = nn.add %[[M]], %[[SHIFT]]
// CHECK-NEXT: %[[R:.*]] = nn.relu %[[A]]
// CHECK-NEXT: return %[[R]]
func.func @trained(%x: tensor<1x4x3x3xui8>, %w: tensor<2x4x1x1xi8>, %zero: tensor<2x1x1xi32>) -> tensor<1x2x3x3xf32> {
  %s = arith.constant dense<[[[2.0]], [[8.0]]]> : tensor<2x1x1xf32>
  %f = arith.constant dense<[[[[4.0]], [[1.0]]]]> : tensor<1x2x1x1xf32>
  %t = arith.constant dense<5.0> : tensor<f32>
  %g = arith.constant dense<[[[2.0]], [[2.0]]]> : tensor<2x1x1xf32>
  %u = arith.constant dense<[[[1.0]], [[10.0]]]> : tensor<2x1x1xf32>
  %y = nn.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x4x3x3xui8>, tensor<2x4x1x1xi8>) -> tensor<1x2x3x3xi32>
  %sums = nn.sub %y, %zero : tensor<1x2x3x3xi32>, tensor<2x1x1xi32> -> tensor<1x2x3x3xi32>
  %0 = nn.cast %sums : tensor<1x2x3x3xi32> -> tensor<1x2x3x3xf32>
  %1 = nn.mul %0, %s : tensor<1x2x3x3xf32>, tensor<2x1x1xf32> -> tensor<1x2x3x3xf32>
  %2 = nn.div %1, %f : tensor<1x2x3x3xf32>, tensor<1x2x1x1xf32> -> tensor<1x2x3x3xf32>
  %3 = nn.add %2, %t : tensor<1x2x3x3xf32>, tensor<f32> -> tensor<1x2x3x3xf32>
  %4 = nn.mul %3, %g : tensor<1x2x3x3xf32>, tensor<2x1x1xf32> -> tensor<1x2x3x3xf32>
  %5 = nn.add %u, %4 : tensor<2x1x1xf32>, tensor<1x2x3x3xf32> -> tensor<1x2x3x3xf32>
  %6 = nn.relu %5 : tensor<1x2x3x3xf32> -> tensor<1x2x3x3xf32>
  return %6 : tensor<1x2x3x3xf32>
}

// -----

// The columns of a product of floats, with a dynamic number of rows; a division
// is a factor.
// CHECK-LABEL: @columns
// CHECK-DAG: %[[SCALE:.*]] = arith.constant dense<[2.500000e-01, 5.000000e-01]> : tensor<2xf32>
// CHECK: %[[P:.*]] = nn.matmul
// CHECK-NEXT: %[[M:.*]] = nn.mul %[[P]], %[[SCALE]] : tensor<?x2xf32>
// CHECK-NEXT: return %[[M]]
func.func @columns(%x: tensor<?x3xf32>, %w: tensor<3x2xf32>) -> tensor<?x2xf32> {
  %s = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %f = arith.constant dense<4.0> : tensor<f32>
  %0 = nn.matmul %x, %w : (tensor<?x3xf32>, tensor<3x2xf32>) -> tensor<?x2xf32>
  %1 = nn.mul %0, %s : tensor<?x2xf32>, tensor<2xf32> -> tensor<?x2xf32>
  %2 = nn.div %1, %f : tensor<?x2xf32>, tensor<f32> -> tensor<?x2xf32>
  return %2 : tensor<?x2xf32>
}

// -----

// Must not fire: a single factor and shift; floats that no product computes; a
// product of factors that f32 does not hold; values with other users in
// between; factors along rows.
// CHECK-LABEL: @no
// CHECK: nn.mul
// CHECK-NEXT: nn.add
// CHECK-NEXT: nn.mul
// CHECK-NEXT: nn.mul
// CHECK-NEXT: nn.mul
// CHECK-NEXT: nn.mul
// CHECK-NEXT: nn.mul
// CHECK-NEXT: nn.div
// CHECK-NEXT: nn.mul
// CHECK-NEXT: nn.mul
// CHECK-NEXT: return
func.func @no(%a: tensor<3x4xui8>, %b: tensor<4x2xi8>, %x: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) {
  %s = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %tiny = arith.constant dense<1.0e-30> : tensor<f32>
  %rows = arith.constant dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32>
  %sums = nn.matmul %a, %b : (tensor<3x4xui8>, tensor<4x2xi8>) -> tensor<3x2xi32>
  %0 = nn.cast %sums : tensor<3x2xi32> -> tensor<3x2xf32>
  %1 = nn.mul %0, %s : tensor<3x2xf32>, tensor<2xf32> -> tensor<3x2xf32>
  %2 = nn.add %1, %s : tensor<3x2xf32>, tensor<2xf32> -> tensor<3x2xf32>
  %3 = nn.mul %x, %s : tensor<3x2xf32>, tensor<2xf32> -> tensor<3x2xf32>
  %4 = nn.mul %3, %s : tensor<3x2xf32>, tensor<2xf32> -> tensor<3x2xf32>
  %5 = nn.mul %0, %tiny : tensor<3x2xf32>, tensor<f32> -> tensor<3x2xf32>
  %6 = nn.mul %5, %tiny : tensor<3x2xf32>, tensor<f32> -> tensor<3x2xf32>
  %7 = nn.mul %0, %s : tensor<3x2xf32>, tensor<2xf32> -> tensor<3x2xf32>
  %8 = nn.div %7, %s : tensor<3x2xf32>, tensor<2xf32> -> tensor<3x2xf32>
  %9 = nn.mul %0, %rows : tensor<3x2xf32>, tensor<3x1xf32> -> tensor<3x2xf32>
  %10 = nn.mul %9, %s : tensor<3x2xf32>, tensor<2xf32> -> tensor<3x2xf32>
  return %2, %4, %6, %7, %8, %10 : tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>
}

// -----

// Must not fire: counts, whose quotients a model may expect to be integers, and
// the integers to which a product is rounded.
// CHECK-LABEL: @counts
// CHECK: nn.mul
// CHECK-NEXT: nn.div
// CHECK: nn.mul
// CHECK-NEXT: nn.div
func.func @counts(%n: tensor<2xi32>, %a: tensor<3x4xf32>, %b: tensor<4x2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>) {
  %two = arith.constant dense<2.0> : tensor<f32>
  %three = arith.constant dense<3.0> : tensor<f32>
  %0 = nn.cast %n : tensor<2xi32> -> tensor<2xf32>
  %1 = nn.mul %0, %two : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %2 = nn.div %1, %three : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %y = nn.matmul %a, %b : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %whole = nn.cast %y : tensor<3x2xf32> -> tensor<3x2xi32>
  %3 = nn.cast %whole : tensor<3x2xi32> -> tensor<3x2xf32>
  %4 = nn.mul %3, %two : tensor<3x2xf32>, tensor<f32> -> tensor<3x2xf32>
  %5 = nn.div %4, %three : tensor<3x2xf32>, tensor<f32> -> tensor<3x2xf32>
  return %2, %5 : tensor<2xf32>, tensor<3x2xf32>
}
