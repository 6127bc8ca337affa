// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(cpu-prove-pairs))' --split-input-file | FileCheck %s

// 8 groups of k, the same four weights in each of 16 columns. As words fit: 64 +
// 64; 65 + 64 not, but 65 - 1; 100 + 100 in neither order; -128; -128 - 1 not;
// 127 + 2 not, but 127 and -128; 127 - 127; and 65 - 1, but not 65 + 64 crossed.
// CHECK-LABEL: func.func @kinds
// CHECK: %[[PAIRS:.*]] = arith.constant dense<{{\[\[}}3, 2, 0, 3, 2, 2, 3, 1]]> : tensor<1x8xi8>
// CHECK: cpu.matmul
// CHECK-SAME: pairs(%[[PAIRS]] : tensor<1x8xi8>)
// CHECK-SAME: format = #cpu.weights<panels, pairs = true, pair_counts = [4, 3, 1, 4, 3, 1]>
func.func @kinds(%a: tensor<32x32xi8>, %d: tensor<32x16xi32>) -> tensor<32x16xi32> {
  %w = arith.constant dense<"0x404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF00646464006464640064646400646464006464640064646400646464006464640064646400646464006464640064646400646464006464640064646400646464008000008080000080800000808000008080000080800000808000008080000080800000808000008080000080800000808000008080000080800000808000008080FF000080FF000080FF000080FF000080FF000080FF000080FF000080FF000080FF000080FF000080FF000080FF000080FF000080FF000080FF000080FF00007F0280FF7F0280FF7F0280FF7F0280FF7F0280FF7F0280FF7F0280FF7F0280FF7F0280FF7F0280FF7F0280FF7F0280FF7F0280FF7F0280FF7F0280FF7F0280FF7F81817F7F81817F7F81817F7F81817F7F81817F7F81817F7F81817F7F81817F7F81817F7F81817F7F81817F7F81817F7F81817F7F81817F7F81817F7F81817F41FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF4000"> : tensor<1x8x16x4xi8>
  %0 = cpu.matmul ins(%a, %w : tensor<32x32xi8>, tensor<1x8x16x4xi8>) outs(%d : tensor<32x16xi32>) {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<32x16xi32>
  return %0 : tensor<32x16xi32>
}

// -----

// Each half of a panel is proved separately. The first half must be crossed,
// the second must not, so the whole panel has no valid order. The taps of a
// convolution are groups like others. Weights may be reshaped.
// CHECK-LABEL: func.func @halves
// CHECK: %[[PAIRS:.*]] = arith.constant dense<6> : tensor<1x1x2x4xi8>
// CHECK: cpu.conv
// CHECK-SAME: pairs(%[[PAIRS]] : tensor<1x1x2x4xi8>)
// CHECK-SAME: format = #cpu.weights<panels, pairs = true, pair_counts = [8, 8, 0, 0, 0, 8]>
func.func @halves(%a: tensor<1x1x33x16xi8>, %d: tensor<1x1x32x32xi32>) -> tensor<1x1x32x32xi32> {
  %w = arith.constant dense<"0x4140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF0041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF40004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF0041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF40004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF0041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF40004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF0041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF40004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF0041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF40004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF0041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF40004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF0041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF40004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF004140FF0041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF400041FF4000"> : tensor<1x1x1x2x4x32x4xi8>
  %c = tensor.collapse_shape %w [[0, 1], [2], [3], [4], [5], [6]] : tensor<1x1x1x2x4x32x4xi8> into tensor<1x1x2x4x32x4xi8>
  %0 = cpu.conv ins(%a, %c : tensor<1x1x33x16xi8>, tensor<1x1x2x4x32x4xi8>) outs(%d : tensor<1x1x32x32xi32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<1x1x32x32xi32>
  return %0 : tensor<1x1x32x32xi32>
}

// -----

// Must not fire: weights that a run computes.
// CHECK-LABEL: func.func @computed
// CHECK-NOT: pairs
func.func @computed(%a: tensor<32x32xi8>, %w: tensor<1x8x16x4xi8>, %d: tensor<32x16xi32>) -> tensor<32x16xi32> {
  %0 = cpu.matmul ins(%a, %w : tensor<32x32xi8>, tensor<1x8x16x4xi8>) outs(%d : tensor<32x16xi32>) {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<32x16xi32>
  return %0 : tensor<32x16xi32>
}

// -----

// Must not fire: not in groups of four.
// CHECK-LABEL: func.func @odd
// CHECK-NOT: pairs
func.func @odd(%a: tensor<32x31xi8>, %d: tensor<32x16xi32>) -> tensor<32x16xi32> {
  %w = arith.constant dense<1> : tensor<1x8x16x4xi8>
  %0 = cpu.matmul ins(%a, %w : tensor<32x31xi8>, tensor<1x8x16x4xi8>) outs(%d : tensor<32x16xi32>) {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<32x16xi32>
  return %0 : tensor<32x16xi32>
}

// -----

// Must not fire: too few k for lists.
// CHECK-LABEL: func.func @few
// CHECK-NOT: pairs
func.func @few(%a: tensor<32x16xi8>, %d: tensor<32x16xi32>) -> tensor<32x16xi32> {
  %w = arith.constant dense<1> : tensor<1x4x16x4xi8>
  %0 = cpu.matmul ins(%a, %w : tensor<32x16xi8>, tensor<1x4x16x4xi8>) outs(%d : tensor<32x16xi32>) {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<32x16xi32>
  return %0 : tensor<32x16xi32>
}

// -----

// Must not fire: grouped products, and products of floats.
// CHECK-LABEL: func.func @others
// CHECK-NOT: pairs
func.func @others(%a: tensor<1x1x32x64xi8>, %d: tensor<1x1x32x32xi32>, %x: tensor<32x32xf32>, %y: tensor<32x16xf32>) -> (tensor<1x1x32x32xi32>, tensor<32x16xf32>) {
  %w = arith.constant dense<1> : tensor<2x1x1x8x16x4xi8>
  %0 = cpu.conv ins(%a, %w : tensor<1x1x32x64xi8>, tensor<2x1x1x8x16x4xi8>) outs(%d : tensor<1x1x32x32xi32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 2 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<1x1x32x32xi32>
  %f = arith.constant dense<1.0> : tensor<1x32x16xf32>
  %1 = cpu.matmul ins(%x, %f : tensor<32x32xf32>, tensor<1x32x16xf32>) outs(%y : tensor<32x16xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<32x16xf32>
  return %0, %1 : tensor<1x1x32x32xi32>, tensor<32x16xf32>
}

// -----

// Must not fire: as many groups that may saturate as others, and few rows.
// CHECK-LABEL: func.func @unused
// CHECK-NOT: pairs
func.func @unused(%a: tensor<32x32xi8>, %d: tensor<32x16xi32>, %b: tensor<31x32xi8>, %e: tensor<31x16xi32>) -> (tensor<32x16xi32>, tensor<31x16xi32>) {
  %w = arith.constant dense<"0x6464640064646400646464006464640064646400646464006464640064646400646464006464640064646400646464006464640064646400646464006464640064646400646464006464640064646400646464006464640064646400646464006464640064646400646464006464640064646400646464006464640064646400646464006464640064646400646464006464640064646400646464006464640064646400646464006464640064646400646464006464640064646400646464006464640064646400646464006464640064646400646464006464640064646400646464006464640064646400646464006464640064646400646464006464640001010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101"> : tensor<1x8x16x4xi8>
  %0 = cpu.matmul ins(%a, %w : tensor<32x32xi8>, tensor<1x8x16x4xi8>) outs(%d : tensor<32x16xi32>) {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<32x16xi32>
  %ones = arith.constant dense<1> : tensor<1x8x16x4xi8>
  %1 = cpu.matmul ins(%b, %ones : tensor<31x32xi8>, tensor<1x8x16x4xi8>) outs(%e : tensor<31x16xi32>) {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<31x16xi32>
  return %0, %1 : tensor<32x16xi32>, tensor<31x16xi32>
}

// -----

// Must not fire: blocks of a matrix with zeros are multiplied without pairs.
// CHECK-LABEL: func.func @blocks
// CHECK-NOT: pairs
func.func @blocks(%a: tensor<32x64xi8>, %d: tensor<32x16xi32>) -> tensor<32x16xi32> {
  %w = arith.constant dense<1> : tensor<1x8x16x4xi8>
  %b = arith.constant dense<[0, 1, 8]> : tensor<3xi32>
  %0 = cpu.matmul ins(%a, %w : tensor<32x64xi8>, tensor<1x8x16x4xi8>) blocks(%b : tensor<3xi32>) outs(%d : tensor<32x16xi32>) attributes {format = #cpu.weights<blocks>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<32x16xi32>
  return %0 : tensor<32x16xi32>
}

// -----

// Data of at most 127 fits with any weights: data that is clamped, moved and
// padded, or clamped by a kernel and pooled.
// CHECK-LABEL: func.func @narrow
// CHECK: cpu.conv
// CHECK-NOT: pairs(
// CHECK: cpu.pool
// CHECK: cpu.matmul
// CHECK-SAME: pairs(%{{.*}} : tensor<1x8xi8>)
// CHECK-SAME: format = #cpu.weights<panels, pairs = true, pair_counts = [8, 0, 0, 8, 0, 0]>
// CHECK: cpu.matmul
// CHECK-SAME: pairs(%{{.*}} : tensor<1x8xi8>)
func.func @narrow(%a: tensor<1x8x16x4xui8>, %b: tensor<1x32x60xui8>, %k: tensor<1x1x1x1x32x4xi8>, %d: tensor<1x8x16x32xui8>, %e: tensor<128x16xi32>, %f: tensor<64x16xi32>) -> (tensor<128x16xi32>, tensor<64x16xi32>) {
  %w = arith.constant dense<127> : tensor<1x8x16x4xi8>
  %largest = arith.constant 127 : i8
  %zero = arith.constant dense<100> : tensor<ui8>
  %0 = cpu.conv ins(%a, %k : tensor<1x8x16x4xui8>, tensor<1x1x1x1x32x4xi8>) outs(%d : tensor<1x8x16x32xui8>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: i32):
    %byte = arith.trunci %sum : i32 to i8
    %least = arith.minui %byte, %largest : i8
    cpu.yield %least : i8
  } -> tensor<1x8x16x32xui8>
  %1 = cpu.pool max ins(%0 : tensor<1x8x16x32xui8>) outs(%d : tensor<1x8x16x32xui8>) attributes {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} {
  ^bb0(%most: i8):
    cpu.yield %most : i8
  } -> tensor<1x8x16x32xui8>
  %2 = tensor.collapse_shape %1 [[0, 1, 2], [3]] : tensor<1x8x16x32xui8> into tensor<128x32xui8>
  %3 = cpu.matmul ins(%2, %w : tensor<128x32xui8>, tensor<1x8x16x4xi8>) outs(%e : tensor<128x16xi32>) {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<128x16xi32>
  %4 = nn.clamp %b {max = 127.0 : f64, min = 0.0 : f64} : tensor<1x32x60xui8> -> tensor<1x32x60xui8>
  %5 = nn.transpose %4 {perm = array<i64: 0, 2, 1>} : tensor<1x32x60xui8> -> tensor<1x60x32xui8>
  %6 = nn.reshape %5 : tensor<1x60x32xui8> -> tensor<60x32xui8>
  %7 = nn.pad constant %6 value(%zero) {high = array<i64: 2, 0>, low = array<i64: 2, 0>} : (tensor<60x32xui8>, tensor<ui8>) -> tensor<64x32xui8>
  %8 = cpu.matmul ins(%7, %w : tensor<64x32xui8>, tensor<1x8x16x4xi8>) outs(%f : tensor<64x16xi32>) {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<64x16xi32>
  return %3, %8 : tensor<128x16xi32>, tensor<64x16xi32>
}

// -----

// Must not fire: padding by larger bytes; data that is not narrow.
// CHECK-LABEL: func.func @wide
// CHECK-NOT: pairs(
// CHECK: return
func.func @wide(%a: tensor<1x8x16x32xui8>, %b: tensor<64x32xui8>, %d: tensor<1x8x16x16xi32>, %e: tensor<64x16xi32>) -> (tensor<1x8x16x16xi32>, tensor<64x16xi32>) {
  %k = arith.constant dense<127> : tensor<1x3x3x8x16x4xi8>
  %c = arith.constant dense<0> : tensor<1x3x16xi32>
  %w = arith.constant dense<127> : tensor<1x8x16x4xi8>
  %one = arith.constant dense<1> : tensor<ui8>
  %0 = nn.clamp %a {max = 127.0 : f64, min = 0.0 : f64} : tensor<1x8x16x32xui8> -> tensor<1x8x16x32xui8>
  %1 = cpu.conv ins(%0, %k : tensor<1x8x16x32xui8>, tensor<1x3x3x8x16x4xi8>) compensation(%c : tensor<1x3x16xi32>) outs(%d : tensor<1x8x16x16xi32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, src_zero_point = 130 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<1x8x16x16xi32>
  %2 = nn.clamp %b {max = 127.0 : f64, min = 0.0 : f64} : tensor<64x32xui8> -> tensor<64x32xui8>
  %3 = nn.add %2, %one : tensor<64x32xui8>, tensor<ui8> -> tensor<64x32xui8>
  %4 = cpu.matmul ins(%3, %w : tensor<64x32xui8>, tensor<1x8x16x4xi8>) outs(%e : tensor<64x16xi32>) {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<64x16xi32>
  return %1, %4 : tensor<1x8x16x16xi32>, tensor<64x16xi32>
}
