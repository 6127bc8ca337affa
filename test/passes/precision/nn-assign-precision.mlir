// RUN: ingot-opt %s --nn-assign-precision | FileCheck %s
// RUN: ingot-opt %s --nn-assign-precision='keep=b*=bf16,[ab]?=fp32' | FileCheck %s --check-prefix=KEEP
// RUN: ingot-opt %s --nn-assign-precision='keep=few*=bf16' | FileCheck %s --check-prefix=ALL
// RUN: ingot-opt %s --nn-assign-precision='half=fp16 keep=few*=fp16' | FileCheck %s --check-prefix=WEIGHTS
// RUN: ingot-opt %s --ingot-attach-targets=levels=avx512fp16,sapphirerapids --nn-assign-precision=half=fp16 | FileCheck %s --check-prefix=SUMS
// RUN: not ingot-opt %s --nn-assign-precision='keep=b3=fp32' 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not ingot-opt %s --nn-assign-precision='keep=b1=int8' 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not ingot-opt %s --nn-assign-precision='keep==fp32' 2>&1 | FileCheck %s --check-prefix=EMPTY

// RUN: ingot-opt %s --ingot-attach-targets=levels=znver4,sapphirerapids --nn-assign-precision=computed-only | FileCheck %s --check-prefix=COMPUTED
// RUN: ingot-opt %s --ingot-attach-targets=levels=x86-64-v4,sapphirerapids --nn-assign-precision=computed-only | FileCheck %s --check-prefix=NO-REST
// RUN: ingot-opt %s --ingot-attach-targets=levels=znver4,sapphirerapids --nn-assign-precision='computed-only keep=a1=int8,[ab]?=fp32' -o /dev/null

// NONE: error: rule 'b3=fp32' matches no node of the model; similar names: 'b1'
// OTHER: error: rule 'b1=int8' names int8, but the model is compiled in bf16: use GLOB=fp32, or GLOB=bf16 to except some from a later rule
// EMPTY: error: rule '=fp32' has no name before the sign

// CHECK-LABEL: @heavy
// CHECK: nn.conv {{.*}}ingot.precision = #ingot.precision<bf16>
// CHECK: nn.matmul {{.*}}ingot.precision = #ingot.precision<bf16>
// CHECK-NOT: ingot.precision
func.func @heavy(%x: tensor<1x8x8x4xf32>, %w: tensor<4x4x3x3xf32>, %b: tensor<4x4xf32>) -> tensor<1x8x8x4xf32> {
  %0 = nn.conv %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x8x8x4xf32>, tensor<4x4x3x3xf32>) -> tensor<1x8x8x4xf32>
  %1 = nn.matmul %0, %b : (tensor<1x8x8x4xf32>, tensor<4x4xf32>) -> tensor<1x8x8x4xf32>
  %2 = nn.softmax %1 {axis = 3 : i64} : tensor<1x8x8x4xf32> -> tensor<1x8x8x4xf32>
  return %2 : tensor<1x8x8x4xf32>
}

// Must not fire: other types, and precisions that are set already.
// CHECK-LABEL: @stays
// CHECK: nn.matmul %{{.*}}, %{{.*}} : (tensor<2x4xf64>
// CHECK: nn.matmul {{.*}}ingot.precision = #ingot.precision<fp32>
func.func @stays(%a: tensor<2x4xf64>, %b: tensor<4x4xf64>, %c: tensor<2x4xf32>, %d: tensor<4x4xf32>)
    -> (tensor<2x4xf64>, tensor<2x4xf32>) {
  %0 = nn.matmul %a, %b : (tensor<2x4xf64>, tensor<4x4xf64>) -> tensor<2x4xf64>
  %1 = nn.matmul %c, %d {ingot.precision = #ingot.precision<fp32>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  return %0, %1 : tensor<2x4xf64>, tensor<2x4xf32>
}

// The first rule that matches a node decides.
// KEEP-LABEL: @named
// KEEP: nn.matmul %{{[^{]*}} : (tensor<2x4xf32>
// KEEP: nn.matmul {{.*}}#ingot.precision<bf16>
func.func @named(%a: tensor<2x4xf32>, %b: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %0 = nn.matmul %a, %b : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32> loc("a1")
  %1 = nn.matmul %0, %b : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32> loc("b1")
  return %1 : tensor<2x4xf32>
}

// bf16 does not pay for few terms per tap or in total, for an odd number of few terms, and for groups of few channels,
// unless a rule asks for it. Few weights do not become f16. Sums of f16 may have more terms. Single channels far from
// other products do not become bf16, either.
// CHECK-LABEL: @few(
// CHECK: nn.conv {{[^#]*}}tensor<20x3x3x3xf32>
// CHECK-NEXT: nn.conv {{[^#]*}}tensor<20x5x3x3xf32>
// CHECK-NEXT: nn.conv {{[^#]*}}tensor<20x16x1x1xf32>
// CHECK-NEXT: nn.conv {{[^#]*}}tensor<32x4x3x3xf32>
// CHECK-NEXT: nn.conv {{.*}}#ingot.precision<bf16>{{.*}}tensor<20x20x1x1xf32>
// CHECK-NEXT: nn.conv {{.*}}#ingot.precision<bf16>{{.*}}tensor<20x4x3x3xf32>
// CHECK-NEXT: nn.conv {{.*}}#ingot.precision<bf16>{{.*}}tensor<20x7x3x3xf32>
// CHECK-NEXT: nn.conv {{[^#]*}}tensor<20x1x3x3xf32>
// CHECK-NEXT: nn.conv {{.*}}#ingot.precision<bf16>{{.*}}tensor<20x32x1x1xf32>
// ALL-LABEL: @few(
// ALL-COUNT-9: nn.conv {{.*}}#ingot.precision<bf16>
// WEIGHTS-LABEL: @few(
// WEIGHTS-COUNT-9: nn.conv {{.*}}#ingot.precision<fp16>
// SUMS-LABEL: @few(
// SUMS: nn.conv {{[^#]*}}tensor<20x3x3x3xf32>
// SUMS-NEXT: nn.conv {{[^#]*}}tensor<20x5x3x3xf32>
// SUMS-NEXT: nn.conv {{[^#]*}}tensor<20x16x1x1xf32>
// SUMS-NEXT: nn.conv {{[^#]*}}tensor<32x4x3x3xf32>
// SUMS-NEXT: nn.conv {{[^#]*}}tensor<20x20x1x1xf32>
// SUMS-NEXT: nn.conv {{[^#]*}}tensor<20x4x3x3xf32>
// SUMS-NEXT: nn.conv {{[^#]*}}tensor<20x7x3x3xf32>
// SUMS-NEXT: nn.conv {{[^#]*}}tensor<20x1x3x3xf32>
// SUMS-NEXT: nn.conv {{.*}}#ingot.precision<fp16>{{.*}}tensor<20x32x1x1xf32>
func.func @few(%x0: tensor<1x8x8x3xf32>, %x1: tensor<1x8x8x5xf32>, %x2: tensor<1x8x8x16xf32>,
               %x3: tensor<1x8x8x32xf32>, %x4: tensor<1x8x8x20xf32>, %x5: tensor<1x8x8x4xf32>,
               %x6: tensor<1x8x8x7xf32>, %x7: tensor<1x8x8x20xf32>, %x8: tensor<1x8x8x32xf32>)
    -> (tensor<1x8x8x20xf32>, tensor<1x8x8x20xf32>, tensor<1x8x8x20xf32>, tensor<1x8x8x32xf32>,
        tensor<1x8x8x20xf32>, tensor<1x8x8x20xf32>, tensor<1x8x8x20xf32>, tensor<1x8x8x20xf32>,
        tensor<1x8x8x20xf32>) {
  %w0 = arith.constant dense<0.5> : tensor<20x3x3x3xf32>
  %w1 = arith.constant dense<0.5> : tensor<20x5x3x3xf32>
  %w2 = arith.constant dense<0.5> : tensor<20x16x1x1xf32>
  %w3 = arith.constant dense<0.5> : tensor<32x4x3x3xf32>
  %w4 = arith.constant dense<0.5> : tensor<20x20x1x1xf32>
  %w5 = arith.constant dense<0.5> : tensor<20x4x3x3xf32>
  %w6 = arith.constant dense<0.5> : tensor<20x7x3x3xf32>
  %w7 = arith.constant dense<0.5> : tensor<20x1x3x3xf32>
  %w8 = arith.constant dense<0.5> : tensor<20x32x1x1xf32>
  %0 = nn.conv %x0, %w0 {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x8x8x3xf32>, tensor<20x3x3x3xf32>) -> tensor<1x8x8x20xf32> loc("few1")
  %1 = nn.conv %x1, %w1 {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x8x8x5xf32>, tensor<20x5x3x3xf32>) -> tensor<1x8x8x20xf32> loc("few2")
  %2 = nn.conv %x2, %w2 {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 1, 1>} : (tensor<1x8x8x16xf32>, tensor<20x16x1x1xf32>) -> tensor<1x8x8x20xf32> loc("few3")
  %3 = nn.conv %x3, %w3 {channels_last, dilations = array<i64: 1, 1>, groups = 8 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x8x8x32xf32>, tensor<32x4x3x3xf32>) -> tensor<1x8x8x32xf32> loc("few4")
  %4 = nn.conv %x4, %w4 {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 1, 1>} : (tensor<1x8x8x20xf32>, tensor<20x20x1x1xf32>) -> tensor<1x8x8x20xf32> loc("few5")
  %5 = nn.conv %x5, %w5 {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x8x8x4xf32>, tensor<20x4x3x3xf32>) -> tensor<1x8x8x20xf32> loc("few6")
  %6 = nn.conv %x6, %w6 {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x8x8x7xf32>, tensor<20x7x3x3xf32>) -> tensor<1x8x8x20xf32> loc("few7")
  %7 = nn.conv %x7, %w7 {channels_last, dilations = array<i64: 1, 1>, groups = 20 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x8x8x20xf32>, tensor<20x1x3x3xf32>) -> tensor<1x8x8x20xf32> loc("few8")
  %8 = nn.conv %x8, %w8 {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 1, 1>} : (tensor<1x8x8x32xf32>, tensor<20x32x1x1xf32>) -> tensor<1x8x8x20xf32> loc("few9")
  return %0, %1, %2, %3, %4, %5, %6, %7, %8
    : tensor<1x8x8x20xf32>, tensor<1x8x8x20xf32>, tensor<1x8x8x20xf32>, tensor<1x8x8x32xf32>,
      tensor<1x8x8x20xf32>, tensor<1x8x8x20xf32>, tensor<1x8x8x20xf32>, tensor<1x8x8x20xf32>,
      tensor<1x8x8x20xf32>
}

// Single channels between products, also behind an activation, are stored as
// bf16, but not behind a mean.
// CHECK-LABEL: @single(
// CHECK: nn.conv {{.*}}#ingot.precision<bf16>{{.*}}tensor<32x1x3x3xf32>
// CHECK: nn.conv {{.*}}#ingot.precision<bf16>{{.*}}tensor<32x32x1x1xf32>
// CHECK: nn.conv {{[^#]*}}tensor<32x1x3x3xf32>
// CHECK: nn.matmul {{.*}}#ingot.precision<bf16>
// SUMS-LABEL: @single(
// SUMS: nn.conv {{.*}}#ingot.precision<fp16>{{.*}}tensor<32x1x3x3xf32>
// SUMS: nn.conv {{.*}}#ingot.precision<fp16>{{.*}}tensor<32x32x1x1xf32>
// SUMS: nn.conv {{[^#]*}}tensor<32x1x3x3xf32>
func.func @single(%x: tensor<1x8x8x32xf32>) -> (tensor<1x8x8x32xf32>, tensor<1x512xf32>) {
  %w = arith.constant dense<0.5> : tensor<32x1x3x3xf32>
  %p = arith.constant dense<0.5> : tensor<32x32x1x1xf32>
  %m = arith.constant dense<0.5> : tensor<32x512xf32>
  %0 = nn.conv %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 32 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x8x8x32xf32>, tensor<32x1x3x3xf32>) -> tensor<1x8x8x32xf32>
  %1 = nn.relu %0 : tensor<1x8x8x32xf32> -> tensor<1x8x8x32xf32>
  %2 = nn.conv %1, %p {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 1, 1>} : (tensor<1x8x8x32xf32>, tensor<32x32x1x1xf32>) -> tensor<1x8x8x32xf32>
  %3 = nn.conv %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 32 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x8x8x32xf32>, tensor<32x1x3x3xf32>) -> tensor<1x8x8x32xf32>
  %4 = nn.reduce mean %3 {axes = array<i64: 1, 2>} : tensor<1x8x8x32xf32> -> tensor<1x32xf32>
  %5 = nn.matmul %4, %m : (tensor<1x32xf32>, tensor<32x512xf32>) -> tensor<1x512xf32>
  return %2, %5 : tensor<1x8x8x32xf32>, tensor<1x512xf32>
}

// bf16 does not pay for a few rows by a small matrix; a dynamic number of rows
// may be large.
// CHECK-LABEL: @small(
// CHECK: nn.matmul {{[^#]*}}tensor<8x16xf32>, tensor<16x16xf32>
// CHECK: nn.matmul {{[^#]*}}tensor<3x64xf32>, tensor<64x64xf32>
// CHECK: nn.matmul {{.*}}#ingot.precision<bf16>{{.*}}tensor<8x64xf32>
// CHECK: nn.matmul {{[^#]*}}tensor<3x64xf32>, tensor<64x256xf32>
// CHECK: nn.matmul {{.*}}#ingot.precision<bf16>{{.*}}tensor<1x64xf32>, tensor<64x256xf32>
// CHECK: nn.matmul {{[^#]*}}tensor<64x8xf32>, tensor<8x256xf32>
// CHECK: nn.matmul {{.*}}#ingot.precision<bf16>{{.*}}tensor<?x16xf32>
func.func @small(%a: tensor<8x16xf32>, %b: tensor<3x64xf32>, %c: tensor<8x64xf32>, %d: tensor<?x16xf32>,
                 %e: tensor<1x64xf32>, %f: tensor<64x8xf32>)
    -> (tensor<8x16xf32>, tensor<3x64xf32>, tensor<8x64xf32>, tensor<?x16xf32>, tensor<3x256xf32>, tensor<1x256xf32>, tensor<64x256xf32>) {
  %t = arith.constant dense<0.5> : tensor<8x256xf32>
  %u = arith.constant dense<0.5> : tensor<64x256xf32>
  %v = arith.constant dense<0.5> : tensor<16x16xf32>
  %w = arith.constant dense<0.5> : tensor<64x64xf32>
  %0 = nn.matmul %a, %v : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %1 = nn.matmul %b, %w : (tensor<3x64xf32>, tensor<64x64xf32>) -> tensor<3x64xf32>
  %2 = nn.matmul %c, %w : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %4 = nn.matmul %b, %u : (tensor<3x64xf32>, tensor<64x256xf32>) -> tensor<3x256xf32>
  %5 = nn.matmul %e, %u : (tensor<1x64xf32>, tensor<64x256xf32>) -> tensor<1x256xf32>
  %6 = nn.matmul %f, %t : (tensor<64x8xf32>, tensor<8x256xf32>) -> tensor<64x256xf32>
  %3 = nn.matmul %d, %v : (tensor<?x16xf32>, tensor<16x16xf32>) -> tensor<?x16xf32>
  return %0, %1, %2, %3, %4, %5, %6
    : tensor<8x16xf32>, tensor<3x64xf32>, tensor<8x64xf32>, tensor<?x16xf32>, tensor<3x256xf32>, tensor<1x256xf32>, tensor<64x256xf32>
}

// Must not fire: convolutions of few products, rows of fewer than four pixels
// by few weights, and groups of four channels of few pixels. Their tiles are
// missing or empty.
// CHECK-LABEL: @small_convolutions(
// CHECK: nn.conv {{[^#]*}}tensor<1x7x7x20xf32>, tensor<12x20x1x1xf32>
// CHECK: nn.conv {{.*}}#ingot.precision<bf16>{{.*}}tensor<1x14x14x20xf32>, tensor<12x20x1x1xf32>
// CHECK: nn.conv {{[^#]*}}tensor<1x14x14x32xf32>, tensor<128x4x3x3xf32>
// CHECK: nn.conv {{.*}}#ingot.precision<bf16>{{.*}}tensor<1x28x28x32xf32>, tensor<128x4x3x3xf32>
// CHECK: nn.conv {{.*}}#ingot.precision<bf16>{{.*}}tensor<1x7x7x64xf32>, tensor<64x8x3x3xf32>
// CHECK: nn.conv {{[^#]*}}tensor<1x6x6x6x128xf32>, tensor<16x128x3x3x3xf32>
// CHECK: nn.conv {{.*}}#ingot.precision<bf16>{{.*}}tensor<1x8x8x8x128xf32>, tensor<16x128x3x3x3xf32>
// CHECK: nn.conv {{.*}}#ingot.precision<bf16>{{.*}}tensor<1x6x6x6x128xf32>, tensor<20x128x3x3x3xf32>
// CHECK: nn.conv {{.*}}#ingot.precision<bf16>{{.*}}tensor<1x?x?x20xf32>, tensor<12x20x1x1xf32>
func.func @small_convolutions(%tiny: tensor<1x7x7x20xf32>,
    %less_tiny: tensor<1x14x14x20xf32>,
    %groups: tensor<1x14x14x32xf32>,
    %groups_of_many: tensor<1x28x28x32xf32>,
    %groups_of_eight: tensor<1x7x7x64xf32>,
    %narrow: tensor<1x6x6x6x128xf32>,
    %wider: tensor<1x8x8x8x128xf32>,
    %narrow_of_more: tensor<1x6x6x6x128xf32>,
    %any_size: tensor<1x?x?x20xf32>)
    -> (tensor<1x7x7x12xf32>, tensor<1x14x14x12xf32>, tensor<1x14x14x128xf32>, tensor<1x28x28x128xf32>, tensor<1x7x7x64xf32>, tensor<1x3x3x3x16xf32>, tensor<1x4x4x4x16xf32>, tensor<1x3x3x3x20xf32>, tensor<1x?x?x12xf32>) {
  %w_tiny = arith.constant dense<0.5> : tensor<12x20x1x1xf32>
  %y_tiny = nn.conv %tiny, %w_tiny {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 1, 1>} : (tensor<1x7x7x20xf32>, tensor<12x20x1x1xf32>) -> tensor<1x7x7x12xf32>
  %w_less_tiny = arith.constant dense<0.5> : tensor<12x20x1x1xf32>
  %y_less_tiny = nn.conv %less_tiny, %w_less_tiny {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 1, 1>} : (tensor<1x14x14x20xf32>, tensor<12x20x1x1xf32>) -> tensor<1x14x14x12xf32>
  %w_groups = arith.constant dense<0.5> : tensor<128x4x3x3xf32>
  %y_groups = nn.conv %groups, %w_groups {channels_last, dilations = array<i64: 1, 1>, groups = 8 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x14x14x32xf32>, tensor<128x4x3x3xf32>) -> tensor<1x14x14x128xf32>
  %w_groups_of_many = arith.constant dense<0.5> : tensor<128x4x3x3xf32>
  %y_groups_of_many = nn.conv %groups_of_many, %w_groups_of_many {channels_last, dilations = array<i64: 1, 1>, groups = 8 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x28x28x32xf32>, tensor<128x4x3x3xf32>) -> tensor<1x28x28x128xf32>
  %w_groups_of_eight = arith.constant dense<0.5> : tensor<64x8x3x3xf32>
  %y_groups_of_eight = nn.conv %groups_of_eight, %w_groups_of_eight {channels_last, dilations = array<i64: 1, 1>, groups = 8 : i64, pads = array<i64: 1, 1, 1, 1>,
    strides = array<i64: 1, 1>} : (tensor<1x7x7x64xf32>, tensor<64x8x3x3xf32>) -> tensor<1x7x7x64xf32>
  %w_narrow = arith.constant dense<0.5> : tensor<16x128x3x3x3xf32>
  %y_narrow = nn.conv %narrow, %w_narrow {channels_last, dilations = array<i64: 1, 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1, 1, 1>,
    strides = array<i64: 2, 2, 2>} : (tensor<1x6x6x6x128xf32>, tensor<16x128x3x3x3xf32>) -> tensor<1x3x3x3x16xf32>
  %w_wider = arith.constant dense<0.5> : tensor<16x128x3x3x3xf32>
  %y_wider = nn.conv %wider, %w_wider {channels_last, dilations = array<i64: 1, 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1, 1, 1>,
    strides = array<i64: 2, 2, 2>} : (tensor<1x8x8x8x128xf32>, tensor<16x128x3x3x3xf32>) -> tensor<1x4x4x4x16xf32>
  %w_narrow_of_more = arith.constant dense<0.5> : tensor<20x128x3x3x3xf32>
  %y_narrow_of_more = nn.conv %narrow_of_more, %w_narrow_of_more {channels_last, dilations = array<i64: 1, 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1, 1, 1>,
    strides = array<i64: 2, 2, 2>} : (tensor<1x6x6x6x128xf32>, tensor<20x128x3x3x3xf32>) -> tensor<1x3x3x3x20xf32>
  %w_any_size = arith.constant dense<0.5> : tensor<12x20x1x1xf32>
  %y_any_size = nn.conv %any_size, %w_any_size {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 1, 1>} : (tensor<1x?x?x20xf32>, tensor<12x20x1x1xf32>) -> tensor<1x?x?x12xf32>
  return %y_tiny, %y_less_tiny, %y_groups, %y_groups_of_many, %y_groups_of_eight, %y_narrow, %y_wider, %y_narrow_of_more, %y_any_size
    : tensor<1x7x7x12xf32>, tensor<1x14x14x12xf32>, tensor<1x14x14x128xf32>, tensor<1x28x28x128xf32>, tensor<1x7x7x64xf32>, tensor<1x3x3x3x16xf32>, tensor<1x4x4x4x16xf32>, tensor<1x3x3x3x20xf32>, tensor<1x?x?x12xf32>
}

// Products of two computed operands; no convolutions.
// COMPUTED-LABEL: @heavy
// COMPUTED: nn.conv %{{[^{]*}} {channels_last,
// COMPUTED-LABEL: @computed
// COMPUTED: nn.matmul %{{.*}}, %{{.*}} {ingot.precision = #ingot.precision<bf16>, transpose_b}
// COMPUTED: nn.matmul %{{[^{]*}} : (tensor<2x2xf32>
// NO-REST-LABEL: @computed
// NO-REST-NOT: ingot.precision
func.func @computed(%a: tensor<2x4xf32>) -> tensor<2x2xf32> {
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %0 = nn.matmul %a, %a {transpose_b} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x2xf32>
  %1 = nn.matmul %0, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
