// RUN: ingot-opt %s --nn-pad-channels | FileCheck %s
// RUN: ingot-opt %s --nn-pad-channels --remarks-filter-analyse=decision 2>&1 >/dev/null | FileCheck %s --check-prefix=DECISION

// DECISION-DAG: nn.conv {{.*}} Decision="#ingot.decision<padding, "groups of four channels", [<"channels as they are", cycles = {{[0-9]+}}>, <"groups of four channels", cycles = {{[0-9]+}}>], "uses each byte in enough products to pay for copying it">", Sizes=1x32x8x8
// DECISION-DAG: nn.conv {{.*}} Decision="#ingot.decision<padding, "channels as they are", [<"channels as they are", cycles = {{[0-9]+}}>, <"groups of four channels", cycles = {{[0-9]+}}>], "has signs, which are bits">", Sizes=1x32x8x8
// DECISION-DAG: nn.conv {{.*}} Decision="#ingot.decision<padding, "channels as they are", [<"channels as they are", cycles = {{[0-9]+}}>, <"groups of four channels", cycles = {{[0-9]+}}>], "has weights that a run computes">", Sizes=1x32x8x8
// DECISION-DAG: nn.conv {{.*}} Decision="#ingot.decision<padding, "channels as they are", [<"channels as they are", cycles = {{[0-9]+}}>, <"groups of four channels", cycles = {{[0-9]+}}>], "uses each byte in too few products to pay for copying it">", Sizes=1x32x8x8

// 3x3 taps of 6 channels: two channels of zero bytes are added to the input,
// and zeros to the weights of each output. The spatial padding stays.
// CHECK-LABEL: @pads
// CHECK: %[[ZERO:.*]] = arith.constant dense<0> : tensor<ui8>
// CHECK: %[[X:.*]] = nn.pad constant %arg0 value(%[[ZERO]]) {high = array<i64: 0, 2, 0, 0>, low = array<i64: 0, 0, 0, 0>} : (tensor<1x6x8x8xui8>, tensor<ui8>) -> tensor<1x8x8x8xui8>
// CHECK: %[[W:.*]] = arith.constant {{.*}} : tensor<32x8x3x3xi8>
// CHECK: nn.conv %[[X]], %[[W]] {{{.*}}pads = array<i64: 1, 1, 1, 1>{{.*}}x_zero_point = 7 : i64}
func.func @pads(%x: tensor<1x6x8x8xui8>) -> tensor<1x32x8x8xi32> {
  %w = arith.constant dense<3> : tensor<32x6x3x3xi8>
  %0 = nn.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>, x_zero_point = 7 : i64}
    : (tensor<1x6x8x8xui8>, tensor<32x6x3x3xi8>) -> tensor<1x32x8x8xi32>
  return %0 : tensor<1x32x8x8xi32>
}

// The zeros are behind the channels of each output.
// CHECK-LABEL: @order
// CHECK: nn.pad
// CHECK: arith.constant dense<"0x01020300010203000102030001020300{{.*}}"> : tensor<128x4x1xi8>
func.func @order(%x: tensor<1x3x8xui8>) -> tensor<1x128x8xi32> {
  %w = arith.constant dense<"0x010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203010203"> : tensor<128x3x1xi8>
  %0 = nn.conv %x, %w {dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 0, 0>, strides = array<i64: 1>}
    : (tensor<1x3x8xui8>, tensor<128x3x1xi8>) -> tensor<1x128x8xi32>
  return %0 : tensor<1x128x8xi32>
}

// Must not fire: signs are multiplied as bits.
// CHECK-LABEL: @signs
// CHECK-NOT: nn.pad
func.func @signs(%x: tensor<1x6x8x8xui8>) -> tensor<1x32x8x8xi32> {
  %w = arith.constant dense<-1> : tensor<32x6x3x3xi8>
  %0 = nn.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<1x6x8x8xui8>, tensor<32x6x3x3xi8>) -> tensor<1x32x8x8xi32>
  return %0 : tensor<1x32x8x8xi32>
}

// Must not fire: one or two channels, whole groups of four, grouped
// convolutions, computed weights, and data whose bytes are multiplied only 32
// times each.
// CHECK-LABEL: @no
// CHECK-NOT: nn.pad
func.func @no(%a: tensor<1x2x8x8xui8>, %b: tensor<1x8x8x8xui8>, %c: tensor<1x6x8x8xui8>, %v: tensor<32x6x3x3xi8>)
    -> (tensor<1x32x8x8xi32>, tensor<1x32x8x8xi32>, tensor<1x32x8x8xi32>, tensor<1x32x8x8xi32>, tensor<1x32x8x8xi32>) {
  %w2 = arith.constant dense<3> : tensor<32x2x3x3xi8>
  %w8 = arith.constant dense<3> : tensor<32x8x3x3xi8>
  %w1 = arith.constant dense<3> : tensor<32x6x1x1xi8>
  %w3 = arith.constant dense<3> : tensor<32x3x3x3xi8>
  %0 = nn.conv %a, %w2 {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x2x8x8xui8>, tensor<32x2x3x3xi8>) -> tensor<1x32x8x8xi32>
  %1 = nn.conv %b, %w8 {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x8x8x8xui8>, tensor<32x8x3x3xi8>) -> tensor<1x32x8x8xi32>
  %2 = nn.conv %c, %v {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x6x8x8xui8>, tensor<32x6x3x3xi8>) -> tensor<1x32x8x8xi32>
  %3 = nn.conv %c, %w1 {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x6x8x8xui8>, tensor<32x6x1x1xi8>) -> tensor<1x32x8x8xi32>
  %4 = nn.conv %c, %w3 {dilations = array<i64: 1, 1>, groups = 2 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x6x8x8xui8>, tensor<32x3x3x3xi8>) -> tensor<1x32x8x8xi32>
  return %0, %1, %2, %3, %4 : tensor<1x32x8x8xi32>, tensor<1x32x8x8xi32>, tensor<1x32x8x8xi32>, tensor<1x32x8x8xi32>, tensor<1x32x8x8xi32>
}
