// RUN: ingot-opt %s --nn-to-channels-last | FileCheck %s
// RUN: ingot-opt %s --nn-to-channels-last --remarks-filter-analyse=decision 2>&1 >/dev/null | FileCheck %s --check-prefix=DECISION
// Results are tested by nn-propagate-transposes.py.

// DECISION-DAG: nn.conv {{.*}} Decision="#ingot.decision<layout, "channels last", [<"channels last">, <"channels first">], "has spatial dimensions">", Sizes=?x4x?x6
// CHECK-LABEL: func.func @conv
// CHECK: %[[X:.*]] = nn.transpose %{{.*}} {perm = array<i64: 0, 2, 3, 1>} : tensor<?x3x8x?xf32> -> tensor<?x8x?x3xf32>
// CHECK: %[[Y:.*]] = nn.conv %[[X]], %{{.*}} {channels_last, {{.*}} -> tensor<?x4x?x6xf32>
// CHECK: nn.transpose %[[Y]] {perm = array<i64: 0, 3, 1, 2>} : tensor<?x4x?x6xf32> -> tensor<?x6x4x?xf32>
func.func @conv(%x: tensor<?x3x8x?xf32>, %w: tensor<6x3x3x3xf32>) -> tensor<?x6x4x?xf32> {
  %0 = nn.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64}
    : (tensor<?x3x8x?xf32>, tensor<6x3x3x3xf32>) -> tensor<?x6x4x?xf32>
  return %0 : tensor<?x6x4x?xf32>
}

// Normalization of rows has no spatial dimensions to move.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: nn.transpose
func.func @rows(%x: tensor<4x3xf32>, %c: tensor<3xf32>) -> tensor<4x3xf32> {
  %0 = nn.batch_norm %x, %c, %c, %c, %c {epsilon = 1.0e-5 : f32}
    : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// Many groups of a few channels each; the number of channels is dynamic.
// DECISION-DAG: nn.conv {{.*}} Decision="#ingot.decision<layout, "channels first", [<"channels last">, <"channels first">], "has many groups, with an open number of channels">", Sizes=?x?x6x?
// CHECK-LABEL: func.func @open_groups
// CHECK-NOT: nn.transpose
func.func @open_groups(%x: tensor<?x?x8x?xf32>, %w: tensor<?x?x3x3xf32>) -> tensor<?x?x6x?xf32> {
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 16 : i64}
    : (tensor<?x?x8x?xf32>, tensor<?x?x3x3xf32>) -> tensor<?x?x6x?xf32>
  return %0 : tensor<?x?x6x?xf32>
}

// CHECK-LABEL: func.func @few_open_groups
// CHECK: nn.transpose
func.func @few_open_groups(%x: tensor<?x?x8x?xf32>, %w: tensor<?x?x3x3xf32>) -> tensor<?x?x6x?xf32> {
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 2 : i64}
    : (tensor<?x?x8x?xf32>, tensor<?x?x3x3xf32>) -> tensor<?x?x6x?xf32>
  return %0 : tensor<?x?x6x?xf32>
}

// Must not fire: already channels last.
// CHECK-LABEL: func.func @last
// CHECK-NOT: nn.transpose
func.func @last(%x: tensor<1x8x3xf32>) -> tensor<1x4x3xf32> {
  %0 = nn.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, channels_last}
    : tensor<1x8x3xf32> -> tensor<1x4x3xf32>
  return %0 : tensor<1x4x3xf32>
}

// A convolution of known sizes has estimates. Those of loops are larger.
// DECISION-DAG: nn.conv {{.*}} Decision="#ingot.decision<layout, "channels last", [<"channels last", cycles = {{[0-9]+}}>, <"channels first", cycles = {{[0-9]+}}>], "has spatial dimensions">", Sizes=1x8x8x32
// CHECK-LABEL: func.func @known_sizes
// CHECK: nn.transpose
func.func @known_sizes(%x: tensor<1x16x8x8xf32>, %w: tensor<32x16x3x3xf32>) -> tensor<1x32x8x8xf32> {
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64}
    : (tensor<1x16x8x8xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x8x8xf32>
  return %0 : tensor<1x32x8x8xf32>
}
