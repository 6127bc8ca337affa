// RUN: ingot-opt --cpu-schedule --outline-kernels --cpu-pool-to-vector --canonicalize --split-input-file %s | FileCheck %s

// The loops' bounds skip taps outside; windows within the row have all taps.

module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
// CHECK-LABEL: func.func @max(
// CHECK-LABEL: func.func private @pool.0
// CHECK: scf.for
// CHECK: arith.maximumf {{.*}} : vector<16xf32>
// CHECK-NOT: arith.divf
func.func @max(%x: memref<1x9x9x32xf32>, %y: memref<1x9x9x32xf32>) {
  cpu.pool max ins(%x : memref<1x9x9x32xf32>) outs(%y : memref<1x9x9x32xf32>)
      attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>,
                  pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}
}

// -----

// Without padding the mean's divisor is known.

module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
// CHECK-LABEL: func.func @mean(
// CHECK-LABEL: func.func private @pool.0
// CHECK-DAG: dense<2.500000e-01> : vector<8xf32>
// CHECK: arith.addf {{.*}} : vector<8xf32>
// CHECK: vector.maskedstore
func.func @mean(%x: memref<?x8x8x12xf32>, %y: memref<?x4x4x12xf32>) {
  cpu.pool mean ins(%x : memref<?x8x8x12xf32>) outs(%y : memref<?x4x4x12xf32>)
      attributes {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>,
                  pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}
}

// -----

// A mean of bytes sums floats.

module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
// CHECK-LABEL: func.func @mean_of_bytes(
// CHECK-LABEL: func.func private @pool.0
// CHECK: %[[X:.*]] = vector.load {{.*}} : memref<{{.*}}xi8{{.*}}>, vector<16xi8>
// CHECK: arith.uitofp %[[X]] : vector<16xi8> to vector<16xf32>
// CHECK: arith.addf {{.*}} : vector<16xf32>
func.func @mean_of_bytes(%x: memref<1x8x8x16xi8>, %y: memref<1x4x4x16xf32>) {
  cpu.pool mean ins(%x : memref<1x8x8x16xi8>) outs(%y : memref<1x4x4x16xf32>)
      attributes {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>,
                  pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}
}
