// A tensor that is only used for its size takes no memory, so that the inferred memory of a run is right.
// RUN: ingot-opt %s --ingot-memory | FileCheck %s

// CHECK-LABEL: func @forward
// CHECK-NOT:   memref.alloc({{.*}}x4xf32
// CHECK:       ingot_support_store_output
func.func @forward(%x: tensor<?x4xf32> {ingot.name = "x", ingot.type = tensor<?x4xf32>})
    -> (tensor<?xf32> {ingot.name = "y", ingot.type = tensor<?xf32>}) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x4xf32>
  %all = tensor.empty(%rows) : tensor<?x4xf32>
  %halves = tensor.expand_shape %all [[0], [1, 2]] output_shape [%rows, 2, 2] : tensor<?x4xf32> into tensor<?x2x2xf32>
  %size = tensor.dim %halves, %c0 : tensor<?x2x2xf32>
  %empty = tensor.empty(%size) : tensor<?xf32>
  %y = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}
