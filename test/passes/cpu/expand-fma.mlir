// RUN: ingot-opt %s --expand-fma --split-input-file | FileCheck %s

// CHECK-LABEL: @no_instruction
// CHECK-SAME: (%[[SUM:.*]]: vector<4xi32>, %[[SCALE:.*]]: vector<4xf32>)
// CHECK-DAG: %[[X:.*]] = arith.sitofp %[[SUM]] : vector<4xi32> to vector<4xf64>
// CHECK-DAG: %[[Y:.*]] = arith.extf %[[SCALE]]
// CHECK: %[[PRODUCT:.*]] = arith.mulf %[[X]], %[[Y]]
// CHECK: %[[STEPS:.*]] = arith.constant dense<0x4338000000000000> : vector<4xf64>
// CHECK: %[[SHIFT:.*]] = arith.addf %{{.*}}, %[[STEPS]]
// CHECK: %[[WHOLE:.*]] = arith.addf %[[PRODUCT]], %[[SHIFT]]
// CHECK: %[[BITS:.*]] = arith.bitcast %[[WHOLE]] : vector<4xf64> to vector<4xi64>
// CHECK: %[[LOW:.*]] = arith.trunci %[[BITS]] : vector<4xi64> to vector<4xi32>
// CHECK: %[[NONE:.*]] = arith.constant dense<1249902592> : vector<4xi32>
// CHECK: arith.addi %[[LOW]], %[[NONE]]
// CHECK-NOT: math.fma
module attributes {ingot.target = #ingot.target<"x86-64-v2">} {
  func.func @no_instruction(%sum: vector<4xi32>, %scale: vector<4xf32>) -> vector<4xi32> {
    %shift = arith.constant dense<12582915.0> : vector<4xf32>
    %x = arith.sitofp %sum : vector<4xi32> to vector<4xf32>
    %0 = math.fma %x, %scale, %shift : vector<4xf32>
    %1 = arith.bitcast %0 : vector<4xf32> to vector<4xi32>
    return %1 : vector<4xi32>
  }
  // CHECK-LABEL: @scalars
  // CHECK: arith.mulf %{{.*}} : f64
  // CHECK-NOT: math.fma
  func.func @scalars(%x: f32, %scale: f32, %shift: f32) -> i32 {
    %0 = math.fma %x, %scale, %shift : f32
    %1 = arith.bitcast %0 : f32 to i32
    return %1 : i32
  }
}

// -----

// A number is rounded to f64 and then to f32. Sums may be integers that only
// f64 represents, so they are rounded to f32 first, as at other levels.
// CHECK-LABEL: @number
// CHECK: %[[F:.*]] = arith.sitofp %arg0 : vector<4xi32> to vector<4xf32>
// CHECK-DAG: %[[X:.*]] = arith.extf %[[F]]
// CHECK-DAG: %[[Y:.*]] = arith.extf %arg1
// CHECK-DAG: %[[PRODUCT:.*]] = arith.mulf %[[X]], %[[Y]]
// CHECK-DAG: %[[Z:.*]] = arith.extf %arg2
// CHECK: %[[SUM:.*]] = arith.addf %[[PRODUCT]], %[[Z]]
// CHECK: arith.truncf %[[SUM]] : vector<4xf64> to vector<4xf32>
// CHECK-NOT: math.fma
module attributes {ingot.target = #ingot.target<"x86-64-v2">} {
  func.func @number(%sum: vector<4xi32>, %scale: vector<4xf32>, %shift: vector<4xf32>) -> vector<4xf32> {
    %x = arith.sitofp %sum : vector<4xi32> to vector<4xf32>
    %0 = math.fma %x, %scale, %shift : vector<4xf32>
    return %0 : vector<4xf32>
  }
}

// -----

// CHECK-LABEL: @instruction
// CHECK: math.fma
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @instruction(%x: vector<8xf32>, %shift: vector<8xf32>) -> vector<8xi32> {
    %0 = math.fma %x, %x, %shift : vector<8xf32>
    %1 = arith.bitcast %0 : vector<8xf32> to vector<8xi32>
    return %1 : vector<8xi32>
  }
}
