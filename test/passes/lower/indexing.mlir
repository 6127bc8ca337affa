// RUN: ingot-opt --nn-to-linalg %s | FileCheck %s

// Whatever the indices say, nothing outside of the data is read or written.

// CHECK-LABEL: @gather
// CHECK: linalg.generic
// CHECK: tensor.extract %arg1
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: tensor.extract %arg0
func.func @gather(%x: tensor<5x4xf32>, %i: tensor<2x3xi64>) -> tensor<2x3x4xf32> {
  %0 = nn.gather %x, %i {axis = 0 : i64} : (tensor<5x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// CHECK-LABEL: @gather_nd
// CHECK: linalg.generic
// CHECK-COUNT-2: tensor.extract %arg1
// CHECK: tensor.extract %arg0
func.func @gather_nd(%x: tensor<5x4xf32>, %i: tensor<3x2xi64>) -> tensor<3xf32> {
  %0 = nn.gather_nd %x, %i {batch_dims = 0 : i64} : (tensor<5x4xf32>, tensor<3x2xi64>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// Updates go one after another: the last of several for one place counts.
// CHECK-LABEL: @scatter_elements
// CHECK: scf.for
// CHECK: scf.for
// CHECK: arith.maxsi
// CHECK: tensor.insert
func.func @scatter_elements(%x: tensor<5x4xf32>, %i: tensor<2x3xi64>, %u: tensor<2x3xf32>) -> tensor<5x4xf32> {
  %0 = nn.scatter_elements none %x, %i, %u {axis = 0 : i64} : (tensor<5x4xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}

// CHECK-LABEL: @scatter_nd
// CHECK: %[[OLD:.*]] = tensor.extract %{{.*}} : tensor<5x4xi8>
// CHECK: arith.maxui %[[OLD]]
// CHECK: tensor.insert
func.func @scatter_nd(%x: tensor<5x4xui8>, %i: tensor<3x1xi64>, %u: tensor<3x4xui8>) -> tensor<5x4xui8> {
  %0 = nn.scatter_nd max %x, %i, %u : (tensor<5x4xui8>, tensor<3x1xi64>, tensor<3x4xui8>) -> tensor<5x4xui8>
  return %0 : tensor<5x4xui8>
}
