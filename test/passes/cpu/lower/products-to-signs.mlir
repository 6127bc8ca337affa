// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(products-to-signs))' --split-input-file | FileCheck %s
// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(products-to-signs))' --split-input-file --remarks-filter-analyse=decision 2>&1 >/dev/null | FileCheck %s --check-prefix=DECISION

// Bytes of signs with their zero point in the padding: the bits of both signs,
// and a word behind them. The second word of a pair is xor the first. For
// weights of 1, and -1 for all channels from 32 on, the words are 0 and -1.
// DECISION-DAG: cpu.matmul {{.*}} Decision="#ingot.decision<packing, "panels of 32 columns, signs in words of 32", [<"panels of 32 columns, signs in words of 32", cycles = {{[0-9]+}}>, <"packed in each run", cycles = {{[0-9]+}}>], "has 96 output channels">", Sizes=4x96
// CHECK-LABEL: @conv
// CHECK: %[[SIGN:.*]] = nn.sign
// CHECK: %[[X:.*]] = nn.cast %{{.*}} -> tensor<1x8x8x64xui8>
// CHECK: tensor.empty() : tensor<1x8x8x5xi32>
// CHECK: %[[BYTES:.*]] = nn.cast %[[X]] : tensor<1x8x8x64xui8> -> tensor<1x8x8x64xi8>
// CHECK: %[[BITS:.*]] = cpu.pack_signs ins(%[[BYTES]] : {{.*}}) outs({{.*}}) attributes {zero_point = 128 : i64} {
// CHECK-NEXT: ^bb0(%[[WORD:.*]]: i32):
// CHECK-NEXT: cpu.yield %[[WORD]]
// CHECK: %[[W:.*]] = arith.constant dense_resource<{{.*}}> : tensor<1x3x3x2x32xi32>
// CHECK: cpu.conv ins(%[[BITS]], %[[W]] : tensor<1x8x8x5xi32>, tensor<1x3x3x2x32xi32>) outs(%{{.*}} : tensor<1x8x8x32xi32>)
// CHECK-SAME: format = #cpu.weights<signs<64>>
// CHECK-SAME: pads = array<i64: 1, 1, 1, 1>
// CHECK-NOT: nn.add
// CHECK: return
func.func @conv(%x: tensor<1x8x8x64xf32>) -> tensor<1x8x8x32xi32> {
  %zero = arith.constant dense<128> : tensor<i32>
  %w = arith.constant dense<-1> : tensor<32x64x3x3xi8>
  %sign = nn.sign %x : tensor<1x8x8x64xf32> -> tensor<1x8x8x64xf32>
  %whole = nn.cast %sign {in_range} : tensor<1x8x8x64xf32> -> tensor<1x8x8x64xi32>
  %more = nn.add %whole, %zero : tensor<1x8x8x64xi32>, tensor<i32> -> tensor<1x8x8x64xi32>
  %bytes = nn.cast %more : tensor<1x8x8x64xi32> -> tensor<1x8x8x64xui8>
  %y = nn.conv %bytes, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>, x_zero_point = 128 : i64} : (tensor<1x8x8x64xui8>, tensor<32x64x3x3xi8>) -> tensor<1x8x8x32xi32>
  return %y : tensor<1x8x8x32xi32>
}

// -----

// The contribution of the zero point to a product that does not subtract it:
// 128 times 64 weights of -1. Two products of the same data pack it once.
// CHECK-LABEL: @matmul
// CHECK: %[[BITS:.*]] = cpu.pack_signs
// CHECK-NOT: cpu.pack_signs
// CHECK: %[[S:.*]] = cpu.matmul ins(%[[BITS]], %{{.*}} : tensor<4x5xi32>, tensor<3x2x32xi32>)
// CHECK-SAME: format = #cpu.weights<signs<64>>
// CHECK: %[[C:.*]] = arith.constant dense<-8192> : tensor<96xi32>
// CHECK: nn.add %[[S]], %[[C]]
// CHECK: cpu.matmul ins(%[[BITS]],
func.func @matmul(%c: tensor<4x64xi1>) -> (tensor<4x96xi32>, tensor<4x96xi32>) {
  %w = arith.constant dense<-1> : tensor<64x96xi8>
  %v = arith.constant dense<1> : tensor<96x64xi8>
  %plus = arith.constant dense<129> : tensor<ui8>
  %minus = arith.constant dense<127> : tensor<ui8>
  %bytes = nn.select %c, %plus, %minus : tensor<4x64xi1>, tensor<ui8>, tensor<ui8> -> tensor<4x64xui8>
  %y = nn.matmul %bytes, %w : (tensor<4x64xui8>, tensor<64x96xi8>) -> tensor<4x96xi32>
  %z = nn.matmul %bytes, %v {transpose_b} : (tensor<4x64xui8>, tensor<96x64xi8>) -> tensor<4x96xi32>
  return %y, %z : tensor<4x96xi32>, tensor<4x96xi32>
}

// -----

// Must not fire: other bytes, other weights than signs, few channels, few
// products, groups, rows of dynamic size.
// CHECK-LABEL: @declined
// CHECK-NOT: cpu.
// CHECK: return
func.func @declined(%x: tensor<1x8x8x64xui8>, %c: tensor<1x8x8x64xi1>, %few: tensor<1x8x8x32xi1>, %open: tensor<1x?x?x64xi1>) ->
    (tensor<1x8x8x96xi32>, tensor<1x8x8x96xi32>, tensor<1x8x8x96xi32>, tensor<1x8x8x16xi32>, tensor<1x8x8x96xi32>, tensor<1x?x?x96xi32>) {
  %plus = arith.constant dense<1> : tensor<ui8>
  %none = arith.constant dense<0> : tensor<ui8>
  %w = arith.constant dense<1> : tensor<96x64x1x1xi8>
  %two = arith.constant dense<2> : tensor<96x64x1x1xi8>
  %v = arith.constant dense<1> : tensor<96x32x1x1xi8>
  %u = arith.constant dense<1> : tensor<16x64x1x1xi8>
  %g = arith.constant dense<1> : tensor<96x32x1x1xi8>
  %b = nn.select %c, %plus, %none : tensor<1x8x8x64xi1>, tensor<ui8>, tensor<ui8> -> tensor<1x8x8x64xui8>
  %f = nn.select %few, %plus, %none : tensor<1x8x8x32xi1>, tensor<ui8>, tensor<ui8> -> tensor<1x8x8x32xui8>
  %o = nn.select %open, %plus, %none : tensor<1x?x?x64xi1>, tensor<ui8>, tensor<ui8> -> tensor<1x?x?x64xui8>
  %0 = nn.conv %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 1, 1>} : (tensor<1x8x8x64xui8>, tensor<96x64x1x1xi8>) -> tensor<1x8x8x96xi32>
  %1 = nn.conv %b, %two {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 1, 1>} : (tensor<1x8x8x64xui8>, tensor<96x64x1x1xi8>) -> tensor<1x8x8x96xi32>
  %2 = nn.conv %f, %v {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 1, 1>} : (tensor<1x8x8x32xui8>, tensor<96x32x1x1xi8>) -> tensor<1x8x8x96xi32>
  %3 = nn.conv %b, %u {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 1, 1>} : (tensor<1x8x8x64xui8>, tensor<16x64x1x1xi8>) -> tensor<1x8x8x16xi32>
  %4 = nn.conv %b, %g {channels_last, dilations = array<i64: 1, 1>, groups = 2 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 1, 1>} : (tensor<1x8x8x64xui8>, tensor<96x32x1x1xi8>) -> tensor<1x8x8x96xi32>
  %5 = nn.conv %o, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 1, 1>} : (tensor<1x?x?x64xui8>, tensor<96x64x1x1xi8>) -> tensor<1x?x?x96xi32>
  return %0, %1, %2, %3, %4, %5 : tensor<1x8x8x96xi32>, tensor<1x8x8x96xi32>, tensor<1x8x8x96xi32>, tensor<1x8x8x16xi32>, tensor<1x8x8x96xi32>, tensor<1x?x?x96xi32>
}

// -----

// Must not fire: four neighbouring byte values, and three if the padding is the
// smallest.
// CHECK-LABEL: @ranges
// CHECK-NOT: cpu.pack_signs
// CHECK: return
func.func @ranges(%x: tensor<1x8x8x64xf32>) -> (tensor<1x8x8x32xi32>, tensor<1x8x8x32xi32>) {
  %w = arith.constant dense<1> : tensor<32x64x3x3xi8>
  %four = nn.clamp %x {max = 6.000000e+00 : f64, min = 3.000000e+00 : f64} : tensor<1x8x8x64xf32> -> tensor<1x8x8x64xf32>
  %a = nn.cast %four {in_range} : tensor<1x8x8x64xf32> -> tensor<1x8x8x64xui8>
  %y = nn.conv %a, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 1, 1>} : (tensor<1x8x8x64xui8>, tensor<32x64x3x3xi8>) -> tensor<1x6x6x32xi32>
  %three = nn.clamp %x {max = 2.000000e+00 : f64, min = 0.000000e+00 : f64} : tensor<1x8x8x64xf32> -> tensor<1x8x8x64xf32>
  %b = nn.cast %three {in_range} : tensor<1x8x8x64xf32> -> tensor<1x8x8x64xui8>
  %z = nn.conv %b, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x8x8x64xui8>, tensor<32x64x3x3xi8>) -> tensor<1x8x8x32xi32>
  %p = nn.conv %a, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x8x8x64xui8>, tensor<32x64x3x3xi8>) -> tensor<1x8x8x32xi32>
  return %p, %z : tensor<1x8x8x32xi32>, tensor<1x8x8x32xi32>
}
