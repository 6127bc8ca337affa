// RUN: ingot-opt %s --pass-pipeline='builtin.module(nn-fold-constants,func.func(nn-to-cpu),cpu-drop-zero-blocks)' --split-input-file | FileCheck %s
// RUN: ingot-opt %s --pass-pipeline='builtin.module(nn-fold-constants,func.func(nn-to-cpu),cpu-drop-zero-blocks)' --split-input-file --remarks-filter=zeros 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: ingot-opt %s --pass-pipeline='builtin.module(ingot-attach-targets{levels=x86-64-v3 may=sapphirerapids},nn-fold-constants,func.func(nn-to-cpu),cpu-drop-zero-blocks)' --split-input-file --remarks-filter=zeros 2>&1 | FileCheck %s --check-prefix=AMX

// The first panel has eight k from 11 on, the second the last five: their block
// ends with the matrix. -0 is zero.
// CHECK: module attributes {ingot.statistics = #ingot.statistics<whole_bytes = 16384, block_bytes = 2068>}
// CHECK-LABEL: func.func @two_blocks(
// CHECK-DAG: %[[WEIGHTS:.*]] = arith.constant dense_resource<{{.*}}> : tensor<2x8x32xf32>
// CHECK-DAG: %[[BLOCKS:.*]] = arith.constant dense<[0, 1, 2, 11, 56]> : tensor<5xi32>
// CHECK: cpu.matmul ins(%{{.*}}, %[[WEIGHTS]] : tensor<?x64xf32>, tensor<2x8x32xf32>) blocks(%[[BLOCKS]] : tensor<5xi32>) outs(
// CHECK-SAME: format = #cpu.weights<blocks>
// REMARK: remark: [Passed] blocks | Category:zeros | Reason="2068 of 16384 bytes are stored of its weights, the rest are blocks of zeros"
// AMX: remark: [Passed] blocks
func.func @two_blocks(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %zeros = arith.constant dense<0.0> : tensor<11x64xf32>
  %ones = arith.constant dense<1.0> : tensor<8x32xf32>
  %minus = arith.constant dense<-0.0> : tensor<8x32xf32>
  %more = arith.constant dense<0.0> : tensor<40x64xf32>
  %left = arith.constant dense<0.0> : tensor<5x32xf32>
  %right = arith.constant dense<2.0> : tensor<5x32xf32>
  %first = nn.concat %ones, %minus {axis = 1 : i64} : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x64xf32>
  %last = nn.concat %left, %right {axis = 1 : i64} : (tensor<5x32xf32>, tensor<5x32xf32>) -> tensor<5x64xf32>
  %w = nn.concat %zeros, %first, %more, %last {axis = 0 : i64} : (tensor<11x64xf32>, tensor<8x64xf32>, tensor<40x64xf32>, tensor<5x64xf32>) -> tensor<64x64xf32>
  %0 = nn.matmul %x, %w : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// -----

// Two products of one constant share stored weights, which count once. Only
// every second part of 16 columns is used, so panels are 16 wide.
// CHECK: module attributes {ingot.statistics = #ingot.statistics<whole_bytes = 8192, block_bytes = 4132>}
// CHECK-LABEL: func.func @narrow(
// CHECK: arith.constant dense<1.000000e+00> : tensor<4x16x16xf32>
// CHECK: arith.constant dense<[0, 2, 2, 4, 4, 0, 16, 0, 16]> : tensor<9xi32>
// CHECK: cpu.matmul {{.*}} blocks(
// CHECK: cpu.matmul {{.*}} blocks(
// REMARK: remark: [Passed] blocks
// REMARK: remark: [Passed] blocks
// AMX: remark: [Passed] blocks
func.func @narrow(%x: tensor<4x32xf32>, %y: tensor<5x32xf32>, %d: tensor<4x64xf32>, %e: tensor<5x64xf32>) -> (tensor<4x64xf32>, tensor<5x64xf32>) {
  %ones = arith.constant dense<1.0> : tensor<1x32x16xf32>
  %zeros = arith.constant dense<0.0> : tensor<1x32x16xf32>
  %panel = nn.concat %ones, %zeros {axis = 2 : i64} : (tensor<1x32x16xf32>, tensor<1x32x16xf32>) -> tensor<1x32x32xf32>
  %w = nn.concat %panel, %panel {axis = 0 : i64} : (tensor<1x32x32xf32>, tensor<1x32x32xf32>) -> tensor<2x32x32xf32>
  %0 = cpu.matmul ins(%x, %w : tensor<4x32xf32>, tensor<2x32x32xf32>) outs(%d : tensor<4x64xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<4x64xf32>
  %1 = cpu.matmul ins(%y, %w : tensor<5x32xf32>, tensor<2x32x32xf32>) outs(%e : tensor<5x64xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x64xf32>
  return %0, %1 : tensor<4x64xf32>, tensor<5x64xf32>
}

// -----

// A panel of zeros only keeps one block, which no other panel has. Bytes lie in
// groups of four, reshaped or not.
// CHECK: module attributes {ingot.statistics = #ingot.statistics<whole_bytes = 4096, block_bytes = 280>}
// CHECK-LABEL: func.func @bytes(
// CHECK-DAG: arith.constant dense<0> : tensor<1x4x16x4xi8>
// CHECK-DAG: arith.constant dense<[0, 1, 1, 1, 1, 0]> : tensor<6xi32>
// CHECK: cpu.matmul {{.*}} blocks({{.*}} : tensor<6xi32>)
// REMARK: remark: [Passed] blocks
// AMX: remark: [Missed] blocks | Category:zeros | Reason="3816 of 4096 bytes of its weights are blocks of zeros that stay: AMX multiplies whole panels"
func.func @bytes(%x: tensor<4x64xi8>, %d: tensor<4x64xi32>) -> tensor<4x64xi32> {
  %w = arith.constant dense<0> : tensor<2x1x16x32x4xi8>
  %c = tensor.collapse_shape %w [[0, 1], [2], [3], [4]] : tensor<2x1x16x32x4xi8> into tensor<2x16x32x4xi8>
  %0 = cpu.matmul ins(%x, %c : tensor<4x64xi8>, tensor<2x16x32x4xi8>) outs(%d : tensor<4x64xi32>) {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<4x64xi32>
  return %0 : tensor<4x64xi32>
}

// -----

// Must not fire: weights without zeros or with few, small weights, a right
// operand per batch, products of signs, computed weights; and a convolution
// with taps.
// CHECK: module {
// CHECK-LABEL: func.func @stay(
// CHECK-NOT: blocks(
// REMARK-NOT: remark
// AMX-NOT: remark
func.func @stay(%x: tensor<4x64xf32>, %b: tensor<2x4x64xf32>, %s: tensor<4x65xi32>, %i: tensor<1x8x8x64xf32>, %v: tensor<1x64x32xf32>,
                %d: tensor<4x32xf32>, %e: tensor<2x4x32xf32>, %f: tensor<4x32xi32>, %g: tensor<1x6x6x32xf32>)
    -> (tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<2x4x32xf32>, tensor<4x32xi32>, tensor<1x6x6x32xf32>, tensor<4x32xf32>) {
  %ones = arith.constant dense<1.0> : tensor<1x64x32xf32>
  %most = arith.constant dense<1.0> : tensor<1x56x32xf32>
  %rest = arith.constant dense<0.0> : tensor<1x8x32xf32>
  %few = nn.concat %most, %rest {axis = 1 : i64} : (tensor<1x56x32xf32>, tensor<1x8x32xf32>) -> tensor<1x64x32xf32>
  %small = arith.constant dense<0.0> : tensor<1x16x32xf32>
  %part = tensor.extract_slice %x[0, 0] [4, 16] [1, 1] : tensor<4x64xf32> to tensor<4x16xf32>
  %batches = arith.constant dense<0.0> : tensor<2x1x64x32xf32>
  %signs = arith.constant dense<0> : tensor<1x32x32xi32>
  %taps = arith.constant dense<0.0> : tensor<1x3x3x64x32xf32>
  %0 = cpu.matmul ins(%x, %ones : tensor<4x64xf32>, tensor<1x64x32xf32>) outs(%d : tensor<4x32xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<4x32xf32>
  %1 = cpu.matmul ins(%x, %few : tensor<4x64xf32>, tensor<1x64x32xf32>) outs(%d : tensor<4x32xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<4x32xf32>
  %2 = cpu.matmul ins(%part, %small : tensor<4x16xf32>, tensor<1x16x32xf32>) outs(%d : tensor<4x32xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<4x32xf32>
  %3 = cpu.matmul ins(%b, %batches : tensor<2x4x64xf32>, tensor<2x1x64x32xf32>) outs(%e : tensor<2x4x32xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<2x4x32xf32>
  %4 = cpu.matmul ins(%s, %signs : tensor<4x65xi32>, tensor<1x32x32xi32>) outs(%f : tensor<4x32xi32>)
      attributes {format = #cpu.weights<signs<1024>>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<4x32xi32>
  %5 = cpu.conv ins(%i, %taps : tensor<1x8x8x64xf32>, tensor<1x3x3x64x32xf32>) outs(%g : tensor<1x6x6x32xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x6x6x32xf32>
  %6 = cpu.matmul ins(%x, %v : tensor<4x64xf32>, tensor<1x64x32xf32>) outs(%d : tensor<4x32xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<4x32xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<2x4x32xf32>, tensor<4x32xi32>, tensor<1x6x6x32xf32>, tensor<4x32xf32>
}
