// RUN: ingot-opt --collapse-loops --split-input-file %s | FileCheck %s

// Loops over contiguous elements become one, of static and of dynamic size.
// CHECK-LABEL: func.func @contiguous
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%{{.*}} : memref<20020xf32>) outs(%{{.*}} : memref<20020xf32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%{{.*}} : memref<?xf32>) outs(%{{.*}} : memref<?xf32>)
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @contiguous(%x: memref<143x14x10xf32>, %y: memref<143x14x10xf32>, %v: memref<?x14x?xf32>, %w: memref<?x14x?xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : memref<143x14x10xf32>) outs(%y : memref<143x14x10xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v : memref<?x14x?xf32>) outs(%w : memref<?x14x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Only loops that are contiguous in every operand are collapsed: a part of a
// wider buffer, and an operand that broadcasts.
// CHECK-LABEL: func.func @partly
// CHECK: iterator_types = ["parallel", "parallel"]} ins(%{{.*}} : memref<12x3108xf32>) outs(%{{.*}} : memref<12x3108xf32, strided<[6216, 1]>>)
// CHECK: iterator_types = ["parallel", "parallel"]} ins(%{{.*}}, %{{.*}} : memref<12x3108xf32>, memref<12xf32>)
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#first = affine_map<(d0, d1, d2) -> (d0)>
func.func @partly(%x: memref<12x42x74xf32>, %y: memref<12x42x74xf32, strided<[6216, 74, 1]>>, %scale: memref<12xf32>, %z: memref<12x42x74xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : memref<12x42x74xf32>) outs(%y : memref<12x42x74xf32, strided<[6216, 74, 1]>>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#id, #first, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %scale : memref<12x42x74xf32>, memref<12xf32>) outs(%z : memref<12x42x74xf32>) {
  ^bb0(%a: f32, %s: f32, %b: f32):
    %0 = arith.mulf %a, %s : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// An operand that is read and written at the same place is one view, so that
// LLVM sees that both are equal.
// CHECK-LABEL: func.func @in_place
// CHECK: %[[X:.*]] = memref.collapse_shape %arg0
// CHECK: %[[Y:.*]] = memref.collapse_shape %arg1
// CHECK: ins(%[[X]], %[[Y]] : {{.*}}) outs(%[[X]] : memref<20020xf32>)
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @in_place(%x: memref<143x14x10xf32>, %y: memref<143x14x10xf32>) {
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %y : memref<143x14x10xf32>, memref<143x14x10xf32>) outs(%x : memref<143x14x10xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Must not fire: a reduction beside a parallel loop, a transpose, and an op
// that uses its index.
// CHECK-LABEL: func.func @apart
// CHECK: iterator_types = ["parallel", "reduction"]
// CHECK: iterator_types = ["parallel", "parallel"]} ins(%{{.*}} : memref<4x8xf32>) outs(%{{.*}} : memref<8x4xf32>)
// CHECK: iterator_types = ["parallel", "parallel"]} outs(%{{.*}} : memref<8x4xf32>)
#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @apart(%x: memref<4x8xf32>, %sums: memref<4xf32>, %y: memref<8x4xf32>) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4x8xf32>) outs(%sums : memref<4xf32>) {
  ^bb0(%a: f32, %s: f32):
    %0 = arith.addf %a, %s : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<4x8xf32>) outs(%y : memref<8x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%y : memref<8x4xf32>) {
  ^bb0(%b: f32):
    %0 = linalg.index 0 : index
    %1 = arith.index_cast %0 : index to i32
    %2 = arith.sitofp %1 : i32 to f32
    linalg.yield %2 : f32
  }
  return
}

// -----

// A dimension that is read at a single index is dropped.
// CHECK-LABEL: func.func @single_places
// CHECK: %[[S:.*]] = memref.subview %arg1[0, 0, 0, 0] [2, 1, 1, 8] [1, 1, 1, 1] : memref<2x1x1x8xf32> to memref<2x8xf32, strided<[8, 1]>>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : memref<2x1152x8xf32>, memref<2x8xf32, strided<[8, 1]>>) outs(%{{.*}} : memref<2x1152x8xf32>)
#id = affine_map<(n, h, w, c) -> (n, h, w, c)>
#channels = affine_map<(n, h, w, c) -> (n, 0, 0, c)>
func.func @single_places(%x: memref<2x12x96x8xf32>, %s: memref<2x1x1x8xf32>) {
  linalg.generic {indexing_maps = [#id, #channels, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %s : memref<2x12x96x8xf32>, memref<2x1x1x8xf32>) outs(%x : memref<2x12x96x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Must not fire: of two dimensions of size 1, one is read along a loop.
// CHECK-LABEL: func.func @one_of_two
// CHECK-NOT: memref.subview
// CHECK: return
#all = affine_map<(a, b, c) -> (a, b, c)>
#one = affine_map<(a, b, c) -> (a, 0, c)>
func.func @one_of_two(%x: memref<1x?x?xf32>, %s: memref<1x1x?xf32>) {
  linalg.generic {indexing_maps = [#all, #one, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s : memref<1x?x?xf32>, memref<1x1x?xf32>) outs(%x : memref<1x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}
