// RUN: ingot-opt --onnx-legalize --split-input-file --verify-diagnostics %s | FileCheck %s

module attributes {onnx.opset_import = {"ai.onnx" = 22 : i64, "ai.onnx.ml" = 3 : i64, "com.microsoft" = 1 : i64}} {

// Positions and weights are computed once, and used for all channels. Channels
// come last if they fill vectors.
// CHECK-LABEL: @grid_sample
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<4x1x6xi64>)
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<4x1x6xf32>)
// CHECK: nn.transpose {{.*}} -> tensor<1x20x8xf32>
// CHECK: linalg.generic {{.*}}["parallel", "parallel", "reduction", "parallel"]{{.*}} outs({{.*}} : tensor<1x6x8xf32>)
// CHECK: tensor.extract {{.*}} : tensor<1x20x8xf32>
// CHECK: nn.transpose {{.*}} -> tensor<1x8x6xf32>
func.func @grid_sample(%x: tensor<1x8x4x5xf32>, %g: tensor<1x2x3x2xf32>) -> tensor<*xf32> {
  %0 = onnx.node "GridSample"(%x, %g) : (tensor<1x8x4x5xf32>, tensor<1x2x3x2xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// The batch indices of regions are checked before they are used.
// CHECK-LABEL: @roi_align
// CHECK: ingot.require {{.*}}batch_indices has {0}
// CHECK-NOT: nn.transpose
func.func @roi_align(%x: tensor<2x3x4x5xf32>, %r: tensor<?x4xf32>, %b: tensor<?xi64>) -> tensor<*xf32> {
  %0 = onnx.node "RoiAlign"(%x, %r, %b) {sampling_ratio = 2 : i64} : (tensor<2x3x4x5xf32>, tensor<?x4xf32>, tensor<?xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// Attention is written in the form that graph passes recognize.
// CHECK-LABEL: @attention
// CHECK-COUNT-3: nn.matmul %arg0
// CHECK: nn.matmul {{.*}} {transpose_b}
// CHECK: nn.softmax
// CHECK: nn.matmul
func.func @attention(%x: tensor<1x4x8xf32>, %w: tensor<8x24xf32>, %b: tensor<24xf32>) -> tensor<*xf32> {
  %0 = onnx.node "com.microsoft"::"Attention"(%x, %w, %b) {num_heads = 2 : i64} : (tensor<1x4x8xf32>, tensor<8x24xf32>, tensor<24xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
}

// -----

module attributes {onnx.opset_import = {"ai.onnx" = 22 : i64}} {
func.func @errors(%x: tensor<1x8x4x5xf32>, %g: tensor<1x2x3x3xf32>, %r: tensor<2x4xf32>, %b: tensor<2xi64>) -> tensor<*xf32> {
  // expected-error@+1 {{GridSample (opset 22) is invalid: the last dimension of grid needs 2 coordinates}}
  %0 = onnx.node "GridSample"(%x, %g) : (tensor<1x8x4x5xf32>, tensor<1x2x3x3xf32>) -> tensor<*xf32>
  // expected-error@+1 {{RoiAlign (opset 22) is invalid: 'output_height' is 0, but must be in [1, 65536]}}
  %1 = onnx.node "RoiAlign"(%x, %r, %b) {output_height = 0 : i64} : (tensor<1x8x4x5xf32>, tensor<2x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  // expected-error@+1 {{NonMaxSuppression (opset 22) is invalid: boxes (batches, boxes, 4) and scores (batches, classes, boxes) are needed}}
  %2 = onnx.node "NonMaxSuppression"(%r, %b) : (tensor<2x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}
}
