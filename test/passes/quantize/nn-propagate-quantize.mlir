// RUN: ingot-opt --nn-propagate-quantize --split-input-file %s | FileCheck %s

// Pools, transposes and slices move bytes. If scales of input and output are equal, nothing is dequantized.
// CHECK-LABEL: @movement
// CHECK-SAME: (%[[X:.*]]: tensor<1x2x4x4xui8>)
func.func @movement(%x: tensor<1x2x4x4xui8>) -> tensor<1x4x2x2xui8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<ui8>
  %0 = nn.dequantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xf32>
  // CHECK: %[[P:.*]] = nn.max_pool %[[X]] {{.*}} : tensor<1x2x4x4xui8> -> tensor<1x2x4x4xui8>
  %1 = nn.max_pool %0 {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : tensor<1x2x4x4xf32> -> tensor<1x2x4x4xf32>
  // CHECK: %[[T:.*]] = nn.transpose %[[P]] {{.*}} tensor<1x4x4x2xui8>
  %2 = nn.transpose %1 {perm = array<i64: 0, 2, 3, 1>} : tensor<1x2x4x4xf32> -> tensor<1x4x4x2xf32>
  // CHECK: %[[S:.*]] = nn.slice %[[T]]
  %3 = nn.slice %2 {starts = array<i64: 0, 0, 0, 0>, sizes = array<i64: 1, 4, 2, 2>, steps = array<i64: 1, 1, 2, 1>} : tensor<1x4x4x2xf32> -> tensor<1x4x2x2xf32>
  // CHECK-NOT: quantize
  // CHECK: return %[[S]]
  %4 = nn.quantize %3, %s zero_point(%z) {axis = 0 : i64} : (tensor<1x4x2x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x4x2x2xui8>
  return %4 : tensor<1x4x2x2xui8>
}

// -----

// Bytes with equal scales are concatenated directly; others are quantized
// first.
// CHECK-LABEL: @joins
func.func @joins(%x: tensor<2xui8>, %y: tensor<3xui8>) -> (tensor<5xf32>, tensor<5xui8>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %t = arith.constant dense<0.25> : tensor<f32>
  %0 = nn.dequantize %x, %s {axis = 0 : i64} : (tensor<2xui8>, tensor<f32>) -> tensor<2xf32>
  %1 = nn.dequantize %y, %s {axis = 0 : i64} : (tensor<3xui8>, tensor<f32>) -> tensor<3xf32>
  %2 = nn.dequantize %y, %t {axis = 0 : i64} : (tensor<3xui8>, tensor<f32>) -> tensor<3xf32>
  // CHECK: %[[J:.*]] = nn.concat %arg0, %arg1 {{.*}} -> tensor<5xui8>
  // CHECK: nn.dequantize %[[J]]
  %3 = nn.concat %0, %1 {axis = 0 : i64} : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  // CHECK: %[[Q:.*]] = nn.quantize {{.*}} -> tensor<3xui8>
  // CHECK: nn.concat %arg0, %[[Q]] {{.*}} -> tensor<5xui8>
  %4 = nn.concat %0, %2 {axis = 0 : i64} : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  %5 = nn.quantize %4, %s {axis = 0 : i64} : (tensor<5xf32>, tensor<f32>) -> tensor<5xui8>
  return %3, %5 : tensor<5xf32>, tensor<5xui8>
}

// -----

// Must not fire: padding needs a byte for its value.
// CHECK-LABEL: @pads
func.func @pads(%x: tensor<2xui8>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<ui8>
  %one = arith.constant dense<1.0> : tensor<f32>
  %third = arith.constant dense<0.3> : tensor<f32>
  %0 = nn.dequantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<2xui8>, tensor<f32>, tensor<ui8>) -> tensor<2xf32>
  // CHECK: %[[V:.*]] = arith.constant dense<5> : tensor<ui8>
  // CHECK: nn.pad constant %arg0 value(%[[V]]) {{.*}} -> tensor<4xui8>
  %1 = nn.pad constant %0 value(%one) {high = array<i64: 1>, low = array<i64: 1>} : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: nn.pad {{.*}} -> tensor<4xf32>
  %2 = nn.pad constant %0 value(%third) {high = array<i64: 1>, low = array<i64: 1>} : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// -----

// The smallest byte is 0 in one place and -1.5 in the other, so that the second relu has an effect.
// CHECK-LABEL: @relu
func.func @relu(%x: tensor<2xf32>) -> (tensor<2xui8>, tensor<2xui8>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<ui8>
  // CHECK: nn.quantize %arg0
  %0 = nn.relu %x : tensor<2xf32> -> tensor<2xf32>
  %1 = nn.quantize %0, %s {axis = 0 : i64} : (tensor<2xf32>, tensor<f32>) -> tensor<2xui8>
  // CHECK: %[[R:.*]] = nn.relu
  // CHECK: nn.quantize %[[R]]
  %2 = nn.relu %x : tensor<2xf32> -> tensor<2xf32>
  %3 = nn.quantize %2, %s zero_point(%z) {axis = 0 : i64} : (tensor<2xf32>, tensor<f32>, tensor<ui8>) -> tensor<2xui8>
  return %1, %3 : tensor<2xui8>, tensor<2xui8>
}

// -----

// The relu between bytes and a product works on bytes; a user of floats keeps its own relu.
// CHECK-LABEL: @relu_of_bytes
func.func @relu_of_bytes(%x: tensor<3x2xui8>, %w: tensor<2x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<ui8>
  // CHECK: %[[C:.*]] = nn.clamp %arg0 {max = 0x7FF0000000000000 : f64, min = 3.000000e+00 : f64} : tensor<3x2xui8>
  // CHECK: %[[D:.*]] = nn.dequantize %[[C]]
  // CHECK: nn.matmul %[[D]]
  %0 = nn.dequantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<3x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<3x2xf32>
  %1 = nn.relu %0 : tensor<3x2xf32> -> tensor<3x2xf32>
  %2 = nn.matmul %1, %w : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  // No value is below 0.
  // CHECK: %[[E:.*]] = nn.dequantize %arg0
  // CHECK: nn.matmul %[[E]]
  %3 = nn.dequantize %x, %s {axis = 0 : i64} : (tensor<3x2xui8>, tensor<f32>) -> tensor<3x2xf32>
  %4 = nn.relu %3 : tensor<3x2xf32> -> tensor<3x2xf32>
  %5 = nn.matmul %4, %w : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  // CHECK: nn.relu
  %6 = nn.dequantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<3x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<3x2xf32>
  %7 = nn.relu %6 : tensor<3x2xf32> -> tensor<3x2xf32>
  %8 = nn.tanh %7 : tensor<3x2xf32> -> tensor<3x2xf32>
  return %2, %5, %8 : tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>
}

// -----

// Signed bytes become unsigned where no result of the model shows them; a
// result keeps its sign.
// CHECK-LABEL: @signs
func.func @signs(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi8>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-3> : tensor<i8>
  // CHECK-DAG: %[[Z:.*]] = arith.constant dense<125> : tensor<ui8>
  // CHECK: %[[Q:.*]] = nn.quantize %arg0, %{{.*}} zero_point(%{{.*}}) {{.*}} -> tensor<2xui8>
  // CHECK: nn.dequantize %[[Q]]
  %0 = nn.quantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<2xf32>, tensor<f32>, tensor<i8>) -> tensor<2xi8>
  %1 = nn.dequantize %0, %s zero_point(%z) {axis = 0 : i64} : (tensor<2xi8>, tensor<f32>, tensor<i8>) -> tensor<2xf32>
  // CHECK: nn.quantize {{.*}} -> tensor<2xi8>
  %2 = nn.quantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<2xf32>, tensor<f32>, tensor<i8>) -> tensor<2xi8>
  return %1, %2 : tensor<2xf32>, tensor<2xi8>
}

// -----

// int16 values become signed; kernels have no maximum of int16.
// CHECK-LABEL: @words
func.func @words(%x: tensor<1x1x2xf32>) -> (tensor<1x1x1xf32>, tensor<1x1x2xui16>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<32771> : tensor<ui16>
  // CHECK-DAG: %[[Z:.*]] = arith.constant dense<3> : tensor<i16>
  // CHECK: %[[Q:.*]] = nn.quantize %arg0, %{{.*}} zero_point(%{{.*}}) {{.*}} -> tensor<1x1x2xi16>
  // CHECK: %[[D:.*]] = nn.dequantize %[[Q]]
  // CHECK: nn.max_pool %[[D]]
  %0 = nn.quantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<1x1x2xf32>, tensor<f32>, tensor<ui16>) -> tensor<1x1x2xui16>
  %1 = nn.dequantize %0, %s zero_point(%z) {axis = 0 : i64} : (tensor<1x1x2xui16>, tensor<f32>, tensor<ui16>) -> tensor<1x1x2xf32>
  %2 = nn.max_pool %1 {dilations = array<i64: 1>, kernel = array<i64: 2>, pads = array<i64: 0, 0>, strides = array<i64: 1>} : tensor<1x1x2xf32> -> tensor<1x1x1xf32>
  // CHECK: nn.quantize {{.*}} -> tensor<1x1x2xui16>
  %3 = nn.quantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<1x1x2xf32>, tensor<f32>, tensor<ui16>) -> tensor<1x1x2xui16>
  return %2, %3 : tensor<1x1x1xf32>, tensor<1x1x2xui16>
}

// -----

// Weights move with their scale per output.
// CHECK-LABEL: @weights
func.func @weights() -> (tensor<3x2xf32>, tensor<2x3x1xf32>) {
  %w = arith.constant dense<1> : tensor<2x3xi8>
  %s = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %0 = nn.dequantize %w, %s {axis = 0 : i64} : (tensor<2x3xi8>, tensor<2xf32>) -> tensor<2x3xf32>
  // CHECK: %[[T:.*]] = nn.transpose %{{.*}} -> tensor<3x2xi8>
  // CHECK: nn.dequantize %[[T]], %{{.*}} {axis = 1 : i64}
  %1 = nn.transpose %0 {perm = array<i64: 1, 0>} : tensor<2x3xf32> -> tensor<3x2xf32>
  // CHECK: %[[R:.*]] = nn.reshape %{{.*}} -> tensor<2x3x1xi8>
  // CHECK: nn.dequantize %[[R]], %{{.*}} {axis = 0 : i64}
  %2 = nn.reshape %0 : tensor<2x3xf32> -> tensor<2x3x1xf32>
  return %1, %2 : tensor<3x2xf32>, tensor<2x3x1xf32>
}

// -----

// Scales and zero points of blocks are looked up and repeated for the elements
// of each block.
// CHECK-LABEL: @lookup_blocks
func.func @lookup_blocks(%ids: tensor<?xi64>) -> tensor<?x5xf32> {
  // CHECK: %[[BLOCK:.*]] = arith.constant dense<[0, 0, 0, 1, 1]> : tensor<5xi64>
  %w = arith.constant dense<1> : tensor<3x5xsi8>
  %s = arith.constant dense<[[0.5, 0.25], [1.0, 2.0], [3.0, 4.0]]> : tensor<3x2xf32>
  %z = arith.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xsi8>
  %0 = nn.dequantize_blocks %w, %s zero_point(%z) {axis = 1 : i64, block_size = 3 : i64} : (tensor<3x5xsi8>, tensor<3x2xf32>, tensor<3x2xsi8>) -> tensor<3x5xf32>
  // CHECK: nn.gather %{{.*}}, %arg0 {axis = 0 : i64} : (tensor<3x5xsi8>, tensor<?xi64>) -> tensor<?x5xsi8>
  // CHECK: %[[Z:.*]] = nn.gather %{{.*}}, %arg0 {axis = 0 : i64} : (tensor<3x2xsi8>, tensor<?xi64>) -> tensor<?x2xsi8>
  // CHECK: nn.gather %[[Z]], %{{.*}} {axis = 1 : i64} : (tensor<?x2xsi8>, tensor<5xi64>) -> tensor<?x5xsi8>
  // CHECK: %[[D:.*]] = nn.sub
  // CHECK: %[[S:.*]] = nn.gather %{{.*}}, %arg0 {axis = 0 : i64} : (tensor<3x2xf32>, tensor<?xi64>) -> tensor<?x2xf32>
  // CHECK: %[[R:.*]] = nn.gather %[[S]], %{{.*}} {axis = 1 : i64} : (tensor<?x2xf32>, tensor<5xi64>) -> tensor<?x5xf32>
  // CHECK: nn.mul %[[D]], %[[R]]
  %1 = nn.gather %0, %ids {axis = 0 : i64} : (tensor<3x5xf32>, tensor<?xi64>) -> tensor<?x5xf32>
  return %1 : tensor<?x5xf32>
}

// -----

// Scales of whole blocks broadcast to the elements of their blocks.
// CHECK-LABEL: @lookup_whole_blocks
func.func @lookup_whole_blocks(%ids: tensor<?xi64>) -> tensor<?x6xf32> {
  %w = arith.constant dense<1> : tensor<3x6xsi8>
  %s = arith.constant dense<[[0.5, 0.25], [1.0, 2.0], [3.0, 4.0]]> : tensor<3x2xf32>
  %z = arith.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xsi8>
  %0 = nn.dequantize_blocks %w, %s zero_point(%z) {axis = 1 : i64, block_size = 3 : i64} : (tensor<3x6xsi8>, tensor<3x2xf32>, tensor<3x2xsi8>) -> tensor<3x6xf32>
  // CHECK: %[[X:.*]] = nn.gather {{.*}} -> tensor<?x6xsi8>
  // CHECK: nn.reshape %[[X]] : tensor<?x6xsi8> -> tensor<?x2x3xsi8>
  // CHECK: %[[Z:.*]] = nn.gather {{.*}} -> tensor<?x2xsi8>
  // CHECK: nn.reshape %[[Z]] : tensor<?x2xsi8> -> tensor<?x2x1xsi8>
  // CHECK: %[[S:.*]] = nn.gather {{.*}} -> tensor<?x2xf32>
  // CHECK: nn.reshape %[[S]] : tensor<?x2xf32> -> tensor<?x2x1xf32>
  // CHECK: %[[Y:.*]] = nn.mul {{.*}} -> tensor<?x2x3xf32>
  // CHECK: nn.reshape %[[Y]] : tensor<?x2x3xf32> -> tensor<?x6xf32>
  %1 = nn.gather %0, %ids {axis = 0 : i64} : (tensor<3x6xf32>, tensor<?xi64>) -> tensor<?x6xf32>
  return %1 : tensor<?x6xf32>
}

// -----

// A lookup of rows also looks up their scales and zero points, so that the
// table stays in bytes. A scale along another dimension moves with it. A table
// that is computed stays.
// CHECK-LABEL: @lookup
func.func @lookup(%ids: tensor<4x5xi64>, %x: tensor<3x2xsi8>) -> (tensor<4x5x2xf32>, tensor<4x5x2xf32>, tensor<4x5x2xf32>) {
  // CHECK: %[[W:.*]] = arith.constant dense<1> : tensor<3x2xsi8>
  %w = arith.constant dense<1> : tensor<3x2xsi8>
  %rows = arith.constant dense<[0.5, 0.25, 0.125]> : tensor<3xf32>
  %zeros = arith.constant dense<[1, 2, 3]> : tensor<3xsi8>
  %columns = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %0 = nn.dequantize %w, %rows zero_point(%zeros) {axis = 0 : i64} : (tensor<3x2xsi8>, tensor<3xf32>, tensor<3xsi8>) -> tensor<3x2xf32>
  %1 = nn.dequantize %w, %columns {axis = 1 : i64} : (tensor<3x2xsi8>, tensor<2xf32>) -> tensor<3x2xf32>
  %2 = nn.dequantize %x, %rows {axis = 0 : i64} : (tensor<3x2xsi8>, tensor<3xf32>) -> tensor<3x2xf32>
  // CHECK: %[[G:.*]] = nn.gather %[[W]], %arg0 {axis = 0 : i64} : (tensor<3x2xsi8>, tensor<4x5xi64>) -> tensor<4x5x2xsi8>
  // CHECK: %[[F:.*]] = nn.cast %[[G]]
  // CHECK: nn.gather %{{.*}} : (tensor<3x1xsi8>, tensor<4x5xi64>) -> tensor<4x5x1xsi8>
  // CHECK: %[[D:.*]] = nn.sub %[[F]]
  // CHECK: %[[S:.*]] = nn.gather %{{.*}} : (tensor<3x1xf32>, tensor<4x5xi64>) -> tensor<4x5x1xf32>
  // CHECK: nn.mul %[[D]], %[[S]]
  %3 = nn.gather %0, %ids {axis = 0 : i64} : (tensor<3x2xf32>, tensor<4x5xi64>) -> tensor<4x5x2xf32>
  // CHECK: %[[H:.*]] = nn.gather %[[W]], %arg0 {axis = 0 : i64} : (tensor<3x2xsi8>, tensor<4x5xi64>) -> tensor<4x5x2xsi8>
  // CHECK: nn.dequantize %[[H]], %{{.*}} {axis = 2 : i64} : (tensor<4x5x2xsi8>, tensor<2xf32>) -> tensor<4x5x2xf32>
  %4 = nn.gather %1, %ids {axis = 0 : i64} : (tensor<3x2xf32>, tensor<4x5xi64>) -> tensor<4x5x2xf32>
  // CHECK-NOT: nn.dequantize
  // CHECK: nn.gather %{{.*}} : (tensor<3x2xf32>, tensor<4x5xi64>) -> tensor<4x5x2xf32>
  %5 = nn.gather %2, %ids {axis = 0 : i64} : (tensor<3x2xf32>, tensor<4x5xi64>) -> tensor<4x5x2xf32>
  return %3, %4, %5 : tensor<4x5x2xf32>, tensor<4x5x2xf32>, tensor<4x5x2xf32>
}

// -----

// Must not fire: scales of rows would have to move with the rows.
// CHECK-LABEL: @rows
// CHECK: nn.dequantize %arg0
// CHECK: nn.reshape
func.func @rows(%x: tensor<2x3xui8>, %s: tensor<2x1xf32>, %z: tensor<2x1xui8>) -> tensor<6xf32> {
  %0 = nn.dequantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<2x3xui8>, tensor<2x1xf32>, tensor<2x1xui8>) -> tensor<2x3xf32>
  %1 = nn.reshape %0 : tensor<2x3xf32> -> tensor<6xf32>
  return %1 : tensor<6xf32>
}
