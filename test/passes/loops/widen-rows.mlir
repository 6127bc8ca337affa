// RUN: ingot-opt --widen-rows --split-input-file %s | FileCheck %s

// 16 rows of 8 elements become one of 128. The operand with one row is
// repeated. The remaining 2 rows are one row.
// CHECK-LABEL: func.func @pixels
// CHECK: %[[ROW:.*]] = memref.alloca() {alignment = 64 : i64} : memref<128xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : memref<8xf32, {{.*}}>) outs(%{{.*}} : memref<16x8xf32, {{.*}}>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : memref<72x128xf32, {{.*}}>, memref<128xf32, {{.*}}>) outs(%{{.*}} : memref<72x128xf32, {{.*}}>)
// CHECK: arith.mulf
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : memref<1x16xf32, {{.*}}>, memref<16xf32, {{.*}}>) outs(%{{.*}} : memref<1x16xf32, {{.*}}>)
// CHECK: arith.mulf
// CHECK-NOT: linalg.generic
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
func.func @pixels(%x: memref<1154x8xf32>, %s: memref<8xf32>, %y: memref<1154x8xf32>) {
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s : memref<1154x8xf32>, memref<8xf32>) outs(%y : memref<1154x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}
}

// -----

// Operands are repeated for each image. 8 rows of 11 are 11 vectors of 8; 16 rows have more than 128 elements. An
// operand with one element per image is not repeated.
// CHECK-LABEL: func.func @images
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<176xf32>
// CHECK: scf.for
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : memref<16x11xf32, {{.*}}>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}} : memref<25x176xf32, {{.*}}>, memref<176xf32, {{.*}}>, memref<f32, {{.*}}>)
// CHECK-NOT: linalg.generic
#id = affine_map<(n, p, c) -> (n, p, c)>
#row = affine_map<(n, p, c) -> (n, c)>
#one = affine_map<(n, p, c) -> (n)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @images(%x: memref<3x400x11xf32>, %s: memref<3x11xf32>, %t: memref<3xf32>) {
  linalg.generic {indexing_maps = [#id, #row, #one, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s, %t : memref<3x400x11xf32>, memref<3x11xf32>, memref<3xf32>) outs(%x : memref<3x400x11xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %c : f32
    linalg.yield %1 : f32
  }
  return
}
}

// -----

// A run checks if dynamic rows are short, many, and contiguous.
// CHECK-LABEL: func.func @open
// CHECK: arith.cmpi ult, %{{.*}}, %c128
// CHECK: scf.if
// CHECK: linalg.generic
// CHECK: linalg.generic
// CHECK: linalg.generic
// CHECK: else
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1 :
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @open(%x: memref<?x?xf32, strided<[?, 1]>>, %s: memref<?xf32>, %y: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s : memref<?x?xf32, strided<[?, 1]>>, memref<?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}
}

// -----

// Must not fire: long rows, those of a few whole vectors, few rows, an element
// for each row, rows that are not contiguous, and sums.
// CHECK-LABEL: func.func @left
// CHECK-COUNT-6: linalg.generic
// CHECK-NOT: linalg.generic
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
#one = affine_map<(d0, d1) -> (d0)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @left(%long: memref<500x131xf32>, %b131: memref<131xf32>, %whole: memref<500x16xf32>, %b16: memref<16xf32>, %few: memref<20x11xf32>, %b11: memref<11xf32>, %x: memref<500x11xf32>, %each: memref<500xf32>, %apart: memref<500x11xf32, strided<[12, 1]>>) {
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%b131 : memref<131xf32>) outs(%long : memref<500x131xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%b16 : memref<16xf32>) outs(%whole : memref<500x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%b11 : memref<11xf32>) outs(%few : memref<20x11xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#row, #one, #id], iterator_types = ["parallel", "parallel"]} ins(%b11, %each : memref<11xf32>, memref<500xf32>) outs(%x : memref<500x11xf32>) {
  ^bb0(%a: f32, %e: f32, %b: f32):
    %0 = arith.addf %a, %e : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%b11 : memref<11xf32>) outs(%apart : memref<500x11xf32, strided<[12, 1]>>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["reduction", "parallel"]} ins(%x : memref<500x11xf32>) outs(%b11 : memref<11xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}
}
