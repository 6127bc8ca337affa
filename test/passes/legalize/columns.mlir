// RUN: ingot-opt --onnx-legalize --split-input-file %s | FileCheck %s

module attributes {onnx.opset_import = {ai.onnx = 18 : i64}} {

// Elements of all blocks are added in place: two for blocks of two.
// CHECK-LABEL: @few
// CHECK-NOT: nn.gather
// CHECK: %[[WINDOW:.*]] = tensor.extract_slice %{{.*}}[0, 0, 0, 0] [%{{.*}}, 2, 1, 3] [1, 1, 1, 2] : tensor<?x2x1x8xf32> to tensor<?x2x1x3xf32>
// CHECK: %[[SUM:.*]] = nn.add %[[WINDOW]], %{{.*}}
// CHECK: %[[IMAGE:.*]] = tensor.insert_slice %[[SUM]] into %{{.*}}[0, 0, 0, 0] [%{{.*}}, 2, 1, 3] [1, 1, 1, 2]
// CHECK: tensor.extract_slice %[[IMAGE]][0, 0, 0, 3] [%{{.*}}, 2, 1, 3] [1, 1, 1, 2]
// CHECK: nn.add
// CHECK: %[[SUMS:.*]] = tensor.insert_slice
// CHECK-NOT: nn.add
// CHECK: tensor.extract_slice %[[SUMS]][0, 0, 0, 1] [%{{.*}}, 2, 1, 7] [1, 1, 1, 1]
func.func @few(%x: tensor<?x4x3xf32>) -> tensor<*xf32> {
  %image = arith.constant dense<7> : tensor<1xi64>
  %block = arith.constant dense<2> : tensor<1xi64>
  %0 = onnx.node "Col2Im"(%x, %image, %block) {strides = array<i64: 2>, dilations = array<i64: 3>, pads = array<i64: 1, 0>} : (tensor<?x4x3xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// For large blocks, each pixel gathers the elements that overlap it.
// CHECK-LABEL: @many
// CHECK-NOT: nn.add
func.func @many(%x: tensor<1x100x3xf32>) -> tensor<*xf32> {
  %image = arith.constant dense<102> : tensor<1xi64>
  %block = arith.constant dense<100> : tensor<1xi64>
  %0 = onnx.node "Col2Im"(%x, %image, %block) : (tensor<1x100x3xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

}
