// RUN: ingot-opt --onnx-legalize --split-input-file --verify-diagnostics %s | FileCheck %s

module attributes {onnx.opset_import = {"ai.onnx" = 18 : i64}} {

// CHECK-LABEL: @tile
// CHECK: nn.broadcast_to {{.*}} -> tensor<2x2x?x3x3xf32>
// CHECK: nn.reshape {{.*}} -> tensor<2x?x9xf32>
func.func @tile(%x: tensor<2x?x3xf32>) -> tensor<*xf32> {
  %c = arith.constant dense<[1, 2, 3]> : tensor<3xi64>
  %0 = onnx.node "Tile"(%x, %c) : (tensor<2x?x3xf32>, tensor<3xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// CHECK-LABEL: @depth_to_space
// CHECK: nn.transpose {{.*}}perm = array<i64: 0, 3, 4, 1, 5, 2>
// CHECK: nn.reshape {{.*}} -> tensor<1x2x4x6xf32>
// CHECK: nn.transpose {{.*}}perm = array<i64: 0, 1, 4, 2, 5, 3>
func.func @depth_to_space(%x: tensor<1x8x2x3xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0 = onnx.node "DepthToSpace"(%x) {blocksize = 2 : i64} : (tensor<1x8x2x3xf32>) -> tensor<*xf32>
  %1 = onnx.node "DepthToSpace"(%x) {blocksize = 2 : i64, mode = "CRD"} : (tensor<1x8x2x3xf32>) -> tensor<*xf32>
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @pad
// CHECK: nn.pad reflect %arg0 {high = array<i64: 0, 0, 1, 1>, low = array<i64: 0, 0, 1, 1>
// CHECK: nn.pad constant %arg0 value(%{{.*}}) {high = array<i64: 0, 0, 0, 2>, low = array<i64: 0, 0, 0, 1>
func.func @pad(%x: tensor<1x2x4x4xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %no = onnx.absent
  %p = arith.constant dense<[0, 0, 1, 1, 0, 0, 1, 1]> : tensor<8xi64>
  %0 = onnx.node "Pad"(%x, %p, %no) {mode = "reflect"} : (tensor<1x2x4x4xf32>, tensor<8xi64>, none) -> tensor<*xf32>
  %q = arith.constant dense<[1, 2]> : tensor<2xi64>
  %axes = arith.constant dense<[-1]> : tensor<1xi64>
  %1 = onnx.node "Pad"(%x, %q, %no, %axes) : (tensor<1x2x4x4xf32>, tensor<2xi64>, none, tensor<1xi64>) -> tensor<*xf32>
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// The data is cropped before the remaining elements are repeated.
// CHECK-LABEL: @cropped
// CHECK: %[[REST:.*]] = nn.pad constant %arg0 value(%{{.*}}) {high = array<i64: -1>, low = array<i64: 0>} : (tensor<5xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK: nn.pad wrap %[[REST]] {high = array<i64: 0>, low = array<i64: 2>} : (tensor<4xf32>) -> tensor<6xf32>
func.func @cropped(%x: tensor<5xf32>) -> tensor<*xf32> {
  %p = arith.constant dense<[2, -1]> : tensor<2xi64>
  %0 = onnx.node "Pad"(%x, %p) {mode = "wrap"} : (tensor<5xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// CHECK-LABEL: @one_hot
// CHECK: nn.equal
// CHECK: nn.select {{.*}} -> tensor<2x10x3xf32>
func.func @one_hot(%x: tensor<2x3xi64>, %v: tensor<2xf32>) -> tensor<*xf32> {
  %s = arith.constant dense<10> : tensor<i64>
  %0 = onnx.node "OneHot"(%x, %s, %v) {axis = 1 : i64} : (tensor<2x3xi64>, tensor<i64>, tensor<2xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// CHECK-LABEL: @resize
// CHECK: nn.resize linear %arg0 {{.*}}scales = array<f32: 1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00>{{.*}} -> tensor<1x2x8x?xf32>
func.func @resize(%x: tensor<1x2x4x?xf32>) -> tensor<*xf32> {
  %no = onnx.absent
  %s = arith.constant dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>
  %0 = onnx.node "Resize"(%x, %no, %s) {mode = "linear", coordinate_transformation_mode = "pytorch_half_pixel"} : (tensor<1x2x4x?xf32>, none, tensor<4xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// Computed sizes, and scales made from them; the batch is copied.
// CHECK-LABEL: @resize_to_another
// CHECK: %[[H:.*]] = tensor.dim %arg1, %c2
// CHECK: %[[W:.*]] = tensor.dim %arg1, %c3
// CHECK: %[[BY_H:.*]] = arith.divf
// CHECK: %[[BY_W:.*]] = arith.divf
// CHECK: nn.resize linear %arg0 sizes(%[[H]], %[[W]]) factors(%[[BY_H]], %[[BY_W]]) {{.*}}scales = array<f32: 1.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00>
func.func @resize_to_another(%x: tensor<?x8x?x?xf32>, %like: tensor<?x4x?x?xf32>) -> tensor<?x8x?x?xf32> {
  %no = onnx.absent
  %n = onnx.node "Shape"(%x) {end = 2 : i64} : (tensor<?x8x?x?xf32>) -> tensor<2xi64>
  %hw = onnx.node "Shape"(%like) {start = 2 : i64} : (tensor<?x4x?x?xf32>) -> tensor<2xi64>
  %sizes = onnx.node "Concat"(%n, %hw) {axis = 0 : i64} : (tensor<2xi64>, tensor<2xi64>) -> tensor<4xi64>
  %0 = onnx.node "Resize"(%x, %no, %no, %sizes) {mode = "linear"} : (tensor<?x8x?x?xf32>, none, none, tensor<4xi64>) -> tensor<?x8x?x?xf32>
  return %0 : tensor<?x8x?x?xf32>
}

// A filter is applied axis by axis.
// CHECK-LABEL: @filter_to_another
// CHECK: %[[ROWS:.*]] = nn.resize linear %arg0 {{.*}}antialias{{.*}}scales = array<f32: 1.000000e+00, 1.000000e+00, 0.000000e+00, 1.000000e+00>
// CHECK: nn.resize linear %[[ROWS]] {{.*}}antialias{{.*}}scales = array<f32: 1.000000e+00, 1.000000e+00, 1.000000e+00, 0.000000e+00>
// CHECK: return
func.func @filter_to_another(%x: tensor<1x8x?x?xf32>, %like: tensor<1x4x?x?xf32>) -> tensor<1x8x?x?xf32> {
  %no = onnx.absent
  %n = onnx.node "Shape"(%x) {end = 2 : i64} : (tensor<1x8x?x?xf32>) -> tensor<2xi64>
  %hw = onnx.node "Shape"(%like) {start = 2 : i64} : (tensor<1x4x?x?xf32>) -> tensor<2xi64>
  %sizes = onnx.node "Concat"(%n, %hw) {axis = 0 : i64} : (tensor<2xi64>, tensor<2xi64>) -> tensor<4xi64>
  %0 = onnx.node "Resize"(%x, %no, %no, %sizes) {mode = "linear", antialias = 1 : i64} : (tensor<1x8x?x?xf32>, none, none, tensor<4xi64>) -> tensor<1x8x?x?xf32>
  return %0 : tensor<1x8x?x?xf32>
}

// An axis of static sizes is multiplied by a matrix. A growing axis has no
// filter.
// CHECK-LABEL: @filter_one
// CHECK: %[[ROWS:.*]] = nn.matmul
// CHECK: nn.resize linear %{{.*}} {coordinates
// CHECK-SAME: scales = array<f32: 1.000000e+00, 2.000000e+00>
// CHECK: return
func.func @filter_one(%x: tensor<8x?xf32>) -> tensor<4x?xf32> {
  %no = onnx.absent
  %s = arith.constant dense<[0.5, 2.0]> : tensor<2xf32>
  %0 = onnx.node "Resize"(%x, %no, %s) {mode = "linear", antialias = 1 : i64} : (tensor<8x?xf32>, none, tensor<2xf32>) -> tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}

// CHECK-LABEL: @trilu_dynamic
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<?x1xi64>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x?xi64>)
// CHECK: nn.greater_or_equal
// CHECK: nn.select
func.func @trilu_dynamic(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = onnx.node "Trilu"(%x) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
}

// -----

// Only the run knows how much of a dynamic dimension a crop leaves.
// CHECK-LABEL: @crops_open
func.func @crops_open(%x: tensor<?x4xf32>) -> tensor<*xf32> {
  %p = arith.constant dense<[-1, 1, -1, 0]> : tensor<4xi64>
  // CHECK: nn.pad {{.*}}high = array<i64: -1, 0>{{.*}}low = array<i64: -1, 1>
  %0 = onnx.node "Pad"(%x, %p) : (tensor<?x4xf32>, tensor<4xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// Pads as PyTorch's older exporter computes them: a list of pairs from the last
// dimension on, reversed as a matrix. Dimensions without pads keep their sizes
// and positions.
// CHECK-LABEL: @computed_pads
// CHECK-NOT: "cropping leaves dimension 0
// CHECK-NOT: "cropping leaves dimension 1
// CHECK: "cropping leaves dimension 2
// CHECK: %[[FILLED:.*]] = nn.broadcast_to
// CHECK: %[[PART:.*]] = tensor.extract_slice %arg0[0, 0, %{{.*}}, %{{.*}}] [%{{.*}}, 3, %{{.*}}, %{{.*}}]
// CHECK: tensor.insert_slice %[[PART]] into %[[FILLED]][0, 0, %{{.*}}, %{{.*}}] [%{{.*}}, 3, %{{.*}}, %{{.*}}]
func.func @computed_pads(%x: tensor<?x3x?x?xf32>, %more: tensor<1xi64>) -> tensor<*xf32> {
  %none = arith.constant dense<0> : tensor<4xi64>
  %shape = arith.constant dense<[-1, 2]> : tensor<2xi64>
  %flat = arith.constant dense<-1> : tensor<1xi64>
  %start = arith.constant dense<-1> : tensor<1xi64>
  %end = arith.constant dense<-9223372036854775807> : tensor<1xi64>
  %axis = arith.constant dense<0> : tensor<1xi64>
  %pairs = onnx.node "Concat"(%more, %more, %more, %more, %none) {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<4xi64>) -> tensor<*xi64>
  %rows = onnx.node "Reshape"(%pairs, %shape) : (tensor<*xi64>, tensor<2xi64>) -> tensor<*xi64>
  %back = onnx.node "Slice"(%rows, %start, %end, %axis, %start) : (tensor<*xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
  %turned = onnx.node "Transpose"(%back) {perm = array<i64: 1, 0>} : (tensor<*xi64>) -> tensor<*xi64>
  %pads = onnx.node "Reshape"(%turned, %flat) : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %0 = onnx.node "Pad"(%x, %pads) : (tensor<?x3x?x?xf32>, tensor<*xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

module attributes {onnx.opset_import = {"ai.onnx" = 18 : i64}} {
func.func @errors(%x: tensor<1x3x4x4xf32>, %p: tensor<8xi64>, %c: tensor<4xi1>, %i: tensor<2xf32>) {
  // expected-error@+1 {{Pad (opset 18) is invalid: mode is mirror}}
  %0 = onnx.node "Pad"(%x, %p) {mode = "mirror"} : (tensor<1x3x4x4xf32>, tensor<8xi64>) -> tensor<*xf32>
  // expected-error@+1 {{DepthToSpace (opset 18) is invalid: blocksize squared does not divide 3 channels}}
  %1 = onnx.node "DepthToSpace"(%x) {blocksize = 2 : i64} : (tensor<1x3x4x4xf32>) -> tensor<*xf32>
  // expected-error@+1 {{Compress (opset 18) is invalid: 'axis' is 4, but must be in [-4, 3]}}
  %2 = onnx.node "Compress"(%x, %c) {axis = 4 : i64} : (tensor<1x3x4x4xf32>, tensor<4xi1>) -> tensor<*xf32>
  // expected-error@+1 {{Gather (opset 18) is invalid: indices need to be int32 or int64}}
  %3 = onnx.node "Gather"(%x, %i) : (tensor<1x3x4x4xf32>, tensor<2xf32>) -> tensor<*xf32>
  return
}
}

// -----

// The dimension that positions index is found once, not per element.
// CHECK-LABEL: @computed_mirror
// CHECK: %[[ROWS:.*]] = linalg.generic {{.*}}outs(%{{.*}} : tensor<?xi64>)
// CHECK: arith.remsi
// CHECK: %[[COLUMNS:.*]] = linalg.generic {{.*}}outs(%{{.*}} : tensor<?xi64>)
// CHECK: arith.remsi
// CHECK: linalg.generic {{.*}}outs(%{{.*}} : tensor<?x?xf32>)
// CHECK-NOT: arith.remsi
// CHECK-DAG: tensor.extract %[[ROWS]]
// CHECK-DAG: tensor.extract %[[COLUMNS]]
// CHECK: tensor.extract %arg0
func.func @computed_mirror(%x: tensor<4x5xf32>, %pads: tensor<4xi64>) -> tensor<*xf32> {
  %0 = onnx.node "Pad"(%x, %pads) {mode = "reflect"} : (tensor<4x5xf32>, tensor<4xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
