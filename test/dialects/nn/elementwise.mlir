// RUN: ingot-opt %s | ingot-opt | FileCheck %s
// RUN: ingot-opt %s --mlir-print-op-generic | ingot-opt | FileCheck %s
// Every elementwise op, printed and parsed.

// CHECK-LABEL: func.func @unary
func.func @unary(%x: tensor<?x4xf32>, %b: tensor<4xi1>) {
  // CHECK: nn.abs
  %abs = nn.abs %x : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.neg
  %neg = nn.neg %x : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.sign
  %sign = nn.sign %x : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.ceil
  %ceil = nn.ceil %x : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.floor
  %floor = nn.floor %x : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.round
  %round = nn.round %x : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.sqrt
  %sqrt = nn.sqrt %x : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.exp
  %exp = nn.exp %x : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.log
  %log = nn.log %x : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.sin
  %sin = nn.sin %x : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.cos
  %cos = nn.cos %x : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.tan
  %tan = nn.tan %x : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.asin
  %asin = nn.asin %x : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.acos
  %acos = nn.acos %x : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.atan
  %atan = nn.atan %x : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.sinh
  %sinh = nn.sinh %x : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.cosh
  %cosh = nn.cosh %x : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.tanh
  %tanh = nn.tanh %x : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.asinh
  %asinh = nn.asinh %x : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.acosh
  %acosh = nn.acosh %x : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.atanh
  %atanh = nn.atanh %x : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.erf
  %erf = nn.erf %x : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.sigmoid
  %sigmoid = nn.sigmoid %x : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.relu
  %relu = nn.relu %x : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.reciprocal
  %reciprocal = nn.reciprocal %x : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.not
  %not = nn.not %b : tensor<4xi1> -> tensor<4xi1>
  // CHECK: nn.softplus
  %softplus = nn.softplus %x : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.is_nan
  %is_nan = nn.is_nan %x : tensor<?x4xf32> -> tensor<?x4xi1>
  // CHECK: nn.is_inf %{{.*}} {detect_negative = false}
  %is_inf = nn.is_inf %x {detect_negative = false} : tensor<?x4xf32> -> tensor<?x4xi1>
  // CHECK: nn.gelu %{{.*}} {tanh_approximation}
  %gelu = nn.gelu %x {tanh_approximation} : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.elu
  %elu = nn.elu %x {alpha = 1.0 : f32} : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.leaky_relu
  %leaky_relu = nn.leaky_relu %x {alpha = 0.01 : f32} : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.hard_sigmoid
  %hard_sigmoid = nn.hard_sigmoid %x {alpha = 0.2 : f32, beta = 0.5 : f32} : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.hard_swish
  %hard_swish = nn.hard_swish %x : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.swish %{{.*}} {alpha = 1.500000e+00 : f32}
  %swish = nn.swish %x {alpha = 1.5 : f32} : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.clamp
  %clamp = nn.clamp %x {min = 0.0 : f64, max = 6.0 : f64} : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: nn.cast
  %cast = nn.cast %x : tensor<?x4xf32> -> tensor<?x4xui8>
  return
}

// CHECK-LABEL: func.func @binary
func.func @binary(%x: tensor<?x4xf32>, %y: tensor<1xf32>, %i: tensor<4xi32>, %b: tensor<?x1xi1>) {
  // CHECK: nn.add
  %add = nn.add %x, %y : tensor<?x4xf32>, tensor<1xf32> -> tensor<?x4xf32>
  // CHECK: nn.sub
  %sub = nn.sub %x, %y : tensor<?x4xf32>, tensor<1xf32> -> tensor<?x4xf32>
  // CHECK: nn.mul
  %mul = nn.mul %x, %y : tensor<?x4xf32>, tensor<1xf32> -> tensor<?x4xf32>
  // CHECK: nn.div
  %div = nn.div %x, %y : tensor<?x4xf32>, tensor<1xf32> -> tensor<?x4xf32>
  // CHECK: nn.pow
  %pow = nn.pow %x, %y : tensor<?x4xf32>, tensor<1xf32> -> tensor<?x4xf32>
  // CHECK: nn.max
  %max = nn.max %x, %y : tensor<?x4xf32>, tensor<1xf32> -> tensor<?x4xf32>
  // CHECK: nn.min
  %min = nn.min %x, %y : tensor<?x4xf32>, tensor<1xf32> -> tensor<?x4xf32>
  // CHECK: nn.and
  %and = nn.and %i, %i : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  // CHECK: nn.or
  %or = nn.or %i, %i : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  // CHECK: nn.xor
  %xor = nn.xor %i, %i : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  // CHECK: nn.shift_left
  %shift_left = nn.shift_left %i, %i : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  // CHECK: nn.shift_right
  %shift_right = nn.shift_right %i, %i : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  // CHECK: nn.prelu
  %prelu = nn.prelu %x, %y : tensor<?x4xf32>, tensor<1xf32> -> tensor<?x4xf32>
  // CHECK: nn.mod %{{.*}} {fmod}
  %mod = nn.mod %x, %y {fmod} : tensor<?x4xf32>, tensor<1xf32> -> tensor<?x4xf32>
  // CHECK: nn.equal 
  %equal = nn.equal %x, %y : tensor<?x4xf32>, tensor<1xf32> -> tensor<?x4xi1>
  // CHECK: nn.less 
  %less = nn.less %x, %y : tensor<?x4xf32>, tensor<1xf32> -> tensor<?x4xi1>
  // CHECK: nn.less_or_equal 
  %less_or_equal = nn.less_or_equal %x, %y : tensor<?x4xf32>, tensor<1xf32> -> tensor<?x4xi1>
  // CHECK: nn.greater 
  %greater = nn.greater %x, %y : tensor<?x4xf32>, tensor<1xf32> -> tensor<?x4xi1>
  // CHECK: nn.greater_or_equal 
  %greater_or_equal = nn.greater_or_equal %x, %y : tensor<?x4xf32>, tensor<1xf32> -> tensor<?x4xi1>
  // CHECK: nn.pow
  %ipow = nn.pow %x, %i : tensor<?x4xf32>, tensor<4xi32> -> tensor<?x4xf32>
  // CHECK: nn.select
  %select = nn.select %b, %x, %y : tensor<?x1xi1>, tensor<?x4xf32>, tensor<1xf32> -> tensor<?x4xf32>
  return
}

// CHECK-LABEL: func.func @requantize
func.func @requantize(%x: tensor<?x4xi32>, %s: tensor<4xf32>, %z: tensor<ui8>, %t: tensor<f32>, %i: tensor<i8>) {
  // CHECK: nn.requantize %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x4xi32>, tensor<4xf32>, tensor<ui8> -> tensor<?x4xui8>
  %0 = nn.requantize %x, %s, %z : tensor<?x4xi32>, tensor<4xf32>, tensor<ui8> -> tensor<?x4xui8>
  // CHECK: nn.requantize {{.*}} {fits_f32} : tensor<?x4xi32>, tensor<f32>, tensor<i8> -> tensor<?x4xi8>
  %1 = nn.requantize %x, %t, %i {fits_f32} : tensor<?x4xi32>, tensor<f32>, tensor<i8> -> tensor<?x4xi8>
  return
}
