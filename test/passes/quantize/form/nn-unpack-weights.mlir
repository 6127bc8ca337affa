// RUN: ingot-opt --ingot-attach-targets=levels=x86-64-v4 --nn-unpack-weights --split-input-file %s | FileCheck %s
// RUN: ingot-opt --ingot-attach-targets=levels=znver4 --nn-unpack-weights --split-input-file %s | FileCheck %s --check-prefix=DOT
// RUN: ingot-opt %s --ingot-attach-targets=levels=x86-64-v4 --nn-unpack-weights --split-input-file --remarks-filter-analyse=decision 2>&1 >/dev/null | FileCheck %s --check-prefix=DECISION

// RUN: ingot-opt --nn-unpack-weights=optimize=size --split-input-file %s | FileCheck %s --check-prefix=SIZE

// SIZE-NOT: nn.matmul

// DECISION-DAG: Decision="#ingot.decision<precision, "float32", "has several rows and few weights, which are read as floats">"
// DECISION-DAG: Decision="#ingot.decision<precision, "int4", "has an open number of rows">"
// DECISION-DAG: Decision="#ingot.decision<precision, "int4", "has few rows, which wait for weights">"
// DECISION-DAG: Decision="#ingot.decision<precision, "int4", "multiplies its rows as bytes">"
// DECISION-DAG: Decision="#ingot.decision<precision, "int4", "belongs to a model with more than 1048576 weights of few bits, which take much space as floats">"

// Codes 1 and 2 of a byte, with the middle of 4 bits as zero point. Instructions
// for products of four bytes leave few columns.
// CHECK-LABEL: @middle
// CHECK: %[[W:.*]] = arith.constant dense<{{\[}}[-7.000000e+00, -3.500000e+00], [-6.000000e+00, -3.000000e+00]]> : tensor<2x2xf32>
// CHECK: nn.matmul %arg0, %[[W]]
// DOT-LABEL: @middle
// DOT: nn.matmul
func.func @middle(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %q = arith.constant dense<0x21> : tensor<2x1x16xui8>
  %s = arith.constant dense<[[1.0], [0.5]]> : tensor<2x1xf32>
  %0 = nn.packed_matmul %x, %q, %s {bits = 4 : i64, block_size = 32 : i64, depth = 2 : i64} : (tensor<3x2xf32>, tensor<2x1x16xui8>, tensor<2x1xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// -----

// Zero points and scales of two blocks.
// CHECK-LABEL: @blocks
// CHECK: %[[W:.*]] = arith.constant dense<{{\[}}[2.000000e+00], [4.000000e+00], [2.500000e-01], [5.000000e-01]]> : tensor<4x1xf32>
// CHECK: nn.matmul %arg0, %[[W]]
func.func @blocks(%x: tensor<2x2x4xf32>) -> tensor<2x2x1xf32> {
  %q = arith.constant dense<[[[2, 3], [4, 5]]]> : tensor<1x2x2xui8>
  %s = arith.constant dense<[[2.0, 0.25]]> : tensor<1x2xf32>
  %z = arith.constant dense<[[1, 3]]> : tensor<1x2xui8>
  %0 = nn.packed_matmul %x, %q, %s zero_points(%z) {bits = 8 : i64, block_size = 2 : i64, depth = 4 : i64} : (tensor<2x2x4xf32>, tensor<1x2x2xui8>, tensor<1x2xf32>, tensor<1x2xui8>) -> tensor<2x2x1xf32>
  return %0 : tensor<2x2x1xf32>
}

// -----

// Must not fire: open and few rows, rounded rows, computed weights.
// CHECK-LABEL: @no
// CHECK-COUNT-4: nn.packed_matmul
func.func @no(%x: tensor<?x64xf32>, %y: tensor<2x64xf32>, %z: tensor<8x64xf32>, %c: tensor<32x2x16xui8>) -> (tensor<?x32xf32>, tensor<2x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>) {
  %q = arith.constant dense<1> : tensor<32x2x16xui8>
  %s = arith.constant dense<0.5> : tensor<32x2xf32>
  %0 = nn.packed_matmul %x, %q, %s {bits = 4 : i64, block_size = 32 : i64, depth = 64 : i64} : (tensor<?x64xf32>, tensor<32x2x16xui8>, tensor<32x2xf32>) -> tensor<?x32xf32>
  %1 = nn.packed_matmul %y, %q, %s {bits = 4 : i64, block_size = 32 : i64, depth = 64 : i64} : (tensor<2x64xf32>, tensor<32x2x16xui8>, tensor<32x2xf32>) -> tensor<2x32xf32>
  %2 = nn.packed_matmul %z, %q, %s {bits = 4 : i64, block_size = 32 : i64, depth = 64 : i64, may_round_a, rounds_a} : (tensor<8x64xf32>, tensor<32x2x16xui8>, tensor<32x2xf32>) -> tensor<8x32xf32>
  %3 = nn.packed_matmul %z, %c, %s {bits = 4 : i64, block_size = 32 : i64, depth = 64 : i64} : (tensor<8x64xf32>, tensor<32x2x16xui8>, tensor<32x2xf32>) -> tensor<8x32xf32>
  return %0, %1, %2, %3 : tensor<?x32xf32>, tensor<2x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>
}

// -----

// Must not fire where rows are split into bytes.
// DOT-LABEL: @split
// DOT: nn.packed_matmul
// CHECK-LABEL: @split
// CHECK: nn.matmul
func.func @split(%x: tensor<8x64xf32>) -> tensor<8x96xf32> {
  %q = arith.constant dense<1> : tensor<96x2x16xui8>
  %s = arith.constant dense<0.5> : tensor<96x2xf32>
  %0 = nn.packed_matmul %x, %q, %s {bits = 4 : i64, block_size = 32 : i64, depth = 64 : i64} : (tensor<8x64xf32>, tensor<96x2x16xui8>, tensor<96x2xf32>) -> tensor<8x96xf32>
  return %0 : tensor<8x96xf32>
}

// -----

// Must not fire for many weights.
// CHECK-LABEL: @many
// CHECK: nn.packed_matmul
func.func @many(%x: tensor<8x2048xf32>) -> tensor<8x1024xf32> {
  %q = arith.constant dense<1> : tensor<1024x64x16xui8>
  %s = arith.constant dense<0.5> : tensor<1024x64xf32>
  %0 = nn.packed_matmul %x, %q, %s {bits = 4 : i64, block_size = 32 : i64, depth = 2048 : i64} : (tensor<8x2048xf32>, tensor<1024x64x16xui8>, tensor<1024x64xf32>) -> tensor<8x1024xf32>
  return %0 : tensor<8x1024xf32>
}
