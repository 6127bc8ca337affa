// RUN: ingot-opt --nn-quantize-products --split-input-file %s | FileCheck %s

// With padding the zero point belongs to the convolution. Without padding it is
// in the bias: 0.5 * 0.25 * -(3 * (1 + 2)) = -1.125, plus 10 * 0.125. Floats
// without users are removed.
// CHECK-LABEL: @conv
// CHECK-NOT: nn.dequantize
func.func @conv(%x: tensor<1x3x4xui8>) -> (tensor<1x1x4xf32>, tensor<1x1x4xf32>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<ui8>
  %w = arith.constant dense<[[[1], [0], [2]]]> : tensor<1x3x1xi8>
  %w3 = arith.constant dense<[[[1, 0, 2], [0, 0, 0], [1, 0, 2]]]> : tensor<1x3x3xi8>
  %t = arith.constant dense<0.25> : tensor<1xf32>
  %b = arith.constant dense<10> : tensor<1xi32>
  %bs = arith.constant dense<0.125> : tensor<1xf32>
  %0 = nn.dequantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<1x3x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x3x4xf32>
  %1 = nn.dequantize %w, %t {axis = 0 : i64} : (tensor<1x3x1xi8>, tensor<1xf32>) -> tensor<1x3x1xf32>
  %2 = nn.dequantize %w3, %t {axis = 0 : i64} : (tensor<1x3x3xi8>, tensor<1xf32>) -> tensor<1x3x3xf32>
  %3 = nn.dequantize %b, %bs {axis = 0 : i64} : (tensor<1xi32>, tensor<1xf32>) -> tensor<1xf32>
  // CHECK: %[[C:.*]] = nn.conv %arg0, %{{.*}} {dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 0, 0>, strides = array<i64: 1>} : (tensor<1x3x4xui8>, tensor<1x3x1xi8>) -> tensor<1x1x4xi32>
  // CHECK: %[[F:.*]] = nn.cast %[[C]] : tensor<1x1x4xi32> -> tensor<1x1x4xf32>
  // CHECK: %[[K:.*]] = arith.constant dense<1.250000e-01> : tensor<1x1xf32>
  // CHECK: %[[M:.*]] = nn.mul %[[F]], %[[K]]
  // CHECK: %[[B:.*]] = arith.constant dense<1.250000e-01> : tensor<1x1xf32>
  // CHECK: nn.add %[[M]], %[[B]]
  %4 = nn.conv %0, %1 bias(%3) {dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 0, 0>, strides = array<i64: 1>} : (tensor<1x3x4xf32>, tensor<1x3x1xf32>, tensor<1xf32>) -> tensor<1x1x4xf32>
  // CHECK: nn.conv %arg0, %{{.*}} {{{.*}}pads = array<i64: 1, 1>, strides = array<i64: 1>, x_zero_point = 3 : i64}
  // CHECK: nn.mul
  // CHECK-NOT: nn.{{add|dequantize}}
  // CHECK: return
  %5 = nn.conv %0, %2 {dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 1, 1>, strides = array<i64: 1>} : (tensor<1x3x4xf32>, tensor<1x3x3xf32>) -> tensor<1x1x4xf32>
  return %4, %5 : tensor<1x1x4xf32>, tensor<1x1x4xf32>
}

// -----

// One or two channels: the integers are multiplied as floats, which are padded
// with 0.
// CHECK-LABEL: @few
// CHECK: %[[F:.*]] = nn.cast %arg0 : tensor<1x2x4xui8> -> tensor<1x2x4xf32>
// CHECK: %[[Z:.*]] = arith.constant dense<3.000000e+00> : tensor<f32>
// CHECK: %[[X:.*]] = nn.sub %[[F]], %[[Z]]
// CHECK: %[[W:.*]] = arith.constant dense<{{\[\[}}[1.000000e+00, 2.000000e+00], [3.000000e+00, -4.000000e+00]]]> : tensor<1x2x2xf32>
// CHECK: %[[C:.*]] = nn.conv %[[X]], %[[W]] {{{.*}}pads = array<i64: 0, 1>, strides = array<i64: 1>}
// CHECK-NOT: nn.cast
// CHECK: nn.mul %[[C]]
// CHECK: return
func.func @few(%x: tensor<1x2x4xui8>) -> tensor<1x1x4xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<ui8>
  %w = arith.constant dense<[[[1, 2], [3, -4]]]> : tensor<1x2x2xi8>
  %t = arith.constant dense<0.25> : tensor<1xf32>
  %0 = nn.dequantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<1x2x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4xf32>
  %1 = nn.dequantize %w, %t {axis = 0 : i64} : (tensor<1x2x2xi8>, tensor<1xf32>) -> tensor<1x2x2xf32>
  %2 = nn.conv %0, %1 {dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 0, 1>, strides = array<i64: 1>} : (tensor<1x2x4xf32>, tensor<1x2x2xf32>) -> tensor<1x1x4xf32>
  return %2 : tensor<1x1x4xf32>
}

// -----

// 600 weights of 120 with a zero point of 0 may sum to 18,360,000, which f32
// does not hold exactly.
// CHECK-LABEL: @large
// CHECK: nn.conv {{.*}} (tensor<1x1x600xui8>, tensor<1x1x600xi8>) -> tensor<1x1x1xi32>
func.func @large(%x: tensor<1x1x600xui8>) -> tensor<1x1x1xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<0> : tensor<ui8>
  %w = arith.constant dense<120> : tensor<1x1x600xi8>
  %t = arith.constant dense<0.25> : tensor<1xf32>
  %0 = nn.dequantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<1x1x600xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x1x600xf32>
  %1 = nn.dequantize %w, %t {axis = 0 : i64} : (tensor<1x1x600xi8>, tensor<1xf32>) -> tensor<1x1x600xf32>
  %2 = nn.conv %0, %1 {dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 0, 0>, strides = array<i64: 1>} : (tensor<1x1x600xf32>, tensor<1x1x600xf32>) -> tensor<1x1x1xf32>
  return %2 : tensor<1x1x1xf32>
}

// -----

// Signed bytes are multiplied as unsigned: the zero point is 128 more.
// CHECK-LABEL: @matmul
func.func @matmul(%x: tensor<?x2xi8>) -> tensor<?x2xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %w = arith.constant dense<[[1, 2], [1, 0]]> : tensor<2x2xui8>
  %z = arith.constant dense<1> : tensor<ui8>
  %t = arith.constant dense<[0.25, 0.5]> : tensor<2xf32>
  %zt = arith.constant dense<[1, 1]> : tensor<2xui8>
  %0 = nn.dequantize %x, %s {axis = 0 : i64} : (tensor<?x2xi8>, tensor<f32>) -> tensor<?x2xf32>
  %1 = nn.dequantize %w, %t zero_point(%zt) {axis = 1 : i64} : (tensor<2x2xui8>, tensor<2xf32>, tensor<2xui8>) -> tensor<2x2xf32>
  // CHECK: nn.cast %arg0 : tensor<?x2xi8> -> tensor<?x2xui8>
  // CHECK: %[[X:.*]] = nn.xor
  // CHECK: %[[W:.*]] = arith.constant dense<{{\[\[}}0, 1], [0, -1]]> : tensor<2x2xi8>
  // CHECK: nn.matmul %[[X]], %[[W]] : (tensor<?x2xui8>, tensor<2x2xi8>) -> tensor<?x2xi32>
  // CHECK: arith.constant dense<[1.250000e-01, 2.500000e-01]> : tensor<2xf32>
  // CHECK-NOT: nn.add
  %2 = nn.matmul %0, %1 : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<?x2xf32>
  return %2 : tensor<?x2xf32>
}

// -----

// Must not fire: computed weights, data with a scale per channel.
// CHECK-LABEL: @no
func.func @no(%x: tensor<2x2xui8>, %w: tensor<2x2xi8>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %sv = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %c = arith.constant dense<1> : tensor<2x2xi8>
  %0 = nn.dequantize %x, %s {axis = 0 : i64} : (tensor<2x2xui8>, tensor<f32>) -> tensor<2x2xf32>
  %1 = nn.dequantize %w, %s {axis = 0 : i64} : (tensor<2x2xi8>, tensor<f32>) -> tensor<2x2xf32>
  %3 = nn.dequantize %x, %sv {axis = 0 : i64} : (tensor<2x2xui8>, tensor<2xf32>) -> tensor<2x2xf32>
  %4 = nn.dequantize %c, %s {axis = 0 : i64} : (tensor<2x2xi8>, tensor<f32>) -> tensor<2x2xf32>
  // CHECK-COUNT-2: nn.matmul {{.*}} -> tensor<2x2xf32>
  %5 = nn.matmul %0, %1 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %7 = nn.matmul %3, %4 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %5, %7 : tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// Weights of nine bits, 0 to 254 and -1, are bytes plus 127 for all weights. The 127 counts once for each row's sum of
// the data.
// CHECK-LABEL: @nine_bits
func.func @nine_bits(%x: tensor<3x2xui8>) -> tensor<3x2xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %zx = arith.constant dense<3> : tensor<ui8>
  %w = arith.constant dense<[[1, 255], [1, 0]]> : tensor<2x2xui8>
  %z = arith.constant dense<1> : tensor<ui8>
  %0 = nn.dequantize %x, %s zero_point(%zx) {axis = 0 : i64} : (tensor<3x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<3x2xf32>
  %1 = nn.dequantize %w, %s zero_point(%z) {axis = 0 : i64} : (tensor<2x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x2xf32>
  // CHECK: %[[F:.*]] = nn.cast %arg0 : tensor<3x2xui8> -> tensor<3x2xf32>
  // CHECK: %[[R:.*]] = nn.reduce sum %[[F]] {axes = array<i64: 1>, keep_dims} : tensor<3x2xf32> -> tensor<3x1xf32>
  // CHECK: %[[N:.*]] = arith.constant dense<6.000000e+00> : tensor<f32>
  // CHECK: %[[C:.*]] = nn.sub %[[R]], %[[N]]
  // CHECK: %[[W:.*]] = arith.constant dense<{{\[\[}}-127, 127], [-127, -128]]> : tensor<2x2xi8>
  // CHECK: %[[P:.*]] = nn.matmul %arg0, %[[W]] : (tensor<3x2xui8>, tensor<2x2xi8>) -> tensor<3x2xi32>
  // CHECK: %[[S:.*]] = nn.cast %[[P]]
  // CHECK: %[[O:.*]] = arith.constant dense<1.270000e+02> : tensor<f32>
  // CHECK: %[[D:.*]] = nn.mul %[[C]], %[[O]]
  // CHECK: nn.add %[[S]], %[[D]] : tensor<3x2xf32>, tensor<3x1xf32> -> tensor<3x2xf32>
  %2 = nn.matmul %0, %1 : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  return %2 : tensor<3x2xf32>
}

// -----

// A convolution of ones sums a convolution's windows. Zero points of each output may need a value per output.
// CHECK-LABEL: @windows
func.func @windows(%x: tensor<1x3x6xui8>) -> tensor<1x2x6xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %t = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %w = arith.constant dense<[[[200, 100, 90], [80, 70, 60], [50, 255, 20]], [[10, 100, 90], [80, 70, 60], [50, 40, 200]]]> : tensor<2x3x3xui8>
  %z = arith.constant dense<[100, 200]> : tensor<2xui8>
  %0 = nn.dequantize %x, %s {axis = 0 : i64} : (tensor<1x3x6xui8>, tensor<f32>) -> tensor<1x3x6xf32>
  %1 = nn.dequantize %w, %t zero_point(%z) {axis = 0 : i64} : (tensor<2x3x3xui8>, tensor<2xf32>, tensor<2xui8>) -> tensor<2x3x3xf32>
  // CHECK: %[[R:.*]] = nn.reduce sum {{.*}} {axes = array<i64: 1>, keep_dims} : tensor<1x3x6xf32> -> tensor<1x1x6xf32>
  // CHECK: %[[ONES:.*]] = arith.constant dense<1.000000e+00> : tensor<1x1x3xf32>
  // CHECK: %[[N:.*]] = nn.conv %[[R]], %[[ONES]] {{.*}}pads = array<i64: 1, 1>{{.*}} -> tensor<1x1x6xf32>
  // CHECK: nn.conv %arg0, {{.*}} : (tensor<1x3x6xui8>, tensor<2x3x3xi8>) -> tensor<1x2x6xi32>
  // CHECK: arith.constant dense<{{\[\[}}2.800000e+01], [-6.200000e+01]]> : tensor<2x1xf32>
  // CHECK: nn.mul %[[N]], {{.*}} : tensor<1x1x6xf32>, tensor<2x1xf32> -> tensor<1x2x6xf32>
  %2 = nn.conv %0, %1 {dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 1, 1>, strides = array<i64: 1>}
    : (tensor<1x3x6xf32>, tensor<2x3x3xf32>) -> tensor<1x2x6xf32>
  return %2 : tensor<1x2x6xf32>
}

// -----

// Must not fire for groups.
// CHECK-LABEL: @nine_bits_of_groups
func.func @nine_bits_of_groups(%x: tensor<1x8x6xui8>) -> tensor<1x2x6xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %w = arith.constant dense<255> : tensor<2x4x1xui8>
  %z = arith.constant dense<100> : tensor<ui8>
  %0 = nn.dequantize %x, %s {axis = 0 : i64} : (tensor<1x8x6xui8>, tensor<f32>) -> tensor<1x8x6xf32>
  %1 = nn.dequantize %w, %s zero_point(%z) {axis = 0 : i64} : (tensor<2x4x1xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x4x1xf32>
  // CHECK: nn.conv {{.*}} : (tensor<1x8x6xf32>, tensor<2x4x1xf32>) -> tensor<1x2x6xf32>
  %2 = nn.conv %0, %1 {dilations = array<i64: 1>, groups = 2 : i64, pads = array<i64: 0, 0>, strides = array<i64: 1>}
    : (tensor<1x8x6xf32>, tensor<2x4x1xf32>) -> tensor<1x2x6xf32>
  return %2 : tensor<1x2x6xf32>
}

// -----

// Groups of few channels are multiplied as floats, which hold the integers, also those of nine bits.
// CHECK-LABEL: @small_groups
// CHECK: %[[X:.*]] = nn.cast %arg0 : tensor<1x4x6xui8> -> tensor<1x4x6xf32>
// CHECK: %[[W:.*]] = arith.constant dense<{{\[\[\[}}1.550000e+02], [-1.000000e+02]], {{.*}}> : tensor<6x2x1xf32>
// CHECK: %[[C:.*]] = nn.conv %[[X]], %[[W]] {{{.*}}groups = 2 : i64
// CHECK: nn.mul %[[C]]
func.func @small_groups(%x: tensor<1x4x6xui8>) -> tensor<1x6x6xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %w = arith.constant dense<[[[255], [0]], [[1], [2]], [[1], [2]], [[1], [2]], [[1], [2]], [[1], [2]]]> : tensor<6x2x1xui8>
  %z = arith.constant dense<100> : tensor<ui8>
  %0 = nn.dequantize %x, %s {axis = 0 : i64} : (tensor<1x4x6xui8>, tensor<f32>) -> tensor<1x4x6xf32>
  %1 = nn.dequantize %w, %s zero_point(%z) {axis = 0 : i64} : (tensor<6x2x1xui8>, tensor<f32>, tensor<ui8>) -> tensor<6x2x1xf32>
  %2 = nn.conv %0, %1 {dilations = array<i64: 1>, groups = 2 : i64, pads = array<i64: 0, 0>, strides = array<i64: 1>}
    : (tensor<1x4x6xf32>, tensor<6x2x1xf32>) -> tensor<1x6x6xf32>
  return %2 : tensor<1x6x6xf32>
}

// -----

// Must not fire: groups of three channels are multiplied as bytes.
// CHECK-LABEL: @groups_of_three
// CHECK: nn.conv {{.*}}groups = 2 : i64{{.*}} : (tensor<1x6x6xui8>, tensor<6x3x1xi8>) -> tensor<1x6x6xi32>
func.func @groups_of_three(%x: tensor<1x6x6xui8>) -> tensor<1x6x6xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %w = arith.constant dense<3> : tensor<6x3x1xi8>
  %0 = nn.dequantize %x, %s {axis = 0 : i64} : (tensor<1x6x6xui8>, tensor<f32>) -> tensor<1x6x6xf32>
  %1 = nn.dequantize %w, %s {axis = 0 : i64} : (tensor<6x3x1xi8>, tensor<f32>) -> tensor<6x3x1xf32>
  %2 = nn.conv %0, %1 {dilations = array<i64: 1>, groups = 2 : i64, pads = array<i64: 0, 0>, strides = array<i64: 1>}
    : (tensor<1x6x6xf32>, tensor<6x3x1xf32>) -> tensor<1x6x6xf32>
  return %2 : tensor<1x6x6xf32>
}

// -----

// Single channels are bytes, even with two outputs each.
// CHECK-LABEL: @single_channels
// CHECK: nn.conv {{.*}} : (tensor<1x2x6xui8>, tensor<2x1x1xi8>) -> tensor<1x2x6xi32>
// CHECK: nn.conv {{.*}} : (tensor<1x2x6xui8>, tensor<4x1x1xi8>) -> tensor<1x4x6xi32>
func.func @single_channels(%x: tensor<1x2x6xui8>) -> (tensor<1x2x6xf32>, tensor<1x4x6xf32>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %w = arith.constant dense<3> : tensor<2x1x1xi8>
  %v = arith.constant dense<3> : tensor<4x1x1xi8>
  %0 = nn.dequantize %x, %s {axis = 0 : i64} : (tensor<1x2x6xui8>, tensor<f32>) -> tensor<1x2x6xf32>
  %1 = nn.dequantize %w, %s {axis = 0 : i64} : (tensor<2x1x1xi8>, tensor<f32>) -> tensor<2x1x1xf32>
  %2 = nn.dequantize %v, %s {axis = 0 : i64} : (tensor<4x1x1xi8>, tensor<f32>) -> tensor<4x1x1xf32>
  %3 = nn.conv %0, %1 {dilations = array<i64: 1>, groups = 2 : i64, pads = array<i64: 0, 0>, strides = array<i64: 1>}
    : (tensor<1x2x6xf32>, tensor<2x1x1xf32>) -> tensor<1x2x6xf32>
  %4 = nn.conv %0, %2 {dilations = array<i64: 1>, groups = 2 : i64, pads = array<i64: 0, 0>, strides = array<i64: 1>}
    : (tensor<1x2x6xf32>, tensor<4x1x1xf32>) -> tensor<1x4x6xf32>
  return %3, %4 : tensor<1x2x6xf32>, tensor<1x4x6xf32>
}

// -----

// A computed scale and zero point: sums of weights times the zero point are subtracted, and padding has the zero point.
// CHECK-LABEL: @computed
func.func @computed(%x: tensor<?x2xui8>, %p: tensor<1x1x4xui8>, %s: tensor<f32>, %z: tensor<ui8>, %b: tensor<2xf32>) -> (tensor<?x2xf32>, tensor<1x2x5xf32>) {
  %w = arith.constant dense<[[1, 2], [1, 0]]> : tensor<2x2xi8>
  %k = arith.constant dense<[[[1, 2]], [[3, 4]]]> : tensor<2x1x2xi8>
  %t = arith.constant dense<[0.25, 0.5]> : tensor<2xf32>
  %0 = nn.dequantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<?x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<?x2xf32>
  %1 = nn.dequantize %w, %t {axis = 1 : i64} : (tensor<2x2xi8>, tensor<2xf32>) -> tensor<2x2xf32>
  // CHECK: %[[P:.*]] = nn.matmul %arg0, %{{.*}} : (tensor<?x2xui8>, tensor<2x2xi8>) -> tensor<?x2xi32>
  // CHECK: %[[C:.*]] = arith.constant dense<2> : tensor<2xi32>
  // CHECK: %[[ZI:.*]] = nn.cast %arg3 : tensor<ui8> -> tensor<i32>
  // CHECK: %[[L:.*]] = nn.mul %[[ZI]], %[[C]]
  // CHECK: %[[D:.*]] = nn.sub %[[P]], %[[L]]
  // CHECK: %[[R:.*]] = nn.cast %[[D]] : tensor<?x2xi32> -> tensor<?x2xf32>
  // CHECK: %[[F:.*]] = nn.mul %[[R]], %{{.*}} : tensor<?x2xf32>, tensor<2xf32>
  // CHECK: %[[M:.*]] = nn.mul %[[F]], %arg2 : tensor<?x2xf32>, tensor<f32>
  // CHECK: nn.add %[[M]], %arg4
  %2 = nn.matmul %0, %1 bias(%b) : (tensor<?x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %3 = nn.dequantize %p, %s zero_point(%z) {axis = 0 : i64} : (tensor<1x1x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x1x4xf32>
  %4 = nn.dequantize %k, %t {axis = 0 : i64} : (tensor<2x1x2xi8>, tensor<2xf32>) -> tensor<2x1x2xf32>
  // CHECK: %[[PAD:.*]] = nn.pad constant %arg1 value(%arg3) {high = array<i64: 0, 0, 1>, low = array<i64: 0, 0, 1>}
  // CHECK: nn.conv %[[PAD]], %{{.*}} {{{.*}}pads = array<i64: 0, 0>, strides = array<i64: 1>} : (tensor<1x1x6xui8>, tensor<2x1x2xi8>) -> tensor<1x2x5xi32>
  // CHECK: arith.constant dense<{{\[\[}}3], [7]]> : tensor<2x1xi32>
  // CHECK: nn.sub
  // CHECK: nn.reshape %arg4 : tensor<2xf32> -> tensor<2x1xf32>
  // CHECK: nn.add
  %5 = nn.conv %3, %4 bias(%b) {dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 1, 1>, strides = array<i64: 1>} : (tensor<1x1x4xf32>, tensor<2x1x2xf32>, tensor<2xf32>) -> tensor<1x2x5xf32>
  return %2, %5 : tensor<?x2xf32>, tensor<1x2x5xf32>
}

// -----

// Scales and zero points of rows: both are operands of a matrix product's epilogue.
// CHECK-LABEL: @rows
func.func @rows(%x: tensor<2x?x2xui8>, %s: tensor<2x?x1xf32>, %z: tensor<2x?x1xui8>) -> tensor<2x?x2xf32> {
  %w = arith.constant dense<[[1, 2], [1, 0]]> : tensor<2x2xi8>
  %t = arith.constant dense<[0.25, 0.5]> : tensor<2xf32>
  %0 = nn.dequantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<2x?x2xui8>, tensor<2x?x1xf32>, tensor<2x?x1xui8>) -> tensor<2x?x2xf32>
  %1 = nn.dequantize %w, %t {axis = 1 : i64} : (tensor<2x2xi8>, tensor<2xf32>) -> tensor<2x2xf32>
  // CHECK: %[[P:.*]] = nn.matmul %arg0, %{{.*}} : (tensor<2x?x2xui8>, tensor<2x2xi8>) -> tensor<2x?x2xi32>
  // CHECK: %[[Z:.*]] = nn.cast %arg2 : tensor<2x?x1xui8> -> tensor<2x?x1xi32>
  // CHECK: %[[L:.*]] = nn.mul %[[Z]], %{{.*}} : tensor<2x?x1xi32>, tensor<2xi32> -> tensor<2x?x2xi32>
  // CHECK: %[[D:.*]] = nn.sub %[[P]], %[[L]]
  // CHECK: %[[F:.*]] = nn.cast %[[D]]
  // CHECK: %[[C:.*]] = nn.mul %[[F]], %{{.*}} : tensor<2x?x2xf32>, tensor<2xf32> -> tensor<2x?x2xf32>
  // CHECK: %[[R:.*]] = nn.mul %[[C]], %arg1 : tensor<2x?x2xf32>, tensor<2x?x1xf32> -> tensor<2x?x2xf32>
  // CHECK-NOT: nn.mul
  // CHECK: return %[[R]]
  %2 = nn.matmul %0, %1 : (tensor<2x?x2xf32>, tensor<2x2xf32>) -> tensor<2x?x2xf32>
  return %2 : tensor<2x?x2xf32>
}

// Scales of weights beyond 2^64 are split in two, so that no product overflows
// before the last.
// CHECK-LABEL: @large_scales
// CHECK-DAG: %[[A:.*]] = arith.constant dense<[2.500000e-01, 1.84467441E+19]> : tensor<2xf32>
// CHECK-DAG: %[[B:.*]] = arith.constant dense<[1.000000e+00, 5.42101{{.*}}E+10]> : tensor<2xf32>
// CHECK-DAG: %[[C:.*]] = nn.mul %{{.*}}, %[[A]] : tensor<2x?x2xf32>, tensor<2xf32>
// CHECK-DAG: %[[R:.*]] = nn.mul %[[C]], %arg1
// CHECK-DAG: nn.mul %[[R]], %[[B]] : tensor<2x?x2xf32>, tensor<2xf32>
// CHECK-DAG: %[[S:.*]] = nn.mul %{{.*}}, %arg2 : tensor<2x?x2xf32>, tensor<f32>
// CHECK-DAG: nn.mul %[[S]], %{{.*}} : tensor<2x?x2xf32>, tensor<2xf32>
func.func @large_scales(%x: tensor<2x?x2xui8>, %s: tensor<2x?x1xf32>, %r: tensor<f32>, %z: tensor<2x?x1xui8>, %u: tensor<ui8>) -> (tensor<2x?x2xf32>, tensor<2x?x2xf32>) {
  %w = arith.constant dense<[[1, 2], [1, 0]]> : tensor<2x2xi8>
  %t = arith.constant dense<[0.25, 1.0e30]> : tensor<2xf32>
  %0 = nn.dequantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<2x?x2xui8>, tensor<2x?x1xf32>, tensor<2x?x1xui8>) -> tensor<2x?x2xf32>
  %1 = nn.dequantize %w, %t {axis = 1 : i64} : (tensor<2x2xi8>, tensor<2xf32>) -> tensor<2x2xf32>
  %2 = nn.matmul %0, %1 : (tensor<2x?x2xf32>, tensor<2x2xf32>) -> tensor<2x?x2xf32>
  %3 = nn.dequantize %x, %r zero_point(%u) {axis = 0 : i64} : (tensor<2x?x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x?x2xf32>
  %4 = nn.matmul %3, %1 : (tensor<2x?x2xf32>, tensor<2x2xf32>) -> tensor<2x?x2xf32>
  return %2, %4 : tensor<2x?x2xf32>, tensor<2x?x2xf32>
}

// Must not fire: pictures have no scales of rows.
// CHECK-LABEL: @rows_of_pictures
// CHECK: nn.conv {{.*}} -> tensor<1x2x4xf32>
func.func @rows_of_pictures(%x: tensor<1x1x4xui8>, %s: tensor<1x1x1xf32>, %z: tensor<1x1x1xui8>) -> tensor<1x2x4xf32> {
  %k = arith.constant dense<1> : tensor<2x1x1xi8>
  %t = arith.constant dense<[0.25, 0.5]> : tensor<2xf32>
  %0 = nn.dequantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<1x1x4xui8>, tensor<1x1x1xf32>, tensor<1x1x1xui8>) -> tensor<1x1x4xf32>
  %1 = nn.dequantize %k, %t {axis = 0 : i64} : (tensor<2x1x1xi8>, tensor<2xf32>) -> tensor<2x1x1xf32>
  %2 = nn.conv %0, %1 {dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 0, 0>, strides = array<i64: 1>} : (tensor<1x1x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4xf32>
  return %2 : tensor<1x2x4xf32>
}

// -----

// Many taps of single channels are multiplied as floats that hold the bytes.
// CHECK-LABEL: @many_taps
// CHECK: nn.conv {{.*}} : (tensor<1x4x20x20xf32>, tensor<4x1x13x13xf32>) -> tensor<1x4x20x20xf32>
// CHECK: nn.conv {{.*}} : (tensor<1x4x20x20xui8>, tensor<4x1x11x11xi8>) -> tensor<1x4x20x20xi32>
func.func @many_taps(%x: tensor<1x4x20x20xui8>) -> (tensor<1x4x20x20xf32>, tensor<1x4x20x20xf32>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<ui8>
  %k = arith.constant dense<7> : tensor<4x1x13x13xi8>
  %l = arith.constant dense<7> : tensor<4x1x11x11xi8>
  %0 = nn.dequantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<1x4x20x20xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x20x20xf32>
  %1 = nn.dequantize %k, %s {axis = 0 : i64} : (tensor<4x1x13x13xi8>, tensor<f32>) -> tensor<4x1x13x13xf32>
  %2 = nn.dequantize %l, %s {axis = 0 : i64} : (tensor<4x1x11x11xi8>, tensor<f32>) -> tensor<4x1x11x11xf32>
  %3 = nn.conv %0, %1 {dilations = array<i64: 1, 1>, groups = 4 : i64, pads = array<i64: 6, 6, 6, 6>, strides = array<i64: 1, 1>} : (tensor<1x4x20x20xf32>, tensor<4x1x13x13xf32>) -> tensor<1x4x20x20xf32>
  %4 = nn.conv %0, %2 {dilations = array<i64: 1, 1>, groups = 4 : i64, pads = array<i64: 5, 5, 5, 5>, strides = array<i64: 1, 1>} : (tensor<1x4x20x20xf32>, tensor<4x1x11x11xf32>) -> tensor<1x4x20x20xf32>
  return %3, %4 : tensor<1x4x20x20xf32>, tensor<1x4x20x20xf32>
}

// -----

// Weights of 4 bits become bytes if the data are bytes.
// CHECK-LABEL: @four_bits
// CHECK: nn.conv %arg0, %{{.*}} : (tensor<1x4x8xui8>, tensor<8x4x1xi8>) -> tensor<1x8x8xi32>
// CHECK: nn.matmul %arg1, %{{.*}} : (tensor<2x4xui8>, tensor<4x8xi8>) -> tensor<2x8xi32>
// CHECK: nn.matmul %arg2, %{{.*}} : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
func.func @four_bits(%x: tensor<1x4x8xui8>, %y: tensor<2x4xui8>, %f: tensor<2x4xf32>) -> (tensor<1x8x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<ui8>
  %k = arith.constant dense<-3> : tensor<8x4x1xi4>
  %t = arith.constant dense<0.25> : tensor<8xf32>
  %0 = nn.dequantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<1x4x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x8xf32>
  %1 = nn.dequantize %k, %t {axis = 0 : i64} : (tensor<8x4x1xi4>, tensor<8xf32>) -> tensor<8x4x1xf32>
  %2 = nn.conv %0, %1 {dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 0, 0>, strides = array<i64: 1>} : (tensor<1x4x8xf32>, tensor<8x4x1xf32>) -> tensor<1x8x8xf32>
  %m = arith.constant dense<-3> : tensor<4x8xi4>
  %3 = nn.dequantize %y, %s zero_point(%z) {axis = 0 : i64} : (tensor<2x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x4xf32>
  %4 = nn.dequantize %m, %t {axis = 1 : i64} : (tensor<4x8xi4>, tensor<8xf32>) -> tensor<4x8xf32>
  %5 = nn.matmul %3, %4 : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  %6 = nn.matmul %f, %4 : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  return %2, %5, %6 : tensor<1x8x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>
}

// -----

// Transposed: outputs are the second dimension of the weights, and scales are
// those of each group. The kernel takes the zero point. Groups of one channel
// stay floats.
// CHECK-LABEL: @transposed
// CHECK: %[[C:.*]] = nn.conv_transpose %arg0, %{{.*}} : (tensor<1x2x4xui8>, tensor<2x3x2xi8>) -> tensor<1x3x8xi32>
// CHECK: nn.cast %[[C]]
// CHECK: arith.constant dense<{{.*}}1.250000e-01], {{.*}}2.500000e-01], {{.*}}5.000000e-01]]> : tensor<3x1xf32>
// CHECK: nn.conv_transpose %arg0, %{{.*}}x_zero_point = 3 : i64{{.*}} -> tensor<1x3x8xi32>
// CHECK: nn.mul
// CHECK-NOT: nn.add
// CHECK: nn.conv_transpose {{.*}}f32>)
// CHECK: nn.conv_transpose {{.*}}groups = 2 : i64{{.*}} : (tensor<1x4x4xui8>, tensor<4x3x2xi8>) -> tensor<1x6x8xi32>
// CHECK: arith.constant dense<{{.*}}1.250000e-01], {{.*}}2.500000e-01], {{.*}}5.000000e-01], {{.*}}1.250000e-01], {{.*}}2.500000e-01], {{.*}}5.000000e-01]]> : tensor<6x1xf32>
func.func @transposed(%x: tensor<1x2x4xui8>, %more: tensor<1x4x4xui8>) -> (tensor<1x3x8xf32>, tensor<1x3x8xf32>, tensor<1x2x8xf32>, tensor<1x6x8xf32>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<ui8>
  %w = arith.constant dense<[[[1, 2], [3, 4], [5, 6]], [[1, 2], [3, 4], [5, 6]]]> : tensor<2x3x2xi8>
  %v = arith.constant dense<[[[1, 2]], [[3, 4]]]> : tensor<2x1x2xi8>
  %t = arith.constant dense<[0.25, 0.5, 1.0]> : tensor<3xf32>
  %one = arith.constant dense<0.25> : tensor<f32>
  %0 = nn.dequantize %x, %s {axis = 0 : i64} : (tensor<1x2x4xui8>, tensor<f32>) -> tensor<1x2x4xf32>
  %1 = nn.dequantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<1x2x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4xf32>
  %2 = nn.dequantize %w, %t {axis = 1 : i64} : (tensor<2x3x2xi8>, tensor<3xf32>) -> tensor<2x3x2xf32>
  %3 = nn.dequantize %v, %one {axis = 0 : i64} : (tensor<2x1x2xi8>, tensor<f32>) -> tensor<2x1x2xf32>
  %4 = nn.conv_transpose %0, %2 {dilations = array<i64: 1>, groups = 1 : i64, output_padding = array<i64: 0>, pads = array<i64: 0, 0>, strides = array<i64: 2>} : (tensor<1x2x4xf32>, tensor<2x3x2xf32>) -> tensor<1x3x8xf32>
  %5 = nn.conv_transpose %1, %2 {dilations = array<i64: 1>, groups = 1 : i64, output_padding = array<i64: 0>, pads = array<i64: 0, 0>, strides = array<i64: 2>} : (tensor<1x2x4xf32>, tensor<2x3x2xf32>) -> tensor<1x3x8xf32>
  %6 = nn.conv_transpose %0, %3 {dilations = array<i64: 1>, groups = 2 : i64, output_padding = array<i64: 0>, pads = array<i64: 0, 0>, strides = array<i64: 2>} : (tensor<1x2x4xf32>, tensor<2x1x2xf32>) -> tensor<1x2x8xf32>
  %u = arith.constant dense<[[[1, 2], [3, 4], [5, 6]], [[1, 2], [3, 4], [5, 6]], [[1, 2], [3, 4], [5, 6]], [[1, 2], [3, 4], [5, 7]]]> : tensor<4x3x2xi8>
  %7 = nn.dequantize %u, %t {axis = 1 : i64} : (tensor<4x3x2xi8>, tensor<3xf32>) -> tensor<4x3x2xf32>
  %8 = nn.dequantize %more, %s {axis = 0 : i64} : (tensor<1x4x4xui8>, tensor<f32>) -> tensor<1x4x4xf32>
  %9 = nn.conv_transpose %8, %7 {dilations = array<i64: 1>, groups = 2 : i64, output_padding = array<i64: 0>, pads = array<i64: 0, 0>, strides = array<i64: 2>} : (tensor<1x4x4xf32>, tensor<4x3x2xf32>) -> tensor<1x6x8xf32>
  return %4, %5, %6, %9 : tensor<1x3x8xf32>, tensor<1x3x8xf32>, tensor<1x2x8xf32>, tensor<1x6x8xf32>
}

// -----

// With weights of 1 and -1 the zero point is subtracted as an integer: 128
// times their sum of 1. So no sum is rounded before it is compared.
// CHECK-LABEL: @signs
func.func @signs(%x: tensor<?x3xui8>) -> tensor<?x1xf32> {
  %s = arith.constant dense<1.0> : tensor<f32>
  %zero = arith.constant dense<128> : tensor<ui8>
  %w = arith.constant dense<[[1], [-1], [1]]> : tensor<3x1xi8>
  %t = arith.constant dense<0.1> : tensor<f32>
  %0 = nn.dequantize %x, %s zero_point(%zero) {axis = 0 : i64} : (tensor<?x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<?x3xf32>
  %1 = nn.dequantize %w, %t {axis = 0 : i64} : (tensor<3x1xi8>, tensor<f32>) -> tensor<3x1xf32>
  // CHECK: %[[S:.*]] = nn.matmul %arg0, %{{.*}} -> tensor<?x1xi32>
  // CHECK: %[[Z:.*]] = arith.constant dense<-128> : tensor<1xi32>
  // CHECK: %[[W:.*]] = nn.add %[[S]], %[[Z]]
  // CHECK: %[[F:.*]] = nn.cast %[[W]] : tensor<?x1xi32> -> tensor<?x1xf32>
  // CHECK: %[[Y:.*]] = nn.mul %[[F]],
  // CHECK: return %[[Y]]
  %2 = nn.matmul %0, %1 : (tensor<?x3xf32>, tensor<3x1xf32>) -> tensor<?x1xf32>
  return %2 : tensor<?x1xf32>
}

// -----

// Single channels of 625 taps are multiplied as floats that hold the bytes. If
// f32 does not hold the sums, the product stays one of dequantized floats.
// CHECK-LABEL: @single_channels
// CHECK: %[[B:.*]] = arith.constant dense<5.000000e+01> : tensor<8x1x25x25xf32>
// CHECK: nn.conv {{.*}}, %[[B]] {{.*}} (tensor<1x8x32x32xf32>, tensor<8x1x25x25xf32>) -> tensor<1x8x8x8xf32>
// CHECK: nn.conv {{.*}} (tensor<1x8x32x32xf32>, tensor<8x1x25x25xf32>) -> tensor<1x8x8x8xf32>
func.func @single_channels(%x: tensor<1x8x32x32xui8>) -> (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %b = arith.constant dense<50> : tensor<8x1x25x25xsi8>
  %c = arith.constant dense<127> : tensor<8x1x25x25xsi8>
  %0 = nn.dequantize %x, %s {axis = 0 : i64} : (tensor<1x8x32x32xui8>, tensor<f32>) -> tensor<1x8x32x32xf32>
  %1 = nn.dequantize %b, %s {axis = 0 : i64} : (tensor<8x1x25x25xsi8>, tensor<f32>) -> tensor<8x1x25x25xf32>
  %2 = nn.dequantize %c, %s {axis = 0 : i64} : (tensor<8x1x25x25xsi8>, tensor<f32>) -> tensor<8x1x25x25xf32>
  %3 = nn.conv %0, %1 {dilations = array<i64: 1, 1>, groups = 8 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x32x32xf32>, tensor<8x1x25x25xf32>) -> tensor<1x8x8x8xf32>
  %4 = nn.conv %0, %2 {dilations = array<i64: 1, 1>, groups = 8 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x32x32xf32>, tensor<8x1x25x25xf32>) -> tensor<1x8x8x8xf32>
  return %3, %4 : tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>
}

// -----

// A matrix of weights for each batch: sums of weights, scales and zero points
// are those of each column of each batch. Rows of one matrix are reshaped.
// CHECK-LABEL: @batches
func.func @batches(%x: tensor<2x?x2xui8>) -> (tensor<2x?x2xf32>, tensor<2x?x2xf32>, tensor<2x?x2xf32>, tensor<2x?x2xf32>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<1> : tensor<ui8>
  %w = arith.constant dense<[[[1, 2], [3, 4]], [[5, 6], [7, 9]]]> : tensor<2x2x2xi8>
  %rows = arith.constant dense<[[1, 2], [3, 4], [5, 6], [7, 9]]> : tensor<4x2xi8>
  %of = arith.constant dense<[0.25, 0.5]> : tensor<2xf32>
  %of_rows = arith.constant dense<[0.25, 0.5, 1.0, 2.0]> : tensor<4xf32>
  %b = arith.constant dense<[10.0, 20.0]> : tensor<2xf32>
  %0 = nn.dequantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<2x?x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x?x2xf32>
  // Scales of columns: 4 and 6 in the first batch, 12 and 15 in the second.
  // CHECK: nn.matmul %arg0, %{{.*}} : (tensor<2x?x2xui8>, tensor<2x2x2xi8>) -> tensor<2x?x2xi32>
  // CHECK: arith.constant dense<{{\[\[\[}}1.250000e-01, 2.500000e-01]], {{\[\[}}1.250000e-01, 2.500000e-01]]]> : tensor<2x1x2xf32>
  // CHECK: arith.constant dense<{{\[\[\[}}9.500000e+00, 1.850000e+01]], {{\[\[}}8.500000e+00, 1.625000e+01]]]> : tensor<2x1x2xf32>
  %1 = nn.dequantize %w, %of {axis = 2 : i64} : (tensor<2x2x2xi8>, tensor<2xf32>) -> tensor<2x2x2xf32>
  %2 = nn.matmul %0, %1 bias(%b) : (tensor<2x?x2xf32>, tensor<2x2x2xf32>, tensor<2xf32>) -> tensor<2x?x2xf32>
  // Scales of batches.
  // CHECK: nn.matmul %arg0, %{{.*}} : (tensor<2x?x2xui8>, tensor<2x2x2xi8>) -> tensor<2x?x2xi32>
  // CHECK: arith.constant dense<{{\[\[\[}}1.250000e-01, 1.250000e-01]], {{\[\[}}2.500000e-01, 2.500000e-01]]]> : tensor<2x1x2xf32>
  // CHECK: arith.constant dense<{{\[\[\[}}-5.000000e-01, -7.500000e-01]], {{\[\[}}-3.000000e+00, -3.750000e+00]]]> : tensor<2x1x2xf32>
  %3 = nn.dequantize %w, %of {axis = 0 : i64} : (tensor<2x2x2xi8>, tensor<2xf32>) -> tensor<2x2x2xf32>
  %4 = nn.matmul %0, %3 : (tensor<2x?x2xf32>, tensor<2x2x2xf32>) -> tensor<2x?x2xf32>
  // A row for each column of each batch.
  // CHECK: nn.matmul %arg0, %{{.*}} {transpose_b} : (tensor<2x?x2xui8>, tensor<2x2x2xi8>) -> tensor<2x?x2xi32>
  // CHECK: arith.constant dense<{{\[\[\[}}1.250000e-01, 2.500000e-01]], {{\[\[}}5.000000e-01, 1.000000e+00]]]> : tensor<2x1x2xf32>
  // CHECK: arith.constant dense<{{\[\[\[}}-3.750000e-01, -1.750000e+00]], {{\[\[}}-5.500000e+00, -1.600000e+01]]]> : tensor<2x1x2xf32>
  %5 = nn.dequantize %rows, %of_rows {axis = 0 : i64} : (tensor<4x2xi8>, tensor<4xf32>) -> tensor<4x2xf32>
  %6 = nn.reshape %5 : tensor<4x2xf32> -> tensor<2x2x2xf32>
  %7 = nn.matmul %0, %6 {transpose_b} : (tensor<2x?x2xf32>, tensor<2x2x2xf32>) -> tensor<2x?x2xf32>
  // Must not fire: scales of k.
  // CHECK: nn.matmul {{.*}} -> tensor<2x?x2xf32>
  %8 = nn.dequantize %w, %of {axis = 1 : i64} : (tensor<2x2x2xi8>, tensor<2xf32>) -> tensor<2x2x2xf32>
  %9 = nn.matmul %0, %8 : (tensor<2x?x2xf32>, tensor<2x2x2xf32>) -> tensor<2x?x2xf32>
  return %2, %4, %7, %9 : tensor<2x?x2xf32>, tensor<2x?x2xf32>, tensor<2x?x2xf32>, tensor<2x?x2xf32>
}

// -----

// Must not fire: sums times the scales exceed f32; data that broadcast to the
// batches of the weights.
// CHECK-LABEL: @no_batches
func.func @no_batches(%x: tensor<1x3x2xui8>, %y: tensor<3x2xui8>) -> (tensor<2x3x2xf32>, tensor<3x2xf32>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %l = arith.constant dense<1.0e30> : tensor<f32>
  %w = arith.constant dense<[[[1, 2], [3, 4]], [[5, 6], [7, 9]]]> : tensor<2x2x2xi8>
  %v = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
  // CHECK: nn.matmul {{.*}} -> tensor<2x3x2xf32>
  %0 = nn.dequantize %x, %s {axis = 0 : i64} : (tensor<1x3x2xui8>, tensor<f32>) -> tensor<1x3x2xf32>
  %1 = nn.dequantize %w, %s {axis = 0 : i64} : (tensor<2x2x2xi8>, tensor<f32>) -> tensor<2x2x2xf32>
  %2 = nn.matmul %0, %1 : (tensor<1x3x2xf32>, tensor<2x2x2xf32>) -> tensor<2x3x2xf32>
  // CHECK: nn.matmul {{.*}} -> tensor<3x2xf32>
  %3 = nn.dequantize %y, %s {axis = 0 : i64} : (tensor<3x2xui8>, tensor<f32>) -> tensor<3x2xf32>
  %4 = nn.dequantize %v, %l {axis = 0 : i64} : (tensor<2x2xi8>, tensor<f32>) -> tensor<2x2xf32>
  %5 = nn.matmul %3, %4 : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  return %2, %5 : tensor<2x3x2xf32>, tensor<3x2xf32>
}
