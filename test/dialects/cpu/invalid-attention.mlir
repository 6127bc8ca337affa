// RUN: ingot-opt %s -split-input-file -verify-diagnostics

func.func @rank(%q: tensor<7x2x16xf32>, %k: tensor<1x9x2x16xf32>, %v: tensor<1x9x2x32xf32>,
    %d: tensor<1x7x2x32xf32>) {
  // expected-error@+1 {{expects src of rank 4, but got 3}}
  %y = cpu.attention ins(%q, %k, %v : tensor<7x2x16xf32>, tensor<1x9x2x16xf32>, tensor<1x9x2x32xf32>)
      outs(%d : tensor<1x7x2x32xf32>) attributes {scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x7x2x32xf32>
  return
}

// -----

func.func @type(%q: tensor<1x7x2x16xf32>, %k: tensor<1x9x2x16xf16>, %v: tensor<1x9x2x32xf32>,
    %d: tensor<1x7x2x32xf32>) {
  // expected-error@+1 {{expects keys of f32, but got 'f16'}}
  %y = cpu.attention ins(%q, %k, %v : tensor<1x7x2x16xf32>, tensor<1x9x2x16xf16>, tensor<1x9x2x32xf32>)
      outs(%d : tensor<1x7x2x32xf32>) attributes {scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x7x2x32xf32>
  return
}

// -----

func.func @unknown(%q: tensor<1x7x2x16xf32>, %k: tensor<1x9x2x16xf32>, %v: tensor<1x9x2x?xf32>,
    %d: tensor<1x7x2x32xf32>) {
  // expected-error@+1 {{expects heads of values of known size}}
  %y = cpu.attention ins(%q, %k, %v : tensor<1x7x2x16xf32>, tensor<1x9x2x16xf32>, tensor<1x9x2x?xf32>)
      outs(%d : tensor<1x7x2x32xf32>) attributes {scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x7x2x32xf32>
  return
}

// -----

func.func @heads(%q: tensor<1x7x2x16xf32>, %k: tensor<1x9x3x16xf32>, %v: tensor<1x9x2x32xf32>,
    %d: tensor<1x7x2x32xf32>) {
  // expected-error@+1 {{expects keys dimension 2 of size 2, but got 3}}
  %y = cpu.attention ins(%q, %k, %v : tensor<1x7x2x16xf32>, tensor<1x9x3x16xf32>, tensor<1x9x2x32xf32>)
      outs(%d : tensor<1x7x2x32xf32>) attributes {scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x7x2x32xf32>
  return
}

// -----

func.func @keys(%q: tensor<1x7x2x16xf32>, %k: tensor<1x9x2x16xf32>, %v: tensor<1x8x2x32xf32>,
    %d: tensor<1x7x2x32xf32>) {
  // expected-error@+1 {{expects keys dimension 1 of size 8, but got 9}}
  %y = cpu.attention ins(%q, %k, %v : tensor<1x7x2x16xf32>, tensor<1x9x2x16xf32>, tensor<1x8x2x32xf32>)
      outs(%d : tensor<1x7x2x32xf32>) attributes {scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x7x2x32xf32>
  return
}

// -----

func.func @dst(%q: tensor<1x7x2x16xf32>, %k: tensor<1x9x2x16xf32>, %v: tensor<1x9x2x32xf32>,
    %d: tensor<1x7x2x16xf32>) {
  // expected-error@+1 {{expects dst dimension 3 of size 32, but got 16}}
  %y = cpu.attention ins(%q, %k, %v : tensor<1x7x2x16xf32>, tensor<1x9x2x16xf32>, tensor<1x9x2x32xf32>)
      outs(%d : tensor<1x7x2x16xf32>) attributes {scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x7x2x16xf32>
  return
}

// -----

func.func @head_size(%q: tensor<1x7x2x24xf32>, %k: tensor<1x9x2x24xf32>, %v: tensor<1x9x2x32xf32>,
    %d: tensor<1x7x2x32xf32>) {
  // expected-error@+1 {{expects heads of a multiple of 16 elements, at most 256, but got 24}}
  %y = cpu.attention ins(%q, %k, %v : tensor<1x7x2x24xf32>, tensor<1x9x2x24xf32>, tensor<1x9x2x32xf32>)
      outs(%d : tensor<1x7x2x32xf32>) attributes {scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x7x2x32xf32>
  return
}

// -----

func.func @large_head(%q: tensor<1x7x2x16xf32>, %k: tensor<1x9x2x16xf32>, %v: tensor<1x9x2x272xf32>,
    %d: tensor<1x7x2x272xf32>) {
  // expected-error@+1 {{expects heads of a multiple of 16 elements, at most 256, but got 272}}
  %y = cpu.attention ins(%q, %k, %v : tensor<1x7x2x16xf32>, tensor<1x9x2x16xf32>, tensor<1x9x2x272xf32>)
      outs(%d : tensor<1x7x2x272xf32>) attributes {scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x7x2x272xf32>
  return
}

// -----

func.func @no_keys(%q: tensor<1x7x2x16xf32>, %k: tensor<1x0x2x16xf32>, %v: tensor<1x0x2x32xf32>,
    %d: tensor<1x7x2x32xf32>) {
  // expected-error@+1 {{expects at least 1 key, but got 0}}
  %y = cpu.attention ins(%q, %k, %v : tensor<1x7x2x16xf32>, tensor<1x0x2x16xf32>, tensor<1x0x2x32xf32>)
      outs(%d : tensor<1x7x2x32xf32>) attributes {scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x7x2x32xf32>
  return
}

// -----

func.func @mask(%q: tensor<1x7x2x16xf32>, %k: tensor<1x9x2x16xf32>, %v: tensor<1x9x2x32xf32>,
    %d: tensor<1x7x2x32xf32>, %m: tensor<1x2x9x6xf32>) {
  // expected-error@+1 {{expects mask dimension 3 of 7 or 1, but got 6}}
  %y = cpu.attention ins(%q, %k, %v : tensor<1x7x2x16xf32>, tensor<1x9x2x16xf32>, tensor<1x9x2x32xf32>)
      mask(%m : tensor<1x2x9x6xf32>)
      outs(%d : tensor<1x7x2x32xf32>) attributes {scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x7x2x32xf32>
  return
}

// -----

func.func @mask_keys(%q: tensor<1x7x2x16xf32>, %k: tensor<1x9x2x16xf32>, %v: tensor<1x9x2x32xf32>,
    %d: tensor<1x7x2x32xf32>, %m: tensor<1x2x1x7xf32>) {
  // expected-error@+1 {{expects mask dimension 2 of 9, but got 1}}
  %y = cpu.attention ins(%q, %k, %v : tensor<1x7x2x16xf32>, tensor<1x9x2x16xf32>, tensor<1x9x2x32xf32>)
      mask(%m : tensor<1x2x1x7xf32>)
      outs(%d : tensor<1x7x2x32xf32>) attributes {scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x7x2x32xf32>
  return
}

// -----

func.func @bytes(%q: memref<1x7x2x16xi8>, %k: memref<1x9x2x16xf32>, %v: memref<1x9x2x32xi8>, %d: memref<1x7x2x32xf32>) {
  // expected-error@+1 {{expects keys of i8, but got 'f32'}}
  cpu.attention ins(%q, %k, %v : memref<1x7x2x16xi8>, memref<1x9x2x16xf32>, memref<1x9x2x32xi8>)
      outs(%d : memref<1x7x2x32xf32>) attributes {bytes = #cpu.attention_bytes<product_scale = 1.000000e-02 : f32, p_scale = 4.000000e-03 : f32, p_most = 255, result_scale = 1.000000e-04 : f32>, scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @bytes(%q: memref<1x7x2x16xi8>, %k: memref<1x9x2x16xi8>, %v: memref<1x9x2x32xi8>, %d: memref<1x7x2x32xf32>) {
  // expected-error@+1 {{expects either bytes or safe, but got both}}
  cpu.attention ins(%q, %k, %v : memref<1x7x2x16xi8>, memref<1x9x2x16xi8>, memref<1x9x2x32xi8>)
      outs(%d : memref<1x7x2x32xf32>) attributes {bytes = #cpu.attention_bytes<product_scale = 1.000000e-02 : f32, p_scale = 4.000000e-03 : f32, p_most = 255, result_scale = 1.000000e-04 : f32>, scale = 1.0 : f32, safe} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @bytes(%q: memref<1x7x2x16xi8>, %k: memref<1x9x2x16xi8>, %v: memref<1x9x2x32xi8>, %d: memref<1x7x2x32xf32>) {
  cpu.attention ins(%q, %k, %v : memref<1x7x2x16xi8>, memref<1x9x2x16xi8>, memref<1x9x2x32xi8>)
      // expected-error@+1 {{expects p_most from 1 to 255, but got 0}}
      outs(%d : memref<1x7x2x32xf32>) attributes {bytes = #cpu.attention_bytes<product_scale = 1.000000e-02 : f32, p_scale = 4.000000e-03 : f32, p_most = 0, result_scale = 1.000000e-04 : f32>, scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @bytes(%q: memref<1x7x2x16xi8>, %k: memref<1x9x2x16xi8>, %v: memref<1x9x2x32xi8>, %d: memref<1x7x2x32xf32>) {
  cpu.attention ins(%q, %k, %v : memref<1x7x2x16xi8>, memref<1x9x2x16xi8>, memref<1x9x2x32xi8>)
      // expected-error@+1 {{expects scales above 0, but got 0.000000e+00}}
      outs(%d : memref<1x7x2x32xf32>) attributes {bytes = #cpu.attention_bytes<product_scale = 1.000000e-02 : f32, p_scale = 0.0 : f32, p_most = 255, result_scale = 1.000000e-04 : f32>, scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @bytes(%q: memref<1x7x2x16xi8>, %k: memref<1x9x2x16xi8>, %v: memref<1x9x2x32xi8>, %d: memref<1x7x2x32xf32>) {
  cpu.attention ins(%q, %k, %v : memref<1x7x2x16xi8>, memref<1x9x2x16xi8>, memref<1x9x2x32xi8>)
      // expected-error@+1 {{expects a rounding of a scale above 0 and two ordered bounds, but got}}
      outs(%d : memref<1x7x2x32xf32>) attributes {bytes = #cpu.attention_bytes<product_scale = 1.000000e-02 : f32, masked_rounding = [1.0, 2.0], p_scale = 4.000000e-03 : f32, p_most = 255, result_scale = 1.000000e-04 : f32>, scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}
