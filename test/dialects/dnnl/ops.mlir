// RUN: ingot-opt %s | ingot-opt | FileCheck %s
// RUN: ingot-opt %s --mlir-print-op-generic | ingot-opt | FileCheck %s

// CHECK-LABEL: @tensors
// CHECK: dnnl.convolution ins({{.*}}) bias({{.*}}) operands({{.*}}) outs({{.*}}) {{.*}}post_ops = [#dnnl.sum, #dnnl.binary<add, 0>, #dnnl.eltwise<relu, alpha = 1.000000e-01 : f32>]
// CHECK: dnnl.deconvolution
// CHECK: dnnl.matmul ins({{.*}}) outs({{.*}}) {transpose_weights}
// CHECK: dnnl.pooling max ins
// CHECK: dnnl.softmax ins
// CHECK: dnnl.layer_norm ins({{.*}}) scale({{.*}}) shift({{.*}}) outs
func.func @tensors(%x: tensor<1x8x8x4xf32>, %w: tensor<6x4x3x3xf32>, %b: tensor<6xf32>, %p: tensor<1x1x1x6xf32>,
                   %d: tensor<1x8x8x6xf32>, %t: tensor<4x6x2x2xf32>, %u: tensor<1x16x16x6xf32>,
                   %m: tensor<?x5x4xf32>, %n: tensor<7x4xf32>, %q: tensor<?x5x7xf32>, %h: tensor<1x4x4x4xf32>,
                   %s: tensor<4xf32>, %e: tensor<?x5x4xf32>)
    -> (tensor<1x8x8x6xf32>, tensor<1x16x16x6xf32>, tensor<?x5x7xf32>, tensor<1x4x4x4xf32>, tensor<?x5x4xf32>, tensor<?x5x4xf32>) {
  %0 = dnnl.convolution ins(%x, %w : tensor<1x8x8x4xf32>, tensor<6x4x3x3xf32>) bias(%b : tensor<6xf32>)
      operands(%p : tensor<1x1x1x6xf32>) outs(%d : tensor<1x8x8x6xf32>)
      {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
       post_ops = [#dnnl.sum, #dnnl.binary<add, 0>, #dnnl.eltwise<relu, alpha = 0.1 : f32>]} -> tensor<1x8x8x6xf32>
  %1 = dnnl.deconvolution ins(%x, %t : tensor<1x8x8x4xf32>, tensor<4x6x2x2xf32>) outs(%u : tensor<1x16x16x6xf32>)
      {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} -> tensor<1x16x16x6xf32>
  %2 = dnnl.matmul ins(%m, %n : tensor<?x5x4xf32>, tensor<7x4xf32>) outs(%q : tensor<?x5x7xf32>) {transpose_weights} -> tensor<?x5x7xf32>
  %3 = dnnl.pooling max ins(%x : tensor<1x8x8x4xf32>) outs(%h : tensor<1x4x4x4xf32>)
      {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} -> tensor<1x4x4x4xf32>
  %4 = dnnl.softmax ins(%m : tensor<?x5x4xf32>) outs(%e : tensor<?x5x4xf32>) {axis = 2 : i64} -> tensor<?x5x4xf32>
  %5 = dnnl.layer_norm ins(%m : tensor<?x5x4xf32>) scale(%s : tensor<4xf32>) shift(%s : tensor<4xf32>)
      outs(%e : tensor<?x5x4xf32>) {epsilon = 1.0e-5 : f32} -> tensor<?x5x4xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<1x8x8x6xf32>, tensor<1x16x16x6xf32>, tensor<?x5x7xf32>, tensor<1x4x4x4xf32>, tensor<?x5x4xf32>, tensor<?x5x4xf32>
}

// CHECK-LABEL: @memrefs
// CHECK: dnnl.matmul ins({{.*}}) outs({{.*}} : memref<2x4xf32>)
func.func @memrefs(%a: memref<2x3xf32>, %b: memref<3x4xf32, strided<[1, 3]>>, %c: memref<2x4xf32>) {
  dnnl.matmul ins(%a, %b : memref<2x3xf32>, memref<3x4xf32, strided<[1, 3]>>) outs(%c : memref<2x4xf32>)
  return
}
