// RUN: ingot-opt --expand-math --split-input-file %s | FileCheck %s

// Near 0 sinh is a polynomial, so that no bits cancel. The exponential is half
// of exp, so that it does not overflow before sinh does.
// CHECK-LABEL: @sinh
// CHECK: %[[A:.*]] = math.absf %arg0 : f32
// CHECK: %[[NEAR:.*]] = math.fma %{{.*}}, %{{.*}}, %[[A]] : f32
// CHECK: %[[QUARTER:.*]] = arith.constant 2.500000e-01 : f32
// CHECK: %[[RECIPROCAL:.*]] = arith.divf %[[QUARTER]], %[[HALF:.*]] : f32
// CHECK: %[[FAR:.*]] = arith.subf %[[HALF]], %[[RECIPROCAL]]
// CHECK: %[[IS_NEAR:.*]] = arith.cmpf olt, %[[A]]
// CHECK: %[[Y:.*]] = arith.select %[[IS_NEAR]], %[[NEAR]], %[[FAR]]
// CHECK: math.copysign %[[Y]], %arg0
// CHECK-NOT: math.{{sinh|exp}}
func.func @sinh(%x: f32) -> f32 {
  %0 = math.sinh %x : f32
  return %0 : f32
}

// -----

// The logarithm has twice the bits: each product with the exponent has its
// rounding error.
// CHECK-LABEL: @pow
// CHECK: arith.divf
// CHECK: %[[PRODUCT:.*]] = arith.mulf %[[LN:.*]], %arg1 : f32
// CHECK: %[[NEGATED:.*]] = arith.negf %[[PRODUCT]]
// CHECK: math.fma %[[LN]], %arg1, %[[NEGATED]]
// CHECK: math.roundeven
// CHECK-NOT: math.{{powf|exp|log}}
func.func @pow(%x: f32, %y: f32) -> f32 {
  %0 = math.powf %x, %y : f32
  return %0 : f32
}

// -----

// Functions of vectors and of both widths.
// CHECK-LABEL: @all
// CHECK: vector<4xf64>
// CHECK-NOT: math.{{a?(sin|cos|tan)h?|exp|expm1|log|log1p|erf|powf}}{{ }}
// CHECK: return
func.func @all(%x: vector<4xf64>, %y: f32) -> (vector<4xf64>, f32) {
  %0 = math.exp %x : vector<4xf64>
  %1 = math.log %0 : vector<4xf64>
  %2 = math.log1p %1 : vector<4xf64>
  %3 = math.erf %2 : vector<4xf64>
  %4 = math.sin %3 : vector<4xf64>
  %5 = math.cos %4 : vector<4xf64>
  %6 = math.tan %5 : vector<4xf64>
  %7 = math.asin %6 : vector<4xf64>
  %8 = math.acos %7 : vector<4xf64>
  %9 = math.atan %8 : vector<4xf64>
  %10 = math.sinh %9 : vector<4xf64>
  %11 = math.cosh %10 : vector<4xf64>
  %12 = math.asinh %11 : vector<4xf64>
  %13 = math.acosh %12 : vector<4xf64>
  %14 = math.atanh %13 : vector<4xf64>
  %15 = math.expm1 %14 : vector<4xf64>
  %16 = math.powf %15, %x : vector<4xf64>
  %17 = math.tan %y : f32
  %18 = math.cosh %17 : f32
  %19 = math.asinh %18 : f32
  %20 = math.acosh %19 : f32
  %21 = math.atanh %20 : f32
  %22 = math.expm1 %21 : f32
  return %16, %22 : vector<4xf64>, f32
}

// -----

// An angle of f64 is multiplied by 192 bits of 2/pi, whatever its size.
// CHECK-LABEL: @sin
// CHECK-COUNT-2: arith.mului_extended
// CHECK-NOT: scf.if
func.func @sin(%x: f64) -> f64 {
  %0 = math.sin %x : f64
  return %0 : f64
}

// -----

// Must not fire: approximate-math has these functions, and those of 16 bits are
// computed in f32.
// CHECK-LABEL: @left
// CHECK: math.exp
// CHECK: math.log
// CHECK: math.erf
// CHECK: math.sin
// CHECK: math.tanh
// CHECK: math.tanh
// CHECK: math.sinh
// CHECK: math.sqrt
func.func @left(%x: f32, %y: f64, %z: f16) -> (f32, f64, f16) {
  %0 = math.exp %x : f32
  %1 = math.log %0 : f32
  %2 = math.erf %1 : f32
  %3 = math.sin %2 : f32
  %4 = math.tanh %3 : f32
  %5 = math.tanh %y : f64
  %6 = math.sinh %z : f16
  %7 = math.sqrt %5 : f64
  return %4, %7, %6 : f32, f64, f16
}
