// RUN: ingot-opt %s -split-input-file -verify-diagnostics

func.func @four(%x: tensor<1x2x2x2x2xf32>, %d: tensor<1x4x4x4x4xf32>, %p: tensor<1x4xi32>) {
  // expected-error@+1 {{expects 1 to 3 positions, but got 4}}
  %y = cuda.resample ins(%x : tensor<1x2x2x2x2xf32>)
      positions(%p, %p, %p, %p : tensor<1x4xi32>, tensor<1x4xi32>, tensor<1x4xi32>, tensor<1x4xi32>)
      outs(%d : tensor<1x4x4x4x4xf32>) attributes {first = 1 : i64} {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  } -> tensor<1x4x4x4x4xf32>
  return
}

// -----

func.func @weights(%x: tensor<1x2x2xf32>, %d: tensor<1x4x4xf32>, %p: tensor<2x4xi32>, %w: tensor<2x4xf32>) {
  // expected-error@+1 {{expects 2 weights or none, but got 1}}
  %y = cuda.resample ins(%x : tensor<1x2x2xf32>) positions(%p, %p : tensor<2x4xi32>, tensor<2x4xi32>)
      weights(%w : tensor<2x4xf32>) outs(%d : tensor<1x4x4xf32>) attributes {first = 1 : i64} {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  } -> tensor<1x4x4xf32>
  return
}

// -----

func.func @behind(%x: tensor<1x2x2x3xf32>, %d: tensor<1x4x2x3xf32>, %p: tensor<1x4xi32>) {
  // expected-error@+1 {{expects src of rank 2 or 3, but got 4}}
  %y = cuda.resample ins(%x : tensor<1x2x2x3xf32>) positions(%p : tensor<1x4xi32>)
      outs(%d : tensor<1x4x2x3xf32>) attributes {first = 1 : i64} {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  } -> tensor<1x4x2x3xf32>
  return
}

// -----

func.func @rank(%x: tensor<1x2xf32>, %d: tensor<1x4x1xf32>, %p: tensor<1x4xi32>) {
  // expected-error@+1 {{expects dst of rank 2, but got 3}}
  %y = cuda.resample ins(%x : tensor<1x2xf32>) positions(%p : tensor<1x4xi32>)
      outs(%d : tensor<1x4x1xf32>) attributes {first = 1 : i64} {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  } -> tensor<1x4x1xf32>
  return
}

// -----

func.func @other(%x: tensor<1x2x8xf32>, %d: tensor<1x4x9xf32>, %p: tensor<1x4xi32>) {
  // expected-error@+1 {{expects dst dimension 2 of size 8, but got 9}}
  %y = cuda.resample ins(%x : tensor<1x2x8xf32>) positions(%p : tensor<1x4xi32>)
      outs(%d : tensor<1x4x9xf32>) attributes {first = 1 : i64} {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  } -> tensor<1x4x9xf32>
  return
}

// -----

func.func @table(%x: tensor<1x2xf32>, %d: tensor<1x4xf32>, %p: tensor<1x3xi32>) {
  // expected-error@+1 {{expects positions dimension 1 of size 4, but got 3}}
  %y = cuda.resample ins(%x : tensor<1x2xf32>) positions(%p : tensor<1x3xi32>)
      outs(%d : tensor<1x4xf32>) attributes {first = 1 : i64} {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  } -> tensor<1x4xf32>
  return
}

// -----

func.func @taps(%x: tensor<1x2xf32>, %d: tensor<1x4xf32>, %p: tensor<2x4xi32>, %w: tensor<1x4xf32>) {
  // expected-error@+1 {{expects weights dimension 0 of size 2, but got 1}}
  %y = cuda.resample ins(%x : tensor<1x2xf32>) positions(%p : tensor<2x4xi32>) weights(%w : tensor<1x4xf32>)
      outs(%d : tensor<1x4xf32>) attributes {first = 1 : i64} {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  } -> tensor<1x4xf32>
  return
}

// -----

func.func @many(%x: tensor<1x2x2x2xf32>, %d: tensor<1x4x4x4xf32>, %p: tensor<4x4xi32>, %w: tensor<4x4xf32>) {
  // expected-error@+1 {{expects 1 to 16 taps, but got 64}}
  %y = cuda.resample ins(%x : tensor<1x2x2x2xf32>)
      positions(%p, %p, %p : tensor<4x4xi32>, tensor<4x4xi32>, tensor<4x4xi32>)
      weights(%w, %w, %w : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>)
      outs(%d : tensor<1x4x4x4xf32>) attributes {first = 1 : i64} {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  } -> tensor<1x4x4x4xf32>
  return
}

// -----

func.func @positions(%x: tensor<1x2xf32>, %d: tensor<1x4xf32>, %p: tensor<1x4xi64>) {
  // expected-error@+1 {{expects positions of i32, but got 'i64'}}
  %y = cuda.resample ins(%x : tensor<1x2xf32>) positions(%p : tensor<1x4xi64>)
      outs(%d : tensor<1x4xf32>) attributes {first = 1 : i64} {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  } -> tensor<1x4xf32>
  return
}

// -----

func.func @factors(%x: tensor<1x2xf32>, %d: tensor<1x4xf32>, %p: tensor<2x4xi32>, %w: tensor<2x4xf16>) {
  // expected-error@+1 {{expects weights of f32, but got 'f16'}}
  %y = cuda.resample ins(%x : tensor<1x2xf32>) positions(%p : tensor<2x4xi32>) weights(%w : tensor<2x4xf16>)
      outs(%d : tensor<1x4xf32>) attributes {first = 1 : i64} {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  } -> tensor<1x4xf32>
  return
}

// -----

func.func @types(%x: tensor<1x2xi32>, %d: tensor<1x4xf32>, %p: tensor<1x4xi32>) {
  // expected-error@+1 {{expects src of f32, f16 or bf16, but got 'i32'}}
  %y = cuda.resample ins(%x : tensor<1x2xi32>) positions(%p : tensor<1x4xi32>)
      outs(%d : tensor<1x4xf32>) attributes {first = 1 : i64} {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  } -> tensor<1x4xf32>
  return
}

// -----

func.func @divided(%x: memref<1x2x6xf32>, %d: memref<1x4x6xf32>, %p: memref<1x4xi32>) {
  // expected-error@+1 {{expects vectors that divide 6 elements, but got 4}}
  cuda.resample ins(%x : memref<1x2x6xf32>) positions(%p : memref<1x4xi32>) outs(%d : memref<1x4x6xf32>)
      attributes {first = 1 : i64, schedule = #cuda.row_schedule<threads = 1, rows = 256, vector = 4, held = 0>} {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  }
  return
}

// -----

func.func @without_channels(%x: memref<1x2xf32>, %d: memref<1x4xf32>, %p: memref<1x4xi32>) {
  // expected-error@+1 {{expects vectors that divide 1 elements, but got 4}}
  cuda.resample ins(%x : memref<1x2xf32>) positions(%p : memref<1x4xi32>) outs(%d : memref<1x4xf32>)
      attributes {first = 1 : i64, schedule = #cuda.row_schedule<threads = 1, rows = 256, vector = 4, held = 0>} {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  }
  return
}

// -----

func.func @shared(%x: memref<1x2x8xf32>, %d: memref<1x4x8xf32>, %p: memref<1x4xi32>) {
  // expected-error@+1 {{expects one thread for a row, which holds no vectors}}
  cuda.resample ins(%x : memref<1x2x8xf32>) positions(%p : memref<1x4xi32>) outs(%d : memref<1x4x8xf32>)
      attributes {first = 1 : i64, schedule = #cuda.row_schedule<threads = 2, rows = 128, vector = 4, held = 0>} {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  }
  return
}

// -----

func.func @epilogue(%x: tensor<1x2xf32>, %d: tensor<1x4xf32>, %p: tensor<1x4xi32>) {
  // expected-error@+1 {{expects}}
  %y = cuda.resample ins(%x : tensor<1x2xf32>) positions(%p : tensor<1x4xi32>)
      outs(%d : tensor<1x4xf32>) attributes {first = 1 : i64} {
  ^bb0(%s: f16):
    %0 = arith.extf %s : f16 to f32
    cuda.yield %0 : f32
  } -> tensor<1x4xf32>
  return
}
