// RUN: ingot-opt --plan-memory --split-input-file %s | FileCheck %s

// a and c are never live at the same time, so they share their offset; b lies
// above.

// CHECK: module attributes {ingot.arena_bytes = 128 : i64, ingot.arena_lower_bound = 128 : i64
// CHECK-SAME: ingot.memory_plan = [#ingot.slot<offset = 0, bytes = 64, {{.*}}>, #ingot.slot<offset = 64, bytes = 64, {{.*}}>, #ingot.slot<offset = 0, bytes = 64, {{.*}}>]
func.func @forward(%x: memref<16xf32>, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}) {
  // CHECK: memref.view %arg1
  %a = memref.alloc() : memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  memref.copy %a, %b : memref<16xf32> to memref<16xf32>
  %c = memref.alloc() : memref<16xf32>
  memref.copy %b, %c : memref<16xf32> to memref<16xf32>
  memref.copy %c, %x : memref<16xf32> to memref<16xf32>
  // CHECK-NOT: memref.alloc
  return
}

// -----

// A view keeps its buffer alive.

// CHECK: ingot.arena_bytes = 128 : i64
func.func @forward(%x: memref<16xf32>, %y: memref<8xf32>, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}) {
  %a = memref.alloc() : memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  %view = memref.subview %a[0] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1]>>
  %b = memref.alloc() : memref<16xf32>
  memref.copy %x, %b : memref<16xf32> to memref<16xf32>
  memref.copy %b, %x : memref<16xf32> to memref<16xf32>
  memref.copy %view, %y : memref<8xf32, strided<[1]>> to memref<8xf32>
  return
}

// -----

// A buffer of dynamic size is released after its last use, also if this use is
// by its address.

// CHECK: func.func private @use
// CHECK: %[[A:.*]] = memref.alloc(%{{.*}})
// CHECK: %[[P:.*]] = memref.extract_aligned_pointer_as_index %[[A]]
// CHECK: call @use(%[[P]])
// CHECK-NEXT: memref.dealloc %[[A]]
func.func private @use(index)
func.func @forward(%n: index, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}) {
  %a = memref.alloc(%n) : memref<?xf32>
  %p = memref.extract_aligned_pointer_as_index %a : memref<?xf32> -> index
  call @use(%p) : (index) -> ()
  return
}

// -----

// Bodies share the arena, which has the size of the largest body.

// CHECK: ingot.arena_bytes = 256 : i64, ingot.arena_lower_bound = 256 : i64
// CHECK-SAME: ingot.memory_plan = [#ingot.slot<offset = 0, bytes = 64,
// CHECK-NOT: bytes = 256
// CHECK-SAME: ]
func.func @forward(%x: memref<16xf32>, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}) {
  %a = memref.alloc() : memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  memref.copy %a, %x : memref<16xf32> to memref<16xf32>
  return
}
func.func @forward_1(%x: memref<64xf32>, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}) attributes {ingot.usual_of = 0 : i64} {
  %a = memref.alloc() : memref<64xf32>
  memref.copy %x, %a : memref<64xf32> to memref<64xf32>
  memref.copy %a, %x : memref<64xf32> to memref<64xf32>
  return
}

// -----

// Views far in front of their users do not make a buffer live: the second
// buffer has the offset of the first.

// CHECK: ingot.arena_bytes = 64 : i64
func.func @forward(%x: memref<16xf32>, %y: memref<8xf32>, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}) {
  %a = memref.alloc() : memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  %half = memref.subview %b[0] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1]>>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  memref.copy %a, %x : memref<16xf32> to memref<16xf32>
  memref.copy %y, %half : memref<8xf32> to memref<8xf32, strided<[1]>>
  memref.copy %half, %y : memref<8xf32, strided<[1]>> to memref<8xf32>
  return
}

// -----

// The host's buffer is allocated no earlier, either. Ops that use a size of the
// buffer stay behind it.

// CHECK-LABEL: func.func @sinks
// CHECK: memref.copy %arg0, %[[A:.*]] :
// CHECK: memref.copy %[[A]], %arg0
// CHECK: memref.dealloc %[[A]]
// CHECK: %[[B:.*]] = memref.alloc(%{{.*}}) : memref<?x4xf32>
// CHECK: %[[VIEW:.*]] = memref.collapse_shape %[[B]]
// CHECK: %[[DIM:.*]] = memref.dim %[[VIEW]]
// CHECK: %[[C:.*]] = memref.alloc(%[[DIM]])
// CHECK: memref.copy %[[VIEW]], %[[C]]
// CHECK: memref.copy %[[C]], %[[VIEW]]
func.func @sinks(%x: memref<?xf32>, %n: index, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}) {
  %c0 = arith.constant 0 : index
  %size = memref.dim %x, %c0 : memref<?xf32>
  %b = memref.alloc(%n) : memref<?x4xf32>
  %view = memref.collapse_shape %b [[0, 1]] : memref<?x4xf32> into memref<?xf32>
  %dim = memref.dim %view, %c0 : memref<?xf32>
  %c = memref.alloc(%dim) : memref<?xf32>
  %a = memref.alloc(%size) : memref<?xf32>
  memref.copy %x, %a : memref<?xf32> to memref<?xf32>
  memref.copy %a, %x : memref<?xf32> to memref<?xf32>
  memref.copy %view, %c : memref<?xf32> to memref<?xf32>
  memref.copy %c, %view : memref<?xf32> to memref<?xf32>
  return
}
