// RUN: ingot-opt %s -split-input-file -verify-diagnostics

func.func @rank(%x: memref<100xf32>, %v: memref<7x5xf32>, %i: memref<7x5xi64>) {
  // expected-error@+1 {{expects each operand of rank 2, but got 1}}
  cuda.top_k ins(%x : memref<100xf32>) outs(%v, %i : memref<7x5xf32>, memref<7x5xi64>)
  return
}

// -----

func.func @types(%x: memref<7x100xf32>, %v: memref<7x5xf32>, %i: memref<7x5xi32>) {
  // expected-error@+1 {{expects src and values of one type, of integers or of floats of 16 bits or more, and indices of i64}}
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

func.func @codes(%x: memref<7x10xf8E5M2>, %v: memref<7x5xf8E5M2>, %i: memref<7x5xi64>) {
  // expected-error@+1 {{expects src and values of one type, of integers or of floats of 16 bits or more, and indices of i64}}
  cuda.top_k ins(%x : memref<7x10xf8E5M2>) outs(%v, %i : memref<7x5xf8E5M2>, memref<7x5xi64>)
  return
}

// -----

func.func @open(%x: memref<7x?xf32>, %v: memref<7x?xf32>, %i: memref<7x?xi64>) {
  // expected-error@+1 {{expects most if the number of results is open, and only then}}
  cuda.top_k ins(%x : memref<7x?xf32>) outs(%v, %i : memref<7x?xf32>, memref<7x?xi64>)
  return
}

// -----

func.func @known(%x: memref<7x9xf32>, %v: memref<7x5xf32>, %i: memref<7x5xi64>) {
  // expected-error@+1 {{expects most if the number of results is open, and only then}}
  cuda.top_k ins(%x : memref<7x9xf32>) outs(%v, %i : memref<7x5xf32>, memref<7x5xi64>) {most = 5}
  return
}

// -----

func.func @most(%x: memref<7x?xf32>, %v: memref<7x?xf32>, %i: memref<7x?xi64>) {
  // expected-error@+1 {{expects 1 to 4096 results of a row, but got 4097}}
  cuda.top_k ins(%x : memref<7x?xf32>) outs(%v, %i : memref<7x?xf32>, memref<7x?xi64>) {most = 4097}
  return
}

// -----

func.func @many(%x: memref<7x100xf32>, %v: memref<7x101xf32>, %i: memref<7x101xi64>) {
  // expected-error@+1 {{expects 1 to 100 results of a row, but got 101}}
  cuda.top_k ins(%x : memref<7x100xf32>) outs(%v, %i : memref<7x101xf32>, memref<7x101xi64>)
  return
}
