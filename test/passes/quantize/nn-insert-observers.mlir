// RUN: ingot-opt %s --nn-insert-observers --split-input-file | FileCheck %s

// The input of a convolution, and the summand of the other convolution's
// result. That result stays in registers. Results of the model are not
// observed.
// CHECK: ingot.observed = ["x", "relu1", "relu2"]
// CHECK-LABEL: func.func @residual
// CHECK-NEXT: ingot.observe 0 %arg0
// CHECK: %[[R1:.*]] = nn.relu
// CHECK-NEXT: ingot.observe 1 %[[R1]]
// CHECK: nn.conv
// CHECK-NEXT: nn.add
// CHECK-NEXT: %[[R2:.*]] = nn.relu
// CHECK-NEXT: ingot.observe 2 %[[R2]]
// CHECK-NEXT: nn.conv
// CHECK-NEXT: return
func.func @residual(%x: tensor<1x4x8x8xf32> {ingot.name = "x"}) -> (tensor<1x4x8x8xf32> {ingot.name = "y"}) {
  %w = arith.constant dense<0.5> : tensor<4x4x1x1xf32>
  %c1 = nn.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32> loc("conv1")
  %r1 = nn.relu %c1 : tensor<1x4x8x8xf32> -> tensor<1x4x8x8xf32> loc("relu1")
  %c2 = nn.conv %r1, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32> loc("conv2")
  %a = nn.add %c2, %r1 : tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32> -> tensor<1x4x8x8xf32> loc("add")
  %r2 = nn.relu %a : tensor<1x4x8x8xf32> -> tensor<1x4x8x8xf32> loc("relu2")
  %c3 = nn.conv %r2, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32> loc("conv3")
  return %c3 : tensor<1x4x8x8xf32>
}

// -----

// Ops that only move values: the result has the range. The input of a mean has
// its own range. Two tensors of one name get different names.
// CHECK: ingot.observed = ["x", "mean", "relu", "relu#2"]
func.func @movement(%x: tensor<1x4x2x2xf32> {ingot.name = "x"}, %z: tensor<1x4xf32>) -> tensor<1x3xf32> {
  %w = arith.constant dense<0.5> : tensor<4x3xf32>
  %v = arith.constant dense<0.5> : tensor<3x3xf32>
  %m = nn.reduce mean %x {axes = array<i64: 2, 3>, keep_dims} : tensor<1x4x2x2xf32> -> tensor<1x4x1x1xf32> loc("mean")
  %r = nn.reshape %m : tensor<1x4x1x1xf32> -> tensor<1x4xf32> loc("mean")
  %p = nn.matmul %r, %w : (tensor<1x4xf32>, tensor<4x3xf32>) -> tensor<1x3xf32> loc("fc")
  %a = nn.relu %p : tensor<1x3xf32> -> tensor<1x3xf32> loc("relu")
  %q = nn.matmul %a, %v : (tensor<1x3xf32>, tensor<3x3xf32>) -> tensor<1x3xf32> loc("fc2")
  %b = nn.relu %q : tensor<1x3xf32> -> tensor<1x3xf32> loc("relu")
  %s = nn.matmul %b, %v : (tensor<1x3xf32>, tensor<3x3xf32>) -> tensor<1x3xf32> loc("fc3")
  return %s : tensor<1x3xf32>
}

// -----

// Must not fire: products of two computed tensors, products of other types, and
// products that the model quantizes.
// CHECK: ingot.observed = []
// CHECK-LABEL: func.func @none
// CHECK-NOT: ingot.observe
func.func @none(%x: tensor<2x2xf32>, %y: tensor<2x2xf64>, %q: tensor<2x2xui8>) -> (tensor<2x2xf32>, tensor<2x2xf64>, tensor<2x2xf32>) {
  %w = arith.constant dense<0.5> : tensor<2x2xf32>
  %v = arith.constant dense<0.5> : tensor<2x2xf64>
  %scale = arith.constant dense<0.5> : tensor<f32>
  %0 = nn.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = nn.matmul %y, %v : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  %d = nn.dequantize %q, %scale {axis = 0 : i64} : (tensor<2x2xui8>, tensor<f32>) -> tensor<2x2xf32>
  %2 = nn.matmul %d, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0, %1, %2 : tensor<2x2xf32>, tensor<2x2xf64>, tensor<2x2xf32>
}

// -----

// Transposed convolutions, also with groups, but not depthwise ones.
// CHECK: ingot.observed = ["x", "y"]
// CHECK-LABEL: func.func @transposed
// CHECK-DAG: ingot.observe 0 %arg0
// CHECK-DAG: ingot.observe 1 %arg1
// CHECK-NOT: ingot.observe
func.func @transposed(%x: tensor<1x2x4xf32> {ingot.name = "x"}, %y: tensor<1x4x4xf32> {ingot.name = "y"}, %z: tensor<1x2x4xf32> {ingot.name = "z"}) -> (tensor<1x3x8xf32>, tensor<1x2x8xf32>, tensor<1x6x8xf32>) {
  %w = arith.constant dense<0.5> : tensor<2x3x2xf32>
  %u = arith.constant dense<0.5> : tensor<4x3x2xf32>
  %v = arith.constant dense<0.5> : tensor<2x1x2xf32>
  %0 = nn.conv_transpose %x, %w {dilations = array<i64: 1>, groups = 1 : i64, output_padding = array<i64: 0>, pads = array<i64: 0, 0>, strides = array<i64: 2>}
    : (tensor<1x2x4xf32>, tensor<2x3x2xf32>) -> tensor<1x3x8xf32> loc("up")
  %1 = nn.conv_transpose %z, %v {dilations = array<i64: 1>, groups = 2 : i64, output_padding = array<i64: 0>, pads = array<i64: 0, 0>, strides = array<i64: 2>}
    : (tensor<1x2x4xf32>, tensor<2x1x2xf32>) -> tensor<1x2x8xf32> loc("up2")
  %2 = nn.conv_transpose %y, %u {dilations = array<i64: 1>, groups = 2 : i64, output_padding = array<i64: 0>, pads = array<i64: 0, 0>, strides = array<i64: 2>}
    : (tensor<1x4x4xf32>, tensor<4x3x2xf32>) -> tensor<1x6x8xf32> loc("up3")
  return %0, %1, %2 : tensor<1x3x8xf32>, tensor<1x2x8xf32>, tensor<1x6x8xf32>
}
