// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(nn-to-cpu))' --split-input-file | FileCheck %s
// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(nn-to-cpu))' --split-input-file --remarks-filter-analyse=decision 2>&1 >/dev/null | FileCheck %s --check-prefix=DECISION

// Weights in panels of 16: one row of 16 for each input channel, with zeros
// behind the two output channels. The bias becomes an epilogue operand.
// DECISION-DAG: cpu.conv {{.*}} Decision="#ingot.decision<packing, "panels of 16 columns, float32", [<"panels of 16 columns, float32", cycles = {{[0-9]+}}>, <"packed in each run", cycles = {{[0-9]+}}>], "has 2 output channels">", Sizes=1x4x2
// DECISION-DAG: cpu.depthwise_conv {{.*}} Decision="#ingot.decision<packing, "taps by channels, float32", [<"taps by channels, float32", cycles = {{[0-9]+}}>, <"packed in each run", cycles = {{[0-9]+}}>], "has 4 output channels">", Sizes=1x8x4
// CHECK-LABEL: @conv
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{\[\[\[\[}}1.000000e+00, 3.000000e+00, 0.000000e+00, {{.*}}], [2.000000e+00, 4.000000e+00, 0.000000e+00{{.*}}> : tensor<1x1x2x16xf32>
// CHECK-DAG: %[[B:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0, 1, 2]] output_shape [1, 1, 2] : tensor<2xf32> into tensor<1x1x2xf32>
// CHECK-DAG: %[[D:.*]] = tensor.empty() : tensor<1x4x2xf32>
// CHECK: cpu.conv ins(%{{.*}}, %[[W]] : {{.*}}) operands(%[[B]] : {{.*}}) outs(%[[D]] : tensor<1x4x2xf32>)
// CHECK-SAME: dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 0, 0>, strides = array<i64: 2>
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32, %[[BIAS:.*]]: f32):
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[SUM]], %[[BIAS]] : f32
// CHECK-NEXT: cpu.yield %[[S]]
func.func @conv(%x: tensor<1x8x2xf32>, %b: tensor<2xf32>) -> tensor<1x4x2xf32> {
  %w = arith.constant dense<[[[1.0], [2.0]], [[3.0], [4.0]]]> : tensor<2x2x1xf32>
  %y = nn.conv %x, %w bias(%b) {channels_last, dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 0, 0>,
    strides = array<i64: 2>} : (tensor<1x8x2xf32>, tensor<2x2x1xf32>, tensor<2xf32>) -> tensor<1x4x2xf32>
  return %y : tensor<1x4x2xf32>
}

// -----

// The batch may be dynamic; each group has its own panels.
// CHECK-LABEL: @grouped
// CHECK-DAG: %[[N:.*]] = tensor.dim %{{.*}}, %c0
// CHECK-DAG: tensor.empty(%[[N]]) : tensor<?x8x8x6xf32>
// CHECK: cpu.conv ins({{.*}} : tensor<?x8x8x4xf32>, tensor<2x3x3x2x16xf32>) outs
// CHECK-SAME: groups = 2
func.func @grouped(%x: tensor<?x8x8x4xf32>) -> tensor<?x8x8x6xf32> {
  %w = arith.constant dense<1.0> : tensor<6x2x3x3xf32>
  %y = nn.conv %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 2 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<?x8x8x4xf32>, tensor<6x2x3x3xf32>) -> tensor<?x8x8x6xf32>
  return %y : tensor<?x8x8x6xf32>
}

// -----

// Depthwise: taps by channels, without padding of channels.
// CHECK-LABEL: @depthwise
// CHECK: arith.constant dense<{{\[\[}}1.000000e+00, 3.000000e+00], [2.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>
// CHECK: cpu.depthwise_conv
func.func @depthwise(%x: tensor<1x8x2xf32>) -> tensor<1x7x2xf32> {
  %w = arith.constant dense<[[[1.0, 2.0]], [[3.0, 4.0]]]> : tensor<2x1x2xf32>
  %y = nn.conv %x, %w {channels_last, dilations = array<i64: 1>, groups = 2 : i64, pads = array<i64: 0, 0>,
    strides = array<i64: 1>} : (tensor<1x8x2xf32>, tensor<2x1x2xf32>) -> tensor<1x7x2xf32>
  return %y : tensor<1x7x2xf32>
}

// -----

// Two groups of two channels. For each tap, the factors of a group's first
// channel for each channel of dst, then those of the second. Groups of three,
// or with more outputs than inputs, are convolutions of few channels.
// CHECK-LABEL: @groups
// CHECK: arith.constant dense<{{\[\[}}1.000000e+00, 3.000000e+00, 5.000000e+00, 7.000000e+00, 2.000000e+00, 4.000000e+00, 6.000000e+00, 8.000000e+00]]> : tensor<1x8xf32>
// CHECK: cpu.depthwise_conv
// CHECK: cpu.conv {{.*}}groups = 2
// CHECK: cpu.conv {{.*}}groups = 2
func.func @groups(%x: tensor<1x8x4xf32>, %z: tensor<1x8x6xf32>) -> (tensor<1x8x4xf32>, tensor<1x8x6xf32>, tensor<1x8x8xf32>) {
  %w = arith.constant dense<[[[1.0], [2.0]], [[3.0], [4.0]], [[5.0], [6.0]], [[7.0], [8.0]]]> : tensor<4x2x1xf32>
  %y = nn.conv %x, %w {channels_last, dilations = array<i64: 1>, groups = 2 : i64, pads = array<i64: 0, 0>,
    strides = array<i64: 1>} : (tensor<1x8x4xf32>, tensor<4x2x1xf32>) -> tensor<1x8x4xf32>
  %v = arith.constant dense<1.0> : tensor<6x3x1xf32>
  %0 = nn.conv %z, %v {channels_last, dilations = array<i64: 1>, groups = 2 : i64, pads = array<i64: 0, 0>,
    strides = array<i64: 1>} : (tensor<1x8x6xf32>, tensor<6x3x1xf32>) -> tensor<1x8x6xf32>
  %u = arith.constant dense<1.0> : tensor<8x2x1xf32>
  %1 = nn.conv %x, %u {channels_last, dilations = array<i64: 1>, groups = 2 : i64, pads = array<i64: 0, 0>,
    strides = array<i64: 1>} : (tensor<1x8x4xf32>, tensor<8x2x1xf32>) -> tensor<1x8x8xf32>
  return %y, %0, %1 : tensor<1x8x4xf32>, tensor<1x8x6xf32>, tensor<1x8x8xf32>
}

// -----

// More outputs than inputs: not depthwise, one channel a group.
// CHECK-LABEL: @multiplier
// CHECK: cpu.conv ins({{.*}} : tensor<1x8x2xf32>, tensor<2x2x1x16xf32>)
func.func @multiplier(%x: tensor<1x8x2xf32>) -> tensor<1x7x4xf32> {
  %w = arith.constant dense<1.0> : tensor<4x1x2xf32>
  %y = nn.conv %x, %w {channels_last, dilations = array<i64: 1>, groups = 2 : i64, pads = array<i64: 0, 0>,
    strides = array<i64: 1>} : (tensor<1x8x2xf32>, tensor<4x1x2xf32>) -> tensor<1x7x4xf32>
  return %y : tensor<1x7x4xf32>
}

// -----

// 33 columns are three panels of 16; 64 columns are two of 32. Rows may be
// dynamic.
// CHECK-LABEL: @matmul
// CHECK-DAG: %[[N:.*]] = tensor.dim %arg0, %c0
// CHECK-DAG: %[[D:.*]] = tensor.empty(%[[N]]) : tensor<?x33xf32>
// CHECK: cpu.matmul ins({{.*}} : tensor<?x4xf32>, tensor<3x4x16xf32>) operands({{.*}} : tensor<1x33xf32>) outs(%[[D]] :
// CHECK: cpu.matmul ins({{.*}} : tensor<?x4xf32>, tensor<2x4x32xf32>)
func.func @matmul(%a: tensor<?x4xf32>, %c: tensor<33xf32>) -> (tensor<?x33xf32>, tensor<?x64xf32>) {
  %b = arith.constant dense<1.0> : tensor<33x4xf32>
  %e = arith.constant dense<1.0> : tensor<4x64xf32>
  %0 = nn.matmul %a, %b bias(%c) {transpose_b} : (tensor<?x4xf32>, tensor<33x4xf32>, tensor<33xf32>) -> tensor<?x33xf32>
  %1 = nn.matmul %a, %e : (tensor<?x4xf32>, tensor<4x64xf32>) -> tensor<?x64xf32>
  return %0, %1 : tensor<?x33xf32>, tensor<?x64xf32>
}

// -----

// The run packs a right operand that it computes: it pads and splits columns,
// and moves panels in front of rows.
// CHECK-LABEL: @run_time
// CHECK: %[[Z:.*]] = linalg.fill {{.*}} -> tensor<2x4x16xf32>
// CHECK: %[[P:.*]] = tensor.insert_slice %{{.*}} into %[[Z]][0, 0, 0] [2, 4, 5]
// CHECK: %[[S:.*]] = tensor.expand_shape %[[P]] {{\[\[}}0], [1], [2, 3]] {{.*}} into tensor<2x4x1x16xf32>
// CHECK: %[[T:.*]] = linalg.generic {{.*}} ins(%[[S]] : {{.*}}) outs(%{{.*}} : tensor<2x1x4x16xf32>)
// CHECK: cpu.matmul ins(%{{.*}}, %[[T]] :
func.func @run_time(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) -> tensor<2x3x5xf32> {
  %0 = nn.matmul %a, %b : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}

// -----

// CHECK-LABEL: @run_time_transposed
// CHECK-NOT: tensor.insert_slice
// CHECK: %[[S:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2]] {{.*}} into tensor<2x32x4xf32>
// CHECK: linalg.generic {{.*}} ins(%[[S]] : {{.*}}) outs(%{{.*}} : tensor<2x4x32xf32>)
func.func @run_time_transposed(%a: tensor<3x4xf32>, %b: tensor<64x4xf32>) -> tensor<3x64xf32> {
  %0 = nn.matmul %a, %b {transpose_b} : (tensor<3x4xf32>, tensor<64x4xf32>) -> tensor<3x64xf32>
  return %0 : tensor<3x64xf32>
}

// -----

// If the rows of the left operand are columns, the run transposes it. Sizes may
// be dynamic.
// CHECK-LABEL: @transposed_left
// CHECK: %[[T:.*]] = linalg.{{.*}} ins(%arg0 : tensor<4x?xf32>) outs(%{{.*}} : tensor<?x4xf32>)
// CHECK: cpu.matmul ins(%[[T]], %{{.*}} : tensor<?x4xf32>
func.func @transposed_left(%a: tensor<4x?xf32>) -> tensor<?x7xf32> {
  %b = arith.constant dense<1.0> : tensor<4x7xf32>
  %y = nn.matmul %a, %b {transpose_a} : (tensor<4x?xf32>, tensor<4x7xf32>) -> tensor<?x7xf32>
  return %y : tensor<?x7xf32>
}

// -----

// A bias that is not a single row is added afterwards.
// CHECK-LABEL: @matrix_bias
// CHECK: %[[Y:.*]] = cpu.matmul ins({{.*}}) outs
// CHECK: nn.add %[[Y]], %{{.*}}
func.func @matrix_bias(%a: tensor<5x4xf32>, %c: tensor<5x1xf32>) -> tensor<5x7xf32> {
  %b = arith.constant dense<1.0> : tensor<4x7xf32>
  %y = nn.matmul %a, %b bias(%c) : (tensor<5x4xf32>, tensor<4x7xf32>, tensor<5x1xf32>) -> tensor<5x7xf32>
  return %y : tensor<5x7xf32>
}

// -----

// Must not fire: another element type, channels first, a dynamic number of
// channels, a batch that broadcasts, few rows for an operand that the run would
// pack. Nor must it fire for ops for which loops were chosen.
// CHECK-LABEL: @others
// CHECK-NOT: cpu.
// CHECK: return
func.func @others(%x: tensor<1x8x8x4xf32>, %r: tensor<2x64xf32>, %w: tensor<64x64xf32>, %v: tensor<1x8x8x?xf32>, %d: tensor<3x4xf64>,
                  %e: tensor<4x5xf64>, %f: tensor<2x3x4xf32>, %g: tensor<1x4x5xf32>, %z: tensor<0x4xf32>)
    -> (tensor<2x64xf32>, tensor<1x6x6x6xf32>, tensor<1x6x6x2xf32>, tensor<3x5xf64>, tensor<2x3x5xf32>, tensor<0x5xf32>, tensor<1x6x6x6xf32>) {
  %k = arith.constant dense<1.0> : tensor<6x4x3x3xf32>
  %l = arith.constant dense<1.0> : tensor<6x8x3x3xf32>
  %m = arith.constant dense<1.0> : tensor<4x5xf32>
  %0 = nn.matmul %r, %w : (tensor<2x64xf32>, tensor<64x64xf32>) -> tensor<2x64xf32>
  %1 = nn.conv %v, %k {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 1, 1>} : (tensor<1x8x8x?xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  %2 = nn.conv %x, %l {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 1, 1>} : (tensor<1x8x8x4xf32>, tensor<6x8x3x3xf32>) -> tensor<1x6x6x2xf32>
  %3 = nn.matmul %d, %e : (tensor<3x4xf64>, tensor<4x5xf64>) -> tensor<3x5xf64>
  %4 = nn.matmul %f, %g : (tensor<2x3x4xf32>, tensor<1x4x5xf32>) -> tensor<2x3x5xf32>
  %5 = nn.matmul %z, %m : (tensor<0x4xf32>, tensor<4x5xf32>) -> tensor<0x5xf32>
  %6 = nn.conv %x, %k {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 1, 1>, ingot.backend = #ingot.backend<loops>} : (tensor<1x8x8x4xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2x64xf32>, tensor<1x6x6x6xf32>, tensor<1x6x6x2xf32>, tensor<3x5xf64>, tensor<2x3x5xf32>, tensor<0x5xf32>, tensor<1x6x6x6xf32>
}

// -----

// Dynamic numbers of pixels, of a convolution and a depthwise one.
// CHECK-LABEL: @open
// CHECK: cpu.conv ins({{.*}} : tensor<1x?x?x4xf32>, tensor<1x3x3x4x16xf32>) {{.*}}outs({{.*}} : tensor<1x?x?x4xf32>)
// CHECK: cpu.depthwise_conv ins({{.*}} : tensor<1x?x?x4xf32>, tensor<3x3x4xf32>) {{.*}}outs({{.*}} : tensor<1x?x?x4xf32>)
func.func @open(%x: tensor<1x?x?x4xf32>) -> tensor<1x?x?x4xf32> {
  %w = arith.constant dense<1.0> : tensor<4x4x3x3xf32>
  %v = arith.constant dense<1.0> : tensor<4x1x3x3xf32>
  %0 = nn.conv %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 2, 2>} : (tensor<1x?x?x4xf32>, tensor<4x4x3x3xf32>) -> tensor<1x?x?x4xf32>
  %1 = nn.conv %0, %v {channels_last, dilations = array<i64: 1, 1>, groups = 4 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x?x?x4xf32>, tensor<4x1x3x3xf32>) -> tensor<1x?x?x4xf32>
  return %1 : tensor<1x?x?x4xf32>
}

// -----

// Transposed: weights are unchanged. Padding of the result reduces the crop.
// CHECK-LABEL: @transposed
// CHECK: cpu.conv_transpose ins({{.*}} : tensor<?x4x4x2xf32>, tensor<2x3x3x3xf32>) operands({{.*}} : tensor<1x1x1x3xf32>) outs({{.*}} : tensor<?x8x7x3xf32>)
// CHECK-SAME: dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 0, 0, 2>, strides = array<i64: 2, 2>
// CHECK: arith.addf
func.func @transposed(%x: tensor<?x4x4x2xf32>, %b: tensor<3xf32>) -> tensor<?x8x7x3xf32> {
  %w = arith.constant dense<1.0> : tensor<2x3x3x3xf32>
  %y = nn.conv_transpose %x, %w bias(%b) {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64,
    output_padding = array<i64: 1, 0>, pads = array<i64: 1, 0, 1, 2>, strides = array<i64: 2, 2>}
    : (tensor<?x4x4x2xf32>, tensor<2x3x3x3xf32>, tensor<3xf32>) -> tensor<?x8x7x3xf32>
  return %y : tensor<?x8x7x3xf32>
}

// -----

// Weights that a run computes. Must not fire for more phases than kernels
// should have, unless the phases are one.
// CHECK-LABEL: @transposed_otherwise
// CHECK: cpu.conv_transpose ins(%arg0, %arg1 :
// CHECK: cpu.conv_transpose ins({{.*}} : tensor<1x?x2xf32>
// CHECK: nn.conv_transpose
// CHECK: cpu.conv_transpose {{.*}} outs(%{{.*}} : tensor<1x640x3xf32>)
func.func @transposed_otherwise(%x: tensor<1x4x2xf32>, %v: tensor<2x3x2xf32>, %z: tensor<1x?x2xf32>)
    -> (tensor<1x8x3xf32>, tensor<1x?x3xf32>, tensor<1x390x3xf32>, tensor<1x640x3xf32>) {
  %w = arith.constant dense<1.0> : tensor<2x3x2xf32>
  %w2 = arith.constant dense<1.0> : tensor<2x3x6xf32>
  %0 = nn.conv_transpose %x, %v {channels_last, dilations = array<i64: 1>, groups = 1 : i64, output_padding = array<i64: 0>,
    pads = array<i64: 0, 0>, strides = array<i64: 2>} : (tensor<1x4x2xf32>, tensor<2x3x2xf32>) -> tensor<1x8x3xf32>
  %1 = nn.conv_transpose %z, %w {channels_last, dilations = array<i64: 1>, groups = 1 : i64, output_padding = array<i64: 0>,
    pads = array<i64: 0, 0>, strides = array<i64: 2>} : (tensor<1x?x2xf32>, tensor<2x3x2xf32>) -> tensor<1x?x3xf32>
  %2 = nn.conv_transpose %x, %w2 {channels_last, dilations = array<i64: 1>, groups = 1 : i64, output_padding = array<i64: 0>,
    pads = array<i64: 0, 0>, strides = array<i64: 128>} : (tensor<1x4x2xf32>, tensor<2x3x6xf32>) -> tensor<1x390x3xf32>
  %w3 = arith.constant dense<1.0> : tensor<2x3x256xf32>
  %3 = nn.conv_transpose %x, %w3 {channels_last, dilations = array<i64: 1>, groups = 1 : i64, output_padding = array<i64: 0>,
    pads = array<i64: 0, 0>, strides = array<i64: 128>} : (tensor<1x4x2xf32>, tensor<2x3x256xf32>) -> tensor<1x640x3xf32>
  return %0, %1, %2, %3 : tensor<1x8x3xf32>, tensor<1x?x3xf32>, tensor<1x390x3xf32>, tensor<1x640x3xf32>
}

// -----

// bf16: src is cast. Constant weights are rounded and stored in pairs of channels; the last pair has a zero. The sum is
// f32.
// CHECK-LABEL: @bf16_conv
// CHECK-DAG: %[[W:.*]] = arith.constant {{.*}} : tensor<1x1x2x16x2xbf16>
// CHECK-DAG: %[[X:.*]] = nn.cast %arg0 : tensor<1x8x3xf32> -> tensor<1x8x3xbf16>
// CHECK: cpu.conv ins(%[[X]], %[[W]] : tensor<1x8x3xbf16>, tensor<1x1x2x16x2xbf16>) outs(%{{.*}} : tensor<1x8x2xf32>)
// CHECK-NEXT: ^bb0(%{{.*}}: f32):
func.func @bf16_conv(%x: tensor<1x8x3xf32>) -> tensor<1x8x2xf32> {
  %w = arith.constant dense<[[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]]]> : tensor<2x3x1xf32>
  %y = nn.conv %x, %w {channels_last, dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 0, 0>,
    strides = array<i64: 1>, ingot.precision = #ingot.precision<bf16>} : (tensor<1x8x3xf32>, tensor<2x3x1xf32>) -> tensor<1x8x2xf32>
  return %y : tensor<1x8x2xf32>
}

// -----

// In a loop that does not change it, the operand is packed in front of the
// loop.
// CHECK-LABEL: @packed_once
// CHECK: %[[PACKED:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x16x16xf32>)
// CHECK: scf.for
// CHECK-NOT: linalg.generic
// CHECK: cpu.matmul ins(%{{.*}}, %[[PACKED]] :
// CHECK: scf.for
// CHECK: linalg.generic
// CHECK: cpu.matmul
func.func @packed_once(%h: tensor<1x16xf32>, %r: tensor<16x16xf32>, %n: index) -> (tensor<1x16xf32>, tensor<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%state = %h) -> tensor<1x16xf32> {
    %y = nn.matmul %state, %r {transpose_b} : (tensor<1x16xf32>, tensor<16x16xf32>) -> tensor<1x16xf32>
    scf.yield %y : tensor<1x16xf32>
  }
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%state = %r) -> tensor<16x16xf32> {
    %y = nn.matmul %r, %state : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %y : tensor<16x16xf32>
  }
  return %0, %1 : tensor<1x16xf32>, tensor<16x16xf32>
}

// -----

// A right operand that a run computes is cast before it is packed. An odd K
// gets a row of zeros.
// CHECK-LABEL: @bf16_matmul
// CHECK: nn.cast %arg1 : tensor<7x16xf32> -> tensor<7x16xbf16>
// CHECK: linalg.fill ins(%{{.*}} : bf16)
// CHECK: tensor.insert_slice {{.*}} : tensor<7x16xbf16> into tensor<8x16xbf16>
// CHECK: tensor.expand_shape {{.*}} : tensor<8x16xbf16> into tensor<4x2x1x16xbf16>
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<4x2x1x16xbf16>) outs(%{{.*}} : tensor<1x4x16x2xbf16>)
// CHECK: cpu.matmul ins(%{{.*}}, %{{.*}} : tensor<5x7xbf16>, tensor<1x4x16x2xbf16>)
func.func @bf16_matmul(%a: tensor<5x7xf32>, %b: tensor<7x16xf32>) -> tensor<5x16xf32> {
  %y = nn.matmul %a, %b {ingot.precision = #ingot.precision<bf16>} : (tensor<5x7xf32>, tensor<7x16xf32>) -> tensor<5x16xf32>
  return %y : tensor<5x16xf32>
}

// -----

// Filters of depthwise convolutions stay f32, since they are few.
// CHECK-LABEL: @bf16_depthwise
// CHECK: cpu.depthwise_conv ins(%{{.*}}, %{{.*}} : tensor<1x8x2xbf16>, tensor<1x2xf32>)
func.func @bf16_depthwise(%x: tensor<1x8x2xf32>) -> tensor<1x8x2xf32> {
  %w = arith.constant dense<1.0> : tensor<2x1x1xf32>
  %y = nn.conv %x, %w {channels_last, dilations = array<i64: 1>, groups = 2 : i64, pads = array<i64: 0, 0>,
    strides = array<i64: 1>, ingot.precision = #ingot.precision<bf16>} : (tensor<1x8x2xf32>, tensor<2x1x1xf32>) -> tensor<1x8x2xf32>
  return %y : tensor<1x8x2xf32>
}

// -----

// Bytes in groups of four, with the compensation of the zero point in the padding: -2 times the sums of 3 taps of 1 of
// 3 channels.
// CHECK-LABEL: func.func @bytes
// CHECK: %[[C:.*]] = arith.constant dense<-18> : tensor<1x1x16xi32>
// CHECK: cpu.conv ins(%{{.*}}, %{{.*}} : tensor<1x1x9x3xui8>, tensor<1x1x3x1x16x4xi8>) compensation(%[[C]] : tensor<1x1x16xi32>) outs({{.*}} : tensor<1x1x9x16xi32>)
// CHECK-SAME: src_zero_point = 2 : i64
// CHECK: cpu.matmul ins(%{{.*}}, %{{.*}} : tensor<5x3xui8>, tensor<1x1x16x4xi8>) outs({{.*}} : tensor<5x16xi32>)
func.func @bytes(%x: tensor<1x1x9x3xui8>, %a: tensor<5x3xui8>) -> (tensor<1x1x9x16xi32>, tensor<5x16xi32>) {
  %w = arith.constant dense<1> : tensor<16x3x1x3xi8>
  %b = arith.constant dense<1> : tensor<3x16xi8>
  %0 = nn.conv %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 1, 0, 1>, strides = array<i64: 1, 1>, x_zero_point = 2 : i64}
    : (tensor<1x1x9x3xui8>, tensor<16x3x1x3xi8>) -> tensor<1x1x9x16xi32>
  %1 = nn.matmul %a, %b : (tensor<5x3xui8>, tensor<3x16xi8>) -> tensor<5x16xi32>
  return %0, %1 : tensor<1x1x9x16xi32>, tensor<5x16xi32>
}

// -----

// Single channels are summed as integers in f32, so that a cast to f32 is not needed.
// CHECK-LABEL: func.func @depthwise_bytes
// CHECK: %[[Y:.*]] = cpu.depthwise_conv ins(%{{.*}}, %{{.*}} : tensor<1x9x16xui8>, tensor<3x16xi8>) outs({{.*}} : tensor<1x9x16xf32>)
// CHECK-SAME: src_zero_point = 2 : i64
// CHECK-NOT: nn.cast
// CHECK: return %[[Y]]
func.func @depthwise_bytes(%x: tensor<1x9x16xui8>) -> tensor<1x9x16xf32> {
  %w = arith.constant dense<1> : tensor<16x1x3xi8>
  %0 = nn.conv %x, %w {channels_last, dilations = array<i64: 1>, groups = 16 : i64, pads = array<i64: 1, 1>, strides = array<i64: 1>, x_zero_point = 2 : i64}
    : (tensor<1x9x16xui8>, tensor<16x1x3xi8>) -> tensor<1x9x16xi32>
  %1 = nn.cast %0 : tensor<1x9x16xi32> -> tensor<1x9x16xf32>
  return %1 : tensor<1x9x16xf32>
}

// -----

// Taps above each other are stored once, as all levels read them.
// CHECK-LABEL: func.func @depthwise_fours
// CHECK: cpu.depthwise_conv ins({{.*}} : tensor<1x9x9x2xui8>, tensor<3x2x2xi8>) outs(
// CHECK-NOT: nn.cast
// CHECK: return
func.func @depthwise_fours(%x: tensor<1x9x9x2xui8>) -> tensor<1x7x8x2xf32> {
  %w = arith.constant dense<[[[[1, 2], [3, 4], [5, 6]]], [[[7, 8], [9, 10], [11, 12]]]]> : tensor<2x1x3x2xi8>
  %0 = nn.conv %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 2 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x9x9x2xui8>, tensor<2x1x3x2xi8>) -> tensor<1x7x8x2xi32>
  %1 = nn.cast %0 : tensor<1x7x8x2xi32> -> tensor<1x7x8x2xf32>
  return %1 : tensor<1x7x8x2xf32>
}

// -----

// Must not fire: signed data, and 515 taps of large weights, whose sum may
// exceed the integers of f32.
// CHECK-LABEL: func.func @no_bytes
// CHECK-NOT: cpu.
func.func @no_bytes(%a: tensor<5x3xi8>, %x: tensor<1x600x16xui8>) -> (tensor<5x16xi32>, tensor<1x86x16xi32>) {
  %b = arith.constant dense<1> : tensor<3x16xi8>
  %w = arith.constant dense<-128> : tensor<16x1x515xi8>
  %0 = nn.matmul %a, %b : (tensor<5x3xi8>, tensor<3x16xi8>) -> tensor<5x16xi32>
  %1 = nn.conv %x, %w {channels_last, dilations = array<i64: 1>, groups = 16 : i64, pads = array<i64: 0, 0>, strides = array<i64: 1>}
    : (tensor<1x600x16xui8>, tensor<16x1x515xi8>) -> tensor<1x86x16xi32>
  return %0, %1 : tensor<5x16xi32>, tensor<1x86x16xi32>
}

// -----

// Transposed convolution of bytes, in one group.
// CHECK-LABEL: @transposed_bytes
// CHECK: cpu.conv_transpose ins(%arg0, %{{.*}} : tensor<1x4x2xui8>, tensor<2x3x2xi8>) outs({{.*}} : tensor<1x8x3xi32>)
// CHECK: nn.conv_transpose
func.func @transposed_bytes(%x: tensor<1x4x2xui8>) -> (tensor<1x8x3xi32>, tensor<1x8x2xi32>) {
  %w = arith.constant dense<1> : tensor<2x3x2xi8>
  %v = arith.constant dense<1> : tensor<2x1x2xi8>
  %0 = nn.conv_transpose %x, %w {channels_last, dilations = array<i64: 1>, groups = 1 : i64, output_padding = array<i64: 0>,
    pads = array<i64: 0, 0>, strides = array<i64: 2>} : (tensor<1x4x2xui8>, tensor<2x3x2xi8>) -> tensor<1x8x3xi32>
  %1 = nn.conv_transpose %x, %v {channels_last, dilations = array<i64: 1>, groups = 2 : i64, output_padding = array<i64: 0>,
    pads = array<i64: 0, 0>, strides = array<i64: 2>} : (tensor<1x4x2xui8>, tensor<2x1x2xi8>) -> tensor<1x8x2xi32>
  return %0, %1 : tensor<1x8x3xi32>, tensor<1x8x2xi32>
}

// -----

// The run packs weights that it computes: each group in panels, single channels
// and small groups by taps.
// CHECK-LABEL: @run_time_weights
// CHECK: %[[G:.*]] = tensor.expand_shape %arg1 {{.*}} into tensor<2x3x4x5xf32>
// CHECK: %[[P:.*]] = tensor.insert_slice %[[G]] into %{{.*}} : tensor<2x3x4x5xf32> into tensor<2x16x4x5xf32>
// CHECK: tensor.expand_shape %[[P]] {{.*}} into tensor<2x1x16x4x5xf32>
// CHECK: %[[T:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2x1x5x4x16xf32>)
// CHECK: %[[W:.*]] = tensor.collapse_shape %[[T]] {{.*}} into tensor<2x5x4x16xf32>
// CHECK: cpu.conv ins(%arg0, %[[W]] :
// CHECK: %[[D:.*]] = linalg.generic {{.*}} ins(%arg2 : tensor<8x1x5xf32>) outs(%{{.*}} : tensor<5x1x8xf32>)
// CHECK: %[[E:.*]] = tensor.collapse_shape %[[D]] {{.*}} into tensor<5x8xf32>
// CHECK: cpu.depthwise_conv ins(%arg0, %[[E]]
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%arg3 : tensor<8x2x5xf32>) outs(%{{.*}} : tensor<5x2x8xf32>)
// CHECK: %[[F:.*]] = tensor.collapse_shape %[[S]] {{.*}} into tensor<5x16xf32>
// CHECK: cpu.depthwise_conv ins(%arg0, %[[F]]
func.func @run_time_weights(%x: tensor<1x?x8xf32>, %w: tensor<6x4x5xf32>, %d: tensor<8x1x5xf32>, %s: tensor<8x2x5xf32>)
    -> (tensor<1x?x6xf32>, tensor<1x?x8xf32>, tensor<1x?x8xf32>) {
  %0 = nn.conv %x, %w {channels_last, dilations = array<i64: 1>, groups = 2 : i64, pads = array<i64: 2, 2>,
    strides = array<i64: 1>} : (tensor<1x?x8xf32>, tensor<6x4x5xf32>) -> tensor<1x?x6xf32>
  %1 = nn.conv %x, %d {channels_last, dilations = array<i64: 1>, groups = 8 : i64, pads = array<i64: 2, 2>,
    strides = array<i64: 1>} : (tensor<1x?x8xf32>, tensor<8x1x5xf32>) -> tensor<1x?x8xf32>
  %2 = nn.conv %x, %s {channels_last, dilations = array<i64: 1>, groups = 4 : i64, pads = array<i64: 2, 2>,
    strides = array<i64: 1>} : (tensor<1x?x8xf32>, tensor<8x2x5xf32>) -> tensor<1x?x8xf32>
  return %0, %1, %2 : tensor<1x?x6xf32>, tensor<1x?x8xf32>, tensor<1x?x8xf32>
}

// -----

// All products with blocks of one size share rounded rows: 20 elements in whole
// words of weights. Bytes of a word are neighbours. Each has a value of the low
// half and one of the high half.
// CHECK-LABEL: @rounded
// CHECK: cpu.round_blocks ins(%arg0 : tensor<?x20xf32>) outs(%{{.*}} : tensor<?x8xi32>) attributes {block_size = 24 : i64, factor = -8 : i64}
// CHECK-NOT: cpu.round_blocks
// CHECK: %[[WORDS:.*]] = arith.constant dense<{{\[\[\[}}1935823168, 0,
// CHECK: cpu.packed_matmul ins(%{{.*}}, %[[WORDS]], %{{.*}} : tensor<?x8xi32>, tensor<1x3x16xi32>, tensor<1x1x16xf32>)
// CHECK-SAME: format = #cpu.weights<bits<4>, block_size = 24>
// CHECK-NOT: cpu.round_blocks
// CHECK: cpu.packed_matmul
func.func @rounded(%x: tensor<?x20xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>) {
  %q = arith.constant dense<[[[16, 50, 84, 118, 16, 50, 84, 118, 16, 50, 0, 0, 0, 0, 0, 0]]]> : tensor<1x1x16xui8>
  %s = arith.constant dense<0.5> : tensor<1x1xf32>
  %t = arith.constant dense<0.25> : tensor<1x1xf32>
  %0 = nn.packed_matmul %x, %q, %s {bits = 4 : i64, block_size = 32 : i64, depth = 20 : i64, rounds_a} : (tensor<?x20xf32>, tensor<1x1x16xui8>, tensor<1x1xf32>) -> tensor<?x1xf32>
  %1 = nn.packed_matmul %x, %q, %t {bits = 4 : i64, block_size = 32 : i64, depth = 20 : i64, rounds_a} : (tensor<?x20xf32>, tensor<1x1x16xui8>, tensor<1x1xf32>) -> tensor<?x1xf32>
  return %0, %1 : tensor<?x1xf32>, tensor<?x1xf32>
}

// -----

// If all levels multiply four bytes at once, rows become three bytes for each
// element. A single large block becomes equal blocks that share the scale.
// CHECK-LABEL: @split
// CHECK: cpu.round_blocks ins(%arg0 : tensor<?x320xf32>) outs(%{{.*}} : tensor<?x248xi32>) attributes {block_size = 160 : i64, factor = -128 : i64}
// CHECK: cpu.packed_matmul ins(%{{.*}} : tensor<?x248xi32>, tensor<3x80x32xi32>, tensor<3x2x32xf32>)
// CHECK-SAME: format = #cpu.weights<bits<8>, block_size = 160>
module attributes {ingot.targets = #ingot.targets<cpu, [<"cascadelake">]>} {
func.func @split(%x: tensor<?x320xf32>) -> tensor<?x96xf32> {
  %q = arith.constant dense<7> : tensor<96x1x320xui8>
  %s = arith.constant dense<0.5> : tensor<96x1xf32>
  %0 = nn.packed_matmul %x, %q, %s {bits = 8 : i64, block_size = 320 : i64, depth = 320 : i64} : (tensor<?x320xf32>, tensor<96x1x320xui8>, tensor<96x1xf32>) -> tensor<?x96xf32>
  return %0 : tensor<?x96xf32>
}
}

// -----

// Few columns do not pay for splitting rows.
// CHECK-LABEL: @few
// CHECK-NOT: cpu.round_blocks
// CHECK: cpu.packed_matmul ins(%arg0,
module attributes {ingot.targets = #ingot.targets<cpu, [<"cascadelake">]>} {
func.func @few(%x: tensor<?x32xf32>) -> tensor<?x64xf32> {
  %q = arith.constant dense<7> : tensor<64x1x16xui8>
  %s = arith.constant dense<0.5> : tensor<64x1xf32>
  %0 = nn.packed_matmul %x, %q, %s {bits = 4 : i64, block_size = 32 : i64, depth = 32 : i64} : (tensor<?x32xf32>, tensor<64x1x16xui8>, tensor<64x1xf32>) -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}
}

// -----

// Levels without such an instruction multiply floats.
// CHECK-LABEL: @float_levels
// CHECK-NOT: cpu.round_blocks
// CHECK: cpu.packed_matmul ins(%arg0,
module attributes {ingot.targets = #ingot.targets<cpu, [<"x86-64-v4">, <"cascadelake">]>} {
func.func @float_levels(%x: tensor<?x32xf32>) -> tensor<?x96xf32> {
  %q = arith.constant dense<7> : tensor<96x1x16xui8>
  %s = arith.constant dense<0.5> : tensor<96x1xf32>
  %0 = nn.packed_matmul %x, %q, %s {bits = 4 : i64, block_size = 32 : i64, depth = 32 : i64} : (tensor<?x32xf32>, tensor<96x1x16xui8>, tensor<96x1xf32>) -> tensor<?x96xf32>
  return %0 : tensor<?x96xf32>
}
}
