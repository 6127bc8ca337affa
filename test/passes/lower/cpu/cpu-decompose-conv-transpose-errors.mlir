// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(cpu-decompose-conv-transpose))' -verify-diagnostics

func.func @computed_weights(%x: tensor<1x4x1xf32>, %w: tensor<1x1x3xf32>, %d: tensor<1x8x1xf32>) -> tensor<1x8x1xf32> {
  // expected-error @+1 {{expects constant weights}}
  %y = cpu.conv_transpose ins(%x, %w : tensor<1x4x1xf32>, tensor<1x1x3xf32>) outs(%d : tensor<1x8x1xf32>)
      attributes {strides = array<i64: 2>, pads = array<i64: 1, 0>, dilations = array<i64: 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x1xf32>
  return %y : tensor<1x8x1xf32>
}
