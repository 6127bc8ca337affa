// RUN: ingot-opt --cpu-schedule --outline-kernels --cpu-band-matmul-to-vector --canonicalize --split-input-file %s | FileCheck %s

// Many channels: vectors of channels; the last vector begins earlier and
// overlaps.

module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
// CHECK-LABEL: func.func private @band_matmul.0
// CHECK: scf.for
// CHECK-COUNT-4: vector.fma
// CHECK: vector.store {{.*}} vector<16xf32>
// CHECK-NOT: maskedload
// CHECK-NOT: cpu.band_matmul
func.func @channels(%x: memref<2x9x70xf32>, %s: memref<4xi32>, %w: memref<4x2xf32>, %y: memref<2x4x70xf32>) {
  cpu.band_matmul ins(%x, %s, %w : memref<2x9x70xf32>, memref<4xi32>, memref<4x2xf32>)
      outs(%y : memref<2x4x70xf32>) attributes {dim = 1 : i64} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}
}

// -----

// Four positions of three channels in a vector of bytes. Their weights are
// spread over the channels; four vectors of partial sums become one of results.

module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
// CHECK-LABEL: func.func private @band_matmul.0
// CHECK: vector.load {{.*}} vector<4xf32>
// CHECK: vector.shuffle {{.*}} [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3,
// CHECK: vector.load {{.*}} vector<16xi8>
// CHECK: arith.uitofp
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 16, 17, 18, 19, 20, 21,
// CHECK: vector.shuffle {{.*}} [2, 1, 0, 5, 4, 3, 8, 7, 6, 11, 10, 9,
// CHECK: vector.store
// CHECK-NOT: cpu.band_matmul
func.func @positions(%x: memref<8x20x3xi8>, %s: memref<6xi32>, %w: memref<6x4xf32>, %y: memref<8x6x3xf32>) {
  cpu.band_matmul ins(%x, %s, %w : memref<8x20x3xi8>, memref<6xi32>, memref<6x4xf32>)
      outs(%y : memref<8x6x3xf32>) attributes {dim = 1 : i64, order = array<i64: 2, 1, 0>} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}
}

// -----

// Dynamic channels end in a mask.

module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
// CHECK-LABEL: func.func private @band_matmul.0
// CHECK: vector.maskedload
// CHECK: vector.maskedstore
func.func @open(%x: memref<9x?xf32>, %s: memref<4xi32>, %w: memref<4x2xf32>, %y: memref<4x?xf32>) {
  cpu.band_matmul ins(%x, %s, %w : memref<9x?xf32>, memref<4xi32>, memref<4x2xf32>)
      outs(%y : memref<4x?xf32>) attributes {dim = 0 : i64} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}
}

// -----

// A dynamic number of taps. If there are more taps than positions in src,
// vectors are masked and go one by one. One to three vectors of taps have code
// of their own.

module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
// CHECK-LABEL: func.func private @band_matmul.0
// CHECK: arith.cmpi sle
// CHECK: scf.if
// CHECK: %[[ONE:.*]] = arith.cmpi eq, %{{.*}}, %c4
// CHECK: scf.if %[[ONE]]
// CHECK: %[[TWO:.*]] = arith.cmpi eq, %{{.*}}, %c8
// CHECK: scf.if %[[TWO]]
// CHECK: else
// CHECK: vector.maskedload
// CHECK-NOT: cpu.band_matmul
func.func @taps(%x: memref<8x?x3xf32>, %s: memref<6xi32>, %w: memref<6x?xf32>, %y: memref<8x6x3xf32>) {
  cpu.band_matmul ins(%x, %s, %w : memref<8x?x3xf32>, memref<6xi32>, memref<6x?xf32>)
      outs(%y : memref<8x6x3xf32>) attributes {dim = 1 : i64} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}
}
