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

func.func @unknown(%x: tensor<2x3x?xf32>, %d: tensor<2x?xf32>) {
  // expected-error@+1 {{expects src dimension 2 of known size}}
  %y = cpu.reduce sum ins(%x : tensor<2x3x?xf32>) outs(%d : tensor<2x?xf32>) {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  } -> tensor<2x?xf32>
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
  // expected-error @+1 {{expects floats for a mean, but got 'ui8'}}
  %0 = cpu.pool mean ins(%x : tensor<1x8x8x3xui8>) outs(%d : tensor<1x8x8x3xui8>)
      attributes {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} {
  ^bb0(%y: i8):
    cpu.yield %y : i8
  } -> tensor<1x8x8x3xui8>
  return
}
