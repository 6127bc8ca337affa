// RUN: ingot-opt %s | ingot-opt | FileCheck %s
// The road every other lit test stands on: ingot-opt reads, verifies and prints.

// CHECK-LABEL: func.func @forward
func.func @forward(%x: tensor<?x3xf32> {ingot.name = "x"}) -> tensor<?x3xf32> {
  // CHECK: return %{{.*}} : tensor<?x3xf32>
  return %x : tensor<?x3xf32>
}
