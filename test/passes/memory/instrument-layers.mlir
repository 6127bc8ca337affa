// RUN: ingot-opt --instrument-layers --split-input-file %s | FileCheck %s

// Ops of one ONNX node are one layer. The layer has the node's name and the
// kind of its largest op. Ops of a fused body belong to its layer. Flops: 2 *
// 8*8*6 * 2 for the convolution, an addition and a maximum for each of 384
// elements. Bytes: the bytes that each op reads and writes; the fill has its 6
// floats.
// CHECK: module attributes {ingot.layers = [
// CHECK-SAME: #ingot.layer<"convolution" by onednn, flops = 1536, bytes = 2632, nodes = "conv_1">,
// CHECK-SAME: #ingot.layer<"elementwise" by loops, flops = 768, bytes = 3096, nodes = "add_1", "relu_1">], ingot.metadata = {ingot.layer_shapes = 
// CHECK: func.func private @ingot_support_layer_end(!llvm.ptr, i64, i64, i64) attributes {passthrough = ["cold"]}
// CHECK-LABEL: func.func @forward
// CHECK: linalg.fill
// CHECK-NOT: scf.if
// CHECK: dnnl.convolution
// CHECK-NEXT: %[[FIELD:.*]] = llvm.getelementptr %arg4[72]
// CHECK-NEXT: %[[OBSERVER:.*]] = llvm.load volatile %[[FIELD]]
// CHECK-NEXT: %[[NULL:.*]] = llvm.mlir.zero
// CHECK-NEXT: %[[ON:.*]] = llvm.icmp "ne" %[[OBSERVER]], %[[NULL]]
// CHECK-NEXT: scf.if %[[ON]] {
// CHECK-NEXT: %[[LAYER:.*]] = arith.constant 0 : i64
// CHECK-NEXT: %[[FLOPS:.*]] = arith.constant 1536 : i64
// CHECK-NEXT: %[[BYTES:.*]] = arith.constant 2632 : i64
// CHECK-NEXT: func.call @ingot_support_layer_end(%arg4, %[[LAYER]], %[[FLOPS]], %[[BYTES]])
// CHECK: linalg.generic
// CHECK: scf.if
// CHECK-NEXT: arith.constant 1 : i64
// CHECK: return
func.func @forward(%x: memref<1x8x8x4xf32>, %y: memref<1x8x8x6xf32>, %w: memref<6x2x1x1xf32>, %b: memref<6xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%b : memref<6xf32>) loc("conv_1")
  dnnl.convolution ins(%x, %w : memref<1x8x8x4xf32>, memref<6x2x1x1xf32>) outs(%y : memref<1x8x8x6xf32>)
    {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 2 : i64} loc("conv_1")
  linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
                  iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y, %b : memref<1x8x8x6xf32>, memref<6xf32>) outs(%y : memref<1x8x8x6xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %sum = arith.addf %in, %bias : f32 loc("add_1")
    %max = arith.maximumf %sum, %zero : f32 loc("relu_1")
    linalg.yield %max : f32 loc("relu_1")
  } loc("relu_1")
  return
}

// -----

// Values that depend on dynamic sizes are computed in a function, which layers
// share; the table has 0. A name of the graph is not a node's name.
// CHECK: #ingot.layer<"matmul" by onednn, flops = 0, bytes = 0, nodes = "a", "b">
// CHECK-SAME: #ingot.layer<"matmul" by onednn, flops = 0, bytes = 0, nodes = "c">
// CHECK-LABEL: func.func @forward
// CHECK: scf.if
// CHECK: %[[NUMBER:.*]] = arith.constant 0 : i64
// CHECK: func.call @tell_layer(%arg3, %[[NUMBER]], %[[ROWS:.*]], %{{.*}})
// CHECK: scf.if
// CHECK: %[[NUMBER:.*]] = arith.constant 1 : i64
// CHECK: func.call @tell_layer(%arg3, %[[NUMBER]], %{{.*}}, %{{.*}})
// CHECK: func.func private @tell_layer(%[[CALL:.*]]: !llvm.ptr, %[[NUMBER:.*]]: i64, %[[ROWS:.*]]: index, %{{.*}}: index)
// CHECK-SAME: "cold"
// CHECK: %[[SCALE:.*]] = arith.constant 56 : index
// CHECK: %[[FLOPS:.*]] = arith.muli %[[ROWS]], %[[SCALE]] : index
// CHECK: %[[CAST:.*]] = arith.index_cast %[[FLOPS]]
// CHECK: call @ingot_support_layer_end(%[[CALL]], %[[NUMBER]], %[[CAST]],
// CHECK-NOT: func.func private @tell_layer
func.func @forward(%a: memref<?x4xf32>, %b: memref<7x4xf32>, %y: memref<?x7xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  dnnl.matmul ins(%a, %b : memref<?x4xf32>, memref<7x4xf32>) outs(%y : memref<?x7xf32>) {transpose_weights} loc(fused["a", "b", "graph"])
  dnnl.matmul ins(%a, %b : memref<?x4xf32>, memref<7x4xf32>) outs(%y : memref<?x7xf32>) {transpose_weights} loc("c")
  return
} loc("graph")

// -----

// A loop of constant bounds counts its ops for each step. An explicit number
// takes precedence. Copies compute nothing. An op without a name belongs to its
// neighbour.
// CHECK: #ingot.layer<"loop" by loops, flops = 48, bytes = 128, nodes = "scan">
// CHECK-SAME: #ingot.layer<"copy" by loops, flops = 77, bytes = 64, nodes = "stated">
func.func @forward(%a: memref<8xf32>, %b: memref<8xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %0 = memref.load %a[%i] : memref<8xf32> loc("scan")
    %1 = arith.mulf %0, %0 : f32 loc("scan")
    %2 = arith.addf %1, %0 : f32 loc("scan")
    scf.for %j = %c0 to %c8 step %c8 {
      %3 = math.exp %2 : f32 loc("scan")
      %4 = arith.addf %3, %3 : f32 loc("scan")
      %5 = arith.addf %4, %3 : f32 loc("scan")
      %6 = arith.addf %5, %3 : f32 loc("scan")
      memref.store %6, %b[%i] : memref<8xf32> loc("scan")
    } loc("scan")
  } loc("scan")
  memref.copy %a, %b : memref<8xf32> to memref<8xf32> loc(unknown)
  memref.copy %a, %b {ingot.flops = 77 : i64} : memref<8xf32> to memref<8xf32> loc("stated")
  return
}

// -----

// Must not fire without work, or without the run's call.
// CHECK-NOT: ingot.layers
// CHECK-LABEL: func.func @nothing
// CHECK-NOT: scf.if
func.func @nothing(%call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  return
}
func.func @no_call(%a: memref<8xf32>, %b: memref<8xf32>) {
  memref.copy %a, %b : memref<8xf32> to memref<8xf32>
  return
}

// -----

// Native kernels: 2 * 8*8*5 * 9*3, 2 * 8*8*6 * 9 and 2 * 4*10 * 7.
// CHECK: #ingot.layer<"convolution" by native, flops = 17280, bytes = {{[0-9]+}}, nodes = "conv">
// CHECK-SAME: #ingot.layer<"depthwise convolution" by native, flops = 6912, bytes = {{[0-9]+}}, nodes = "depthwise">
// CHECK-SAME: #ingot.layer<"matmul" by native, flops = 560, bytes = {{[0-9]+}}, nodes = "product">
func.func @forward(%x: memref<1x8x8x3xf32>, %w: memref<1x3x3x3x16xf32>, %y: memref<1x8x8x5xf32>,
    %v: memref<3x3x6xf32>, %z: memref<1x8x8x6xf32>, %u: memref<1x8x8x6xf32>,
    %a: memref<4x7xf32>, %b: memref<1x7x16xf32>, %c: memref<4x10xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  cpu.conv ins(%x, %w : memref<1x8x8x3xf32>, memref<1x3x3x3x16xf32>) outs(%y : memref<1x8x8x5xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } loc("conv")
  cpu.depthwise_conv ins(%z, %v : memref<1x8x8x6xf32>, memref<3x3x6xf32>) outs(%u : memref<1x8x8x6xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } loc("depthwise")
  cpu.matmul ins(%a, %b : memref<4x7xf32>, memref<1x7x16xf32>) outs(%c : memref<4x10xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } loc("product")
  return
}

// -----

// Kernels without weights: 5 and 8 operations per element, one per reduced element, one per tap of a window.
// CHECK: #ingot.layer<"softmax" by native, flops = 160, bytes = 256, nodes = "softmax">
// CHECK-SAME: #ingot.layer<"normalization" by native, flops = 256, bytes = 256, nodes = "norm">
// CHECK-SAME: #ingot.layer<"normalization" by native, flops = 256, bytes = 256, nodes = "groups">
// CHECK-SAME: #ingot.layer<"reduction" by native, flops = 32, bytes = {{[0-9]+}}, nodes = "mean">
// CHECK-SAME: #ingot.layer<"reduction" by native, flops = 64, bytes = {{[0-9]+}}, nodes = "squares">
// CHECK-SAME: #ingot.layer<"pooling" by native, flops = 72, bytes = {{[0-9]+}}, nodes = "pool">
func.func @forward(%x: memref<4x8xf32>, %y: memref<4x8xf32>, %r: memref<1x4x8xf32>, %s: memref<1x4x8xf32>,
    %m: memref<1x8xf32>, %i: memref<1x4x4x2xf32>, %o: memref<1x2x2x2xf32>,
    %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  cpu.softmax ins(%x : memref<4x8xf32>) outs(%y : memref<4x8xf32>) {
  ^bb0(%v: f32):
    cpu.yield %v : f32
  } loc("softmax")
  cpu.row_norm ins(%x : memref<4x8xf32>) outs(%y : memref<4x8xf32>) attributes {epsilon = 1.0e-5 : f32} {
  ^bb0(%v: f32):
    cpu.yield %v : f32
  } loc("norm")
  cpu.group_norm ins(%r : memref<1x4x8xf32>) outs(%s : memref<1x4x8xf32>) attributes {groups = 2 : i64, epsilon = 1.0e-5 : f32} {
  ^bb0(%v: f32):
    cpu.yield %v : f32
  } loc("groups")
  cpu.reduce mean ins(%r : memref<1x4x8xf32>) outs(%m : memref<1x8xf32>) {
  ^bb0(%v: f32):
    cpu.yield %v : f32
  } loc("mean")
  cpu.reduce sum_square ins(%r : memref<1x4x8xf32>) outs(%m : memref<1x8xf32>) {
  ^bb0(%v: f32):
    cpu.yield %v : f32
  } loc("squares")
  cpu.pool max ins(%i : memref<1x4x4x2xf32>) outs(%o : memref<1x2x2x2xf32>)
      attributes {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 0, 0>, dilations = array<i64: 1, 1>} {
  ^bb0(%v: f32):
    cpu.yield %v : f32
  } loc("pool")
  return
}

// -----

// The backend of a layer, and why better backends declined: of its own nodes
// only.
// CHECK: #ingot.layer<"copy" by loops, reason = "onednn: is of f64; native: has open sizes", flops = {{[0-9]+}}, bytes = 32, nodes = "odd">
// CHECK-SAME: #ingot.layer<"softmax" by native, flops = 160, bytes = 256, nodes = "softmax">
module attributes {ingot.declined = [
    #ingot.declined<"odd", onednn, "is of f64">, #ingot.declined<"odd", native, "has open sizes">,
    #ingot.declined<"softmax", onednn, "is over rows">, #ingot.declined<"softmax", native, "stale">,
    #ingot.declined<"gone", native, "is nowhere">]} {
  func.func @forward(%x: memref<4x8xf32>, %y: memref<4x8xf32>, %a: memref<4xf32>, %b: memref<4xf32>,
                     %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
    linalg.copy ins(%a : memref<4xf32>) outs(%b : memref<4xf32>) loc("odd")
    cpu.softmax ins(%x : memref<4x8xf32>) outs(%y : memref<4x8xf32>) {
    ^bb0(%v: f32):
      cpu.yield %v : f32
    } loc("softmax")
    return
  }
}

// -----

// The type of products, or of stored weights, if it is not f32.
// CHECK: #ingot.layer<"matmul" by native, precision = <int8>, flops = 560, bytes = {{[0-9]+}}, nodes = "bytes">
// CHECK-SAME: #ingot.layer<"matmul" by native, precision = <int16>, flops = 560, bytes = {{[0-9]+}}, nodes = "shorts">
// CHECK-SAME: #ingot.layer<"matmul" by native, precision = <binary>, flops = {{[0-9]+}}, bytes = {{[0-9]+}}, nodes = "signs">
// CHECK-SAME: #ingot.layer<"matmul" by native, precision = <bf16>, flops = 560, bytes = {{[0-9]+}}, nodes = "halves">
// CHECK-SAME: #ingot.layer<"matmul" by native, precision = <w4>, flops = {{[0-9]+}}, bytes = {{[0-9]+}}, nodes = "words">
func.func @forward(%a: memref<4x7xi8>, %b: memref<1x2x16x4xi8>, %c: memref<4x10xi32>,
    %k: memref<4x7xi16>, %l: memref<1x4x16x2xi16>, %m: memref<4x17xi32>, %n: memref<1x8x32xi32>, %o: memref<4x32xi32>,
    %d: memref<4x7xbf16>, %e: memref<1x4x16x2xbf16>, %f: memref<4x10xf32>,
    %g: memref<2x20xf32>, %h: memref<1x4x16xi32>, %s: memref<1x2x16xf32>, %i: memref<2x5xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  cpu.matmul ins(%a, %b : memref<4x7xi8>, memref<1x2x16x4xi8>) outs(%c : memref<4x10xi32>) {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } loc("bytes")
  cpu.matmul ins(%k, %l : memref<4x7xi16>, memref<1x4x16x2xi16>) outs(%c : memref<4x10xi32>) {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } loc("shorts")
  cpu.matmul ins(%m, %n : memref<4x17xi32>, memref<1x8x32xi32>) outs(%o : memref<4x32xi32>) attributes {format = #cpu.weights<signs<256>>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } loc("signs")
  cpu.matmul ins(%d, %e : memref<4x7xbf16>, memref<1x4x16x2xbf16>) outs(%f : memref<4x10xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } loc("halves")
  cpu.packed_matmul ins(%g, %h, %s : memref<2x20xf32>, memref<1x4x16xi32>, memref<1x2x16xf32>) outs(%i : memref<2x5xf32>)
    attributes {format = #cpu.weights<bits<4>, block_size = 16>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } loc("words")
  return
}

// -----

// Layers of a body for usual sizes come behind those for all sizes.

// CHECK: module attributes {ingot.layers = [
// CHECK-SAME: #ingot.layer<"copy" by loops, flops = 0, bytes = 128, nodes = "copy_1">,
// CHECK-SAME: #ingot.layer<"copy" by loops, usual_of = 2, flops = 0, bytes = 64, nodes = "copy_1">],
// CHECK-LABEL: func.func @forward_3
// CHECK: %[[LAYER:.*]] = arith.constant 1 : i64
// CHECK: call @ingot_support_layer_end(%{{.*}}, %[[LAYER]],
func.func @forward(%x: memref<16xf32>, %y: memref<16xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  memref.copy %x, %y : memref<16xf32> to memref<16xf32> loc("copy_1")
  return
}
func.func @forward_3(%x: memref<8xf32>, %y: memref<8xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) attributes {ingot.usual_of = 2 : i64} {
  memref.copy %x, %y : memref<8xf32> to memref<8xf32> loc("copy_1")
  return
}

// -----

// Metadata have a line of sizes per layer, and the exporter's modules of the
// nodes that have one. Existing metadata stay.
// CHECK: module attributes
// CHECK-SAME: ingot.layer_shapes = "1x4 -> 1x4\0A?x4 -> ?x4\0A\0A"
// CHECK-SAME: ingot.scopes = "node_Relu_1\09stem.act\0Anode_Relu_2\09head\0A"
// CHECK-SAME: labels = "cat"
module attributes {ingot.metadata = {labels = "cat"}} {
  func.func @forward(%a: memref<1x4xf32>, %b: memref<1x4xf32>, %c: memref<?x4xf32>, %d: memref<?x4xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
    memref.copy %a, %b : memref<1x4xf32> to memref<1x4xf32> loc("node_Relu_1"("stem.act"))
    memref.copy %c, %d : memref<?x4xf32> to memref<?x4xf32> loc(fused["node_Relu_2"("head"), "other"])
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c4 step %c1 {
      %v = memref.load %a[%c0, %i] : memref<1x4xf32> loc("plain")
      memref.store %v, %b[%c0, %i] : memref<1x4xf32> loc("plain")
    } loc("plain")
    return
  } loc("graph")
}

// -----

// Layers of a loop over images end within it. An observed run takes all images
// in one step, so a layer's sizes are those of the batch.
// CHECK: #ingot.layer<"elementwise" by loops, flops = 128, bytes = 1024, nodes = "add_1">
// CHECK: func.func @forward
// CHECK: scf.for
// CHECK: linalg.generic
// CHECK: scf.if
// CHECK: arith.constant 128 : i64
func.func @forward(%x: memref<8x16xf32>, %y: memref<8x16xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %step = ingot.chunk %c8 per_thread 1 of %call : !llvm.ptr
  scf.for %i = %c0 to %c8 step %step {
    %rest = arith.subi %c8, %i : index
    %n = arith.minui %rest, %step : index
    %from = memref.subview %x[%i, 0] [%n, 16] [1, 1] : memref<8x16xf32> to memref<?x16xf32, strided<[16, 1], offset: ?>>
    %to = memref.subview %y[%i, 0] [%n, 16] [1, 1] : memref<8x16xf32> to memref<?x16xf32, strided<[16, 1], offset: ?>>
    linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}
        ins(%from : memref<?x16xf32, strided<[16, 1], offset: ?>>) outs(%to : memref<?x16xf32, strided<[16, 1], offset: ?>>) {
    ^bb0(%in: f32, %out: f32):
      %sum = arith.addf %in, %in : f32 loc("add_1")
      linalg.yield %sum : f32 loc("add_1")
    } loc("add_1")
  }
  return
}
