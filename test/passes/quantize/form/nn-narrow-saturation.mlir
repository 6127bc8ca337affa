// RUN: ingot-opt --nn-narrow-saturation --split-input-file %s | FileCheck %s

// All bytes up to the zero point give 0, and all from 220 on give 100. The
// second clamp has no effect then.
// CHECK-LABEL: @relu
// CHECK: nn.clamp %arg0 {max = 1.190000e+02 : f64, min = 0.000000e+00 : f64}
// CHECK: %[[Q:.*]] = nn.cast %{{.*}} : tensor<2xi32> -> tensor<2xf32>
// CHECK-NEXT: %[[M:.*]] = nn.mul %[[Q]]
// CHECK-NEXT: nn.round %[[M]]
func.func @relu(%x: tensor<2xf32>) -> tensor<2xf32> {
  %z = arith.constant dense<100> : tensor<i32>
  %r = arith.constant dense<0.84> : tensor<f32>
  %0 = nn.clamp %x {max = 155.0 : f64, min = -100.0 : f64} : tensor<2xf32> -> tensor<2xf32>
  %1 = nn.round %0 : tensor<2xf32> -> tensor<2xf32>
  %2 = nn.cast %1 {in_range} : tensor<2xf32> -> tensor<2xi32>
  %3 = nn.add %2, %z : tensor<2xi32>, tensor<i32> -> tensor<2xi32>
  %4 = nn.cast %3 : tensor<2xi32> -> tensor<2xui8>
  %5 = nn.cast %4 : tensor<2xui8> -> tensor<2xi32>
  %6 = nn.sub %5, %z : tensor<2xi32>, tensor<i32> -> tensor<2xi32>
  %7 = nn.cast %6 : tensor<2xi32> -> tensor<2xf32>
  %8 = nn.mul %7, %r : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %9 = nn.clamp %8 {max = 100.0 : f64, min = 0.0 : f64} : tensor<2xf32> -> tensor<2xf32>
  %10 = nn.round %9 : tensor<2xf32> -> tensor<2xf32>
  return %10 : tensor<2xf32>
}

// -----

// A hard swish of bytes is 0 at its lower end, which needs no clamp then.
// CHECK-LABEL: @hard_swish
// CHECK: nn.clamp %arg0 {max = 1.270000e+02 : f64, min = -7.200000e+01 : f64}
// CHECK: nn.add
// CHECK-NEXT: nn.clamp %{{.*}} {max = 0.98568010330200195 : f64, min = 0xFFF0000000000000 : f64}
func.func @hard_swish(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = arith.constant dense<0.00678476458> : tensor<f32>
  %b = arith.constant dense<0.492840052> : tensor<f32>
  %0 = nn.clamp %x {max = 127.0 : f64, min = -128.0 : f64} : tensor<2xf32> -> tensor<2xf32>
  %1 = nn.round %0 : tensor<2xf32> -> tensor<2xf32>
  %2 = nn.mul %1, %a : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %3 = nn.add %2, %b : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %4 = nn.clamp %3 {max = 0.98568010330200195 : f64, min = 0.0 : f64} : tensor<2xf32> -> tensor<2xf32>
  %5 = nn.mul %1, %4 : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  %6 = nn.round %5 : tensor<2xf32> -> tensor<2xf32>
  return %6 : tensor<2xf32>
}

// -----

// The bounds of a requantize move in the same way.
// CHECK-LABEL: @requantize
// CHECK: nn.requantize %arg0, %{{.*}}, %{{.*}} {fits_f32, least = 29 : i64, most = 219 : i64}
// CHECK-NOT: nn.clamp
// CHECK: return
func.func @requantize(%x: tensor<2xi32>) -> tensor<2xf32> {
  %s = arith.constant dense<0.02> : tensor<f32>
  %b = arith.constant dense<100> : tensor<ui8>
  %z = arith.constant dense<100> : tensor<i32>
  %r = arith.constant dense<0.84> : tensor<f32>
  %0 = nn.requantize %x, %s, %b {fits_f32} : tensor<2xi32>, tensor<f32>, tensor<ui8> -> tensor<2xui8>
  %1 = nn.cast %0 : tensor<2xui8> -> tensor<2xi32>
  %2 = nn.sub %1, %z : tensor<2xi32>, tensor<i32> -> tensor<2xi32>
  %3 = nn.cast %2 : tensor<2xi32> -> tensor<2xf32>
  %4 = nn.mul %3, %r : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %5 = nn.clamp %4 {max = 100.0 : f64, min = -60.0 : f64} : tensor<2xf32> -> tensor<2xf32>
  %6 = nn.round %5 : tensor<2xf32> -> tensor<2xf32>
  return %6 : tensor<2xf32>
}

// -----

// Must not fire: bytes with another reader, a function of two tensors, and a
// function without equal integers at its ends.
// CHECK-LABEL: @no
// CHECK-COUNT-3: nn.clamp %{{.*}} {max = 1.270000e+02 : f64, min = -1.280000e+02 : f64}
// CHECK-COUNT-3: nn.clamp %{{.*}} {max = 1.270000e+02 : f64, min = 0.000000e+00 : f64}
func.func @no(%x: tensor<2xf32>, %y: tensor<2xf32>, %w: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %r = arith.constant dense<0.84> : tensor<f32>
  %0 = nn.clamp %x {max = 127.0 : f64, min = -128.0 : f64} : tensor<2xf32> -> tensor<2xf32>
  %1 = nn.round %0 : tensor<2xf32> -> tensor<2xf32>
  %2 = nn.clamp %y {max = 127.0 : f64, min = -128.0 : f64} : tensor<2xf32> -> tensor<2xf32>
  %3 = nn.round %2 : tensor<2xf32> -> tensor<2xf32>
  %4 = nn.clamp %w {max = 127.0 : f64, min = -128.0 : f64} : tensor<2xf32> -> tensor<2xf32>
  %5 = nn.round %4 : tensor<2xf32> -> tensor<2xf32>
  %6 = nn.mul %1, %r : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %7 = nn.clamp %6 {max = 127.0 : f64, min = 0.0 : f64} : tensor<2xf32> -> tensor<2xf32>
  %8 = nn.round %7 : tensor<2xf32> -> tensor<2xf32>
  %9 = nn.add %1, %3 : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  %10 = nn.clamp %9 {max = 127.0 : f64, min = 0.0 : f64} : tensor<2xf32> -> tensor<2xf32>
  %11 = nn.round %10 : tensor<2xf32> -> tensor<2xf32>
  %12 = nn.sub %r, %5 : tensor<f32>, tensor<2xf32> -> tensor<2xf32>
  %13 = nn.mul %12, %5 : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  %14 = nn.round %13 : tensor<2xf32> -> tensor<2xf32>
  %15 = nn.clamp %1 {max = 127.0 : f64, min = 0.0 : f64} : tensor<2xf32> -> tensor<2xf32>
  return %8, %11, %14, %15 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
