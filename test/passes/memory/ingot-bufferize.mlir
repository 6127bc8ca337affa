// RUN: ingot-opt --ingot-bufferize %s | FileCheck %s

// Copies are loops, not memref.copy.

// CHECK-LABEL: @copies
// CHECK-NOT: memref.copy
// CHECK: linalg.generic
func.func @copies(%x: tensor<4x4xf32> {bufferization.writable = false}, %s: f32) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %c0 = arith.constant 0 : index
  %y = tensor.insert %s into %x[%c0, %c0] : tensor<4x4xf32>
  return %x, %y : tensor<4x4xf32>, tensor<4x4xf32>
}

// A group with two unknown sizes is written as a view of contiguous memory.

// CHECK-LABEL: @expand_unknown
// CHECK-NOT: memref.expand_shape
// CHECK: memref.reinterpret_cast
func.func @expand_unknown(%x: tensor<?x3xf32>, %n: index, %m: index) -> tensor<?x?x3xf32> {
  %y = tensor.expand_shape %x [[0, 1], [2]] output_shape [%n, %m, 3] : tensor<?x3xf32> into tensor<?x?x3xf32>
  return %y : tensor<?x?x3xf32>
}
