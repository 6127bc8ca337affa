// RUN: ingot-opt --ingot-convert-to-llvm --split-input-file --verify-diagnostics %s | FileCheck %s

// The host provides memory of dynamic size, through the run's call.

// CHECK-LABEL: llvm.func @forward
// CHECK-SAME: %[[CALL:[a-z0-9]*]]: !llvm.ptr {ingot.operand = #ingot.operand<call>})
// CHECK: %[[P:.*]] = llvm.call @ingot_support_allocate(%[[CALL]], %{{.*}}, %{{.*}})
// CHECK: llvm.call @ingot_support_release(%[[CALL]], %{{.*}})
func.func @forward(%n: index, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %a = memref.alloc(%n) : memref<?xf32>
  memref.dealloc %a : memref<?xf32>
  return
}

// -----

// An output's memory comes from the host, too, or is the host's own.

// CHECK-LABEL: llvm.func @forward
// CHECK-SAME: %[[CALL:[a-z0-9]*]]: !llvm.ptr {ingot.operand = #ingot.operand<call>})
// CHECK: %[[NUMBER:.*]] = llvm.mlir.constant(2 : i64)
// CHECK: llvm.call @ingot_support_room(%[[CALL]], %[[NUMBER]], %{{.*}}, %{{.*}}) : (!llvm.ptr, i64, i64, !llvm.ptr) -> !llvm.ptr
func.func @forward(%n: index, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %a = ingot.room 2(%n) : memref<?xf32>
  return
}

// -----

func.func @forward(%n: index) {
  // expected-error @below {{cannot be allocated here}}
  %a = memref.alloc(%n) : memref<?xf32>
  return
}

// -----

// A kernel of one task is called. Its function reads the address, with the
// offset, from a frame of 64-bit fields.

// CHECK-LABEL: llvm.func internal @kernel.task
// CHECK-SAME: (%[[WORDS:.*]]: !llvm.ptr, %[[NUMBER:.*]]: i64)
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[WORDS]][0]
// CHECK: %[[DATA:.*]] = llvm.load %[[AT]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[ZERO:.*]] = llvm.mlir.constant(0 : i64)
// CHECK: llvm.call @kernel(%[[DATA]], %[[DATA]], %[[ZERO]], %{{.*}}, %{{.*}}, %[[NUMBER]])
// CHECK-LABEL: llvm.func @forward
// CHECK: %[[FRAME:.*]] = llvm.alloca
// CHECK: %[[OFFSET:.*]] = llvm.mlir.constant(8 : index)
// CHECK: %[[SHIFTED:.*]] = llvm.getelementptr %{{.*}}[%[[OFFSET]]]
// CHECK: %[[WORD:.*]] = llvm.ptrtoint %[[SHIFTED]]
// CHECK: llvm.store %[[WORD]], %{{.*}}
// CHECK: %[[FIRST:.*]] = llvm.mlir.constant(0 : i64)
// CHECK: llvm.call @kernel.task(%[[FRAME]], %[[FIRST]])
// CHECK-NOT: ingot_support_parallel
func.func private @kernel(%x: memref<4xf32, strided<[1]>>, %task: index) {
  return
}
func.func @forward(%x: memref<4xf32, strided<[1], offset: 8>>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c1 = arith.constant 1 : index
  cpu.launch @kernel(%x) tasks(%c1) writes 1 : memref<4xf32, strided<[1], offset: 8>>
  return
}

// -----

// Many tasks run on the run's threads. Two launches of one kernel share the
// task's function. All launches share one frame, which has the fields of the
// longest launch.

// CHECK: llvm.func @ingot_support_parallel(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64)
// CHECK-LABEL: llvm.func internal @kernel.task
// CHECK-LABEL: llvm.func @forward
// CHECK-SAME: %[[CALL:[a-z0-9]*]]: !llvm.ptr {ingot.operand = #ingot.operand<call>})
// CHECK: %[[WORDS:.*]] = llvm.mlir.constant(3 : i64)
// CHECK: %[[FRAME:.*]] = llvm.alloca %[[WORDS]] x i64
// CHECK-NOT: llvm.alloca
// CHECK-DAG: %[[TASK:.*]] = llvm.mlir.addressof @kernel.task
// CHECK: llvm.call @ingot_support_parallel(%[[CALL]], %[[TASK]], %[[FRAME]], %{{.*}})
// CHECK: llvm.call @ingot_support_parallel(%[[CALL]], %{{.*}}, %[[FRAME]], %{{.*}})
// CHECK: llvm.call @ingot_support_parallel(%[[CALL]], %{{.*}}, %[[FRAME]], %{{.*}})
// CHECK-NOT: @kernel.task(
func.func private @kernel(%x: memref<4xf32>, %task: index) {
  return
}
func.func private @longer(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>, %task: index) {
  return
}
func.func @forward(%x: memref<4xf32>, %n: index, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c8 = arith.constant 8 : index
  cpu.launch @kernel(%x) tasks(%c8) writes 1 : memref<4xf32>
  cpu.launch @longer(%x, %x, %x) tasks(%c8) writes 1 : memref<4xf32>, memref<4xf32>, memref<4xf32>
  cpu.launch @kernel(%x) tasks(%n) writes 1 : memref<4xf32>
  return
}

// -----

// Dynamic sizes, strides and offsets are fields of the frame: here the address,
// a size, a stride.

// CHECK-LABEL: llvm.func internal @kernel.task
// CHECK: llvm.getelementptr %{{.*}}[0]
// CHECK: llvm.getelementptr %{{.*}}[1]
// CHECK: llvm.getelementptr %{{.*}}[2]
// CHECK-NOT: llvm.getelementptr
// CHECK: llvm.call @kernel
// CHECK-LABEL: llvm.func @forward
// CHECK: llvm.extractvalue %{{.*}}[2]
// CHECK: llvm.getelementptr %{{.*}}[%{{.*}}] : {{.*}} f32
// CHECK: llvm.extractvalue %{{.*}}[3, 0]
// CHECK: llvm.extractvalue %{{.*}}[4, 0]
// CHECK: llvm.call @ingot_support_parallel
func.func private @kernel(%x: memref<?x4xf32, strided<[?, 1]>>, %task: index) {
  return
}
func.func @forward(%x: memref<?x4xf32, strided<[?, 1], offset: ?>>, %n: index, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  cpu.launch @kernel(%x) tasks(%n) writes 1 : memref<?x4xf32, strided<[?, 1], offset: ?>>
  return
}

// -----

func.func private @kernel(%x: memref<4xf32>, %task: index) {
  return
}
func.func @forward(%x: memref<4xf32>, %n: index) {
  // expected-error @below {{cannot be launched here}}
  // expected-error @below {{failed to legalize}}
  cpu.launch @kernel(%x) tasks(%n) writes 1 : memref<4xf32>
  return
}

// -----

// A requirement of a run ends the run if it is false.

// CHECK: llvm.mlir.global internal constant @ingot_check_0("node 'look': an index is outside\00")
// CHECK-LABEL: llvm.func @forward
// CHECK-SAME: %[[HOLDS:.*]]: i1, %[[CALL:[a-z0-9]*]]: !llvm.ptr {ingot.operand = #ingot.operand<call>})
// CHECK-DAG: %[[TEXT:.*]] = llvm.mlir.addressof @ingot_check_0
// CHECK-DAG: %[[WORD:.*]] = llvm.zext %[[HOLDS]] : i1 to i32
// CHECK: llvm.call @ingot_support_require(%[[CALL]], %[[WORD]], %{{.*}})
func.func @forward(%holds: i1, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  ingot.require %holds, "node 'look': an index is outside"
  return
}

// -----

// A tensor is shown with its sizes and strides, in the form of a launch's fields.

// CHECK-LABEL: llvm.func @forward
// CHECK: %[[FRAME:.*]] = llvm.alloca %{{.*}} {ingot.scratch = "frame of launches"}
// CHECK-DAG: %[[NUMBER:.*]] = llvm.mlir.constant(7 : i64)
// CHECK-DAG: %[[FLOAT:.*]] = llvm.mlir.constant(1 : i32)
// CHECK-DAG: %[[RANK:.*]] = llvm.mlir.constant(2 : i32)
// CHECK: llvm.call @ingot_support_observe(%{{.*}}, %[[NUMBER]], %[[FLOAT]], %[[RANK]], %{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, i64, i32, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
func.func @forward(%x: memref<2x?xf32, strided<[16, 1]>>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  ingot.observe 7 %x : memref<2x?xf32, strided<[16, 1]>>
  return
}

// -----

func.func @kernel(%x: memref<2xf32>, %task: index) {
  // expected-error @below {{cannot be observed here}}
  // expected-error @below {{failed to legalize}}
  ingot.observe 0 %x : memref<2xf32>
  return
}

// -----

func.func @kernel(%holds: i1, %task: index) {
  // expected-error @below {{cannot be checked here}}
  // expected-error @below {{failed to legalize}}
  ingot.require %holds, "never true"
  return
}

// -----

// Masked stores of f16 and bytes. If one known lane is stored, they are scalar
// stores.

// CHECK-LABEL: llvm.func @narrow
// CHECK: llvm.intr.masked.store {{.*}} : vector<16xi8>
// CHECK: llvm.intr.masked.store {{.*}} : vector<16xi16>
// CHECK-NOT: llvm.intr.masked.store
// CHECK: llvm.store %{{.*}}, %{{.*}} : i8, !llvm.ptr
// CHECK: llvm.getelementptr %{{.*}}[2]
// CHECK: llvm.store %{{.*}}, %{{.*}} : bf16, !llvm.ptr
// CHECK-NOT: llvm.store
// CHECK: llvm.intr.masked.store {{.*}} : vector<4xf32>
func.func @narrow(%bytes: vector<16xi8>, %halves: vector<16xbf16>, %few: vector<4xbf16>, %whole: vector<4xf32>,
                  %mask: vector<16xi1>, %b: memref<64xi8>, %h: memref<64xbf16>, %f: memref<64xf32>, %i: index) {
  %first = arith.constant dense<[true, false, false, false, false, false, false, false, false, false, false, false,
                                 false, false, false, false]> : vector<16xi1>
  %third = arith.constant dense<[false, false, true, false]> : vector<4xi1>
  vector.maskedstore %b[%i], %mask, %bytes : memref<64xi8>, vector<16xi1>, vector<16xi8>
  vector.maskedstore %h[%i], %mask, %halves : memref<64xbf16>, vector<16xi1>, vector<16xbf16>
  vector.maskedstore %b[%i], %first, %bytes : memref<64xi8>, vector<16xi1>, vector<16xi8>
  vector.maskedstore %h[%i], %third, %few : memref<64xbf16>, vector<4xi1>, vector<4xbf16>
  vector.maskedstore %f[%i], %third, %whole : memref<64xf32>, vector<4xi1>, vector<4xf32>
  return
}

// -----

// Booleans are bytes in memory, so that LLVM can vectorize.

// CHECK-LABEL: llvm.func @booleans
// CHECK: %[[BYTE:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i8
// CHECK: %[[X:.*]] = llvm.trunc %[[BYTE]] : i8 to i1
// CHECK: %[[Y:.*]] = llvm.xor %[[X]], %{{.*}} : i1
// CHECK: %[[WIDE:.*]] = llvm.zext %[[Y]] : i1 to i8
// CHECK: llvm.store %[[WIDE]], %{{.*}} : i8, !llvm.ptr
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> i8
// CHECK-NEXT: llvm.add
func.func @booleans(%x: memref<8xi1>, %y: memref<8xi1>, %bytes: memref<8xi8>, %b: i1, %i: index, %n: i8) -> i8 {
  %0 = memref.load %x[%i] : memref<8xi1>
  %1 = arith.xori %0, %b : i1
  memref.store %1, %y[%i] : memref<8xi1>
  %2 = memref.load %bytes[%i] : memref<8xi8>
  %3 = arith.addi %2, %n : i8
  return %3 : i8
}

// -----

// CHECK-LABEL: llvm.func @chunk
// CHECK: %[[TWO:.*]] = llvm.mlir.constant(2 : i64) : i64
// CHECK: llvm.call @ingot_support_chunk(%arg1, %arg0, %[[TWO]]) : (!llvm.ptr, i64, i64) -> i64
func.func @chunk(%pictures: index, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) -> index {
  %size = ingot.chunk %pictures per_thread 2 of %call : !llvm.ptr
  return %size : index
}
