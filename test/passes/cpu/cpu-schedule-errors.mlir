// RUN: ingot-opt %s --cpu-schedule --split-input-file --verify-diagnostics

// If a target lacks registers or instructions for a schedule, each such op of a
// module is reported.
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @registers(%a: memref<28x7xf32>, %w: memref<1x7x16xf32>, %d: memref<28x9xf32>) {
    // expected-error @+1 {{expects a tile for the 16 registers of x86-64-v3, but got 7x16, which takes 17}}
    cpu.matmul ins(%a, %w : memref<28x7xf32>, memref<1x7x16xf32>) outs(%d : memref<28x9xf32>)
        attributes {schedule = #cpu.schedule<tile = <7x16>, grid = <7x1>>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    // expected-error @+1 {{expects columns of a tile in vectors of 8 elements, as x86-64-v3 has them, but got 4}}
    cpu.matmul ins(%a, %w : memref<28x7xf32>, memref<1x7x16xf32>) outs(%d : memref<28x9xf32>)
        attributes {schedule = #cpu.schedule<tile = <4x4>, grid = <4x1>>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// The widened half of the weights takes registers too.
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @wide(%a: memref<40x64xbf16>, %w: memref<1x32x32x2xbf16>, %d: memref<40x32xf32>) {
    // expected-error @+1 {{expects a tile for the 16 registers of x86-64-v3, but got 6x16, which takes 17}}
    cpu.matmul ins(%a, %w : memref<40x64xbf16>, memref<1x32x32x2xbf16>) outs(%d : memref<40x32xf32>)
        attributes {schedule = #cpu.schedule<tile = <6x16, product = bf16_wide>, grid = <6x1>>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func @instructions(%a: memref<40x64xbf16>, %w: memref<1x32x32x2xbf16>, %d: memref<40x32xf32>) {
    // expected-error @+1 {{expects a product that x86-64-v4 has instructions for, but got bf16_dot}}
    cpu.matmul ins(%a, %w : memref<40x64xbf16>, memref<1x32x32x2xbf16>) outs(%d : memref<40x32xf32>)
        attributes {schedule = #cpu.schedule<tile = <6x32, product = bf16_dot>, grid = <6x1>>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    // expected-error @+1 {{expects a product that x86-64-v4 has instructions for, but got bf16_tiles}}
    cpu.matmul ins(%a, %w : memref<40x64xbf16>, memref<1x32x32x2xbf16>) outs(%d : memref<40x32xf32>)
        attributes {schedule = #cpu.schedule<tile = <20x32, product = bf16_tiles, amx_rows = 10>, grid = <20x1>>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

module attributes {ingot.target = #ingot.target<"znver4">} {
  func.func @halves(%a: memref<40x64xf16>, %w: memref<1x32x32x2xf16>, %d: memref<40x32xf32>) {
    // expected-error @+1 {{expects a product that znver4 has instructions for, but got f16_dot}}
    cpu.matmul ins(%a, %w : memref<40x64xf16>, memref<1x32x32x2xf16>) outs(%d : memref<40x32xf32>)
        attributes {schedule = #cpu.schedule<tile = <6x32, product = f16_dot>, grid = <6x1>>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Two times two AMX tiles.
module attributes {ingot.target = #ingot.target<"sapphirerapids">} {
  func.func @amx_columns(%a: memref<40x64xbf16>, %w: memref<1x32x64x2xbf16>, %d: memref<40x64xf32>) {
    // expected-error @+1 {{expects a tile of at most 32 columns with AMX, but got 64}}
    cpu.matmul ins(%a, %w : memref<40x64xbf16>, memref<1x32x64x2xbf16>) outs(%d : memref<40x64xf32>)
        attributes {schedule = #cpu.schedule<tile = <20x64, product = bf16_tiles, amx_rows = 10>, grid = <20x1>>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// The copy of a padded row of so many channels would not stay in the cache.
module attributes {ingot.target = #ingot.target<"sapphirerapids">} {
  func.func @copies(%x: memref<1x8x28x2048xbf16>, %w: memref<1x3x3x1024x32x2xbf16>, %y: memref<1x8x28x32xf32>) {
    // expected-error @+1 {{expects tiles whose pixels can be copied with their padding, but got 14 rows, which the first-level cache of 32768 bytes does not hold}}
    cpu.conv ins(%x, %w : memref<1x8x28x2048xbf16>, memref<1x3x3x1024x32x2xbf16>) outs(%y : memref<1x8x28x32xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
                    schedule = #cpu.schedule<tile = <14x32, product = bf16_tiles, amx_rows = 14>, grid = <1x1>>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Without a target: x86-64-v3.
func.func @depthwise(%x: memref<1x8x8x32xf32>, %w: memref<3x3x32xf32>, %y: memref<1x8x8x32xf32>) {
  // expected-error @+1 {{expects a tile of 8 channels, but got 16}}
  cpu.depthwise_conv ins(%x, %w : memref<1x8x8x32xf32>, memref<3x3x32xf32>) outs(%y : memref<1x8x8x32xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>,
                  schedule = #cpu.schedule<tile = <3x16>, grid = <4x2>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

// Bytes of 64 channels are unpacked at once.
module attributes {ingot.target = #ingot.target<"cascadelake">} {
  func.func @depthwise_bytes(%x: memref<1x8x8x64xi8>, %w: memref<3x3x64xf32>, %y: memref<1x8x8x64xf32>) {
    // expected-error @+1 {{expects a tile of 64 channels, but got 16}}
    cpu.depthwise_conv ins(%x, %w : memref<1x8x8x64xi8>, memref<3x3x64xf32>) outs(%y : memref<1x8x8x64xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>,
                    schedule = #cpu.schedule<tile = <8x16, product = int8_dot>, grid = <4x1>>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

func.func @scores(%q: memref<1x7x2x16xf32>, %k: memref<1x9x2x16xf32>, %v: memref<1x9x2x32xf32>, %o: memref<1x7x2x32xf32>) {
  // expected-error @+1 {{expects a tile for the 16 registers of x86-64-v3, but got 14x16, which takes 31}}
  cpu.attention ins(%q, %k, %v : memref<1x7x2x16xf32>, memref<1x9x2x16xf32>, memref<1x9x2x32xf32>)
      outs(%o : memref<1x7x2x32xf32>)
      attributes {scale = 2.5e-1 : f32, schedule = #cpu.schedule<tile = <4x16>, scores = <14x16>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

// Rows of open size have no tiles of their own.
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func @open(%x: memref<1x8x?x16xf32>, %w: memref<1x3x3x16x16xf32>, %d: memref<1x8x?x16xf32>) {
    // expected-error @+1 {{expects a schedule with across_rows for rows of open size}}
    cpu.conv ins(%x, %w : memref<1x8x?x16xf32>, memref<1x3x3x16x16xf32>) outs(%d : memref<1x8x?x16xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
                    schedule = #cpu.schedule<tile = <14x16>, grid = <28x1>>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func @parts(%x: memref<1x8x?x16xf32>, %w: memref<1x3x3x16x16xf32>, %d: memref<1x8x?x16xf32>) {
    // expected-error @+1 {{expects tasks of whole tiles of 14 rows, but got 30}}
    cpu.conv ins(%x, %w : memref<1x8x?x16xf32>, memref<1x3x3x16x16xf32>) outs(%d : memref<1x8x?x16xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
                    schedule = #cpu.schedule<tile = <14x16>, grid = <30x1>, across_rows = true>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Sums that wait need static sizes.
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func @waiting(%x: memref<1x8x8x16xf32>, %w: memref<1x3x3x16x16xf32>, %d: memref<1x8x8x16xf32>) {
    // expected-error @+1 {{expects no row_blocks where sums wait, but got 2}}
    cpu.conv ins(%x, %w : memref<1x8x8x16xf32>, memref<1x3x3x16x16xf32>) outs(%d : memref<1x8x8x16xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
                    schedule = #cpu.schedule<tile = <14x16>, grid = <4x1, row_blocks = 2>, depth_block = 4>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func @whole(%a: memref<?x7xf32>, %w: memref<1x7x16xf32>, %d: memref<?x9xf32>) {
    cpu.matmul ins(%a, %w : memref<?x7xf32>, memref<1x7x16xf32>) outs(%d : memref<?x9xf32>)
        // expected-error @+2 {{expects row_blocks with whole_from = 8}}
        // expected-error @+1 {{failed to parse Cpu_Schedule parameter 'grid'}}
        attributes {schedule = #cpu.schedule<tile = <7x16>, grid = <7x1, whole_from = 8>>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func @negative(%a: memref<28x7xf32>, %w: memref<1x7x16xf32>, %d: memref<28x9xf32>) {
    cpu.matmul ins(%a, %w : memref<28x7xf32>, memref<1x7x16xf32>) outs(%d : memref<28x9xf32>)
        // expected-error @+2 {{expects row_blocks that are not negative, but got -1}}
        // expected-error @+1 {{failed to parse Cpu_Schedule parameter 'grid'}}
        attributes {schedule = #cpu.schedule<tile = <7x16>, grid = <7x1, row_blocks = -1>>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}
