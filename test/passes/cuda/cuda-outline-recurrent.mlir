// RUN: ingot-opt --cuda-outline-recurrent --split-input-file %s | FileCheck %s

// A launch computes a step of both directions: 2 x 1 blocks of 16 units, and 2 parts of the sequences. The first state
// is read and written in turn, and the second one is updated in place.
// CHECK-LABEL: func.func @directions
// CHECK: memref.copy %arg6, %{{.*}}
// CHECK: memref.copy %arg8, %{{.*}}
// CHECK: scf.for %[[T:.*]] = %{{.*}} to %c7{{.*}} step
// CHECK: %[[BEFORE:.*]] = arith.remui %[[T]], %c2
// CHECK: %[[AFTER:.*]] = arith.subi %c1{{.*}}, %[[BEFORE]]
// CHECK: memref.subview %arg0[%[[T]], 0, 0] [1, 3, 40]
// CHECK: memref.subview %arg10[%[[BEFORE]], 0, 0] [1, 3, 10]
// CHECK: memref.subview %arg10[%[[AFTER]], 0, 0] [1, 3, 10]
// CHECK: memref.subview %arg4[%[[T]], 0, 0] [1, 3, 10]
// CHECK: %[[BACK:.*]] = arith.subi %{{.*}}, %[[T]]
// CHECK: memref.subview %arg1[%[[BACK]], 0, 0] [1, 3, 40]
// CHECK: cuda.launch @ingot_cuda_kernels::@recurrent_0({{.*}}) blocks(%c4{{.*}}) writes 6
// CHECK-NOT: cuda.launch
// CHECK: memref.copy %{{.*}}, %arg6
// CHECK: memref.copy %{{.*}}, %arg8
// CHECK-NOT: cuda.recurrent

// A thread multiplies vectors of eight f16 of all gates, then the two elements behind them.
// CHECK: func.func private @recurrent_0
// CHECK-SAME: cuda.block = #cuda.block<threads = 64>
// CHECK-SAME: cuda.cycles = #cuda.cycles<{{[0-9]+}}>
// CHECK-COUNT-4: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xf16>
// CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: llvm.intr.fma
// CHECK: llvm.load {{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> f16
// CHECK: nvvm.shfl
// CHECK: arith.select
// CHECK: scf.if
// CHECK: math.tanh
// CHECK-COUNT-3: llvm.store
// CHECK-NOT: llvm.store
func.func @directions(%x: memref<7x3x40xf32>, %z: memref<7x3x40xf32>, %r: memref<40x16xf16>, %q: memref<40x16xf16>,
                      %y: memref<7x3x10xf32>, %w: memref<7x3x10xf32>, %h: memref<3x10xf32>, %c: memref<3x10xf32>,
                      %g: memref<3x10xf32>, %d: memref<3x10xf32>, %room: memref<2x3x12xf32>, %other: memref<2x3x12xf32>) {
  cuda.recurrent ins(%x, %z : memref<7x3x40xf32>, memref<7x3x40xf32>) weights(%r, %q : memref<40x16xf16>, memref<40x16xf16>)
      outs(%y, %w, %h, %c, %g, %d, %room, %other : memref<7x3x10xf32>, memref<7x3x10xf32>, memref<3x10xf32>, memref<3x10xf32>, memref<3x10xf32>, memref<3x10xf32>, memref<2x3x12xf32>, memref<2x3x12xf32>)
      attributes {reverse = array<i1: false, true>, gates = array<i64: 4>, num_states = 2 : i64, stores_all,
                  schedule = #cuda.recurrent_schedule<threads = 4, units = 16, batch = 2>} {
  ^bb0(%p0: f32, %p1: f32, %p2: f32, %p3: f32, %i0: f32, %i1: f32, %i2: f32, %i3: f32, %s: f32, %t: f32):
    %0 = arith.addf %p0, %i0 : f32
    %1 = arith.addf %p1, %i1 : f32
    %2 = arith.addf %p2, %i2 : f32
    %3 = arith.addf %p3, %i3 : f32
    %4 = arith.mulf %0, %t : f32
    %5 = arith.mulf %1, %2 : f32
    %6 = arith.addf %4, %5 : f32
    %7 = math.tanh %6 : f32
    %8 = arith.mulf %7, %3 : f32
    cuda.yield %8, %8, %6 : f32, f32, f32
  }
  return
}

// -----

// A reset is computed by a launch before that of the cell. It multiplies by the gate that it reads alone, and the cell
// by the other two. Masks are read where the cell uses them. Open sequences are counted by host code, and checked.
// CHECK-LABEL: func.func @reset
// CHECK: ingot.require
// CHECK: %[[STEPS:.*]] = memref.dim %arg0, %c0
// CHECK: arith.divui
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[STEPS]]
// CHECK: cuda.launch @ingot_cuda_kernels::@recurrent_reset_0({{.*}}) blocks(%[[BLOCKS:.*]]) writes 1
// CHECK-NEXT: cuda.launch @ingot_cuda_kernels::@recurrent_1({{.*}}) blocks(%[[BLOCKS]]) writes 1
// CHECK: arith.remui %[[STEPS]], %c2
// CHECK: func.func private @recurrent_reset_0
// CHECK-COUNT-1: !llvm.ptr<1> -> vector<4xf32>
// CHECK-NOT: !llvm.ptr<1> -> i8
// CHECK: func.func private @recurrent_1
// CHECK: !llvm.ptr<1> -> i8
// CHECK: llvm.store
// CHECK-NOT: llvm.store
func.func @reset(%x: memref<?x?x12xf32>, %r: memref<8x4xf32>, %q: memref<4x4xf32>, %m: memref<?x?xi1>, %h: memref<?x4xf32>, %room: memref<3x?x4xf32>) {
  cuda.recurrent ins(%x : memref<?x?x12xf32>) weights(%r, %q : memref<8x4xf32>, memref<4x4xf32>) masks(%m : memref<?x?xi1>)
      outs(%h, %room : memref<?x4xf32>, memref<3x?x4xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2, 1>, num_states = 1 : i64,
                  schedule = #cuda.recurrent_schedule<threads = 1, units = 32, batch = 1>} {
  ^bb0(%p0: f32, %p1: f32, %p2: f32, %i0: f32, %i1: f32, %i2: f32, %s: f32, %is: i1):
    %0 = arith.addf %p0, %i0 : f32
    %1 = arith.addf %p2, %i2 : f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.select %is, %2, %s : f32
    cuda.yield %3, %3 : f32, f32
  } reset {
  ^bb0(%p0: f32, %p1: f32, %i0: f32, %i1: f32, %i2: f32, %s: f32, %is: i1):
    %0 = arith.addf %p1, %i1 : f32
    %1 = arith.mulf %0, %s : f32
    cuda.yield %1 : f32
  }
  return
}

// -----

// CHECK-LABEL: func.func @tensors
// CHECK: cuda.recurrent
// CHECK-NOT: cuda.launch
func.func @tensors(%x: tensor<7x3x16xf32>, %r: tensor<16x16xf32>, %h: tensor<3x16xf32>, %room: tensor<2x3x16xf32>) -> tensor<3x16xf32> {
  %0:2 = cuda.recurrent ins(%x : tensor<7x3x16xf32>) weights(%r : tensor<16x16xf32>) outs(%h, %room : tensor<3x16xf32>, tensor<2x3x16xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 1>, num_states = 1 : i64} {
  ^bb0(%p: f32, %i: f32, %s: f32):
    cuda.yield %p, %i : f32, f32
  } -> tensor<3x16xf32>, tensor<2x3x16xf32>
  return %0#0 : tensor<3x16xf32>
}
