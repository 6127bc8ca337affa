// RUN: ingot-opt --pass-pipeline='builtin.module(func.func(nn-to-cpu))' --split-input-file %s | FileCheck %s

// Adjacent dimensions become the middle dimension of three.

// CHECK-LABEL: @pool_globally
// CHECK: cpu.reduce mean ins({{.*}} : tensor<2x49x6xf32>) outs({{.*}} : tensor<2x6xf32>)
// CHECK: tensor<2x1x1x6xf32>
func.func @pool_globally(%x: tensor<2x7x7x6xf32>) -> tensor<2x1x1x6xf32> {
  %y = nn.reduce mean %x {axes = array<i64: 1, 2>, keep_dims} : tensor<2x7x7x6xf32> -> tensor<2x1x1x6xf32>
  return %y : tensor<2x1x1x6xf32>
}

// CHECK-LABEL: @rows
// CHECK: cpu.reduce max ins({{.*}} : tensor<?x?x1xf32>) outs({{.*}} : tensor<?x1xf32>)
func.func @rows(%x: tensor<?x3x?xf32>) -> tensor<?x3xf32> {
  %y = nn.reduce max %x {axes = array<i64: 2>} : tensor<?x3x?xf32> -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}

// A maximum and a minimum that are extended to 0 share one pass. Tasks share a large tensor.

// CHECK-LABEL: @range
// CHECK: %[[P:.*]] = cpu.reduce range ins({{.*}} : tensor<8x19200x1xf32>) outs({{.*}} : tensor<8x2xf32>)
// CHECK: %[[Q:.*]] = tensor.expand_shape %[[P]]
// CHECK: %[[E:.*]] = cpu.reduce max ins(%[[Q]] : tensor<1x8x2xf32>) outs({{.*}} : tensor<1x2xf32>)
// CHECK-DAG: tensor.extract_slice %[[E]][0, 0] [1, 1] [1, 1]
// CHECK-DAG: tensor.extract_slice %[[E]][0, 1] [1, 1] [1, 1]
// CHECK-DAG: nn.relu
// CHECK-DAG: %[[N:.*]] = nn.neg
// CHECK-DAG: nn.min %[[N]]
func.func @range(%x: tensor<1x480x320xf32>) -> (tensor<f32>, tensor<f32>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %0 = nn.reduce max %x {axes = array<i64: 0, 1, 2>} : tensor<1x480x320xf32> -> tensor<f32>
  %1 = nn.relu %0 : tensor<f32> -> tensor<f32>
  %2 = nn.reduce min %x {axes = array<i64: 0, 1, 2>} : tensor<1x480x320xf32> -> tensor<f32>
  %3 = nn.min %2, %zero : tensor<f32>, tensor<f32> -> tensor<f32>
  return %1, %3 : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: @open_range
// CHECK: cpu.reduce range ins({{.*}} : tensor<1x?x1xf32>) outs({{.*}} : tensor<1x2xf32>)
func.func @open_range(%x: tensor<?x320xf32>) -> (tensor<1x1xf32>, tensor<1x1xf32>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %0 = nn.reduce max %x {axes = array<i64: 0, 1>, keep_dims} : tensor<?x320xf32> -> tensor<1x1xf32>
  %1 = nn.max %0, %zero : tensor<1x1xf32>, tensor<f32> -> tensor<1x1xf32>
  %2 = nn.reduce min %x {axes = array<i64: 0, 1>, keep_dims} : tensor<?x320xf32> -> tensor<1x1xf32>
  %3 = nn.min %2, %zero : tensor<1x1xf32>, tensor<f32> -> tensor<1x1xf32>
  return %1, %3 : tensor<1x1xf32>, tensor<1x1xf32>
}

// CHECK-LABEL: @one_end
// CHECK: %[[E:.*]] = cpu.reduce range ins({{.*}} : tensor<1x2880x1xf32>) outs({{.*}} : tensor<1x2xf32>)
// CHECK: tensor.extract_slice %[[E]][0, 0] [1, 1] [1, 1]
// CHECK-NOT: cpu.reduce
// CHECK: return
func.func @one_end(%x: tensor<9x320xf32>) -> tensor<f32> {
  %0 = nn.reduce max %x {axes = array<i64: 0, 1>} : tensor<9x320xf32> -> tensor<f32>
  %1 = nn.relu %0 : tensor<f32> -> tensor<f32>
  return %1 : tensor<f32>
}

// Must not fire: an end that is not extended to 0, rows, and f64.

// CHECK-LABEL: @no_range
// CHECK-NOT: cpu.reduce range
// CHECK: return
func.func @no_range(%x: tensor<9x320xf32>, %d: tensor<320xf64>) -> (tensor<f32>, tensor<f32>, tensor<9xf32>, tensor<9xf32>, tensor<f64>, tensor<f64>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %wide = arith.constant dense<0.0> : tensor<f64>
  %0 = nn.reduce max %x {axes = array<i64: 0, 1>} : tensor<9x320xf32> -> tensor<f32>
  %1 = nn.reduce min %x {axes = array<i64: 0, 1>} : tensor<9x320xf32> -> tensor<f32>
  %2 = nn.min %1, %zero : tensor<f32>, tensor<f32> -> tensor<f32>
  %3 = nn.reduce max %x {axes = array<i64: 1>} : tensor<9x320xf32> -> tensor<9xf32>
  %4 = nn.relu %3 : tensor<9xf32> -> tensor<9xf32>
  %5 = nn.reduce min %x {axes = array<i64: 1>} : tensor<9x320xf32> -> tensor<9xf32>
  %6 = nn.min %5, %zero : tensor<9xf32>, tensor<f32> -> tensor<9xf32>
  %7 = nn.reduce max %d {axes = array<i64: 0>} : tensor<320xf64> -> tensor<f64>
  %8 = nn.relu %7 : tensor<f64> -> tensor<f64>
  %9 = nn.reduce min %d {axes = array<i64: 0>} : tensor<320xf64> -> tensor<f64>
  %10 = nn.min %9, %wide : tensor<f64>, tensor<f64> -> tensor<f64>
  return %0, %2, %4, %6, %8, %10 : tensor<f32>, tensor<f32>, tensor<9xf32>, tensor<9xf32>, tensor<f64>, tensor<f64>
}

// Tasks share a large sum. Their number does not depend on the number of
// threads.

// CHECK-LABEL: @in_parts
// CHECK: cpu.reduce sum_square ins({{.*}} : tensor<16x19200x4xf32>) outs({{.*}} : tensor<16x4xf32>)
// CHECK: cpu.reduce sum ins({{.*}} : tensor<1x16x4xf32>) outs({{.*}} : tensor<1x4xf32>)
func.func @in_parts(%x: tensor<1x480x640x4xf32>) -> tensor<1x4xf32> {
  %y = nn.reduce sum_square %x {axes = array<i64: 1, 2>} : tensor<1x480x640x4xf32> -> tensor<1x4xf32>
  return %y : tensor<1x4xf32>
}

// CHECK-LABEL: @softmax
// CHECK: cpu.softmax ins(%arg0 : tensor<?x18xf32>)
func.func @softmax(%x: tensor<?x18xf32>) -> tensor<?x18xf32> {
  %y = nn.softmax %x {axis = 1 : i64} : tensor<?x18xf32> -> tensor<?x18xf32>
  return %y : tensor<?x18xf32>
}

// CHECK-LABEL: @layer_norm
// CHECK: cpu.row_norm ins({{.*}} : tensor<2x24xf32>) operands({{.*}} : tensor<1x24xf32>, tensor<1x24xf32>)
// CHECK: arith.mulf
// CHECK: arith.addf
func.func @layer_norm(%x: tensor<2x4x6xf32>, %s: tensor<4x6xf32>, %b: tensor<4x6xf32>) -> tensor<2x4x6xf32> {
  %y = nn.layer_norm %x scale(%s) bias(%b) {axis = 1 : i64, epsilon = 1.0e-5 : f32} : (tensor<2x4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<2x4x6xf32>
  return %y : tensor<2x4x6xf32>
}

// CHECK-LABEL: @rms_norm
// CHECK: cpu.row_norm {{.*}}rms
func.func @rms_norm(%x: tensor<?x6xf32>, %s: tensor<6xf32>) -> tensor<?x6xf32> {
  %y = nn.rms_norm %x, %s {axis = 1 : i64, epsilon = 1.0e-5 : f32} : (tensor<?x6xf32>, tensor<6xf32>) -> tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}

// CHECK-LABEL: @group_norm
// CHECK: cpu.group_norm ins({{.*}} : tensor<?x9x6xf32>)
// CHECK-SAME: groups = 2
func.func @group_norm(%x: tensor<?x3x3x6xf32>, %s: tensor<6xf32>) -> tensor<?x3x3x6xf32> {
  %y = nn.group_norm %x, %s, %s {channels_last, groups = 2 : i64, epsilon = 1.0e-5 : f32} : (tensor<?x3x3x6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<?x3x3x6xf32>
  return %y : tensor<?x3x3x6xf32>
}

// CHECK-LABEL: @pools
// CHECK: cpu.pool max
// CHECK: cpu.pool mean_with_pads
func.func @pools(%x: tensor<1x?x?x6xf32>) -> tensor<1x?x?x6xf32> {
  %y = nn.max_pool %x {channels_last, dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : tensor<1x?x?x6xf32> -> tensor<1x?x?x6xf32>
  %z = nn.avg_pool %y {channels_last, count_include_pad, dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : tensor<1x?x?x6xf32> -> tensor<1x?x?x6xf32>
  return %z : tensor<1x?x?x6xf32>
}

// -----

// Dimensions behind that of a softmax become one dimension of columns, unless
// they are empty. Dynamic dimensions behind the reduced ones are merged, too.

// CHECK-LABEL: @columns
// CHECK: tensor.collapse_shape {{.*}} : tensor<?x3x?x5xf32> into tensor<?x3x?xf32>
// CHECK: cpu.softmax {{.*}}attributes {columns}
// CHECK: tensor.expand_shape
// CHECK: tensor.collapse_shape {{.*}} : tensor<2x3x1x1xf32> into tensor<2x3xf32>
// CHECK: cpu.softmax
// CHECK-NOT: columns
// CHECK: cpu.reduce sum ins(%{{.*}} : tensor<2x3x?xf32>)
func.func @columns(%x: tensor<?x3x?x5xf32>, %ones: tensor<2x3x1x1xf32>, %d: tensor<2x3x?x?xf32>)
    -> (tensor<?x3x?x5xf32>, tensor<2x3x1x1xf32>, tensor<2x?x?xf32>) {
  %0 = nn.softmax %x {axis = 1 : i64} : tensor<?x3x?x5xf32> -> tensor<?x3x?x5xf32>
  %1 = nn.softmax %ones {axis = 1 : i64} : tensor<2x3x1x1xf32> -> tensor<2x3x1x1xf32>
  %2 = nn.reduce sum %d {axes = array<i64: 1>} : tensor<2x3x?x?xf32> -> tensor<2x?x?xf32>
  return %0, %1, %2 : tensor<?x3x?x5xf32>, tensor<2x3x1x1xf32>, tensor<2x?x?xf32>
}

// -----

// Dimensions that are not adjacent: the first ones are reduced first. Values
// are squared once.

// CHECK-LABEL: @apart
// CHECK: cpu.reduce sum_square ins(%{{.*}} : tensor<1x2x12xf32>)
// CHECK: cpu.reduce sum ins(%{{.*}} : tensor<3x4x1xf32>)
// CHECK: into tensor<3xf32>
// CHECK: cpu.reduce mean ins(%{{.*}} : tensor<1x2x?xf32>)
// CHECK: cpu.reduce mean ins(%{{.*}} : tensor<3x?x1xf32>)
// CHECK-NOT: nn.reduce
func.func @apart(%x: tensor<2x3x4xf32>, %d: tensor<2x3x?xf32>) -> (tensor<3xf32>, tensor<1x3x1xf32>) {
  %0 = nn.reduce sum_square %x {axes = array<i64: 0, 2>} : tensor<2x3x4xf32> -> tensor<3xf32>
  %1 = nn.reduce mean %d {axes = array<i64: 0, 2>, keep_dims} : tensor<2x3x?xf32> -> tensor<1x3x1xf32>
  return %0, %1 : tensor<3xf32>, tensor<1x3x1xf32>
}

// -----

// Must not fire: other types, channels first, or ops for which loops were
// chosen.

// CHECK-LABEL: @left_alone
// CHECK-NOT: cpu.
func.func @left_alone(%x: tensor<2x3x4xf32>, %h: tensor<2x3x4xf16>)
    -> (tensor<2x3x4xf16>, tensor<2x3x2xf32>, tensor<2x3x4xf32>) {
  %2 = nn.softmax %h {axis = 2 : i64} : tensor<2x3x4xf16> -> tensor<2x3x4xf16>
  %3 = nn.max_pool %x {dilations = array<i64: 1>, kernel = array<i64: 2>, pads = array<i64: 0, 0>, strides = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x2xf32>
  %4 = nn.softmax %x {axis = 2 : i64, ingot.backend = #ingot.backend<loops>} : tensor<2x3x4xf32> -> tensor<2x3x4xf32>
  return %2, %3, %4 : tensor<2x3x4xf16>, tensor<2x3x2xf32>, tensor<2x3x4xf32>
}

// -----

// Means of bytes: scale and zero point follow. Must not fire if the padding counts as 0 and not as the zero point, or
// if rows end within a vector.
// CHECK-LABEL: @means_of_bytes
// CHECK: %[[P:.*]] = cpu.pool mean ins(%arg0 : tensor<1x8x8x8xui8>) outs({{.*}} : tensor<1x4x4x8xf32>)
// CHECK: %[[M:.*]] = nn.mul %[[P]], %{{.*}}
// CHECK: nn.add %[[M]], %{{.*}}
// CHECK: cpu.pool mean_with_pads ins({{.*}} : tensor<1x8x8x8xf32>)
// CHECK: %[[R:.*]] = cpu.reduce mean ins({{.*}} : tensor<1x64x8xui8>) outs({{.*}} : tensor<1x8xf32>)
// CHECK: nn.mul %[[R]], %{{.*}} : tensor<1x8xf32>
// CHECK: cpu.reduce mean ins({{.*}} : tensor<1x36x1xf32>)
func.func @means_of_bytes(%x: tensor<1x8x8x8xui8>, %row: tensor<1x36xui8>) -> (tensor<1x4x4x8xf32>, tensor<1x8x8x8xf32>, tensor<1x1x1x8xf32>, tensor<1xf32>) {
  %zero = arith.constant dense<3> : tensor<i32>
  %scale = arith.constant dense<0.5> : tensor<f32>
  %0 = nn.cast %x : tensor<1x8x8x8xui8> -> tensor<1x8x8x8xi32>
  %1 = nn.sub %0, %zero : tensor<1x8x8x8xi32>, tensor<i32> -> tensor<1x8x8x8xi32>
  %2 = nn.cast %1 : tensor<1x8x8x8xi32> -> tensor<1x8x8x8xf32>
  %3 = nn.mul %2, %scale : tensor<1x8x8x8xf32>, tensor<f32> -> tensor<1x8x8x8xf32>
  %s0 = nn.mul %2, %scale : tensor<1x8x8x8xf32>, tensor<f32> -> tensor<1x8x8x8xf32>
  %s1 = nn.mul %2, %scale : tensor<1x8x8x8xf32>, tensor<f32> -> tensor<1x8x8x8xf32>
  %4 = nn.avg_pool %3 {channels_last, kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<1x8x8x8xf32> -> tensor<1x4x4x8xf32>
  %5 = nn.avg_pool %s0 {channels_last, count_include_pad, kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : tensor<1x8x8x8xf32> -> tensor<1x8x8x8xf32>
  %6 = nn.reduce mean %s1 {axes = array<i64: 1, 2>, keep_dims} : tensor<1x8x8x8xf32> -> tensor<1x1x1x8xf32>
  %7 = nn.cast %row : tensor<1x36xui8> -> tensor<1x36xf32>
  %8 = nn.mul %7, %scale : tensor<1x36xf32>, tensor<f32> -> tensor<1x36xf32>
  %9 = nn.reduce mean %8 {axes = array<i64: 1>} : tensor<1x36xf32> -> tensor<1xf32>
  return %4, %5, %6, %9 : tensor<1x4x4x8xf32>, tensor<1x8x8x8xf32>, tensor<1x1x1x8xf32>, tensor<1xf32>
}

// -----

// Bytes without other users become floats while they are reduced. Must not fire
// for overlapping windows, which would convert them several times, and a few
// floats with other users.
// CHECK-LABEL: @means_of_floats
// CHECK-COUNT-3: cpu.pool mean ins({{.*}} : tensor<1x8x8x8xf32>)
func.func @means_of_floats(%x: tensor<1x8x8x8xf32>, %b: tensor<1x8x8x8xui8>, %c: tensor<1x8x8x8xui8>) -> (tensor<1x4x4x8xf32>, tensor<1x7x7x8xf32>, tensor<1x4x4x8xf32>, tensor<1x8x8x8xf32>) {
  %0 = nn.cast %x : tensor<1x8x8x8xf32> -> tensor<1x8x8x8xui8>
  %1 = nn.cast %0 : tensor<1x8x8x8xui8> -> tensor<1x8x8x8xf32>
  %2 = nn.avg_pool %1 {channels_last, kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<1x8x8x8xf32> -> tensor<1x4x4x8xf32>
  %3 = nn.cast %b : tensor<1x8x8x8xui8> -> tensor<1x8x8x8xf32>
  %4 = nn.avg_pool %3 {channels_last, kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<1x8x8x8xf32> -> tensor<1x7x7x8xf32>
  %5 = nn.cast %c : tensor<1x8x8x8xui8> -> tensor<1x8x8x8xf32>
  %6 = nn.avg_pool %5 {channels_last, kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<1x8x8x8xf32> -> tensor<1x4x4x8xf32>
  return %2, %4, %6, %5 : tensor<1x4x4x8xf32>, tensor<1x7x7x8xf32>, tensor<1x4x4x8xf32>, tensor<1x8x8x8xf32>
}
