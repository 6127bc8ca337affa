// RUN: ingot-opt %s -split-input-file -verify-diagnostics

func.func @rank(%x: tensor<1x8x4xf32>, %w: tensor<6x4x3x3xf32>, %d: tensor<1x8x8x6xf32>) {
  // expected-error @+1 {{expects operands of one rank, but got 3 and 4}}
  %0 = dnnl.convolution ins(%x, %w : tensor<1x8x4xf32>, tensor<6x4x3x3xf32>) outs(%d : tensor<1x8x8x6xf32>)
      {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} -> tensor<1x8x8x6xf32>
  return
}

// -----

func.func @low_rank(%x: tensor<1x4xf32>, %w: tensor<6x4xf32>, %d: tensor<1x6xf32>) {
  // expected-error @+1 {{expects rank 3 or more, but got 2}}
  %0 = dnnl.convolution ins(%x, %w : tensor<1x4xf32>, tensor<6x4xf32>) outs(%d : tensor<1x6xf32>)
      {strides = array<i64>, pads = array<i64>, dilations = array<i64>, groups = 1 : i64} -> tensor<1x6xf32>
  return
}

// -----

func.func @groups(%x: tensor<1x8x8x4xf32>, %w: tensor<6x4x3x3xf32>, %d: tensor<1x8x8x6xf32>) {
  // expected-error @+1 {{expects groups of at least 1, but got 0}}
  %0 = dnnl.convolution ins(%x, %w : tensor<1x8x8x4xf32>, tensor<6x4x3x3xf32>) outs(%d : tensor<1x8x8x6xf32>)
      {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 0 : i64} -> tensor<1x8x8x6xf32>
  return
}

// -----

func.func @strides(%x: tensor<1x8x8x4xf32>, %w: tensor<6x4x3x3xf32>, %d: tensor<1x8x8x6xf32>) {
  // expected-error @+1 {{expects 2 strides, but got 1}}
  %0 = dnnl.convolution ins(%x, %w : tensor<1x8x8x4xf32>, tensor<6x4x3x3xf32>) outs(%d : tensor<1x8x8x6xf32>)
      {strides = array<i64: 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} -> tensor<1x8x8x6xf32>
  return
}

// -----

func.func @channels(%x: tensor<1x8x8x5xf32>, %w: tensor<6x4x3x3xf32>, %d: tensor<1x8x8x6xf32>) {
  // expected-error @+1 {{expects src channels of size 4, but got 5}}
  %0 = dnnl.convolution ins(%x, %w : tensor<1x8x8x5xf32>, tensor<6x4x3x3xf32>) outs(%d : tensor<1x8x8x6xf32>)
      {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} -> tensor<1x8x8x6xf32>
  return
}

// -----

func.func @bias(%x: tensor<1x8x8x4xf32>, %w: tensor<6x4x3x3xf32>, %b: tensor<1x6xf32>, %d: tensor<1x8x8x6xf32>) {
  // expected-error @+1 {{expects bias of rank 1, but got 2}}
  %0 = dnnl.convolution ins(%x, %w : tensor<1x8x8x4xf32>, tensor<6x4x3x3xf32>) bias(%b : tensor<1x6xf32>) outs(%d : tensor<1x8x8x6xf32>)
      {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} -> tensor<1x8x8x6xf32>
  return
}

// -----

func.func @post_op(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %d: tensor<2x4xf32>) {
  // expected-error @+1 {{has 0 post-op operands, but post-op #dnnl.binary<add, 0> uses number 0}}
  %0 = dnnl.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%d : tensor<2x4xf32>) {post_ops = [#dnnl.binary<add, 0>]} -> tensor<2x4xf32>
  return
}

// -----

func.func @post_operand(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %p: tensor<2x3xf32>, %d: tensor<2x4xf32>) {
  // expected-error @+1 {{cannot broadcast post-op operand 'tensor<2x3xf32>' to 'tensor<2x4xf32>'}}
  %0 = dnnl.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) operands(%p : tensor<2x3xf32>) outs(%d : tensor<2x4xf32>)
      {post_ops = [#dnnl.binary<add, 0>]} -> tensor<2x4xf32>
  return
}

// -----

func.func @not_a_post_op(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %d: tensor<2x4xf32>) {
  // expected-error @+1 {{failed to satisfy constraint: list of post-ops}}
  %0 = dnnl.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%d : tensor<2x4xf32>) {post_ops = [1]} -> tensor<2x4xf32>
  return
}

// -----

func.func @matmul_rank(%a: tensor<3xf32>, %b: tensor<3x4xf32>, %d: tensor<4xf32>) {
  // expected-error @+1 {{expects operands of rank 2 or more, but got 1 and 2}}
  %0 = dnnl.matmul ins(%a, %b : tensor<3xf32>, tensor<3x4xf32>) outs(%d : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @matmul_dst(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %d: tensor<1x2x4xf32>) {
  // expected-error @+1 {{expects dst of rank 2, but got 3}}
  %0 = dnnl.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%d : tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  return
}

// -----

func.func @inner(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %d: tensor<2x3xf32>) {
  // expected-error @+1 {{expects inner dimension of size 3, but got 4}}
  %0 = dnnl.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%d : tensor<2x3xf32>) {transpose_weights} -> tensor<2x3xf32>
  return
}

// -----

func.func @batch(%a: tensor<5x2x3xf32>, %b: tensor<6x3x4xf32>, %d: tensor<5x2x4xf32>) {
  // expected-error @+1 {{cannot broadcast batch dimensions of 'tensor<6x3x4xf32>' to 'tensor<5x2x4xf32>'}}
  %0 = dnnl.matmul ins(%a, %b : tensor<5x2x3xf32>, tensor<6x3x4xf32>) outs(%d : tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  return
}

// -----

func.func @result(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %d: tensor<2x4xf32>) {
  // expected-error @+1 {{expects a result for a tensor destination}}
  dnnl.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%d : tensor<2x4xf32>)
  return
}

// -----

func.func @result_type(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %d: tensor<2x4xf32>) {
  // expected-error @+1 {{expects a result of type 'tensor<2x4xf32>', but got 'tensor<?x4xf32>'}}
  %0 = dnnl.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%d : tensor<2x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @no_result(%a: memref<2x3xf32>, %b: memref<3x4xf32>, %d: memref<2x4xf32>) {
  // expected-error @+1 {{expects no result for a memref}}
  %0 = dnnl.matmul ins(%a, %b : memref<2x3xf32>, memref<3x4xf32>) outs(%d : memref<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @kernel(%x: tensor<1x8x8x4xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects 2 kernel sizes, but got 3}}
  %0 = dnnl.pooling avg ins(%x : tensor<1x8x8x4xf32>) outs(%d : tensor<1x8x8x4xf32>)
      {kernel = array<i64: 1, 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @shapes(%x: tensor<2x3xf32>, %d: tensor<2x4xf32>) {
  // expected-error @+1 {{expects src and dst of one shape, but got 'tensor<2x3xf32>' and 'tensor<2x4xf32>'}}
  %0 = dnnl.softmax ins(%x : tensor<2x3xf32>) outs(%d : tensor<2x4xf32>) {axis = 1 : i64} -> tensor<2x4xf32>
  return
}

// -----

func.func @axis(%x: tensor<2x3xf32>, %d: tensor<2x3xf32>) {
  // expected-error @+1 {{expects an axis in [0, 2), but got 2}}
  %0 = dnnl.softmax ins(%x : tensor<2x3xf32>) outs(%d : tensor<2x3xf32>) {axis = 2 : i64} -> tensor<2x3xf32>
  return
}

// -----

func.func @scale(%x: tensor<2x3xf32>, %s: tensor<2xf32>, %d: tensor<2x3xf32>) {
  // expected-error @+1 {{expects scale of size 3, but got 2}}
  %0 = dnnl.layer_norm ins(%x : tensor<2x3xf32>) scale(%s : tensor<2xf32>) outs(%d : tensor<2x3xf32>) {epsilon = 1.0e-5 : f32} -> tensor<2x3xf32>
  return
}

// -----

func.func @deconvolution_channels(%x: tensor<1x8x8x5xf32>, %w: tensor<4x6x2x2xf32>, %d: tensor<1x16x16x6xf32>) {
  // expected-error @+1 {{expects src channels of size 4, but got 5}}
  %0 = dnnl.deconvolution ins(%x, %w : tensor<1x8x8x5xf32>, tensor<4x6x2x2xf32>) outs(%d : tensor<1x16x16x6xf32>)
      {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} -> tensor<1x16x16x6xf32>
  return
}
