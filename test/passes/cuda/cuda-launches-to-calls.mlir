// RUN: ingot-opt --cuda-launches-to-calls %s | FileCheck %s

// A call passes the kernel's number, the number of blocks, and a frame with the
// addresses. All calls share the frame.
// CHECK: func.func private @ingot_cuda_copy(!llvm.ptr, index, index, index)
// CHECK: func.func private @ingot_cuda_launch(!llvm.ptr, index, index, index)
// CHECK-LABEL: func.func @forward
// CHECK-SAME: (%[[X:.*]]: memref<8xf32>, %[[Y:.*]]: memref<8xf32>, %[[CALL:.*]]: !llvm.ptr
// CHECK: %[[FRAME:.*]] = memref.alloca() : memref<2xi64>
// CHECK: %[[N:c3.*]] = arith.constant 3 : index
// CHECK: memref.subview %[[Y]]
// CHECK: memref.extract_aligned_pointer_as_index %[[X]]
// CHECK: memref.extract_aligned_pointer_as_index %{{.*}} : memref<4xf32, strided<[1], offset: 4>>
// CHECK: memref.store %{{.*}}, %[[FRAME]]
// CHECK: memref.store %{{.*}}, %[[FRAME]]
// CHECK: %[[SECOND:.*]] = arith.constant 1 : index
// CHECK: %[[WORDS:.*]] = memref.extract_aligned_pointer_as_index %[[FRAME]]
// CHECK: call @ingot_cuda_launch(%[[CALL]], %[[SECOND]], %[[N]], %[[WORDS]])
// CHECK: %[[BYTES:.*]] = arith.constant 32 : index
// CHECK: call @ingot_cuda_copy(%[[CALL]], %{{.*}}, %{{.*}}, %[[BYTES]])
func.func @forward(%x: memref<8xf32>, %y: memref<8xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %n = arith.constant 3 : index
  %half = memref.subview %y[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  cuda.launch @ingot_cuda_kernels::@second(%x, %half) blocks(%n) writes 1 : memref<8xf32>, memref<4xf32, strided<[1], offset: 4>>
  memref.copy %x, %y : memref<8xf32> to memref<8xf32>
  return
}
module @ingot_cuda_kernels {
  func.func @first() attributes {cuda.block = #cuda.block<threads = 64>} {
    return
  }
  func.func @second(%x: memref<8xf32>, %y: memref<4xf32, strided<[1]>>) attributes {cuda.block = #cuda.block<threads = 64>} {
    return
  }
}
