// RUN: ingot-opt %s | ingot-opt | FileCheck %s

// CHECK-LABEL: @tensors
// CHECK: cpu.attention ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<1x7x2x16xf32>, tensor<1x9x2x16xf32>, tensor<1x9x2x32xf32>)
// CHECK-SAME: outs(%{{.*}} : tensor<1x7x2x32xf32>) attributes {scale = 2.500000e-01 : f32}
func.func @tensors(%q: tensor<1x7x2x16xf32>, %k: tensor<1x9x2x16xf32>, %v: tensor<1x9x2x32xf32>,
                   %d: tensor<1x7x2x32xf32>) -> tensor<1x7x2x32xf32> {
  %y = cpu.attention ins(%q, %k, %v : tensor<1x7x2x16xf32>, tensor<1x9x2x16xf32>, tensor<1x9x2x32xf32>)
      outs(%d : tensor<1x7x2x32xf32>) attributes {scale = 2.5e-1 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x7x2x32xf32>
  return %y : tensor<1x7x2x32xf32>
}

// CHECK-LABEL: @memrefs
// CHECK: cpu.attention ins({{.*}}) mask(%{{.*}} : memref<1x1x9x7xf32>) operands(%{{.*}} : memref<1x1x1x32xf32>)
func.func @memrefs(%q: memref<1x7x2x16xf32>, %k: memref<1x9x2x16xf32>, %v: memref<1x9x2x32xf32>,
                   %m: memref<1x1x9x7xf32>, %b: memref<1x1x1x32xf32>, %d: memref<1x7x2x32xf32>) {
  cpu.attention ins(%q, %k, %v : memref<1x7x2x16xf32>, memref<1x9x2x16xf32>, memref<1x9x2x32xf32>)
      mask(%m : memref<1x1x9x7xf32>) operands(%b : memref<1x1x1x32xf32>)
      outs(%d : memref<1x7x2x32xf32>) attributes {scale = 1.0 : f32} {
  ^bb0(%sum: f32, %bias: f32):
    %0 = arith.addf %sum, %bias : f32
    cpu.yield %0 : f32
  }
  return
}

// CHECK-LABEL: @bytes
// CHECK: cpu.attention ins
// CHECK-SAME: bytes = #cpu.attention_bytes<src_signed = true, keys_signed = true, src_zero = 3, values_zero = 128, product_scale = {{.*}}, score_rounding = {{.*}}, p_scale = {{.*}}, p_most = 255, result_scale =
func.func @bytes(%q: memref<1x7x2x16xi8>, %k: memref<1x9x2x16xi8>, %v: memref<1x9x2x32xi8>, %d: memref<1x7x2x32xf32>) {
  cpu.attention ins(%q, %k, %v : memref<1x7x2x16xi8>, memref<1x9x2x16xi8>, memref<1x9x2x32xi8>)
      outs(%d : memref<1x7x2x32xf32>) attributes {bytes = #cpu.attention_bytes<src_signed = true, keys_signed = true, src_zero = 3, values_zero = 128, product_scale = 1.000000e-02 : f32, score_rounding = [5.000000e-01, -1.280000e+02, 1.270000e+02], p_scale = 4.000000e-03 : f32, p_most = 255, result_scale = 1.000000e-04 : f32>, scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}
