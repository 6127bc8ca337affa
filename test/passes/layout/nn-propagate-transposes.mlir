// RUN: ingot-opt %s --nn-propagate-transposes | FileCheck %s
// Results are tested by nn-propagate-transposes.py.

// An unknown batch size passes through a reshape.
// CHECK-LABEL: func.func @dynamic_reshape
// CHECK: %[[R:.*]] = nn.reshape %{{.*}} : tensor<?x7x7x6xf32> -> tensor<?x49x6xf32>
// CHECK: return %[[R]]
func.func @dynamic_reshape(%x: tensor<?x7x7x6xf32>) -> tensor<?x49x6xf32> {
  %0 = nn.transpose %x {perm = array<i64: 0, 3, 1, 2>} : tensor<?x7x7x6xf32> -> tensor<?x6x7x7xf32>
  %1 = nn.reshape %0 : tensor<?x6x7x7xf32> -> tensor<?x6x49xf32>
  %2 = nn.transpose %1 {perm = array<i64: 0, 2, 1>} : tensor<?x6x49xf32> -> tensor<?x49x6xf32>
  return %2 : tensor<?x49x6xf32>
}

// Must not fire: it is not known which dimensions are equal.
// CHECK-LABEL: func.func @unknown_reshape
// CHECK-NEXT: nn.transpose
// CHECK-NEXT: nn.reshape
func.func @unknown_reshape(%x: tensor<?x7x?x6xf32>) -> tensor<1x6x?xf32> {
  %0 = nn.transpose %x {perm = array<i64: 0, 3, 1, 2>} : tensor<?x7x?x6xf32> -> tensor<?x6x7x?xf32>
  %1 = nn.reshape %0 : tensor<?x6x7x?xf32> -> tensor<1x6x?xf32>
  return %1 : tensor<1x6x?xf32>
}

// Must not fire: flattening a map of more than one pixel moves data.
// CHECK-LABEL: func.func @flatten
// CHECK-NEXT: nn.transpose
// CHECK-NEXT: nn.reshape
func.func @flatten(%x: tensor<2x7x7x6xf32>) -> tensor<2x294xf32> {
  %0 = nn.transpose %x {perm = array<i64: 0, 3, 1, 2>} : tensor<2x7x7x6xf32> -> tensor<2x6x7x7xf32>
  %1 = nn.reshape %0 : tensor<2x6x7x7xf32> -> tensor<2x294xf32>
  return %1 : tensor<2x294xf32>
}

// CHECK-LABEL: func.func @one_pixel
// CHECK: %[[R:.*]] = nn.reshape %{{.*}} : tensor<?x1x1x6xf32> -> tensor<?x6x1x1xf32>
// CHECK: return %[[R]]
func.func @one_pixel(%x: tensor<?x1x1x6xf32>) -> tensor<?x6x1x1xf32> {
  %0 = nn.transpose %x {perm = array<i64: 0, 3, 1, 2>} : tensor<?x1x1x6xf32> -> tensor<?x6x1x1xf32>
  return %0 : tensor<?x6x1x1xf32>
}

// Constants are transposed at compile time, whatever their rank.
// CHECK-LABEL: func.func @constant
// CHECK: %[[C:.*]] = arith.constant dense<{{\[\[\[}}1.000000e+00, 2.000000e+00]]]> : tensor<1x1x2xf32>
// CHECK: %[[Y:.*]] = nn.add %{{.*}}, %[[C]]
// CHECK: nn.transpose %[[Y]]
func.func @constant(%x: tensor<1x?x2xf32>) -> tensor<1x2x?xf32> {
  %c = arith.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %0 = nn.transpose %x {perm = array<i64: 0, 2, 1>} : tensor<1x?x2xf32> -> tensor<1x2x?xf32>
  %1 = nn.add %0, %c : tensor<1x2x?xf32>, tensor<2x1xf32> -> tensor<1x2x?xf32>
  return %1 : tensor<1x2x?xf32>
}

// Two transposes that move no data do not replace each other forever.

// CHECK-LABEL: @free_transposes
// CHECK: nn.concat
func.func @free_transposes(%x: tensor<1x1x16xf32>, %y: tensor<1x1x16xf32>) -> tensor<1x32x1xf32> {
  %0 = nn.transpose %x {perm = array<i64: 0, 2, 1>} : tensor<1x1x16xf32> -> tensor<1x16x1xf32>
  %1 = nn.transpose %y {perm = array<i64: 1, 2, 0>} : tensor<1x1x16xf32> -> tensor<1x16x1xf32>
  %2 = nn.concat %0, %1 {axis = 1 : i64} : (tensor<1x16x1xf32>, tensor<1x16x1xf32>) -> tensor<1x32x1xf32>
  return %2 : tensor<1x32x1xf32>
}

// The data is transposed before it is enlarged.
// CHECK-LABEL: @enlarged
// CHECK: %[[T:.*]] = nn.transpose %{{.*}} {perm = array<i64: 0, 3, 1, 2>} : tensor<1x4x4x21xf32> -> tensor<1x21x4x4xf32>
// CHECK: %[[Y:.*]] = nn.resize linear %[[T]] {{.*}}scales = array<f32: 1.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00>} : tensor<1x21x4x4xf32> -> tensor<1x21x8x12xf32>
// CHECK: return %[[Y]]
func.func @enlarged(%x: tensor<1x4x4x21xf32>) -> tensor<1x21x8x12xf32> {
  %0 = nn.resize linear %x {coordinates = 0 : i32, nearest_mode = 0 : i32, scales = array<f32: 1.0, 2.0, 3.0, 1.0>} : tensor<1x4x4x21xf32> -> tensor<1x8x12x21xf32>
  %1 = nn.transpose %0 {perm = array<i64: 0, 3, 1, 2>} : tensor<1x8x12x21xf32> -> tensor<1x21x8x12xf32>
  return %1 : tensor<1x21x8x12xf32>
}

// Dynamic sizes are permuted with their dimensions. A static scale of a dynamic
// size is as good as a static size.
// CHECK-LABEL: @enlarged_open
// CHECK-SAME: %{{.*}}: tensor<1x?x?x21xf32>, %[[W:.*]]: index, %[[H:.*]]: index, %[[FW:.*]]: f32, %[[FH:.*]]: f32
// CHECK: %[[T:.*]] = nn.transpose %{{.*}} {perm = array<i64: 0, 3, 2, 1>} : tensor<1x?x?x21xf32> -> tensor<1x21x?x?xf32>
// CHECK: nn.resize linear %[[T]] sizes(%[[H]], %[[W]]) factors(%[[FH]], %[[FW]]) {{.*}}scales = array<f32: 1.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00>} : tensor<1x21x?x?xf32> -> tensor<1x21x?x?xf32>
// CHECK: nn.transpose %{{.*}} -> tensor<1x21x?x?xf32>
// CHECK: nn.resize nearest {{.*}} -> tensor<1x21x?x?xf32>
// CHECK: nn.resize nearest {{.*}} -> tensor<1x?x?x21xf32>
// CHECK: nn.transpose
func.func @enlarged_open(%x: tensor<1x?x?x21xf32>, %w: index, %h: index, %fw: f32, %fh: f32) -> (tensor<1x21x?x?xf32>, tensor<1x21x?x?xf32>, tensor<1x21x?x?xf32>) {
  %0 = nn.resize linear %x sizes(%w, %h) factors(%fw, %fh) {coordinates = 0 : i32, nearest_mode = 0 : i32, scales = array<f32: 1.0, 0.0, 0.0, 1.0>} : tensor<1x?x?x21xf32> -> tensor<1x?x?x21xf32>
  %1 = nn.transpose %0 {perm = array<i64: 0, 3, 2, 1>} : tensor<1x?x?x21xf32> -> tensor<1x21x?x?xf32>
  %2 = nn.resize nearest %x {coordinates = 0 : i32, nearest_mode = 0 : i32, scales = array<f32: 1.0, 2.0, 2.0, 1.0>} : tensor<1x?x?x21xf32> -> tensor<1x?x?x21xf32>
  %3 = nn.transpose %2 {perm = array<i64: 0, 3, 1, 2>} : tensor<1x?x?x21xf32> -> tensor<1x21x?x?xf32>
  %4 = nn.resize nearest %x {coordinates = 0 : i32, nearest_mode = 0 : i32, scales = array<f32: 1.0, 0.5, 2.0, 1.0>} : tensor<1x?x?x21xf32> -> tensor<1x?x?x21xf32>
  %5 = nn.transpose %4 {perm = array<i64: 0, 3, 1, 2>} : tensor<1x?x?x21xf32> -> tensor<1x21x?x?xf32>
  return %1, %3, %5 : tensor<1x21x?x?xf32>, tensor<1x21x?x?xf32>, tensor<1x21x?x?xf32>
}

// Must not fire: the data hardly grows, or has other users.
// CHECK-LABEL: @hardly_enlarged
// CHECK: nn.resize
// CHECK: nn.transpose
// CHECK: nn.resize
// CHECK: nn.transpose
func.func @hardly_enlarged(%x: tensor<1x4x4x21xf32>) -> (tensor<1x21x4x8xf32>, tensor<1x8x8x21xf32>, tensor<1x21x8x8xf32>) {
  %0 = nn.resize linear %x {coordinates = 0 : i32, nearest_mode = 0 : i32, scales = array<f32: 1.0, 1.0, 2.0, 1.0>} : tensor<1x4x4x21xf32> -> tensor<1x4x8x21xf32>
  %1 = nn.transpose %0 {perm = array<i64: 0, 3, 1, 2>} : tensor<1x4x8x21xf32> -> tensor<1x21x4x8xf32>
  %2 = nn.resize linear %x {coordinates = 0 : i32, nearest_mode = 0 : i32, scales = array<f32: 1.0, 2.0, 2.0, 1.0>} : tensor<1x4x4x21xf32> -> tensor<1x8x8x21xf32>
  %3 = nn.transpose %2 {perm = array<i64: 0, 3, 1, 2>} : tensor<1x8x8x21xf32> -> tensor<1x21x8x8xf32>
  return %1, %2, %3 : tensor<1x21x4x8xf32>, tensor<1x8x8x21xf32>, tensor<1x21x8x8xf32>
}

// A reduction that removes the moved dimension leaves no transpose, so later
// ops see none.
// CHECK-LABEL: @channels_reduced
// CHECK-NEXT: %[[A:.*]] = nn.arg_reduce max %{{.*}} {axis = 3 : i64} : tensor<1x16x16x8xf32> -> tensor<1x16x16xi64>
// CHECK-NEXT: nn.cast %[[A]]
// CHECK-NEXT: %[[M:.*]] = nn.reduce mean %{{.*}} {axes = array<i64: 3>}
// CHECK-NEXT: nn.sigmoid %[[M]]
// CHECK-NEXT: return
func.func @channels_reduced(%x: tensor<1x16x16x8xf32>) -> (tensor<1x16x16xi32>, tensor<1x16x16xf32>) {
  %0 = nn.transpose %x {perm = array<i64: 0, 3, 1, 2>} : tensor<1x16x16x8xf32> -> tensor<1x8x16x16xf32>
  %1 = nn.arg_reduce max %0 {axis = 1 : i64} : tensor<1x8x16x16xf32> -> tensor<1x16x16xi64>
  %2 = nn.cast %1 : tensor<1x16x16xi64> -> tensor<1x16x16xi32>
  %3 = nn.reduce mean %0 {axes = array<i64: 1>} : tensor<1x8x16x16xf32> -> tensor<1x16x16xf32>
  %4 = nn.sigmoid %3 : tensor<1x16x16xf32> -> tensor<1x16x16xf32>
  return %2, %4 : tensor<1x16x16xi32>, tensor<1x16x16xf32>
}

// CHECK-LABEL: @pixels_reduced
// CHECK-NEXT: %[[P:.*]] = nn.reduce mean %{{.*}} {axes = array<i64: 1, 2>} : tensor<2x16x16x8xf32> -> tensor<2x8xf32>
// CHECK-NEXT: %[[L:.*]] = nn.reduce min %[[P]]
// CHECK-NEXT: nn.sub %[[P]], %[[L]]
// CHECK-NEXT: return
func.func @pixels_reduced(%x: tensor<2x16x16x8xf32>) -> tensor<2x8xf32> {
  %0 = nn.transpose %x {perm = array<i64: 0, 3, 1, 2>} : tensor<2x16x16x8xf32> -> tensor<2x8x16x16xf32>
  %1 = nn.reduce mean %0 {axes = array<i64: 2, 3>} : tensor<2x8x16x16xf32> -> tensor<2x8xf32>
  %2 = nn.reduce min %1 {axes = array<i64: 0, 1>} : tensor<2x8xf32> -> tensor<f32>
  %3 = nn.sub %1, %2 : tensor<2x8xf32>, tensor<f32> -> tensor<2x8xf32>
  return %3 : tensor<2x8xf32>
}

// The usual split into q, k and v.
// CHECK-LABEL: @gather_one
// CHECK-NEXT: arith.constant
// CHECK-NEXT: %[[G:.*]] = nn.gather %{{.*}} {axis = 2 : i64}
// CHECK-NEXT: nn.mul %[[G]], %[[G]]
func.func @gather_one(%x: tensor<2x3x4x5xf32>) -> tensor<2x3x5xf32> {
  %i = arith.constant dense<1> : tensor<i64>
  %0 = nn.transpose %x {perm = array<i64: 2, 0, 1, 3>} : tensor<2x3x4x5xf32> -> tensor<4x2x3x5xf32>
  %1 = nn.gather %0, %i {axis = 0 : i64} : (tensor<4x2x3x5xf32>, tensor<i64>) -> tensor<2x3x5xf32>
  %2 = nn.mul %1, %1 : tensor<2x3x5xf32>, tensor<2x3x5xf32> -> tensor<2x3x5xf32>
  return %2 : tensor<2x3x5xf32>
}

// The identity is dropped, even if the types know different dimensions.
// CHECK-LABEL: @identity
// CHECK-NEXT: nn.relu %arg0
// CHECK-NEXT: %[[C:.*]] = tensor.cast %arg1 : tensor<?x3xf32> to tensor<4x3xf32>
// CHECK-NEXT: nn.relu %[[C]]
func.func @identity(%x: tensor<2x3xf32>, %y: tensor<?x3xf32>) -> (tensor<2x3xf32>, tensor<4x3xf32>) {
  %0 = nn.transpose %x {perm = array<i64: 0, 1>} : tensor<2x3xf32> -> tensor<2x3xf32>
  %1 = nn.relu %0 : tensor<2x3xf32> -> tensor<2x3xf32>
  %2 = nn.transpose %y {perm = array<i64: 1, 0>} : tensor<?x3xf32> -> tensor<3x4xf32>
  %3 = nn.transpose %2 {perm = array<i64: 1, 0>} : tensor<3x4xf32> -> tensor<4x3xf32>
  %4 = nn.relu %3 : tensor<4x3xf32> -> tensor<4x3xf32>
  return %1, %4 : tensor<2x3xf32>, tensor<4x3xf32>
}

// Must not fire: only the run knows how many elements are wanted.
// CHECK-LABEL: @top_k
// CHECK-NEXT: nn.top_k %arg0 count(%arg1) {axis = 2 : i64
func.func @top_k(%x: tensor<2x3x8xf32>, %n: index) -> tensor<2x?x3xf32> {
  %0 = nn.transpose %x {perm = array<i64: 0, 2, 1>} : tensor<2x3x8xf32> -> tensor<2x8x3xf32>
  %1, %2 = nn.top_k %0 count(%n) {axis = 1 : i64, k = 5 : i64} : tensor<2x8x3xf32> -> tensor<2x?x3xf32>, tensor<2x?x3xi64>
  return %1 : tensor<2x?x3xf32>
}

// Sizes are read from the transposed data.
// CHECK-LABEL: @sizes
// CHECK-NEXT: arith.constant
// CHECK-NEXT: tensor.dim %arg0
// CHECK-NEXT: return
func.func @sizes(%x: tensor<1x?x6xf32>) -> index {
  %c2 = arith.constant 2 : index
  %0 = nn.transpose %x {perm = array<i64: 0, 2, 1>} : tensor<1x?x6xf32> -> tensor<1x6x?xf32>
  %1 = tensor.dim %0, %c2 : tensor<1x6x?xf32>
  return %1 : index
}

// A vector of lower rank is reshaped to the other order if that moves no data.
// CHECK-LABEL: @lower_rank
// CHECK-NEXT: %[[B:.*]] = nn.reshape %arg1 : tensor<?x1x1xf32> -> tensor<1x1x1x?xf32>
// CHECK-NEXT: %[[Y:.*]] = nn.add %arg0, %[[B]]
// CHECK-NEXT: return %[[Y]]
func.func @lower_rank(%x: tensor<2x4x5x?xf32>, %b: tensor<?x1x1xf32>) -> tensor<2x4x5x?xf32> {
  %0 = nn.transpose %x {perm = array<i64: 0, 3, 1, 2>} : tensor<2x4x5x?xf32> -> tensor<2x?x4x5xf32>
  %1 = nn.add %0, %b : tensor<2x?x4x5xf32>, tensor<?x1x1xf32> -> tensor<2x?x4x5xf32>
  %2 = nn.transpose %1 {perm = array<i64: 0, 2, 3, 1>} : tensor<2x?x4x5xf32> -> tensor<2x4x5x?xf32>
  return %2 : tensor<2x4x5x?xf32>
}

// Must not fire: a transpose in a loop would run in each step.
// CHECK-LABEL: @loop
// CHECK: nn.transpose
// CHECK: scf.for
// CHECK-NOT: nn.transpose
// CHECK: return
func.func @loop(%x: tensor<3x8xf32>, %s: tensor<8x3xf32>, %n: index) -> tensor<8x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = nn.transpose %x {perm = array<i64: 1, 0>} : tensor<3x8xf32> -> tensor<8x3xf32>
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %s) -> tensor<8x3xf32> {
    %2 = nn.relu %0 : tensor<8x3xf32> -> tensor<8x3xf32>
    %3 = nn.add %a, %2 : tensor<8x3xf32>, tensor<8x3xf32> -> tensor<8x3xf32>
    scf.yield %3 : tensor<8x3xf32>
  }
  return %1 : tensor<8x3xf32>
}

// An observed tensor may have any order.
// CHECK-LABEL: func.func @observed
// CHECK: ingot.observe 0 %arg0
// CHECK: nn.relu %arg0
func.func @observed(%x: tensor<1x7x7x6xf32>) -> tensor<1x6x7x7xf32> {
  %0 = nn.transpose %x {perm = array<i64: 0, 3, 1, 2>} : tensor<1x7x7x6xf32> -> tensor<1x6x7x7xf32>
  ingot.observe 0 %0 : tensor<1x6x7x7xf32>
  %1 = nn.relu %0 : tensor<1x6x7x7xf32> -> tensor<1x6x7x7xf32>
  return %1 : tensor<1x6x7x7xf32>
}

// Must not fire: for an empty tensor, the number of elements does not give the
// dynamic dimension.
// CHECK-LABEL: func.func @no_elements
// CHECK: nn.transpose %arg0 {{.*}} : tensor<0x1x?xf32> -> tensor<0x?x1xf32>
// CHECK: nn.reshape %arg1 : tensor<2x1x?xf32> -> tensor<2x?x1xf32>
func.func @no_elements(%x: tensor<0x1x?xf32>, %y: tensor<2x1x?xf32>) -> (tensor<0x?x1xf32>, tensor<2x?x1xf32>) {
  %0 = nn.transpose %x {perm = array<i64: 0, 2, 1>} : tensor<0x1x?xf32> -> tensor<0x?x1xf32>
  %1 = nn.transpose %y {perm = array<i64: 0, 2, 1>} : tensor<2x1x?xf32> -> tensor<2x?x1xf32>
  return %0, %1 : tensor<0x?x1xf32>, tensor<2x?x1xf32>
}

// A reshape to computed sizes: the first and the last dimensions are known to
// stay, so the dimensions in between are split or merged.
// CHECK-LABEL: @open_reshape
// CHECK-SAME: %[[X:.*]]: tensor<?x?x64xf32>, %[[H:.*]]: index, %[[W:.*]]: index
// CHECK-NOT: nn.transpose
// CHECK: %[[SIZES:.*]] = tensor.from_elements %{{.*}}, %[[H]], %[[W]], %c64 : tensor<4xindex>
// CHECK: %[[Y:.*]] = tensor.reshape %[[X]](%[[SIZES]]) : (tensor<?x?x64xf32>, tensor<4xindex>) -> tensor<?x?x?x64xf32>
// CHECK: %[[R:.*]] = nn.relu %[[Y]] : tensor<?x?x?x64xf32>
// CHECK: %[[BACK:.*]] = tensor.from_elements %{{.*}}, %{{.*}}, %c64 : tensor<3xindex>
// CHECK: %[[Z:.*]] = tensor.reshape %[[R]](%[[BACK]]) : (tensor<?x?x?x64xf32>, tensor<3xindex>) -> tensor<?x?x64xf32>
// CHECK-NOT: nn.transpose
// CHECK: return %[[Z]]
func.func @open_reshape(%x: tensor<?x?x64xf32>, %h: index, %w: index) -> tensor<?x?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n = tensor.dim %x, %c0 : tensor<?x?x64xf32>
  %l = tensor.dim %x, %c1 : tensor<?x?x64xf32>
  %0 = nn.transpose %x {perm = array<i64: 0, 2, 1>} : tensor<?x?x64xf32> -> tensor<?x64x?xf32>
  %shape = tensor.from_elements %n, %c64, %h, %w : tensor<4xindex>
  %1 = tensor.reshape %0(%shape) : (tensor<?x64x?xf32>, tensor<4xindex>) -> tensor<?x64x?x?xf32>
  %2 = nn.relu %1 : tensor<?x64x?x?xf32> -> tensor<?x64x?x?xf32>
  %flat = tensor.from_elements %n, %c64, %l : tensor<3xindex>
  %3 = tensor.reshape %2(%flat) : (tensor<?x64x?x?xf32>, tensor<3xindex>) -> tensor<?x64x?xf32>
  %4 = nn.transpose %3 {perm = array<i64: 0, 2, 1>} : tensor<?x64x?xf32> -> tensor<?x?x64xf32>
  return %4 : tensor<?x?x64xf32>
}

// Must not fire: no dimension is known to stay, or those that stay are not the
// ones that the transpose moved. The transpose stays before the reshape.
// CHECK-LABEL: @unknown_open_reshape
// CHECK: nn.transpose
// CHECK: tensor.reshape
// CHECK: tensor.reshape
// CHECK-NOT: nn.transpose
// CHECK: return
func.func @unknown_open_reshape(%x: tensor<?x?x64xf32>, %a: index, %b: index) -> (tensor<?x?xf32>, tensor<?x?x?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x?x64xf32>
  %0 = nn.transpose %x {perm = array<i64: 0, 2, 1>} : tensor<?x?x64xf32> -> tensor<?x64x?xf32>
  %pair = tensor.from_elements %a, %b : tensor<2xindex>
  %1 = tensor.reshape %0(%pair) : (tensor<?x64x?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %three = tensor.from_elements %n, %a, %b : tensor<3xindex>
  %2 = tensor.reshape %0(%three) : (tensor<?x64x?xf32>, tensor<3xindex>) -> tensor<?x?x?xf32>
  return %1, %2 : tensor<?x?xf32>, tensor<?x?x?xf32>
}

// A window of computed position and size is taken from the data before the
// transpose. It is inserted into a splat, which can have any order.
// CHECK-LABEL: func.func @computed_windows
// CHECK-SAME: %[[X:.*]]: tensor<1x?x?x8xf32>, %[[F:.*]]: tensor<f32>, %[[A:.*]]: index, %[[B:.*]]: index, %[[H:.*]]: index, %[[W:.*]]: index
// CHECK-DAG: %[[PART:.*]] = tensor.extract_slice %[[X]][0, %[[A]], %[[B]], 0] [1, 4, %[[H]], 8] [1, 1, 2, 1] : tensor<1x?x?x8xf32> to tensor<1x4x?x8xf32>
// CHECK-DAG: %[[FILL:.*]] = nn.broadcast_to %[[F]] sizes(%[[H]], %[[W]]) : tensor<f32> -> tensor<1x?x?x8xf32>
// CHECK: %[[Y:.*]] = tensor.insert_slice %[[PART]] into %[[FILL]][0, %[[B]], %[[A]], 0] [1, 4, %[[H]], 8] [1, 1, 1, 1] : tensor<1x4x?x8xf32> into tensor<1x?x?x8xf32>
// CHECK: return %[[Y]]
func.func @computed_windows(%x: tensor<1x?x?x8xf32>, %f: tensor<f32>, %a: index, %b: index, %h: index, %w: index) -> tensor<1x?x?x8xf32> {
  %0 = nn.transpose %x {perm = array<i64: 0, 3, 1, 2>} : tensor<1x?x?x8xf32> -> tensor<1x8x?x?xf32>
  %1 = tensor.extract_slice %0[0, 0, %a, %b] [1, 8, 4, %h] [1, 1, 1, 2] : tensor<1x8x?x?xf32> to tensor<1x8x4x?xf32>
  %2 = nn.broadcast_to %f sizes(%h, %w) : tensor<f32> -> tensor<1x8x?x?xf32>
  %3 = tensor.insert_slice %1 into %2[0, 0, %b, %a] [1, 8, 4, %h] [1, 1, 1, 1] : tensor<1x8x4x?xf32> into tensor<1x8x?x?xf32>
  %4 = nn.transpose %3 {perm = array<i64: 0, 2, 3, 1>} : tensor<1x8x?x?xf32> -> tensor<1x?x?x8xf32>
  return %4 : tensor<1x?x?x8xf32>
}

// Must not fire: a slice that changes the rank, or is inserted into other data.
// CHECK-LABEL: func.func @windows_that_stay
// CHECK: %[[T:.*]] = nn.transpose
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[T]]
// CHECK: %[[INTO:.*]] = tensor.insert_slice %[[T]] into
// CHECK: %[[WITHIN:.*]] = tensor.insert_slice %[[T]] into
// CHECK: return %[[PART]], %[[INTO]], %[[WITHIN]]
func.func @windows_that_stay(%x: tensor<1x4x?x8xf32>, %y: tensor<1x8x9x?xf32>, %z: tensor<2x1x8x4x?xf32>, %n: index) -> (tensor<8x4x?xf32>, tensor<1x8x9x?xf32>, tensor<2x1x8x4x?xf32>) {
  %0 = nn.transpose %x {perm = array<i64: 0, 3, 1, 2>} : tensor<1x4x?x8xf32> -> tensor<1x8x4x?xf32>
  %1 = tensor.extract_slice %0[0, 0, 0, 0] [1, 8, 4, %n] [1, 1, 1, 1] : tensor<1x8x4x?xf32> to tensor<8x4x?xf32>
  %2 = tensor.insert_slice %0 into %y[0, 0, 0, 0] [1, 8, 4, %n] [1, 1, 1, 1] : tensor<1x8x4x?xf32> into tensor<1x8x9x?xf32>
  %3 = tensor.insert_slice %0 into %z[0, 0, 0, 0, 0] [1, 1, 8, 4, %n] [1, 1, 1, 1, 1] : tensor<1x8x4x?xf32> into tensor<2x1x8x4x?xf32>
  return %1, %2, %3 : tensor<8x4x?xf32>, tensor<1x8x9x?xf32>, tensor<2x1x8x4x?xf32>
}

// A product of one channel and a constant for each channel is computed in the
// other order, and costs no transpose.
// CHECK-LABEL: func.func @spread
// CHECK-DAG: %[[C:.*]] = arith.constant dense<{{.*}}> : tensor<1x1x1x3xf32>
// CHECK-DAG: %[[M:.*]] = nn.reshape %arg1 : tensor<1x1x4x5xf32> -> tensor<1x4x5x1xf32>
// CHECK: %[[P:.*]] = nn.mul %[[M]], %[[C]] : tensor<1x4x5x1xf32>, tensor<1x1x1x3xf32> -> tensor<1x4x5x3xf32>
// CHECK: %[[Y:.*]] = nn.add %arg0, %[[P]]
// CHECK: return %[[Y]]
func.func @spread(%x: tensor<1x4x5x3xf32>, %m: tensor<1x1x4x5xf32>) -> tensor<1x4x5x3xf32> {
  %c = arith.constant dense<[[[1.0]], [[2.0]], [[3.0]]]> : tensor<3x1x1xf32>
  %0 = nn.transpose %x {perm = array<i64: 0, 3, 1, 2>} : tensor<1x4x5x3xf32> -> tensor<1x3x4x5xf32>
  %1 = nn.mul %m, %c : tensor<1x1x4x5xf32>, tensor<3x1x1xf32> -> tensor<1x3x4x5xf32>
  %2 = nn.add %0, %1 : tensor<1x3x4x5xf32>, tensor<1x3x4x5xf32> -> tensor<1x3x4x5xf32>
  %3 = nn.transpose %2 {perm = array<i64: 0, 2, 3, 1>} : tensor<1x3x4x5xf32> -> tensor<1x4x5x3xf32>
  return %3 : tensor<1x4x5x3xf32>
}

// Must not fire: the product has another reader, and a factor would move.
// CHECK-LABEL: func.func @no_spread
// CHECK: nn.transpose %arg0
// CHECK: nn.mul
// CHECK: nn.add
// CHECK: nn.mul
// CHECK: nn.add
func.func @no_spread(%x: tensor<1x4x5x3xf32>, %m: tensor<1x1x4x5xf32>, %n: tensor<1x3x4x1xf32>) -> (tensor<1x3x4x5xf32>, tensor<1x3x4x5xf32>, tensor<1x3x4x5xf32>) {
  %c = arith.constant dense<[[[1.0]], [[2.0]], [[3.0]]]> : tensor<3x1x1xf32>
  %d = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %0 = nn.transpose %x {perm = array<i64: 0, 3, 1, 2>} : tensor<1x4x5x3xf32> -> tensor<1x3x4x5xf32>
  %1 = nn.mul %m, %c : tensor<1x1x4x5xf32>, tensor<3x1x1xf32> -> tensor<1x3x4x5xf32>
  %2 = nn.add %0, %1 : tensor<1x3x4x5xf32>, tensor<1x3x4x5xf32> -> tensor<1x3x4x5xf32>
  %3 = nn.mul %n, %d : tensor<1x3x4x1xf32>, tensor<5xf32> -> tensor<1x3x4x5xf32>
  %4 = nn.add %0, %3 : tensor<1x3x4x5xf32>, tensor<1x3x4x5xf32> -> tensor<1x3x4x5xf32>
  return %1, %2, %4 : tensor<1x3x4x5xf32>, tensor<1x3x4x5xf32>, tensor<1x3x4x5xf32>
}
