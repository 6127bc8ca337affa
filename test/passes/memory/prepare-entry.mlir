// RUN: ingot-opt --prepare-entry --split-input-file --verify-diagnostics %s | FileCheck %s

// Names and types move to the module; a static output is written in place.

// CHECK: module attributes {ingot.inputs = [#ingot.tensor<"x" : tensor<2x3xui8>, dims = "", "">], ingot.outputs = [#ingot.tensor<"y" : tensor<2x3xi8>>]}
// CHECK: func.func @forward(%[[X:.*]]: memref<2x3xi8>, %[[Y:.*]]: memref<2x3xi8>, %{{.*}}: memref<?xi8> {ingot.operand = #ingot.operand<weights>}, %{{.*}}: memref<?xi8> {ingot.operand = #ingot.operand<arena>}, %{{.*}}: !llvm.ptr {ingot.operand = #ingot.operand<call>})
// CHECK: %[[T:.*]] = bufferization.to_tensor %[[X]] restrict : memref<2x3xi8>
// CHECK: bufferization.materialize_in_destination %[[T]] in restrict writable %[[Y]]
// CHECK: return{{$}}
func.func @forward(%x: tensor<2x3xi8> {ingot.name = "x", ingot.dim_names = ["", ""], ingot.type = tensor<2x3xui8>}) -> (tensor<2x3xi8> {ingot.name = "y"}) {
  return %x : tensor<2x3xi8>
}

// -----

// The value in front of reshapes is stored directly into the output.

// CHECK: func.func @forward(%{{.*}}: memref<6x4xf32>, %[[Y:.*]]: memref<2x12xf32>,
// CHECK: %[[EXPANDED:.*]] = memref.expand_shape %[[Y]] {{\[\[}}0], [1, 2]] output_shape [2, 3, 4]
// CHECK: %[[COLLAPSED:.*]] = memref.collapse_shape %[[EXPANDED]] {{\[\[}}0, 1], [2]] : memref<2x3x4xf32> into memref<6x4xf32>
// CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable %[[COLLAPSED]]
func.func @forward(%x: tensor<6x4xf32>) -> tensor<2x12xf32> {
  %0 = tensor.expand_shape %x [[0, 1], [2]] output_shape [2, 3, 4] : tensor<6x4xf32> into tensor<2x3x4xf32>
  %1 = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<2x3x4xf32> into tensor<2x12xf32>
  return %1 : tensor<2x12xf32>
}

// -----

// An output of dynamic shape is passed to the host, with its dims.

// CHECK: func.func private @ingot_support_store_output(!llvm.ptr, index, index, index, index, index)
// CHECK: func.func @forward(%{{.*}}: memref<?x3xf32>, %{{.*}}: memref<?xi8> {ingot.operand = #ingot.operand<weights>}, %{{.*}}: memref<?xi8> {ingot.operand = #ingot.operand<arena>}, %[[CALL:.*]]: !llvm.ptr {ingot.operand = #ingot.operand<call>})
// CHECK: %[[M:.*]] = bufferization.to_buffer %{{.*}} read_only
// CHECK: memref.alloca() : memref<2xi64>
// CHECK: memref.dim %[[M]]
// CHECK: call @ingot_support_store_output(%[[CALL]],
func.func @forward(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  return %x : tensor<?x3xf32>
}

// -----

// For strings, the run passes indices.

// CHECK: func.func private @ingot_support_store_strings(!llvm.ptr, index, index, index, index, index)
// CHECK: func.func @forward(%{{.*}}: memref<?xi32>, %{{.*}}: memref<2xi32>, %[[Y:.*]]: memref<2xi32>, %{{.*}}: memref<?xi8>
// CHECK: %[[BITS:.*]] = arith.constant 32 : index
// CHECK: call @ingot_support_store_strings({{.*}}, %[[BITS]])
// CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable %[[Y]]
func.func @forward(%x: tensor<?xi32> {ingot.type = tensor<?xsi32>}, %c: tensor<2xi32> {ingot.type = tensor<2xsi32>}) -> (tensor<2xi32> {ingot.type = tensor<2xsi32>}, tensor<?xi32> {ingot.type = tensor<?xsi32>}) {
  return %c, %x : tensor<2xi32>, tensor<?xi32>
}

// -----

// expected-error @below {{expects a function named forward}}
module {
}

// -----

// expected-error @below {{expects inputs and outputs that are ranked tensors}}
func.func @forward(%x: f32) -> f32 {
  return %x : f32
}

// -----

// The host gets the output as soon as it is computed, so that no memory is held
// until the end.

// CHECK: func.func @forward
// CHECK: %[[A:.*]] = tensor.extract_slice
// CHECK: bufferization.to_buffer %[[A]] read_only
// CHECK: call @ingot_support_store_output(
// CHECK: %[[B:.*]] = tensor.extract_slice
// CHECK: bufferization.to_buffer %[[B]] read_only
// CHECK: call @ingot_support_store_output(
func.func @forward(%x: tensor<?x3xf32>) -> (tensor<?x1xf32>, tensor<?x2xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x3xf32>
  %a = tensor.extract_slice %x[0, 0] [%n, 1] [1, 1] : tensor<?x3xf32> to tensor<?x1xf32>
  %b = tensor.extract_slice %x[0, 1] [%n, 2] [1, 1] : tensor<?x3xf32> to tensor<?x2xf32>
  return %a, %b : tensor<?x1xf32>, tensor<?x2xf32>
}

// -----

// A body for usual sizes has its own types of inputs and outputs. The module
// has the types that a run may have.

// CHECK: module attributes {ingot.bodies = [#ingot.body<@forward_1 of 0, inputs = [#ingot.tensor<"x" : tensor<2xf32>>], outputs = [#ingot.tensor<"y" : tensor<2xf32>>]>], ingot.inputs = [#ingot.tensor<"x" : tensor<?xf32>>], ingot.outputs = [#ingot.tensor<"y" : tensor<?xf32>>]}
// CHECK: func.func @forward(%{{.*}}: memref<?xf32>, %{{.*}}: memref<?xi8> {ingot.operand = #ingot.operand<weights>}
// CHECK: func.func @forward_1(%{{.*}}: memref<2xf32>, %{{.*}}: memref<2xf32>, %{{.*}}: memref<?xi8> {ingot.operand = #ingot.operand<weights>}
func.func @forward(%x: tensor<?xf32> {ingot.name = "x"}) -> (tensor<?xf32> {ingot.name = "y"}) {
  return %x : tensor<?xf32>
}
func.func @forward_1(%x: tensor<2xf32> {ingot.name = "x"}) -> (tensor<2xf32> {ingot.name = "y"}) attributes {ingot.usual_of = 0 : i64} {
  return %x : tensor<2xf32>
}

// -----

// Elements of less than a byte are packed outside of the model and have a byte
// each inside. The memref has the sizes of the elements, a view of it has the
// bytes.

// CHECK: func.func @forward(%[[X:.*]]: memref<3x5xi8>, %[[Y:.*]]: memref<?x5xi8>, %[[Z:.*]]: memref<3x5xi8>,
// CHECK: %[[XB:.*]] = memref.reinterpret_cast %[[X]] to offset: [0], sizes: [8], strides: [1] : memref<3x5xi8> to memref<8xi8>
// CHECK: bufferization.to_tensor %[[XB]] restrict
// CHECK: linalg.generic
// CHECK: arith.shrui
// CHECK: tensor.extract_slice %{{.*}}[0] [15] [1] : tensor<16xi8> to tensor<15xi8>
// CHECK: tensor.expand_shape
// CHECK: memref.reinterpret_cast %[[Y]] to {{.*}} : memref<?x5xi8> to memref<?xi8>
// CHECK: memref.reinterpret_cast %[[Z]] to {{.*}} sizes: [4]
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<4xi8>)
// CHECK: bufferization.materialize_in_destination
func.func @forward(%x: tensor<3x5xi8> {ingot.type = tensor<3x5xi4>}, %y: tensor<?x5xi8> {ingot.type = tensor<?x5xf4E2M1FN>}) -> (tensor<3x5xi8> {ingot.type = tensor<3x5xui2>}, tensor<?x5xi8> {ingot.type = tensor<?x5xf4E2M1FN>}) {
  return %x, %y : tensor<3x5xi8>, tensor<?x5xi8>
}

// -----

// If the bytes have no extra elements, as in an empty tensor, nothing is cut
// off.
// CHECK-LABEL: func.func @forward(%{{.*}}: memref<0xi8>,
// CHECK-NOT: tensor.extract_slice
func.func @forward(%x: tensor<0xi8> {ingot.type = tensor<0xi4>}, %y: tensor<4xi8> {ingot.type = tensor<4xui2>}) -> (tensor<0xi8> {ingot.type = tensor<0xi4>}, tensor<4xi8> {ingot.type = tensor<4xui2>}) {
  return %x, %y : tensor<0xi8>, tensor<4xi8>
}
