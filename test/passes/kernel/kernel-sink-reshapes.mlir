// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(kernel-sink-reshapes))' --split-input-file | FileCheck %s
// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(kernel-sink-reshapes,kernel-fuse-epilogues))' --split-input-file | FileCheck %s --check-prefix=FUSED

// x sigmoid(x) + r, where r is of the whole shape. Then the channels get factors.
// CHECK-LABEL: @sunk
// CHECK: %[[K:.*]] = cuda.softmax
// CHECK: %[[S:.*]] = nn.sigmoid %[[K]] : tensor<2x12x8xf32>
// CHECK: %[[M:.*]] = nn.mul %[[K]], %[[S]] : tensor<2x12x8xf32>
// CHECK: %[[R:.*]] = tensor.collapse_shape %arg1 {{\[\[}}0], [1, 2], [3]] : tensor<2x3x4x8xf32> into tensor<2x12x8xf32>
// CHECK: %[[A:.*]] = nn.add %[[M]], %[[R]]
// CHECK: %[[B:.*]] = nn.mul %[[A]], %{{.*}} : tensor<2x12x8xf32>, tensor<1x1x8xf32>
// CHECK: %[[E:.*]] = tensor.expand_shape %[[B]] {{\[\[}}0], [1, 2], [3]]
// CHECK: return %[[E]]
// FUSED-LABEL: @sunk
// FUSED: cuda.softmax
// FUSED-SAME: operands({{.*}} : tensor<2x12x8xf32>, tensor<1x1x8xf32>)
// FUSED-NOT: nn.
// FUSED: tensor.expand_shape
// FUSED: return
func.func @sunk(%x: tensor<2x12x8xf32>, %r: tensor<2x3x4x8xf32>, %c: tensor<8xf32>) -> tensor<2x3x4x8xf32> {
  %d = tensor.empty() : tensor<2x12x8xf32>
  %k = cuda.softmax ins(%x : tensor<2x12x8xf32>) outs(%d : tensor<2x12x8xf32>) {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  } -> tensor<2x12x8xf32>
  %0 = tensor.expand_shape %k [[0], [1, 2], [3]] output_shape [2, 3, 4, 8] : tensor<2x12x8xf32> into tensor<2x3x4x8xf32>
  %1 = nn.sigmoid %0 : tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  %2 = nn.mul %0, %1 : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  %3 = nn.add %2, %r : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  %4 = nn.mul %3, %c : tensor<2x3x4x8xf32>, tensor<8xf32> -> tensor<2x3x4x8xf32>
  return %4 : tensor<2x3x4x8xf32>
}

// -----

// A number stays as it is. An open batch is a dimension of its own.
// CHECK-LABEL: @open
// CHECK: %[[K:.*]] = cuda.softmax
// CHECK: %[[M:.*]] = nn.mul %[[K]], %{{.*}} : tensor<?x12x8xf32>, tensor<f32>
// CHECK: tensor.expand_shape %[[M]] {{.*}} into tensor<?x3x4x8xf32>
// FUSED-LABEL: @open
// FUSED-NOT: nn.
// FUSED: return
func.func @open(%x: tensor<?x12x8xf32>, %d: tensor<?x12x8xf32>, %n: index) -> tensor<?x3x4x8xf32> {
  %half = arith.constant dense<0.5> : tensor<f32>
  %k = cuda.softmax ins(%x : tensor<?x12x8xf32>) outs(%d : tensor<?x12x8xf32>) {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  } -> tensor<?x12x8xf32>
  %0 = tensor.expand_shape %k [[0], [1, 2], [3]] output_shape [%n, 3, 4, 8] : tensor<?x12x8xf32> into tensor<?x3x4x8xf32>
  %1 = nn.mul %0, %half : tensor<?x3x4x8xf32>, tensor<f32> -> tensor<?x3x4x8xf32>
  return %1 : tensor<?x3x4x8xf32>
}

// -----

// Must not fire: an operand that is broadcast along a part of a joined dimension,
// another user of the kernel, another user of the reshape, and no kernel.
// CHECK-LABEL: @stays
// CHECK-NOT: tensor.collapse_shape
func.func @stays(%x: tensor<12x8xf32>, %row: tensor<1x4x8xf32>)
    -> (tensor<3x4x8xf32>, tensor<3x4x8xf32>, tensor<3x4x8xf32>, tensor<3x4x8xf32>, tensor<12x8xf32>, tensor<3x4x8xf32>) {
  %d = tensor.empty() : tensor<12x8xf32>
  %k0 = cuda.softmax ins(%x : tensor<12x8xf32>) outs(%d : tensor<12x8xf32>) {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  } -> tensor<12x8xf32>
  %e0 = tensor.expand_shape %k0 [[0, 1], [2]] output_shape [3, 4, 8] : tensor<12x8xf32> into tensor<3x4x8xf32>
  // CHECK: nn.add {{.*}} : tensor<3x4x8xf32>, tensor<1x4x8xf32>
  %0 = nn.add %e0, %row : tensor<3x4x8xf32>, tensor<1x4x8xf32> -> tensor<3x4x8xf32>
  %k1 = cuda.softmax ins(%x : tensor<12x8xf32>) outs(%d : tensor<12x8xf32>) {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  } -> tensor<12x8xf32>
  %e1 = tensor.expand_shape %k1 [[0, 1], [2]] output_shape [3, 4, 8] : tensor<12x8xf32> into tensor<3x4x8xf32>
  // CHECK: nn.relu {{.*}} : tensor<3x4x8xf32>
  %1 = nn.relu %e1 : tensor<3x4x8xf32> -> tensor<3x4x8xf32>
  %k2 = cuda.softmax ins(%x : tensor<12x8xf32>) outs(%d : tensor<12x8xf32>) {
  ^bb0(%s: f32):
    cuda.yield %s : f32
  } -> tensor<12x8xf32>
  %e2 = tensor.expand_shape %k2 [[0, 1], [2]] output_shape [3, 4, 8] : tensor<12x8xf32> into tensor<3x4x8xf32>
  // CHECK: nn.relu {{.*}} : tensor<3x4x8xf32>
  %2 = nn.relu %e2 : tensor<3x4x8xf32> -> tensor<3x4x8xf32>
  %e3 = tensor.expand_shape %x [[0, 1], [2]] output_shape [3, 4, 8] : tensor<12x8xf32> into tensor<3x4x8xf32>
  // CHECK: nn.relu {{.*}} : tensor<3x4x8xf32>
  %3 = nn.relu %e3 : tensor<3x4x8xf32> -> tensor<3x4x8xf32>
  return %0, %1, %2, %3, %k1, %e2 : tensor<3x4x8xf32>, tensor<3x4x8xf32>, tensor<3x4x8xf32>, tensor<3x4x8xf32>, tensor<12x8xf32>, tensor<3x4x8xf32>
}
