// RUN: ingot-opt --linalg-relax-reductions %s | FileCheck %s

#id = affine_map<(d0) -> (d0)>
#zero = affine_map<(d0) -> ()>

// CHECK-LABEL: @reduction
// CHECK: arith.addf %{{.*}}, %{{.*}} fastmath<reassoc,contract>
func.func @reduction(%x: tensor<8xf32>, %i: tensor<f32>) -> tensor<f32> {
  %s = linalg.generic {indexing_maps = [#id, #zero], iterator_types = ["reduction"]} ins(%x : tensor<8xf32>) outs(%i : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<f32>
  return %s : tensor<f32>
}

// CHECK-LABEL: @elementwise
// CHECK: arith.addf %{{[^ ]*}}, %{{[^ ]*}} : f32
func.func @elementwise(%x: tensor<8xf32>, %i: tensor<8xf32>) -> tensor<8xf32> {
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%i : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<8xf32>
  return %s : tensor<8xf32>
}
