// RUN: ingot-opt --place-chunks --split-input-file %s | FileCheck %s

// The buffers of a chunk lie in one buffer. It has room for all images if their
// number is static. %a and %c are not live at the same time: both use the same
// 4 KiB per image, behind the bytes of %b.

// CHECK-LABEL: @known
// CHECK: %[[STEP:.*]] = ingot.chunk
// CHECK: %[[ALL:.*]] = memref.alloc() {alignment = 64 : i64} : memref<8x8192xi8>
// CHECK: %[[FLAT:.*]] = memref.collapse_shape %[[ALL]]
// CHECK: %[[BYTES:.*]] = memref.cast %[[FLAT]] : memref<65536xi8> to memref<?xi8>
// CHECK-DAG: %[[A:.*]] = arith.muli %[[STEP]], %c0
// CHECK-DAG: %[[B:.*]] = arith.muli %[[STEP]], %c4096
// CHECK: scf.for
// CHECK:   %[[N:.*]] = arith.minui
// CHECK-NOT: memref.alloc
// CHECK:   memref.view %[[BYTES]][%{{.*}}][%[[N]]] : memref<?xi8> to memref<?x32x32xf32>
// CHECK:   memref.view %[[BYTES]][%{{.*}}][%[[N]]] : memref<?xi8> to memref<?x32x32xf32>
// CHECK:   memref.view %[[BYTES]][%{{.*}}][%[[N]]] : memref<?xi8> to memref<?x32x32xf32>
func.func @known(%x: memref<8x32x32xf32>, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %step = ingot.chunk %c8 per_thread 1 of %call : !llvm.ptr
  scf.for %i = %c0 to %c8 step %step {
    %rest = arith.subi %c8, %i : index
    %n = arith.minui %rest, %step : index
    %part = memref.subview %x[%i, 0, 0] [%n, 32, 32] [1, 1, 1] : memref<8x32x32xf32> to memref<?x32x32xf32, strided<[1024, 32, 1], offset: ?>>
    %a = memref.alloc(%n) : memref<?x32x32xf32>
    memref.copy %part, %a : memref<?x32x32xf32, strided<[1024, 32, 1], offset: ?>> to memref<?x32x32xf32>
    %b = memref.alloc(%n) : memref<?x32x32xf32>
    memref.copy %a, %b : memref<?x32x32xf32> to memref<?x32x32xf32>
    %c = memref.alloc(%n) : memref<?x32x32xf32>
    memref.copy %b, %c : memref<?x32x32xf32> to memref<?x32x32xf32>
    memref.copy %c, %part : memref<?x32x32xf32> to memref<?x32x32xf32, strided<[1024, 32, 1], offset: ?>>
  }
  return
}

// -----

// The host provides the memory of one chunk. Other loops do not change.

// CHECK-LABEL: @open
// CHECK: %[[STEP:.*]] = ingot.chunk
// CHECK: memref.alloc(%[[STEP]]) {alignment = 64 : i64} : memref<?x64xi8>
// CHECK: scf.for
// CHECK:   memref.view %{{.*}} : memref<?xi8> to memref<?x3xi8>
// CHECK: scf.for
// CHECK:   memref.alloc(%{{.*}}) : memref<?x3xi8>
func.func @open(%x: memref<?x3xi8>, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = memref.dim %x, %c0 : memref<?x3xi8>
  %step = ingot.chunk %count per_thread 1 of %call : !llvm.ptr
  scf.for %i = %c0 to %count step %step {
    %rest = arith.subi %count, %i : index
    %n = arith.minui %rest, %step : index
    %part = memref.subview %x[%i, 0] [%n, 3] [1, 1] : memref<?x3xi8> to memref<?x3xi8, strided<[3, 1], offset: ?>>
    %a = memref.alloc(%n) : memref<?x3xi8>
    memref.copy %part, %a : memref<?x3xi8, strided<[3, 1], offset: ?>> to memref<?x3xi8>
    memref.copy %a, %part : memref<?x3xi8> to memref<?x3xi8, strided<[3, 1], offset: ?>>
  }
  scf.for %i = %c0 to %count step %c1 {
    %a = memref.alloc(%count) : memref<?x3xi8>
    memref.copy %x, %a : memref<?x3xi8> to memref<?x3xi8>
  }
  return
}
