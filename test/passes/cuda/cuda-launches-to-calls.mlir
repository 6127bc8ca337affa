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

// Memory of open size comes from the GPU's heap, and an output is stored from
// where it is. A launch passes open sizes and strides behind the addresses.
// CHECK-LABEL: func.func @open
// CHECK-SAME: (%[[X:.*]]: memref<?x4xf32>, %[[Z:.*]]: memref<?x4xf32, strided<[?, 1]>>, %[[CALL:.*]]: !llvm.ptr
// CHECK: %[[FRAME:.*]] = memref.alloca() : memref<7xi64>
// CHECK: %[[N:.*]] = memref.dim %[[X]]
// CHECK: llvm.intr.umul.with.overflow
// CHECK: call @ingot_cuda_allocate(%[[CALL]], %{{.*}}, %{{.*}}) : (!llvm.ptr, index, index) -> index
// CHECK: call @ingot_cuda_room(%[[CALL]], %{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, index, index, index) -> index
// CHECK-COUNT-7: memref.store %{{.*}}, %[[FRAME]]
// CHECK: call @ingot_cuda_launch
// CHECK: call @ingot_cuda_release(%[[CALL]], %{{.*}}) : (!llvm.ptr, index) -> ()
// CHECK: call @ingot_cuda_store_output(%[[CALL]]
func.func @open(%x: memref<?x4xf32>, %z: memref<?x4xf32, strided<[?, 1]>>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x4xf32>
  %a = memref.alloc(%n) : memref<?x4xf32>
  %y = ingot.room 0(%n) : memref<?x4xf32>
  cuda.launch @ingot_cuda_kernels::@third(%a, %y, %z) blocks(%n) writes 3 : memref<?x4xf32>, memref<?x4xf32>, memref<?x4xf32, strided<[?, 1]>>
  memref.dealloc %a : memref<?x4xf32>
  %data = memref.extract_aligned_pointer_as_index %y : memref<?x4xf32> -> index
  call @ingot_support_store_output(%call, %c0, %c0, %c0, %data, %c0) : (!llvm.ptr, index, index, index, index, index) -> ()
  return
}
func.func private @ingot_support_store_output(!llvm.ptr, index, index, index, index, index)

// Memory of the host's own stays the host's.
// CHECK-LABEL: func.func @host
// CHECK: memref.dealloc
func.func @host(%list: index, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %0 = ingot.stack %list : memref<?x4xf32>
  memref.dealloc %0 : memref<?x4xf32>
  return
}

// The status of the run is memory that the runtime has.
// CHECK-LABEL: func.func @checks
// CHECK-SAME: (%[[CALL:.*]]: !llvm.ptr
// CHECK: %[[STATUS:.*]] = call @ingot_cuda_status(%[[CALL]]) : (!llvm.ptr) -> index
// CHECK: %[[WORD:.*]] = arith.index_cast %[[STATUS]] : index to i64
// CHECK: llvm.inttoptr %[[WORD]]
// CHECK: builtin.unrealized_conversion_cast {{.*}} to memref<3xi64>
// CHECK-NOT: cuda.status
func.func @checks(%call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %n = arith.constant 1 : index
  %status = cuda.status : memref<3xi64>
  cuda.launch @ingot_cuda_kernels::@check(%status) blocks(%n) writes 1 : memref<3xi64>
  return
}
module @ingot_cuda_kernels {
  func.func @first() attributes {cuda.block = #cuda.block<threads = 64>} {
    return
  }
  func.func @second(%x: memref<8xf32>, %y: memref<4xf32, strided<[1]>>) attributes {cuda.block = #cuda.block<threads = 64>} {
    return
  }
  func.func @third(%x: memref<?x4xf32>, %y: memref<?x4xf32>, %z: memref<?x4xf32, strided<[?, 1]>>) attributes {cuda.block = #cuda.block<threads = 64>} {
    return
  }
  func.func @check(%status: memref<3xi64>) attributes {cuda.block = #cuda.block<threads = 32>} {
    return
  }
}
