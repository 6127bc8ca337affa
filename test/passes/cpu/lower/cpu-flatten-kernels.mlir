// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(cpu-flatten-kernels))' --split-input-file | FileCheck %s

// A 1x1 convolution is a product of all pixels with the weights. Epilogue
// operands are flattened, too.
// CHECK-LABEL: @pointwise
// CHECK-DAG: %[[W:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1, 2], [3], [4]] : tensor<1x1x1x3x16xf32> into tensor<1x3x16xf32>
// CHECK-DAG: %[[X:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1, 2], [3]] : tensor<2x8x8x3xf32> into tensor<128x3xf32>
// CHECK-DAG: %[[B:.*]] = tensor.collapse_shape %{{.*}} : tensor<1x1x1x4xf32> into tensor<1x4xf32>
// CHECK-DAG: %[[R:.*]] = tensor.collapse_shape %{{.*}} : tensor<2x8x8x1xf32> into tensor<128x1xf32>
// CHECK: %[[Y:.*]] = cpu.matmul ins(%[[X]], %[[W]] : {{.*}}) operands(%[[B]], %[[R]] : {{.*}}) outs(%{{.*}} : tensor<128x4xf32>)
// CHECK: arith.addf
// CHECK: tensor.expand_shape %[[Y]] {{.*}} into tensor<2x8x8x4xf32>
// CHECK-NOT: cpu.conv
func.func @pointwise(%x: tensor<2x8x8x3xf32>, %w: tensor<1x1x1x3x16xf32>, %b: tensor<1x1x1x4xf32>, %r: tensor<2x8x8x1xf32>,
                     %d: tensor<2x8x8x4xf32>) -> tensor<2x8x8x4xf32> {
  %y = cpu.conv ins(%x, %w : tensor<2x8x8x3xf32>, tensor<1x1x1x3x16xf32>) operands(%b, %r : tensor<1x1x1x4xf32>, tensor<2x8x8x1xf32>)
      outs(%d : tensor<2x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 2, 3>, groups = 1 : i64} {
  ^bb0(%sum: f32, %bias: f32, %residual: f32):
    %0 = arith.addf %sum, %bias : f32
    %1 = arith.mulf %0, %residual : f32
    cpu.yield %1 : f32
  } -> tensor<2x8x8x4xf32>
  return %y : tensor<2x8x8x4xf32>
}

// -----

// A dynamic batch.
// CHECK-LABEL: @dynamic
// CHECK: cpu.matmul ins({{.*}} : tensor<?x3xf32>, tensor<1x3x16xf32>) outs({{.*}} : tensor<?x4xf32>)
// CHECK: tensor.expand_shape {{.*}} into tensor<?x8x4xf32>
func.func @dynamic(%x: tensor<?x8x3xf32>, %w: tensor<1x1x3x16xf32>, %d: tensor<?x8x4xf32>) -> tensor<?x8x4xf32> {
  %y = cpu.conv ins(%x, %w : tensor<?x8x3xf32>, tensor<1x1x3x16xf32>) outs(%d : tensor<?x8x4xf32>)
      attributes {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<?x8x4xf32>
  return %y : tensor<?x8x4xf32>
}

// -----

// One right operand for all batches: all rows at once.
// CHECK-LABEL: @batched
// CHECK: cpu.matmul ins({{.*}} : tensor<15x7xf32>, tensor<1x7x16xf32>) outs({{.*}} : tensor<15x9xf32>)
func.func @batched(%a: tensor<3x5x7xf32>, %w: tensor<1x7x16xf32>, %d: tensor<3x5x9xf32>) -> tensor<3x5x9xf32> {
  %y = cpu.matmul ins(%a, %w : tensor<3x5x7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<3x5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<3x5x9xf32>
  return %y : tensor<3x5x9xf32>
}

// -----

// A right operand per batch: must not fire.
// CHECK-LABEL: @many_factors
// CHECK: cpu.matmul ins({{.*}} : tensor<3x5x7xf32>, tensor<3x1x7x16xf32>)
func.func @many_factors(%a: tensor<3x5x7xf32>, %w: tensor<3x1x7x16xf32>, %d: tensor<3x5x9xf32>) -> tensor<3x5x9xf32> {
  %y = cpu.matmul ins(%a, %w : tensor<3x5x7xf32>, tensor<3x1x7x16xf32>) outs(%d : tensor<3x5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<3x5x9xf32>
  return %y : tensor<3x5x9xf32>
}

// -----

// An operand that broadcasts along some of the rows cannot be read by row.
// CHECK-LABEL: @partial_broadcast
// CHECK: cpu.matmul ins({{.*}} : tensor<3x5x7xf32>
func.func @partial_broadcast(%a: tensor<3x5x7xf32>, %w: tensor<1x7x16xf32>, %r: tensor<1x5x9xf32>, %d: tensor<3x5x9xf32>) -> tensor<3x5x9xf32> {
  %y = cpu.matmul ins(%a, %w : tensor<3x5x7xf32>, tensor<1x7x16xf32>) operands(%r : tensor<1x5x9xf32>) outs(%d : tensor<3x5x9xf32>) {
  ^bb0(%sum: f32, %residual: f32):
    %0 = arith.addf %sum, %residual : f32
    cpu.yield %0 : f32
  } -> tensor<3x5x9xf32>
  return %y : tensor<3x5x9xf32>
}

// -----

// Windows of more than a pixel, strides, padding and groups stay convolutions.
// CHECK-LABEL: @windows
// CHECK-COUNT-4: cpu.conv
// CHECK-NOT: cpu.matmul
func.func @windows(%x: tensor<1x8x4xf32>, %k: tensor<1x3x4x16xf32>, %w: tensor<1x1x4x16xf32>, %g: tensor<2x1x2x16xf32>, %d: tensor<1x8x4xf32>,
                   %s: tensor<1x4x4xf32>, %p: tensor<1x9x4xf32>) -> (tensor<1x8x4xf32>, tensor<1x4x4xf32>, tensor<1x9x4xf32>, tensor<1x8x4xf32>) {
  %0 = cpu.conv ins(%x, %k : tensor<1x8x4xf32>, tensor<1x3x4x16xf32>) outs(%d : tensor<1x8x4xf32>)
      attributes {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x4xf32>
  %1 = cpu.conv ins(%x, %w : tensor<1x8x4xf32>, tensor<1x1x4x16xf32>) outs(%s : tensor<1x4x4xf32>)
      attributes {strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x4x4xf32>
  %2 = cpu.conv ins(%x, %w : tensor<1x8x4xf32>, tensor<1x1x4x16xf32>) outs(%p : tensor<1x9x4xf32>)
      attributes {strides = array<i64: 1>, pads = array<i64: 0, 1>, dilations = array<i64: 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x9x4xf32>
  %3 = cpu.conv ins(%x, %g : tensor<1x8x4xf32>, tensor<2x1x2x16xf32>) outs(%d : tensor<1x8x4xf32>)
      attributes {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 2 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x4xf32>
  return %0, %1, %2, %3 : tensor<1x8x4xf32>, tensor<1x4x4xf32>, tensor<1x9x4xf32>, tensor<1x8x4xf32>
}

// -----

// Pixels that do not follow each other in memory are not a matrix.
// CHECK-LABEL: @slice_with_steps
// CHECK: cpu.conv
// CHECK-NOT: cpu.matmul
func.func @slice_with_steps(%x: tensor<1x4x3xf32>, %w: tensor<1x1x3x16xf32>, %d: tensor<1x8x5xf32>) -> tensor<1x8x5xf32> {
  %s = tensor.extract_slice %d[0, 1, 0] [1, 4, 5] [1, 2, 1] : tensor<1x8x5xf32> to tensor<1x4x5xf32>
  %y = cpu.conv ins(%x, %w : tensor<1x4x3xf32>, tensor<1x1x3x16xf32>) outs(%s : tensor<1x4x5xf32>)
      attributes {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x4x5xf32>
  %r = tensor.insert_slice %y into %d[0, 1, 0] [1, 4, 5] [1, 2, 1] : tensor<1x4x5xf32> into tensor<1x8x5xf32>
  return %r : tensor<1x8x5xf32>
}

// -----

// The destination, a new tensor, gets the flat shape. Only reshapes are behind
// it, so that it may be a result of the model.
// CHECK-LABEL: func.func @empty
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<10x16xf32>
// CHECK: cpu.matmul {{.*}} outs(%[[EMPTY]] : tensor<10x16xf32>)
// CHECK: tensor.expand_shape
func.func @empty(%a: tensor<2x5x7xf32>, %w: tensor<1x7x16xf32>) -> tensor<2x5x16xf32> {
  %0 = tensor.empty() : tensor<2x5x16xf32>
  %1 = cpu.matmul ins(%a, %w : tensor<2x5x7xf32>, tensor<1x7x16xf32>) outs(%0 : tensor<2x5x16xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<2x5x16xf32>
  return %1 : tensor<2x5x16xf32>
}

// -----

// A column of pixels is a row: the dimension of one pixel is dropped, in the weights too.
// CHECK-LABEL: @column
// CHECK-DAG: %[[W:.*]] = tensor.collapse_shape %arg1 {{\[\[}}0], [1, 2], [3], [4]] : tensor<1x5x1x3x16xf32> into tensor<1x5x3x16xf32>
// CHECK-DAG: %[[X:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0], [1, 2], [3]] : tensor<?x40x1x3xf32> into tensor<?x40x3xf32>
// CHECK-DAG: %[[B:.*]] = tensor.collapse_shape %arg2 {{.*}} : tensor<1x1x1x4xf32> into tensor<1x1x4xf32>
// CHECK: cpu.conv ins(%[[X]], %[[W]] : {{.*}}) operands(%[[B]] : {{.*}}) outs(%{{.*}} : tensor<?x20x4xf32>)
// CHECK-SAME: dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 2, 1>, strides = array<i64: 2>
// CHECK: tensor.expand_shape {{.*}} : tensor<?x20x4xf32> into tensor<?x20x1x4xf32>
func.func @column(%x: tensor<?x40x1x3xf32>, %w: tensor<1x5x1x3x16xf32>, %b: tensor<1x1x1x4xf32>, %d: tensor<?x20x1x4xf32>) -> tensor<?x20x1x4xf32> {
  %y = cpu.conv ins(%x, %w : tensor<?x40x1x3xf32>, tensor<1x5x1x3x16xf32>) operands(%b : tensor<1x1x1x4xf32>)
      outs(%d : tensor<?x20x1x4xf32>)
      attributes {strides = array<i64: 2, 3>, pads = array<i64: 2, 0, 1, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32, %bias: f32):
    %0 = arith.addf %sum, %bias : f32
    cpu.yield %0 : f32
  } -> tensor<?x20x1x4xf32>
  return %y : tensor<?x20x1x4xf32>
}

// -----

// Many static rows of a dynamic batch are one matrix per batch. Few rows become
// one matrix.
// CHECK-LABEL: @open_batch
// CHECK-DAG: %[[X:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0], [1, 2], [3]] : tensor<?x8x8x3xf32> into tensor<?x64x3xf32>
// CHECK-DAG: %[[B:.*]] = tensor.collapse_shape %arg2 {{\[\[}}0], [1, 2], [3]] : tensor<1x1x1x4xf32> into tensor<1x1x4xf32>
// CHECK: cpu.matmul ins(%[[X]], %{{.*}} : tensor<?x64x3xf32>, tensor<1x3x16xf32>) operands(%[[B]] : tensor<1x1x4xf32>)
// CHECK-SAME: outs(%{{.*}} : tensor<?x64x4xf32>)
// CHECK: tensor.expand_shape {{.*}} into tensor<?x8x8x4xf32>
// CHECK: cpu.matmul ins(%arg4, %arg5 : tensor<?x64x3xf32>, tensor<1x3x16xf32>) outs(%arg6 : tensor<?x64x4xf32>)
// CHECK: cpu.matmul ins(%{{.*}} : tensor<?x3xf32>, tensor<1x3x16xf32>)
func.func @open_batch(%x: tensor<?x8x8x3xf32>, %w: tensor<1x1x1x3x16xf32>, %b: tensor<1x1x1x4xf32>, %d: tensor<?x8x8x4xf32>,
    %u: tensor<?x64x3xf32>, %v: tensor<1x3x16xf32>, %e: tensor<?x64x4xf32>, %few: tensor<?x47x3xf32>, %f: tensor<?x47x4xf32>)
    -> (tensor<?x8x8x4xf32>, tensor<?x64x4xf32>, tensor<?x47x4xf32>) {
  %0 = cpu.conv ins(%x, %w : tensor<?x8x8x3xf32>, tensor<1x1x1x3x16xf32>) operands(%b : tensor<1x1x1x4xf32>)
      outs(%d : tensor<?x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32, %bias: f32):
    %s = arith.addf %sum, %bias : f32
    cpu.yield %s : f32
  } -> tensor<?x8x8x4xf32>
  %1 = cpu.matmul ins(%u, %v : tensor<?x64x3xf32>, tensor<1x3x16xf32>) outs(%e : tensor<?x64x4xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<?x64x4xf32>
  %2 = cpu.matmul ins(%few, %v : tensor<?x47x3xf32>, tensor<1x3x16xf32>) outs(%f : tensor<?x47x4xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<?x47x4xf32>
  return %0, %1, %2 : tensor<?x8x8x4xf32>, tensor<?x64x4xf32>, tensor<?x47x4xf32>
}

// -----

// Must not fire with padding along the row, which the kernel must know.
// CHECK-LABEL: @beside
// CHECK: cpu.conv ins(%arg0, %arg1 : tensor<1x9x1x3xf32>, tensor<1x3x3x3x16xf32>)
func.func @beside(%x: tensor<1x9x1x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x9x1x4xf32>) -> tensor<1x9x1x4xf32> {
  %y = cpu.conv ins(%x, %w : tensor<1x9x1x3xf32>, tensor<1x3x3x3x16xf32>) outs(%d : tensor<1x9x1x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x9x1x4xf32>
  return %y : tensor<1x9x1x4xf32>
}
