// RUN: ingot-opt %s --nn-merge-convs=optimize=balanced --mlir-elide-elementsattrs-if-larger=8 | FileCheck %s --check-prefixes=CHECK,BALANCED
// RUN: ingot-opt %s --nn-merge-convs=optimize=speed --mlir-elide-elementsattrs-if-larger=8 | FileCheck %s --check-prefixes=CHECK,SPEED

// Merging a 3x3 and a 2x2 convolution into one of 4x4 adds 768 KiB of weights.
// For 4x4 positions it saves too little for that in `balanced`.

// CHECK-LABEL: @few_positions
// BALANCED-COUNT-2: nn.conv
// SPEED-COUNT-1: nn.conv
// CHECK-NOT: nn.conv
// CHECK: return
func.func @few_positions(%x: tensor<1x1024x6x6xf32>) -> tensor<1x1024x2x2xf32> {
  %a = arith.constant dense<0.5> : tensor<1024x64x3x3xf32>
  %b = arith.constant dense<0.25> : tensor<1024x64x2x2xf32>
  %y = nn.conv %x, %a {dilations = array<i64: 1, 1>, groups = 16 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x1024x6x6xf32>, tensor<1024x64x3x3xf32>) -> tensor<1x1024x4x4xf32>
  %z = nn.conv %y, %b {dilations = array<i64: 1, 1>, groups = 16 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>}
    : (tensor<1x1024x4x4xf32>, tensor<1024x64x2x2xf32>) -> tensor<1x1024x2x2xf32>
  return %z : tensor<1x1024x2x2xf32>
}

// An equal number of weights saves more at more positions.

// CHECK-LABEL: @many_positions
// CHECK-COUNT-1: nn.conv
// CHECK-NOT: nn.conv
func.func @many_positions(%x: tensor<1x1024x10x10xf32>) -> tensor<1x1024x4x4xf32> {
  %a = arith.constant dense<0.5> : tensor<1024x64x3x3xf32>
  %b = arith.constant dense<0.25> : tensor<1024x64x2x2xf32>
  %y = nn.conv %x, %a {dilations = array<i64: 1, 1>, groups = 16 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x1024x10x10xf32>, tensor<1024x64x3x3xf32>) -> tensor<1x1024x8x8xf32>
  %z = nn.conv %y, %b {dilations = array<i64: 1, 1>, groups = 16 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>}
    : (tensor<1x1024x8x8xf32>, tensor<1024x64x2x2xf32>) -> tensor<1x1024x4x4xf32>
  return %z : tensor<1x1024x4x4xf32>
}
