// RUN: ingot-opt %s -split-input-file -verify-diagnostics

func.func @rank(%x: tensor<1x8x8xf32>, %w: tensor<1x36x8x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects src of rank 4, but got 3}}
  %0 = cpu.winograd_conv ins(%x, %w : tensor<1x8x8xf32>, tensor<1x36x8x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {format = #cpu.weights<winograd<4>>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @type(%x: tensor<1x8x8x8xbf16>, %w: tensor<1x36x8x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects src of f32, but got 'bf16'}}
  %0 = cpu.winograd_conv ins(%x, %w : tensor<1x8x8x8xbf16>, tensor<1x36x8x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {format = #cpu.weights<winograd<4>>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @stored(%x: tensor<1x8x8x8xf32>, %w: tensor<1x36x8x16xbf16>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects weights of f32 or f16, but got 'bf16'}}
  %0 = cpu.winograd_conv ins(%x, %w : tensor<1x8x8x8xf32>, tensor<1x36x8x16xbf16>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {format = #cpu.weights<winograd<4>>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @points(%x: tensor<1x8x8x8xf32>, %w: tensor<1x25x8x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects points of weights of size 36, but got 25}}
  %0 = cpu.winograd_conv ins(%x, %w : tensor<1x8x8x8xf32>, tensor<1x25x8x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {format = #cpu.weights<winograd<4>>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @pads(%x: tensor<1x8x8x8xf32>, %w: tensor<1x36x8x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects 4 pads, but got 2}}
  %0 = cpu.winograd_conv ins(%x, %w : tensor<1x8x8x8xf32>, tensor<1x36x8x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {format = #cpu.weights<winograd<4>>, pads = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @negative(%x: tensor<1x8x8x8xf32>, %w: tensor<1x36x8x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects pads of at least 0, but got -1}}
  %0 = cpu.winograd_conv ins(%x, %w : tensor<1x8x8x8xf32>, tensor<1x36x8x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {format = #cpu.weights<winograd<4>>, pads = array<i64: 1, 1, 1, -1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @channels(%x: tensor<1x8x8x8xf32>, %w: tensor<1x36x9x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects src channels of size 9, but got 8}}
  %0 = cpu.winograd_conv ins(%x, %w : tensor<1x8x8x8xf32>, tensor<1x36x9x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {format = #cpu.weights<winograd<4>>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @panels(%x: tensor<1x8x8x8xf32>, %w: tensor<1x36x8x16xf32>, %d: tensor<1x8x8x24xf32>) {
  // expected-error @+1 {{expects weight panels of size 2, but got 1}}
  %0 = cpu.winograd_conv ins(%x, %w : tensor<1x8x8x8xf32>, tensor<1x36x8x16xf32>) outs(%d : tensor<1x8x8x24xf32>)
      attributes {format = #cpu.weights<winograd<4>>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x24xf32>
  return
}

// -----

func.func @width(%x: tensor<1x8x8x8xf32>, %w: tensor<1x36x8x8xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects panels of 16, 32 or 64 channels, but got 8}}
  %0 = cpu.winograd_conv ins(%x, %w : tensor<1x8x8x8xf32>, tensor<1x36x8x8xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {format = #cpu.weights<winograd<4>>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @windows(%x: tensor<1x8x8x8xf32>, %w: tensor<1x36x8x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects dst dimension 2 of size 6, but got 8}}
  %0 = cpu.winograd_conv ins(%x, %w : tensor<1x8x8x8xf32>, tensor<1x36x8x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {format = #cpu.weights<winograd<4>>, pads = array<i64: 1, 0, 1, 0>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @batch(%x: tensor<2x8x8x8xf32>, %w: tensor<1x36x8x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects dst batch of size 2, but got 1}}
  %0 = cpu.winograd_conv ins(%x, %w : tensor<2x8x8x8xf32>, tensor<1x36x8x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {format = #cpu.weights<winograd<4>>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @block(%x: tensor<1x8x8x8xf32>, %w: tensor<1x36x8x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects blocks of tiles of at most 311296 bytes, but got 100 times 6 of 6912}}
  %0 = cpu.winograd_conv ins(%x, %w : tensor<1x8x8x8xf32>, tensor<1x36x8x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {format = #cpu.weights<winograd<4>>, pads = array<i64: 1, 1, 1, 1>, schedule = #cpu.schedule<tile = <6x16>, grid = <600x1>, tile_block = 100>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @no_block(%x: tensor<1x8x8x8xf32>, %w: tensor<1x36x8x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects a schedule with tile_block}}
  %0 = cpu.winograd_conv ins(%x, %w : tensor<1x8x8x8xf32>, tensor<1x36x8x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {format = #cpu.weights<winograd<4>>, pads = array<i64: 1, 1, 1, 1>, schedule = #cpu.schedule<tile = <6x16>, grid = <12x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @half_tiles(%x: tensor<1x8x8x8xf32>, %w: tensor<1x36x8x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects tasks of whole tiles of 6 rows, but got 9}}
  %0 = cpu.winograd_conv ins(%x, %w : tensor<1x8x8x8xf32>, tensor<1x36x8x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {format = #cpu.weights<winograd<4>>, pads = array<i64: 1, 1, 1, 1>, schedule = #cpu.schedule<tile = <6x16>, grid = <9x1>, tile_block = 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @columns(%x: tensor<1x8x8x8xf32>, %w: tensor<1x36x8x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects a tile whose columns divide panels of 16, but got 24}}
  %0 = cpu.winograd_conv ins(%x, %w : tensor<1x8x8x8xf32>, tensor<1x36x8x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {format = #cpu.weights<winograd<4>>, pads = array<i64: 1, 1, 1, 1>, schedule = #cpu.schedule<tile = <6x24>, grid = <6x1>, tile_block = 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}
