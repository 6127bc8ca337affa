// RUN: ingot-opt %s --nn-widen-conv-transpose | FileCheck %s

// Kernel and pads of many phases: five taps become the taps of two strides. The
// result is cropped by the pads and the added taps.
// CHECK-LABEL: @crops
// CHECK-DAG: %[[W:.*]] = arith.constant {{.*}} : tensor<1x1x200xf32>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<f32>
// CHECK: %[[Y:.*]] = nn.conv_transpose %arg0, %[[W]]
// CHECK-SAME: output_padding = array<i64: 0>, pads = array<i64: 0, 0>, strides = array<i64: 100>
// CHECK-SAME: -> tensor<1x1x500xf32>
// CHECK: nn.pad constant %[[Y]] value(%[[ZERO]]) {high = array<i64: 0, 0, -92>, low = array<i64: 0, 0, -3>}
// CHECK-SAME: -> tensor<1x1x405xf32>
func.func @crops(%x: tensor<1x1x4xf32>) -> tensor<1x1x405xf32> {
  %w = arith.constant dense<1.0> : tensor<1x1x105xf32>
  %y = nn.conv_transpose %x, %w {dilations = array<i64: 1>, groups = 1 : i64, output_padding = array<i64: 7>,
    pads = array<i64: 3, 4>, strides = array<i64: 100>} : (tensor<1x1x4xf32>, tensor<1x1x105xf32>) -> tensor<1x1x405xf32>
  return %y : tensor<1x1x405xf32>
}

// A dynamic size, channels last, and a result that is longer than the kernel
// reaches. Rows keep their phases.
// CHECK-LABEL: @open
// CHECK: nn.conv_transpose %arg0, %{{.*}} {channels_last,
// CHECK-SAME: output_padding = array<i64: 1, 0>, pads = array<i64: 2, 0, 1, 0>, strides = array<i64: 8, 32>
// CHECK-SAME: tensor<1x2x16x64xf32>) -> tensor<1x?x?x2xf32>
// CHECK: nn.pad {{.*}} {high = array<i64: 0, 0, -1, 0>, low = array<i64: 0, 0, 0, 0>}
func.func @open(%x: tensor<1x?x?x1xf32>) -> tensor<1x?x?x2xf32> {
  %w = arith.constant dense<1.0> : tensor<1x2x16x32xf32>
  %y = nn.conv_transpose %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64,
    output_padding = array<i64: 1, 31>, pads = array<i64: 2, 0, 1, 0>, strides = array<i64: 8, 32>}
    : (tensor<1x?x?x1xf32>, tensor<1x2x16x32xf32>) -> tensor<1x?x?x2xf32>
  return %y : tensor<1x?x?x2xf32>
}

// Must not fire: a kernel of the stride's width; few phases; groups; computed
// weights.
// CHECK-LABEL: @stays
// CHECK-NOT: nn.pad
// CHECK: return
func.func @stays(%x: tensor<1x2x4xf32>, %v: tensor<2x1x105xf32>)
    -> (tensor<1x1x400xf32>, tensor<1x1x34xf32>, tensor<1x2x405xf32>, tensor<1x1x405xf32>) {
  %w0 = arith.constant dense<1.0> : tensor<2x1x100xf32>
  %w1 = arith.constant dense<1.0> : tensor<2x1x10xf32>
  %w2 = arith.constant dense<1.0> : tensor<2x1x105xf32>
  %0 = nn.conv_transpose %x, %w0 {dilations = array<i64: 1>, groups = 1 : i64, output_padding = array<i64: 0>,
    pads = array<i64: 0, 0>, strides = array<i64: 100>} : (tensor<1x2x4xf32>, tensor<2x1x100xf32>) -> tensor<1x1x400xf32>
  %1 = nn.conv_transpose %x, %w1 {dilations = array<i64: 1>, groups = 1 : i64, output_padding = array<i64: 0>,
    pads = array<i64: 0, 0>, strides = array<i64: 8>} : (tensor<1x2x4xf32>, tensor<2x1x10xf32>) -> tensor<1x1x34xf32>
  %2 = nn.conv_transpose %x, %w2 {dilations = array<i64: 1>, groups = 2 : i64, output_padding = array<i64: 0>,
    pads = array<i64: 0, 0>, strides = array<i64: 100>} : (tensor<1x2x4xf32>, tensor<2x1x105xf32>) -> tensor<1x2x405xf32>
  %3 = nn.conv_transpose %x, %v {dilations = array<i64: 1>, groups = 1 : i64, output_padding = array<i64: 0>,
    pads = array<i64: 0, 0>, strides = array<i64: 100>} : (tensor<1x2x4xf32>, tensor<2x1x105xf32>) -> tensor<1x1x405xf32>
  return %0, %1, %2, %3 : tensor<1x1x400xf32>, tensor<1x1x34xf32>, tensor<1x2x405xf32>, tensor<1x1x405xf32>
}
