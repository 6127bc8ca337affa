// RUN: ingot-opt --onnx-legalize --split-input-file --verify-diagnostics %s | FileCheck %s

module attributes {onnx.opset_import = {ai.onnx = 24 : i64}} {

// CHECK-LABEL: @unary_binary
func.func @unary_binary(%x: tensor<?x4xf32>, %y: tensor<4xf32>, %u: tensor<4xui8>)
    -> (tensor<?x4xf32>, tensor<4xui8>, tensor<?x4xi1>, tensor<?x4xf32>) {
  // CHECK: %[[E:.*]] = nn.exp %{{.*}} : tensor<?x4xf32>
  %0 = onnx.node "Exp"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK: %[[S:.*]] = nn.sub %[[E]], %{{.*}} : tensor<?x4xf32>, tensor<4xf32> -> tensor<?x4xf32>
  %1 = onnx.node "Sub"(%0, %y) : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  // CHECK: nn.and %{{.*}} : tensor<4xui8>
  %2 = onnx.node "BitwiseAnd"(%u, %u) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  // CHECK: nn.less_or_equal %[[S]]
  %3 = onnx.node "LessOrEqual"(%1, %y) : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xi1>
  // CHECK: nn.select
  %4 = onnx.node "Where"(%3, %1, %y) : (tensor<?x4xi1>, tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  return %4, %2, %3, %1 : tensor<?x4xf32>, tensor<4xui8>, tensor<?x4xi1>, tensor<?x4xf32>
}

// CHECK-LABEL: @variadic
func.func @variadic(%a: tensor<3xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  // CHECK: %[[M:.*]] = nn.max %arg0, %arg1
  // CHECK: nn.max %[[M]], %arg2
  %0 = onnx.node "Max"(%a, %b, %c) : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK: nn.add
  // CHECK: nn.div
  %1 = onnx.node "Mean"(%a, %b) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  // A single operand is the result.
  %2 = onnx.node "Sum"(%a) : (tensor<3xf32>) -> tensor<3xf32>
  // CHECK: return %{{.*}}, %{{.*}}, %arg0
  return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: @pow
func.func @pow(%x: tensor<3xf32>, %i: tensor<3xi32>, %e: tensor<3xi64>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xi32>) {
  %two = arith.constant dense<2.0> : tensor<f32>
  // CHECK: nn.mul %arg0, %arg0
  %0 = onnx.node "Pow"(%x, %two) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %half = arith.constant dense<0.5> : tensor<1xf32>
  // CHECK: nn.sqrt %arg0
  %1 = onnx.node "Pow"(%x, %half) : (tensor<3xf32>, tensor<1xf32>) -> tensor<3xf32>
  // CHECK: %[[C:.*]] = nn.cast %arg2 : tensor<3xi64> -> tensor<3xf32>
  // CHECK: nn.pow %arg0, %[[C]]
  %2 = onnx.node "Pow"(%x, %e) : (tensor<3xf32>, tensor<3xi64>) -> tensor<3xf32>
  // An integer to a real power is computed in f64.
  // CHECK: nn.pow %{{.*}} : tensor<3xf64>, tensor<3xf64>
  // CHECK: nn.cast %{{.*}} : tensor<3xf64> -> tensor<3xi32>
  %3 = onnx.node "Pow"(%i, %x) : (tensor<3xi32>, tensor<3xf32>) -> tensor<3xi32>
  return %0, %1, %2, %3 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xi32>
}

// CHECK-LABEL: @clip
func.func @clip(%x: tensor<3xf32>, %lo: tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %none = onnx.absent
  %hi = arith.constant dense<6.0> : tensor<f32>
  // CHECK: nn.clamp %arg0 {max = 6.000000e+00 : f64, min = 0xFFF0000000000000 : f64}
  %0 = onnx.node "Clip"(%x, %none, %hi) : (tensor<3xf32>, none, tensor<f32>) -> tensor<3xf32>
  // CHECK: %[[A:.*]] = nn.max %arg0, %arg1
  // CHECK: nn.clamp %[[A]]
  %1 = onnx.node "Clip"(%x, %lo, %hi) : (tensor<3xf32>, tensor<f32>, tensor<f32>) -> tensor<3xf32>
  // CHECK-NOT: onnx.absent
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: @casts
func.func @casts(%x: tensor<3xf32>, %u: tensor<3xui8>) -> (tensor<3xui8>, tensor<3xf32>, tensor<3xi32>) {
  // CHECK: nn.cast %arg0 : tensor<3xf32> -> tensor<3xui8>
  %0 = onnx.node "Cast"(%x) {to = 2 : i64} : (tensor<3xf32>) -> tensor<3xui8>
  // CHECK: nn.cast %arg1 : tensor<3xui8> -> tensor<3xf32>
  %1 = onnx.node "CastLike"(%u, %x) : (tensor<3xui8>, tensor<3xf32>) -> tensor<3xf32>
  %same = onnx.node "Cast"(%x) {to = 1 : i64} : (tensor<3xf32>) -> tensor<3xf32>
  // CHECK: linalg.generic
  // CHECK: arith.bitcast %{{.*}} : f32 to i32
  %2 = onnx.node "BitCast"(%same) {to = 6 : i64} : (tensor<3xf32>) -> tensor<3xi32>
  return %0, %1, %2 : tensor<3xui8>, tensor<3xf32>, tensor<3xi32>
}

// CHECK-LABEL: @dropout
func.func @dropout(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xi1>) {
  // CHECK: %[[D:.*]] = tensor.dim %arg0
  // CHECK: %[[MASK:.*]] = nn.broadcast_to %{{.*}} sizes(%[[D]]) : tensor<i1> -> tensor<?x4xi1>
  %0, %1 = onnx.node "Dropout"(%x) : (tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xi1>)
  // CHECK: return %arg0, %[[MASK]]
  return %0, %1 : tensor<?x4xf32>, tensor<?x4xi1>
}

// Shape arithmetic is folded at once.
// CHECK-LABEL: @constants
func.func @constants() -> tensor<2xi64> {
  %a = arith.constant dense<[6, 8]> : tensor<2xi64>
  %b = arith.constant dense<2> : tensor<i64>
  %0 = onnx.node "Div"(%a, %b) : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
  // CHECK: %[[R:.*]] = arith.constant dense<[3, 4]>
  // CHECK: return %[[R]]
  return %0 : tensor<2xi64>
}
}

// -----

module attributes {onnx.opset_import = {ai.onnx = 9 : i64}} {
// CHECK-LABEL: @old_clip
func.func @old_clip(%x: tensor<3xf32>) -> tensor<3xf32> {
  // CHECK: nn.clamp %arg0 {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64}
  %0 = onnx.node "Clip"(%x) {max = 6.0 : f32, min = 0.0 : f32} : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: @old_dropout
func.func @old_dropout(%x: tensor<3xf32>) -> tensor<3xf32> {
  // CHECK: dense<1.000000e+00> : tensor<3xf32>
  %0, %1 = onnx.node "Dropout"(%x) {ratio = 0.5 : f32} : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %1 : tensor<3xf32>
}
}

// -----

module attributes {onnx.opset_import = {ai.onnx = 24 : i64}} {
func.func @wrong(%x: tensor<3xf32>, %y: tensor<4xf32>, %i: tensor<3xi32>) -> tensor<3xf32> {
  // expected-error @+1 {{Add (opset 24) is invalid: operand shapes do not broadcast: dimension 0 is 3 in one and 4 in the other}}
  %0 = onnx.node "Add"(%x, %y) : (tensor<3xf32>, tensor<4xf32>) -> tensor<3xf32>
  // expected-error @+1 {{Mul (opset 24) is invalid: operands have different element types: 'f32' and 'i32'}}
  %1 = onnx.node "Mul"(%x, %i) : (tensor<3xf32>, tensor<3xi32>) -> tensor<3xf32>
  // expected-error @+1 {{Cast (opset 24) is not supported: strings from numbers}}
  %2 = onnx.node "Cast"(%x) {to = 8 : i64} : (tensor<3xf32>) -> tensor<3xf32>
  // expected-error @+1 {{Cast (opset 24) is invalid: unknown element type 99}}
  %3 = onnx.node "Cast"(%x) {to = 99 : i64} : (tensor<3xf32>) -> tensor<3xf32>
  // expected-error @+1 {{BitShift (opset 24) is invalid: direction is 'UP'}}
  %4 = onnx.node "BitShift"(%i, %i) {direction = "UP"} : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  // expected-error @+1 {{BitCast (opset 24) is invalid: element types of different widths}}
  %5 = onnx.node "BitCast"(%i) {to = 7 : i64} : (tensor<3xi32>) -> tensor<3xi64>
  // expected-error @+1 {{Clip (opset 24) is invalid: a bound is not a scalar}}
  %6 = onnx.node "Clip"(%x, %y) : (tensor<3xf32>, tensor<4xf32>) -> tensor<3xf32>
  %ratio = arith.constant dense<[0.5, 0.5]> : tensor<2xf32>
  %train = arith.constant dense<true> : tensor<i1>
  // expected-error @+1 {{Dropout (opset 24) is invalid: input 1 needs one element}}
  %7 = onnx.node "Dropout"(%x, %ratio, %train) : (tensor<3xf32>, tensor<2xf32>, tensor<i1>) -> tensor<3xf32>
  return %7 : tensor<3xf32>
}
}

// -----

// Casts to floats of at most eight bits saturate, unless an attribute says
// otherwise. For one of these types an attribute gives the rounding mode.

module attributes {onnx.opset_import = {ai.onnx = 25 : i64}} {
// CHECK-LABEL: func.func @tiny_casts(
func.func @tiny_casts(%x: tensor<3xf32>, %y: tensor<3xf8E5M2>, %like: tensor<1xf4E2M1FN>) -> (tensor<3xf8E5M2>, tensor<3xf8E4M3FN>, tensor<3xf8E8M0FNU>, tensor<3xf8E8M0FNU>, tensor<3xf16>, tensor<3xf4E2M1FN>) {
  // CHECK: nn.cast %{{.*}} {saturate} : tensor<3xf32> -> tensor<3xf8E5M2>
  %0 = onnx.node "Cast"(%x) {to = 19 : i64} : (tensor<3xf32>) -> tensor<3xf8E5M2>
  // CHECK: nn.cast %{{[^{]*}} : tensor<3xf32> -> tensor<3xf8E4M3FN>
  %1 = onnx.node "Cast"(%x) {saturate = 0 : i64, to = 17 : i64} : (tensor<3xf32>) -> tensor<3xf8E4M3FN>
  // CHECK: nn.cast %{{.*}} {rounding = 1 : i32, saturate} : tensor<3xf32> -> tensor<3xf8E8M0FNU>
  %2 = onnx.node "Cast"(%x) {to = 24 : i64} : (tensor<3xf32>) -> tensor<3xf8E8M0FNU>
  // CHECK: nn.cast %{{.*}} {rounding = 2 : i32, saturate} : tensor<3xf32> -> tensor<3xf8E8M0FNU>
  %3 = onnx.node "Cast"(%x) {round_mode = "down", to = 24 : i64} : (tensor<3xf32>) -> tensor<3xf8E8M0FNU>
  // CHECK: nn.cast %{{[^{]*}} : tensor<3xf8E5M2> -> tensor<3xf16>
  %4 = onnx.node "Cast"(%y) {to = 10 : i64} : (tensor<3xf8E5M2>) -> tensor<3xf16>
  // CHECK: nn.cast %{{.*}} {saturate} : tensor<3xf32> -> tensor<3xf4E2M1FN>
  %5 = onnx.node "CastLike"(%x, %like) : (tensor<3xf32>, tensor<1xf4E2M1FN>) -> tensor<3xf4E2M1FN>
  return %0, %1, %2, %3, %4, %5 : tensor<3xf8E5M2>, tensor<3xf8E4M3FN>, tensor<3xf8E8M0FNU>, tensor<3xf8E8M0FNU>, tensor<3xf16>, tensor<3xf4E2M1FN>
}
}

// -----

module attributes {onnx.opset_import = {ai.onnx = 25 : i64}} {
func.func @wrong(%x: tensor<3xf32>) -> tensor<3xf8E8M0FNU> {
  // expected-error @+1 {{Cast (opset 25) is invalid: 'round_mode' is 'away', but must be up, down or nearest}}
  %0 = onnx.node "Cast"(%x) {round_mode = "away", to = 24 : i64} : (tensor<3xf32>) -> tensor<3xf8E8M0FNU>
  return %0 : tensor<3xf8E8M0FNU>
}
}
