// RUN: ingot-opt --cpu-schedule --outline-kernels --cpu-reduce-to-vector --canonicalize --split-input-file %s | FileCheck %s

// Few elements: four accumulators, then one vector, then the tail, all in f32.

module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
// CHECK-LABEL: func.func @short_row(
// CHECK-LABEL: func.func private @reduce.0
// CHECK: vector.load {{.*}} vector<16xf32>
// CHECK: vector.maskedload {{.*}} vector<16xf32>
// CHECK-NOT: f64
// CHECK: vector.reduction <add>, {{.*}} fastmath<reassoc> : vector<16xf32> into f32
func.func @short_row(%x: memref<4x99x1xf32>, %y: memref<4x1xf32>) {
  cpu.reduce sum ins(%x : memref<4x99x1xf32>) outs(%y : memref<4x1xf32>) {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}
}

// -----

// Many elements, or a dynamic number: chunks are summed in f32, and their sums
// in f64.

module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
// CHECK-LABEL: func.func @long_row(
// CHECK-LABEL: func.func private @reduce.0
// CHECK: scf.for {{.*}} -> (vector<8xf64>)
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK: arith.extf {{.*}} : vector<8xf32> to vector<8xf64>
// CHECK: vector.maskedload
// CHECK: vector.reduction <add>, {{.*}} fastmath<reassoc> : vector<8xf64> into f64
// CHECK: arith.truncf
// CHECK: arith.divf
func.func @long_row(%x: memref<4x?x1xf32>, %y: memref<4x1xf32>) {
  cpu.reduce mean ins(%x : memref<4x?x1xf32>) outs(%y : memref<4x1xf32>) {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}
}

// -----

// Maxima stay in f32; channels are lanes, and rows go side by side.

module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
// CHECK-LABEL: func.func @columns(
// CHECK-LABEL: func.func private @reduce.0
// CHECK: scf.for {{.*}} step %c4
// CHECK-COUNT-4: vector.maskedload {{.*}} vector<16xf32>
// CHECK-NOT: f64
// CHECK: vector.maskedstore
func.func @columns(%x: memref<1x300x20xf32>, %y: memref<1x20xf32>) {
  cpu.reduce max ins(%x : memref<1x300x20xf32>) outs(%y : memref<1x20xf32>) {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}
}

// -----

// Dynamic channels: whole tiles, and the last one by vectors under a mask. A
// single channel is reduced as a row.

module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
// CHECK-LABEL: func.func @open_columns(
// CHECK: arith.divui %{{.*}}, %c32
// CHECK-LABEL: func.func private @reduce.0
// CHECK: arith.cmpi eq, %{{.*}}, %c1
// CHECK: scf.if
// CHECK: arith.maximumf %{{.*}} : vector<1xf32>
// CHECK: vector.extract %{{.*}}[0] : f32 from vector<1xf32>
// CHECK: } else {
// CHECK: arith.cmpi sge, %{{.*}}, %c32
// CHECK: scf.if
// CHECK-COUNT-4: vector.load {{.*}} vector<8xf32>
// CHECK: } else {
// CHECK: vector.load
// CHECK: vector.maskedload
// CHECK: vector.maskedstore
func.func @open_columns(%x: memref<2x30x?xf32>, %y: memref<2x?xf32>) {
  cpu.reduce max ins(%x : memref<2x30x?xf32>) outs(%y : memref<2x?xf32>) {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}
}

// -----

// A reduction of all pixels is a row, too.

module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
// CHECK-LABEL: func.func @mean_of_bytes(
// CHECK-LABEL: func.func private @reduce.0
// CHECK: arith.uitofp {{.*}} : vector<16xi8> to vector<16xf32>
func.func @mean_of_bytes(%x: memref<1x49x16xi8>, %y: memref<1x16xf32>) {
  cpu.reduce mean ins(%x : memref<1x49x16xi8>) outs(%y : memref<1x16xf32>) {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}
}

// -----

// Both ends of a range are integer maxima of the same loads. A NaN at one end becomes NaN at both.

module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
// CHECK-LABEL: func.func @range(
// CHECK-LABEL: func.func private @reduce.0
// CHECK: scf.for {{.*}} step %c32
// CHECK: %[[X:.*]] = vector.load {{.*}} vector<8xf32>
// CHECK: %[[B:.*]] = arith.bitcast %[[X]] : vector<8xf32> to vector<8xi32>
// CHECK: arith.maxsi %{{.*}}, %[[B]]
// CHECK: arith.maxui %{{.*}}, %[[B]]
// CHECK: %[[H:.*]] = vector.reduction <maxsi>
// CHECK: %[[L:.*]] = vector.reduction <maxui>
// CHECK: %[[F:.*]] = arith.xori %[[L]]
// CHECK: %[[N:.*]] = arith.maxsi %[[F]]
// CHECK: %[[HF:.*]] = arith.bitcast %[[H]] : i32 to f32
// CHECK: %[[LF:.*]] = arith.bitcast %[[N]] : i32 to f32
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[HF]], %[[LF]]
// CHECK: arith.select %[[NAN]]
// CHECK: arith.select %[[NAN]]
func.func @range(%x: memref<4x1000x1xf32>, %y: memref<4x2xf32>) {
  cpu.reduce range ins(%x : memref<4x1000x1xf32>) outs(%y : memref<4x2xf32>) {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}
}
