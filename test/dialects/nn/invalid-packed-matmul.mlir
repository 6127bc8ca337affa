// RUN: ingot-opt %s --split-input-file --verify-diagnostics

func.func @bad(%a: tensor<2x20xf32>, %q: tensor<3x2x8xui8>, %s: tensor<3x2xf32>) {
  // expected-error @below {{expects 2, 4 or 8 bits, but got 5}}
  %0 = nn.packed_matmul %a, %q, %s {bits = 5 : i64, block_size = 16 : i64, depth = 20 : i64} : (tensor<2x20xf32>, tensor<3x2x8xui8>, tensor<3x2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @bad(%a: tensor<2x20xf32>, %q: tensor<3x2x8xui8>, %s: tensor<3x2xf32>) {
  // expected-error @below {{expects blocks of whole bytes, but got 3 elements of 4 bits}}
  %0 = nn.packed_matmul %a, %q, %s {bits = 4 : i64, block_size = 3 : i64, depth = 20 : i64} : (tensor<2x20xf32>, tensor<3x2x8xui8>, tensor<3x2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @bad(%a: tensor<2x20xf32>, %q: tensor<3x2x9xui8>, %s: tensor<3x2xf32>) {
  // expected-error @below {{expects codes of 3x2x8, but got 'tensor<3x2x9xui8>'}}
  %0 = nn.packed_matmul %a, %q, %s {bits = 4 : i64, block_size = 16 : i64, depth = 20 : i64} : (tensor<2x20xf32>, tensor<3x2x9xui8>, tensor<3x2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @bad(%a: tensor<2x20xf32>, %q: tensor<3x2x8xi8>, %s: tensor<3x2xf32>) {
  // expected-error @below {{expects codes of ui8 and known size, but got 'tensor<3x2x8xi8>'}}
  %0 = nn.packed_matmul %a, %q, %s {bits = 4 : i64, block_size = 16 : i64, depth = 20 : i64} : (tensor<2x20xf32>, tensor<3x2x8xi8>, tensor<3x2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @bad(%a: tensor<2x20xf32>, %q: tensor<3x2x8xui8>, %s: tensor<3x1xf32>) {
  // expected-error @below {{expects scales of 3x2 of f32, but got 'tensor<3x1xf32>'}}
  %0 = nn.packed_matmul %a, %q, %s {bits = 4 : i64, block_size = 16 : i64, depth = 20 : i64} : (tensor<2x20xf32>, tensor<3x2x8xui8>, tensor<3x1xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @bad(%a: tensor<2x20xf32>, %q: tensor<3x2x8xui8>, %s: tensor<3x2xf32>, %z: tensor<3x2xi8>) {
  // expected-error @below {{expects zero points of 3x2 of ui8 or f32, but got 'tensor<3x2xi8>'}}
  %0 = nn.packed_matmul %a, %q, %s zero_points(%z) {bits = 4 : i64, block_size = 16 : i64, depth = 20 : i64} : (tensor<2x20xf32>, tensor<3x2x8xui8>, tensor<3x2xf32>, tensor<3x2xi8>) -> tensor<2x3xf32>
  return
}

// -----

func.func @bad(%a: tensor<2x21xf32>, %q: tensor<3x2x8xui8>, %s: tensor<3x2xf32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @below {{expects data of inner dimension 20, but got 21}}
  %0 = nn.packed_matmul %a, %q, %s {bits = 4 : i64, block_size = 16 : i64, depth = 20 : i64} : (tensor<2x21xf32>, tensor<3x2x8xui8>, tensor<3x2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @bad(%x: tensor<4x6xi4>, %s: tensor<4x3xf32>) {
  // expected-error @below {{expects a scale and zero point for each block of 4 elements along dimension 1, but got 'tensor<4x3xf32>'}}
  %0 = nn.dequantize_blocks %x, %s {axis = 1 : i64, block_size = 4 : i64} : (tensor<4x6xi4>, tensor<4x3xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @bad(%x: tensor<4x6xi4>, %s: tensor<4x3xf32>) {
  // expected-error @below {{expects an axis in [0, 2) and a block_size of at least 1, but got 2 and 2}}
  %0 = nn.dequantize_blocks %x, %s {axis = 2 : i64, block_size = 2 : i64} : (tensor<4x6xi4>, tensor<4x3xf32>) -> tensor<4x6xf32>
  return
}
