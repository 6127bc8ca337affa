// RUN: ingot-opt %s --nn-store-padding | FileCheck %s

module attributes {ingot.target = #ingot.target<"x86-64-v3">} {

// One channel and 512 taps: the kernel reads the padding from memory.
// CHECK-LABEL: func @few_channels
// CHECK: %[[P:.*]] = nn.pad constant %arg0 value({{.*}}) {high = array<i64: 0, 254, 0>, low = array<i64: 0, 254, 0>} : {{.*}} -> tensor<1x1532x1xf32>
// CHECK: nn.conv %[[P]], {{.*}}pads = array<i64: 0, 0>
func.func @few_channels(%x: tensor<1x1024x1xf32>) -> tensor<1x256x128xf32> {
  %w = arith.constant dense<1.0> : tensor<128x1x512xf32>
  %y = nn.conv %x, %w {channels_last, dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 254, 254>, strides = array<i64: 4>} : (tensor<1x1024x1xf32>, tensor<128x1x512xf32>) -> tensor<1x256x128xf32>
  return %y : tensor<1x256x128xf32>
}

// Bytes are padded with their zero point. Pads of other dimensions stay.
// CHECK-LABEL: func @bytes
// CHECK: %[[Z:.*]] = arith.constant dense<7> : tensor<ui8>
// CHECK: nn.pad constant %arg0 value(%[[Z]]) {high = array<i64: 0, 0, 63, 0>, low = array<i64: 0, 0, 64, 0>}
// CHECK: nn.conv {{.*}}pads = array<i64: 1, 0, 1, 0>, {{.*}}x_zero_point = 7
func.func @bytes(%x: tensor<1x?x256x1xui8>) -> tensor<1x?x256x16xi32> {
  %w = arith.constant dense<1> : tensor<16x1x3x128xi8>
  %y = nn.conv %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 64, 1, 63>, strides = array<i64: 1, 1>, x_zero_point = 7 : i64} : (tensor<1x?x256x1xui8>, tensor<16x1x3x128xi8>) -> tensor<1x?x256x16xi32>
  return %y : tensor<1x?x256x16xi32>
}

// Few taps, many channels, few products of an element, and no padding.
// CHECK-LABEL: func @stay
// CHECK-NOT: nn.pad
func.func @stay(%x: tensor<1x1024x1xf32>, %many: tensor<1x1024x16xf32>) -> (tensor<1x1024x128xf32>, tensor<1x1023x128xf32>, tensor<1x32x8xf32>, tensor<1x513x128xf32>) {
  %w0 = arith.constant dense<1.0> : tensor<128x1x33xf32>
  %0 = nn.conv %x, %w0 {channels_last, dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 16, 16>, strides = array<i64: 1>} : (tensor<1x1024x1xf32>, tensor<128x1x33xf32>) -> tensor<1x1024x128xf32>
  %w1 = arith.constant dense<1.0> : tensor<128x16x256xf32>
  %1 = nn.conv %many, %w1 {channels_last, dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 127, 127>, strides = array<i64: 1>} : (tensor<1x1024x16xf32>, tensor<128x16x256xf32>) -> tensor<1x1023x128xf32>
  %w2 = arith.constant dense<1.0> : tensor<8x1x128xf32>
  %2 = nn.conv %x, %w2 {channels_last, dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 48, 48>, strides = array<i64: 32>} : (tensor<1x1024x1xf32>, tensor<8x1x128xf32>) -> tensor<1x32x8xf32>
  %w3 = arith.constant dense<1.0> : tensor<128x1x512xf32>
  %3 = nn.conv %x, %w3 {channels_last, dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 0, 0>, strides = array<i64: 1>} : (tensor<1x1024x1xf32>, tensor<128x1x512xf32>) -> tensor<1x513x128xf32>
  return %0, %1, %2, %3 : tensor<1x1024x128xf32>, tensor<1x1023x128xf32>, tensor<1x32x8xf32>, tensor<1x513x128xf32>
}

}
