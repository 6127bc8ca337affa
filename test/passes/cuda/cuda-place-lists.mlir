// RUN: ingot-opt --cuda-place-lists --split-input-file %s | FileCheck %s

// What a list becomes is copied to the GPU, and the host's memory released.
// Later ops use the copy.
// CHECK-LABEL: func.func @stacked
// CHECK: %[[HOST:.*]] = ingot.stack
// CHECK: %[[N:.*]] = memref.dim %[[HOST]]
// CHECK: %[[DEVICE:.*]] = memref.alloc(%[[N]]) : memref<?x4xf32>
// CHECK: cuda.to_device %[[HOST]], %[[DEVICE]]
// CHECK: cuda.wait
// CHECK: memref.dealloc %[[HOST]]
// CHECK: memref.copy %[[DEVICE]]
// CHECK: memref.dealloc %[[DEVICE]]
func.func @stacked(%list: index, %y: memref<?x4xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %0 = ingot.stack %list : memref<?x4xf32>
  memref.copy %0, %y : memref<?x4xf32> to memref<?x4xf32>
  memref.dealloc %0 : memref<?x4xf32>
  return
}

// -----

// Only the function of a run has GPU memory.
// CHECK-LABEL: func.func @other
// CHECK-NOT: cuda
func.func @other(%list: index) {
  %0 = ingot.stack %list : memref<?x4xf32>
  memref.dealloc %0 : memref<?x4xf32>
  return
}
