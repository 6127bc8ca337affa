// RUN: ingot-opt --round-to-integer %s | FileCheck %s

// CHECK-LABEL: @vector
// CHECK-SAME: (%[[X:.*]]: vector<16xf32>)
// CHECK: %[[Y:.*]] = llvm.intr.lrint(%[[X]]) : (vector<16xf32>) -> vector<16xi32>
// CHECK: return %[[Y]]
func.func @vector(%x: vector<16xf32>) -> vector<16xi32> {
  %0 = math.roundeven %x : vector<16xf32>
  %1 = arith.fptosi %0 : vector<16xf32> to vector<16xi32>
  return %1 : vector<16xi32>
}

// What is rounded toward zero, scalars, and other types stay.
// CHECK-LABEL: @no
// CHECK-NOT: lrint
// CHECK: return
func.func @no(%x: vector<16xf32>, %s: f32) -> (vector<16xi32>, i32, vector<16xi64>) {
  %0 = arith.fptosi %x : vector<16xf32> to vector<16xi32>
  %1 = math.roundeven %s : f32
  %2 = arith.fptosi %1 : f32 to i32
  %3 = math.roundeven %x : vector<16xf32>
  %4 = arith.fptosi %3 : vector<16xf32> to vector<16xi64>
  return %0, %2, %4 : vector<16xi32>, i32, vector<16xi64>
}
