// RUN: ingot-opt --onnx-legalize --split-input-file --verify-diagnostics %s | FileCheck %s

// A size that an operator determines may be dynamic: the run checks it.

module attributes {onnx.opset_import = {"ai.onnx" = 21 : i64}} {

// CHECK-LABEL: @grid
// CHECK: ingot.require %{{.*}}, "dimension 3 of grid is {0}, but must be {1}"
// CHECK: tensor.cast %arg1 : tensor<?x?x?x?xf32> to tensor<?x?x?x2xf32>
func.func @grid(%x: tensor<?x3x?x?xf32>, %g: tensor<?x?x?x?xf32>) -> tensor<*xf32> {
  %0 = onnx.node "GridSample"(%x, %g) : (tensor<?x3x?x?xf32>, tensor<?x?x?x?xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// Static sizes need no check.
// CHECK-LABEL: @known
// CHECK-NOT: must be
// CHECK: return
func.func @known(%x: tensor<?x3x?x?xf32>, %g: tensor<?x?x?x2xf32>) -> tensor<*xf32> {
  %0 = onnx.node "GridSample"(%x, %g) : (tensor<?x3x?x?xf32>, tensor<?x?x?x2xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// The attribute gives the kernel of weights of dynamic size.
// CHECK-LABEL: @kernel
// CHECK: ingot.require %{{.*}}, "dimension 2 of the weights is {0}, but must be {1}"
// CHECK: nn.conv %arg0, %{{.*}} : (tensor<?x3x?x?xf32>, tensor<?x?x3x5xf32>)
func.func @kernel(%x: tensor<?x3x?x?xf32>, %w: tensor<?x?x?x?xf32>) -> tensor<*xf32> {
  %0 = onnx.node "Conv"(%x, %w) {kernel_shape = array<i64: 3, 5>} : (tensor<?x3x?x?xf32>, tensor<?x?x?x?xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// Data must have as many channels as the weights of all groups together.
// CHECK-LABEL: @channels
// CHECK: ingot.require %{{.*}}, "dimension 1 of the data is {0}, but must be {1}"
// CHECK: tensor.cast %arg0 : tensor<?x?x?x?xf32> to tensor<?x6x?x?xf32>
// CHECK: nn.conv %{{.*}} : (tensor<?x6x?x?xf32>, tensor<4x3x3x3xf32>)
func.func @channels(%x: tensor<?x?x?x?xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<*xf32> {
  %0 = onnx.node "Conv"(%x, %w) {group = 2 : i64} : (tensor<?x?x?x?xf32>, tensor<4x3x3x3xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// CHECK-LABEL: @transposed_channels
// CHECK: tensor.cast %arg0 : tensor<?x?x?x?xf32> to tensor<?x4x?x?xf32>
func.func @transposed_channels(%x: tensor<?x?x?x?xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<*xf32> {
  %0 = onnx.node "ConvTranspose"(%x, %w) : (tensor<?x?x?x?xf32>, tensor<4x3x3x3xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// An operand of a product gives the other one's rows or columns.
// CHECK-LABEL: @products
// CHECK: tensor.cast %arg0 : tensor<?x?x?xf32> to tensor<?x?x8xf32>
// CHECK: tensor.cast %arg2 : tensor<?x4xf32> to tensor<8x4xf32>
// CHECK: tensor.cast %arg3 : tensor<?x?xf32> to tensor<?x4xf32>
func.func @products(%x: tensor<?x?x?xf32>, %w: tensor<8x4xf32>, %v: tensor<?x4xf32>, %a: tensor<?x?xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %0 = onnx.node "MatMul"(%x, %w) : (tensor<?x?x?xf32>, tensor<8x4xf32>) -> tensor<*xf32>
  %turned = onnx.node "Transpose"(%w) : (tensor<8x4xf32>) -> tensor<*xf32>
  %1 = onnx.node "MatMul"(%turned, %v) : (tensor<*xf32>, tensor<?x4xf32>) -> tensor<*xf32>
  %2 = onnx.node "Gemm"(%a, %w) {transB = 1 : i64} : (tensor<?x?xf32>, tensor<8x4xf32>) -> tensor<*xf32>
  return %0, %1, %2 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// Scales of normalizations, but not one that is broadcast.
// CHECK-LABEL: @norms
// CHECK: tensor.cast %arg0 : tensor<?x?x?xf32> to tensor<?x?x8xf32>
// CHECK: nn.layer_norm
// CHECK-NOT: tensor.cast
// CHECK: nn.rms_norm
// CHECK: tensor.cast %arg0 : tensor<?x?x?xf32> to tensor<?x8x?xf32>
// CHECK: nn.batch_norm
// CHECK: tensor.cast %arg0 : tensor<?x?x?xf32> to tensor<?x8x?xf32>
// CHECK: nn.group_norm {{.*}}groups = 8
// CHECK: tensor.cast %arg0 : tensor<?x?x?xf32> to tensor<?x8x?xf32>
// CHECK: nn.group_norm {{.*}}groups = 2
func.func @norms(%x: tensor<?x?x?xf32>, %s: tensor<8xf32>, %one: tensor<1xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %0 = onnx.node "LayerNormalization"(%x, %s) : (tensor<?x?x?xf32>, tensor<8xf32>) -> tensor<*xf32>
  %1 = onnx.node "RMSNormalization"(%x, %one) : (tensor<?x?x?xf32>, tensor<1xf32>) -> tensor<*xf32>
  %2 = onnx.node "BatchNormalization"(%x, %s, %s, %s, %s) : (tensor<?x?x?xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<*xf32>
  %3 = onnx.node "InstanceNormalization"(%x, %s, %s) : (tensor<?x?x?xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<*xf32>
  %4 = onnx.node "GroupNormalization"(%x, %s, %s) {num_groups = 2 : i64} : (tensor<?x?x?xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<*xf32>
  return %0, %1, %2, %3, %4 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// Open scales and biases of groups have as many elements as channels.
// CHECK-LABEL: @groups
// CHECK-DAG: ingot.require %{{.*}}, "dimension 0 of scale is {0}, but must be {1}"
// CHECK-DAG: ingot.require %{{.*}}, "dimension 0 of bias is {0}, but must be {1}"
// CHECK: nn.group_norm
func.func @groups(%x: tensor<1x8x?xf32>, %s: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<*xf32> {
  %0 = onnx.node "GroupNormalization"(%x, %s, %b) {num_groups = 2 : i64} : (tensor<1x8x?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// CHECK-LABEL: @scales
// CHECK: ingot.require %{{.*}}, "dimension 0 of scales is {0}, but must be {1}"
func.func @scales(%x: tensor<1x3x?x?xf32>, %s: tensor<?xf32>) -> tensor<*xf32> {
  %none = onnx.absent
  %0 = onnx.node "Resize"(%x, %none, %s) : (tensor<1x3x?x?xf32>, none, tensor<?xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
}

// -----

// Before operator set 7, a slope belongs to channels, even if it could broadcast.
module attributes {onnx.opset_import = {"ai.onnx" = 21 : i64}, onnx.stated_opset = 6 : i64} {
// CHECK-LABEL: @old_slope
// CHECK: nn.reshape %arg1 : tensor<3xf32> -> tensor<3x1xf32>
func.func @old_slope(%x: tensor<2x3x3xf32>, %s: tensor<3xf32>) -> tensor<*xf32> {
  %0 = onnx.node "PRelu"(%x, %s) : (tensor<2x3x3xf32>, tensor<3xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
}

// -----

module attributes {onnx.opset_import = {"ai.onnx" = 21 : i64}} {
func.func @wrong(%x: tensor<1x3x8x8xf32>, %g: tensor<1x4x4x3xf32>, %w: tensor<4x3x3x3xf32>, %s: tensor<3xf32>) {
  // expected-error@+1 {{GridSample (opset 21) is invalid: the last dimension of grid needs 2 coordinates}}
  %0 = onnx.node "GridSample"(%x, %g) : (tensor<1x3x8x8xf32>, tensor<1x4x4x3xf32>) -> tensor<*xf32>
  // expected-error@+1 {{Conv (opset 21) is invalid: kernel_shape has 5 where the weights have 3}}
  %1 = onnx.node "Conv"(%x, %w) {kernel_shape = array<i64: 3, 5>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<*xf32>
  %none = onnx.absent
  // expected-error@+1 {{Resize (opset 21) is invalid: 'scales' has 3 elements, but must have 4}}
  %2 = onnx.node "Resize"(%x, %none, %s) : (tensor<1x3x8x8xf32>, none, tensor<3xf32>) -> tensor<*xf32>
  return
}
}

// -----

module attributes {onnx.opset_import = {"ai.onnx" = 21 : i64}} {

// A list has one value per dimension, two per axis, or as many as another list.
// CHECK-LABEL: @lists
// CHECK: ingot.require %{{.*}}, "dimension 0 of repeats is {0}, but must be {1}"
// CHECK: ingot.require %{{.*}}, "dimension 0 of pads is {0}, but must be {1}"
// CHECK: tensor.cast %arg1 : tensor<?xi64> to tensor<4xi64>
// CHECK: ingot.require %{{.*}}, "dimension 0 of axes is {0}, but must be {1}"
// CHECK: ingot.require %{{.*}}, "dimension 0 of shape is {0}, but must be {1}"
func.func @lists(%x: tensor<2x3xf32>, %l: tensor<?xi64>, %p: tensor<2xi64>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = onnx.absent
  %0 = onnx.node "Tile"(%x, %l) : (tensor<2x3xf32>, tensor<?xi64>) -> tensor<*xf32>
  %1 = onnx.node "Pad"(%x, %l) : (tensor<2x3xf32>, tensor<?xi64>) -> tensor<*xf32>
  %2 = onnx.node "Pad"(%x, %p, %none, %l) : (tensor<2x3xf32>, tensor<2xi64>, none, tensor<?xi64>) -> tensor<*xf32>
  %3 = onnx.node "CenterCropPad"(%x, %l) {axes = array<i64: 1>} : (tensor<2x3xf32>, tensor<?xi64>) -> tensor<*xf32>
  return %0, %1, %2, %3 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// The updates have the dimensions that the index tuples do not name.
// CHECK-LABEL: @tuples
// CHECK: ingot.require %{{.*}}, "dimension 1 of indices is {0}, but must be {1}"
// CHECK: nn.scatter_nd {{.*}}tensor<?x2xi64>
func.func @tuples(%x: tensor<4x5x6xf32>, %i: tensor<?x?xi64>, %u: tensor<?x6xf32>) -> tensor<*xf32> {
  %0 = onnx.node "ScatterND"(%x, %i, %u) : (tensor<4x5x6xf32>, tensor<?x?xi64>, tensor<?x6xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// CHECK-LABEL: @unpooled
// CHECK: tensor.cast %arg0 : tensor<1x1x?x2xf32> to tensor<1x1x3x2xf32>
// CHECK: tensor.cast %arg1 : tensor<1x1x3x?xi64> to tensor<1x1x3x2xi64>
func.func @unpooled(%x: tensor<1x1x?x2xf32>, %i: tensor<1x1x3x?xi64>) -> tensor<*xf32> {
  %0 = onnx.node "MaxUnpool"(%x, %i) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x1x?x2xf32>, tensor<1x1x3x?xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// CHECK-LABEL: @deformed
// CHECK: tensor.cast %arg0 : tensor<1x?x4x4xf32> to tensor<1x2x4x4xf32>
func.func @deformed(%x: tensor<1x?x4x4xf32>, %w: tensor<4x1x2x2xf32>, %o: tensor<1x8x3x3xf32>) -> tensor<*xf32> {
  %0 = onnx.node "DeformConv"(%x, %w, %o) {group = 2 : i64} : (tensor<1x?x4x4xf32>, tensor<4x1x2x2xf32>, tensor<1x8x3x3xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
}

// -----

module attributes {onnx.opset_import = {"ai.onnx" = 21 : i64}} {
func.func @ambiguous(%x: tensor<2x3xf32>, %i: tensor<4x?xi64>, %z: tensor<1x6x?xf32>) {
  // expected-error@+1 {{GatherND (opset 21) is not supported: an open last dimension of the indices, which decides the result's rank; fix it with --shape}}
  %0 = onnx.node "GatherND"(%x, %i) : (tensor<2x3xf32>, tensor<4x?xi64>) -> tensor<*xf32>
  // expected-error@+1 {{DFT (opset 21) is not supported: an open last dimension, which is 1 for real and 2 for complex numbers; fix it with --shape}}
  %1 = onnx.node "DFT"(%z) : (tensor<1x6x?xf32>) -> tensor<*xf32>
  return
}
}
