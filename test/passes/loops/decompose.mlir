// RUN: ingot-opt --nn-to-linalg --split-input-file --verify-diagnostics %s | FileCheck %s

// The maximum is subtracted before the exponential.
// CHECK-LABEL: @softmax
func.func @softmax(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK: arith.maximumf
  // CHECK: arith.subf
  // CHECK: math.exp
  // CHECK: arith.addf
  // CHECK: arith.divf
  // CHECK-NOT: nn.
  %0 = nn.softmax %x {axis = 1 : i64} : tensor<?x8xf32> -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// CHECK-LABEL: @log_softmax
func.func @log_softmax(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // CHECK: arith.extf %{{.*}} : f16 to f32
  // CHECK: math.log
  // CHECK: arith.truncf
  %0 = nn.softmax %x {axis = 0 : i64, log} : tensor<4x8xf16> -> tensor<4x8xf16>
  return %0 : tensor<4x8xf16>
}

// -----

// CHECK-LABEL: @layer_norm
func.func @layer_norm(%x: tensor<?x3x8xf32>, %s: tensor<8xf32>) -> tensor<?x3x8xf32> {
  // CHECK: math.sqrt
  // CHECK-NOT: nn.
  %0 = nn.layer_norm %x scale(%s) bias(%s) {axis = 2 : i64, epsilon = 1.0e-5 : f32} : (tensor<?x3x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x3x8xf32>
  return %0 : tensor<?x3x8xf32>
}

// -----

// Two dynamic dimensions are kept, since only the channels are split.
// CHECK-LABEL: @group_norm
func.func @group_norm(%x: tensor<?x4x?xf32>, %s: tensor<4xf32>) -> tensor<?x4x?xf32> {
  // CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2], [3]] {{.*}} : tensor<?x4x?xf32> into tensor<?x2x2x?xf32>
  // CHECK: tensor.collapse_shape
  // CHECK-NOT: nn.
  %0 = nn.group_norm %x, %s, %s {epsilon = 1.0e-5 : f32, groups = 2 : i64} : (tensor<?x4x?xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4x?xf32>
  return %0 : tensor<?x4x?xf32>
}

// -----

// Normalizing each channel needs no split.
// CHECK-LABEL: @instance_norm
func.func @instance_norm(%x: tensor<2x5x4xf32>, %s: tensor<4xf32>) -> tensor<2x5x4xf32> {
  // CHECK-NOT: tensor.collapse_shape %{{.*}} : tensor<2x4x1x5xf32>
  // CHECK-NOT: nn.
  // CHECK: return
  %0 = nn.group_norm %x, %s, %s {channels_last, epsilon = 1.0e-5 : f32, groups = 4 : i64} : (tensor<2x5x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x5x4xf32>
  return %0 : tensor<2x5x4xf32>
}

// -----

// CHECK-LABEL: @batch_norm
func.func @batch_norm(%x: tensor<?x4x?xf32>, %s: tensor<4xf32>) -> tensor<?x4x?xf32> {
  // CHECK: math.sqrt
  // CHECK: arith.mulf
  // CHECK-NOT: nn.
  %0 = nn.batch_norm %x, %s, %s, %s, %s {epsilon = 1.0e-5 : f32} : (tensor<?x4x?xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4x?xf32>
  return %0 : tensor<?x4x?xf32>
}

// -----

// Bytes that no kernel multiplies are widened, minus their zero point. Bytes of
// matrices are widened to int16, since they have no zero points.
// CHECK-LABEL: @bytes
func.func @bytes(%x: tensor<1x3x9xui8>, %w: tensor<4x3x3xi8>, %a: tensor<2x3xui8>, %b: tensor<3x4xi8>) -> (tensor<1x4x9xi32>, tensor<2x4xi32>) {
  // CHECK-DAG: arith.extui %{{.*}} : i8 to i16
  // CHECK-DAG: arith.extsi %{{.*}} : i8 to i16
  // CHECK-DAG: arith.extui %{{.*}} : i8 to i32
  // CHECK-DAG: arith.extsi %{{.*}} : i8 to i32
  // CHECK-DAG: arith.subi %{{.*}} : i32
  // CHECK-NOT: nn.
  // CHECK: arith.muli
  %0 = nn.conv %x, %w {dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 1, 1>, strides = array<i64: 1>, x_zero_point = 7 : i64}
    : (tensor<1x3x9xui8>, tensor<4x3x3xi8>) -> tensor<1x4x9xi32>
  %1 = nn.matmul %a, %b : (tensor<2x3xui8>, tensor<3x4xi8>) -> tensor<2x4xi32>
  return %0, %1 : tensor<1x4x9xi32>, tensor<2x4xi32>
}

// -----

// CHECK-LABEL: @transposed_bytes
func.func @transposed_bytes(%x: tensor<1x3x4xui8>, %w: tensor<3x2x2xi8>) -> tensor<1x2x8xi32> {
  // CHECK: arith.subi %{{.*}} : i32
  // CHECK-NOT: nn.
  // CHECK: arith.muli
  %0 = nn.conv_transpose %x, %w {dilations = array<i64: 1>, groups = 1 : i64, output_padding = array<i64: 0>, pads = array<i64: 0, 0>, strides = array<i64: 2>, x_zero_point = 7 : i64}
    : (tensor<1x3x4xui8>, tensor<3x2x2xi8>) -> tensor<1x2x8xi32>
  return %0 : tensor<1x2x8xi32>
}

// -----

// Squares are summed over windows of the padded channels; b^(3/4) needs two
// square roots.
// CHECK-LABEL: @lrn
func.func @lrn(%x: tensor<2x8x3xf32>) -> tensor<2x8x3xf32> {
  // CHECK-NOT: math.powf
  // CHECK: tensor.insert_slice %{{.*}}[0, 2, 0] [2, 8, 3] {{.*}} into tensor<2x12x3xf32>
  // CHECK-COUNT-5: tensor.extract_slice
  // CHECK-COUNT-2: math.sqrt
  // CHECK: arith.divf
  // CHECK-NOT: nn.
  // CHECK: return
  %0 = nn.lrn %x {size = 5 : i64, alpha = 1.0e-4 : f32, beta = 0.75 : f32, k = 1.0 : f32} : tensor<2x8x3xf32> -> tensor<2x8x3xf32>
  return %0 : tensor<2x8x3xf32>
}

// -----

// An even window has one more element at its end. It is along the last
// dimension if channels are last.
// CHECK-LABEL: @lrn_channels_last
func.func @lrn_channels_last(%x: tensor<2x?x8xf16>) -> tensor<2x?x8xf16> {
  // CHECK: arith.extf
  // CHECK: tensor.insert_slice %{{.*}}[0, 0, 1] {{.*}} into tensor<2x?x11xf32>
  // CHECK-COUNT-4: tensor.extract_slice
  // CHECK: math.powf
  // CHECK: arith.truncf
  // CHECK-NOT: nn.
  // CHECK: return
  %0 = nn.lrn %x {channels_last, size = 4 : i64, alpha = 1.0e-4 : f32, beta = 0.5 : f32, k = 2.0 : f32} : tensor<2x?x8xf16> -> tensor<2x?x8xf16>
  return %0 : tensor<2x?x8xf16>
}

// -----

// Sums of rows are summed, not all elements one after the other.
// CHECK-LABEL: @mean_of_pixels
func.func @mean_of_pixels(%x: tensor<1x6x7x8xf32>) -> tensor<1x1x1x8xf32> {
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction", "parallel"]
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel", "parallel"]
  %0 = nn.reduce mean %x {axes = array<i64: 1, 2>, keep_dims} : tensor<1x6x7x8xf32> -> tensor<1x1x1x8xf32>
  return %0 : tensor<1x1x1x8xf32>
}

// -----

// Must not fire: the order of a maximum does not matter.
// CHECK-LABEL: @maximum_of_pixels
func.func @maximum_of_pixels(%x: tensor<1x6x7x8xf32>) -> tensor<1x8xf32> {
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "reduction", "parallel"]
  %0 = nn.reduce max %x {axes = array<i64: 1, 2>} : tensor<1x6x7x8xf32> -> tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

// -----

// The number of channels is that of the scales, although the type lacks it.
// CHECK-LABEL: @instance_norm_open
// CHECK: tensor.cast %arg0 : tensor<2x?x?xf32> to tensor<2x?x4xf32>
// CHECK-NOT: nn.
func.func @instance_norm_open(%x: tensor<2x?x?xf32>, %s: tensor<4xf32>) -> tensor<2x?x?xf32> {
  %0 = nn.group_norm %x, %s, %s {channels_last, epsilon = 1.0e-5 : f32, groups = 4 : i64} : (tensor<2x?x?xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x?x?xf32>
  return %0 : tensor<2x?x?xf32>
}

// -----

// A dynamic number of channels.
// CHECK-LABEL: @lrn_open
// CHECK: tensor.insert_slice
// CHECK-COUNT-3: tensor.extract_slice
// CHECK-NOT: nn.
func.func @lrn_open(%x: tensor<2x?x3x4xf32>) -> tensor<2x?x3x4xf32> {
  %0 = nn.lrn %x {alpha = 1.0e-4 : f32, beta = 7.5e-1 : f32, k = 1.0 : f32, size = 3 : i64} : tensor<2x?x3x4xf32> -> tensor<2x?x3x4xf32>
  return %0 : tensor<2x?x3x4xf32>
}

// -----

// Transposes around a pooling are removed, except for bytes.
// CHECK-LABEL: @pool_channels_first
func.func @pool_channels_first(%x: tensor<1x?x8xf32>, %b: tensor<1x?x8xi8>) -> (tensor<1x?x4xf32>, tensor<1x?x4xi8>) {
  // CHECK: tensor.extract_slice %arg0[0, 0, 0] [1, %{{.*}}, 4] [1, 1, 2]
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]
  %0 = nn.transpose %x {perm = array<i64: 0, 2, 1>} : tensor<1x?x8xf32> -> tensor<1x8x?xf32>
  %1 = nn.max_pool %0 {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, channels_last} : tensor<1x8x?xf32> -> tensor<1x4x?xf32>
  %2 = nn.transpose %1 {perm = array<i64: 0, 2, 1>} : tensor<1x4x?xf32> -> tensor<1x?x4xf32>
  // CHECK: linalg.generic {{.*}}"reduction"]{{.*}} outs(%{{.*}} : tensor<1x4x?xi8>)
  %3 = nn.transpose %b {perm = array<i64: 0, 2, 1>} : tensor<1x?x8xi8> -> tensor<1x8x?xi8>
  %4 = nn.max_pool %3 {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, channels_last} : tensor<1x8x?xi8> -> tensor<1x4x?xi8>
  %5 = nn.transpose %4 {perm = array<i64: 0, 2, 1>} : tensor<1x4x?xi8> -> tensor<1x?x4xi8>
  return %2, %5 : tensor<1x?x4xf32>, tensor<1x?x4xi8>
}

// -----

// Rows are rounded block by block.
// CHECK-LABEL: @rounded
// CHECK: math.absf
// CHECK: arith.maximumf
// CHECK: arith.divf
// CHECK: math.roundeven
// CHECK: math.absf
// CHECK: math.roundeven
// CHECK: tensor.insert_slice
// CHECK-NOT: nn.
func.func @rounded(%x: tensor<?x20xf32>, %q: tensor<3x2x8xui8>, %s: tensor<3x2xf32>) -> tensor<?x3xf32> {
  %0 = nn.packed_matmul %x, %q, %s {bits = 4 : i64, block_size = 16 : i64, depth = 20 : i64, rounds_a} : (tensor<?x20xf32>, tensor<3x2x8xui8>, tensor<3x2xf32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// An attention of bytes that no kernel took: products, softmax and roundings.
// CHECK-LABEL: @byte_attention
// CHECK-NOT: nn.byte_attention
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]
// CHECK: math.roundeven
// CHECK: math.exp
// CHECK: math.roundeven
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]
// CHECK: return
func.func @byte_attention(%q: tensor<1x8x2x16xui8>, %k: tensor<1x9x2x16xui8>, %v: tensor<1x9x2x32xi8>, %m: tensor<1x1x8x9xf32>) -> tensor<1x8x2x32xf32> {
  %y = nn.byte_attention %q, %k, %v mask(%m) {q_zero_point = 128 : i64, k_zero_point = 3 : i64, v_zero_point = 0 : i64, product_scale = 1.0e-2 : f32, score_rounding = array<f32: 0.5, -128.0, 127.0>, scale = 2.5e-1 : f32, p_scale = 4.0e-3 : f32, p_most = 255 : i64, result_scale = 1.0e-4 : f32} : (tensor<1x8x2x16xui8>, tensor<1x9x2x16xui8>, tensor<1x9x2x32xi8>, tensor<1x1x8x9xf32>) -> tensor<1x8x2x32xf32>
  return %y : tensor<1x8x2x32xf32>
}
