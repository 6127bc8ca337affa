// RUN: ingot-opt-null --null-to-linalg %s | FileCheck %s

// The device does not exist, so the CPU computes its kernels. The metadata says how many there are.
// CHECK: module attributes {ingot.metadata = {author = "me", ingot.nowhere = "2 kernels"}}
// CHECK-LABEL: func.func @forward
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel"]
// CHECK: arith.maximumf
// CHECK: linalg.generic
// CHECK-NOT: null.relu
module attributes {ingot.metadata = {author = "me"}} {
func.func @forward(%x: memref<2x?xf32>, %y: memref<2x?xf32>) {
  null.relu ins(%x : memref<2x?xf32>) outs(%y : memref<2x?xf32>)
  null.relu ins(%y : memref<2x?xf32>) outs(%y : memref<2x?xf32>)
  return
}
}
