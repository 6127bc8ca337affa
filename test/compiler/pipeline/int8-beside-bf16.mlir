// RUN: split-file %s %t
// RUN: ingot-opt %t/model.mlir --ingot-quantize='precision=bf16 calibration=%t/model.json keep-from-int8=conv2=fp32,conv3=fp32 keep=conv3=fp32' \
// RUN:   --ingot-layout --ingot-linalg='precision=bf16 keep=conv3=fp32' | FileCheck %s

// Nodes that are not quantized are bf16, unless a rule keeps them from both.
// CHECK: cpu.matmul ins(%{{.*}}, %{{.*}} : tensor<64x32xi8>, tensor<1x8x32x4xi8>)
// CHECK: cpu.matmul ins(%{{.*}}, %{{.*}} : tensor<64x32xbf16>, tensor<1x16x32x2xbf16>)
// CHECK: cpu.matmul ins(%{{.*}}, %{{.*}} : tensor<64x32xf32>, tensor<1x32x32xf32>)

//--- model.mlir
func.func @forward(%x: tensor<1x32x8x8xf32> {ingot.name = "x"}) -> tensor<1x32x8x8xf32> {
  %w = arith.constant dense<0.3> : tensor<32x32x1x1xf32>
  %0 = nn.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x32x8x8xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x8x8xf32> loc("conv1")
  %1 = nn.conv %0, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x32x8x8xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x8x8xf32> loc("conv2")
  %2 = nn.conv %1, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x32x8x8xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x8x8xf32> loc("conv3")
  return %2 : tensor<1x32x8x8xf32>
}

//--- model.json
{"ingot_calibration": 1, "model": "m", "model_sha256": "0000000000000000000000000000000000000000000000000000000000000000",
 "method": "minmax", "samples": 1, "tensors": [{"name": "x", "min": -1, "max": 2, "scale": 0.0125, "zero_point": 80}]}
