// RUN: ingot-opt --pass-pipeline="builtin.module(builtin.module(cuda-attention-to-nvvm))" --split-input-file %s | FileCheck %s

// f16 is multiplied by matrix units. The scores stay in registers: no store to
// shared memory, and matrices of values are transposed by the load.
// CHECK: llvm.mlir.global external @ingot_cuda_shared() {addr_space = 3 : i32, alignment = 16 : i64}
// CHECK-LABEL: func.func private @halves
// CHECK: nvvm.cp.async.shared.global {{.*}}, 16, cache = cg
// CHECK: nvvm.cp.async.commit.group
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: nvvm.barrier
// CHECK: nvvm.ldmatrix {{.*}} layout = {{.*}}row
// CHECK: nvvm.mma.sync
// CHECK: nvvm.shfl.sync bfly
// CHECK: math.exp
// CHECK-NOT: llvm.store
// CHECK: nvvm.ldmatrix {{.*}} layout = {{.*}}col
// CHECK: nvvm.mma.sync
// CHECK: scf.yield
// CHECK: llvm.fdiv
// CHECK: llvm.store {{.*}}alignment = 8 : i64{{.*}} : vector<2xf32>, !llvm.ptr<1>
#tile = #cuda.attention_schedule<rows = 32, keys = 16, stages = 2, src_bytes = 16, keys_bytes = 16, values_bytes = 16, stored = 2>
module {
  module @ingot_cuda_kernels {
    func.func private @halves(%q: memref<1x32x2x16xf16>, %k: memref<1x64x2x16xf16>, %y: memref<1x32x2x16xf32>) {
      cuda.attention ins(%q, %k, %k : memref<1x32x2x16xf16>, memref<1x64x2x16xf16>, memref<1x64x2x16xf16>)
          outs(%y : memref<1x32x2x16xf32>) attributes {scale = 1.25e-1 : f32, schedule = #tile} {
      ^bb0(%sum: f32):
        cuda.yield %sum : f32
      }
      return
    }
  }
}

// -----

// f32 is multiplied by multiply-adds. Lanes exchange probabilities through
// shared memory. Keys behind the last one have no weight, and queries behind
// the last one are not stored.
// CHECK-LABEL: func.func private @floats
// CHECK-NOT: nvvm.mma
// CHECK: nvvm.cp.async.shared.global {{.*}}, 16, cache = cg, %
// CHECK: llvm.intr.fma
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK: math.exp
// CHECK: llvm.store {{.*}} : f32, !llvm.ptr<3>
// CHECK: nvvm.bar.warp.sync
// CHECK: scf.if
// CHECK: llvm.store {{.*}} : f32, !llvm.ptr<1>
#tile = #cuda.attention_schedule<rows = 32, keys = 16, stages = 2, src_bytes = 16, keys_bytes = 16, values_bytes = 16, stored = 1>
module {
  module @ingot_cuda_kernels {
    func.func private @floats(%q: memref<1x30x2x16xf32>, %k: memref<1x60x2x16xf32>, %m: memref<1x1x60x1xf32>, %y: memref<1x30x2x16xf32>) {
      cuda.attention ins(%q, %k, %k : memref<1x30x2x16xf32>, memref<1x60x2x16xf32>, memref<1x60x2x16xf32>)
          mask(%m : memref<1x1x60x1xf32>)
          outs(%y : memref<1x30x2x16xf32>) attributes {safe, scale = 1.25e-1 : f32, schedule = #tile} {
      ^bb0(%sum: f32):
        cuda.yield %sum : f32
      }
      return
    }
  }
}
