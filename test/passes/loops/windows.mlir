// RUN: ingot-opt --nn-to-linalg --canonicalize --split-input-file %s | FileCheck %s

// CHECK: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d2 * 2 + d3, d5 * 2 + d4, d1, d6)>
// CHECK-LABEL: @conv
// CHECK: linalg.generic {indexing_maps = [#[[X]]
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: tensor.collapse_shape {{.*}} into tensor<1x4x4x6xf32>
func.func @conv(%x: tensor<1x8x8x4xf32>, %w: tensor<6x2x3x3xf32>, %b: tensor<6xf32>) -> tensor<1x4x4x6xf32> {
  %0 = nn.conv %x, %w bias(%b) {channels_last, dilations = array<i64: 1, 1>, groups = 2 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x8x8x4xf32>, tensor<6x2x3x3xf32>, tensor<6xf32>) -> tensor<1x4x4x6xf32>
  return %0 : tensor<1x4x4x6xf32>
}

// -----

// Each phase of the strides is a convolution of the data without zeros in
// between: one with two taps, one with one.
// CHECK-LABEL: @conv_transpose
// CHECK-NOT: tensor.insert_slice %arg0 into %{{.*}} [1, 1, 2]
// CHECK: linalg.generic {{.*}}"reduction"{{.*}} tensor<1x1x2x2xf32>
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 0] [1, 2, 4] [1, 1, 2]
// CHECK: linalg.generic {{.*}}"reduction"{{.*}} tensor<1x1x1x2xf32>
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 1] [1, 2, 3] [1, 1, 2]
func.func @conv_transpose(%x: tensor<1x1x3xf32>, %w: tensor<1x2x3xf32>) -> tensor<1x2x7xf32> {
  %0 = nn.conv_transpose %x, %w {dilations = array<i64: 1>, groups = 1 : i64, output_padding = array<i64: 0>, pads = array<i64: 0, 0>, strides = array<i64: 2>} : (tensor<1x1x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x7xf32>
  return %0 : tensor<1x2x7xf32>
}

// -----

// A phase without taps is zero.
// CHECK-LABEL: @conv_transpose_of_few_taps
// CHECK: tensor.insert_slice %arg0 into %{{.*}}[0, 0, 0] [1, 1, 3] [1, 1, 2]
// CHECK: linalg.generic {{.*}}"reduction"
func.func @conv_transpose_of_few_taps(%x: tensor<1x1x3xf32>, %w: tensor<1x2x1xf32>) -> tensor<1x2x5xf32> {
  %0 = nn.conv_transpose %x, %w {dilations = array<i64: 1>, groups = 1 : i64, output_padding = array<i64: 0>, pads = array<i64: 0, 0>, strides = array<i64: 2>} : (tensor<1x1x3xf32>, tensor<1x2x1xf32>) -> tensor<1x2x5xf32>
  return %0 : tensor<1x2x5xf32>
}

// -----

// CHECK-LABEL: @matmul
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction", "parallel"]
func.func @matmul(%a: tensor<2x?x5xf32>, %b: tensor<7x5xf32>, %c: tensor<7xf32>) -> tensor<2x?x7xf32> {
  %0 = nn.matmul %a, %b bias(%c) {transpose_b} : (tensor<2x?x5xf32>, tensor<7x5xf32>, tensor<7xf32>) -> tensor<2x?x7xf32>
  return %0 : tensor<2x?x7xf32>
}

// -----

// The inner loop is along rows of a transposed operand, unless tiles transpose
// it: then it is that of any other product.
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[COLUMNS:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-LABEL: @transposed_factor
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[ROWS]], #{{.*}}], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-SAME: tensor<6x5xi32>
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[COLUMNS]], #{{.*}}], iterator_types = ["parallel", "reduction", "parallel"]}
// CHECK-SAME: tensor<6x5xf32>
func.func @transposed_factor(%a: tensor<4x5xi32>, %b: tensor<6x5xi32>, %c: tensor<4x5xf32>, %d: tensor<6x5xf32>) -> (tensor<4x6xi32>, tensor<4x6xf32>) {
  %0 = nn.matmul %a, %b {transpose_b} : (tensor<4x5xi32>, tensor<6x5xi32>) -> tensor<4x6xi32>
  %1 = nn.matmul %c, %d {transpose_b} : (tensor<4x5xf32>, tensor<6x5xf32>) -> tensor<4x6xf32>
  return %0, %1 : tensor<4x6xi32>, tensor<4x6xf32>
}

// -----

// One dimension after the other, with each tap for a whole row at a time.
// CHECK-LABEL: @max_pool
// CHECK: arith.constant 0xFF800000 : f32
// CHECK-COUNT-2: tensor.extract_slice %{{.*}}[0, 0, {{[02]}}] [1, 2, 8] [1, 1, 1]
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]
// CHECK-COUNT-2: arith.maximumf
func.func @max_pool(%x: tensor<1x2x8xf32>) -> tensor<1x2x8xf32> {
  %0 = nn.max_pool %x {kernel = array<i64: 3>, strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>} : tensor<1x2x8xf32> -> tensor<1x2x8xf32>
  return %0 : tensor<1x2x8xf32>
}

// -----

// CHECK-LABEL: @max_pool_3d
// CHECK-COUNT-2: tensor.extract_slice %{{.*}}[0, 0, {{[01]}}, 0, 0] [%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] [1, 1, 2, 1, 1]
// CHECK: linalg.generic
// CHECK-COUNT-2: tensor.extract_slice %{{.*}}[0, 0, 0, 0, {{[01]}}] [%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] [1, 1, 1, 1, 2]
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
func.func @max_pool_3d(%x: tensor<?x?x?x?x?xf32>) -> tensor<?x?x?x?x?xf32> {
  %0 = nn.max_pool %x {kernel = array<i64: 2, 1, 2>, strides = array<i64: 2, 1, 2>, pads = array<i64: 0, 0, 0, 0, 0, 0>, dilations = array<i64: 1, 1, 1>} : tensor<?x?x?x?x?xf32> -> tensor<?x?x?x?x?xf32>
  return %0 : tensor<?x?x?x?x?xf32>
}

// -----

// Many taps are a loop.
// CHECK-LABEL: @large_window
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction"]
func.func @large_window(%x: tensor<1x2x30xf32>) -> tensor<1x2x18xf32> {
  %0 = nn.max_pool %x {kernel = array<i64: 13>, strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : tensor<1x2x30xf32> -> tensor<1x2x18xf32>
  return %0 : tensor<1x2x18xf32>
}

// -----

// Bytes: all taps at once.
// CHECK-LABEL: @bytes
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
func.func @bytes(%x: tensor<1x2x8x8xi8>) -> tensor<1x2x4x4xi8> {
  %0 = nn.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<1x2x8x8xi8> -> tensor<1x2x4x4xi8>
  return %0 : tensor<1x2x4x4xi8>
}

// -----

// The elements inside are counted over the spatial dimensions only.
// CHECK-LABEL: @avg_pool
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]
// CHECK-COUNT-2: arith.addf
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel"]
// CHECK-COUNT-2: arith.addf
// CHECK: arith.divf
func.func @avg_pool(%x: tensor<1x2x8xf32>) -> tensor<1x2x8xf32> {
  %0 = nn.avg_pool %x {kernel = array<i64: 3>, strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>} : tensor<1x2x8xf32> -> tensor<1x2x8xf32>
  return %0 : tensor<1x2x8xf32>
}

// -----

// Rows come first: each is resampled once, however many rows of the result read
// it. Then come the columns, whole rows at once.
// CHECK-LABEL: @resize
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x1x4x8xf32>)
// CHECK: math.floor
// CHECK-COUNT-2: tensor.extract
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x8x8xf32>)
// CHECK: math.floor
// CHECK-COUNT-2: tensor.extract
// CHECK: tensor.expand_shape %{{.*}} : tensor<1x8x8xf32> into tensor<1x1x8x8xf32>
func.func @resize(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x8x8xf32> {
  %0 = nn.resize linear %x {coordinates = 0 : i32, nearest_mode = 0 : i32, scales = array<f32: 1.0, 1.0, 2.0, 2.0>} : tensor<1x1x4x4xf32> -> tensor<1x1x8x8xf32>
  return %0 : tensor<1x1x8x8xf32>
}

// -----

// If channels fill vectors, whole pixels are one sum of all taps.
// CHECK-LABEL: @resize_channels
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x8x8x32xf32>)
// CHECK-COUNT-4: tensor.extract
// CHECK-NOT: linalg.generic
func.func @resize_channels(%x: tensor<1x4x4x32xf32>) -> tensor<1x8x8x32xf32> {
  %0 = nn.resize linear %x {coordinates = 0 : i32, nearest_mode = 0 : i32, scales = array<f32: 1.0, 2.0, 2.0, 1.0>} : tensor<1x4x4x32xf32> -> tensor<1x8x8x32xf32>
  return %0 : tensor<1x8x8x32xf32>
}

// Without kernels, a filter is a loop over the taps within x.
// CHECK-LABEL: @resize_filter
// CHECK: %[[TABLES:.*]]:2 = scf.for {{.*}} -> (tensor<4xi32>, tensor<4x?xf32>)
// CHECK: linalg.generic
// CHECK: tensor.extract %[[TABLES]]#0
// CHECK: arith.minsi
// CHECK: scf.for
// CHECK: tensor.extract %[[TABLES]]#1
func.func @resize_filter(%x: tensor<?x3xf32>, %size: index, %factor: f32) -> tensor<4x3xf32> {
  %0 = nn.resize linear %x sizes(%size) factors(%factor) {antialias, coordinates = 0 : i32, nearest_mode = 0 : i32, scales = array<f32: 0.0, 1.0>} : tensor<?x3xf32> -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
