// RUN: ingot-opt --nn-to-linalg --canonicalize --split-input-file %s | FileCheck %s

// CHECK: #[[SWAP:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: @transpose
// CHECK: linalg.generic {indexing_maps = [#[[SWAP]], #{{.*}}], iterator_types = ["parallel", "parallel"]}
func.func @transpose(%x: tensor<2x?xf32>) -> tensor<?x2xf32> {
  %y = nn.transpose %x {perm = array<i64: 1, 0>} : tensor<2x?xf32> -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}

// -----

// CHECK-LABEL: @reshape
// CHECK: tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>
// CHECK: tensor.collapse_shape %arg1 {{.*}} into tensor<?x12xf32>
func.func @reshape(%x: tensor<2x3x4xf32>, %y: tensor<?x3x4xf32>) -> (tensor<6x4xf32>, tensor<?x12xf32>) {
  %0 = nn.reshape %x : tensor<2x3x4xf32> -> tensor<6x4xf32>
  %1 = nn.reshape %y : tensor<?x3x4xf32> -> tensor<?x12xf32>
  return %0, %1 : tensor<6x4xf32>, tensor<?x12xf32>
}

// -----

// Signs of integer types are dropped.
// CHECK-LABEL: @concat
// CHECK: %[[E:.*]] = tensor.empty() : tensor<2x7xi8>
// CHECK: %[[A:.*]] = tensor.insert_slice %arg0 into %[[E]][0, 0] [2, 3] [1, 1]
// CHECK: tensor.insert_slice %arg1 into %[[A]][0, 3] [2, 4] [1, 1]
func.func @concat(%x: tensor<2x3xui8>, %y: tensor<2x4xui8>) -> tensor<2x7xui8> {
  %0 = nn.concat %x, %y {axis = 1 : i64} : (tensor<2x3xui8>, tensor<2x4xui8>) -> tensor<2x7xui8>
  return %0 : tensor<2x7xui8>
}

// -----

// CHECK-LABEL: @slice
// CHECK: tensor.extract_slice %arg0[1] [3] [2]
// A negative step reads backwards.
// CHECK: linalg.generic
// CHECK: linalg.index
// CHECK: tensor.extract %arg0
func.func @slice(%x: tensor<8xf32>) -> (tensor<3xf32>, tensor<8xf32>) {
  %0 = nn.slice %x {starts = array<i64: 1>, sizes = array<i64: 3>, steps = array<i64: 2>} : tensor<8xf32> -> tensor<3xf32>
  %1 = nn.slice %x {starts = array<i64: 7>, sizes = array<i64: 8>, steps = array<i64: -1>} : tensor<8xf32> -> tensor<8xf32>
  return %0, %1 : tensor<3xf32>, tensor<8xf32>
}

// -----

// CHECK-LABEL: @pad
// CHECK: linalg.fill
// CHECK: tensor.insert_slice %arg0 into %{{.*}}[1] [%{{.*}}] [1]
func.func @pad(%x: tensor<?xf32>) -> tensor<?xf32> {
  %v = arith.constant dense<0.0> : tensor<f32>
  %0 = nn.pad constant %x value(%v) {low = array<i64: 1>, high = array<i64: 2>} : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// The data is copied as a whole, and only the ends are indexed. No division is
// needed, since the dimension is longer than the mirrored part.
// CHECK-LABEL: @mirrored
// CHECK-NOT: linalg.fill
// CHECK: %[[X:.*]] = tensor.insert_slice %arg0 into %{{.*}}[0, 2] [5, 9] [1, 1] : tensor<5x9xf32> into tensor<6x11xf32>
// CHECK: %[[LEFT:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x11xf32>)
// CHECK-NOT: arith.remsi
// CHECK: tensor.insert_slice %{{.*}} into %[[X]][5, 0] [1, 11]
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<5x2xf32>)
// CHECK-NOT: arith.remsi
// CHECK: tensor.insert_slice %{{.*}}[0, 0] [5, 2]
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @mirrored(%x: tensor<5x9xf32>) -> tensor<6x11xf32> {
  %0 = nn.pad reflect %x {low = array<i64: 0, 2>, high = array<i64: 1, 0>} : (tensor<5x9xf32>) -> tensor<6x11xf32>
  return %0 : tensor<6x11xf32>
}

// -----

// A dynamic dimension may be repeated several times, which needs a division.
// CHECK-LABEL: @wrapped
// CHECK-COUNT-2: arith.remsi
func.func @wrapped(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = nn.pad wrap %x {low = array<i64: 7>, high = array<i64: 9>} : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// The lowered data may have more static sizes than its type.
// CHECK-LABEL: @pad_of_known_size
// CHECK-NOT: unrealized
// CHECK: tensor.insert_slice
// CHECK-NOT: unrealized
// CHECK: return
func.func @pad_of_known_size(%x: tensor<2x?xf32>, %s: tensor<6xf32>) -> tensor<2x?xf32> {
  %v = arith.constant dense<0.0> : tensor<f32>
  %0 = nn.layer_norm %x scale(%s) bias(%s) {axis = 1 : i64, epsilon = 1.0e-5 : f32} : (tensor<2x?xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<2x?xf32>
  %1 = nn.pad constant %0 value(%v) {high = array<i64: 0, 0>, low = array<i64: 0, 1>} : (tensor<2x?xf32>, tensor<f32>) -> tensor<2x?xf32>
  return %1 : tensor<2x?xf32>
}

// -----

// A size of 8 is folded from the operand of the cast.
// CHECK-LABEL: func.func @concat_of_casts
// CHECK: %[[FIRST:.*]] = tensor.insert_slice %{{.*}} into %{{.*}}[0, 0] [8, %{{.*}}] [1, 1] : tensor<8x?xi32>
// CHECK: tensor.insert_slice %{{.*}} into %[[FIRST]][8, 0] [8, %{{.*}}] [1, 1] : tensor<8x?xi32>
func.func @concat_of_casts(%x: tensor<8x?xi32>) -> tensor<?x?xi32> {
  %c = tensor.cast %x : tensor<8x?xi32> to tensor<?x?xi32>
  %y = nn.concat %c, %c {axis = 0 : i64} : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?xi32>
  return %y : tensor<?x?xi32>
}

// -----

// A matrix is inserted into a matrix, other parts into its expansion. Sums of a
// product then lie where their kernel can write them.
// CHECK-LABEL: func.func @concat_of_matrices
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<?x4xf32> {{.*}}%[[B:[a-z0-9]+]]: tensor<?x5xf32>
// CHECK: %[[C:.*]] = linalg.generic {{.*}}tensor<1x?x6x3xf32>
// CHECK: %[[EMPTY:.*]] = tensor.empty(%{{.*}}) : tensor<?x12xf32>
// CHECK: %[[FIRST:.*]] = tensor.insert_slice %[[A]] into %[[EMPTY]][0, 0] [%{{.*}}, 4] [1, 1] : tensor<?x4xf32> into tensor<?x12xf32>
// CHECK: %[[SECOND:.*]] = tensor.insert_slice %[[B]] into %[[FIRST]][0, 4] [%{{.*}}, 5] [1, 1] : tensor<?x5xf32> into tensor<?x12xf32>
// CHECK: %[[ALL:.*]] = tensor.expand_shape %[[SECOND]] {{\[}}[0, 1, 2], [3]] output_shape [1, %{{.*}}, 6, 12]
// CHECK: tensor.insert_slice %[[C]] into %[[ALL]][0, 0, 0, 9] [1, %{{.*}}, 6, 3] [1, 1, 1, 1] : tensor<1x?x6x3xf32> into tensor<1x?x6x12xf32>
func.func @concat_of_matrices(%a: tensor<?x4xf32>, %b: tensor<?x5xf32>, %x: tensor<1x?x6x3xf32>, %h: index) -> tensor<1x?x6x12xf32> {
  %0 = tensor.expand_shape %a [[0, 1, 2], [3]] output_shape [1, %h, 6, 4] : tensor<?x4xf32> into tensor<1x?x6x4xf32>
  %1 = tensor.expand_shape %b [[0, 1, 2], [3]] output_shape [1, %h, 6, 5] : tensor<?x5xf32> into tensor<1x?x6x5xf32>
  %c = nn.relu %x : tensor<1x?x6x3xf32> -> tensor<1x?x6x3xf32>
  %y = nn.concat %0, %1, %c {axis = 3 : i64} : (tensor<1x?x6x4xf32>, tensor<1x?x6x5xf32>, tensor<1x?x6x3xf32>) -> tensor<1x?x6x12xf32>
  return %y : tensor<1x?x6x12xf32>
}

// -----

// A matrix behind a part of more dimensions. The axis is a part of a dimension
// of the other matrix.
// CHECK-LABEL: func.func @concat_of_rows
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %{{.*}} {{\[}}[0, 1], [2]] : tensor<2x3x9xf32> into tensor<6x9xf32>
// CHECK: tensor.insert_slice %{{.*}} into %[[FLAT]][0, 5] [6, 4] [1, 1] : tensor<6x4xf32> into tensor<6x9xf32>
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 3, 0] [2, 3, 4] [1, 1, 1] : tensor<2x3x4xf32> into tensor<2x6x4xf32>
func.func @concat_of_rows(%a: tensor<6x4xf32>, %b: tensor<2x3x5xf32>, %c: tensor<2x3x4xf32>) -> (tensor<2x3x9xf32>, tensor<2x6x4xf32>) {
  %0 = tensor.expand_shape %a [[0, 1], [2]] output_shape [2, 3, 4] : tensor<6x4xf32> into tensor<2x3x4xf32>
  %y = nn.concat %b, %0 {axis = 2 : i64} : (tensor<2x3x5xf32>, tensor<2x3x4xf32>) -> tensor<2x3x9xf32>
  %z = nn.concat %c, %0 {axis = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x6x4xf32>
  return %y, %z : tensor<2x3x9xf32>, tensor<2x6x4xf32>
}

// -----

// The part that is computed first is inserted first, whatever its position.
// CHECK-LABEL: func.func @concat_reversed
// CHECK: %[[FIRST:.*]] = linalg.generic {{.*}}ins(%arg0 :
// CHECK: %[[SECOND:.*]] = linalg.generic {{.*}}ins(%arg1 :
// CHECK: %[[A:.*]] = tensor.insert_slice %arg0 into %{{.*}}[0, 5] [2, 3]
// CHECK: %[[B:.*]] = tensor.insert_slice %[[FIRST]] into %[[A]][0, 2] [2, 3]
// CHECK: tensor.insert_slice %[[SECOND]] into %[[B]][0, 0] [2, 2]
func.func @concat_reversed(%x: tensor<2x3xf32>, %y: tensor<2x2xf32>) -> tensor<2x8xf32> {
  %0 = nn.relu %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %1 = nn.relu %y : tensor<2x2xf32> -> tensor<2x2xf32>
  %2 = nn.concat %1, %0, %x {axis = 1 : i64} : (tensor<2x2xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x8xf32>
  return %2 : tensor<2x8xf32>
}
