// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(conv-to-winograd))' --split-input-file | FileCheck %s
// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(conv-to-winograd))' --split-input-file --remarks-filter-analyse=decision 2>&1 >/dev/null | FileCheck %s --check-prefix=DECISION

// Enough channels and pixels: tiles of 4 x 4 pixels, 36 points each. The filter
// is 1 in its middle. Its value at a point is the row factor of the middle
// times the column factor. At infinity, which is the last point, it is 0.
// DECISION-DAG: cpu.winograd_conv {{.*}} Decision="#ingot.decision<packing, "panels of 32 columns, float32, transformed", [<"panels of 32 columns, float32, transformed", cycles = {{[0-9]+}}>, <"packed in each run", cycles = {{[0-9]+}}>], "has 64 output channels">", Sizes=1x56x56x64
// CHECK-LABEL: @four
// CHECK: %[[W:.*]] = arith.constant dense_resource<{{.*}}> : tensor<2x36x64x32xf32>
// CHECK: %[[B:.*]] = tensor.expand_shape %{{.*}} output_shape [1, 1, 1, 64]
// CHECK: cpu.winograd_conv ins(%{{.*}}, %[[W]] : tensor<1x56x56x64xf32>, {{.*}}) operands(%[[B]] : {{.*}}) outs
// CHECK-SAME: pads = array<i64: 1, 1, 1, 1>
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32, %[[BIAS:.*]]: f32):
// CHECK-NEXT: arith.addf %[[SUM]], %[[BIAS]]
func.func @four(%x: tensor<1x56x56x64xf32>, %b: tensor<64xf32>) -> tensor<1x56x56x64xf32> {
  %w = arith.constant dense<1.0> : tensor<64x64x3x3xf32>
  %y = nn.conv %x, %w bias(%b) {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x56x56x64xf32>, tensor<64x64x3x3xf32>, tensor<64xf32>) -> tensor<1x56x56x64xf32>
  return %y : tensor<1x56x56x64xf32>
}

// -----

// Weights of more channels would be too large with 36 points.
// CHECK-LABEL: @two
// CHECK: cpu.winograd_conv ins({{.*}} : tensor<1x14x14x256xf32>, tensor<8x16x256x32xf32>)
func.func @two(%x: tensor<1x14x14x256xf32>) -> tensor<1x14x14x256xf32> {
  %w = arith.constant dense<1.0> : tensor<256x256x3x3xf32>
  %y = nn.conv %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x14x14x256xf32>, tensor<256x256x3x3xf32>) -> tensor<1x14x14x256xf32>
  return %y : tensor<1x14x14x256xf32>
}

// -----

// Dynamic sizes are treated as usual sizes.
// CHECK-LABEL: @open
// CHECK: tensor.empty(%{{.*}}, %{{.*}}, %{{.*}}) : tensor<?x?x?x64xf32>
// CHECK: cpu.winograd_conv
func.func @open(%x: tensor<?x?x?x64xf32>) -> tensor<?x?x?x64xf32> {
  %w = arith.constant dense<1.0> : tensor<64x64x3x3xf32>
  %y = nn.conv %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<?x?x?x64xf32>, tensor<64x64x3x3xf32>) -> tensor<?x?x?x64xf32>
  return %y : tensor<?x?x?x64xf32>
}

// -----

// Weights that are stored as f16 are rounded when they are transformed.
// CHECK-LABEL: @half
// CHECK: cpu.winograd_conv ins({{.*}} : tensor<1x56x56x64xf32>, tensor<2x36x64x32xf16>)
func.func @half(%x: tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32> {
  %w = arith.constant dense<1.0> : tensor<64x64x3x3xf32>
  %y = nn.conv %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>, ingot.precision = #ingot.precision<fp16>} : (tensor<1x56x56x64xf32>, tensor<64x64x3x3xf32>) -> tensor<1x56x56x64xf32>
  return %y : tensor<1x56x56x64xf32>
}

// -----

// Must not fire: weights that f16 cannot hold, directly or transformed: the sum
// of nine at a point.
// CHECK-LABEL: @beyond
// CHECK-NOT: cpu.winograd_conv
func.func @beyond(%x: tensor<1x56x56x64xf32>) -> (tensor<1x56x56x64xf32>, tensor<1x56x56x64xf32>) {
  %w0 = arith.constant dense<7.0e4> : tensor<64x64x3x3xf32>
  %0 = nn.conv %x, %w0 {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>, ingot.precision = #ingot.precision<fp16>} : (tensor<1x56x56x64xf32>, tensor<64x64x3x3xf32>) -> tensor<1x56x56x64xf32>
  %w1 = arith.constant dense<5.0e4> : tensor<64x64x3x3xf32>
  %1 = nn.conv %0, %w1 {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>, ingot.precision = #ingot.precision<fp16>} : (tensor<1x56x56x64xf32>, tensor<64x64x3x3xf32>) -> tensor<1x56x56x64xf32>
  return %0, %1 : tensor<1x56x56x64xf32>, tensor<1x56x56x64xf32>
}

// -----

// Must not fire: too few pixels for the weights, too few channels for the
// transforms, more channels than a task's stack holds, strides, dilations,
// other taps.
// CHECK-LABEL: @not
// CHECK-NOT: cpu.winograd_conv
func.func @not(%few: tensor<1x5x5x256xf32>, %thin: tensor<1x56x56x3xf32>, %thick: tensor<1x28x28x512xf32>,
               %x: tensor<1x57x57x64xf32>)
    -> (tensor<1x5x5x256xf32>, tensor<1x56x56x64xf32>, tensor<1x28x28x512xf32>, tensor<1x28x28x64xf32>,
        tensor<1x53x53x64xf32>, tensor<1x53x53x64xf32>) {
  %w0 = arith.constant dense<1.0> : tensor<256x256x3x3xf32>
  %0 = nn.conv %few, %w0 {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x5x5x256xf32>, tensor<256x256x3x3xf32>) -> tensor<1x5x5x256xf32>
  %w1 = arith.constant dense<1.0> : tensor<64x3x3x3xf32>
  %1 = nn.conv %thin, %w1 {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x56x56x3xf32>, tensor<64x3x3x3xf32>) -> tensor<1x56x56x64xf32>
  %w2 = arith.constant dense<1.0> : tensor<512x512x3x3xf32>
  %2 = nn.conv %thick, %w2 {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x28x28x512xf32>, tensor<512x512x3x3xf32>) -> tensor<1x28x28x512xf32>
  %w = arith.constant dense<1.0> : tensor<64x64x3x3xf32>
  %3 = nn.conv %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 2, 2>} : (tensor<1x57x57x64xf32>, tensor<64x64x3x3xf32>) -> tensor<1x28x28x64xf32>
  %4 = nn.conv %x, %w {channels_last, dilations = array<i64: 2, 2>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 1, 1>} : (tensor<1x57x57x64xf32>, tensor<64x64x3x3xf32>) -> tensor<1x53x53x64xf32>
  %w5 = arith.constant dense<1.0> : tensor<64x64x5x5xf32>
  %5 = nn.conv %x, %w5 {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 1, 1>} : (tensor<1x57x57x64xf32>, tensor<64x64x5x5xf32>) -> tensor<1x53x53x64xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<1x5x5x256xf32>, tensor<1x56x56x64xf32>, tensor<1x28x28x512xf32>,
    tensor<1x28x28x64xf32>, tensor<1x53x53x64xf32>, tensor<1x53x53x64xf32>
}

// -----

// Groups, other types, bf16, another backend.
// CHECK-LABEL: @others
// CHECK-NOT: cpu.winograd_conv
func.func @others(%x: tensor<1x56x56x64xf32>, %q: tensor<1x56x56x64xui8>)
    -> (tensor<1x56x56x64xf32>, tensor<1x56x56x64xi32>, tensor<1x56x56x64xf32>, tensor<1x56x56x64xf32>) {
  %w0 = arith.constant dense<1.0> : tensor<64x32x3x3xf32>
  %0 = nn.conv %x, %w0 {channels_last, dilations = array<i64: 1, 1>, groups = 2 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x56x56x64xf32>, tensor<64x32x3x3xf32>) -> tensor<1x56x56x64xf32>
  %w1 = arith.constant dense<1> : tensor<64x64x3x3xi8>
  %1 = nn.conv %q, %w1 {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x56x56x64xui8>, tensor<64x64x3x3xi8>) -> tensor<1x56x56x64xi32>
  %w = arith.constant dense<1.0> : tensor<64x64x3x3xf32>
  %2 = nn.conv %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>, ingot.precision = #ingot.precision<bf16>} : (tensor<1x56x56x64xf32>, tensor<64x64x3x3xf32>) -> tensor<1x56x56x64xf32>
  %3 = nn.conv %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>, ingot.backend = #ingot.backend<loops>} : (tensor<1x56x56x64xf32>, tensor<64x64x3x3xf32>) -> tensor<1x56x56x64xf32>
  return %0, %1, %2, %3 : tensor<1x56x56x64xf32>, tensor<1x56x56x64xi32>, tensor<1x56x56x64xf32>, tensor<1x56x56x64xf32>
}
