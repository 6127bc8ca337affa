// RUN: ingot-opt --nn-fold-constants %s | FileCheck %s
// RUN: ingot-opt --nn-fold-constants="small-bytes=0 max-growth=1 max-bytes=16" %s | FileCheck %s --check-prefix=BOUND

// Integers are exact and wrap to their width.
// CHECK-LABEL: @integers
func.func @integers() -> (tensor<2xi8>, tensor<2xi64>, tensor<2xui8>, tensor<2xi1>) {
  %a = arith.constant dense<[100, -7]> : tensor<2xi8>
  %b = arith.constant dense<[100, 2]> : tensor<2xi8>
  %big = arith.constant dense<[9007199254740993, -9]> : tensor<2xi64>
  %two = arith.constant dense<2> : tensor<i64>
  %u = arith.constant dense<[200, 3]> : tensor<2xui8>
  %v = arith.constant dense<[3, 200]> : tensor<2xui8>
  // CHECK-DAG: dense<[-56, -5]> : tensor<2xi8>
  %0 = nn.add %a, %b : tensor<2xi8>, tensor<2xi8> -> tensor<2xi8>
  // CHECK-DAG: dense<1> : tensor<2xi64>
  %1 = nn.mod %big, %two : tensor<2xi64>, tensor<i64> -> tensor<2xi64>
  // CHECK-DAG: dense<[66, 0]> : tensor<2xui8>
  %2 = nn.div %u, %v : tensor<2xui8>, tensor<2xui8> -> tensor<2xui8>
  // CHECK-DAG: dense<[false, true]> : tensor<2xi1>
  %3 = nn.less %u, %v : tensor<2xui8>, tensor<2xui8> -> tensor<2xi1>
  // CHECK-NOT: nn.
  return %0, %1, %2, %3 : tensor<2xi8>, tensor<2xi64>, tensor<2xui8>, tensor<2xi1>
}

// CHECK-LABEL: @floats
func.func @floats() -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xi32>, tensor<2xbf16>) {
  %a = arith.constant dense<[[1.0], [4.0]]> : tensor<2x1xf32>
  %b = arith.constant dense<[0.5, -2.0]> : tensor<2xf32>
  // CHECK-DAG: dense<{{\[}}[5.000000e-01, -2.000000e+00], [2.000000e+00, -8.000000e+00]]>
  %0 = nn.mul %a, %b : tensor<2x1xf32>, tensor<2xf32> -> tensor<2x2xf32>
  // CHECK-DAG: dense<[5.000000e-01, -1.000000e+00]> : tensor<2xf32>
  %1 = nn.clamp %b {max = 0x7FF0000000000000 : f64, min = -1.0 : f64} : tensor<2xf32> -> tensor<2xf32>
  // CHECK-DAG: dense<[0, -2]> : tensor<2xi32>
  %2 = nn.cast %b : tensor<2xf32> -> tensor<2xi32>
  // CHECK-DAG: dense<[5.000000e-01, -2.000000e+00]> : tensor<2xbf16>
  %3 = nn.cast %b : tensor<2xf32> -> tensor<2xbf16>
  // CHECK-NOT: nn.
  return %0, %1, %2, %3 : tensor<2x2xf32>, tensor<2xf32>, tensor<2xi32>, tensor<2xbf16>
}

// CHECK-LABEL: @movement
func.func @movement() -> (tensor<3x2xi32>, tensor<2x2xi32>, tensor<2x4xi32>, tensor<2x2xi32>, tensor<4xi32>) {
  %a = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %i = arith.constant dense<[-1, 0]> : tensor<2xi64>
  %zero = arith.constant dense<0> : tensor<i32>
  %c = arith.constant dense<[true, false]> : tensor<2xi1>
  // CHECK-DAG: dense<{{\[}}[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>
  %0 = nn.transpose %a {perm = array<i64: 1, 0>} : tensor<2x3xi32> -> tensor<3x2xi32>
  // CHECK-DAG: dense<{{\[}}[3, 1], [6, 4]]> : tensor<2x2xi32>
  %1 = nn.gather %a, %i {axis = 1 : i64} : (tensor<2x3xi32>, tensor<2xi64>) -> tensor<2x2xi32>
  // CHECK-DAG: dense<{{\[}}[0, 1, 2, 3], [0, 4, 5, 6]]> : tensor<2x4xi32>
  %2 = nn.pad constant %a value(%zero) {high = array<i64: 0, 0>, low = array<i64: 0, 1>} : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x4xi32>
  // CHECK-DAG: dense<{{\[}}[6, 4], [3, 1]]> : tensor<2x2xi32>
  %3 = nn.slice %a {sizes = array<i64: 2, 2>, starts = array<i64: 1, 2>, steps = array<i64: -1, -2>} : tensor<2x3xi32> -> tensor<2x2xi32>
  %4 = nn.reshape %3 : tensor<2x2xi32> -> tensor<4xi32>
  %5 = nn.concat %4 {axis = 0 : i64} : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-DAG: dense<[6, 0, 3, 0]> : tensor<4xi32>
  %6 = nn.reshape %0 : tensor<3x2xi32> -> tensor<6xi32>
  %7 = arith.constant dense<[true, false, true, false]> : tensor<4xi1>
  %8 = nn.select %7, %5, %zero : tensor<4xi1>, tensor<4xi32>, tensor<i32> -> tensor<4xi32>
  // CHECK-NOT: nn.
  return %0, %1, %2, %3, %8 : tensor<3x2xi32>, tensor<2x2xi32>, tensor<2x4xi32>, tensor<2x2xi32>, tensor<4xi32>
}

// CHECK-LABEL: @reductions
func.func @reductions() -> (tensor<2xf32>, tensor<1x3xi32>, tensor<i64>) {
  %a = arith.constant dense<[[1.0, 2.0, 6.0], [-1.0, 0.5, 2.0]]> : tensor<2x3xf32>
  %b = arith.constant dense<[[1, -2, 3], [-1, 5, 2]]> : tensor<2x3xi32>
  %c = arith.constant dense<[2, 3, 7]> : tensor<3xi64>
  // CHECK-DAG: dense<[3.000000e+00, 5.000000e-01]> : tensor<2xf32>
  %0 = nn.reduce mean %a {axes = array<i64: 1>} : tensor<2x3xf32> -> tensor<2xf32>
  // CHECK-DAG: dense<{{\[}}[1, 5, 3]]> : tensor<1x3xi32>
  %1 = nn.reduce max %b {axes = array<i64: 0>, keep_dims} : tensor<2x3xi32> -> tensor<1x3xi32>
  // CHECK-DAG: dense<42> : tensor<i64>
  %2 = nn.reduce prod %c {axes = array<i64: 0>} : tensor<3xi64> -> tensor<i64>
  // CHECK-NOT: nn.
  return %0, %1, %2 : tensor<2xf32>, tensor<1x3xi32>, tensor<i64>
}

// Must not fire: undefined results, and results that depend on an argument.
// CHECK-LABEL: @kept
func.func @kept(%x: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi8>, tensor<2xi64>, tensor<2xui64>, tensor<2xi32>) {
  %a = arith.constant dense<[1, 2]> : tensor<2xi32>
  %zero = arith.constant dense<0> : tensor<2xi32>
  // CHECK: nn.div
  %0 = nn.div %a, %zero : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
  // CHECK: nn.add
  %1 = nn.add %a, %x : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
  // CHECK: nn.mod
  %2 = nn.mod %a, %zero : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
  %b = arith.constant dense<[1, 8]> : tensor<2xi8>
  // CHECK: nn.shift_left
  %3 = nn.shift_left %b, %b : tensor<2xi8>, tensor<2xi8> -> tensor<2xi8>
  %c = arith.constant dense<[1.0, 1.0e+30]> : tensor<2xf32>
  // CHECK: nn.cast
  %4 = nn.cast %c : tensor<2xf32> -> tensor<2xi64>
  %d = arith.constant dense<[1.0, -1.0]> : tensor<2xf32>
  // CHECK: nn.cast
  %5 = nn.cast %d : tensor<2xf32> -> tensor<2xui64>
  %minus = arith.constant dense<-1> : tensor<2xi32>
  %e = arith.constant dense<[0, 1]> : tensor<2xi32>
  // CHECK: nn.pow
  %6 = nn.pow %e, %minus : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi8>, tensor<2xi64>, tensor<2xui64>, tensor<2xi32>
}

// The ends of ranges are defined. The smallest value divided by -1 wraps as in a run.
// CHECK-LABEL: @extremes
func.func @extremes() -> (tensor<2xi8>, tensor<2xi8>, tensor<2xi64>, tensor<2xui64>, tensor<2xi8>, tensor<2xbf16>) {
  %a = arith.constant dense<[-128, 7]> : tensor<2xi8>
  %b = arith.constant dense<[-1, 2]> : tensor<2xi8>
  // CHECK-DAG: dense<[-128, 3]> : tensor<2xi8>
  %0 = nn.div %a, %b : tensor<2xi8>, tensor<2xi8> -> tensor<2xi8>
  // CHECK-DAG: dense<[0, 1]> : tensor<2xi8>
  %1 = nn.mod %a, %b : tensor<2xi8>, tensor<2xi8> -> tensor<2xi8>
  %c = arith.constant dense<[-9223372036854775808.0, 1.5]> : tensor<2xf32>
  // CHECK-DAG: dense<[-9223372036854775808, 1]> : tensor<2xi64>
  %2 = nn.cast %c : tensor<2xf32> -> tensor<2xi64>
  %d = arith.constant dense<[9223372036854775808.0, -0.5]> : tensor<2xf32>
  // CHECK-DAG: dense<[9223372036854775808, 0]> : tensor<2xui64>
  %3 = nn.cast %d : tensor<2xf32> -> tensor<2xui64>
  %e = arith.constant dense<[7, 1]> : tensor<2xi8>
  // CHECK-DAG: dense<[-128, 2]> : tensor<2xi8>
  %one = arith.constant dense<1> : tensor<2xi8>
  %4 = nn.shift_left %one, %e : tensor<2xi8>, tensor<2xi8> -> tensor<2xi8>
  // A tie rounds to even.
  %f = arith.constant dense<[1.0, 1.0]> : tensor<2xbf16>
  %g = arith.constant dense<[0.00390625, 9.5e-07]> : tensor<2xbf16>
  // CHECK-DAG: dense<1.000000e+00> : tensor<2xbf16>
  %5 = nn.add %f, %g : tensor<2xbf16>, tensor<2xbf16> -> tensor<2xbf16>
  // CHECK-NOT: nn.
  // CHECK: return
  return %0, %1, %2, %3, %4, %5 : tensor<2xi8>, tensor<2xi8>, tensor<2xi64>, tensor<2xui64>, tensor<2xi8>, tensor<2xbf16>
}

// BOUND-LABEL: @bounded
func.func @bounded() -> (tensor<4x2xi32>, tensor<2xi32>) {
  %a = arith.constant dense<[1, 2]> : tensor<2xi32>
  // BOUND: nn.broadcast_to
  // BOUND: dense<[2, 4]>
  %0 = nn.broadcast_to %a : tensor<2xi32> -> tensor<4x2xi32>
  %1 = nn.add %a, %a : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
  return %0, %1 : tensor<4x2xi32>, tensor<2xi32>
}

// A splat takes no memory: sizes do not matter, up to a limit.
// BOUND-LABEL: @splats
func.func @splats() -> (tensor<16384x4096xf32>, tensor<1048576x1048576xf32>) {
  %a = arith.constant dense<0.5> : tensor<f32>
  // BOUND-DAG: dense<1.000000e+00> : tensor<16384x4096xf32>
  %0 = nn.broadcast_to %a : tensor<f32> -> tensor<4096x16384xf32>
  %1 = nn.transpose %0 {perm = array<i64: 1, 0>} : tensor<4096x16384xf32> -> tensor<16384x4096xf32>
  %2 = nn.add %1, %1 : tensor<16384x4096xf32>, tensor<16384x4096xf32> -> tensor<16384x4096xf32>
  // BOUND-DAG: nn.broadcast_to
  %3 = nn.broadcast_to %a : tensor<f32> -> tensor<1048576x1048576xf32>
  return %2, %3 : tensor<16384x4096xf32>, tensor<1048576x1048576xf32>
}

// -----

// Floats of at most eight bits are rounded as the cast says, not only as their
// type does.

// CHECK-LABEL: func.func @tiny(
// CHECK-DAG: dense<[4.480000e+02, -4.480000e+02, 1.750000e+00, -0.000000e+00]> : tensor<4xf8E4M3FN>
// CHECK-DAG: dense<[0x7C, 0xFC, 1.750000e+00, -0.000000e+00]> : tensor<4xf8E5M2>
// CHECK-DAG: dense<[6.000000e+00, -6.000000e+00, 1.500000e+00, -0.000000e+00]> : tensor<4xf4E2M1FN>
// CHECK-DAG: dense<[4.480000e+02, -4.480000e+02, 1.750000e+00, -0.000000e+00]> : tensor<4xf32>
// CHECK-DAG: dense<[-1, 7, 0, -8]> : tensor<4xi4>
// CHECK-NOT: nn.cast
func.func @tiny() -> (tensor<4xf8E4M3FN>, tensor<4xf8E5M2>, tensor<4xf4E2M1FN>, tensor<4xf32>, tensor<4xi4>) {
  %x = arith.constant dense<[1.0e6, -1.0e6, 1.7, -0.0]> : tensor<4xf32>
  %0 = nn.cast %x {saturate} : tensor<4xf32> -> tensor<4xf8E4M3FN>
  %1 = nn.cast %x : tensor<4xf32> -> tensor<4xf8E5M2>
  %2 = nn.cast %x {saturate} : tensor<4xf32> -> tensor<4xf4E2M1FN>
  %3 = nn.cast %0 : tensor<4xf8E4M3FN> -> tensor<4xf32>
  %i = arith.constant dense<[15, 7, 16, 8]> : tensor<4xi32>
  %4 = nn.cast %i : tensor<4xi32> -> tensor<4xi4>
  return %0, %1, %2, %3, %4 : tensor<4xf8E4M3FN>, tensor<4xf8E5M2>, tensor<4xf4E2M1FN>, tensor<4xf32>, tensor<4xi4>
}

// -----

// A product slightly below 100.5, which f32 would round to 100.5, and 3:
// rounded once, in f32 and in f64.

// CHECK-LABEL: func.func @requantize(
// CHECK-COUNT-2: dense<[103, 255, 0]> : tensor<3xui8>
// CHECK-NOT: nn.requantize
func.func @requantize() -> (tensor<3xui8>, tensor<3xui8>) {
  %x = arith.constant dense<[7762080, 16000000, -7762080]> : tensor<3xi32>
  %t = arith.constant dense<[1.2947560207976494e-05, 0.1, 0.1]> : tensor<3xf32>
  %z = arith.constant dense<3> : tensor<ui8>
  %0 = nn.requantize %x, %t, %z {fits_f32} : tensor<3xi32>, tensor<3xf32>, tensor<ui8> -> tensor<3xui8>
  %1 = nn.requantize %x, %t, %z : tensor<3xi32>, tensor<3xf32>, tensor<ui8> -> tensor<3xui8>
  return %0, %1 : tensor<3xui8>, tensor<3xui8>
}
