// RUN: ingot-opt --nn-to-linalg --split-input-file %s | FileCheck %s

// Narrow floats are summed in f32, and the mean is divided last.
// CHECK-LABEL: @mean
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf16>
func.func @mean(%x: tensor<?x8xf16>) -> tensor<?x1xf16> {
  // CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK: linalg.fill ins(%[[ZERO]] : f32) outs(%{{.*}} : tensor<?xf32>)
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]
  // CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : f16 to f32
  // CHECK: arith.addf %{{.*}}, %[[WIDE]] : f32
  // CHECK: arith.divf
  // CHECK: arith.truncf
  // CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1]] {{.*}} : tensor<?xf16> into tensor<?x1xf16>
  %0 = nn.reduce mean %x {axes = array<i64: 1>, keep_dims} : tensor<?x8xf16> -> tensor<?x1xf16>
  return %0 : tensor<?x1xf16>
}

// -----

// Unsigned integers are compared as such; the start is the smallest value.
// CHECK-LABEL: @unsigned_max
func.func @unsigned_max(%x: tensor<4x8xui8>) -> tensor<8xui8> {
  // CHECK: arith.constant 0 : i8
  // CHECK: arith.maxui
  %0 = nn.reduce max %x {axes = array<i64: 0>} : tensor<4x8xui8> -> tensor<8xui8>
  return %0 : tensor<8xui8>
}

// -----

// CHECK-LABEL: @signed_min
func.func @signed_min(%x: tensor<4x8xi8>) -> tensor<i8> {
  // CHECK: arith.constant 127 : i8
  // CHECK: arith.minsi
  %0 = nn.reduce min %x {axes = array<i64: 0, 1>} : tensor<4x8xi8> -> tensor<i8>
  return %0 : tensor<i8>
}

// -----

// Integers are averaged in 64 bits.
// CHECK-LABEL: @int_mean
func.func @int_mean(%x: tensor<4xi8>) -> tensor<i8> {
  // CHECK: arith.extsi %{{.*}} : i8 to i64
  // CHECK: arith.addi
  // CHECK: arith.divsi
  // CHECK: arith.trunci %{{.*}} : i64 to i8
  %0 = nn.reduce mean %x {axes = array<i64: 0>} : tensor<4xi8> -> tensor<i8>
  return %0 : tensor<i8>
}

// -----

// A first loop finds the largest element of a row, and a second loop finds its
// position. Floats are compared as integers of equal order; NaN is the largest.
// CHECK-LABEL: @arg_max(
func.func @arg_max(%x: tensor<2x20xf32>) -> tensor<2xi64> {
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel"]} outs(%{{.*}} : tensor<2xi64>)
  // CHECK: %[[ROW:.*]] = linalg.index 0
  // CHECK: %[[BEST:.*]] = scf.for {{.*}} -> (i32)
  // CHECK: %[[X:.*]] = tensor.extract %{{.*}}[%[[ROW]], %{{.*}}]
  // CHECK: %[[SUM:.*]] = arith.addf %[[X]], %{{.*}} : f32
  // CHECK: arith.bitcast %[[SUM]] : f32 to i32
  // CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[X]], %[[X]]
  // CHECK: %[[RANK:.*]] = arith.select %[[NAN]]
  // CHECK: arith.maxsi %{{.*}}, %[[RANK]] : i32
  // CHECK: scf.for {{.*}} -> (i32)
  // CHECK: arith.cmpi eq, %{{.*}}, %[[BEST]] : i32
  // CHECK: arith.minsi
  // CHECK: linalg.yield %{{.*}} : i64
  %0 = nn.arg_reduce max %x {axis = 1 : i64} : tensor<2x20xf32> -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// -----

// A long row is read in blocks. The last block ends with the row. Only the block
// with the best element is searched for the position.
// CHECK-LABEL: @arg_max_of_long_rows
func.func @arg_max_of_long_rows(%x: tensor<2x5000xui8>) -> tensor<2xi64> {
  // CHECK: %[[FOUND:.*]]:2 = scf.for {{.*}} -> (i8, index)
  // CHECK: %[[FIRST:.*]] = arith.minsi
  // CHECK: scf.for
  // CHECK: arith.maxui
  // CHECK: %[[WINS:.*]] = arith.cmpi ugt
  // CHECK: arith.select %[[WINS]], %[[FIRST]], %{{.*}} : index
  // CHECK: scf.for
  // CHECK: arith.addi %[[FOUND]]#1, %{{.*}}
  // CHECK: arith.cmpi eq, %{{.*}}, %[[FOUND]]#0 : i8
  %0 = nn.arg_reduce max %x {axis = 1 : i64} : tensor<2x5000xui8> -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// -----

// Rows of open length may be long. Dimensions of one element may follow them.
// CHECK-LABEL: @arg_max_of_open_rows
func.func @arg_max_of_open_rows(%x: tensor<?x?x1xf32>) -> tensor<?x1xi64> {
  // CHECK: scf.for {{.*}} -> (i32, index)
  // CHECK: tensor.extract %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}]
  %0 = nn.arg_reduce max %x {axis = 1 : i64} : tensor<?x?x1xf32> -> tensor<?x1xi64>
  return %0 : tensor<?x1xi64>
}

// -----

// Vectors of floats need no ranks.
// CHECK-LABEL: @arg_max_of_columns
func.func @arg_max_of_columns(%x: tensor<5x32xf32>) -> tensor<32xi64> {
  // CHECK: ^bb0(%[[X:.*]]: f32, %[[BEST:.*]]: f32, %{{.*}}: i64):
  // CHECK: %[[MORE:.*]] = arith.cmpf ugt, %[[X]], %[[BEST]]
  // CHECK: %[[NUMBER:.*]] = arith.cmpf ord, %[[BEST]], %[[BEST]]
  // CHECK: arith.andi %[[MORE]], %[[NUMBER]]
  %0 = nn.arg_reduce max %x {axis = 0 : i64} : tensor<5x32xf32> -> tensor<32xi64>
  return %0 : tensor<32xi64>
}

// -----

// The last of equal elements wins, and so does the last NaN.
// CHECK-LABEL: @arg_min_last_of_f64
func.func @arg_min_last_of_f64(%x: tensor<2x20xf64>) -> tensor<2xi64> {
  // CHECK: arith.bitcast %{{.*}} : f64 to i64
  // CHECK: scf.for
  // CHECK: arith.cmpi eq, %{{.*}} : i64
  // CHECK: arith.maxsi
  %0 = nn.arg_reduce min %x {axis = 1 : i64, select_last_index} : tensor<2x20xf64> -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// -----

// The last of equal elements also wins.
// CHECK-LABEL: @arg_min_last
func.func @arg_min_last(%x: tensor<2x5xi32>) -> tensor<2x1xi64> {
  // CHECK: arith.cmpi eq
  // CHECK: arith.maxsi
  // CHECK: tensor.expand_shape
  %0 = nn.arg_reduce min %x {axis = 1 : i64, keep_dims, select_last_index} : tensor<2x5xi32> -> tensor<2x1xi64>
  return %0 : tensor<2x1xi64>
}
