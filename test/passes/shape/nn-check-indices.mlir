// RUN: ingot-opt %s --nn-check-indices --split-input-file --verify-diagnostics

// Indices at the limits are known to be valid; nothing is known of the others.
func.func @within(%x: tensor<3x4xf32>, %open: tensor<?x4xf32>, %computed: tensor<2xi64>, %u: tensor<2xf32>)
    -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<3x4xf32>) {
  %i = arith.constant dense<[-3, 2]> : tensor<2xi64>
  %far = arith.constant dense<[99, -99]> : tensor<2xi64>
  %corners = arith.constant dense<[[-3, -4], [2, 3]]> : tensor<2x2xi64>
  %0 = nn.gather %x, %i {axis = 0 : i64} : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  %1 = nn.gather %open, %far {axis = 0 : i64} : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  %2 = nn.gather %x, %computed {axis = 0 : i64} : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  %3 = nn.scatter_nd none %x, %corners, %u : (tensor<3x4xf32>, tensor<2x2xi64>, tensor<2xf32>) -> tensor<3x4xf32>
  return %0, %1, %2, %3 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<3x4xf32>
}

// -----

func.func @gather(%x: tensor<3x4xf32>) -> tensor<3x2x2xf32> {
  %i = arith.constant dense<[[0, 3], [4, -5]]> : tensor<2x2xi32>
  // expected-error@+1 {{'indices' is 4 at [1, 0], but must be in [-4, 3]}}
  %0 = nn.gather %x, %i {axis = 1 : i64} : (tensor<3x4xf32>, tensor<2x2xi32>) -> tensor<3x2x2xf32>
  return %0 : tensor<3x2x2xf32>
}

// -----

func.func @scalar(%x: tensor<3x4xf32>) -> tensor<4xf32> {
  %i = arith.constant dense<-4> : tensor<i64>
  // expected-error@+1 {{'indices' is -4, but must be in [-3, 2]}}
  %0 = nn.gather %x, %i {axis = 0 : i64} : (tensor<3x4xf32>, tensor<i64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @empty(%x: tensor<0x4xf32>) -> tensor<1x4xf32> {
  %i = arith.constant dense<0> : tensor<1xi64>
  // expected-error@+1 {{'indices' is 0 at [0], but must be left out: the dimension has no elements}}
  %0 = nn.gather %x, %i {axis = 0 : i64} : (tensor<0x4xf32>, tensor<1xi64>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// -----

func.func @gather_elements(%x: tensor<3x4xf32>) -> tensor<1x4xf32> {
  %i = arith.constant dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>
  // expected-error@+1 {{'indices' is 3 at [0, 3], but must be in [-3, 2]}}
  %0 = nn.gather_elements %x, %i {axis = 0 : i64} : (tensor<3x4xf32>, tensor<1x4xi64>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// -----

// Each coordinate has its own range; batch dimensions have none.
func.func @gather_nd(%x: tensor<2x3x4xf32>) -> tensor<2xf32> {
  %i = arith.constant dense<[[2, 3], [2, 4]]> : tensor<2x2xi64>
  // expected-error@+1 {{'indices' is 4 at [1, 1], but must be in [-4, 3]}}
  %0 = nn.gather_nd %x, %i {batch_dims = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x2xi64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @scatter_elements(%x: tensor<3x4xf32>, %u: tensor<1x1xf32>) -> tensor<3x4xf32> {
  %i = arith.constant dense<-5> : tensor<1x1xi64>
  // expected-error@+1 {{'indices' is -5 at [0, 0], but must be in [-4, 3]}}
  %0 = nn.scatter_elements add %x, %i, %u {axis = 1 : i64} : (tensor<3x4xf32>, tensor<1x1xi64>, tensor<1x1xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----

func.func @scatter_nd(%x: tensor<3x?xf32>, %u: tensor<1xf32>) -> tensor<3x?xf32> {
  %i = arith.constant dense<[[3, 99]]> : tensor<1x2xi64>
  // expected-error@+1 {{'indices' is 3 at [0, 0], but must be in [-3, 2]}}
  %0 = nn.scatter_nd none %x, %i, %u : (tensor<3x?xf32>, tensor<1x2xi64>, tensor<1xf32>) -> tensor<3x?xf32>
  return %0 : tensor<3x?xf32>
}
