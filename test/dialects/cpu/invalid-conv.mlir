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

func.func @conv_dynamic_src(%x: tensor<1x8x8x?xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects channels of src of known size}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x?xf32>, tensor<1x3x3x3x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @conv_dynamic_dst(%x: tensor<1x8x8x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x8x8x?xf32>) {
  // expected-error @+1 {{expects channels of dst of known size}}
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
  // expected-error @+1 {{expects weight channels of 1, 2 or 4 times 3, but got 4}}
  %0 = cpu.depthwise_conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<3x3x4xf32>) outs(%d : tensor<1x8x8x3xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x3xf32>
  return
}

// -----

func.func @depthwise_groups(%x: tensor<1x8x8x6xf32>, %w: tensor<3x3x24xf32>, %d: tensor<1x8x8x6xf32>) {
  // expected-error @+1 {{expects channels in groups of 4, but got 6}}
  %0 = cpu.depthwise_conv ins(%x, %w : tensor<1x8x8x6xf32>, tensor<3x3x24xf32>) outs(%d : tensor<1x8x8x6xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x6xf32>
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
func.func @transposed_pads(%x: tensor<1x4x6xf32>, %w: tensor<6x5x2xf32>, %d: tensor<1x8x5xf32>) {
  // expected-error @+1 {{expects 2 pads, but got 1}}
  %0 = cpu.conv_transpose ins(%x, %w : tensor<1x4x6xf32>, tensor<6x5x2xf32>) outs(%d : tensor<1x8x5xf32>)
      attributes {strides = array<i64: 2>, pads = array<i64: 0>, dilations = array<i64: 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x5xf32>
  return
}

// -----

func.func @transposed_weights_rank(%x: tensor<1x4x6xf32>, %w: tensor<6x5xf32>, %d: tensor<1x8x5xf32>) {
  // expected-error @+1 {{expects weights of rank 3, but got 2}}
  %0 = cpu.conv_transpose ins(%x, %w : tensor<1x4x6xf32>, tensor<6x5xf32>) outs(%d : tensor<1x8x5xf32>)
      attributes {strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x5xf32>
  return
}

// -----

func.func @transposed_src_channels(%x: tensor<1x4x6xf32>, %w: tensor<5x5x2xf32>, %d: tensor<1x8x5xf32>) {
  // expected-error @+1 {{expects src channels of size 5, but got 6}}
  %0 = cpu.conv_transpose ins(%x, %w : tensor<1x4x6xf32>, tensor<5x5x2xf32>) outs(%d : tensor<1x8x5xf32>)
      attributes {strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x5xf32>
  return
}

// -----

func.func @transposed_dst_channels(%x: tensor<1x4x6xf32>, %w: tensor<6x5x2xf32>, %d: tensor<1x8x6xf32>) {
  // expected-error @+1 {{expects dst channels of size 5, but got 6}}
  %0 = cpu.conv_transpose ins(%x, %w : tensor<1x4x6xf32>, tensor<6x5x2xf32>) outs(%d : tensor<1x8x6xf32>)
      attributes {strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x6xf32>
  return
}

// -----

func.func @transposed_no_groups(%x: tensor<1x4x6xf32>, %w: tensor<6x5x2xf32>, %d: tensor<1x8x5xf32>) {
  // expected-error @+1 {{expects groups of at least 1, but got 0}}
  %0 = cpu.conv_transpose ins(%x, %w : tensor<1x4x6xf32>, tensor<6x5x2xf32>) outs(%d : tensor<1x8x5xf32>)
      attributes {strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 0 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x5xf32>
  return
}

// -----

func.func @transposed_groups(%x: tensor<1x4x6xf32>, %w: tensor<6x5x2xf32>, %d: tensor<1x8x20xf32>) {
  // expected-error @+1 {{expects src channels that 4 groups divide, but got 6}}
  %0 = cpu.conv_transpose ins(%x, %w : tensor<1x4x6xf32>, tensor<6x5x2xf32>) outs(%d : tensor<1x8x20xf32>)
      attributes {strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 4 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x20xf32>
  return
}

// -----

func.func @transposed_memref(%x: memref<1x4x6xf32>, %w: memref<6x5x2xf32>, %d: memref<1x8x5xf32>) {
  // expected-error @+1 {{expects tensors}}
  cpu.conv_transpose ins(%x, %w : memref<1x4x6xf32>, memref<6x5x2xf32>) outs(%d : memref<1x8x5xf32>)
      attributes {strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----


// -----

func.func @zero_point_of_floats(%x: tensor<1x8x8x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects src_zero_point of 1 to 255 for bytes, -32768 to 32767 for words, else 0, but got 3 for src of 'f32'}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<1x3x3x3x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, src_zero_point = 3 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @no_compensation(%x: tensor<1x8x8x3xui8>, %w: tensor<1x3x3x1x16x4xi8>, %d: tensor<1x8x8x4xi32>) {
  // expected-error @+1 {{expects a compensation where src_zero_point is not 0, and only there}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xui8>, tensor<1x3x3x1x16x4xi8>) outs(%d : tensor<1x8x8x4xi32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, src_zero_point = 3 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<1x8x8x4xi32>
  return
}

// -----

func.func @small_compensation(%x: tensor<1x8x8x3xui8>, %w: tensor<1x3x3x1x16x4xi8>, %c: tensor<1x2x16xi32>, %d: tensor<1x8x8x4xi32>) {
  // expected-error @+1 {{expects a compensation of i32 with an element for each row of taps and column of a panel, but got 'tensor<1x2x16xi32>'}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xui8>, tensor<1x3x3x1x16x4xi8>) compensation(%c : tensor<1x2x16xi32>) outs(%d : tensor<1x8x8x4xi32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, src_zero_point = 3 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<1x8x8x4xi32>
  return
}

// -----

func.func @pairs_of_groups(%x: tensor<1x1x4x64xui8>, %w: tensor<2x1x1x8x16x4xi8>, %p: tensor<2x1x1x8xi8>, %d: tensor<1x1x4x32xi32>) {
  // expected-error @+1 {{expects pairs for one group, but got 2}}
  %0 = cpu.conv ins(%x, %w : tensor<1x1x4x64xui8>, tensor<2x1x1x8x16x4xi8>) pairs(%p : tensor<2x1x1x8xi8>) outs(%d : tensor<1x1x4x32xi32>)
      attributes {format = #cpu.weights<panels, pairs = true>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 2 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<1x1x4x32xi32>
  return
}

// -----

func.func @transposed_zero_point(%x: tensor<1x4x6xf32>, %w: tensor<6x5x2xf32>, %d: tensor<1x8x5xf32>) {
  // expected-error @+1 {{expects src_zero_point of 1 to 255 for bytes, -32768 to 32767 for words, else 0, but got 3 for src of 'f32'}}
  %0 = cpu.conv_transpose ins(%x, %w : tensor<1x4x6xf32>, tensor<6x5x2xf32>) outs(%d : tensor<1x8x5xf32>)
      attributes {strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64, src_zero_point = 3 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x5xf32>
  return
}
