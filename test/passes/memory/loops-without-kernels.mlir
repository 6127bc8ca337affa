// RUN: ingot-opt --instrument-layers %s 2>&1 | FileCheck %s

// A convolution without a kernel is reported, of static and dynamic sizes (64 for each). A product with register tiles
// is not, nor are loops of little arithmetic.
#in = affine_map<(p, o, k, c) -> (p + k, c)>
#weights = affine_map<(p, o, k, c) -> (k, c, o)>
#out = affine_map<(p, o, k, c) -> (p, o)>
#a = affine_map<(i, k, j) -> (i, k)>
#b = affine_map<(i, k, j) -> (k, j)>
#c = affine_map<(i, k, j) -> (i, j)>
// CHECK: remark: loc("conv"): 71 % of the model's arithmetic runs without a kernel: native: has weights that are not constant
// CHECK-NEXT: remark: loc("open"): 24 % of the model's arithmetic runs without a kernel{{$}}
// CHECK-NOT: remark
// CHECK: #ingot.layer<"convolution" by loops, reason = "native: has weights that are not constant; 71 % of the model's arithmetic runs without a kernel", in_loop = true, flops =
// CHECK-SAME: #ingot.layer<"matmul" by loops, reason = "24 % of the model's arithmetic runs without a kernel", in_loop = true, flops = 0, bytes = 0, nodes = "open">
// CHECK-SAME: #ingot.layer<"matmul" by loops, flops = 0
// CHECK-SAME: #ingot.layer<"convolution" by loops, flops = 48
module attributes {ingot.declined = [#ingot.declined<"conv", native, "has weights that are not constant">]} {
func.func @forward(%x: memref<66x32xf32>, %w: memref<3x32x32xf32>, %y: memref<64x32xf32>,
                   %open: memref<?x32xf32>, %v: memref<3x32x?xf32>, %z: memref<?x?xf32>,
                   %m: memref<?x4xf32>, %n: memref<4x?xf32>, %small: memref<3x4xf32>, %tiny: memref<3x4x2xf32>, %few: memref<1x2xf32>,
                   %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  linalg.generic {indexing_maps = [#in, #weights, #out], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %w : memref<66x32xf32>, memref<3x32x32xf32>) outs(%y : memref<64x32xf32>) {
  ^bb0(%p: f32, %q: f32, %sum: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } loc("conv")
  linalg.generic {indexing_maps = [affine_map<(p, o, c) -> (p, c)>, affine_map<(p, o, c) -> (c, o)>, affine_map<(p, o, c) -> (p, o)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%open, %open : memref<?x32xf32>, memref<?x32xf32>) outs(%z : memref<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %sum: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } loc("open")
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]} ins(%m, %n : memref<?x4xf32>, memref<4x?xf32>) outs(%z : memref<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %sum: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } loc("tiled")
  linalg.generic {indexing_maps = [#in, #weights, #out], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%small, %tiny : memref<3x4xf32>, memref<3x4x2xf32>) outs(%few : memref<1x2xf32>) {
  ^bb0(%p: f32, %q: f32, %sum: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } loc("small")
  return
}
}
