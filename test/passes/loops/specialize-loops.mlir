// RUN: ingot-opt --specialize-loops --split-input-file %s | FileCheck %s

// Four cases: direct operands; one operand is a single row; a single element
// per row; the original loop.
// CHECK-LABEL: func.func @row
// CHECK: scf.if
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1 : memref<?x?xf32>, memref<?x?xf32>) outs(%arg2
// CHECK-NOT: memref.load
// CHECK: } else {
// CHECK: scf.if
// CHECK: %[[STEP:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : index
// CHECK: %[[ROWS:.*]] = memref.reinterpret_cast %arg1 to offset: [0], sizes: [%{{.*}}, %{{.*}}], strides: [%[[STEP]], 1]
// CHECK: linalg.generic {{.*}} ins(%arg0, %[[ROWS]] : memref<?x?xf32>, memref<?x?xf32, strided<[?, 1]>>)
// CHECK: } else {
// CHECK: scf.if
// CHECK: %[[FIRST:.*]] = memref.reinterpret_cast %arg1 to offset: [0], sizes: [%{{.*}}], strides: [%{{.*}}]
// CHECK: linalg.generic {{.*}} ins(%arg0, %[[FIRST]] : memref<?x?xf32>, memref<?xf32, strided<[?]>>)
// CHECK: } else {
// CHECK: linalg.generic
// CHECK: memref.load %arg1
#id = affine_map<(i, j) -> (i, j)>
func.func @row(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %z: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %y, %c0 : memref<?x?xf32>
  %single = arith.cmpi eq, %n, %c1 : index
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<?x?xf32>) outs(%z : memref<?x?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %m = memref.dim %y, %c1 : memref<?x?xf32>
    %alone = arith.cmpi eq, %m, %c1 : index
    %row = arith.select %single, %c0, %i : index
    %column = arith.select %alone, %c0, %j : index
    %b = memref.load %y[%row, %column] : memref<?x?xf32>
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

// A branch with a condition known before the loop: a loop for each side.
// CHECK-LABEL: func.func @branch
// CHECK: %[[SOME:.*]] = arith.cmpi sgt
// CHECK: scf.if %[[SOME]] {
// CHECK: linalg.generic
// CHECK-NOT: scf.if
// CHECK: memref.load %arg0
// CHECK: linalg.yield
// CHECK: } else {
// CHECK: linalg.generic
// CHECK-NOT: scf.if
// CHECK-NOT: memref.load
// CHECK: %[[ZERO:.*]] = arith.constant 0.0
// CHECK: linalg.yield %[[ZERO]]
// CHECK: return
#id = affine_map<(i) -> (i)>
func.func @branch(%table: memref<?xf32>, %at: memref<?xindex>, %z: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %table, %c0 : memref<?xf32>
  %some = arith.cmpi sgt, %n, %c0 : index
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%at : memref<?xindex>) outs(%z : memref<?xf32>) {
  ^bb0(%i: index, %out: f32):
    %read = scf.if %some -> f32 {
      %entry = memref.load %table[%i] : memref<?xf32>
      scf.yield %entry : f32
    } else {
      %zero = arith.constant 0.0 : f32
      scf.yield %zero : f32
    }
    linalg.yield %read : f32
  }
  return
}

// -----

// Must not fire: conditions and elements that differ, and columns in front of
// rows.
// CHECK-LABEL: func.func @left
// CHECK-NOT: scf.if %
// CHECK: linalg.generic
// CHECK: scf.if
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
#id = affine_map<(i, j) -> (i, j)>
func.func @left(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %z: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %y, %c0 : memref<?x?xf32>
  %single = arith.cmpi eq, %n, %c1 : index
  %limit = arith.constant 1.0 : f32
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<?x?xf32>) outs(%z : memref<?x?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %less = arith.cmpf olt, %a, %limit : f32
    %read = scf.if %less -> f32 {
      %entry = memref.load %y[%c0, %c0] : memref<?x?xf32>
      scf.yield %entry : f32
    } else {
      scf.yield %limit : f32
    }
    linalg.yield %read : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<?x?xf32>) outs(%z : memref<?x?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %column = arith.select %single, %c0, %j : index
    %b = memref.load %y[%column, %i] : memref<?x?xf32>
    linalg.yield %b : f32
  }
  return
}
