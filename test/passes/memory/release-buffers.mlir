// RUN: ingot-opt --plan-memory --split-input-file --verify-diagnostics %s | FileCheck %s

// Buffers that a step of a loop allocates are released by the next step; those
// of the last step after their last use.

// CHECK-LABEL: @steps
// CHECK: %[[INIT:.*]] = memref.alloc(%arg1)
// CHECK: %[[Y:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %[[INIT]])
// CHECK: %[[NEXT:.*]] = memref.alloc
// CHECK: memref.dealloc %[[A]]
// CHECK-NEXT: scf.yield %[[NEXT]]
// CHECK: memref.load %[[Y]]
// CHECK-NEXT: memref.dealloc %[[Y]]
// CHECK-NOT: memref.dealloc
func.func @steps(%x: memref<?xf32>, %n: index, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = memref.alloc(%n) : memref<?xf32>
  linalg.copy ins(%x : memref<?xf32>) outs(%init : memref<?xf32>)
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> (memref<?xf32>) {
    %next = memref.alloc(%n) : memref<?xf32>
    linalg.exp ins(%a : memref<?xf32>) outs(%next : memref<?xf32>)
    scf.yield %next : memref<?xf32>
  }
  %r = memref.load %y[%c0] : memref<?xf32>
  return %r : f32
}

// -----

// The regions of a while may take values in different orders.

// CHECK-LABEL: @while
// CHECK: scf.while (%{{.*}} = %true, %[[B:.*]] = %{{.*}})
// CHECK: scf.condition(%{{.*}}) %[[B]]
// CHECK: ^bb0(%[[A:.*]]: memref<?xf32>):
// CHECK: memref.dealloc %[[A]]
// CHECK-NEXT: scf.yield
// CHECK: memref.dealloc
// CHECK-NOT: memref.dealloc
func.func @while(%x: memref<?xf32>, %n: index, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}) -> f32 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %true = arith.constant true
  %init = memref.alloc(%n) : memref<?xf32>
  linalg.copy ins(%x : memref<?xf32>) outs(%init : memref<?xf32>)
  %y = scf.while (%go = %true, %b = %init) : (i1, memref<?xf32>) -> memref<?xf32> {
    scf.condition(%go) %b : memref<?xf32>
  } do {
  ^bb0(%a: memref<?xf32>):
    %next = memref.alloc(%n) : memref<?xf32>
    linalg.exp ins(%a : memref<?xf32>) outs(%next : memref<?xf32>)
    %f = memref.load %next[%c0] : memref<?xf32>
    %go = arith.cmpf olt, %f, %zero : f32
    scf.yield %go, %next : i1, memref<?xf32>
  }
  %r = memref.load %y[%c0] : memref<?xf32>
  return %r : f32
}

// -----

// A state that the loop does not own stays until the end of the run.

// CHECK-LABEL: @shared
// CHECK: scf.for
// CHECK-NOT: memref.dealloc %{{.*}} : memref<?xf32>
// CHECK: scf.yield
func.func @shared(%x: memref<?xf32>, %n: index, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (memref<?xf32>) {
    %next = memref.alloc(%n) : memref<?xf32>
    linalg.exp ins(%a : memref<?xf32>) outs(%next : memref<?xf32>)
    scf.yield %next : memref<?xf32>
  }
  %r = memref.load %y[%c0] : memref<?xf32>
  return %r : f32
}

// -----

// Buffers of a step share memory if they are not live at the same time.

// CHECK: ingot.arena_bytes = 64
// CHECK-LABEL: @inside
func.func @inside(%x: memref<4xf32>, %n: index, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloc() : memref<4xf32>
    linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
    linalg.exp ins(%a : memref<4xf32>) outs(%x : memref<4xf32>)
    %b = memref.alloc() : memref<4xf32>
    linalg.exp ins(%x : memref<4xf32>) outs(%b : memref<4xf32>)
    linalg.exp ins(%b : memref<4xf32>) outs(%x : memref<4xf32>)
  }
  return
}

// -----

func.func @one_place(%n: index, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = memref.alloc() : memref<4xf32>
  // expected-error @+1 {{carries a buffer that each step makes anew at one place of the arena}}
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> (memref<4xf32>) {
    %next = memref.alloc() : memref<4xf32>
    scf.yield %next : memref<4xf32>
  }
  return
}
