// The values that each level stores as bf16: PrecisionTable.cpp.
// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(narrow-storage{level=1}))' | FileCheck %s --check-prefixes=CHECK,O1
// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(narrow-storage{level=2}))' | FileCheck %s --check-prefixes=CHECK,O2
// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(narrow-storage{level=3}))' | FileCheck %s --check-prefixes=CHECK,O3
// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(narrow-storage{level=3 keep=exp=fp32,sum=fp32}))' | FileCheck %s --check-prefixes=CHECK,KEEP
// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(narrow-storage{level=2 keep=soft*=bf16,*=fp32}))' | FileCheck %s --check-prefixes=CHECK,ALL

#id = affine_map<(d0, d1) -> (d0, d1)>

// Behind a product all values are narrow, except those that a level excludes.
// CHECK-LABEL: @behind
// O1: cpu.matmul {{.*}} outs({{.*}} : tensor<8x16xbf16>)
// O1: cpu.softmax {{.*}} outs({{.*}} : tensor<8x16xbf16>)
// O1: cpu.reduce {{.*}} outs({{.*}} : tensor<8x1xbf16>)
// O2: cpu.matmul {{.*}} outs({{.*}} : tensor<8x16xbf16>)
// O2: cpu.softmax ins({{.*}} : tensor<8x16xbf16>) outs({{.*}} : tensor<8x16xf32>)
// O2: cpu.reduce {{.*}} outs({{.*}} : tensor<8x1xf32>)
// O3: cpu.softmax {{.*}} outs({{.*}} : tensor<8x16xbf16>)
// O3: cpu.reduce {{.*}} outs({{.*}} : tensor<8x1xbf16>)
// KEEP: cpu.softmax {{.*}} outs({{.*}} : tensor<8x16xbf16>)
// KEEP: cpu.reduce {{.*}} outs({{.*}} : tensor<8x1xf32>)
// ALL: cpu.matmul {{.*}} outs({{.*}} : tensor<8x16xf32>)
// ALL: cpu.softmax {{.*}} outs({{.*}} : tensor<8x16xbf16>)
// ALL: cpu.reduce {{.*}} outs({{.*}} : tensor<8x1xf32>)
func.func @behind(%x: tensor<8x16xbf16>, %w: tensor<1x8x16x2xbf16>) -> tensor<8x1xf32> {
  %e0 = tensor.empty() : tensor<8x16xf32>
  %0 = cpu.matmul ins(%x, %w : tensor<8x16xbf16>, tensor<1x8x16x2xbf16>) outs(%e0 : tensor<8x16xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<8x16xf32> loc("product")
  %e1 = tensor.empty() : tensor<8x16xf32>
  %1 = cpu.softmax ins(%0 : tensor<8x16xf32>) outs(%e1 : tensor<8x16xf32>) {
  ^bb0(%p: f32):
    cpu.yield %p : f32
  } -> tensor<8x16xf32> loc("softmax")
  %2 = tensor.expand_shape %1 [[0], [1, 2]] output_shape [8, 16, 1] : tensor<8x16xf32> into tensor<8x16x1xf32>
  %e2 = tensor.empty() : tensor<8x1xf32>
  %3 = cpu.reduce sum ins(%2 : tensor<8x16x1xf32>) outs(%e2 : tensor<8x1xf32>) {
  ^bb0(%s: f32):
    cpu.yield %s : f32
  } -> tensor<8x1xf32> loc("sum")
  %e3 = tensor.empty() : tensor<8x1xf32>
  %4 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%3 : tensor<8x1xf32>) outs(%e3 : tensor<8x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  } -> tensor<8x1xf32> loc("neg")
  return %4 : tensor<8x1xf32>
}

// Far from products only O2 and O3 store bf16. A rule takes precedence.
// CHECK-LABEL: @alone
// O1-NOT: bf16
// O2: linalg.generic {{.*}} outs({{.*}} : tensor<4x4xbf16>)
// O3: linalg.generic {{.*}} outs({{.*}} : tensor<4x4xbf16>)
// KEEP-NOT: bf16
// ALL-NOT: bf16
func.func @alone(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e0 = tensor.empty() : tensor<4x4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x4xf32>) outs(%e0 : tensor<4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = math.exp %in : f32
    linalg.yield %n : f32
  } -> tensor<4x4xf32> loc("exp")
  %e1 = tensor.empty() : tensor<4x4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x4xf32>) outs(%e1 : tensor<4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  } -> tensor<4x4xf32> loc("neg")
  return %1 : tensor<4x4xf32>
}
