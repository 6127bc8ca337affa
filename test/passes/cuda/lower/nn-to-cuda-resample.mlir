// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(nn-to-cuda))' --split-input-file | FileCheck %s
// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(nn-to-cuda))' --split-input-file | ingot-opt --split-input-file | FileCheck %s
// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(nn-to-cuda,kernel-fuse-epilogues))' --split-input-file | FileCheck %s --check-prefix=FUSED

// Known sizes: positions are constants. Nearest resampling has no weights.
// CHECK-LABEL: @nearest
// CHECK-DAG: %[[ROWS:.*]] = arith.constant dense<{{\[\[}}0, 0, 1, 1]]> : tensor<1x4xi32>
// CHECK-DAG: %[[COLUMNS:.*]] = arith.constant dense<{{\[\[}}0, 0, 0, 1, 1, 1]]> : tensor<1x6xi32>
// CHECK: cuda.resample ins(%arg0 : tensor<1x8x2x2xf32>) positions(%[[ROWS]], %[[COLUMNS]] : {{.*}}) outs({{.*}}tensor<1x8x4x6xf32>) attributes {first = 2 : i64}
// CHECK-NOT: weights
func.func @nearest(%x: tensor<1x8x2x2xf32>) -> tensor<1x8x4x6xf32> {
  %y = nn.resize nearest %x {coordinates = 4 : i32, nearest_mode = 2 : i32, scales = array<f32: 1.0, 1.0, 2.0, 3.0>, ingot.backend = #ingot.backend<cuda>} : tensor<1x8x2x2xf32> -> tensor<1x8x4x6xf32>
  return %y : tensor<1x8x4x6xf32>
}

// -----

// All dimensions behind the resized one are channels, few or many.
// CHECK-LABEL: @linear
// CHECK-DAG: dense<{{\[\[}}0, 0, 0, 1], [0, 1, 1, 1]]> : tensor<2x4xi32>
// CHECK-DAG: dense<{{\[\[}}2.500000e-01, 7.500000e-01, 2.500000e-01, 7.500000e-01], [7.500000e-01, 2.500000e-01, 7.500000e-01, 2.500000e-01]]> : tensor<2x4xf32>
// CHECK: %[[X:.*]] = tensor.collapse_shape %arg0 {{.*}} into tensor<1x2x6xf32>
// CHECK: cuda.resample ins(%[[X]] : tensor<1x2x6xf32>) positions(%{{.*}} : tensor<2x4xi32>) weights(%{{.*}} : tensor<2x4xf32>)
// CHECK-SAME: first = 1
// CHECK: tensor.expand_shape {{.*}} into tensor<1x4x3x2xf32>
func.func @linear(%x: tensor<1x2x3x2xf32>) -> tensor<1x4x3x2xf32> {
  %0 = nn.resize linear %x {coordinates = 0 : i32, nearest_mode = 0 : i32, scales = array<f32: 1.0, 2.0, 1.0, 1.0>, ingot.backend = #ingot.backend<cuda>} : tensor<1x2x3x2xf32> -> tensor<1x4x3x2xf32>
  return %0 : tensor<1x4x3x2xf32>
}

// -----

// The epilogue takes the ops that follow.
// CHECK-LABEL: @fused
// FUSED-LABEL: @fused
// FUSED: cuda.resample
// FUSED-SAME: operands(%{{.*}} : tensor<1x1x8xf32>)
// FUSED-NEXT: ^bb0(%[[SUM:.*]]: f32, %[[R:.*]]: f32):
// FUSED: %[[A:.*]] = arith.addf %[[SUM]], %[[R]]
// FUSED: arith.maximumf %[[A]]
// FUSED: cuda.yield
// FUSED-NOT: nn.
// FUSED: return
func.func @fused(%x: tensor<1x2x8xf32>, %r: tensor<1x1x8xf32>) -> tensor<1x4x8xf32> {
  %0 = nn.resize linear %x {coordinates = 0 : i32, nearest_mode = 0 : i32, scales = array<f32: 1.0, 2.0, 1.0>, ingot.backend = #ingot.backend<cuda>} : tensor<1x2x8xf32> -> tensor<1x4x8xf32>
  %1 = nn.add %0, %r : tensor<1x4x8xf32>, tensor<1x1x8xf32> -> tensor<1x4x8xf32>
  %2 = nn.relu %1 : tensor<1x4x8xf32> -> tensor<1x4x8xf32>
  return %2 : tensor<1x4x8xf32>
}

// -----

// A run computes the positions of open sizes. Channels may be open, too.
// CHECK-LABEL: @open
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<2x?xi32>, tensor<2x?xf32>)
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<2x?xi32>, tensor<2x?xf32>)
// CHECK: cuda.resample ins(%arg0 : tensor<?x?x?x?xf32>)
func.func @open(%x: tensor<?x?x?x?xf32>, %size: index, %factor: f32) -> tensor<?x?x?x?xf32> {
  %y = nn.resize linear %x sizes(%size) factors(%factor) {coordinates = 4 : i32, nearest_mode = 0 : i32, scales = array<f32: 1.0, 0.0, 2.0, 1.0>, ingot.backend = #ingot.backend<cuda>} : tensor<?x?x?x?xf32> -> tensor<?x?x?x?xf32>
  return %y : tensor<?x?x?x?xf32>
}

// -----

// Must not fire: dimensions that are not neighbors, a vector, whole numbers, too
// many taps, filters, and another backend.
// CHECK-LABEL: @declined
// CHECK-COUNT-6: nn.resize
// CHECK-NOT: cuda.
func.func @declined(%x: tensor<2x2x2xf32>, %v: tensor<4xf32>, %b: tensor<2x2x2xui8>, %c: tensor<2x2x2x2xf32>)
    -> (tensor<4x2x4xf32>, tensor<8xf32>, tensor<2x2x4xui8>, tensor<2x4x4x4xf32>, tensor<2x1x2xf32>, tensor<2x4x2xf32>) {
  %0 = nn.resize nearest %x {coordinates = 4 : i32, nearest_mode = 2 : i32, scales = array<f32: 2.0, 1.0, 2.0>, ingot.backend = #ingot.backend<cuda>} : tensor<2x2x2xf32> -> tensor<4x2x4xf32>
  %1 = nn.resize nearest %v {coordinates = 4 : i32, nearest_mode = 2 : i32, scales = array<f32: 2.0>, ingot.backend = #ingot.backend<cuda>} : tensor<4xf32> -> tensor<8xf32>
  %2 = nn.resize nearest %b {coordinates = 4 : i32, nearest_mode = 2 : i32, scales = array<f32: 1.0, 1.0, 2.0>, ingot.backend = #ingot.backend<cuda>} : tensor<2x2x2xui8> -> tensor<2x2x4xui8>
  %3 = nn.resize cubic %c {coordinates = 4 : i32, nearest_mode = 2 : i32, scales = array<f32: 1.0, 2.0, 2.0, 2.0>, ingot.backend = #ingot.backend<cuda>} : tensor<2x2x2x2xf32> -> tensor<2x4x4x4xf32>
  %4 = nn.resize linear %x {antialias, coordinates = 4 : i32, nearest_mode = 2 : i32, scales = array<f32: 1.0, 0.5, 1.0>, ingot.backend = #ingot.backend<cuda>} : tensor<2x2x2xf32> -> tensor<2x1x2xf32>
  %5 = nn.resize linear %x {coordinates = 4 : i32, nearest_mode = 2 : i32, scales = array<f32: 1.0, 2.0, 1.0>, ingot.backend = #ingot.backend<cpu>} : tensor<2x2x2xf32> -> tensor<2x4x2xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<4x2x4xf32>, tensor<8xf32>, tensor<2x2x4xui8>, tensor<2x4x4x4xf32>, tensor<2x1x2xf32>, tensor<2x4x2xf32>
}
