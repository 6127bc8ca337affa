// RUN: split-file %s %t
// RUN: ingot-opt %t/model.mlir --nn-insert-dynamic-quantize | FileCheck %s
// RUN: ingot-opt %t/model.mlir --pass-pipeline='builtin.module(nn-insert-dynamic-quantize{keep=m?=fp32})' | FileCheck %s --check-prefix=KEEP
// RUN: ingot-opt %t/batches.mlir --pass-pipeline='builtin.module(nn-insert-dynamic-quantize{keep=m?=int8})' | FileCheck %s --check-prefix=BATCHES
// RUN: ingot-opt %t/no.mlir --nn-insert-dynamic-quantize | FileCheck %s --check-prefix=NO
// RUN: ingot-opt %t/positive.mlir --nn-insert-dynamic-quantize | FileCheck %s --check-prefix=POSITIVE
// RUN: ingot-opt %t/inner.mlir --nn-insert-dynamic-quantize | FileCheck %s --check-prefixes=INNER,ALL
// RUN: ingot-opt %t/inner.mlir --pass-pipeline='builtin.module(nn-insert-dynamic-quantize{inner-only})' | FileCheck %s --check-prefixes=INNER,ONLY
// RUN: ingot-opt %t/convolutions.mlir --nn-insert-dynamic-quantize | FileCheck %s --check-prefixes=CONV,DOTS
// RUN: ingot-opt %t/convolutions.mlir --pass-pipeline='builtin.module(ingot-attach-targets{levels=x86-64-v3},nn-insert-dynamic-quantize)' | FileCheck %s --check-prefixes=CONV,WORDS
// RUN: ingot-opt %t/convolutions.mlir --pass-pipeline='builtin.module(nn-insert-dynamic-quantize{keep=narrow=int8})' | FileCheck %s --check-prefix=NAMED
// RUN: not ingot-opt %t/model.mlir --pass-pipeline='builtin.module(nn-insert-dynamic-quantize{keep=n1=fp32})' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=RULE
// RULE: error: rule 'n1=fp32' matches no node of the model; similar names: 'm1', 'm2'

// The smallest and the largest element of each row, and 0, give scale and zero
// point, once for both products. Bytes are made with a finite step. The scale
// is infinite or NaN if an element is.
// CHECK-LABEL: @shared
// CHECK: %[[MAX:.*]] = nn.reduce max %arg0 {axes = array<i64: 1>, keep_dims} : tensor<?x2xf32> -> tensor<?x1xf32>
// CHECK: %[[HIGH:.*]] = nn.max %[[MAX]]
// CHECK: %[[MOST:.*]] = nn.clamp %[[HIGH]] {max = 3.4028234663852886E+38 : f64, min = -3.4028234663852886E+38 : f64}
// CHECK: %[[A:.*]] = nn.mul %[[MOST]], %
// CHECK: %[[ABOVE:.*]] = nn.sub %[[HIGH]], %[[MOST]]
// CHECK: %[[MIN:.*]] = nn.reduce min %arg0
// CHECK: %[[LOW:.*]] = nn.min %[[MIN]]
// CHECK: %[[LEAST:.*]] = nn.clamp %[[LOW]]
// CHECK: %[[B:.*]] = nn.mul %[[LEAST]], %
// CHECK: %[[WIDTH:.*]] = nn.sub %[[A]], %[[B]]
// CHECK: %[[BELOW:.*]] = nn.sub %[[LOW]], %[[LEAST]]
// CHECK: %[[SUM:.*]] = nn.add %[[ABOVE]], %[[BELOW]]
// CHECK: %[[EXCESS:.*]] = nn.abs %[[SUM]]
// CHECK: %[[QUOTIENT:.*]] = nn.div %[[WIDTH]]
// CHECK: %[[NOTHING:.*]] = nn.equal %[[QUOTIENT]]
// CHECK: %[[STEP:.*]] = nn.select %[[NOTHING]], %{{.*}}, %[[QUOTIENT]] {{.*}} -> tensor<?x1xf32>
// CHECK: %[[R:.*]] = nn.round
// CHECK: %[[Z:.*]] = nn.cast %{{.*}} {in_range} : tensor<?x1xf32> -> tensor<?x1xui8>
// CHECK: %[[Q:.*]] = nn.quantize %arg0, %[[STEP]] zero_point(%[[Z]])
// CHECK: %[[S:.*]] = nn.add %[[STEP]], %[[EXCESS]]
// CHECK: %[[X:.*]] = nn.dequantize %[[Q]], %[[S]] zero_point(%[[Z]])
// CHECK-NOT: nn.quantize
// CHECK-DAG: %[[T:.*]] = nn.dequantize %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<2x2xsi8>, tensor<2xf32>) -> tensor<2x2xf32>
// CHECK-DAG: %[[W:.*]] = nn.dequantize %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<2x2xsi8>, tensor<2xf32>) -> tensor<2x2xf32>
// CHECK: nn.matmul %[[X]], %[[W]]
// CHECK: nn.matmul %[[X]], %[[T]] {transpose_b}
// KEEP-LABEL: @shared
// KEEP-NOT: quantize
//--- model.mlir
func.func @shared(%x: tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>) {
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %0 = nn.matmul %x, %w : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<?x2xf32> loc("m1")
  %1 = nn.matmul %x, %w {transpose_b} : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<?x2xf32> loc("m2")
  return %0, %1 : tensor<?x2xf32>, tensor<?x2xf32>
}

// A matrix for each batch: one constant matrix has a row and a scale for each
// column of each batch. Two products share it.
// BATCHES-LABEL: @batches
// BATCHES-DAG: %[[ROWS:.*]] = arith.constant dense<{{\[\[}}1, 3], [1, 2], [3, 2], [8, 7]]> : tensor<4x2xsi8>
// BATCHES-DAG: %[[D:.*]] = nn.dequantize %[[ROWS]], %{{.*}} {axis = 0 : i64} : (tensor<4x2xsi8>, tensor<4xf32>) -> tensor<4x2xf32>
// BATCHES-DAG: %[[W:.*]] = nn.reshape %[[D]] : tensor<4x2xf32> -> tensor<2x2x2xf32>
// BATCHES: nn.matmul %{{.*}}, %[[W]] {transpose_b} : (tensor<2x?x2xf32>, tensor<2x2x2xf32>)
// BATCHES: nn.matmul %{{.*}}, %[[W]] {transpose_b} : (tensor<2x3x2xf32>, tensor<2x2x2xf32>)
// Must not fire: data that broadcast to the batches.
// BATCHES: nn.matmul %arg2, %{{.*}} : (tensor<3x2xf32>, tensor<2x2x2xf32>)
//--- batches.mlir
func.func @batches(%x: tensor<2x?x2xf32>, %y: tensor<2x3x2xf32>, %z: tensor<3x2xf32>) -> (tensor<2x?x2xf32>, tensor<2x3x2xf32>, tensor<2x3x2xf32>) {
  %w = arith.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[9.0, 8.0], [6.0, 7.0]]]> : tensor<2x2x2xf32>
  %0 = nn.matmul %x, %w : (tensor<2x?x2xf32>, tensor<2x2x2xf32>) -> tensor<2x?x2xf32> loc("m1")
  %1 = nn.matmul %y, %w : (tensor<2x3x2xf32>, tensor<2x2x2xf32>) -> tensor<2x3x2xf32> loc("m2")
  %2 = nn.matmul %z, %w : (tensor<3x2xf32>, tensor<2x2x2xf32>) -> tensor<2x3x2xf32> loc("m3")
  return %0, %1, %2 : tensor<2x?x2xf32>, tensor<2x3x2xf32>, tensor<2x3x2xf32>
}

// Must not fire: computed or infinite weights, and depthwise convolutions.
// NO-LABEL: @no
// NO-NOT: quantize
//--- no.mlir
func.func @no(%x: tensor<2x2xf32>, %v: tensor<2x2xf32>, %p: tensor<1x2x4x4xf32>)
    -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<1x2x4x4xf32>) {
  %w = arith.constant dense<0x7F800000> : tensor<2x2xf32>
  %k = arith.constant dense<1.0> : tensor<2x1x1x1xf32>
  %0 = nn.matmul %x, %v : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = nn.matmul %x, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = nn.conv %p, %k {dilations = array<i64: 1, 1>, groups = 2 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %0, %1, %2 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<1x2x4x4xf32>
}

// A state is quantized in each step of a loop with enough weights; in a branch,
// for any size. With `inner-only`, ops outside do not change.
// INNER-LABEL: @steps
// ALL: nn.quantize %arg0
// ONLY-NOT: nn.quantize
// INNER: %[[W:.*]] = nn.dequantize {{.*}} {axis = 1 : i64} : (tensor<128x128xsi8>, tensor<128xf32>)
// INNER: scf.for {{.*}} iter_args(%[[H:.*]] = %arg0)
// A single row has one range.
// INNER: nn.reduce min %[[H]] {{.*}} -> tensor<f32>
// INNER: %[[Q:.*]] = nn.quantize %[[H]]
// INNER: %[[X:.*]] = nn.dequantize %[[Q]]
// INNER: nn.matmul %[[X]], %[[W]]
// INNER-LABEL: @small
// INNER: scf.for
// INNER-NOT: nn.quantize
// INNER: scf.if
// INNER: nn.quantize
// INNER: nn.matmul
//--- inner.mlir
func.func @steps(%x: tensor<1x128xf32>, %n: index) -> (tensor<1x128xf32>, tensor<1x128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w = arith.constant dense<1.0> : tensor<128x128xf32>
  %y = nn.matmul %x, %w : (tensor<1x128xf32>, tensor<128x128xf32>) -> tensor<1x128xf32>
  %h = scf.for %i = %c0 to %n step %c1 iter_args(%state = %x) -> tensor<1x128xf32> {
    %0 = nn.matmul %state, %w : (tensor<1x128xf32>, tensor<128x128xf32>) -> tensor<1x128xf32>
    scf.yield %0 : tensor<1x128xf32>
  }
  return %h, %y : tensor<1x128xf32>, tensor<1x128xf32>
}
func.func @small(%x: tensor<1x64xf32>, %n: index, %p: i1) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w = arith.constant dense<1.0> : tensor<64x64xf32>
  %h = scf.for %i = %c0 to %n step %c1 iter_args(%state = %x) -> tensor<1x64xf32> {
    %0 = nn.matmul %state, %w : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
    scf.yield %0 : tensor<1x64xf32>
  }
  %y = scf.if %p -> tensor<1x64xf32> {
    %0 = nn.relu %x : tensor<1x64xf32> -> tensor<1x64xf32>
    %1 = nn.matmul %0, %w : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
    scf.yield %1 : tensor<1x64xf32>
  } else {
    scf.yield %x : tensor<1x64xf32>
  }
  return %h, %y : tensor<1x64xf32>, tensor<1x64xf32>
}

// No minimum is computed for values that are never negative.
// POSITIVE-LABEL: @positive
// POSITIVE-NOT: nn.reduce min
// POSITIVE: nn.reduce max
// POSITIVE: nn.quantize
// Must not fire: a few rows by a small matrix take less time than finding a
// range.
// POSITIVE-LABEL: @few
// POSITIVE-NOT: nn.quantize
//--- positive.mlir
func.func @positive(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %w = arith.constant dense<1.0> : tensor<64x64xf32>
  %0 = nn.relu %x : tensor<4x64xf32> -> tensor<4x64xf32>
  %1 = nn.matmul %0, %w : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
  return %1 : tensor<4x64xf32>
}
func.func @few(%x: tensor<4x32xf32>) -> tensor<4x64xf32> {
  %w = arith.constant dense<1.0> : tensor<32x64xf32>
  %0 = nn.matmul %x, %w : (tensor<4x32xf32>, tensor<32x64xf32>) -> tensor<4x64xf32>
  return %0 : tensor<4x64xf32>
}

// Must not fire: the range costs more than few products per element save. The
// products of two convolutions together are enough. Without VNNI, more weights
// are needed.
// CONV-LABEL: @narrow
// CONV-NOT: nn.quantize
// CONV-LABEL: @columns
// CONV-NOT: nn.quantize
// CONV-LABEL: @two
// DOTS: nn.quantize
// DOTS-NOT: nn.quantize
// WORDS-NOT: nn.quantize
// A picture has one range.
// CONV-LABEL: @wide
// CONV: nn.quantize {{.*}}, tensor<f32>, tensor<ui8>) ->
// 64 products per element are enough with VNNI only. So are 3x3 taps, for which
// floats of many pixels use Winograd.
// CONV-LABEL: @square
// DOTS: nn.quantize
// WORDS-NOT: nn.quantize
// CONV-LABEL: @windows
// DOTS: nn.quantize
// WORDS-NOT: nn.quantize
// CONV-LABEL: @windows_of_few
// CONV: nn.quantize
// In small volumes most taps lie in the padding, which floats skip.
// CONV-LABEL: @padding
// DOTS: nn.quantize
// WORDS-NOT: nn.quantize
// Three terms cost less than the work per result.
// CONV-LABEL: @terms
// CONV-NOT: nn.quantize
// Fewer than 32 rows are not multiplied in pairs.
// CONV-LABEL: @few_rows
// DOTS: nn.quantize
// WORDS-NOT: nn.quantize
// CONV-LABEL: @rows_of_pairs
// CONV: nn.quantize
// A single row waits for weights, except for few columns.
// CONV-LABEL: @row
// DOTS: nn.quantize
// WORDS-NOT: nn.quantize
// CONV-LABEL: @row_of_many
// CONV: nn.quantize
// CONV-LABEL: @row_of_few
// CONV-NOT: nn.quantize
// NAMED-LABEL: @narrow
// NAMED: nn.quantize
//--- convolutions.mlir
func.func @narrow(%x: tensor<1x256x4x4xf32>) -> tensor<1x16x4x4xf32> {
  %w = arith.constant dense<1.0> : tensor<16x256x1x1xf32>
  %0 = nn.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x256x4x4xf32>, tensor<16x256x1x1xf32>) -> tensor<1x16x4x4xf32> loc("narrow")
  return %0 : tensor<1x16x4x4xf32>
}
func.func @columns(%x: tensor<4x256xf32>) -> tensor<4x16xf32> {
  %w = arith.constant dense<1.0> : tensor<256x16xf32>
  %0 = nn.matmul %x, %w : (tensor<4x256xf32>, tensor<256x16xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}
func.func @two(%x: tensor<1x64x4x4xf32>) -> (tensor<1x16x4x4xf32>, tensor<1x16x4x4xf32>) {
  %w = arith.constant dense<1.0> : tensor<16x64x1x1xf32>
  %0 = nn.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x64x4x4xf32>, tensor<16x64x1x1xf32>) -> tensor<1x16x4x4xf32>
  %1 = nn.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x64x4x4xf32>, tensor<16x64x1x1xf32>) -> tensor<1x16x4x4xf32>
  return %0, %1 : tensor<1x16x4x4xf32>, tensor<1x16x4x4xf32>
}
func.func @wide(%x: tensor<1x64x4x4xf32>) -> tensor<1x96x4x4xf32> {
  %w = arith.constant dense<1.0> : tensor<96x64x1x1xf32>
  %0 = nn.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x64x4x4xf32>, tensor<96x64x1x1xf32>) -> tensor<1x96x4x4xf32>
  return %0 : tensor<1x96x4x4xf32>
}
func.func @square(%x: tensor<1x64x4x4xf32>) -> tensor<1x64x4x4xf32> {
  %w = arith.constant dense<1.0> : tensor<64x64x1x1xf32>
  %0 = nn.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x64x4x4xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x4x4xf32>
  return %0 : tensor<1x64x4x4xf32>
}
func.func @windows(%x: tensor<1x32x28x28xf32>) -> tensor<1x32x28x28xf32> {
  %w = arith.constant dense<1.0> : tensor<32x32x3x3xf32>
  %0 = nn.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x32x28x28xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x28x28xf32>
  return %0 : tensor<1x32x28x28xf32>
}
func.func @windows_of_few(%x: tensor<1x32x7x7xf32>) -> tensor<1x32x7x7xf32> {
  %w = arith.constant dense<1.0> : tensor<32x32x3x3xf32>
  %0 = nn.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x32x7x7xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x7x7xf32>
  return %0 : tensor<1x32x7x7xf32>
}
func.func @padding(%x: tensor<1x48x6x6x6xf32>) -> tensor<1x40x6x6x6xf32> {
  %w = arith.constant dense<1.0> : tensor<40x48x5x5x5xf32>
  %0 = nn.conv %x, %w {dilations = array<i64: 1, 1, 1>, groups = 1 : i64, pads = array<i64: 2, 2, 2, 2, 2, 2>, strides = array<i64: 1, 1, 1>} : (tensor<1x48x6x6x6xf32>, tensor<40x48x5x5x5xf32>) -> tensor<1x40x6x6x6xf32>
  return %0 : tensor<1x40x6x6x6xf32>
}
func.func @terms(%x: tensor<1x3x28x28xf32>) -> tensor<1x64x28x28xf32> {
  %w = arith.constant dense<1.0> : tensor<64x3x1x1xf32>
  %0 = nn.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x3x28x28xf32>, tensor<64x3x1x1xf32>) -> tensor<1x64x28x28xf32>
  return %0 : tensor<1x64x28x28xf32>
}
func.func @few_rows(%x: tensor<16x256xf32>) -> tensor<16x96xf32> {
  %w = arith.constant dense<1.0> : tensor<256x96xf32>
  %0 = nn.matmul %x, %w : (tensor<16x256xf32>, tensor<256x96xf32>) -> tensor<16x96xf32>
  return %0 : tensor<16x96xf32>
}
func.func @rows_of_pairs(%x: tensor<32x256xf32>) -> tensor<32x96xf32> {
  %w = arith.constant dense<1.0> : tensor<256x96xf32>
  %0 = nn.matmul %x, %w : (tensor<32x256xf32>, tensor<256x96xf32>) -> tensor<32x96xf32>
  return %0 : tensor<32x96xf32>
}
func.func @row(%x: tensor<1x512xf32>) -> tensor<1x32xf32> {
  %w = arith.constant dense<1.0> : tensor<512x32xf32>
  %0 = nn.matmul %x, %w : (tensor<1x512xf32>, tensor<512x32xf32>) -> tensor<1x32xf32>
  return %0 : tensor<1x32xf32>
}
func.func @row_of_many(%x: tensor<1x256xf32>) -> tensor<1x64xf32> {
  %w = arith.constant dense<1.0> : tensor<256x64xf32>
  %0 = nn.matmul %x, %w : (tensor<1x256xf32>, tensor<256x64xf32>) -> tensor<1x64xf32>
  return %0 : tensor<1x64xf32>
}
func.func @row_of_few(%x: tensor<1x256xf32>) -> tensor<1x16xf32> {
  %w = arith.constant dense<1.0> : tensor<256x16xf32>
  %0 = nn.matmul %x, %w : (tensor<1x256xf32>, tensor<256x16xf32>) -> tensor<1x16xf32>
  return %0 : tensor<1x16xf32>
}
