// RUN: ingot-opt %s -nn-lower-reshapes -split-input-file | FileCheck %s

// Twice as many rows and columns: each is merged with the two dimensions behind
// it.

// CHECK-LABEL: @merged
// CHECK-SAME: (%[[X:.*]]: tensor<?x32x?x2x?x2xf32>)
// CHECK: %[[Y:.*]] = tensor.collapse_shape %[[X]] {{\[\[0\], \[1\], \[2, 3\], \[4, 5\]\]}} : tensor<?x32x?x2x?x2xf32> into tensor<?x32x?x?xf32>
// CHECK: return %[[Y]]
func.func @merged(%x: tensor<?x32x?x2x?x2xf32>) -> tensor<?x32x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %n = tensor.dim %x, %c0 : tensor<?x32x?x2x?x2xf32>
  %h = tensor.dim %x, %c2 : tensor<?x32x?x2x?x2xf32>
  %w = tensor.dim %x, %c4 : tensor<?x32x?x2x?x2xf32>
  %rows = arith.muli %h, %c2 : index
  %columns = arith.muli %w, %c2 : index
  %sizes = tensor.from_elements %n, %c32, %rows, %columns : tensor<4xindex>
  %y = tensor.reshape %x(%sizes) : (tensor<?x32x?x2x?x2xf32>, tensor<4xindex>) -> tensor<?x32x?x?xf32>
  return %y : tensor<?x32x?x?xf32>
}

// -----

// CHECK-LABEL: @taken_apart
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x64xf32>)
// CHECK: %[[N:.*]] = tensor.dim %[[X]], %c0
// CHECK: %[[S:.*]] = tensor.dim %[[X]], %c1
// CHECK: tensor.expand_shape %[[X]] {{\[\[0\], \[1\], \[2, 3\]\]}} output_shape [%[[N]], %[[S]], 4, 16] : tensor<?x?x64xf32> into tensor<?x?x4x16xf32>
// CHECK-NOT: tensor.reshape
func.func @taken_apart(%x: tensor<?x?x64xf32>) -> tensor<?x?x4x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %n = tensor.dim %x, %c0 : tensor<?x?x64xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x64xf32>
  %sizes = tensor.from_elements %n, %s, %c4, %c16 : tensor<4xindex>
  %y = tensor.reshape %x(%sizes) : (tensor<?x?x64xf32>, tensor<4xindex>) -> tensor<?x?x4x16xf32>
  return %y : tensor<?x?x4x16xf32>
}

// -----

// Dimensions of size 1 are merged with a neighbour. If one side merges and the
// other splits, there is one dimension in between.

// CHECK-LABEL: @both
// CHECK-SAME: (%[[X:.*]]: tensor<?x6x4xf32>)
// CHECK: %[[M:.*]] = tensor.collapse_shape %[[X]] {{\[\[0\], \[1, 2\]\]}} : tensor<?x6x4xf32> into tensor<?x24xf32>
// CHECK: tensor.expand_shape %[[M]] {{\[\[0, 1\], \[2, 3\]\]}} output_shape [%{{.*}}, 1, 3, 8] : tensor<?x24xf32> into tensor<?x1x3x8xf32>
func.func @both(%x: tensor<?x6x4xf32>) -> tensor<?x1x3x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %n = tensor.dim %x, %c0 : tensor<?x6x4xf32>
  %sizes = tensor.from_elements %n, %c1, %c3, %c8 : tensor<4xindex>
  %y = tensor.reshape %x(%sizes) : (tensor<?x6x4xf32>, tensor<4xindex>) -> tensor<?x1x3x8xf32>
  return %y : tensor<?x1x3x8xf32>
}

// -----

// Must not fire: no dimension is known to stay.

// CHECK-LABEL: @unknown
// CHECK: tensor.reshape
func.func @unknown(%x: tensor<?x?xf32>, %a: index, %b: index) -> tensor<?x?xf32> {
  %sizes = tensor.from_elements %a, %b : tensor<2xindex>
  %y = tensor.reshape %x(%sizes) : (tensor<?x?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// Must not fire: a merged dimension would have 3 n elements. But the result may
// have any size if it is empty.
// CHECK-LABEL: @without_elements
// CHECK: tensor.reshape
func.func @without_elements(%x: tensor<?x3x0xf32>, %n: index) -> tensor<?x0xf32> {
  %c0 = arith.constant 0 : index
  %sizes = tensor.from_elements %n, %c0 : tensor<2xindex>
  %y = tensor.reshape %x(%sizes) : (tensor<?x3x0xf32>, tensor<2xindex>) -> tensor<?x0xf32>
  return %y : tensor<?x0xf32>
}

// CHECK-LABEL: @no_list
// CHECK: tensor.reshape
func.func @no_list(%x: tensor<?x4xf32>, %sizes: tensor<2xindex>) -> tensor<?x?xf32> {
  %y = tensor.reshape %x(%sizes) : (tensor<?x4xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
