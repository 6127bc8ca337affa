// RUN: ingot-opt %s --nn-patches-to-matmul | FileCheck %s
// RUN: ingot-opt %s --nn-patches-to-matmul=bytes-only=true | FileCheck %s --check-prefix=BYTES
// RUN: ingot-opt %s --nn-patches-to-matmul --remarks-filter-analyse=decision 2>&1 >/dev/null | FileCheck %s --check-prefix=DECISION

// Pixels behind the last windows are cropped.
// DECISION-DAG: nn.conv {{.*}} Decision="#ingot.decision<layout, "rows of patches", [<"channels last", cycles = {{[0-9]+}}>, <"rows of patches", cycles = {{[0-9]+}}>], "has few channels, and windows that lie side by side">", Sizes=2x5x2x3
// CHECK-LABEL: @pictures
// CHECK: %[[X:.*]] = nn.slice %arg0 {sizes = array<i64: 2, 3, 8, 12>, starts = array<i64: 0, 0, 0, 0>
// CHECK: %[[SPLIT:.*]] = nn.reshape %[[X]] : tensor<2x3x8x12xf32> -> tensor<2x3x2x4x3x4xf32>
// CHECK: %[[MOVED:.*]] = nn.transpose %[[SPLIT]] {perm = array<i64: 0, 2, 4, 1, 3, 5>}
// CHECK-SAME: -> tensor<2x2x3x3x4x4xf32>
// CHECK: %[[ROWS:.*]] = nn.reshape %[[MOVED]] : tensor<2x2x3x3x4x4xf32> -> tensor<2x6x48xf32>
// CHECK: %[[W:.*]] = nn.reshape %arg1 : tensor<5x3x4x4xf32> -> tensor<5x48xf32>
// CHECK: %[[Y:.*]] = nn.matmul %[[ROWS]], %[[W]] bias(%arg2) {transpose_b}
// CHECK-SAME: -> tensor<2x6x5xf32>
// CHECK: %[[PIXELS:.*]] = nn.reshape %[[Y]] : tensor<2x6x5xf32> -> tensor<2x2x3x5xf32>
// CHECK: nn.transpose %[[PIXELS]] {perm = array<i64: 0, 3, 1, 2>} : tensor<2x2x3x5xf32> -> tensor<2x5x2x3xf32>
// BYTES-LABEL: @pictures
// BYTES: nn.conv
func.func @pictures(%x: tensor<2x3x9x12xf32>, %w: tensor<5x3x4x4xf32>, %b: tensor<5xf32>) -> tensor<2x5x2x3xf32> {
  %y = nn.conv %x, %w bias(%b) {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 4, 4>} : (tensor<2x3x9x12xf32>, tensor<5x3x4x4xf32>, tensor<5xf32>) -> tensor<2x5x2x3xf32>
  return %y : tensor<2x5x2x3xf32>
}

// A dynamic batch, one dimension, and dequantized bytes.
// CHECK-LABEL: @dequantized
// CHECK: nn.slice {{.*}} {sizes = array<i64: -1, 1, 80>
// CHECK: nn.matmul {{.*}} : (tensor<?x2x40xf32>, tensor<8x40xf32>) -> tensor<?x2x8xf32>
// CHECK: nn.transpose {{.*}} : tensor<?x2x8xf32> -> tensor<?x8x2xf32>
// BYTES-LABEL: @dequantized
// BYTES: nn.matmul
func.func @dequantized(%q: tensor<?x1x100xui8>, %s: tensor<f32>, %w: tensor<8x1x40xf32>) -> tensor<?x8x2xf32> {
  %x = nn.dequantize %q, %s {axis = 0 : i64} : (tensor<?x1x100xui8>, tensor<f32>) -> tensor<?x1x100xf32>
  %y = nn.conv %x, %w {dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 0, 0>,
    strides = array<i64: 40>} : (tensor<?x1x100xf32>, tensor<8x1x40xf32>) -> tensor<?x8x2xf32>
  return %y : tensor<?x8x2xf32>
}

// Must not fire: many channels; few terms; overlapping windows; padding;
// dynamic sizes.
// CHECK-LABEL: @stays
// CHECK-NOT: nn.matmul
// CHECK: return
func.func @stays(%x: tensor<1x4x8x8xf32>, %u: tensor<1x3x8x8xf32>, %open: tensor<1x3x?x8xf32>, %v: tensor<2x4x4x4xf32>,
    %w: tensor<2x3x4x4xf32>, %few: tensor<2x3x2x2xf32>)
    -> (tensor<1x2x2x2xf32>, tensor<1x2x4x4xf32>, tensor<1x2x3x2xf32>, tensor<1x2x3x3xf32>, tensor<1x2x?x2xf32>) {
  %0 = nn.conv %x, %v {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 4, 4>} : (tensor<1x4x8x8xf32>, tensor<2x4x4x4xf32>) -> tensor<1x2x2x2xf32>
  %1 = nn.conv %u, %few {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 2, 2>} : (tensor<1x3x8x8xf32>, tensor<2x3x2x2xf32>) -> tensor<1x2x4x4xf32>
  %2 = nn.conv %u, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 2, 4>} : (tensor<1x3x8x8xf32>, tensor<2x3x4x4xf32>) -> tensor<1x2x3x2xf32>
  %3 = nn.conv %u, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 2, 2, 2, 2>,
    strides = array<i64: 4, 4>} : (tensor<1x3x8x8xf32>, tensor<2x3x4x4xf32>) -> tensor<1x2x3x3xf32>
  %4 = nn.conv %open, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 4, 4>} : (tensor<1x3x?x8xf32>, tensor<2x3x4x4xf32>) -> tensor<1x2x?x2xf32>
  return %0, %1, %2, %3, %4
    : tensor<1x2x2x2xf32>, tensor<1x2x4x4xf32>, tensor<1x2x3x2xf32>, tensor<1x2x3x3xf32>, tensor<1x2x?x2xf32>
}
