// RUN: ingot-opt --nn-recognize-fake-quantize --split-input-file %s | FileCheck %s
// RUN: ingot-opt --nn-recognize-fake-quantize=keep=kept=fp32 --split-input-file %s | FileCheck %s --check-prefix=KEPT

// DoReFa with 4 bits: 15 steps for data. Weights are odd multiples of a
// fifteenth, times a factor per channel. Rounding and scale are those of
// quantize.
// CHECK-LABEL: @clamp_scale_round
// KEPT-LABEL: @clamp_scale_round
func.func @clamp_scale_round(%x: tensor<1x2x4xf32>) -> tensor<1x2x4xf32> {
  %n = arith.constant dense<15.0> : tensor<f32>
  %w = arith.constant dense<[[[0.2], [-1.0]], [[0.4], [1.2]]]> : tensor<2x2x1xf32>
  %0 = nn.clamp %x {min = 0.0 : f64, max = 1.0 : f64} : tensor<1x2x4xf32> -> tensor<1x2x4xf32>
  // CHECK: %[[N:.*]] = nn.mul
  %1 = nn.mul %0, %n : tensor<1x2x4xf32>, tensor<f32> -> tensor<1x2x4xf32>
  %2 = nn.round %1 : tensor<1x2x4xf32> -> tensor<1x2x4xf32>
  %3 = nn.div %2, %n : tensor<1x2x4xf32>, tensor<f32> -> tensor<1x2x4xf32>
  // CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<f32>
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0> : tensor<ui8>
  // CHECK: %[[B:.*]] = nn.quantize %[[N]], %[[ONE]] zero_point(%[[ZERO]])
  // CHECK: %[[S:.*]] = arith.constant dense<0.06666{{.*}}> : tensor<f32>
  // CHECK: %[[X:.*]] = nn.dequantize %[[B]], %[[S]] zero_point
  // CHECK: nn.conv %[[X]], %[[W:[^ ]*]] {
  // KEPT-NOT: nn.quantize
  %4 = nn.conv %3, %w {dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 0, 0>, strides = array<i64: 1>} : (tensor<1x2x4xf32>, tensor<2x2x1xf32>) -> tensor<1x2x4xf32> loc("kept")
  return %4 : tensor<1x2x4xf32>
}

// -----

// The weights: 1 and -5 fifths, 1 and 3 of 0.4.
// CHECK-LABEL: @weights
// KEPT-LABEL: @weights
// CHECK-DAG: arith.constant dense<{{\[\[\[}}1], [-5]], {{\[\[}}1], [3]]]> : tensor<2x2x1xsi8>
// CHECK-DAG: arith.constant dense<[2.000000e-01, 4.000000e-01]> : tensor<2xf32>
func.func @weights(%x: tensor<1x2x4xf32>) -> tensor<1x2x4xf32> {
  %w = arith.constant dense<[[[0.2], [-1.0]], [[0.4], [1.2]]]> : tensor<2x2x1xf32>
  %0 = nn.sign %x : tensor<1x2x4xf32> -> tensor<1x2x4xf32>
  // CHECK: arith.constant dense<128> : tensor<ui8>
  // CHECK: nn.quantize
  // CHECK: %[[X:.*]] = nn.dequantize
  // CHECK: nn.conv %[[X]]
  %1 = nn.conv %0, %w {dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 0, 0>, strides = array<i64: 1>} : (tensor<1x2x4xf32>, tensor<2x2x1xf32>) -> tensor<1x2x4xf32>
  return %1 : tensor<1x2x4xf32>
}

// -----

// A choice between two values, moved; other users get equal values. A learned
// step, with negative values.
// CHECK-LABEL: @moved
func.func @moved(%x: tensor<2x4xf32>, %c: tensor<2x4xi1>) -> (tensor<4x3xf32>, tensor<2x4xf32>, tensor<2x3xf32>) {
  %p = arith.constant dense<0.5> : tensor<f32>
  %m = arith.constant dense<-0.5> : tensor<f32>
  %s = arith.constant dense<0.37> : tensor<f32>
  %w = arith.constant dense<[[1.0, 0.0, -3.0], [1.0, 0.0, 3.0]]> : tensor<2x3xf32>
  %v = arith.constant dense<[[1.0, 0.0, -3.0], [1.0, 0.0, 3.0], [1.0, 0.0, 3.0], [-1.0, 0.0, 3.0]]> : tensor<4x3xf32>
  // CHECK: %[[C:.*]] = nn.select
  // CHECK: %[[Q:.*]] = nn.quantize %[[C]]
  // CHECK: %[[X:.*]] = nn.dequantize %[[Q]]
  %0 = nn.select %c, %p, %m : tensor<2x4xi1>, tensor<f32>, tensor<f32> -> tensor<2x4xf32>
  // CHECK: %[[T:.*]] = nn.transpose %[[X]]
  %1 = nn.transpose %0 {perm = array<i64: 1, 0>} : tensor<2x4xf32> -> tensor<4x2xf32>
  // CHECK: nn.matmul %[[T]]
  %2 = nn.matmul %1, %w : (tensor<4x2xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  // CHECK: nn.exp %[[X]]
  %3 = nn.exp %0 : tensor<2x4xf32> -> tensor<2x4xf32>
  %4 = nn.div %x, %s : tensor<2x4xf32>, tensor<f32> -> tensor<2x4xf32>
  // CHECK: %[[L:.*]] = nn.clamp
  %5 = nn.clamp %4 {min = -8.0 : f64, max = 7.0 : f64} : tensor<2x4xf32> -> tensor<2x4xf32>
  %6 = nn.round %5 : tensor<2x4xf32> -> tensor<2x4xf32>
  %7 = nn.mul %6, %s : tensor<2x4xf32>, tensor<f32> -> tensor<2x4xf32>
  // CHECK: nn.quantize %[[L]]
  %8 = nn.matmul %7, %v : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  return %2, %3, %8 : tensor<4x3xf32>, tensor<2x4xf32>, tensor<2x3xf32>
}

// -----

// Must not fire: rounded values without bounds, more values than a byte has,
// weights on no grid, bounds that lie between two steps.
// CHECK-LABEL: @no
// CHECK-NOT: nn.quantize
func.func @no(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %w = arith.constant dense<[[1.0, 2.0], [-3.0, 1.0]]> : tensor<2x2xf32>
  %v = arith.constant dense<[[1.0, 2.0], [-3.1415927, 1.0]]> : tensor<2x2xf32>
  %0 = nn.round %x : tensor<2x2xf32> -> tensor<2x2xf32>
  %1 = nn.matmul %0, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = nn.clamp %x {min = -200.0 : f64, max = 200.0 : f64} : tensor<2x2xf32> -> tensor<2x2xf32>
  %3 = nn.round %2 : tensor<2x2xf32> -> tensor<2x2xf32>
  %4 = nn.matmul %3, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %5 = nn.sign %x : tensor<2x2xf32> -> tensor<2x2xf32>
  %6 = nn.matmul %5, %v : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %7 = nn.clamp %5 {min = -0.5 : f64, max = 1.0 : f64} : tensor<2x2xf32> -> tensor<2x2xf32>
  %8 = nn.matmul %7, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1, %4, %6, %8 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}
