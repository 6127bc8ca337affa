// RUN: ingot-opt %s --cpu-schedule --outline-kernels --split-input-file | FileCheck %s

// Two kernels that differ only in their buffers and locations share a function.
// Constants that the epilogue uses are copied. The number of tasks is static.
// CHECK-LABEL: func.func @shared
// CHECK: cpu.launch @[[K:.*]](%{{.*}}, %{{.*}}, %{{.*}}) tasks(%{{.*}}) writes 1 : memref<5x7xf32>, memref<1x7x16xf32>, memref<5x9xf32>
// CHECK: cpu.launch @[[K]](
// CHECK-NOT: cpu.matmul
// CHECK: func.func private @[[K]](%[[A:.*]]: memref<5x7xf32>, %[[W:.*]]: memref<1x7x16xf32>, %[[D:.*]]: memref<5x9xf32>, %{{.*}}: index)
// CHECK-SAME: llvm.linkage = #llvm.linkage<internal>
// CHECK: cpu.matmul ins(%[[A]], %[[W]] : {{.*}}) outs(%[[D]] :
// CHECK: arith.constant 2.000000e+00 : f32
// CHECK-NOT: func.func
func.func @shared(%a: memref<5x7xf32>, %b: memref<5x7xf32>, %w: memref<1x7x16xf32>, %d: memref<5x9xf32>, %e: memref<5x9xf32>) {
  %two = arith.constant 2.0 : f32
  cpu.matmul ins(%a, %w : memref<5x7xf32>, memref<1x7x16xf32>) outs(%d : memref<5x9xf32>) {
  ^bb0(%sum: f32):
    %0 = arith.mulf %sum, %two : f32
    cpu.yield %0 : f32
  } loc("first")
  cpu.matmul ins(%b, %w : memref<5x7xf32>, memref<1x7x16xf32>) outs(%e : memref<5x9xf32>) {
  ^bb0(%sum: f32):
    %0 = arith.mulf %sum, %two : f32
    cpu.yield %0 : f32
  } loc("second")
  return
}

// -----

// Must not share if a constant, a shape or an attribute differs.
// CHECK-LABEL: func.func @different
// CHECK: cpu.launch @matmul.0(
// CHECK: cpu.launch @matmul.1(
// CHECK: cpu.launch @matmul.2(
// CHECK-COUNT-3: func.func private
// CHECK-NOT: func.func
func.func @different(%a: memref<5x7xf32>, %b: memref<4x7xf32>, %w: memref<1x7x16xf32>, %d: memref<5x9xf32>, %e: memref<4x9xf32>) {
  %two = arith.constant 2.0 : f32
  %three = arith.constant 3.0 : f32
  cpu.matmul ins(%a, %w : memref<5x7xf32>, memref<1x7x16xf32>) outs(%d : memref<5x9xf32>) {
  ^bb0(%sum: f32):
    %0 = arith.mulf %sum, %two : f32
    cpu.yield %0 : f32
  }
  cpu.matmul ins(%a, %w : memref<5x7xf32>, memref<1x7x16xf32>) outs(%d : memref<5x9xf32>) {
  ^bb0(%sum: f32):
    %0 = arith.mulf %sum, %three : f32
    cpu.yield %0 : f32
  }
  cpu.matmul ins(%b, %w : memref<4x7xf32>, memref<1x7x16xf32>) outs(%e : memref<4x9xf32>) {
  ^bb0(%sum: f32):
    %0 = arith.mulf %sum, %two : f32
    cpu.yield %0 : f32
  }
  return
}

// -----

// Buffers at different offsets share: the launch adds the offset.
// CHECK-LABEL: func.func @offsets
// CHECK: cpu.launch @[[K:.*]](%{{.*}}) tasks(%{{.*}}) writes 1 : memref<5x7xf32, strided<[8, 1], offset: 16>>,
// CHECK: cpu.launch @[[K]](%{{.*}}) tasks(%{{.*}}) writes 1 : memref<5x7xf32, strided<[8, 1], offset: 64>>,
// CHECK: func.func private @[[K]](%{{.*}}: memref<5x7xf32, strided<[8, 1]>>,
func.func @offsets(%a: memref<5x7xf32, strided<[8, 1], offset: 16>>, %b: memref<5x7xf32, strided<[8, 1], offset: 64>>,
                   %w: memref<1x7x16xf32>, %d: memref<5x9xf32>) {
  cpu.matmul ins(%a, %w : memref<5x7xf32, strided<[8, 1], offset: 16>>, memref<1x7x16xf32>) outs(%d : memref<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  cpu.matmul ins(%b, %w : memref<5x7xf32, strided<[8, 1], offset: 64>>, memref<1x7x16xf32>) outs(%d : memref<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

// The run counts the tasks of a dynamic size.
// CHECK-LABEL: func.func @dynamic
// CHECK: %[[N:.*]] = memref.dim %[[D:.*]], %{{.*}} : memref<?x64xf32>
// CHECK: %[[ROUNDED:.*]] = arith.addi %[[N]], %{{.*}}
// CHECK: %[[T:.*]] = arith.divui %[[ROUNDED]], %{{.*}}
// CHECK: cpu.launch @{{.*}}(%{{.*}}, %{{.*}}, %[[D]]) tasks(%
func.func @dynamic(%a: memref<?x7xf32>, %w: memref<2x7x32xf32>, %d: memref<?x64xf32>) {
  cpu.matmul ins(%a, %w : memref<?x7xf32>, memref<2x7x32xf32>) outs(%d : memref<?x64xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

// Must not fire on tensors.
// CHECK-LABEL: func.func @tensors
// CHECK: cpu.matmul
// CHECK-NOT: cpu.launch
// CHECK-NOT: func.func private
func.func @tensors(%a: tensor<5x7xf32>, %w: tensor<1x7x16xf32>, %d: tensor<5x9xf32>) -> tensor<5x9xf32> {
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  return %0 : tensor<5x9xf32>
}

// -----

// A large op has many tasks: blocks of rows times blocks of columns.
// CHECK-LABEL: func.func @large
// CHECK: %[[T:.*]] = arith.constant 28 : index
// CHECK: cpu.launch {{.*}} tasks(%[[T]])
func.func @large(%x: memref<1x56x56x64xf32>, %w: memref<2x3x3x64x32xf32>, %d: memref<1x56x56x64xf32>) {
  cpu.conv ins(%x, %w : memref<1x56x56x64xf32>, memref<2x3x3x64x32xf32>) outs(%d : memref<1x56x56x64xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

// An empty result has no task, however many rows it has.
// CHECK-LABEL: func.func @empty_rows
// CHECK: %[[N:.*]] = memref.dim %arg1, %c0
// CHECK: %[[ROWS:.*]] = arith.minsi %[[N]], %{{.*}}
// CHECK: %[[M:.*]] = memref.dim %arg1, %c1
// CHECK: %[[COLUMNS:.*]] = arith.minsi %[[M]], %{{.*}}
// CHECK: %[[HOLDS:.*]] = arith.muli %[[ROWS]], %[[COLUMNS]]
// CHECK: %[[TASKS:.*]] = arith.muli %{{.*}}, %[[HOLDS]]
// CHECK: cpu.launch @softmax.0(%{{.*}}) tasks(%[[TASKS]])
func.func @empty_rows(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  cpu.softmax ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%e: f32):
    cpu.yield %e : f32
  }
  return
}
