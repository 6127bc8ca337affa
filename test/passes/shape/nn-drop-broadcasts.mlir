// RUN: ingot-opt %s -nn-drop-broadcasts -split-input-file | FileCheck %s

// The weight of each channel for all pixels; the operand of lower rank if both
// are rows; one of two users needs all copies.

// CHECK-LABEL: @channels
// CHECK-SAME: (%[[X:.*]]: tensor<1x8x5x6xf32>, %[[G:.*]]: tensor<1x8x1x1xf32>, %[[R:.*]]: tensor<6xf32>)
// CHECK: %[[ALL:.*]] = nn.broadcast_to %[[G]]
// CHECK: %[[A:.*]] = nn.mul %[[X]], %[[G]] : tensor<1x8x5x6xf32>, tensor<1x8x1x1xf32> -> tensor<1x8x5x6xf32>
// CHECK: %[[B:.*]] = nn.add %[[R]], %[[A]] : tensor<6xf32>, tensor<1x8x5x6xf32> -> tensor<1x8x5x6xf32>
// CHECK: return %[[B]], %[[ALL]]
func.func @channels(%x: tensor<1x8x5x6xf32>, %g: tensor<1x8x1x1xf32>, %r: tensor<6xf32>) -> (tensor<1x8x5x6xf32>, tensor<1x8x5x6xf32>) {
  %0 = nn.broadcast_to %g : tensor<1x8x1x1xf32> -> tensor<1x8x5x6xf32>
  %1 = nn.mul %x, %0 : tensor<1x8x5x6xf32>, tensor<1x8x5x6xf32> -> tensor<1x8x5x6xf32>
  %2 = nn.broadcast_to %r : tensor<6xf32> -> tensor<1x8x5x6xf32>
  %3 = nn.add %2, %1 : tensor<1x8x5x6xf32>, tensor<1x8x5x6xf32> -> tensor<1x8x5x6xf32>
  return %3, %0 : tensor<1x8x5x6xf32>, tensor<1x8x5x6xf32>
}

// -----

// Dynamic sizes that are those of the other operand.

// CHECK-LABEL: @open
// CHECK-SAME: (%[[X:.*]]: tensor<?x8x?xf32>, %[[G:.*]]: tensor<?x8x1xf32>)
// CHECK-NOT: nn.broadcast_to
// CHECK: nn.mul %[[X]], %[[G]] : tensor<?x8x?xf32>, tensor<?x8x1xf32> -> tensor<?x8x?xf32>
func.func @open(%x: tensor<?x8x?xf32>, %g: tensor<?x8x1xf32>) -> tensor<?x8x?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?x8x?xf32>
  %m = tensor.dim %x, %c2 : tensor<?x8x?xf32>
  %0 = nn.broadcast_to %g sizes(%n, %m) : tensor<?x8x1xf32> -> tensor<?x8x?xf32>
  %1 = nn.mul %x, %0 : tensor<?x8x?xf32>, tensor<?x8x?xf32> -> tensor<?x8x?xf32>
  return %1 : tensor<?x8x?xf32>
}

// -----

// A row and a column broadcast each other. Of two equal rows, one is broadcast
// for both. Must not fire for dynamic sizes and ops that are not elementwise.

// CHECK-LABEL: @others
// CHECK-SAME: (%[[A:[a-z0-9]+]]: tensor<1x5xf32>, %[[B:[a-z0-9]+]]: tensor<4x1xf32>, %[[C:[a-z0-9]+]]: tensor<?xf32>
// CHECK: nn.mul %[[A]], %[[B]] : tensor<1x5xf32>, tensor<4x1xf32> -> tensor<4x5xf32>
// CHECK: %[[ROWS:.*]] = nn.broadcast_to %[[A]] : tensor<1x5xf32> -> tensor<4x5xf32>
// CHECK: nn.sub %[[A]], %[[ROWS]] : tensor<1x5xf32>, tensor<4x5xf32> -> tensor<4x5xf32>
// CHECK: nn.broadcast_to %[[C]]
// CHECK: nn.add
// CHECK: nn.broadcast_to %[[A]]
// CHECK: nn.transpose
func.func @others(%a: tensor<1x5xf32>, %b: tensor<4x1xf32>, %c: tensor<?xf32>, %d: tensor<?xf32>, %n: index)
    -> (tensor<4x5xf32>, tensor<4x5xf32>, tensor<?xf32>, tensor<5x4xf32>) {
  %0 = nn.broadcast_to %a : tensor<1x5xf32> -> tensor<4x5xf32>
  %1 = nn.broadcast_to %b : tensor<4x1xf32> -> tensor<4x5xf32>
  %2 = nn.mul %0, %1 : tensor<4x5xf32>, tensor<4x5xf32> -> tensor<4x5xf32>
  %3 = nn.broadcast_to %a : tensor<1x5xf32> -> tensor<4x5xf32>
  %4 = nn.broadcast_to %a : tensor<1x5xf32> -> tensor<4x5xf32>
  %5 = nn.sub %3, %4 : tensor<4x5xf32>, tensor<4x5xf32> -> tensor<4x5xf32>
  %6 = nn.broadcast_to %c sizes(%n) : tensor<?xf32> -> tensor<?xf32>
  %7 = nn.add %6, %d : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  %8 = nn.broadcast_to %a : tensor<1x5xf32> -> tensor<4x5xf32>
  %9 = nn.transpose %8 {perm = array<i64: 1, 0>} : tensor<4x5xf32> -> tensor<5x4xf32>
  return %2, %5, %7, %9 : tensor<4x5xf32>, tensor<4x5xf32>, tensor<?xf32>, tensor<5x4xf32>
}
