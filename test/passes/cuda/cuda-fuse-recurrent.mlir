// RUN: ingot-opt --pass-pipeline='builtin.module(func.func(cuda-fuse-recurrent))' --split-input-file %s | FileCheck %s
// RUN: ingot-opt --pass-pipeline='builtin.module(func.func(cuda-fuse-recurrent))' --split-input-file --remarks-filter-analyse=decision %s 2>&1 >/dev/null | FileCheck %s --check-prefix=DECISION

// Two loops over one sequence, forwards and backwards, are the directions of one kernel. A value for each unit is an
// operand.
// CHECK-LABEL: @directions
// CHECK-NOT: scf.for
// CHECK: %[[R:.*]]:6 = cuda.recurrent ins(%arg0, %arg1 : tensor<7x2x4xf32>, tensor<7x2x4xf32>)
// CHECK-SAME: weights(%{{.*}}, %{{.*}} : tensor<4x4xf32>, tensor<4x4xf32>) operands(%{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>)
// CHECK-SAME: outs({{.*}} : tensor<7x2x4xf32>, tensor<7x2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x2x4xf32>, tensor<2x2x4xf32>)
// CHECK-SAME: gates = array<i64: 1>, num_states = 1 : i64, reverse = array<i1: false, true>, stores_all
// CHECK-NEXT: ^bb0(%[[PRODUCT:.*]]: f32, %[[INPUT:.*]]: f32, %[[STATE:.*]]: f32, %[[P:.*]]: f32):
// CHECK: %[[NEXT:.*]] = math.tanh
// CHECK-NEXT: cuda.yield %[[NEXT]], %[[NEXT]]
// CHECK: nn.relu %[[R]]#0
// CHECK: nn.relu %[[R]]#1
func.func @directions(%x: tensor<7x2x4xf32>, %z: tensor<7x2x4xf32>, %h: tensor<2x4xf32>) -> (tensor<7x2x4xf32>, tensor<7x2x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c7 = arith.constant 7 : index
  %r = arith.constant dense<0.5> : tensor<4x4xf32>
  %p = arith.constant dense<[0.5, 1.0, 1.5, 2.0]> : tensor<4xf32>
  %y = tensor.empty() : tensor<7x2x4xf32>
  %0:2 = scf.for %i = %c0 to %c7 step %c1 iter_args(%s = %h, %all = %y) -> (tensor<2x4xf32>, tensor<7x2x4xf32>) {
    %part = tensor.extract_slice %x[%i, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<7x2x4xf32> to tensor<2x4xf32>
    %m = nn.matmul %s, %r {transpose_b} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %a = nn.add %m, %part : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
    %q = nn.mul %s, %p : tensor<2x4xf32>, tensor<4xf32> -> tensor<2x4xf32>
    %b = nn.add %a, %q : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
    %t = nn.tanh %b : tensor<2x4xf32> -> tensor<2x4xf32>
    %w = tensor.insert_slice %t into %all[%i, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<2x4xf32> into tensor<7x2x4xf32>
    %k = bufferization.materialize_in_destination %t in %s : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    scf.yield %k, %w : tensor<2x4xf32>, tensor<7x2x4xf32>
  }
  %1 = nn.relu %0#1 : tensor<7x2x4xf32> -> tensor<7x2x4xf32>
  %2:2 = scf.for %i = %c0 to %c7 step %c1 iter_args(%s = %h, %all = %y) -> (tensor<2x4xf32>, tensor<7x2x4xf32>) {
    %at = arith.subi %c6, %i : index
    %part = tensor.extract_slice %z[%at, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<7x2x4xf32> to tensor<2x4xf32>
    %m = nn.matmul %s, %r {transpose_b} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %a = nn.add %m, %part : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
    %q = nn.mul %s, %p : tensor<2x4xf32>, tensor<4xf32> -> tensor<2x4xf32>
    %b = nn.add %a, %q : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
    %t = nn.tanh %b : tensor<2x4xf32> -> tensor<2x4xf32>
    %w = tensor.insert_slice %t into %all[%at, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<2x4xf32> into tensor<7x2x4xf32>
    %k = bufferization.materialize_in_destination %t in %s : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    scf.yield %k, %w : tensor<2x4xf32>, tensor<7x2x4xf32>
  }
  %3 = nn.relu %2#1 : tensor<7x2x4xf32> -> tensor<7x2x4xf32>
  return %1, %3 : tensor<7x2x4xf32>, tensor<7x2x4xf32>
}

// -----

// Directions that count their own steps, whose numbers may differ, have kernels of their own.
// CHECK-LABEL: @counted
// CHECK-NOT: scf.for
// CHECK: cuda.recurrent ins(%{{.*}} : tensor<?x1x256xf32>)
// CHECK-SAME: reverse = array<i1: false>
// CHECK: cuda.recurrent ins(%{{.*}} : tensor<?x1x256xf32>)
// CHECK-SAME: reverse = array<i1: true>
func.func @counted(%x: tensor<?x1x256xf32>, %z: tensor<?x1x256xf32>, %h: tensor<1x256xf32>) -> (tensor<1x256xf32>, tensor<1x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = arith.constant dense<0.5> : tensor<256x256xf32>
  %n = tensor.dim %x, %c0 : tensor<?x1x256xf32>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %h) -> (tensor<1x256xf32>) {
    %part = tensor.extract_slice %x[%i, 0, 0] [1, 1, 256] [1, 1, 1] : tensor<?x1x256xf32> to tensor<1x256xf32>
    %m = nn.matmul %s, %r {transpose_b} : (tensor<1x256xf32>, tensor<256x256xf32>) -> tensor<1x256xf32>
    %a = nn.add %m, %part : tensor<1x256xf32>, tensor<1x256xf32> -> tensor<1x256xf32>
    scf.yield %a : tensor<1x256xf32>
  }
  %k = tensor.dim %z, %c0 : tensor<?x1x256xf32>
  %last = arith.subi %k, %c1 : index
  %1 = scf.for %i = %c0 to %k step %c1 iter_args(%s = %h) -> (tensor<1x256xf32>) {
    %at = arith.subi %last, %i : index
    %part = tensor.extract_slice %z[%at, 0, 0] [1, 1, 256] [1, 1, 1] : tensor<?x1x256xf32> to tensor<1x256xf32>
    %m = nn.matmul %s, %r {transpose_b} : (tensor<1x256xf32>, tensor<256x256xf32>) -> tensor<1x256xf32>
    %a = nn.add %m, %part : tensor<1x256xf32>, tensor<1x256xf32> -> tensor<1x256xf32>
    scf.yield %a : tensor<1x256xf32>
  }
  return %0, %1 : tensor<1x256xf32>, tensor<1x256xf32>
}

// -----

// A product of another product's result has its own region, and room for its rows. The masks of all steps are computed
// at once.
// CHECK-LABEL: @reset
// CHECK: %[[MASKS:.*]] = linalg.generic {{.*}} ins(%arg2 : tensor<?x1xi64>) outs(%{{.*}} : tensor<?x?xi1>)
// CHECK: linalg.index 0
// CHECK: arith.cmpi slt
// CHECK: cuda.recurrent ins(%{{.*}} : tensor<?x?x12xf32>) weights(%{{.*}}, %{{.*}} : tensor<8x4xf32>, tensor<4x4xf32>) masks(%[[MASKS]] : tensor<?x?xi1>)
// CHECK-SAME: tensor<3x?x4xf32>)
// CHECK-SAME: gates = array<i64: 2, 1>
// CHECK: arith.select
// CHECK: } reset {
// CHECK: cuda.yield
func.func @reset(%x: tensor<?x?x12xf32>, %h: tensor<?x4xf32>, %l: tensor<?x1xi64>, %n: index, %b: index) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = arith.constant dense<0.5> : tensor<8x4xf32>
  %q = arith.constant dense<0.25> : tensor<4x4xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %y = tensor.empty(%n, %b) : tensor<?x?x4xf32>
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %h, %all = %y) -> (tensor<?x4xf32>, tensor<?x?x4xf32>) {
    %part = tensor.extract_slice %x[%i, 0, 0] [1, %b, 12] [1, 1, 1] : tensor<?x?x12xf32> to tensor<?x12xf32>
    %first = nn.slice %part {sizes = array<i64: -1, 8>, starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : tensor<?x12xf32> -> tensor<?x8xf32>
    %m = nn.matmul %s, %r {transpose_b} : (tensor<?x4xf32>, tensor<8x4xf32>) -> tensor<?x8xf32>
    %gates = nn.add %first, %m : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
    %z = nn.slice %gates {sizes = array<i64: -1, 4>, starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : tensor<?x8xf32> -> tensor<?x4xf32>
    %g = nn.slice %gates {sizes = array<i64: -1, 4>, starts = array<i64: 0, 4>, steps = array<i64: 1, 1>} : tensor<?x8xf32> -> tensor<?x4xf32>
    %gs = nn.mul %g, %s : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    %late = nn.matmul %gs, %q {transpose_b} : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
    %last = nn.slice %part {sizes = array<i64: -1, 4>, starts = array<i64: 0, 8>, steps = array<i64: 1, 1>} : tensor<?x12xf32> -> tensor<?x4xf32>
    %c = nn.add %last, %late : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    %next = nn.mul %c, %z : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    %number = arith.index_cast %i : index to i64
    %e = tensor.from_elements %number : tensor<1x1xi64>
    %is = nn.less %e, %l : tensor<1x1xi64>, tensor<?x1xi64> -> tensor<?x1xi1>
    %kept = nn.select %is, %next, %s : tensor<?x1xi1>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    %shown = nn.select %is, %next, %zero : tensor<?x1xi1>, tensor<?x4xf32>, tensor<f32> -> tensor<?x4xf32>
    %w = tensor.insert_slice %shown into %all[%i, 0, 0] [1, %b, 4] [1, 1, 1] : tensor<?x4xf32> into tensor<?x?x4xf32>
    scf.yield %kept, %w : tensor<?x4xf32>, tensor<?x?x4xf32>
  }
  return %0#0 : tensor<?x4xf32>
}

// -----

// One length for several sequences is not the length of each.
// CHECK-LABEL: @one_length
// CHECK-NOT: cuda.recurrent
// CHECK: return
func.func @one_length(%x: tensor<?x?x12xf32>, %h: tensor<?x4xf32>, %l: tensor<1x1xi64>, %n: index, %b: index) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = arith.constant dense<0.5> : tensor<8x4xf32>
  %q = arith.constant dense<0.25> : tensor<4x4xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %y = tensor.empty(%n, %b) : tensor<?x?x4xf32>
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %h, %all = %y) -> (tensor<?x4xf32>, tensor<?x?x4xf32>) {
    %part = tensor.extract_slice %x[%i, 0, 0] [1, %b, 12] [1, 1, 1] : tensor<?x?x12xf32> to tensor<?x12xf32>
    %first = nn.slice %part {sizes = array<i64: -1, 8>, starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : tensor<?x12xf32> -> tensor<?x8xf32>
    %m = nn.matmul %s, %r {transpose_b} : (tensor<?x4xf32>, tensor<8x4xf32>) -> tensor<?x8xf32>
    %gates = nn.add %first, %m : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
    %z = nn.slice %gates {sizes = array<i64: -1, 4>, starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : tensor<?x8xf32> -> tensor<?x4xf32>
    %g = nn.slice %gates {sizes = array<i64: -1, 4>, starts = array<i64: 0, 4>, steps = array<i64: 1, 1>} : tensor<?x8xf32> -> tensor<?x4xf32>
    %gs = nn.mul %g, %s : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    %late = nn.matmul %gs, %q {transpose_b} : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
    %last = nn.slice %part {sizes = array<i64: -1, 4>, starts = array<i64: 0, 8>, steps = array<i64: 1, 1>} : tensor<?x12xf32> -> tensor<?x4xf32>
    %c = nn.add %last, %late : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    %next = nn.mul %c, %z : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    %number = arith.index_cast %i : index to i64
    %e = tensor.from_elements %number : tensor<1x1xi64>
    %is = nn.less %e, %l : tensor<1x1xi64>, tensor<1x1xi64> -> tensor<1x1xi1>
    %kept = nn.select %is, %next, %s : tensor<1x1xi1>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    %shown = nn.select %is, %next, %zero : tensor<1x1xi1>, tensor<?x4xf32>, tensor<f32> -> tensor<?x4xf32>
    %w = tensor.insert_slice %shown into %all[%i, 0, 0] [1, %b, 4] [1, 1, 1] : tensor<?x4xf32> into tensor<?x?x4xf32>
    scf.yield %kept, %w : tensor<?x4xf32>, tensor<?x?x4xf32>
  }
  return %0#0 : tensor<?x4xf32>
}

// -----

// Weights have the type that the precision asks for, and rows of whole accesses.
// CHECK-LABEL: @halves
// CHECK: cuda.recurrent ins(%arg0 : tensor<7x2x6xf32>) weights(%{{.*}} : tensor<6x8xf16>)
// CHECK-SAME: tensor<2x2x8xf32>)
func.func @halves(%x: tensor<7x2x6xf32>, %h: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %r = arith.constant dense<0.5> : tensor<6x6xf32>
  %0 = scf.for %i = %c0 to %c7 step %c1 iter_args(%s = %h) -> (tensor<2x6xf32>) {
    %part = tensor.extract_slice %x[%i, 0, 0] [1, 2, 6] [1, 1, 1] : tensor<7x2x6xf32> to tensor<2x6xf32>
    %m = nn.matmul %s, %r {transpose_b, ingot.precision = #ingot.precision<fp16>} : (tensor<2x6xf32>, tensor<6x6xf32>) -> tensor<2x6xf32>
    %a = nn.add %m, %part : tensor<2x6xf32>, tensor<2x6xf32> -> tensor<2x6xf32>
    scf.yield %a : tensor<2x6xf32>
  }
  return %0 : tensor<2x6xf32>
}

// -----

// Must not fire: so many sequences that products of matrices are faster, of f16 or f32. Fewer sequences of f32 become a
// kernel, and a step may compute any function.
// CHECK-LABEL: @declined
// CHECK: cuda.recurrent
// CHECK: scf.for
// CHECK: scf.for
// CHECK: cuda.recurrent
// CHECK-NOT: cuda.recurrent
// DECISION: Category:decision
// DECISION-SAME: multiplies 1024 sequences, which products of matrices do faster
// DECISION: Category:decision
// DECISION-SAME: multiplies 1024 sequences, which products of matrices do faster
func.func @declined(%x: tensor<7x2x4xf32>, %h: tensor<2x4xf32>, %y: tensor<7x1024x256xf32>, %g: tensor<1024x256xf32>, %z: tensor<7x32x256xf32>, %k: tensor<32x256xf32>) -> (tensor<2x4xf32>, tensor<1024x256xf32>, tensor<1024x256xf32>, tensor<32x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %r = arith.constant dense<0.5> : tensor<4x4xf32>
  %q = arith.constant dense<0.5> : tensor<256x256xf32>
  %0 = scf.for %i = %c0 to %c7 step %c1 iter_args(%s = %h) -> (tensor<2x4xf32>) {
    %part = tensor.extract_slice %x[%i, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<7x2x4xf32> to tensor<2x4xf32>
    %m = nn.matmul %s, %r {transpose_b} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %a = nn.add %m, %part : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
    %t = nn.tan %a : tensor<2x4xf32> -> tensor<2x4xf32>
    scf.yield %t : tensor<2x4xf32>
  }
  %1 = scf.for %i = %c0 to %c7 step %c1 iter_args(%s = %g) -> (tensor<1024x256xf32>) {
    %part = tensor.extract_slice %y[%i, 0, 0] [1, 1024, 256] [1, 1, 1] : tensor<7x1024x256xf32> to tensor<1024x256xf32>
    %m = nn.matmul %s, %q {transpose_b, ingot.precision = #ingot.precision<fp16>} : (tensor<1024x256xf32>, tensor<256x256xf32>) -> tensor<1024x256xf32>
    %a = nn.add %m, %part : tensor<1024x256xf32>, tensor<1024x256xf32> -> tensor<1024x256xf32>
    scf.yield %a : tensor<1024x256xf32>
  }
  %2 = scf.for %i = %c0 to %c7 step %c1 iter_args(%s = %g) -> (tensor<1024x256xf32>) {
    %part = tensor.extract_slice %y[%i, 0, 0] [1, 1024, 256] [1, 1, 1] : tensor<7x1024x256xf32> to tensor<1024x256xf32>
    %m = nn.matmul %s, %q {transpose_b} : (tensor<1024x256xf32>, tensor<256x256xf32>) -> tensor<1024x256xf32>
    %a = nn.add %m, %part : tensor<1024x256xf32>, tensor<1024x256xf32> -> tensor<1024x256xf32>
    scf.yield %a : tensor<1024x256xf32>
  }
  %3 = scf.for %i = %c0 to %c7 step %c1 iter_args(%s = %k) -> (tensor<32x256xf32>) {
    %part = tensor.extract_slice %z[%i, 0, 0] [1, 32, 256] [1, 1, 1] : tensor<7x32x256xf32> to tensor<32x256xf32>
    %m = nn.matmul %s, %q {transpose_b} : (tensor<32x256xf32>, tensor<256x256xf32>) -> tensor<32x256xf32>
    %a = nn.add %m, %part : tensor<32x256xf32>, tensor<32x256xf32> -> tensor<32x256xf32>
    scf.yield %a : tensor<32x256xf32>
  }
  return %0, %1, %2, %3 : tensor<2x4xf32>, tensor<1024x256xf32>, tensor<1024x256xf32>, tensor<32x256xf32>
}
