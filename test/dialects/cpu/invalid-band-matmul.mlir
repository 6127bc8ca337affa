// RUN: ingot-opt --split-input-file --verify-diagnostics %s

func.func @behind(%x: tensor<9x2x2xf32>, %s: tensor<4xi32>, %w: tensor<4x4xf32>, %d: tensor<4x2x2xf32>) {
  // expected-error@+1 {{expects src of rank 1 or 2, but got 3}}
  %y = cpu.band_matmul ins(%x, %s, %w : tensor<9x2x2xf32>, tensor<4xi32>, tensor<4x4xf32>)
      outs(%d : tensor<4x2x2xf32>) attributes {dim = 0 : i64} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<4x2x2xf32>
  return
}

// -----

func.func @other(%x: tensor<2x9x3xf32>, %s: tensor<4xi32>, %w: tensor<4x4xf32>, %d: tensor<3x4x3xf32>) {
  // expected-error@+1 {{expects dst dimension 0 of size 2, but got 3}}
  %y = cpu.band_matmul ins(%x, %s, %w : tensor<2x9x3xf32>, tensor<4xi32>, tensor<4x4xf32>)
      outs(%d : tensor<3x4x3xf32>) attributes {dim = 1 : i64} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<3x4x3xf32>
  return
}

// -----

func.func @starts(%x: tensor<2x9x3xf32>, %s: tensor<3xi32>, %w: tensor<4x4xf32>, %d: tensor<2x4x3xf32>) {
  // expected-error@+1 {{expects starts of size 4, but got 3}}
  %y = cpu.band_matmul ins(%x, %s, %w : tensor<2x9x3xf32>, tensor<3xi32>, tensor<4x4xf32>)
      outs(%d : tensor<2x4x3xf32>) attributes {dim = 1 : i64} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<2x4x3xf32>
  return
}

// -----

// Whole vectors of weights: four positions of three channels.

func.func @unit(%x: tensor<2x9x3xf32>, %s: tensor<4xi32>, %w: tensor<4x3xf32>, %d: tensor<2x4x3xf32>) {
  // expected-error@+1 {{expects a multiple of 4 taps, but got 3}}
  %y = cpu.band_matmul ins(%x, %s, %w : tensor<2x9x3xf32>, tensor<4xi32>, tensor<4x3xf32>)
      outs(%d : tensor<2x4x3xf32>) attributes {dim = 1 : i64} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<2x4x3xf32>
  return
}

// -----

func.func @element(%x: tensor<2x9x3xi32>, %s: tensor<4xi32>, %w: tensor<4x4xf32>, %d: tensor<2x4x3xf32>) {
  // expected-error@+1 {{expects src of f32 or bytes, but got 'i32'}}
  %y = cpu.band_matmul ins(%x, %s, %w : tensor<2x9x3xi32>, tensor<4xi32>, tensor<4x4xf32>)
      outs(%d : tensor<2x4x3xf32>) attributes {dim = 1 : i64} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<2x4x3xf32>
  return
}

// -----

func.func @order(%x: tensor<2x9x3xf32>, %s: tensor<4xi32>, %w: tensor<4x4xf32>, %d: tensor<2x4x3xf32>) {
  // expected-error@+1 {{expects an order of 1 to 4 channels, but got [2, 1, 1] of 3}}
  %y = cpu.band_matmul ins(%x, %s, %w : tensor<2x9x3xf32>, tensor<4xi32>, tensor<4x4xf32>)
      outs(%d : tensor<2x4x3xf32>) attributes {dim = 1 : i64, order = array<i64: 2, 1, 1>} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<2x4x3xf32>
  return
}

// -----

// Of an open dimension, too.

func.func @open_depth(%x: tensor<2x?x3xf32>, %s: tensor<4xi32>, %w: tensor<4x6xf32>, %d: tensor<2x4x3xf32>) {
  // expected-error@+1 {{expects a multiple of 4 taps, but got 6}}
  %y = cpu.band_matmul ins(%x, %s, %w : tensor<2x?x3xf32>, tensor<4xi32>, tensor<4x6xf32>)
      outs(%d : tensor<2x4x3xf32>) attributes {dim = 1 : i64} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<2x4x3xf32>
  return
}
