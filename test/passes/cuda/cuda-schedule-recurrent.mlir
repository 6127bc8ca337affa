// RUN: ingot-opt --cuda-schedule-recurrent --split-input-file %s | FileCheck %s
// RUN: ingot-opt --cuda-schedule-recurrent=seed=7 --split-input-file %s -o %t.drawn
// RUN: ingot-opt --cuda-schedule-recurrent=seed=7 --split-input-file %s | diff - %t.drawn
// RUN: ingot-opt --cuda-schedule-recurrent --split-input-file --remarks-filter-analyse=decision %s 2>&1 >/dev/null | FileCheck %s --check-prefix=DECISION

// A warp takes the long rows of a unit for one sequence. Blocks are small, so that each multiprocessor has one.
// CHECK-LABEL: @one
// CHECK: schedule = #cuda.recurrent_schedule<threads = 32, units = 4, batch = 1>
// DECISION: Category:decision
// DECISION-SAME: has 512 units of 1 products each
func.func @one(%x: memref<7x1x512xf32>, %r: memref<512x512xf16>, %h: memref<1x512xf32>, %room: memref<2x1x512xf32>) {
  cuda.recurrent ins(%x : memref<7x1x512xf32>) weights(%r : memref<512x512xf16>) outs(%h, %room : memref<1x512xf32>, memref<2x1x512xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 1>, num_states = 1 : i64} {
  ^bb0(%p: f32, %i: f32, %s: f32):
    %a = arith.addf %p, %i : f32
    cuda.yield %a, %a : f32, f32
  }
  return
}

// -----

// Few lanes take a short row. Open batches count as usual ones.
// CHECK-LABEL: @short
// CHECK: schedule = #cuda.recurrent_schedule<threads = {{[1248]}}, units = {{[0-9]+}}, batch = {{[1248]}}>
func.func @short(%x: memref<?x?x16xf32>, %r: memref<16x16xf32>, %h: memref<?x16xf32>, %room: memref<2x?x16xf32>) {
  cuda.recurrent ins(%x : memref<?x?x16xf32>) weights(%r : memref<16x16xf32>) outs(%h, %room : memref<?x16xf32>, memref<2x?x16xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 1>, num_states = 1 : i64} {
  ^bb0(%p: f32, %i: f32, %s: f32):
    %a = arith.addf %p, %i : f32
    cuda.yield %a, %a : f32, f32
  }
  return
}

// -----

// Threads that share rows of weights multiply them by several sequences. One
// thread of a long row would read other cache lines than its neighbors.
// CHECK-LABEL: @many
// CHECK: schedule = #cuda.recurrent_schedule<threads = {{4|8|16}}, units = {{[0-9]+}}, batch = {{4|8}}>
func.func @many(%x: memref<7x512x256xf32>, %r: memref<256x256xf32>, %h: memref<512x256xf32>, %room: memref<2x512x256xf32>) {
  cuda.recurrent ins(%x : memref<7x512x256xf32>) weights(%r : memref<256x256xf32>) outs(%h, %room : memref<512x256xf32>, memref<2x512x256xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 1>, num_states = 1 : i64} {
  ^bb0(%p: f32, %i: f32, %s: f32):
    %a = arith.addf %p, %i : f32
    cuda.yield %a, %a : f32, f32
  }
  return
}

// -----

// A given schedule stays. Recurrences on tensors have none yet.
// CHECK-LABEL: @given
// CHECK: schedule = #cuda.recurrent_schedule<threads = 2, units = 16, batch = 2>
// CHECK-LABEL: @tensors
// CHECK-NOT: schedule =
func.func @given(%x: memref<7x3x16xf32>, %r: memref<16x16xf32>, %h: memref<3x16xf32>, %room: memref<2x3x16xf32>) {
  cuda.recurrent ins(%x : memref<7x3x16xf32>) weights(%r : memref<16x16xf32>) outs(%h, %room : memref<3x16xf32>, memref<2x3x16xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 1>, num_states = 1 : i64, schedule = #cuda.recurrent_schedule<threads = 2, units = 16, batch = 2>} {
  ^bb0(%p: f32, %i: f32, %s: f32):
    cuda.yield %p, %i : f32, f32
  }
  return
}

func.func @tensors(%x: tensor<7x3x16xf32>, %r: tensor<16x16xf32>, %h: tensor<3x16xf32>, %room: tensor<2x3x16xf32>) -> tensor<3x16xf32> {
  %0:2 = cuda.recurrent ins(%x : tensor<7x3x16xf32>) weights(%r : tensor<16x16xf32>) outs(%h, %room : tensor<3x16xf32>, tensor<2x3x16xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 1>, num_states = 1 : i64} {
  ^bb0(%p: f32, %i: f32, %s: f32):
    cuda.yield %p, %i : f32, f32
  } -> tensor<3x16xf32>, tensor<2x3x16xf32>
  return %0#0 : tensor<3x16xf32>
}
