// RUN: ingot-opt %s --nn-name-sizes --split-input-file | FileCheck %s

// A dimension of a result with the size of a named dimension of an argument
// gets its name.
// CHECK-LABEL: func.func @same
// CHECK-SAME: -> (tensor<?x4x?xf32> {ingot.dim_names = ["batch", "", "seq"]})
func.func @same(%x: tensor<?x4x?xf32> {ingot.dim_names = ["batch", "", "seq"]})
    -> (tensor<?x4x?xf32> {ingot.dim_names = ["", "", ""]}) {
  %0 = nn.relu %x : tensor<?x4x?xf32> -> tensor<?x4x?xf32>
  return %0 : tensor<?x4x?xf32>
}

// -----

// The name of an argument's dimension stays.
// CHECK-LABEL: func.func @named
// CHECK-SAME: -> (tensor<?x?xf32> {ingot.dim_names = ["other", "seq"]})
func.func @named(%x: tensor<?x?xf32> {ingot.dim_names = ["batch", "seq"]},
                 %y: tensor<?xf32> {ingot.dim_names = ["other"]})
    -> (tensor<?x?xf32> {ingot.dim_names = ["other", ""]}) {
  %0 = nn.relu %x : tensor<?x?xf32> -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// A name that no argument has stays if no dimension is known to be equal.
// CHECK-LABEL: func.func @declared
// CHECK-SAME: -> (tensor<?x?xf32> {ingot.dim_names = ["batch", "found"]})
func.func @declared(%x: tensor<?xf32> {ingot.dim_names = ["batch"]},
                    %y: tensor<?x?xf32> {ingot.dim_names = ["", ""]})
    -> (tensor<?x?xf32> {ingot.dim_names = ["rows", "found"]}) {
  %0 = nn.add %x, %x : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %0, %c0 : tensor<?xf32>
  %m = tensor.dim %y, %c1 : tensor<?x?xf32>
  %1 = tensor.empty(%n, %m) : tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// -----

// Must not fire: other sizes, and sizes of dimensions without a name.
// CHECK-LABEL: func.func @other
// CHECK-SAME: -> (tensor<?x?xf32> {ingot.dim_names = ["", ""]})
func.func @other(%x: tensor<?x?xf32> {ingot.dim_names = ["batch", ""]})
    -> (tensor<?x?xf32> {ingot.dim_names = ["", ""]}) {
  %0 = nn.concat %x, %x {axis = 0 : i64} : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
