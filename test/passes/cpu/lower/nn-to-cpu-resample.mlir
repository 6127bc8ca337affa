// RUN: ingot-opt --pass-pipeline='builtin.module(func.func(nn-to-cpu))' --split-input-file %s | FileCheck %s

// Known sizes: the positions of source elements are constants.

// CHECK-LABEL: @nearest
// CHECK-DAG: %[[ROWS:.*]] = arith.constant dense<{{\[\[}}0, 0, 1, 1]]> : tensor<1x4xi32>
// CHECK-DAG: %[[COLUMNS:.*]] = arith.constant dense<{{\[\[}}0, 0, 0, 1, 1, 1]]> : tensor<1x6xi32>
// CHECK: cpu.resample ins(%arg0 : tensor<1x8x2x2xf32>) positions(%[[ROWS]], %[[COLUMNS]] : {{.*}}) outs({{.*}}tensor<1x8x4x6xf32>) attributes {first = 2 : i64}
// CHECK-NOT: weights
func.func @nearest(%x: tensor<1x8x2x2xf32>) -> tensor<1x8x4x6xf32> {
  %y = nn.resize nearest %x {coordinates = 4 : i32, nearest_mode = 2 : i32, scales = array<f32: 1.0, 1.0, 2.0, 3.0>} : tensor<1x8x2x2xf32> -> tensor<1x8x4x6xf32>
  return %y : tensor<1x8x4x6xf32>
}

// -----

// Two taps each; all dimensions behind the resized one are channels.

// CHECK-LABEL: @linear
// CHECK-DAG: dense<{{\[\[}}0, 0, 0, 1], [0, 1, 1, 1]]> : tensor<2x4xi32>
// CHECK-DAG: dense<{{\[\[}}2.500000e-01, 7.500000e-01, 2.500000e-01, 7.500000e-01], [7.500000e-01, 2.500000e-01, 7.500000e-01, 2.500000e-01]]> : tensor<2x4xf32>
// CHECK: cpu.resample ins(%{{.*}} : tensor<1x2x48xf32>) positions(%{{.*}} : tensor<2x4xi32>) weights(%{{.*}} : tensor<2x4xf32>)
// CHECK-SAME: first = 1
func.func @linear(%x: tensor<1x2x3x16xf32>) -> tensor<1x4x3x16xf32> {
  %y = nn.resize linear %x {coordinates = 0 : i32, nearest_mode = 0 : i32, scales = array<f32: 1.0, 2.0, 1.0, 1.0>} : tensor<1x2x3x16xf32> -> tensor<1x4x3x16xf32>
  return %y : tensor<1x4x3x16xf32>
}

// -----

// Dynamic sizes: the run computes the positions, also from a computed scale.

// CHECK-LABEL: @open
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<2x?xi32>, tensor<2x?xf32>)
// CHECK: arith.divf {{.*}}, %arg2
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<2x?xi32>, tensor<2x?xf32>)
// CHECK: cpu.resample ins(%arg0 : tensor<1x?x?x16xf32>)
func.func @open(%x: tensor<1x?x?x16xf32>, %size: index, %factor: f32) -> tensor<1x?x?x16xf32> {
  %y = nn.resize linear %x sizes(%size) factors(%factor) {coordinates = 4 : i32, nearest_mode = 0 : i32, scales = array<f32: 1.0, 0.0, 2.0, 1.0>} : tensor<1x?x?x16xf32> -> tensor<1x?x?x16xf32>
  return %y : tensor<1x?x?x16xf32>
}

// -----

// Few channels are elements of a row.

// CHECK-LABEL: @few
// CHECK: dense<{{\[\[}}0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5]]> : tensor<1x12xi32>
// CHECK: tensor.collapse_shape %arg0 {{.*}} into tensor<1x2x6xf32>
// CHECK: cpu.resample {{.*}} outs({{.*}} : tensor<1x4x12xf32>)
// CHECK: tensor.expand_shape {{.*}} into tensor<1x4x4x3xf32>
func.func @few(%x: tensor<1x2x2x3xf32>) -> tensor<1x4x4x3xf32> {
  %y = nn.resize nearest %x {coordinates = 4 : i32, nearest_mode = 2 : i32, scales = array<f32: 1.0, 2.0, 2.0, 1.0>} : tensor<1x2x2x3xf32> -> tensor<1x4x4x3xf32>
  return %y : tensor<1x4x4x3xf32>
}

// -----

// Must not fire: dimensions that are not adjacent, vectors, and other types.

// CHECK-LABEL: @left_alone
// CHECK-COUNT-3: nn.resize
// CHECK-NOT: cpu.
func.func @left_alone(%x: tensor<2x2x2xf32>, %v: tensor<4xf32>, %b: tensor<2x2x2xsi8>) -> (tensor<4x2x4xf32>, tensor<8xf32>, tensor<2x2x4xsi8>) {
  %0 = nn.resize nearest %x {coordinates = 4 : i32, nearest_mode = 2 : i32, scales = array<f32: 2.0, 1.0, 2.0>} : tensor<2x2x2xf32> -> tensor<4x2x4xf32>
  %1 = nn.resize nearest %v {coordinates = 4 : i32, nearest_mode = 2 : i32, scales = array<f32: 2.0>} : tensor<4xf32> -> tensor<8xf32>
  %2 = nn.resize nearest %b {coordinates = 4 : i32, nearest_mode = 2 : i32, scales = array<f32: 1.0, 1.0, 2.0>} : tensor<2x2x2xsi8> -> tensor<2x2x4xsi8>
  return %0, %1, %2 : tensor<4x2x4xf32>, tensor<8xf32>, tensor<2x2x4xsi8>
}

// -----

// Unsigned bytes are moved as floats, which hold them exactly.

// CHECK-LABEL: @bytes
// CHECK: %[[Y:.*]] = cpu.resample ins(%arg0 : tensor<2x2x2xui8>) {{.*}} outs({{.*}} : tensor<2x2x4xf32>)
// CHECK-NOT: nn.{{round|clamp}}
// CHECK: nn.cast
func.func @bytes(%b: tensor<2x2x2xui8>) -> tensor<2x2x4xui8> {
  %y = nn.resize nearest %b {coordinates = 4 : i32, nearest_mode = 2 : i32, scales = array<f32: 1.0, 1.0, 2.0>} : tensor<2x2x2xui8> -> tensor<2x2x4xui8>
  return %y : tensor<2x2x4xui8>
}

// -----

// With static sizes and 16 times the input's pixels, one dimension is resampled
// after the other.
// CHECK-LABEL: @many_pixels
// CHECK: nn.resize
// CHECK-NOT: cpu.
func.func @many_pixels(%x: tensor<1x2x3x16xf32>) -> tensor<1x8x12x16xf32> {
  %y = nn.resize linear %x {coordinates = 0 : i32, nearest_mode = 0 : i32, scales = array<f32: 1.0, 4.0, 4.0, 1.0>} : tensor<1x2x3x16xf32> -> tensor<1x8x12x16xf32>
  return %y : tensor<1x8x12x16xf32>
}

// -----

// Interpolated pixels of few channels: a band matrix for each dimension, which
// also casts bytes.

// CHECK-LABEL: @few_linear
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape %arg0 {{.*}} : tensor<1x8x9x3xui8> into tensor<1x8x27xui8>
// CHECK: %[[DOWN:.*]] = cpu.band_matmul ins(%[[ROWS]], {{.*}} : tensor<1x8x27xui8>, tensor<4xi32>, tensor<4x2xf32>) outs({{.*}} : tensor<1x4x27xf32>) attributes {dim = 1 : i64}
// CHECK: %[[PIXELS:.*]] = tensor.expand_shape %[[DOWN]] {{.*}} into tensor<1x4x9x3xf32>
// CHECK: cpu.band_matmul ins(%[[PIXELS]], {{.*}} : tensor<1x4x9x3xf32>, tensor<18xi32>, tensor<18x4xf32>) outs({{.*}} : tensor<1x4x18x3xf32>) attributes {dim = 2 : i64}
// CHECK-NOT: nn.cast
func.func @few_linear(%x: tensor<1x8x9x3xui8>) -> tensor<1x4x18x3xf32> {
  %f = nn.cast %x : tensor<1x8x9x3xui8> -> tensor<1x8x9x3xf32>
  %y = nn.resize linear %f {coordinates = 0 : i32, nearest_mode = 0 : i32, scales = array<f32: 1.0, 0.5, 2.0, 1.0>} : tensor<1x8x9x3xf32> -> tensor<1x4x18x3xf32>
  return %y : tensor<1x4x18x3xf32>
}

// -----

// Interpolated bytes are rounded.

// CHECK-LABEL: @bytes
// CHECK: cpu.resample ins(%arg0 : tensor<2x8x9xui8>) {{.*}} outs({{.*}} : tensor<2x4x18xf32>)
// CHECK: nn.round
// CHECK: nn.clamp
// CHECK: nn.cast {{.*}} -> tensor<2x4x18xui8>
func.func @bytes(%x: tensor<2x8x9xui8>) -> tensor<2x4x18xui8> {
  %y = nn.resize linear %x {coordinates = 0 : i32, nearest_mode = 0 : i32, scales = array<f32: 1.0, 0.5, 2.0>} : tensor<2x8x9xui8> -> tensor<2x4x18xui8>
  return %y : tensor<2x4x18xui8>
}

// -----

// Must not fire: an image of fewer pixels than a vector of taps.

// CHECK-LABEL: @narrow
// CHECK: cpu.resample
// CHECK-NOT: cpu.band_matmul
func.func @narrow(%x: tensor<1x8x3x3xf32>) -> tensor<1x4x6x3xf32> {
  %y = nn.resize linear %x {coordinates = 0 : i32, nearest_mode = 0 : i32, scales = array<f32: 1.0, 0.5, 2.0, 1.0>} : tensor<1x8x3x3xf32> -> tensor<1x4x6x3xf32>
  return %y : tensor<1x4x6x3xf32>
}

// -----

// A filter of a dynamic dimension: a run computes the tables. Bytes are read
// directly. The slice behind the resize gives the order of rows and channels.

// CHECK-LABEL: @filter
// CHECK: %[[TABLES:.*]]:2 = scf.for {{.*}} -> (tensor<224xi32>, tensor<224x?xf32>)
// CHECK: cpu.band_matmul ins(%arg0, %[[TABLES]]#0, %[[TABLES]]#1 : tensor<2x?x3xui8>, tensor<224xi32>, tensor<224x?xf32>)
// CHECK-SAME: attributes {dim = 1 : i64, order = array<i64: 2, 1, 0>}
// CHECK-NOT: nn.
func.func @filter(%x: tensor<2x?x3xui8>, %size: index, %factor: f32) -> tensor<2x224x3xf32> {
  %f = nn.cast %x : tensor<2x?x3xui8> -> tensor<2x?x3xf32>
  %y = nn.resize linear %f sizes(%size) factors(%factor) {antialias, coordinates = 0 : i32, nearest_mode = 0 : i32, scales = array<f32: 1.0, 0.0, 1.0>} : tensor<2x?x3xf32> -> tensor<2x224x3xf32>
  %z = nn.slice %y {starts = array<i64: 0, 223, 2>, sizes = array<i64: -1, 224, 3>, steps = array<i64: 1, -1, -1>} : tensor<2x224x3xf32> -> tensor<2x224x3xf32>
  return %z : tensor<2x224x3xf32>
}

// -----

// Dynamic images of few channels are interpolated like filters. Their number of
// taps is static.

// CHECK-LABEL: @few_open
// CHECK: cpu.band_matmul {{.*}} : tensor<?x?xf32>, tensor<?xi32>, tensor<?x2xf32>) {{.*}} {dim = 0 : i64}
// CHECK: cpu.band_matmul {{.*}} : tensor<?x?x3xf32>, tensor<?xi32>, tensor<?x4xf32>) {{.*}} {dim = 1 : i64}
func.func @few_open(%x: tensor<?x?x3xf32>) -> tensor<?x?x3xf32> {
  %y = nn.resize linear %x {coordinates = 4 : i32, nearest_mode = 0 : i32, scales = array<f32: 2.0, 2.0, 1.0>} : tensor<?x?x3xf32> -> tensor<?x?x3xf32>
  return %y : tensor<?x?x3xf32>
}
