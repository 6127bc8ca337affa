// RUN: ingot-opt --divide-by-constants --split-input-file %s | FileCheck %s

// A quotient that is rounded becomes a sum of two products. The second product uses the rounding error of the
// reciprocal in f32, which is 0 for a power of two.
// CHECK-LABEL: @rounded
// CHECK-DAG: %[[H:.*]] = arith.constant dense<9.999999{{.*}}> : vector<8xf32>
// CHECK-DAG: %[[L:.*]] = arith.constant dense<8.046{{.*}}E-7> : vector<8xf32>
// CHECK-DAG: %[[P:.*]] = arith.mulf %arg0, %[[L]]
// CHECK: %[[Q:.*]] = math.fma %arg0, %[[H]], %[[P]]
// CHECK: arith.maximumf %[[Q]]
// CHECK: %[[E:.*]] = arith.constant 8.000000e+00 : f32
// CHECK: %[[M:.*]] = arith.mulf %arg1, %[[E]]
// CHECK: math.roundeven %[[M]]
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @rounded(%x: vector<8xf32>, %s: f32) -> (vector<8xf32>, f32) {
    %step = arith.constant dense<0.1> : vector<8xf32>
    %low = arith.constant dense<-5.0> : vector<8xf32>
    %eighth = arith.constant 0.125 : f32
    %0 = arith.divf %x, %step : vector<8xf32>
    %1 = arith.maximumf %0, %low : vector<8xf32>
    %2 = arith.minimumf %1, %step : vector<8xf32>
    %3 = math.roundeven %2 : vector<8xf32>
    %4 = arith.divf %s, %eighth : f32
    %5 = math.roundeven %4 : f32
    return %3, %5 : vector<8xf32>, f32
  }
}

// -----

// Must not fire: a quotient that is not rounded, a computed divisor, a divisor
// that is no number, and f64.
// CHECK-LABEL: @stays
// CHECK-COUNT-4: arith.divf
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @stays(%x: f32, %y: f32, %d: f64) -> (f32, f32, f32, f32, f64) {
    %step = arith.constant 0.1 : f32
    %none = arith.constant 0.0 : f32
    %wide = arith.constant 0.1 : f64
    %0 = arith.divf %x, %step : f32
    %1 = math.roundeven %0 : f32
    %2 = arith.divf %x, %y : f32
    %3 = math.roundeven %2 : f32
    %4 = arith.divf %x, %none : f32
    %5 = math.roundeven %4 : f32
    %6 = arith.divf %d, %wide : f64
    %7 = math.roundeven %6 : f64
    return %0, %1, %3, %5, %7 : f32, f32, f32, f32, f64
  }
}

// -----

// Without fused multiply-add.
// CHECK-LABEL: @without
// CHECK: arith.divf
module attributes {ingot.target = #ingot.target<"x86-64-v2">} {
  func.func @without(%x: f32) -> f32 {
    %step = arith.constant 0.1 : f32
    %0 = arith.divf %x, %step : f32
    %1 = math.roundeven %0 : f32
    return %1 : f32
  }
}

// -----

// A divisor that is constant in a loop: products with its inverse in two parts. The quotients only become integers. The dividend is clamped to 2^64 times the divisor, so that no product is infinite.
// CHECK-LABEL: @run
// CHECK: %[[S:.*]] = memref.load %arg1[] : memref<f32>
// CHECK: %[[H:.*]] = arith.divf %{{.*}}, %[[S]] : f32
// CHECK: %[[H1:.*]] = arith.select {{.*}} %[[H]]
// CHECK: %[[H2:.*]] = arith.select {{.*}} %[[H1]]
// CHECK: %[[LESS:.*]] = arith.negf %[[S]]
// CHECK: %[[LEFT:.*]] = math.fma %[[LESS]], %[[H2]]
// CHECK: %[[L:.*]] = arith.mulf %[[LEFT]], %[[H2]]
// CHECK: %[[SIZE:.*]] = math.absf %[[S]]
// CHECK: %[[WIDE:.*]] = arith.mulf %[[SIZE]], %{{.*}} : f32
// CHECK: %[[FINITE:.*]] = arith.select %{{.*}}, %[[WIDE]]
// CHECK: %[[BOUND:.*]] = arith.select %{{.*}}, %[[FINITE]]
// CHECK: %[[LOW:.*]] = arith.negf %[[BOUND]]
// CHECK: %[[HIGHBITS:.*]] = arith.bitcast %[[BOUND]]
// CHECK: %[[X0:.*]] = arith.minsi %{{.*}}, %[[HIGHBITS]] : i32
// CHECK: %[[LOWBITS:.*]] = arith.bitcast %[[LOW]]
// CHECK: %[[X1:.*]] = arith.minui %[[X0]], %[[LOWBITS]] : i32
// CHECK: %[[X:.*]] = arith.bitcast %[[X1]] : i32 to f32
// CHECK: %[[XL:.*]] = arith.mulf %[[X]], %[[L]]
// CHECK: %[[Q:.*]] = math.fma %[[X]], %[[H2]], %[[XL]]
// CHECK: math.roundeven %[[Q]]
// Must not fire if quotients become floats, or if the divisor changes.
// CHECK: arith.divf
// CHECK: memref.load %arg0
// CHECK: arith.divf
// CHECK-NOT: math.fma
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @run(%data: memref<64xf32>, %scale: memref<f32>, %bytes: memref<64xi32>, %floats: memref<64xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %most = arith.constant 255.0 : f32
    scf.for %i = %c0 to %c64 step %c1 {
      %x = memref.load %data[%i] : memref<64xf32>
      %s = memref.load %scale[] : memref<f32>
      %0 = arith.divf %x, %s : f32
      %1 = math.roundeven %0 : f32
      %2 = arith.addf %1, %most : f32
      %3 = arith.minimumf %2, %most : f32
      %4 = arith.fptosi %3 : f32 to i32
      memref.store %4, %bytes[%i] : memref<64xi32>
      %5 = arith.divf %x, %s : f32
      %6 = math.roundeven %5 : f32
      memref.store %6, %floats[%i] : memref<64xf32>
      %t = memref.load %data[%c0] : memref<64xf32>
      %7 = arith.divf %x, %t : f32
      %8 = math.roundeven %7 : f32
      %9 = arith.fptosi %8 : f32 to i32
      memref.store %9, %bytes[%i] : memref<64xi32>
    }
    return
  }
}

// -----

// A clamp to 2^30 on both sides becomes a clamp of the dividend. Another clamp stays.
// CHECK-LABEL: @clamped
// CHECK: %[[SIZE:.*]] = math.absf
// CHECK: %[[LIMIT:.*]] = arith.constant 1.07374182E+9 : f32
// CHECK: arith.mulf %[[SIZE]], %[[LIMIT]] : f32
// CHECK: %[[Q:.*]] = math.fma %{{.*}} : vector<8xf32>
// CHECK: math.roundeven %[[Q]]
// CHECK: %[[R:.*]] = math.fma %{{.*}} : vector<8xf32>
// CHECK: %[[A:.*]] = arith.maximumf %[[R]]
// CHECK: %[[B:.*]] = arith.minimumf %[[A]]
// CHECK: math.roundeven %[[B]]
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @clamped(%data: memref<64xf32>, %scale: memref<f32>, %words: memref<64xi32>) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %low = arith.constant dense<-1073741824.0> : vector<8xf32>
    %high = arith.constant dense<1073741824.0> : vector<8xf32>
    %near = arith.constant dense<255.0> : vector<8xf32>
    scf.for %i = %c0 to %c64 step %c8 {
      %x = vector.load %data[%i] : memref<64xf32>, vector<8xf32>
      %s = memref.load %scale[] : memref<f32>
      %all = vector.broadcast %s : f32 to vector<8xf32>
      %0 = arith.divf %x, %all : vector<8xf32>
      %1 = arith.maximumf %0, %low : vector<8xf32>
      %2 = arith.minimumf %1, %high : vector<8xf32>
      %3 = math.roundeven %2 : vector<8xf32>
      %4 = arith.fptosi %3 : vector<8xf32> to vector<8xi32>
      vector.store %4, %words[%i] : memref<64xi32>, vector<8xi32>
      %5 = arith.divf %x, %all : vector<8xf32>
      %6 = arith.maximumf %5, %low : vector<8xf32>
      %7 = arith.minimumf %6, %near : vector<8xf32>
      %8 = math.roundeven %7 : vector<8xf32>
      %9 = arith.fptosi %8 : vector<8xf32> to vector<8xi32>
      vector.store %9, %words[%i] : memref<64xi32>, vector<8xi32>
    }
    return
  }
}
