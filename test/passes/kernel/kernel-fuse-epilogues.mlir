// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(kernel-fuse-epilogues))' --split-input-file | FileCheck %s

// A chain moves in op by op: residual, scalar, activation. An operand of lower
// rank gets 1s in front.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: (%{{.*}}, %{{.*}}, %[[R:.*]]: tensor<5x9xf32>, %[[B:.*]]: tensor<9xf32>, %{{.*}})
// CHECK: %[[E:.*]] = tensor.expand_shape %[[B]] {{.*}} into tensor<1x9xf32>
// CHECK: %[[Y:.*]] = cpu.matmul ins({{.*}}) operands(%[[R]], %[[E]] : tensor<5x9xf32>, tensor<1x9xf32>)
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32, %[[X:.*]]: f32, %[[BIAS:.*]]: f32):
// CHECK: %[[A:.*]] = arith.addf %[[X]], %[[SUM]]
// CHECK: %[[M:.*]] = arith.mulf %[[A]], %[[BIAS]]
// CHECK: arith.maximumf %[[M]], %{{.*}} : f32
// CHECK: cpu.yield
// CHECK-NOT: nn.
// CHECK: return %[[Y]]
func.func @chain(%a: tensor<5x7xf32>, %w: tensor<1x7x16xf32>, %r: tensor<5x9xf32>, %b: tensor<9xf32>, %d: tensor<5x9xf32>) -> tensor<5x9xf32> {
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  %1 = nn.add %r, %0 : tensor<5x9xf32>, tensor<5x9xf32> -> tensor<5x9xf32>
  %2 = nn.mul %1, %b : tensor<5x9xf32>, tensor<9xf32> -> tensor<5x9xf32>
  %3 = nn.relu %2 : tensor<5x9xf32> -> tensor<5x9xf32>
  return %3 : tensor<5x9xf32>
}

// -----

// A scalar constant is no operand.
// CHECK-LABEL: func.func @number
// CHECK: cpu.matmul ins({{.*}}) outs
// CHECK: arith.constant 2.500000e+00 : f32
// CHECK: arith.mulf
// CHECK-NOT: nn.
// CHECK: return
func.func @number(%a: tensor<5x7xf32>, %w: tensor<1x7x16xf32>, %d: tensor<5x9xf32>) -> tensor<5x9xf32> {
  %c = arith.constant dense<2.5> : tensor<5x9xf32>
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  %1 = nn.mul %0, %c : tensor<5x9xf32>, tensor<5x9xf32> -> tensor<5x9xf32>
  return %1 : tensor<5x9xf32>
}

// -----

// The sum of two kernels moves into the later kernel, which reads the first
// kernel's result as an operand.
// CHECK-LABEL: func.func @two
// CHECK: %[[P:.*]] = cpu.matmul ins(%arg0,
// CHECK: cpu.matmul ins(%arg1, {{.*}}) operands(%[[P]] :
// CHECK-NOT: nn.add
// CHECK: return
func.func @two(%a: tensor<5x7xf32>, %b: tensor<5x7xf32>, %w: tensor<1x7x16xf32>, %d: tensor<5x9xf32>) -> tensor<5x9xf32> {
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  %1 = cpu.matmul ins(%b, %w : tensor<5x7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  %2 = nn.add %1, %0 : tensor<5x9xf32>, tensor<5x9xf32> -> tensor<5x9xf32>
  return %2 : tensor<5x9xf32>
}

// -----

// An operand that is computed after the kernel: the kernel moves behind it.
// CHECK-LABEL: func.func @later
// CHECK: %[[L:.*]] = nn.exp
// CHECK: cpu.matmul ins({{.*}}) operands(%[[L]] :
func.func @later(%a: tensor<5x7xf32>, %w: tensor<1x7x16xf32>, %r: tensor<5x9xf32>, %d: tensor<5x9xf32>) -> tensor<5x9xf32> {
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  %1 = nn.exp %r : tensor<5x9xf32> -> tensor<5x9xf32>
  %2 = nn.add %0, %1 : tensor<5x9xf32>, tensor<5x9xf32> -> tensor<5x9xf32>
  return %2 : tensor<5x9xf32>
}

// -----

// Used twice by one op: y * y.
// CHECK-LABEL: func.func @square
// CHECK: arith.mulf %[[S:.*]], %[[S]] : f32
// CHECK-NOT: nn.mul
func.func @square(%a: tensor<5x7xf32>, %w: tensor<1x7x16xf32>, %d: tensor<5x9xf32>) -> tensor<5x9xf32> {
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  %1 = nn.mul %0, %0 : tensor<5x9xf32>, tensor<5x9xf32> -> tensor<5x9xf32>
  return %1 : tensor<5x9xf32>
}

// -----

// Must not fire: the sum has another user.
// CHECK-LABEL: func.func @other_user
// CHECK: cpu.matmul
// CHECK: nn.relu
func.func @other_user(%a: tensor<5x7xf32>, %w: tensor<1x7x16xf32>, %d: tensor<5x9xf32>) -> (tensor<5x9xf32>, tensor<5x9xf32>) {
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  %1 = nn.relu %0 : tensor<5x9xf32> -> tensor<5x9xf32>
  return %0, %1 : tensor<5x9xf32>, tensor<5x9xf32>
}

// -----

// Must not fire: the result broadcasts, or is of another type.
// CHECK-LABEL: func.func @other_shape
// CHECK: nn.add
// CHECK: nn.cast
func.func @other_shape(%a: tensor<1x7xf32>, %w: tensor<1x7x16xf32>, %r: tensor<5x9xf32>, %d: tensor<1x9xf32>) -> (tensor<5x9xf32>, tensor<1x9xf64>) {
  %0 = cpu.matmul ins(%a, %w : tensor<1x7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<1x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x9xf32>
  %1 = nn.add %0, %r : tensor<1x9xf32>, tensor<5x9xf32> -> tensor<5x9xf32>
  %2 = cpu.matmul ins(%a, %w : tensor<1x7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<1x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x9xf32>
  %3 = nn.cast %2 : tensor<1x9xf32> -> tensor<1x9xf64>
  return %1, %3 : tensor<5x9xf32>, tensor<1x9xf64>
}

// -----

// Must not fire: a size that may be 1 in a run, and so might broadcast. A
// dimension equals itself in every run.
// CHECK-LABEL: func.func @dynamic
// CHECK: cpu.matmul
// CHECK: nn.add
// CHECK: cpu.matmul
// CHECK-NOT: nn.
// CHECK: return
func.func @dynamic(%a: tensor<?x7xf32>, %w: tensor<1x7x16xf32>, %r: tensor<?x9xf32>, %n: index) -> (tensor<?x9xf32>, tensor<?x9xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x7xf32>
  %d = tensor.empty(%m) : tensor<?x9xf32>
  %0 = cpu.matmul ins(%a, %w : tensor<?x7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<?x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<?x9xf32>
  %1 = nn.add %0, %r : tensor<?x9xf32>, tensor<?x9xf32> -> tensor<?x9xf32>
  %2 = cpu.matmul ins(%a, %w : tensor<?x7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<?x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<?x9xf32>
  %3 = nn.relu %2 : tensor<?x9xf32> -> tensor<?x9xf32>
  return %1, %3 : tensor<?x9xf32>, tensor<?x9xf32>
}

// -----

// Sums of bytes are scaled and quantized in the epilogue. It stores bytes and reads a residual as it is in memory.
// CHECK-LABEL: func.func @requantize
// CHECK-SAME: (%{{.*}}, %{{.*}}, %[[R:.*]]: tensor<5x9xui8>)
// CHECK: %[[Y:.*]] = cpu.matmul ins({{.*}}) operands(%[[R]] : tensor<5x9xui8>) outs({{.*}} : tensor<5x9xui8>)
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: i32, %[[BYTE:.*]]: i8):
// CHECK-DAG: arith.sitofp %[[SUM]] : i32 to f32
// CHECK-DAG: arith.uitofp %[[BYTE]] : i8 to f32
// CHECK: arith.fptosi %{{.*}} : f32 to i32
// CHECK: %[[Q:.*]] = arith.trunci %{{.*}} : i32 to i8
// CHECK: cpu.yield %[[Q]] : i8
// CHECK: return %[[Y]]
func.func @requantize(%a: tensor<5x7xui8>, %w: tensor<1x2x16x4xi8>, %r: tensor<5x9xui8>) -> tensor<5x9xui8> {
  %d = tensor.empty() : tensor<5x9xi32>
  %c = arith.constant dense<2.5> : tensor<f32>
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xui8>, tensor<1x2x16x4xi8>) outs(%d : tensor<5x9xi32>) {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<5x9xi32>
  %1 = nn.cast %0 : tensor<5x9xi32> -> tensor<5x9xf32>
  %2 = nn.mul %1, %c : tensor<5x9xf32>, tensor<f32> -> tensor<5x9xf32>
  %3 = nn.cast %r : tensor<5x9xui8> -> tensor<5x9xf32>
  %4 = nn.mul %3, %c : tensor<5x9xf32>, tensor<f32> -> tensor<5x9xf32>
  %5 = nn.add %2, %4 : tensor<5x9xf32>, tensor<5x9xf32> -> tensor<5x9xf32>
  %6 = nn.clamp %5 {max = 255.0 : f64, min = 0.0 : f64} : tensor<5x9xf32> -> tensor<5x9xf32>
  %7 = nn.cast %6 {in_range} : tensor<5x9xf32> -> tensor<5x9xui8>
  return %7 : tensor<5x9xui8>
}

// -----

// Must not fire: a given destination cannot change its type.
// CHECK-LABEL: func.func @given
// CHECK: cpu.matmul
// CHECK: nn.cast
func.func @given(%a: tensor<5x7xui8>, %w: tensor<1x2x16x4xi8>, %d: tensor<5x9xi32>) -> tensor<5x9xf32> {
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xui8>, tensor<1x2x16x4xi8>) outs(%d : tensor<5x9xi32>) {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<5x9xi32>
  %1 = nn.cast %0 : tensor<5x9xi32> -> tensor<5x9xf32>
  return %1 : tensor<5x9xf32>
}

// -----

// Dynamic sizes that are equal because of how they are computed: half of one
// size, by windows of 3 x 3 and 1 x 1.
// CHECK-LABEL: func.func @same_open_sizes
// CHECK: %[[A:.*]] = cpu.conv
// CHECK: cpu.conv {{.*}} operands(%[[A]] : tensor<1x?x16xf32>)
// CHECK-NOT: nn.add
func.func @same_open_sizes(%x: tensor<1x?x4xf32>, %w3: tensor<1x3x4x16xf32>, %w1: tensor<1x1x4x16xf32>) -> tensor<1x?x16xf32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c1 : tensor<1x?x4xf32>
  %0 = affine.apply affine_map<()[s0] -> ((s0 + 2 - 3) floordiv 2 + 1)>()[%n]
  %d = tensor.empty(%0) : tensor<1x?x16xf32>
  %a = cpu.conv ins(%x, %w3 : tensor<1x?x4xf32>, tensor<1x3x4x16xf32>) outs(%d : tensor<1x?x16xf32>)
      attributes {strides = array<i64: 2>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x?x16xf32>
  %1 = arith.subi %n, %c1 : index
  %2 = arith.floordivsi %1, %c2 : index
  %3 = arith.addi %2, %c1 : index
  %e = tensor.empty(%3) : tensor<1x?x16xf32>
  %b = cpu.conv ins(%x, %w1 : tensor<1x?x4xf32>, tensor<1x1x4x16xf32>) outs(%e : tensor<1x?x16xf32>)
      attributes {strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x?x16xf32>
  %y = nn.add %a, %b : tensor<1x?x16xf32>, tensor<1x?x16xf32> -> tensor<1x?x16xf32>
  return %y : tensor<1x?x16xf32>
}

// -----

// Must not fire: a size that may be 1 when the other is not.
// CHECK-LABEL: func.func @other_open_sizes
// CHECK: cpu.conv
// CHECK: nn.add
func.func @other_open_sizes(%x: tensor<1x?x4xf32>, %w: tensor<1x1x4x16xf32>, %r: tensor<1x?x16xf32>) -> tensor<1x?x16xf32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<1x?x4xf32>
  %d = tensor.empty(%n) : tensor<1x?x16xf32>
  %a = cpu.conv ins(%x, %w : tensor<1x?x4xf32>, tensor<1x1x4x16xf32>) outs(%d : tensor<1x?x16xf32>)
      attributes {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x?x16xf32>
  %y = nn.add %a, %r : tensor<1x?x16xf32>, tensor<1x?x16xf32> -> tensor<1x?x16xf32>
  return %y : tensor<1x?x16xf32>
}

// -----

// A choice between two scalars moves in with its condition, which is not
// stored. A choice between tensors stays, and so does its condition.
// CHECK-LABEL: @choice
// CHECK: cpu.matmul
// CHECK: ^bb0(%[[SUM:.*]]: f32):
// CHECK: %[[IS:.*]] = arith.cmpf olt, %{{.*}}, %[[SUM]] : f32
// CHECK: %[[Y:.*]] = arith.select %[[IS]], %{{.*}}, %{{.*}} : f32
// CHECK: cpu.yield %[[Y]] : f32
// CHECK: cpu.matmul
// CHECK: ^bb0(%[[OTHER:.*]]: f32):
// CHECK-NEXT: cpu.yield %[[OTHER]] : f32
// CHECK: nn.greater
// CHECK: nn.select
func.func @choice(%x: tensor<4x8xf32>, %w: tensor<1x8x16xf32>, %a: tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  %zero = arith.constant dense<0.000000e+00> : tensor<f32>
  %one = arith.constant dense<1.000000e+00> : tensor<f32>
  %minus = arith.constant dense<-1.000000e+00> : tensor<f32>
  %d = tensor.empty() : tensor<4x16xf32>
  %0 = cpu.matmul ins(%x, %w : tensor<4x8xf32>, tensor<1x8x16xf32>) outs(%d : tensor<4x16xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<4x16xf32>
  %1 = nn.greater %0, %zero : tensor<4x16xf32>, tensor<f32> -> tensor<4x16xi1>
  %2 = nn.select %1, %one, %minus : tensor<4x16xi1>, tensor<f32>, tensor<f32> -> tensor<4x16xf32>
  %3 = cpu.matmul ins(%x, %w : tensor<4x8xf32>, tensor<1x8x16xf32>) outs(%d : tensor<4x16xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<4x16xf32>
  %4 = nn.greater %3, %zero : tensor<4x16xf32>, tensor<f32> -> tensor<4x16xi1>
  %5 = nn.select %4, %a, %minus : tensor<4x16xi1>, tensor<4x16xf32>, tensor<f32> -> tensor<4x16xf32>
  return %2, %5 : tensor<4x16xf32>, tensor<4x16xf32>
}

// -----

// The result may be read twice, directly and through another step: x f(x).
// CHECK-LABEL: func.func @twice
// CHECK: cpu.matmul
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32):
// CHECK: %[[D:.*]] = arith.mulf %[[SUM]], %{{.*}}
// CHECK: arith.addf
// CHECK: %[[R:.*]] = math.roundeven
// CHECK: %[[Y:.*]] = arith.mulf %[[D]], %[[R]]
// CHECK: cpu.yield %[[Y]]
// CHECK-NOT: nn.
// CHECK: return
func.func @twice(%a: tensor<5x7xf32>, %w: tensor<1x7x16xf32>, %d: tensor<5x9xf32>) -> tensor<5x9xf32> {
  %c = arith.constant dense<2.5> : tensor<f32>
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  %1 = nn.mul %0, %c : tensor<5x9xf32>, tensor<f32> -> tensor<5x9xf32>
  %2 = nn.add %1, %c : tensor<5x9xf32>, tensor<f32> -> tensor<5x9xf32>
  %3 = nn.round %2 : tensor<5x9xf32> -> tensor<5x9xf32>
  %4 = nn.mul %1, %3 : tensor<5x9xf32>, tensor<5x9xf32> -> tensor<5x9xf32>
  return %4 : tensor<5x9xf32>
}

// -----

// Must not fire if a step has another user, here the rounded value.
// CHECK-LABEL: func.func @part
// CHECK: %[[X:.*]] = cpu.matmul
// CHECK: nn.round %[[X]]
// CHECK: nn.mul %[[X]]
func.func @part(%a: tensor<5x7xf32>, %w: tensor<1x7x16xf32>, %d: tensor<5x9xf32>) -> (tensor<5x9xf32>, tensor<5x9xf32>) {
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  %1 = nn.round %0 : tensor<5x9xf32> -> tensor<5x9xf32>
  %2 = nn.mul %0, %1 : tensor<5x9xf32>, tensor<5x9xf32> -> tensor<5x9xf32>
  return %1, %2 : tensor<5x9xf32>, tensor<5x9xf32>
}

// -----

// Must not fire: floats made of bytes are transposed next, so that the
// transpose reads bytes. If rows stay rows, the cast moves in.
// CHECK-LABEL: func.func @turned
// CHECK: cpu.matmul
// CHECK: cpu.yield %{{.*}} : i8
// CHECK: nn.cast
// CHECK-NEXT: nn.mul
// CHECK-NEXT: nn.transpose
// CHECK: cpu.matmul
// CHECK: cpu.yield %{{.*}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: nn.transpose
func.func @turned(%a: tensor<5x7xf32>, %w: tensor<1x7x16xf32>) -> (tensor<9x5xf32>, tensor<5x9xf32>) {
  %d = tensor.empty() : tensor<5x9xf32>
  %c = arith.constant dense<2.5> : tensor<f32>
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  %1 = nn.clamp %0 {max = 255.0 : f64, min = 0.0 : f64} : tensor<5x9xf32> -> tensor<5x9xf32>
  %2 = nn.cast %1 {in_range} : tensor<5x9xf32> -> tensor<5x9xui8>
  %3 = nn.cast %2 : tensor<5x9xui8> -> tensor<5x9xf32>
  %4 = nn.mul %3, %c : tensor<5x9xf32>, tensor<f32> -> tensor<5x9xf32>
  %5 = nn.transpose %4 {perm = array<i64: 1, 0>} : tensor<5x9xf32> -> tensor<9x5xf32>
  %6 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  %7 = nn.clamp %6 {max = 255.0 : f64, min = 0.0 : f64} : tensor<5x9xf32> -> tensor<5x9xf32>
  %8 = nn.cast %7 {in_range} : tensor<5x9xf32> -> tensor<5x9xui8>
  %9 = nn.cast %8 : tensor<5x9xui8> -> tensor<5x9xf32>
  %10 = nn.mul %9, %c : tensor<5x9xf32>, tensor<f32> -> tensor<5x9xf32>
  %11 = nn.transpose %10 {perm = array<i64: 0, 1>} : tensor<5x9xf32> -> tensor<5x9xf32>
  return %5, %11 : tensor<9x5xf32>, tensor<5x9xf32>
}

// -----

// A product of rows and columns is computed in the epilogue, which reads both.
// CHECK-LABEL: func.func @spread
// CHECK-SAME: (%{{.*}}, %{{.*}}, %[[R:.*]]: tensor<5x1xf32>, %{{.*}})
// CHECK: %[[C:.*]] = arith.constant dense<{{.*}}> : tensor<9xf32>
// CHECK: %[[E:.*]] = tensor.expand_shape %[[C]] {{.*}} into tensor<1x9xf32>
// CHECK: cpu.matmul ins({{.*}}) operands(%[[R]], %[[E]] : tensor<5x1xf32>, tensor<1x9xf32>)
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32, %[[ROW:.*]]: f32, %[[COLUMN:.*]]: f32):
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[ROW]], %[[COLUMN]]
// CHECK-NEXT: arith.addf %[[SUM]], %[[P]]
// CHECK-NOT: nn.
func.func @spread(%a: tensor<5x7xf32>, %w: tensor<1x7x16xf32>, %r: tensor<5x1xf32>, %d: tensor<5x9xf32>) -> tensor<5x9xf32> {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]> : tensor<9xf32>
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  %1 = nn.mul %r, %c : tensor<5x1xf32>, tensor<9xf32> -> tensor<5x9xf32>
  %2 = nn.add %0, %1 : tensor<5x9xf32>, tensor<5x9xf32> -> tensor<5x9xf32>
  return %2 : tensor<5x9xf32>
}

// -----

// Must not fire for a product that another op reads, or that reads a tensor of the same size.
// CHECK-LABEL: func.func @not_spread
// CHECK: %[[P:.*]] = nn.mul
// CHECK: %[[Q:.*]] = nn.mul %[[P]], %{{.*}}
// CHECK: cpu.matmul ins({{.*}}) operands(%[[P]], %[[Q]] : tensor<5x9xf32>, tensor<5x9xf32>)
func.func @not_spread(%a: tensor<5x7xf32>, %w: tensor<1x7x16xf32>, %r: tensor<5x1xf32>, %d: tensor<5x9xf32>) -> tensor<5x9xf32> {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]> : tensor<9xf32>
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  %1 = nn.mul %r, %c : tensor<5x1xf32>, tensor<9xf32> -> tensor<5x9xf32>
  %2 = nn.mul %1, %c : tensor<5x9xf32>, tensor<9xf32> -> tensor<5x9xf32>
  %3 = nn.add %0, %1 : tensor<5x9xf32>, tensor<5x9xf32> -> tensor<5x9xf32>
  %4 = nn.add %3, %2 : tensor<5x9xf32>, tensor<5x9xf32> -> tensor<5x9xf32>
  return %4 : tensor<5x9xf32>
}

// -----

// Bytes of a row are converted once in front of the kernel, not for each column.
// CHECK-LABEL: func.func @byte_of_row
// CHECK: %[[F:.*]] = nn.cast
// CHECK: cpu.matmul ins({{.*}}) operands(%[[F]] : tensor<5x1xf32>)
func.func @byte_of_row(%a: tensor<5x7xf32>, %w: tensor<1x7x16xf32>, %r: tensor<5x1xui8>, %d: tensor<5x9xf32>) -> tensor<5x9xf32> {
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  %1 = nn.cast %r : tensor<5x1xui8> -> tensor<5x1xf32>
  %2 = nn.add %0, %1 : tensor<5x9xf32>, tensor<5x1xf32> -> tensor<5x9xf32>
  return %2 : tensor<5x9xf32>
}
