// RUN: ingot-opt %s -canonicalize -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: @round_trip
// CHECK: ingot.require %arg0, "never"
// CHECK: ingot.require %arg0, "{0} is not {1}"(%arg1, %arg2) : index, index
func.func @round_trip(%holds: i1, %a: index, %b: index) {
  ingot.require %holds, "never"
  ingot.require %holds, "{0} is not {1}"(%a, %b) : index, index
  return
}

// -----

// What always holds is not checked, what never does ends the run.

// CHECK-LABEL: @known
// CHECK-NOT: "true"
// CHECK: ingot.require %false, "false"
func.func @known() {
  %true = arith.constant true
  ingot.require %true, "true"
  %false = arith.constant false
  ingot.require %false, "false"
  return
}

// -----

func.func @too_many(%holds: i1, %a: index) {
  // expected-error@+1 {{expects at most 2 values, but got 3}}
  ingot.require %holds, "three"(%a, %a, %a) : index, index, index
  return
}
