// RUN: ingot-opt --saturate-integers %s | FileCheck %s

// The sum with the zero point and the saturation are of integers. The quotient stays within i32.
// CHECK-LABEL: @unsigned
// CHECK-SAME: (%[[X:.*]]: vector<8xf32>, %[[S:.*]]: vector<8xf32>, %[[Z:.*]]: vector<8xi8>)
// CHECK: %[[Q:.*]] = arith.divf %[[X]], %[[S]]
// CHECK: %[[A:.*]] = arith.maximumf %[[Q]], %{{.*}} : vector<8xf32>
// CHECK: %[[B:.*]] = arith.minimumf %[[A]], %{{.*}} : vector<8xf32>
// CHECK: %[[R:.*]] = math.roundeven %[[B]]
// CHECK: %[[I:.*]] = arith.fptosi %[[R]]
// CHECK: %[[E:.*]] = arith.extui %[[Z]]
// CHECK: %[[SUM:.*]] = arith.addi %[[I]], %[[E]]
// CHECK: %[[C:.*]] = arith.maxsi %[[SUM]], %{{.*}} : vector<8xi32>
// CHECK: %[[D:.*]] = arith.minsi %[[C]], %{{.*}} : vector<8xi32>
// CHECK: %[[T:.*]] = arith.trunci %[[D]]
// CHECK: return %[[T]]
func.func @unsigned(%x: vector<8xf32>, %s: vector<8xf32>, %z: vector<8xi8>) -> vector<8xi8> {
  %low = arith.constant dense<0.0> : vector<8xf32>
  %high = arith.constant dense<255.0> : vector<8xf32>
  %zero = arith.uitofp %z : vector<8xi8> to vector<8xf32>
  %0 = arith.divf %x, %s : vector<8xf32>
  %1 = math.roundeven %0 : vector<8xf32>
  %2 = arith.addf %1, %zero : vector<8xf32>
  %3 = arith.maximumf %2, %low : vector<8xf32>
  %4 = arith.minimumf %3, %high : vector<8xf32>
  %5 = arith.fptosi %4 : vector<8xf32> to vector<8xi32>
  %6 = arith.trunci %5 : vector<8xi32> to vector<8xi8>
  return %6 : vector<8xi8>
}

// CHECK-LABEL: @signed
// CHECK: arith.extsi
// CHECK: arith.addi
// CHECK: arith.maxsi
func.func @signed(%x: vector<8xf32>, %s: vector<8xf32>, %z: vector<8xi8>) -> vector<8xi32> {
  %low = arith.constant dense<-128.0> : vector<8xf32>
  %high = arith.constant dense<127.0> : vector<8xf32>
  %zero = arith.sitofp %z : vector<8xi8> to vector<8xf32>
  %0 = arith.divf %x, %s : vector<8xf32>
  %1 = math.roundeven %0 : vector<8xf32>
  %2 = arith.addf %1, %zero : vector<8xf32>
  %3 = arith.maximumf %2, %low : vector<8xf32>
  %4 = arith.minimumf %3, %high : vector<8xf32>
  %5 = arith.fptosi %4 : vector<8xf32> to vector<8xi32>
  return %5 : vector<8xi32>
}

// CHECK-LABEL: @without_zero_point
// CHECK: %[[I:.*]] = arith.fptosi
// CHECK-NOT: arith.addi
// CHECK: arith.maxsi %[[I]]
func.func @without_zero_point(%x: vector<8xf32>, %s: vector<8xf32>) -> vector<8xi32> {
  %low = arith.constant dense<-128.0> : vector<8xf32>
  %high = arith.constant dense<127.0> : vector<8xf32>
  %0 = arith.divf %x, %s : vector<8xf32>
  %1 = math.roundeven %0 : vector<8xf32>
  %2 = arith.maximumf %1, %low : vector<8xf32>
  %3 = arith.minimumf %2, %high : vector<8xf32>
  %4 = arith.fptosi %3 : vector<8xf32> to vector<8xi32>
  return %4 : vector<8xi32>
}

// Must not fire: a constant divisor, a sum with a float, a bound that is no integer, a large bound, scalars, and a
// quotient with another use.
// CHECK-LABEL: @no
// CHECK-NOT: arith.maxsi
// CHECK: return
func.func @no(%x: vector<8xf32>, %s: vector<8xf32>, %f: vector<8xf32>, %a: f32, %b: f32)
    -> (vector<8xi32>, vector<8xi32>, vector<8xi32>, vector<8xi32>, i32, vector<8xi32>, vector<8xf32>) {
  %step = arith.constant dense<0.1> : vector<8xf32>
  %low = arith.constant dense<0.0> : vector<8xf32>
  %high = arith.constant dense<255.0> : vector<8xf32>
  %half = arith.constant dense<7.5> : vector<8xf32>
  %large = arith.constant dense<131072.0> : vector<8xf32>
  %one_low = arith.constant 0.0 : f32
  %one_high = arith.constant 255.0 : f32
  %0 = arith.divf %x, %step : vector<8xf32>
  %1 = math.roundeven %0 : vector<8xf32>
  %2 = arith.maximumf %1, %low : vector<8xf32>
  %3 = arith.minimumf %2, %high : vector<8xf32>
  %4 = arith.fptosi %3 : vector<8xf32> to vector<8xi32>
  %5 = arith.divf %x, %s : vector<8xf32>
  %6 = math.roundeven %5 : vector<8xf32>
  %7 = arith.addf %6, %f : vector<8xf32>
  %8 = arith.maximumf %7, %low : vector<8xf32>
  %9 = arith.minimumf %8, %high : vector<8xf32>
  %10 = arith.fptosi %9 : vector<8xf32> to vector<8xi32>
  %11 = arith.divf %x, %s : vector<8xf32>
  %12 = math.roundeven %11 : vector<8xf32>
  %13 = arith.maximumf %12, %low : vector<8xf32>
  %14 = arith.minimumf %13, %half : vector<8xf32>
  %15 = arith.fptosi %14 : vector<8xf32> to vector<8xi32>
  %16 = arith.divf %x, %s : vector<8xf32>
  %17 = math.roundeven %16 : vector<8xf32>
  %18 = arith.maximumf %17, %low : vector<8xf32>
  %19 = arith.minimumf %18, %large : vector<8xf32>
  %20 = arith.fptosi %19 : vector<8xf32> to vector<8xi32>
  %21 = arith.divf %a, %b : f32
  %22 = math.roundeven %21 : f32
  %23 = arith.maximumf %22, %one_low : f32
  %24 = arith.minimumf %23, %one_high : f32
  %25 = arith.fptosi %24 : f32 to i32
  %26 = arith.divf %x, %s : vector<8xf32>
  %27 = math.roundeven %26 : vector<8xf32>
  %28 = arith.maximumf %27, %low : vector<8xf32>
  %29 = arith.minimumf %28, %high : vector<8xf32>
  %30 = arith.fptosi %29 : vector<8xf32> to vector<8xi32>
  return %4, %10, %15, %20, %25, %30, %26
      : vector<8xi32>, vector<8xi32>, vector<8xi32>, vector<8xi32>, i32, vector<8xi32>, vector<8xf32>
}
