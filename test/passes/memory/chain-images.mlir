// RUN: ingot-opt --chain-images --split-input-file %s | FileCheck %s

// Two layers of a batch become a loop over chunks of images. The buffer in
// between has the images of a chunk. All images share the weights.

// CHECK-LABEL: @known
// CHECK-SAME: (%[[X:.*]]: memref<16x16x16x32xf32>, %[[V:.*]]: memref<{{.*}}>, %[[W:.*]]: memref<{{.*}}>, %[[Y:.*]]: memref<16x16x16x32xf32>, %[[CALL:.*]]: !llvm.ptr
// CHECK-NOT: memref.alloc
// CHECK: %[[N:.*]] = arith.constant 16 : index
// CHECK: %[[STEP:.*]] = ingot.chunk %[[N]] per_thread 8 of %[[CALL]]
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[N]] step %[[STEP]] {
// CHECK:   %[[REST:.*]] = arith.subi %[[N]], %[[I]]
// CHECK:   %[[SIZE:.*]] = arith.minui %[[REST]], %[[STEP]]
// CHECK-DAG: %[[X1:.*]] = memref.subview %[[X]][%[[I]], 0, 0, 0] [%[[SIZE]], 16, 16, 32] [1, 1, 1, 1]
// CHECK-DAG: %[[T:.*]] = memref.alloc(%[[SIZE]]) : memref<?x16x16x32xf32>
// CHECK:   cpu.depthwise_conv ins(%[[X1]], %[[V]] : {{.*}}) outs(%[[T]] : memref<?x16x16x32xf32>)
// CHECK:   %[[Y1:.*]] = memref.subview %[[Y]][%[[I]], 0, 0, 0] [%[[SIZE]], 16, 16, 32] [1, 1, 1, 1]
// CHECK:   cpu.depthwise_conv ins(%[[T]], %[[W]] : {{.*}}) outs(%[[Y1]] :
// CHECK-NOT: cpu.depthwise_conv
// CHECK: return
func.func @known(%x: memref<16x16x16x32xf32>, %v: memref<3x3x32xf32>, %w: memref<3x3x32xf32>, %y: memref<16x16x16x32xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %t = memref.alloc() : memref<16x16x16x32xf32>
  cpu.depthwise_conv ins(%x, %v : memref<16x16x16x32xf32>, memref<3x3x32xf32>) outs(%t : memref<16x16x16x32xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  cpu.depthwise_conv ins(%t, %w : memref<16x16x16x32xf32>, memref<3x3x32xf32>) outs(%y : memref<16x16x16x32xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

// If rows of pixels share a dimension with the images, they get their own
// dimension. So does an operand that all images share.

// CHECK-LABEL: @rows
// CHECK: %[[STEP:.*]] = ingot.chunk
// CHECK: scf.for %[[I:.*]] =
// CHECK:   %[[SIZE:.*]] = arith.minui
// CHECK:   %[[T:.*]] = memref.alloc(%[[SIZE]]) : memref<?x16x16x32xf32>
// CHECK:   cpu.depthwise_conv {{.*}} outs(%[[T]] :
// CHECK-DAG: %[[SRC:.*]] = memref.collapse_shape %[[T]] {{\[\[}}0], [1, 2], [3]] : memref<?x16x16x32xf32> into memref<?x256x32xf32>
// CHECK-DAG: %[[OUT:.*]] = memref.expand_shape %{{.*}} {{\[\[}}0, 1], [2]] output_shape [16, 256, 32] : memref<4096x32xf32> into memref<16x256x32xf32>
// CHECK-DAG: %[[DST:.*]] = memref.subview %[[OUT]][%[[I]], 0, 0] [%[[SIZE]], 256, 32] [1, 1, 1]
// CHECK-DAG: %[[BIAS:.*]] = memref.expand_shape %{{.*}} {{\[\[}}0, 1], [2]] output_shape [1, 1, 32] : memref<1x32xf32> into memref<1x1x32xf32>
// CHECK:   cpu.matmul ins(%[[SRC]], %{{.*}} : memref<?x256x32xf32>, memref<1x32x32xf32>) operands(%[[BIAS]] : memref<1x1x32xf32>) outs(%[[DST]] :
// CHECK-NOT: cpu.matmul
func.func @rows(%x: memref<16x16x16x32xf32>, %v: memref<3x3x32xf32>, %w: memref<1x32x32xf32>, %b: memref<1x32xf32>, %y: memref<4096x32xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %t = memref.alloc() : memref<16x16x16x32xf32>
  cpu.depthwise_conv ins(%x, %v : memref<16x16x16x32xf32>, memref<3x3x32xf32>) outs(%t : memref<16x16x16x32xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  %rows = memref.collapse_shape %t [[0, 1, 2], [3]] : memref<16x16x16x32xf32> into memref<4096x32xf32>
  cpu.matmul ins(%rows, %w : memref<4096x32xf32>, memref<1x32x32xf32>) operands(%b : memref<1x32xf32>) outs(%y : memref<4096x32xf32>) {
  ^bb0(%sum: f32, %bias: f32):
    %0 = arith.addf %sum, %bias : f32
    cpu.yield %0 : f32
  }
  return
}

// -----

// An empty batch takes a step, too. Results that are used behind the loop have
// all images.

// CHECK-LABEL: @open
// CHECK-SAME: (%[[X:.*]]: memref<?x64x64x32xf32>,
// CHECK: %[[N:.*]] = memref.dim %[[X]]
// CHECK: %[[STEP:.*]] = ingot.chunk %[[N]] per_thread 1
// CHECK: %[[MOST:.*]] = arith.maxui %[[N]], %c1
// CHECK: scf.for %{{.*}} to %[[MOST]] step %[[STEP]]
// CHECK: memref.alloc(%{{.*}}) : memref<?x64x64x32xf32>
// CHECK: ingot.observe 0
func.func @open(%x: memref<?x64x64x32xf32>, %v: memref<3x3x32xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x64x64x32xf32>
  %t = memref.alloc(%n) : memref<?x64x64x32xf32>
  linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : memref<?x64x64x32xf32>) outs(%t : memref<?x64x64x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %in : f32
    linalg.yield %0 : f32
  }
  %y = memref.alloc(%n) : memref<?x64x64x32xf32>
  cpu.depthwise_conv ins(%t, %v : memref<?x64x64x32xf32>, memref<3x3x32xf32>) outs(%y : memref<?x64x64x32xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  ingot.observe 0 %y : memref<?x64x64x32xf32>
  return
}

// -----

// Must not fire: a single image, a batch that fits into one chunk, and weights
// that are larger than the images.

// CHECK-LABEL: @one
// CHECK-NOT: ingot.chunk
func.func @one(%x: memref<1x16x16x32xf32>, %v: memref<3x3x32xf32>, %y: memref<1x16x16x32xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %t = memref.alloc() : memref<1x16x16x32xf32>
  cpu.depthwise_conv ins(%x, %v : memref<1x16x16x32xf32>, memref<3x3x32xf32>) outs(%t : memref<1x16x16x32xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  cpu.depthwise_conv ins(%t, %v : memref<1x16x16x32xf32>, memref<3x3x32xf32>) outs(%y : memref<1x16x16x32xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// CHECK-LABEL: @few
// CHECK-NOT: ingot.chunk
func.func @few(%x: memref<8x16x16x32xf32>, %v: memref<3x3x32xf32>, %y: memref<8x16x16x32xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %t = memref.alloc() : memref<8x16x16x32xf32>
  cpu.depthwise_conv ins(%x, %v : memref<8x16x16x32xf32>, memref<3x3x32xf32>) outs(%t : memref<8x16x16x32xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  cpu.depthwise_conv ins(%t, %v : memref<8x16x16x32xf32>, memref<3x3x32xf32>) outs(%y : memref<8x16x16x32xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// CHECK-LABEL: @weights
// CHECK-NOT: ingot.chunk
func.func @weights(%x: memref<64x2x2x512xf32>, %v: memref<16x3x3x512x32xf32>, %y: memref<64x2x2x512xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %t = memref.alloc() : memref<64x2x2x512xf32>
  cpu.conv ins(%x, %v : memref<64x2x2x512xf32>, memref<16x3x3x512x32xf32>) outs(%t : memref<64x2x2x512xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  cpu.conv ins(%t, %v : memref<64x2x2x512xf32>, memref<16x3x3x512x32xf32>) outs(%y : memref<64x2x2x512xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

// A sum over all images ends the chain, and so does a transpose of rows.

// CHECK-LABEL: @across
// CHECK: scf.for
// CHECK:   cpu.depthwise_conv
// CHECK:   cpu.depthwise_conv
// CHECK-NEXT: ^bb0
// CHECK-NEXT: cpu.yield
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: linalg.generic {{.*}} iterator_types = ["reduction", "parallel"
func.func @across(%x: memref<8x64x64x32xf32>, %v: memref<3x3x32xf32>, %y: memref<64x64x32xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %t = memref.alloc() : memref<8x64x64x32xf32>
  cpu.depthwise_conv ins(%x, %v : memref<8x64x64x32xf32>, memref<3x3x32xf32>) outs(%t : memref<8x64x64x32xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  %u = memref.alloc() : memref<8x64x64x32xf32>
  cpu.depthwise_conv ins(%t, %v : memref<8x64x64x32xf32>, memref<3x3x32xf32>) outs(%u : memref<8x64x64x32xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (b, c, d)>], iterator_types = ["reduction", "parallel", "parallel", "parallel"]}
      ins(%u : memref<8x64x64x32xf32>) outs(%y : memref<64x64x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// A read of other images' results ends the chain, such as a read of the whole
// buffer that the chain writes.

// CHECK-LABEL: @shared
// CHECK-NOT: ingot.chunk
func.func @shared(%x: memref<8x64x64x32xf32>, %v: memref<3x3x32xf32>, %y: memref<8x64x64x32xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %t = memref.alloc() : memref<8x64x64x32xf32>
  cpu.depthwise_conv ins(%x, %v : memref<8x64x64x32xf32>, memref<3x3x32xf32>) outs(%t : memref<8x64x64x32xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  %first = memref.subview %t[0, 0, 0, 0] [1, 64, 64, 32] [1, 1, 1, 1] : memref<8x64x64x32xf32> to memref<1x64x64x32xf32>
  cpu.depthwise_conv ins(%x, %v : memref<8x64x64x32xf32>, memref<3x3x32xf32>) operands(%first : memref<1x64x64x32xf32>) outs(%y : memref<8x64x64x32xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32, %other: f32):
    %0 = arith.addf %sum, %other : f32
    cpu.yield %0 : f32
  }
  return
}

// -----

// A product of one row per image sums in another order than one of many rows,
// so such products take all images at once. In a mean over pixels, each image
// is one row, too, but a separate one.

// CHECK-LABEL: @gate
// CHECK: scf.for
// CHECK:   cpu.depthwise_conv
// CHECK:   cpu.reduce
// CHECK: cpu.matmul {{.*}} memref<8x32xf32>
func.func @gate(%x: memref<8x64x64x32xf32>, %v: memref<3x3x32xf32>, %w: memref<1x32x32xf32>, %y: memref<8x32xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %t = memref.alloc() : memref<8x64x64x32xf32>
  cpu.depthwise_conv ins(%x, %v : memref<8x64x64x32xf32>, memref<3x3x32xf32>) outs(%t : memref<8x64x64x32xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  %pixels = memref.collapse_shape %t [[0], [1, 2], [3]] : memref<8x64x64x32xf32> into memref<8x4096x32xf32>
  %m = memref.alloc() : memref<8x32xf32>
  cpu.reduce mean ins(%pixels : memref<8x4096x32xf32>) outs(%m : memref<8x32xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  cpu.matmul ins(%m, %w : memref<8x32xf32>, memref<1x32x32xf32>) outs(%y : memref<8x32xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

// A buffer in front of a layer that ends a run is removed, too: no other op
// reads it once the chain has its own. A view of one element has no groups.

// CHECK-LABEL: @earlier
// CHECK-NOT: memref.alloc() : memref<16x16x16x32xf32>
// CHECK: cpu.depthwise_conv {{.*}} outs(%{{.*}} : memref<1x16x16x32xf32>)
// CHECK: scf.for
// CHECK: memref.alloc(%{{.*}}) : memref<?x16x16x32xf32>
func.func @earlier(%one: memref<1x16x16x32xf32>, %to: memref<1x16x16x32xf32>, %s: memref<f32>, %e: memref<1x1xf32>, %x: memref<16x16x16x32xf32>, %v: memref<3x3x32xf32>, %w: memref<3x3x32xf32>, %y: memref<16x16x16x32xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %t = memref.alloc() : memref<16x16x16x32xf32>
  %r = memref.expand_shape %s [] output_shape [1, 1] : memref<f32> into memref<1x1xf32>
  linalg.add ins(%r, %r : memref<1x1xf32>, memref<1x1xf32>) outs(%e : memref<1x1xf32>)
  cpu.depthwise_conv ins(%one, %v : memref<1x16x16x32xf32>, memref<3x3x32xf32>) outs(%to : memref<1x16x16x32xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  cpu.depthwise_conv ins(%x, %v : memref<16x16x16x32xf32>, memref<3x3x32xf32>) outs(%t : memref<16x16x16x32xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  cpu.depthwise_conv ins(%t, %w : memref<16x16x16x32xf32>, memref<3x3x32xf32>) outs(%y : memref<16x16x16x32xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}
