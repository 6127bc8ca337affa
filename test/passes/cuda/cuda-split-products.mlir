// RUN: ingot-opt --pass-pipeline="builtin.module(func.func(cuda-split-products))" --split-input-file %s | FileCheck %s
// RUN: ingot-opt --pass-pipeline="builtin.module(func.func(cuda-split-products{seed=5}))" --split-input-file %s -o %t.drawn
// RUN: ingot-opt --pass-pipeline="builtin.module(func.func(cuda-split-products{seed=5}))" --split-input-file %s | diff - %t.drawn

// A small result with a large depth is split. The sum of the parts has the
// epilogue.
// CHECK-LABEL: @deep
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<[[P:[0-9]+]]x1x7x7x512xf32>
// CHECK: %[[PARTS:.*]] = cuda.conv ins(%arg0, %arg1 : {{.*}}) outs(%[[EMPTY]] : {{.*}}) attributes
// CHECK-SAME: parts = [[P]]
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32):
// CHECK-NEXT: cuda.yield %[[SUM]]
// CHECK: %[[Y:.*]] = cuda.sum_parts ins(%[[PARTS]] : tensor<[[P]]x1x7x7x512xf32>) operands(%arg2 : tensor<1x1x1x512xf32>) outs(%arg3 :
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32, %[[BIAS:.*]]: f32):
// CHECK-NEXT: arith.addf %[[SUM]], %[[BIAS]]
// CHECK: return %[[Y]]
func.func @deep(%x: tensor<1x7x7x512xf16>, %w: tensor<512x4608xf16>, %b: tensor<1x1x1x512xf32>, %d: tensor<1x7x7x512xf32>) -> tensor<1x7x7x512xf32> {
  %y = cuda.conv ins(%x, %w : tensor<1x7x7x512xf16>, tensor<512x4608xf16>) operands(%b : tensor<1x1x1x512xf32>)
      outs(%d : tensor<1x7x7x512xf32>) attributes {taps = array<i64: 3, 3>, strides = array<i64: 1, 1>,
      pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32, %bias: f32):
    %0 = arith.addf %sum, %bias : f32
    cuda.yield %0 : f32
  } -> tensor<1x7x7x512xf32>
  return %y : tensor<1x7x7x512xf32>
}

// -----

// Large results, and results of a small depth, are not split. Parts are not
// split again.
// CHECK-LABEL: @whole
// CHECK-COUNT-3: cuda.matmul
// CHECK-NOT: cuda.sum_parts
func.func @whole(%x: tensor<4096x1024xf16>, %w: tensor<4096x1024xf16>, %d: tensor<4096x4096xf32>, %s: tensor<16x64xf16>, %v: tensor<16x64xf16>, %e: tensor<16x16xf32>,
                 %t: tensor<16x8192xf16>, %p: tensor<2x16x16xf32>) -> (tensor<4096x4096xf32>, tensor<16x16xf32>, tensor<2x16x16xf32>) {
  %0 = cuda.matmul ins(%x, %w : tensor<4096x1024xf16>, tensor<4096x1024xf16>) outs(%d : tensor<4096x4096xf32>) {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<4096x4096xf32>
  %1 = cuda.matmul ins(%s, %v : tensor<16x64xf16>, tensor<16x64xf16>) outs(%e : tensor<16x16xf32>) {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<16x16xf32>
  %2 = cuda.matmul ins(%t, %t : tensor<16x8192xf16>, tensor<16x8192xf16>) outs(%p : tensor<2x16x16xf32>) attributes {parts = 2 : i64} {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<2x16x16xf32>
  return %0, %1, %2 : tensor<4096x4096xf32>, tensor<16x16xf32>, tensor<2x16x16xf32>
}
