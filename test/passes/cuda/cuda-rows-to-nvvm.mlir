// RUN: ingot-opt --pass-pipeline="builtin.module(builtin.module(cuda-rows-to-nvvm))" --split-input-file %s | FileCheck %s

// A warp loads its row once, by accesses of 16 bytes, and keeps the
// exponentials. Lanes exchange the maximum and the sum by shuffles.
// CHECK-LABEL: func.func private @softmax
// CHECK-COUNT-2: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xf16>
// CHECK-NOT: llvm.load
// CHECK: arith.maximumf
// CHECK-COUNT-5: nvvm.shfl.sync bfly
// CHECK-COUNT-16: math.exp
// CHECK-NOT: math.exp
// CHECK-COUNT-5: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.barrier
// CHECK: arith.divf
// CHECK-COUNT-2: llvm.store {{.*}} {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<1>
module {
  module @ingot_cuda_kernels {
    func.func private @softmax(%x: memref<8x512xf16>, %y: memref<8x512xf16>) {
      cuda.softmax ins(%x : memref<8x512xf16>) outs(%y : memref<8x512xf16>)
          attributes {schedule = #cuda.row_schedule<threads = 32, rows = 4, vector = 8, held = 2>} {
      ^bb0(%p: f32):
        %0 = arith.truncf %p : f32 to f16
        cuda.yield %0 : f16
      }
      return
    }
  }
}

// -----

// A block reads a long row again for the sum and for the results. Its warps
// exchange their results in shared memory, in a place for each reduction.
// CHECK-LABEL: func.func private @long
// CHECK: scf.for
// CHECK: llvm.load
// CHECK: nvvm.barrier
// CHECK-COUNT-2: llvm.load {{.*}} !llvm.ptr<3> -> f32
// CHECK: scf.for
// CHECK: llvm.load
// CHECK: math.exp
// CHECK: nvvm.barrier
// CHECK: math.log
// CHECK: scf.for
// CHECK: llvm.load
// CHECK: llvm.store
module {
  module @ingot_cuda_kernels {
    func.func private @long(%x: memref<8x5000xf32>, %y: memref<8x5000xf32>) {
      cuda.softmax ins(%x : memref<8x5000xf32>) outs(%y : memref<8x5000xf32>)
          attributes {log, schedule = #cuda.row_schedule<threads = 64, rows = 1, vector = 4, held = 0>} {
      ^bb0(%p: f32):
        cuda.yield %p : f32
      }
      return
    }
  }
}

// -----

// Neither rows behind the last one nor elements behind the last of a row are
// loaded or stored. The elements do not count in sums. The epilogue scales.
// CHECK-LABEL: func.func private @tails
// CHECK: scf.if {{.*}} -> (f32)
// CHECK: llvm.load
// CHECK: } else {
// CHECK: arith.select {{.*}} : f32
// CHECK-COUNT-4: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync
// CHECK: math.sqrt
// CHECK: scf.if
// CHECK: llvm.load
// CHECK: arith.mulf %{{.*}}, %{{.*}} fastmath<contract>
// CHECK: llvm.store
module {
  module @ingot_cuda_kernels {
    func.func private @tails(%x: memref<7x13xf32>, %s: memref<1x13xf32>, %y: memref<7x13xf32>) {
      cuda.row_norm ins(%x : memref<7x13xf32>) operands(%s : memref<1x13xf32>) outs(%y : memref<7x13xf32>)
          attributes {epsilon = 1.0e-5 : f32, rms, schedule = #cuda.row_schedule<threads = 16, rows = 2, vector = 1, held = 1>} {
      ^bb0(%n: f32, %scale: f32):
        %0 = arith.mulf %n, %scale fastmath<contract> : f32
        cuda.yield %0 : f32
      }
      return
    }
  }
}

// -----

// A group has the same channels at all positions. The mean is subtracted once.
// CHECK-LABEL: func.func private @group
// CHECK-COUNT-4: llvm.load {{.*}} -> vector<2xf32>
// CHECK-COUNT-5: nvvm.shfl.sync bfly
// CHECK: nvvm.barrier
// CHECK-COUNT-8: arith.subf
// CHECK-NOT: arith.subf
// CHECK: nvvm.barrier
// CHECK-COUNT-4: llvm.store {{.*}} : vector<2xf32>, !llvm.ptr<1>
module {
  module @ingot_cuda_kernels {
    func.func private @group(%x: memref<2x64x32xf32>, %y: memref<2x64x32xf32>) {
      cuda.group_norm ins(%x : memref<2x64x32xf32>) outs(%y : memref<2x64x32xf32>)
          attributes {epsilon = 1.0e-5 : f32, groups = 4 : i64, schedule = #cuda.row_schedule<threads = 64, rows = 1, vector = 2, held = 4>} {
      ^bb0(%n: f32):
        cuda.yield %n : f32
      }
      return
    }
  }
}
