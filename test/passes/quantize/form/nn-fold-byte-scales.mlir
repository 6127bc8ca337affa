// RUN: ingot-opt --nn-fold-byte-scales --split-input-file %s | FileCheck %s

// Both scales become one factor. The saturation at 255 has no effect, because
// the largest byte becomes 186.
// CHECK-LABEL: @relu
// CHECK: %[[R:.*]] = arith.constant dense<7.294520e-01> : tensor<f32>
// CHECK: %[[Q:.*]] = nn.cast %arg0
// CHECK-NEXT: %[[M:.*]] = nn.mul %[[Q]], %[[R]]
// CHECK-NEXT: %[[Y:.*]] = nn.round %[[M]]
// CHECK-NEXT: return %[[Y]]
func.func @relu(%x: tensor<2xui8>) -> tensor<2xf32> {
  %s = arith.constant dense<0.0213> : tensor<f32>
  %t = arith.constant dense<0.0292> : tensor<f32>
  %0 = nn.cast %x : tensor<2xui8> -> tensor<2xf32>
  %1 = nn.mul %0, %s : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %2 = nn.div %1, %t : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %3 = nn.clamp %2 {max = 255.0 : f64, min = 0.0 : f64} : tensor<2xf32> -> tensor<2xf32>
  %4 = nn.round %3 : tensor<2xf32> -> tensor<2xf32>
  return %4 : tensor<2xf32>
}

// -----

// A relu and the saturation become one clamp. The lower bound of the
// saturation has no effect.
// CHECK-LABEL: @bounds
// CHECK: %[[M:.*]] = nn.mul
// CHECK-NEXT: %[[C:.*]] = nn.clamp %[[M]] {max = 1.000000e+02 : f64, min = 0.000000e+00 : f64}
// CHECK-NEXT: nn.round %[[C]]
func.func @bounds(%x: tensor<2xui8>) -> tensor<2xf32> {
  %z = arith.constant dense<100> : tensor<i32>
  %s = arith.constant dense<0.0213> : tensor<f32>
  %t = arith.constant dense<0.0292> : tensor<f32>
  %0 = nn.cast %x : tensor<2xui8> -> tensor<2xi32>
  %1 = nn.sub %0, %z : tensor<2xi32>, tensor<i32> -> tensor<2xi32>
  %2 = nn.cast %1 : tensor<2xi32> -> tensor<2xf32>
  %3 = nn.mul %2, %s : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %4 = nn.relu %3 : tensor<2xf32> -> tensor<2xf32>
  %5 = nn.div %4, %t : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %6 = nn.clamp %5 {max = 100.0 : f64, min = -128.0 : f64} : tensor<2xf32> -> tensor<2xf32>
  %7 = nn.round %6 : tensor<2xf32> -> tensor<2xf32>
  return %7 : tensor<2xf32>
}

// -----

// Hard swish and hard sigmoid take scales into their constants.
// CHECK-LABEL: @functions
// CHECK-DAG: %[[Q:.*]] = nn.cast %arg0
// CHECK: %[[A:.*]] = nn.mul %[[Q]], %{{.*}}
// CHECK-NEXT: %[[B:.*]] = nn.add %[[A]], %{{.*}}
// CHECK-NEXT: %[[C:.*]] = nn.clamp %[[B]]
// CHECK-NEXT: %[[D:.*]] = nn.mul %[[Q]], %[[C]]
// CHECK-NEXT: nn.round %[[D]]
// CHECK: %[[E:.*]] = nn.mul %[[Q]], %{{.*}}
// CHECK-NEXT: %[[F:.*]] = nn.add %[[E]], %{{.*}}
// CHECK-NEXT: %[[G:.*]] = nn.clamp %[[F]]
// CHECK-NEXT: nn.round %[[G]]
func.func @functions(%x: tensor<2xi8>) -> (tensor<2xf32>, tensor<2xf32>) {
  %s = arith.constant dense<0.0413> : tensor<f32>
  %t = arith.constant dense<0.0419> : tensor<f32>
  %u = arith.constant dense<0.00392> : tensor<f32>
  %0 = nn.cast %x : tensor<2xi8> -> tensor<2xf32>
  %1 = nn.mul %0, %s : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %2 = nn.hard_swish %1 : tensor<2xf32> -> tensor<2xf32>
  %3 = nn.div %2, %t : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %4 = nn.round %3 : tensor<2xf32> -> tensor<2xf32>
  %5 = nn.hard_sigmoid %1 {alpha = 0.2 : f32, beta = 0.5 : f32} : tensor<2xf32> -> tensor<2xf32>
  %6 = nn.div %5, %u : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %7 = nn.round %6 : tensor<2xf32> -> tensor<2xf32>
  return %4, %7 : tensor<2xf32>, tensor<2xf32>
}

// -----

// Sums and products of two tensors of bytes. The smaller factor of a product
// takes the scales.
// CHECK-LABEL: @two
// CHECK-DAG: %[[X:.*]] = nn.cast %arg0
// CHECK-DAG: %[[Y:.*]] = nn.cast %arg1
// CHECK-DAG: %[[A:.*]] = nn.mul %[[X]], %{{.*}}
// CHECK-DAG: %[[B:.*]] = nn.mul %[[Y]], %{{.*}}
// CHECK: %[[S:.*]] = nn.add %[[A]], %[[B]]
// CHECK-NEXT: %[[C:.*]] = nn.clamp %[[S]]
// CHECK-NEXT: nn.round %[[C]]
// CHECK: %[[G:.*]] = nn.cast %arg2
// CHECK: %[[H:.*]] = nn.mul %[[G]], %{{.*}}
// CHECK-NEXT: %[[P:.*]] = nn.mul %[[X]], %[[H]]
// CHECK-NEXT: nn.round %[[P]]
func.func @two(%x: tensor<4x3xui8>, %y: tensor<4x3xui8>, %g: tensor<4x1xui8>) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
  %s = arith.constant dense<0.0213> : tensor<f32>
  %t = arith.constant dense<0.0151> : tensor<f32>
  %u = arith.constant dense<0.0249> : tensor<f32>
  %v = arith.constant dense<0.00392> : tensor<f32>
  %0 = nn.cast %x : tensor<4x3xui8> -> tensor<4x3xf32>
  %1 = nn.mul %0, %s : tensor<4x3xf32>, tensor<f32> -> tensor<4x3xf32>
  %2 = nn.cast %y : tensor<4x3xui8> -> tensor<4x3xf32>
  %3 = nn.mul %2, %t : tensor<4x3xf32>, tensor<f32> -> tensor<4x3xf32>
  %4 = nn.add %1, %3 : tensor<4x3xf32>, tensor<4x3xf32> -> tensor<4x3xf32>
  %5 = nn.div %4, %u : tensor<4x3xf32>, tensor<f32> -> tensor<4x3xf32>
  %6 = nn.clamp %5 {max = 255.0 : f64, min = 0.0 : f64} : tensor<4x3xf32> -> tensor<4x3xf32>
  %7 = nn.round %6 : tensor<4x3xf32> -> tensor<4x3xf32>
  %8 = nn.cast %g : tensor<4x1xui8> -> tensor<4x1xf32>
  %9 = nn.mul %8, %v : tensor<4x1xf32>, tensor<f32> -> tensor<4x1xf32>
  %10 = nn.mul %1, %9 : tensor<4x3xf32>, tensor<4x1xf32> -> tensor<4x3xf32>
  %w = arith.constant dense<0.0197> : tensor<f32>
  %11 = nn.div %10, %w : tensor<4x3xf32>, tensor<f32> -> tensor<4x3xf32>
  %12 = nn.round %11 : tensor<4x3xf32> -> tensor<4x3xf32>
  return %7, %12 : tensor<4x3xf32>, tensor<4x3xf32>
}

// -----

// A batch normalization has constants for each channel.
// CHECK-LABEL: @channels
// CHECK-DAG: %[[G:.*]] = arith.constant dense<{{.*}}> : tensor<2x1x1xf32>
// CHECK-DAG: %[[B:.*]] = arith.constant dense<{{.*}}> : tensor<2x1x1xf32>
// CHECK: %[[M:.*]] = nn.mul %{{.*}}, %{{.*}} : tensor<1x2x4x4xf32>, tensor<2x1x1xf32>
// CHECK-NEXT: %[[A:.*]] = nn.add %[[M]], %{{.*}} : tensor<1x2x4x4xf32>, tensor<2x1x1xf32>
// CHECK-NEXT: nn.round %[[A]]
func.func @channels(%x: tensor<1x2x4x4xui8>) -> tensor<1x2x4x4xf32> {
  %s = arith.constant dense<0.0213> : tensor<f32>
  %g = arith.constant dense<[[[0.91]], [[-1.13]]]> : tensor<2x1x1xf32>
  %b = arith.constant dense<[[[0.21]], [[0.33]]]> : tensor<2x1x1xf32>
  %t = arith.constant dense<0.0409> : tensor<f32>
  %0 = nn.cast %x : tensor<1x2x4x4xui8> -> tensor<1x2x4x4xf32>
  %1 = nn.mul %0, %s : tensor<1x2x4x4xf32>, tensor<f32> -> tensor<1x2x4x4xf32>
  %2 = nn.mul %1, %g : tensor<1x2x4x4xf32>, tensor<2x1x1xf32> -> tensor<1x2x4x4xf32>
  %3 = nn.add %2, %b : tensor<1x2x4x4xf32>, tensor<2x1x1xf32> -> tensor<1x2x4x4xf32>
  %4 = nn.div %3, %t : tensor<1x2x4x4xf32>, tensor<f32> -> tensor<1x2x4x4xf32>
  %5 = nn.round %4 : tensor<1x2x4x4xf32> -> tensor<1x2x4x4xf32>
  return %5 : tensor<1x2x4x4xf32>
}

// -----

// Must not fire: integers of a wide range, three tensors, other functions,
// floats with other users, computed scales, and constants for each element.
// CHECK-LABEL: @no
// CHECK-COUNT-6: nn.div
// CHECK-NOT: nn.div
func.func @no(%x: tensor<4x3xui8>, %y: tensor<4x3xui8>, %z: tensor<4x3xui8>, %w: tensor<4x3xi32>, %t: tensor<f32>) -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>) {
  %s = arith.constant dense<0.0213> : tensor<f32>
  %all = arith.constant dense<[[1.1, 1.2, 1.3], [1.4, 1.5, 1.6], [1.7, 1.8, 1.9], [2.1, 2.2, 2.3]]> : tensor<4x3xf32>
  %0 = nn.cast %w : tensor<4x3xi32> -> tensor<4x3xf32>
  %1 = nn.div %0, %s : tensor<4x3xf32>, tensor<f32> -> tensor<4x3xf32>
  %2 = nn.round %1 : tensor<4x3xf32> -> tensor<4x3xf32>
  %3 = nn.cast %x : tensor<4x3xui8> -> tensor<4x3xf32>
  %4 = nn.cast %y : tensor<4x3xui8> -> tensor<4x3xf32>
  %5 = nn.cast %z : tensor<4x3xui8> -> tensor<4x3xf32>
  %6 = nn.add %3, %4 : tensor<4x3xf32>, tensor<4x3xf32> -> tensor<4x3xf32>
  %7 = nn.add %6, %5 : tensor<4x3xf32>, tensor<4x3xf32> -> tensor<4x3xf32>
  %8 = nn.div %7, %s : tensor<4x3xf32>, tensor<f32> -> tensor<4x3xf32>
  %9 = nn.round %8 : tensor<4x3xf32> -> tensor<4x3xf32>
  %10 = nn.exp %3 : tensor<4x3xf32> -> tensor<4x3xf32>
  %11 = nn.div %10, %s : tensor<4x3xf32>, tensor<f32> -> tensor<4x3xf32>
  %12 = nn.round %11 : tensor<4x3xf32> -> tensor<4x3xf32>
  %13 = nn.hard_swish %3 : tensor<4x3xf32> -> tensor<4x3xf32>
  %14 = nn.div %13, %s : tensor<4x3xf32>, tensor<f32> -> tensor<4x3xf32>
  %15 = nn.round %14 : tensor<4x3xf32> -> tensor<4x3xf32>
  %16 = nn.div %3, %t : tensor<4x3xf32>, tensor<f32> -> tensor<4x3xf32>
  %17 = nn.round %16 : tensor<4x3xf32> -> tensor<4x3xf32>
  %18 = nn.mul %3, %all : tensor<4x3xf32>, tensor<4x3xf32> -> tensor<4x3xf32>
  %19 = nn.div %18, %s : tensor<4x3xf32>, tensor<f32> -> tensor<4x3xf32>
  %20 = nn.round %19 : tensor<4x3xf32> -> tensor<4x3xf32>
  return %2, %9, %12, %13, %15, %17, %20 : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>
}

// -----

// Must not fire: the quotients of 16 bits lie so close to the middle of two
// integers that no constants give the same integers.
// CHECK-LABEL: @near
// CHECK: nn.div
func.func @near(%x: tensor<2xi16>) -> tensor<2xf32> {
  %s = arith.constant dense<0.0213> : tensor<f32>
  %g = arith.constant dense<1.37> : tensor<f32>
  %b = arith.constant dense<0.777> : tensor<f32>
  %t = arith.constant dense<0.0292> : tensor<f32>
  %0 = nn.cast %x : tensor<2xi16> -> tensor<2xf32>
  %1 = nn.mul %0, %s : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %2 = nn.mul %1, %g : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %3 = nn.add %2, %b : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %4 = nn.div %3, %t : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %5 = nn.round %4 : tensor<2xf32> -> tensor<2xf32>
  return %5 : tensor<2xf32>
}

// -----

// A hard swish of words may be one step off for few of its inputs.
// CHECK-LABEL: @words
// CHECK: %[[R:.*]] = nn.round %
// CHECK: %[[M:.*]] = nn.mul %[[R]]
// CHECK: %[[A:.*]] = nn.add %[[M]]
// CHECK: %[[C:.*]] = nn.clamp %[[A]]
// CHECK: %[[Y:.*]] = nn.mul %[[R]], %[[C]]
// CHECK: nn.round %[[Y]]
func.func @words(%x: tensor<2xf32>) -> tensor<2xf32> {
  %s = arith.constant dense<2.86138558E-4> : tensor<f32>
  %t = arith.constant dense<1.62752694E-4> : tensor<f32>
  %c = nn.clamp %x {max = 3.596500e+04 : f64, min = -1.048400e+04 : f64} : tensor<2xf32> -> tensor<2xf32>
  %0 = nn.round %c : tensor<2xf32> -> tensor<2xf32>
  %1 = nn.mul %0, %s : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %2 = nn.hard_swish %1 : tensor<2xf32> -> tensor<2xf32>
  %3 = nn.div %2, %t : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %4 = nn.round %3 : tensor<2xf32> -> tensor<2xf32>
  return %4 : tensor<2xf32>
}

// -----

// Must not fire: the results have more than 16 bits, and many of them would be
// one step off.
// CHECK-LABEL: @wide
// CHECK: nn.div
func.func @wide(%x: tensor<2xf32>) -> tensor<2xf32> {
  %s = arith.constant dense<3.0E-4> : tensor<f32>
  %t = arith.constant dense<1.0E-6> : tensor<f32>
  %c = nn.clamp %x {max = 3.596500e+04 : f64, min = -1.048400e+04 : f64} : tensor<2xf32> -> tensor<2xf32>
  %0 = nn.round %c : tensor<2xf32> -> tensor<2xf32>
  %1 = nn.mul %0, %s : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %2 = nn.hard_swish %1 : tensor<2xf32> -> tensor<2xf32>
  %3 = nn.div %2, %t : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %4 = nn.round %3 : tensor<2xf32> -> tensor<2xf32>
  return %4 : tensor<2xf32>
}
