// RUN: ingot-opt --outline-repeats=least-saved=-100 --split-input-file %s | FileCheck %s
// RUN: ingot-opt --outline-repeats --split-input-file %s | FileCheck %s --check-prefix=FEW

// So few ops are not worth a function. Here they are outlined nevertheless,
// although the number of ops grows.

// Ops that occur three times become a function. Its arguments are the constant
// and the offset that differ, the text of the check, and the results of the row
// before. The function repeats views of the run's arguments.

// CHECK-LABEL: func.func private @forward_repeat_0(
// CHECK-SAME: %[[ARENA:[a-z0-9]+]]: memref<?xi8>, %[[OFFSET:[a-z0-9]+]]: index, %[[X:[a-z0-9]+]]: memref<?xf32>, %[[N:[a-z0-9]+]]: index, %[[TEXT:[a-z0-9]+]]: !llvm.ptr, %[[NUMBER:[a-z0-9]+]]: i64, %[[CALL:[a-z0-9]+]]: !llvm.ptr) -> (index, memref<?xf32>)
// CHECK-SAME: passthrough = ["noinline"]
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK: %[[VIEW:.*]] = memref.view %[[ARENA]][%[[OFFSET]]]
// CHECK: memref.load %[[X]][%[[OFFSET]]]
// CHECK: cpu.launch @kernel(%[[VIEW]])
// CHECK: %[[NEXT:.*]] = arith.addi %[[N]], %[[C64]]
// CHECK: %[[BUFFER:.*]] = memref.alloc(%[[NEXT]])
// CHECK: %[[HOLDS:.*]] = arith.cmpi slt
// CHECK: %[[WORD:.*]] = arith.extui %[[HOLDS]] : i1 to i32
// CHECK: %[[VALUE:.*]] = arith.index_cast %[[NEXT]] : index to i64
// CHECK: llvm.call @ingot_support_require(%[[CALL]], %[[WORD]], %[[TEXT]], %[[VALUE]], %{{.*}})
// CHECK: scf.if %[[HOLDS]] {
// CHECK-NOT: arith.constant
// CHECK: func.call @ended(%[[CALL]], %[[NUMBER]])
// CHECK: return %[[NEXT]], %[[BUFFER]]

// A view that is used behind a row is repeated there. A view that only the row
// uses is removed.
// CHECK-LABEL: func.func @forward(
// CHECK-NOT: memref.alloc
// CHECK: %[[TEXT1:.*]] = llvm.getelementptr
// CHECK: %[[FIRST:.*]]:2 = call @forward_repeat_0(%arg1, %{{.*}}, %arg0, %{{.*}}, %[[TEXT1]], %{{.*}}, %arg2)
// CHECK: %[[LEFT1:.*]] = memref.view %arg1
// CHECK: %[[SECOND:.*]]:2 = call @forward_repeat_0(%arg1, %{{.*}}, %arg0, %[[FIRST]]#0,
// CHECK: %[[THIRD:.*]]:2 = call @forward_repeat_0(%arg1, %{{.*}}, %arg0, %[[SECOND]]#0,
// CHECK-NOT: cpu.launch
// CHECK: memref.store %{{.*}}, %[[LEFT1]]
// CHECK: memref.dealloc %[[FIRST]]#1
// CHECK: memref.dealloc %[[SECOND]]#1
// CHECK: memref.dealloc %[[THIRD]]#1

// Must not fire: a function is not worth it for so few ops.
// FEW-NOT: repeat_0
func.func private @kernel(memref<8xf32>, index)
func.func private @ended(!llvm.ptr, i64)
func.func @forward(%x: memref<?xf32>, %arena: memref<?xi8>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c192 = arith.constant 192 : index
  %f = arith.constant 1.0 : f32
  %n0 = memref.dim %x, %c0 : memref<?xf32>
  %view1 = memref.view %arena[%c64][] : memref<?xi8> to memref<8xf32>
  %load1 = memref.load %x[%c64] : memref<?xf32>
  %sum1 = arith.addf %load1, %load1 : f32
  memref.store %sum1, %view1[%c0] : memref<8xf32>
  cpu.launch @kernel(%view1) tasks(%c0) writes 1 : memref<8xf32>
  %n1 = arith.addi %n0, %c64 : index
  %buffer1 = memref.alloc(%n1) : memref<?xf32>
  memref.copy %x, %buffer1 : memref<?xf32> to memref<?xf32>
  %holds1 = arith.cmpi slt, %n1, %c128 : index
  ingot.require %holds1, "node 'a': {0} is too large"(%n1) : index
  scf.if %holds1 {
    %number = arith.constant 1 : i64
    func.call @ended(%call, %number) : (!llvm.ptr, i64) -> ()
  }
  %view2 = memref.view %arena[%c128][] : memref<?xi8> to memref<8xf32>
  %load2 = memref.load %x[%c128] : memref<?xf32>
  %sum2 = arith.addf %load2, %load2 : f32
  memref.store %sum2, %view2[%c0] : memref<8xf32>
  cpu.launch @kernel(%view2) tasks(%c0) writes 1 : memref<8xf32>
  %n2 = arith.addi %n1, %c64 : index
  %buffer2 = memref.alloc(%n2) : memref<?xf32>
  memref.copy %x, %buffer2 : memref<?xf32> to memref<?xf32>
  %holds2 = arith.cmpi slt, %n2, %c128 : index
  ingot.require %holds2, "node 'b': {0} is too large"(%n2) : index
  scf.if %holds2 {
    %number = arith.constant 2 : i64
    func.call @ended(%call, %number) : (!llvm.ptr, i64) -> ()
  }
  %view3 = memref.view %arena[%c192][] : memref<?xi8> to memref<8xf32>
  %load3 = memref.load %x[%c192] : memref<?xf32>
  %sum3 = arith.addf %load3, %load3 : f32
  memref.store %sum3, %view3[%c0] : memref<8xf32>
  cpu.launch @kernel(%view3) tasks(%c0) writes 1 : memref<8xf32>
  %n3 = arith.addi %n2, %c64 : index
  %buffer3 = memref.alloc(%n3) : memref<?xf32>
  memref.copy %x, %buffer3 : memref<?xf32> to memref<?xf32>
  %holds3 = arith.cmpi slt, %n3, %c128 : index
  ingot.require %holds3, "node 'c': {0} is too large"(%n3) : index
  scf.if %holds3 {
    %number = arith.constant 3 : i64
    func.call @ended(%call, %number) : (!llvm.ptr, i64) -> ()
  }
  memref.store %f, %view1[%c0] : memref<8xf32>
  memref.dealloc %buffer1 : memref<?xf32>
  memref.dealloc %buffer2 : memref<?xf32>
  memref.dealloc %buffer3 : memref<?xf32>
  return
}

// -----

// Must not fire: rows with different connections between their results, stack
// memory that a function would return, and a row of only seven ops.

// CHECK-LABEL: func.func @forward(
// CHECK-NOT: repeat
// CHECK: return
func.func @forward(%x: memref<?xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %a0 = memref.load %x[%c0] : memref<?xf32>
  %a1 = arith.addf %a0, %a0 : f32
  %a2 = arith.mulf %a1, %a0 : f32
  %a3 = arith.addf %a2, %a1 : f32
  %a4 = arith.mulf %a3, %a2 : f32
  %a5 = arith.addf %a4, %a3 : f32
  %a6 = arith.mulf %a5, %a5 : f32
  memref.store %a6, %x[%c0] : memref<?xf32>
  %b0 = memref.load %x[%c0] : memref<?xf32>
  %b1 = arith.addf %b0, %b0 : f32
  %b2 = arith.mulf %b1, %b1 : f32
  %b3 = arith.addf %b2, %b1 : f32
  %b4 = arith.mulf %b3, %b2 : f32
  %b5 = arith.addf %b4, %b3 : f32
  %b6 = arith.mulf %b5, %b5 : f32
  memref.store %b6, %x[%c0] : memref<?xf32>
  %c1 = memref.alloca() : memref<1xf32>
  memref.copy %c1, %c1 : memref<1xf32> to memref<1xf32>
  memref.copy %c1, %c1 : memref<1xf32> to memref<1xf32>
  memref.copy %c1, %c1 : memref<1xf32> to memref<1xf32>
  memref.copy %c1, %c1 : memref<1xf32> to memref<1xf32>
  %d1 = memref.alloca() : memref<1xf32>
  memref.copy %d1, %d1 : memref<1xf32> to memref<1xf32>
  memref.copy %d1, %d1 : memref<1xf32> to memref<1xf32>
  memref.copy %d1, %d1 : memref<1xf32> to memref<1xf32>
  memref.copy %d1, %d1 : memref<1xf32> to memref<1xf32>
  return
}

// -----

// Must not fire: kernels, functions that infer sizes, and functions without the
// run's call.

// CHECK-LABEL: func.func @sizes(
// CHECK-NOT: repeat
// CHECK: return
func.func @sizes(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  memref.copy %x, %x : memref<?xf32> to memref<?xf32>
  memref.copy %x, %x : memref<?xf32> to memref<?xf32>
  memref.copy %x, %x : memref<?xf32> to memref<?xf32>
  memref.copy %x, %x : memref<?xf32> to memref<?xf32>
  memref.copy %x, %x : memref<?xf32> to memref<?xf32>
  memref.copy %x, %x : memref<?xf32> to memref<?xf32>
  memref.copy %x, %x : memref<?xf32> to memref<?xf32>
  memref.copy %x, %x : memref<?xf32> to memref<?xf32>
  memref.copy %x, %x : memref<?xf32> to memref<?xf32>
  memref.copy %x, %x : memref<?xf32> to memref<?xf32>
  memref.copy %x, %x : memref<?xf32> to memref<?xf32>
  memref.copy %x, %x : memref<?xf32> to memref<?xf32>
  memref.copy %x, %x : memref<?xf32> to memref<?xf32>
  memref.copy %x, %x : memref<?xf32> to memref<?xf32>
  memref.copy %x, %x : memref<?xf32> to memref<?xf32>
  memref.copy %x, %x : memref<?xf32> to memref<?xf32>
  return
}
