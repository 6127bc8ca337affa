// RUN: ingot-opt --cpu-schedule --outline-kernels --cpu-recurrent-to-vector --canonicalize --split-input-file --verify-diagnostics %s | FileCheck %s

// Two directions of one sequence are two tasks. Every other step goes through the panels backwards. A single row takes
// whole panels, 2 vectors of 16. 40 units are 2 vectors and a masked one.

module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
// CHECK-LABEL: func.func @directions
// CHECK: %[[TASKS:.*]] = arith.constant 2 : index
// CHECK: cpu.launch @recurrent.0({{.*}}) tasks(%[[TASKS]]) writes 6
// CHECK-LABEL: func.func private @recurrent.0
// CHECK: scf.if
// CHECK: scf.for
// CHECK: %[[ODD:.*]] = arith.cmpi eq
// CHECK: scf.for %[[I:.*]] =
// CHECK: %[[BACK:.*]] = arith.subi %c1{{.*}}, %[[I]]
// CHECK: arith.select %[[ODD]], %[[BACK]], %[[I]]
// CHECK: memref.prefetch
// CHECK: vector.fma {{.*}} : vector<16xf32>
// CHECK: math.tanh {{.*}} : vector<16xf32>
// CHECK: vector.maskedstore
// CHECK: scf.if
// CHECK: vector.fma {{.*}} : vector<16xf32>
// CHECK-NOT: cpu.recurrent
func.func @directions(%x: memref<9x1x40xf32>, %r: memref<2x40x32xf32>, %y: memref<9x1x40xf32>, %z: memref<9x1x40xf32>, %h: memref<1x40xf32>, %g: memref<1x40xf32>, %room: memref<1x64xf32>, %more: memref<1x64xf32>) {
  cpu.recurrent ins(%x, %x : memref<9x1x40xf32>, memref<9x1x40xf32>) weights(%r, %r : memref<2x40x32xf32>, memref<2x40x32xf32>)
      outs(%y, %z, %h, %g, %room, %more : memref<9x1x40xf32>, memref<9x1x40xf32>, memref<1x40xf32>, memref<1x40xf32>, memref<1x64xf32>, memref<1x64xf32>)
      attributes {reverse = array<i1: false, true>, gates = array<i64: 1>, num_states = 1 : i64, stores_all} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.addf %a, %b : f32
    %1 = math.tanh %0 : f32
    cpu.yield %1, %1 : f32, f32
  }
  return
}
}

// -----

// Dynamic sizes: a block of 8 sequences is a task, which takes 4, 2 and 1 at a time. The reset comes before the product
// that reads it. Rows behind the end of a sequence keep their state.

module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
// CHECK-LABEL: func.func @open
// CHECK: %[[SEVEN:.*]] = arith.addi %{{.*}}, %c7
// CHECK: %[[TASKS:.*]] = arith.divui %[[SEVEN]], %c8
// CHECK: %[[ANY:.*]] = arith.muli %[[TASKS]], %{{.*}} : index
// CHECK: cpu.launch @recurrent.0({{.*}}) tasks(%[[ANY]]) writes 2
// CHECK-LABEL: func.func private @recurrent.0
// Iterations of four steps for four sequences, of two steps for two.
// CHECK-COUNT-32: vector.fma
// CHECK-NEXT: scf.yield
// CHECK-COUNT-8: vector.fma
// CHECK-NEXT: scf.yield
// CHECK: math.tanh {{.*}} : vector<8xf32>
// CHECK: vector.fma
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : i64
// CHECK: %[[NEXT:.*]] = math.exp {{.*}} : vector<8xf32>
// CHECK: arith.select %{{.*}}, %[[NEXT]], %{{.*}} : vector<8xi1>, vector<8xf32>
// CHECK-NOT: cpu.recurrent
func.func @open(%x: memref<?x?x32xf32>, %r: memref<1x16x16xf32>, %l: memref<?x1xi64>, %h: memref<?x16xf32>, %room: memref<?x64xf32>) {
  cpu.recurrent ins(%x : memref<?x?x32xf32>) weights(%r, %r : memref<1x16x16xf32>, memref<1x16x16xf32>) lengths(%l : memref<?x1xi64>)
      outs(%h, %room : memref<?x16xf32>, memref<?x64xf32>)
      attributes {reverse = array<i1: true>, gates = array<i64: 1, 1>, num_states = 1 : i64} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32, %is: i1):
    %0 = math.exp %b : f32
    %1 = arith.select %is, %0, %s : f32
    cpu.yield %1, %1 : f32, f32
  } reset {
  ^bb0(%a: f32, %c: f32, %d: f32, %s: f32, %is: i1):
    %0 = math.tanh %a : f32
    cpu.yield %0 : f32
  }
  return
}
}
