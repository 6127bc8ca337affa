// RUN: ingot-opt --pass-pipeline="builtin.module(builtin.module(cuda-resample-to-nvvm))" --split-input-file %s | FileCheck %s

// A thread loads two positions and two weights. Each tap is a vector of 16
// bytes, whose elements are weighted by multiply-adds. There are 4 * 2 vectors
// for 256 threads. The epilogue adds an operand of channels.
// CHECK-LABEL: func.func private @linear
// CHECK: scf.if
// CHECK-COUNT-2: llvm.load {{.*}} -> i32
// CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xf16>
// CHECK-COUNT-8: arith.extf
// CHECK-COUNT-8: arith.mulf
// CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xf16>
// CHECK-COUNT-8: llvm.intr.fma
// CHECK-NOT: llvm.intr.fma
// CHECK-COUNT-2: llvm.load {{.*}} -> vector<4xf32>
// CHECK-COUNT-8: arith.addf
// CHECK: llvm.store {{.*}} {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<1>
// CHECK-NOT: llvm.store
// CHECK-NOT: cuda.resample
module {
  module @ingot_cuda_kernels {
    func.func private @linear(%x: memref<1x2x16xf16>, %p: memref<2x4xi32>, %w: memref<2x4xf32>, %b: memref<1x1x16xf32>, %y: memref<1x4x16xf16>) {
      cuda.resample ins(%x : memref<1x2x16xf16>) positions(%p : memref<2x4xi32>) weights(%w : memref<2x4xf32>)
          operands(%b : memref<1x1x16xf32>) outs(%y : memref<1x4x16xf16>)
          attributes {first = 1 : i64, schedule = #cuda.row_schedule<threads = 1, rows = 256, vector = 8, held = 0>} {
      ^bb0(%s: f32, %o: f32):
        %0 = arith.addf %s, %o : f32
        %1 = arith.truncf %0 : f32 to f16
        cuda.yield %1 : f16
      }
      return
    }
  }
}

// -----

// Without channels a thread computes one element. Nearest resampling loads one,
// and multiplies none. All threads have one, so that none is checked.
// CHECK-LABEL: func.func private @nearest
// CHECK-NOT: scf.if
// CHECK-COUNT-2: llvm.load {{.*}} -> i32
// CHECK: llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK-NOT: arith.mulf
// CHECK-NOT: llvm.load
// CHECK: llvm.store {{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<1>
module {
  module @ingot_cuda_kernels {
    func.func private @nearest(%x: memref<8x2x2xf32>, %p: memref<1x4xi32>, %q: memref<1x8xi32>, %y: memref<8x4x8xf32>) {
      cuda.resample ins(%x : memref<8x2x2xf32>) positions(%p, %q : memref<1x4xi32>, memref<1x8xi32>) outs(%y : memref<8x4x8xf32>)
          attributes {first = 1 : i64, schedule = #cuda.row_schedule<threads = 1, rows = 64, vector = 1, held = 0>} {
      ^bb0(%s: f32):
        cuda.yield %s : f32
      }
      return
    }
  }
}
