// RUN: ingot-opt --nn-fold-requantize --split-input-file %s | FileCheck %s

// A product, its bias, relu and a residual absorb the division.
// CHECK-LABEL: @chain
func.func @chain(%x: tensor<2x2xf32>, %r: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %z = nn.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %k = arith.constant dense<[2.0, 4.0]> : tensor<2xf32>
  %b = arith.constant dense<1.0> : tensor<f32>
  %t = arith.constant dense<3.0> : tensor<f32>
  %s = arith.constant dense<0.5> : tensor<f32>
  // CHECK-DAG: %[[K:.*]] = arith.constant dense<[4.000000e+00, 8.000000e+00]>
  // CHECK-DAG: %[[B:.*]] = arith.constant dense<2.000000e+00> : tensor<f32>
  // CHECK-DAG: %[[T:.*]] = arith.constant dense<6.000000e+00> : tensor<f32>
  // CHECK-DAG: %[[M:.*]] = nn.mul %{{.*}}, %[[K]]
  // CHECK-DAG: %[[A:.*]] = nn.add %[[M]], %[[B]]
  // CHECK-DAG: %[[C:.*]] = nn.clamp %[[A]] {max = 1.200000e+01 : f64, min = 0.000000e+00 : f64}
  // CHECK-DAG: %[[R:.*]] = nn.mul %arg1, %[[T]]
  // CHECK: %[[S:.*]] = nn.add %[[C]], %[[R]]
  // CHECK-NOT: nn.div %[[S]]
  // CHECK: nn.round %[[S]]
  %0 = nn.mul %z, %k : tensor<2x2xf32>, tensor<2xf32> -> tensor<2x2xf32>
  %1 = nn.add %0, %b : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
  %2 = nn.clamp %1 {max = 6.0 : f64, min = 0.0 : f64} : tensor<2x2xf32> -> tensor<2x2xf32>
  %3 = nn.mul %r, %t : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
  %4 = nn.add %2, %3 : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x2xf32>
  %5 = nn.div %4, %s : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
  %6 = nn.round %5 : tensor<2x2xf32> -> tensor<2x2xf32>
  return %6 : tensor<2x2xf32>
}

// -----

// Must not fire: data without constants, values with other users, and a
// computed scale.
// CHECK-LABEL: @no
// CHECK-COUNT-3: nn.div
func.func @no(%x: tensor<2xf32>, %s: tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %k = arith.constant dense<[2.0, 4.0]> : tensor<2xf32>
  %t = arith.constant dense<0.5> : tensor<f32>
  %0 = nn.div %x, %t : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %1 = nn.round %0 : tensor<2xf32> -> tensor<2xf32>
  %2 = nn.mul %x, %k : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  %3 = nn.div %2, %t : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %4 = nn.round %3 : tensor<2xf32> -> tensor<2xf32>
  %5 = nn.mul %x, %k : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  %6 = nn.div %5, %s : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %7 = nn.round %6 : tensor<2xf32> -> tensor<2xf32>
  return %1, %2, %4, %7 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// -----

// Must not fire: bounds of the rounded value are not those of the value before
// the division.
// CHECK-LABEL: @saturated
// CHECK: %[[K:.*]] = arith.constant dense<4.000000e+00> : tensor<f32>
// CHECK: %[[M:.*]] = nn.mul %{{.*}}, %[[K]]
// CHECK: %[[C:.*]] = nn.clamp %[[M]] {max = 2.550000e+02 : f64, min = 0.000000e+00 : f64}
// CHECK: nn.round %[[C]]
func.func @saturated(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %z = nn.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %k = arith.constant dense<2.0> : tensor<f32>
  %s = arith.constant dense<0.5> : tensor<f32>
  %0 = nn.mul %z, %k : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
  %1 = nn.div %0, %s : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
  %2 = nn.clamp %1 {max = 255.0 : f64, min = 0.0 : f64} : tensor<2x2xf32> -> tensor<2x2xf32>
  %3 = nn.round %2 : tensor<2x2xf32> -> tensor<2x2xf32>
  return %3 : tensor<2x2xf32>
}

// -----

// A clamp before the division is merged with the saturation. If its bounds lie
// outside, the tighter bound stays.
// CHECK-LABEL: @clamped
// CHECK: nn.clamp %{{.*}} {max = 1.200000e+01 : f64, min = 0.000000e+00 : f64}
// CHECK-NEXT: nn.round
// CHECK: nn.clamp %{{.*}} {max = 2.550000e+02 : f64, min = 2.000000e+00 : f64}
// CHECK-NEXT: nn.round
func.func @clamped(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %z = nn.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %k = arith.constant dense<2.0> : tensor<f32>
  %s = arith.constant dense<0.5> : tensor<f32>
  %0 = nn.mul %z, %k : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
  %1 = nn.clamp %0 {max = 6.0 : f64, min = -1.0 : f64} : tensor<2x2xf32> -> tensor<2x2xf32>
  %2 = nn.div %1, %s : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
  %3 = nn.clamp %2 {max = 255.0 : f64, min = 0.0 : f64} : tensor<2x2xf32> -> tensor<2x2xf32>
  %4 = nn.round %3 : tensor<2x2xf32> -> tensor<2x2xf32>
  %5 = nn.mul %z, %k : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
  %6 = nn.clamp %5 {max = 600.0 : f64, min = 1.0 : f64} : tensor<2x2xf32> -> tensor<2x2xf32>
  %7 = nn.div %6, %s : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
  %8 = nn.clamp %7 {max = 255.0 : f64, min = 0.0 : f64} : tensor<2x2xf32> -> tensor<2x2xf32>
  %9 = nn.round %8 : tensor<2x2xf32> -> tensor<2x2xf32>
  return %4, %9 : tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// Must not fire: a constant that f32 would not hold.
// CHECK-LABEL: @beyond
// CHECK: nn.mul
// CHECK: nn.div
// CHECK: nn.mul
// CHECK: nn.div
func.func @beyond(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %z = nn.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %large = arith.constant dense<3.0e38> : tensor<f32>
  %small = arith.constant dense<1.0e-30> : tensor<f32>
  %s = arith.constant dense<0.25> : tensor<f32>
  %t = arith.constant dense<1.0e10> : tensor<f32>
  %0 = nn.mul %z, %large : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
  %1 = nn.div %0, %s : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
  %2 = nn.round %1 : tensor<2x2xf32> -> tensor<2x2xf32>
  %3 = nn.mul %z, %small : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
  %4 = nn.div %3, %t : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
  %5 = nn.round %4 : tensor<2x2xf32> -> tensor<2x2xf32>
  return %2, %5 : tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// A function without exact values is multiplied instead, and so is a product
// with a norm. A swish is divided, since it is x itself for a large x.
// CHECK-LABEL: @functions
// CHECK: %[[S:.*]] = nn.sigmoid %arg0
// CHECK: %[[P:.*]] = nn.mul %arg0, %[[S]]
// CHECK: %[[Q:.*]] = nn.div %[[P]], %{{.*}}
// CHECK: nn.round %[[Q]]
// CHECK: %[[H:.*]] = nn.hard_swish %arg0
// CHECK: %[[M:.*]] = nn.div %[[H]], %{{.*}}
// CHECK: %[[C:.*]] = nn.clamp %[[M]]
// CHECK: nn.round %[[C]]
// CHECK: %[[S2:.*]] = nn.softmax
// CHECK: %[[Q2:.*]] = nn.mul %[[S2]], %{{.*}}
// CHECK: nn.round %[[Q2]]
// CHECK: %[[N:.*]] = nn.layer_norm
// CHECK: %[[Q3:.*]] = nn.mul %[[N]], %{{.*}}
// CHECK: nn.round %[[Q3]]
func.func @functions(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %s = arith.constant dense<0.25> : tensor<f32>
  %0 = nn.sigmoid %x : tensor<2xf32> -> tensor<2xf32>
  %1 = nn.mul %x, %0 : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  %2 = nn.div %1, %s : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %3 = nn.round %2 : tensor<2xf32> -> tensor<2xf32>
  %4 = nn.hard_swish %x : tensor<2xf32> -> tensor<2xf32>
  %5 = nn.div %4, %s : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %6 = nn.clamp %5 {max = 255.0 : f64, min = 0.0 : f64} : tensor<2xf32> -> tensor<2xf32>
  %7 = nn.round %6 : tensor<2xf32> -> tensor<2xf32>
  %8 = nn.softmax %x {axis = 0 : i64} : tensor<2xf32> -> tensor<2xf32>
  %9 = nn.div %8, %s : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %10 = nn.round %9 : tensor<2xf32> -> tensor<2xf32>
  %11 = nn.layer_norm %x {axis = 0 : i64, epsilon = 1.0e-5 : f32} : (tensor<2xf32>) -> tensor<2xf32>
  %12 = nn.div %11, %s : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %13 = nn.round %12 : tensor<2xf32> -> tensor<2xf32>
  return %3, %7, %10, %13 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// -----

// A product of floats has constants: its weights and its bias. The weights may
// have scales of their own. A product of computed weights has no constants.
// CHECK-LABEL: @products
// CHECK-DAG: %[[S:.*]] = arith.constant dense<[4.000000e+00, 8.000000e+00]> : tensor<2xf32>
// CHECK-DAG: %[[B:.*]] = arith.constant dense<[2.000000e+00, 6.000000e+00]> : tensor<2xf32>
// CHECK-DAG: %[[W:.*]] = nn.mul %arg1, %[[S]]
// CHECK: %[[Y:.*]] = nn.matmul %arg0, %[[W]] bias(%[[B]])
// CHECK: nn.round %[[Y]]
// CHECK: nn.matmul %arg0, %arg2
// CHECK: nn.div
func.func @products(%x: tensor<3x2xf32>, %w: tensor<2x2xf32>, %v: tensor<2x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %k = arith.constant dense<[2.0, 4.0]> : tensor<2xf32>
  %b = arith.constant dense<[1.0, 3.0]> : tensor<2xf32>
  %s = arith.constant dense<0.5> : tensor<f32>
  %0 = nn.mul %w, %k : tensor<2x2xf32>, tensor<2xf32> -> tensor<2x2xf32>
  %1 = nn.matmul %x, %0 bias(%b) : (tensor<3x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %2 = nn.div %1, %s : tensor<3x2xf32>, tensor<f32> -> tensor<3x2xf32>
  %3 = nn.round %2 : tensor<3x2xf32> -> tensor<3x2xf32>
  %4 = nn.matmul %x, %v : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %5 = nn.div %4, %s : tensor<3x2xf32>, tensor<f32> -> tensor<3x2xf32>
  %6 = nn.round %5 : tensor<3x2xf32> -> tensor<3x2xf32>
  return %3, %6 : tensor<3x2xf32>, tensor<3x2xf32>
}

// -----

// A product of computed tensors absorbs the division if one operand does, here the one with fewer elements.
// CHECK-LABEL: @factor
// CHECK-DAG: %[[K:.*]] = arith.constant dense<8.000000e+00> : tensor<f32>
// CHECK-DAG: %[[H:.*]] = nn.mul %arg1, %[[K]]
// CHECK-DAG: %[[X:.*]] = nn.mul %{{.*}}, %{{.*}}
// CHECK: %[[P:.*]] = nn.mul %[[X]], %[[H]]
// CHECK: nn.round %[[P]]
func.func @factor(%x: tensor<3x2xf32>, %h: tensor<2xf32>, %w: tensor<2x2xf32>) -> tensor<3x2xf32> {
  %z = nn.matmul %x, %w : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %k = arith.constant dense<2.0> : tensor<f32>
  %s = arith.constant dense<0.25> : tensor<f32>
  %0 = nn.mul %z, %k : tensor<3x2xf32>, tensor<f32> -> tensor<3x2xf32>
  %1 = nn.mul %h, %k : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %2 = nn.mul %0, %1 : tensor<3x2xf32>, tensor<2xf32> -> tensor<3x2xf32>
  %3 = nn.div %2, %s : tensor<3x2xf32>, tensor<f32> -> tensor<3x2xf32>
  %4 = nn.round %3 : tensor<3x2xf32> -> tensor<3x2xf32>
  return %4 : tensor<3x2xf32>
}

// -----

// A hard sigmoid has constants, too. A stored one is divided.
// CHECK-LABEL: @hard_sigmoid
// CHECK: %[[M:.*]] = nn.mul %arg0, %{{.*}}
// CHECK: %[[L:.*]] = nn.add %[[M]], %{{.*}}
// CHECK: nn.clamp %[[L]]
// CHECK: %[[C:.*]] = nn.clamp %[[L]] {max = 4.000000e+00 : f64, min = 0.000000e+00 : f64}
// CHECK: nn.round %[[C]]
// CHECK: %[[H:.*]] = nn.hard_sigmoid
// CHECK: nn.div %[[H]]
func.func @hard_sigmoid(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %s = arith.constant dense<0.25> : tensor<f32>
  %0 = nn.hard_sigmoid %x {alpha = 0.2 : f32, beta = 0.5 : f32} : tensor<2xf32> -> tensor<2xf32>
  %1 = nn.div %0, %s : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %2 = nn.clamp %1 {max = 255.0 : f64, min = 0.0 : f64} : tensor<2xf32> -> tensor<2xf32>
  %3 = nn.round %2 : tensor<2xf32> -> tensor<2xf32>
  %4 = nn.mul %3, %s : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %5 = nn.hard_sigmoid %x {alpha = 0.2 : f32, beta = 0.5 : f32} : tensor<2xf32> -> tensor<2xf32>
  %6 = nn.div %5, %s : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %7 = nn.round %6 : tensor<2xf32> -> tensor<2xf32>
  %8 = nn.cast %7 {in_range} : tensor<2xf32> -> tensor<2xi32>
  return %4, %8 : tensor<2xf32>, tensor<2xi32>
}

// -----

// A hard swish of sums takes the scale into its gate, also if it is a factor. A
// gelu of sums, and sums with other users, are multiplied by the inverse.
// CHECK-LABEL: @of_sums
// CHECK: %[[Z:.*]] = nn.matmul
// CHECK: %[[SLOPE:.*]] = arith.constant dense<0.333333343> : tensor<f32>
// CHECK: %[[M:.*]] = nn.mul %[[Z]], %[[SLOPE]]
// CHECK: %[[MIDDLE:.*]] = arith.constant dense<1.000000e+00> : tensor<f32>
// CHECK: %[[L:.*]] = nn.add %[[M]], %[[MIDDLE]]
// CHECK: %[[G:.*]] = nn.clamp %[[L]] {max = 2.000000e+00 : f64, min = 0.000000e+00 : f64}
// CHECK: %[[S:.*]] = nn.mul %[[Z]], %[[G]]
// CHECK: nn.round %[[S]]
// CHECK: %[[GELU:.*]] = nn.gelu
// CHECK: %[[TWO:.*]] = arith.constant dense<2.000000e+00> : tensor<f32>
// CHECK: %[[P:.*]] = nn.mul %[[GELU]], %[[TWO]]
// CHECK: nn.round %[[P]]
// CHECK: %[[Q:.*]] = nn.mul %[[Z]], %{{.*}}
// CHECK: nn.round %[[Q]]
func.func @of_sums(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %z = nn.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %s = arith.constant dense<0.5> : tensor<f32>
  %0 = nn.hard_swish %z : tensor<2x2xf32> -> tensor<2x2xf32>
  %1 = nn.div %0, %s : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
  %2 = nn.round %1 : tensor<2x2xf32> -> tensor<2x2xf32>
  %3 = nn.gelu %z : tensor<2x2xf32> -> tensor<2x2xf32>
  %4 = nn.div %3, %s : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
  %5 = nn.round %4 : tensor<2x2xf32> -> tensor<2x2xf32>
  %6 = nn.div %z, %s : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
  %7 = nn.round %6 : tensor<2x2xf32> -> tensor<2x2xf32>
  return %2, %5, %7 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// Bytes times a scale lie between two steps of another scale on purpose, so
// their quotient is rounded exactly.
// CHECK-LABEL: @bytes
// CHECK: %[[A:.*]] = nn.mul %{{.*}}, %{{.*}}
// CHECK: %[[R:.*]] = nn.relu %[[A]]
// CHECK: %[[D:.*]] = nn.div %[[R]], %{{.*}}
// CHECK: nn.round %[[D]]
// CHECK: %[[S:.*]] = nn.add
// CHECK: nn.div %[[S]], %{{.*}}
func.func @bytes(%x: tensor<2xui8>) -> (tensor<2xf32>, tensor<2xf32>) {
  %s = arith.constant dense<0.02> : tensor<f32>
  %t = arith.constant dense<0.04> : tensor<f32>
  %0 = nn.cast %x : tensor<2xui8> -> tensor<2xf32>
  %1 = nn.mul %0, %s : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %2 = nn.relu %1 : tensor<2xf32> -> tensor<2xf32>
  %3 = nn.div %2, %t : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %4 = nn.round %3 : tensor<2xf32> -> tensor<2xf32>
  %5 = nn.mul %4, %t : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %6 = nn.add %1, %5 : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  %7 = nn.div %6, %t : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %8 = nn.round %7 : tensor<2xf32> -> tensor<2xf32>
  return %4, %8 : tensor<2xf32>, tensor<2xf32>
}

// -----

// A function of sums is multiplied by the inverse scale of each channel. Bytes times a scale are divided, and so is a
// dividend whose quotient is not only rounded.
// CHECK-LABEL: @channels
// CHECK: %[[H:.*]] = nn.hard_swish
// CHECK: %[[I:.*]] = arith.constant dense<{{\[\[}}2.000000e+00], [4.000000e+00]]> : tensor<2x1xf32>
// CHECK: %[[M:.*]] = nn.mul %[[H]], %[[I]]
// CHECK: nn.clamp %[[M]]
// CHECK: nn.div %{{.*}}, %{{.*}} : tensor<1x2x4xf32>, tensor<2x1xf32>
// CHECK: nn.div %{{.*}}, %{{.*}} : tensor<1x2x4xf32>, tensor<2x1xf32>
func.func @channels(%x: tensor<1x4x4xui8>, %w: tensor<2x4x1xi8>, %y: tensor<1x2x4xui8>) -> (tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>) {
  %s = arith.constant dense<0.02> : tensor<f32>
  %t = arith.constant dense<[[0.5], [0.25]]> : tensor<2x1xf32>
  %0 = nn.conv %x, %w {dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 0, 0>, strides = array<i64: 1>}
    : (tensor<1x4x4xui8>, tensor<2x4x1xi8>) -> tensor<1x2x4xi32>
  %1 = nn.cast %0 : tensor<1x2x4xi32> -> tensor<1x2x4xf32>
  %2 = nn.mul %1, %s : tensor<1x2x4xf32>, tensor<f32> -> tensor<1x2x4xf32>
  %3 = nn.hard_swish %2 : tensor<1x2x4xf32> -> tensor<1x2x4xf32>
  %4 = nn.div %3, %t : tensor<1x2x4xf32>, tensor<2x1xf32> -> tensor<1x2x4xf32>
  %5 = nn.clamp %4 {max = 127.0 : f64, min = -128.0 : f64} : tensor<1x2x4xf32> -> tensor<1x2x4xf32>
  %6 = nn.round %5 : tensor<1x2x4xf32> -> tensor<1x2x4xf32>
  %7 = nn.cast %y : tensor<1x2x4xui8> -> tensor<1x2x4xf32>
  %8 = nn.mul %7, %s : tensor<1x2x4xf32>, tensor<f32> -> tensor<1x2x4xf32>
  %9 = nn.div %8, %t : tensor<1x2x4xf32>, tensor<2x1xf32> -> tensor<1x2x4xf32>
  %10 = nn.round %9 : tensor<1x2x4xf32> -> tensor<1x2x4xf32>
  %11 = nn.div %2, %t : tensor<1x2x4xf32>, tensor<2x1xf32> -> tensor<1x2x4xf32>
  return %6, %10, %11 : tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>
}
