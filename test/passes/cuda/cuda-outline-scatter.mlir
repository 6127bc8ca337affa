// RUN: ingot-opt --cuda-outline-scatter --split-input-file %s | FileCheck %s

// A thread whose item is the first of its position in a line makes all updates
// of the position. Two equal ops are one kernel.
// CHECK-LABEL: func.func @line
// CHECK: %[[BLOCKS:.*]] = arith.constant 2 : index
// CHECK: cuda.launch @ingot_cuda_kernels::@scatter_0(%arg0, %arg1, %arg2) blocks(%[[BLOCKS]]) writes 1
// CHECK: cuda.launch @ingot_cuda_kernels::@scatter_0(
// CHECK-NOT: cuda.scatter
// CHECK: func.func private @scatter_0
// CHECK-SAME: cuda.block = #cuda.block<threads = 256>
// CHECK: arith.cmpi ult, %{{.*}}, %c300_i32
// CHECK: %[[FREE:.*]] = scf.for %{{.*}} = %c0_i32{{.*}} -> (i1)
// CHECK: arith.cmpi ne
// CHECK: %[[IS_WITHIN:.*]] = arith.cmpi ult, %{{.*}}, %c90_i32
// CHECK: %[[ACTIVE:.*]] = arith.andi %[[FREE]], %[[IS_WITHIN]]
// CHECK: scf.if %[[ACTIVE]]
// CHECK: memref.load %arg2
// CHECK: scf.for {{.*}} -> (f32)
// CHECK: arith.cmpi eq
// CHECK: memref.load %arg1
// CHECK: arith.addf
// CHECK: memref.store %{{.*}}, %arg2
// CHECK-NOT: @scatter_1
func.func @line(%i: memref<5x4x3xi64>, %u: memref<60x5xf32>, %y: memref<90x5xf32>) {
  cuda.scatter ins(%i, %u : memref<5x4x3xi64>, memref<60x5xf32>) outs(%y : memref<90x5xf32>) {
  ^bb0(%old: f32, %update: f32):
    %sum = arith.addf %old, %update : f32
    cuda.yield %sum : f32
  }
  cuda.scatter ins(%i, %u : memref<5x4x3xi64>, memref<60x5xf32>) outs(%y : memref<90x5xf32>) {
  ^bb0(%old: f32, %update: f32):
    %sum = arith.addf %old, %update : f32
    cuda.yield %sum : f32
  }
  return
}

// -----

// Sorted items of a position are neighbors. Eight updates are loaded before
// they are made.
// CHECK-LABEL: func.func @sorted
// CHECK: ingot.require %{{.*}}, "kernels of GPUs take tensors of up to {1} elements, but one has {0}"
// CHECK: func.func private @scatter_0
// CHECK: memref.load %arg2
// CHECK: scf.while
// CHECK-COUNT-8: memref.load %arg1
// CHECK: arith.minsi
// CHECK: scf.condition
// CHECK: memref.store %{{.*}}, %arg2
func.func @sorted(%i: memref<?xi64>, %u: memref<?x5xi32>, %y: memref<90x5xi32>) {
  cuda.scatter ins(%i, %u : memref<?xi64>, memref<?x5xi32>) outs(%y : memref<90x5xi32>) {
  ^bb0(%old: i32, %update: i32):
    %least = arith.minsi %old, %update : i32
    cuda.yield %least : i32
  }
  return
}

// -----

// If updates replace each other, the last one alone is made, without a loop.
// CHECK-LABEL: func.func @replaced
// CHECK: func.func private @scatter_0
// CHECK-NOT: memref.load %arg2
// CHECK-NOT: scf.while
// CHECK: memref.load %arg1
// CHECK: memref.store %{{.*}}, %arg2
func.func @replaced(%i: memref<100xi64>, %u: memref<100x5xf16>, %y: memref<90x5xf16>) {
  cuda.scatter ins(%i, %u : memref<100xi64>, memref<100x5xf16>) outs(%y : memref<90x5xf16>) {
  ^bb0(%old: f16, %update: f16):
    cuda.yield %update : f16
  }
  return
}

// -----

// CHECK-LABEL: func.func @tensors
// CHECK: cuda.scatter
// CHECK-NOT: cuda.launch
func.func @tensors(%i: tensor<100xi64>, %u: tensor<100x5xf16>, %y: tensor<90x5xf16>) -> tensor<90x5xf16> {
  %0 = cuda.scatter ins(%i, %u : tensor<100xi64>, tensor<100x5xf16>) outs(%y : tensor<90x5xf16>) {
  ^bb0(%old: f16, %update: f16):
    cuda.yield %update : f16
  } -> tensor<90x5xf16>
  return %0 : tensor<90x5xf16>
}
