// RUN: ingot-opt --nn-fold-constants="small-bytes=0 max-growth=1" %s | FileCheck %s

// A scatter of constants is folded, even if its operands had to be expanded.
// The last update of a position counts, and positions may count from the end.
// CHECK-LABEL: @scatter
// CHECK-NOT: nn.
// CHECK: dense<{{\[}}[7, 7, 9], [7, 7, 8]]> : tensor<2x3xi64>
func.func @scatter() -> tensor<2x3xi64> {
  %one = arith.constant dense<7> : tensor<1x1xi64>
  %x = nn.broadcast_to %one : tensor<1x1xi64> -> tensor<2x3xi64>
  %i = arith.constant dense<[[0, 2], [-1, 2], [0, -1]]> : tensor<3x2xi64>
  %u = arith.constant dense<[5, 8, 9]> : tensor<3xi64>
  %y = nn.scatter_nd none %x, %i, %u : (tensor<2x3xi64>, tensor<3x2xi64>, tensor<3xi64>) -> tensor<2x3xi64>
  return %y : tensor<2x3xi64>
}

// Rows are replaced as a whole.
// CHECK-LABEL: @rows
// CHECK-NOT: nn.
// CHECK: dense<{{\[}}[1.000000e+00, 2.000000e+00], [5.000000e+00, 6.000000e+00]]> : tensor<2x2xf32>
func.func @rows() -> tensor<2x2xf32> {
  %x = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %i = arith.constant dense<[[1]]> : tensor<1x1xi64>
  %u = arith.constant dense<[[5.0, 6.0]]> : tensor<1x2xf32>
  %y = nn.scatter_nd none %x, %i, %u : (tensor<2x2xf32>, tensor<1x1xi64>, tensor<1x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// Must not fire: sums, and a position out of range, which is an error later.
// CHECK-LABEL: @left
// CHECK: nn.scatter_nd add
// CHECK: nn.scatter_nd none
func.func @left() -> (tensor<2xf32>, tensor<2xf32>) {
  %x = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %i = arith.constant dense<[[1]]> : tensor<1x1xi64>
  %far = arith.constant dense<[[2]]> : tensor<1x1xi64>
  %u = arith.constant dense<[5.0]> : tensor<1xf32>
  %y = nn.scatter_nd add %x, %i, %u : (tensor<2xf32>, tensor<1x1xi64>, tensor<1xf32>) -> tensor<2xf32>
  %z = nn.scatter_nd none %x, %far, %u : (tensor<2xf32>, tensor<1x1xi64>, tensor<1xf32>) -> tensor<2xf32>
  return %y, %z : tensor<2xf32>, tensor<2xf32>
}

// Must not fire: an expansion that no scatter needs is cheaper to compute than
// to store.
// CHECK-LABEL: @expanded
// CHECK: nn.broadcast_to
func.func @expanded() -> tensor<2x3xi64> {
  %one = arith.constant dense<[[7], [8]]> : tensor<2x1xi64>
  %x = nn.broadcast_to %one : tensor<2x1xi64> -> tensor<2x3xi64>
  return %x : tensor<2x3xi64>
}
