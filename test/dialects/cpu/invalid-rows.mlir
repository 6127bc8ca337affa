// RUN: ingot-opt %s -split-input-file -verify-diagnostics

func.func @channels(%x: tensor<2x3x6xf32>, %d: tensor<2x5xf32>) {
  // expected-error@+1 {{expects dst dimension 1 of size 6, but got 5}}
  %y = cpu.reduce sum ins(%x : tensor<2x3x6xf32>) outs(%d : tensor<2x5xf32>) {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<2x5xf32>
  return
}

// -----

func.func @rank(%x: tensor<f32>) {
  // expected-error@+1 {{expects src of rank 1 or more, but got 0}}
  %y = cpu.softmax ins(%x : tensor<f32>) outs(%x : tensor<f32>) {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<f32>
  return
}

// -----

func.func @arguments(%x: tensor<4xf32>) {
  // expected-error@+1 {{expects 1 epilogue arguments, but got 2}}
  %y = cpu.softmax ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) {
  ^bb0(%r: f32, %s: f32):
    cpu.yield %r : f32
  } -> tensor<4xf32>
  return
}

// -----

func.func @shape(%x: tensor<3x4xf32>, %d: tensor<3x5xf32>) {
  // expected-error@+1 {{expects dst dimension 1 of size 4, but got 5}}
  %y = cpu.row_norm ins(%x : tensor<3x4xf32>) outs(%d : tensor<3x5xf32>)
      attributes {epsilon = 0.0 : f32} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<3x5xf32>
  return
}

// -----

func.func @groups(%x: tensor<1x4x6xf32>) {
  // expected-error@+1 {{expects a number of groups that divides 6, but got 4}}
  %y = cpu.group_norm ins(%x : tensor<1x4x6xf32>) outs(%x : tensor<1x4x6xf32>)
      attributes {epsilon = 0.0 : f32, groups = 4 : i64} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<1x4x6xf32>
  return
}

// -----

func.func @kernel(%x: tensor<1x8x4xf32>) {
  // expected-error@+1 {{expects kernel, strides and dilations of at least 1, but got 0}}
  %y = cpu.pool max ins(%x : tensor<1x8x4xf32>) outs(%x : tensor<1x8x4xf32>)
      attributes {kernel = array<i64: 1>, strides = array<i64: 0>,
                  pads = array<i64: 0, 0>, dilations = array<i64: 1>} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<1x8x4xf32>
  return
}

// -----

func.func @pads(%x: tensor<1x8x4xf32>) {
  // expected-error@+1 {{expects 2 pads, but got 1}}
  %y = cpu.pool max ins(%x : tensor<1x8x4xf32>) outs(%x : tensor<1x8x4xf32>)
      attributes {kernel = array<i64: 1>, strides = array<i64: 1>,
                  pads = array<i64: 0>, dilations = array<i64: 1>} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<1x8x4xf32>
  return
}

// -----

func.func @mean_of_bytes(%x: tensor<1x8x8x3xui8>, %d: tensor<1x8x8x3xui8>) {
  // expected-error @+1 {{expects an epilogue of floats, but got 'i8'}}
  %0 = cpu.pool mean ins(%x : tensor<1x8x8x3xui8>) outs(%d : tensor<1x8x8x3xui8>)
      attributes {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} {
  ^bb0(%y: i8):
    cpu.yield %y : i8
  } -> tensor<1x8x8x3xui8>
  return
}

// -----

func.func @mean_of_integers(%x: tensor<2x8x4xi32>, %d: tensor<2x4xf32>) {
  // expected-error @+1 {{expects floats or bytes, but got 'i32'}}
  %0 = cpu.reduce mean ins(%x : tensor<2x8x4xi32>) outs(%d : tensor<2x4xf32>) {
  ^bb0(%y: f32):
    cpu.yield %y : f32
  } -> tensor<2x4xf32>
  return
}

// -----

func.func @softmax_columns(%x: tensor<4xf32>) {
  // expected-error@+1 {{expects src of rank 2 or more, but got 1}}
  %y = cpu.softmax ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>)
      attributes {columns} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<4xf32>
  return
}

// -----

func.func @four(%x: tensor<1x2x2x2x2xf32>, %d: tensor<1x4x4x4x4xf32>, %p0: tensor<1x4xi32>, %p1: tensor<1x4xi32>, %p2: tensor<1x4xi32>, %p3: tensor<1x4xi32>) {
  // expected-error@+1 {{expects 1 to 3 positions, but got 4}}
  %y = cpu.resample ins(%x : tensor<1x2x2x2x2xf32>)
      positions(%p0, %p1, %p2, %p3 : tensor<1x4xi32>, tensor<1x4xi32>, tensor<1x4xi32>, tensor<1x4xi32>)
      outs(%d : tensor<1x4x4x4x4xf32>) attributes {first = 1 : i64} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<1x4x4x4x4xf32>
  return
}

// -----

func.func @weights(%x: tensor<1x2x2xf32>, %d: tensor<1x4x4xf32>, %p0: tensor<2x4xi32>, %p1: tensor<2x4xi32>, %w0: tensor<2x4xf32>) {
  // expected-error@+1 {{expects 2 weights or none, but got 1}}
  %y = cpu.resample ins(%x : tensor<1x2x2xf32>)
      positions(%p0, %p1 : tensor<2x4xi32>, tensor<2x4xi32>)
      weights(%w0 : tensor<2x4xf32>)
      outs(%d : tensor<1x4x4xf32>) attributes {first = 1 : i64} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<1x4x4xf32>
  return
}

// -----

func.func @behind(%x: tensor<1x2x2x3xf32>, %d: tensor<1x4x2x3xf32>, %p0: tensor<1x4xi32>) {
  // expected-error@+1 {{expects src of rank 2 or 3, but got 4}}
  %y = cpu.resample ins(%x : tensor<1x2x2x3xf32>)
      positions(%p0 : tensor<1x4xi32>)
      outs(%d : tensor<1x4x2x3xf32>) attributes {first = 1 : i64} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<1x4x2x3xf32>
  return
}

// -----

func.func @row(%x: tensor<2xf32>, %d: tensor<4xf32>, %p0: tensor<1x4xi32>) {
  // expected-error@+1 {{expects a dimension before that of the elements}}
  %y = cpu.resample ins(%x : tensor<2xf32>)
      positions(%p0 : tensor<1x4xi32>)
      outs(%d : tensor<4xf32>) attributes {first = 0 : i64} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<4xf32>
  return
}

// -----

func.func @other(%x: tensor<1x2xf32>, %d: tensor<2x4xf32>, %p0: tensor<1x4xi32>) {
  // expected-error@+1 {{expects dst dimension 0 of size 1, but got 2}}
  %y = cpu.resample ins(%x : tensor<1x2xf32>)
      positions(%p0 : tensor<1x4xi32>)
      outs(%d : tensor<2x4xf32>) attributes {first = 1 : i64} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<2x4xf32>
  return
}

// -----

func.func @table(%x: tensor<1x2xf32>, %d: tensor<1x4xf32>, %p0: tensor<1x3xi32>) {
  // expected-error@+1 {{expects positions dimension 1 of size 4, but got 3}}
  %y = cpu.resample ins(%x : tensor<1x2xf32>)
      positions(%p0 : tensor<1x3xi32>)
      outs(%d : tensor<1x4xf32>) attributes {first = 1 : i64} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<1x4xf32>
  return
}

// -----

func.func @taps(%x: tensor<1x2xf32>, %d: tensor<1x4xf32>, %p0: tensor<2x4xi32>, %w0: tensor<1x4xf32>) {
  // expected-error@+1 {{expects weights dimension 0 of size 2, but got 1}}
  %y = cpu.resample ins(%x : tensor<1x2xf32>)
      positions(%p0 : tensor<2x4xi32>)
      weights(%w0 : tensor<1x4xf32>)
      outs(%d : tensor<1x4xf32>) attributes {first = 1 : i64} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<1x4xf32>
  return
}

// -----

func.func @nearest(%x: tensor<1x2xf32>, %d: tensor<1x4xf32>, %p0: tensor<2x4xi32>) {
  // expected-error@+1 {{expects 1 to 1 taps, but got 2}}
  %y = cpu.resample ins(%x : tensor<1x2xf32>)
      positions(%p0 : tensor<2x4xi32>)
      outs(%d : tensor<1x4xf32>) attributes {first = 1 : i64} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<1x4xf32>
  return
}

// -----

func.func @many(%x: tensor<1x2x2x2xf32>, %d: tensor<1x4x4x4xf32>, %p0: tensor<4x4xi32>, %p1: tensor<4x4xi32>, %p2: tensor<4x4xi32>, %w0: tensor<4x4xf32>, %w1: tensor<4x4xf32>, %w2: tensor<4x4xf32>) {
  // expected-error@+1 {{expects 1 to 16 taps, but got 64}}
  %y = cpu.resample ins(%x : tensor<1x2x2x2xf32>)
      positions(%p0, %p1, %p2 : tensor<4x4xi32>, tensor<4x4xi32>, tensor<4x4xi32>)
      weights(%w0, %w1, %w2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>)
      outs(%d : tensor<1x4x4x4xf32>) attributes {first = 1 : i64} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<1x4x4x4xf32>
  return
}

// -----

func.func @range_of_columns(%x: tensor<2x3x6xf32>, %d: tensor<2x6xf32>) -> tensor<2x6xf32> {
  // expected-error @+1 {{expects src dimension 2 of size 1, but got 6}}
  %y = cpu.reduce range ins(%x : tensor<2x3x6xf32>) outs(%d : tensor<2x6xf32>) {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}

// -----

func.func @range_of_one_end(%x: tensor<2x3x1xf32>, %d: tensor<2x1xf32>) -> tensor<2x1xf32> {
  // expected-error @+1 {{expects dst dimension 1 of size 2, but got 1}}
  %y = cpu.reduce range ins(%x : tensor<2x3x1xf32>) outs(%d : tensor<2x1xf32>) {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<2x1xf32>
  return %y : tensor<2x1xf32>
}

// -----

func.func @range_of_bytes(%x: tensor<2x3x1xui8>, %d: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // expected-error @+1 {{expects f32, but got 'ui8'}}
  %y = cpu.reduce range ins(%x : tensor<2x3x1xui8>) outs(%d : tensor<2x2xf32>) {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
