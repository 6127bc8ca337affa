// RUN: ingot-opt --pass-pipeline="builtin.module(builtin.module(cuda-kernels-to-nvvm))" %s | FileCheck %s

// A memref is an address. The number of a thread is a special register.
// CHECK: llvm.func @kernel(%[[X:.*]]: !llvm.ptr, %[[Y:.*]]: !llvm.ptr)
// CHECK-SAME: nvvm.kernel
// CHECK-SAME: nvvm.reqntid = array<i32: 64, 1, 1>
// CHECK: nvvm.read.ptx.sreg.ctaid.x
// CHECK: nvvm.read.ptx.sreg.tid.x
// CHECK: llvm.load
// A square root is an instruction, not a call of a library.
// CHECK: llvm.intr.sqrt
// CHECK: llvm.store
module {
  module @ingot_cuda_kernels {
    func.func private @kernel(%x: memref<64xf32>, %y: memref<64xf32>) attributes {cuda.block = #cuda.block<threads = 64>, llvm.linkage = #llvm.linkage<internal>} {
      %block = gpu.block_id x
      %thread = gpu.thread_id x
      %i = arith.addi %block, %thread : index
      %0 = memref.load %x[%i] : memref<64xf32>
      %1 = math.sqrt %0 : f32
      memref.store %1, %y[%i] : memref<64xf32>
      return
    }
  }
}
