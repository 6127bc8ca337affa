// RUN: ingot-opt %s -split-input-file -verify-diagnostics

func.func @outs(%x: memref<7x2x8xf32>, %r: memref<8x4xf32>, %o0: memref<2x4xf32>) {
  // expected-error@+1 {{expects 2 outs, but got 1}}
  cuda.recurrent ins(%x : memref<7x2x8xf32>) weights(%r : memref<8x4xf32>) outs(%o0 : memref<2x4xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32):
    cuda.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @hidden(%x: memref<7x2x6xf32>, %r: memref<8x4xf32>, %o0: memref<2x4xf32>, %o1: memref<2x2x4xf32>) {
  // expected-error@+1 {{expects srcs of whole gates of 4, but got 6}}
  cuda.recurrent ins(%x : memref<7x2x6xf32>) weights(%r : memref<8x4xf32>) outs(%o0, %o1 : memref<2x4xf32>, memref<2x2x4xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32):
    cuda.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @src_type(%x: memref<7x2x8xf16>, %r: memref<8x4xf32>, %o0: memref<2x4xf32>, %o1: memref<2x2x4xf32>) {
  // expected-error@+1 {{expects srcs of f32, but got 'f16'}}
  cuda.recurrent ins(%x : memref<7x2x8xf16>) weights(%r : memref<8x4xf32>) outs(%o0, %o1 : memref<2x4xf32>, memref<2x2x4xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32):
    cuda.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @weights_type(%x: memref<7x2x8xf32>, %r: memref<8x4xf64>, %o0: memref<2x4xf32>, %o1: memref<2x2x4xf32>) {
  // expected-error@+1 {{expects weights of f32, f16 or bf16, but got 'f64'}}
  cuda.recurrent ins(%x : memref<7x2x8xf32>) weights(%r : memref<8x4xf64>) outs(%o0, %o1 : memref<2x4xf32>, memref<2x2x4xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32):
    cuda.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @weights_sizes(%x: memref<7x2x8xf32>, %r: memref<8x4xf16>, %o0: memref<2x4xf32>, %o1: memref<2x2x4xf32>) {
  // expected-error@+1 {{expects weights with the sizes 8 and 8, but got 'memref<8x4xf16>'}}
  cuda.recurrent ins(%x : memref<7x2x8xf32>) weights(%r : memref<8x4xf16>) outs(%o0, %o1 : memref<2x4xf32>, memref<2x2x4xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32):
    cuda.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @room(%x: memref<7x2x8xf32>, %r: memref<8x4xf32>, %o0: memref<2x4xf32>, %o1: memref<3x2x4xf32>) {
  // expected-error@+1 {{expects a dimension of room of size 2, but got 3}}
  cuda.recurrent ins(%x : memref<7x2x8xf32>) weights(%r : memref<8x4xf32>) outs(%o0, %o1 : memref<2x4xf32>, memref<3x2x4xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32):
    cuda.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @gaps(%x: memref<7x2x8xf32>, %r: memref<8x4xf32>, %o0: memref<2x4xf32>, %o1: memref<2x2x4xf32, strided<[16, 8, 1]>>) {
  // expected-error@+1 {{expects room without gaps, but got 'memref<2x2x4xf32, strided<[16, 8, 1]>>'}}
  cuda.recurrent ins(%x : memref<7x2x8xf32>) weights(%r : memref<8x4xf32>) outs(%o0, %o1 : memref<2x4xf32>, memref<2x2x4xf32, strided<[16, 8, 1]>>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32):
    cuda.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @masks_type(%x: memref<7x2x8xf32>, %r: memref<8x4xf32>, %o0: memref<2x4xf32>, %o1: memref<2x2x4xf32>, %m: memref<7x2xi8>) {
  // expected-error@+1 {{expects masks of i1, but got 'i8'}}
  cuda.recurrent ins(%x : memref<7x2x8xf32>) weights(%r : memref<8x4xf32>) masks(%m : memref<7x2xi8>) outs(%o0, %o1 : memref<2x4xf32>, memref<2x2x4xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32, %is: i1):
    cuda.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @masks_steps(%x: memref<7x2x8xf32>, %r: memref<8x4xf32>, %o0: memref<2x4xf32>, %o1: memref<2x2x4xf32>, %m: memref<6x2xi1>) {
  // expected-error@+1 {{expects steps of masks of size 7, but got 6}}
  cuda.recurrent ins(%x : memref<7x2x8xf32>) weights(%r : memref<8x4xf32>) masks(%m : memref<6x2xi1>) outs(%o0, %o1 : memref<2x4xf32>, memref<2x2x4xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32, %is: i1):
    cuda.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @arguments(%x: memref<7x2x8xf32>, %r: memref<8x4xf32>, %o0: memref<2x4xf32>, %o1: memref<2x2x4xf32>) {
  // expected-error@+1 {{expects 5 arguments of cell, but got 4}}
  cuda.recurrent ins(%x : memref<7x2x8xf32>) weights(%r : memref<8x4xf32>) outs(%o0, %o1 : memref<2x4xf32>, memref<2x2x4xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    cuda.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @argument_type(%x: memref<7x2x8xf32>, %r: memref<8x4xf32>, %o0: memref<2x4xf32>, %o1: memref<2x2x4xf32>) {
  // expected-error@+1 {{expects an argument of cell of f32, but got 'f64'}}
  cuda.recurrent ins(%x : memref<7x2x8xf32>) weights(%r : memref<8x4xf32>) outs(%o0, %o1 : memref<2x4xf32>, memref<2x2x4xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f64):
    cuda.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @yields(%x: memref<7x2x8xf32>, %r: memref<8x4xf32>, %o0: memref<2x4xf32>, %o1: memref<2x2x4xf32>) {
  // expected-error@+1 {{expects cell to yield 2 values of f32}}
  cuda.recurrent ins(%x : memref<7x2x8xf32>) weights(%r : memref<8x4xf32>) outs(%o0, %o1 : memref<2x4xf32>, memref<2x2x4xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32):
    cuda.yield %a : f32
  }
  return
}

// -----

func.func @two_types(%x: memref<7x2x8xf32>, %r: memref<4x4xf32>, %q: memref<4x8xf16>, %h: memref<2x4xf32>, %room: memref<3x2x4xf32>) {
  // expected-error@+1 {{expects weights of one type, but got 'f32' and 'f16'}}
  cuda.recurrent ins(%x : memref<7x2x8xf32>) weights(%r, %q : memref<4x4xf32>, memref<4x8xf16>) outs(%h, %room : memref<2x4xf32>, memref<3x2x4xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 1, 1>, num_states = 1 : i64} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32):
    cuda.yield %a, %a : f32, f32
  } reset {
  ^bb0(%a: f32, %c: f32, %d: f32, %s: f32):
    cuda.yield %a : f32
  }
  return
}

// -----

func.func @results(%x: tensor<7x2x8xf32>, %r: tensor<8x4xf32>, %h: tensor<2x4xf32>, %room: tensor<2x2x4xf32>) {
  // expected-error@+1 {{expects a result for each destination that is a tensor, of its type}}
  %0 = cuda.recurrent ins(%x : tensor<7x2x8xf32>) weights(%r : tensor<8x4xf32>) outs(%h, %room : tensor<2x4xf32>, tensor<2x2x4xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32):
    cuda.yield %a, %a : f32, f32
  } -> tensor<2x4xf32>
  return
}

// -----

// expected-error@+1 {{expects powers of two, but got 3}}
#schedule = #cuda.recurrent_schedule<threads = 3, units = 32, batch = 1>

// -----

// expected-error@+1 {{expects at most 32 threads of a unit, but got 64}}
#schedule = #cuda.recurrent_schedule<threads = 64, units = 1, batch = 1>

// -----

// expected-error@+1 {{expects a block of 32 to 1024 threads, but got 16}}
#schedule = #cuda.recurrent_schedule<threads = 4, units = 4, batch = 1>

// -----

// expected-error@+1 {{expects at most 4 sequences of 4 threads, but got 8}}
#schedule = #cuda.recurrent_schedule<threads = 4, units = 8, batch = 8>
