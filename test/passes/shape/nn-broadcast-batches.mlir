// RUN: ingot-opt %s -nn-broadcast-batches -split-input-file -verify-diagnostics | FileCheck %s

// Only the run knows if a batch of one is broadcast.

// CHECK-LABEL: @open
// CHECK: %[[SIZE:.*]] = arith.select
// CHECK: %[[A:.*]] = nn.broadcast_to %arg0 sizes(%[[SIZE]])
// CHECK: %[[B:.*]] = nn.broadcast_to %arg1 sizes(%[[SIZE]])
// CHECK: nn.matmul %[[A]], %[[B]]
func.func @open(%a: tensor<?x2x3xf32>, %b: tensor<?x3x4xf32>) -> tensor<?x2x4xf32> {
  %y = nn.matmul %a, %b : (tensor<?x2x3xf32>, tensor<?x3x4xf32>) -> tensor<?x2x4xf32>
  return %y : tensor<?x2x4xf32>
}

// -----

// CHECK-LABEL: @against_number
// CHECK: nn.broadcast_to %arg0 :  tensor<?x2x3xf32> -> tensor<5x2x3xf32>
func.func @against_number(%a: tensor<?x2x3xf32>, %b: tensor<5x3x4xf32>) -> tensor<5x2x4xf32> {
  %y = nn.matmul %a, %b : (tensor<?x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
  return %y : tensor<5x2x4xf32>
}

// -----

// A dimension is equal to itself; a missing one or 1 is always broadcast.

// CHECK-LABEL: @known
// CHECK-NOT: nn.broadcast_to
func.func @known(%a: tensor<?x2x3xf32>, %b: tensor<?x3x4xf32>, %c: tensor<4x5xf32>, %d: tensor<1x5x6xf32>) -> tensor<?x2x6xf32> {
  %t = nn.transpose %a {perm = array<i64: 0, 2, 1>} : tensor<?x2x3xf32> -> tensor<?x3x2xf32>
  %s = nn.matmul %a, %t : (tensor<?x2x3xf32>, tensor<?x3x2xf32>) -> tensor<?x2x2xf32>
  %u = nn.matmul %s, %a : (tensor<?x2x2xf32>, tensor<?x2x3xf32>) -> tensor<?x2x3xf32>
  %w = arith.constant dense<1.0> : tensor<3x4xf32>
  %v = nn.matmul %u, %w : (tensor<?x2x3xf32>, tensor<3x4xf32>) -> tensor<?x2x4xf32>
  %x = nn.matmul %v, %c : (tensor<?x2x4xf32>, tensor<4x5xf32>) -> tensor<?x2x5xf32>
  %y = nn.matmul %x, %d : (tensor<?x2x5xf32>, tensor<1x5x6xf32>) -> tensor<?x2x6xf32>
  return %y : tensor<?x2x6xf32>
}

// -----

// A bias of dynamic size may be broadcast.

// CHECK-LABEL: @bias
// CHECK: %[[Y:.*]] = nn.matmul %arg0, %arg1 :
// CHECK: nn.add %[[Y]], %arg2
func.func @bias(%a: tensor<?x3xf32>, %b: tensor<3x4xf32>, %c: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %y = nn.matmul %a, %b bias(%c) : (tensor<?x3xf32>, tensor<3x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

func.func @never(%a: tensor<?x4xf32>) -> tensor<?x3xf32> {
  %t = tensor.cast %a : tensor<?x4xf32> to tensor<?x?xf32>
  // expected-error@+1 {{dimension 1 of the result is 4, but 3 was inferred}}
  %y = nn.relu %t : tensor<?x?xf32> -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
