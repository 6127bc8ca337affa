// RUN: ingot-opt --pass-pipeline="builtin.module(builtin.module(cuda-products-to-nvvm))" --split-input-file %s | FileCheck %s

// f16 is multiplied by matrix units. Copies are asynchronous, three steps
// ahead. The sums pass shared memory, and are stored four at a time.
// CHECK: llvm.mlir.global external @ingot_cuda_shared() {addr_space = 3 : i32, alignment = 16 : i64}
// CHECK-LABEL: func.func private @halves
// CHECK-COUNT-3: nvvm.cp.async.commit.group
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group 2
// CHECK: nvvm.barrier
// CHECK: nvvm.cp.async.shared.global {{.*}}, 16, cache = cg
// CHECK: nvvm.ldmatrix {{.*}} num = 4
// CHECK-COUNT-2: nvvm.mma.sync
// CHECK: scf.yield
// CHECK: nvvm.barrier
// CHECK: llvm.store {{.*}} : vector<2xf32>, !llvm.ptr<3>
// CHECK: nvvm.barrier
// CHECK: arith.maximumf
// CHECK: llvm.store {{.*}}alignment = 16 : i64{{.*}} : vector<4xf32>, !llvm.ptr<1>
module {
  module @ingot_cuda_kernels {
    func.func private @halves(%x: memref<64x128xf16>, %w: memref<32x128xf16>, %y: memref<64x32xf32>) {
      cuda.matmul ins(%x, %w : memref<64x128xf16>, memref<32x128xf16>) outs(%y : memref<64x32xf32>) attributes {schedule =
          #cuda.schedule<rows = 32, columns = 32, warp_rows = 16, warp_columns = 16, depth = 64, stages = 4, src_bytes = 16, weights_bytes = 16, stored = 4>} {
      ^bb0(%sum: f32):
        %zero = arith.constant 0.0 : f32
        %0 = arith.maximumf %sum, %zero : f32
        cuda.yield %0 : f32
      }
      return
    }
  }
}

// -----

// f32 is multiplied by multiply-adds, never by matrix units.
// CHECK-LABEL: func.func private @floats
// CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> vector<4xf32>
// CHECK: llvm.intr.fma
// CHECK-NOT: nvvm.mma
module {
  module @ingot_cuda_kernels {
    func.func private @floats(%x: memref<64x16xf32>, %w: memref<32x16xf32>, %y: memref<64x32xf32>) {
      cuda.matmul ins(%x, %w : memref<64x16xf32>, memref<32x16xf32>) outs(%y : memref<64x32xf32>) attributes {schedule =
          #cuda.schedule<rows = 32, columns = 32, warp_rows = 16, warp_columns = 16, depth = 64, stages = 2, src_bytes = 16, weights_bytes = 16, stored = 4>} {
      ^bb0(%sum: f32):
        cuda.yield %sum : f32
      }
      return
    }
  }
}

// -----

// An open depth gives the number of steps, also for the first ones: 16 elements
// each. A copy beyond the depth reads nothing.
// CHECK-LABEL: func.func private @open_depth
// CHECK: %[[K:.*]] = arith.index_cast %sizes#1 : index to i32
// CHECK: %[[MORE:.*]] = arith.addi %[[K]], %c15_i32
// CHECK: %[[STEPS:.*]] = arith.divui %[[MORE]], %c16_i32
// CHECK: %[[HAS_FIRST:.*]] = arith.cmpi ugt, %[[STEPS]], %c0_i32
// CHECK: scf.if %[[HAS_FIRST]]
// CHECK: nvvm.cp.async.shared.global {{.*}}, 4, cache = ca, %
// CHECK: scf.for %{{.*}} = %c0_i32{{[_0-9]*}} to %[[STEPS]]
module {
  module @ingot_cuda_kernels {
    func.func private @open_depth(%x: memref<64x?xf32>, %w: memref<?x?xf32>, %y: memref<64x?xf32>) {
      cuda.matmul ins(%x, %w : memref<64x?xf32>, memref<?x?xf32>) outs(%y : memref<64x?xf32>) attributes {schedule =
          #cuda.schedule<rows = 32, columns = 32, warp_rows = 16, warp_columns = 16, depth = 64, stages = 2, src_bytes = 4, weights_bytes = 4, stored = 1>} {
      ^bb0(%sum: f32):
        cuda.yield %sum : f32
      }
      return
    }
  }
}

// -----

// Pixels outside of src become zeros: a copy of no bytes. Copies of two bytes
// are loads and stores.
// CHECK-LABEL: func.func private @padded
// CHECK: nvvm.cp.async.shared.global {{.*}}, 16, cache = cg, %
// CHECK-LABEL: func.func private @pairs
// CHECK: llvm.load {{.*}} : !llvm.ptr<1> -> i16
// CHECK: llvm.store {{.*}} : i16, !llvm.ptr<3>
module {
  module @ingot_cuda_kernels {
    func.func private @padded(%x: memref<1x8x8x16xf16>, %w: memref<16x144xf16>, %y: memref<1x8x8x16xf32>) {
      cuda.conv ins(%x, %w : memref<1x8x8x16xf16>, memref<16x144xf16>) outs(%y : memref<1x8x8x16xf32>) attributes {
          taps = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, schedule =
          #cuda.schedule<rows = 32, columns = 16, warp_rows = 16, warp_columns = 16, depth = 64, stages = 2, src_bytes = 16, weights_bytes = 16, stored = 4>} {
      ^bb0(%sum: f32):
        cuda.yield %sum : f32
      }
      return
    }
    func.func private @pairs(%x: memref<1x8x8x3xf16>, %w: memref<16x32xf16>, %y: memref<1x6x6x16xf32>) {
      cuda.conv ins(%x, %w : memref<1x8x8x3xf16>, memref<16x32xf16>) outs(%y : memref<1x6x6x16xf32>) attributes {
          taps = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, schedule =
          #cuda.schedule<rows = 32, columns = 16, warp_rows = 16, warp_columns = 16, depth = 64, stages = 2, src_bytes = 2, weights_bytes = 16, stored = 4>} {
      ^bb0(%sum: f32):
        cuda.yield %sum : f32
      }
      return
    }
  }
}

// -----

// A block of a part begins at the first step of the part and stores its sums
// behind those of the parts before. The last part has fewer steps: 9 in parts
// of 3, 3, 3 are even, but 10 in parts of 4, 4, 2 are not.
// CHECK-LABEL: func.func private @even
// CHECK-NOT: arith.minsi
// CHECK: scf.for
// CHECK-LABEL: func.func private @parts
// CHECK: arith.minsi
// CHECK: scf.if
// CHECK: scf.for
// CHECK: llvm.store
module {
  module @ingot_cuda_kernels {
    func.func private @even(%x: memref<64x144xf32>, %w: memref<32x144xf32>, %y: memref<3x64x32xf32>) {
      cuda.matmul ins(%x, %w : memref<64x144xf32>, memref<32x144xf32>) outs(%y : memref<3x64x32xf32>) attributes {parts = 3 : i64, schedule =
          #cuda.schedule<rows = 32, columns = 32, warp_rows = 16, warp_columns = 16, depth = 64, stages = 2, src_bytes = 16, weights_bytes = 16, stored = 4>} {
      ^bb0(%sum: f32):
        cuda.yield %sum : f32
      }
      return
    }
    func.func private @parts(%x: memref<64x160xf32>, %w: memref<32x160xf32>, %y: memref<3x64x32xf32>) {
      cuda.matmul ins(%x, %w : memref<64x160xf32>, memref<32x160xf32>) outs(%y : memref<3x64x32xf32>) attributes {parts = 3 : i64, schedule =
          #cuda.schedule<rows = 32, columns = 32, warp_rows = 16, warp_columns = 16, depth = 64, stages = 2, src_bytes = 16, weights_bytes = 16, stored = 4>} {
      ^bb0(%sum: f32):
        cuda.yield %sum : f32
      }
      return
    }
  }
}
