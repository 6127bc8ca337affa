// RUN: ingot-opt %s -split-input-file -verify-diagnostics

func.func @vector(%x: tensor<8xf32>, %d: tensor<8xf32>) {
  // expected-error@+1 {{expects src of rank 2 or more}}
  %y = cuda.reduce sum ins(%x : tensor<8xf32>) outs(%d : tensor<8xf32>) {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  } -> tensor<8xf32>
  return
}

// -----

func.func @sizes(%x: tensor<2x5x8xf32>, %d: tensor<5x8xf32>) {
  // expected-error@+1 {{expects dst with the sizes of src without the last but one}}
  %y = cuda.reduce sum ins(%x : tensor<2x5x8xf32>) outs(%d : tensor<5x8xf32>) {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  } -> tensor<5x8xf32>
  return
}

// -----

func.func @columns(%x: tensor<2x5x?xf32>, %d: tensor<2x?xf32>) {
  // expected-error@+1 {{expects columns of known size}}
  %y = cuda.reduce max ins(%x : tensor<2x5x?xf32>) outs(%d : tensor<2x?xf32>) {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  } -> tensor<2x?xf32>
  return
}

// -----

func.func @empty(%x: tensor<2x0x8xf32>, %d: tensor<2x8xf32>) {
  // expected-error@+1 {{expects rows with elements}}
  %y = cuda.reduce max ins(%x : tensor<2x0x8xf32>) outs(%d : tensor<2x8xf32>) {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  } -> tensor<2x8xf32>
  return
}

// -----

func.func @types(%x: tensor<2x5x8xi32>, %d: tensor<2x8xf32>) {
  // expected-error@+1 {{expects src of f32, f16 or bf16, but got 'i32'}}
  %y = cuda.reduce max ins(%x : tensor<2x5x8xi32>) outs(%d : tensor<2x8xf32>) {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  } -> tensor<2x8xf32>
  return
}

// -----

func.func @divided(%x: memref<2x5x8xf32>, %d: memref<2x8xf32>) {
  // expected-error@+1 {{expects vectors that divide 8 elements, but got 16}}
  cuda.reduce max ins(%x : memref<2x5x8xf32>) outs(%d : memref<2x8xf32>)
      attributes {schedule = #cuda.row_schedule<threads = 32, rows = 1, vector = 16, held = 0>} {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  }
  return
}

// -----

func.func @held(%x: memref<2x50x8xf32>, %d: memref<2x8xf32>) {
  // expected-error@+1 {{expects threads that hold a row of 50 elements, but got 32}}
  cuda.reduce max ins(%x : memref<2x50x8xf32>) outs(%d : memref<2x8xf32>)
      attributes {schedule = #cuda.row_schedule<threads = 32, rows = 1, vector = 4, held = 1>} {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  }
  return
}

// -----

func.func @open(%x: memref<2x?x8xf32>, %d: memref<2x8xf32>) {
  // expected-error@+1 {{expects threads that hold no row of open length}}
  cuda.reduce max ins(%x : memref<2x?x8xf32>) outs(%d : memref<2x8xf32>)
      attributes {schedule = #cuda.row_schedule<threads = 32, rows = 1, vector = 4, held = 1>} {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  }
  return
}

// -----

func.func @rank(%x: tensor<2x8xf32>, %d: tensor<2x8xf32>) {
  // expected-error@+1 {{expects src and dst of one rank of 3 to 5}}
  %y = cuda.pool max ins(%x : tensor<2x8xf32>) outs(%d : tensor<2x8xf32>)
      attributes {taps = array<i64>, strides = array<i64>, pads = array<i64>, dilations = array<i64>} {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  } -> tensor<2x8xf32>
  return
}

// -----

func.func @taps(%x: tensor<1x9x8xf32>, %d: tensor<1x9x8xf32>) {
  // expected-error@+1 {{expects 1 taps, but got 2}}
  %y = cuda.pool max ins(%x : tensor<1x9x8xf32>) outs(%d : tensor<1x9x8xf32>)
      attributes {taps = array<i64: 1, 1>, strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  } -> tensor<1x9x8xf32>
  return
}

// -----

func.func @windows(%x: tensor<1x9x8xf32>, %d: tensor<1x9x8xf32>) {
  // expected-error@+1 {{windows}}
  %y = cuda.pool mean ins(%x : tensor<1x9x8xf32>) outs(%d : tensor<1x9x8xf32>)
      attributes {taps = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  } -> tensor<1x9x8xf32>
  return
}

// -----

func.func @channels(%x: tensor<1x9x8xf32>, %d: tensor<1x9x7xf32>) {
  // expected-error@+1 {{channels}}
  %y = cuda.pool mean ins(%x : tensor<1x9x8xf32>) outs(%d : tensor<1x9x7xf32>)
      attributes {taps = array<i64: 1>, strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  } -> tensor<1x9x7xf32>
  return
}
