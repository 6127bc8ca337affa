// RUN: ingot-opt %s --cpu-schedule --cpu-conv-to-vector --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

// 42 pixels are three tiles of 14. The left tile lacks the first tap of its
// first pixel, the right one the last tap of its last pixel. These two go tap
// by tap, and the first tap has 13 pixels. The tile in between is a single loop
// over taps times channels. 40 columns are a tile of two vectors, and a masked
// one of half a vector.
// CHECK-LABEL: func.func private @v4
// CHECK: scf.for
// CHECK: scf.for
// Left tile: taps of the rows, then the taps of a row.
// CHECK: %{{.*}}:28 = scf.for
// CHECK: %{{.*}}:26 = scf.for %{{.*}} = %c0 to %c4 step
// CHECK: vector.fma {{.*}} : vector<16xf32>
// CHECK: %{{.*}}:28 = scf.for %{{.*}} = %c0 to %c4 step
// CHECK: %{{.*}}:28 = scf.for %{{.*}} = %c0 to %c4 step
// The epilogue, on vectors, for each accumulator.
// CHECK-COUNT-28: arith.maximumf {{.*}} : vector<16xf32>
// Inner tile.
// CHECK: %{{.*}}:28 = scf.for
// CHECK-NEXT: arith
// CHECK: %{{.*}}:28 = scf.for %{{.*}} = %c0 to %c12 step
// CHECK-COUNT-2: vector.load {{.*}} vector<16xf32>
// CHECK: memref.load
// CHECK-NEXT: vector.broadcast {{.*}} : f32 to vector<16xf32>
// CHECK-NEXT: vector.fma
// CHECK-NEXT: vector.fma
// CHECK-NOT: scf.for
// CHECK: vector.store {{.*}} vector<16xf32>
// Right tile.
// CHECK: %{{.*}}:28 = scf.for
// CHECK: %{{.*}}:28 = scf.for %{{.*}} = %c0 to %c4 step
// CHECK: %{{.*}}:28 = scf.for %{{.*}} = %c0 to %c4 step
// CHECK: %{{.*}}:26 = scf.for %{{.*}} = %c0 to %c4 step
// CHECK-NOT: vector.maskedstore
// The last columns: one vector per pixel, of which 8 elements are stored.
// CHECK: scf.if
// CHECK: %{{.*}}:14 = scf.for
// CHECK: %{{.*}}:13 = scf.for %{{.*}} = %c0 to %c4 step
// CHECK: vector.maskedload
// CHECK: vector.maskedstore
// CHECK: %{{.*}}:14 = scf.for %{{.*}} = %c0 to %c12 step
// CHECK-NOT: vector.store
// CHECK-NOT: cpu.
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @v4(%x: memref<1x8x42x4xf32>, %w: memref<2x3x3x4x32xf32>, %b: memref<1x1x1x40xf32>, %d: memref<1x8x42x40xf32>, %task: index) {
    cpu.conv ins(%x, %w : memref<1x8x42x4xf32>, memref<2x3x3x4x32xf32>) operands(%b : memref<1x1x1x40xf32>) outs(%d : memref<1x8x42x40xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
    ^bb0(%sum: f32, %bias: f32):
      %zero = arith.constant 0.0 : f32
      %0 = arith.addf %sum, %bias : f32
      %1 = arith.maximumf %0, %zero : f32
      cpu.yield %1 : f32
    }
    return
  }
}

// -----

// 16 registers of 8 elements: six pixels times two vectors.
// CHECK-LABEL: func.func private @v3
// CHECK: %{{.*}}:12 = scf.for
// CHECK: vector.fma {{.*}} : vector<8xf32>
// CHECK: %{{.*}}:12 = scf.for %{{.*}} = %c0 to %c12 step
// CHECK-NOT: vector<16xf32>
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @v3(%x: memref<1x8x18x4xf32>, %w: memref<1x3x3x4x32xf32>, %d: memref<1x8x18x32xf32>, %task: index) {
    cpu.conv ins(%x, %w : memref<1x8x18x4xf32>, memref<1x3x3x4x32xf32>) outs(%d : memref<1x8x18x32xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Without fused multiply-add.
// CHECK-LABEL: func.func private @v2
// CHECK-NOT: vector.fma
// CHECK: arith.mulf {{.*}} : vector<4xf32>
// CHECK-NEXT: arith.addf {{.*}} : vector<4xf32>
// CHECK-NOT: vector.fma
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v2">} {
  func.func private @v2(%x: memref<1x8x4xf32>, %w: memref<1x3x4x16xf32>, %d: memref<1x6x16xf32>, %task: index) {
    cpu.conv ins(%x, %w : memref<1x8x4xf32>, memref<1x3x4x16xf32>) outs(%d : memref<1x6x16xf32>)
        attributes {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// A dilated row is not contiguous, so it goes tap by tap. So does a row of one
// group's channels.
// CHECK-LABEL: func.func private @dilated
// CHECK-COUNT-3: scf.for %{{.*}} = %c0 to %c4 step
// CHECK-NOT: to %c12
// CHECK-LABEL: func.func private @grouped
// CHECK-COUNT-3: scf.for %{{.*}} = %c0 to %c4 step
// CHECK-NOT: to %c12
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @dilated(%x: memref<1x18x4xf32>, %w: memref<1x3x4x32xf32>, %d: memref<1x14x32xf32>, %task: index) {
    cpu.conv ins(%x, %w : memref<1x18x4xf32>, memref<1x3x4x32xf32>) outs(%d : memref<1x14x32xf32>)
        attributes {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 2>, groups = 1 : i64} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
  func.func private @grouped(%x: memref<1x16x8xf32>, %w: memref<2x3x4x32xf32>, %d: memref<1x14x64xf32>, %task: index) {
    cpu.conv ins(%x, %w : memref<1x16x8xf32>, memref<2x3x4x32xf32>) outs(%d : memref<1x14x64xf32>)
        attributes {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 2 : i64} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Taps of outer dimensions have bounds only on a side with padding. Here that
// is above, so the end of the loop is the kernel's.
// CHECK-LABEL: func.func private @outer
// CHECK: %[[BEGIN:.*]] = arith.maxsi
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %c3 step
// CHECK: return
func.func private @outer(%x: memref<1x8x4x4xf32>, %w: memref<1x3x1x4x16xf32>, %d: memref<1x7x4x16xf32>, %task: index) {
  cpu.conv ins(%x, %w : memref<1x8x4x4xf32>, memref<1x3x1x4x16xf32>) outs(%d : memref<1x7x4x16xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

// A long epilogue is a loop over the tile's pixels, and the sums wait in
// memory. Four vectors go through it together, each step of all before the
// next.
// CHECK-LABEL: func.func private @long_epilogue
// CHECK: %[[A:.*]] = memref.alloca() {alignment = 64 : i64} : memref<448xf32>
// CHECK-COUNT-28: vector.store %{{.*}}, %[[A]]
// CHECK: scf.for %{{.*}} = %c0 to %c14 step %c2
// CHECK-COUNT-4: vector.load %[[A]]
// CHECK-NOT: vector.load %[[A]]
// CHECK-COUNT-4: math.exp
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @long_epilogue(%x: memref<1x14x4xf32>, %w: memref<1x1x4x32xf32>, %d: memref<1x14x32xf32>, %task: index) {
    cpu.conv ins(%x, %w : memref<1x14x4xf32>, memref<1x1x4x32xf32>) outs(%d : memref<1x14x32xf32>)
        attributes {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64} {
    ^bb0(%sum: f32):
      %0 = math.exp %sum : f32
      cpu.yield %0 : f32
    }
    return
  }
}

// -----

// Must not fire.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: arith.addf
// CHECK-NEXT: return
func.func @none(%x: f32) -> f32 {
  %0 = arith.addf %x, %x : f32
  return %0 : f32
}

// -----

// Rows of 7 pixels, 160 channels. The weights of blocks of 128 and of 32
// channels are multiplied by all rows of a task. The sums wait on the stack: 4
// rows of 7 pixels of 32 columns.
// CHECK-LABEL: func.func private @blocks
// CHECK: %[[WAITING:.*]] = memref.alloca() {alignment = 64 : i64} : memref<896xf32>
// The sums start as zeros.
// CHECK: scf.for
// CHECK-COUNT-14: vector.store %cst{{.*}}, %[[WAITING]]
// Loop over rows of taps, here three; then over rows that have the tap.
// CHECK: scf.for %{{.*}} = %c0 to %c3 step
// CHECK: scf.for
// CHECK: scf.if
// CHECK: vector.load %[[WAITING]]
// The left pixel lacks the first tap.
// CHECK: %{{.*}}:12 = scf.for %{{.*}} = %c0 to %c128 step
// CHECK-COUNT-12: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.yield
// CHECK: vector.store %{{.*}}, %[[WAITING]]
// CHECK: %{{.*}}:12 = scf.for %{{.*}} = %c0 to %c32 step
// The second tap.
// CHECK: %{{.*}}:14 = scf.for %{{.*}} = %c0 to %c128 step
// CHECK-COUNT-14: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.yield
// The epilogue comes last.
// CHECK: arith.maximumf
// CHECK-NOT: cpu.
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @blocks(%x: memref<1x7x7x160xf32>, %w: memref<16x3x3x160x32xf32>, %d: memref<1x7x7x512xf32>, %task: index) {
    cpu.conv ins(%x, %w : memref<1x7x7x160xf32>, memref<16x3x3x160x32xf32>) outs(%d : memref<1x7x7x512xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
    ^bb0(%sum: f32):
      %zero = arith.constant 0.0 : f32
      %0 = arith.maximumf %sum, %zero : f32
      cpu.yield %0 : f32
    }
    return
  }
}

// -----

// Few channels: no blocks, since the rows' weights stay in the first-level
// cache.
// CHECK-LABEL: func.func private @no_blocks
// CHECK-NOT: memref.alloca
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @no_blocks(%x: memref<1x7x7x64xf32>, %w: memref<16x3x3x64x32xf32>, %d: memref<1x7x7x512xf32>, %task: index) {
    cpu.conv ins(%x, %w : memref<1x7x7x64xf32>, memref<16x3x3x64x32xf32>) outs(%d : memref<1x7x7x512xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

func.func @not_outlined(%x: memref<1x8x4xf32>, %w: memref<1x3x4x16xf32>, %d: memref<1x6x16xf32>) {
  // expected-error @+1 {{expects to be in a kernel: outline-kernels makes it}}
  cpu.conv ins(%x, %w : memref<1x8x4xf32>, memref<1x3x4x16xf32>) outs(%d : memref<1x6x16xf32>)
      attributes {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

// Bytes without VNNI. Pixels are copied as int16, with zero points around them.
// Two taps of three channels are padded to four, so that the taps of a row are
// one loop.
// CHECK-LABEL: func.func private @words
// CHECK: arith.constant dense<458759> : vector<8xi32>
// CHECK: arith.shrui {{.*}} : i32
// CHECK: scf.for %{{.*}} = %c0 to %c2 {{.*}} -> (vector<8xi32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// CHECK-NOT: pmadd.ub
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @words(%a: memref<1x1x5x3xi8>, %w: memref<1x1x2x1x16x4xi8>, %c: memref<1x1x16xi32>, %d: memref<1x1x5x16xi32>, %task: index) {
    cpu.conv ins(%a, %w : memref<1x1x5x3xi8>, memref<1x1x2x1x16x4xi8>) compensation(%c : memref<1x1x16xi32>) outs(%d : memref<1x1x5x16xi32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 0, 1, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, src_zero_point = 7 : i64} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// Rows of dynamic size: pixels of all rows are counted together. In a tile of
// one row with all taps in src, pixels are a stride apart. In other tiles, each
// pixel's address is found tap by tap. A tap that is in the padding of all
// pixels is left out. Both kinds of tiles are stored by the same code, at once
// if all pixels exist. A rest of up to four pixels is a tile of four.
// CHECK-LABEL: func.func private @open
// CHECK: scf.for
// CHECK: %[[IN:.*]] = arith.cmpi sge
// CHECK: %[[ROWS:.*]] = arith.select %{{.*}}, %c14, %c4
// CHECK: scf.for %{{.*}} = %c0 to %[[ROWS]] step
// CHECK: memref.store {{.*}} : memref<14x3xindex>
// CHECK: %[[SUMS:.*]]:28 = scf.if
// CHECK: %{{.*}}:28 = scf.for
// CHECK-COUNT-28: vector.fma {{.*}} : vector<16xf32>
// CHECK: } else {
// CHECK: %{{.*}}:28 = scf.for %{{.*}} = %c0 to %c3 step
// CHECK: %{{.*}}:28 = scf.for %{{.*}} = %c0 to %c3 step
// CHECK-COUNT-14: arith.select {{.*}} : memref<?xf32>
// CHECK: %{{.*}}:28 = scf.if
// CHECK: %{{.*}}:28 = scf.for %{{.*}} = %c0 to %c64 step
// CHECK-COUNT-28: vector.fma {{.*}} : vector<16xf32>
// CHECK: scf.if
// CHECK: vector.store %[[SUMS]]#0, {{.*}} : memref<2147483647xf32
// CHECK: vector.store %[[SUMS]]#27, {{.*}} : memref<2147483647xf32
// CHECK: } else {
// CHECK: vector.store %[[SUMS]]#0, {{.*}} : memref<448xf32>
// CHECK: } else {
// CHECK: %{{.*}}:8 = scf.for %{{.*}} = %c0 to %c64 step
// CHECK-COUNT-8: vector.fma {{.*}} : vector<16xf32>
// CHECK: vector.store {{.*}} : memref<128xf32>
// CHECK-NOT: cpu.
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @open(%x: memref<1x?x?x64xf32>, %w: memref<1x3x3x64x32xf32>, %d: memref<1x?x?x32xf32>, %task: index) {
    cpu.conv ins(%x, %w : memref<1x?x?x64xf32>, memref<1x3x3x64x32xf32>) outs(%d : memref<1x?x?x32xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// The zero point of bytes counts in the padding.
// CHECK-LABEL: func.func private @open_bytes
// CHECK-COUNT-14: arith.select {{.*}} : memref<?xi8>
// CHECK-NOT: scf.if
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// CHECK-NOT: cpu.
// CHECK: return
module attributes {ingot.target = #ingot.target<"znver4">} {
  func.func private @open_bytes(%x: memref<1x?x?x64xi8>, %w: memref<1x3x3x16x32x4xi8>, %c: memref<1x3x32xi32>, %d: memref<1x?x?x32xi32>, %task: index) {
    cpu.conv ins(%x, %w : memref<1x?x?x64xi8>, memref<1x3x3x16x32x4xi8>) compensation(%c : memref<1x3x32xi32>) outs(%d : memref<1x?x?x32xi32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, src_zero_point = 7 : i64} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// With few channels, whole windows are copied and multiplied as one run. Masks
// leave out elements in the padding or behind the last pixel.
// CHECK-LABEL: func.func private @open_channels
// CHECK: %[[ROWS:.*]] = arith.select %{{.*}}, %c14, %c4
// CHECK: %{{.*}}:3 = scf.for %{{.*}} = %c0 to %[[ROWS]] step
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %c0 to %c3 step
// CHECK-NOT: scf.if
// CHECK: vector.maskedload
// CHECK-NEXT: vector.store {{.*}} : memref<[[SIZE:[0-9]+]]xf32>, vector<16xf32>
// CHECK: vector.maskedload
// CHECK: %{{.*}}:28 = scf.for %{{.*}} = %c0 to %c72 step
// CHECK-COUNT-28: vector.fma {{.*}} : vector<16xf32>
// CHECK-NOT: cpu.
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @open_channels(%x: memref<1x?x?x8xf32>, %w: memref<1x3x3x8x32xf32>, %d: memref<1x?x?x32xf32>, %task: index) {
    cpu.conv ins(%x, %w : memref<1x?x?x8xf32>, memref<1x3x3x8x32xf32>) outs(%d : memref<1x?x?x32xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// The copied windows serve all columns of a task.
// CHECK-LABEL: func.func private @open_columns
// CHECK: vector.maskedload
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step
// CHECK-NOT: vector.maskedload
// CHECK: %{{.*}}:28 = scf.for %{{.*}} = %c0 to %c72 step
// CHECK-NOT: vector.maskedload
// CHECK: } else {
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step
// CHECK-NOT: vector.maskedload
// CHECK: %{{.*}}:8 = scf.for %{{.*}} = %c0 to %c72 step
// CHECK-NOT: vector.maskedload
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @open_columns(%x: memref<1x?x?x8xf32>, %w: memref<4x3x3x8x32xf32>, %d: memref<1x?x?x128xf32>, %task: index) {
    cpu.conv ins(%x, %w : memref<1x?x?x8xf32>, memref<4x3x3x8x32xf32>) outs(%d : memref<1x?x?x128xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Longer rows of taps are copied at once if they lie within src, and tap by tap
// if some do. If no such row or pixel exists, zeros are stored without a check
// per tap.
// CHECK-LABEL: func.func private @open_more_channels
// CHECK: %[[ROWS:.*]] = arith.select %{{.*}}, %c14, %c4
// CHECK: %{{.*}}:3 = scf.for %{{.*}} = %c0 to %[[ROWS]] step
// CHECK: scf.if
// CHECK: vector.store {{.*}} : memref<[[SIZE:[0-9]+]]xf32>, vector<16xf32>
// CHECK: } else {
// CHECK-NEXT: scf.if
// CHECK-NEXT: scf.for %{{.*}} = %c0 to %c3 step
// CHECK: scf.if
// CHECK: } else {
// CHECK: } else {
// CHECK: vector.store %{{.*}}, %{{.*}}[%{{.*}}] : memref<[[SIZE]]xf32>, vector<16xf32>
// CHECK: %{{.*}}:28 = scf.for %{{.*}} = %c0 to %c216 step
// CHECK-COUNT-28: vector.fma {{.*}} : vector<16xf32>
// CHECK-NOT: cpu.
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @open_more_channels(%x: memref<1x?x?x24xf32>, %w: memref<1x3x3x24x32xf32>, %d: memref<1x?x?x32xf32>, %task: index) {
    cpu.conv ins(%x, %w : memref<1x?x?x24xf32>, memref<1x3x3x24x32xf32>) outs(%d : memref<1x?x?x32xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}


// -----

// A rest in one dimension, as for audio, often has fewer pixels: there are
// tiles of nine and of four.
// CHECK-LABEL: func.func private @open_line
// CHECK: %{{.*}}:28 = scf.for %{{.*}} = %c0 to %c64 step
// CHECK: %{{.*}}:18 = scf.for %{{.*}} = %c0 to %c64 step
// CHECK: %{{.*}}:8 = scf.for %{{.*}} = %c0 to %c64 step
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @open_line(%x: memref<1x?x64xf32>, %w: memref<1x3x64x32xf32>, %d: memref<1x?x32xf32>, %task: index) {
    cpu.conv ins(%x, %w : memref<1x?x64xf32>, memref<1x3x64x32xf32>) outs(%d : memref<1x?x32xf32>)
        attributes {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, groups = 1 : i64} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Volumes have no small tiles: the rest is a tile of 14 rows.
// CHECK-LABEL: func.func private @open_volume
// CHECK: %{{.*}}:28 = scf.for %{{.*}} = %c0 to %c64 step
// CHECK-NOT: %{{.*}}:8 = scf.for
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @open_volume(%x: memref<1x?x?x?x64xf32>, %w: memref<1x3x3x3x64x32xf32>, %d: memref<1x?x?x?x32xf32>, %task: index) {
    cpu.conv ins(%x, %w : memref<1x?x?x?x64xf32>, memref<1x3x3x3x64x32xf32>) outs(%d : memref<1x?x?x?x32xf32>)
        attributes {strides = array<i64: 1, 1, 1>, pads = array<i64: 1, 1, 1, 1, 1, 1>, dilations = array<i64: 1, 1, 1>, groups = 1 : i64} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Groups go row by row. The rest of a row, or half of what two tiles share, is
// a tile of 14, 10, 7 or 4. Only its first pixel, and pixels that may be the
// last ones, check if src has their taps. No tap is copied, and missing pixels
// are not stored.
// CHECK-LABEL: func.func private @open_groups
// CHECK: scf.for {{.*}} -> (index)
// CHECK: %[[HALF:.*]] = arith.divui %{{.*}}, %c2
// CHECK: %[[WANTED:.*]] = arith.select %{{.*}}, %[[HALF]],
// CHECK: arith.cmpi sgt, %[[WANTED]], %c10
// CHECK: scf.if
// CHECK: %[[SUMS:.*]]:14 = scf.for
// CHECK: %{{.*}}:14 = scf.for %{{.*}} = %c0 to %c3 step
// CHECK-COUNT-5: arith.select {{.*}} : memref<?xf32>
// CHECK-NOT: arith.select {{.*}} : memref<?xf32>
// CHECK: %{{.*}}:14 = scf.for %{{.*}} = %c0 to %c8 step
// CHECK-COUNT-14: vector.fma {{.*}} : vector<16xf32>
// CHECK: vector.maskedstore {{.*}} %[[SUMS]]#10
// CHECK: scf.if
// CHECK: vector.maskedstore {{.*}} %[[SUMS]]#11
// CHECK: scf.if
// CHECK: vector.maskedstore {{.*}} %[[SUMS]]#12
// CHECK: scf.if
// CHECK: vector.maskedstore {{.*}} %[[SUMS]]#13
// CHECK: } else {
// CHECK: arith.cmpi sgt, %[[WANTED]], %c7
// CHECK: scf.if
// CHECK: %{{.*}}:10 = scf.for %{{.*}} = %c0 to %c8 step
// CHECK: } else {
// CHECK: arith.cmpi sgt, %[[WANTED]], %c4
// CHECK: scf.if
// CHECK: %{{.*}}:7 = scf.for %{{.*}} = %c0 to %c8 step
// CHECK: } else {
// CHECK: %{{.*}}:4 = scf.for %{{.*}} = %c0 to %c8 step
// CHECK-NOT: cpu.
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @open_groups(%x: memref<1x?x?x16xf32>, %w: memref<2x3x3x8x16xf32>, %d: memref<1x?x?x16xf32>, %task: index) {
    cpu.conv ins(%x, %w : memref<1x?x?x16xf32>, memref<2x3x3x8x16xf32>) outs(%d : memref<1x?x?x16xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// If most pixels of a tile may reach the padding, taps are copied instead of
// checked.
// CHECK-LABEL: func.func private @open_groups_far
// CHECK-NOT: arith.select {{.*}} : memref<?xf32>
// CHECK: vector.store {{.*}} : memref<{{[0-9]+}}xf32>
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @open_groups_far(%x: memref<1x?x?x16xf32>, %w: memref<2x3x3x8x16xf32>, %d: memref<1x?x?x16xf32>, %task: index) {
    cpu.conv ins(%x, %w : memref<1x?x?x16xf32>, memref<2x3x3x8x16xf32>) outs(%d : memref<1x?x?x16xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 6, 6, 6, 6>, dilations = array<i64: 6, 6>, groups = 2 : i64} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Epilogue operands of each image cannot be read by a pixel's number, so whole
// tiles and others have separate stores.
// CHECK-LABEL: func.func private @open_of_picture
// CHECK-COUNT-28: vector.fma {{.*}} : vector<16xf32>
// CHECK-COUNT-28: arith.addf {{.*}} : vector<16xf32>
// CHECK: } else {
// CHECK: memref.store {{.*}} : memref<14x3xindex>
// CHECK: vector.store {{.*}} : memref<448xf32>
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @open_of_picture(%x: memref<?x?x?x64xf32>, %w: memref<1x1x3x64x32xf32>, %s: memref<?x1x1x32xf32>, %d: memref<?x?x?x32xf32>, %task: index) {
    cpu.conv ins(%x, %w : memref<?x?x?x64xf32>, memref<1x1x3x64x32xf32>) operands(%s : memref<?x1x1x32xf32>) outs(%d : memref<?x?x?x32xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
    ^bb0(%sum: f32, %o: f32):
      %0 = arith.addf %sum, %o : f32
      cpu.yield %0 : f32
    }
    return
  }
}
