// RUN: ingot-opt %s --nn-insert-precision-flags --split-input-file | FileCheck %s
// RUN: ingot-opt %s --pass-pipeline='builtin.module(nn-insert-precision-flags{keep=conv1=fp32})' --split-input-file | FileCheck %s --check-prefix=KEEP
// RUN: ingot-opt %s --pass-pipeline='builtin.module(nn-insert-precision-flags{errors})' --split-input-file | FileCheck %s --check-prefix=ERROR
// RUN: not ingot-opt %s --pass-pipeline='builtin.module(nn-insert-precision-flags{keep=cnv1=fp32})' --split-input-file 2>&1 | FileCheck %s --check-prefix=RULE

// RULE: error: rule 'cnv1=fp32' matches no node of the model; similar names: 'conv1'

// The summand is read as bytes if the second convolution is quantized: its flag
// is that of the third convolution, which reads the sum. Products are computed
// twice.
// CHECK: ingot.observed = ["x", "relu1", "add"]
// CHECK-SAME: ingot.precision_flags = [#ingot.precision_flag<0, nodes = "conv1">, #ingot.precision_flag<1, nodes = "conv2">, #ingot.precision_flag<2, nodes = "conv3">]
// CHECK-LABEL: func.func @residual
// CHECK-SAME: %[[X:.*]]: tensor<1x4x8x8xf32> {ingot.name = "x"}
// CHECK-SAME: %[[S1:[a-z0-9]*]]: tensor<i1> {ingot.name = "ingot.switch.0"}
// CHECK-SAME: %[[S2:[a-z0-9]*]]: tensor<i1> {ingot.name = "ingot.switch.1"}
// CHECK-SAME: %[[S3:[a-z0-9]*]]: tensor<i1> {ingot.name = "ingot.switch.2"}
// CHECK-SAME: %[[STEP:[a-z0-9]*]]: tensor<f32> {ingot.name = "ingot.scale.0"}
// CHECK-SAME: %[[LOW:[a-z0-9]*]]: tensor<f32> {ingot.name = "ingot.low.0"}
// CHECK-SAME: %[[HIGH:[a-z0-9]*]]: tensor<f32> {ingot.name = "ingot.high.0"}
// CHECK: %[[D:.*]] = nn.div %[[X]], %[[STEP]]
// CHECK: %[[R:.*]] = nn.round %[[D]]
// CHECK: %[[M:.*]] = nn.max %[[R]], %[[LOW]]
// CHECK: %[[N:.*]] = nn.min %[[M]], %[[HIGH]]
// CHECK: %[[Q:.*]] = nn.mul %[[N]], %[[STEP]]
// CHECK: %[[W8:.*]] = nn.dequantize
// CHECK: %[[C:.*]] = nn.conv %[[X]], %[[W:[a-z0-9_]*]] {
// CHECK: %[[C8:.*]] = nn.conv %[[Q]], %[[W8]] {
// CHECK: %[[Y:.*]] = nn.select %[[S1]], %[[C8]], %[[C]]
// CHECK: nn.relu %[[Y]]
// CHECK: nn.conv
// CHECK: nn.conv
// CHECK: %[[Y2:.*]] = nn.select %[[S2]]
// CHECK: %[[OTHER:.*]] = nn.select %[[S3]], %{{.*}}, %{{.*}}
// CHECK: nn.add %[[Y2]], %[[OTHER]]

// Shows how much the int8 product is too large, channel by channel.
// ERROR-LABEL: func.func @residual
// ERROR: %[[C:.*]] = nn.conv %arg0,
// ERROR: %[[C8:.*]] = nn.conv
// ERROR: %[[E:.*]] = nn.sub %[[C8]], %[[C]]
// ERROR: %[[M:.*]] = nn.reduce mean %[[E]] {axes = array<i64: 0, 2, 3>} : tensor<1x4x8x8xf32> -> tensor<4xf32>
// ERROR: ingot.observe 0 %[[M]]

// A kept node has no flag, and its input is not rounded.
// KEEP: ingot.observed = ["x", "relu1", "add"]
// KEEP-SAME: ingot.precision_flags = [#ingot.precision_flag<1, nodes = "conv2">, #ingot.precision_flag<2, nodes = "conv3">]
// KEEP-LABEL: func.func @residual
// KEEP: nn.conv %arg0
// KEEP-NEXT: nn.relu
func.func @residual(%x: tensor<1x4x8x8xf32> {ingot.name = "x"}) -> (tensor<1x4x8x8xf32> {ingot.name = "y"}) {
  %w = arith.constant dense<0.3> : tensor<4x4x1x1xf32>
  %c1 = nn.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32> loc("conv1")
  %r1 = nn.relu %c1 : tensor<1x4x8x8xf32> -> tensor<1x4x8x8xf32> loc("relu1")
  %c2 = nn.conv %r1, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32> loc("conv2")
  %a = nn.add %c2, %r1 : tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32> -> tensor<1x4x8x8xf32> loc("add")
  %c3 = nn.conv %a, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32> loc("conv3")
  return %c3 : tensor<1x4x8x8xf32>
}

// -----

// Must not fire: there is nothing to quantize.
// CHECK: ingot.observed = [], ingot.precision_flags = []
// CHECK-LABEL: func.func @none(%arg0: tensor<2x2xf32>) -> tensor<2x2xf32> {
// CHECK-NEXT: nn.matmul %arg0, %arg0
func.func @none(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = nn.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("conv1")
  return %0 : tensor<2x2xf32>
}

// -----

// Ops that only move values work on bytes if all users read bytes: the operands
// of the pool are rounded if both convolutions read bytes.
// CHECK-LABEL: func.func @movement
// CHECK-SAME: %[[A:[a-z0-9]*]]: tensor<i1> {ingot.name = "ingot.switch.0"}
// CHECK-SAME: %[[B:[a-z0-9]*]]: tensor<i1> {ingot.name = "ingot.switch.1"}
// CHECK: %[[BOTH:.*]] = nn.and %[[A]], %[[B]]
// CHECK: %[[R:.*]] = nn.select %[[BOTH]]
// CHECK: nn.max_pool %[[R]]
func.func @movement(%x: tensor<1x4x8x8xf32>) -> (tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>) {
  %w = arith.constant dense<0.3> : tensor<4x4x1x1xf32>
  %p = nn.max_pool %x {dilations = array<i64: 1, 1>, kernel = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} : tensor<1x4x8x8xf32> -> tensor<1x4x4x4xf32>
  %c1 = nn.conv %p, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x4x4x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x4x4xf32> loc("conv1")
  %c2 = nn.conv %p, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x4x4x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x4x4xf32> loc("conv2")
  return %c1, %c2 : tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>
}
