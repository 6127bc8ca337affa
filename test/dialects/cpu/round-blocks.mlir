// RUN: ingot-opt %s | ingot-opt | FileCheck %s

// CHECK-LABEL: @rounded
// CHECK: cpu.round_blocks ins(%{{.*}} : tensor<?x40xf32>) outs(%{{.*}} : tensor<?x20xi32>) attributes {block_size = 32 : i64, factor = -8 : i64} {
// CHECK: cpu.packed_matmul ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x20xi32>, tensor<1x8x32xi32>, tensor<1x2x32xf32>)
// CHECK-SAME: format = #cpu.weights<bits<4>, block_size = 32>
func.func @rounded(%x: tensor<?x40xf32>, %w: tensor<1x8x32xi32>, %s: tensor<1x2x32xf32>, %r: tensor<?x20xi32>,
                   %d: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %rows = cpu.round_blocks ins(%x : tensor<?x40xf32>) outs(%r : tensor<?x20xi32>)
      attributes {block_size = 32 : i64, factor = -8 : i64} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  } -> tensor<?x20xi32>
  %y = cpu.packed_matmul ins(%rows, %w, %s : tensor<?x20xi32>, tensor<1x8x32xi32>, tensor<1x2x32xf32>)
      outs(%d : tensor<?x32xf32>) attributes {format = #cpu.weights<bits<4>, block_size = 32>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}
