// RUN: ingot-opt %s --split-input-file --verify-diagnostics

func.func @size_of_three(%a: memref<5x7xf32>, %w: memref<1x7x16xf32>, %d: memref<5x9xf32>) {
  cpu.matmul ins(%a, %w : memref<5x7xf32>, memref<1x7x16xf32>) outs(%d : memref<5x9xf32>)
  // expected-error @+2 {{expects two sizes, as in 14x32, but got 3}}
  // expected-error @+1 {{failed to parse Cpu_Schedule parameter}}
      attributes {schedule = #cpu.schedule<tile = <3x16x2>, grid = <6x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @no_rows(%a: memref<5x7xf32>, %w: memref<1x7x16xf32>, %d: memref<5x9xf32>) {
  cpu.matmul ins(%a, %w : memref<5x7xf32>, memref<1x7x16xf32>) outs(%d : memref<5x9xf32>)
  // expected-error @+2 {{expects sizes of at least 1, but got 0x16}}
  // expected-error @+1 {{failed to parse Cpu_Schedule parameter}}
      attributes {schedule = #cpu.schedule<tile = <0x16>, grid = <6x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @no_tiles(%a: memref<5x7xf32>, %w: memref<1x7x16xf32>, %d: memref<5x9xf32>) {
  cpu.matmul ins(%a, %w : memref<5x7xf32>, memref<1x7x16xf32>) outs(%d : memref<5x9xf32>)
  // expected-error @+2 {{expects sizes of at least 1, but got 6x0}}
  // expected-error @+1 {{failed to parse Cpu_Schedule parameter}}
      attributes {schedule = #cpu.schedule<tile = <3x16>, grid = <6x0>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @amx_rows(%a: memref<5x7xf32>, %w: memref<1x7x16xf32>, %d: memref<5x9xf32>) {
  cpu.matmul ins(%a, %w : memref<5x7xf32>, memref<1x7x16xf32>) outs(%d : memref<5x9xf32>)
  // expected-error @+2 {{expects no amx_rows with product f32, but got 3}}
  // expected-error @+1 {{failed to parse Cpu_Schedule parameter}}
      attributes {schedule = #cpu.schedule<tile = <3x16, amx_rows = 3>, grid = <6x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @no_amx_rows(%a: memref<40x64xbf16>, %w: memref<1x32x32x2xbf16>, %d: memref<40x32xf32>) {
  cpu.matmul ins(%a, %w : memref<40x64xbf16>, memref<1x32x32x2xbf16>) outs(%d : memref<40x32xf32>)
  // expected-error @+2 {{expects amx_rows of 1 to 16, but got 0}}
  // expected-error @+1 {{failed to parse Cpu_Schedule parameter}}
      attributes {schedule = #cpu.schedule<tile = <20x32, product = bf16_tiles>, grid = <20x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @few_amx_rows(%a: memref<40x64xbf16>, %w: memref<1x32x32x2xbf16>, %d: memref<40x32xf32>) {
  cpu.matmul ins(%a, %w : memref<40x64xbf16>, memref<1x32x32x2xbf16>) outs(%d : memref<40x32xf32>)
  // expected-error @+2 {{expects 10 to 20 rows with amx_rows = 10, but got 21}}
  // expected-error @+1 {{failed to parse Cpu_Schedule parameter}}
      attributes {schedule = #cpu.schedule<tile = <21x32, product = bf16_tiles, amx_rows = 10>, grid = <21x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @negative(%a: memref<1x8x8x3xf32>, %w: memref<1x3x3x3x16xf32>, %d: memref<1x8x8x4xf32>) {
  cpu.conv ins(%a, %w : memref<1x8x8x3xf32>, memref<1x3x3x3x16xf32>) outs(%d : memref<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
  // expected-error @+1 {{expects a depth_block that is not negative, but got -1}}
                  schedule = #cpu.schedule<tile = <3x16>, grid = <1x1>, depth_block = -1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @unknown_product(%a: memref<5x7xf32>, %w: memref<1x7x16xf32>, %d: memref<5x9xf32>) {
  cpu.matmul ins(%a, %w : memref<5x7xf32>, memref<1x7x16xf32>) outs(%d : memref<5x9xf32>)
  // expected-error @+3 {{expects a product of f32, bf16_dot, bf16_wide, f16_wide, f16_dot, int8_dot, int8_wide, int8_pairs, int16_dot, signs, bf16_tiles, int8_tiles, but got f64}}
  // expected-error @+2 {{failed to parse Cpu_Tile parameter 'product'}}
  // expected-error @+1 {{failed to parse Cpu_Schedule parameter}}
      attributes {schedule = #cpu.schedule<tile = <3x16, product = f64>, grid = <6x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @no_grid(%a: memref<5x7xf32>, %w: memref<1x7x16xf32>, %d: memref<5x9xf32>) {
  // expected-error @+1 {{expects a schedule with grid}}
  cpu.matmul ins(%a, %w : memref<5x7xf32>, memref<1x7x16xf32>) outs(%d : memref<5x9xf32>)
      attributes {schedule = #cpu.schedule<tile = <3x16>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @no_tile(%a: memref<5x7xf32>, %w: memref<1x7x16xf32>, %d: memref<5x9xf32>) {
  // expected-error @+1 {{expects a schedule with tile}}
  cpu.matmul ins(%a, %w : memref<5x7xf32>, memref<1x7x16xf32>) outs(%d : memref<5x9xf32>)
      attributes {schedule = #cpu.schedule<grid = <6x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @tile_of_rows(%a: memref<2x50xf32>, %d: memref<2x50xf32>) {
  // expected-error @+1 {{expects a schedule without tile}}
  cpu.softmax ins(%a : memref<2x50xf32>) outs(%d : memref<2x50xf32>)
      attributes {schedule = #cpu.schedule<tile = <1x8>, grid = <1x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @block_of_open_matmul(%a: memref<?x7xf32>, %w: memref<1x7x16xf32>, %d: memref<?x9xf32>) {
  // expected-error @+1 {{expects no depth_block for rows of open size}}
  cpu.matmul ins(%a, %w : memref<?x7xf32>, memref<1x7x16xf32>) outs(%d : memref<?x9xf32>)
      attributes {schedule = #cpu.schedule<tile = <3x16>, grid = <6x1>, depth_block = 2>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @large_block_of_matmul(%a: memref<5000x7xf32>, %w: memref<1x7x16xf32>, %d: memref<5000x9xf32>) {
  // expected-error @+1 {{expects sums of at most 65536 bytes to wait for a depth_block, but got 1200 rows of 64}}
  cpu.matmul ins(%a, %w : memref<5000x7xf32>, memref<1x7x16xf32>) outs(%d : memref<5000x9xf32>)
      attributes {schedule = #cpu.schedule<tile = <3x16>, grid = <1200x1>, depth_block = 2>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @prefetch_of_depthwise(%a: memref<1x8x8x32xf32>, %w: memref<3x3x32xf32>, %d: memref<1x8x8x32xf32>) {
  // expected-error @+1 {{expects a schedule without prefetch}}
  cpu.depthwise_conv ins(%a, %w : memref<1x8x8x32xf32>, memref<3x3x32xf32>) outs(%d : memref<1x8x8x32xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>,
                  schedule = #cpu.schedule<tile = <3x16>, grid = <4x1>, prefetch = true>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @depthwise_words_of_floats(%a: memref<1x8x8x32xf32>, %w: memref<3x3x32xf32>, %d: memref<1x8x8x32xf32>) {
  // expected-error @+1 {{expects a tile of product f32, but got int8_wide}}
  cpu.depthwise_conv ins(%a, %w : memref<1x8x8x32xf32>, memref<3x3x32xf32>) outs(%d : memref<1x8x8x32xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>,
                  schedule = #cpu.schedule<tile = <4x32, product = int8_wide>, grid = <4x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @depthwise_fours_of_floats(%a: memref<1x8x8x64xf32>, %w: memref<3x3x64xf32>, %d: memref<1x8x8x64xf32>) {
  // expected-error @+1 {{expects a tile of product f32, but got int8_dot}}
  cpu.depthwise_conv ins(%a, %w : memref<1x8x8x64xf32>, memref<3x3x64xf32>) outs(%d : memref<1x8x8x64xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>,
                  schedule = #cpu.schedule<tile = <8x64, product = int8_dot>, grid = <4x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @grid_of_attention(%a: memref<1x7x2x16xf32>, %w: memref<1x9x2x16xf32>, %v: memref<1x9x2x32xf32>, %d: memref<1x7x2x32xf32>) {
  // expected-error @+1 {{expects a schedule without grid}}
  cpu.attention ins(%a, %w, %v : memref<1x7x2x16xf32>, memref<1x9x2x16xf32>, memref<1x9x2x32xf32>)
      outs(%d : memref<1x7x2x32xf32>) attributes {scale = 2.5e-1 : f32, schedule = #cpu.schedule<tile = <2x16>, scores = <3x8>, grid = <1x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @queries(%a: memref<1x7x2x16xf32>, %w: memref<1x9x2x16xf32>, %v: memref<1x9x2x32xf32>, %d: memref<1x7x2x32xf32>) {
  // expected-error @+1 {{expects scores of at most 32 queries, but got 64}}
  cpu.attention ins(%a, %w, %v : memref<1x7x2x16xf32>, memref<1x9x2x16xf32>, memref<1x9x2x32xf32>)
      outs(%d : memref<1x7x2x32xf32>) attributes {scale = 2.5e-1 : f32, schedule = #cpu.schedule<tile = <2x16>, scores = <3x64>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @product(%a: memref<5x7xf32>, %w: memref<1x7x16xf32>, %d: memref<5x9xf32>) {
  // expected-error @+1 {{expects a tile for weights of 'f32', but got product bf16_wide}}
  cpu.matmul ins(%a, %w : memref<5x7xf32>, memref<1x7x16xf32>) outs(%d : memref<5x9xf32>)
      attributes {schedule = #cpu.schedule<tile = <3x16, product = bf16_wide>, grid = <6x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @product_of_values(%a: memref<1x7x2x16xf32>, %w: memref<1x9x2x16xf32>, %v: memref<1x9x2x32xf32>, %d: memref<1x7x2x32xf32>) {
  // expected-error @+1 {{expects a tile of product f32, but got bf16_dot}}
  cpu.attention ins(%a, %w, %v : memref<1x7x2x16xf32>, memref<1x9x2x16xf32>, memref<1x9x2x32xf32>)
      outs(%d : memref<1x7x2x32xf32>) attributes {scale = 2.5e-1 : f32, schedule = #cpu.schedule<tile = <2x16, product = bf16_dot>, scores = <3x8>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @products(%a: memref<1x7x2x16xf32>, %w: memref<1x9x2x16xf32>, %v: memref<1x9x2x32xf32>, %d: memref<1x7x2x32xf32>) {
  // expected-error @+1 {{expects tiles of one product, but got bf16_dot and f32}}
  cpu.attention ins(%a, %w, %v : memref<1x7x2x16xf32>, memref<1x9x2x16xf32>, memref<1x9x2x32xf32>)
      outs(%d : memref<1x7x2x32xf32>) attributes {ingot.precision = #ingot.precision<bf16>, scale = 2.5e-1 : f32,
      schedule = #cpu.schedule<tile = <2x16, product = bf16_dot>, scores = <3x8>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @panel(%a: memref<5x7xf32>, %w: memref<1x7x16xf32>, %d: memref<5x9xf32>) {
  // expected-error @+1 {{expects a tile whose columns divide panels of 16, but got 12}}
  cpu.matmul ins(%a, %w : memref<5x7xf32>, memref<1x7x16xf32>) outs(%d : memref<5x9xf32>)
      attributes {schedule = #cpu.schedule<tile = <3x12>, grid = <6x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @half_tiles(%a: memref<5x7xf32>, %w: memref<1x7x16xf32>, %d: memref<5x9xf32>) {
  // expected-error @+1 {{expects tasks of whole tiles of 3 rows, but got 5}}
  cpu.matmul ins(%a, %w : memref<5x7xf32>, memref<1x7x16xf32>) outs(%d : memref<5x9xf32>)
      attributes {schedule = #cpu.schedule<tile = <3x16>, grid = <5x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @small_matrix(%a: memref<8x64xbf16>, %w: memref<1x32x32x2xbf16>, %d: memref<8x32xf32>) {
  // expected-error @+1 {{expects matrices of 10 rows or more for amx_rows = 10, but got 8}}
  cpu.matmul ins(%a, %w : memref<8x64xbf16>, memref<1x32x32x2xbf16>) outs(%d : memref<8x32xf32>)
      attributes {schedule = #cpu.schedule<tile = <14x32, product = bf16_tiles, amx_rows = 10>, grid = <14x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @small_pixels(%a: memref<1x8x8x16xbf16>, %w: memref<1x3x3x8x32x2xbf16>, %d: memref<1x8x8x4xf32>) {
  // expected-error @+1 {{expects tiles of a row's pixels of 5 rows or more for amx_rows = 5, but got 4}}
  cpu.conv ins(%a, %w : memref<1x8x8x16xbf16>, memref<1x3x3x8x32x2xbf16>) outs(%d : memref<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
                  schedule = #cpu.schedule<tile = <6x32, product = bf16_tiles, amx_rows = 5>, grid = <1x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @groups(%a: memref<1x8x8x4xf32>, %w: memref<2x3x3x2x16xf32>, %d: memref<1x8x8x8xf32>) {
  // expected-error @+1 {{expects tasks of 1 column tile where there are groups, but got 2}}
  cpu.conv ins(%a, %w : memref<1x8x8x4xf32>, memref<2x3x3x2x16xf32>) outs(%d : memref<1x8x8x8xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64,
                  schedule = #cpu.schedule<tile = <3x16>, grid = <1x2>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @block_of_copies(%a: memref<1x8x8x4xbf16>, %w: memref<1x3x3x2x16x2xbf16>, %d: memref<1x8x8x4xf32>) {
  // expected-error @+1 {{expects no depth_block with product bf16_wide}}
  cpu.conv ins(%a, %w : memref<1x8x8x4xbf16>, memref<1x3x3x2x16x2xbf16>) outs(%d : memref<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
                  schedule = #cpu.schedule<tile = <3x16, product = bf16_wide>, grid = <1x1>, depth_block = 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @block_of_words(%a: memref<1x8x8x4xi8>, %w: memref<1x3x3x1x16x4xi8>, %d: memref<1x8x8x4xi32>) {
  // expected-error @+1 {{expects no depth_block with product int8_wide}}
  cpu.conv ins(%a, %w : memref<1x8x8x4xi8>, memref<1x3x3x1x16x4xi8>) outs(%d : memref<1x8x8x4xi32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
                  schedule = #cpu.schedule<tile = <3x16, product = int8_wide>, grid = <1x1>, depth_block = 1>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @no_pairs(%a: memref<4x32xi8>, %w: memref<1x8x16x4xi8>, %d: memref<4x16xi32>) {
  // expected-error @+1 {{expects pairs for product int8_pairs}}
  cpu.matmul ins(%a, %w : memref<4x32xi8>, memref<1x8x16x4xi8>) outs(%d : memref<4x16xi32>)
      attributes {schedule = #cpu.schedule<tile = <4x16, product = int8_pairs>, grid = <4x1>>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @much_waits(%a: memref<1x8x8x3xf32>, %w: memref<1x3x3x3x16xf32>, %d: memref<1x8x8x4xf32>) {
  // expected-error @+1 {{expects sums of at most 65536 bytes to wait for a depth_block, but got 129 rows of 512}}
  cpu.conv ins(%a, %w : memref<1x8x8x3xf32>, memref<1x3x3x3x16xf32>) outs(%d : memref<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
                  schedule = #cpu.schedule<tile = <3x16>, grid = <129x1>, depth_block = 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @tiles_of_rows(%a: memref<4x99x1xf32>, %d: memref<4x1xf32>) {
  // expected-error @+1 {{expects tasks of 1 column tile where there is no tile, but got 2}}
  cpu.reduce sum ins(%a : memref<4x99x1xf32>) outs(%d : memref<4x1xf32>)
      attributes {schedule = #cpu.schedule<grid = <3x2>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @rows_of_pool(%a: memref<1x9x9x32xf32>, %d: memref<1x9x9x32xf32>) {
  // expected-error @+1 {{expects a tile of 1 row, but got 2}}
  cpu.pool max ins(%a : memref<1x9x9x32xf32>) outs(%d : memref<1x9x9x32xf32>)
      attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, schedule = #cpu.schedule<tile = <2x8>, grid = <2x3>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @half_groups(%a: memref<1x30x20xf32>, %d: memref<1x30x20xf32>) {
  // expected-error @+1 {{expects a tile of whole groups of 5 channels, but got 8}}
  cpu.group_norm ins(%a : memref<1x30x20xf32>) outs(%d : memref<1x30x20xf32>)
      attributes {epsilon = 1.0e-5 : f32, groups = 4 : i64, schedule = #cpu.schedule<tile = <1x8>, grid = <1x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @samples(%a: memref<1x30x20xf32>, %d: memref<1x30x20xf32>) {
  // expected-error @+1 {{expects tasks of 1 sample, but got 2}}
  cpu.group_norm ins(%a : memref<1x30x20xf32>) outs(%d : memref<1x30x20xf32>)
      attributes {epsilon = 1.0e-5 : f32, groups = 4 : i64, schedule = #cpu.schedule<tile = <1x10>, grid = <2x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

// Blocks of weights are read one after the other, and multiplied by vectors.
func.func @prefetched_blocks(%a: memref<4x24xf32>, %w: memref<3x8x32xf32>, %b: memref<6xi32>, %d: memref<4x40xf32>) {
  // expected-error @+1 {{expects a schedule without prefetch}}
  cpu.matmul ins(%a, %w : memref<4x24xf32>, memref<3x8x32xf32>) blocks(%b : memref<6xi32>) outs(%d : memref<4x40xf32>)
      attributes {format = #cpu.weights<blocks>, schedule = #cpu.schedule<tile = <4x32>, grid = <4x1>, prefetch = true>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @waiting_blocks(%a: memref<4x24xf32>, %w: memref<3x8x32xf32>, %b: memref<6xi32>, %d: memref<4x40xf32>) {
  // expected-error @+1 {{expects a schedule without depth_block}}
  cpu.matmul ins(%a, %w : memref<4x24xf32>, memref<3x8x32xf32>) blocks(%b : memref<6xi32>) outs(%d : memref<4x40xf32>)
      attributes {format = #cpu.weights<blocks>, schedule = #cpu.schedule<tile = <4x32>, grid = <4x1>, depth_block = 8>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @blocks_in_tiles(%a: memref<4x24xi8>, %w: memref<3x4x32x4xi8>, %b: memref<6xi32>, %d: memref<4x40xi32>) {
  // expected-error @+1 {{expects a product of vectors for blocks, but got int8_tiles}}
  cpu.matmul ins(%a, %w : memref<4x24xi8>, memref<3x4x32x4xi8>) blocks(%b : memref<6xi32>) outs(%d : memref<4x40xi32>)
      attributes {format = #cpu.weights<blocks>, schedule = #cpu.schedule<tile = <4x32, product = int8_tiles, amx_rows = 4>, grid = <4x1>>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}
