// RUN: ingot-opt --approximate-math --split-input-file %s | FileCheck %s

// The power of two goes into the exponent's bits. Results out of range become
// infinity and zero.
// CHECK-LABEL: @exp
// CHECK: %[[BIASED:.*]] = math.fma %arg0
// CHECK-COUNT-7: math.fma
// CHECK: arith.shli %{{.*}}, %{{.*}} : i32
// CHECK: arith.addi
// CHECK: arith.cmpf ugt
// CHECK: arith.cmpf olt
// CHECK-NOT: math.exp
func.func @exp(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  return %0 : f32
}

// -----

// The largest x whose result is at most 1 bounds x, so that no result exceeds
// 1.
// CHECK-LABEL: @bounded
// CHECK: %[[MOST:.*]] = arith.constant 8.215120e+00 : f32
// CHECK: %[[HIGH:.*]] = arith.cmpf ogt, %arg0, %[[MOST]] : f32
// CHECK: arith.select %[[HIGH]], %[[MOST]], %arg0
func.func @bounded(%x: f32) -> f32 {
  %0 = math.tanh %x : f32
  return %0 : f32
}

// -----

// CHECK-LABEL: @vectors
// CHECK: arith.shli %{{.*}}, %{{.*}} : vector<16xi32>
// CHECK: arith.divf %{{.*}}, %{{.*}} : vector<16xf32>
// CHECK: arith.divf %{{.*}}, %{{.*}} : vector<16xf32>
// CHECK-NOT: math.{{exp|erf|tanh|log}}
func.func @vectors(%x: vector<16xf32>)
    -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
  %0 = math.exp %x : vector<16xf32>
  %1 = math.erf %x : vector<16xf32>
  %2 = math.tanh %x : vector<16xf32>
  %3 = math.log %x : vector<16xf32>
  return %0, %1, %2, %3 : vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>
}

// -----

// Without fused multiply-add, the CPU would need a call.
module attributes {ingot.target = #ingot.target<"x86-64-v2">} {
// CHECK-LABEL: @unfused
// CHECK-NOT: math.fma
// CHECK: arith.constant 8.14268112 : f32
// CHECK-NOT: math.fma
// CHECK: arith.mulf
// CHECK-NOT: math.fma
func.func @unfused(%x: f32) -> (f32, f32, f32) {
  %0 = math.exp %x : f32
  %1 = math.tanh %x : f32
  %2 = math.erf %x : f32
  return %0, %1, %2 : f32, f32, f32
}
}

// -----

// Rare functions, and doubles, stay calls.
// CHECK-LABEL: @rare
// CHECK: math.tan
// CHECK: math.exp
func.func @rare(%x: f32, %d: f64) -> (f32, f64) {
  %0 = math.tan %x : f32
  %1 = math.exp %d : f64
  return %0, %1 : f32, f64
}

// -----

// An angle is multiplied by 2/pi as an integer; no call, no branch.
// CHECK-LABEL: @angles
// CHECK-NOT: math.{{sin|cos|atan|asin|acos}}
// CHECK: arith.extui %{{.*}} : vector<8xi32> to vector<8xi64>
// CHECK: arith.muli %{{.*}} : vector<8xi64>
// CHECK: math.absi %{{.*}} : vector<8xi64>
// CHECK: arith.divf
// CHECK: math.sqrt
// CHECK-NOT: math.{{sin|cos|atan|asin|acos}}
// CHECK: return
func.func @angles(%x: vector<8xf32>, %y: f32) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, f32, f32) {
  %0 = math.sin %x : vector<8xf32>
  %1 = math.cos %x : vector<8xf32>
  %2 = math.atan %x : vector<8xf32>
  %3 = math.asin %y : f32
  %4 = math.acos %y : f32
  return %0, %1, %2, %3, %4 : vector<8xf32>, vector<8xf32>, vector<8xf32>, f32, f32
}

// -----

// In f64: exp(2 |x|) - 1 without its 1, and the sign comes last.
// CHECK-LABEL: @doubles
// CHECK: math.absf
// CHECK-COUNT-15: math.fma
// CHECK: arith.shli %{{.*}}, %{{.*}} : vector<4xi64>
// CHECK: arith.divf
// CHECK: math.copysign %{{.*}}, %arg0 : vector<4xf64>
// CHECK-NOT: math.tanh
func.func @doubles(%x: vector<4xf64>) -> vector<4xf64> {
  %0 = math.tanh %x : vector<4xf64>
  return %0 : vector<4xf64>
}

// -----

// A remainder is exact in f64, unless the quotient has more bits than f64: then
// the vector calls libm. Remainders of f64 stay.
// CHECK-LABEL: @remainder
// CHECK: arith.divf %{{.*}}, %{{.*}} : vector<8xf64>
// CHECK: math.trunc
// CHECK: %[[ALL:.*]] = vector.reduction <and>
// CHECK: scf.if %[[ALL]]
// CHECK: math.copysign
// CHECK: llvm.frem %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK: arith.remf %{{.*}}, %{{.*}} : f64
func.func @remainder(%x: vector<8xf32>, %y: vector<8xf32>, %a: f64, %b: f64) -> (vector<8xf32>, f64) {
  %0 = arith.remf %x, %y : vector<8xf32>
  %1 = arith.remf %a, %b : f64
  return %0, %1 : vector<8xf32>, f64
}
