// RUN: ingot-opt %s | ingot-opt | FileCheck %s
// RUN: ingot-opt %s --mlir-print-op-generic | ingot-opt | FileCheck %s

// CHECK-LABEL: @filter
// CHECK: cpu.winograd_conv ins(%{{.*}}, %{{.*}} : tensor<1x?x9x8xf32>, tensor<1x36x8x16xf32>)
// CHECK-SAME: operands(%{{.*}} : tensor<1x1x1x4xf32>) outs(%{{.*}} : tensor<1x?x8x4xf32>)
// CHECK-SAME: attributes {format = #cpu.weights<winograd<4>>, pads = array<i64: 1, 1, 0, 0>, schedule = #cpu.schedule<tile = <6x16>, grid = <12x1>, tile_block = 2>}
func.func @filter(%x: tensor<1x?x9x8xf32>, %w: tensor<1x36x8x16xf32>, %b: tensor<1x1x1x4xf32>,
                  %d: tensor<1x?x8x4xf32>) -> tensor<1x?x8x4xf32> {
  %y = cpu.winograd_conv ins(%x, %w : tensor<1x?x9x8xf32>, tensor<1x36x8x16xf32>) operands(%b : tensor<1x1x1x4xf32>)
      outs(%d : tensor<1x?x8x4xf32>)
      attributes {format = #cpu.weights<winograd<4>>, pads = array<i64: 1, 1, 0, 0>, schedule = #cpu.schedule<tile = <6x16>, grid = <12x1>, tile_block = 2>} {
  ^bb0(%sum: f32, %bias: f32):
    %0 = arith.addf %sum, %bias : f32
    cpu.yield %0 : f32
  } -> tensor<1x?x8x4xf32>
  return %y : tensor<1x?x8x4xf32>
}

// CHECK-LABEL: @bytes
// CHECK: cpu.conv
// CHECK-SAME: format = #cpu.weights<panels, exact_tiles = 4>
// CHECK-SAME: schedule = #cpu.schedule<tile = <6x16, product = int8_wide>, grid = <12x1>, depth_block = 3, tile_block = 2, winograd = 4>
func.func @bytes(%x: tensor<?x?x9x16xui8>, %w: tensor<1x3x3x4x16x4xi8>, %c: tensor<1x3x16xi32>, %d: tensor<?x?x8x4xi32>) -> tensor<?x?x8x4xi32> {
  %y = cpu.conv ins(%x, %w : tensor<?x?x9x16xui8>, tensor<1x3x3x4x16x4xi8>) compensation(%c : tensor<1x3x16xi32>)
      outs(%d : tensor<?x?x8x4xi32>)
      attributes {format = #cpu.weights<panels, exact_tiles = 4>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64,
                  src_zero_point = 7 : i64,
                  schedule = #cpu.schedule<tile = <6x16, product = int8_wide>, grid = <12x1>, tile_block = 2, depth_block = 3, winograd = 4>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<?x?x8x4xi32>
  return %y : tensor<?x?x8x4xi32>
}
