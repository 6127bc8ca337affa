// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(conv-to-winograd{optimize=speed}))' | FileCheck %s --check-prefix=SPEED
// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(conv-to-winograd))' | FileCheck %s --check-prefix=BALANCED
// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(conv-to-winograd{optimize=size}))' | FileCheck %s --check-prefix=SIZE
// RUN: ingot-opt %s --ingot-linalg=optimize=size | FileCheck %s --check-prefix=SIZE
// RUN: not ingot-opt %s --ingot-linalg=optimize=small 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// SIZE-NOT: cpu.winograd_conv
// UNKNOWN: for the --optimize option: Cannot find option named 'small'!

// Each byte of tiles of 4 x 4 saves 162 operations more than tiles of 2 x 2.
// SPEED-LABEL: @much
// SPEED: cpu.winograd_conv ins({{.*}}, tensor<2x36x64x32xf32>)
// BALANCED-LABEL: @much
// BALANCED: cpu.winograd_conv ins({{.*}}, tensor<2x36x64x32xf32>)
func.func @much(%x: tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32> {
  %w = arith.constant dense<1.0> : tensor<64x64x3x3xf32>
  %y = nn.conv %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x56x56x64xf32>, tensor<64x64x3x3xf32>) -> tensor<1x56x56x64xf32>
  return %y : tensor<1x56x56x64xf32>
}

// A byte of tiles of 2 x 2 saves 247 operations. A byte that tiles of 4 x 4 add
// saves only 32.
// SPEED-LABEL: @less
// SPEED: cpu.winograd_conv ins({{.*}}, tensor<4x36x128x32xf32>)
// BALANCED-LABEL: @less
// BALANCED: cpu.winograd_conv ins({{.*}}, tensor<4x16x128x32xf32>)
func.func @less(%x: tensor<1x28x28x128xf32>) -> tensor<1x28x28x128xf32> {
  %w = arith.constant dense<1.0> : tensor<128x128x3x3xf32>
  %y = nn.conv %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x28x28x128xf32>, tensor<128x128x3x3xf32>) -> tensor<1x28x28x128xf32>
  return %y : tensor<1x28x28x128xf32>
}

// A byte saves 16 operations.
// SPEED-LABEL: @little
// SPEED: cpu.winograd_conv ins({{.*}}, tensor<8x16x256x32xf32>)
// BALANCED-LABEL: @little
// BALANCED: nn.conv
func.func @little(%x: tensor<1x8x8x256xf32>) -> tensor<1x8x8x256xf32> {
  %w = arith.constant dense<1.0> : tensor<256x256x3x3xf32>
  %y = nn.conv %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x8x8x256xf32>, tensor<256x256x3x3xf32>) -> tensor<1x8x8x256xf32>
  return %y : tensor<1x8x8x256xf32>
}

// The 108 KiB that tiles of 4 x 4 add are free in `balanced`.
// SPEED-LABEL: @small
// SPEED: cpu.winograd_conv ins({{.*}}, tensor<1x36x32x32xf32>)
// BALANCED-LABEL: @small
// BALANCED: cpu.winograd_conv ins({{.*}}, tensor<1x36x32x32xf32>)
func.func @small(%x: tensor<1x14x14x32xf32>) -> tensor<1x14x14x32xf32> {
  %w = arith.constant dense<1.0> : tensor<32x32x3x3xf32>
  %y = nn.conv %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x14x14x32xf32>, tensor<32x32x3x3xf32>) -> tensor<1x14x14x32xf32>
  return %y : tensor<1x14x14x32xf32>
}
