// RUN: ingot-opt --cuda-schedule-products --split-input-file %s | FileCheck %s
// RUN: ingot-opt --cuda-schedule-products=seed=7 --split-input-file %s -o %t.drawn
// RUN: ingot-opt --cuda-schedule-products=seed=7 --split-input-file %s | diff - %t.drawn

// A large product has large tiles. Contiguous rows are copied and stored 16
// bytes at a time.
// CHECK-LABEL: @large
// CHECK: #cuda.schedule<rows = 128, columns = 128,
// CHECK-SAME: src_bytes = 16, weights_bytes = 16, stored = 4>
func.func @large(%x: memref<8192x512xf16>, %w: memref<4096x512xf16>, %y: memref<8192x4096xf32>) {
  cuda.matmul ins(%x, %w : memref<8192x512xf16>, memref<4096x512xf16>) outs(%y : memref<8192x4096xf32>) {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  }
  return
}

// -----

// A small product has small tiles, so that more multiprocessors work.
// CHECK-LABEL: @small
// CHECK: #cuda.schedule<rows = 16, columns = 32,
func.func @small(%x: memref<16x512xf16>, %w: memref<256x512xf16>, %y: memref<16x256xf32>) {
  cuda.matmul ins(%x, %w : memref<16x512xf16>, memref<256x512xf16>) outs(%y : memref<16x256xf32>) {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  }
  return
}

// -----

// Three channels of f16 are copied one by one. Ten columns are stored in pairs,
// whatever the type would allow.
// CHECK-LABEL: @narrow
// CHECK: src_bytes = 2, weights_bytes = 16, stored = 2>
func.func @narrow(%x: memref<1x9x9x3xf16>, %w: memref<10x32xf16>, %y: memref<1x7x7x10xf16>) {
  cuda.conv ins(%x, %w : memref<1x9x9x3xf16>, memref<10x32xf16>) outs(%y : memref<1x7x7x10xf16>)
      attributes {taps = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    %0 = arith.truncf %sum : f32 to f16
    cuda.yield %0 : f16
  }
  return
}

// -----

// A part of a buffer that begins at an odd element is not aligned. Nor is one
// whose place only a run knows.
// CHECK-LABEL: @parts
// CHECK: src_bytes = 4, weights_bytes = 16, stored = 1>
func.func @parts(%x: memref<32x8xf32, strided<[24, 1], offset: 3>>, %w: memref<8x8xf32>, %y: memref<32x8xf32, strided<[16, 1], offset: ?>>) {
  cuda.matmul ins(%x, %w : memref<32x8xf32, strided<[24, 1], offset: 3>>, memref<8x8xf32>) outs(%y : memref<32x8xf32, strided<[16, 1], offset: ?>>) {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  }
  return
}

// -----

// An operand of the epilogue with gaps limits the store. A given schedule stays.
// CHECK-LABEL: @operands
// CHECK: stored = 1>
// CHECK: #cuda.schedule<rows = 32, columns = 16, warp_rows = 16, warp_columns = 16, depth = 128, stages = 2, src_bytes = 4, weights_bytes = 8, stored = 2>
func.func @operands(%x: memref<32x8xf32>, %w: memref<8x8xf32>, %o: memref<32x8xf32, strided<[9, 1]>>, %y: memref<32x8xf32>) {
  cuda.matmul ins(%x, %w : memref<32x8xf32>, memref<8x8xf32>) operands(%o : memref<32x8xf32, strided<[9, 1]>>) outs(%y : memref<32x8xf32>) {
  ^bb0(%sum: f32, %other: f32):
    %0 = arith.addf %sum, %other : f32
    cuda.yield %0 : f32
  }
  cuda.matmul ins(%x, %w : memref<32x8xf32>, memref<8x8xf32>) outs(%y : memref<32x8xf32>) attributes {schedule =
      #cuda.schedule<rows = 32, columns = 16, warp_rows = 16, warp_columns = 16, depth = 128, stages = 2, src_bytes = 4, weights_bytes = 8, stored = 2>} {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  }
  return
}

// -----

// Rows may be open. The strides of a contiguous buffer are multiples of the
// known sizes behind them, so copies of pieces of 16 bytes are aligned. Strides
// that only a run knows may be odd.
// CHECK-LABEL: @open
// CHECK: src_bytes = 16, weights_bytes = 16, stored = 4>
// CHECK: src_bytes = 4, weights_bytes = 16, stored = 1>
func.func @open(%x: memref<?x?x8xf32>, %w: memref<8x8xf32>, %y: memref<?x?x8xf32>, %a: memref<?x8xf32, strided<[?, 1]>>, %b: memref<?x8xf32, strided<[?, 1]>>) {
  cuda.matmul ins(%x, %w : memref<?x?x8xf32>, memref<8x8xf32>) outs(%y : memref<?x?x8xf32>) {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  }
  cuda.matmul ins(%a, %w : memref<?x8xf32, strided<[?, 1]>>, memref<8x8xf32>) outs(%b : memref<?x8xf32, strided<[?, 1]>>) {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  }
  return
}

// -----

// Columns and the depth may be open, too. Their rows may begin at any element.
// CHECK-LABEL: @all_open
// CHECK: src_bytes = 4, weights_bytes = 4, stored = 1>
func.func @all_open(%x: memref<?x?xf32>, %w: memref<?x?xf32>, %y: memref<?x?xf32>) {
  cuda.matmul ins(%x, %w : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  }
  return
}
