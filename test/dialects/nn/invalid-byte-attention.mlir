// RUN: ingot-opt %s --split-input-file --verify-diagnostics

func.func @bad(%q: tensor<1x7x2x16xui8>, %k: tensor<1x9x2x16xf32>, %v: tensor<1x9x2x32xi8>) -> tensor<1x7x2x32xf32> {
  // expected-error @below {{expects k of bytes, but got 'f32'}}
  %y = nn.byte_attention %q, %k, %v {q_zero_point = 128 : i64, k_zero_point = 3 : i64, v_zero_point = 0 : i64, product_scale = 1.0e-2 : f32, scale = 2.5e-1 : f32, p_scale = 4.0e-3 : f32, p_most = 255 : i64, result_scale = 1.0e-4 : f32} : (tensor<1x7x2x16xui8>, tensor<1x9x2x16xf32>, tensor<1x9x2x32xi8>) -> tensor<1x7x2x32xf32>
  return %y : tensor<1x7x2x32xf32>
}

// -----

func.func @bad(%q: tensor<1x7x2x16xui8>, %k: tensor<1x9x2x24xui8>, %v: tensor<1x9x2x32xi8>) -> tensor<1x7x2x32xf32> {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expects q and k of heads of one size, but got 16 and 24}}
  %y = nn.byte_attention %q, %k, %v {q_zero_point = 128 : i64, k_zero_point = 3 : i64, v_zero_point = 0 : i64, product_scale = 1.0e-2 : f32, scale = 2.5e-1 : f32, p_scale = 4.0e-3 : f32, p_most = 255 : i64, result_scale = 1.0e-4 : f32} : (tensor<1x7x2x16xui8>, tensor<1x9x2x24xui8>, tensor<1x9x2x32xi8>) -> tensor<1x7x2x32xf32>
  return %y : tensor<1x7x2x32xf32>
}

// -----

func.func @bad(%q: tensor<1x7x2x16xui8>, %k: tensor<1x8x2x16xui8>, %v: tensor<1x9x2x32xi8>) -> tensor<1x7x2x32xf32> {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expects k and v of as many keys, but got 8 and 9}}
  %y = nn.byte_attention %q, %k, %v {q_zero_point = 128 : i64, k_zero_point = 3 : i64, v_zero_point = 0 : i64, product_scale = 1.0e-2 : f32, scale = 2.5e-1 : f32, p_scale = 4.0e-3 : f32, p_most = 255 : i64, result_scale = 1.0e-4 : f32} : (tensor<1x7x2x16xui8>, tensor<1x8x2x16xui8>, tensor<1x9x2x32xi8>) -> tensor<1x7x2x32xf32>
  return %y : tensor<1x7x2x32xf32>
}

// -----

func.func @bad(%q: tensor<1x7x2x16xui8>, %k: tensor<1x9x4x16xui8>, %v: tensor<1x9x2x32xi8>) -> tensor<1x7x2x32xf32> {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expects q and k of equal dimension 2, but got 2 and 4}}
  %y = nn.byte_attention %q, %k, %v {q_zero_point = 128 : i64, k_zero_point = 3 : i64, v_zero_point = 0 : i64, product_scale = 1.0e-2 : f32, scale = 2.5e-1 : f32, p_scale = 4.0e-3 : f32, p_most = 255 : i64, result_scale = 1.0e-4 : f32} : (tensor<1x7x2x16xui8>, tensor<1x9x4x16xui8>, tensor<1x9x2x32xi8>) -> tensor<1x7x2x32xf32>
  return %y : tensor<1x7x2x32xf32>
}

// -----

func.func @bad(%q: tensor<1x7x2x16xui8>, %k: tensor<9x2x16xui8>, %v: tensor<1x9x2x32xi8>) -> tensor<1x7x2x32xf32> {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expects k of rank 4, but got 3}}
  %y = nn.byte_attention %q, %k, %v {q_zero_point = 128 : i64, k_zero_point = 3 : i64, v_zero_point = 0 : i64, product_scale = 1.0e-2 : f32, scale = 2.5e-1 : f32, p_scale = 4.0e-3 : f32, p_most = 255 : i64, result_scale = 1.0e-4 : f32} : (tensor<1x7x2x16xui8>, tensor<9x2x16xui8>, tensor<1x9x2x32xi8>) -> tensor<1x7x2x32xf32>
  return %y : tensor<1x7x2x32xf32>
}

// -----

func.func @bad(%q: tensor<1x7x2x16xui8>, %k: tensor<1x9x2x16xui8>, %v: tensor<1x9x2x32xi8>) -> tensor<1x7x2x32xf32> {
  // expected-error @below {{expects p_most from 1 to 255, but got 256}}
  %y = nn.byte_attention %q, %k, %v {q_zero_point = 128 : i64, k_zero_point = 3 : i64, v_zero_point = 0 : i64, product_scale = 1.0e-2 : f32, scale = 2.5e-1 : f32, p_scale = 4.0e-3 : f32, p_most = 256 : i64, result_scale = 1.0e-4 : f32} : (tensor<1x7x2x16xui8>, tensor<1x9x2x16xui8>, tensor<1x9x2x32xi8>) -> tensor<1x7x2x32xf32>
  return %y : tensor<1x7x2x32xf32>
}

// -----

func.func @bad(%q: tensor<1x7x2x16xui8>, %k: tensor<1x9x2x16xui8>, %v: tensor<1x9x2x32xi8>) -> tensor<1x7x2x32xf32> {
  // expected-error @below {{expects a p_scale above 0, but got 0.000000e+00}}
  %y = nn.byte_attention %q, %k, %v {q_zero_point = 128 : i64, k_zero_point = 3 : i64, v_zero_point = 0 : i64, product_scale = 1.0e-2 : f32, scale = 2.5e-1 : f32, p_scale = 0.0 : f32, p_most = 255 : i64, result_scale = 1.0e-4 : f32} : (tensor<1x7x2x16xui8>, tensor<1x9x2x16xui8>, tensor<1x9x2x32xi8>) -> tensor<1x7x2x32xf32>
  return %y : tensor<1x7x2x32xf32>
}

// -----

func.func @bad(%q: tensor<1x7x2x16xui8>, %k: tensor<1x9x2x16xui8>, %v: tensor<1x9x2x32xi8>) -> tensor<1x7x2x32xf32> {
  // expected-error @below {{expects a score_rounding of a scale above 0 and two ordered bounds, but got [1.000000e+00, 2.000000e+00, 1.000000e+00]}}
  %y = nn.byte_attention %q, %k, %v {q_zero_point = 128 : i64, k_zero_point = 3 : i64, v_zero_point = 0 : i64, product_scale = 1.0e-2 : f32, scale = 2.5e-1 : f32, p_scale = 4.0e-3 : f32, p_most = 255 : i64, result_scale = 1.0e-4 : f32, score_rounding = array<f32: 1.0, 2.0, 1.0>} : (tensor<1x7x2x16xui8>, tensor<1x9x2x16xui8>, tensor<1x9x2x32xi8>) -> tensor<1x7x2x32xf32>
  return %y : tensor<1x7x2x32xf32>
}

// -----

func.func @bad(%q: tensor<1x7x2x16xui8>, %k: tensor<1x9x2x16xui8>, %v: tensor<1x9x2x32xi8>, %m: tensor<1x1x7x1xf32>) -> tensor<1x7x2x32xf32> {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expects a mask of all keys, but got 1 and 9}}
  %y = nn.byte_attention %q, %k, %v mask(%m) {q_zero_point = 128 : i64, k_zero_point = 3 : i64, v_zero_point = 0 : i64, product_scale = 1.0e-2 : f32, scale = 2.5e-1 : f32, p_scale = 4.0e-3 : f32, p_most = 255 : i64, result_scale = 1.0e-4 : f32} : (tensor<1x7x2x16xui8>, tensor<1x9x2x16xui8>, tensor<1x9x2x32xi8>, tensor<1x1x7x1xf32>) -> tensor<1x7x2x32xf32>
  return %y : tensor<1x7x2x32xf32>
}

// -----

func.func @bad(%q: tensor<1x7x2x16xui8>, %k: tensor<1x9x2x16xui8>, %v: tensor<1x9x2x32xi8>, %m: tensor<1x1x3x9xf32>) -> tensor<1x7x2x32xf32> {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{mask does not broadcast to the scores: dimension 2 is 3, not 7}}
  %y = nn.byte_attention %q, %k, %v mask(%m) {q_zero_point = 128 : i64, k_zero_point = 3 : i64, v_zero_point = 0 : i64, product_scale = 1.0e-2 : f32, scale = 2.5e-1 : f32, p_scale = 4.0e-3 : f32, p_most = 255 : i64, result_scale = 1.0e-4 : f32} : (tensor<1x7x2x16xui8>, tensor<1x9x2x16xui8>, tensor<1x9x2x32xi8>, tensor<1x1x3x9xf32>) -> tensor<1x7x2x32xf32>
  return %y : tensor<1x7x2x32xf32>
}

// -----

func.func @bad(%q: tensor<1x7x2x16xui8>, %k: tensor<1x9x2x16xui8>, %v: tensor<1x9x2x32xi8>, %m: tensor<1x1x7x9xf16>) -> tensor<1x7x2x32xf32> {
  // expected-error @below {{expects a mask of f32, but got 'tensor<1x1x7x9xf16>'}}
  %y = nn.byte_attention %q, %k, %v mask(%m) {q_zero_point = 128 : i64, k_zero_point = 3 : i64, v_zero_point = 0 : i64, product_scale = 1.0e-2 : f32, scale = 2.5e-1 : f32, p_scale = 4.0e-3 : f32, p_most = 255 : i64, result_scale = 1.0e-4 : f32} : (tensor<1x7x2x16xui8>, tensor<1x9x2x16xui8>, tensor<1x9x2x32xi8>, tensor<1x1x7x9xf16>) -> tensor<1x7x2x32xf32>
  return %y : tensor<1x7x2x32xf32>
}

// -----

func.func @bad(%q: tensor<1x7x2x16xui8>, %k: tensor<1x9x2x16xui8>, %v: tensor<1x9x2x32xi8>, %m: tensor<7x9xf32>) -> tensor<1x7x2x32xf32> {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expects a mask of rank 4, but got 2}}
  %y = nn.byte_attention %q, %k, %v mask(%m) {q_zero_point = 128 : i64, k_zero_point = 3 : i64, v_zero_point = 0 : i64, product_scale = 1.0e-2 : f32, scale = 2.5e-1 : f32, p_scale = 4.0e-3 : f32, p_most = 255 : i64, result_scale = 1.0e-4 : f32} : (tensor<1x7x2x16xui8>, tensor<1x9x2x16xui8>, tensor<1x9x2x32xi8>, tensor<7x9xf32>) -> tensor<1x7x2x32xf32>
  return %y : tensor<1x7x2x32xf32>
}
