// RUN: ingot-opt --ingot-place-outputs --split-input-file %s | FileCheck %s

// The host's buffer holds the output, also behind a view of all of it.

func.func private @ingot_support_store_output(!llvm.ptr, index, index, index, index, index)
func.func private @ingot_support_store_strings(!llvm.ptr, index, index, index, index, index)
// CHECK-LABEL: func.func @whole(
// CHECK: %[[ROOM:.*]] = ingot.room 3(%{{.*}}) : memref<?x8xf32>
// CHECK: linalg.fill ins(%{{.*}}) outs(%[[ROOM]]
// CHECK: memref.collapse_shape %[[ROOM]]
// CHECK: call @ingot_support_store_output
func.func @whole(%n: index, %sizes: index, %x: memref<?x8xf32>, %call: !llvm.ptr) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc(%n) : memref<?x8xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<?x8xf32>)
  %flat = memref.collapse_shape %a [[0, 1]] : memref<?x8xf32> into memref<?xf32>
  %data = memref.extract_aligned_pointer_as_index %flat : memref<?xf32> -> index
  func.call @ingot_support_store_output(%call, %c3, %c1, %sizes, %data, %c32) : (!llvm.ptr, index, index, index, index, index) -> ()
  return
}

// The output may be read afterwards.
// CHECK-LABEL: func.func @read_later(
// CHECK: ingot.room 3
// CHECK: memref.alloc
func.func @read_later(%n: index, %sizes: index, %call: !llvm.ptr) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<?xf32>)
  %data = memref.extract_aligned_pointer_as_index %a : memref<?xf32> -> index
  func.call @ingot_support_store_output(%call, %c3, %c1, %sizes, %data, %c32) : (!llvm.ptr, index, index, index, index, index) -> ()
  %b = memref.alloc(%n) : memref<?xf32>
  linalg.exp ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
  return
}

// Two outputs from one buffer: the second is copied from the first.
// CHECK-LABEL: func.func @twice(
// CHECK: ingot.room 1(
// CHECK-NOT: ingot.room
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @twice(%n: index, %sizes: index, %call: !llvm.ptr) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<?xf32>)
  %data = memref.extract_aligned_pointer_as_index %a : memref<?xf32> -> index
  func.call @ingot_support_store_output(%call, %c1, %c1, %sizes, %data, %c32) : (!llvm.ptr, index, index, index, index, index) -> ()
  func.call @ingot_support_store_output(%call, %c3, %c1, %sizes, %data, %c32) : (!llvm.ptr, index, index, index, index, index) -> ()
  return
}

// Must not fire: another value is written to the buffer afterwards.
// CHECK-LABEL: func.func @written_later(
// CHECK-NOT: ingot.room
// CHECK: return
func.func @written_later(%n: index, %sizes: index, %call: !llvm.ptr) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc(%n) : memref<?x8xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<?x8xf32>)
  %data = memref.extract_aligned_pointer_as_index %a : memref<?x8xf32> -> index
  func.call @ingot_support_store_output(%call, %c3, %c1, %sizes, %data, %c32) : (!llvm.ptr, index, index, index, index, index) -> ()
  %flat = memref.collapse_shape %a [[0, 1]] : memref<?x8xf32> into memref<?xf32>
  linalg.exp ins(%flat : memref<?xf32>) outs(%flat : memref<?xf32>)
  return
}

// Must not fire: a loop uses the buffer afterwards.
// CHECK-LABEL: func.func @carried(
// CHECK-NOT: ingot.room
// CHECK: return
func.func @carried(%n: index, %sizes: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<?xf32>)
  %data = memref.extract_aligned_pointer_as_index %a : memref<?xf32> -> index
  func.call @ingot_support_store_output(%call, %c3, %c1, %sizes, %data, %c32) : (!llvm.ptr, index, index, index, index, index) -> ()
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%state = %a) -> (memref<?xf32>) {
    linalg.exp ins(%state : memref<?xf32>) outs(%state : memref<?xf32>)
    scf.yield %state : memref<?xf32>
  }
  return
}

// Must not fire: a part of a buffer, and strings.
// CHECK-LABEL: func.func @part(
// CHECK-NOT: ingot.room
// CHECK: return
func.func @part(%n: index, %sizes: index, %call: !llvm.ptr) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0 : i32
  %a = memref.alloc(%n) : memref<?xi32>
  linalg.fill ins(%zero : i32) outs(%a : memref<?xi32>)
  %most = memref.subview %a[0] [%c3] [1] : memref<?xi32> to memref<?xi32, strided<[1]>>
  %data = memref.extract_aligned_pointer_as_index %most : memref<?xi32, strided<[1]>> -> index
  func.call @ingot_support_store_output(%call, %c3, %c1, %sizes, %data, %c32) : (!llvm.ptr, index, index, index, index, index) -> ()
  %b = memref.alloc(%n) : memref<?xi32>
  linalg.fill ins(%zero : i32) outs(%b : memref<?xi32>)
  %numbers = memref.extract_aligned_pointer_as_index %b : memref<?xi32> -> index
  func.call @ingot_support_store_strings(%call, %c3, %c1, %sizes, %numbers, %c32) : (!llvm.ptr, index, index, index, index, index) -> ()
  return
}
