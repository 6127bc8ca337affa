// RUN: ingot-opt %s --expand-views | FileCheck %s

// CHECK-LABEL: func @subview
// CHECK-SAME: (%[[ARG:.*]]: memref<8x16xf32>, %[[ROW:.*]]: index)
// CHECK: %[[BASE:.*]], %{{.*}}, %{{.*}}:2, %{{.*}}:2 = memref.extract_strided_metadata %[[ARG]]
// CHECK: %[[OFFSET:.*]] = affine.apply {{.*}}[%[[ROW]]]
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %[[BASE]] to offset: [%[[OFFSET]]], sizes: [2, 16], strides: [16, 1]
// CHECK: return %[[VIEW]]
func.func @subview(%arg0: memref<8x16xf32>, %row: index)
    -> memref<2x16xf32, strided<[16, 1], offset: ?>> {
  %view = memref.subview %arg0[%row, 0] [2, 16] [1, 1]
    : memref<8x16xf32> to memref<2x16xf32, strided<[16, 1], offset: ?>>
  return %view : memref<2x16xf32, strided<[16, 1], offset: ?>>
}

// The offset of a view of a view is a sum: the ops that patterns create are
// expanded, too.
// CHECK-LABEL: func @view_of_view
// CHECK-NOT: memref.subview
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [35], sizes: [1, 4], strides: [16, 1]
// CHECK-NOT: memref.subview
func.func @view_of_view(%arg0: memref<8x16xf32>)
    -> memref<1x4xf32, strided<[16, 1], offset: 35>> {
  %0 = memref.subview %arg0[2, 0] [2, 16] [1, 1]
    : memref<8x16xf32> to memref<2x16xf32, strided<[16, 1], offset: 32>>
  %1 = memref.subview %0[0, 3] [1, 4] [1, 1]
    : memref<2x16xf32, strided<[16, 1], offset: 32>>
      to memref<1x4xf32, strided<[16, 1], offset: 35>>
  return %1 : memref<1x4xf32, strided<[16, 1], offset: 35>>
}

// Ops of other dialects are neither folded nor erased.
// CHECK-LABEL: func @others
// CHECK: arith.addi
// CHECK: memref.load
func.func @others(%arg0: memref<8xf32>) -> f32 {
  %c1 = arith.constant 1 : index
  %c2 = arith.addi %c1, %c1 : index
  %0 = memref.load %arg0[%c2] : memref<8xf32>
  return %0 : f32
}
