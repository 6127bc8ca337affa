// RUN: ingot-opt %s --cpu-schedule --cpu-conv-to-vector --cpu-matmul-to-vector --canonicalize --cse --split-input-file | FileCheck %s

// 40 rows are two tiles of 2 x 2 AMX tiles with 10 rows each, so no AMX tile is
// empty. 96 elements are three steps of 16 pairs.
// CHECK-LABEL: func.func private @bf16
// CHECK: %[[SUMS:.*]] = memref.alloca() {{.*}} : memref<1024xf32>
// CHECK-COUNT-4: amx.tile_zero : !amx.tile<10x16xf32>
// CHECK: %[[LOOP:.*]]:4 = scf.for %{{.*}} = %c0 to %c3 step
// CHECK: %[[B0:.*]] = amx.tile_load %{{.*}}, %c64 : memref<?xbf16> into !amx.tile<16x32xbf16>
// CHECK: %[[B1:.*]] = amx.tile_load %{{.*}}, %c64 : memref<?xbf16> into !amx.tile<16x32xbf16>
// CHECK: %[[A0:.*]] = amx.tile_load %{{.*}}, %c96 : memref<?xbf16> into !amx.tile<10x32xbf16>
// CHECK: amx.tile_mulf %[[A0]], %[[B0]]
// CHECK: amx.tile_mulf %[[A0]], %[[B1]]
// CHECK: %[[A1:.*]] = amx.tile_load %{{.*}}, %c96 : memref<?xbf16> into !amx.tile<10x32xbf16>
// CHECK: amx.tile_mulf %[[A1]], %[[B0]]
// CHECK: amx.tile_mulf %[[A1]], %[[B1]]
// CHECK: scf.yield
// CHECK-COUNT-4: amx.tile_store %[[SUMS]]{{.*}}, %[[LOOP]]#{{[0-3]}}, %c32
// CHECK-NOT: amx.tile_
// CHECK: scf.for %{{.*}} = %c0 to %c20
// CHECK: vector.load %[[SUMS]]
// CHECK: vector.store
// CHECK: return
module attributes {ingot.target = #ingot.target<"sapphirerapids">} {
  func.func private @bf16(%a: memref<40x96xbf16>, %w: memref<1x48x32x2xbf16>, %d: memref<40x32xf32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<40x96xbf16>, memref<1x48x32x2xbf16>) outs(%d : memref<40x32xf32>) {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Unsigned rows, signed weights. 17 groups are a step of 16 and a step that begins one group later, of which only the
// last group counts. The last byte of that group is behind the row. The second AMX tile of 9 rows starts at row 8 of
// 17.
// CHECK-LABEL: func.func private @int8
// CHECK: %[[MASK:.*]] = arith.constant dense<[{{(false, ){60}true, true, true, false}}]> : vector<64xi1>
// CHECK-COUNT-2: amx.tile_zero : !amx.tile<9x16xi32>
// CHECK: amx.tile_muli %{{.*}} zext, %{{.*}}, %{{.*}} : !amx.tile<9x64xi8>, !amx.tile<16x64xi8>, !amx.tile<9x16xi32>
// CHECK: amx.tile_muli
// CHECK: scf.for %{{.*}} = %c0 to %c17
// CHECK: vector.maskedload {{.*}} vector<64xi8>
// CHECK: vector.store {{.*}} vector<64xi8>
// CHECK: amx.tile_load %{{.*}}[%c64], %c64 : memref<?xi8> into !amx.tile<16x64xi8>
// CHECK: amx.tile_load %{{.*}}[%c0], %c64 {{.*}} !amx.tile<9x64xi8>
// CHECK: amx.tile_muli
// CHECK: amx.tile_load %{{.*}}[%c512], %c64 {{.*}} !amx.tile<9x64xi8>
// CHECK: amx.tile_muli
// CHECK: amx.tile_store %{{.*}}[%c0]
// CHECK: amx.tile_store %{{.*}}[%c128]
// CHECK: vector.maskedstore
module attributes {ingot.target = #ingot.target<"sapphirerapids">} {
  func.func private @int8(%a: memref<17x67xi8>, %w: memref<1x17x16x4xi8>, %d: memref<17x9xi32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<17x67xi8>, memref<1x17x16x4xi8>) outs(%d : memref<17x9xi32>) {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// A dynamic number of rows: whole tiles, one AMX tile, then vectors.
// CHECK-LABEL: func.func private @dynamic
// CHECK: amx.tile_mulf
// CHECK: !amx.tile<16x16xf32>
// CHECK-COUNT-2: amx.tile_store
// CHECK: amx.tile_store
// CHECK: vector.fma
// CHECK-NOT: amx.tile_
// CHECK: return
module attributes {ingot.target = #ingot.target<"sapphirerapids">} {
  func.func private @dynamic(%a: memref<?x64xbf16>, %w: memref<1x32x16x2xbf16>, %d: memref<?x16xf32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<?x64xbf16>, memref<1x32x16x2xbf16>) outs(%d : memref<?x16xf32>) {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Three rows, or sums of 3 pairs, use vectors; so do levels without AMX. For
// bytes, AMX takes at least 8 groups of four. Of 16 groups the last may be
// shorter.
// CHECK-LABEL: func.func private @fewRows
// CHECK-NOT: amx.tile_
// CHECK: vector.fma
// CHECK-LABEL: func.func private @shortSums
// CHECK-NOT: amx.tile_
// CHECK: vector.fma
// CHECK-LABEL: func.func private @enough(
// CHECK: amx.tile_mulf
// CHECK-LABEL: func.func private @shortBytes(
// CHECK-NOT: amx.tile_
// CHECK-LABEL: func.func private @enoughBytes
// CHECK: amx.tile_muli
// CHECK-LABEL: func.func private @partOfFour(
// CHECK-NOT: amx.tile_
// CHECK-LABEL: func.func private @shortBytes.tiles(
// CHECK: vpdpbusd
// CHECK-LABEL: func.func private @partOfFour.tiles(
// CHECK: vpdpbusd
module attributes {ingot.target = #ingot.target<"sapphirerapids">} {
  func.func private @fewRows(%a: memref<3x64xbf16>, %w: memref<1x32x16x2xbf16>, %d: memref<3x16xf32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<3x64xbf16>, memref<1x32x16x2xbf16>) outs(%d : memref<3x16xf32>) {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
  func.func private @shortSums(%a: memref<40x6xbf16>, %w: memref<1x3x16x2xbf16>, %d: memref<40x16xf32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<40x6xbf16>, memref<1x3x16x2xbf16>) outs(%d : memref<40x16xf32>) {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
  func.func private @enough(%a: memref<40x7xbf16>, %w: memref<1x4x16x2xbf16>, %d: memref<40x16xf32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<40x7xbf16>, memref<1x4x16x2xbf16>) outs(%d : memref<40x16xf32>) {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
  func.func private @shortBytes(%a: memref<40x28xi8>, %w: memref<1x7x16x4xi8>, %d: memref<40x16xi32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<40x28xi8>, memref<1x7x16x4xi8>) outs(%d : memref<40x16xi32>) {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
  func.func private @enoughBytes(%a: memref<40x32xi8>, %w: memref<1x8x16x4xi8>, %d: memref<40x16xi32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<40x32xi8>, memref<1x8x16x4xi8>) outs(%d : memref<40x16xi32>) {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
  func.func private @partOfFour(%a: memref<40x59xi8>, %w: memref<1x15x16x4xi8>, %d: memref<40x16xi32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<40x59xi8>, memref<1x15x16x4xi8>) outs(%d : memref<40x16xi32>) {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// CHECK-LABEL: func.func private @below
// CHECK-NOT: amx.tile_
// CHECK: return
module attributes {ingot.target = #ingot.target<"znver4">} {
  func.func private @below(%a: memref<40x96xbf16>, %w: memref<1x48x32x2xbf16>, %d: memref<40x32xf32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<40x96xbf16>, memref<1x48x32x2xbf16>) outs(%d : memref<40x32xf32>) {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Two tiles of 28 pixels, both with padding: their pixels are copied, with zeros around them. The taps of a row are
// then one run of 6 steps. The sums are carried through the loop over the kernel's rows.
// CHECK-LABEL: func.func private @conv
// CHECK: %[[PIXELS:.*]] = memref.alloca() {{.*}} : memref<1952xbf16>
// CHECK-COUNT-4: amx.tile_zero : !amx.tile<14x16xf32>
// CHECK: scf.for {{.*}} -> (!amx.tile<14x16xf32>, !amx.tile<14x16xf32>, !amx.tile<14x16xf32>, !amx.tile<14x16xf32>)
// CHECK: scf.for %{{.*}} = %c0 to %c2
// CHECK: vector.store %{{.*}}, %[[PIXELS]]
// CHECK: scf.for %{{.*}} = %c0 to %c58
// CHECK: vector.store %{{.*}}, %[[PIXELS]]
// CHECK: scf.for %{{.*}} = %c0 to %c6
// CHECK: amx.tile_load %[[PIXELS]][%{{.*}}], %c64 : memref<1952xbf16> into !amx.tile<14x32xbf16>
// CHECK: return
module attributes {ingot.target = #ingot.target<"sapphirerapids">} {
  func.func private @conv(%a: memref<1x56x56x64xbf16>, %w: memref<1x3x3x32x32x2xbf16>, %d: memref<1x56x56x32xf32>, %task: index) {
    cpu.conv ins(%a, %w : memref<1x56x56x64xbf16>, memref<1x3x3x32x32x2xbf16>) outs(%d : memref<1x56x56x32xf32>) attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Without padding nothing is copied: rows of tiles are two pixels apart in src.
// CHECK-LABEL: func.func private @strided
// CHECK-NOT: memref<{{[0-9]+}}xbf16>
// CHECK: amx.tile_load %{{.*}}, %c64 : memref<?xbf16> into !amx.tile<10x32xbf16>
// CHECK-NOT: vector.store {{.*}}bf16
// CHECK: return
module attributes {ingot.target = #ingot.target<"sapphirerapids">} {
  func.func private @strided(%a: memref<1x3x41x32xbf16>, %w: memref<1x3x3x16x32x2xbf16>, %d: memref<1x1x20x32xf32>, %task: index) {
    cpu.conv ins(%a, %w : memref<1x3x41x32xbf16>, memref<1x3x3x16x32x2xbf16>) outs(%d : memref<1x1x20x32xf32>) attributes {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}
