// RUN: ingot-opt --cut-functions=most-ops=4 --split-input-file %s | FileCheck %s
// RUN: ingot-opt --cut-functions --split-input-file %s | FileCheck %s --check-prefix=WHOLE

// A long function becomes calls of pieces. Each piece repeats constants, views and sizes of arguments. Computed sizes,
// data and buffers that a later piece needs are kept in memory, in slots that are reused.

// CHECK-LABEL: func.func private @forward_piece_0
// CHECK-SAME: attributes {llvm.linkage = #llvm.linkage<internal>, passthrough = ["noinline", "ingot-distinct-buffers"]}
// CHECK: memref.dim
// CHECK: memref.alloc(
// CHECK: memref.store %{{.*}} : memref<1xindex>
// CHECK: memref.store %{{.*}} : memref<2xmemref<?xf32>>

// CHECK-LABEL: func.func private @forward_piece_1
// CHECK: memref.view
// CHECK: memref.load %{{.*}} : memref<2xmemref<?xf32>>
// CHECK: memref.store %{{.*}} : memref<2xf32>

// CHECK-LABEL: func.func private @forward_piece_2
// CHECK: memref.load %{{.*}} : memref<2xmemref<?xf32>>
// CHECK: %[[N:.*]] = memref.load %{{.*}} : memref<1xindex>
// CHECK: memref.alloc(%[[N]])

// CHECK-LABEL: func.func private @forward_piece_3
// CHECK-NOT: memref<1xindex>
// CHECK: %[[D:.*]] = memref.dim
// CHECK: memref.alloc(%[[D]])
// CHECK: memref.store %{{.*}} : memref<2xmemref<?xf32>>
// CHECK-LABEL: func.func private @forward_piece_4

// CHECK-LABEL: func.func @forward(
// CHECK-DAG: memref.alloca() : memref<1xindex>
// CHECK-DAG: memref.alloca() : memref<2xmemref<?xf32>>
// CHECK: call @forward_piece_0(
// CHECK-NEXT: call @forward_piece_1(
// CHECK: call @forward_piece_3(
// CHECK: return

// WHOLE-NOT: _piece_
// WHOLE: func.func @forward(
func.func @forward(%x: memref<?xf32>, %arena: memref<?xi8>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %view = memref.view %arena[%c64][] : memref<?xi8> to memref<16xf32>
  %d = memref.dim %x, %c0 : memref<?xf32>
  %n = arith.addi %d, %c64 : index
  %buffer = memref.alloc(%n) : memref<?xf32>
  memref.copy %x, %buffer : memref<?xf32> to memref<?xf32>
  %f = memref.load %buffer[%c0] : memref<?xf32>
  memref.store %f, %view[%c0] : memref<16xf32>
  memref.copy %buffer, %x : memref<?xf32> to memref<?xf32>
  memref.copy %buffer, %x : memref<?xf32> to memref<?xf32>
  %g = memref.load %view[%c0] : memref<16xf32>
  memref.store %g, %buffer[%c0] : memref<?xf32>
  memref.copy %buffer, %x : memref<?xf32> to memref<?xf32>
  memref.dealloc %buffer : memref<?xf32>
  %other = memref.alloc(%n) : memref<?xf32>
  memref.copy %x, %other : memref<?xf32> to memref<?xf32>
  %last = memref.alloc(%d) : memref<?xf32>
  memref.copy %other, %last : memref<?xf32> to memref<?xf32>
  memref.copy %last, %x : memref<?xf32> to memref<?xf32>
  memref.copy %last, %x : memref<?xf32> to memref<?xf32>
  return
}

// -----

// Stack memory is gone when its piece returns, so there is no cut while it is
// in use. Returned values are loaded again.

// CHECK-LABEL: func.func private @stack_piece_0
// CHECK: memref.alloca() : memref<4xf32>
// CHECK-LABEL: func.func private @stack_piece_1
// CHECK-NOT: memref.alloca
// CHECK-LABEL: func.func @stack(
// CHECK: memref.load
// CHECK: return
func.func @stack(%x: memref<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %a = memref.alloca() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  memref.copy %a, %x : memref<4xf32> to memref<4xf32>
  %f = memref.load %x[%c0] : memref<4xf32>
  memref.store %f, %x[%c0] : memref<4xf32>
  memref.store %f, %x[%c0] : memref<4xf32>
  return %f : f32
}

// -----

// Must not fire for kernels, which are small and are optimized as a whole.

// CHECK-NOT: _piece_
func.func private @kernel(%x: memref<4xf32>) attributes {ingot.kernel} {
  memref.copy %x, %x : memref<4xf32> to memref<4xf32>
  memref.copy %x, %x : memref<4xf32> to memref<4xf32>
  memref.copy %x, %x : memref<4xf32> to memref<4xf32>
  memref.copy %x, %x : memref<4xf32> to memref<4xf32>
  memref.copy %x, %x : memref<4xf32> to memref<4xf32>
  memref.copy %x, %x : memref<4xf32> to memref<4xf32>
  memref.copy %x, %x : memref<4xf32> to memref<4xf32>
  memref.copy %x, %x : memref<4xf32> to memref<4xf32>
  memref.copy %x, %x : memref<4xf32> to memref<4xf32>
  return
}

// -----

// No piece keeps the address of memory on its own stack.

// CHECK-LABEL: func.func private @stack_piece_0
// CHECK: %[[STACK:.*]] = memref.alloca
// CHECK: %[[ADDRESS:.*]] = memref.extract_aligned_pointer_as_index %[[STACK]]
// CHECK: call @take
// CHECK: call @take
// CHECK: %[[NEXT:.*]] = arith.addi %[[ADDRESS]]
// CHECK: call @take
// CHECK: call @take(%[[NEXT]])
// CHECK: func.func private @stack_piece_1
func.func private @take(index)
func.func @stack(%x: memref<4xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c1 = arith.constant 1 : index
  %stack = memref.alloca() : memref<2xi64>
  %address = memref.extract_aligned_pointer_as_index %stack : memref<2xi64> -> index
  call @take(%c1) : (index) -> ()
  call @take(%c1) : (index) -> ()
  %next = arith.addi %address, %c1 : index
  call @take(%c1) : (index) -> ()
  call @take(%next) : (index) -> ()
  memref.copy %x, %x : memref<4xf32> to memref<4xf32>
  memref.copy %x, %x : memref<4xf32> to memref<4xf32>
  memref.copy %x, %x : memref<4xf32> to memref<4xf32>
  memref.copy %x, %x : memref<4xf32> to memref<4xf32>
  memref.copy %x, %x : memref<4xf32> to memref<4xf32>
  return
}
