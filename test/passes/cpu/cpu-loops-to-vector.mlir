// RUN: ingot-opt --cpu-loops-to-vector --split-input-file %s | FileCheck %s

// Rows of 19 elements are two vectors and a masked one. Row operands are loaded once per vector. Outer constants become
// vectors.
// CHECK-LABEL: func.func @short_rows
// CHECK: scf.for %[[I:.*]] =
// CHECK: scf.for %[[J:.*]] =
// CHECK: vector.load %arg0[%[[I]], %[[J]]] : memref<5x19xf32>, vector<8xf32>
// CHECK: memref.load %arg1[%[[I]]]
// CHECK: arith.mulf %{{.*}} : vector<8xf32>
// CHECK: arith.addf %{{.*}} : vector<8xf32>
// CHECK: vector.store
// CHECK: %[[MASK:.*]] = arith.constant dense<[true, true, true, false, false, false, false, false]>
// CHECK: vector.maskedload %arg0[%[[I]], %{{.*}}], %[[MASK]]
// CHECK: vector.maskedstore
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @short_rows(%x: memref<5x19xf32>, %s: memref<5xf32>, %y: memref<5x19xf32>) {
  %two = arith.constant 2.0 : f32
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s : memref<5x19xf32>, memref<5xf32>) outs(%y : memref<5x19xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %two : f32
    linalg.yield %1 : f32
  }
  return
}
}

// -----

// The end of a dynamic row is only known in the run.
// CHECK-LABEL: func.func @open_rows
// CHECK: vector.store
// CHECK: arith.remui
// CHECK: vector.maskedstore
#id = affine_map<(d0) -> (d0)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @open_rows(%x: memref<?xf32>, %y: memref<?xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  }
  return
}
}

// -----

// Rows are added to a row.
// CHECK-LABEL: func.func @sums
// CHECK: scf.for %[[K:.*]] =
// CHECK: vector.load %arg0[%[[K]]
// CHECK: vector.load %arg1[
// CHECK: vector.store %{{.*}}, %arg1[
#rows = affine_map<(k, j) -> (k, j)>
#columns = affine_map<(k, j) -> (j)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @sums(%x: memref<?x?xf32>, %y: memref<?xf32>) {
  linalg.generic {indexing_maps = [#rows, #columns], iterator_types = ["reduction", "parallel"]} ins(%x : memref<?x?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}
}

// -----

// Left to LLVM: copies, long rows and those of whole vectors, sums along rows, other types, divisions of integers, and
// accesses that are not contiguous.
// CHECK-LABEL: func.func @left
// CHECK-COUNT-7: linalg.generic
// CHECK-NOT: vector.
#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#row = affine_map<(d0, d1) -> (d0)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @left(%x: memref<5x11xf32>, %y: memref<5x11xf32>, %long: memref<5x131xf32>, %whole: memref<5x24xf32>, %sums: memref<5xf32>, %z: memref<11x5xf32>, %half: memref<5x11xf16>, %ints: memref<5x11xi32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<5x11xf32>) outs(%y : memref<5x11xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%long : memref<5x131xf32>) {
  ^bb0(%a: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%whole : memref<5x24xf32>) {
  ^bb0(%a: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<5x11xf32>) outs(%sums : memref<5xf32>) {
  ^bb0(%a: f32, %s: f32):
    %0 = arith.addf %a, %s : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%z : memref<11x5xf32>) outs(%y : memref<5x11xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%half : memref<5x11xf16>) {
  ^bb0(%a: f16):
    %0 = math.absf %a : f16
    linalg.yield %0 : f16
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%ints : memref<5x11xi32>) outs(%ints : memref<5x11xi32>) {
  ^bb0(%a: i32, %b: i32):
    %0 = arith.divsi %a, %b : i32
    linalg.yield %0 : i32
  }
  return
}
}

// -----

// LLVM vectorizes whole vectors, but not their math functions, which it may
// compute per element.
// CHECK-LABEL: func.func @whole_rows
// CHECK: linalg.generic
// CHECK-LABEL: func.func @functions
// CHECK-NOT: linalg.generic
// CHECK: math.erf %{{.*}} : vector<8xf32>
// CHECK: arith.remf %{{.*}}, %{{.*}} : vector<8xf32>
#id = affine_map<(d0) -> (d0)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @whole_rows(%x: memref<4096xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<4096xf32>) outs(%x : memref<4096xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  }
  return
}
func.func @functions(%x: memref<4096xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<4096xf32>) outs(%x : memref<4096xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.erf %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<4096xf32>) outs(%x : memref<4096xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.remf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}
}

// -----

// Must not fire: a diagonal is no row.

// CHECK-LABEL: func.func @diagonal
// CHECK: linalg.generic
#diagonal = affine_map<(d0) -> (d0, d0)>
#id = affine_map<(d0) -> (d0)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @diagonal(%x: memref<11x11xf32>, %y: memref<11xf32>) {
  linalg.generic {indexing_maps = [#diagonal, #id], iterator_types = ["parallel"]} ins(%x : memref<11x11xf32>) outs(%y : memref<11xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  }
  return
}
}

// -----

// Rows of a few whole vectors of bytes, which LLVM would unroll. A row that is
// the only loop, or does not end in a whole vector, is left to LLVM.

// CHECK-LABEL: func.func @bytes
// CHECK: vector.load {{.*}} vector<8xi8>
// CHECK: arith.extui
// CHECK: arith.sitofp
// CHECK: vector.store {{.*}} vector<8xf32>
// CHECK: linalg.generic
// CHECK: linalg.generic
// CHECK-NOT: vector.
// CHECK: return
#swap = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row = affine_map<(d0) -> (d0)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @bytes(%x: memref<4x33x16xi8>, %y: memref<33x4x16xf32>, %r: memref<16xi8>, %s: memref<16xf32>, %v: memref<4x33x12xi8>, %w: memref<33x4x12xf32>) {
  linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : memref<4x33x16xi8>) outs(%y : memref<33x4x16xf32>) {
  ^bb0(%a: i8, %b: f32):
    %0 = arith.extui %a : i8 to i32
    %1 = arith.sitofp %0 : i32 to f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%r : memref<16xi8>) outs(%s : memref<16xf32>) {
  ^bb0(%a: i8, %b: f32):
    %0 = arith.extui %a : i8 to i32
    %1 = arith.sitofp %0 : i32 to f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v : memref<4x33x12xi8>) outs(%w : memref<33x4x12xf32>) {
  ^bb0(%a: i8, %b: f32):
    %0 = arith.extui %a : i8 to i32
    %1 = arith.sitofp %0 : i32 to f32
    linalg.yield %1 : f32
  }
  return
}
}

// -----

// Floats that are rounded to bytes: blocks of four vectors, whose last one ends with the row. An open row may be shorter
// than a block. Its elements are then computed one by one. Other long rows stay, and short ones.

// CHECK-LABEL: func.func @round
// CHECK: scf.for
// CHECK: scf.for %[[AT:.*]] =
// CHECK: %[[LAST:.*]] = arith.constant 968 : index
// CHECK: %[[FIRST:.*]] = arith.minsi %[[AT]], %[[LAST]]
// CHECK: vector.load %arg0[%{{.*}}, %[[FIRST]]] {{.*}} vector<32xf32>
// CHECK: vector.broadcast %{{.*}} : i8 to vector<32xi8>
// CHECK: vector.store {{.*}} vector<32xi8>
// CHECK: %[[FITS:.*]] = arith.cmpi sge
// CHECK: scf.if %[[FITS]]
// CHECK: vector.store {{.*}} vector<32xi8>
// CHECK: else
// CHECK: vector.store {{.*}} vector<1xi8>
// CHECK: linalg.generic
// CHECK: linalg.generic
// CHECK-NOT: vector.
// CHECK: return
#id = affine_map<(d0, d1) -> (d0, d1)>
#none = affine_map<(d0, d1) -> ()>
#row = affine_map<(d0) -> (d0)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @round(%x: memref<4x1000xf32>, %z: memref<i8>, %y: memref<4x1000xi8>, %s: memref<?xf32>, %t: memref<?xi8>, %v: memref<24xf32>, %w: memref<24xi8>) {
  linalg.generic {indexing_maps = [#id, #none, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %z : memref<4x1000xf32>, memref<i8>) outs(%y : memref<4x1000xi8>) {
  ^bb0(%a: f32, %c: i8, %b: i8):
    %0 = math.roundeven %a : f32
    %1 = arith.fptosi %0 : f32 to i32
    %2 = arith.trunci %1 : i32 to i8
    %3 = arith.addi %2, %c : i8
    linalg.yield %3 : i8
  }
  linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%s : memref<?xf32>) outs(%t : memref<?xi8>) {
  ^bb0(%a: f32, %b: i8):
    %0 = math.roundeven %a : f32
    %1 = arith.fptosi %0 : f32 to i32
    %2 = arith.trunci %1 : i32 to i8
    linalg.yield %2 : i8
  }
  linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%s : memref<?xf32>) outs(%t : memref<?xi8>) {
  ^bb0(%a: f32, %b: i8):
    %0 = arith.fptosi %a : f32 to i32
    %1 = arith.trunci %0 : i32 to i8
    linalg.yield %1 : i8
  }
  linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%v : memref<24xf32>) outs(%w : memref<24xi8>) {
  ^bb0(%a: f32, %b: i8):
    %0 = math.roundeven %a : f32
    %1 = arith.fptosi %0 : f32 to i32
    %2 = arith.trunci %1 : i32 to i8
    linalg.yield %2 : i8
  }
  return
}
}
