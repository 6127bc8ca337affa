// RUN: split-file %s %t
// RUN: ingot-opt %t/model.mlir --nn-insert-channel-observers | FileCheck %s --check-prefix=SHOW
// RUN: ingot-opt %t/model.mlir --pass-pipeline='builtin.module(ingot-attach-calibration{file=%t/norms.json},nn-smooth-activations)' | FileCheck %s
// RUN: not ingot-opt %t/model.mlir --pass-pipeline='builtin.module(ingot-attach-calibration{file=%t/short.json},nn-smooth-activations)' 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: not ingot-opt %t/model.mlir --pass-pipeline='builtin.module(ingot-attach-calibration{file=%t/none.json},nn-smooth-activations)' 2>&1 | FileCheck %s --check-prefix=NONE

// SHORT: error: '{{.*}}short.json' has 1 channels of 'norm', which has 2
// NONE: error: cannot read '{{.*}}none.json'

// Fires only for tensors that only products read.
// SHOW: ingot.observed = ["norm", "relu", "tanh", "fan"]
// SHOW-LABEL: func.func @norms
// SHOW: %[[N:.*]] = nn.layer_norm
// SHOW: %[[A:.*]] = nn.abs %[[N]]
// SHOW: %[[M:.*]] = nn.reduce max %[[A]] {axes = array<i64: 0>} : tensor<3x2xf32> -> tensor<2xf32>
// SHOW: ingot.observe 0 %[[M]] : tensor<2xf32>
// SHOW-NOT: ingot.observe
// SHOW: return

// The first channel is 16 times as large as the weights behind it. It is
// divided by 4, and the weights are multiplied by 4, in rows or columns. The
// second channel is balanced already.
// CHECK-LABEL: func.func @norms
// CHECK-DAG: %[[S:.*]] = arith.constant dense<[5.000000e-01, 2.000000e+00]> : tensor<2xf32>
// CHECK-DAG: %[[B:.*]] = arith.constant dense<[2.500000e-01, 1.000000e+00]> : tensor<2xf32>
// CHECK: nn.layer_norm %arg0 scale(%[[S]]) bias(%[[B]])
// CHECK: %[[W:.*]] = arith.constant dense<{{\[\[4.000000e\+00, 4.000000e\+00, 4.000000e\+00\], \[1.000000e\+00, 1.000000e\+00, 1.000000e\+00\]\]}}> : tensor<2x3xf32>
// CHECK: nn.matmul %{{.*}}, %[[W]]
// CHECK: %[[V:.*]] = arith.constant dense<{{\[\[4.000000e\+00, 1.000000e\+00\]\]}}> : tensor<1x2xf32>
// CHECK: nn.matmul %{{.*}}, %[[V]] {transpose_b}
// CHECK: nn.layer_norm %arg0 scale(%cst) bias(%cst_0)

// A product's weights and bias absorb the division, through relu. Depthwise
// weights allow any factor: it is the magnitude itself. A sum multiplies its
// operand again.
// CHECK-LABEL: func.func @others
// CHECK-DAG: %[[C:.*]] = arith.constant dense<{{\[\[\[\[6.250000e-02\]\], \[\[6.250000e-02\]\]\], \[\[\[1.000000e\+00\]\], \[\[1.000000e\+00\]\]\]\]}}> : tensor<2x2x1x1xf32>
// CHECK-DAG: %[[CB:.*]] = arith.constant dense<[1.250000e-01, 2.000000e+00]> : tensor<2xf32>
// CHECK: nn.conv %arg0, %[[C]] bias(%[[CB]])
// CHECK: %[[R:.*]] = nn.relu
// CHECK: %[[F:.*]] = arith.constant dense<{{\[\[\[1.600000e\+01\]\], \[\[1.000000e\+00\]\]\]}}> : tensor<2x1x1xf32>
// CHECK: %[[BACK:.*]] = nn.mul %[[R]], %[[F]]
// CHECK: %[[D:.*]] = arith.constant dense<{{\[\[\[\[1.600000e\+01\]\]\], \[\[\[1.000000e\+00\]\]\]\]}}> : tensor<2x1x1x1xf32>
// CHECK: %[[Y:.*]] = nn.conv %[[R]], %[[D]]
// CHECK: nn.add %[[BACK]], %[[Y]]
// Behind other ops there is a multiplication, and the factor is the root of
// both magnitudes.
// CHECK: %[[T:.*]] = nn.tanh
// CHECK: %[[I:.*]] = arith.constant dense<{{\[\[\[2.500000e-01\]\], \[\[1.000000e\+00\]\]\]}}> : tensor<2x1x1xf32>
// CHECK: %[[S:.*]] = nn.mul %[[T]], %[[I]]
// CHECK: nn.conv %[[S]]

// A transposed convolution reads channels like others, whatever its kernel.
// CHECK-LABEL: func.func @transposed
// CHECK: %[[I:.*]] = arith.constant dense<{{\[\[2.500000e-01\], \[1.000000e\+00\]\]}}> : tensor<2x1xf32>
// CHECK: %[[S:.*]] = nn.mul %{{.*}}, %[[I]]
// CHECK: nn.conv_transpose %[[S]]

//--- model.mlir
func.func @norms(%x: tensor<3x2xf32>) -> (tensor<3x3xf32>, tensor<3x1xf32>, tensor<3x3xf32>, tensor<3x2xf32>) {
  %s = arith.constant dense<2.0> : tensor<2xf32>
  %b = arith.constant dense<1.0> : tensor<2xf32>
  %w = arith.constant dense<1.0> : tensor<2x3xf32>
  %v = arith.constant dense<1.0> : tensor<1x2xf32>
  %n = nn.layer_norm %x scale(%s) bias(%b) {axis = 1 : i64, epsilon = 1.0e-5 : f32} : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<3x2xf32> loc("norm")
  %0 = nn.matmul %n, %w : (tensor<3x2xf32>, tensor<2x3xf32>) -> tensor<3x3xf32> loc("q")
  %1 = nn.matmul %n, %v {transpose_b} : (tensor<3x2xf32>, tensor<1x2xf32>) -> tensor<3x1xf32> loc("k")
  %m = nn.layer_norm %x scale(%s) bias(%b) {axis = 1 : i64, epsilon = 1.0e-5 : f32} : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<3x2xf32> loc("read")
  %2 = nn.matmul %m, %w : (tensor<3x2xf32>, tensor<2x3xf32>) -> tensor<3x3xf32> loc("v")
  return %0, %1, %2, %m : tensor<3x3xf32>, tensor<3x1xf32>, tensor<3x3xf32>, tensor<3x2xf32>
}

func.func @others(%x: tensor<1x2x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %w = arith.constant dense<1.0> : tensor<2x2x1x1xf32>
  %b = arith.constant dense<2.0> : tensor<2xf32>
  %d = arith.constant dense<1.0> : tensor<2x1x1x1xf32>
  %c = nn.conv %x, %w bias(%b) {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32> loc("conv")
  %r = nn.relu %c : tensor<1x2x4x4xf32> -> tensor<1x2x4x4xf32> loc("relu")
  %y = nn.conv %r, %d {dilations = array<i64: 1, 1>, groups = 2 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32> loc("depthwise")
  %s = nn.add %r, %y : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32> -> tensor<1x2x4x4xf32> loc("sum")
  %t = nn.tanh %y : tensor<1x2x4x4xf32> -> tensor<1x2x4x4xf32> loc("tanh")
  %u = nn.conv %t, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32> loc("last")
  return %s, %u : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}

func.func @transposed(%x: tensor<1x2x2xf32>) -> tensor<1x3x4xf32> {
  %w = arith.constant dense<1.0> : tensor<2x3x2xf32>
  %t = nn.tanh %x : tensor<1x2x2xf32> -> tensor<1x2x2xf32> loc("fan")
  %y = nn.conv_transpose %t, %w {dilations = array<i64: 1>, groups = 1 : i64, output_padding = array<i64: 0>, pads = array<i64: 0, 0>, strides = array<i64: 2>}
    : (tensor<1x2x2xf32>, tensor<2x3x2xf32>) -> tensor<1x3x4xf32> loc("up")
  return %y : tensor<1x3x4xf32>
}

//--- norms.json
{"ingot_calibration": 3, "model": "m", "model_sha256": "0000000000000000000000000000000000000000000000000000000000000000",
 "method": "minmax", "samples": 1, "tensors": [{"name": "x", "min": -1, "max": 2, "scale": 0.0125, "zero_point": 80}], "repair": {"channels": [{"name": "norm", "values": [16, 1]}, {"name": "relu", "values": [16, 1]}, {"name": "tanh", "values": [16, 1]}, {"name": "fan", "values": [16, 1]}]}}

//--- short.json
{"ingot_calibration": 3, "model": "m", "model_sha256": "0000000000000000000000000000000000000000000000000000000000000000",
 "method": "minmax", "samples": 1, "tensors": [{"name": "x", "min": -1, "max": 2, "scale": 0.0125, "zero_point": 80}], "repair": {"channels": [{"name": "norm", "values": [16]}]}}
