// RUN: ingot-opt --guard-division --split-input-file %s | FileCheck %s

// The quotient by zero is zero; that by minus one wraps.
// CHECK-LABEL: func.func @signed(
// CHECK-SAME: %[[X:.*]]: i32, %[[Y:.*]]: i32)
func.func @signed(%x: i32, %y: i32) -> i32 {
  // CHECK: %[[ISZERO:.*]] = arith.cmpi eq, %[[Y]], %{{.*}} : i32
  // CHECK: %[[ISMINUS:.*]] = arith.cmpi eq, %[[Y]], %{{.*}} : i32
  // CHECK: %[[TRAPS:.*]] = arith.ori %[[ISZERO]], %[[ISMINUS]]
  // CHECK: %[[SAFE:.*]] = arith.select %[[TRAPS]], %{{.*}}, %[[Y]]
  // CHECK: %[[Q:.*]] = arith.divsi %[[X]], %[[SAFE]]
  // CHECK: %[[NEGATED:.*]] = arith.subi %{{.*}}, %[[X]]
  // CHECK: %[[A:.*]] = arith.select %[[ISMINUS]], %[[NEGATED]], %[[Q]]
  // CHECK: %[[B:.*]] = arith.select %[[ISZERO]], %{{.*}}, %[[A]]
  // CHECK: return %[[B]]
  %0 = arith.divsi %x, %y : i32
  return %0 : i32
}

// -----

// CHECK-LABEL: func.func @unsigned(
// CHECK: arith.cmpi eq
// CHECK-NOT: arith.cmpi
// CHECK: arith.divui
// CHECK: arith.select
func.func @unsigned(%x: i8, %y: i8) -> i8 {
  %0 = arith.divui %x, %y : i8
  return %0 : i8
}

// -----

// CHECK-LABEL: func.func @remainder(
// CHECK: %[[SAFE:.*]] = arith.select
// CHECK: %[[R:.*]] = arith.remsi %{{.*}}, %[[SAFE]]
// CHECK: return %[[R]]
func.func @remainder(%x: index, %y: index) -> index {
  %0 = arith.remsi %x, %y : index
  return %0 : index
}

// -----

// CHECK-LABEL: func.func @vectors(
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : vector<4xi1>, vector<4xi32>
// CHECK: arith.floordivsi
func.func @vectors(%x: vector<4xi32>, %y: vector<4xi32>) -> vector<4xi32> {
  %0 = arith.floordivsi %x, %y : vector<4xi32>
  return %0 : vector<4xi32>
}

// -----

// Must not fire: a divisor that is known not to trap.
// CHECK-LABEL: func.func @constant(
// CHECK-NOT: arith.select
func.func @constant(%x: i32) -> (i32, i32) {
  %c3 = arith.constant 3 : i32
  %0 = arith.divsi %x, %c3 : i32
  %1 = arith.remsi %x, %c3 : i32
  return %0, %1 : i32, i32
}
