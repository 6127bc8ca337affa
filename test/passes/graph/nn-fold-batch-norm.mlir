// RUN: ingot-opt %s --nn-fold-batch-norm | FileCheck %s
// Results are tested by nn-fold-batch-norm.py.

// CHECK-LABEL: func.func @conv
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{.*}}8.000000e+00]{{.*}}2.000000e+00]
// CHECK-DAG: %[[B:.*]] = arith.constant dense<[1.000000e+00, -1.000000e+00]> : tensor<2xf32>
// CHECK: nn.conv %{{.*}}, %[[W]] bias(%[[B]])
// CHECK-NOT: nn.batch_norm
func.func @conv(%x: tensor<?x1x?x4xf32>) -> tensor<?x2x?x4xf32> {
  %w = arith.constant dense<[[[[4.0]]], [[[1.0]]]]> : tensor<2x1x1x1xf32>
  %scale = arith.constant dense<[4.0, 2.0]> : tensor<2xf32>
  %bias = arith.constant dense<[1.0, 1.0]> : tensor<2xf32>
  %mean = arith.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %var = arith.constant dense<[4.0, 1.0]> : tensor<2xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64}
    : (tensor<?x1x?x4xf32>, tensor<2x1x1x1xf32>) -> tensor<?x2x?x4xf32>
  %1 = nn.batch_norm %0, %scale, %bias, %mean, %var {epsilon = 0.0 : f32}
    : (tensor<?x2x?x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<?x2x?x4xf32>
  return %1 : tensor<?x2x?x4xf32>
}

// Must not fire: a variance that gives NaN.
// CHECK-LABEL: func.func @nan
// CHECK: nn.batch_norm
func.func @nan(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %var = arith.constant dense<[-1.0, 1.0]> : tensor<2xf32>
  %0 = nn.batch_norm %x, %c, %c, %c, %var {epsilon = 0.0 : f32}
    : (tensor<1x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}

// The locations of both ops are kept.
// CHECK-LABEL: func.func @loc
// RUN: ingot-opt %s --nn-fold-batch-norm --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC
// LOC-DAG: #[[A:.*]] = loc("the conv")
// LOC-DAG: #[[B:.*]] = loc("the norm")
// LOC-DAG: loc(fused[#[[A]], #[[B]]])
func.func @loc(%x: tensor<1x1x4xf32>) -> tensor<1x1x4xf32> {
  %w = arith.constant dense<2.0> : tensor<1x1x1xf32>
  %c = arith.constant dense<1.0> : tensor<1xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64}
    : (tensor<1x1x4xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4xf32> loc("the conv")
  %1 = nn.batch_norm %0, %c, %c, %c, %c {epsilon = 1.0 : f32}
    : (tensor<1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4xf32> loc("the norm")
  return %1 : tensor<1x1x4xf32>
}
