// RUN: split-file %s %t
// RUN: ingot-opt %t/model.mlir --pass-pipeline='builtin.module(ingot-attach-calibration{file=%t/biases.json},nn-correct-biases)' | FileCheck %s
// RUN: not ingot-opt %t/model.mlir --pass-pipeline='builtin.module(ingot-attach-calibration{file=%t/short.json},nn-correct-biases)' 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: not ingot-opt %t/model.mlir --pass-pipeline='builtin.module(ingot-attach-calibration{file=%t/none.json},nn-correct-biases)' 2>&1 | FileCheck %s --check-prefix=NONE

// SHORT: error: {{.*}}expects corrections of 2 channels, but '{{.*}}short.json' has 1
// NONE: error: cannot read '{{.*}}none.json'

// The error is subtracted from the bias, or becomes a new negative bias. A
// product of floats and one that the file does not name do not change.
// CHECK-LABEL: func.func @products
// CHECK: %[[B:.*]] = arith.constant dense<[7.500000e-01, 1.250000e+00]> : tensor<2xf32>
// CHECK: nn.conv {{.*}} bias(%[[B]]
// CHECK: %[[N:.*]] = arith.constant dense<[-5.000000e-01, -1.500000e+00]> : tensor<2xf32>
// CHECK: nn.matmul {{.*}} bias(%[[N]]) {transpose_b} : (tensor<1x2xf32>, tensor<2x2xf32>, tensor<2xf32>)
// CHECK: nn.matmul %{{.*}}, %{{[a-z0-9_]*}} {transpose_b} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
// CHECK: nn.matmul %{{.*}}, %{{[a-z0-9_]*}} {transpose_b} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>

// Groups of a transposed convolution share channels of the weights, but have
// separate biases.
// CHECK-LABEL: func.func @groups
// CHECK: %[[G:.*]] = arith.constant dense<[-1.000000e+00, -2.000000e+00, -3.000000e+00, -4.000000e+00]> : tensor<4xf32>
// CHECK: nn.conv_transpose {{.*}} bias(%[[G]])

//--- model.mlir
func.func @products(%x: tensor<1x2x1x1xf32>, %y: tensor<1x2xf32>) -> (tensor<1x2x1x1xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>) {
  %q = arith.constant dense<1> : tensor<2x2x1x1xsi8>
  %p = arith.constant dense<1> : tensor<2x2xsi8>
  %s = arith.constant dense<0.5> : tensor<2xf32>
  %b = arith.constant dense<1.0> : tensor<2xf32>
  %f = arith.constant dense<0.5> : tensor<2x2xf32>
  %w = nn.dequantize %q, %s {axis = 0 : i64} : (tensor<2x2x1x1xsi8>, tensor<2xf32>) -> tensor<2x2x1x1xf32>
  %v = nn.dequantize %p, %s {axis = 0 : i64} : (tensor<2x2xsi8>, tensor<2xf32>) -> tensor<2x2xf32>
  %0 = nn.conv %x, %w bias(%b) {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x2x1x1xf32>, tensor<2x2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x1x1xf32> loc("conv")
  %1 = nn.matmul %y, %v {transpose_b} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32> loc("fc")
  %2 = nn.matmul %y, %f {transpose_b} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32> loc("fc")
  %3 = nn.matmul %y, %v {transpose_b} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32> loc("other")
  return %0, %1, %2, %3 : tensor<1x2x1x1xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>
}

func.func @groups(%x: tensor<1x4x3xf32>) -> tensor<1x4x6xf32> {
  %q = arith.constant dense<1> : tensor<4x2x2xsi8>
  %s = arith.constant dense<0.5> : tensor<2xf32>
  %w = nn.dequantize %q, %s {axis = 1 : i64} : (tensor<4x2x2xsi8>, tensor<2xf32>) -> tensor<4x2x2xf32>
  %0 = nn.conv_transpose %x, %w {dilations = array<i64: 1>, groups = 2 : i64, output_padding = array<i64: 0>, pads = array<i64: 0, 0>, strides = array<i64: 2>}
    : (tensor<1x4x3xf32>, tensor<4x2x2xf32>) -> tensor<1x4x6xf32> loc("up")
  return %0 : tensor<1x4x6xf32>
}

//--- biases.json
{"ingot_calibration": 3, "model": "m", "model_sha256": "0000000000000000000000000000000000000000000000000000000000000000",
 "method": "minmax", "samples": 1, "tensors": [{"name": "x", "min": -1, "max": 2, "scale": 0.0125, "zero_point": 80}], "repair": {"biases": [{"name": "conv", "values": [0.25, -0.25]}, {"name": "fc", "values": [0.5, 1.5]}, {"name": "up", "values": [1, 2, 3, 4]}]}}

//--- short.json
{"ingot_calibration": 3, "model": "m", "model_sha256": "0000000000000000000000000000000000000000000000000000000000000000",
 "method": "minmax", "samples": 1, "tensors": [{"name": "x", "min": -1, "max": 2, "scale": 0.0125, "zero_point": 80}], "repair": {"biases": [{"name": "conv", "values": [0.25]}]}}
