// RUN: ingot-opt %s | FileCheck %s

// An LSTM's shape in two directions, with lengths and a number for each unit, on tensors of open sizes.
// CHECK-LABEL: @tensors
// CHECK: cpu.recurrent ins(%{{.*}}, %{{.*}} : tensor<?x?x10xf32>, tensor<?x?x10xf32>) weights(%{{.*}}, %{{.*}} : tensor<1x5x16xf32>, tensor<1x5x16xf32>)
// CHECK-SAME: lengths(%{{.*}} : tensor<?x1xi64>) operands(%{{.*}}, %{{.*}} : tensor<5xf32>, tensor<5xf32>) outs(
// CHECK-SAME: gates = array<i64: 2>
// CHECK-SAME: stores_all
func.func @tensors(%x: tensor<?x?x10xf32>, %r: tensor<1x5x16xf32>, %l: tensor<?x1xi64>, %p: tensor<5xf32>,
    %y: tensor<?x?x5xf32>, %h: tensor<?x5xf32>, %room: tensor<?x16xf32>) -> tensor<?x?x5xf32> {
  %0:8 = cpu.recurrent ins(%x, %x : tensor<?x?x10xf32>, tensor<?x?x10xf32>)
      weights(%r, %r : tensor<1x5x16xf32>, tensor<1x5x16xf32>) lengths(%l : tensor<?x1xi64>)
      operands(%p, %p : tensor<5xf32>, tensor<5xf32>)
      outs(%y, %y, %h, %h, %h, %h, %room, %room : tensor<?x?x5xf32>, tensor<?x?x5xf32>, tensor<?x5xf32>,
           tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x16xf32>, tensor<?x16xf32>)
      attributes {reverse = array<i1: false, true>, gates = array<i64: 2>, num_states = 2 : i64, stores_all} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32, %t: f32, %u: f32, %is: i1):
    %1 = arith.select %is, %a, %s : f32
    cpu.yield %1, %1, %t : f32, f32, f32
  } -> tensor<?x?x5xf32>, tensor<?x?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>,
       tensor<?x16xf32>, tensor<?x16xf32>
  return %0#0 : tensor<?x?x5xf32>
}

// A GRU's: the last product is of what the reset yields. Nothing of each step is stored.
// CHECK-LABEL: @memrefs
// CHECK: cpu.recurrent ins(%{{.*}} : memref<7x2x12xf32>) weights(%{{.*}}, %{{.*}} : memref<1x4x16xf32>, memref<1x4x16xf32>) outs(%{{.*}}, %{{.*}} : memref<2x4xf32>, memref<2x36xf32>)
// CHECK: } reset {
// CHECK: cpu.yield %{{.*}} : f32
func.func @memrefs(%x: memref<7x2x12xf32>, %r: memref<1x4x16xf32>, %h: memref<2x4xf32>, %room: memref<2x36xf32>) {
  cpu.recurrent ins(%x : memref<7x2x12xf32>) weights(%r, %r : memref<1x4x16xf32>, memref<1x4x16xf32>)
      outs(%h, %room : memref<2x4xf32>, memref<2x36xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2, 1>, num_states = 1 : i64} {
  ^bb0(%p0: f32, %p1: f32, %p2: f32, %i0: f32, %i1: f32, %i2: f32, %s: f32):
    cpu.yield %p2, %p2 : f32, f32
  } reset {
  ^bb0(%p0: f32, %p1: f32, %i0: f32, %i1: f32, %i2: f32, %s: f32):
    %0 = arith.mulf %p1, %s : f32
    cpu.yield %0 : f32
  }
  return
}
