// RUN: ingot-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: tensor<1x4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects data of rank 3 or more, but got 2}}
  %0 = nn.max_pool %x {kernel = array<i64>, strides = array<i64>, pads = array<i64>, dilations = array<i64>} : tensor<1x4xf32> -> tensor<1x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects 2 kernel dims, but got 1}}
  %0 = nn.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<1x4x8x8xf32> -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects 2 strides and dilations, but got 2 and 1}}
  %0 = nn.avg_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1>} : tensor<1x4x8x8xf32> -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects 4 pads, but got 2}}
  %0 = nn.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : tensor<1x4x8x8xf32> -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{the dilated kernel is larger than the padded input}}
  %0 = nn.max_pool %x {kernel = array<i64: 9, 9>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<1x4x8x8xf32> -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects 4 pads, but got 3}}
  %0:2 = nn.max_pool_with_indices %x {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<1x4x8x8xf32> -> tensor<1x4x8x8xf32>, tensor<1x4x8x8xi64>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects an axis in [0, 4), but got 4}}
  %0 = nn.reduce sum %x {axes = array<i64: 4>} : tensor<1x4x8x8xf32> -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<1x4xf32>' are incompatible}}
  %0 = nn.reduce sum %x {axes = array<i64: 2, 3>} : tensor<1x4x8x8xf32> -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects an axis in [0, 4), but got -1}}
  %0 = nn.arg_reduce max %x {axis = -1 : i64} : tensor<1x4x8x8xf32> -> tensor<1x4x8xi64>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>) {
  // expected-error@+1 {{expects kind max or min, but got sum}}
  %0 = nn.arg_reduce sum %x {axis = 3 : i64} : tensor<1x4x8x8xf32> -> tensor<1x4x8xi64>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>, %u: tensor<4xf32>, %v: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects data of rank 2 or more, but got 1}}
  %0 = nn.batch_norm %x, %y, %z, %u, %v {epsilon = 1.0e-5 : f32} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %y: tensor<3xf32>, %z: tensor<4xf32>, %u: tensor<4xf32>, %v: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects scale of 4 elements, but got 3}}
  %0 = nn.batch_norm %x, %y, %z, %u, %v {epsilon = 1.0e-5 : f32} : (tensor<1x4x8x8xf32>, tensor<3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %y: tensor<4xf32>, %z: tensor<f32>, %u: tensor<4xf32>, %v: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects bias of rank 1, but got 0}}
  %0 = nn.batch_norm %x, %y, %z, %u, %v {epsilon = 1.0e-5 : f32} : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>, %u: tensor<5xf32>, %v: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects mean of 4 elements, but got 5}}
  %0 = nn.batch_norm %x, %y, %z, %u, %v {epsilon = 1.0e-5 : f32} : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<5xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>, %u: tensor<4xf32>, %v: tensor<1xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects variance of 4 elements, but got 1}}
  %0 = nn.batch_norm %x, %y, %z, %u, %v {epsilon = 1.0e-5 : f32} : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<1xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects data of rank 2 or more, but got 1}}
  %0 = nn.group_norm %x, %y, %z {groups = 1 : i64, epsilon = 1.0e-5 : f32} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects groups to divide 4 channels, but got 3}}
  %0 = nn.group_norm %x, %y, %z {groups = 3 : i64, epsilon = 1.0e-5 : f32} : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects groups to divide the channels, but got 0}}
  %0 = nn.group_norm %x, %y, %z {groups = 0 : i64, epsilon = 1.0e-5 : f32} : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %y: tensor<2xf32>, %z: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects scale of 4 elements, but got 2}}
  %0 = nn.group_norm %x, %y, %z {groups = 2 : i64, epsilon = 1.0e-5 : f32} : (tensor<1x4x8x8xf32>, tensor<2xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects an axis in [0, 4), but got 4}}
  %0 = nn.layer_norm %x {axis = 4 : i64, epsilon = 1.0e-5 : f32} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %y: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects an axis in [0, 4), but got 4}}
  %0 = nn.rms_norm %x, %y {axis = 4 : i64, epsilon = 1.0e-5 : f32} : (tensor<1x4x8x8xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects an axis in [0, 4), but got -1}}
  %0 = nn.softmax %x {axis = -1 : i64} : tensor<1x4x8x8xf32> -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects data of rank 2 or more, but got 1}}
  %0 = nn.lrn %x {size = 3 : i64, alpha = 1.0e-4 : f32, beta = 0.75 : f32, k = 1.0 : f32} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects a positive size, but got 0}}
  %0 = nn.lrn %x {size = 0 : i64, alpha = 1.0e-4 : f32, beta = 0.75 : f32, k = 1.0 : f32} : tensor<1x4x5xf32> -> tensor<1x4x5xf32>
  return
}

// -----

func.func @pool_of_nothing(%x: tensor<1x4x0x8xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects elements to pool, but spatial dimension 0 has 0}}
  %0 = nn.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : tensor<1x4x0x8xf32> -> tensor<1x4x1x9xf32>
  return
}
