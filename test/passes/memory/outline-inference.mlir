// RUN: ingot-opt --outline-inference --split-input-file %s | FileCheck %s

// Ops that depend on sizes only are copied: checks, allocations in their order,
// and sizes of outputs. Computations are not copied, and buffers of the arena
// are no allocations.

#half = affine_map<()[s0] -> (s0 floordiv 2)>
// CHECK-LABEL: func.func @forward(
// CHECK: func.func @forward_infer(%[[CALL:.*]]: !llvm.ptr {ingot.operand = #ingot.operand<call>}) attributes {ingot.infers = @forward}
// CHECK: %[[X:.*]] = ingot.buffer input 0 of %[[CALL]] : !llvm.ptr -> memref<?x8xf32>
// CHECK: %[[N:.*]] = memref.dim %[[X]], %{{.*}}
// CHECK: ingot.require %{{.*}}, "n is {0}"(%[[N]])
// CHECK: %[[HALF:.*]] = affine.apply #{{.*}}()[%[[N]]]
// 8 elements of 4 bytes.
// CHECK: %[[EACH:.*]] = arith.constant 32 : index
// CHECK: %[[BYTES:.*]], %[[HIGH:.*]] = arith.mului_extended %[[EACH]], %[[HALF]]
// CHECK: %[[FITS:.*]] = arith.cmpi eq, %[[HIGH]]
// CHECK: %[[EMPTY:.*]] = arith.cmpi eq, %[[HALF]]
// CHECK: %[[KNOWN:.*]] = arith.ori %[[FITS]], %[[EMPTY]]
// CHECK: %[[ASKED:.*]] = arith.select %[[KNOWN]], %[[BYTES]]
// CHECK: ingot.require %{{.*}}, "a tensor is too large for any memory"
// CHECK: %[[PLACE:.*]] = call @ingot_support_reserve(%[[CALL]], %[[ASKED]])
// CHECK-NOT: linalg
// The size of a view of the buffer.
// CHECK: %[[ROWS:.*]] = arith.muli %{{.*}}, %[[HALF]]
// CHECK: %[[FLAT:.*]] = arith.muli %[[ROWS]]
// CHECK: %[[WIDE:.*]] = arith.index_cast %[[FLAT]] : index to i64
// CHECK: memref.store %[[WIDE]]
// CHECK: call @ingot_support_set_dims(%[[CALL]]
// CHECK: call @ingot_support_unreserve(%[[CALL]], %[[PLACE]])
// CHECK: return
module {
  func.func private @ingot_support_store_output(!llvm.ptr, index, index, index, index, index)
  func.func @forward(%x: memref<?x8xf32>, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0.0 : f32
    %n = memref.dim %x, %c0 : memref<?x8xf32>
    %holds = arith.cmpi sge, %n, %c1 : index
    ingot.require %holds, "n is {0}"(%n) : index
    %fixed = memref.view %arena[%c0][] : memref<?xi8> to memref<8xf32>
    %half = affine.apply #half()[%n]
    %a = memref.alloc(%half) : memref<?x8xf32>
    linalg.fill ins(%zero : f32) outs(%a : memref<?x8xf32>)
    %flat = memref.collapse_shape %a [[0, 1]] : memref<?x8xf32> into memref<?xf32>
    %size = memref.dim %flat, %c0 : memref<?xf32>
    %dims = memref.alloca() : memref<1xi64>
    %wide = arith.index_cast %size : index to i64
    memref.store %wide, %dims[%c0] : memref<1xi64>
    %sizes = memref.extract_aligned_pointer_as_index %dims : memref<1xi64> -> index
    %data = memref.extract_aligned_pointer_as_index %flat : memref<?xf32> -> index
    func.call @ingot_support_store_output(%call, %c0, %c1, %sizes, %data, %c32) : (!llvm.ptr, index, index, index, index, index) -> ()
    memref.dealloc %a : memref<?x8xf32>
    return
  }
}

// -----

// The host provides memory for outputs, unless their size depends on data.

// CHECK: func.func @forward_infer(%[[CALL:.*]]: !llvm.ptr
// CHECK-NOT: call @ingot_support_reserve(
// CHECK: call @ingot_support_reserve_unknown(%[[CALL]])
// CHECK-NOT: call @ingot_support_reserve
// CHECK: return
module {
  func.func @forward(%x: memref<?x8xf32>, %which: memref<index>, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = memref.dim %x, %c0 : memref<?x8xf32>
    %holds = arith.cmpi sge, %n, %c1 : index
    ingot.require %holds, "n is {0}"(%n) : index
    %y = ingot.room 0(%n) : memref<?x8xf32>
    %m = memref.load %which[] : memref<index>
    %z = ingot.room 1(%m) : memref<?x8xf32>
    return
  }
}

// -----

// The size of the buffer, and of one in a loop, depends on data.

// CHECK: func.func @forward_infer(%[[CALL:.*]]: !llvm.ptr
// CHECK-NOT: memref.load
// CHECK: call @ingot_support_reserve_unknown(%[[CALL]])
// CHECK-NOT: scf.for
// CHECK: call @ingot_support_reserve_unknown(%[[CALL]])
// CHECK: %[[OPEN:.*]] = arith.constant -1 : i64
// CHECK: memref.store %[[OPEN]]
// CHECK: call @ingot_support_set_dims(%[[CALL]]
// CHECK-NOT: ingot_support_unreserve(%
module {
  func.func private @ingot_support_store_output(!llvm.ptr, index, index, index, index, index)
  func.func @forward(%x: memref<4xindex>, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0.0 : f32
    %n = memref.load %x[%c0] : memref<4xindex>
    %a = memref.alloc(%n) : memref<?xf32>
    linalg.fill ins(%zero : f32) outs(%a : memref<?xf32>)
    scf.for %i = %c0 to %c4 step %c1 {
      %b = memref.alloc(%i) : memref<?xf32>
      linalg.fill ins(%zero : f32) outs(%b : memref<?xf32>)
      memref.dealloc %b : memref<?xf32>
    }
    %size = memref.dim %a, %c0 : memref<?xf32>
    %dims = memref.alloca() : memref<1xi64>
    %wide = arith.index_cast %size : index to i64
    memref.store %wide, %dims[%c0] : memref<1xi64>
    %sizes = memref.extract_aligned_pointer_as_index %dims : memref<1xi64> -> index
    %data = memref.extract_aligned_pointer_as_index %a : memref<?xf32> -> index
    func.call @ingot_support_store_output(%call, %c0, %c1, %sizes, %data, %c32) : (!llvm.ptr, index, index, index, index, index) -> ()
    memref.dealloc %a : memref<?xf32>
    return
  }
}

// -----

// Must not fire: all sizes are static.

// CHECK-LABEL: @fixed(
// CHECK-NOT: _infer
module {
  func.func @fixed(%x: memref<4xf32>, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
    return
  }
}

// -----

// The sizes of a reshape are those in its list, each of which is stored once.
// So are the sizes of its users.

// CHECK-LABEL: @listed_infer(
// CHECK-DAG: %[[N:.*]] = memref.dim %{{.*}}, %{{.*}} : memref<?x4xf32>
// CHECK-DAG: %[[HALF:.*]] = arith.divsi %[[N]],
// CHECK: call @ingot_support_reserve(%{{.*}}, %{{.*}})
// CHECK: %[[FIRST:.*]] = arith.index_cast %[[HALF]] : index to i64
// CHECK: memref.store %[[FIRST]], %{{.*}}[%{{.*}}] : memref<1xi64>
// CHECK: call @ingot_support_set_dims

// Must not fire: a list whose elements are stored twice.

// CHECK-LABEL: @rewritten_infer(
// CHECK: ingot_support_reserve_unknown
// CHECK: %[[UNKNOWN:.*]] = arith.constant -1 : i64
// CHECK: memref.store %[[UNKNOWN]], %{{.*}}[%{{.*}}] : memref<1xi64>
module {
  func.func private @ingot_support_store_output(!llvm.ptr, index, index, index, index, index)
  func.func @listed(%x: memref<?x4xf32>, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %n = memref.dim %x, %c0 : memref<?x4xf32>
    %half = arith.divsi %n, %c2 : index
    %list = memref.view %arena[%c0][] : memref<?xi8> to memref<2xindex>
    memref.store %half, %list[%c0] : memref<2xindex>
    memref.store %c2, %list[%c1] : memref<2xindex>
    %y = memref.reshape %x(%list) : (memref<?x4xf32>, memref<2xindex>) -> memref<?x2xf32>
    %size = memref.dim %y, %c0 : memref<?x2xf32>
    %read = memref.load %list[%c0] : memref<2xindex>
    %a = memref.alloc(%read) : memref<?xf32>
    %dims = memref.alloca() : memref<1xi64>
    %wide = arith.index_cast %size : index to i64
    memref.store %wide, %dims[%c0] : memref<1xi64>
    %sizes = memref.extract_aligned_pointer_as_index %dims : memref<1xi64> -> index
    %data = memref.extract_aligned_pointer_as_index %a : memref<?xf32> -> index
    func.call @ingot_support_store_output(%call, %c0, %c1, %sizes, %data, %c32) : (!llvm.ptr, index, index, index, index, index) -> ()
    memref.dealloc %a : memref<?xf32>
    return
  }
  func.func @rewritten(%x: memref<?x4xf32>, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %n = memref.dim %x, %c0 : memref<?x4xf32>
    %list = memref.view %arena[%c0][] : memref<?xi8> to memref<1xindex>
    memref.store %n, %list[%c0] : memref<1xindex>
    memref.store %c1, %list[%c0] : memref<1xindex>
    %read = memref.load %list[%c0] : memref<1xindex>
    %a = memref.alloc(%read) : memref<?xf32>
    %dims = memref.alloca() : memref<1xi64>
    %wide = arith.index_cast %read : index to i64
    memref.store %wide, %dims[%c0] : memref<1xi64>
    %sizes = memref.extract_aligned_pointer_as_index %dims : memref<1xi64> -> index
    %data = memref.extract_aligned_pointer_as_index %a : memref<?xf32> -> index
    func.call @ingot_support_store_output(%call, %c0, %c1, %sizes, %data, %c32) : (!llvm.ptr, index, index, index, index, index) -> ()
    memref.dealloc %a : memref<?xf32>
    return
  }
}

// -----

// A chunk has at most all images, since threads and observers are not known.

// CHECK-LABEL: func.func @chunks_infer(
// CHECK: %[[N:.*]] = memref.dim
// CHECK: %[[MOST:.*]] = arith.maxui %[[N]], %{{.*}} : index
// CHECK: arith.mului_extended %{{.*}}, %[[MOST]]
// CHECK: call @ingot_support_reserve(
func.func @chunks(%x: memref<?x8xf32>, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %size = ingot.chunk %n per_thread 2 of %call : !llvm.ptr
  %a = memref.alloc(%size) : memref<?x64xi8>
  memref.dealloc %a : memref<?x64xi8>
  return
}
