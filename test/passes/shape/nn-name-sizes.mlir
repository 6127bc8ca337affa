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

// An existing name stays.
// CHECK-LABEL: func.func @named
// CHECK-SAME: -> (tensor<?x?xf32> {ingot.dim_names = ["other", "seq"]})
func.func @named(%x: tensor<?x?xf32> {ingot.dim_names = ["batch", "seq"]})
    -> (tensor<?x?xf32> {ingot.dim_names = ["other", ""]}) {
  %0 = nn.relu %x : tensor<?x?xf32> -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
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
