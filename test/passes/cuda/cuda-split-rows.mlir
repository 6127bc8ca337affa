// RUN: ingot-opt --pass-pipeline="builtin.module(func.func(cuda-split-rows))" --split-input-file %s | FileCheck %s
// RUN: ingot-opt --pass-pipeline="builtin.module(func.func(cuda-split-rows{seed=3}))" --split-input-file %s -o %t.drawn
// RUN: ingot-opt --pass-pipeline="builtin.module(func.func(cuda-split-rows{seed=3}))" --split-input-file %s | diff - %t.drawn

// A few long columns are reduced in parts. Parts square the elements, and the
// second reduction, which has the epilogue, adds up.
// CHECK-LABEL: @reduce
// CHECK: %[[X:.*]] = tensor.expand_shape %arg0 {{.*}} output_shape [2, [[PARTS:[0-9]+]], [[LENGTH:[0-9]+]], 16]
// CHECK: %[[P:.*]] = cuda.reduce sum_square ins(%[[X]] : tensor<2x[[PARTS]]x[[LENGTH]]x16xf32>) outs(%{{.*}} : tensor<2x[[PARTS]]x16xf32>)
// CHECK-NEXT: ^bb0(%[[S:.*]]: f32):
// CHECK-NEXT: cuda.yield %[[S]]
// CHECK: cuda.reduce sum ins(%[[P]] : tensor<2x[[PARTS]]x16xf32>) operands(%arg1 : tensor<1x16xf32>) outs(%{{.*}} : tensor<2x16xf32>)
// CHECK: arith.addf
// CHECK-NOT: cuda.reduce
func.func @reduce(%x: tensor<2x65536x16xf32>, %b: tensor<1x16xf32>, %d: tensor<2x16xf32>) -> tensor<2x16xf32> {
  %y = cuda.reduce sum_square ins(%x : tensor<2x65536x16xf32>) operands(%b : tensor<1x16xf32>) outs(%d : tensor<2x16xf32>) {
  ^bb0(%s: f32, %bias: f32):
    %0 = arith.addf %s, %bias : f32
    cuda.yield %0 : f32
  } -> tensor<2x16xf32>
  return %y : tensor<2x16xf32>
}

// -----

// The positions of a sample become samples with moments of their own. The
// epilogue and its operands move to the second kernel.
// CHECK-LABEL: @norm
// CHECK-DAG: %[[X:.*]] = tensor.expand_shape %{{.*}} output_shape [[[SAMPLES:[0-9]+]], [[LENGTH:[0-9]+]], 320]
// CHECK-DAG: %[[M:.*]] = cuda.moments ins(%[[X]] : tensor<[[SAMPLES]]x[[LENGTH]]x320xf16>) outs(%{{.*}} : tensor<[[SAMPLES]]x32x2xf32>) attributes {groups = 32 : i64}
// CHECK: cuda.normalize ins(%[[X]], %[[M]] : tensor<[[SAMPLES]]x[[LENGTH]]x320xf16>, tensor<[[SAMPLES]]x32x2xf32>)
// CHECK-SAME: operands(%arg1, %{{.*}} : tensor<1x1x320xf32>, tensor<[[SAMPLES]]x[[LENGTH]]x320xf16>)
// CHECK-SAME: outs(%{{.*}} : tensor<[[SAMPLES]]x[[LENGTH]]x320xf16>)
// CHECK-SAME: epsilon = 9.99999974E-6 : f32, groups = 32 : i64, parts = {{[0-9]+}} : i64
// CHECK: tensor.expand_shape %{{.*}} output_shape [1, 16384, 320]
// CHECK-NOT: cuda.group_norm
func.func @norm(%x: tensor<1x16384x320xf16>, %s: tensor<1x1x320xf32>, %r: tensor<1x16384x320xf16>, %d: tensor<1x16384x320xf16>) -> tensor<1x16384x320xf16> {
  %y = cuda.group_norm ins(%x : tensor<1x16384x320xf16>) operands(%s, %r : tensor<1x1x320xf32>, tensor<1x16384x320xf16>)
      outs(%d : tensor<1x16384x320xf16>) attributes {groups = 32 : i64, epsilon = 1.0e-5 : f32} {
  ^bb0(%n: f32, %scale: f32, %more: f16):
    %0 = arith.mulf %n, %scale : f32
    %1 = arith.extf %more : f16 to f32
    %2 = arith.addf %0, %1 : f32
    %3 = arith.truncf %2 : f32 to f16
    cuda.yield %3 : f16
  } -> tensor<1x16384x320xf16>
  return %y : tensor<1x16384x320xf16>
}

// -----

// Many rows, short rows, a prime number of elements, open sizes, and an operand
// for each sample stay as they are.
// CHECK-LABEL: @whole
// CHECK-COUNT-4: cuda.reduce
// CHECK-NOT: cuda.reduce
// CHECK: cuda.group_norm
// CHECK-NOT: cuda.moments
func.func @whole(%x: tensor<4096x256x64xf32>, %a: tensor<4096x64xf32>, %y: tensor<1x64x64xf32>, %b: tensor<1x64xf32>, %z: tensor<1x65537x16xf32>,
                 %c: tensor<1x16xf32>, %o: tensor<1x?x16xf32>, %n: tensor<2x16384x320xf32>, %t: tensor<2x1x320xf32>)
    -> (tensor<4096x64xf32>, tensor<1x64xf32>, tensor<1x16xf32>, tensor<1x16xf32>, tensor<2x16384x320xf32>) {
  %0 = cuda.reduce mean ins(%x : tensor<4096x256x64xf32>) outs(%a : tensor<4096x64xf32>) {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  } -> tensor<4096x64xf32>
  %1 = cuda.reduce mean ins(%y : tensor<1x64x64xf32>) outs(%b : tensor<1x64xf32>) {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  } -> tensor<1x64xf32>
  %2 = cuda.reduce mean ins(%z : tensor<1x65537x16xf32>) outs(%c : tensor<1x16xf32>) {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  } -> tensor<1x16xf32>
  %3 = cuda.reduce mean ins(%o : tensor<1x?x16xf32>) outs(%c : tensor<1x16xf32>) {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  } -> tensor<1x16xf32>
  %4 = cuda.group_norm ins(%n : tensor<2x16384x320xf32>) operands(%t : tensor<2x1x320xf32>) outs(%n : tensor<2x16384x320xf32>)
      attributes {groups = 32 : i64, epsilon = 1.0e-5 : f32} {
  ^bb0(%s: f32, %shift: f32):
    %5 = arith.addf %s, %shift : f32
    cuda.yield %5 : f32
  } -> tensor<2x16384x320xf32>
  return %0, %1, %2, %3, %4 : tensor<4096x64xf32>, tensor<1x64xf32>, tensor<1x16xf32>, tensor<1x16xf32>, tensor<2x16384x320xf32>
}
