// RUN: ingot-opt %s --split-input-file --verify-diagnostics

func.func @no_signs(%x: memref<1x8x8x7xi32>, %w: memref<2x3x3x3x32xi32>, %d: memref<1x8x8x64xi32>) {
  // expected-error @+1 {{expects signs as weights of i32 and only as these, but got weights of 'i32'}}
  cpu.conv ins(%x, %w : memref<1x8x8x7xi32>, memref<2x3x3x3x32xi32>) outs(%d : memref<1x8x8x64xi32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>,
                  groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @signs_of_floats(%x: memref<1x8x8x3xf32>, %w: memref<2x3x3x3x32xf32>, %d: memref<1x8x8x64xf32>) {
  // expected-error @+1 {{expects signs as weights of i32 and only as these, but got weights of 'f32'}}
  cpu.conv ins(%x, %w : memref<1x8x8x3xf32>, memref<2x3x3x3x32xf32>) outs(%d : memref<1x8x8x64xf32>)
      attributes {format = #cpu.weights<signs<70>>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>,
                  groups = 1 : i64 } {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @no_channels(%x: memref<1x8x8x7xi32>, %w: memref<2x3x3x3x32xi32>, %d: memref<1x8x8x64xi32>) {
  // expected-error @+2 {{expects signs of at least 1 channel, but got 0}}
  cpu.conv ins(%x, %w : memref<1x8x8x7xi32>, memref<2x3x3x3x32xi32>) outs(%d : memref<1x8x8x64xi32>)
      attributes {format = #cpu.weights<signs<0>>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>,
                  groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @pixel(%x: memref<1x8x8x7xi32>, %w: memref<2x3x3x3x32xi32>, %d: memref<1x8x8x64xi32>) {
  // expected-error @+1 {{expects 2 or 5 words of a pixel, but got 7}}
  cpu.conv ins(%x, %w : memref<1x8x8x7xi32>, memref<2x3x3x3x32xi32>) outs(%d : memref<1x8x8x64xi32>)
      attributes {format = #cpu.weights<signs<64>>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>,
                  groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @words(%x: memref<1x8x8x7xi32>, %w: memref<2x3x3x2x32xi32>, %d: memref<1x8x8x64xi32>) {
  // expected-error @+1 {{expects words of weights of size 3, but got 2}}
  cpu.conv ins(%x, %w : memref<1x8x8x7xi32>, memref<2x3x3x2x32xi32>) outs(%d : memref<1x8x8x64xi32>)
      attributes {format = #cpu.weights<signs<70>>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>,
                  groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @groups(%x: memref<1x8x8x7xi32>, %w: memref<2x3x3x3x32xi32>, %d: memref<1x8x8x64xi32>) {
  // expected-error @+1 {{expects signs of one group, but got 2}}
  cpu.conv ins(%x, %w : memref<1x8x8x7xi32>, memref<2x3x3x3x32xi32>) outs(%d : memref<1x8x8x64xi32>)
      attributes {format = #cpu.weights<signs<70>>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>,
                  groups = 2 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @rows(%x: memref<1x8x?x7xi32>, %w: memref<2x3x3x3x32xi32>, %d: memref<1x8x?x64xi32>) {
  // expected-error @+1 {{expects rows of signs of known size}}
  cpu.conv ins(%x, %w : memref<1x8x?x7xi32>, memref<2x3x3x3x32xi32>) outs(%d : memref<1x8x?x64xi32>)
      attributes {format = #cpu.weights<signs<70>>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>,
                  groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @across_rows(%x: memref<1x8x8x7xi32>, %w: memref<2x3x3x3x32xi32>, %d: memref<1x8x8x64xi32>) {
  // expected-error @+1 {{expects a schedule without across_rows for signs}}
  cpu.conv ins(%x, %w : memref<1x8x8x7xi32>, memref<2x3x3x3x32xi32>) outs(%d : memref<1x8x8x64xi32>)
      attributes {format = #cpu.weights<signs<70>>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>,
                  groups = 1 : i64, schedule = #cpu.schedule<tile = <2x32, product = signs>, grid = <2x1>, across_rows = true>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @product(%x: memref<1x8x8x7xi32>, %w: memref<2x3x3x3x32xi32>, %d: memref<1x8x8x64xi32>) {
  // expected-error @+1 {{expects a tile for weights of 'i32', but got product f32}}
  cpu.conv ins(%x, %w : memref<1x8x8x7xi32>, memref<2x3x3x3x32xi32>) outs(%d : memref<1x8x8x64xi32>)
      attributes {format = #cpu.weights<signs<70>>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>,
                  groups = 1 : i64, schedule = #cpu.schedule<tile = <2x32>, grid = <2x1>>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @matmul_pixel(%x: memref<4x17xi32>, %w: memref<1x8x32xi32>, %d: memref<4x32xi32>) {
  // expected-error @+1 {{expects 9 or 19 words of a pixel, but got 17}}
  cpu.matmul ins(%x, %w : memref<4x17xi32>, memref<1x8x32xi32>) outs(%d : memref<4x32xi32>)
      attributes {format = #cpu.weights<signs<260>>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @matmul_batches(%x: memref<2x4x17xi32>, %w: memref<2x1x8x32xi32>, %d: memref<2x4x32xi32>) {
  // expected-error @+1 {{expects signs of one matrix of weights}}
  cpu.matmul ins(%x, %w : memref<2x4x17xi32>, memref<2x1x8x32xi32>) outs(%d : memref<2x4x32xi32>)
      attributes {format = #cpu.weights<signs<256>>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @scalar(%x: memref<i8>, %d: memref<i32>) {
  // expected-error @+1 {{expects src of rank 1 or more, but got 0}}
  cpu.pack_signs ins(%x : memref<i8>) outs(%d : memref<i32>) attributes {zero_point = 128 : i64} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  }
  return
}

// -----

func.func @open(%x: memref<2x?xi8>, %d: memref<2x7xi32>) {
  // expected-error @+1 {{expects channels of known size}}
  cpu.pack_signs ins(%x : memref<2x?xi8>) outs(%d : memref<2x7xi32>) attributes {zero_point = 128 : i64} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  }
  return
}

// -----

func.func @types(%x: memref<2x70xf32>, %d: memref<2x7xi32>) {
  // expected-error @+1 {{expects src of bytes and dst of i32, but got 'f32' and 'i32'}}
  cpu.pack_signs ins(%x : memref<2x70xf32>) outs(%d : memref<2x7xi32>) attributes {zero_point = 128 : i64} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  }
  return
}

// -----

func.func @sizes(%x: memref<2x70xi8>, %d: memref<3x7xi32>) {
  // expected-error @+1 {{expects dst dimension 0 of size 2, but got 3}}
  cpu.pack_signs ins(%x : memref<2x70xi8>) outs(%d : memref<3x7xi32>) attributes {zero_point = 128 : i64} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  }
  return
}

// -----

func.func @words_of_pixel(%x: memref<2x70xi8>, %d: memref<2x6xi32>) {
  // expected-error @+1 {{expects words of a pixel of size 7, but got 6}}
  cpu.pack_signs ins(%x : memref<2x70xi8>) outs(%d : memref<2x6xi32>) attributes {zero_point = 128 : i64} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  }
  return
}

// -----

func.func @zero(%x: memref<2x70xi8>, %d: memref<2x7xi32>) {
  // expected-error @+1 {{expects zero_point of 0 to 255, but got 256}}
  cpu.pack_signs ins(%x : memref<2x70xi8>) outs(%d : memref<2x7xi32>) attributes {zero_point = 256 : i64} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  }
  return
}

// -----

func.func @epilogue(%x: memref<2x70xi8>, %d: memref<2x7xi32>) {
  // expected-error @+1 {{expects an epilogue that yields its argument}}
  cpu.pack_signs ins(%x : memref<2x70xi8>) outs(%d : memref<2x7xi32>) attributes {zero_point = 128 : i64} {
  ^bb0(%word: i32):
    %0 = arith.addi %word, %word : i32
    cpu.yield %0 : i32
  }
  return
}

// -----

func.func @stored_floats(%x: memref<4x3xf32>, %w: memref<1x3x32xf32>, %d: memref<4x1xi32>) {
  // expected-error @+1 {{expects dst_signs for weights of signs only}}
  cpu.matmul ins(%x, %w : memref<4x3xf32>, memref<1x3x32xf32>) outs(%d : memref<4x1xi32>) attributes {dst_signs = 32 : i64} {
  ^bb0(%sum: f32):
    %u = arith.cmpf olt, %sum, %sum : f32
    cpu.yield %u : i1
  }
  return
}

// -----

func.func @stored_none(%x: memref<4x2xi32>, %w: memref<0x2x32xi32>, %d: memref<4x1xi32>) {
  // expected-error @+1 {{expects dst_signs of at least 1, but got 0}}
  cpu.matmul ins(%x, %w : memref<4x2xi32>, memref<0x2x32xi32>) outs(%d : memref<4x1xi32>) attributes {format = #cpu.weights<signs<64>>, dst_signs = 0 : i64} {
  ^bb0(%sum: i32):
    %u = arith.cmpi slt, %sum, %sum : i32
    cpu.yield %u : i1
  }
  return
}

// -----

func.func @stored_words(%x: memref<4x2xi32>, %w: memref<2x2x32xi32>, %d: memref<4x3xi32>) {
  // expected-error @+1 {{expects dst of i32 with 2 or 5 words for dst_signs = 64, but got 'memref<4x3xi32>'}}
  cpu.matmul ins(%x, %w : memref<4x2xi32>, memref<2x2x32xi32>) outs(%d : memref<4x3xi32>) attributes {format = #cpu.weights<signs<64>>, dst_signs = 64 : i64} {
  ^bb0(%sum: i32):
    %u = arith.cmpi slt, %sum, %sum : i32
    cpu.yield %u : i1
  }
  return
}

// -----

func.func @stored_sums(%x: memref<4x2xi32>, %w: memref<2x2x32xi32>, %d: memref<4x2xi32>) {
  // expected-error @+1 {{expects an epilogue that yields 'i1', but got 'i32'}}
  cpu.matmul ins(%x, %w : memref<4x2xi32>, memref<2x2x32xi32>) outs(%d : memref<4x2xi32>) attributes {format = #cpu.weights<signs<64>>, dst_signs = 64 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @stored_planes(%x: memref<4x2xi32>, %w: memref<2x2x32xi32>, %d: memref<4x5xi32>) {
  // expected-error @+1 {{expects an epilogue that yields 2 values, but got 1}}
  cpu.matmul ins(%x, %w : memref<4x2xi32>, memref<2x2x32xi32>) outs(%d : memref<4x5xi32>) attributes {format = #cpu.weights<signs<64>>, dst_signs = 64 : i64} {
  ^bb0(%sum: i32):
    %u = arith.cmpi slt, %sum, %sum : i32
    cpu.yield %u : i1
  }
  return
}

// -----

func.func @stored_rows(%x: memref<4x2xi32>, %w: memref<2x2x32xi32>, %t: memref<4x64xi32>, %d: memref<4x2xi32>) {
  // expected-error @+1 {{expects epilogue operands of one element or 64, but got 'memref<4x64xi32>'}}
  cpu.matmul ins(%x, %w : memref<4x2xi32>, memref<2x2x32xi32>) operands(%t : memref<4x64xi32>) outs(%d : memref<4x2xi32>)
      attributes {format = #cpu.weights<signs<64>>, dst_signs = 64 : i64} {
  ^bb0(%sum: i32, %low: i32):
    %u = arith.cmpi slt, %sum, %low : i32
    cpu.yield %u : i1
  }
  return
}

// -----

// A word is xor the one before, which another task would have.
func.func @stored_apart(%x: memref<4x2xi32>, %w: memref<4x2x32xi32>, %t: memref<1x128xi32>, %d: memref<4x4xi32>) {
  // expected-error @+1 {{expects tasks of a multiple of 2 column tiles for words of signs, but got 1}}
  cpu.matmul ins(%x, %w : memref<4x2xi32>, memref<4x2x32xi32>) operands(%t : memref<1x128xi32>) outs(%d : memref<4x4xi32>)
      attributes {format = #cpu.weights<signs<64>>, dst_signs = 128 : i64, schedule = #cpu.schedule<tile = <4x32, product = signs>, grid = <4x1>>} {
  ^bb0(%sum: i32, %low: i32):
    %u = arith.cmpi slt, %sum, %low : i32
    cpu.yield %u : i1
  }
  return
}
