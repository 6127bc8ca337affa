// RUN: ingot-opt --linalg-fill-splats %s | FileCheck %s
// RUN: ingot-opt --linalg-fill-splats=min-bytes=1024 %s | FileCheck %s --check-prefix=SMALL

// Each use has its own buffer.
// CHECK-LABEL: func @fills
// CHECK-NOT: dense<
// CHECK: linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<512x512xf32>)
// CHECK: arith.addf
// CHECK: %[[FILLED:.*]] = linalg.fill
// CHECK: return %{{.*}}, %[[FILLED]]
func.func @fills(%x: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512x512xf32>) {
  %c = arith.constant dense<2.0> : tensor<512x512xf32>
  %y = arith.addf %c, %x : tensor<512x512xf32>
  return %y, %c : tensor<512x512xf32>, tensor<512x512xf32>
}

// CHECK-LABEL: func @small_is_stored
// CHECK: return %cst
// SMALL-LABEL: func @small_is_stored
// SMALL: linalg.fill
func.func @small_is_stored() -> tensor<1024xf32> {
  %c = arith.constant dense<2.0> : tensor<1024xf32>
  return %c : tensor<1024xf32>
}

// CHECK-LABEL: func @many_numbers_are_stored
// CHECK-NOT: linalg.fill
// SMALL-LABEL: func @many_numbers_are_stored
// SMALL-NOT: linalg.fill
func.func @many_numbers_are_stored() -> tensor<2xf32> {
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %c : tensor<2xf32>
}

// CHECK-LABEL: func @onednn_packs_its_weights
// CHECK: %[[W:.*]] = arith.constant dense<5.000000e-01> : tensor<512x512xf32>
// CHECK: dnnl.matmul
func.func @onednn_packs_its_weights(%x: tensor<8x512xf32>) -> tensor<8x512xf32> {
  %w = arith.constant dense<0.5> : tensor<512x512xf32>
  %init = tensor.empty() : tensor<8x512xf32>
  %y = dnnl.matmul ins(%x, %w : tensor<8x512xf32>, tensor<512x512xf32>) outs(%init : tensor<8x512xf32>) -> tensor<8x512xf32>
  return %y : tensor<8x512xf32>
}
