// RUN: ingot-opt --cpu-schedule --outline-kernels --cpu-resample-to-vector --canonicalize --split-input-file %s | FileCheck %s

// Rows of elements: a vector of each of two rows of src is weighted, then taps
// of the result. Taps that no vector holds are loaded as pairs. Taps that are
// no neighbours go one by one.

module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
// CHECK-LABEL: func.func private @resample.0
// CHECK-COUNT-2: vector.load %{{.*}} : memref<{{.*}}xi32, {{.*}}, vector<8xi32>
// CHECK: vector.reduction <minsi>
// CHECK: vector.reduction <maxsi>
// CHECK: scf.if
// CHECK: scf.for
// CHECK-COUNT-2: vector.load %{{.*}} : memref<{{.*}}xf32, {{.*}}, vector<8xf32>
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.avx2.permps"
// CHECK: vector.store {{.*}} vector<8xf32>
// CHECK: } else {
// CHECK: scf.if
// CHECK-COUNT-8: vector.load %{{.*}} vector<2xf32>
// CHECK: vector.deinterleave {{.*}} vector<16xf32> -> vector<8xf32>
// CHECK: vector.store {{.*}} vector<8xf32>
// CHECK: } else {
// CHECK: vector.store {{.*}} vector<1xf32>
// CHECK-NOT: cpu.resample
func.func @rows(%x: memref<1x12x20x30xf32>, %p: memref<2x40xi32>, %v: memref<2x40xf32>, %q: memref<2x64xi32>, %w: memref<2x64xf32>, %y: memref<1x12x40x64xf32>) {
  cpu.resample ins(%x : memref<1x12x20x30xf32>)
      positions(%p, %q : memref<2x40xi32>, memref<2x64xi32>)
      weights(%v, %w : memref<2x40xf32>, memref<2x64xf32>)
      outs(%y : memref<1x12x40x64xf32>) attributes {first = 2 : i64} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}
}

// -----

// Rows of src of dynamic length may be shorter than a vector. The rest of dst
// has a mask.

module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
// CHECK-LABEL: func.func private @resample.0
// CHECK: vector.maskedload %{{.*}} : memref<{{.*}}xf32, {{.*}}, vector<8xi1>, vector<8xf32>
// CHECK: vector.store {{.*}} vector<8xf32>
// CHECK: vector.maskedstore
func.func @open(%x: memref<1x?x?xf32>, %p: memref<1x?xi32>, %y: memref<1x?x?xf32>) {
  cpu.resample ins(%x : memref<1x?x?xf32>)
      positions(%p, %p : memref<1x?xi32>, memref<1x?xi32>)
      outs(%y : memref<1x?x?xf32>) attributes {first = 1 : i64} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}
}

// -----

// Without permute instructions, all elements go one by one.

module attributes {ingot.target = #ingot.target<"x86-64-v2">} {
// CHECK-LABEL: func.func private @resample.0
// CHECK-NOT: permps
// CHECK: vector.store {{.*}} vector<1xf32>
func.func @one_by_one(%x: memref<1x4xf32>, %p: memref<1x8xi32>, %y: memref<1x8xf32>) {
  cpu.resample ins(%x : memref<1x4xf32>) positions(%p : memref<1x8xi32>)
      outs(%y : memref<1x8xf32>) attributes {first = 1 : i64} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}
}

// -----

// Pixels of channels: four vectors of src at once, through the epilogue.

module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
// CHECK-LABEL: func.func private @resample.0
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-4: memref.load {{.*}} : memref<{{.*}}x{{[fi]}}32,
// CHECK: scf.for
// CHECK-COUNT-4: vector.load %{{.*}} : memref<{{.*}}xf32, {{.*}}, vector<8xf32>
// CHECK-NOT: permps
// CHECK: arith.maximumf {{.*}} : vector<8xf32>
// CHECK: vector.store
func.func @pixels(%x: memref<1x8x8x32xf32>, %p: memref<2x16xi32>, %w: memref<2x16xf32>, %y: memref<1x16x16x32xf32>) {
  cpu.resample ins(%x : memref<1x8x8x32xf32>)
      positions(%p, %p : memref<2x16xi32>, memref<2x16xi32>)
      weights(%w, %w : memref<2x16xf32>, memref<2x16xf32>)
      outs(%y : memref<1x16x16x32xf32>) attributes {first = 1 : i64} {
  ^bb0(%r: f32):
    %zero = arith.constant 0.0 : f32
    %0 = arith.maximumf %r, %zero : f32
    cpu.yield %0 : f32
  }
  return
}
}
