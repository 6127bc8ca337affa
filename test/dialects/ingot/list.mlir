// RUN: ingot-opt --split-input-file %s | ingot-opt --split-input-file | FileCheck %s

// CHECK: ingot.poll
// CHECK: %[[L:.*]] = ingot.list
// CHECK: ingot.append %[[L]], %arg0, "rows differ" : tensor<2x?xf32>
// CHECK: ingot.stack %[[L]] : tensor<?x2x?xf32>
func.func @rows(%x: tensor<2x?xf32>) -> tensor<?x2x?xf32> {
  ingot.poll
  %l = ingot.list
  ingot.append %l, %x, "rows differ" : tensor<2x?xf32>
  %y = ingot.stack %l : tensor<?x2x?xf32>
  return %y : tensor<?x2x?xf32>
}

// -----

// CHECK: ingot.append %{{.*}}, %arg0, "" : memref<4xf32, strided<[2]>>
// CHECK: ingot.stack %{{.*}} : memref<?x4xf32>
func.func @buffers(%x: memref<4xf32, strided<[2]>>) -> memref<?x4xf32> {
  %l = ingot.list
  ingot.append %l, %x, "" : memref<4xf32, strided<[2]>>
  %y = ingot.stack %l : memref<?x4xf32>
  return %y : memref<?x4xf32>
}
