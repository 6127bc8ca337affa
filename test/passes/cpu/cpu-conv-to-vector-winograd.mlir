// RUN: ingot-opt %s --cpu-schedule --cpu-conv-to-vector --canonicalize --cse --split-input-file | FileCheck %s

// Winograd: tiles of 4 x 4 pixels, each of which reads 6 x 6, of 16 groups of
// four channels with a zero point.
// CHECK-LABEL: func.func private @four
// CHECK-DAG: %[[SIX:.*]] = arith.constant dense<6> : vector<8xi32>
// CHECK-DAG: %[[NINTH:.*]] = arith.constant dense<954437177> : vector<8xi32>
// CHECK-DAG: %[[ZERO_POINT:.*]] = arith.constant dense<9> : vector<16xi16>
// Buffers for the weights of a block, lines, sums and pixels. Each of 36 points has an odd number of cache lines.
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<16128xi16>
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<448xi32>
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<2880xi32>
// CHECK: %[[PIXELS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<7488xi32>
// Four tiles. Pixels in the padding are the zero point; columns beside src are
// zeros.
// CHECK: vector.store %{{.*}} : memref<64xi8>, vector<64xi8>
// CHECK: scf.for %{{.*}} = %c0 to %c4 step
// CHECK: scf.for %{{.*}} = %c0 to %c6 step
// CHECK: arith.cmpi ult, %{{.*}}, %c8
// CHECK: scf.if
// CHECK-COUNT-6: arith.select {{.*}} : memref<?xi8
// CHECK: scf.for %{{.*}} = %c0 to %c16 step %c8
// CHECK: %[[BYTES:.*]] = vector.load {{.*}} vector<32xi8>
// CHECK-NEXT: %[[WORDS:.*]] = vector.bitcast %[[BYTES]] : vector<32xi8> to vector<16xi16>
// CHECK-NEXT: %[[EVEN:.*]] = arith.andi %[[WORDS]]
// CHECK-NEXT: %[[ODD:.*]] = arith.shrui %[[WORDS]]
// CHECK-NEXT: arith.subi %[[EVEN]], %[[ZERO_POINT]] : vector<16xi16>
// CHECK-NEXT: arith.subi %[[ODD]], %[[ZERO_POINT]] : vector<16xi16>
// CHECK-COUNT-5: vector.load {{.*}} vector<32xi8>
// CHECK-COUNT-12: vector.store {{.*}}, %[[PIXELS]]{{.*}} vector<8xi32>
// CHECK: } else {
// CHECK: scf.for %{{.*}} = %c0 to %c32 step %c8
// CHECK-COUNT-6: vector.store %cst
// Transforms the rows of the columns' results, in place.
// CHECK: scf.for %{{.*}} = %c0 to %c6 step
// CHECK: scf.for %{{.*}} = %c0 to %c32 step %c8
// CHECK-COUNT-6: vector.load %[[PIXELS]]
// CHECK: arith.muli {{.*}} : vector<16xi16>
// CHECK-COUNT-6: vector.store {{.*}}, %[[PIXELS]]
// Weights of 6 groups, even and odd bytes of two vectors: 9 taps become 36 points.
// CHECK: scf.for %{{.*}} = %c0 to %c6 step
// CHECK: scf.for %{{.*}} = %c0 to %c2 step
// CHECK-COUNT-9: vector.load {{.*}} vector<32xi8>
// CHECK-COUNT-72: vector.store {{.*}} : memref<16128xi16>, vector<16xi16>
// A product for each of 36 points: first of even bytes, then of odd bytes.
// CHECK: scf.for %{{.*}} = %c0 to %c36 step
// CHECK: %{{.*}}:8 = scf.for %{{.*}} = %c0 to %c6 step
// CHECK-COUNT-2: vector.load {{.*}} vector<16xi16>
// CHECK-COUNT-8: "llvm.x86.avx2.pmadd.wd"
// CHECK-COUNT-2: vector.load {{.*}} vector<16xi16>
// CHECK-COUNT-8: "llvm.x86.avx2.pmadd.wd"
// CHECK-NOT: pmadd
// CHECK-COUNT-8: vector.store {{.*}} : memref<2880xi32>
// The next 6 groups add to the existing sums, and so do the last 4.
// CHECK: scf.for %{{.*}} = %c0 to %c6 step
// CHECK-COUNT-72: vector.store {{.*}} : memref<16128xi16>, vector<16xi16>
// CHECK: scf.for %{{.*}} = %c0 to %c36 step
// CHECK-COUNT-8: vector.load {{.*}} : memref<2880xi32>
// CHECK: %{{.*}}:8 = scf.for %{{.*}} = %c0 to %c6 step
// CHECK-COUNT-8: vector.store {{.*}} : memref<2880xi32>
// CHECK: scf.for %{{.*}} = %c0 to %c4 step
// CHECK-COUNT-72: vector.store {{.*}} : memref<16128xi16>, vector<16xi16>
// CHECK: scf.for %{{.*}} = %c0 to %c36 step
// CHECK-COUNT-8: vector.load {{.*}} : memref<2880xi32>
// CHECK: %{{.*}}:8 = scf.for %{{.*}} = %c0 to %c4 step
// CHECK-COUNT-8: vector.store {{.*}} : memref<2880xi32>
// Sums: columns, then rows, divided by 9 modulo 2^32 and by 64. Only existing pixels are stored.
// CHECK: scf.for %{{.*}} = %c0 to %c6 step
// CHECK: arith.minsi
// CHECK: arith.minsi
// CHECK: scf.for
// CHECK: %[[WHOLE:.*]] = arith.muli %{{.*}}, %[[NINTH]] : vector<8xi32>
// CHECK: arith.shrsi %[[WHOLE]], %[[SIX]] : vector<8xi32>
// CHECK-COUNT-7: arith.muli %{{.*}}, %[[NINTH]]
// CHECK: scf.for
// CHECK-COUNT-2: vector.store
// CHECK-NOT: cpu.
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @four(%x: memref<1x8x8x64xi8>, %w: memref<1x3x3x16x16x4xi8>, %c: memref<1x3x16xi32>, %d: memref<1x7x8x16xi32>, %task: index) {
    cpu.conv ins(%x, %w : memref<1x8x8x64xi8>, memref<1x3x3x16x16x4xi8>) compensation(%c : memref<1x3x16xi32>) outs(%d : memref<1x7x8x16xi32>)
        attributes {format = #cpu.weights<panels, exact_tiles = 4>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 0, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, src_zero_point = 9 : i64,
                    schedule = #cpu.schedule<tile = <4x16, product = int8_wide>, grid = <4x1>, tile_block = 1, depth_block = 6, winograd = 4>} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// Tiles of 2 x 2 pixels leave a factor of 4, and need no division. Without a zero point, bytes are used directly. The 7
// groups are read as 4, 2 and 1, and nothing behind them is read. The last columns are stored with a mask.
// CHECK-LABEL: func.func private @tails
// CHECK-DAG: %[[TWO:.*]] = arith.constant dense<2> : vector<16xi32>
// CHECK-NOT: dense<954437177>
// CHECK: scf.if
// CHECK-COUNT-4: vector.load {{.*}} memref<?xi8{{.*}}vector<16xi8>
// CHECK-COUNT-8: vector.store {{.*}} vector<4xi32>
// CHECK-COUNT-4: vector.load {{.*}} memref<?xi8{{.*}}vector<8xi8>
// CHECK-COUNT-8: vector.store {{.*}} vector<2xi32>
// CHECK-COUNT-4: vector.load {{.*}} memref<?xi8{{.*}}vector<4xi8>
// CHECK-COUNT-8: vector.store {{.*}} vector<1xi32>
// CHECK-NOT: vector.load
// CHECK: } else {
// A single block of weights.
// CHECK: scf.for %{{.*}} = %c0 to %c7 step
// CHECK-COUNT-9: vector.load {{.*}} vector<64xi8>
// CHECK-COUNT-32: vector.store {{.*}} vector<32xi16>
// CHECK: scf.for %{{.*}} = %c0 to %c16 step
// CHECK: %{{.*}}:8 = scf.for %{{.*}} = %c0 to %c7 step
// CHECK-COUNT-16: "llvm.x86.avx512.pmaddw.d.512"
// CHECK-NOT: pmaddw
// CHECK: arith.shrsi %{{.*}}, %[[TWO]] : vector<16xi32>
// CHECK: vector.maskedstore
// CHECK-NOT: cpu.
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @tails(%x: memref<1x?x?x28xi8>, %w: memref<1x3x3x7x32x4xi8>, %d: memref<1x?x?x20xi32>, %task: index) {
    cpu.conv ins(%x, %w : memref<1x?x?x28xi8>, memref<1x3x3x7x32x4xi8>) outs(%d : memref<1x?x?x20xi32>)
        attributes {format = #cpu.weights<panels, exact_tiles = 4>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 0, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
                    schedule = #cpu.schedule<tile = <4x32, product = int8_wide>, grid = <4x1>, tile_block = 1, depth_block = 7, winograd = 2>} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// Channels that fill a vector, then one of half as many; vectors of 128 bits.
// CHECK-LABEL: func.func private @short
// CHECK: scf.if
// CHECK: vector.load {{.*}} vector<16xi8>
// CHECK: vector.load {{.*}} vector<8xi8>
// CHECK-NOT: vector<4xi8>
// CHECK: "llvm.x86.sse2.pmadd.wd"
// CHECK-NOT: cpu.
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v2">} {
  func.func private @short(%x: memref<2x6x6x24xi8>, %w: memref<1x3x3x6x16x4xi8>, %d: memref<2x6x6x5xi32>, %task: index) {
    cpu.conv ins(%x, %w : memref<2x6x6x24xi8>, memref<1x3x3x6x16x4xi8>) outs(%d : memref<2x6x6x5xi32>)
        attributes {format = #cpu.weights<panels, exact_tiles = 2>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
                    schedule = #cpu.schedule<tile = <3x8, product = int8_wide>, grid = <18x1>, tile_block = 2, depth_block = 6, winograd = 2>} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}
