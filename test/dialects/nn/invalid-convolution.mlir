// RUN: ingot-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects data and weights of one rank, but got 4 and 3}}
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x1xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4xf32>, %w: tensor<4x4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects data of rank 3 or more, but got 2}}
  %0 = nn.conv %x, %w {strides = array<i64>, pads = array<i64>, dilations = array<i64>, groups = 1 : i64} : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1x1xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects 2 strides and dilations, but got 1 and 2}}
  %0 = nn.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1x1xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects 4 pads, but got 2}}
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1x1xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects positive kernel dims, strides and dilations}}
  %0 = nn.conv %x, %w {strides = array<i64: 0, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1x1xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects positive kernel dims, strides and dilations}}
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, -1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x0x1xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects positive kernel dims, strides and dilations}}
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x0x1xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x5x1xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{the dilated kernel is larger than the padded input}}
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 2, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x5x1xf32>) -> tensor<1x4x0x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1x1xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects positive groups, but got 0}}
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 0 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<4x3x1x1xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects 6 input channels (3 a group, 2 groups), but got 4}}
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<3x2x1x1xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects groups to divide 3 output channels, but got 2}}
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x3x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<1x4x6x6xf32>' are incompatible with return type(s) of operation 'tensor<1x4x8x8xf32>'}}
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1x1xf32>, %b: tensor<1x4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects bias of rank 1, but got 2}}
  %0 = nn.conv %x, %w bias(%b) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>, tensor<1x4xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1x1xf32>, %b: tensor<3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects bias of 4 elements, but got 3}}
  %0 = nn.conv %x, %w bias(%b) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>, tensor<3xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects data and weights of one rank, but got 4 and 3}}
  %0 = nn.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, output_padding = array<i64: 0, 0>} : (tensor<1x4x8x8xf32>, tensor<4x4x1xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4xf32>, %w: tensor<4x4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects data of rank 3 or more, but got 2}}
  %0 = nn.conv_transpose %x, %w {strides = array<i64>, pads = array<i64>, dilations = array<i64>, groups = 1 : i64, output_padding = array<i64>} : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1x1xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects 2 output paddings, but got 1}}
  %0 = nn.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, output_padding = array<i64: 0>} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1x1xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects positive groups, but got -1}}
  %0 = nn.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = -1 : i64, output_padding = array<i64: 0, 0>} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<3x4x1x1xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects 3 input channels, but got 4}}
  %0 = nn.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, output_padding = array<i64: 0, 0>} : (tensor<1x4x8x8xf32>, tensor<3x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<4x1x1x1xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects groups to divide 4 input channels, but got 3}}
  %0 = nn.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 3 : i64, output_padding = array<i64: 0, 0>} : (tensor<1x4x8x8xf32>, tensor<4x1x1x1xf32>) -> tensor<1x3x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1x1xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{the pads are larger than the result: spatial dimension 0 would have -1 elements}}
  %0 = nn.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 9, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, output_padding = array<i64: 0, 0>} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x0x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1x1xf32>, %b: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects bias of 8 elements, but got 4}}
  %0 = nn.conv_transpose %x, %w bias(%b) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 2 : i64, output_padding = array<i64: 0, 0>} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>, tensor<4xf32>) -> tensor<1x8x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %w: tensor<4x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects operands of rank 2 or more, but got 1 and 2}}
  %0 = nn.matmul %x, %w : (tensor<4xf32>, tensor<4x5xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<3x4xf32>, %w: tensor<5x6xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects equal inner dimensions, but got 4 and 5}}
  %0 = nn.matmul %x, %w : (tensor<3x4xf32>, tensor<5x6xf32>) -> tensor<3x6xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %w: tensor<3x4x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{batch dimensions do not broadcast: dimension 0 is 2 in one and 3 in the other}}
  %0 = nn.matmul %x, %w : (tensor<2x3x4xf32>, tensor<3x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<3x4xf32>, %w: tensor<4x5xf32>, %b: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{bias does not broadcast to the result}}
  %0 = nn.matmul %x, %w bias(%b) : (tensor<3x4xf32>, tensor<4x5xf32>, tensor<4xf32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8xf32>, %w: tensor<4x4x1xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects bytes or words where x_zero_point is 3, but got 'f32'}}
  %0 = nn.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64, x_zero_point = 3 : i64} : (tensor<1x4x8xf32>, tensor<4x4x1xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8xui8>, %w: tensor<4x4x1xi8>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects x_zero_point in [0, 255], but got 256}}
  %0 = nn.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64, x_zero_point = 256 : i64} : (tensor<1x4x8xui8>, tensor<4x4x1xi8>) -> tensor<1x4x8xi32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8xui8>, %w: tensor<4x4x1xi8>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects x_zero_point in [0, 255], but got 256}}
  %0 = nn.conv_transpose %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64, output_padding = array<i64: 0>, x_zero_point = 256 : i64} : (tensor<1x4x8xui8>, tensor<4x4x1xi8>) -> tensor<1x4x8xi32>
  return
}
