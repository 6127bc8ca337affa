// RUN: ingot-opt %s -split-input-file -verify-diagnostics --dnnl-to-calls | FileCheck %s

// The table holds the offsets of constant weights, here 128 and 64; other
// operands are passed. The record has 3 words, then a convolution of 2x2x3
// groups with O, I, K... strides.
// CHECK: module attributes {ingot.libraries = [#ingot.library<"onednn", own_threads = true>]}
// CHECK: llvm.func @ingot_load(%[[CALL:.*]]: !llvm.ptr) -> i32
// CHECK: llvm.call @ingot_dnnl_load(%[[CALL]], %{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
// CHECK: llvm.func @ingot_unload
// CHECK: llvm.call @ingot_dnnl_unload
// CHECK: llvm.mlir.global internal constant @ingot_dnnl_table(dense<[1, 1, 66,
// CHECK-SAME: 63, 0, 0, 8, 1, 1, 1, 1, 0, 0, 0, 0, 4,
// CHECK-SAME: 0, 1, -1, 4, 1, 4, 8, 8, 256, 1, 32, 4,
// CHECK-SAME: 1, 1, 128, 5, 2, 3, 2, 1, 1, 6, 2, 1, 1, 1,
// CHECK-SAME: 2, 1, 64, 1, 6, 1,
// CHECK-SAME: 3, 1, -1, 4, 1, 6, 8, 8, 384, 1, 48, 6,
// CHECK-SAME: 1, 0, 0, 1065353216, 0, 0]>
// CHECK: llvm.mlir.global internal constant @ingot_dnnl_names("conv_1\00")
// CHECK-LABEL: func.func @forward
// CHECK: memref.alloca() : memref<2xi64>
// CHECK: call @ingot_dnnl_execute(%arg3, %{{.*}}) : (!llvm.ptr, index, index, index) -> ()
func.func @forward(%x: memref<1x8x8x4xf32>, %y: memref<1x8x8x6xf32>, %weights: memref<?xi8> {ingot.operand = #ingot.operand<weights>}, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c128 = arith.constant 128 : index
  %c64 = arith.constant 64 : index
  %w = memref.view %weights[%c128][] : memref<?xi8> to memref<6x2x1x1xf32>
  %b = memref.view %weights[%c64][] : memref<?xi8> to memref<6xf32>
  dnnl.convolution ins(%x, %w : memref<1x8x8x4xf32>, memref<6x2x1x1xf32>) bias(%b : memref<6xf32>) outs(%y : memref<1x8x8x6xf32>)
    {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 2 : i64,
     post_ops = [#dnnl.eltwise<relu, alpha = 1.0 : f32>]} loc("conv_1")
  return
}

// -----

// A batch times one matrix is one 2-d product of all rows. The number of rows
// is dynamic (INT64_MIN) and passed to the call.
// CHECK-LABEL: llvm.mlir.global internal constant @ingot_dnnl_table
// CHECK-SAME: 0, 1, -1, 2, -9223372036854775808, 4, 4, 1, 1, 1, -1, 2, 4, 7, 1, 4, 3, 1, -1, 2, -9223372036854775808, 7, 7, 1
// CHECK-LABEL: func.func @rows
// CHECK: arith.muli
func.func @rows(%a: memref<?x5x4xf32>, %b: memref<7x4xf32>, %y: memref<?x5x7xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  dnnl.matmul ins(%a, %b : memref<?x5x4xf32>, memref<7x4xf32>) outs(%y : memref<?x5x7xf32>) {transpose_weights}
  return
}

// -----

// Must not fire: no op of oneDNN.
// CHECK-LABEL: module
// CHECK-NOT: ingot.libraries
// CHECK-NOT: llvm.mlir.global
func.func @nothing(%a: memref<4xf32>) {
  return
}

// -----

// expected-error @+1 {{expects an argument that is the call}}
func.func @no_call(%a: memref<2x3xf32>, %b: memref<3x4xf32>, %c: memref<2x4xf32>) {
  dnnl.matmul ins(%a, %b : memref<2x3xf32>, memref<3x4xf32>) outs(%c : memref<2x4xf32>)
  return
}

// -----

func.func @type(%a: memref<2x3xf64>, %b: memref<3x4xf64>, %c: memref<2x4xf64>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  // expected-error @+1 {{cannot be run by oneDNN on 'memref<2x3xf64>'}}
  dnnl.matmul ins(%a, %b : memref<2x3xf64>, memref<3x4xf64>) outs(%c : memref<2x4xf64>)
  return
}

// -----

func.func @tensors(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<2x4xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  // expected-error @+1 {{expects memrefs; bufferize first}}
  %0 = dnnl.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @dynamic_weights(%x: memref<1x8x4xf32>, %w: memref<6x4x?xf32>, %d: memref<1x8x6xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  // expected-error @+1 {{expects weights of static shape}}
  dnnl.convolution ins(%x, %w : memref<1x8x4xf32>, memref<6x4x?xf32>) outs(%d : memref<1x8x6xf32>)
      {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, groups = 1 : i64}
  return
}
