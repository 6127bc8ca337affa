// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(cpu-decompose-conv-transpose))' --split-input-file | FileCheck %s

// Stride 1: one convolution with the flipped kernel. Its padding is the
// kernel's reach less the pads.
// CHECK-LABEL: @stride_one
// CHECK: %[[W:.*]] = arith.constant dense<{{\[\[\[\[}}3.000000e+00, 0.000000e+00, {{.*}}]], {{\[\[}}2.000000e+00, {{.*}}]], {{\[\[}}1.000000e+00, {{.*}}]]]]> : tensor<1x3x1x16xf32>
// CHECK: cpu.conv ins(%{{.*}}, %[[W]] : tensor<1x8x1xf32>, tensor<1x3x1x16xf32>) outs(%{{.*}} : tensor<1x8x1xf32>)
// CHECK-SAME: dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 1, 1>, strides = array<i64: 1>
// CHECK-NOT: slice
func.func @stride_one(%x: tensor<1x8x1xf32>, %d: tensor<1x8x1xf32>) -> tensor<1x8x1xf32> {
  %w = arith.constant dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32>
  %y = cpu.conv_transpose ins(%x, %w : tensor<1x8x1xf32>, tensor<1x1x3xf32>) outs(%d : tensor<1x8x1xf32>)
      attributes {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x1xf32>
  return %y : tensor<1x8x1xf32>
}

// -----

// Stride 2, kernel 3: even pixels have one tap, odd ones two. Epilogue operands
// with the result's pixels are split, too.
// CHECK-LABEL: @phases
// CHECK-SAME: %[[X:.*]]: tensor<1x4x1xf32>, %[[R:.*]]: tensor<1x8x1xf32>, %[[B:.*]]: tensor<1x1x1xf32>, %[[D:.*]]: tensor<1x8x1xf32>
// CHECK-DAG: %[[EVEN:.*]] = tensor.extract_slice %[[D]][0, 0, 0] [1, 4, 1] [1, 2, 1]
// CHECK-DAG: %[[R0:.*]] = tensor.extract_slice %[[R]][0, 0, 0] [1, 4, 1] [1, 2, 1]
// CHECK: %[[Y0:.*]] = cpu.conv ins(%[[X]], %{{.*}} : tensor<1x4x1xf32>, tensor<1x1x1x16xf32>) operands(%[[R0]], %[[B]] : {{.*}}) outs(%[[EVEN]] :
// CHECK-SAME: pads = array<i64: 0, 0>
// CHECK: %[[D0:.*]] = tensor.insert_slice %[[Y0]] into %[[D]][0, 0, 0] [1, 4, 1] [1, 2, 1]
// CHECK: %[[ODD:.*]] = tensor.extract_slice %[[D0]][0, 1, 0] [1, 4, 1] [1, 2, 1]
// CHECK: %[[Y1:.*]] = cpu.conv ins(%[[X]], %{{.*}} : tensor<1x4x1xf32>, tensor<1x2x1x16xf32>) operands(%{{.*}}, %[[B]] : {{.*}}) outs(%[[ODD]] :
// CHECK-SAME: pads = array<i64: 0, 1>
// CHECK: arith.addf
// CHECK: arith.mulf
// CHECK: tensor.insert_slice %[[Y1]] into %[[D0]][0, 1, 0] [1, 4, 1] [1, 2, 1]
func.func @phases(%x: tensor<1x4x1xf32>, %r: tensor<1x8x1xf32>, %b: tensor<1x1x1xf32>, %d: tensor<1x8x1xf32>) -> tensor<1x8x1xf32> {
  %w = arith.constant dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32>
  %y = cpu.conv_transpose ins(%x, %w : tensor<1x4x1xf32>, tensor<1x1x3xf32>) operands(%r, %b : tensor<1x8x1xf32>, tensor<1x1x1xf32>)
      outs(%d : tensor<1x8x1xf32>)
      attributes {strides = array<i64: 2>, pads = array<i64: 1, 0>, dilations = array<i64: 1>, groups = 1 : i64} {
  ^bb0(%sum: f32, %residual: f32, %scale: f32):
    %0 = arith.addf %sum, %residual : f32
    %1 = arith.mulf %0, %scale : f32
    cpu.yield %1 : f32
  } -> tensor<1x8x1xf32>
  return %y : tensor<1x8x1xf32>
}

// -----

// A kernel as wide as the stride: the pixels of a row are one convolution with
// twice the channels, rows are two. The batch may be dynamic.
// CHECK-LABEL: @merged
// CHECK-DAG: %[[BIAS:.*]] = arith.constant dense<{{\[\[\[\[}}5.000000e+00, 6.000000e+00, 7.000000e+00, 5.000000e+00, 6.000000e+00, 7.000000e+00]]]]> : tensor<1x1x1x6xf32>
// CHECK: %[[D:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0], [1], [2], [3, 4]] : tensor<?x4x5x2x3xf32> into tensor<?x4x5x6xf32>
// CHECK: %[[UPPER:.*]] = tensor.extract_slice %[[D]][0, 0, 0, 0] [%{{.*}}, 2, 5, 6] [1, 2, 1, 1]
// CHECK: cpu.conv ins(%{{.*}}, %{{.*}} : tensor<?x2x5x4xf32>, tensor<1x1x1x4x16xf32>) operands(%[[BIAS]] : tensor<1x1x1x6xf32>) outs(%[[UPPER]] : tensor<?x2x5x6xf32>)
// CHECK: %[[LOWER:.*]] = tensor.extract_slice %{{.*}}[0, 1, 0, 0] [%{{.*}}, 2, 5, 6] [1, 2, 1, 1]
// CHECK: cpu.conv {{.*}} outs(%[[LOWER]] :
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1], [2], [3, 4]] output_shape [%{{.*}}, 4, 5, 2, 3]
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1], [2, 3], [4]] : tensor<?x4x5x2x3xf32> into tensor<?x4x10x3xf32>
func.func @merged(%x: tensor<?x2x5x4xf32>, %d: tensor<?x4x10x3xf32>) -> tensor<?x4x10x3xf32> {
  %w = arith.constant dense<1.0> : tensor<4x3x2x2xf32>
  %b = arith.constant dense<[5.0, 6.0, 7.0]> : tensor<3xf32>
  %e = tensor.expand_shape %b [[0, 1, 2, 3]] output_shape [1, 1, 1, 3] : tensor<3xf32> into tensor<1x1x1x3xf32>
  %y = cpu.conv_transpose ins(%x, %w : tensor<?x2x5x4xf32>, tensor<4x3x2x2xf32>) operands(%e : tensor<1x1x1x3xf32>)
      outs(%d : tensor<?x4x10x3xf32>)
      attributes {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32, %bias: f32):
    %0 = arith.addf %sum, %bias : f32
    cpu.yield %0 : f32
  } -> tensor<?x4x10x3xf32>
  return %y : tensor<?x4x10x3xf32>
}

// -----

// An epilogue operand with one value per pixel for all channels: pixels stay
// separate.
// CHECK-LABEL: @not_merged
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0] [1, 4, 3] [1, 2, 1]
// CHECK: cpu.conv
// CHECK: tensor.extract_slice %{{.*}}[0, 1, 0] [1, 4, 3] [1, 2, 1]
// CHECK: cpu.conv
func.func @not_merged(%x: tensor<1x4x4xf32>, %m: tensor<1x8x1xf32>, %d: tensor<1x8x3xf32>) -> tensor<1x8x3xf32> {
  %w = arith.constant dense<1.0> : tensor<4x3x2xf32>
  %y = cpu.conv_transpose ins(%x, %w : tensor<1x4x4xf32>, tensor<4x3x2xf32>) operands(%m : tensor<1x8x1xf32>)
      outs(%d : tensor<1x8x3xf32>)
      attributes {strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64} {
  ^bb0(%sum: f32, %mask: f32):
    %0 = arith.mulf %sum, %mask : f32
    cpu.yield %0 : f32
  } -> tensor<1x8x3xf32>
  return %y : tensor<1x8x3xf32>
}

// -----

// Depthwise: each phase is depthwise.
// CHECK-LABEL: @depthwise
// CHECK-COUNT-4: cpu.depthwise_conv ins({{.*}} : tensor<1x4x4x2xf32>, tensor<2x2x2xf32>)
// CHECK-NOT: cpu.conv
func.func @depthwise(%x: tensor<1x4x4x2xf32>, %d: tensor<1x8x8x2xf32>) -> tensor<1x8x8x2xf32> {
  %w = arith.constant dense<1.0> : tensor<2x1x4x4xf32>
  %y = cpu.conv_transpose ins(%x, %w : tensor<1x4x4x2xf32>, tensor<2x1x4x4xf32>) outs(%d : tensor<1x8x8x2xf32>)
      attributes {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x2xf32>
  return %y : tensor<1x8x8x2xf32>
}

// -----

// Pixels that no tap reaches: the window lies in the padding, whatever src
// holds. The first pixels of src are cut off, since only the padding would use
// them.
// CHECK-LABEL: @gaps
// CHECK: %[[X:.*]] = tensor.extract_slice %{{.*}}[0, 1, 0] [1, 3, 1] [1, 1, 1]
// CHECK: cpu.conv ins(%[[X]], %{{.*}} : tensor<1x3x1xf32>, tensor<1x1x1x16xf32>)
// CHECK-SAME: pads = array<i64: 0, 0>
// CHECK: %[[ONE:.*]] = tensor.extract_slice %{{.*}}[0, 0, 0] [1, 1, 1] [1, 1, 1]
// CHECK: cpu.conv ins(%[[ONE]], %{{.*}} : tensor<1x1x1xf32>, tensor<1x2x1x16xf32>)
// CHECK-SAME: dilations = array<i64: 4>, groups = 1 : i64, pads = array<i64: 3, 3>
func.func @gaps(%x: tensor<1x4x1xf32>, %d: tensor<1x6x1xf32>) -> tensor<1x6x1xf32> {
  %w = arith.constant dense<2.0> : tensor<1x1x1xf32>
  %y = cpu.conv_transpose ins(%x, %w : tensor<1x4x1xf32>, tensor<1x1x1xf32>) outs(%d : tensor<1x6x1xf32>)
      attributes {strides = array<i64: 2>, pads = array<i64: 2, -1>, dilations = array<i64: 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x6x1xf32>
  return %y : tensor<1x6x1xf32>
}

// -----

// A dynamic size: the result is twice as large. Both phases read all of src as
// one convolution with twice the channels.
// CHECK-LABEL: @open
// CHECK: cpu.conv ins(%arg0, %{{.*}} : tensor<1x?x4xf32>, tensor<1x1x4x16xf32>)
// CHECK-SAME: tensor<1x?x6xf32>
// CHECK-NOT: cpu.conv
func.func @open(%x: tensor<1x?x4xf32>, %d: tensor<1x?x3xf32>) -> tensor<1x?x3xf32> {
  %w = arith.constant dense<1.0> : tensor<4x3x2xf32>
  %y = cpu.conv_transpose ins(%x, %w : tensor<1x?x4xf32>, tensor<4x3x2xf32>) outs(%d : tensor<1x?x3xf32>)
      attributes {strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x?x3xf32>
  return %y : tensor<1x?x3xf32>
}

// -----

// Phases of different taps: pixels 0, 2, … have one tap, the others two.
// CHECK-LABEL: @open_phases
// CHECK: cpu.conv {{.*}} tensor<1x1x4x16xf32>
// CHECK-SAME: pads = array<i64: 0, 0>
// CHECK: cpu.conv {{.*}} tensor<1x2x4x16xf32>
// CHECK-SAME: pads = array<i64: 0, 1>
func.func @open_phases(%x: tensor<1x?x4xf32>, %d: tensor<1x?x3xf32>) -> tensor<1x?x3xf32> {
  %w = arith.constant dense<1.0> : tensor<4x3x3xf32>
  %y = cpu.conv_transpose ins(%x, %w : tensor<1x?x4xf32>, tensor<4x3x3xf32>) outs(%d : tensor<1x?x3xf32>)
      attributes {strides = array<i64: 2>, pads = array<i64: 1, 0>, dilations = array<i64: 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x?x3xf32>
  return %y : tensor<1x?x3xf32>
}

// -----

// Bytes with a zero point: the padding is the zero point. Each phase subtracts
// what the zero point adds over its taps in a row. This is 3 times 4 channels
// of weights of 1, for two taps or one.
// CHECK-LABEL: @zero_point
// CHECK: %[[ONE:.*]] = arith.constant dense<{{.*}}> : tensor<1x16xi32>
// CHECK: cpu.conv {{.*}} compensation(%[[ONE]] : tensor<1x16xi32>)
// CHECK-SAME: src_zero_point = 3 : i64
// CHECK: cpu.conv {{.*}} compensation(%{{.*}} : tensor<1x16xi32>)
// CHECK-SAME: src_zero_point = 3 : i64
func.func @zero_point(%x: tensor<1x5x4xi8>, %d: tensor<1x9x16xi32>) -> tensor<1x9x16xi32> {
  %w = arith.constant dense<1> : tensor<4x16x3xi8>
  %y = cpu.conv_transpose ins(%x, %w : tensor<1x5x4xi8>, tensor<4x16x3xi8>) outs(%d : tensor<1x9x16xi32>)
      attributes {strides = array<i64: 2>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, groups = 1 : i64, src_zero_point = 3 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<1x9x16xi32>
  return %y : tensor<1x9x16xi32>
}

// -----

// Dynamic weights: the run slices the taps of each phase out of them.
// CHECK-LABEL: @run_time
// CHECK: %[[EVEN:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x1x1xf32>)
// CHECK: tensor.extract %arg1
// CHECK: cpu.conv
// CHECK: %[[ODD:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x1x2xf32>)
// CHECK: tensor.extract %arg1
// CHECK: cpu.conv
// CHECK-NOT: cpu.conv_transpose
func.func @run_time(%x: tensor<1x4x1xf32>, %w: tensor<1x1x3xf32>, %d: tensor<1x8x1xf32>) -> tensor<1x8x1xf32> {
  %y = cpu.conv_transpose ins(%x, %w : tensor<1x4x1xf32>, tensor<1x1x3xf32>) outs(%d : tensor<1x8x1xf32>)
      attributes {strides = array<i64: 2>, pads = array<i64: 1, 0>, dilations = array<i64: 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x1xf32>
  return %y : tensor<1x8x1xf32>
}

// -----

// Many phases are one convolution with more channels. An epilogue operand with
// one value per pixel is read for each phase, too.
// CHECK-LABEL: @spread
// CHECK: linalg.generic
// CHECK: tensor.extract %arg1[%{{.*}}, %{{.*}}, %c0{{.*}}] : tensor<1x400x1xf32>
// CHECK: %[[OPERAND:.*]] = tensor.collapse_shape {{.*}} into tensor<1x4x200xf32>
// CHECK: cpu.conv {{.*}} operands(%[[OPERAND]] : tensor<1x4x200xf32>) outs(%{{.*}} : tensor<1x4x200xf32>)
// CHECK-NOT: cpu.conv
func.func @spread(%x: tensor<1x4x1xf32>, %mask: tensor<1x400x1xf32>, %d: tensor<1x400x2xf32>) -> tensor<1x400x2xf32> {
  %w = arith.constant dense<1.0> : tensor<1x2x100xf32>
  %y = cpu.conv_transpose ins(%x, %w : tensor<1x4x1xf32>, tensor<1x2x100xf32>) operands(%mask : tensor<1x400x1xf32>)
      outs(%d : tensor<1x400x2xf32>)
      attributes {strides = array<i64: 100>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64} {
  ^bb0(%sum: f32, %factor: f32):
    %0 = arith.mulf %sum, %factor : f32
    cpu.yield %0 : f32
  } -> tensor<1x400x2xf32>
  return %y : tensor<1x400x2xf32>
}
