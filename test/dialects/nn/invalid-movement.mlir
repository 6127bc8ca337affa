// RUN: ingot-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects a permutation of 2 dimensions}}
  %0 = nn.transpose %x {perm = array<i64: 0, 0>} : tensor<2x3xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects a permutation of 2 dimensions}}
  %0 = nn.transpose %x {perm = array<i64: 0, 2>} : tensor<2x3xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects a permutation of 2 dimensions}}
  %0 = nn.transpose %x {perm = array<i64: 0>} : tensor<2x3xf32> -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{expects equal element types}}
  %0 = nn.reshape %x : tensor<2x3xf32> -> tensor<6xf64>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{expects at most one dynamic result dimension, but got 2}}
  %0 = nn.reshape %x : tensor<2x3xf32> -> tensor<?x?xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{expects 6 elements, but got 7}}
  %0 = nn.reshape %x : tensor<2x3xf32> -> tensor<7xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{expects 1 sizes, but got 0}}
  %0 = nn.broadcast_to %x : tensor<2x3xf32> -> tensor<?x2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{cannot broadcast 'tensor<2x3xf32>' to 'tensor<2x4xf32>'}}
  %0 = nn.broadcast_to %x : tensor<2x3xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{cannot broadcast 'tensor<2x3xf32>' to 'tensor<1x3xf32>'}}
  %0 = nn.broadcast_to %x : tensor<2x3xf32> -> tensor<1x3xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects at least one input}}
  %0 = "nn.concat"() <{axis = 0 : i64}> : () -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects an axis in [0, 2), but got 2}}
  %0 = nn.concat %x, %x {axis = 2 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inputs do not fit together: 'tensor<2x3xf32>' and 'tensor<3xf32>'}}
  %0 = nn.concat %x, %y {axis = 0 : i64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inputs do not fit together: dimension 1 of input 1 is 4, but 3 in those before}}
  %0 = nn.concat %x, %y {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects 2 starts, sizes and steps}}
  %0 = nn.slice %x {starts = array<i64: 0>, sizes = array<i64: 1>, steps = array<i64: 1>} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects non-zero steps}}
  %0 = nn.slice %x {starts = array<i64: 0, 0>, sizes = array<i64: 2, 3>, steps = array<i64: 1, 0>} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects start 0 and step 1 of a dimension taken whole}}
  %0 = nn.slice %x {starts = array<i64: 0, 1>, sizes = array<i64: 2, -1>, steps = array<i64: 1, 1>} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{slice of dimension 1 leaves its 3 elements}}
  %0 = nn.slice %x {starts = array<i64: 0, 1>, sizes = array<i64: 2, 3>, steps = array<i64: 1, 1>} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{slice of dimension 1 leaves its 3 elements}}
  %0 = nn.slice %x {starts = array<i64: 0, 1>, sizes = array<i64: 2, 3>, steps = array<i64: 1, -1>} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{slice of dimension 0 leaves its 2 elements}}
  %0 = nn.slice %x {starts = array<i64: -1, 0>, sizes = array<i64: 2, 3>, steps = array<i64: 1, 1>} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<f32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects 2 low and high pads}}
  %0 = nn.pad constant %x value(%y) {low = array<i64: 0>, high = array<i64: 0, 0>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<f32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{cropping leaves dimension 1 a negative size}}
  %0 = nn.pad constant %x value(%y) {low = array<i64: 0, -2>, high = array<i64: 0, -2>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<f32>) {
  // expected-error@+1 {{expects no value in mode edge}}
  %0 = nn.pad edge %x value(%y) {low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{expects a value in mode constant}}
  %0 = nn.pad constant %x {low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<1xf32>) {
  // expected-error@+1 {{expects a scalar value, but got 'tensor<1xf32>'}}
  %0 = nn.pad constant %x value(%y) {low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{expects one scale a dimension of operand and result}}
  %0 = "nn.resize"(%x) <{mode = 0 : i32, scales = array<f32: 1.0>, coordinates = 0 : i32, nearest_mode = 0 : i32, operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{expects positive scales, or 0 for what a run computes, but got -1}}
  %0 = "nn.resize"(%x) <{mode = 0 : i32, scales = array<f32: 1.0, -1.0>, coordinates = 0 : i32, nearest_mode = 0 : i32, operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %size: index, %factor: f32) {
  // expected-error@+1 {{expects 2 sizes and factors, as there are scales of 0, but got 1}}
  %0 = nn.resize nearest %x sizes(%size) factors(%factor) {coordinates = 0 : i32, nearest_mode = 0 : i32, scales = array<f32: 0.0, 0.0>} : tensor<2x3xf32> -> tensor<?x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{expects linear or cubic mode with antialias, but got nearest}}
  %0 = nn.resize nearest %x {antialias, coordinates = 0 : i32, nearest_mode = 0 : i32, scales = array<f32: 0.5, 1.0>} : tensor<2x3xf32> -> tensor<1x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xui8>) {
  // expected-error@+1 {{expects f32 with antialias, but got 'ui8'}}
  %0 = nn.resize linear %x {antialias, coordinates = 0 : i32, nearest_mode = 0 : i32, scales = array<f32: 0.5, 1.0>} : tensor<2x3xui8> -> tensor<1x3xui8>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<f32>) {
  // expected-error@+1 {{expects operand and result of one shape}}
  %0 = nn.quantize %x, %y {axis = 0 : i64} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x3xui8>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{expects an axis in [0, 2), but got 2}}
  %0 = nn.quantize %x, %y {axis = 2 : i64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xui8>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2xf32>) {
  // expected-error@+1 {{expects scale of 3 elements, but got 2}}
  %0 = nn.quantize %x, %y {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xui8>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<3x1xf32>) {
  // expected-error@+1 {{scale does not broadcast to the data}}
  %0 = nn.quantize %x, %y {axis = 0 : i64} : (tensor<2x3xf32>, tensor<3x1xf32>) -> tensor<2x3xui8>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %z: tensor<2xui8>) {
  // expected-error@+1 {{expects zero_point of 3 elements, but got 2}}
  %0 = nn.quantize %x, %y zero_point(%z) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<2xui8>) -> tensor<2x3xui8>
  return
}
