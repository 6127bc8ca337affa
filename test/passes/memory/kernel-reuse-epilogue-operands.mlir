// RUN: ingot-opt --kernel-reuse-epilogue-operands --split-input-file %s | FileCheck %s

// The residual is overwritten, since it has no later user.
// CHECK-LABEL: func.func @residual
// CHECK: %[[R:.*]] = cpu.matmul
// CHECK: cpu.matmul ins({{.*}}) operands(%[[R]] : {{.*}}) outs(%[[R]] :
func.func @residual(%x: tensor<4x8xf32>, %w: tensor<1x8x16xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %r = cpu.matmul ins(%x, %w : tensor<4x8xf32>, tensor<1x8x16xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<4x8xf32>
  %f = tensor.empty() : tensor<4x8xf32>
  %0 = cpu.matmul ins(%x, %w : tensor<4x8xf32>, tensor<1x8x16xf32>) operands(%r : tensor<4x8xf32>)
      outs(%f : tensor<4x8xf32>) {
  ^bb0(%sum: f32, %y: f32):
    %1 = arith.addf %sum, %y : f32
    cpu.yield %1 : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Must not fire: the residual has a later user.
// CHECK-LABEL: func.func @used_afterwards
// CHECK: tensor.empty
// CHECK: %[[F:.*]] = tensor.empty
// CHECK: %[[R:.*]] = cpu.matmul
// CHECK: cpu.matmul ins({{.*}}) operands(%[[R]] : {{.*}}) outs(%[[F]] :
func.func @used_afterwards(%x: tensor<4x8xf32>, %w: tensor<1x8x16xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %e = tensor.empty() : tensor<4x8xf32>
  %f = tensor.empty() : tensor<4x8xf32>
  %r = cpu.matmul ins(%x, %w : tensor<4x8xf32>, tensor<1x8x16xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<4x8xf32>
  %0 = cpu.matmul ins(%x, %w : tensor<4x8xf32>, tensor<1x8x16xf32>) operands(%r : tensor<4x8xf32>)
      outs(%f : tensor<4x8xf32>) {
  ^bb0(%sum: f32, %y: f32):
    %1 = arith.addf %sum, %y : f32
    cpu.yield %1 : f32
  } -> tensor<4x8xf32>
  return %0, %r : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Must not fire: an input of the model belongs to the caller.
// CHECK-LABEL: func.func @input
// CHECK: %[[F:.*]] = tensor.empty
// CHECK: cpu.matmul ins({{.*}}) operands(%{{.*}} : {{.*}}) outs(%[[F]] :
func.func @input(%x: tensor<4x8xf32>, %w: tensor<1x8x16xf32>, %r: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %f = tensor.empty() : tensor<4x8xf32>
  %0 = cpu.matmul ins(%x, %w : tensor<4x8xf32>, tensor<1x8x16xf32>) operands(%r : tensor<4x8xf32>)
      outs(%f : tensor<4x8xf32>) {
  ^bb0(%sum: f32, %y: f32):
    %1 = arith.addf %sum, %y : f32
    cpu.yield %1 : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Must not fire: a task may still read values that another task has
// overwritten.
// CHECK-LABEL: func.func @also_values
// CHECK: tensor.empty
// CHECK: %[[F:.*]] = tensor.empty
// CHECK: %[[V:.*]] = cpu.softmax
// CHECK: cpu.attention ins({{.*}}) operands(%[[V]] : {{.*}}) outs(%[[F]] :
func.func @also_values(%q: tensor<1x9x1x16xf32>) -> tensor<1x9x1x16xf32> {
  %e = tensor.empty() : tensor<1x9x1x16xf32>
  %f = tensor.empty() : tensor<1x9x1x16xf32>
  %v = cpu.softmax ins(%q : tensor<1x9x1x16xf32>) outs(%e : tensor<1x9x1x16xf32>) {
  ^bb0(%y: f32):
    cpu.yield %y : f32
  } -> tensor<1x9x1x16xf32>
  %0 = cpu.attention ins(%q, %q, %v : tensor<1x9x1x16xf32>, tensor<1x9x1x16xf32>, tensor<1x9x1x16xf32>)
      operands(%v : tensor<1x9x1x16xf32>) outs(%f : tensor<1x9x1x16xf32>) attributes {scale = 1.0 : f32} {
  ^bb0(%sum: f32, %y: f32):
    %1 = arith.addf %sum, %y : f32
    cpu.yield %1 : f32
  } -> tensor<1x9x1x16xf32>
  return %0 : tensor<1x9x1x16xf32>
}
