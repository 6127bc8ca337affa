// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(cpu-prove-winograd))' --split-input-file | FileCheck %s

// 112 channels of 3x3 taps: 255 * 127 * 1008 is below 2^25, the largest sum
// that 4x4 pixels allow.
// CHECK-LABEL: func.func @four(
// CHECK: cpu.conv {{.*}}exact_tiles = 4
func.func @four(%x: tensor<1x8x8x112xui8>, %d: tensor<1x8x8x16xi32>) -> tensor<1x8x8x16xi32> {
  %w = arith.constant dense<127> : tensor<1x3x3x28x16x4xi8>
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x112xui8>, tensor<1x3x3x28x16x4xi8>) outs(%d : tensor<1x8x8x16xi32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<1x8x8x16xi32>
  return %0 : tensor<1x8x8x16xi32>
}

// -----

// 116 channels exceed it, but stay below 2^29.
// CHECK-LABEL: func.func @two(
// CHECK: cpu.conv {{.*}}exact_tiles = 2
func.func @two(%x: tensor<1x8x8x116xui8>, %d: tensor<1x8x8x16xi32>) -> tensor<1x8x8x16xi32> {
  %w = arith.constant dense<127> : tensor<1x3x3x29x16x4xi8>
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x116xui8>, tensor<1x3x3x29x16x4xi8>) outs(%d : tensor<1x8x8x16xi32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<1x8x8x16xi32>
  return %0 : tensor<1x8x8x16xi32>
}

// -----

// CHECK-LABEL: func.func @many(
// CHECK: cpu.conv {{.*}}exact_tiles = 2
func.func @many(%x: tensor<1x8x8x1840xui8>, %d: tensor<1x8x8x16xi32>) -> tensor<1x8x8x16xi32> {
  %w = arith.constant dense<127> : tensor<1x3x3x460x16x4xi8>
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x1840xui8>, tensor<1x3x3x460x16x4xi8>) outs(%d : tensor<1x8x8x16xi32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<1x8x8x16xi32>
  return %0 : tensor<1x8x8x16xi32>
}

// -----

// 1844 channels exceed 2^29.
// CHECK-LABEL: func.func @too_many(
// CHECK-NOT: exact_tiles
func.func @too_many(%x: tensor<1x8x8x1844xui8>, %d: tensor<1x8x8x16xi32>) -> tensor<1x8x8x16xi32> {
  %w = arith.constant dense<127> : tensor<1x3x3x461x16x4xi8>
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x1844xui8>, tensor<1x3x3x461x16x4xi8>) outs(%d : tensor<1x8x8x16xi32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<1x8x8x16xi32>
  return %0 : tensor<1x8x8x16xi32>
}

// -----

// With negative weights the bound is one larger.
// CHECK-LABEL: func.func @negative(
// CHECK: cpu.conv {{.*}}exact_tiles = 2
func.func @negative(%x: tensor<1x8x8x1824xui8>, %d: tensor<1x8x8x16xi32>) -> tensor<1x8x8x16xi32> {
  %w = arith.constant dense<-128> : tensor<1x3x3x456x16x4xi8>
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x1824xui8>, tensor<1x3x3x456x16x4xi8>) outs(%d : tensor<1x8x8x16xi32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<1x8x8x16xi32>
  return %0 : tensor<1x8x8x16xi32>
}

// -----

// CHECK-LABEL: func.func @too_many_negative(
// CHECK-NOT: exact_tiles
func.func @too_many_negative(%x: tensor<1x8x8x1828xui8>, %d: tensor<1x8x8x16xi32>) -> tensor<1x8x8x16xi32> {
  %w = arith.constant dense<-128> : tensor<1x3x3x457x16x4xi8>
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x1828xui8>, tensor<1x3x3x457x16x4xi8>) outs(%d : tensor<1x8x8x16xi32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<1x8x8x16xi32>
  return %0 : tensor<1x8x8x16xi32>
}

// -----

// Small weights of many channels.
// CHECK-LABEL: func.func @small(
// CHECK: cpu.conv {{.*}}exact_tiles = 4
func.func @small(%x: tensor<1x8x8x2048xui8>, %d: tensor<1x8x8x16xi32>) -> tensor<1x8x8x16xi32> {
  %w = arith.constant dense<7> : tensor<1x3x3x512x16x4xi8>
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x2048xui8>, tensor<1x3x3x512x16x4xi8>) outs(%d : tensor<1x8x8x16xi32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<1x8x8x16xi32>
  return %0 : tensor<1x8x8x16xi32>
}

// -----

// The zero point counts: bytes minus 128 have a magnitude of at most 128.
// CHECK-LABEL: func.func @zero_point(
// CHECK: cpu.conv {{.*}}exact_tiles = 4
func.func @zero_point(%x: tensor<1x8x8x228xui8>, %c: tensor<1x3x16xi32>, %d: tensor<1x8x8x16xi32>) -> tensor<1x8x8x16xi32> {
  %w = arith.constant dense<127> : tensor<1x3x3x57x16x4xi8>
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x228xui8>, tensor<1x3x3x57x16x4xi8>) compensation(%c : tensor<1x3x16xi32>) outs(%d : tensor<1x8x8x16xi32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, src_zero_point = 128 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<1x8x8x16xi32>
  return %0 : tensor<1x8x8x16xi32>
}

// -----

// CHECK-LABEL: func.func @large_zero_point(
// CHECK: cpu.conv {{.*}}exact_tiles = 2
func.func @large_zero_point(%x: tensor<1x8x8x228xui8>, %c: tensor<1x3x16xi32>, %d: tensor<1x8x8x16xi32>) -> tensor<1x8x8x16xi32> {
  %w = arith.constant dense<127> : tensor<1x3x3x57x16x4xi8>
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x228xui8>, tensor<1x3x3x57x16x4xi8>) compensation(%c : tensor<1x3x16xi32>) outs(%d : tensor<1x8x8x16xi32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, src_zero_point = 150 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<1x8x8x16xi32>
  return %0 : tensor<1x8x8x16xi32>
}

// -----

// Bytes below the zero point count, too: here all bytes are.
// CHECK-LABEL: func.func @zero_point_of_255(
// CHECK: cpu.conv {{.*}}exact_tiles = 2
func.func @zero_point_of_255(%x: tensor<1x8x8x116xui8>, %c: tensor<1x3x16xi32>, %d: tensor<1x8x8x16xi32>) -> tensor<1x8x8x16xi32> {
  %w = arith.constant dense<127> : tensor<1x3x3x29x16x4xi8>
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x116xui8>, tensor<1x3x3x29x16x4xi8>) compensation(%c : tensor<1x3x16xi32>) outs(%d : tensor<1x8x8x16xi32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, src_zero_point = 255 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<1x8x8x16xi32>
  return %0 : tensor<1x8x8x16xi32>
}

// -----

// An existing attribute stays.
// CHECK-LABEL: func.func @given(
// CHECK: cpu.conv {{.*}}exact_tiles = 2
func.func @given(%x: tensor<1x8x8x16xui8>, %d: tensor<1x8x8x16xi32>) -> tensor<1x8x8x16xi32> {
  %w = arith.constant dense<1> : tensor<1x3x3x4x16x4xi8>
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x16xui8>, tensor<1x3x3x4x16x4xi8>) outs(%d : tensor<1x8x8x16xi32>)
      attributes {format = #cpu.weights<panels, exact_tiles = 2>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<1x8x8x16xi32>
  return %0 : tensor<1x8x8x16xi32>
}

// -----

// Any padding, and dynamic sizes.
// CHECK-LABEL: func.func @open(
// CHECK: cpu.conv {{.*}}exact_tiles = 4
func.func @open(%x: tensor<?x?x?x16xui8>, %d: tensor<?x?x?x16xi32>) -> tensor<?x?x?x16xi32> {
  %w = arith.constant dense<1> : tensor<1x3x3x4x16x4xi8>
  %0 = cpu.conv ins(%x, %w : tensor<?x?x?x16xui8>, tensor<1x3x3x4x16x4xi8>) outs(%d : tensor<?x?x?x16xi32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 0, 2, 1, 3>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<?x?x?x16xi32>
  return %0 : tensor<?x?x?x16xi32>
}

// -----

// Must not fire: weights that a run computes.
// CHECK-LABEL: func.func @computed(
// CHECK-NOT: exact_tiles
func.func @computed(%x: tensor<1x8x8x16xui8>, %w: tensor<1x3x3x4x16x4xi8>, %d: tensor<1x8x8x16xi32>) -> tensor<1x8x8x16xi32> {
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x16xui8>, tensor<1x3x3x4x16x4xi8>) outs(%d : tensor<1x8x8x16xi32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<1x8x8x16xi32>
  return %0 : tensor<1x8x8x16xi32>
}

// -----

// CHECK-LABEL: func.func @strides(
// CHECK-NOT: exact_tiles
func.func @strides(%x: tensor<1x8x8x16xui8>, %d: tensor<1x8x8x16xi32>) -> tensor<1x8x8x16xi32> {
  %w = arith.constant dense<1> : tensor<1x3x3x4x16x4xi8>
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x16xui8>, tensor<1x3x3x4x16x4xi8>) outs(%d : tensor<1x8x8x16xi32>)
      attributes {strides = array<i64: 1, 2>, pads = array<i64: 1, 0, 1, 7>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<1x8x8x16xi32>
  return %0 : tensor<1x8x8x16xi32>
}

// -----

// CHECK-LABEL: func.func @dilations(
// CHECK-NOT: exact_tiles
func.func @dilations(%x: tensor<1x8x8x16xui8>, %d: tensor<1x8x8x16xi32>) -> tensor<1x8x8x16xi32> {
  %w = arith.constant dense<1> : tensor<1x3x3x4x16x4xi8>
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x16xui8>, tensor<1x3x3x4x16x4xi8>) outs(%d : tensor<1x8x8x16xi32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 2, 1, 2, 1>, dilations = array<i64: 2, 1>, groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<1x8x8x16xi32>
  return %0 : tensor<1x8x8x16xi32>
}

// -----

// CHECK-LABEL: func.func @groups(
// CHECK-NOT: exact_tiles
func.func @groups(%x: tensor<1x8x8x32xui8>, %d: tensor<1x8x8x32xi32>) -> tensor<1x8x8x32xi32> {
  %w = arith.constant dense<1> : tensor<2x3x3x4x16x4xi8>
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x32xui8>, tensor<2x3x3x4x16x4xi8>) outs(%d : tensor<1x8x8x32xi32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<1x8x8x32xi32>
  return %0 : tensor<1x8x8x32xi32>
}

// -----

// CHECK-LABEL: func.func @other_taps(
// CHECK-NOT: exact_tiles
func.func @other_taps(%x: tensor<1x8x8x16xui8>, %d: tensor<1x8x8x16xi32>) -> tensor<1x8x8x16xi32> {
  %w = arith.constant dense<1> : tensor<1x5x5x4x16x4xi8>
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x16xui8>, tensor<1x5x5x4x16x4xi8>) outs(%d : tensor<1x8x8x16xi32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<1x8x8x16xi32>
  return %0 : tensor<1x8x8x16xi32>
}

// -----

// CHECK-LABEL: func.func @taps_of_one_row(
// CHECK-NOT: exact_tiles
func.func @taps_of_one_row(%x: tensor<1x8x8x16xui8>, %d: tensor<1x8x8x16xi32>) -> tensor<1x8x8x16xi32> {
  %w = arith.constant dense<1> : tensor<1x1x3x4x16x4xi8>
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x16xui8>, tensor<1x1x3x4x16x4xi8>) outs(%d : tensor<1x8x8x16xi32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 0, 1, 0, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<1x8x8x16xi32>
  return %0 : tensor<1x8x8x16xi32>
}

// -----

// CHECK-LABEL: func.func @volume(
// CHECK-NOT: exact_tiles
func.func @volume(%x: tensor<1x8x8x8x16xui8>, %d: tensor<1x8x8x8x16xi32>) -> tensor<1x8x8x8x16xi32> {
  %w = arith.constant dense<1> : tensor<1x3x3x3x4x16x4xi8>
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x8x16xui8>, tensor<1x3x3x3x4x16x4xi8>) outs(%d : tensor<1x8x8x8x16xi32>)
      attributes {strides = array<i64: 1, 1, 1>, pads = array<i64: 1, 1, 1, 1, 1, 1>, dilations = array<i64: 1, 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<1x8x8x8x16xi32>
  return %0 : tensor<1x8x8x8x16xi32>
}

// -----

// CHECK-LABEL: func.func @row(
// CHECK-NOT: exact_tiles
func.func @row(%x: tensor<1x8x16xui8>, %d: tensor<1x8x16xi32>) -> tensor<1x8x16xi32> {
  %w = arith.constant dense<1> : tensor<1x3x4x16x4xi8>
  %0 = cpu.conv ins(%x, %w : tensor<1x8x16xui8>, tensor<1x3x4x16x4xi8>) outs(%d : tensor<1x8x16xi32>)
      attributes {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<1x8x16xi32>
  return %0 : tensor<1x8x16xi32>
}

// -----

// Must not fire: not in groups of four.
// CHECK-LABEL: func.func @odd_channels(
// CHECK-NOT: exact_tiles
func.func @odd_channels(%x: tensor<1x8x8x18xui8>, %d: tensor<1x8x8x16xi32>) -> tensor<1x8x8x16xi32> {
  %w = arith.constant dense<1> : tensor<1x3x3x5x16x4xi8>
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x18xui8>, tensor<1x3x3x5x16x4xi8>) outs(%d : tensor<1x8x8x16xi32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<1x8x8x16xi32>
  return %0 : tensor<1x8x8x16xi32>
}

// -----

// CHECK-LABEL: func.func @floats(
// CHECK-NOT: exact_tiles
func.func @floats(%x: tensor<1x8x8x16xf32>, %d: tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32> {
  %w = arith.constant dense<1.0> : tensor<1x3x3x16x16xf32>
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x16xf32>, tensor<1x3x3x16x16xf32>) outs(%d : tensor<1x8x8x16xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x16xf32>
  return %0 : tensor<1x8x8x16xf32>
}
