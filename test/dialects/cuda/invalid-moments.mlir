// RUN: ingot-opt %s -split-input-file -verify-diagnostics

func.func @sizes(%x: tensor<4x9x8xf32>, %d: tensor<4x8x2xf32>) {
  // expected-error@+1 {{expects moments of f32 with the sizes 4, 2 and 2, but got 'tensor<4x8x2xf32>'}}
  %y = cuda.moments ins(%x : tensor<4x9x8xf32>) outs(%d : tensor<4x8x2xf32>) attributes {groups = 2 : i64} {
  ^bb0(%m: f32):
    cuda.yield %m : f32
  } -> tensor<4x8x2xf32>
  return
}

// -----

func.func @epilogue(%x: tensor<4x9x8xf32>, %d: tensor<4x2x2xf32>) {
  // expected-error@+1 {{expects an epilogue that yields its argument}}
  %y = cuda.moments ins(%x : tensor<4x9x8xf32>) outs(%d : tensor<4x2x2xf32>) attributes {groups = 2 : i64} {
  ^bb0(%m: f32):
    %0 = arith.addf %m, %m : f32
    cuda.yield %0 : f32
  } -> tensor<4x2x2xf32>
  return
}

// -----

func.func @groups(%x: tensor<4x9x8xf32>, %d: tensor<4x3x2xf32>) {
  // expected-error@+1 {{expects groups that divide 8 channels, but got 3}}
  %y = cuda.moments ins(%x : tensor<4x9x8xf32>) outs(%d : tensor<4x3x2xf32>) attributes {groups = 3 : i64} {
  ^bb0(%m: f32):
    cuda.yield %m : f32
  } -> tensor<4x3x2xf32>
  return
}

// -----

func.func @parts(%x: tensor<4x9x8xf32>, %m: tensor<4x2x2xf32>) {
  // expected-error@+1 {{expects parts that divide 4 samples, but got 3}}
  %y = cuda.normalize ins(%x, %m : tensor<4x9x8xf32>, tensor<4x2x2xf32>) outs(%x : tensor<4x9x8xf32>)
      attributes {groups = 2 : i64, parts = 3 : i64, epsilon = 1.0e-5 : f32} {
  ^bb0(%n: f32):
    cuda.yield %n : f32
  } -> tensor<4x9x8xf32>
  return
}

// -----

func.func @shape(%x: tensor<4x9x8xf32>, %d: tensor<4x8x8xf32>, %m: tensor<4x2x2xf32>) {
  // expected-error@+1 {{expects dst with the shape of src}}
  %y = cuda.normalize ins(%x, %m : tensor<4x9x8xf32>, tensor<4x2x2xf32>) outs(%d : tensor<4x8x8xf32>)
      attributes {groups = 2 : i64, parts = 2 : i64, epsilon = 1.0e-5 : f32} {
  ^bb0(%n: f32):
    cuda.yield %n : f32
  } -> tensor<4x8x8xf32>
  return
}

// -----

func.func @of_halves(%x: tensor<4x9x8xf32>, %m: tensor<4x2x2xf16>) {
  // expected-error@+1 {{expects moments of f32 with the sizes 4, 2 and 2, but got 'tensor<4x2x2xf16>'}}
  %y = cuda.normalize ins(%x, %m : tensor<4x9x8xf32>, tensor<4x2x2xf16>) outs(%x : tensor<4x9x8xf32>)
      attributes {groups = 2 : i64, parts = 2 : i64, epsilon = 1.0e-5 : f32} {
  ^bb0(%n: f32):
    cuda.yield %n : f32
  } -> tensor<4x9x8xf32>
  return
}
