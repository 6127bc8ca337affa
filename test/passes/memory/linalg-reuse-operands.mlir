// RUN: ingot-opt --linalg-reuse-operands %s | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// The sum overwrites the product, since the product has no other user.

// CHECK-LABEL: @reuses
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<8xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[P]] : tensor<8xf32>) outs(%[[P]] : tensor<8xf32>)
func.func @reuses(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %a : f32
    linalg.yield %m : f32
  } -> tensor<8xf32>
  %f = tensor.empty() : tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<8xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %a, %a : f32
    linalg.yield %m : f32
  } -> tensor<8xf32>
  return %s : tensor<8xf32>
}

// Must not fire: arguments must not be overwritten, and a value with two users
// is needed again.

// CHECK-LABEL: @keeps
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<8xf32>) outs(%[[E]] : tensor<8xf32>)
// CHECK: %[[F:.*]] = tensor.empty
// CHECK: linalg.generic {{.*}} ins(%[[P]] : tensor<8xf32>) outs(%[[F]] : tensor<8xf32>)
func.func @keeps(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %a : f32
    linalg.yield %m : f32
  } -> tensor<8xf32>
  %f = tensor.empty() : tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<8xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %a, %a : f32
    linalg.yield %m : f32
  } -> tensor<8xf32>
  return %s, %p : tensor<8xf32>, tensor<8xf32>
}
