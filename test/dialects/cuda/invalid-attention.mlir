// RUN: ingot-opt %s -split-input-file -verify-diagnostics

func.func @types(%q: tensor<1x7x2x16xf32>, %k: tensor<1x9x2x16xf16>, %d: tensor<1x7x2x16xf32>) {
  // expected-error@+1 {{expects keys of 'f32', but got 'tensor<1x9x2x16xf16>'}}
  %y = cuda.attention ins(%q, %k, %k : tensor<1x7x2x16xf32>, tensor<1x9x2x16xf16>, tensor<1x9x2x16xf16>)
      outs(%d : tensor<1x7x2x16xf32>) attributes {scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<1x7x2x16xf32>
  return
}

// -----

func.func @keys(%q: tensor<1x7x2x16xf32>, %k: tensor<1x9x2x16xf32>, %v: tensor<1x8x2x16xf32>, %d: tensor<1x7x2x16xf32>) {
  // expected-error@+1 {{expects keys dimension 1 of size 8, but got 9}}
  %y = cuda.attention ins(%q, %k, %v : tensor<1x7x2x16xf32>, tensor<1x9x2x16xf32>, tensor<1x8x2x16xf32>)
      outs(%d : tensor<1x7x2x16xf32>) attributes {scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<1x7x2x16xf32>
  return
}

// -----

func.func @heads(%q: tensor<1x7x2x24xf32>, %k: tensor<1x9x2x24xf32>, %d: tensor<1x7x2x24xf32>) {
  // expected-error@+1 {{expects heads of a multiple of 16 elements, at most 128, but got 24}}
  %y = cuda.attention ins(%q, %k, %k : tensor<1x7x2x24xf32>, tensor<1x9x2x24xf32>, tensor<1x9x2x24xf32>)
      outs(%d : tensor<1x7x2x24xf32>) attributes {scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<1x7x2x24xf32>
  return
}

// -----

func.func @mask(%q: tensor<1x7x2x16xf32>, %k: tensor<1x9x2x16xf32>, %m: tensor<1x1x1x7xf32>, %d: tensor<1x7x2x16xf32>) {
  // expected-error@+1 {{expects mask dimension 2 of 9, but got 1}}
  %y = cuda.attention ins(%q, %k, %k : tensor<1x7x2x16xf32>, tensor<1x9x2x16xf32>, tensor<1x9x2x16xf32>)
      mask(%m : tensor<1x1x1x7xf32>) outs(%d : tensor<1x7x2x16xf32>) attributes {scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<1x7x2x16xf32>
  return
}

// -----

func.func @epilogue(%q: tensor<1x7x2x16xf32>, %k: tensor<1x9x2x16xf32>, %d: tensor<1x7x2x16xf16>) {
  // expected-error@+1 {{expects an epilogue that yields 'f16'}}
  %y = cuda.attention ins(%q, %k, %k : tensor<1x7x2x16xf32>, tensor<1x9x2x16xf32>, tensor<1x9x2x16xf32>)
      outs(%d : tensor<1x7x2x16xf16>) attributes {scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<1x7x2x16xf16>
  return
}

// -----

// expected-error@+1 {{expects 16, 32, 64 or 128 rows, and 16, 32 or 64 keys, but got 48 and 64}}
#tile = #cuda.attention_schedule<rows = 48, keys = 64, stages = 2, src_bytes = 16, keys_bytes = 16, values_bytes = 16, stored = 2>

// -----

// expected-error@+1 {{expects 2 to 4 stages, but got 1}}
#tile = #cuda.attention_schedule<rows = 64, keys = 64, stages = 1, src_bytes = 16, keys_bytes = 16, values_bytes = 16, stored = 2>

// -----

#tile = #cuda.attention_schedule<rows = 128, keys = 64, stages = 4, src_bytes = 16, keys_bytes = 16, values_bytes = 16, stored = 2>

func.func @shared(%q: memref<1x7x2x128xf32>, %k: memref<1x9x2x128xf32>, %d: memref<1x7x2x128xf32>) {
  // expected-error@+1 {{expects at most 101376 bytes of shared memory, but needs 372736}}
  cuda.attention ins(%q, %k, %k : memref<1x7x2x128xf32>, memref<1x9x2x128xf32>, memref<1x9x2x128xf32>)
      outs(%d : memref<1x7x2x128xf32>) attributes {scale = 1.0 : f32, schedule = #tile} {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  }
  return
}
