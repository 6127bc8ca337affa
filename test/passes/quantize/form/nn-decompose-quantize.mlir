// RUN: ingot-opt --nn-decompose-quantize --split-input-file %s | FileCheck %s

// Rounded to even, moved by the zero point, saturated.
// CHECK-LABEL: @quantize
// CHECK-SAME: (%[[X:.*]]: tensor<?x4x5xf32>, %[[S:.*]]: tensor<4xf32>, %[[Z:.*]]: tensor<4xui8>)
func.func @quantize(%x: tensor<?x4x5xf32>, %s: tensor<4xf32>, %z: tensor<4xui8>) -> tensor<?x4x5xui8> {
  // CHECK: %[[C:.*]] = nn.reshape %[[S]] : tensor<4xf32> -> tensor<4x1xf32>
  // CHECK: %[[D:.*]] = nn.div %[[X]], %[[C]]
  // CHECK: %[[R:.*]] = nn.round %[[D]]
  // CHECK: nn.cast %{{.*}} : tensor<4x1xui8> -> tensor<4x1xf32>
  // CHECK: %[[A:.*]] = nn.add %[[R]]
  // CHECK: %[[H:.*]] = nn.clamp %[[A]] {max = 2.550000e+02 : f64, min = 0.000000e+00 : f64}
  // CHECK: nn.cast %[[H]] {in_range} : tensor<?x4x5xf32> -> tensor<?x4x5xui8>
  %0 = nn.quantize %x, %s zero_point(%z) {axis = 1 : i64} : (tensor<?x4x5xf32>, tensor<4xf32>, tensor<4xui8>) -> tensor<?x4x5xui8>
  return %0 : tensor<?x4x5xui8>
}

// -----

// The difference is computed in i32, where it cannot wrap.
// CHECK-LABEL: @dequantize
func.func @dequantize(%x: tensor<3xi8>, %s: tensor<f32>, %z: tensor<i8>) -> tensor<3xf32> {
  // CHECK: nn.cast %arg0 : tensor<3xi8> -> tensor<3xi32>
  // CHECK: %[[D:.*]] = nn.sub %{{.*}} : tensor<3xi32>, tensor<i32>
  // CHECK: nn.cast %[[D]] : tensor<3xi32> -> tensor<3xf32>
  // CHECK: nn.mul
  %0 = nn.dequantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<3xi8>, tensor<f32>, tensor<i8>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// A zero point of 0 is dropped. A cast to a wide type takes two steps, since f32 does not hold its largest value.
// CHECK-LABEL: @zero
func.func @zero(%x: tensor<3xi8>, %y: tensor<3xf32>, %s: tensor<f32>) -> (tensor<3xf32>, tensor<3xi32>) {
  %z = arith.constant dense<0> : tensor<i8>
  // CHECK-NOT: nn.sub
  %0 = nn.dequantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<3xi8>, tensor<f32>, tensor<i8>) -> tensor<3xf32>
  // CHECK: nn.cast %{{.*}} : tensor<3xf32> -> tensor<3xi32>
  %1 = nn.quantize %y, %s {axis = 0 : i64} : (tensor<3xf32>, tensor<f32>) -> tensor<3xi32>
  return %0, %1 : tensor<3xf32>, tensor<3xi32>
}

// -----

// Constants are integers: the zero point moves into the bounds, which clamp the rounded value, and is added to
// integers.
// CHECK-LABEL: @constant
// CHECK: %[[D:.*]] = nn.div %arg0
// CHECK: %[[C:.*]] = nn.clamp %[[D]] {max = 2.520000e+02 : f64, min = -3.000000e+00 : f64}
// CHECK: %[[R:.*]] = nn.round %[[C]]
// CHECK: %[[I:.*]] = nn.cast %[[R]] {in_range} : tensor<3xf32> -> tensor<3xi32>
// CHECK: %[[Z:.*]] = arith.constant dense<3> : tensor<i32>
// CHECK: %[[A:.*]] = nn.add %[[I]], %[[Z]]
// CHECK: nn.cast %[[A]] {in_range} : tensor<3xi32> -> tensor<3xui8>
func.func @constant(%x: tensor<3xf32>) -> tensor<3xui8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<ui8>
  %0 = nn.quantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<3xf32>, tensor<f32>, tensor<ui8>) -> tensor<3xui8>
  return %0 : tensor<3xui8>
}

// -----

// int16 values whose users only read floats, also reshaped, stay floats.
// CHECK-LABEL: @words
// CHECK: %[[R:.*]] = nn.round
// CHECK: %[[M:.*]] = nn.mul %[[R]], %{{.*}}
// CHECK: %[[V:.*]] = nn.reshape %[[M]] : tensor<3xf32> -> tensor<1x3xf32>
// CHECK: return %[[V]]
func.func @words(%x: tensor<3xf32>) -> tensor<1x3xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i16>
  %0 = nn.quantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<3xf32>, tensor<f32>, tensor<i16>) -> tensor<3xi16>
  %1 = nn.reshape %0 : tensor<3xi16> -> tensor<1x3xi16>
  %2 = nn.dequantize %1, %s zero_point(%z) {axis = 0 : i64} : (tensor<1x3xi16>, tensor<f32>, tensor<i16>) -> tensor<1x3xf32>
  return %2 : tensor<1x3xf32>
}

// -----

// Must not fire: other users read the int16 values, so all users do.
// CHECK-LABEL: @shared
// CHECK: %[[W:.*]] = nn.cast %{{.*}} {in_range} : tensor<3xi32> -> tensor<3xi16>
// CHECK: nn.cast %[[W]] : tensor<3xi16> -> tensor<3xi32>
func.func @shared(%x: tensor<3xf32>) -> (tensor<3xi16>, tensor<3xf32>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i16>
  %0 = nn.quantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<3xf32>, tensor<f32>, tensor<i16>) -> tensor<3xi16>
  %1 = nn.dequantize %0, %s zero_point(%z) {axis = 0 : i64} : (tensor<3xi16>, tensor<f32>, tensor<i16>) -> tensor<3xf32>
  return %0, %1 : tensor<3xi16>, tensor<3xf32>
}

// -----

// int16 values are clamped if their source is not, apart from rounding in f32.
// A sigmoid by 1/65535 needs no bound. A product of two int16 values needs the
// bound on the side without room.
// CHECK-LABEL: @bounded
// CHECK: %[[S:.*]] = nn.sigmoid %arg0
// CHECK-NOT: nn.clamp
// CHECK: %[[R:.*]] = nn.round
// CHECK: %[[D:.*]] = nn.mul %[[R]]
// CHECK: nn.clamp %{{.*}} {max = 3.276700e+04 : f64, min = -3.276800e+04 : f64}
// CHECK: %[[V:.*]] = nn.round
// CHECK: %[[E:.*]] = nn.mul %[[V]]
// CHECK: %[[P:.*]] = nn.mul %[[D]], %[[E]]
// CHECK: %[[Q:.*]] = nn.div %[[P]]
// CHECK: nn.clamp %[[Q]] {max = 0x7FF0000000000000 : f64, min = -2.000000e+00 : f64}
func.func @bounded(%x: tensor<3xf32>) -> tensor<3xi16> {
  %s = arith.constant dense<1.52590218e-05> : tensor<f32>
  %z = arith.constant dense<-32768> : tensor<i16>
  %t = arith.constant dense<0.5> : tensor<f32>
  %one = arith.constant dense<-32766> : tensor<i16>
  %0 = nn.sigmoid %x : tensor<3xf32> -> tensor<3xf32>
  %1 = nn.quantize %0, %s zero_point(%z) {axis = 0 : i64} : (tensor<3xf32>, tensor<f32>, tensor<i16>) -> tensor<3xi16>
  %2 = nn.dequantize %1, %s zero_point(%z) {axis = 0 : i64} : (tensor<3xi16>, tensor<f32>, tensor<i16>) -> tensor<3xf32>
  %3 = nn.quantize %x, %t {axis = 0 : i64} : (tensor<3xf32>, tensor<f32>) -> tensor<3xi16>
  %4 = nn.dequantize %3, %t {axis = 0 : i64} : (tensor<3xi16>, tensor<f32>) -> tensor<3xf32>
  %5 = nn.mul %2, %4 : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>
  %6 = nn.quantize %5, %t zero_point(%one) {axis = 0 : i64} : (tensor<3xf32>, tensor<f32>, tensor<i16>) -> tensor<3xi16>
  return %6 : tensor<3xi16>
}

// -----

// A scale per channel becomes a constant along the channels.
// CHECK-LABEL: @channels
// CHECK: %[[S:.*]] = arith.constant dense<{{\[}}[5.000000e-01], [2.500000e-01]]> : tensor<2x1xf32>
// CHECK: nn.mul %{{.*}}, %[[S]]
func.func @channels(%x: tensor<2x3xi8>) -> tensor<2x3xf32> {
  %s = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %0 = nn.dequantize %x, %s {axis = 0 : i64} : (tensor<2x3xi8>, tensor<2xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// Bytes that only become floats, minus their zero point, are rounded floats.
// CHECK-LABEL: @cast
// CHECK: %[[R:.*]] = nn.round
// CHECK: nn.relu %[[R]]
func.func @cast(%x: tensor<3xf32>) -> tensor<3xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<ui8>
  %t = arith.constant dense<3.0> : tensor<f32>
  %0 = nn.quantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<3xf32>, tensor<f32>, tensor<ui8>) -> tensor<3xui8>
  %1 = nn.cast %0 : tensor<3xui8> -> tensor<3xf32>
  %2 = nn.sub %1, %t : tensor<3xf32>, tensor<f32> -> tensor<3xf32>
  %3 = nn.relu %2 : tensor<3xf32> -> tensor<3xf32>
  return %3 : tensor<3xf32>
}

// -----

// Must not fire: other users read the bytes, or another zero point is
// subtracted.
// CHECK-LABEL: @cast_and_read
// CHECK: %[[A:.*]] = nn.cast %{{.*}} {in_range} : tensor<3xi32> -> tensor<3xui8>
// CHECK: %[[F:.*]] = nn.cast %[[A]] : tensor<3xui8> -> tensor<3xf32>
// CHECK: nn.sub %[[F]]
// CHECK: %[[B:.*]] = nn.cast %{{.*}} {in_range} : tensor<3xi32> -> tensor<3xui8>
// CHECK: %[[G:.*]] = nn.cast %[[B]] : tensor<3xui8> -> tensor<3xf32>
// CHECK: nn.sub %[[G]]
func.func @cast_and_read(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xui8>, tensor<3xf32>, tensor<3xf32>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<ui8>
  %t = arith.constant dense<3.0> : tensor<f32>
  %u = arith.constant dense<2.0> : tensor<f32>
  %0 = nn.quantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<3xf32>, tensor<f32>, tensor<ui8>) -> tensor<3xui8>
  %1 = nn.cast %0 : tensor<3xui8> -> tensor<3xf32>
  %2 = nn.sub %1, %t : tensor<3xf32>, tensor<f32> -> tensor<3xf32>
  %3 = nn.quantize %y, %s zero_point(%z) {axis = 0 : i64} : (tensor<3xf32>, tensor<f32>, tensor<ui8>) -> tensor<3xui8>
  %4 = nn.cast %3 : tensor<3xui8> -> tensor<3xf32>
  %5 = nn.sub %4, %u : tensor<3xf32>, tensor<f32> -> tensor<3xf32>
  return %0, %2, %5 : tensor<3xui8>, tensor<3xf32>, tensor<3xf32>
}

// -----

// The saturation takes the bounds of a clamp of bytes that are only
// dequantized. A clamp whose bytes a product reads stays.
// CHECK-LABEL: @clamped
// CHECK: %[[N:.*]] = nn.clamp %{{.*}} {max = 1.170000e+02 : f64, min = -7.000000e+00 : f64} : tensor<3xf32> -> tensor<3xf32>
// CHECK: %[[R:.*]] = nn.round %[[N]]
// CHECK: %[[I:.*]] = nn.cast %[[R]] {in_range} : tensor<3xf32> -> tensor<3xi32>
// CHECK: %[[A:.*]] = nn.add %[[I]]
// CHECK: %[[B:.*]] = nn.cast %[[A]] {in_range} : tensor<3xi32> -> tensor<3xui8>
// CHECK: nn.cast %[[B]] : tensor<3xui8> -> tensor<3xi32>
// CHECK: nn.clamp %{{.*}} {max = 2.450000e+02 : f64, min = -1.000000e+01 : f64} : tensor<3xf32> -> tensor<3xf32>
// CHECK: %[[C:.*]] = nn.clamp %{{.*}} {max = 1.270000e+02 : f64, min = 3.000000e+00 : f64} : tensor<3xui8> -> tensor<3xui8>
// CHECK: return %{{.*}}, %[[C]]
func.func @clamped(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xui8>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<10> : tensor<ui8>
  %0 = nn.quantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<3xf32>, tensor<f32>, tensor<ui8>) -> tensor<3xui8>
  %1 = nn.clamp %0 {max = 127.0 : f64, min = 3.0 : f64} : tensor<3xui8> -> tensor<3xui8>
  %2 = nn.dequantize %1, %s zero_point(%z) {axis = 0 : i64} : (tensor<3xui8>, tensor<f32>, tensor<ui8>) -> tensor<3xf32>
  %3 = nn.quantize %y, %s zero_point(%z) {axis = 0 : i64} : (tensor<3xf32>, tensor<f32>, tensor<ui8>) -> tensor<3xui8>
  %4 = nn.clamp %3 {max = 127.0 : f64, min = 3.0 : f64} : tensor<3xui8> -> tensor<3xui8>
  return %2, %4 : tensor<3xf32>, tensor<3xui8>
}

// -----

// Scales and zero points of rows broadcast as they are.
// CHECK-LABEL: @rows
// CHECK: %[[D:.*]] = nn.div %arg0, %arg1 : tensor<2x3xf32>, tensor<2x1xf32> -> tensor<2x3xf32>
// CHECK: nn.round %[[D]]
// CHECK: nn.cast %arg2 : tensor<2x1xui8> -> tensor<2x1xf32>
func.func @rows(%x: tensor<2x3xf32>, %s: tensor<2x1xf32>, %z: tensor<2x1xui8>) -> tensor<2x3xui8> {
  %0 = nn.quantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x1xui8>) -> tensor<2x3xui8>
  return %0 : tensor<2x3xui8>
}

// -----

// Constant blocks are multiplied out at compile time, for any type. The last
// block is shorter.
// CHECK-LABEL: @constant_blocks
// CHECK-DAG: arith.constant dense<{{\[\[}}5.000000e-01, 1.000000e+00], [1.500000e+00, 2.000000e+00], [1.000000e+01, 1.200000e+01]]> : tensor<3x2xf32>
// CHECK-DAG: arith.constant dense<{{\[\[}}0.000000e+00, 1.000000e+00, 4.000000e+00]]> : tensor<1x3xf32>
// CHECK-DAG: arith.constant dense<{{\[\[}}2.000000e+00, 2.000000e+00, 4.000000e+00]]> : tensor<1x3xf16>
// CHECK-NOT: nn.
// CHECK: return
func.func @constant_blocks() -> (tensor<3x2xf32>, tensor<1x3xf32>, tensor<1x3xf16>) {
  %w = arith.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi4>
  %s = arith.constant dense<[[0.5, 0.5], [2.0, 2.0]]> : tensor<2x2xf32>
  %0 = nn.dequantize_blocks %w, %s {axis = 0 : i64, block_size = 2 : i64} : (tensor<3x2xi4>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %x = arith.constant dense<[[1, 2, 3]]> : tensor<1x3xsi8>
  %t = arith.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %z = arith.constant dense<[[1, 1]]> : tensor<1x2xsi8>
  %1 = nn.dequantize_blocks %x, %t zero_point(%z) {axis = 1 : i64, block_size = 2 : i64} : (tensor<1x3xsi8>, tensor<1x2xf32>, tensor<1x2xsi8>) -> tensor<1x3xf32>
  %f = arith.constant dense<2.0> : tensor<1x3xf8E4M3FN>
  %2 = nn.dequantize_blocks %f, %t {axis = 1 : i64, block_size = 2 : i64} : (tensor<1x3xf8E4M3FN>, tensor<1x2xf32>) -> tensor<1x3xf16>
  return %0, %1, %2 : tensor<3x2xf32>, tensor<1x3xf32>, tensor<1x3xf16>
}

// -----

// Scales that a run computes are repeated for each element of their blocks.
// CHECK-LABEL: @computed_blocks
// CHECK: nn.broadcast_to %{{.*}} : tensor<1x2x1xf32> -> tensor<1x2x2xf32>
// CHECK: nn.mul
// CHECK: nn.cast %{{.*}} : tensor<1x3xf32> -> tensor<1x3xf16>
func.func @computed_blocks(%s: tensor<1x2xf32>) -> tensor<1x3xf16> {
  %x = arith.constant dense<[[1, 2, 3]]> : tensor<1x3xsi8>
  %0 = nn.dequantize_blocks %x, %s {axis = 1 : i64, block_size = 2 : i64} : (tensor<1x3xsi8>, tensor<1x2xf32>) -> tensor<1x3xf16>
  return %0 : tensor<1x3xf16>
}
