// RUN: ingot-opt %s -nn-recognize-slices -cse -split-input-file | FileCheck %s

// Some rows; rows from the end, whose number is static.

// CHECK-LABEL: @rows
// CHECK-SAME: (%[[X:.*]]: tensor<7x8xf32>, %[[Y:.*]]: tensor<3x8xf32>, %[[Z:.*]]: tensor<1x8xf32>)
// CHECK: %[[A:.*]] = tensor.insert_slice %[[Y]] into %[[X]][2, 0] [3, 8] [1, 1]
// CHECK: %[[B:.*]] = tensor.insert_slice %[[Y]] into %[[A]][1, 0] [3, 8] [2, 1]
// CHECK: %[[C:.*]] = tensor.insert_slice %[[Z]] into %[[B]][6, 0] [1, 8] [1, 1]
// CHECK: return %[[C]]
func.func @rows(%x: tensor<7x8xf32>, %y: tensor<3x8xf32>, %z: tensor<1x8xf32>) -> tensor<7x8xf32> {
  %i = arith.constant dense<[[2], [3], [4]]> : tensor<3x1xi64>
  %0 = nn.scatter_nd none %x, %i, %y : (tensor<7x8xf32>, tensor<3x1xi64>, tensor<3x8xf32>) -> tensor<7x8xf32>
  %j = arith.constant dense<[[1], [3], [5]]> : tensor<3x1xi64>
  %1 = nn.scatter_nd none %0, %j, %y : (tensor<7x8xf32>, tensor<3x1xi64>, tensor<3x8xf32>) -> tensor<7x8xf32>
  %k = arith.constant dense<-1> : tensor<1x1xi64>
  %2 = nn.scatter_nd none %1, %k, %z : (tensor<7x8xf32>, tensor<1x1xi64>, tensor<1x8xf32>) -> tensor<7x8xf32>
  return %2 : tensor<7x8xf32>
}

// -----

// Both coordinates in one constant; one position of the first dimension, which
// the updates lack.

// CHECK-LABEL: @elements
// CHECK-SAME: (%[[X:.*]]: tensor<4x5xf32>, %[[Y:.*]]: tensor<2x2xf32>, %[[Z:.*]]: tensor<2xf32>)
// CHECK: %[[A:.*]] = tensor.insert_slice %[[Y]] into %[[X]][1, 3] [2, 2] [1, 1]
// CHECK: %[[ROW:.*]] = nn.reshape %[[Z]] : tensor<2xf32> -> tensor<1x2xf32>
// CHECK: tensor.insert_slice %[[ROW]] into %[[A]][3, 0] [1, 2] [1, 2]
func.func @elements(%x: tensor<4x5xf32>, %y: tensor<2x2xf32>, %z: tensor<2xf32>) -> tensor<4x5xf32> {
  %i = arith.constant dense<[[[1, 3], [1, 4]], [[2, 3], [2, 4]]]> : tensor<2x2x2xi64>
  %0 = nn.scatter_nd none %x, %i, %y : (tensor<4x5xf32>, tensor<2x2x2xi64>, tensor<2x2xf32>) -> tensor<4x5xf32>
  %j = arith.constant dense<[[3, 0], [3, 2]]> : tensor<2x2xi64>
  %1 = nn.scatter_nd none %0, %j, %z : (tensor<4x5xf32>, tensor<2x2xi64>, tensor<2xf32>) -> tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}

// -----

// x[:, 1:, 2:5] as exporters write it: a range of a dynamic dimension without
// its first index, and a constant. Both have a value per element of the slice.

#map = affine_map<(d0) -> (d0)>

// CHECK-LABEL: @open
// CHECK-SAME: (%[[X:.*]]: tensor<2x?x7xf32>, %[[Y:.*]]: tensor<2x?x3xf32>)
// CHECK-NOT: nn.scatter_nd
// CHECK: tensor.insert_slice %[[Y]] into %[[X]][0, 1, 2] [2, %{{.*}}, 3] [1, 1, 1]
func.func @open(%x: tensor<2x?x7xf32>, %y: tensor<2x?x3xf32>) -> tensor<2x?x7xf32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<2x?x7xf32>
  %c0 = arith.constant 0 : index
  %less = arith.subi %n, %c1 : index
  %m = arith.maxsi %less, %c0 : index
  %e = tensor.empty(%n) : tensor<?xi64>
  %all = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%e : tensor<?xi64>) {
  ^bb0(%out: i64):
    %p = linalg.index 0 : index
    %q = arith.index_cast %p : index to i64
    linalg.yield %q : i64
  } -> tensor<?xi64>
  %some = tensor.extract_slice %all[1] [%m] [1] : tensor<?xi64> to tensor<?xi64>
  %column = nn.reshape %some : tensor<?xi64> -> tensor<?x1xi64>
  %1 = nn.broadcast_to %column sizes(%m) : tensor<?x1xi64> -> tensor<2x?x3xi64>
  %b = arith.constant dense<[[[0]], [[1]]]> : tensor<2x1x1xi64>
  %0 = nn.broadcast_to %b sizes(%m) : tensor<2x1x1xi64> -> tensor<2x?x3xi64>
  %c = arith.constant dense<[2, 3, 4]> : tensor<3xi64>
  %2 = nn.broadcast_to %c sizes(%m) : tensor<3xi64> -> tensor<2x?x3xi64>
  %i0 = nn.reshape %0 : tensor<2x?x3xi64> -> tensor<2x?x3x1xi64>
  %i1 = nn.reshape %1 : tensor<2x?x3xi64> -> tensor<2x?x3x1xi64>
  %i2 = nn.reshape %2 : tensor<2x?x3xi64> -> tensor<2x?x3x1xi64>
  %i = nn.concat %i0, %i1, %i2 {axis = 3 : i64} : (tensor<2x?x3x1xi64>, tensor<2x?x3x1xi64>, tensor<2x?x3x1xi64>) -> tensor<2x?x3x3xi64>
  %r = nn.scatter_nd none %x, %i, %y : (tensor<2x?x7xf32>, tensor<2x?x3x3xi64>, tensor<2x?x3xf32>) -> tensor<2x?x7xf32>
  return %r : tensor<2x?x7xf32>
}

// -----

// The run checks that a dynamic dimension has a known position.

// CHECK-LABEL: @asked
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xf32>, %[[Y:.*]]: tensor<2x8xf32>)
// CHECK: %[[N:.*]] = tensor.dim %[[X]]
// CHECK: %[[LAST:.*]] = arith.constant 4
// CHECK: %[[HOLDS:.*]] = arith.cmpi slt, %[[LAST]], %[[N]]
// CHECK: ingot.require %[[HOLDS]], {{.*}}'indices' has {0} for dimension 0, which has {1} elements
// CHECK: tensor.insert_slice %[[Y]] into %[[X]][3, 0] [2, 8] [1, 1]
func.func @asked(%x: tensor<?x8xf32>, %y: tensor<2x8xf32>) -> tensor<?x8xf32> {
  %i = arith.constant dense<[[3], [4]]> : tensor<2x1xi64>
  %0 = nn.scatter_nd none %x, %i, %y : (tensor<?x8xf32>, tensor<2x1xi64>, tensor<2x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// ScatterElements whose indices count along its axis, or which has one index:
// the other coordinates are those of the updates.

// CHECK-LABEL: @along_axis
// CHECK-SAME: (%[[X:.*]]: tensor<2x?x7xf32>, %[[Y:.*]]: tensor<2x?x1xf32>, %[[Z:.*]]: tensor<1x3x7xf32>)
// CHECK: %[[A:.*]] = tensor.insert_slice %[[Y]] into %[[X]][0, 0, 5] [2, %{{.*}}, 1] [1, 1, 1]
// CHECK: arith.constant 3
// CHECK: ingot.require
// CHECK: tensor.insert_slice %[[Z]] into %[[A]][0, 1, 0] [1, 3, 7] [1, 1, 1]
func.func @along_axis(%x: tensor<2x?x7xf32>, %y: tensor<2x?x1xf32>, %z: tensor<1x3x7xf32>) -> tensor<2x?x7xf32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<2x?x7xf32>
  %i = arith.constant dense<-2> : tensor<i64>
  %all = nn.broadcast_to %i sizes(%n) : tensor<i64> -> tensor<2x?x1xi64>
  %0 = nn.scatter_elements none %x, %all, %y {axis = 2 : i64} : (tensor<2x?x7xf32>, tensor<2x?x1xi64>, tensor<2x?x1xf32>) -> tensor<2x?x7xf32>
  %j = arith.constant dense<[[[1], [2], [3]]]> : tensor<1x3x1xi64>
  %each = nn.broadcast_to %j : tensor<1x3x1xi64> -> tensor<1x3x7xi64>
  %1 = nn.scatter_elements none %0, %each, %z {axis = 1 : i64} : (tensor<2x?x7xf32>, tensor<1x3x7xi64>, tensor<1x3x7xf32>) -> tensor<2x?x7xf32>
  return %1 : tensor<2x?x7xf32>
}

// -----

// Must not fire: an index for many elements; indices that count along another
// dimension; a dynamic number of rows, which may exceed the data's.

// CHECK-LABEL: @other_elements
// CHECK-COUNT-3: nn.scatter_elements
func.func @other_elements(%x: tensor<4x4xf32>, %o: tensor<?x4xf32>, %i: tensor<?x1xi64>, %y: tensor<2x4xf32>, %z: tensor<?x1xf32>) -> (tensor<4x4xf32>, tensor<?x4xf32>) {
  %j = arith.constant dense<1> : tensor<2x4xi64>
  %0 = nn.scatter_elements none %x, %j, %y {axis = 0 : i64} : (tensor<4x4xf32>, tensor<2x4xi64>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %k = arith.constant dense<[[0, 1, 2, 3], [0, 1, 2, 3]]> : tensor<2x4xi64>
  %1 = nn.scatter_elements none %0, %k, %y {axis = 0 : i64} : (tensor<4x4xf32>, tensor<2x4xi64>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %c0 = arith.constant 0 : index
  %m = tensor.dim %i, %c0 : tensor<?x1xi64>
  %two = arith.constant dense<2> : tensor<i64>
  %all = nn.broadcast_to %two sizes(%m) : tensor<i64> -> tensor<?x1xi64>
  %2 = nn.scatter_elements none %o, %all, %z {axis = 1 : i64} : (tensor<?x4xf32>, tensor<?x1xi64>, tensor<?x1xf32>) -> tensor<?x4xf32>
  return %1, %2 : tensor<4x4xf32>, tensor<?x4xf32>
}

// -----

// Must not fire: values whose sums and products overflow, and values that a
// cast to fewer bits changes.

// CHECK-LABEL: @far
// CHECK-COUNT-3: nn.scatter_nd
func.func @far(%x: tensor<?x2xf32>, %y: tensor<3x2xf32>, %z: tensor<2x2xf32>) -> tensor<?x2xf32> {
  %i = arith.constant dense<[[0], [9223372036854775807], [-2]]> : tensor<3x1xi64>
  %0 = nn.scatter_nd none %x, %i, %y : (tensor<?x2xf32>, tensor<3x1xi64>, tensor<3x2xf32>) -> tensor<?x2xf32>
  %j = arith.constant dense<[[-9223372036854775808], [9223372036854775807]]> : tensor<2x1xi64>
  %1 = nn.scatter_nd none %0, %j, %z : (tensor<?x2xf32>, tensor<2x1xi64>, tensor<2x2xf32>) -> tensor<?x2xf32>
  %all = arith.constant dense<[[100], [200]]> : tensor<2x1xi64>
  %k = nn.cast %all : tensor<2x1xi64> -> tensor<2x1xi8>
  %l = nn.cast %k : tensor<2x1xi8> -> tensor<2x1xi64>
  %2 = nn.scatter_nd none %1, %l, %z : (tensor<?x2xf32>, tensor<2x1xi64>, tensor<2x2xf32>) -> tensor<?x2xf32>
  return %2 : tensor<?x2xf32>
}

// -----

// Must not fire: rows in another order, equal rows, sums, columns before rows,
// computed indices, and negative positions of a dynamic dimension.

// CHECK-LABEL: @others
// CHECK-COUNT-6: nn.scatter_nd
// CHECK-NOT: tensor.insert_slice
func.func @others(%x: tensor<4x4xf32>, %o: tensor<?x4xf32>, %y: tensor<2x4xf32>, %z: tensor<2x3xf32>, %n: tensor<2x1xi64>) -> (tensor<4x4xf32>, tensor<?x4xf32>) {
  %i = arith.constant dense<[[2], [1]]> : tensor<2x1xi64>
  %0 = nn.scatter_nd none %x, %i, %y : (tensor<4x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %j = arith.constant dense<1> : tensor<2x1xi64>
  %1 = nn.scatter_nd none %0, %j, %y : (tensor<4x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %k = arith.constant dense<[[1], [2]]> : tensor<2x1xi64>
  %2 = nn.scatter_nd add %1, %k, %y : (tensor<4x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %t = arith.constant dense<[[[0, 1], [1, 1], [2, 1]], [[0, 2], [1, 2], [2, 2]]]> : tensor<2x3x2xi64>
  %3 = nn.scatter_nd none %2, %t, %z : (tensor<4x4xf32>, tensor<2x3x2xi64>, tensor<2x3xf32>) -> tensor<4x4xf32>
  %4 = nn.scatter_nd none %3, %n, %y : (tensor<4x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %m = arith.constant dense<[[-2], [-1]]> : tensor<2x1xi64>
  %5 = nn.scatter_nd none %o, %m, %y : (tensor<?x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>) -> tensor<?x4xf32>
  return %4, %5 : tensor<4x4xf32>, tensor<?x4xf32>
}
