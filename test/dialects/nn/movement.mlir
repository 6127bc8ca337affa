// RUN: ingot-opt %s | ingot-opt | FileCheck %s
// RUN: ingot-opt %s --mlir-print-op-generic | ingot-opt | FileCheck %s
// Data movement, printed and parsed.

// CHECK-LABEL: func.func @shape
func.func @shape(%x: tensor<?x3x4xf32>, %n: index) {
  // CHECK: nn.transpose %{{.*}} {perm = array<i64: 2, 0, 1>}
  %0 = nn.transpose %x {perm = array<i64: 2, 0, 1>} : tensor<?x3x4xf32> -> tensor<4x?x3xf32>
  // CHECK: nn.reshape
  %1 = nn.reshape %x : tensor<?x3x4xf32> -> tensor<?x12xf32>
  // CHECK: nn.broadcast_to %{{.*}} sizes(%{{.*}}, %{{.*}})
  %2 = nn.broadcast_to %x sizes(%n, %n) : tensor<?x3x4xf32> -> tensor<?x?x3x4xf32>
  // CHECK: nn.concat
  %3 = nn.concat %x, %x {axis = 1 : i64} : (tensor<?x3x4xf32>, tensor<?x3x4xf32>) -> tensor<?x6x4xf32>
  // CHECK: nn.slice
  %4 = nn.slice %x {starts = array<i64: 0, 2, 1>, sizes = array<i64: -1, 3, 2>, steps = array<i64: 1, -1, 2>}
    : tensor<?x3x4xf32> -> tensor<?x3x2xf32>
  return
}

// CHECK-LABEL: func.func @pad
func.func @pad(%x: tensor<2x?xf32>, %v: tensor<f32>) {
  // CHECK: nn.pad constant %{{.*}} value(%{{.*}})
  %0 = nn.pad constant %x value(%v) {low = array<i64: 1, 2>, high = array<i64: -1, 0>} : (tensor<2x?xf32>, tensor<f32>) -> tensor<2x?xf32>
  // CHECK: nn.pad reflect
  %1 = nn.pad reflect %x {low = array<i64: 1, 0>, high = array<i64: 0, 0>} : (tensor<2x?xf32>) -> tensor<3x?xf32>
  // CHECK: nn.pad edge
  %2 = nn.pad edge %x {low = array<i64: 1, 0>, high = array<i64: 0, 0>} : (tensor<2x?xf32>) -> tensor<3x?xf32>
  // CHECK: nn.pad wrap
  %3 = nn.pad wrap %x {low = array<i64: 1, 0>, high = array<i64: 0, 0>} : (tensor<2x?xf32>) -> tensor<3x?xf32>
  return
}

// CHECK-LABEL: func.func @indices
func.func @indices(%x: tensor<3x4x?xf32>, %i: tensor<2x5xi64>, %e: tensor<3x2x?xi32>, %t: tensor<3x6x1xi64>, %u: tensor<3x2x?xf32>,
                   %v: tensor<3x6x4x?xf32>) {
  // CHECK: nn.gather %{{.*}}, %{{.*}} {axis = 1 : i64} : {{.*}} -> tensor<3x2x5x?xf32>
  %0 = nn.gather %x, %i {axis = 1 : i64} : (tensor<3x4x?xf32>, tensor<2x5xi64>) -> tensor<3x2x5x?xf32>
  // CHECK: nn.gather_elements
  %1 = nn.gather_elements %x, %e {axis = 1 : i64} : (tensor<3x4x?xf32>, tensor<3x2x?xi32>) -> tensor<3x2x?xf32>
  // CHECK: nn.gather_nd {{.*}} -> tensor<3x6x?xf32>
  %2 = nn.gather_nd %x, %t {batch_dims = 1 : i64} : (tensor<3x4x?xf32>, tensor<3x6x1xi64>) -> tensor<3x6x?xf32>
  // CHECK: nn.scatter_elements add
  %3 = nn.scatter_elements add %x, %e, %u {axis = 1 : i64} : (tensor<3x4x?xf32>, tensor<3x2x?xi32>, tensor<3x2x?xf32>) -> tensor<3x4x?xf32>
  // CHECK: nn.scatter_nd none
  %4 = nn.scatter_nd none %x, %t, %v : (tensor<3x4x?xf32>, tensor<3x6x1xi64>, tensor<3x6x4x?xf32>) -> tensor<3x4x?xf32>
  // CHECK: nn.cumsum %{{.*}} {axis = 1 : i64, exclusive, reverse}
  %5 = nn.cumsum %x {axis = 1 : i64, exclusive, reverse} : tensor<3x4x?xf32> -> tensor<3x4x?xf32>
  // CHECK: nn.top_k {{.*}} -> tensor<3x2x?xf32>, tensor<3x2x?xi64>
  %6:2 = nn.top_k %x {k = 2 : i64, axis = 1 : i64, smallest} : tensor<3x4x?xf32> -> tensor<3x2x?xf32>, tensor<3x2x?xi64>
  return
}

// CHECK-LABEL: func.func @resize
func.func @resize(%x: tensor<1x3x?x4xf32>) {
  // CHECK: nn.resize cubic %{{.*}} {coordinates = {{.*}}, cubic_coeff_a = -5.000000e-01 : f32, exclude_outside
  %0 = "nn.resize"(%x) <{mode = 2 : i32, scales = array<f32: 1.0, 1.0, 2.0, 0.5>, coordinates = 0 : i32, nearest_mode = 0 : i32, cubic_coeff_a = -0.5 : f32, exclude_outside, operandSegmentSizes = array<i32: 1, 0, 0>}>
    : (tensor<1x3x?x4xf32>) -> tensor<1x3x?x2xf32>
  return
}

// A dimension whose size and scale a run computes.
// CHECK-LABEL: func.func @resize_antialias
func.func @resize_antialias(%x: tensor<3x?x4xf32>, %size: index, %factor: f32) {
  // CHECK: nn.resize linear %{{.*}} sizes(%{{.*}}) factors(%{{.*}}) {antialias, coordinates
  %0 = nn.resize linear %x sizes(%size) factors(%factor) {antialias, coordinates = 0 : i32, nearest_mode = 0 : i32, scales = array<f32: 1.0, 0.0, 1.0>} : tensor<3x?x4xf32> -> tensor<3x?x4xf32>
  return
}

// CHECK-LABEL: func.func @resize_computed
func.func @resize_computed(%x: tensor<1x3x?x4xf32>, %size: index, %factor: f32) {
  // CHECK: nn.resize nearest %{{.*}} sizes(%{{.*}}) factors(%{{.*}}) {coordinates = {{.*}}scales = array<f32: 1.000000e+00, 1.000000e+00, 0.000000e+00, 5.000000e-01>}
  %0 = nn.resize nearest %x sizes(%size) factors(%factor) {coordinates = 0 : i32, nearest_mode = 0 : i32, scales = array<f32: 1.0, 1.0, 0.0, 0.5>} : tensor<1x3x?x4xf32> -> tensor<1x3x?x2xf32>
  return
}
