// RUN: ingot-opt %s -split-input-file -verify-diagnostics

func.func @sort_rank(%i: memref<4x2xi64>) {
  // expected-error@+1 {{expects each operand of rank 1, but got 2}}
  cuda.sort outs(%i, %i : memref<4x2xi64>, memref<4x2xi64>)
  return
}

// -----

func.func @sort_type(%i: memref<4xi32>, %s: memref<4xi64>) {
  // expected-error@+1 {{expects items and spare of i64}}
  cuda.sort outs(%i, %s : memref<4xi32>, memref<4xi64>)
  return
}

// -----

func.func @sort_size(%i: memref<4xi64>, %s: memref<5xi64>) {
  // expected-error@+1 {{expects spare of size 4, but got 5}}
  cuda.sort outs(%i, %s : memref<4xi64>, memref<5xi64>)
  return
}

// -----

func.func @items(%i: memref<4x2xi64>, %u: memref<8x3xf32>, %y: memref<9x3xf32>) {
  // expected-error@+1 {{expects items of i64 with rank 1 or 3}}
  cuda.scatter ins(%i, %u : memref<4x2xi64>, memref<8x3xf32>) outs(%y : memref<9x3xf32>) {
  ^bb0(%old: f32, %update: f32):
    cuda.yield %update : f32
  }
  return
}

// -----

func.func @line(%i: memref<1x?x1xi64>, %u: memref<?x3xf32>, %y: memref<9x3xf32>) {
  // expected-error@+1 {{expects a line of known size}}
  cuda.scatter ins(%i, %u : memref<1x?x1xi64>, memref<?x3xf32>) outs(%y : memref<9x3xf32>) {
  ^bb0(%old: f32, %update: f32):
    cuda.yield %update : f32
  }
  return
}

// -----

func.func @slice(%i: memref<8xi64>, %u: memref<8x3xf32>, %y: memref<9x4xf32>) {
  // expected-error@+1 {{expects a slice of size 4, but got 3}}
  cuda.scatter ins(%i, %u : memref<8xi64>, memref<8x3xf32>) outs(%y : memref<9x4xf32>) {
  ^bb0(%old: f32, %update: f32):
    cuda.yield %update : f32
  }
  return
}

// -----

func.func @types(%i: memref<8xi64>, %u: memref<8x3xf16>, %y: memref<9x3xf32>) {
  // expected-error@+1 {{expects updates and dst of one element type}}
  cuda.scatter ins(%i, %u : memref<8xi64>, memref<8x3xf16>) outs(%y : memref<9x3xf32>) {
  ^bb0(%old: f32, %update: f32):
    cuda.yield %update : f32
  }
  return
}

// -----

func.func @region(%i: memref<8xi64>, %u: memref<8x3xf32>, %y: memref<9x3xf32>) {
  // expected-error@+1 {{expects a region that makes 'f32' of two of them}}
  cuda.scatter ins(%i, %u : memref<8xi64>, memref<8x3xf32>) outs(%y : memref<9x3xf32>) {
  ^bb0(%old: f32):
    cuda.yield %old : f32
  }
  return
}

// -----

func.func @scan_rank(%x: memref<8x3xf32>, %y: memref<8x3xf32>) {
  // expected-error@+1 {{expects src of rank 3, but got 2}}
  cuda.scan ins(%x : memref<8x3xf32>) outs(%y : memref<8x3xf32>)
  return
}

// -----

func.func @scan_size(%x: memref<8x3x1xf32>, %y: memref<8x4x1xf32>) {
  // expected-error@+1 {{expects a dimension of size 3, but got 4}}
  cuda.scan ins(%x : memref<8x3x1xf32>) outs(%y : memref<8x4x1xf32>)
  return
}

// -----

func.func @scan_type(%x: memref<8x3x1xf8E5M2>, %y: memref<8x3x1xf8E5M2>) {
  // expected-error@+1 {{expects src and dst of one type, of integers or of floats of 16 bits or more}}
  cuda.scan ins(%x : memref<8x3x1xf8E5M2>) outs(%y : memref<8x3x1xf8E5M2>)
  return
}
