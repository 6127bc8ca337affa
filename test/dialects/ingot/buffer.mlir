// RUN: ingot-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: @round_trip
// CHECK: ingot.buffer input 3 of %arg0 : !llvm.ptr -> memref<?x16xf32>
// CHECK: ingot.buffer output 0 of %arg0 : !llvm.ptr -> memref<i1>
func.func @round_trip(%call: !llvm.ptr) {
  %x = ingot.buffer input 3 of %call : !llvm.ptr -> memref<?x16xf32>
  %y = ingot.buffer output 0 of %call : !llvm.ptr -> memref<i1>
  return
}

// -----

func.func @negative(%call: !llvm.ptr) {
  // expected-error@+1 {{expects a number that is not negative, but got -1}}
  %x = ingot.buffer input -1 of %call : !llvm.ptr -> memref<4xf32>
  return
}

// -----

func.func @gaps(%call: !llvm.ptr) {
  // expected-error@+1 {{expects a result without gaps, but got 'memref<4xf32, strided<[2]>>'}}
  %x = ingot.buffer input 0 of %call : !llvm.ptr -> memref<4xf32, strided<[2]>>
  return
}
