// RUN: ingot-opt %s --ingot-canonicalize | FileCheck %s

// CHECK-LABEL: func.func @folds
// CHECK-SAME: (%[[X:.*]]: index)
func.func @folds(%x: index) -> index {
  // CHECK-NEXT: return %[[X]]
  %zero = arith.constant 0 : index
  %sum = arith.addi %x, %zero : index
  return %sum : index
}

// What has an effect stays.
// CHECK-LABEL: func.func @keeps
func.func @keeps(%to: memref<4xf32>, %i: index) {
  // CHECK: %[[ONE:.*]] = arith.constant 1.0
  // CHECK: memref.store %[[ONE]]
  %one = arith.constant 1.0 : f32
  %dead = arith.addf %one, %one : f32
  memref.store %one, %to[%i] : memref<4xf32>
  return
}

// Where there are several blocks, the one that nothing reaches is dropped, in
// whatever function it is.
// CHECK-LABEL: func.func @reaches
// CHECK-NOT: memref.store
// CHECK: return
func.func @reaches(%to: memref<4xf32>, %i: index) {
  return
^dead:
  %one = arith.constant 1.0 : f32
  memref.store %one, %to[%i] : memref<4xf32>
  cf.br ^dead
}
