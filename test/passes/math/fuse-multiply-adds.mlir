// RUN: ingot-opt --fuse-multiply-adds --split-input-file %s | FileCheck %s

// Scales and shifts of sums become one op each, also behind other ops. Sums are
// results of loops, with a bias, or lie on the stack.
// CHECK-LABEL: @sums
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: %[[F:.*]] = arith.sitofp %[[SUM]]
// CHECK: %[[Y:.*]] = math.fma %[[F]], %arg1, %arg2
// CHECK: %[[M:.*]] = arith.maximumf %[[Y]], %arg1
// CHECK: math.fma %[[M]], %arg1, %arg2
// CHECK-LABEL: @with_bias
// CHECK: arith.addi
// CHECK: math.fma
// CHECK-LABEL: @on_stack
// CHECK: math.fma
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @sums(%x: vector<8xi32>, %a: vector<8xf32>, %b: vector<8xf32>) -> vector<8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %sum = scf.for %i = %c0 to %c8 step %c1 iter_args(%old = %x) -> vector<8xi32> {
      %new = arith.addi %old, %x : vector<8xi32>
      scf.yield %new : vector<8xi32>
    }
    %0 = arith.sitofp %sum : vector<8xi32> to vector<8xf32>
    %1 = arith.mulf %0, %a : vector<8xf32>
    %2 = arith.addf %1, %b : vector<8xf32>
    %3 = arith.maximumf %2, %a : vector<8xf32>
    %4 = arith.mulf %3, %a : vector<8xf32>
    %5 = arith.addf %b, %4 : vector<8xf32>
    return %5 : vector<8xf32>
  }
  func.func @with_bias(%x: vector<8xi32>, %m: memref<8xi32>, %a: vector<8xf32>, %b: vector<8xf32>) -> vector<8xf32> {
    %c0 = arith.constant 0 : index
    %sum = vector.shuffle %x, %x [1, 0, 3, 2, 5, 4, 7, 6] : vector<8xi32>, vector<8xi32>
    %bias = vector.load %m[%c0] : memref<8xi32>, vector<8xi32>
    %0 = arith.addi %sum, %bias : vector<8xi32>
    %1 = arith.sitofp %0 : vector<8xi32> to vector<8xf32>
    %2 = arith.mulf %1, %a : vector<8xf32>
    %3 = arith.addf %2, %b : vector<8xf32>
    return %3 : vector<8xf32>
  }
  func.func @on_stack(%a: f32, %b: f32) -> f32 {
    %c0 = arith.constant 0 : index
    %m = memref.alloca() : memref<8xi32>
    %view = memref.subview %m[0] [4] [1] : memref<8xi32> to memref<4xi32>
    %0 = memref.load %view[%c0] : memref<4xi32>
    %1 = arith.sitofp %0 : i32 to f32
    %2 = arith.mulf %1, %a : f32
    %3 = arith.addf %2, %b : f32
    return %3 : f32
  }
}

// -----

// A row times columns, added to a sum of integers, may be fused by LLVM. The
// scale behind it is fused for all levels.
// CHECK-LABEL: @remainder
// CHECK: %[[R:.*]] = vector.broadcast
// CHECK: %[[P:.*]] = arith.mulf %[[R]], %arg1 fastmath<contract>
// CHECK: %[[S:.*]] = arith.addf %{{.*}}, %[[P]] fastmath<contract>
// CHECK: math.fma %[[S]], %arg1, %arg1
// CHECK-LABEL: @no_sum
// CHECK-NOT: fastmath
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @remainder(%x: vector<8xi32>, %a: vector<8xf32>, %r: f32) -> vector<8xf32> {
    %sum = vector.shuffle %x, %x [1, 0, 3, 2, 5, 4, 7, 6] : vector<8xi32>, vector<8xi32>
    %0 = arith.sitofp %sum : vector<8xi32> to vector<8xf32>
    %1 = vector.broadcast %r : f32 to vector<8xf32>
    %2 = arith.mulf %1, %a : vector<8xf32>
    %3 = arith.addf %0, %2 : vector<8xf32>
    %4 = arith.mulf %3, %a : vector<8xf32>
    %5 = arith.addf %4, %a : vector<8xf32>
    return %5 : vector<8xf32>
  }
  func.func @no_sum(%x: vector<8xf32>, %a: vector<8xf32>, %r: f32) -> vector<8xf32> {
    %1 = vector.broadcast %r : f32 to vector<8xf32>
    %2 = arith.mulf %1, %a : vector<8xf32>
    %3 = arith.addf %x, %2 : vector<8xf32>
    return %3 : vector<8xf32>
  }
}

// -----

// Must not fire: functions of bytes alone, also if they were widened in memory,
// floats of unknown origin, products with other users, other types.
// CHECK-LABEL: @others
// CHECK-NOT: math.fma
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @others(%x: i8, %y: f32, %v: vector<4xi32>, %m: memref<4xi32>, %a: f32, %d: f64) -> (f32, f32, f32, f32, f32, f64) {
    %c = arith.constant 12 : i32
    %c0 = arith.constant 0 : index
    %0 = arith.extui %x : i8 to i32
    %1 = arith.subi %0, %c : i32
    %2 = arith.sitofp %1 : i32 to f32
    %3 = arith.mulf %2, %a : f32
    %4 = arith.addf %3, %a : f32
    %5 = arith.mulf %y, %a : f32
    %6 = arith.addf %5, %a : f32
    %z = vector.reduction <add>, %v : vector<4xi32> into i32
    %7 = arith.sitofp %z : i32 to f32
    %8 = arith.mulf %7, %a : f32
    %9 = arith.addf %8, %a : f32
    %10 = arith.sitofp %z : i32 to f64
    %11 = arith.mulf %10, %d : f64
    %12 = arith.addf %11, %d : f64
    %13 = memref.load %m[%c0] : memref<4xi32>
    %14 = arith.subi %13, %c : i32
    %15 = arith.sitofp %14 : i32 to f32
    %16 = arith.mulf %15, %a : f32
    %17 = arith.addf %16, %a : f32
    return %4, %6, %8, %9, %17, %12 : f32, f32, f32, f32, f32, f64
  }
}
