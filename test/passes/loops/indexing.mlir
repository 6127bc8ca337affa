// RUN: ingot-opt --nn-to-linalg %s | FileCheck %s

// For any indices, nothing outside of the data is read or written. The run ends
// if an index is out of range: the smallest and the largest index are checked.

// CHECK-LABEL: @gather
// CHECK: %[[RANGE:.*]]:2 = linalg.generic {{.*}} iterator_types = ["reduction", "reduction"]} ins(%arg1
// CHECK: %[[LEAST:.*]] = tensor.extract %[[RANGE]]#0[]
// CHECK: %[[GREATEST:.*]] = tensor.extract %[[RANGE]]#1[]
// CHECK: arith.cmpi sge, %[[LEAST]]
// CHECK: arith.cmpi slt, %[[GREATEST]]
// CHECK: ingot.require %{{.*}}, "an index is outside of [-5, 4]"
// CHECK: linalg.generic
// CHECK: tensor.extract %arg1
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: tensor.extract %arg0
func.func @gather(%x: tensor<5x4xf32>, %i: tensor<2x3xi64>) -> tensor<2x3x4xf32> {
  %0 = nn.gather %x, %i {axis = 0 : i64} : (tensor<5x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// Each byte is one of 256: no check.
// CHECK-LABEL: @look_up
// CHECK-NOT: ingot.require
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<2x?xi8>) outs(%{{.*}} : tensor<2x?xi8>)
// CHECK-NEXT: ^bb0(%[[BYTE:.*]]: i8, %{{.*}}: i8):
// CHECK-NEXT: %[[AT:.*]] = arith.index_castui %[[BYTE]] : i8 to index
// CHECK-NEXT: %[[ENTRY:.*]] = tensor.extract %{{.*}}[%[[AT]]] : tensor<256xi8>
// CHECK-NEXT: linalg.yield %[[ENTRY]] : i8
func.func @look_up(%t: tensor<256xui8>, %i: tensor<2x?xui8>) -> tensor<2x?xui8> {
  %0 = nn.gather %t, %i {axis = 0 : i64} : (tensor<256xui8>, tensor<2x?xui8>) -> tensor<2x?xui8>
  return %0 : tensor<2x?xui8>
}

// CHECK-LABEL: @gather_nd
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]} ins(%arg1
// CHECK: ingot.require %{{.*}}, "an index is outside of [-5, 4]"
// CHECK: ingot.require %{{.*}}, "an index is outside of [-4, 3]"
// CHECK: linalg.generic
// CHECK-COUNT-2: tensor.extract %arg1
// CHECK: tensor.extract %arg0
func.func @gather_nd(%x: tensor<5x4xf32>, %i: tensor<3x2xi64>) -> tensor<3xf32> {
  %0 = nn.gather_nd %x, %i {batch_dims = 0 : i64} : (tensor<5x4xf32>, tensor<3x2xi64>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// Updates are applied in order: the last one for an element counts.
// CHECK-LABEL: @scatter_elements
// CHECK: ingot.require
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

// If a run may have an empty table, nothing is read from it.
// CHECK-LABEL: @gather_dynamic
// CHECK-NOT: linalg.generic
// CHECK-COUNT-2: tensor.extract %arg1
// CHECK: ingot.require %{{.*}}, "an index is outside of the dimension it is for"
// CHECK: linalg.generic
// CHECK: arith.cmpi sgt
// CHECK: scf.if
// CHECK: tensor.extract %arg0
// CHECK: else
// CHECK: arith.constant 0.0
func.func @gather_dynamic(%x: tensor<?x4xf32>, %i: tensor<2xi64>) -> tensor<2x4xf32> {
  %0 = nn.gather %x, %i {axis = 0 : i64} : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// Positions along static dimensions fit and are not checked; those along dynamic ones are clamped.
// CHECK-LABEL: @gather_elements
// CHECK: ingot.require
// CHECK-COUNT-1: arith.minsi
// CHECK-NOT: arith.minsi
// CHECK: return
func.func @gather_elements(%x: tensor<5x4xf32>, %i: tensor<2x4xi64>) -> tensor<2x4xf32> {
  %0 = nn.gather_elements %x, %i {axis = 0 : i64} : (tensor<5x4xf32>, tensor<2x4xi64>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: @gather_elements_dynamic
// CHECK: ingot.require
// CHECK-COUNT-2: arith.minsi
// CHECK: return
func.func @gather_elements_dynamic(%x: tensor<5x4xf32>, %i: tensor<2x?xi64>) -> tensor<2x?xf32> {
  %0 = nn.gather_elements %x, %i {axis = 0 : i64} : (tensor<5x4xf32>, tensor<2x?xi64>) -> tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// Constants need no check in the run, unless the dimension is dynamic. The
// message names the node.
// CHECK-LABEL: @gather_constant
// CHECK-NOT: ingot.require
// CHECK: return
// CHECK-LABEL: @gather_constant_of_dynamic
// CHECK: ingot.require %{{.*}}, "node 'look': an index is outside
// CHECK: return
func.func @gather_constant(%x: tensor<5x4xf32>) -> tensor<6x4xf32> {
  %i = arith.constant dense<[0, 1, -5, 4, -1, 2]> : tensor<6xi64>
  %0 = nn.gather %x, %i {axis = 0 : i64} : (tensor<5x4xf32>, tensor<6xi64>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
func.func @gather_constant_of_dynamic(%x: tensor<?x4xf32>) -> tensor<6x4xf32> {
  %i = arith.constant dense<[0, 1, -5, 4, -1, 2]> : tensor<6xi64>
  %0 = nn.gather %x, %i {axis = 0 : i64} : (tensor<?x4xf32>, tensor<6xi64>) -> tensor<6x4xf32> loc("look")
  return %0 : tensor<6x4xf32>
}
