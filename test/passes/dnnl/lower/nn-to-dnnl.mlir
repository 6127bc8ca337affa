// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(nn-to-dnnl))' | FileCheck %s

// CHECK: #[[WINDOWED:.*]] = affine_map<()[s0] -> ((s0 - 1) floordiv 2 + 1)>

// CHECK-LABEL: @conv
// CHECK: %[[D:.*]] = tensor.empty() : tensor<1x4x4x8xf32>
// CHECK: dnnl.convolution ins(%{{.*}}, %{{.*}}) bias(%{{.*}}) outs(%[[D]] : tensor<1x4x4x8xf32>) {{.*}}groups = 1 : i64{{.*}}strides = array<i64: 2, 2>
func.func @conv(%x: tensor<1x8x8x4xf32>, %w: tensor<8x4x3x3xf32>, %b: tensor<8xf32>) -> tensor<1x4x4x8xf32> {
  %y = nn.conv %x, %w bias(%b) {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 2, 2>} : (tensor<1x8x8x4xf32>, tensor<8x4x3x3xf32>, tensor<8xf32>) -> tensor<1x4x4x8xf32>
  return %y : tensor<1x4x4x8xf32>
}

// Dynamic batch and height: (h + 2 - 3) / 2 + 1.
// CHECK-LABEL: @dynamic
// CHECK-DAG: %[[N:.*]] = tensor.dim %{{.*}}, %c0
// CHECK-DAG: %[[H:.*]] = tensor.dim %{{.*}}, %c1{{.*}}
// CHECK: %[[R:.*]] = affine.apply #[[WINDOWED]]()[%[[H]]]
// CHECK: tensor.empty(%[[N]], %[[R]]) : tensor<?x?x4x8xf32>
// CHECK: dnnl.convolution
func.func @dynamic(%x: tensor<?x?x8x4xf32>, %w: tensor<8x4x3x3xf32>) -> tensor<?x?x4x8xf32> {
  %y = nn.conv %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 2, 2>} : (tensor<?x?x8x4xf32>, tensor<8x4x3x3xf32>) -> tensor<?x?x4x8xf32>
  return %y : tensor<?x?x4x8xf32>
}

// Output padding is subtracted from the end pads.
// CHECK-LABEL: @conv_transpose
// CHECK: dnnl.deconvolution {{.*}}pads = array<i64: 1, 1, 0, 0>
func.func @conv_transpose(%x: tensor<1x5x5x4xf32>, %w: tensor<4x6x3x3xf32>) -> tensor<1x10x10x6xf32> {
  %y = nn.conv_transpose %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    output_padding = array<i64: 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x5x5x4xf32>, tensor<4x6x3x3xf32>) -> tensor<1x10x10x6xf32>
  return %y : tensor<1x10x10x6xf32>
}

// CHECK-LABEL: @matmul
// CHECK: dnnl.matmul ins({{.*}}) bias({{.*}}) outs({{.*}} : tensor<?x5x7xf32>) {transpose_weights}
func.func @matmul(%a: tensor<?x5x4xf32>, %b: tensor<7x4xf32>, %c: tensor<7xf32>) -> tensor<?x5x7xf32> {
  %y = nn.matmul %a, %b bias(%c) {transpose_b} : (tensor<?x5x4xf32>, tensor<7x4xf32>, tensor<7xf32>) -> tensor<?x5x7xf32>
  return %y : tensor<?x5x7xf32>
}

// A bias that is not a single row is added afterwards.
// CHECK-LABEL: @matmul_matrix_bias
// CHECK: dnnl.matmul ins({{.*}}) outs
// CHECK: nn.add
func.func @matmul_matrix_bias(%a: tensor<5x4xf32>, %b: tensor<4x7xf32>, %c: tensor<5x1xf32>) -> tensor<5x7xf32> {
  %y = nn.matmul %a, %b bias(%c) : (tensor<5x4xf32>, tensor<4x7xf32>, tensor<5x1xf32>) -> tensor<5x7xf32>
  return %y : tensor<5x7xf32>
}

// CHECK-LABEL: @pools
// CHECK: dnnl.pooling max
// CHECK: dnnl.pooling avg ins
// CHECK: dnnl.pooling avg_padded
func.func @pools(%x: tensor<1x8x8x4xf32>) -> (tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>) {
  %0 = nn.max_pool %x {channels_last, kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<1x8x8x4xf32> -> tensor<1x4x4x4xf32>
  %1 = nn.avg_pool %x {channels_last, kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<1x8x8x4xf32> -> tensor<1x4x4x4xf32>
  %2 = nn.avg_pool %x {channels_last, count_include_pad, kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<1x8x8x4xf32> -> tensor<1x4x4x4xf32>
  return %0, %1, %2 : tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>
}

// CHECK-LABEL: @norms
// CHECK: dnnl.softmax {{.*}}{axis = 1 : i64, log}
// CHECK: tensor.collapse_shape {{.*}} tensor<2x3x4xf32> into tensor<2x12xf32>
// CHECK: dnnl.layer_norm ins({{.*}} : tensor<2x12xf32>) scale({{.*}} : tensor<12xf32>)
// CHECK: tensor.expand_shape {{.*}} into tensor<2x3x4xf32>
func.func @norms(%x: tensor<2x3x4xf32>, %s: tensor<3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>) {
  %0 = nn.softmax %x {axis = 1 : i64, log} : tensor<2x3x4xf32> -> tensor<2x3x4xf32>
  %1 = nn.layer_norm %x scale(%s) {axis = 1 : i64, epsilon = 1.0e-5 : f32} : (tensor<2x3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>
  return %0, %1 : tensor<2x3x4xf32>, tensor<2x3x4xf32>
}

// Must not fire: channels first, another type, another chosen backend, a window
// in the padding, a batch dimension that may or may not broadcast.
// CHECK-LABEL: @not
// CHECK-NOT: dnnl.
func.func @not(%x: tensor<1x4x8x8xf32>, %w: tensor<8x4x1x1xf32>, %i: tensor<2x3xi32>, %j: tensor<3x4xi32>, %a: tensor<2x3xf32>,
               %p: tensor<?x2x3xf32>, %q: tensor<5x3x2xf32>)
    -> (tensor<1x8x8x8xf32>, tensor<2x4xi32>, tensor<2x3xf32>, tensor<1x4x10x8xf32>, tensor<5x2x2xf32>) {
  %0 = nn.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x8x8xf32>
  %1 = nn.matmul %i, %j : (tensor<2x3xi32>, tensor<3x4xi32>) -> tensor<2x4xi32>
  %2 = nn.softmax %a {axis = 1 : i64, ingot.backend = #ingot.backend<loops>} : tensor<2x3xf32> -> tensor<2x3xf32>
  %3 = nn.max_pool %x {channels_last, kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 1, 0, 1>, dilations = array<i64: 1, 1>} : tensor<1x4x8x8xf32> -> tensor<1x4x10x8xf32>
  %4 = nn.matmul %p, %q : (tensor<?x2x3xf32>, tensor<5x3x2xf32>) -> tensor<5x2x2xf32>
  return %0, %1, %2, %3, %4 : tensor<1x8x8x8xf32>, tensor<2x4xi32>, tensor<2x3xf32>, tensor<1x4x10x8xf32>, tensor<5x2x2xf32>
}
