// RUN: ingot-opt --cpu-contractions-to-vector --split-input-file %s | FileCheck %s

// A product of open sizes: a panel of 16 columns is packed for up to 256 k,
// whole or, behind the last column, under masks; then tiles of 6, 3 and 1 rows.
// CHECK-LABEL: func.func @open
// CHECK: %[[PANEL:.*]] = memref.alloca() {alignment = 64 : i64} : memref<4096xf32>
// CHECK: scf.if
// CHECK: vector.load %arg1
// CHECK: vector.store %{{.*}}, %[[PANEL]]
// CHECK: iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK: memref.load %arg0
// CHECK: vector.fma
// CHECK: } else {
// CHECK: vector.maskedload %arg1
// CHECK: vector.fma
// CHECK: vector.maskedstore %arg2
// CHECK-NOT: linalg.generic
#a = affine_map<(i, k, j) -> (i, k)>
#b = affine_map<(i, k, j) -> (k, j)>
#c = affine_map<(i, k, j) -> (i, j)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @open(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]} ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>) {
  ^bb0(%x: f32, %w: f32, %sum: f32):
    %0 = arith.mulf %x, %w : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
}

// -----

// Columns that are rows are turned, 8 by 8; bf16 is widened where it is packed.
// CHECK-LABEL: func.func @turned
// CHECK-COUNT-8: vector.load %arg1{{.*}} : memref<4x?x?xbf16>, vector<8xbf16>
// CHECK: vector.shuffle
// CHECK: memref.load %arg0
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: vector.fma
#a = affine_map<(n, i, k, j) -> (n, i, k)>
#b = affine_map<(n, i, k, j) -> (n, j, k)>
#c = affine_map<(n, i, k, j) -> (n, i, j)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @turned(%a: memref<4x?x?xbf16>, %b: memref<4x?x?xbf16>, %c: memref<4x?x?xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%a, %b : memref<4x?x?xbf16>, memref<4x?x?xbf16>) outs(%c : memref<4x?x?xf32>) {
  ^bb0(%x: bf16, %w: bf16, %sum: f32):
    %2 = arith.extf %x : bf16 to f32
    %3 = arith.extf %w : bf16 to f32
    %0 = arith.mulf %2, %3 : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
}

// -----

// Not a row alone, another sum, integers, or a right factor with neither k nor
// columns side by side.
// CHECK-LABEL: func.func @left
// CHECK-COUNT-4: linalg.generic
// CHECK-NOT: vector.
#a = affine_map<(i, k, j) -> (i, k)>
#b = affine_map<(i, k, j) -> (k, j)>
#c = affine_map<(i, k, j) -> (i, j)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @left(%a: memref<1x?xf32>, %b: memref<?x?xf32>, %c: memref<1x?xf32>, %d: memref<?x?xf32>, %e: memref<?x?xf32>, %i: memref<?x?xi32>, %strided: memref<?x?xf32, strided<[?, 2]>>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]} ins(%a, %b : memref<1x?xf32>, memref<?x?xf32>) outs(%c : memref<1x?xf32>) {
  ^bb0(%x: f32, %w: f32, %sum: f32):
    %0 = arith.mulf %x, %w : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]} ins(%d, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%e : memref<?x?xf32>) {
  ^bb0(%x: f32, %w: f32, %sum: f32):
    %0 = arith.mulf %x, %w : f32
    %1 = arith.maximumf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]} ins(%i, %i : memref<?x?xi32>, memref<?x?xi32>) outs(%i : memref<?x?xi32>) {
  ^bb0(%x: i32, %w: i32, %sum: i32):
    %0 = arith.muli %x, %w : i32
    %1 = arith.addi %sum, %0 : i32
    linalg.yield %1 : i32
  }
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]} ins(%d, %strided : memref<?x?xf32>, memref<?x?xf32, strided<[?, 2]>>) outs(%e : memref<?x?xf32>) {
  ^bb0(%x: f32, %w: f32, %sum: f32):
    %0 = arith.mulf %x, %w : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
}
