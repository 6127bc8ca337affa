// RUN: ingot-opt %s -split-input-file -verify-diagnostics

func.func @types(%x: tensor<4x8xi32>, %d: tensor<4x8xf32>) {
  // expected-error@+1 {{expects src of f32, f16 or bf16, but got 'i32'}}
  %y = cuda.softmax ins(%x : tensor<4x8xi32>) outs(%d : tensor<4x8xf32>) {
  ^bb0(%p: f32):
    cuda.yield %p : f32
  } -> tensor<4x8xf32>
  return
}

// -----

func.func @shapes(%x: tensor<4x8xf32>, %d: tensor<4x9xf32>) {
  // expected-error@+1 {{expects dst with the shape of src}}
  %y = cuda.softmax ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x9xf32>) {
  ^bb0(%p: f32):
    cuda.yield %p : f32
  } -> tensor<4x9xf32>
  return
}

// -----

func.func @open(%x: tensor<4x?xf32>, %d: tensor<4x?xf32>) {
  // expected-error@+1 {{expects a row of known size}}
  %y = cuda.softmax ins(%x : tensor<4x?xf32>) outs(%d : tensor<4x?xf32>) {
  ^bb0(%p: f32):
    cuda.yield %p : f32
  } -> tensor<4x?xf32>
  return
}

// -----

func.func @empty(%x: tensor<4x0xf32>, %d: tensor<4x0xf32>) {
  // expected-error@+1 {{expects rows with elements}}
  %y = cuda.row_norm ins(%x : tensor<4x0xf32>) outs(%d : tensor<4x0xf32>) attributes {epsilon = 1.0e-5 : f32} {
  ^bb0(%n: f32):
    cuda.yield %n : f32
  } -> tensor<4x0xf32>
  return
}

// -----

func.func @scalar(%x: tensor<f32>, %d: tensor<f32>) {
  // expected-error@+1 {{expects src of rank 1 or more}}
  %y = cuda.row_norm ins(%x : tensor<f32>) outs(%d : tensor<f32>) attributes {epsilon = 1.0e-5 : f32} {
  ^bb0(%n: f32):
    cuda.yield %n : f32
  } -> tensor<f32>
  return
}

// -----

func.func @groups(%x: tensor<2x9x10xf32>, %d: tensor<2x9x10xf32>) {
  // expected-error@+1 {{expects groups that divide 10 channels, but got 3}}
  %y = cuda.group_norm ins(%x : tensor<2x9x10xf32>) outs(%d : tensor<2x9x10xf32>) attributes {epsilon = 1.0e-5 : f32, groups = 3 : i64} {
  ^bb0(%n: f32):
    cuda.yield %n : f32
  } -> tensor<2x9x10xf32>
  return
}

// -----

func.func @rank(%x: tensor<9x10xf32>, %d: tensor<9x10xf32>) {
  // expected-error@+1 {{expects src of rank 3}}
  %y = cuda.group_norm ins(%x : tensor<9x10xf32>) outs(%d : tensor<9x10xf32>) attributes {epsilon = 1.0e-5 : f32, groups = 2 : i64} {
  ^bb0(%n: f32):
    cuda.yield %n : f32
  } -> tensor<9x10xf32>
  return
}

// -----

func.func @vector(%x: memref<4x10xf32>, %d: memref<4x10xf32>) {
  // expected-error@+1 {{expects vectors that divide 10 elements, but got 4}}
  cuda.softmax ins(%x : memref<4x10xf32>) outs(%d : memref<4x10xf32>)
      attributes {schedule = #cuda.row_schedule<threads = 32, rows = 1, vector = 4, held = 0>} {
  ^bb0(%p: f32):
    cuda.yield %p : f32
  }
  return
}

// -----

func.func @held(%x: memref<4x100xf32>, %d: memref<4x100xf32>) {
  // expected-error@+1 {{expects threads that hold a row of 100 elements, but got 64}}
  cuda.softmax ins(%x : memref<4x100xf32>) outs(%d : memref<4x100xf32>)
      attributes {schedule = #cuda.row_schedule<threads = 32, rows = 1, vector = 2, held = 1>} {
  ^bb0(%p: f32):
    cuda.yield %p : f32
  }
  return
}

// -----

// expected-error@+1 {{expects threads, rows and vectors that are powers of two, but got 24}}
func.func private @power() attributes {a = #cuda.row_schedule<threads = 24, rows = 2, vector = 1, held = 1>}

// -----

// expected-error@+1 {{expects 32 to 1024 threads, but got 16}}
func.func private @few() attributes {a = #cuda.row_schedule<threads = 16, rows = 1, vector = 1, held = 1>}

// -----

// expected-error@+1 {{expects vectors of at most 16 elements, but got 32}}
func.func private @wide() attributes {a = #cuda.row_schedule<threads = 32, rows = 1, vector = 32, held = 1>}

// -----

// expected-error@+1 {{expects threads that hold at most 32 elements, but got 36}}
func.func private @many() attributes {a = #cuda.row_schedule<threads = 1024, rows = 1, vector = 4, held = 9>}

// -----

func.func @columns(%x: tensor<8xf32>, %d: tensor<8xf32>) {
  // expected-error@+1 {{expects src of rank 2 or more}}
  %y = cuda.softmax ins(%x : tensor<8xf32>) outs(%d : tensor<8xf32>) attributes {columns} {
  ^bb0(%p: f32):
    cuda.yield %p : f32
  } -> tensor<8xf32>
  return
}

// -----

func.func @open_columns(%x: tensor<4x?xf32>, %d: tensor<4x?xf32>) {
  // expected-error@+1 {{expects columns of known size}}
  %y = cuda.softmax ins(%x : tensor<4x?xf32>) outs(%d : tensor<4x?xf32>) attributes {columns} {
  ^bb0(%p: f32):
    cuda.yield %p : f32
  } -> tensor<4x?xf32>
  return
}

// -----

func.func @held_channels(%x: memref<1x100x8xf32>, %d: memref<1x100x8xf32>) {
  // expected-error@+1 {{expects threads that hold a row of 100 elements, but got 64}}
  cuda.group_norm ins(%x : memref<1x100x8xf32>) outs(%d : memref<1x100x8xf32>)
      attributes {groups = 8 : i64, epsilon = 1.0e-5 : f32, schedule = #cuda.row_schedule<threads = 32, rows = 2, vector = 4, held = 2>} {
  ^bb0(%n: f32):
    cuda.yield %n : f32
  }
  return
}
