// RUN: ingot-opt --cpu-contractions-to-vector --split-input-file %s | FileCheck %s

// A product of dynamic sizes. Four panels of 16 columns are packed for up to
// 256 k; behind the last column, panels are packed one by one under masks. Then
// come tiles of 6, 3 and 1 rows of each.
// CHECK-LABEL: func.func @open
// CHECK: %[[PANEL:.*]] = memref.alloca() {alignment = 64 : i64} : memref<16384xf32>
// CHECK: scf.if
// CHECK-COUNT-8: vector.load %arg1
// CHECK: vector.store %{{.*}}, %[[PANEL]]
// CHECK: } else {
// CHECK: vector.maskedload %arg1
// CHECK: scf.for
// CHECK: scf.if
// CHECK: iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK: memref.load %arg0
// CHECK: vector.fma
// CHECK: } else {
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

// Columns that are stored as rows are transposed, 8 by 8. bf16 is widened while
// it is packed.
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

// Must not fire: a single row, another sum, integers of 64 bits, or a right
// operand with neither k nor columns contiguous.
// CHECK-LABEL: func.func @left
// CHECK-COUNT-4: linalg.generic
// CHECK-NOT: vector.
#a = affine_map<(i, k, j) -> (i, k)>
#b = affine_map<(i, k, j) -> (k, j)>
#c = affine_map<(i, k, j) -> (i, j)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @left(%a: memref<1x?xf32>, %b: memref<?x?xf32>, %c: memref<1x?xf32>, %d: memref<?x?xf32>, %e: memref<?x?xf32>, %i: memref<?x?xi64>, %strided: memref<?x?xf32, strided<[?, 2]>>) {
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
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]} ins(%i, %i : memref<?x?xi64>, memref<?x?xi64>) outs(%i : memref<?x?xi64>) {
  ^bb0(%x: i64, %w: i64, %sum: i64):
    %0 = arith.muli %x, %w : i64
    %1 = arith.addi %sum, %0 : i64
    linalg.yield %1 : i64
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

// -----

// int16 values are multiplied in pairs of k, and are packed as pairs. The last
// pair has zero as its second element. Two int16 values of the left operand are
// loaded at once. Columns that fill no panel are packed one by one.
// CHECK-LABEL: func.func @words
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<16384xi32>
// CHECK: vector.load %arg1{{.*}} : memref<?x?xi16>, vector<8xi16>
// CHECK: vector.load %arg1{{.*}} : memref<?x?xi16>, vector<8xi16>
// CHECK: arith.shli {{.*}} : vector<8xi32>
// CHECK: arith.ori {{.*}} : vector<8xi32>
// CHECK-NOT: vector.maskedload %arg1
// CHECK: memref.load %arg1
// CHECK: vector.load %arg0{{.*}} : memref<?x?xi16>, vector<2xi16>
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// CHECK: memref.load %arg0
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
#a = affine_map<(i, k, j) -> (i, k)>
#b = affine_map<(i, k, j) -> (k, j)>
#c = affine_map<(i, k, j) -> (i, j)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @words(%a: memref<?x?xi16>, %b: memref<?x?xi16>, %c: memref<?x?xi32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]} ins(%a, %b : memref<?x?xi16>, memref<?x?xi16>) outs(%c : memref<?x?xi32>) {
  ^bb0(%x: i16, %w: i16, %sum: i32):
    %0 = arith.extsi %x : i16 to i32
    %1 = arith.extsi %w : i16 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %sum, %2 : i32
    linalg.yield %3 : i32
  }
  return
}
}

// -----

// A vector has half as many f64, which are transposed element by element.
// CHECK-LABEL: func.func @doubles
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<8192xf64>
// CHECK: memref.load %arg1{{.*}} : memref<?x?xf64>
// CHECK: memref.load %arg0
// CHECK: vector.fma {{.*}} : vector<4xf64>
#a = affine_map<(i, k, j) -> (i, k)>
#b = affine_map<(i, k, j) -> (j, k)>
#c = affine_map<(i, k, j) -> (i, j)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @doubles(%a: memref<?x?xf64>, %b: memref<?x?xf64>, %c: memref<?x?xf64>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]} ins(%a, %b : memref<?x?xf64>, memref<?x?xf64>) outs(%c : memref<?x?xf64>) {
  ^bb0(%x: f64, %w: f64, %sum: f64):
    %0 = arith.mulf %x, %w : f64
    %1 = arith.addf %sum, %0 : f64
    linalg.yield %1 : f64
  }
  return
}
}

// -----

// A convolution: the loop over taps is outside. The loop over rows of pixels is
// inside of the packing, since the weights do not depend on it.
// CHECK-LABEL: func.func @windows
// CHECK: scf.for %[[TAP:.*]] = %{{.*}} to %c3
// CHECK: vector.load %arg1[%[[TAP]],
// CHECK: scf.for
// CHECK: memref.load %arg0
// CHECK: vector.fma
#x = affine_map<(n, p, t, q, c, o) -> (n, p, q * 2 + t, c)>
#w = affine_map<(n, p, t, q, c, o) -> (t, c, o)>
#y = affine_map<(n, p, t, q, c, o) -> (n, p, q, o)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @windows(%x: memref<?x?x?x?xf32>, %w: memref<3x?x?xf32>, %y: memref<?x?x?x?xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction", "parallel", "reduction", "parallel"]} ins(%x, %w : memref<?x?x?x?xf32>, memref<3x?x?xf32>) outs(%y : memref<?x?x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
}

// -----

// Bytes are widened while they are packed. Bytes behind the last column are
// packed one by one.
// CHECK-LABEL: func.func @bytes
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<16384xi32>
// CHECK: vector.load %arg1{{.*}} : memref<?x?xi8>, vector<8xi8>
// CHECK: arith.extsi %{{.*}} : vector<8xi8> to vector<8xi32>
// CHECK: } else {
// CHECK-NOT: vector.maskedload
// CHECK: arith.extsi %{{.*}} : i8 to i32
// CHECK: arith.extui %{{.*}} : i8 to i32
// CHECK: arith.muli %{{.*}} : vector<8xi32>
#a = affine_map<(i, k, j) -> (i, k)>
#b = affine_map<(i, k, j) -> (k, j)>
#c = affine_map<(i, k, j) -> (i, j)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @bytes(%a: memref<?x?xi8>, %b: memref<?x?xi8>, %c: memref<?x?xi32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]} ins(%a, %b : memref<?x?xi8>, memref<?x?xi8>) outs(%c : memref<?x?xi32>) {
  ^bb0(%x: i8, %w: i8, %sum: i32):
    %2 = arith.extui %x : i8 to i32
    %3 = arith.extsi %w : i8 to i32
    %0 = arith.muli %2, %3 : i32
    %1 = arith.addi %sum, %0 : i32
    linalg.yield %1 : i32
  }
  return
}
}

// -----

// Fewer than four columns: rows are summed along k, if k fills two vectors,
// with four vectors side by side. A run with fewer than four rows uses no
// panels, either.
// CHECK-LABEL: func.func @few
// CHECK: arith.cmpi sge, %{{.*}}, %c16
// CHECK: scf.if
// CHECK: iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK: vector.reduction <add>
// CHECK: } else {
// CHECK-NOT: vector.
// CHECK: arith.addf
// CHECK-LABEL: func.func @few_rows
// CHECK: arith.cmpi slt, %{{.*}}, %c4
// CHECK: scf.if
// CHECK: vector.load %arg2
// CHECK-COUNT-4: vector.fma
// CHECK: } else {
// CHECK: iter_args
#a = affine_map<(i, k, j) -> (i, k)>
#b = affine_map<(i, k, j) -> (k, j)>
#c = affine_map<(i, k, j) -> (i, j)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @few(%a: memref<?x?xf32>, %b: memref<?x3xf32>, %c: memref<?x3xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]} ins(%a, %b : memref<?x?xf32>, memref<?x3xf32>) outs(%c : memref<?x3xf32>) {
  ^bb0(%x: f32, %w: f32, %sum: f32):
    %0 = arith.mulf %x, %w : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
func.func @few_rows(%a: memref<?x?xf32>, %b: memref<?x64xf32>, %c: memref<?x64xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]} ins(%a, %b : memref<?x?xf32>, memref<?x64xf32>) outs(%c : memref<?x64xf32>) {
  ^bb0(%x: f32, %w: f32, %sum: f32):
    %0 = arith.mulf %x, %w : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
}
