// RUN: ingot-opt --ingot-convert-to-llvm --split-input-file --verify-diagnostics %s | FileCheck %s

// Memory of dynamic size comes from the host, through the run's call.

// CHECK-LABEL: llvm.func @forward
// CHECK-SAME: %[[CALL:[a-z0-9]*]]: !llvm.ptr {ingot.call})
// CHECK: %[[P:.*]] = llvm.call @ingot_support_allocate(%[[CALL]], %{{.*}})
// CHECK: llvm.call @ingot_support_release(%[[CALL]], %{{.*}})
func.func @forward(%n: index, %call: !llvm.ptr {ingot.call}) {
  %a = memref.alloc(%n) : memref<?xf32>
  memref.dealloc %a : memref<?xf32>
  return
}

// -----

func.func @forward(%n: index) {
  // expected-error @below {{cannot be allocated here}}
  %a = memref.alloc(%n) : memref<?xf32>
  return
}
