// RUN: ingot-opt --lower-control-flow %s | FileCheck %s

// A sequence of conditions, one of them around a loop: ops in between stay in
// order.

// CHECK-LABEL: func.func @row(
// CHECK-SAME: %[[M:.*]]: memref<?xf32>, %[[A:.*]]: i1, %[[B:.*]]: i1
// CHECK: %[[ONE:.*]] = arith.constant 1.0
// CHECK: cf.cond_br %[[A]], ^[[THEN:.*]], ^[[NEXT:.*]]
// CHECK: ^[[THEN]]:
// CHECK-NEXT: memref.store %[[ONE]]
// CHECK-NEXT: cf.br ^[[NEXT]]
// CHECK: ^[[NEXT]]:
// CHECK-NEXT: memref.load
// CHECK: cf.cond_br %[[B]], ^[[LOOP:.*]], ^[[ELSE:.*]]
// CHECK: ^[[LOOP]]:
// CHECK-NEXT: cf.br ^[[HEAD:.*]](%{{.*}} : index)
// CHECK: ^[[HEAD]](%[[I:.*]]: index):
// CHECK-NEXT: %[[MORE:.*]] = arith.cmpi slt, %[[I]]
// CHECK-NEXT: cf.cond_br %[[MORE]], ^[[BODY:.*]], ^[[DONE:.*]]
// CHECK: ^[[ELSE]]:
// CHECK-NEXT: cf.br ^[[LAST:.*]](%{{.*}} : f32)
// CHECK: ^[[LAST]](%[[R:.*]]: f32):
// CHECK: return %[[R]]
// CHECK-NOT: scf.
func.func @row(%m: memref<?xf32>, %a: i1, %b: i1, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  scf.if %a {
    memref.store %one, %m[%c0] : memref<?xf32>
  }
  %x = memref.load %m[%c0] : memref<?xf32>
  %r = scf.if %b -> f32 {
    scf.for %i = %c0 to %n step %c1 {
      memref.store %x, %m[%i] : memref<?xf32>
    }
    scf.yield %one : f32
  } else {
    scf.yield %x : f32
  }
  return %r : f32
}

// A parallel loop becomes a serial loop first.

// CHECK-LABEL: func.func @parallel(
// CHECK-NOT: scf.
// CHECK: cf.cond_br
// CHECK: return
func.func @parallel(%m: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.store %one, %m[%i] : memref<?xf32>
  }
  return
}
