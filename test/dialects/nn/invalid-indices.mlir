// RUN: ingot-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects an axis in [0, 2), but got 2}}
  %0 = nn.gather %x, %y {axis = 2 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects data and indices of one rank, but got 2 and 1}}
  %0 = nn.gather_elements %x, %y {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x3xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects an axis in [0, 2), but got -1}}
  %0 = nn.gather_elements %x, %y {axis = -1 : i64} : (tensor<2x3xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x?xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects index tuples of a known length}}
  %0 = nn.gather_nd %x, %y {batch_dims = 0 : i64} : (tensor<2x3xf32>, tensor<2x?xi64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x3xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{index tuples of 3 and 0 batch dims do not fit data of rank 2}}
  %0 = nn.gather_nd %x, %y {batch_dims = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects data, indices and updates of one rank}}
  %0 = nn.scatter_elements none %x, %y, %x {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2xi64>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x3xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects an axis in [0, 2), but got 5}}
  %0 = nn.scatter_elements none %x, %y, %x {axis = 5 : i64} : (tensor<2x3xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x3xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects index tuples of a known length, at most the data's rank}}
  %0 = nn.scatter_nd none %x, %y, %x : (tensor<2x3xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects an axis in [0, 2), but got 2}}
  %0 = nn.cumsum %x {axis = 2 : i64} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects an axis in [0, 2), but got 2}}
  %0:2 = nn.top_k %x {k = 1 : i64, axis = 2 : i64} : tensor<2x3xf32> -> tensor<2x3xf32>, tensor<2x3xi64>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects k in [0, 3], but got 4}}
  %0:2 = nn.top_k %x {k = 4 : i64, axis = 1 : i64} : tensor<2x3xf32> -> tensor<2x3xf32>, tensor<2x3xi64>
  return
}
