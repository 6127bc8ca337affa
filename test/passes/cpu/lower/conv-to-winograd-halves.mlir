// RUN: ingot-opt %s --pass-pipeline='builtin.module(ingot-attach-targets{levels=avx512fp16},func.func(conv-to-winograd{precision=fp16}))' | FileCheck %s

// If f16 would be multiplied, tiles of 4 x 4 are faster only with few channels,
// and tiles of 2 x 2 never are.
// CHECK-LABEL: @few
// CHECK: cpu.winograd_conv ins({{.*}} : tensor<1x56x56x64xf32>, tensor<2x36x64x32xf16>)
func.func @few(%x: tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32> {
  %w = arith.constant dense<0.5> : tensor<64x64x3x3xf32>
  %y = nn.conv %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>, ingot.precision = #ingot.precision<fp16>} : (tensor<1x56x56x64xf32>, tensor<64x64x3x3xf32>) -> tensor<1x56x56x64xf32>
  return %y : tensor<1x56x56x64xf32>
}

// CHECK-LABEL: @many
// CHECK: nn.conv
func.func @many(%x: tensor<1x14x14x256xf32>) -> tensor<1x14x14x256xf32> {
  %w = arith.constant dense<0.5> : tensor<256x256x3x3xf32>
  %y = nn.conv %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>, ingot.precision = #ingot.precision<fp16>} : (tensor<1x14x14x256xf32>, tensor<256x256x3x3xf32>) -> tensor<1x14x14x256xf32>
  return %y : tensor<1x14x14x256xf32>
}

// Nodes that stay f32 are lowered as without f16.
// CHECK-LABEL: @wide
// CHECK: cpu.winograd_conv ins({{.*}} : tensor<1x14x14x256xf32>, tensor<8x16x256x32xf32>)
func.func @wide(%x: tensor<1x14x14x256xf32>) -> tensor<1x14x14x256xf32> {
  %w = arith.constant dense<0.5> : tensor<256x256x3x3xf32>
  %y = nn.conv %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x14x14x256xf32>, tensor<256x256x3x3xf32>) -> tensor<1x14x14x256xf32>
  return %y : tensor<1x14x14x256xf32>
}
