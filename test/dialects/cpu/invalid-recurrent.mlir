// RUN: ingot-opt %s -split-input-file -verify-diagnostics

func.func @destinations(%x: memref<7x2x8xf32>, %r: memref<1x4x16xf32>, %p: memref<4xf32>, %l: memref<2x1xi64>, %y: memref<7x2x4xf32>, %h: memref<2x4xf32>, %room: memref<2x16xf32>) {
  // expected-error@+1 {{expects 3 outs, but got 2}}
  cpu.recurrent ins(%x : memref<7x2x8xf32>) weights(%r : memref<1x4x16xf32>) lengths(%l : memref<2x1xi64>) operands(%p : memref<4xf32>)
      outs(%y, %h : memref<7x2x4xf32>, memref<2x4xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64, stores_all} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32, %e: f32, %is: i1):
    cpu.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @no_gates(%x: memref<7x2x8xf32>, %r: memref<1x4x16xf32>, %p: memref<4xf32>, %l: memref<2x1xi64>, %y: memref<7x2x4xf32>, %h: memref<2x4xf32>, %room: memref<2x16xf32>) {
  // expected-error@+1 {{expects gates of at least 1, but got 0}}
  cpu.recurrent ins(%x : memref<7x2x8xf32>) weights(%r : memref<1x4x16xf32>) lengths(%l : memref<2x1xi64>) operands(%p : memref<4xf32>)
      outs(%y, %h, %room : memref<7x2x4xf32>, memref<2x4xf32>, memref<2x16xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 0>, num_states = 1 : i64, stores_all} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32, %e: f32, %is: i1):
    cpu.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @src_rank(%x: memref<7x8xf32>, %r: memref<1x4x16xf32>, %p: memref<4xf32>, %l: memref<2x1xi64>, %y: memref<7x2x4xf32>, %h: memref<2x4xf32>, %room: memref<2x16xf32>) {
  // expected-error@+1 {{expects srcs of rank 3, but got 2}}
  cpu.recurrent ins(%x : memref<7x8xf32>) weights(%r : memref<1x4x16xf32>) lengths(%l : memref<2x1xi64>) operands(%p : memref<4xf32>)
      outs(%y, %h, %room : memref<7x2x4xf32>, memref<2x4xf32>, memref<2x16xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64, stores_all} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32, %e: f32, %is: i1):
    cpu.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @half_a_gate(%x: memref<7x2x6xf32>, %r: memref<1x4x16xf32>, %p: memref<4xf32>, %l: memref<2x1xi64>, %y: memref<7x2x4xf32>, %h: memref<2x4xf32>, %room: memref<2x16xf32>) {
  // expected-error@+1 {{expects srcs of whole gates of 4, but got 6}}
  cpu.recurrent ins(%x : memref<7x2x6xf32>) weights(%r : memref<1x4x16xf32>) lengths(%l : memref<2x1xi64>) operands(%p : memref<4xf32>)
      outs(%y, %h, %room : memref<7x2x4xf32>, memref<2x4xf32>, memref<2x16xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64, stores_all} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32, %e: f32, %is: i1):
    cpu.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @src_type(%x: memref<7x2x8xf64>, %r: memref<1x4x16xf32>, %p: memref<4xf32>, %l: memref<2x1xi64>, %y: memref<7x2x4xf32>, %h: memref<2x4xf32>, %room: memref<2x16xf32>) {
  // expected-error@+1 {{expects srcs of f32, but got 'f64'}}
  cpu.recurrent ins(%x : memref<7x2x8xf64>) weights(%r : memref<1x4x16xf32>) lengths(%l : memref<2x1xi64>) operands(%p : memref<4xf32>)
      outs(%y, %h, %room : memref<7x2x4xf32>, memref<2x4xf32>, memref<2x16xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64, stores_all} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32, %e: f32, %is: i1):
    cpu.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @open_units(%x: memref<7x2x8xf32>, %r: memref<1x4x16xf32>, %p: memref<4xf32>, %l: memref<2x1xi64>, %y: memref<7x2x4xf32>, %h: memref<2x?xf32>, %room: memref<2x16xf32>) {
  // expected-error@+1 {{expects units of known size}}
  cpu.recurrent ins(%x : memref<7x2x8xf32>) weights(%r : memref<1x4x16xf32>) lengths(%l : memref<2x1xi64>) operands(%p : memref<4xf32>)
      outs(%y, %h, %room : memref<7x2x4xf32>, memref<2x?xf32>, memref<2x16xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64, stores_all} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32, %e: f32, %is: i1):
    cpu.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @depth(%x: memref<7x2x8xf32>, %r: memref<1x5x16xf32>, %p: memref<4xf32>, %l: memref<2x1xi64>, %y: memref<7x2x4xf32>, %h: memref<2x4xf32>, %room: memref<2x16xf32>) {
  // expected-error@+1 {{expects a dimension of weights of size 4, but got 5}}
  cpu.recurrent ins(%x : memref<7x2x8xf32>) weights(%r : memref<1x5x16xf32>) lengths(%l : memref<2x1xi64>) operands(%p : memref<4xf32>)
      outs(%y, %h, %room : memref<7x2x4xf32>, memref<2x4xf32>, memref<2x16xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64, stores_all} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32, %e: f32, %is: i1):
    cpu.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @panels(%x: memref<7x2x8xf32>, %r: memref<2x4x16xf32>, %p: memref<4xf32>, %l: memref<2x1xi64>, %y: memref<7x2x4xf32>, %h: memref<2x4xf32>, %room: memref<2x16xf32>) {
  // expected-error@+1 {{expects weight panels of size 1, but got 2}}
  cpu.recurrent ins(%x : memref<7x2x8xf32>) weights(%r : memref<2x4x16xf32>) lengths(%l : memref<2x1xi64>) operands(%p : memref<4xf32>)
      outs(%y, %h, %room : memref<7x2x4xf32>, memref<2x4xf32>, memref<2x16xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64, stores_all} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32, %e: f32, %is: i1):
    cpu.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @panel(%x: memref<7x2x8xf32>, %r: memref<1x4x8xf32>, %p: memref<4xf32>, %l: memref<2x1xi64>, %y: memref<7x2x4xf32>, %h: memref<2x4xf32>, %room: memref<2x16xf32>) {
  // expected-error@+1 {{expects panels of 16, 32 or 64 columns, but got 8}}
  cpu.recurrent ins(%x : memref<7x2x8xf32>) weights(%r : memref<1x4x8xf32>) lengths(%l : memref<2x1xi64>) operands(%p : memref<4xf32>)
      outs(%y, %h, %room : memref<7x2x4xf32>, memref<2x4xf32>, memref<2x16xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64, stores_all} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32, %e: f32, %is: i1):
    cpu.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @column(%x: memref<7x2x8xf32>, %r: memref<1x4x16xf32>, %p: memref<3xf32>, %l: memref<2x1xi64>, %y: memref<7x2x4xf32>, %h: memref<2x4xf32>, %room: memref<2x16xf32>) {
  // expected-error@+1 {{expects a dimension of column operands of size 4, but got 3}}
  cpu.recurrent ins(%x : memref<7x2x8xf32>) weights(%r : memref<1x4x16xf32>) lengths(%l : memref<2x1xi64>) operands(%p : memref<3xf32>)
      outs(%y, %h, %room : memref<7x2x4xf32>, memref<2x4xf32>, memref<2x16xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64, stores_all} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32, %e: f32, %is: i1):
    cpu.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @stored(%x: memref<7x2x8xf32>, %r: memref<1x4x16xf32>, %p: memref<4xf32>, %l: memref<2x1xi64>, %y: memref<7x3x4xf32>, %h: memref<2x4xf32>, %room: memref<2x16xf32>) {
  // expected-error@+1 {{expects a dimension of the output of all steps of size 2, but got 3}}
  cpu.recurrent ins(%x : memref<7x2x8xf32>) weights(%r : memref<1x4x16xf32>) lengths(%l : memref<2x1xi64>) operands(%p : memref<4xf32>)
      outs(%y, %h, %room : memref<7x3x4xf32>, memref<2x4xf32>, memref<2x16xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64, stores_all} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32, %e: f32, %is: i1):
    cpu.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @room(%x: memref<7x2x8xf32>, %r: memref<1x4x16xf32>, %p: memref<4xf32>, %l: memref<2x1xi64>, %y: memref<7x2x4xf32>, %h: memref<2x4xf32>, %room: memref<2x8xf32>) {
  // expected-error@+1 {{expects room for 16 sums of a sequence, but got 'memref<2x8xf32>'}}
  cpu.recurrent ins(%x : memref<7x2x8xf32>) weights(%r : memref<1x4x16xf32>) lengths(%l : memref<2x1xi64>) operands(%p : memref<4xf32>)
      outs(%y, %h, %room : memref<7x2x4xf32>, memref<2x4xf32>, memref<2x8xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64, stores_all} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32, %e: f32, %is: i1):
    cpu.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @lengths(%x: memref<7x2x8xf32>, %r: memref<1x4x16xf32>, %p: memref<4xf32>, %l: memref<2x1xi32>, %y: memref<7x2x4xf32>, %h: memref<2x4xf32>, %room: memref<2x16xf32>) {
  // expected-error@+1 {{expects lengths of i64, but got 'i32'}}
  cpu.recurrent ins(%x : memref<7x2x8xf32>) weights(%r : memref<1x4x16xf32>) lengths(%l : memref<2x1xi32>) operands(%p : memref<4xf32>)
      outs(%y, %h, %room : memref<7x2x4xf32>, memref<2x4xf32>, memref<2x16xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64, stores_all} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32, %e: f32, %is: i1):
    cpu.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @each_length(%x: memref<7x2x8xf32>, %r: memref<1x4x16xf32>, %p: memref<4xf32>, %l: memref<3x1xi64>, %y: memref<7x2x4xf32>, %h: memref<2x4xf32>, %room: memref<2x16xf32>) {
  // expected-error@+1 {{expects lengths of size 2, but got 3}}
  cpu.recurrent ins(%x : memref<7x2x8xf32>) weights(%r : memref<1x4x16xf32>) lengths(%l : memref<3x1xi64>) operands(%p : memref<4xf32>)
      outs(%y, %h, %room : memref<7x2x4xf32>, memref<2x4xf32>, memref<2x16xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64, stores_all} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32, %e: f32, %is: i1):
    cpu.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @arguments(%x: memref<7x2x8xf32>, %r: memref<1x4x16xf32>, %p: memref<4xf32>, %l: memref<2x1xi64>, %y: memref<7x2x4xf32>, %h: memref<2x4xf32>, %room: memref<2x16xf32>) {
  // expected-error@+1 {{expects 7 arguments of cell, but got 6}}
  cpu.recurrent ins(%x : memref<7x2x8xf32>) weights(%r : memref<1x4x16xf32>) lengths(%l : memref<2x1xi64>) operands(%p : memref<4xf32>)
      outs(%y, %h, %room : memref<7x2x4xf32>, memref<2x4xf32>, memref<2x16xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64, stores_all} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32, %is: i1):
    cpu.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @argument(%x: memref<7x2x8xf32>, %r: memref<1x4x16xf32>, %p: memref<4xf32>, %l: memref<2x1xi64>, %y: memref<7x2x4xf32>, %h: memref<2x4xf32>, %room: memref<2x16xf32>) {
  // expected-error@+1 {{expects an argument of cell of i1, but got 'f32'}}
  cpu.recurrent ins(%x : memref<7x2x8xf32>) weights(%r : memref<1x4x16xf32>) lengths(%l : memref<2x1xi64>) operands(%p : memref<4xf32>)
      outs(%y, %h, %room : memref<7x2x4xf32>, memref<2x4xf32>, memref<2x16xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64, stores_all} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32, %e: f32, %is: f32):
    cpu.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @yields(%x: memref<7x2x8xf32>, %r: memref<1x4x16xf32>, %p: memref<4xf32>, %l: memref<2x1xi64>, %y: memref<7x2x4xf32>, %h: memref<2x4xf32>, %room: memref<2x16xf32>) {
  // expected-error@+1 {{expects cell to yield 2 values of f32}}
  cpu.recurrent ins(%x : memref<7x2x8xf32>) weights(%r : memref<1x4x16xf32>) lengths(%l : memref<2x1xi64>) operands(%p : memref<4xf32>)
      outs(%y, %h, %room : memref<7x2x4xf32>, memref<2x4xf32>, memref<2x16xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64, stores_all} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32, %e: f32, %is: i1):
    cpu.yield %a : f32
  }
  return
}

// -----

func.func @reset(%x: memref<7x2x8xf32>, %r: memref<1x4x16xf32>, %p: memref<4xf32>, %l: memref<2x1xi64>, %y: memref<7x2x4xf32>, %h: memref<2x4xf32>, %room: memref<2x20xf32>) {
  // expected-error@+1 {{expects 5 arguments of reset, but got 1}}
  cpu.recurrent ins(%x : memref<7x2x8xf32>) weights(%r : memref<1x4x16xf32>) lengths(%l : memref<2x1xi64>) operands(%p : memref<4xf32>)
      outs(%y, %h, %room : memref<7x2x4xf32>, memref<2x4xf32>, memref<2x20xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64, stores_all} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32, %e: f32, %is: i1):
    cpu.yield %a, %a : f32, f32
  } reset {
  ^bb0(%a: f32):
    cpu.yield %a : f32
  }
  return
}

// -----

func.func @tile(%x: memref<7x2x8xf32>, %r: memref<1x4x16xf32>, %p: memref<4xf32>, %l: memref<2x1xi64>, %y: memref<7x2x4xf32>, %h: memref<2x4xf32>, %room: memref<2x16xf32>) {
  // expected-error@+1 {{expects a tile whose columns divide panels of 16, but got 32}}
  cpu.recurrent ins(%x : memref<7x2x8xf32>) weights(%r : memref<1x4x16xf32>) lengths(%l : memref<2x1xi64>) operands(%p : memref<4xf32>)
      outs(%y, %h, %room : memref<7x2x4xf32>, memref<2x4xf32>, memref<2x16xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64, stores_all, schedule = #cpu.schedule<tile = <2x32>, grid = <2x1>>} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32, %e: f32, %is: i1):
    cpu.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @tiles(%x: memref<7x2x8xf32>, %r: memref<1x4x16xf32>, %p: memref<4xf32>, %l: memref<2x1xi64>, %y: memref<7x2x4xf32>, %h: memref<2x4xf32>, %room: memref<2x16xf32>) {
  // expected-error@+1 {{expects tasks of 1 column tile in a recurrence, but got 2}}
  cpu.recurrent ins(%x : memref<7x2x8xf32>) weights(%r : memref<1x4x16xf32>) lengths(%l : memref<2x1xi64>) operands(%p : memref<4xf32>)
      outs(%y, %h, %room : memref<7x2x4xf32>, memref<2x4xf32>, memref<2x16xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 2>, num_states = 1 : i64, stores_all, schedule = #cpu.schedule<tile = <2x16>, grid = <2x2>>} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %s: f32, %e: f32, %is: i1):
    cpu.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @result(%x: tensor<7x2x4xf32>, %r: tensor<1x4x16xf32>, %h: tensor<2x4xf32>, %room: tensor<2x16xf32>) {
  // expected-error@+1 {{expects a result for each destination that is a tensor, of its type}}
  %0 = cpu.recurrent ins(%x : tensor<7x2x4xf32>) weights(%r : tensor<1x4x16xf32>)
      outs(%h, %room : tensor<2x4xf32>, tensor<2x16xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 1>, num_states = 1 : i64} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    cpu.yield %a, %a : f32, f32
  } -> tensor<2x4xf32>
  return
}
