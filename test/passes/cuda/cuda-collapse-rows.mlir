// RUN: ingot-opt --cuda-collapse-rows --split-input-file %s | FileCheck %s

// The rows of all operands become one dimension. Weights have none.
// CHECK-LABEL: func.func @rows
// CHECK: %[[X:.*]] = memref.collapse_shape %arg0 {{\[\[}}0, 1], [2]] : memref<?x?x16xf32> into memref<?x16xf32>
// CHECK: %[[B:.*]] = memref.collapse_shape %arg2 {{.*}} : memref<1x1x8xf32> into memref<1x8xf32>
// CHECK: %[[R:.*]] = memref.collapse_shape %arg3 {{.*}} : memref<?x?x8xf32> into memref<?x8xf32>
// CHECK: %[[Y:.*]] = memref.collapse_shape %arg4 {{.*}} : memref<?x?x8xf32> into memref<?x8xf32>
// CHECK: cuda.matmul ins(%[[X]], %arg1 : {{.*}}) operands(%[[B]], %[[R]] : {{.*}}) outs(%[[Y]] : memref<?x8xf32>)
func.func @rows(%x: memref<?x?x16xf32>, %w: memref<8x16xf32>, %b: memref<1x1x8xf32>, %r: memref<?x?x8xf32>, %y: memref<?x?x8xf32>) {
  cuda.matmul ins(%x, %w : memref<?x?x16xf32>, memref<8x16xf32>) operands(%b, %r : memref<1x1x8xf32>, memref<?x?x8xf32>) outs(%y : memref<?x?x8xf32>) {
  ^bb0(%sum: f32, %bias: f32, %rest: f32):
    %0 = arith.addf %sum, %bias : f32
    %1 = arith.addf %0, %rest : f32
    cuda.yield %1 : f32
  }
  return
}

// -----

// An operand that broadcasts along some of the rows does not allow it.
// CHECK-LABEL: func.func @broadcast
// CHECK-NOT: collapse_shape
// CHECK: cuda.matmul
func.func @broadcast(%x: memref<?x?x16xf32>, %w: memref<8x16xf32>, %r: memref<1x?x8xf32>, %y: memref<?x?x8xf32>) {
  cuda.matmul ins(%x, %w : memref<?x?x16xf32>, memref<8x16xf32>) operands(%r : memref<1x?x8xf32>) outs(%y : memref<?x?x8xf32>) {
  ^bb0(%sum: f32, %rest: f32):
    %0 = arith.addf %sum, %rest : f32
    cuda.yield %0 : f32
  }
  return
}

// -----

// Nor do gaps between rows. Known sizes do not need it.
// CHECK-LABEL: func.func @gaps
// CHECK-NOT: collapse_shape
// CHECK: cuda.matmul
// CHECK: cuda.matmul
func.func @gaps(%x: memref<?x?x16xf32, strided<[?, 20, 1]>>, %w: memref<8x16xf32>, %y: memref<?x?x8xf32>, %a: memref<2x3x16xf32>, %b: memref<2x3x8xf32>) {
  cuda.matmul ins(%x, %w : memref<?x?x16xf32, strided<[?, 20, 1]>>, memref<8x16xf32>) outs(%y : memref<?x?x8xf32>) {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  }
  cuda.matmul ins(%a, %w : memref<2x3x16xf32>, memref<8x16xf32>) outs(%b : memref<2x3x8xf32>) {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  }
  return
}
