// RUN: ingot-opt --nn-pack-weights=least=0 --split-input-file %s | FileCheck %s
// RUN: ingot-opt --nn-pack-weights --split-input-file %s | FileCheck %s --check-prefix=FEW
// RUN: ingot-opt --nn-pack-weights --split-input-file %s --remarks-filter-analyse=decision 2>&1 >/dev/null | FileCheck %s --check-prefix=DECISION

// DECISION-DAG: Decision="#ingot.decision<precision, "float32", [<"float32">, <"int8">], "belongs to a model with fewer than 262144 weights in products, which are read as fast as floats">", Sizes=?x32

// Two blocks of eight signed values: codes and zero points are 8 more.
// CHECK-LABEL: @signed
func.func @signed(%x: tensor<?x16xf32>, %b: tensor<1xf32>) -> tensor<?x1xf32> {
  %w = arith.constant dense<[[-8, -7, 0, 1, 2, 3, 4, 7, 0, 0, 0, 0, 0, 0, 0, 1]]> : tensor<1x16xi4>
  %s = arith.constant dense<[[0.5, 0.25]]> : tensor<1x2xf32>
  %z = arith.constant dense<[[1, -1]]> : tensor<1x2xi4>
  %0 = nn.dequantize_blocks %w, %s zero_point(%z) {axis = 1 : i64, block_size = 8 : i64} : (tensor<1x16xi4>, tensor<1x2xf32>, tensor<1x2xi4>) -> tensor<1x16xf32>
  // CHECK: %[[Q:.*]] = arith.constant dense<{{\[\[}}[16, 152, 186, 252], [136, 136, 136, 152]]]> : tensor<1x2x4xui8>
  // CHECK: %[[S:.*]] = arith.constant dense<{{\[\[}}5.000000e-01, 2.500000e-01]]> : tensor<1x2xf32>
  // CHECK: %[[Z:.*]] = arith.constant dense<{{\[\[}}9, 7]]> : tensor<1x2xui8>
  // CHECK: %[[Y:.*]] = nn.packed_matmul %arg0, %[[Q]], %[[S]] zero_point{{s?}}(%[[Z]]) {bits = 4 : i64, block_size = 8 : i64, depth = 16 : i64}
  // CHECK: nn.add %[[Y]], %arg1
  %1 = nn.matmul %x, %0 bias(%b) {transpose_b} : (tensor<?x16xf32>, tensor<1x16xf32>, tensor<1xf32>) -> tensor<?x1xf32>
  return %1 : tensor<?x1xf32>
}

// -----

// Must not fire: blocks along the outputs, and blocks that are not whole words.
// CHECK-LABEL: @no
// CHECK-NOT: packed_matmul
func.func @no(%x: tensor<2x16xf32>) -> (tensor<2x16xf32>, tensor<2x16xf32>) {
  %w = arith.constant dense<1> : tensor<16x16xi4>
  %s = arith.constant dense<0.5> : tensor<16x2xf32>
  %t = arith.constant dense<0.5> : tensor<4x16xf32>
  %0 = nn.dequantize_blocks %w, %s {axis = 1 : i64, block_size = 8 : i64} : (tensor<16x16xi4>, tensor<16x2xf32>) -> tensor<16x16xf32>
  %1 = nn.dequantize_blocks %w, %t {axis = 0 : i64, block_size = 4 : i64} : (tensor<16x16xi4>, tensor<4x16xf32>) -> tensor<16x16xf32>
  %2 = nn.matmul %x, %0 : (tensor<2x16xf32>, tensor<16x16xf32>) -> tensor<2x16xf32>
  %3 = nn.matmul %x, %1 : (tensor<2x16xf32>, tensor<16x16xf32>) -> tensor<2x16xf32>
  return %2, %3 : tensor<2x16xf32>, tensor<2x16xf32>
}

// -----

// One scale per output: a block is a whole column. Codes start at the smallest
// value, and so do zero points, which are equal here.
// CHECK-LABEL: @whole
// FEW-LABEL: @whole
// FEW-NOT: packed_matmul
// FEW: return
func.func @whole(%x: tensor<?x512xf32>) -> tensor<?x32xf32> {
  %w = arith.constant dense<3> : tensor<512x32xi8>
  %s = arith.constant dense<0.5> : tensor<32xf32>
  %z = arith.constant dense<-20> : tensor<32xi8>
  %0 = nn.dequantize %w, %s zero_point(%z) {axis = 1 : i64} : (tensor<512x32xi8>, tensor<32xf32>, tensor<32xi8>) -> tensor<512x32xf32>
  // CHECK-DAG: %[[Q:.*]] = arith.constant dense<23> : tensor<32x1x512xui8>
  // CHECK-DAG: %[[S:.*]] = arith.constant dense<5.000000e-01> : tensor<32x1xf32>
  // CHECK-DAG: %[[Z:.*]] = arith.constant dense<0> : tensor<32x1xui8>
  // CHECK: nn.packed_matmul %arg0, %[[Q]], %[[S]] zero_points(%[[Z]]) {bits = 8 : i64, block_size = 512 : i64, depth = 512 : i64}
  %1 = nn.matmul %x, %0 : (tensor<?x512xf32>, tensor<512x32xf32>) -> tensor<?x32xf32>
  return %1 : tensor<?x32xf32>
}

// -----

// Bytes that are all 1, with a zero point of 0, need two bits. A single scale
// serves all outputs.
// CHECK-LABEL: @few_bits
func.func @few_bits(%x: tensor<?x512xf32>) -> tensor<?x32xf32> {
  %w = arith.constant dense<1> : tensor<32x512xui8>
  %s = arith.constant dense<0.5> : tensor<f32>
  %0 = nn.dequantize %w, %s {axis = 0 : i64} : (tensor<32x512xui8>, tensor<f32>) -> tensor<32x512xf32>
  // CHECK-DAG: arith.constant dense<85> : tensor<32x1x128xui8>
  // CHECK-DAG: arith.constant dense<5.000000e-01> : tensor<32x1xf32>
  // CHECK: nn.packed_matmul {{.*}} {bits = 2 : i64, block_size = 512 : i64, depth = 512 : i64}
  %1 = nn.matmul %x, %0 {transpose_b} : (tensor<?x512xf32>, tensor<32x512xf32>) -> tensor<?x32xf32>
  return %1 : tensor<?x32xf32>
}

// -----

// Must not fire: scales along the inner dimension, few weights, weights of 16
// bits.
// CHECK-LABEL: @no_whole
// CHECK-NOT: packed_matmul
func.func @no_whole(%x: tensor<2x512xf32>, %y: tensor<2x16xf32>) -> (tensor<2x32xf32>, tensor<2x16xf32>, tensor<2x32xf32>) {
  %w = arith.constant dense<1> : tensor<512x32xi8>
  %s = arith.constant dense<0.5> : tensor<512xf32>
  %0 = nn.dequantize %w, %s {axis = 0 : i64} : (tensor<512x32xi8>, tensor<512xf32>) -> tensor<512x32xf32>
  %1 = nn.matmul %x, %0 : (tensor<2x512xf32>, tensor<512x32xf32>) -> tensor<2x32xf32>
  %v = arith.constant dense<1> : tensor<16x16xi8>
  %t = arith.constant dense<0.5> : tensor<16xf32>
  %2 = nn.dequantize %v, %t {axis = 1 : i64} : (tensor<16x16xi8>, tensor<16xf32>) -> tensor<16x16xf32>
  %3 = nn.matmul %y, %2 : (tensor<2x16xf32>, tensor<16x16xf32>) -> tensor<2x16xf32>
  %n = arith.constant dense<300> : tensor<512x32xi16>
  %z = arith.constant dense<0> : tensor<i16>
  %r = arith.constant dense<0.5> : tensor<f32>
  %4 = nn.dequantize %n, %r zero_point(%z) {axis = 1 : i64} : (tensor<512x32xi16>, tensor<f32>, tensor<i16>) -> tensor<512x32xf32>
  %5 = nn.matmul %x, %4 : (tensor<2x512xf32>, tensor<512x32xf32>) -> tensor<2x32xf32>
  return %1, %3, %5 : tensor<2x32xf32>, tensor<2x16xf32>, tensor<2x32xf32>
}
