// RUN: ingot-opt %s -nn-drop-identities -split-input-file | FileCheck %s

// Heads that are repeated once, and a reshape to the existing shape.

// CHECK-LABEL: @same
// CHECK-SAME: (%[[X:.*]]: tensor<?x4x?xf32>)
// CHECK-NOT: nn.broadcast_to
// CHECK-NOT: tensor.reshape
// CHECK: %[[Y:.*]] = nn.relu %[[X]]
// CHECK: return %[[Y]]
func.func @same(%x: tensor<?x4x?xf32>) -> tensor<?x4x?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %x, %c0 : tensor<?x4x?xf32>
  %m = tensor.dim %x, %c2 : tensor<?x4x?xf32>
  %0 = nn.broadcast_to %x sizes(%n, %m) : tensor<?x4x?xf32> -> tensor<?x4x?xf32>
  %sizes = tensor.from_elements %n, %c4, %m : tensor<3xindex>
  %1 = tensor.reshape %0(%sizes) : (tensor<?x4x?xf32>, tensor<3xindex>) -> tensor<?x4x?xf32>
  %2 = nn.relu %1 : tensor<?x4x?xf32> -> tensor<?x4x?xf32>
  return %2 : tensor<?x4x?xf32>
}

// -----

// Must not fire: a batch of one may be broadcast; rows may become columns; a size may become static.

// CHECK-LABEL: @others
// CHECK: nn.broadcast_to
// CHECK: tensor.reshape
// CHECK: nn.broadcast_to {{.*}} : tensor<?x?xf32> -> tensor<3x?xf32>
func.func @others(%x: tensor<?x?xf32>, %n: index) -> tensor<3x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tensor.dim %x, %c0 : tensor<?x?xf32>
  %b = tensor.dim %x, %c1 : tensor<?x?xf32>
  %0 = nn.broadcast_to %x sizes(%n, %b) : tensor<?x?xf32> -> tensor<?x?xf32>
  %sizes = tensor.from_elements %b, %n : tensor<2xindex>
  %1 = tensor.reshape %0(%sizes) : (tensor<?x?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %2 = nn.broadcast_to %1 sizes(%n) : tensor<?x?xf32> -> tensor<3x?xf32>
  return %2 : tensor<3x?xf32>
}
