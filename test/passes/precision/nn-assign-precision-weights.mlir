// RUN: ingot-opt %s --split-input-file --nn-assign-precision='half=fp16' | FileCheck %s
// RUN: ingot-opt %s --split-input-file --ingot-attach-targets=levels=x86-64-v3,avx512fp16 --nn-assign-precision=half=bf16 | FileCheck %s
// RUN: ingot-opt %s --split-input-file --ingot-attach-targets=levels=x86-64-v3,avx512fp16 --nn-assign-precision=half=bf16 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: ingot-opt %s --ingot-attach-targets=levels=x86-64-v3,avx512fp16 --nn-assign-precision='half=bf16 keep=lost*=bf16,wide*=fp32' | FileCheck %s --check-prefix=RULES

// Weights are stored as f16 and multiplied as f32, also if bf16 was requested
// but no level multiplies it. This holds for many rows, for few rows of weights
// that no cache holds, and for images of dynamic size.
// CHECK-LABEL: @stored
// CHECK-COUNT-5: ingot.precision = #ingot.precision<fp16>
// CHECK-NOT: ingot.precision
// RULES-LABEL: @stored
// RULES: nn.matmul {{[^#]*}}tensor<48x128xf32>
// RULES-COUNT-4: #ingot.precision<fp16>
func.func @stored(%a: tensor<48x128xf32>, %b: tensor<8x1024xf32>, %c: tensor<1x512xf32>,
                  %d: tensor<1x64x7x7xf32>, %e: tensor<1x?x?x32xf32>)
    -> (tensor<48x128xf32>, tensor<8x512xf32>, tensor<1x1024xf32>, tensor<1x256x7x7xf32>, tensor<1x?x?x512xf32>) {
  %wa = arith.constant dense<0.5> : tensor<128x128xf32>
  %wb = arith.constant dense<0.5> : tensor<1024x512xf32>
  %wc = arith.constant dense<0.5> : tensor<512x1024xf32>
  %wd = arith.constant dense<0.5> : tensor<256x64x1x1xf32>
  %we = arith.constant dense<0.5> : tensor<512x32x1x1xf32>
  %0 = nn.matmul %a, %wa : (tensor<48x128xf32>, tensor<128x128xf32>) -> tensor<48x128xf32> loc("wide")
  %1 = nn.matmul %b, %wb : (tensor<8x1024xf32>, tensor<1024x512xf32>) -> tensor<8x512xf32>
  %2 = nn.matmul %c, %wc : (tensor<1x512xf32>, tensor<512x1024xf32>) -> tensor<1x1024xf32>
  %3 = nn.conv %d, %wd {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 1, 1>} : (tensor<1x64x7x7xf32>, tensor<256x64x1x1xf32>) -> tensor<1x256x7x7xf32>
  %4 = nn.conv %e, %we {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 1, 1>} : (tensor<1x?x?x32xf32>, tensor<512x32x1x1xf32>) -> tensor<1x?x?x512xf32>
  return %0, %1, %2, %3, %4
    : tensor<48x128xf32>, tensor<8x512xf32>, tensor<1x1024xf32>, tensor<1x256x7x7xf32>, tensor<1x?x?x512xf32>
}

// -----

// Must not fire: few weights; fewer rows of weights that a cache holds; some rows, or a dynamic number, which may be
// one; few channels of dynamic size; and operands that a run computes.
// REMARK-COUNT-2: remark: no weights are stored as float16, {{.*}}: a rule '*=bf16' stores them all the same
// REMARK-NOT: remark:
// CHECK-LABEL: @wide
// CHECK-NOT: ingot.precision
// RULES-LABEL: @wide
// RULES: nn.matmul {{.*}}#ingot.precision<fp16>
func.func @wide(%a: tensor<48x128xf32>, %b: tensor<8x512xf32>, %c: tensor<9x1024xf32>, %d: tensor<?x256xf32>,
                %e: tensor<1x?x?x31xf32>, %f: tensor<64x128xf32>, %g: tensor<128x128xf32>)
    -> (tensor<48x127xf32>, tensor<8x512xf32>, tensor<9x512xf32>, tensor<?x256xf32>, tensor<1x?x?x1024xf32>, tensor<64x128xf32>) {
  %wa = arith.constant dense<0.5> : tensor<128x127xf32>
  %wb = arith.constant dense<0.5> : tensor<512x512xf32>
  %wc = arith.constant dense<0.5> : tensor<1024x512xf32>
  %wd = arith.constant dense<0.5> : tensor<256x256xf32>
  %we = arith.constant dense<0.5> : tensor<1024x31x1x1xf32>
  %0 = nn.matmul %a, %wa : (tensor<48x128xf32>, tensor<128x127xf32>) -> tensor<48x127xf32> loc("lost")
  %1 = nn.matmul %b, %wb : (tensor<8x512xf32>, tensor<512x512xf32>) -> tensor<8x512xf32>
  %2 = nn.matmul %c, %wc : (tensor<9x1024xf32>, tensor<1024x512xf32>) -> tensor<9x512xf32>
  %3 = nn.matmul %d, %wd : (tensor<?x256xf32>, tensor<256x256xf32>) -> tensor<?x256xf32>
  %4 = nn.conv %e, %we {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
    strides = array<i64: 1, 1>} : (tensor<1x?x?x31xf32>, tensor<1024x31x1x1xf32>) -> tensor<1x?x?x1024xf32>
  %5 = nn.matmul %f, %g : (tensor<64x128xf32>, tensor<128x128xf32>) -> tensor<64x128xf32>
  return %0, %1, %2, %3, %4, %5
    : tensor<48x127xf32>, tensor<8x512xf32>, tensor<9x512xf32>, tensor<?x256xf32>, tensor<1x?x?x1024xf32>, tensor<64x128xf32>
}

// -----

// Must not fire if a cache holds all weights of the model.
// CHECK-LABEL: @small
// CHECK-NOT: ingot.precision
func.func @small(%a: tensor<64x512xf32>) -> (tensor<64x512xf32>, tensor<64x512xf32>) {
  %w = arith.constant dense<0.5> : tensor<512x512xf32>
  %0 = nn.matmul %a, %w : (tensor<64x512xf32>, tensor<512x512xf32>) -> tensor<64x512xf32> loc("lost")
  %1 = nn.relu %0 : tensor<64x512xf32> -> tensor<64x512xf32> loc("wide")
  return %0, %1 : tensor<64x512xf32>, tensor<64x512xf32>
}
