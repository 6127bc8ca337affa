// RUN: ingot-opt --nn-quantize-int16=optimize=speed --split-input-file %s | FileCheck %s --check-prefixes=CHECK,SPEED
// RUN: ingot-opt --nn-quantize-int16 --split-input-file %s | FileCheck %s --check-prefixes=CHECK,SPEED
// RUN: ingot-opt --nn-quantize-int16=optimize=size --split-input-file %s | FileCheck %s --check-prefixes=CHECK,BYTES
// RUN: ingot-opt %s --nn-quantize-int16 --split-input-file --remarks-filter-analyse=decision 2>&1 >/dev/null | FileCheck %s --check-prefix=DECISION

// DECISION-DAG: nn.matmul {{.*}} Decision="#ingot.decision<precision, "int16", "multiplies int16 faster than floats">", Sizes=8x4
// DECISION-DAG: nn.matmul {{.*}} Decision="#ingot.decision<precision, "float32", "has few rows">", Sizes=4x4
// DECISION-DAG: nn.conv {{.*}} Decision="#ingot.decision<precision, "float32", [<"int16", cycles = 66355>, <"float32 winograd 4x4", cycles = 56064>], "takes fewer products of floats">", Sizes=1x32x16x16

// Unsigned int16 values become signed by subtracting 32768, and so does their
// zero point, which the convolution takes.
// CHECK-LABEL: @conv
func.func @conv(%x: tensor<1x8x4xui16>) -> tensor<1x16x4xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<32771> : tensor<ui16>
  %w = arith.constant dense<2> : tensor<16x8x3xi8>
  %t = arith.constant dense<0.25> : tensor<16xf32>
  %b = arith.constant dense<10.0> : tensor<16xf32>
  %0 = nn.dequantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<1x8x4xui16>, tensor<f32>, tensor<ui16>) -> tensor<1x8x4xf32>
  %1 = nn.dequantize %w, %t {axis = 0 : i64} : (tensor<16x8x3xi8>, tensor<16xf32>) -> tensor<16x8x3xf32>
  // CHECK: nn.cast %arg0 : tensor<1x8x4xui16> -> tensor<1x8x4xi16>
  // CHECK: %[[X:.*]] = nn.xor
  // CHECK: %[[W:.*]] = arith.constant dense<2> : tensor<16x8x3xi16>
  // CHECK: %[[C:.*]] = nn.conv %[[X]], %[[W]] {{{.*}}x_zero_point = 3 : i64} : (tensor<1x8x4xi16>, tensor<16x8x3xi16>) -> tensor<1x16x4xi32>
  // CHECK: nn.cast %[[C]] : tensor<1x16x4xi32> -> tensor<1x16x4xf32>
  // CHECK: arith.constant dense<1.250000e-01> : tensor<16x1xf32>
  // CHECK: nn.mul
  // CHECK: nn.add
  %2 = nn.conv %0, %1 bias(%b) {dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 1, 1>, strides = array<i64: 1>} : (tensor<1x8x4xf32>, tensor<16x8x3xf32>, tensor<16xf32>) -> tensor<1x16x4xf32>
  return %2 : tensor<1x16x4xf32>
}

// -----

// For rows, the zero point is subtracted from the sums: -3 * 16 * 2.
// CHECK-LABEL: @matmul
func.func @matmul(%x: tensor<?x16xi16>) -> tensor<?x4xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i16>
  %w = arith.constant dense<2> : tensor<16x4xi8>
  %t = arith.constant dense<0.25> : tensor<f32>
  %0 = nn.dequantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<?x16xi16>, tensor<f32>, tensor<i16>) -> tensor<?x16xf32>
  %1 = nn.dequantize %w, %t {axis = 0 : i64} : (tensor<16x4xi8>, tensor<f32>) -> tensor<16x4xf32>
  // CHECK: %[[P:.*]] = nn.matmul %arg0, %{{.*}} : (tensor<?x16xi16>, tensor<16x4xi16>) -> tensor<?x4xi32>
  // CHECK: arith.constant dense<-96> : tensor<4xi32>
  // CHECK: nn.add %[[P]]
  // CHECK: nn.cast
  // CHECK: nn.mul
  // CHECK-NOT: nn.add
  %2 = nn.matmul %0, %1 : (tensor<?x16xf32>, tensor<16x4xf32>) -> tensor<?x4xf32>
  return %2 : tensor<?x4xf32>
}

// -----

// 768 weights of 127 may sum to more than i32 holds; each of two parts does
// not.
// CHECK-LABEL: @parts
func.func @parts(%x: tensor<8x768xi16>) -> tensor<8x4xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %w = arith.constant dense<127> : tensor<768x4xi8>
  %0 = nn.dequantize %x, %s {axis = 0 : i64} : (tensor<8x768xi16>, tensor<f32>) -> tensor<8x768xf32>
  %1 = nn.dequantize %w, %s {axis = 0 : i64} : (tensor<768x4xi8>, tensor<f32>) -> tensor<768x4xf32>
  // CHECK: nn.slice %arg0 {sizes = array<i64: 8, 384>, starts = array<i64: 0, 0>
  // CHECK: nn.matmul {{.*}} : (tensor<8x384xi16>, tensor<384x4xi16>) -> tensor<8x4xi32>
  // CHECK: nn.slice %arg0 {sizes = array<i64: 8, 384>, starts = array<i64: 0, 384>
  // CHECK: nn.matmul {{.*}} : (tensor<8x384xi16>, tensor<384x4xi16>) -> tensor<8x4xi32>
  // CHECK: nn.add
  %2 = nn.matmul %0, %1 : (tensor<8x768xf32>, tensor<768x4xf32>) -> tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// -----

// Must not fire: few rows, few channels, int16 data by int16 weights whose sums
// i32 does not hold.
// CHECK-LABEL: @floats
// CHECK-NOT: i32
// CHECK: return
func.func @floats(%x: tensor<4x16xi16>, %y: tensor<8x16xi16>, %p: tensor<1x3x8xi16>) -> (tensor<4x4xf32>, tensor<8x4xf32>, tensor<1x16x8xf32>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %w = arith.constant dense<2> : tensor<16x4xi8>
  %v = arith.constant dense<32767> : tensor<16x4xi16>
  %u = arith.constant dense<2> : tensor<16x3x1xi8>
  %0 = nn.dequantize %x, %s {axis = 0 : i64} : (tensor<4x16xi16>, tensor<f32>) -> tensor<4x16xf32>
  %1 = nn.dequantize %y, %s {axis = 0 : i64} : (tensor<8x16xi16>, tensor<f32>) -> tensor<8x16xf32>
  %2 = nn.dequantize %p, %s {axis = 0 : i64} : (tensor<1x3x8xi16>, tensor<f32>) -> tensor<1x3x8xf32>
  %3 = nn.dequantize %w, %s {axis = 0 : i64} : (tensor<16x4xi8>, tensor<f32>) -> tensor<16x4xf32>
  %4 = nn.dequantize %v, %s {axis = 0 : i64} : (tensor<16x4xi16>, tensor<f32>) -> tensor<16x4xf32>
  %5 = nn.dequantize %u, %s {axis = 0 : i64} : (tensor<16x3x1xi8>, tensor<f32>) -> tensor<16x3x1xf32>
  %6 = nn.matmul %0, %3 : (tensor<4x16xf32>, tensor<16x4xf32>) -> tensor<4x4xf32>
  %7 = nn.matmul %1, %4 : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %8 = nn.conv %2, %5 {dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 0, 0>, strides = array<i64: 1>} : (tensor<1x3x8xf32>, tensor<16x3x1xf32>) -> tensor<1x16x8xf32>
  return %6, %7, %8 : tensor<4x4xf32>, tensor<8x4xf32>, tensor<1x16x8xf32>
}

// -----

// Bytes by int16 weights: 600 weights of 32767 may sum to more than i32 holds;
// each of two parts does not.
// CHECK-LABEL: @bytes
// CHECK: %[[X:.*]] = nn.cast %arg0 : tensor<8x16xui8> -> tensor<8x16xi16>
// CHECK: nn.matmul %[[X]], %{{.*}} : (tensor<8x16xi16>, tensor<16x4xi16>) -> tensor<8x4xi32>
// CHECK: arith.constant dense<-1572816> : tensor<4xi32>
// CHECK: %[[Y:.*]] = nn.cast %arg1 : tensor<8x600xi8> -> tensor<8x600xi16>
// CHECK: nn.slice %[[Y]]
// CHECK: nn.matmul {{.*}} : (tensor<8x304xi16>, tensor<304x4xi16>) -> tensor<8x4xi32>
// CHECK: nn.slice %[[Y]]
// CHECK: nn.matmul {{.*}} : (tensor<8x296xi16>, tensor<296x4xi16>) -> tensor<8x4xi32>
func.func @bytes(%x: tensor<8x16xui8>, %y: tensor<8x600xi8>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<ui8>
  %v = arith.constant dense<32767> : tensor<16x4xi16>
  %w = arith.constant dense<32767> : tensor<600x4xi16>
  %0 = nn.dequantize %x, %s zero_point(%z) {axis = 0 : i64} : (tensor<8x16xui8>, tensor<f32>, tensor<ui8>) -> tensor<8x16xf32>
  %1 = nn.dequantize %v, %s {axis = 0 : i64} : (tensor<16x4xi16>, tensor<f32>) -> tensor<16x4xf32>
  %2 = nn.matmul %0, %1 : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %3 = nn.dequantize %y, %s {axis = 0 : i64} : (tensor<8x600xi8>, tensor<f32>) -> tensor<8x600xf32>
  %4 = nn.dequantize %w, %s {axis = 0 : i64} : (tensor<600x4xi16>, tensor<f32>) -> tensor<600x4xf32>
  %5 = nn.matmul %3, %4 : (tensor<8x600xf32>, tensor<600x4xf32>) -> tensor<8x4xf32>
  return %2, %5 : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// Must not fire: bytes by bytes, and weights that exceed int16 without their
// zero point.
// CHECK-LABEL: @no_words
// CHECK-NOT: i32
// CHECK: return
func.func @no_words(%x: tensor<8x16xui8>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-3> : tensor<i16>
  %v = arith.constant dense<2> : tensor<16x4xi8>
  %w = arith.constant dense<32767> : tensor<16x4xi16>
  %0 = nn.dequantize %x, %s {axis = 0 : i64} : (tensor<8x16xui8>, tensor<f32>) -> tensor<8x16xf32>
  %1 = nn.dequantize %v, %s {axis = 0 : i64} : (tensor<16x4xi8>, tensor<f32>) -> tensor<16x4xf32>
  %2 = nn.dequantize %w, %s zero_point(%z) {axis = 0 : i64} : (tensor<16x4xi16>, tensor<f32>, tensor<i16>) -> tensor<16x4xf32>
  %3 = nn.matmul %0, %1 : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %4 = nn.matmul %0, %2 : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %3, %4 : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// For many pixels, Winograd on floats is faster; with a stride it does not
// apply.
// CHECK-LABEL: @tiles
// SPEED: nn.conv {{.*}} (tensor<1x32x16x16xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x16x16xf32>
// BYTES: nn.conv {{.*}} (tensor<1x32x16x16xi16>, tensor<32x32x3x3xi16>) -> tensor<1x32x16x16xi32>
// CHECK: nn.conv {{.*}} (tensor<1x32x16x16xi16>, tensor<32x32x3x3xi16>) -> tensor<1x32x8x8xi32>
func.func @tiles(%x: tensor<1x32x16x16xi16>) -> (tensor<1x32x16x16xf32>, tensor<1x32x8x8xf32>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %w = arith.constant dense<2> : tensor<32x32x3x3xi8>
  %0 = nn.dequantize %x, %s {axis = 0 : i64} : (tensor<1x32x16x16xi16>, tensor<f32>) -> tensor<1x32x16x16xf32>
  %1 = nn.dequantize %w, %s {axis = 0 : i64} : (tensor<32x32x3x3xi8>, tensor<f32>) -> tensor<32x32x3x3xf32>
  %2 = nn.conv %0, %1 {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x32x16x16xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x16x16xf32>
  %3 = nn.conv %0, %1 {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x32x16x16xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x8x8xf32>
  return %2, %3 : tensor<1x32x16x16xf32>, tensor<1x32x8x8xf32>
}
