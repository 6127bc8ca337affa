// RUN: ingot-opt %s --nn-simplify | FileCheck %s
// Results are tested by nn-simplify.py.

// CHECK-LABEL: func.func @casts
// CHECK-NEXT: return %{{.*}} : tensor<?xf32>
func.func @casts(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = nn.cast %x : tensor<?xf32> -> tensor<?xf64>
  %1 = nn.cast %0 : tensor<?xf64> -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// CHECK-LABEL: func.func @unsigned_cast
// CHECK-NEXT: nn.cast %{{.*}} : tensor<4xui8> -> tensor<4xi64>
func.func @unsigned_cast(%x: tensor<4xui8>) -> tensor<4xi64> {
  %0 = nn.cast %x : tensor<4xui8> -> tensor<4xi32>
  %1 = nn.cast %0 : tensor<4xi32> -> tensor<4xi64>
  return %1 : tensor<4xi64>
}

// Must not fire: a middle type that rounds, wraps or drops the sign.
// CHECK-LABEL: func.func @narrow_casts
// CHECK-COUNT-6: nn.cast
func.func @narrow_casts(%x: tensor<4xf32>, %y: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi64>) {
  %0 = nn.cast %x : tensor<4xf32> -> tensor<4xf16>
  %1 = nn.cast %0 : tensor<4xf16> -> tensor<4xf32>
  %2 = nn.cast %x : tensor<4xf32> -> tensor<4xi64>
  %3 = nn.cast %2 : tensor<4xi64> -> tensor<4xf32>
  %4 = nn.cast %y : tensor<4xi32> -> tensor<4xui64>
  %5 = nn.cast %4 : tensor<4xui64> -> tensor<4xi64>
  return %1, %3, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xi64>
}

// CHECK-LABEL: func.func @chains
// CHECK-NEXT: %[[T:.*]] = nn.transpose %{{.*}} {perm = array<i64: 1, 2, 0>}
// CHECK-NEXT: %[[R:.*]] = nn.reshape %[[T]] : tensor<3x4x2xf32> -> tensor<24xf32>
// CHECK-NEXT: return %[[R]]
func.func @chains(%x: tensor<2x3x4xf32>) -> tensor<24xf32> {
  %0 = nn.transpose %x {perm = array<i64: 1, 0, 2>} : tensor<2x3x4xf32> -> tensor<3x2x4xf32>
  %1 = nn.transpose %0 {perm = array<i64: 0, 2, 1>} : tensor<3x2x4xf32> -> tensor<3x4x2xf32>
  %2 = nn.reshape %1 : tensor<3x4x2xf32> -> tensor<6x4xf32>
  %3 = nn.reshape %2 : tensor<6x4xf32> -> tensor<24xf32>
  return %3 : tensor<24xf32>
}

// The number of elements, which is 0, does not give the number of images.
// CHECK-LABEL: func.func @conv_of_no_channels
// CHECK: nn.conv
func.func @conv_of_no_channels(%x: tensor<?x0x4x5xf32>, %w: tensor<7x0x4x5xf32>) -> tensor<?x7x1x1xf32> {
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x0x4x5xf32>, tensor<7x0x4x5xf32>) -> tensor<?x7x1x1xf32>
  return %0 : tensor<?x7x1x1xf32>
}
// CHECK-LABEL: func.func @conv_of_any_batch
// CHECK: nn.matmul
func.func @conv_of_any_batch(%x: tensor<?x3x4x5xf32>, %w: tensor<7x3x4x5xf32>) -> tensor<?x7x1x1xf32> {
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x3x4x5xf32>, tensor<7x3x4x5xf32>) -> tensor<?x7x1x1xf32>
  return %0 : tensor<?x7x1x1xf32>
}

// Two constants that are added to or subtracted from an i32 become one.
// CHECK-LABEL: func.func @shifts
// CHECK-DAG: %[[A:.*]] = arith.constant dense<5> : tensor<i32>
// CHECK-DAG: %[[B:.*]] = arith.constant dense<[3, 4]> : tensor<2xi32>
// CHECK: %[[D:.*]] = nn.sub %[[B]], %[[A]] : tensor<2xi32>, tensor<i32> -> tensor<2xi32>
// CHECK: nn.add %arg0, %[[D]]
// CHECK: %[[S:.*]] = nn.add %[[B]], %[[A]]
// CHECK: nn.sub %arg0, %[[S]]
// Must not fire: floats, which round, sums with other users, and constants
// that would become a larger one.
// CHECK: nn.add %arg1
// CHECK: nn.add
// CHECK: %[[X:.*]] = nn.add %arg0
// CHECK: nn.add %[[X]]
// CHECK: %[[L:.*]] = nn.add %arg0
// CHECK: nn.add %[[L]]
func.func @shifts(%x: tensor<2x2xi32>, %y: tensor<2x2xf32>) -> (tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xf32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>) {
  %a = arith.constant dense<5> : tensor<i32>
  %b = arith.constant dense<[3, 4]> : tensor<2xi32>
  %f = arith.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %0 = nn.sub %x, %a : tensor<2x2xi32>, tensor<i32> -> tensor<2x2xi32>
  %1 = nn.add %0, %b : tensor<2x2xi32>, tensor<2xi32> -> tensor<2x2xi32>
  %2 = nn.sub %x, %a : tensor<2x2xi32>, tensor<i32> -> tensor<2x2xi32>
  %3 = nn.sub %2, %b : tensor<2x2xi32>, tensor<2xi32> -> tensor<2x2xi32>
  %4 = nn.add %y, %f : tensor<2x2xf32>, tensor<2xf32> -> tensor<2x2xf32>
  %5 = nn.add %4, %f : tensor<2x2xf32>, tensor<2xf32> -> tensor<2x2xf32>
  %6 = nn.add %x, %a : tensor<2x2xi32>, tensor<i32> -> tensor<2x2xi32>
  %7 = nn.add %6, %b : tensor<2x2xi32>, tensor<2xi32> -> tensor<2x2xi32>
  %rows = arith.constant dense<[[5], [6]]> : tensor<2x1xi32>
  %8 = nn.add %x, %rows : tensor<2x2xi32>, tensor<2x1xi32> -> tensor<2x2xi32>
  %9 = nn.add %8, %b : tensor<2x2xi32>, tensor<2xi32> -> tensor<2x2xi32>
  return %1, %3, %5, %6, %7, %9 : tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xf32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>
}
