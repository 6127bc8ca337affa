// RUN: ingot-opt --nn-to-linalg --split-input-file %s | FileCheck %s

// A few elements are inserted at their rank. A block of 32 elements is visited
// only if one of them is better than the worst that is kept.
// CHECK-LABEL: @few
func.func @few(%x: tensor<2x90xui8>) -> (tensor<2x3xui8>, tensor<2x3xi64>) {
  // CHECK-NOT: tensor<256xi64>
  // CHECK: %[[ITEMS:.*]] = tensor.empty() : tensor<4xi64>
  // CHECK: scf.for
  // CHECK: scf.for %{{.*}} = %{{.*}} to %[[N:.*]] step %{{.*}} iter_args
  // CHECK: scf.for {{.*}} -> (i1)
  // CHECK-NEXT: arith.addi
  // CHECK-NEXT: %[[X:.*]] = tensor.extract %{{.*}} : tensor<2x90xi8>
  // CHECK-NEXT: %[[BETTER:.*]] = arith.cmpi ugt, %[[X]]
  // CHECK-NEXT: arith.ori
  // CHECK-NEXT: scf.yield
  // CHECK: arith.extui %{{.*}} : i8 to i16
  // CHECK: arith.cmpi ule, %{{.*}} : i64
  %0, %1 = nn.top_k %x {axis = 1 : i64, k = 3 : i64} : tensor<2x90xui8> -> tensor<2x3xui8>, tensor<2x3xi64>
  return %0, %1 : tensor<2x3xui8>, tensor<2x3xi64>
}

// -----

// More elements are collected in a buffer of twice the room, until it is
// radix-sorted by their keys. Rows lie along the axis.
// CHECK-LABEL: @many
func.func @many(%x: tensor<2000x3xf32>) -> (tensor<200x3xf32>, tensor<200x3xi64>) {
  // CHECK: linalg.generic
  // CHECK-SAME: ins(%arg0 : tensor<2000x3xf32>) outs(%{{.*}} : tensor<3x2000xf32>)
  // CHECK: tensor.empty() : tensor<688xi64>
  // CHECK: tensor.empty() : tensor<688xi64>
  // CHECK: tensor.empty() : tensor<256xi64>
  // CHECK: arith.cmpf ult
  // CHECK: arith.cmpf uno
  // CHECK: arith.bitcast %{{.*}} : f32 to i32
  // CHECK: linalg.generic
  // CHECK-SAME: outs(%{{.*}} : tensor<200x3xf32>)
  // CHECK: linalg.generic
  // CHECK-SAME: outs(%{{.*}} : tensor<200x3xi64>)
  %0, %1 = nn.top_k %x {axis = 0 : i64, k = 200 : i64, smallest} : tensor<2000x3xf32> -> tensor<200x3xf32>, tensor<200x3xi64>
  return %0, %1 : tensor<200x3xf32>, tensor<200x3xi64>
}

// -----

// The run selects one of both. Elements of 64 bits are looked up.
// CHECK-LABEL: @open
func.func @open(%x: tensor<?xf64>, %n: index) -> (tensor<?xf64>, tensor<?xi64>) {
  // CHECK: %[[FEW:.*]] = arith.cmpi sle, %{{.*}}, %c16
  // CHECK: %[[MANY:.*]] = arith.cmpi sgt, %{{.*}}, %c16
  // CHECK: %[[ONE:.*]] = arith.select %[[FEW]], %c1{{.*}}, %c0
  // CHECK: scf.for %{{.*}} = %c0{{.*}} to %[[ONE]]
  // CHECK: %[[OTHER:.*]] = arith.select %[[MANY]], %c1{{.*}}, %c0
  // CHECK: scf.for %{{.*}} = %c0{{.*}} to %[[OTHER]]
  // CHECK: arith.bitcast %{{.*}} : f64 to i64
  %0, %1 = nn.top_k %x count(%n) {axis = 0 : i64, k = 500 : i64} : tensor<?xf64> -> tensor<?xf64>, tensor<?xi64>
  return %0, %1 : tensor<?xf64>, tensor<?xi64>
}
