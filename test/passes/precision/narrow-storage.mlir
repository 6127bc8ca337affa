// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(narrow-storage))' --split-input-file | FileCheck %s
// RUN: ingot-opt %s --pass-pipeline='builtin.module(ingot-attach-targets{levels=x86-64-v4 may=cascadelake})' --split-input-file -o %t.given
// RUN: ingot-opt %s --pass-pipeline='builtin.module(ingot-attach-targets{levels=x86-64-v4 may=cascadelake},func.func(narrow-storage))' --split-input-file | diff - %t.given

#id = affine_map<(d0, d1) -> (d0, d1)>

// Values between two products, one of which reads them through a cast, are stored as bf16: no cast is left. The input
// and the result of the function are f32.
// CHECK-LABEL: @between
// CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<8x16xf32>) outs({{.*}} : tensor<8x16xbf16>)
// CHECK: %[[Y:.*]] = cpu.matmul {{.*}} outs({{.*}} : tensor<8x16xbf16>)
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32):
// CHECK-NEXT: %[[R:.*]] = arith.truncf %[[SUM]] : f32 to bf16
// CHECK-NEXT: cpu.yield %[[R]] : bf16
// CHECK: %[[Z:.*]] = cpu.matmul ins(%[[Y]], {{.*}} : tensor<8x16xbf16>, {{.*}}) operands(%[[Y]] : tensor<8x16xbf16>) outs({{.*}} : tensor<8x16xf32>)
// CHECK-NEXT: ^bb0(%{{.*}}: f32, %[[OTHER:.*]]: bf16):
// CHECK-NEXT: arith.extf %[[OTHER]] : bf16 to f32
// CHECK: return %[[Z]]
func.func @between(%x: tensor<8x16xf32>, %w: tensor<1x8x16x2xbf16>) -> tensor<8x16xf32> {
  %half = tensor.empty() : tensor<8x16xbf16>
  %full = tensor.empty() : tensor<8x16xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x16xf32>) outs(%half : tensor<8x16xbf16>) {
  ^bb0(%in: f32, %out: bf16):
    %t = arith.truncf %in : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<8x16xbf16>
  %1 = cpu.matmul ins(%0, %w : tensor<8x16xbf16>, tensor<1x8x16x2xbf16>) outs(%full : tensor<8x16xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<8x16xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%1 : tensor<8x16xf32>) outs(%half : tensor<8x16xbf16>) {
  ^bb0(%in: f32, %out: bf16):
    %t = arith.truncf %in : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<8x16xbf16>
  %3 = tensor.empty() : tensor<8x16xf32>
  %4 = cpu.matmul ins(%2, %w : tensor<8x16xbf16>, tensor<1x8x16x2xbf16>) operands(%1 : tensor<8x16xf32>)
      outs(%3 : tensor<8x16xf32>) {
  ^bb0(%sum: f32, %other: f32):
    %s = arith.addf %sum, %other : f32
    cpu.yield %s : f32
  } -> tensor<8x16xf32>
  return %4 : tensor<8x16xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Movement, elementwise ops and softmax take part. A linalg reduction and a comparison that yields integers only read
// f32.
// CHECK-LABEL: @around
// CHECK: %[[P:.*]] = cpu.matmul {{.*}} outs({{.*}} : tensor<8x16xbf16>)
// CHECK: tensor.expand_shape %[[P]] {{.*}} : tensor<8x16xbf16> into tensor<2x4x16xbf16>
// CHECK: cpu.softmax ins({{.*}} : tensor<2x4x16xbf16>) outs({{.*}} : tensor<2x4x16xbf16>)
// CHECK: %[[F:.*]] = tensor.collapse_shape {{.*}} : tensor<2x4x16xbf16> into tensor<8x16xbf16>
// CHECK: linalg.generic {{.*}}"parallel", "reduction"{{.*}} ins(%[[F]] : tensor<8x16xbf16>) outs({{.*}} : tensor<8xf32>)
// CHECK-NEXT: ^bb0(%[[IN:.*]]: bf16, %{{.*}}: f32):
// CHECK-NEXT: arith.extf %[[IN]]
func.func @around(%x: tensor<8x16xbf16>, %w: tensor<1x8x16x2xbf16>) -> tensor<8xf32> {
  %e0 = tensor.empty() : tensor<8x16xf32>
  %0 = cpu.matmul ins(%x, %w : tensor<8x16xbf16>, tensor<1x8x16x2xbf16>) outs(%e0 : tensor<8x16xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<8x16xf32>
  %1 = tensor.expand_shape %0 [[0, 1], [2]] output_shape [2, 4, 16] : tensor<8x16xf32> into tensor<2x4x16xf32>
  %e1 = tensor.empty() : tensor<2x4x16xf32>
  %2 = cpu.softmax ins(%1 : tensor<2x4x16xf32>) outs(%e1 : tensor<2x4x16xf32>) {
  ^bb0(%p: f32):
    cpu.yield %p : f32
  } -> tensor<2x4x16xf32>
  %3 = tensor.collapse_shape %2 [[0, 1], [2]] : tensor<2x4x16xf32> into tensor<8x16xf32>
  %cst = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<8xf32>
  %4 = linalg.fill ins(%cst : f32) outs(%e2 : tensor<8xf32>) -> tensor<8xf32>
  %5 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%3 : tensor<8x16xf32>) outs(%4 : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %5 : tensor<8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Must not fire for products of f32, or where integers are computed from the values.
// CHECK-LABEL: @stays
// CHECK-NOT: xbf16> to
// CHECK: cpu.matmul {{.*}} outs({{.*}} : tensor<8x16xf32>)
// CHECK: cpu.matmul {{.*}} outs({{.*}} : tensor<8x16xf32>)
// CHECK-NOT: arith.truncf
func.func @stays(%x: tensor<8x16xbf16>, %w: tensor<1x8x16x2xbf16>, %v: tensor<1x16x16xf32>) -> tensor<8x16xi32> {
  %e0 = tensor.empty() : tensor<8x16xf32>
  %0 = cpu.matmul ins(%x, %w : tensor<8x16xbf16>, tensor<1x8x16x2xbf16>) outs(%e0 : tensor<8x16xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<8x16xf32>
  %e1 = tensor.empty() : tensor<8x16xf32>
  %1 = cpu.matmul ins(%0, %v : tensor<8x16xf32>, tensor<1x16x16xf32>) outs(%e1 : tensor<8x16xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<8x16xf32>
  %e2 = tensor.empty() : tensor<8x16xi32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%1 : tensor<8x16xf32>) outs(%e2 : tensor<8x16xi32>) {
  ^bb0(%in: f32, %out: i32):
    %i = arith.fptosi %in : f32 to i32
    linalg.yield %i : i32
  } -> tensor<8x16xi32>
  return %2 : tensor<8x16xi32>
}
