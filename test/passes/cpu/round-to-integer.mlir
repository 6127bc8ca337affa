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

// Must not fire: values that are rounded toward zero, scalars, and other types.
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

// Bounds of values that become integers need not keep NaN.
// CHECK-LABEL: @bounded
// CHECK: %[[A:.*]] = arith.maxnumf
// CHECK: %[[B:.*]] = arith.minnumf %[[A]]
// CHECK: %[[C:.*]] = arith.addf %[[B]]
// CHECK: llvm.intr.lrint(%[[C]])
func.func @bounded(%x: vector<16xf32>, %low: vector<16xf32>, %high: vector<16xf32>) -> vector<16xi32> {
  %0 = arith.maximumf %x, %low : vector<16xf32>
  %1 = arith.minimumf %0, %high : vector<16xf32>
  %2 = arith.addf %1, %low : vector<16xf32>
  %3 = math.roundeven %2 : vector<16xf32>
  %4 = arith.fptosi %3 : vector<16xf32> to vector<16xi32>
  return %4 : vector<16xi32>
}

// Bounds need not keep NaN if the values are multiplied before, as in hard
// swish. A stored value must keep NaN.
// CHECK-LABEL: @multiplied
// CHECK: arith.maxnumf
// CHECK: arith.minnumf
// CHECK: arith.maximumf
func.func @multiplied(%x: vector<16xf32>, %low: vector<16xf32>, %high: vector<16xf32>) -> (vector<16xi32>, vector<16xf32>) {
  %0 = arith.maximumf %x, %low : vector<16xf32>
  %1 = arith.minimumf %0, %high : vector<16xf32>
  %2 = arith.mulf %1, %x : vector<16xf32>
  %3 = arith.divf %2, %low : vector<16xf32>
  %4 = math.roundeven %3 : vector<16xf32>
  %5 = arith.fptosi %4 : vector<16xf32> to vector<16xi32>
  %6 = arith.maximumf %x, %high : vector<16xf32>
  %7 = arith.mulf %6, %6 : vector<16xf32>
  %8 = arith.fptosi %7 : vector<16xf32> to vector<16xi32>
  %9 = arith.addi %5, %8 : vector<16xi32>
  return %9, %7 : vector<16xi32>, vector<16xf32>
}

// Must not fire: values with other users, and scalars.
// CHECK-LABEL: @kept
// CHECK: arith.maximumf {{.*}} : vector<16xf32>
// CHECK: arith.maximumf {{.*}} : f32
func.func @kept(%x: vector<16xf32>, %s: f32) -> (vector<16xi32>, vector<16xf32>, i32) {
  %0 = arith.maximumf %x, %x : vector<16xf32>
  %1 = arith.fptosi %0 : vector<16xf32> to vector<16xi32>
  %2 = arith.maximumf %s, %s : f32
  %3 = arith.fptosi %2 : f32 to i32
  return %1, %0, %3 : vector<16xi32>, vector<16xf32>, i32
}

// A byte that becomes a float again is the rounded float, if it cannot wrap around.
// CHECK-LABEL: @back
// CHECK: math.roundeven
// CHECK-NOT: arith.sitofp
// CHECK: %[[R:.*]] = math.roundeven %{{.*}} : vector<8xf32>
// CHECK-NEXT: return %[[R]]
func.func @back(%x: vector<8xf32>) -> vector<8xf32> {
  %low = arith.constant dense<-3.0> : vector<8xf32>
  %high = arith.constant dense<252.0> : vector<8xf32>
  %three = arith.constant dense<3> : vector<8xi32>
  %0 = arith.maximumf %x, %low : vector<8xf32>
  %1 = arith.minimumf %0, %high : vector<8xf32>
  %2 = math.roundeven %1 : vector<8xf32>
  %3 = arith.fptosi %2 : vector<8xf32> to vector<8xi32>
  %4 = arith.addi %3, %three : vector<8xi32>
  %5 = arith.trunci %4 overflow<nuw> : vector<8xi32> to vector<8xi8>
  %6 = arith.extui %5 : vector<8xi8> to vector<8xi32>
  %7 = arith.subi %6, %three : vector<8xi32>
  %8 = arith.sitofp %7 : vector<8xi32> to vector<8xf32>
  return %8 : vector<8xf32>
}

// Without a zero point. A signed byte may be negative, which an unsigned
// integer may not.
// CHECK-LABEL: @unsigned_back
// CHECK: math.roundeven
// CHECK: %[[R:.*]] = math.roundeven %{{.*}} : vector<8xf32>
// CHECK: %[[W:.*]] = arith.uitofp
// CHECK: return %[[R]], %[[W]]
func.func @unsigned_back(%x: vector<8xf32>) -> (vector<8xf32>, vector<8xf32>) {
  %low = arith.constant dense<0.0> : vector<8xf32>
  %high = arith.constant dense<127.0> : vector<8xf32>
  %0 = arith.maximumf %x, %low : vector<8xf32>
  %1 = arith.minimumf %0, %high : vector<8xf32>
  %2 = math.roundeven %1 : vector<8xf32>
  %3 = arith.fptosi %2 : vector<8xf32> to vector<8xi32>
  %4 = arith.trunci %3 overflow<nuw> : vector<8xi32> to vector<8xi8>
  %5 = arith.uitofp %4 : vector<8xi8> to vector<8xf32>
  %6 = arith.extsi %4 : vector<8xi8> to vector<8xi32>
  %7 = arith.uitofp %6 : vector<8xi32> to vector<8xf32>
  return %5, %7 : vector<8xf32>, vector<8xf32>
}

// Must not fire: another zero point, and a byte that may wrap around.
// CHECK-LABEL: @not_back
// CHECK-COUNT-2: arith.sitofp
func.func @not_back(%x: vector<8xf32>) -> (vector<8xf32>, vector<8xf32>) {
  %low = arith.constant dense<-3.0> : vector<8xf32>
  %high = arith.constant dense<252.0> : vector<8xf32>
  %beyond = arith.constant dense<253.0> : vector<8xf32>
  %three = arith.constant dense<3> : vector<8xi32>
  %two = arith.constant dense<2> : vector<8xi32>
  %0 = arith.maximumf %x, %low : vector<8xf32>
  %1 = arith.minimumf %0, %high : vector<8xf32>
  %2 = math.roundeven %1 : vector<8xf32>
  %3 = arith.fptosi %2 : vector<8xf32> to vector<8xi32>
  %4 = arith.addi %3, %three : vector<8xi32>
  %5 = arith.trunci %4 overflow<nuw> : vector<8xi32> to vector<8xi8>
  %6 = arith.extui %5 : vector<8xi8> to vector<8xi32>
  %7 = arith.subi %6, %two : vector<8xi32>
  %8 = arith.sitofp %7 : vector<8xi32> to vector<8xf32>
  %9 = arith.minimumf %0, %beyond : vector<8xf32>
  %10 = math.roundeven %9 : vector<8xf32>
  %11 = arith.fptosi %10 : vector<8xf32> to vector<8xi32>
  %12 = arith.addi %11, %three : vector<8xi32>
  %13 = arith.trunci %12 : vector<8xi32> to vector<8xi8>
  %14 = arith.extui %13 : vector<8xi8> to vector<8xi32>
  %15 = arith.subi %14, %three : vector<8xi32>
  %16 = arith.sitofp %15 : vector<8xi32> to vector<8xf32>
  return %8, %16 : vector<8xf32>, vector<8xf32>
}

// For two zeros, either is the larger; other bounds have no zeros.
// CHECK-LABEL: @zero
// CHECK: arith.maximumf %arg0, %{{.*}} fastmath<nsz> : vector<16xf32>
// CHECK: arith.maximumf %arg1, %{{.*}} fastmath<nsz> : f32
// CHECK: arith.maximumf %arg0, %{{.*}} : vector<16xf32>
func.func @zero(%x: vector<16xf32>, %s: f32) -> (vector<16xf32>, f32, vector<16xf32>) {
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %zero = arith.constant 0.0 : f32
  %ones = arith.constant dense<1.0> : vector<16xf32>
  %0 = arith.maximumf %x, %zeros : vector<16xf32>
  %1 = arith.maximumf %s, %zero : f32
  %2 = arith.maximumf %x, %ones : vector<16xf32>
  return %0, %1, %2 : vector<16xf32>, f32, vector<16xf32>
}

// Bytes that a requantize leaves in the low bits of a float become floats by a
// subtraction, which includes the zero point.
// CHECK-LABEL: @requantized
// CHECK-DAG: %[[SHIFT:.*]] = arith.constant dense<0x4B40000C> : vector<8xf32>
// CHECK: %[[X:.*]] = arith.subf %arg0, %[[SHIFT]]
// CHECK: %[[L:.*]] = arith.maxnumf %[[X]], %{{.*}}
// CHECK: %[[Y:.*]] = arith.minnumf %[[L]], %{{.*}}
// CHECK: return %[[Y]]
func.func @requantized(%x: vector<8xf32>) -> vector<8xf32> {
  %shift = arith.constant dense<0x4B400000> : vector<8xi32>
  %low = arith.constant dense<0> : vector<8xi32>
  %high = arith.constant dense<255> : vector<8xi32>
  %zero = arith.constant dense<12> : vector<8xi32>
  %0 = arith.bitcast %x : vector<8xf32> to vector<8xi32>
  %1 = arith.subi %0, %shift : vector<8xi32>
  %2 = arith.maxsi %1, %low : vector<8xi32>
  %3 = arith.minsi %2, %high : vector<8xi32>
  %4 = arith.trunci %3 : vector<8xi32> to vector<8xi8>
  %5 = arith.extui %4 : vector<8xi8> to vector<8xi32>
  %6 = arith.subi %5, %zero : vector<8xi32>
  %7 = arith.sitofp %6 : vector<8xi32> to vector<8xf32>
  return %7 : vector<8xf32>
}

// Must not fire: another shift, bounds beyond the byte, no vector.
// CHECK-LABEL: @others
// CHECK-COUNT-3: arith.sitofp
func.func @others(%x: vector<8xf32>, %s: f32) -> (vector<8xf32>, vector<8xf32>, f32) {
  %shift = arith.constant dense<0x4B400000> : vector<8xi32>
  %less = arith.constant dense<0x4B3FFFFF> : vector<8xi32>
  %low = arith.constant dense<0> : vector<8xi32>
  %high = arith.constant dense<255> : vector<8xi32>
  %beyond = arith.constant dense<256> : vector<8xi32>
  %one_shift = arith.constant 0x4B400000 : i32
  %one_low = arith.constant 0 : i32
  %one_high = arith.constant 255 : i32
  %0 = arith.bitcast %x : vector<8xf32> to vector<8xi32>
  %1 = arith.subi %0, %less : vector<8xi32>
  %2 = arith.maxsi %1, %low : vector<8xi32>
  %3 = arith.minsi %2, %high : vector<8xi32>
  %4 = arith.trunci %3 : vector<8xi32> to vector<8xi8>
  %5 = arith.extui %4 : vector<8xi8> to vector<8xi32>
  %6 = arith.sitofp %5 : vector<8xi32> to vector<8xf32>
  %7 = arith.subi %0, %shift : vector<8xi32>
  %8 = arith.maxsi %7, %low : vector<8xi32>
  %9 = arith.minsi %8, %beyond : vector<8xi32>
  %10 = arith.trunci %9 : vector<8xi32> to vector<8xi8>
  %11 = arith.extui %10 : vector<8xi8> to vector<8xi32>
  %12 = arith.sitofp %11 : vector<8xi32> to vector<8xf32>
  %13 = arith.bitcast %s : f32 to i32
  %14 = arith.subi %13, %one_shift : i32
  %15 = arith.maxsi %14, %one_low : i32
  %16 = arith.minsi %15, %one_high : i32
  %17 = arith.trunci %16 : i32 to i8
  %18 = arith.extui %17 : i8 to i32
  %19 = arith.sitofp %18 : i32 to f32
  return %6, %12, %19 : vector<8xf32>, vector<8xf32>, f32
}

// Bytes may wrap around from here on, because NaN becomes any integer.
// CHECK-LABEL: @wraps
// CHECK: arith.trunci %arg0 : vector<8xi32> to vector<8xi8>
func.func @wraps(%x: vector<8xi32>) -> vector<8xi8> {
  %0 = arith.trunci %x overflow<nuw> : vector<8xi32> to vector<8xi8>
  return %0 : vector<8xi8>
}

// A maximum in front of a multiply-add only becomes an integer, too.
// CHECK-LABEL: @scaled
// CHECK: arith.maxnumf
func.func @scaled(%x: vector<8xf32>, %low: vector<8xf32>) -> vector<8xi32> {
  %0 = arith.maximumf %x, %low : vector<8xf32>
  %1 = math.fma %0, %low, %low : vector<8xf32>
  %2 = math.roundeven %1 : vector<8xf32>
  %3 = arith.fptosi %2 : vector<8xf32> to vector<8xi32>
  return %3 : vector<8xi32>
}
