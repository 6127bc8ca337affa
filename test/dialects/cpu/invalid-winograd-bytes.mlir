// RUN: ingot-opt %s --split-input-file --verify-diagnostics

// What is proved.
func.func @tiles_of_three(%x: memref<1x8x8x16xi8>, %w: memref<1x3x3x4x16x4xi8>, %d: memref<1x8x8x16xi32>) {
  // expected-error @+2 {{expects exact_tiles of 2 or 4, but got 3}}
  cpu.conv ins(%x, %w : memref<1x8x8x16xi8>, memref<1x3x3x4x16x4xi8>) outs(%d : memref<1x8x8x16xi32>)
      attributes {format = #cpu.weights<panels, exact_tiles = 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @negative_tiles(%x: memref<1x8x8x16xi8>, %w: memref<1x3x3x4x16x4xi8>, %d: memref<1x8x8x16xi32>) {
  // expected-error @+2 {{expects exact_tiles of 2 or 4, but got -2}}
  cpu.conv ins(%x, %w : memref<1x8x8x16xi8>, memref<1x3x3x4x16x4xi8>) outs(%d : memref<1x8x8x16xi32>)
      attributes {format = #cpu.weights<panels, exact_tiles = -2>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @no_bytes(%x: memref<1x8x8x16xf32>, %w: memref<1x3x3x16x16xf32>, %d: memref<1x8x8x16xf32>) {
  // expected-error @+1 {{expects exact_tiles for bytes only, of 3x3 taps without strides, dilations or groups, and channels in groups of 4}}
  cpu.conv ins(%x, %w : memref<1x8x8x16xf32>, memref<1x3x3x16x16xf32>) outs(%d : memref<1x8x8x16xf32>)
      attributes {format = #cpu.weights<panels, exact_tiles = 2>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @other_taps(%x: memref<1x8x8x16xi8>, %w: memref<1x1x3x4x16x4xi8>, %d: memref<1x8x8x16xi32>) {
  // expected-error @+1 {{expects exact_tiles for bytes only, of 3x3 taps without strides, dilations or groups, and channels in groups of 4}}
  cpu.conv ins(%x, %w : memref<1x8x8x16xi8>, memref<1x1x3x4x16x4xi8>) outs(%d : memref<1x8x8x16xi32>)
      attributes {format = #cpu.weights<panels, exact_tiles = 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 1, 0, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @row(%x: memref<1x8x16xi8>, %w: memref<1x3x4x16x4xi8>, %d: memref<1x8x16xi32>) {
  // expected-error @+1 {{expects exact_tiles for bytes only, of 3x3 taps without strides, dilations or groups, and channels in groups of 4}}
  cpu.conv ins(%x, %w : memref<1x8x16xi8>, memref<1x3x4x16x4xi8>) outs(%d : memref<1x8x16xi32>)
      attributes {format = #cpu.weights<panels, exact_tiles = 2>, strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @strides(%x: memref<1x8x8x16xi8>, %w: memref<1x3x3x4x16x4xi8>, %d: memref<1x4x4x16xi32>) {
  // expected-error @+1 {{expects exact_tiles for bytes only, of 3x3 taps without strides, dilations or groups, and channels in groups of 4}}
  cpu.conv ins(%x, %w : memref<1x8x8x16xi8>, memref<1x3x3x4x16x4xi8>) outs(%d : memref<1x4x4x16xi32>)
      attributes {format = #cpu.weights<panels, exact_tiles = 2>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @dilations(%x: memref<1x8x8x16xi8>, %w: memref<1x3x3x4x16x4xi8>, %d: memref<1x8x8x16xi32>) {
  // expected-error @+1 {{expects exact_tiles for bytes only, of 3x3 taps without strides, dilations or groups, and channels in groups of 4}}
  cpu.conv ins(%x, %w : memref<1x8x8x16xi8>, memref<1x3x3x4x16x4xi8>) outs(%d : memref<1x8x8x16xi32>)
      attributes {format = #cpu.weights<panels, exact_tiles = 4>, strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 2, 2>, groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @groups(%x: memref<1x8x8x32xi8>, %w: memref<2x3x3x4x16x4xi8>, %d: memref<1x8x8x32xi32>) {
  // expected-error @+1 {{expects exact_tiles for bytes only, of 3x3 taps without strides, dilations or groups, and channels in groups of 4}}
  cpu.conv ins(%x, %w : memref<1x8x8x32xi8>, memref<2x3x3x4x16x4xi8>) outs(%d : memref<1x8x8x32xi32>)
      attributes {format = #cpu.weights<panels, exact_tiles = 4>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @odd_channels(%x: memref<1x8x8x14xi8>, %w: memref<1x3x3x4x16x4xi8>, %d: memref<1x8x8x16xi32>) {
  // expected-error @+1 {{expects exact_tiles for bytes only, of 3x3 taps without strides, dilations or groups, and channels in groups of 4}}
  cpu.conv ins(%x, %w : memref<1x8x8x14xi8>, memref<1x3x3x4x16x4xi8>) outs(%d : memref<1x8x8x16xi32>)
      attributes {format = #cpu.weights<panels, exact_tiles = 4>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

// Schedules.
func.func @negative_winograd(%a: memref<5x7xf32>, %w: memref<1x7x16xf32>, %d: memref<5x9xf32>) {
  cpu.matmul ins(%a, %w : memref<5x7xf32>, memref<1x7x16xf32>) outs(%d : memref<5x9xf32>)
  // expected-error @+1 {{expects a winograd that is not negative, but got -2}}
      attributes {schedule = #cpu.schedule<tile = <3x16>, grid = <6x1>, winograd = -2>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @winograd_of_matmul(%a: memref<5x7xf32>, %w: memref<1x7x16xf32>, %d: memref<5x9xf32>) {
  // expected-error @+1 {{expects a schedule without winograd}}
  cpu.matmul ins(%a, %w : memref<5x7xf32>, memref<1x7x16xf32>) outs(%d : memref<5x9xf32>)
      attributes {schedule = #cpu.schedule<tile = <3x16>, grid = <6x1>, winograd = 2>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @scheduled_more_than_proved(%x: memref<1x8x8x16xi8>, %w: memref<1x3x3x4x16x4xi8>, %d: memref<1x8x8x16xi32>) {
  // expected-error @+1 {{expects winograd of 2 or 4, and of at most 2, but got 4}}
  cpu.conv ins(%x, %w : memref<1x8x8x16xi8>, memref<1x3x3x4x16x4xi8>) outs(%d : memref<1x8x8x16xi32>)
      attributes {format = #cpu.weights<panels, exact_tiles = 2>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
                  schedule = #cpu.schedule<tile = <3x16, product = int8_wide>, grid = <3x1>, depth_block = 2, tile_block = 2, winograd = 4>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @scheduled_unproved(%x: memref<1x8x8x16xi8>, %w: memref<1x3x3x4x16x4xi8>, %d: memref<1x8x8x16xi32>) {
  // expected-error @+1 {{expects winograd of 2 or 4, and of at most 0, but got 2}}
  cpu.conv ins(%x, %w : memref<1x8x8x16xi8>, memref<1x3x3x4x16x4xi8>) outs(%d : memref<1x8x8x16xi32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
                  schedule = #cpu.schedule<tile = <3x16, product = int8_wide>, grid = <3x1>, depth_block = 2, tile_block = 2, winograd = 2>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @scheduled_tiles_of_three(%x: memref<1x8x8x16xi8>, %w: memref<1x3x3x4x16x4xi8>, %d: memref<1x8x8x16xi32>) {
  // expected-error @+1 {{expects winograd of 2 or 4, and of at most 4, but got 3}}
  cpu.conv ins(%x, %w : memref<1x8x8x16xi8>, memref<1x3x3x4x16x4xi8>) outs(%d : memref<1x8x8x16xi32>)
      attributes {format = #cpu.weights<panels, exact_tiles = 4>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
                  schedule = #cpu.schedule<tile = <3x16, product = int8_wide>, grid = <3x1>, depth_block = 2, tile_block = 2, winograd = 3>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @scheduled_dot(%x: memref<1x8x8x16xi8>, %w: memref<1x3x3x4x16x4xi8>, %d: memref<1x8x8x16xi32>) {
  // expected-error @+1 {{expects winograd with product int8_wide, but got int8_dot}}
  cpu.conv ins(%x, %w : memref<1x8x8x16xi8>, memref<1x3x3x4x16x4xi8>) outs(%d : memref<1x8x8x16xi32>)
      attributes {format = #cpu.weights<panels, exact_tiles = 2>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
                  schedule = #cpu.schedule<tile = <3x16, product = int8_dot>, grid = <3x1>, depth_block = 2, tile_block = 2, winograd = 2>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @scheduled_floats(%x: memref<1x8x8x16xi8>, %w: memref<1x3x3x4x16x4xi8>, %d: memref<1x8x8x16xi32>) {
  // expected-error @+1 {{expects a tile for weights of 'i8', but got product f32}}
  cpu.conv ins(%x, %w : memref<1x8x8x16xi8>, memref<1x3x3x4x16x4xi8>) outs(%d : memref<1x8x8x16xi32>)
      attributes {format = #cpu.weights<panels, exact_tiles = 2>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
                  schedule = #cpu.schedule<tile = <3x16>, grid = <3x1>, depth_block = 2, tile_block = 2, winograd = 2>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @scheduled_columns(%x: memref<1x8x8x16xi8>, %w: memref<1x3x3x4x16x4xi8>, %d: memref<1x8x8x16xi32>) {
  // expected-error @+1 {{expects a tile whose columns divide panels of 16, but got 24}}
  cpu.conv ins(%x, %w : memref<1x8x8x16xi8>, memref<1x3x3x4x16x4xi8>) outs(%d : memref<1x8x8x16xi32>)
      attributes {format = #cpu.weights<panels, exact_tiles = 2>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
                  schedule = #cpu.schedule<tile = <3x24, product = int8_wide>, grid = <3x1>, depth_block = 2, tile_block = 2, winograd = 2>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @scheduled_part_of_a_tile(%x: memref<1x8x8x16xi8>, %w: memref<1x3x3x4x16x4xi8>, %d: memref<1x8x8x16xi32>) {
  // expected-error @+1 {{expects tasks of whole tiles of 3 rows, but got 4}}
  cpu.conv ins(%x, %w : memref<1x8x8x16xi8>, memref<1x3x3x4x16x4xi8>) outs(%d : memref<1x8x8x16xi32>)
      attributes {format = #cpu.weights<panels, exact_tiles = 2>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
                  schedule = #cpu.schedule<tile = <3x16, product = int8_wide>, grid = <4x1>, depth_block = 2, tile_block = 2, winograd = 2>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @scheduled_without_tile_block(%x: memref<1x8x8x16xi8>, %w: memref<1x3x3x4x16x4xi8>, %d: memref<1x8x8x16xi32>) {
  // expected-error @+1 {{expects a schedule with tile_block}}
  cpu.conv ins(%x, %w : memref<1x8x8x16xi8>, memref<1x3x3x4x16x4xi8>) outs(%d : memref<1x8x8x16xi32>)
      attributes {format = #cpu.weights<panels, exact_tiles = 2>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
                  schedule = #cpu.schedule<tile = <3x16, product = int8_wide>, grid = <3x1>, depth_block = 2, winograd = 2>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @scheduled_without_depth_block(%x: memref<1x8x8x16xi8>, %w: memref<1x3x3x4x16x4xi8>, %d: memref<1x8x8x16xi32>) {
  // expected-error @+1 {{expects a schedule with depth_block}}
  cpu.conv ins(%x, %w : memref<1x8x8x16xi8>, memref<1x3x3x4x16x4xi8>) outs(%d : memref<1x8x8x16xi32>)
      attributes {format = #cpu.weights<panels, exact_tiles = 2>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
                  schedule = #cpu.schedule<tile = <3x16, product = int8_wide>, grid = <3x1>, tile_block = 2, winograd = 2>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @scheduled_across_rows(%x: memref<1x8x8x16xi8>, %w: memref<1x3x3x4x16x4xi8>, %d: memref<1x8x8x16xi32>) {
  // expected-error @+1 {{expects a schedule without across_rows}}
  cpu.conv ins(%x, %w : memref<1x8x8x16xi8>, memref<1x3x3x4x16x4xi8>) outs(%d : memref<1x8x8x16xi32>)
      attributes {format = #cpu.weights<panels, exact_tiles = 2>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
                  schedule = #cpu.schedule<tile = <3x16, product = int8_wide>, grid = <3x1>, depth_block = 2, tile_block = 2, across_rows = true, winograd = 2>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @scheduled_with_prefetch(%x: memref<1x8x8x16xi8>, %w: memref<1x3x3x4x16x4xi8>, %d: memref<1x8x8x16xi32>) {
  // expected-error @+1 {{expects a schedule without prefetch}}
  cpu.conv ins(%x, %w : memref<1x8x8x16xi8>, memref<1x3x3x4x16x4xi8>) outs(%d : memref<1x8x8x16xi32>)
      attributes {format = #cpu.weights<panels, exact_tiles = 2>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
                  schedule = #cpu.schedule<tile = <3x16, product = int8_wide>, grid = <3x1>, depth_block = 2, tile_block = 2, prefetch = true, winograd = 2>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @scheduled_tile_block_alone(%x: memref<1x8x8x16xi8>, %w: memref<1x3x3x4x16x4xi8>, %d: memref<1x8x8x16xi32>) {
  // expected-error @+1 {{expects a schedule without tile_block}}
  cpu.conv ins(%x, %w : memref<1x8x8x16xi8>, memref<1x3x3x4x16x4xi8>) outs(%d : memref<1x8x8x16xi32>)
      attributes {format = #cpu.weights<panels, exact_tiles = 2>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
                  schedule = #cpu.schedule<tile = <3x16, product = int8_wide>, grid = <3x1>, tile_block = 2>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

// Each of 36 points of a row takes 32 words of 4 bytes, 8 with channels and what keeps
// them apart, and 16 sums.
func.func @scheduled_tile_block(%x: memref<1x8x8x16xi8>, %w: memref<1x3x3x4x16x4xi8>, %d: memref<1x8x8x16xi32>) {
  // expected-error @+1 {{expects blocks of tiles of at most 311296 bytes, but got 19 times 3 of 6912}}
  cpu.conv ins(%x, %w : memref<1x8x8x16xi8>, memref<1x3x3x4x16x4xi8>) outs(%d : memref<1x8x8x16xi32>)
      attributes {format = #cpu.weights<panels, exact_tiles = 4>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
                  schedule = #cpu.schedule<tile = <3x16, product = int8_wide>, grid = <3x1>, depth_block = 2, tile_block = 19, winograd = 4>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

// Even if their product is a small number of 64 bits.
func.func @scheduled_large_tile_block(%x: memref<1x8x8x16xi8>, %w: memref<1x3x3x4x16x4xi8>, %d: memref<1x8x8x16xi32>) {
  // expected-error @+1 {{expects blocks of tiles of at most 311296 bytes, but got 6148914691236517206 times 3 of 6912}}
  cpu.conv ins(%x, %w : memref<1x8x8x16xi8>, memref<1x3x3x4x16x4xi8>) outs(%d : memref<1x8x8x16xi32>)
      attributes {format = #cpu.weights<panels, exact_tiles = 4>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
                  schedule = #cpu.schedule<tile = <3x16, product = int8_wide>, grid = <3x1>, depth_block = 2, tile_block = 6148914691236517206, winograd = 4>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @scheduled_depth_block(%x: memref<1x8x8x16xi8>, %w: memref<1x3x3x4x16x4xi8>, %d: memref<1x8x8x16xi32>) {
  // expected-error @+1 {{expects transformed weights of at most 98304 bytes, but got 22 groups of 4608}}
  cpu.conv ins(%x, %w : memref<1x8x8x16xi8>, memref<1x3x3x4x16x4xi8>) outs(%d : memref<1x8x8x16xi32>)
      attributes {format = #cpu.weights<panels, exact_tiles = 4>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
                  schedule = #cpu.schedule<tile = <3x16, product = int8_wide>, grid = <3x1>, depth_block = 22, tile_block = 2, winograd = 4>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

// Not one row.
func.func @scheduled_channels(%x: memref<1x8x8x4400xi8>, %w: memref<1x3x3x1100x16x4xi8>, %d: memref<1x8x8x16xi32>) {
  // expected-error @+1 {{expects blocks of tiles of at most 311296 bytes, but got 1 times 1 of 322560}}
  cpu.conv ins(%x, %w : memref<1x8x8x4400xi8>, memref<1x3x3x1100x16x4xi8>) outs(%d : memref<1x8x8x16xi32>)
      attributes {format = #cpu.weights<panels, exact_tiles = 4>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
                  schedule = #cpu.schedule<tile = <1x16, product = int8_wide>, grid = <3x1>, depth_block = 2, tile_block = 1, winograd = 4>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}
