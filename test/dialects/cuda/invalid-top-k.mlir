// RUN: ingot-opt %s -split-input-file -verify-diagnostics

func.func @rank(%x: memref<100xf32>, %v: memref<7x5xf32>, %i: memref<7x5xi64>) {
  // expected-error@+1 {{expects each operand of rank 2, but got 1}}
  cuda.top_k ins(%x : memref<100xf32>) outs(%v, %i : memref<7x5xf32>, memref<7x5xi64>)
  return
}

// -----

func.func @types(%x: memref<7x100xf32>, %v: memref<7x5xf32>, %i: memref<7x5xi32>) {
  // expected-error@+1 {{expects src and values of f32, and indices of i64}}
  cuda.top_k ins(%x : memref<7x100xf32>) outs(%v, %i : memref<7x5xf32>, memref<7x5xi32>)
  return
}

// -----

func.func @shapes(%x: memref<7x100xf32>, %v: memref<7x5xf32>, %i: memref<7x6xi64>) {
  // expected-error@+1 {{expects values and indices of one shape}}
  cuda.top_k ins(%x : memref<7x100xf32>) outs(%v, %i : memref<7x5xf32>, memref<7x6xi64>)
  return
}

// -----

func.func @rows(%x: memref<7x100xf32>, %v: memref<8x5xf32>, %i: memref<8x5xi64>) {
  // expected-error@+1 {{expects rows of size 7, but got 8}}
  cuda.top_k ins(%x : memref<7x100xf32>) outs(%v, %i : memref<8x5xf32>, memref<8x5xi64>)
  return
}

// -----

func.func @open(%x: memref<7x?xf32>, %v: memref<7x5xf32>, %i: memref<7x5xi64>) {
  // expected-error@+1 {{expects a row of known size}}
  cuda.top_k ins(%x : memref<7x?xf32>) outs(%v, %i : memref<7x5xf32>, memref<7x5xi64>)
  return
}

// -----

func.func @many(%x: memref<7x100xf32>, %v: memref<7x101xf32>, %i: memref<7x101xi64>) {
  // expected-error@+1 {{expects 1 to 100 results of a row, but got 101}}
  cuda.top_k ins(%x : memref<7x100xf32>) outs(%v, %i : memref<7x101xf32>, memref<7x101xi64>)
  return
}
