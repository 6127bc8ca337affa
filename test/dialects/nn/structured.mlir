// RUN: ingot-opt %s | ingot-opt | FileCheck %s
// RUN: ingot-opt %s --mlir-print-op-generic | ingot-opt | FileCheck %s
// Convolutions, products, pools, reductions and normalizations, printed and parsed.

// CHECK-LABEL: func.func @convolution
func.func @convolution(%x: tensor<?x4x8x8xf32>, %last: tensor<1x8x8x4xf32>, %w: tensor<6x2x3x3xf32>, %b: tensor<6xf32>,
                       %t: tensor<4x3x2x2xf32>) {
  // CHECK: nn.conv %{{.*}}, %{{.*}} bias(%{{.*}}) {dilations = array<i64: 1, 1>, groups = 2 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
  %0 = nn.conv %x, %w bias(%b) {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64}
    : (tensor<?x4x8x8xf32>, tensor<6x2x3x3xf32>, tensor<6xf32>) -> tensor<?x6x4x4xf32>
  // CHECK: nn.conv %{{.*}}, %{{.*}} {channels_last,
  %1 = nn.conv %last, %w {channels_last, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 2, 1>, groups = 2 : i64}
    : (tensor<1x8x8x4xf32>, tensor<6x2x3x3xf32>) -> tensor<1x4x6x6xf32>
  // CHECK: nn.conv_transpose
  %2 = nn.conv_transpose %x, %t {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 1, 0>, groups = 2 : i64}
    : (tensor<?x4x8x8xf32>, tensor<4x3x2x2xf32>) -> tensor<?x6x17x16xf32>
  return
}

// CHECK-LABEL: func.func @matmul
func.func @matmul(%a: tensor<5x1x3x4xf32>, %b: tensor<?x6x4xf32>, %c: tensor<6xf32>) {
  // CHECK: nn.matmul %{{.*}}, %{{.*}} bias(%{{.*}}) {transpose_b} : {{.*}} -> tensor<5x?x3x6xf32>
  %0 = nn.matmul %a, %b bias(%c) {transpose_b}
    : (tensor<5x1x3x4xf32>, tensor<?x6x4xf32>, tensor<6xf32>) -> tensor<5x?x3x6xf32>
  return
}

// CHECK-LABEL: func.func @pools
func.func @pools(%x: tensor<1x4x8x?xf32>) {
  // CHECK: nn.max_pool
  %0 = nn.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
    : tensor<1x4x8x?xf32> -> tensor<1x4x4x?xf32>
  // CHECK: nn.avg_pool %{{.*}} {count_include_pad,
  %1 = nn.avg_pool %x {count_include_pad, kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>}
    : tensor<1x4x8x?xf32> -> tensor<1x4x8x?xf32>
  // CHECK: nn.max_pool_with_indices {{.*}} -> tensor<1x4x4x?xf32>, tensor<1x4x4x?xi64>
  %2:2 = nn.max_pool_with_indices %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, column_major}
    : tensor<1x4x8x?xf32> -> tensor<1x4x4x?xf32>, tensor<1x4x4x?xi64>
  return
}

// CHECK-LABEL: func.func @reductions
func.func @reductions(%x: tensor<2x?x4xf32>) {
  // CHECK: nn.reduce sum %{{.*}} {axes = array<i64: 0, 2>} : {{.*}} -> tensor<?xf32>
  %0 = nn.reduce sum %x {axes = array<i64: 0, 2>} : tensor<2x?x4xf32> -> tensor<?xf32>
  // CHECK: nn.reduce mean
  %1 = nn.reduce mean %x {axes = array<i64: 2>, keep_dims} : tensor<2x?x4xf32> -> tensor<2x?x1xf32>
  // CHECK: nn.reduce max
  %2 = nn.reduce max %x {axes = array<i64: 2>} : tensor<2x?x4xf32> -> tensor<2x?xf32>
  // CHECK: nn.reduce min
  %3 = nn.reduce min %x {axes = array<i64: 2>} : tensor<2x?x4xf32> -> tensor<2x?xf32>
  // CHECK: nn.reduce prod
  %4 = nn.reduce prod %x {axes = array<i64: 2>} : tensor<2x?x4xf32> -> tensor<2x?xf32>
  // CHECK: nn.reduce sum_square
  %5 = nn.reduce sum_square %x {axes = array<i64>} : tensor<2x?x4xf32> -> tensor<2x?x4xf32>
  // CHECK: nn.arg_reduce max
  %6 = nn.arg_reduce max %x {axis = 1 : i64, keep_dims, select_last_index} : tensor<2x?x4xf32> -> tensor<2x1x4xi64>
  return
}

// CHECK-LABEL: func.func @norms
func.func @norms(%x: tensor<2x4x?xf32>, %c: tensor<4xf32>, %s: tensor<?xf32>) {
  // CHECK: nn.batch_norm
  %0 = nn.batch_norm %x, %c, %c, %c, %c {epsilon = 1.0e-5 : f32}
    : (tensor<2x4x?xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x?xf32>
  // CHECK: nn.layer_norm %{{.*}} scale(%{{.*}}) bias(%{{.*}})
  %1 = nn.layer_norm %x scale(%s) bias(%s) {axis = 2 : i64, epsilon = 1.0e-5 : f32}
    : (tensor<2x4x?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<2x4x?xf32>
  // CHECK: nn.layer_norm %{{.*}} bias(%{{.*}})
  %2 = nn.layer_norm %x bias(%s) {axis = 2 : i64, epsilon = 1.0e-5 : f32}
    : (tensor<2x4x?xf32>, tensor<?xf32>) -> tensor<2x4x?xf32>
  // CHECK: nn.layer_norm %{{[a-z0-9]+}} {
  %3 = nn.layer_norm %x {axis = 1 : i64, epsilon = 1.0e-5 : f32} : (tensor<2x4x?xf32>) -> tensor<2x4x?xf32>
  // CHECK: nn.rms_norm
  %4 = nn.rms_norm %x, %s {axis = 2 : i64, epsilon = 1.0e-5 : f32} : (tensor<2x4x?xf32>, tensor<?xf32>) -> tensor<2x4x?xf32>
  // CHECK: nn.group_norm
  %5 = nn.group_norm %x, %c, %c {groups = 2 : i64, epsilon = 1.0e-5 : f32}
    : (tensor<2x4x?xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x?xf32>
  // CHECK: nn.lrn
  %6 = nn.lrn %x {size = 3 : i64, alpha = 1.0e-4 : f32, beta = 0.75 : f32, k = 1.0 : f32} : tensor<2x4x?xf32> -> tensor<2x4x?xf32>
  // CHECK: nn.softmax %{{.*}} {axis = 1 : i64, log}
  %7 = nn.softmax %x {axis = 1 : i64, log} : tensor<2x4x?xf32> -> tensor<2x4x?xf32>
  return
}

// CHECK-LABEL: func.func @quantization
func.func @quantization(%x: tensor<2x4xf32>, %s: tensor<4xf32>, %z: tensor<4xui8>, %one: tensor<f32>) {
  // CHECK: %[[Q:.*]] = nn.quantize %{{.*}}, %{{.*}} zero_point(%{{.*}})
  %0 = nn.quantize %x, %s zero_point(%z) {axis = 1 : i64} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xui8>) -> tensor<2x4xui8>
  // CHECK: nn.dequantize %[[Q]]
  %1 = nn.dequantize %0, %one {axis = 1 : i64} : (tensor<2x4xui8>, tensor<f32>) -> tensor<2x4xf32>
  return
}

// CHECK-LABEL: @byte_attention
// CHECK: nn.byte_attention %arg0, %arg1, %arg2 mask(%arg3) {{.*}}masked_rounding = array<f32: 5.000000e-01, -1.280000e+02, 1.270000e+02>{{.*}} -> tensor<1x7x2x32xf32>
func.func @byte_attention(%q: tensor<1x7x2x16xui8>, %k: tensor<1x9x2x16xui8>, %v: tensor<1x9x2x32xi8>, %m: tensor<1x1x7x9xf32>) -> tensor<1x7x2x32xf32> {
  %y = nn.byte_attention %q, %k, %v mask(%m) {q_zero_point = 128 : i64, k_zero_point = 3 : i64, v_zero_point = 0 : i64, product_scale = 1.0e-2 : f32, scale = 2.5e-1 : f32, p_scale = 4.0e-3 : f32, p_most = 255 : i64, result_scale = 1.0e-4 : f32, masked_rounding = array<f32: 0.5, -128.0, 127.0>} : (tensor<1x7x2x16xui8>, tensor<1x9x2x16xui8>, tensor<1x9x2x32xi8>, tensor<1x1x7x9xf32>) -> tensor<1x7x2x32xf32>
  return %y : tensor<1x7x2x32xf32>
}
