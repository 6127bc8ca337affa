// RUN: ingot-opt --ingot-convert-to-llvm --split-input-file --verify-diagnostics %s | FileCheck %s

// An input's address and dynamic sizes come from the call's table of inputs,
// with 40 bytes per input.

// CHECK-LABEL: llvm.func @input
// CHECK-SAME: (%[[CALL:.*]]: !llvm.ptr)
// CHECK: llvm.getelementptr %[[CALL]][40]
// CHECK: %[[TABLE:.*]] = llvm.load %{{.*}} invariant : !llvm.ptr -> !llvm.ptr
// CHECK: llvm.getelementptr %[[TABLE]][192]
// CHECK: llvm.getelementptr %[[TABLE]][200]
// CHECK: %[[DIMS:.*]] = llvm.load %{{.*}} invariant
// CHECK: llvm.getelementptr %[[DIMS]][8]
// CHECK: %[[SIZE:.*]] = llvm.load %{{.*}} invariant : !llvm.ptr -> i64
// CHECK: llvm.return %{{.*}} : i64
func.func @input(%call: !llvm.ptr) -> index {
  %x = ingot.buffer input 3 of %call : !llvm.ptr -> memref<4x?xf32>
  %c1 = arith.constant 1 : index
  %size = memref.dim %x, %c1 : memref<4x?xf32>
  return %size : index
}

// -----

// CHECK-LABEL: llvm.func @output
// CHECK-SAME: (%[[CALL:.*]]: !llvm.ptr
// CHECK: llvm.getelementptr %[[CALL]][48]
// CHECK: %[[TABLE:.*]] = llvm.load %{{.*}} invariant
// CHECK: llvm.getelementptr %[[TABLE]][0]
// CHECK: %[[DATA:.*]] = llvm.load %{{.*}} invariant
// CHECK-NOT: llvm.load
// CHECK: llvm.store
func.func @output(%call: !llvm.ptr, %value: f32) {
  %y = ingot.buffer output 0 of %call : !llvm.ptr -> memref<f32>
  memref.store %value, %y[] : memref<f32>
  return
}
