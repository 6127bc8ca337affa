// RUN: ingot-opt %s --nn-propagate-transposes | FileCheck %s
// What is computed is tested by nn-propagate-transposes.py.

// An unknown batch size passes through a reshape.
// CHECK-LABEL: func.func @dynamic_reshape
// CHECK: %[[R:.*]] = nn.reshape %{{.*}} : tensor<?x7x7x6xf32> -> tensor<?x49x6xf32>
// CHECK: return %[[R]]
func.func @dynamic_reshape(%x: tensor<?x7x7x6xf32>) -> tensor<?x49x6xf32> {
  %0 = nn.transpose %x {perm = array<i64: 0, 3, 1, 2>} : tensor<?x7x7x6xf32> -> tensor<?x6x7x7xf32>
  %1 = nn.reshape %0 : tensor<?x6x7x7xf32> -> tensor<?x6x49xf32>
  %2 = nn.transpose %1 {perm = array<i64: 0, 2, 1>} : tensor<?x6x49xf32> -> tensor<?x49x6xf32>
  return %2 : tensor<?x49x6xf32>
}

// Which dimensions are the same is not known: left alone.
// CHECK-LABEL: func.func @unknown_reshape
// CHECK-NEXT: nn.transpose
// CHECK-NEXT: nn.reshape
func.func @unknown_reshape(%x: tensor<?x7x?x6xf32>) -> tensor<1x6x?xf32> {
  %0 = nn.transpose %x {perm = array<i64: 0, 3, 1, 2>} : tensor<?x7x?x6xf32> -> tensor<?x6x7x?xf32>
  %1 = nn.reshape %0 : tensor<?x6x7x?xf32> -> tensor<1x6x?xf32>
  return %1 : tensor<1x6x?xf32>
}

// Flattening a map of more than one pixel moves data: the transpose stays.
// CHECK-LABEL: func.func @flatten
// CHECK-NEXT: nn.transpose
// CHECK-NEXT: nn.reshape
func.func @flatten(%x: tensor<2x7x7x6xf32>) -> tensor<2x294xf32> {
  %0 = nn.transpose %x {perm = array<i64: 0, 3, 1, 2>} : tensor<2x7x7x6xf32> -> tensor<2x6x7x7xf32>
  %1 = nn.reshape %0 : tensor<2x6x7x7xf32> -> tensor<2x294xf32>
  return %1 : tensor<2x294xf32>
}

// CHECK-LABEL: func.func @one_pixel
// CHECK: %[[R:.*]] = nn.reshape %{{.*}} : tensor<?x1x1x6xf32> -> tensor<?x6x1x1xf32>
// CHECK: return %[[R]]
func.func @one_pixel(%x: tensor<?x1x1x6xf32>) -> tensor<?x6x1x1xf32> {
  %0 = nn.transpose %x {perm = array<i64: 0, 3, 1, 2>} : tensor<?x1x1x6xf32> -> tensor<?x6x1x1xf32>
  return %0 : tensor<?x6x1x1xf32>
}

// Constants are transposed at once, whatever their rank.
// CHECK-LABEL: func.func @constant
// CHECK: %[[C:.*]] = arith.constant dense<{{\[\[\[}}1.000000e+00, 2.000000e+00]]]> : tensor<1x1x2xf32>
// CHECK: %[[Y:.*]] = nn.add %{{.*}}, %[[C]]
// CHECK: nn.transpose %[[Y]]
func.func @constant(%x: tensor<1x?x2xf32>) -> tensor<1x2x?xf32> {
  %c = arith.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %0 = nn.transpose %x {perm = array<i64: 0, 2, 1>} : tensor<1x?x2xf32> -> tensor<1x2x?xf32>
  %1 = nn.add %0, %c : tensor<1x2x?xf32>, tensor<2x1xf32> -> tensor<1x2x?xf32>
  return %1 : tensor<1x2x?xf32>
}

// Two transposes that cost nothing do not chase each other.

// CHECK-LABEL: @free_transposes
// CHECK: nn.concat
func.func @free_transposes(%x: tensor<1x1x16xf32>, %y: tensor<1x1x16xf32>) -> tensor<1x32x1xf32> {
  %0 = nn.transpose %x {perm = array<i64: 0, 2, 1>} : tensor<1x1x16xf32> -> tensor<1x16x1xf32>
  %1 = nn.transpose %y {perm = array<i64: 1, 2, 0>} : tensor<1x1x16xf32> -> tensor<1x16x1xf32>
  %2 = nn.concat %0, %1 {axis = 1 : i64} : (tensor<1x16x1xf32>, tensor<1x16x1xf32>) -> tensor<1x32x1xf32>
  return %2 : tensor<1x32x1xf32>
}

// What is resized is transposed while it is small.
// CHECK-LABEL: @enlarged
// CHECK: %[[T:.*]] = nn.transpose %{{.*}} {perm = array<i64: 0, 3, 1, 2>} : tensor<1x4x4x21xf32> -> tensor<1x21x4x4xf32>
// CHECK: %[[Y:.*]] = nn.resize linear %[[T]] {{.*}}scales = array<f32: 1.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00>} : tensor<1x21x4x4xf32> -> tensor<1x21x8x12xf32>
// CHECK: return %[[Y]]
func.func @enlarged(%x: tensor<1x4x4x21xf32>) -> tensor<1x21x8x12xf32> {
  %0 = nn.resize linear %x {coordinates = 0 : i32, nearest_mode = 0 : i32, scales = array<f32: 1.0, 2.0, 3.0, 1.0>} : tensor<1x4x4x21xf32> -> tensor<1x8x12x21xf32>
  %1 = nn.transpose %0 {perm = array<i64: 0, 3, 1, 2>} : tensor<1x8x12x21xf32> -> tensor<1x21x8x12xf32>
  return %1 : tensor<1x21x8x12xf32>
}

// Little is won where it hardly grows, nothing where others read it.
// CHECK-LABEL: @hardly_enlarged
// CHECK: nn.resize
// CHECK: nn.transpose
// CHECK: nn.resize
// CHECK: nn.transpose
func.func @hardly_enlarged(%x: tensor<1x4x4x21xf32>) -> (tensor<1x21x4x8xf32>, tensor<1x8x8x21xf32>, tensor<1x21x8x8xf32>) {
  %0 = nn.resize linear %x {coordinates = 0 : i32, nearest_mode = 0 : i32, scales = array<f32: 1.0, 1.0, 2.0, 1.0>} : tensor<1x4x4x21xf32> -> tensor<1x4x8x21xf32>
  %1 = nn.transpose %0 {perm = array<i64: 0, 3, 1, 2>} : tensor<1x4x8x21xf32> -> tensor<1x21x4x8xf32>
  %2 = nn.resize linear %x {coordinates = 0 : i32, nearest_mode = 0 : i32, scales = array<f32: 1.0, 2.0, 2.0, 1.0>} : tensor<1x4x4x21xf32> -> tensor<1x8x8x21xf32>
  %3 = nn.transpose %2 {perm = array<i64: 0, 3, 1, 2>} : tensor<1x8x8x21xf32> -> tensor<1x21x8x8xf32>
  return %1, %2, %3 : tensor<1x21x4x8xf32>, tensor<1x8x8x21xf32>, tensor<1x21x8x8xf32>
}
