// RUN: ingot-opt %s --pass-pipeline='builtin.module(ingot-attach-targets{levels=avx512fp16,sapphirerapids},func.func(narrow-storage{half=fp16}))' --split-input-file | FileCheck %s
// RUN: ingot-opt %s --pass-pipeline='builtin.module(ingot-attach-targets{levels=x86-64-v4,avx512fp16},func.func(narrow-storage{half=fp16}))' --split-input-file | FileCheck %s --check-prefix=LACKING
// Must not fire: a level lacks arithmetic on f16.
// LACKING-LABEL: @around
// LACKING-NOT: arith.truncf
// LACKING: return

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>

// Values between products of f16 are stored as f16, as they are for bf16. A sum
// may exceed f16, and so may values that are computed from large constants.
// CHECK-LABEL: @around
// CHECK: %[[P:.*]] = cpu.matmul {{.*}} outs({{.*}} : tensor<8x16xf16>)
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32):
// CHECK-NEXT: %[[R:.*]] = arith.truncf %[[SUM]] : f32 to f16
// CHECK-NEXT: cpu.yield %[[R]] : f16
// CHECK: cpu.softmax ins(%[[P]] : tensor<8x16xf16>) outs({{.*}} : tensor<8x16xf16>)
// CHECK: cpu.reduce sum ins({{.*}} : tensor<8x16x1xf16>) outs({{.*}} : tensor<8x1xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[P]] : tensor<8x16xf16>) outs({{.*}} : tensor<8x16xf32>)
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f16, %{{.*}}: f32):
// CHECK-NEXT: arith.extf %[[IN]] : f16 to f32
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<8x16xf16>, tensor<8x16xf32>, tensor<8x1xf32>)
func.func @around(%x: tensor<8x16xf16>, %w: tensor<1x8x16x2xf16>) -> tensor<8x16xf32> {
  %full = tensor.empty() : tensor<8x16xf32>
  %rows = tensor.empty() : tensor<8x1xf32>
  %0 = cpu.matmul ins(%x, %w : tensor<8x16xf16>, tensor<1x8x16x2xf16>) outs(%full : tensor<8x16xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<8x16xf32>
  %1 = tensor.empty() : tensor<8x16xf32>
  %2 = cpu.softmax ins(%0 : tensor<8x16xf32>) outs(%1 : tensor<8x16xf32>) {
  ^bb0(%e: f32):
    cpu.yield %e : f32
  } -> tensor<8x16xf32>
  %tall = tensor.expand_shape %0 [[0], [1, 2]] output_shape [8, 16, 1] : tensor<8x16xf32> into tensor<8x16x1xf32>
  %3 = cpu.reduce sum ins(%tall : tensor<8x16x1xf32>) outs(%rows : tensor<8x1xf32>) {
  ^bb0(%e: f32):
    cpu.yield %e : f32
  } -> tensor<8x1xf32>
  %4 = tensor.empty() : tensor<8x16xf32>
  %5 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<8x16xf32>) outs(%4 : tensor<8x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %low = arith.constant -1.0e30 : f32
    %m = arith.minimumf %in, %low : f32
    linalg.yield %m : f32
  } -> tensor<8x16xf32>
  %6 = tensor.empty() : tensor<8x16xf32>
  %7 = linalg.generic {indexing_maps = [#id, #id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%2, %5, %3 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x1xf32>) outs(%6 : tensor<8x16xf32>) {
  ^bb0(%in: f32, %other: f32, %third: f32, %out: f32):
    %m = arith.addf %in, %other : f32
    %n = arith.addf %m, %third : f32
    linalg.yield %n : f32
  } -> tensor<8x16xf32>
  return %7 : tensor<8x16xf32>
}

// -----

// Kernels that read only f32 keep it for their operands; their results may be
// narrow.
// CHECK-LABEL: @fewer_products
// CHECK: %[[P:.*]] = cpu.matmul {{.*}} outs({{.*}} : tensor<64x16xf32>)
// CHECK: cpu.winograd_conv ins({{.*}} : tensor<1x8x8x16xf32>, {{.*}} outs({{.*}} : tensor<1x8x8x16xf16>)
func.func @fewer_products(%x: tensor<64x16xf16>, %w: tensor<1x8x16x2xf16>, %f: tensor<1x36x16x16xf32>) -> tensor<64x16xf32> {
  %full = tensor.empty() : tensor<64x16xf32>
  %0 = cpu.matmul ins(%x, %w : tensor<64x16xf16>, tensor<1x8x16x2xf16>) outs(%full : tensor<64x16xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<64x16xf32>
  %1 = tensor.expand_shape %0 [[0, 1, 2], [3]] output_shape [1, 8, 8, 16] : tensor<64x16xf32> into tensor<1x8x8x16xf32>
  %2 = tensor.empty() : tensor<1x8x8x16xf32>
  %3 = cpu.winograd_conv ins(%1, %f : tensor<1x8x8x16xf32>, tensor<1x36x16x16xf32>) outs(%2 : tensor<1x8x8x16xf32>)
      attributes {format = #cpu.weights<winograd<4>>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x16xf32>
  %4 = tensor.collapse_shape %3 [[0, 1, 2], [3]] : tensor<1x8x8x16xf32> into tensor<64x16xf32>
  %5 = tensor.empty() : tensor<64x16xf16>
  %6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%4 : tensor<64x16xf32>) outs(%5 : tensor<64x16xf16>) {
  ^bb0(%in: f32, %out: f16):
    %t = arith.truncf %in : f32 to f16
    linalg.yield %t : f16
  } -> tensor<64x16xf16>
  %7 = tensor.empty() : tensor<64x16xf32>
  %8 = cpu.matmul ins(%6, %w : tensor<64x16xf16>, tensor<1x8x16x2xf16>) outs(%7 : tensor<64x16xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<64x16xf32>
  return %8 : tensor<64x16xf32>
}
