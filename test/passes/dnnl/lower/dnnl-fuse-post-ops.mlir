// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(dnnl-fuse-post-ops))' | FileCheck %s

// CHECK-LABEL: @chain
// CHECK: %[[Y:.*]] = dnnl.matmul {{.*}}post_ops = [#dnnl.eltwise<gelu_erf>, #dnnl.eltwise<linear, alpha = 2.000000e+00 : f32, beta = 0.000000e+00 : f32>, #dnnl.eltwise<clip, alpha = 0.000000e+00 : f32, beta = 6.000000e+00 : f32>]
// CHECK-NEXT: return %[[Y]]
func.func @chain(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %two = arith.constant dense<2.0> : tensor<1xf32>
  %d = tensor.empty() : tensor<2x4xf32>
  %0 = dnnl.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%d : tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = nn.gelu %0 : tensor<2x4xf32> -> tensor<2x4xf32>
  %2 = nn.mul %two, %1 : tensor<1xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
  %3 = nn.clamp %2 {min = 0.0 : f64, max = 6.0 : f64} : tensor<2x4xf32> -> tensor<2x4xf32>
  return %3 : tensor<2x4xf32>
}

// The residual is summed in place if the later product is its last user.
// CHECK-LABEL: @residual
// CHECK: %[[R:.*]] = dnnl.matmul {{.*}} -> tensor<2x4xf32>
// CHECK-NEXT: %[[Y:.*]] = dnnl.matmul {{.*}}outs(%[[R]] : {{.*}}post_ops = [#dnnl.sum, #dnnl.eltwise<relu>]
// CHECK-NEXT: return %[[Y]]
func.func @residual(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %d = tensor.empty() : tensor<2x4xf32>
  %0 = dnnl.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%d : tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = dnnl.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%d : tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = nn.add %0, %1 : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
  %3 = nn.relu %2 : tensor<2x4xf32> -> tensor<2x4xf32>
  return %3 : tensor<2x4xf32>
}

// A summand that is needed later, or is an input, is read as an operand.
// CHECK-LABEL: @addend_lives
// CHECK: dnnl.matmul {{.*}}operands(%arg2 : tensor<2x4xf32>){{.*}}post_ops = [#dnnl.binary<add, 0>]
func.func @addend_lives(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %r: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %d = tensor.empty() : tensor<2x4xf32>
  %0 = dnnl.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%d : tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = nn.add %r, %0 : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// A value per column gets the result's rank.
// CHECK-LABEL: @per_column
// CHECK: %[[P:.*]] = tensor.expand_shape %arg2 {{\[\[}}0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
// CHECK: dnnl.matmul {{.*}}operands(%[[P]] : tensor<1x4xf32>){{.*}}post_ops = [#dnnl.binary<mul, 0>]
func.func @per_column(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %s: tensor<4xf32>) -> tensor<2x4xf32> {
  %d = tensor.empty() : tensor<2x4xf32>
  %0 = dnnl.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%d : tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = nn.mul %0, %s : tensor<2x4xf32>, tensor<4xf32> -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// Must not fire: a second user, a function without a post-op, a value per row, exchanged operands.
// CHECK-LABEL: @not
// CHECK-NOT: post_ops
// CHECK: nn.relu
// CHECK: nn.sin
// CHECK: nn.add
// CHECK: nn.sub
func.func @not(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %r: tensor<2x1xf32>, %s: tensor<2x4xf32>)
    -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  %d = tensor.empty() : tensor<2x4xf32>
  %0 = dnnl.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%d : tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = nn.relu %0 : tensor<2x4xf32> -> tensor<2x4xf32>
  %2 = dnnl.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%d : tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = nn.sin %2 : tensor<2x4xf32> -> tensor<2x4xf32>
  %4 = dnnl.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%d : tensor<2x4xf32>) -> tensor<2x4xf32>
  %5 = nn.add %4, %r : tensor<2x4xf32>, tensor<2x1xf32> -> tensor<2x4xf32>
  %6 = dnnl.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%d : tensor<2x4xf32>) -> tensor<2x4xf32>
  %7 = nn.sub %s, %6 : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
  return %0, %1, %3, %5, %7 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}

// Must not fire: several steps at once, x f(x), and a step that reads x twice.
// CHECK-LABEL: @one_step
// CHECK-NOT: post_ops
// CHECK: nn.sigmoid
// CHECK-NEXT: nn.mul
// CHECK: nn.mul
func.func @one_step(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %d = tensor.empty() : tensor<2x4xf32>
  %0 = dnnl.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%d : tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = nn.sigmoid %0 : tensor<2x4xf32> -> tensor<2x4xf32>
  %2 = nn.mul %0, %1 : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
  %3 = dnnl.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%d : tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = nn.mul %3, %3 : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
  return %2, %4 : tensor<2x4xf32>, tensor<2x4xf32>
}
