// RUN: ingot-opt --cuda-schedule-rows --split-input-file %s | FileCheck %s
// RUN: ingot-opt --cuda-schedule-rows=seed=7 --split-input-file %s -o %t.drawn
// RUN: ingot-opt --cuda-schedule-rows=seed=7 --split-input-file %s | diff - %t.drawn
// RUN: ingot-opt --cuda-schedule-rows --split-input-file --remarks-filter-analyse=decision %s 2>&1 >/dev/null | FileCheck %s --check-prefix=DECISION

// A warp holds a row. Many rows share a block, few rows have blocks of their
// own.
// CHECK-LABEL: @warp
// CHECK: schedule = #cuda.row_schedule<threads = 32, rows = 8, vector = 8, held = 3>
// CHECK: schedule = #cuda.row_schedule<threads = 32, rows = 1, vector = 8, held = 3>
func.func @warp(%x: memref<4096x768xf16>, %y: memref<4096x768xf16>, %z: memref<128x768xf16>, %w: memref<128x768xf16>) {
  cuda.softmax ins(%x : memref<4096x768xf16>) outs(%y : memref<4096x768xf16>) {
  ^bb0(%p: f32):
    %0 = arith.truncf %p : f32 to f16
    cuda.yield %0 : f16
  }
  cuda.softmax ins(%z : memref<128x768xf16>) outs(%w : memref<128x768xf16>) {
  ^bb0(%p: f32):
    %0 = arith.truncf %p : f32 to f16
    cuda.yield %0 : f16
  }
  return
}

// -----

// Few lanes take a short row, and a block a long one. The widest type decides
// the width of accesses.
// CHECK-LABEL: @lengths
// CHECK: schedule = #cuda.row_schedule<threads = 4, rows = 64, vector = 4, held = 1>
// CHECK: schedule = #cuda.row_schedule<threads = 256, rows = 1, vector = 4, held = 8>
func.func @lengths(%x: memref<100000x12xf32>, %y: memref<100000x12xf32>, %z: memref<64x8192xf16>, %w: memref<64x8192xf32>) {
  cuda.row_norm ins(%x : memref<100000x12xf32>) outs(%y : memref<100000x12xf32>) attributes {epsilon = 1.0e-5 : f32} {
  ^bb0(%n: f32):
    cuda.yield %n : f32
  }
  cuda.row_norm ins(%z : memref<64x8192xf16>) outs(%w : memref<64x8192xf32>) attributes {epsilon = 1.0e-5 : f32, rms} {
  ^bb0(%n: f32):
    cuda.yield %n : f32
  }
  return
}

// -----

// A longer row is read again in each step. Odd strides and offsets, of epilogue
// operands too, take narrow accesses.
// CHECK-LABEL: @narrow
// CHECK: schedule = #cuda.row_schedule<threads = 1024, rows = 1, vector = 4, held = 0>
// CHECK: schedule = #cuda.row_schedule<threads = 32, rows = 1, vector = 2, held = 2>
// CHECK: schedule = #cuda.row_schedule<threads = 32, rows = 1, vector = 1, held = 4>
func.func @narrow(%x: memref<2x40000xf32>, %y: memref<2x40000xf32>, %z: memref<2x128xf32, strided<[130, 1]>>, %w: memref<2x128xf32>,
                  %s: memref<1x128xf32, strided<[128, 1], offset: 1>>) {
  cuda.softmax ins(%x : memref<2x40000xf32>) outs(%y : memref<2x40000xf32>) {
  ^bb0(%p: f32):
    cuda.yield %p : f32
  }
  cuda.softmax ins(%z : memref<2x128xf32, strided<[130, 1]>>) outs(%w : memref<2x128xf32>) {
  ^bb0(%p: f32):
    cuda.yield %p : f32
  }
  cuda.softmax ins(%w : memref<2x128xf32>) operands(%s : memref<1x128xf32, strided<[128, 1], offset: 1>>) outs(%w : memref<2x128xf32>) {
  ^bb0(%p: f32, %a: f32):
    %0 = arith.mulf %p, %a : f32
    cuda.yield %0 : f32
  }
  return
}

// -----

// A vector stays within the channels of a group.
// CHECK-LABEL: @group
// CHECK: schedule = #cuda.row_schedule<threads = 64, rows = 2, vector = 2, held = 16>
func.func @group(%x: memref<8x196x320xf16>, %y: memref<8x196x320xf16>) {
  cuda.group_norm ins(%x : memref<8x196x320xf16>) outs(%y : memref<8x196x320xf16>) attributes {epsilon = 1.0e-5 : f32, groups = 32 : i64} {
  ^bb0(%n: f32):
    %0 = arith.truncf %n : f32 to f16
    cuda.yield %0 : f16
  }
  return
}

// -----

// Columns. One thread takes a small window, and as many pixels fill the GPU.
// Several threads share a column if there are few columns, or if one cannot hold
// it. A block has neighbors for whole cache lines.
// DECISION: cuda.pool {{.*}}#ingot.decision<schedule, "1x256", [<"1x256", cycles = {{[0-9]+}}>, <"2x128", {{.*}}], "has 401408 rows of 9 vectors">
// CHECK-LABEL: @columns
// CHECK: cuda.pool {{.*}}schedule = #cuda.row_schedule<threads = 1, rows = 256, vector = 4, held = 9>
// CHECK: cuda.reduce {{.*}}schedule = #cuda.row_schedule<threads = 8, rows = 8, vector = 8, held = 7>
// CHECK: cuda.softmax {{.*}}schedule = #cuda.row_schedule<threads = 32, rows = 8, vector = 4, held = 16>
// CHECK: cuda.group_norm {{.*}}schedule = #cuda.row_schedule<threads = 128, rows = 8, vector = 4, held = 0>
func.func @columns(%x: memref<8x112x112x64xf32>, %y: memref<8x56x56x64xf32>, %z: memref<1x49x2048xf16>, %w: memref<1x2048xf16>,
                   %s: memref<4x512x64xf32>, %n: memref<1x16384x64xf32>) {
  cuda.pool max ins(%x : memref<8x112x112x64xf32>) outs(%y : memref<8x56x56x64xf32>)
      attributes {taps = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 0, 0>, dilations = array<i64: 1, 1>} {
  ^bb0(%max: f32):
    cuda.yield %max : f32
  }
  cuda.reduce mean ins(%z : memref<1x49x2048xf16>) outs(%w : memref<1x2048xf16>) {
  ^bb0(%mean: f32):
    %0 = arith.truncf %mean : f32 to f16
    cuda.yield %0 : f16
  }
  cuda.softmax ins(%s : memref<4x512x64xf32>) outs(%s : memref<4x512x64xf32>) attributes {columns} {
  ^bb0(%p: f32):
    cuda.yield %p : f32
  }
  cuda.group_norm ins(%n : memref<1x16384x64xf32>) outs(%n : memref<1x16384x64xf32>) attributes {epsilon = 1.0e-5 : f32, groups = 64 : i64} {
  ^bb0(%p: f32):
    cuda.yield %p : f32
  }
  return
}

// -----

// A column of open length is not held, and open pixels count as usual ones.
// DECISION: cuda.reduce {{.*}} "has open rows of open length">
// CHECK-LABEL: @open_columns
// CHECK: schedule = #cuda.row_schedule<threads = {{[0-9]+}}, rows = {{[0-9]+}}, vector = 4, held = 0>
func.func @open_columns(%x: memref<?x?x20xf32>, %y: memref<?x20xf32>) {
  cuda.reduce mean ins(%x : memref<?x?x20xf32>) outs(%y : memref<?x20xf32>) {
  ^bb0(%mean: f32):
    cuda.yield %mean : f32
  }
  return
}

// -----

// A schedule that is there stays, and tensors get none.
// CHECK-LABEL: @given
// CHECK: threads = 64
// CHECK-LABEL: @tensors
// CHECK-NOT: cuda.row_schedule
func.func @given(%x: memref<4x100xf32>) {
  cuda.softmax ins(%x : memref<4x100xf32>) outs(%x : memref<4x100xf32>)
      attributes {schedule = #cuda.row_schedule<threads = 64, rows = 1, vector = 1, held = 2>} {
  ^bb0(%p: f32):
    cuda.yield %p : f32
  }
  return
}
func.func @tensors(%x: tensor<4x100xf32>, %d: tensor<4x100xf32>) -> tensor<4x100xf32> {
  %0 = cuda.softmax ins(%x : tensor<4x100xf32>) outs(%d : tensor<4x100xf32>) {
  ^bb0(%p: f32):
    cuda.yield %p : f32
  } -> tensor<4x100xf32>
  return %0 : tensor<4x100xf32>
}

// -----

// A thread of a resampling computes a vector of channels, by accesses of 16
// bytes of the widest type. Without channels, or with an odd number of them, it
// computes one element.
// CHECK-LABEL: @resample
// CHECK: schedule = #cuda.row_schedule<threads = 1, rows = 256, vector = 8, held = 0>
// CHECK: schedule = #cuda.row_schedule<threads = 1, rows = 256, vector = 4, held = 0>
// CHECK: schedule = #cuda.row_schedule<threads = 1, rows = 256, vector = 1, held = 0>
// CHECK: schedule = #cuda.row_schedule<threads = 1, rows = 256, vector = 1, held = 0>
// DECISION: #ingot.decision<schedule, "vectors of 8", [<"vectors of 8", cycles = {{[0-9]+}}>, <"vectors of 4"{{.*}}], "has 2 taps for an element">
func.func @resample(%p: memref<2x512xi32>, %w: memref<2x512xf32>, %a: memref<64x256x512xf16>, %b: memref<64x512x512xf16>,
                    %c: memref<64x512x512xf32>, %d: memref<64x256x3xf32>, %e: memref<64x512x3xf32>, %f: memref<64x256xf32>,
                    %g: memref<64x512xf32>) {
  cuda.resample ins(%a : memref<64x256x512xf16>) positions(%p : memref<2x512xi32>) weights(%w : memref<2x512xf32>)
      outs(%b : memref<64x512x512xf16>) attributes {first = 1 : i64} {
  ^bb0(%s: f32):
    %0 = arith.truncf %s : f32 to f16
    cuda.yield %0 : f16
  }
  cuda.resample ins(%a : memref<64x256x512xf16>) positions(%p : memref<2x512xi32>) weights(%w : memref<2x512xf32>)
      outs(%c : memref<64x512x512xf32>) attributes {first = 1 : i64} {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  }
  cuda.resample ins(%d : memref<64x256x3xf32>) positions(%p : memref<2x512xi32>) weights(%w : memref<2x512xf32>)
      outs(%e : memref<64x512x3xf32>) attributes {first = 1 : i64} {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  }
  cuda.resample ins(%f : memref<64x256xf32>) positions(%p : memref<2x512xi32>) weights(%w : memref<2x512xf32>)
      outs(%g : memref<64x512xf32>) attributes {first = 1 : i64} {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  }
  return
}
