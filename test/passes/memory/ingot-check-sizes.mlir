// RUN: ingot-opt --ingot-check-sizes --split-input-file %s | FileCheck %s
// RUN: ingot-opt --ingot-check-sizes --outline-inference --split-input-file %s | FileCheck %s --check-prefix=INFER

// Sizes depend on sizes of inputs only: one comparison, with a check for each
// size behind it. 2^20 by 2^20 by 2^20 elements fit; 2^21 of each do not.

// CHECK-LABEL: func.func @forward
// CHECK-DAG: %[[N:.*]] = memref.dim %arg0, %c0
// CHECK-DAG: %[[M:.*]] = memref.dim %arg0, %c1
// CHECK-DAG: %[[K:.*]] = memref.dim %arg0, %c2
// CHECK-DAG: %[[MOST:.*]] = arith.constant 1048576 : index
// CHECK: %[[LARGE:.*]] = arith.cmpi uge, %{{.*}}, %[[MOST]] : index
// CHECK: scf.if %[[LARGE]] {
// CHECK: %[[FITS:.*]] = arith.cmpf olt
// CHECK: ingot.require %[[FITS]], "node 'flat': a size is too large: it does not fit into 64 bits"
// CHECK-NOT: ingot.require
// CHECK: }
// INFER-LABEL: func.func @forward_infer
// INFER: scf.if
// INFER: ingot.require %{{.*}}, "node 'flat': a size is too large: it does not fit into 64 bits"
func.func @forward(%x: memref<?x?x?xf32>, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %x, %c0 : memref<?x?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?x?xf32>
  %k = memref.dim %x, %c2 : memref<?x?x?xf32>
  %nm = arith.muli %n, %m : index loc("part")
  %all = arith.muli %nm, %k : index loc("flat")
  %y = ingot.room 0(%all) : memref<?xf32>
  return
}

// -----

// A difference is checked as a sum. Both sides of a choice are checked.

// CHECK-LABEL: func.func @forward
// CHECK: scf.if
// CHECK: %[[N:.*]] = arith.sitofp
// CHECK: arith.addf %[[N]]
// CHECK: ingot.require
// INFER-LABEL: func.func @forward_infer
// INFER: ingot.require
func.func @forward(%x: memref<?xf32>, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %less = arith.subi %n, %c3 : index
  %most = arith.maxsi %less, %c0 : index
  %twice = arith.addi %most, %n : index
  %y = ingot.room 0(%twice) : memref<?xf32>
  return
}

// -----

// Sizes depend on data: the check stands behind their computation, and is no
// part of the inference.

// CHECK-LABEL: func.func @forward
// CHECK-NOT: scf.if
// CHECK: %[[SUM:.*]] = arith.addi
// CHECK: arith.sitofp
// CHECK: arith.negf
// CHECK: ingot.require %{{.*}}, "a size is too large: it does not fit into 64 bits"
// CHECK: ingot.room
// INFER-LABEL: func.func @forward_infer
// INFER-NOT: ingot.require
func.func @forward(%x: memref<?xf32>, %pads: memref<1xi64>, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %p = memref.load %pads[%c0] : memref<1xi64>
  %pad = arith.index_cast %p : i64 to index
  %sum = arith.addi %n, %pad : index
  %y = ingot.room 0(%sum) : memref<?xf32>
  return
}

// -----

// No checks within a profile: the sizes of inputs have bounds.

// CHECK-LABEL: func.func @forward
// CHECK-NOT: ingot.require
module attributes {ingot.shape_profiles = [
    #ingot.shape_profile<<input = 0, dim = 0, min = 1, usual = 4, max = 1024, multiple = 1>>]} {
  func.func @forward(%x: memref<?xf32>, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
    %c0 = arith.constant 0 : index
    %n = memref.dim %x, %c0 : memref<?xf32>
    %square = arith.muli %n, %n : index
    %y = ingot.room 0(%square) : memref<?xf32>
    return
  }
}

// -----

// No checks for sizes that are sizes of inputs, nor for arithmetic in kernels
// and loops that is not about buffers.

// CHECK-LABEL: func.func @forward
// CHECK-NOT: ingot.require
func.func @forward(%x: memref<?xf32>, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  %y = ingot.room 0(%n) : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %twice = arith.addi %i, %i : index
    memref.store %zero, %y[%twice] : memref<?xf32>
  }
  return
}

// -----

// A check that another one implies for all sizes is left out: 2 n + 1 fits if 3
// n + m + 2 does. But nothing shows that n fits if n m does.

// CHECK-LABEL: func.func @forward
// CHECK: scf.if
// CHECK-NOT: "node 'less'
// CHECK: ingot.require %{{.*}}, "node 'product'
// CHECK: ingot.require %{{.*}}, "node 'more'
// CHECK-NOT: ingot.require
// INFER-LABEL: func.func @forward(
// INFER-LABEL: func.func @forward_infer
// INFER: ingot.require %{{.*}}, "node 'more'
func.func @forward(%x: memref<?x?xf32>, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  %product = arith.muli %n, %m : index loc("product")
  %a = ingot.room 0(%product) : memref<?xf32>
  %less = affine.apply affine_map<()[s0] -> (s0 * 2 - 1)>()[%n] loc("less")
  %b = ingot.room 1(%less) : memref<?xf32>
  %more = affine.apply affine_map<()[s0, s1] -> (s0 * 3 + s1 + 2)>()[%n, %m] loc("more")
  %c = ingot.room 2(%more) : memref<?xf32>
  return
}

// -----

// A value from data is clamped to the size, so only the size counts.

// CHECK-LABEL: func.func @forward
// CHECK: scf.if
// CHECK: ingot.require %{{.*}}, "node 'end'
// CHECK: }
// CHECK-NOT: ingot.require
func.func @forward(%x: memref<?xf32>, %starts: memref<1xi64>, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %s = memref.load %starts[%c0] : memref<1xi64>
  %start = arith.index_cast %s : i64 to index
  %held = arith.minsi %start, %n : index
  %first = arith.maxsi %held, %c0 : index
  %end = arith.addi %first, %c4 : index loc("end")
  %y = ingot.room 0(%end) : memref<?xf32>
  return
}
