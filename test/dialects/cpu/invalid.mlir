// RUN: ingot-opt %s -split-input-file -verify-diagnostics

func.func @conv_low_rank(%x: tensor<1x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x4xf32>) {
  // expected-error @+1 {{expects src of rank 3 to 5, but got 2}}
  %0 = cpu.conv ins(%x, %w : tensor<1x3xf32>, tensor<1x3x3x3x16xf32>) outs(%d : tensor<1x4xf32>)
      attributes {strides = array<i64>, pads = array<i64>, dilations = array<i64>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x4xf32>
  return
}

// -----

func.func @conv_high_rank(%x: tensor<1x2x2x2x2x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x2x2x2x2x4xf32>) {
  // expected-error @+1 {{expects src of rank 3 to 5, but got 6}}
  %0 = cpu.conv ins(%x, %w : tensor<1x2x2x2x2x3xf32>, tensor<1x3x3x3x16xf32>) outs(%d : tensor<1x2x2x2x2x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x2x2x2x2x4xf32>
  return
}

// -----

func.func @conv_dst_rank(%x: tensor<1x8x8x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x8x4xf32>) {
  // expected-error @+1 {{expects dst of rank 4, but got 3}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<1x3x3x3x16xf32>) outs(%d : tensor<1x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x4xf32>
  return
}

// -----

func.func @conv_strides(%x: tensor<1x8x8x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects 2 strides, but got 1}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<1x3x3x3x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @conv_zero_stride(%x: tensor<1x8x8x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects strides of at least 1, but got 0}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<1x3x3x3x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 0>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @conv_dilations(%x: tensor<1x8x8x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects 2 dilations, but got 3}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<1x3x3x3x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @conv_zero_dilation(%x: tensor<1x8x8x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects dilations of at least 1, but got 0}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<1x3x3x3x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 0, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @conv_pads(%x: tensor<1x8x8x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects 4 pads, but got 2}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<1x3x3x3x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @conv_negative_pad(%x: tensor<1x8x8x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects pads of at least 0, but got -1}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<1x3x3x3x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, -1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @conv_dynamic_src(%x: tensor<1x?x8x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects pixels of src of known size}}
  %0 = cpu.conv ins(%x, %w : tensor<1x?x8x3xf32>, tensor<1x3x3x3x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @conv_dynamic_dst(%x: tensor<1x8x8x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x8x8x?xf32>) {
  // expected-error @+1 {{expects pixels of dst of known size}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<1x3x3x3x16xf32>) outs(%d : tensor<1x8x8x?xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x?xf32>
  return
}

// -----

func.func @conv_dynamic_weights(%x: tensor<1x8x8x3xf32>, %w: tensor<?x3x3x3x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects weights of known size}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<?x3x3x3x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @conv_batch(%x: tensor<2x8x8x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects dst batch of size 2, but got 1}}
  %0 = cpu.conv ins(%x, %w : tensor<2x8x8x3xf32>, tensor<1x3x3x3x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @conv_groups(%x: tensor<1x8x8x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects groups of at least 1, but got 0}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<1x3x3x3x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 0 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @conv_weights_rank(%x: tensor<1x8x8x3xf32>, %w: tensor<1x3x3x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects weights of rank 5, but got 4}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<1x3x3x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @conv_channels(%x: tensor<1x8x8x3xf32>, %w: tensor<2x3x3x3x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects src channels of size 6, but got 3}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<2x3x3x3x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @conv_group_channels(%x: tensor<1x8x8x3xf32>, %w: tensor<3x3x3x1x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects dst channels that 3 groups divide, but got 4}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<3x3x3x1x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 3 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @conv_panel_width(%x: tensor<1x8x8x3xf32>, %w: tensor<1x3x3x3x8xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects panels of 16, 32 or 64 channels, but got 8}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<1x3x3x3x8xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @conv_panels(%x: tensor<1x8x8x3xf32>, %w: tensor<2x3x3x3x16xf32>, %d: tensor<1x8x8x33xf32>) {
  // expected-error @+1 {{expects weight panels of size 3, but got 2}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<2x3x3x3x16xf32>) outs(%d : tensor<1x8x8x33xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x33xf32>
  return
}

// -----

func.func @conv_no_result(%x: tensor<1x8x8x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects a result for a tensor destination}}
  cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<1x3x3x3x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @conv_memref_result(%x: memref<1x8x8x3xf32>, %w: memref<1x3x3x3x16xf32>, %d: memref<1x8x8x4xf32>) {
  // expected-error @+1 {{expects no result for a memref}}
  %0 = cpu.conv ins(%x, %w : memref<1x8x8x3xf32>, memref<1x3x3x3x16xf32>) outs(%d : memref<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @conv_result_type(%x: tensor<1x8x8x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects a result of type 'tensor<1x8x8x4xf32>', but got 'tensor<?x8x8x4xf32>'}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<1x3x3x3x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<?x8x8x4xf32>
  return
}

// -----

func.func @epilogue_arguments(%x: tensor<1x8x8x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x8x8x4xf32>, %b: tensor<1x1x1x4xf32>) {
  // expected-error @+1 {{expects 2 epilogue arguments, but got 1}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<1x3x3x3x16xf32>) operands(%b : tensor<1x1x1x4xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @epilogue_rank(%x: tensor<1x8x8x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x8x8x4xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{cannot broadcast epilogue operand 'tensor<4xf32>' to 'tensor<1x8x8x4xf32>'}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<1x3x3x3x16xf32>) operands(%b : tensor<4xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32, %o: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @epilogue_size(%x: tensor<1x8x8x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x8x8x4xf32>, %b: tensor<1x2x1x4xf32>) {
  // expected-error @+1 {{cannot broadcast epilogue operand 'tensor<1x2x1x4xf32>' to 'tensor<1x8x8x4xf32>'}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<1x3x3x3x16xf32>) operands(%b : tensor<1x2x1x4xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32, %o: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @epilogue_type(%x: tensor<1x8x8x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x8x8x4xf32>, %b: tensor<1x1x1x4xf64>) {
  // expected-error @+1 {{expects an epilogue argument of type 'f64', but got 'f32'}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<1x3x3x3x16xf32>) operands(%b : tensor<1x1x1x4xf64>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32, %o: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @epilogue_no_value(%x: tensor<1x8x8x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects an epilogue that yields 1 value, but got 0}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<1x3x3x3x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @epilogue_value_type(%x: tensor<1x8x8x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects an epilogue that yields 'f32', but got 'f64'}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<1x3x3x3x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f64):
    cpu.yield %sum : f64
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @depthwise_weights_rank(%x: tensor<1x8x8x3xf32>, %w: tensor<3x3x1x3xf32>, %d: tensor<1x8x8x3xf32>) {
  // expected-error @+1 {{expects weights of rank 3, but got 4}}
  %0 = cpu.depthwise_conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<3x3x1x3xf32>) outs(%d : tensor<1x8x8x3xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x3xf32>
  return
}

// -----

func.func @depthwise_weights(%x: tensor<1x8x8x3xf32>, %w: tensor<3x3x4xf32>, %d: tensor<1x8x8x3xf32>) {
  // expected-error @+1 {{expects weight channels of size 3, but got 4}}
  %0 = cpu.depthwise_conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<3x3x4xf32>) outs(%d : tensor<1x8x8x3xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x3xf32>
  return
}

// -----

func.func @depthwise_dst(%x: tensor<1x8x8x3xf32>, %w: tensor<3x3x3xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects dst channels of size 3, but got 4}}
  %0 = cpu.depthwise_conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<3x3x3xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @matmul_low_rank(%a: tensor<7xf32>, %w: tensor<1x7x16xf32>, %d: tensor<9xf32>) {
  // expected-error @+1 {{expects src of rank 2 or more, but got 1}}
  %0 = cpu.matmul ins(%a, %w : tensor<7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<9xf32>
  return
}

// -----

func.func @matmul_dst_rank(%a: tensor<5x7xf32>, %w: tensor<1x7x16xf32>, %d: tensor<1x5x9xf32>) {
  // expected-error @+1 {{expects dst of rank 2, but got 3}}
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<1x5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x5x9xf32>
  return
}

// -----

func.func @matmul_weights_rank(%a: tensor<2x3x5x7xf32>, %w: tensor<3x1x7x16xf32>, %d: tensor<2x3x5x9xf32>) {
  // expected-error @+1 {{expects weights of rank 5, but got 4}}
  %0 = cpu.matmul ins(%a, %w : tensor<2x3x5x7xf32>, tensor<3x1x7x16xf32>) outs(%d : tensor<2x3x5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<2x3x5x9xf32>
  return
}

// -----

func.func @matmul_inner(%a: tensor<5x7xf32>, %w: tensor<1x6x16xf32>, %d: tensor<5x9xf32>) {
  // expected-error @+1 {{expects inner dimension of size 7, but got 6}}
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x6x16xf32>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  return
}

// -----

func.func @matmul_rows(%a: tensor<5x7xf32>, %w: tensor<1x7x16xf32>, %d: tensor<4x9xf32>) {
  // expected-error @+1 {{expects dst rows of size 5, but got 4}}
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<4x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<4x9xf32>
  return
}

// -----

func.func @matmul_dynamic_weights(%a: tensor<5x7xf32>, %w: tensor<1x?x16xf32>, %d: tensor<5x9xf32>) {
  // expected-error @+1 {{expects weights of known size}}
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x?x16xf32>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  return
}

// -----

func.func @matmul_dynamic_columns(%a: tensor<5x7xf32>, %w: tensor<1x7x16xf32>, %d: tensor<5x?xf32>) {
  // expected-error @+1 {{expects columns of dst of known size}}
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<5x?xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x?xf32>
  return
}

// -----

func.func @matmul_panel_width(%a: tensor<5x7xf32>, %w: tensor<1x7x9xf32>, %d: tensor<5x9xf32>) {
  // expected-error @+1 {{expects panels of 16, 32 or 64 channels, but got 9}}
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x7x9xf32>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  return
}

// -----

func.func @matmul_panels(%a: tensor<5x7xf32>, %w: tensor<2x7x16xf32>, %d: tensor<5x9xf32>) {
  // expected-error @+1 {{expects weight panels of size 1, but got 2}}
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<2x7x16xf32>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  return
}

// -----

func.func @matmul_batch(%a: tensor<3x5x7xf32>, %w: tensor<1x7x16xf32>, %d: tensor<2x5x9xf32>) {
  // expected-error @+1 {{expects dst batch of size 3, but got 2}}
  %0 = cpu.matmul ins(%a, %w : tensor<3x5x7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<2x5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<2x5x9xf32>
  return
}

// -----

func.func @matmul_weight_batch(%a: tensor<3x5x7xf32>, %w: tensor<2x1x7x16xf32>, %d: tensor<3x5x9xf32>) {
  // expected-error @+1 {{expects weight batch of size 3, but got 2}}
  %0 = cpu.matmul ins(%a, %w : tensor<3x5x7xf32>, tensor<2x1x7x16xf32>) outs(%d : tensor<3x5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<3x5x9xf32>
  return
}

// -----

func.func @launch_unknown(%x: memref<4xf32>, %n: index) {
  // expected-error @+1 {{expects a function called kernel}}
  cpu.launch @kernel(%x) tasks(%n) writes 1 : memref<4xf32>
  return
}

// -----

memref.global @kernel : memref<4xf32>
func.func @launch_not_a_function(%x: memref<4xf32>, %n: index) {
  // expected-error @+1 {{expects a function called kernel}}
  cpu.launch @kernel(%x) tasks(%n) writes 1 : memref<4xf32>
  return
}

// -----

func.func private @kernel(index)
func.func @launch_few_parameters(%x: memref<4xf32>, %n: index) {
  // expected-error @+1 {{expects a kernel that takes 1 memrefs and an index}}
  cpu.launch @kernel(%x) tasks(%n) writes 1 : memref<4xf32>
  return
}

// -----

func.func private @kernel(memref<4xf32>, memref<4xf32>)
func.func @launch_no_number(%x: memref<4xf32>, %n: index) {
  // expected-error @+1 {{expects a kernel that takes 1 memrefs and an index}}
  cpu.launch @kernel(%x) tasks(%n) writes 1 : memref<4xf32>
  return
}

// -----

func.func private @kernel(memref<4xf32>, index) -> index
func.func @launch_result(%x: memref<4xf32>, %n: index) {
  // expected-error @+1 {{expects a kernel that takes 1 memrefs and an index}}
  cpu.launch @kernel(%x) tasks(%n) writes 1 : memref<4xf32>
  return
}

// -----

func.func private @kernel(memref<5xf32>, index)
func.func @launch_shape(%x: memref<4xf32>, %n: index) {
  // expected-error @+1 {{passes 'memref<4xf32>' to a parameter 'memref<5xf32>'}}
  cpu.launch @kernel(%x) tasks(%n) writes 1 : memref<4xf32>
  return
}

// -----

func.func private @kernel(memref<4xi32>, index)
func.func @launch_element_type(%x: memref<4xf32>, %n: index) {
  // expected-error @+1 {{passes 'memref<4xf32>' to a parameter 'memref<4xi32>'}}
  cpu.launch @kernel(%x) tasks(%n) writes 1 : memref<4xf32>
  return
}

// -----

func.func private @kernel(memref<4xf32, strided<[2]>>, index)
func.func @launch_strides(%x: memref<4xf32>, %n: index) {
  // expected-error @+1 {{passes 'memref<4xf32>' to a parameter 'memref<4xf32, strided<[2]>>'}}
  cpu.launch @kernel(%x) tasks(%n) writes 1 : memref<4xf32>
  return
}

// -----

func.func private @kernel(memref<4xf32>, index)
func.func @launch_writes(%x: memref<4xf32>, %n: index) {
  // expected-error @+1 {{expects at most 1 written operands, but got 2}}
  cpu.launch @kernel(%x) tasks(%n) writes 2 : memref<4xf32>
  return
}

// -----

func.func private @kernel(memref<4xf32>, index)
func.func @launch_negative_writes(%x: memref<4xf32>, %n: index) {
  // expected-error @+1 {{expects at most 1 written operands, but got -1}}
  cpu.launch @kernel(%x) tasks(%n) writes -1 : memref<4xf32>
  return
}

// -----

func.func @yield_outside(%x: f32) {
  // expected-error @+1 {{expects parent op to be one of 'cpu.conv, }}
  cpu.yield %x : f32
}
