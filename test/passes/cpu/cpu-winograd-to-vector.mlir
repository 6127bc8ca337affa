// RUN: ingot-opt %s --cpu-schedule --cpu-winograd-to-vector --canonicalize --cse --split-input-file | FileCheck %s

// Tiles of 2 x 2 pixels, each of which reads 4 x 4.
// CHECK-LABEL: func.func private @filter
// CHECK: scf.for
// Columns of pixels: zeros outside of src, to either side or above and below.
// CHECK: scf.for %{{.*}} = %c0 to %c4 step
// CHECK: arith.cmpi ult, %{{.*}}, %c8
// CHECK: scf.if
// CHECK-COUNT-4: arith.select {{.*}} : memref<?xf32
// CHECK: scf.for %{{.*}} = %c0 to %c16 step %c8
// CHECK-COUNT-4: vector.load {{.*}} vector<8xf32>
// CHECK: arith.subf
// CHECK-COUNT-4: vector.store
// CHECK: } else {
// CHECK-COUNT-4: vector.store %cst
// Transforms the rows of the columns' results.
// CHECK: scf.for %{{.*}} = %c0 to %c4 step
// CHECK: scf.for %{{.*}} = %c0 to %c16 step %c8
// CHECK-COUNT-4: vector.load
// CHECK-COUNT-4: vector.store
// A product for each of 16 points, in four iterations of four channels.
// CHECK: scf.for %{{.*}} = %c0 to %c16 step %c1
// CHECK: %{{.*}}:12 = scf.for %{{.*}} = %c0 to %c4 step %c1
// CHECK-COUNT-48: vector.fma {{.*}} vector<8xf32>
// CHECK-COUNT-12: vector.store
// Sums: columns, then rows, then the epilogue of each existing pixel.
// CHECK: scf.for %{{.*}} = %c0 to %c4 step
// CHECK-COUNT-4: vector.load
// CHECK: arith.minsi
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-2: arith.maximumf {{.*}} : vector<8xf32>
// CHECK-NOT: cpu.
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @filter(%x: memref<1x7x8x16xf32>, %w: memref<1x16x16x16xf32>, %d: memref<1x7x8x16xf32>, %task: index) {
    cpu.winograd_conv ins(%x, %w : memref<1x7x8x16xf32>, memref<1x16x16x16xf32>) outs(%d : memref<1x7x8x16xf32>)
        attributes {format = #cpu.weights<winograd<2>>, pads = array<i64: 1, 1, 1, 1>} {
    ^bb0(%sum: f32):
      %zero = arith.constant 0.0 : f32
      %0 = arith.maximumf %sum, %zero : f32
      cpu.yield %0 : f32
    }
    return
  }
}

// -----

// Channels that do not fill the last vector are read with a mask, and columns
// stored with one.
// CHECK-LABEL: func.func private @tails
// CHECK: vector.maskedload
// CHECK: vector.maskedstore
// CHECK-NOT: cpu.
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @tails(%x: memref<1x?x?x24xf32, strided<[?, ?, 40, 1]>>, %w: memref<1x36x24x32xf32>, %d: memref<1x?x?x28xf32>, %task: index) {
    cpu.winograd_conv ins(%x, %w : memref<1x?x?x24xf32, strided<[?, ?, 40, 1]>>, memref<1x36x24x32xf32>) outs(%d : memref<1x?x?x28xf32>)
        attributes {format = #cpu.weights<winograd<4>>, pads = array<i64: 1, 1, 1, 1>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}
