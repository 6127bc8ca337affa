// RUN: ingot-opt --split-input-file --verify-diagnostics %s | FileCheck %s

// CHECK: ingot.chunk %arg0 per_thread 2 of %arg1 : !llvm.ptr
func.func @chunk(%pictures: index, %call: !llvm.ptr) -> index {
  %size = ingot.chunk %pictures per_thread 2 of %call : !llvm.ptr
  return %size : index
}

// -----

func.func @none(%pictures: index, %call: !llvm.ptr) -> index {
  // expected-error@+1 {{attribute 'per_thread' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %size = ingot.chunk %pictures per_thread 0 of %call : !llvm.ptr
  return %size : index
}
