// RUN: ingot-opt %s --pass-pipeline='builtin.module(nn-insert-gram-observers{keep=*=int8})' --split-input-file | FileCheck %s
// RUN: ingot-opt %s --pass-pipeline='builtin.module(nn-insert-gram-observers{max-inner=7 keep=*=int8})' --split-input-file | FileCheck %s --check-prefix=SMALL

// Each tap of a convolution is a slice of the padded data. Channels come first,
// then their taps, as in the weights. For a matrix, rows are used.
// CHECK: ingot.observed = ["conv", "conv", "fc", "fc"]
// SMALL: ingot.observed = ["fc", "fc"]
// CHECK-LABEL: func.func @products
// CHECK: %[[P:.*]] = nn.pad constant %arg0 {{.*}} -> tensor<?x2x3x6xf32>
// CHECK: %[[A:.*]] = nn.slice %[[P]] {sizes = array<i64: -1, 2, 2, 4>, starts = array<i64: 0, 0, 0, 0>, steps = array<i64: 1, 1, 1, 1>}
// CHECK: nn.reshape %[[A]] : tensor<?x2x2x4xf32> -> tensor<?x2x1x8xf32>
// CHECK: nn.slice %[[P]] {sizes = array<i64: -1, 2, 2, 4>, starts = array<i64: 0, 0, 0, 2>
// CHECK: nn.slice %[[P]] {sizes = array<i64: -1, 2, 2, 4>, starts = array<i64: 0, 0, 1, 0>
// CHECK: nn.slice %[[P]] {sizes = array<i64: -1, 2, 2, 4>, starts = array<i64: 0, 0, 1, 2>
// CHECK: nn.concat {{.*}} -> tensor<?x2x4x8xf32>
// CHECK: nn.reshape {{.*}} -> tensor<?x1x8x8xf32>
// CHECK: nn.transpose {{.*}} {perm = array<i64: 1, 2, 0, 3>}
// CHECK: %[[C:.*]] = nn.reshape {{.*}} -> tensor<1x8x?xf32>
// CHECK: %[[G:.*]] = nn.matmul %[[C]], %[[C]] {transpose_b} : (tensor<1x8x?xf32>, tensor<1x8x?xf32>) -> tensor<1x8x8xf32>
// CHECK: %[[W:.*]] = arith.constant dense<1.000000e+00> : tensor<3x8xf32>
// CHECK: ingot.observe 0 %[[G]]
// CHECK: ingot.observe 1 %[[W]]
// CHECK: nn.conv
// CHECK: %[[R:.*]] = nn.reshape %arg1 : tensor<?x5x2xf32> -> tensor<1x?x2xf32>
// CHECK: nn.matmul %[[R]], %[[R]] {transpose_a} : (tensor<1x?x2xf32>, tensor<1x?x2xf32>) -> tensor<1x2x2xf32>
// CHECK: arith.constant dense<{{\[\[1.000000e\+00, 4.000000e\+00\], \[2.000000e\+00, 5.000000e\+00\], \[3.000000e\+00, 6.000000e\+00\]\]}}> : tensor<3x2xf32>
// CHECK: ingot.observe 2
// CHECK: ingot.observe 3
func.func @products(%x: tensor<?x2x2x5xf32>, %y: tensor<?x5x2xf32>) -> (tensor<?x3x2x4xf32>, tensor<?x5x3xf32>) {
  %w = arith.constant dense<1.0> : tensor<3x2x2x2xf32>
  %v = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %0 = nn.conv %x, %w {dilations = array<i64: 1, 2>, groups = 1 : i64, pads = array<i64: 0, 0, 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<?x2x2x5xf32>, tensor<3x2x2x2xf32>) -> tensor<?x3x2x4xf32> loc("conv")
  %1 = nn.matmul %y, %v : (tensor<?x5x2xf32>, tensor<2x3xf32>) -> tensor<?x5x3xf32> loc("fc")
  return %0, %1 : tensor<?x3x2x4xf32>, tensor<?x5x3xf32>
}

// -----

// A Gram matrix for each group.
// CHECK: ingot.observed = ["depthwise", "depthwise"]
// CHECK-LABEL: func.func @groups
// CHECK-NOT: nn.pad
// CHECK: nn.matmul {{.*}} {transpose_b} : (tensor<2x2x6xf32>, tensor<2x2x6xf32>) -> tensor<2x2x2xf32>
// CHECK: ingot.observe 0
func.func @groups(%x: tensor<2x2x1x4xf32>) -> tensor<2x2x1x3xf32> {
  %w = arith.constant dense<1.0> : tensor<2x1x1x2xf32>
  %0 = nn.conv %x, %w {dilations = array<i64: 1, 1>, groups = 2 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<2x2x1x4xf32>, tensor<2x1x1x2xf32>) -> tensor<2x2x1x3xf32> loc("depthwise")
  return %0 : tensor<2x2x1x3xf32>
}

// -----

// Must not fire: computed weights, images of dynamic size, products that share
// their name with another one, and transposed convolutions.
// CHECK: ingot.observed = []
// CHECK-LABEL: func.func @none
// CHECK-NOT: ingot.observe
func.func @none(%x: tensor<1x2x?x4xf32>, %y: tensor<3x2xf32>, %w: tensor<2x2xf32>, %z: tensor<1x2x4xf32>) -> (tensor<1x2x?x4xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<1x3x8xf32>) {
  %t = arith.constant dense<0.5> : tensor<2x3x2xf32>
  %c = arith.constant dense<1.0> : tensor<2x2x1x1xf32>
  %v = arith.constant dense<1.0> : tensor<2x2xf32>
  %0 = nn.conv %x, %c {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x2x?x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x?x4xf32> loc("open")
  %1 = nn.matmul %y, %w : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32> loc("computed")
  %2 = nn.matmul %y, %v : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32> loc("twice")
  %3 = nn.matmul %y, %v {transpose_b} : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32> loc("twice")
  %4 = nn.conv_transpose %z, %t {dilations = array<i64: 1>, groups = 1 : i64, output_padding = array<i64: 0>, pads = array<i64: 0, 0>, strides = array<i64: 2>}
    : (tensor<1x2x4xf32>, tensor<2x3x2xf32>) -> tensor<1x3x8xf32> loc("up")
  return %0, %1, %2, %3, %4 : tensor<1x2x?x4xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<1x3x8xf32>
}

// -----

// Products with the same weights have one Gram matrix, the sum of theirs. A
// product of other weights is shown by itself.
// CHECK: ingot.observed = ["first", "first", "other", "other"]
// CHECK-LABEL: func.func @shared
// CHECK: %[[A:.*]] = nn.matmul {{.*}} {transpose_a} : (tensor<1x3x2xf32>, tensor<1x3x2xf32>) -> tensor<1x2x2xf32>
// CHECK: %[[B:.*]] = nn.matmul {{.*}} {transpose_a} : (tensor<1x5x2xf32>, tensor<1x5x2xf32>) -> tensor<1x2x2xf32>
// CHECK: %[[S:.*]] = nn.add %[[A]], %[[B]]
// CHECK: ingot.observe 0 %[[S]]
// CHECK: ingot.observe 1
// CHECK: ingot.observe 2
func.func @shared(%x: tensor<3x2xf32>, %y: tensor<5x2xf32>) -> (tensor<3x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>) {
  %w = arith.constant dense<1.0> : tensor<2x2xf32>
  %v = arith.constant dense<2.0> : tensor<2x2xf32>
  %0 = nn.matmul %x, %w : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32> loc("first")
  %1 = nn.matmul %y, %w : (tensor<5x2xf32>, tensor<2x2xf32>) -> tensor<5x2xf32> loc("second")
  %2 = nn.matmul %y, %v : (tensor<5x2xf32>, tensor<2x2xf32>) -> tensor<5x2xf32> loc("other")
  return %0, %1, %2 : tensor<3x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>
}
