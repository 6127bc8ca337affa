// RUN: ingot-opt --nn-to-linalg --canonicalize --split-input-file --verify-diagnostics %s | FileCheck %s

// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (0, d1)>

// The map broadcasts a dimension of size 1.

// CHECK-LABEL: @broadcast
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ROW]], #[[ID]]]
// CHECK: arith.addf
func.func @broadcast(%x: tensor<3x4xf32>, %r: tensor<1x4xf32>) -> tensor<3x4xf32> {
  %y = nn.add %x, %r : tensor<3x4xf32>, tensor<1x4xf32> -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// Dimensions of one name have one size: no choice at run time.

// CHECK-LABEL: @named
// CHECK-NOT: tensor.extract
// CHECK: linalg.generic
func.func @named(%x: tensor<?x4xf32> {ingot.dim_names = ["n", ""]}, %y: tensor<?x4xf32> {ingot.dim_names = ["n", ""]}) -> tensor<?x4xf32> {
  %0 = nn.mul %x, %y : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// Unrelated sizes may broadcast in a run.

// CHECK-LABEL: @unrelated
// CHECK: arith.select
// CHECK: linalg.generic
// CHECK: arith.select
// CHECK: tensor.extract
func.func @unrelated(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = nn.mul %x, %y : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// The sign of an integer type selects the operation, then it is dropped.

// CHECK-LABEL: @unsigned
// CHECK-SAME: tensor<4xi8> {ingot.type = tensor<4xui8>}
// CHECK: arith.divui
func.func @unsigned(%x: tensor<4xui8>, %y: tensor<4xui8>) -> tensor<4xui8> {
  %0 = nn.div %x, %y : tensor<4xui8>, tensor<4xui8> -> tensor<4xui8>
  return %0 : tensor<4xui8>
}

// Narrow floats are computed in f32.

// CHECK-LABEL: @half
// CHECK: arith.extf
// CHECK: math.exp {{.*}} : f32
// CHECK: arith.truncf
func.func @half(%x: tensor<4xf16>) -> tensor<4xf16> {
  %0 = nn.exp %x : tensor<4xf16> -> tensor<4xf16>
  return %0 : tensor<4xf16>
}

// -----

func.func @undefined(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @below {{has no lowering for operands of type 'tensor<4xi32>'}}
  %0 = nn.tanh %x : tensor<4xi32> -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

// Sums become bytes in f64, as in ONNX's reference; or by one multiply-add whose bits count integers.

// CHECK-LABEL: @requantize
// CHECK-DAG: %[[WHOLE:.*]] = arith.constant 0x4B400000 : f32
// CHECK-DAG: %[[BITS:.*]] = arith.constant 1262485504 : i32
// CHECK: %[[X:.*]] = arith.sitofp %{{.*}} : i32 to f64
// CHECK: %[[S:.*]] = arith.extf %{{.*}} : f32 to f64
// CHECK: %[[ZERO:.*]] = arith.uitofp %{{.*}} : i8 to f64
// CHECK: %[[P:.*]] = arith.mulf %[[X]], %[[S]] : f64
// CHECK: %[[Q:.*]] = arith.addf %[[P]], %[[ZERO]] : f64
// CHECK: arith.maximumf %[[Q]]
// CHECK: arith.minimumf
// CHECK: math.roundeven
// CHECK: arith.fptosi %{{.*}} : f64 to i32
// CHECK: %[[SHIFT:.*]] = arith.addf %{{.*}}, %[[WHOLE]] : f32
// CHECK: %[[F:.*]] = math.fma %{{.*}}, %{{.*}}, %[[SHIFT]] : f32
// CHECK: %[[B:.*]] = arith.bitcast %[[F]] : f32 to i32
// CHECK: %[[N:.*]] = arith.subi %[[B]], %[[BITS]]
// CHECK: arith.maxsi %[[N]]
// CHECK: arith.minsi
// CHECK: arith.trunci
func.func @requantize(%x: tensor<3x4xi32>, %s: tensor<4xf32>) -> (tensor<3x4xui8>, tensor<3x4xui8>) {
  %z = arith.constant dense<3> : tensor<ui8>
  %0 = nn.requantize %x, %s, %z : tensor<3x4xi32>, tensor<4xf32>, tensor<ui8> -> tensor<3x4xui8>
  %1 = nn.requantize %x, %s, %z {fits_f32} : tensor<3x4xi32>, tensor<4xf32>, tensor<ui8> -> tensor<3x4xui8>
  return %0, %1 : tensor<3x4xui8>, tensor<3x4xui8>
}
