// RUN: ingot-opt --approximate-math %s | FileCheck %s

// CHECK-LABEL: @frequent
// CHECK-NOT: math.exp
// CHECK-NOT: math.tanh
// CHECK-NOT: math.erf
func.func @frequent(%x: f32) -> (f32, f32, f32) {
  %0 = math.exp %x : f32
  %1 = math.tanh %x : f32
  %2 = math.erf %x : f32
  return %0, %1, %2 : f32, f32, f32
}

// Rare functions, and doubles, stay calls.

// CHECK-LABEL: @rare
// CHECK: math.sin
// CHECK: math.exp
func.func @rare(%x: f32, %d: f64) -> (f32, f64) {
  %0 = math.sin %x : f32
  %1 = math.exp %d : f64
  return %0, %1 : f32, f64
}
