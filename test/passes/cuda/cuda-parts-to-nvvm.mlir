// RUN: ingot-opt --pass-pipeline="builtin.module(builtin.module(cuda-parts-to-nvvm))" --split-input-file %s | FileCheck %s

// A thread adds up four elements of each part, in order, and stores the results
// of the epilogue together.
// CHECK-LABEL: func.func private @sum
// CHECK: scf.if
// CHECK-COUNT-3: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-COUNT-4: arith.maximumf
// CHECK: llvm.store {{.*}} {alignment = 8 : i64} : vector<4xf16>, !llvm.ptr<1>
module {
  module @ingot_cuda_kernels {
    func.func private @sum(%x: memref<3x7x20xf32>, %y: memref<7x20xf16>) {
      cuda.sum_parts ins(%x : memref<3x7x20xf32>) outs(%y : memref<7x20xf16>) {
      ^bb0(%sum: f32):
        %zero = arith.constant 0.0 : f32
        %0 = arith.maximumf %sum, %zero : f32
        %1 = arith.truncf %0 : f32 to f16
        cuda.yield %1 : f16
      }
      return
    }
  }
}

// -----

// Odd sizes are taken one by one. Full blocks need no check.
// CHECK-LABEL: func.func private @narrow
// CHECK-NOT: scf.if
// CHECK-COUNT-2: llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK: arith.addf
// CHECK: llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK: arith.addf
// CHECK: llvm.store
module {
  module @ingot_cuda_kernels {
    func.func private @narrow(%x: memref<2x64x3xf32>, %b: memref<1x3xf32>, %y: memref<64x3xf32>) {
      cuda.sum_parts ins(%x : memref<2x64x3xf32>) operands(%b : memref<1x3xf32>) outs(%y : memref<64x3xf32>) {
      ^bb0(%sum: f32, %bias: f32):
        %0 = arith.addf %sum, %bias : f32
        cuda.yield %0 : f32
      }
      return
    }
  }
}
