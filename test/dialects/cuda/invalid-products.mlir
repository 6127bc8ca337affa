// RUN: ingot-opt %s -split-input-file -verify-diagnostics

func.func @ranks(%x: tensor<8xf32>, %w: tensor<4x8xf32>, %d: tensor<4xf32>) {
  // expected-error@+1 {{expects src and dst of one rank of 2 or more}}
  %y = cuda.matmul ins(%x, %w : tensor<8xf32>, tensor<4x8xf32>) outs(%d : tensor<4xf32>) {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<4xf32>
  return
}

// -----

func.func @types(%x: tensor<7x8xf32>, %w: tensor<4x8xf16>, %d: tensor<7x4xf32>) {
  // expected-error@+1 {{expects weights of 'f32', but got 'tensor<4x8xf16>'}}
  %y = cuda.matmul ins(%x, %w : tensor<7x8xf32>, tensor<4x8xf16>) outs(%d : tensor<7x4xf32>) {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<7x4xf32>
  return
}

// -----

func.func @integers(%x: tensor<7x8xi8>, %w: tensor<4x8xi8>, %d: tensor<7x4xf32>) {
  // expected-error@+1 {{expects factors of f32, f16 or bf16, but got 'i8'}}
  %y = cuda.matmul ins(%x, %w : tensor<7x8xi8>, tensor<4x8xi8>) outs(%d : tensor<7x4xf32>) {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<7x4xf32>
  return
}

// -----

func.func @open_channels(%x: tensor<1x8x8x?xf32>, %w: tensor<4x36xf32>, %d: tensor<1x6x6x4xf32>) {
  // expected-error@+1 {{expects a depth of known size}}
  %y = cuda.conv ins(%x, %w : tensor<1x8x8x?xf32>, tensor<4x36xf32>) outs(%d : tensor<1x6x6x4xf32>)
      attributes {taps = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<1x6x6x4xf32>
  return
}

// -----

func.func @columns(%x: tensor<8x8xf32>, %w: tensor<5x8xf32>, %d: tensor<8x4xf32>) {
  // expected-error@+1 {{expects columns of size 4, but got 5}}
  %y = cuda.matmul ins(%x, %w : tensor<8x8xf32>, tensor<5x8xf32>) outs(%d : tensor<8x4xf32>) {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<8x4xf32>
  return
}

// -----

func.func @rows(%x: tensor<7x8xf32>, %w: tensor<4x8xf32>, %d: tensor<6x4xf32>) {
  // expected-error@+1 {{expects the rows of src in dst}}
  %y = cuda.matmul ins(%x, %w : tensor<7x8xf32>, tensor<4x8xf32>) outs(%d : tensor<6x4xf32>) {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<6x4xf32>
  return
}

// -----

func.func @depth(%x: tensor<7x8xf32>, %w: tensor<4x7xf32>, %d: tensor<7x4xf32>) {
  // expected-error@+1 {{expects weights of depth 8 or more, but got 7}}
  %y = cuda.matmul ins(%x, %w : tensor<7x8xf32>, tensor<4x7xf32>) outs(%d : tensor<7x4xf32>) {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<7x4xf32>
  return
}

// -----

func.func @batches(%x: tensor<2x7x8xf32>, %w: tensor<3x4x8xf32>, %d: tensor<2x7x4xf32>) {
  // expected-error@+1 {{expects the batches of src in weights}}
  %y = cuda.matmul ins(%x, %w : tensor<2x7x8xf32>, tensor<3x4x8xf32>) outs(%d : tensor<2x7x4xf32>) {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<2x7x4xf32>
  return
}

// -----

func.func @epilogue(%x: tensor<7x8xf32>, %w: tensor<4x8xf32>, %b: tensor<1x4xf32>, %d: tensor<7x4xf32>) {
  // expected-error@+1 {{expects an epilogue with an argument for the sum, of f32, and for each of 1 operands}}
  %y = cuda.matmul ins(%x, %w : tensor<7x8xf32>, tensor<4x8xf32>) operands(%b : tensor<1x4xf32>) outs(%d : tensor<7x4xf32>) {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<7x4xf32>
  return
}

// -----

func.func @yield(%x: tensor<7x8xf32>, %w: tensor<4x8xf32>, %d: tensor<7x4xf16>) {
  // expected-error@+1 {{expects an epilogue that yields 'f16'}}
  %y = cuda.matmul ins(%x, %w : tensor<7x8xf32>, tensor<4x8xf32>) outs(%d : tensor<7x4xf16>) {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<7x4xf16>
  return
}

// -----

func.func @windows(%x: tensor<1x8x8x4xf32>, %w: tensor<4x36xf32>, %d: tensor<1x7x6x4xf32>) {
  // expected-error@+1 {{windows}}
  %y = cuda.conv ins(%x, %w : tensor<1x8x8x4xf32>, tensor<4x36xf32>) outs(%d : tensor<1x7x6x4xf32>)
      attributes {taps = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<1x7x6x4xf32>
  return
}

// -----

func.func @taps(%x: tensor<1x8x8x4xf32>, %w: tensor<4x36xf32>, %d: tensor<1x6x6x4xf32>) {
  // expected-error@+1 {{taps}}
  %y = cuda.conv ins(%x, %w : tensor<1x8x8x4xf32>, tensor<4x36xf32>) outs(%d : tensor<1x6x6x4xf32>)
      attributes {taps = array<i64: 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<1x6x6x4xf32>
  return
}

// -----

func.func @groups(%x: tensor<1x8x8x4xf32>, %w: tensor<4x12xf32>, %d: tensor<1x6x6x4xf32>) {
  // expected-error@+1 {{expects groups that divide 4 and 4 channels, but got 3}}
  %y = cuda.conv ins(%x, %w : tensor<1x8x8x4xf32>, tensor<4x12xf32>) outs(%d : tensor<1x6x6x4xf32>)
      attributes {taps = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 3 : i64} {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<1x6x6x4xf32>
  return
}

// -----

// expected-error@+1 {{expects sizes that are powers of two}}
#a = #cuda.schedule<rows = 48, columns = 32, warp_rows = 16, warp_columns = 16, depth = 64, stages = 4, src_bytes = 16, weights_bytes = 16, stored = 4>

// -----

// expected-error@+1 {{expects warps of 16x16 or more within the tile}}
#a = #cuda.schedule<rows = 16, columns = 32, warp_rows = 32, warp_columns = 16, depth = 64, stages = 4, src_bytes = 16, weights_bytes = 16, stored = 4>

// -----

// expected-error@+1 {{expects at most 512 threads}}
#a = #cuda.schedule<rows = 128, columns = 64, warp_rows = 16, warp_columns = 16, depth = 64, stages = 2, src_bytes = 16, weights_bytes = 16, stored = 4>

// -----

// expected-error@+1 {{expects a depth of 64 or 128 bytes and 2 to 8 stages, but got 32 and 4}}
#a = #cuda.schedule<rows = 32, columns = 32, warp_rows = 16, warp_columns = 16, depth = 32, stages = 4, src_bytes = 16, weights_bytes = 16, stored = 4>

// -----

// expected-error@+1 {{expects copies of 2 to 16 bytes}}
#a = #cuda.schedule<rows = 32, columns = 32, warp_rows = 16, warp_columns = 16, depth = 64, stages = 4, src_bytes = 1, weights_bytes = 16, stored = 4>

// -----

// expected-error@+1 {{expects at most 101376 bytes of shared memory, but needs 131072}}
#a = #cuda.schedule<rows = 128, columns = 128, warp_rows = 64, warp_columns = 32, depth = 128, stages = 4, src_bytes = 16, weights_bytes = 16, stored = 4>

// -----

func.func @parts(%x: tensor<7x8xf32>, %w: tensor<4x8xf32>, %d: tensor<3x7x4xf32>) {
  // expected-error@+1 {{expects parts of size 2, but got 3}}
  %y = cuda.matmul ins(%x, %w : tensor<7x8xf32>, tensor<4x8xf32>) outs(%d : tensor<3x7x4xf32>) attributes {parts = 2 : i64} {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<3x7x4xf32>
  return
}

// -----

func.func @no_parts(%x: tensor<7x8xf32>, %w: tensor<4x8xf32>, %d: tensor<7x4xf32>) {
  // expected-error@+1 {{expects 1 to 64 parts, but got 0}}
  %y = cuda.matmul ins(%x, %w : tensor<7x8xf32>, tensor<4x8xf32>) outs(%d : tensor<7x4xf32>) attributes {parts = 0 : i64} {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<7x4xf32>
  return
}

// -----

func.func @parts_with_epilogue(%x: tensor<7x8xf32>, %w: tensor<4x8xf32>, %d: tensor<2x7x4xf32>) {
  // expected-error@+1 {{expects dst of f32, and an epilogue that yields the sum, for parts}}
  %y = cuda.matmul ins(%x, %w : tensor<7x8xf32>, tensor<4x8xf32>) outs(%d : tensor<2x7x4xf32>) attributes {parts = 2 : i64} {
  ^bb0(%sum: f32):
    %0 = arith.negf %sum : f32
    cuda.yield %0 : f32
  } -> tensor<2x7x4xf32>
  return
}

// -----

func.func @sum_of_halves(%x: tensor<2x7x4xf16>, %d: tensor<7x4xf32>) {
  // expected-error@+1 {{expects src of f32, but got 'tensor<2x7x4xf16>'}}
  %y = cuda.sum_parts ins(%x : tensor<2x7x4xf16>) outs(%d : tensor<7x4xf32>) {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<7x4xf32>
  return
}

// -----

func.func @sum_of_others(%x: tensor<2x7x5xf32>, %d: tensor<7x4xf32>) {
  // expected-error@+1 {{expects the sizes of dst in src, behind the parts}}
  %y = cuda.sum_parts ins(%x : tensor<2x7x5xf32>) outs(%d : tensor<7x4xf32>) {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<7x4xf32>
  return
}

// -----

func.func @depthwise_channels(%x: tensor<1x4x4x8xf32>, %w: tensor<3x3x7xf32>, %d: tensor<1x2x2x8xf32>) {
  // expected-error@+1 {{expects channels of size 8, but got 7}}
  %y = cuda.depthwise_conv ins(%x, %w : tensor<1x4x4x8xf32>, tensor<3x3x7xf32>) outs(%d : tensor<1x2x2x8xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<1x2x2x8xf32>
  return
}

// -----

func.func @depthwise_multiplier(%x: tensor<1x4x4x3xf32>, %w: tensor<3x3x8xf32>, %d: tensor<1x2x2x8xf32>) {
  // expected-error@+1 {{expects channels that are a multiple of 3, but got 8}}
  %y = cuda.depthwise_conv ins(%x, %w : tensor<1x4x4x3xf32>, tensor<3x3x8xf32>) outs(%d : tensor<1x2x2x8xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<1x2x2x8xf32>
  return
}

// -----

func.func @depthwise_windows(%x: tensor<1x4x4x8xf32>, %w: tensor<3x3x8xf32>, %d: tensor<1x2x4x8xf32>) {
  // expected-error@+1 {{expects windows of size 2, but got 4}}
  %y = cuda.depthwise_conv ins(%x, %w : tensor<1x4x4x8xf32>, tensor<3x3x8xf32>) outs(%d : tensor<1x2x4x8xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<1x2x4x8xf32>
  return
}

// -----

func.func @depthwise_taps(%x: tensor<1x9x9x8xf32>, %w: tensor<9x9x8xf32>, %d: tensor<1x1x1x8xf32>) {
  // expected-error@+1 {{expects at most 64 taps, but got 81}}
  %y = cuda.depthwise_conv ins(%x, %w : tensor<1x9x9x8xf32>, tensor<9x9x8xf32>) outs(%d : tensor<1x1x1x8xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<1x1x1x8xf32>
  return
}
