// RUN: ingot-opt %s --pass-pipeline='builtin.module(ingot-attach-targets{levels=avx512fp16},func.func(nn-to-cpu{precision=fp16}))' --split-input-file --verify-diagnostics \
// RUN:   | FileCheck %s

// f16 by f16, in pairs of channels. Weights are scaled so that no 64 weights of
// a column sum to more than 1. 64 times 2 become 64 times 2^-7, and the sum is
// multiplied by 2^8.
// CHECK-LABEL: @product
// CHECK-DAG: %[[W:.*]] = arith.constant dense<7.812500e-03> : tensor<1x32x32x2xf16>
// CHECK-DAG: %[[U:.*]] = arith.constant dense<2.560000e+02> : tensor<32xf32>
// CHECK: %[[UNDO:.*]] = tensor.expand_shape %[[U]] {{.*}} : tensor<32xf32> into tensor<1x32xf32>
// CHECK: %[[X:.*]] = nn.cast %arg0 : tensor<5x64xf32> -> tensor<5x64xf16>
// CHECK: cpu.matmul ins(%[[X]], %[[W]] : tensor<5x64xf16>, tensor<1x32x32x2xf16>) operands(%[[UNDO]], %{{.*}}) outs(%{{.*}} : tensor<5x32xf32>)
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32, %[[SCALE:.*]]: f32, %[[BIAS:.*]]: f32):
// CHECK-NEXT: %[[S:.*]] = arith.mulf %[[SUM]], %[[SCALE]] : f32
// CHECK-NEXT: %[[B:.*]] = arith.addf %[[S]], %[[BIAS]] : f32
// CHECK-NEXT: cpu.yield %[[B]]
func.func @product(%a: tensor<5x64xf32>, %b: tensor<32xf32>) -> tensor<5x32xf32> {
  %w = arith.constant dense<2.0> : tensor<64x32xf32>
  %y = nn.matmul %a, %w bias(%b) {ingot.precision = #ingot.precision<fp16>}
    : (tensor<5x64xf32>, tensor<64x32xf32>, tensor<32xf32>) -> tensor<5x32xf32>
  return %y : tensor<5x32xf32>
}

// -----

// Depthwise filters stay f32, but their input is f16.
// CHECK-LABEL: @windows
// CHECK: cpu.conv ins({{.*}} : tensor<1x8x32xf16>, tensor<1x1x16x32x2xf16>)
// CHECK: cpu.depthwise_conv ins({{.*}} : tensor<1x8x32xf16>, tensor<1x32xf32>)
func.func @windows(%x: tensor<1x8x32xf32>) -> tensor<1x8x32xf32> {
  %w = arith.constant dense<1.0> : tensor<32x32x1xf32>
  %d = arith.constant dense<1.0> : tensor<32x1x1xf32>
  %0 = nn.conv %x, %w {channels_last, dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 0, 0>,
    strides = array<i64: 1>, ingot.precision = #ingot.precision<fp16>} : (tensor<1x8x32xf32>, tensor<32x32x1xf32>) -> tensor<1x8x32xf32>
  %1 = nn.conv %0, %d {channels_last, dilations = array<i64: 1>, groups = 32 : i64, pads = array<i64: 0, 0>,
    strides = array<i64: 1>, ingot.precision = #ingot.precision<fp16>} : (tensor<1x8x32xf32>, tensor<32x1x1xf32>) -> tensor<1x8x32xf32>
  return %1 : tensor<1x8x32xf32>
}

// -----

// Must not fire: few terms, batches of constants and unmarked products.
// CHECK-LABEL: @few
// CHECK: cpu.matmul ins({{.*}} : tensor<5x31xf32>, tensor<1x31x16xf16>)
// CHECK: cpu.matmul ins({{.*}} : tensor<2x5x64xf32>, tensor<2x1x64x16xf16>)
// CHECK: cpu.matmul ins({{.*}} : tensor<5x64xf32>, tensor<1x64x16xf32>)
func.func @few(%a: tensor<5x31xf32>, %b: tensor<2x5x64xf32>, %c: tensor<5x64xf32>) -> (tensor<5x16xf32>, tensor<2x5x16xf32>, tensor<5x16xf32>) {
  %w = arith.constant dense<1.0> : tensor<31x16xf32>
  %v = arith.constant dense<1.0> : tensor<2x64x16xf32>
  %u = arith.constant dense<1.0> : tensor<64x16xf32>
  %0 = nn.matmul %a, %w {ingot.precision = #ingot.precision<fp16>} : (tensor<5x31xf32>, tensor<31x16xf32>) -> tensor<5x16xf32>
  %1 = nn.matmul %b, %v {ingot.precision = #ingot.precision<fp16>} : (tensor<2x5x64xf32>, tensor<2x64x16xf32>) -> tensor<2x5x16xf32>
  %2 = nn.matmul %c, %u : (tensor<5x64xf32>, tensor<64x16xf32>) -> tensor<5x16xf32>
  return %0, %1, %2 : tensor<5x16xf32>, tensor<2x5x16xf32>, tensor<5x16xf32>
}

// -----

// CHECK-LABEL: @infinite
// CHECK: cpu.matmul ins({{.*}} : tensor<5x64xf32>, tensor<1x64x16xf32>)
func.func @infinite(%a: tensor<5x64xf32>) -> tensor<5x16xf32> {
  %w = arith.constant dense<0x7f800000> : tensor<64x16xf32>
  // expected-warning @+1 {{has weights that float16 does not hold, however they are scaled: it stays float32}}
  %0 = nn.matmul %a, %w {ingot.precision = #ingot.precision<fp16>} : (tensor<5x64xf32>, tensor<64x16xf32>) -> tensor<5x16xf32>
  return %0 : tensor<5x16xf32>
}
