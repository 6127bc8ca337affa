// RUN: ingot-opt --cuda-outline-products --split-input-file %s | FileCheck %s

#tile = #cuda.schedule<rows = 32, columns = 32, warp_rows = 16, warp_columns = 16, depth = 64, stages = 4, src_bytes = 16, weights_bytes = 16, stored = 4>

// Two equal products are one kernel. A block is a tile of 32 rows and columns:
// 2 x 3 of them.
// CHECK-LABEL: func.func @equal
// CHECK: %[[BLOCKS:.*]] = arith.constant 6 : index
// CHECK: cuda.launch @ingot_cuda_kernels::@matmul_0(%arg0, %arg1, %arg2) blocks(%[[BLOCKS]]) writes 1
// CHECK: cuda.launch @ingot_cuda_kernels::@matmul_0(%arg3, %arg1, %arg2)
// CHECK-NOT: cuda.matmul
// CHECK: module @ingot_cuda_kernels
// CHECK: func.func private @matmul_0
// CHECK-SAME: cuda.block = #cuda.block<threads = 128, shared = 16384>
// CHECK: cuda.matmul
// CHECK-NOT: @matmul_1
func.func @equal(%x: memref<40x16xf32>, %w: memref<80x16xf32>, %y: memref<40x80xf32>, %z: memref<40x16xf32>) {
  cuda.matmul ins(%x, %w : memref<40x16xf32>, memref<80x16xf32>) outs(%y : memref<40x80xf32>) attributes {schedule = #tile} {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  }
  cuda.matmul ins(%z, %w : memref<40x16xf32>, memref<80x16xf32>) outs(%y : memref<40x80xf32>) attributes {schedule = #tile} {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  }
  return
}

// -----

#tile = #cuda.schedule<rows = 32, columns = 32, warp_rows = 16, warp_columns = 16, depth = 64, stages = 4, src_bytes = 16, weights_bytes = 16, stored = 4>

// Each batch has its blocks. A constant of the epilogue moves with it.
// CHECK-LABEL: func.func @batches
// CHECK: %[[BLOCKS:.*]] = arith.constant 3 : index
// CHECK: blocks(%[[BLOCKS]])
// CHECK: cuda.matmul
// CHECK: %[[ZERO:.*]] = arith.constant 0.0
// CHECK: arith.maximumf %{{.*}}, %[[ZERO]]
func.func @batches(%x: memref<3x8x16xf32>, %w: memref<3x8x16xf32>, %y: memref<3x8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  cuda.matmul ins(%x, %w : memref<3x8x16xf32>, memref<3x8x16xf32>) outs(%y : memref<3x8x8xf32>) attributes {schedule = #tile} {
  ^bb0(%sum: f32):
    %0 = arith.maximumf %sum, %zero : f32
    cuda.yield %0 : f32
  }
  return
}

// -----

#tile = #cuda.attention_schedule<rows = 32, keys = 16, stages = 2, src_bytes = 16, keys_bytes = 16, values_bytes = 16, stored = 2>

// An attention has a block for each 32 queries of a head: 2 x 3 x 2.
// CHECK-LABEL: func.func @attention
// CHECK: %[[BLOCKS:.*]] = arith.constant 12 : index
// CHECK: cuda.launch @ingot_cuda_kernels::@attention_0(%arg0, %arg0, %arg0, %arg1) blocks(%[[BLOCKS]]) writes 1
// CHECK: cuda.block = #cuda.block<threads = 64, shared = 4608>
func.func @attention(%q: memref<2x40x3x16xf16>, %y: memref<2x40x3x16xf32>) {
  cuda.attention ins(%q, %q, %q : memref<2x40x3x16xf16>, memref<2x40x3x16xf16>, memref<2x40x3x16xf16>)
      outs(%y : memref<2x40x3x16xf32>) attributes {scale = 1.25e-1 : f32, schedule = #tile} {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  }
  return
}

// -----

#tile = #cuda.schedule<rows = 32, columns = 32, warp_rows = 16, warp_columns = 16, depth = 64, stages = 4, src_bytes = 16, weights_bytes = 16, stored = 4>

// Host code counts the blocks of open rows, three across. A kernel counts
// elements with 32 bits, so the run ends if there are more.
// CHECK-LABEL: func.func @open
// CHECK: %[[N:.*]] = memref.dim %arg0
// CHECK: %[[ELEMENTS:.*]] = arith.muli %[[N]], %c16
// CHECK: %[[FITS:.*]] = arith.cmpi ule, %[[ELEMENTS]], %c1073741824
// CHECK: ingot.require %[[FITS]], "kernels of GPUs take tensors of up to {1} elements, but one has {0}"(%[[ELEMENTS]], %{{.*}})
// CHECK: ingot.require
// CHECK: %[[ROWS:.*]] = memref.dim %arg2
// CHECK: %[[UNITS:.*]] = arith.muli %[[ROWS]], %c1
// CHECK: %[[MORE:.*]] = arith.addi %[[UNITS]], %c31
// CHECK: %[[PARTS:.*]] = arith.divui %[[MORE]], %c32
// CHECK: %[[BATCHES:.*]] = arith.muli %[[PARTS]], %c1
// CHECK: %[[BLOCKS:.*]] = arith.muli %[[BATCHES]], %c3
// CHECK: cuda.launch @ingot_cuda_kernels::@matmul_0(%arg0, %arg1, %arg2) blocks(%[[BLOCKS]])
func.func @open(%x: memref<?x16xf32>, %w: memref<80x16xf32>, %y: memref<?x80xf32>) {
  cuda.matmul ins(%x, %w : memref<?x16xf32>, memref<80x16xf32>) outs(%y : memref<?x80xf32>) attributes {schedule = #tile} {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  }
  return
}

// -----

#tile = #cuda.schedule<rows = 32, columns = 64, warp_rows = 16, warp_columns = 16, depth = 64, stages = 4, src_bytes = 4, weights_bytes = 4, stored = 1>

// Open columns are parts of 64, besides two parts of the known rows.
// CHECK-LABEL: func.func @columns
// CHECK: %[[ROWS:.*]] = arith.divui %{{.*}}, %c32
// CHECK: %[[BATCHES:.*]] = arith.muli %[[ROWS]], %c1
// CHECK: %[[N:.*]] = memref.dim %arg2, %c1
// CHECK: %[[MORE:.*]] = arith.addi %[[N]], %c63
// CHECK: %[[PARTS:.*]] = arith.divui %[[MORE]], %c64
// CHECK: %[[BOTH:.*]] = arith.muli %[[BATCHES]], %[[PARTS]]
// CHECK: %[[BLOCKS:.*]] = arith.muli %[[BOTH]], %c1
// CHECK: cuda.launch @ingot_cuda_kernels::@matmul_0(%arg0, %arg1, %arg2) blocks(%[[BLOCKS]])
func.func @columns(%x: memref<40x?xf32>, %w: memref<?x?xf32>, %y: memref<40x?xf32>) {
  cuda.matmul ins(%x, %w : memref<40x?xf32>, memref<?x?xf32>) outs(%y : memref<40x?xf32>) attributes {schedule = #tile} {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  }
  return
}

// -----

#row = #cuda.row_schedule<threads = 8, rows = 32, vector = 4, held = 2>

// A pixel has two vectors of channels, and a block has 32 vectors: 7 x 2 / 32
// blocks. Threads exchange four sums each through shared memory. Open pixels are
// counted by host code.
// CHECK-LABEL: func.func @pool
// CHECK: %[[BLOCKS:.*]] = arith.constant 1 : index
// CHECK: cuda.launch @ingot_cuda_kernels::@pool_0(%arg0, %arg1) blocks(%[[BLOCKS]]) writes 1
// CHECK: memref.dim %arg3
// CHECK: arith.muli %{{.*}}, %c2
// CHECK: cuda.launch @ingot_cuda_kernels::@reduce_1(%arg2, %arg3)
// CHECK: cuda.block = #cuda.block<threads = 256, shared = 4096>
func.func @pool(%x: memref<1x9x8xf32>, %y: memref<1x7x8xf32>, %z: memref<?x16x8xf32>, %w: memref<?x8xf32>) {
  cuda.pool max ins(%x : memref<1x9x8xf32>) outs(%y : memref<1x7x8xf32>)
      attributes {taps = array<i64: 3>, strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, schedule = #row} {
  ^bb0(%max: f32):
    cuda.yield %max : f32
  }
  cuda.reduce max ins(%z : memref<?x16x8xf32>) outs(%w : memref<?x8xf32>) attributes {schedule = #row} {
  ^bb0(%max: f32):
    cuda.yield %max : f32
  }
  return
}

// -----

// A thread of a resampling has a vector of channels: 3 * 40 * 8 of them, for
// blocks of 64 threads.
// CHECK-LABEL: func.func @resample
// CHECK: %[[BLOCKS:.*]] = arith.constant 15 : index
// CHECK: cuda.launch @ingot_cuda_kernels::@resample_0(%arg0, %arg1, %arg2) blocks(%[[BLOCKS]]) writes 1
// CHECK: func.func private @resample_0
// CHECK-SAME: cuda.block = #cuda.block<threads = 64>
func.func @resample(%x: memref<3x20x32xf32>, %p: memref<1x40xi32>, %y: memref<3x40x32xf32>) {
  cuda.resample ins(%x : memref<3x20x32xf32>) positions(%p : memref<1x40xi32>) outs(%y : memref<3x40x32xf32>)
      attributes {first = 1 : i64, schedule = #cuda.row_schedule<threads = 1, rows = 64, vector = 4, held = 0>} {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  }
  return
}
