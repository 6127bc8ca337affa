// RUN: ingot-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{operand shapes do not broadcast: dimension 1 is 3 in one and 2 in the other}}
  %0 = nn.add %x, %y : tensor<2x3xf32>, tensor<2xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<3xf64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{operands have different element types: 'f32' and 'f64'}}
  %0 = nn.mul %x, %y : tensor<2x3xf32>, tensor<3xf64> -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<3xi32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{operands have different element types: 'f32' and 'i32'}}
  %0 = nn.less %x, %y : tensor<2x3xf32>, tensor<3xi32> -> tensor<2x3xi1>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<3xf64>, %z: tensor<3xi1>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{operands have different element types: 'f32' and 'f64'}}
  %0 = nn.select %z, %x, %y : tensor<3xi1>, tensor<2x3xf32>, tensor<3xf64> -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{result #0 must be ranked tensor of 1-bit signless integer values}}
  %0 = nn.equal %x, %x : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{expects operand and result of one shape}}
  %0 = nn.cast %x : tensor<2x3xf32> -> tensor<3x2xf64>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<2x3xf32>' are incompatible}}
  %0 = nn.relu %x : tensor<2x3xf32> -> tensor<2x3xf64>
  return
}

// -----

func.func @f(%x: tensor<3xi32>, %s: tensor<f64>, %z: tensor<ui8>) {
  // expected-error@+1 {{expects sums of i32, or of f32 that fit it, scales of f32, and bytes of one type, but got 'tensor<3xi32>', 'tensor<f64>', 'tensor<ui8>' and 'tensor<3xui8>'}}
  %0 = nn.requantize %x, %s, %z : tensor<3xi32>, tensor<f64>, tensor<ui8> -> tensor<3xui8>
  return
}
