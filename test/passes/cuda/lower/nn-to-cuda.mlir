// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(nn-to-cuda))' --split-input-file | FileCheck %s

// Weights become rows for each output channel: the channels of each tap, and
// zeros up to a multiple of 16 bytes. The bias is an operand of the epilogue.
// CHECK-LABEL: @conv
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{.*}}> : tensor<2x8xf32>
// CHECK-DAG: %[[BIAS:.*]] = tensor.expand_shape %arg1
// CHECK: cuda.conv ins(%arg0, %[[W]] : tensor<1x4x5x3xf32>, tensor<2x8xf32>) operands(%[[BIAS]] : tensor<1x1x1x2xf32>)
// CHECK-SAME: taps = array<i64: 1, 2>
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32, %[[B:.*]]: f32):
// CHECK-NEXT: %[[Y:.*]] = arith.addf %[[SUM]], %[[B]]
// CHECK-NEXT: cuda.yield %[[Y]]
func.func @conv(%x: tensor<1x4x5x3xf32>, %b: tensor<2xf32>) -> tensor<1x4x4x2xf32> {
  %w = arith.constant dense<1.0> : tensor<2x3x1x2xf32>
  %y = nn.conv %x, %w bias(%b) {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, ingot.backend = #ingot.backend<cuda>,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x4x5x3xf32>, tensor<2x3x1x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  return %y : tensor<1x4x4x2xf32>
}

// -----

// A right factor is transposed. Its elements keep their columns.
// CHECK-LABEL: @matmul
// CHECK: arith.constant dense<{{\[\[}}1.000000e+00, 3.000000e+00, 0.000000e+00, 0.000000e+00], [2.000000e+00, 4.000000e+00, 0.000000e+00, 0.000000e+00]]> : tensor<2x4xf32>
// CHECK: cuda.matmul ins(%arg0, %{{.*}} : tensor<7x2xf32>, tensor<2x4xf32>) outs
func.func @matmul(%x: tensor<7x2xf32>) -> tensor<7x2xf32> {
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %y = nn.matmul %x, %w {ingot.backend = #ingot.backend<cuda>} : (tensor<7x2xf32>, tensor<2x2xf32>) -> tensor<7x2xf32>
  return %y : tensor<7x2xf32>
}

// -----

// A factor that a run computes is transposed unless it is so already. A
// precision casts both factors.
// CHECK-LABEL: @computed
// CHECK-DAG: %[[A:.*]] = nn.cast %arg0 : tensor<2x7x24xf32> -> tensor<2x7x24xf16>
// CHECK-DAG: %[[B:.*]] = nn.cast %arg1 : tensor<2x9x24xf32> -> tensor<2x9x24xf16>
// CHECK: cuda.matmul ins(%[[A]], %[[B]] : tensor<2x7x24xf16>, tensor<2x9x24xf16>)
// CHECK-SAME: outs(%{{.*}} : tensor<2x7x9xf32>)
func.func @computed(%x: tensor<2x7x24xf32>, %w: tensor<2x9x24xf32>) -> tensor<2x7x9xf32> {
  %y = nn.matmul %x, %w {transpose_b, ingot.backend = #ingot.backend<cuda>, ingot.precision = #ingot.precision<fp16>}
    : (tensor<2x7x24xf32>, tensor<2x9x24xf32>) -> tensor<2x7x9xf32>
  return %y : tensor<2x7x9xf32>
}

// -----

// A depthwise convolution has the channels of its weights last.
// CHECK-LABEL: @depthwise
// CHECK: %[[W:.*]] = arith.constant dense<{{\[\[}}[1.000000e+00, 3.000000e+00], [2.000000e+00, 4.000000e+00]]]> : tensor<1x2x2xf16>
// CHECK: %[[X:.*]] = nn.cast %arg0
// CHECK: cuda.depthwise_conv ins(%[[X]], %[[W]] : tensor<1x4x4x2xf16>, tensor<1x2x2xf16>) outs(%{{.*}} : tensor<1x4x3x2xf32>)
func.func @depthwise(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x3x2xf32> {
  %w = arith.constant dense<[[[[1.0, 2.0]]], [[[3.0, 4.0]]]]> : tensor<2x1x1x2xf32>
  %y = nn.conv %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 2 : i64, ingot.backend = #ingot.backend<cuda>,
      ingot.precision = #ingot.precision<fp16>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>) -> tensor<1x4x3x2xf32>
  return %y : tensor<1x4x3x2xf32>
}

// -----

// Several results of a channel are depthwise, too.
// CHECK-LABEL: @multiplier
// CHECK: cuda.depthwise_conv ins(%arg0, %{{.*}} : tensor<1x4x4x8xf32>, tensor<1x1x16xf32>) outs(%{{.*}} : tensor<1x4x4x16xf32>)
func.func @multiplier(%x: tensor<1x4x4x8xf32>) -> tensor<1x4x4x16xf32> {
  %w = arith.constant dense<1.0> : tensor<16x1x1x1xf32>
  %0 = nn.conv %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 8 : i64, ingot.backend = #ingot.backend<cuda>,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x4x4x8xf32>, tensor<16x1x1x1xf32>) -> tensor<1x4x4x16xf32>
  return %0 : tensor<1x4x4x16xf32>
}

// -----

// Many taps of a channel, and channels in front, stay as they are.
// CHECK-LABEL: @declined
// CHECK-COUNT-2: nn.conv
// CHECK-NOT: cuda.
func.func @declined(%x: tensor<1x9x9x8xf32>, %z: tensor<1x8x4x4xf32>) -> (tensor<1x1x1x16xf32>, tensor<1x8x4x4xf32>) {
  %w = arith.constant dense<1.0> : tensor<16x1x9x9xf32>
  %v = arith.constant dense<1.0> : tensor<8x8x1x1xf32>
  %0 = nn.conv %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 8 : i64, ingot.backend = #ingot.backend<cuda>,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x9x9x8xf32>, tensor<16x1x9x9xf32>) -> tensor<1x1x1x16xf32>
  %1 = nn.conv %z, %v {dilations = array<i64: 1, 1>, groups = 1 : i64, ingot.backend = #ingot.backend<cuda>,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  return %0, %1 : tensor<1x1x1x16xf32>, tensor<1x8x4x4xf32>
}

// -----

// Rows, columns and the depth may be open.
// CHECK-LABEL: @open
// CHECK: cuda.matmul ins({{.*}} : tensor<?x7x2xf32>, tensor<4x2xf32>) outs({{.*}} : tensor<?x7x4xf32>)
// CHECK: cuda.matmul ins({{.*}} : tensor<7x2xf32>, tensor<?x2xf32>) outs({{.*}} : tensor<7x?xf32>)
// CHECK: cuda.matmul ins({{.*}} : tensor<7x?xf32>, tensor<4x?xf32>) outs({{.*}} : tensor<7x4xf32>)
func.func @open(%x: tensor<?x7x2xf32>, %w: tensor<2x4xf32>, %d: tensor<7x?xf32>, %z: tensor<2x?xf32>, %v: tensor<?x4xf32>) -> (tensor<?x7x4xf32>, tensor<7x?xf32>, tensor<7x4xf32>) {
  %0 = nn.matmul %x, %w {ingot.backend = #ingot.backend<cuda>} : (tensor<?x7x2xf32>, tensor<2x4xf32>) -> tensor<?x7x4xf32>
  %k = tensor.empty() : tensor<7x2xf32>
  %1 = nn.matmul %k, %z {ingot.backend = #ingot.backend<cuda>} : (tensor<7x2xf32>, tensor<2x?xf32>) -> tensor<7x?xf32>
  %2 = nn.matmul %d, %v {ingot.backend = #ingot.backend<cuda>} : (tensor<7x?xf32>, tensor<?x4xf32>) -> tensor<7x4xf32>
  return %0, %1, %2 : tensor<?x7x4xf32>, tensor<7x?xf32>, tensor<7x4xf32>
}

// -----

// The normalized dimensions are joined to rows. The epilogue scales and shifts.
// CHECK-LABEL: @rows
// CHECK: %[[P:.*]] = cuda.softmax ins(%arg0 : tensor<2x3x4xf32>) outs(%{{.*}} : tensor<2x3x4xf32>) attributes {log}
// CHECK: %[[X:.*]] = tensor.collapse_shape %[[P]] {{\[\[}}0], [1, 2]]
// CHECK: cuda.row_norm ins(%[[X]] : tensor<2x12xf32>) operands(%{{.*}}, %{{.*}} : tensor<1x12xf32>, tensor<1x12xf32>)
// CHECK-NEXT: ^bb0(%[[N:.*]]: f32, %[[S:.*]]: f32, %[[B:.*]]: f32):
// CHECK-NEXT: %[[SCALED:.*]] = arith.mulf %[[N]], %[[S]] fastmath<contract>
// CHECK-NEXT: arith.addf %[[SCALED]], %[[B]] fastmath<contract>
// CHECK: cuda.row_norm ins({{.*}} : tensor<2x3x4xf32>) operands(%{{.*}} : tensor<1x1x4xf32>)
// CHECK-SAME: rms
func.func @rows(%x: tensor<2x3x4xf32>, %s: tensor<3x4xf32>, %b: tensor<3x4xf32>, %r: tensor<4xf32>) -> tensor<2x3x4xf32> {
  %0 = nn.softmax %x {axis = 2 : i64, log, ingot.backend = #ingot.backend<cuda>} : tensor<2x3x4xf32> -> tensor<2x3x4xf32>
  %1 = nn.layer_norm %0 scale(%s) bias(%b) {axis = 1 : i64, epsilon = 1.0e-5 : f32, ingot.backend = #ingot.backend<cuda>}
    : (tensor<2x3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>
  %2 = nn.rms_norm %1, %r {axis = 2 : i64, epsilon = 1.0e-5 : f32, ingot.backend = #ingot.backend<cuda>}
    : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  return %2 : tensor<2x3x4xf32>
}

// -----

// The pixels of a sample are joined.
// CHECK-LABEL: @groups
// CHECK: cuda.group_norm ins({{.*}} : tensor<2x20x8xf32>) operands({{.*}} : tensor<1x1x8xf32>, tensor<1x1x8xf32>)
// CHECK-SAME: groups = 2
func.func @groups(%x: tensor<2x4x5x8xf32>, %s: tensor<8xf32>) -> tensor<2x4x5x8xf32> {
  %0 = nn.group_norm %x, %s, %s {channels_last, epsilon = 1.0e-5 : f32, groups = 2 : i64, ingot.backend = #ingot.backend<cuda>}
    : (tensor<2x4x5x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x4x5x8xf32>
  return %0 : tensor<2x4x5x8xf32>
}

// -----

// The dimensions behind the axis of a softmax become columns. The first ones
// may be open. Groups of one channel are columns, too.
// CHECK-LABEL: @columns
// CHECK: %[[X:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0], [1], [2, 3]]
// CHECK: cuda.softmax ins(%[[X]] : tensor<?x4x40xf32>) outs(%{{.*}} : tensor<?x4x40xf32>) attributes {columns}
// CHECK: tensor.expand_shape
// CHECK: cuda.group_norm ins({{.*}} : tensor<2x20x8xf32>)
// CHECK-SAME: groups = 8
func.func @columns(%x: tensor<?x4x5x8xf32>, %z: tensor<2x4x5x8xf32>, %s: tensor<8xf32>) -> (tensor<?x4x5x8xf32>, tensor<2x4x5x8xf32>) {
  %0 = nn.softmax %x {axis = 1 : i64, ingot.backend = #ingot.backend<cuda>} : tensor<?x4x5x8xf32> -> tensor<?x4x5x8xf32>
  %1 = nn.group_norm %z, %s, %s {channels_last, epsilon = 1.0e-5 : f32, groups = 8 : i64, ingot.backend = #ingot.backend<cuda>}
    : (tensor<2x4x5x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x4x5x8xf32>
  return %0, %1 : tensor<?x4x5x8xf32>, tensor<2x4x5x8xf32>
}

// -----

// Neighboring reduced dimensions are joined, and so are the columns behind
// them. All but the columns may be open.
// CHECK-LABEL: @reductions
// CHECK: %[[X:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0], [1, 2], [3]]
// CHECK: %[[Y:.*]] = cuda.reduce mean ins(%[[X]] : tensor<2x20x8xf32>) outs(%{{.*}} : tensor<2x8xf32>)
// CHECK-NEXT: ^bb0(%[[MEAN:.*]]: f32):
// CHECK-NEXT: cuda.yield %[[MEAN]]
// CHECK: tensor.expand_shape %[[Y]] {{\[\[}}0], [1, 2, 3]] output_shape [2, 1, 1, 8]
// CHECK: %[[Z:.*]] = tensor.collapse_shape %arg1 {{\[\[}}0], [1], [2, 3]]
// CHECK: cuda.reduce sum_square ins(%[[Z]] : tensor<?x?x40xf32>) outs(%{{.*}} : tensor<?x40xf32>)
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] output_shape [%{{.*}}, 5, 8]
func.func @reductions(%x: tensor<2x4x5x8xf32>, %z: tensor<?x?x5x8xf32>) -> (tensor<2x1x1x8xf32>, tensor<?x5x8xf32>) {
  %0 = nn.reduce mean %x {axes = array<i64: 1, 2>, keep_dims, ingot.backend = #ingot.backend<cuda>} : tensor<2x4x5x8xf32> -> tensor<2x1x1x8xf32>
  %1 = nn.reduce sum_square %z {axes = array<i64: 1>, ingot.backend = #ingot.backend<cuda>} : tensor<?x?x5x8xf32> -> tensor<?x5x8xf32>
  return %0, %1 : tensor<2x1x1x8xf32>, tensor<?x5x8xf32>
}

// -----

// CHECK-LABEL: @pools
// CHECK: cuda.pool max ins(%arg0 : tensor<?x9x8x16xf32>) outs(%{{.*}} : tensor<?x5x4x16xf32>)
// CHECK-SAME: dilations = array<i64: 1, 1>, pads = array<i64: 1, 0, 1, 0>, strides = array<i64: 2, 2>, taps = array<i64: 3, 2>
// CHECK: cuda.pool mean ins(
// CHECK: cuda.pool mean_with_pads ins(
func.func @pools(%x: tensor<?x9x8x16xf32>) -> (tensor<?x5x4x16xf32>, tensor<?x5x4x16xf32>, tensor<?x5x4x16xf32>) {
  %0 = nn.max_pool %x {channels_last, kernel = array<i64: 3, 2>, strides = array<i64: 2, 2>, pads = array<i64: 1, 0, 1, 0>,
      dilations = array<i64: 1, 1>, ingot.backend = #ingot.backend<cuda>} : tensor<?x9x8x16xf32> -> tensor<?x5x4x16xf32>
  %1 = nn.avg_pool %x {channels_last, kernel = array<i64: 3, 2>, strides = array<i64: 2, 2>, pads = array<i64: 1, 0, 1, 0>,
      dilations = array<i64: 1, 1>, ingot.backend = #ingot.backend<cuda>} : tensor<?x9x8x16xf32> -> tensor<?x5x4x16xf32>
  %2 = nn.avg_pool %x {channels_last, count_include_pad, kernel = array<i64: 3, 2>, strides = array<i64: 2, 2>, pads = array<i64: 1, 0, 1, 0>,
      dilations = array<i64: 1, 1>, ingot.backend = #ingot.backend<cuda>} : tensor<?x9x8x16xf32> -> tensor<?x5x4x16xf32>
  return %0, %1, %2 : tensor<?x5x4x16xf32>, tensor<?x5x4x16xf32>, tensor<?x5x4x16xf32>
}

// -----

// Contiguous elements, few elements, dimensions that are not neighbors, and
// columns of open number stay as they are. So does a pooling of channels that
// are not last.
// CHECK-LABEL: @declined_reductions
// CHECK-COUNT-5: nn.reduce
// CHECK: nn.max_pool
// CHECK-NOT: cuda.reduce
func.func @declined_reductions(%x: tensor<9x4x9x8xf32>, %z: tensor<9x?xf32>) -> (tensor<9x4xf32>, tensor<9x9x8xf32>, tensor<4x8xf32>, tensor<?xf32>, tensor<9x?xi32>, tensor<9x4x8x7xf32>, tensor<9x3x8x8xf32>) {
  %0 = nn.reduce sum %x {axes = array<i64: 2, 3>, ingot.backend = #ingot.backend<cuda>} : tensor<9x4x9x8xf32> -> tensor<9x4xf32>
  %1 = nn.reduce sum %x {axes = array<i64: 1>, ingot.backend = #ingot.backend<cuda>} : tensor<9x4x9x8xf32> -> tensor<9x9x8xf32>
  %2 = nn.reduce sum %x {axes = array<i64: 0, 2>, ingot.backend = #ingot.backend<cuda>} : tensor<9x4x9x8xf32> -> tensor<4x8xf32>
  %3 = nn.reduce sum %z {axes = array<i64: 0>, ingot.backend = #ingot.backend<cuda>} : tensor<9x?xf32> -> tensor<?xf32>
  %i = tensor.empty() : tensor<9x9x1xi32>
  %4 = nn.reduce sum %i {axes = array<i64: 2>, ingot.backend = #ingot.backend<cuda>} : tensor<9x9x1xi32> -> tensor<9x9xi32>
  %c = tensor.cast %4 : tensor<9x9xi32> to tensor<9x?xi32>
  %5 = nn.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>,
      dilations = array<i64: 1, 1>, ingot.backend = #ingot.backend<cuda>} : tensor<9x4x9x8xf32> -> tensor<9x4x8x7xf32>
  %6 = nn.max_pool %x {channels_last, kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>,
      dilations = array<i64: 1, 1>, ingot.backend = #ingot.backend<cuda>} : tensor<9x4x9x8xf32> -> tensor<9x3x8x8xf32>
  %7 = nn.sinh %6 : tensor<9x3x8x8xf32> -> tensor<9x3x8x8xf32>
  return %0, %1, %2, %3, %c, %5, %7 : tensor<9x4xf32>, tensor<9x9x8xf32>, tensor<4x8xf32>, tensor<?xf32>, tensor<9x?xi32>, tensor<9x4x8x7xf32>, tensor<9x3x8x8xf32>
}

// -----

// Columns of open size stay as they are.
// CHECK-LABEL: @declined_rows
// CHECK: nn.softmax
// CHECK-NOT: cuda.
func.func @declined_rows(%x: tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32> {
  %0 = nn.softmax %x {axis = 1 : i64, ingot.backend = #ingot.backend<cuda>} : tensor<2x4x?x8xf32> -> tensor<2x4x?x8xf32>
  return %0 : tensor<2x4x?x8xf32>
}

// -----

// Rows are joined. Their number may be open.
// CHECK-LABEL: @top_k
// CHECK: cuda.top_k ins(%{{.*}} : tensor<?x50xf32>) outs(%{{.*}}, %{{.*}} : tensor<?x4xf32>, tensor<?x4xi64>) {smallest}
// CHECK-COUNT-2: tensor.expand_shape {{.*}} output_shape [%{{.*}}, 3, 4]
func.func @top_k(%x: tensor<?x3x50xf32>) -> (tensor<?x3x4xf32>, tensor<?x3x4xi64>) {
  %0, %1 = nn.top_k %x {k = 4 : i64, axis = 2 : i64, smallest, ingot.backend = #ingot.backend<cuda>} : tensor<?x3x50xf32> -> tensor<?x3x4xf32>, tensor<?x3x4xi64>
  return %0, %1 : tensor<?x3x4xf32>, tensor<?x3x4xi64>
}

// -----

// Another dimension becomes the last one. The op keeps the sign of integers. A
// run may compute the number of results.
// CHECK-LABEL: @top_k_forms
// CHECK: linalg.generic
// CHECK: cuda.top_k ins(%{{.*}} : tensor<3x50xf32>) outs(%{{.*}}, %{{.*}} : tensor<3x4xf32>, tensor<3x4xi64>) ->
// CHECK-COUNT-2: linalg.generic
// CHECK: cuda.top_k ins(%{{.*}} : tensor<3x50xui8>) outs(%{{.*}}, %{{.*}} : tensor<3x?xui8>, tensor<3x?xi64>) {is_unsigned, most = 50 : i64}
func.func @top_k_forms(%x: tensor<50x3xf32>, %y: tensor<3x50xui8>, %k: index)
    -> (tensor<4x3xf32>, tensor<4x3xi64>, tensor<3x?xui8>, tensor<3x?xi64>) {
  %0, %1 = nn.top_k %x {k = 4 : i64, axis = 0 : i64, ingot.backend = #ingot.backend<cuda>} : tensor<50x3xf32> -> tensor<4x3xf32>, tensor<4x3xi64>
  %2, %3 = nn.top_k %y count(%k) {k = 50 : i64, axis = 1 : i64, ingot.backend = #ingot.backend<cuda>} : tensor<3x50xui8> -> tensor<3x?xui8>, tensor<3x?xi64>
  return %0, %1, %2, %3 : tensor<4x3xf32>, tensor<4x3xi64>, tensor<3x?xui8>, tensor<3x?xi64>
}

// -----

// The first of a sorted row is its maximum. NaN is the minimum of floats, so
// they change their signs.
// CHECK-LABEL: @arg_reduce
// CHECK: cuda.top_k ins(%{{.*}} : tensor<?x5000xf32>) outs(%{{.*}}, %{{.*}} : tensor<?x1xf32>, tensor<?x1xi64>) ->
// CHECK: nn.neg
// CHECK: cuda.top_k ins(%{{.*}} : tensor<?x5000xf32>) outs(%{{.*}}, %{{.*}} : tensor<?x1xf32>, tensor<?x1xi64>) ->
// CHECK: cuda.top_k ins(%{{.*}} : tensor<3x2000xi32>) outs(%{{.*}}, %{{.*}} : tensor<3x1xi32>, tensor<3x1xi64>) {smallest}
func.func @arg_reduce(%x: tensor<?x2x5000xf32>, %y: tensor<3x2000xi32>) -> (tensor<?x2xi64>, tensor<?x2x1xi64>, tensor<3xi64>) {
  %0 = nn.arg_reduce max %x {axis = 2 : i64, ingot.backend = #ingot.backend<cuda>} : tensor<?x2x5000xf32> -> tensor<?x2xi64>
  %1 = nn.arg_reduce min %x {axis = 2 : i64, keep_dims, ingot.backend = #ingot.backend<cuda>} : tensor<?x2x5000xf32> -> tensor<?x2x1xi64>
  %2 = nn.arg_reduce min %y {axis = 1 : i64, ingot.backend = #ingot.backend<cuda>} : tensor<3x2000xi32> -> tensor<3xi64>
  return %0, %1, %2 : tensor<?x2xi64>, tensor<?x2x1xi64>, tensor<3xi64>
}

// -----

// Short rows, columns, and the last of equal elements are compared by a thread
// for each result.
// CHECK-LABEL: @declined_arg_reduce
// CHECK-COUNT-3: nn.arg_reduce
// CHECK-NOT: cuda.
func.func @declined_arg_reduce(%x: tensor<3x1000xf32>, %y: tensor<3x2000xf32>) -> (tensor<3xi64>, tensor<2000xi64>, tensor<3xi64>) {
  %0 = nn.arg_reduce max %x {axis = 1 : i64, ingot.backend = #ingot.backend<cuda>} : tensor<3x1000xf32> -> tensor<3xi64>
  %1 = nn.arg_reduce max %y {axis = 0 : i64, ingot.backend = #ingot.backend<cuda>} : tensor<3x2000xf32> -> tensor<2000xi64>
  %2 = nn.arg_reduce max %y {axis = 1 : i64, select_last_index, ingot.backend = #ingot.backend<cuda>} : tensor<3x2000xf32> -> tensor<3xi64>
  return %0, %1, %2 : tensor<3xi64>, tensor<2000xi64>, tensor<3xi64>
}

// -----

// More results than a block keeps, and codes, stay as they are.
// CHECK-LABEL: @declined_top_k
// CHECK: nn.top_k
// CHECK: nn.cumsum
// CHECK: nn.scatter_nd
// CHECK-NOT: cuda.
func.func @declined_top_k(%z: tensor<3x9000xf32>, %c: tensor<9xi4>, %i: tensor<2x1xi64>, %u: tensor<2xi4>)
    -> (tensor<3x5000xf32>, tensor<3x5000xi64>, tensor<9xi4>, tensor<9xi4>) {
  %0, %1 = nn.top_k %z {k = 5000 : i64, axis = 1 : i64, ingot.backend = #ingot.backend<cuda>} : tensor<3x9000xf32> -> tensor<3x5000xf32>, tensor<3x5000xi64>
  %2 = nn.cumsum %c {axis = 0 : i64, ingot.backend = #ingot.backend<cuda>} : tensor<9xi4> -> tensor<9xi4>
  %3 = nn.scatter_nd none %c, %i, %u {ingot.backend = #ingot.backend<cuda>} : (tensor<9xi4>, tensor<2x1xi64>, tensor<2xi4>) -> tensor<9xi4>
  return %0, %1, %2, %3 : tensor<3x5000xf32>, tensor<3x5000xi64>, tensor<9xi4>, tensor<9xi4>
}

// -----

// The dimensions before and behind the axis are joined.
// CHECK-LABEL: @cumsum
// CHECK: cuda.scan ins(%{{.*}} : tensor<?x7x15xf16>) outs(%{{.*}} : tensor<?x7x15xf16>) {exclusive, product, reverse}
func.func @cumsum(%x: tensor<?x2x7x3x5xf16>) -> tensor<?x2x7x3x5xf16> {
  %0 = nn.cumsum %x {axis = 2 : i64, exclusive, product, reverse, ingot.backend = #ingot.backend<cuda>} : tensor<?x2x7x3x5xf16> -> tensor<?x2x7x3x5xf16>
  return %0 : tensor<?x2x7x3x5xf16>
}

// -----

// Few updates that may have one position are compared with each other: those
// along the axis, or all. The combination has the sign of the elements.
// CHECK-LABEL: @scatter
// CHECK: ingot.require %{{.*}}, "an index is outside of [-20, 19]"
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<4x9x2xi32>) outs(%{{.*}} : tensor<4x9x2xi64>)
// CHECK: arith.shli
// CHECK-NOT: cuda.sort
// CHECK: cuda.scatter ins(%{{.*}}, %{{.*}} : tensor<4x9x2xi64>, tensor<72x1xui8>) outs(%{{.*}} : tensor<300x1xui8>) {
// CHECK: ^bb0(%[[OLD:.*]]: i8, %[[UPDATE:.*]]: i8):
// CHECK: %[[MAX:.*]] = arith.maxui %[[OLD]], %[[UPDATE]]
// CHECK: cuda.yield %[[MAX]] : i8
// CHECK: cuda.scatter ins(%{{.*}}, %{{.*}} : tensor<1x6x1xi64>, tensor<6x3xf32>) outs(%{{.*}} : tensor<100x3xf32>)
// CHECK: cuda.yield %{{.*}} : f32
func.func @scatter(%x: tensor<5x20x3xui8>, %i: tensor<4x9x2xi32>, %u: tensor<4x9x2xui8>,
                   %d: tensor<5x20x3xf32>, %n: tensor<2x3x2xi64>, %v: tensor<2x3x3xf32>) -> (tensor<5x20x3xui8>, tensor<5x20x3xf32>) {
  %0 = nn.scatter_elements max %x, %i, %u {axis = 1 : i64, ingot.backend = #ingot.backend<cuda>} : (tensor<5x20x3xui8>, tensor<4x9x2xi32>, tensor<4x9x2xui8>) -> tensor<5x20x3xui8>
  %1 = nn.scatter_nd none %d, %n, %v {ingot.backend = #ingot.backend<cuda>} : (tensor<5x20x3xf32>, tensor<2x3x2xi64>, tensor<2x3x3xf32>) -> tensor<5x20x3xf32>
  return %0, %1 : tensor<5x20x3xui8>, tensor<5x20x3xf32>
}

// -----

// Many updates are sorted, and so are updates of open number. A few updates of a
// dimension that may not fit are all compared.
// CHECK-LABEL: @sorted_scatter
// CHECK: cuda.sort outs(%{{.*}}, %{{.*}} : tensor<80xi64>, tensor<80xi64>)
// CHECK: cuda.scatter ins(%{{.*}}, %{{.*}} : tensor<80xi64>, tensor<80x3xf32>)
// CHECK: cuda.sort outs(%{{.*}}, %{{.*}} : tensor<?xi64>, tensor<?xi64>)
// CHECK: cuda.scatter ins(%{{.*}}, %{{.*}} : tensor<?xi64>, tensor<?x3xf32>)
// CHECK: cuda.scatter ins(%{{.*}}, %{{.*}} : tensor<1x6x1xi64>, tensor<6x1xf32>)
func.func @sorted_scatter(%x: tensor<50x3xf32>, %i: tensor<80x1xi64>, %u: tensor<80x3xf32>, %n: tensor<?x1xi64>, %v: tensor<?x3xf32>,
                          %o: tensor<?x9xf32>, %k: tensor<3x2xi64>, %w: tensor<3x2xf32>) -> (tensor<50x3xf32>, tensor<?x9xf32>) {
  %0 = nn.scatter_nd add %x, %i, %u {ingot.backend = #ingot.backend<cuda>} : (tensor<50x3xf32>, tensor<80x1xi64>, tensor<80x3xf32>) -> tensor<50x3xf32>
  %1 = nn.scatter_nd mul %0, %n, %v {ingot.backend = #ingot.backend<cuda>} : (tensor<50x3xf32>, tensor<?x1xi64>, tensor<?x3xf32>) -> tensor<50x3xf32>
  %2 = nn.scatter_elements min %o, %k, %w {axis = 1 : i64, ingot.backend = #ingot.backend<cuda>} : (tensor<?x9xf32>, tensor<3x2xi64>, tensor<3x2xf32>) -> tensor<?x9xf32>
  return %1, %2 : tensor<50x3xf32>, tensor<?x9xf32>
}
