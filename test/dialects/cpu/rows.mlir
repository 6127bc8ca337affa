// RUN: ingot-opt %s | ingot-opt | FileCheck %s

// CHECK-LABEL: @range
// CHECK: cpu.reduce range ins(%{{.*}} : tensor<2x?x1xf32>) outs(%{{.*}} : tensor<2x2xf32>)
func.func @range(%x: tensor<2x?x1xf32>, %d: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %y = cpu.reduce range ins(%x : tensor<2x?x1xf32>) outs(%d : tensor<2x2xf32>) {
  ^bb0(%end: f32):
    cpu.yield %end : f32
  } -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// CHECK-LABEL: @reduce
// CHECK: cpu.reduce mean ins(%{{.*}} : tensor<2x?x6xf32>)
// CHECK-SAME: outs(%{{.*}} : tensor<2x6xf32>)
func.func @reduce(%x: tensor<2x?x6xf32>, %d: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %y = cpu.reduce mean ins(%x : tensor<2x?x6xf32>) outs(%d : tensor<2x6xf32>) {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}

// CHECK-LABEL: @softmax
// CHECK: cpu.softmax {{.*}} attributes {log}
func.func @softmax(%x: memref<2x?xf32>, %d: memref<2x?xf32>) {
  cpu.softmax ins(%x : memref<2x?xf32>) outs(%d : memref<2x?xf32>)
      attributes {log} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}

// CHECK-LABEL: @norms
// CHECK: cpu.row_norm ins({{.*}}) operands({{.*}} : tensor<1x8xf32>)
// CHECK-SAME: rms
// CHECK: cpu.group_norm {{.*}}groups = 2
func.func @norms(%x: tensor<3x8xf32>, %s: tensor<1x8xf32>, %g: tensor<1x9x8xf32>)
    -> (tensor<3x8xf32>, tensor<1x9x8xf32>) {
  %y = cpu.row_norm ins(%x : tensor<3x8xf32>) operands(%s : tensor<1x8xf32>)
      outs(%x : tensor<3x8xf32>) attributes {epsilon = 1.0e-5 : f32, rms} {
  ^bb0(%n: f32, %f: f32):
    %0 = arith.mulf %n, %f : f32
    cpu.yield %0 : f32
  } -> tensor<3x8xf32>
  %z = cpu.group_norm ins(%g : tensor<1x9x8xf32>) outs(%g : tensor<1x9x8xf32>)
      attributes {epsilon = 1.0e-5 : f32, groups = 2 : i64} {
  ^bb0(%n: f32):
    cpu.yield %n : f32
  } -> tensor<1x9x8xf32>
  return %y, %z : tensor<3x8xf32>, tensor<1x9x8xf32>
}

// CHECK-LABEL: @pool
// CHECK: cpu.pool mean_with_pads
func.func @pool(%x: tensor<1x?x4xf32>, %d: tensor<1x?x4xf32>) -> tensor<1x?x4xf32> {
  %y = cpu.pool mean_with_pads ins(%x : tensor<1x?x4xf32>) outs(%d : tensor<1x?x4xf32>)
      attributes {kernel = array<i64: 3>, strides = array<i64: 1>,
                  pads = array<i64: 1, 1>, dilations = array<i64: 1>} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<1x?x4xf32>
  return %y : tensor<1x?x4xf32>
}

// CHECK-LABEL: @band_open
// CHECK: cpu.band_matmul ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<2x?x3xf32>, tensor<?xi32>, tensor<?x?xf32>) outs(%{{.*}} : tensor<2x?x3xf32>)
func.func @band_open(%x: tensor<2x?x3xf32>, %s: tensor<?xi32>, %w: tensor<?x?xf32>, %d: tensor<2x?x3xf32>) {
  %y = cpu.band_matmul ins(%x, %s, %w : tensor<2x?x3xf32>, tensor<?xi32>, tensor<?x?xf32>)
      outs(%d : tensor<2x?x3xf32>) attributes {dim = 1 : i64} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<2x?x3xf32>
  return
}

// CHECK-LABEL: @band(
// CHECK: cpu.band_matmul ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x9x3xui8>, tensor<4xi32>, tensor<4x4xf32>) operands(%{{.*}} : tensor<1x1x3xf32>) outs(%{{.*}} : tensor<?x4x3xf32>) attributes {dim = 1 : i64, order = array<i64: 2, 1, 0>} {
func.func @band(%x: tensor<?x9x3xui8>, %s: tensor<4xi32>, %w: tensor<4x4xf32>, %f: tensor<1x1x3xf32>, %d: tensor<?x4x3xf32>) -> tensor<?x4x3xf32> {
  %y = cpu.band_matmul ins(%x, %s, %w : tensor<?x9x3xui8>, tensor<4xi32>, tensor<4x4xf32>)
      operands(%f : tensor<1x1x3xf32>)
      outs(%d : tensor<?x4x3xf32>)
      attributes {dim = 1 : i64, order = array<i64: 2, 1, 0>} {
  ^bb0(%sum: f32, %factor: f32):
    %z = arith.mulf %sum, %factor : f32
    cpu.yield %z : f32
  } -> tensor<?x4x3xf32>
  return %y : tensor<?x4x3xf32>
}
