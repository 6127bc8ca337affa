// RUN: ingot-opt %s | ingot-opt | FileCheck %s
// RUN: ingot-opt %s --mlir-print-op-generic | ingot-opt | FileCheck %s

// CHECK-LABEL: @conv
// CHECK: %[[Y:.*]] = cpu.conv ins(%{{.*}}, %{{.*}} : tensor<1x8x8x3xf32>, tensor<1x3x3x3x16xf32>)
// CHECK-SAME: operands(%{{.*}} : tensor<1x1x1x4xf32>) outs(%{{.*}} : tensor<1x8x8x4xf32>)
// CHECK-SAME: dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>
// CHECK: ^bb0(%[[SUM:.*]]: f32, %[[BIAS:.*]]: f32):
// CHECK: %[[S:.*]] = arith.addf %[[SUM]], %[[BIAS]]
// CHECK: cpu.yield %[[S]] : f32
// CHECK: } -> tensor<1x8x8x4xf32>
// CHECK: return %[[Y]]
func.func @conv(%x: tensor<1x8x8x3xf32>, %w: tensor<1x3x3x3x16xf32>, %b: tensor<1x1x1x4xf32>,
                %d: tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> {
  %y = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<1x3x3x3x16xf32>) operands(%b : tensor<1x1x1x4xf32>)
      outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32, %bias: f32):
    %0 = arith.addf %sum, %bias : f32
    cpu.yield %0 : f32
  } -> tensor<1x8x8x4xf32>
  return %y : tensor<1x8x8x4xf32>
}

// Three groups of two channels: a panel each. A batch that a run brings.
// CHECK-LABEL: @grouped_memref
// CHECK: cpu.conv ins({{.*}} : memref<?x8x6xf32>, memref<3x5x2x16xf32>) outs({{.*}} : memref<?x4x6xf32>)
// CHECK-SAME: groups = 3
// CHECK-NOT: ->
// CHECK: return
func.func @grouped_memref(%x: memref<?x8x6xf32>, %w: memref<3x5x2x16xf32>, %d: memref<?x4x6xf32>) {
  cpu.conv ins(%x, %w : memref<?x8x6xf32>, memref<3x5x2x16xf32>) outs(%d : memref<?x4x6xf32>)
      attributes {strides = array<i64: 2>, pads = array<i64: 2, 2>, dilations = array<i64: 1>, groups = 3 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// CHECK-LABEL: @depthwise
// CHECK: cpu.depthwise_conv ins({{.*}} : tensor<1x4x4x4x5xf32>, tensor<3x1x3x5xf32>) outs({{.*}} : tensor<1x2x4x2x5xf32>)
func.func @depthwise(%x: tensor<1x4x4x4x5xf32>, %w: tensor<3x1x3x5xf32>, %d: tensor<1x2x4x2x5xf32>) -> tensor<1x2x4x2x5xf32> {
  %y = cpu.depthwise_conv ins(%x, %w : tensor<1x4x4x4x5xf32>, tensor<3x1x3x5xf32>) outs(%d : tensor<1x2x4x2x5xf32>)
      attributes {strides = array<i64: 1, 1, 1>, pads = array<i64: 0, 0, 0, 0, 0, 0>, dilations = array<i64: 1, 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x2x4x2x5xf32>
  return %y : tensor<1x2x4x2x5xf32>
}

// Groups of four channels.
// CHECK-LABEL: @groups
// CHECK: cpu.depthwise_conv ins({{.*}} : tensor<1x8x8xf32>, tensor<3x32xf32>) outs({{.*}} : tensor<1x6x8xf32>)
func.func @groups(%x: tensor<1x8x8xf32>, %w: tensor<3x32xf32>, %d: tensor<1x6x8xf32>) -> tensor<1x6x8xf32> {
  %y = cpu.depthwise_conv ins(%x, %w : tensor<1x8x8xf32>, tensor<3x32xf32>) outs(%d : tensor<1x6x8xf32>)
      attributes {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x6x8xf32>
  return %y : tensor<1x6x8xf32>
}

// One right factor for all batches, then one for each.
// CHECK-LABEL: @matmul
// CHECK: cpu.matmul ins({{.*}} : tensor<?x?x7xf32>, tensor<2x7x32xf32>) operands({{.*}} : tensor<?x1x1xf32>, tensor<1x1x40xf32>) outs
// CHECK: cpu.matmul ins({{.*}} : tensor<3x5x7xf32>, tensor<3x1x7x16xf32>) outs
func.func @matmul(%a: tensor<?x?x7xf32>, %w: tensor<2x7x32xf32>, %s: tensor<?x1x1xf32>, %b: tensor<1x1x40xf32>, %d: tensor<?x?x40xf32>,
                  %c: tensor<3x5x7xf32>, %v: tensor<3x1x7x16xf32>, %e: tensor<3x5x9xf32>) -> (tensor<?x?x40xf32>, tensor<3x5x9xf32>) {
  %0 = cpu.matmul ins(%a, %w : tensor<?x?x7xf32>, tensor<2x7x32xf32>) operands(%s, %b : tensor<?x1x1xf32>, tensor<1x1x40xf32>)
      outs(%d : tensor<?x?x40xf32>) {
  ^bb0(%sum: f32, %scale: f32, %bias: f32):
    %2 = arith.mulf %sum, %scale : f32
    %3 = arith.addf %2, %bias : f32
    cpu.yield %3 : f32
  } -> tensor<?x?x40xf32>
  %1 = cpu.matmul ins(%c, %v : tensor<3x5x7xf32>, tensor<3x1x7x16xf32>) outs(%e : tensor<3x5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<3x5x9xf32>
  return %0, %1 : tensor<?x?x40xf32>, tensor<3x5x9xf32>
}

// CHECK-LABEL: @launch
// CHECK: cpu.launch @kernel(%{{.*}}, %{{.*}}) tasks(%{{.*}}) writes 1 : memref<4xf32, strided<[1], offset: 8>>, memref<4xf32>
func.func private @kernel(memref<4xf32, strided<[1]>>, memref<4xf32>, index)
func.func @launch(%x: memref<4xf32, strided<[1], offset: 8>>, %y: memref<4xf32>, %n: index) {
  cpu.launch @kernel(%x, %y) tasks(%n) writes 1 : memref<4xf32, strided<[1], offset: 8>>, memref<4xf32>
  return
}

// CHECK-LABEL: @conv_transpose
// CHECK: cpu.conv_transpose ins({{.*}} : tensor<?x4x6xf32>, tensor<6x5x3xf32>) operands({{.*}} : tensor<1x1x10xf32>) outs
// CHECK-SAME: groups = 2
func.func @conv_transpose(%x: tensor<?x4x6xf32>, %w: tensor<6x5x3xf32>, %b: tensor<1x1x10xf32>, %d: tensor<?x8x10xf32>) -> tensor<?x8x10xf32> {
  %y = cpu.conv_transpose ins(%x, %w : tensor<?x4x6xf32>, tensor<6x5x3xf32>) operands(%b : tensor<1x1x10xf32>) outs(%d : tensor<?x8x10xf32>)
      attributes {strides = array<i64: 2>, pads = array<i64: -1, 2>, dilations = array<i64: 1>, groups = 2 : i64} {
  ^bb0(%sum: f32, %bias: f32):
    %0 = arith.addf %sum, %bias : f32
    cpu.yield %0 : f32
  } -> tensor<?x8x10xf32>
  return %y : tensor<?x8x10xf32>
}

// CHECK-LABEL: @blocks
// CHECK: cpu.matmul ins({{.*}} : tensor<?x24xf32>, tensor<3x8x32xf32>) blocks({{.*}} : tensor<6xi32>) outs
func.func @blocks(%a: tensor<?x24xf32>, %w: tensor<3x8x32xf32>, %b: tensor<6xi32>, %d: tensor<?x40xf32>) -> tensor<?x40xf32> {
  %0 = cpu.matmul ins(%a, %w : tensor<?x24xf32>, tensor<3x8x32xf32>) blocks(%b : tensor<6xi32>) outs(%d : tensor<?x40xf32>) attributes {format = #cpu.weights<blocks>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<?x40xf32>
  return %0 : tensor<?x40xf32>
}
