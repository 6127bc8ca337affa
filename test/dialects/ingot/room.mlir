// RUN: ingot-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: @round_trip
// CHECK: ingot.room 3(%arg0) : memref<?x16xf32>
func.func @round_trip(%n: index) {
  %x = ingot.room 3(%n) : memref<?x16xf32>
  return
}

// -----

func.func @negative(%n: index) {
  // expected-error@+1 {{expects a number that is not negative, but got -1}}
  %x = ingot.room -1(%n) : memref<?xf32>
  return
}

// -----

func.func @sizes(%n: index) {
  // expected-error@+1 {{expects 2 open sizes, but got 1}}
  %x = ingot.room 0(%n) : memref<?x?xf32>
  return
}

// -----

func.func @gaps(%n: index) {
  // expected-error@+1 {{expects a result without gaps, but got 'memref<?xf32, strided<[2]>>'}}
  %x = ingot.room 0(%n) : memref<?xf32, strided<[2]>>
  return
}
