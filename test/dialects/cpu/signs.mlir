// RUN: ingot-opt %s | ingot-opt | FileCheck %s

// CHECK-LABEL: @conv
// CHECK: cpu.pack_signs ins(%{{.*}} : tensor<1x8x8x70xi8>) outs(%{{.*}} : tensor<1x8x8x7xi32>) attributes {zero_point = 128 : i64} {
// CHECK: cpu.conv ins(%{{.*}}, %{{.*}} : tensor<1x8x8x7xi32>, tensor<2x3x3x3x32xi32>)
// CHECK-SAME: format = #cpu.weights<signs<70>>
func.func @conv(%x: tensor<1x8x8x70xi8>, %w: tensor<2x3x3x3x32xi32>, %p: tensor<1x8x8x7xi32>,
                %d: tensor<1x8x8x64xi32>) -> tensor<1x8x8x64xi32> {
  %bits = cpu.pack_signs ins(%x : tensor<1x8x8x70xi8>) outs(%p : tensor<1x8x8x7xi32>)
      attributes {zero_point = 128 : i64} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  } -> tensor<1x8x8x7xi32>
  %y = cpu.conv ins(%bits, %w : tensor<1x8x8x7xi32>, tensor<2x3x3x3x32xi32>) outs(%d : tensor<1x8x8x64xi32>)
      attributes {format = #cpu.weights<signs<70>>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>,
                  groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<1x8x8x64xi32>
  return %y : tensor<1x8x8x64xi32>
}

// CHECK-LABEL: @matmul
// CHECK: cpu.matmul ins(%{{.*}}, %{{.*}} : tensor<?x17xi32>, tensor<1x8x32xi32>)
// CHECK-SAME: format = #cpu.weights<signs<256>>
func.func @matmul(%x: tensor<?x17xi32>, %w: tensor<1x8x32xi32>, %d: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %y = cpu.matmul ins(%x, %w : tensor<?x17xi32>, tensor<1x8x32xi32>) outs(%d : tensor<?x32xf32>)
      attributes {format = #cpu.weights<signs<256>>} {
  ^bb0(%sum: i32):
    %0 = arith.sitofp %sum : i32 to f32
    cpu.yield %0 : f32
  } -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// Signs of 70 channels are stored as one word of each 32, and read as such.
// CHECK-LABEL: @stored
// CHECK: cpu.matmul ins(%{{.*}}, %{{.*}} : tensor<?x8xi32>, tensor<3x8x32xi32>) operands(%{{.*}} : tensor<1x70xi32>) outs(%{{.*}} : tensor<?x3xi32>)
// CHECK-SAME: dst_signs = 70 : i64, format = #cpu.weights<signs<256>>
// CHECK: cpu.matmul ins(%{{.*}}, %{{.*}} : tensor<?x3xi32>, tensor<1x3x32xi32>)
func.func @stored(%x: tensor<?x8xi32>, %w: tensor<3x8x32xi32>, %t: tensor<1x70xi32>, %p: tensor<?x3xi32>,
                  %v: tensor<1x3x32xi32>, %d: tensor<?x32xi32>) -> tensor<?x32xi32> {
  %bits = cpu.matmul ins(%x, %w : tensor<?x8xi32>, tensor<3x8x32xi32>) operands(%t : tensor<1x70xi32>) outs(%p : tensor<?x3xi32>)
      attributes {format = #cpu.weights<signs<256>>, dst_signs = 70 : i64} {
  ^bb0(%sum: i32, %low: i32):
    %u = arith.cmpi slt, %sum, %low : i32
    cpu.yield %u : i1
  } -> tensor<?x3xi32>
  %y = cpu.matmul ins(%bits, %v : tensor<?x3xi32>, tensor<1x3x32xi32>) outs(%d : tensor<?x32xi32>)
      attributes {format = #cpu.weights<signs<70>>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<?x32xi32>
  return %y : tensor<?x32xi32>
}
