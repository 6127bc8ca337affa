// RUN: ingot-opt %s --lower-open-expansions | FileCheck %s
// RUN: ingot-opt %s --lower-open-expansions --expand-strided-metadata | FileCheck %s --check-prefix=EXPANDED

// Strides are those of the source times the inner sizes.
// CHECK-LABEL: @two
// CHECK: %[[BASE:.*]], %{{.*}}, %{{.*}}:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata %arg0
// CHECK: %[[LAST:.*]] = arith.muli %arg2, %{{.*}}
// CHECK: memref.reinterpret_cast %[[BASE]] to offset: [0], sizes: [3, %arg1, %arg2, 4],
// CHECK-SAME: strides: [%[[STRIDES]]#0, %{{[^,]*}}, 4, 1]
// CHECK-SAME: to memref<3x?x?x4xf32, strided<[?, ?, 4, 1]>>
// EXPANDED-LABEL: @two
// EXPANDED-NOT: expand_shape
func.func @two(%x: memref<3x?xf32, strided<[?, 1]>>, %a: index, %b: index) -> memref<3x?x?x4xf32, strided<[?, ?, 4, 1]>> {
  %y = memref.expand_shape %x [[0], [1, 2, 3]] output_shape [3, %a, %b, 4]
    : memref<3x?xf32, strided<[?, 1]>> into memref<3x?x?x4xf32, strided<[?, ?, 4, 1]>>
  return %y : memref<3x?x?x4xf32, strided<[?, ?, 4, 1]>>
}

// A dynamic size of a group is computed from the others.
// CHECK-LABEL: @one
// CHECK: memref.expand_shape
func.func @one(%x: memref<?x?xf32>, %a: index, %b: index) -> memref<2x?x?x4xf32> {
  %y = memref.expand_shape %x [[0, 1], [2, 3]] output_shape [2, %a, %b, 4] : memref<?x?xf32> into memref<2x?x?x4xf32>
  return %y : memref<2x?x?x4xf32>
}
