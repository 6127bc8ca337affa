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
