// RUN: ingot-opt --ingot-skip-empty-loops --split-input-file %s | FileCheck %s

// The outer loop takes no steps if the buffer is empty.

// CHECK-LABEL: func.func @rows
// CHECK: %[[N:.*]] = memref.dim %arg0, %c0
// CHECK: %[[NONE:.*]] = arith.ori
// CHECK: %[[ROWS:.*]] = arith.select %[[NONE]], %c0, %[[N]] : index
// CHECK: scf.for %{{.*}} = %c0 to %[[ROWS]]
// CHECK-NOT: arith.select
func.func @rows(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %sum = scf.for %j = %c0 to %m step %c1 iter_args(%s = %zero) -> (f32) {
      %v = memref.load %x[%i, %j] : memref<?x?xf32>
      %t = arith.addf %s, %v : f32
      memref.store %t, %y[%i, %j] : memref<?x?xf32>
      scf.yield %t : f32
    }
  }
  return
}

// -----

// All buffers that the loop writes must be empty, also through views. A buffer
// of the loop itself does not count.

// CHECK-LABEL: func.func @slices
// CHECK-DAG: %[[A:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : index
// CHECK: %[[BOTH:.*]] = arith.andi
// CHECK: arith.select %[[BOTH]]
func.func @slices(%y: memref<?x8xf32>, %z: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %own = memref.alloc() : memref<8xf32>
    linalg.fill ins(%zero : f32) outs(%own : memref<8xf32>)
    %row = memref.subview %y[%i, 0] [1, 8] [1, 1] : memref<?x8xf32> to memref<1x8xf32, strided<[8, 1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%row : memref<1x8xf32, strided<[8, 1], offset: ?>>)
    linalg.fill ins(%zero : f32) outs(%z : memref<?xf32>)
  }
  return
}

// -----

// Must not fire: a loop with results, a loop that writes to a buffer with
// elements, a loop with checks, and loops that are no nest.

// CHECK-LABEL: func.func @stay
// CHECK-NOT: arith.select
func.func @stay(%y: memref<?xf32>, %w: memref<4xf32>, %n: index, %ok: i1, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %given = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) {
    linalg.fill ins(%zero : f32) outs(%y : memref<?xf32>)
    scf.yield %s : f32
  }
  scf.for %i = %c0 to %n step %c1 {
    linalg.fill ins(%zero : f32) outs(%y : memref<?xf32>)
    linalg.fill ins(%zero : f32) outs(%w : memref<4xf32>)
  }
  scf.for %i = %c0 to %n step %c1 {
    ingot.require %ok, "not"
    linalg.fill ins(%zero : f32) outs(%y : memref<?xf32>)
  }
  scf.for %i = %c0 to %n step %c1 {
    memref.store %zero, %y[%i] : memref<?xf32>
  }
  return %given : f32
}
