// RUN: ingot-opt --onnx-legalize --split-input-file --verify-diagnostics %s | FileCheck %s

module attributes {onnx.opset_import = {ai.onnx = 24 : i64}} {

// CHECK-LABEL: @linear
func.func @linear(%x: tensor<?x3xf32>, %s: tensor<1xf32>, %z: tensor<1xi8>, %sc: tensor<3xf32>, %zc: tensor<3xui8>)
    -> (tensor<?x3xf32>, tensor<?x3xui8>) {
  // CHECK: nn.quantize %arg0, %{{.*}} zero_point(%{{.*}}) {{.*}} : (tensor<?x3xf32>, tensor<f32>, tensor<i8>) -> tensor<?x3xi8>
  %0 = onnx.node "QuantizeLinear"(%x, %s, %z) : (tensor<?x3xf32>, tensor<1xf32>, tensor<1xi8>) -> tensor<?x3xi8>
  // CHECK: nn.dequantize
  %1 = onnx.node "DequantizeLinear"(%0, %s, %z) : (tensor<?x3xi8>, tensor<1xf32>, tensor<1xi8>) -> tensor<?x3xf32>
  // CHECK: nn.quantize %arg0, %arg3 zero_point(%arg4) {axis = 1 : i64}
  %2 = onnx.node "QuantizeLinear"(%x, %sc, %zc) {axis = -1 : i64} : (tensor<?x3xf32>, tensor<3xf32>, tensor<3xui8>) -> tensor<?x3xui8>
  return %1, %2 : tensor<?x3xf32>, tensor<?x3xui8>
}

// The last block is shorter: 5 elements in blocks of 2.
// CHECK-LABEL: @blocks
func.func @blocks(%x: tensor<2x5xi8>, %s: tensor<2x3xf32>) -> tensor<2x5xf32> {
  // CHECK: nn.broadcast_to %{{.*}} : tensor<2x3x1xf32> -> tensor<2x3x2xf32>
  // CHECK: nn.slice %{{.*}} : tensor<2x6xf32> -> tensor<2x5xf32>
  // CHECK: nn.mul
  %0 = onnx.node "DequantizeLinear"(%x, %s) {axis = 1 : i64, block_size = 2 : i64} : (tensor<2x5xi8>, tensor<2x3xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// Scales of any sign are factors, not steps of a grid. Scales of blocks may be either.

// CHECK-LABEL: @signs
func.func @signs(%x: tensor<2x5xui8>, %z: tensor<2xui8>) -> (tensor<2x5xf32>, tensor<2x5xf32>) {
  %s = arith.constant dense<[-0.5, 0.0]> : tensor<2xf32>
  // CHECK: %[[X:.*]] = nn.cast %{{.*}} : tensor<2x5xui8> -> tensor<2x5xf32>
  // CHECK: %[[D:.*]] = nn.sub %[[X]], %{{.*}} : tensor<2x5xf32>, tensor<2x1xf32>
  // CHECK: nn.mul %[[D]], %{{.*}} : tensor<2x5xf32>, tensor<2x1xf32>
  // CHECK-NOT: nn.dequantize %
  %0 = onnx.node "DequantizeLinear"(%x, %s, %z) {axis = 0 : i64} : (tensor<2x5xui8>, tensor<2xf32>, tensor<2xui8>) -> tensor<2x5xf32>
  %w = arith.constant dense<3> : tensor<2x5xi8>
  %b = arith.constant dense<[[-0.5, 0.0, 1.0], [1.0, -0.5, 0.0]]> : tensor<2x3xf32>
  // CHECK: nn.dequantize_blocks
  %1 = onnx.node "DequantizeLinear"(%w, %b) {axis = 1 : i64, block_size = 2 : i64} : (tensor<2x5xi8>, tensor<2x3xf32>) -> tensor<2x5xf32>
  return %0, %1 : tensor<2x5xf32>, tensor<2x5xf32>
}

// Constant blocks of any type stay blocks. Their scales are of f32 at least.
// CHECK-LABEL: @constant_blocks
func.func @constant_blocks() -> (tensor<2x4xf16>, tensor<2x4xbf16>) {
  %w = arith.constant dense<1.0> : tensor<2x4xf8E4M3FN>
  %s = arith.constant dense<2.0> : tensor<2x2xf16>
  // CHECK: nn.dequantize_blocks {{.*}} : (tensor<2x4xf8E4M3FN>, tensor<2x2xf32>) -> tensor<2x4xf16>
  %0 = onnx.node "DequantizeLinear"(%w, %s) {axis = 1 : i64, block_size = 2 : i64} : (tensor<2x4xf8E4M3FN>, tensor<2x2xf16>) -> tensor<2x4xf16>
  %v = arith.constant dense<3> : tensor<2x4xi16>
  %p = arith.constant dense<2.0> : tensor<2x2xf8E8M0FNU>
  // CHECK: nn.dequantize_blocks {{.*}} : (tensor<2x4xi16>, tensor<2x2xf32>) -> tensor<2x4xbf16>
  %1 = onnx.node "DequantizeLinear"(%v, %p) {axis = 1 : i64, block_size = 2 : i64, output_dtype = 16 : i64} : (tensor<2x4xi16>, tensor<2x2xf8E8M0FNU>) -> tensor<2x4xbf16>
  return %0, %1 : tensor<2x4xf16>, tensor<2x4xbf16>
}

// Zero points of 16 bits do not fit bf16.
// CHECK-LABEL: @wide_zero_points
func.func @wide_zero_points(%x: tensor<2x2xbf16>, %s: tensor<2x1xbf16>, %z: tensor<2x1xui16>) -> tensor<2x2xui16> {
  // CHECK: nn.add %{{.*}}, %{{.*}} : tensor<2x2xf32>, tensor<2x2xf32>
  %0 = onnx.node "QuantizeLinear"(%x, %s, %z) {axis = 1 : i64, block_size = 2 : i64} : (tensor<2x2xbf16>, tensor<2x1xbf16>, tensor<2x1xui16>) -> tensor<2x2xui16>
  return %0 : tensor<2x2xui16>
}

// CHECK-LABEL: @products
func.func @products(%a: tensor<2x3xui8>, %b: tensor<3x4xi8>, %az: tensor<ui8>, %bz: tensor<4xi8>, %s: tensor<f32>, %yz: tensor<i8>)
    -> (tensor<2x4xi32>, tensor<2x4xi8>) {
  // The product of bytes, minus zero points times sums of columns and of rows.
  // CHECK: nn.matmul %arg0, %arg1 : (tensor<2x3xui8>, tensor<3x4xi8>) -> tensor<2x4xi32>
  // CHECK: nn.reduce sum %{{.*}} {axes = array<i64: 0>, keep_dims} : tensor<3x4xi32> -> tensor<1x4xi32>
  // CHECK: nn.mul %{{.*}} : tensor<1x4xi32>, tensor<i32>
  // CHECK: nn.sub %{{.*}} : tensor<2x4xi32>, tensor<1x4xi32> -> tensor<2x4xi32>
  // CHECK: nn.reduce sum %{{.*}} {axes = array<i64: 1>, keep_dims} : tensor<2x3xi32> -> tensor<2x1xi32>
  // CHECK: nn.sub
  // CHECK: nn.add %{{.*}} : tensor<2x4xi32>, tensor<4xi32> -> tensor<2x4xi32>
  %0 = onnx.node "MatMulInteger"(%a, %b, %az, %bz) : (tensor<2x3xui8>, tensor<3x4xi8>, tensor<ui8>, tensor<4xi8>) -> tensor<2x4xi32>
  // CHECK: nn.matmul
  // CHECK: %[[P:.*]] = nn.mul %[[S:.*]], %[[S]]
  // CHECK: %[[R:.*]] = nn.div %[[P]], %[[S]]
  // CHECK: nn.requantize %{{.*}}, %[[R]], %{{.*}} : tensor<2x4xi32>, tensor<f32>, tensor<i8> -> tensor<2x4xi8>
  %1 = onnx.node "QLinearMatMul"(%a, %s, %az, %b, %s, %bz, %s, %yz) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x4xi8>, tensor<f32>, tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<2x4xi8>
  return %0, %1 : tensor<2x4xi32>, tensor<2x4xi8>
}
}

// -----

module attributes {onnx.opset_import = {ai.onnx = 24 : i64}} {

// Weights subtract their own zero point. Data becomes unsigned, so its zero point is -2 + 128. It belongs to the
// convolution if there is padding; else it is a constant times sums of weights.
// CHECK-LABEL: @convolutions
func.func @convolutions(%x: tensor<1x1x4xi8>) -> (tensor<1x2x4xi32>, tensor<1x2x2xi32>) {
  %w = arith.constant dense<[[[1, 2, 3]], [[4, 5, 6]]]> : tensor<2x1x3xui8>
  %z = arith.constant dense<-2> : tensor<i8>
  %wz = arith.constant dense<[1, 4]> : tensor<2xui8>
  // CHECK: %[[X:.*]] = nn.xor %{{.*}} -> tensor<1x1x4xui8>
  // CHECK: %[[W:.*]] = arith.constant dense<{{\[\[\[}}0, 1, 2]], {{\[\[}}0, 1, 2]]]> : tensor<2x1x3xi8>
  // CHECK: nn.conv %[[X]], %[[W]] {{{.*}}x_zero_point = 126 : i64} : (tensor<1x1x4xui8>, tensor<2x1x3xi8>) -> tensor<1x2x4xi32>
  %0 = onnx.node "ConvInteger"(%x, %w, %z, %wz) {pads = array<i64: 1, 1>} : (tensor<1x1x4xi8>, tensor<2x1x3xui8>, tensor<i8>, tensor<2xui8>) -> tensor<1x2x4xi32>
  // CHECK: nn.conv %{{.*}} {dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 0, 0>, strides = array<i64: 1>}
  // CHECK: arith.constant dense<378> : tensor<2x1xi32>
  // CHECK: nn.sub
  %1 = onnx.node "ConvInteger"(%x, %w, %z, %wz) : (tensor<1x1x4xi8>, tensor<2x1x3xui8>, tensor<i8>, tensor<2xui8>) -> tensor<1x2x2xi32>
  return %0, %1 : tensor<1x2x4xi32>, tensor<1x2x2xi32>
}
}

// -----

module attributes {onnx.opset_import = {ai.onnx = 24 : i64}} {

// 255 minus 1 is no signed byte. Of many such weights, all lose 128, and the remaining zero point counts once for each
// window's sum of data.
// CHECK-LABEL: @unsigned_weights
func.func @unsigned_weights(%x: tensor<1x1x4xui8>) -> tensor<1x2x4xi32> {
  %w = arith.constant dense<[[[1, 2, 255, 254, 253]], [[250, 240, 6, 7, 8]]]> : tensor<2x1x5xui8>
  %z = arith.constant dense<7> : tensor<ui8>
  %wz = arith.constant dense<1> : tensor<ui8>
  // CHECK: %[[W:.*]] = arith.constant dense<{{\[\[\[}}-127, -126, 127, 126, 125]], {{\[\[}}122, 112, -122, -121, -120]]]> : tensor<2x1x5xi8>
  // CHECK: %[[ZERO:.*]] = arith.constant dense<-127> : tensor<i32>
  // CHECK: %[[Y:.*]] = nn.conv %[[X:.*]], %[[W]] {{{.*}}x_zero_point = 7 : i64} : (tensor<1x1x4xui8>, tensor<2x1x5xi8>) -> tensor<1x2x4xi32>
  // CHECK: %[[ONES:.*]] = arith.constant dense<1> : tensor<1x1x5xi8>
  // CHECK: %[[SUMS:.*]] = nn.conv %[[X]], %[[ONES]] {{{.*}}x_zero_point = 7 : i64} : (tensor<1x1x4xui8>, tensor<1x1x5xi8>) -> tensor<1x1x4xi32>
  // CHECK: %[[LESS:.*]] = nn.mul %[[SUMS]], %[[ZERO]] : tensor<1x1x4xi32>, tensor<i32> -> tensor<1x1x4xi32>
  // CHECK: nn.sub %[[Y]], %[[LESS]]
  %0 = onnx.node "ConvInteger"(%x, %w, %z, %wz) {pads = array<i64: 2, 2>} : (tensor<1x1x4xui8>, tensor<2x1x5xui8>, tensor<ui8>, tensor<ui8>) -> tensor<1x2x4xi32>
  return %0 : tensor<1x2x4xi32>
}
}

// -----

module attributes {onnx.opset_import = {ai.onnx = 24 : i64}} {

// A few such weights are bounded. The remainder of output 0 is multiplied by the data of its channel under its tap.
// CHECK-LABEL: @few_unsigned_weights
func.func @few_unsigned_weights(%x: tensor<1x2x8xui8>) -> tensor<1x2x4xi32> {
  %w = arith.constant dense<[[[1, 2, 3], [4, 5, 255]], [[4, 5, 6], [7, 8, 9]]]> : tensor<2x2x3xui8>
  %z = arith.constant dense<7> : tensor<ui8>
  %wz = arith.constant dense<1> : tensor<ui8>
  // CHECK: %[[W:.*]] = arith.constant dense<{{.*}}[3, 4, 127]]{{.*}}> : tensor<2x2x3xi8>
  // CHECK: %[[Y:.*]] = nn.conv %[[X:.*]], %[[W]] {{{.*}}x_zero_point = 7 : i64}
  // CHECK: %[[ONE:.*]] = nn.slice %[[X]] {sizes = array<i64: 1, 1, 8>, starts = array<i64: 0, 1, 0>, steps = array<i64: 1, 1, 1>}
  // CHECK: %[[ZERO:.*]] = arith.constant dense<7> : tensor<ui8>
  // CHECK: %[[PADDED:.*]] = nn.pad constant %[[ONE]] value(%[[ZERO]])
  // CHECK: %[[SEEN:.*]] = nn.slice %[[PADDED]] {sizes = array<i64: 1, 1, 4>, starts = array<i64: 0, 0, 2>, steps = array<i64: 1, 1, 2>}
  // CHECK: %[[WIDE:.*]] = nn.cast %[[SEEN]]
  // CHECK: %[[LESS:.*]] = nn.sub %[[WIDE]]
  // CHECK: %[[REST:.*]] = arith.constant dense<{{\[\[}}127], [0]]> : tensor<2x1xi32>
  // CHECK: %[[MORE:.*]] = nn.mul %[[LESS]], %[[REST]]
  // CHECK: nn.add %[[Y]], %[[MORE]]
  %0 = onnx.node "ConvInteger"(%x, %w, %z, %wz) {pads = array<i64: 1, 1>, strides = array<i64: 2>} : (tensor<1x2x8xui8>, tensor<2x2x3xui8>, tensor<ui8>, tensor<ui8>) -> tensor<1x2x4xi32>
  return %0 : tensor<1x2x4xi32>
}
}

// -----

module attributes {onnx.opset_import = {ai.onnx = 24 : i64}} {

// Matrices are split in the same way. Sums of fewer than four terms for each place are cheaper.
// CHECK-LABEL: @few_unsigned_columns
func.func @few_unsigned_columns(%x: tensor<?x4xui8>, %y: tensor<?x3xui8>) -> (tensor<?x2xi32>, tensor<?x2xi32>) {
  %w = arith.constant dense<[[1, 2], [3, 0], [255, 6], [7, 8]]> : tensor<4x2xui8>
  %v = arith.constant dense<[[1, 2], [3, 0], [255, 6]]> : tensor<3x2xui8>
  %z = arith.constant dense<7> : tensor<ui8>
  %wz = arith.constant dense<1> : tensor<ui8>
  // CHECK: %[[W:.*]] = arith.constant dense<{{\[\[}}0, 1], [2, -1], [127, 5], [6, 7]]> : tensor<4x2xi8>
  // CHECK: nn.matmul %arg0, %[[W]]
  // CHECK: %[[SUMS:.*]] = nn.sub
  // CHECK: %[[SEEN:.*]] = nn.slice %arg0 {sizes = array<i64: -1, 1>, starts = array<i64: 0, 2>, steps = array<i64: 1, 1>}
  // CHECK: %[[WIDE:.*]] = nn.cast %[[SEEN]]
  // CHECK: %[[LESS:.*]] = nn.sub %[[WIDE]]
  // CHECK: %[[REST:.*]] = arith.constant dense<[127, 0]> : tensor<2xi32>
  // CHECK: %[[MORE:.*]] = nn.mul %[[LESS]], %[[REST]]
  // CHECK: nn.add %[[SUMS]], %[[MORE]]
  %0 = onnx.node "MatMulInteger"(%x, %w, %z, %wz) : (tensor<?x4xui8>, tensor<4x2xui8>, tensor<ui8>, tensor<ui8>) -> tensor<?x2xi32>
  // CHECK-NOT: nn.slice
  // CHECK: nn.reduce sum %{{.*}} {axes = array<i64: 1>, keep_dims}
  %1 = onnx.node "MatMulInteger"(%y, %v, %z, %wz) : (tensor<?x3xui8>, tensor<3x2xui8>, tensor<ui8>, tensor<ui8>) -> tensor<?x2xi32>
  return %0, %1 : tensor<?x2xi32>, tensor<?x2xi32>
}
}

// -----

// Groups are multiplied as floats, which hold all sums. So are groups of few
// channels, but not single channels.

module attributes {onnx.opset_import = {ai.onnx = 24 : i64}} {
// CHECK-LABEL: @groups
func.func @groups(%x: tensor<1x10x4xui8>, %u: tensor<10x5x1xui8>, %small: tensor<1x4x4xi8>) -> (tensor<1x10x4xi32>, tensor<1x4x4xi32>, tensor<1x4x4xi32>, tensor<1x10x4xi32>) {
  %w = arith.constant dense<255> : tensor<10x5x1xui8>
  %z = arith.constant dense<7> : tensor<ui8>
  %wz = arith.constant dense<1> : tensor<ui8>
  // CHECK-DAG: %[[W:.*]] = arith.constant dense<2.540000e+02> : tensor<10x5x1xf32>
  // CHECK-DAG: %[[F:.*]] = nn.cast %arg0 : tensor<1x10x4xui8> -> tensor<1x10x4xf32>
  // CHECK: %[[X:.*]] = nn.sub %[[F]], %{{.*}} : tensor<1x10x4xf32>, tensor<f32>
  // CHECK: %[[Y:.*]] = nn.conv %[[X]], %[[W]] {{{.*}}groups = 2 : i64, ingot.precision = #ingot.precision<fp32>{{.*}}} : (tensor<1x10x4xf32>, tensor<10x5x1xf32>) -> tensor<1x10x4xf32>
  // CHECK: nn.cast %[[Y]] {in_range} : tensor<1x10x4xf32> -> tensor<1x10x4xi32>
  %0 = onnx.node "ConvInteger"(%x, %w, %z, %wz) {group = 2 : i64} : (tensor<1x10x4xui8>, tensor<10x5x1xui8>, tensor<ui8>, tensor<ui8>) -> tensor<1x10x4xi32>
  %two = arith.constant dense<3> : tensor<4x2x1xi8>
  %one = arith.constant dense<3> : tensor<4x1x1xi8>
  // CHECK: nn.conv {{.*}} : (tensor<1x4x4xf32>, tensor<4x2x1xf32>) -> tensor<1x4x4xf32>
  %1 = onnx.node "ConvInteger"(%small, %two) {group = 2 : i64} : (tensor<1x4x4xi8>, tensor<4x2x1xi8>) -> tensor<1x4x4xi32>
  // CHECK: nn.conv {{.*}} : (tensor<1x4x4xui8>, tensor<4x1x1xi8>) -> tensor<1x4x4xi32>
  %2 = onnx.node "ConvInteger"(%small, %one) {group = 4 : i64} : (tensor<1x4x4xi8>, tensor<4x1x1xi8>) -> tensor<1x4x4xi32>
  // CHECK: nn.conv {{.*}} : (tensor<1x10x4xi32>, tensor<10x5x1xi32>) -> tensor<1x10x4xi32>
  %3 = onnx.node "ConvInteger"(%x, %u, %z, %wz) {group = 2 : i64} : (tensor<1x10x4xui8>, tensor<10x5x1xui8>, tensor<ui8>, tensor<ui8>) -> tensor<1x10x4xi32>
  return %0, %1, %2, %3 : tensor<1x10x4xi32>, tensor<1x4x4xi32>, tensor<1x4x4xi32>, tensor<1x10x4xi32>
}
}

// -----

module attributes {onnx.opset_import = {ai.onnx = 24 : i64}} {
// Single channels of bytes whose sums f32 does not hold: parts of the window are
// convolutions of floats. Pads shrink by the rows of taps that a part leaves out.
// Without pads, these rows are zeros.
// CHECK-LABEL: @long_windows
func.func @long_windows(%x: tensor<1x2x24x24xui8>) -> (tensor<1x2x24x24xi32>, tensor<1x2x2x2xi32>, tensor<1x2x2x2xi32>) {
  %w = arith.constant dense<127> : tensor<2x1x23x23xi8>
  // CHECK: nn.conv {{.*}}ingot.precision = {{.*}}fp32{{.*}}pads = array<i64: 11, 11, 0, 11>{{.*}} : (tensor<1x2x24x24xf32>, tensor<2x1x12x23xf32>) -> tensor<1x2x24x24xf32>
  // CHECK: nn.conv {{.*}}pads = array<i64: 0, 11, 11, 11>{{.*}} : (tensor<1x2x24x24xf32>, tensor<2x1x12x23xf32>) -> tensor<1x2x24x24xf32>
  // CHECK: nn.add {{.*}} tensor<1x2x24x24xi32>
  %0 = onnx.node "ConvInteger"(%x, %w) {group = 2 : i64, pads = array<i64: 11, 11, 11, 11>} : (tensor<1x2x24x24xui8>, tensor<2x1x23x23xi8>) -> tensor<1x2x24x24xi32>
  // CHECK-COUNT-2: (tensor<1x2x24x24xf32>, tensor<2x1x23x23xf32>) -> tensor<1x2x2x2xf32>
  %1 = onnx.node "ConvInteger"(%x, %w) {group = 2 : i64} : (tensor<1x2x24x24xui8>, tensor<2x1x23x23xi8>) -> tensor<1x2x2x2xi32>
  // Must not fire: smaller sums.
  // CHECK: nn.conv %arg0, {{.*}} : (tensor<1x2x24x24xui8>, tensor<2x1x23x23xi8>) -> tensor<1x2x2x2xi32>
  %small = arith.constant dense<7> : tensor<2x1x23x23xi8>
  %2 = onnx.node "ConvInteger"(%x, %small) {group = 2 : i64} : (tensor<1x2x24x24xui8>, tensor<2x1x23x23xi8>) -> tensor<1x2x2x2xi32>
  return %0, %1, %2 : tensor<1x2x24x24xi32>, tensor<1x2x2x2xi32>, tensor<1x2x2x2xi32>
}
}

// -----

module attributes {onnx.opset_import = {ai.onnx = 24 : i64}} {
func.func @wrong(%x: tensor<2x3xf32>, %s: tensor<2xf32>, %z: tensor<3xui8>, %s3: tensor<3xf32>, %d: tensor<2x?xf32>) -> tensor<2x3xui8> {
  // expected-error @+1 {{QuantizeLinear (opset 24) is invalid: expects 3 scales, but got 2}}
  %0 = onnx.node "QuantizeLinear"(%x, %s) : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xui8>
  // expected-error @+1 {{QuantizeLinear (opset 24) is invalid: scale and zero point have different shapes}}
  %1 = onnx.node "QuantizeLinear"(%x, %s, %z) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2xf32>, tensor<3xui8>) -> tensor<2x3xui8>
  // expected-error @+1 {{QuantizeLinear (opset 24) is invalid: the zero point is of no type to quantize to}}
  %2 = onnx.node "QuantizeLinear"(%x, %s3) {output_dtype = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // expected-error @+1 {{QuantizeLinear (opset 24) is not supported: blocks with a dynamic dimension; fix it with --shape}}
  %3 = onnx.node "QuantizeLinear"(%d, %x) {block_size = 2 : i64} : (tensor<2x?xf32>, tensor<2x3xf32>) -> tensor<2x?xui8>
  return %1 : tensor<2x3xui8>
}
}

// -----

module attributes {onnx.opset_import = {ai.onnx = 24 : i64}} {
func.func @scales(%x: tensor<2x3xf32>, %b: tensor<2x3xui8>, %w: tensor<3x4xi8>, %z: tensor<ui8>, %wz: tensor<i8>) -> tensor<2x4xui8> {
  %none = arith.constant dense<0.0> : tensor<f32>
  %less = arith.constant dense<[1.0, 0x7f800000, 1.0]> : tensor<3xf32>
  %nan = arith.constant dense<0x7fc00000> : tensor<f32>
  %one = arith.constant dense<1.0> : tensor<f32>
  // expected-error @+1 {{QuantizeLinear (opset 24) is invalid: 'scale' is 0.000000, but must be finite and above 0}}
  %0 = onnx.node "QuantizeLinear"(%x, %none) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xui8>
  // expected-error @+1 {{DequantizeLinear (opset 24) is invalid: 'scale' is inf at [1], but must be finite}}
  %1 = onnx.node "DequantizeLinear"(%b, %less) {axis = 1 : i64} : (tensor<2x3xui8>, tensor<3xf32>) -> tensor<2x3xf32>
  // expected-error @+1 {{QLinearMatMul (opset 24) is invalid: 'input 6' is nan, but must be finite and above 0}}
  %2 = onnx.node "QLinearMatMul"(%b, %one, %z, %w, %one, %wz, %nan, %z) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x4xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<2x4xui8>
  return %2 : tensor<2x4xui8>
}
}

// -----

// f32 holds sums below 2^24, here of 65 weights of 127. Their products with a
// scale stay normal if the scale is at least 2^-21, or the products are 0.

module attributes {onnx.opset_import = {ai.onnx = 24 : i64}} {
// CHECK-LABEL: func.func @requantized(
func.func @requantized(%x: tensor<2x65xui8>, %y: tensor<2x650xui8>) -> (tensor<2x2xui8>, tensor<2x2xui8>, tensor<2x2xui8>, tensor<2x2xui8>, tensor<2x2xui8>) {
  %one = arith.constant dense<1.0> : tensor<f32>
  %z = arith.constant dense<0> : tensor<ui8>
  %wz = arith.constant dense<0> : tensor<i8>
  %w = arith.constant dense<127> : tensor<65x2xi8>
  %large = arith.constant dense<127> : tensor<650x2xi8>
  %signs = arith.constant dense<1> : tensor<65x2xi8>
  %usual = arith.constant dense<[1.0e-3, 0.01]> : tensor<2xf32>
  %small = arith.constant dense<[2.0e-7, 0.01]> : tensor<2xf32>
  %most = arith.constant dense<[1.0, 1.1]> : tensor<2xf32>
  // Sums that f32 holds are added as floats.
  // CHECK: nn.requantize {{.*}} {fits_f32} : tensor<2x2xf32>
  %0 = onnx.node "QLinearMatMul"(%x, %one, %z, %w, %usual, %wz, %one, %z) : (tensor<2x65xui8>, tensor<f32>, tensor<ui8>, tensor<65x2xi8>, tensor<2xf32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<2x2xui8>
  // CHECK: nn.requantize %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} : tensor<2x2xi32>
  %1 = onnx.node "QLinearMatMul"(%x, %one, %z, %w, %small, %wz, %one, %z) : (tensor<2x65xui8>, tensor<f32>, tensor<ui8>, tensor<65x2xi8>, tensor<2xf32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<2x2xui8>
  // CHECK: nn.requantize {{.*}} {fits_f32}
  %2 = onnx.node "QLinearMatMul"(%x, %one, %z, %signs, %small, %wz, %one, %z) : (tensor<2x65xui8>, tensor<f32>, tensor<ui8>, tensor<65x2xi8>, tensor<2xf32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<2x2xui8>
  // CHECK: nn.requantize %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} : tensor<2x2xi32>
  %3 = onnx.node "QLinearMatMul"(%x, %one, %z, %w, %most, %wz, %one, %z) : (tensor<2x65xui8>, tensor<f32>, tensor<ui8>, tensor<65x2xi8>, tensor<2xf32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<2x2xui8>
  // CHECK: nn.requantize %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} : tensor<2x2xi32>
  %4 = onnx.node "QLinearMatMul"(%y, %one, %z, %large, %usual, %wz, %one, %z) : (tensor<2x650xui8>, tensor<f32>, tensor<ui8>, tensor<650x2xi8>, tensor<2xf32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<2x2xui8>
  return %0, %1, %2, %3, %4 : tensor<2x2xui8>, tensor<2x2xui8>, tensor<2x2xui8>, tensor<2x2xui8>, tensor<2x2xui8>
}
}

// -----

// Floats of at most eight bits: an elementwise division and a cast. A zero
// point of 0 only gives the type. A computed one is added.

module attributes {onnx.opset_import = {ai.onnx = 24 : i64}} {
// CHECK-LABEL: func.func @tiny_floats(
func.func @tiny_floats(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %z: tensor<3xf8E5M2>, %q: tensor<2x3xf4E2M1FN>, %p: tensor<3xf8E8M0FNU>) -> (tensor<2x3xf8E4M3FN>, tensor<2x3xf8E5M2>, tensor<2x3xf16>) {
  // CHECK: %[[D:.*]] = nn.div %{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<3xf32>
  // CHECK-NEXT: nn.cast %[[D]] {saturate} : tensor<2x3xf32> -> tensor<2x3xf8E4M3FN>
  %0 = onnx.node "QuantizeLinear"(%x, %s) {output_dtype = 17 : i64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf8E4M3FN>
  // CHECK: nn.select
  // CHECK: nn.cast %{{.*}} : tensor<2x3xf32> -> tensor<2x3xf8E5M2>
  %1 = onnx.node "QuantizeLinear"(%x, %s, %z) {saturate = 0 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf8E5M2>) -> tensor<2x3xf8E5M2>
  // Products with 2^-127 are not normal in f32.
  // CHECK: nn.mul %{{.*}}, %{{.*}} : tensor<2x3xf64>, tensor<3xf64>
  // CHECK-NEXT: nn.cast %{{.*}} : tensor<2x3xf64> -> tensor<2x3xf16>
  %2 = onnx.node "DequantizeLinear"(%q, %p) {output_dtype = 10 : i64} : (tensor<2x3xf4E2M1FN>, tensor<3xf8E8M0FNU>) -> tensor<2x3xf16>
  return %0, %1, %2 : tensor<2x3xf8E4M3FN>, tensor<2x3xf8E5M2>, tensor<2x3xf16>
}
}

// -----

// Data has a single zero point; weights have at most one per channel.

module attributes {onnx.opset_import = {ai.onnx = 24 : i64}} {
func.func @zero_points(%x: tensor<1x2x3x4xui8>, %w: tensor<1x2x3x4xui8>, %z: tensor<1x2x3x4xui8>, %one: tensor<ui8>) {
  // expected-error @+1 {{ConvInteger (opset 24) is invalid: data and weights need one rank of at least 3}}
  %0 = onnx.node "ConvInteger"(%one, %one, %one) : (tensor<ui8>, tensor<ui8>, tensor<ui8>) -> tensor<*xi32>
  // expected-error @+1 {{ConvInteger (opset 24) is not supported: a zero point of more than one element for input 2}}
  %1 = onnx.node "ConvInteger"(%x, %w, %z) : (tensor<1x2x3x4xui8>, tensor<1x2x3x4xui8>, tensor<1x2x3x4xui8>) -> tensor<*xi32>
  // expected-error @+1 {{ConvInteger (opset 24) is not supported: a zero point of rank 4 for input 3}}
  %2 = onnx.node "ConvInteger"(%x, %w, %one, %z) : (tensor<1x2x3x4xui8>, tensor<1x2x3x4xui8>, tensor<ui8>, tensor<1x2x3x4xui8>) -> tensor<*xi32>
  return
}

func.func @complex(%x: tensor<1x5x5xcomplex<f32>>) {
  %image = arith.constant dense<5> : tensor<2xi64>
  %block = arith.constant dense<[1, 5]> : tensor<2xi64>
  // expected-error @+1 {{Col2Im (opset 24) is not supported: input of complex numbers}}
  %0 = onnx.node "Col2Im"(%x, %image, %block) : (tensor<1x5x5xcomplex<f32>>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xcomplex<f32>>
  return
}
}
