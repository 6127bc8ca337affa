// RUN: ingot-opt %s --split-input-file --verify-diagnostics

func.func @bad(%x: memref<f32>, %d: memref<i32>) {
  // expected-error @below {{expects src of rank 1 or more, but got 0}}
  cpu.round_blocks ins(%x : memref<f32>) outs(%d : memref<i32>) attributes {block_size = 32 : i64, factor = -8 : i64} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  }
  return
}

// -----

func.func @bad(%x: memref<2x?xf32>, %d: memref<2x20xi32>) {
  // expected-error @below {{expects inner dimension of known size}}
  cpu.round_blocks ins(%x : memref<2x?xf32>) outs(%d : memref<2x20xi32>) attributes {block_size = 32 : i64, factor = -8 : i64} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  }
  return
}

// -----

func.func @bad(%x: memref<2x64xf16>, %d: memref<2x20xi32>) {
  // expected-error @below {{expects src of f32 and dst of i32, but got 'f16' and 'i32'}}
  cpu.round_blocks ins(%x : memref<2x64xf16>) outs(%d : memref<2x20xi32>) attributes {block_size = 32 : i64, factor = -8 : i64} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  }
  return
}

// -----

func.func @bad(%x: memref<2x64xf32>, %d: memref<2x20xi32>) {
  // expected-error @below {{expects a block_size in multiples of 4, but got 30}}
  cpu.round_blocks ins(%x : memref<2x64xf32>) outs(%d : memref<2x20xi32>) attributes {block_size = 30 : i64, factor = -8 : i64} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  }
  return
}

// -----

func.func @bad(%x: memref<2x64xf32>, %d: memref<3x20xi32>) {
  // expected-error @below {{expects dst dimension 0 of size 2, but got 3}}
  cpu.round_blocks ins(%x : memref<2x64xf32>) outs(%d : memref<3x20xi32>) attributes {block_size = 32 : i64, factor = -8 : i64} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  }
  return
}

// -----

func.func @bad(%x: memref<2x65xf32>, %d: memref<2x20xi32>) {
  // expected-error @below {{expects words of a row of size 30, but got 20}}
  cpu.round_blocks ins(%x : memref<2x65xf32>) outs(%d : memref<2x20xi32>) attributes {block_size = 32 : i64, factor = -8 : i64} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  }
  return
}

// -----

func.func @bad(%x: memref<2x64xf32>, %d: memref<2x20xi32>) {
  // expected-error @below {{expects an epilogue that yields its argument}}
  cpu.round_blocks ins(%x : memref<2x64xf32>) outs(%d : memref<2x20xi32>) attributes {block_size = 32 : i64, factor = -8 : i64} {
  ^bb0(%word: i32):
    %0 = arith.addi %word, %word : i32
    cpu.yield %0 : i32
  }
  return
}

// -----

func.func @bad(%x: memref<2x64xf32>, %d: memref<2x20xi32>) {
  // expected-error @below {{expects a schedule without tile}}
  cpu.round_blocks ins(%x : memref<2x64xf32>) outs(%d : memref<2x20xi32>) attributes {block_size = 32 : i64, factor = -8 : i64, schedule = #cpu.schedule<tile = <1x8>, grid = <1x1>>} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  }
  return
}
