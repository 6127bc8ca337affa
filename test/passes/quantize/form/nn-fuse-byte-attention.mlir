// RUN: ingot-opt --nn-fuse-byte-attention --split-input-file %s | FileCheck %s
// RUN: ingot-opt %s --nn-fuse-byte-attention --split-input-file --remarks-filter-analyse=decision 2>&1 >/dev/null | FileCheck %s --check-prefix=DECISION

// DECISION-DAG: Decision="#ingot.decision<precision, "int8 in one kernel", "keeps scores and probabilities in a task">", Sizes=1x2x8x32
// DECISION-DAG: Decision="#ingot.decision<precision, "separate products", "has few queries, which do not fill vectors">"
// DECISION-DAG: Decision="#ingot.decision<precision, "separate products", "has heads whose size the kernel does not support">"

// Transposes of heads vanish. All roundings are attributes: of the product, of
// the scaled scores and of the masked scores. The probabilities are signed with
// the zero point -128, so that their greatest integer is 255.
// CHECK-LABEL: @all
// CHECK-NOT: nn.{{quantize|softmax|matmul}}
// CHECK: %[[M:.*]] = tensor.expand_shape %arg3
// CHECK: %[[Y:.*]] = nn.byte_attention %arg0, %arg1, %arg2 mask(%[[M]]) {k_zero_point = 3 : i64, masked_rounding = array<f32: 5.000000e-01, -1.280000e+02, 1.270000e+02>, p_most = 255 : i64, p_scale = 3.906250e-03 : f32, product_rounding = array<f32: 1.250000e-01, -1.000000e+02, 1.550000e+02>, product_scale = 1.250000e-01 : f32, q_zero_point = 0 : i64, result_scale = 9.765625E-4 : f32, scale = 2.500000e-01 : f32, score_rounding = array<f32: 2.500000e-01, 0.000000e+00, 2.550000e+02>, v_zero_point = 0 : i64} : (tensor<1x8x2x16xui8>, tensor<1x9x2x16xui8>, tensor<1x9x2x32xi8>, tensor<1x1x8x9xf32>) -> tensor<1x8x2x32xf32>
// CHECK: nn.transpose %[[Y]] {perm = array<i64: 0, 2, 1, 3>}
func.func @all(%q: tensor<1x8x2x16xui8>, %k: tensor<1x9x2x16xui8>, %v: tensor<1x9x2x32xi8>, %m: tensor<8x9xf32>) -> tensor<1x2x8x32xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %t = arith.constant dense<0.25> : tensor<f32>
  %e = arith.constant dense<0.125> : tensor<f32>
  %four = arith.constant dense<4.0> : tensor<f32>
  %ps = arith.constant dense<0.00390625> : tensor<f32>
  %z = arith.constant dense<3> : tensor<ui8>
  %h = arith.constant dense<100> : tensor<ui8>
  %low = arith.constant dense<-128> : tensor<i8>
  %qt = nn.transpose %q {perm = array<i64: 0, 2, 1, 3>} : tensor<1x8x2x16xui8> -> tensor<1x2x8x16xui8>
  %kt = nn.transpose %k {perm = array<i64: 0, 2, 3, 1>} : tensor<1x9x2x16xui8> -> tensor<1x2x16x9xui8>
  %vt = nn.transpose %v {perm = array<i64: 0, 2, 1, 3>} : tensor<1x9x2x32xi8> -> tensor<1x2x9x32xi8>
  %0 = nn.dequantize %qt, %s {axis = 0 : i64} : (tensor<1x2x8x16xui8>, tensor<f32>) -> tensor<1x2x8x16xf32>
  %1 = nn.dequantize %kt, %t zero_point(%z) {axis = 0 : i64} : (tensor<1x2x16x9xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x16x9xf32>
  %2 = nn.dequantize %vt, %t {axis = 0 : i64} : (tensor<1x2x9x32xi8>, tensor<f32>) -> tensor<1x2x9x32xf32>
  %3 = nn.matmul %0, %1 : (tensor<1x2x8x16xf32>, tensor<1x2x16x9xf32>) -> tensor<1x2x8x9xf32>
  %4 = nn.quantize %3, %e zero_point(%h) {axis = 0 : i64} : (tensor<1x2x8x9xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x8x9xui8>
  %5 = nn.dequantize %4, %e zero_point(%h) {axis = 0 : i64} : (tensor<1x2x8x9xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x8x9xf32>
  %6 = nn.div %5, %four : tensor<1x2x8x9xf32>, tensor<f32> -> tensor<1x2x8x9xf32>
  %7 = nn.quantize %6, %t {axis = 0 : i64} : (tensor<1x2x8x9xf32>, tensor<f32>) -> tensor<1x2x8x9xui8>
  %8 = nn.dequantize %7, %t {axis = 0 : i64} : (tensor<1x2x8x9xui8>, tensor<f32>) -> tensor<1x2x8x9xf32>
  %9 = nn.add %m, %8 : tensor<8x9xf32>, tensor<1x2x8x9xf32> -> tensor<1x2x8x9xf32>
  %10 = nn.quantize %9, %s {axis = 0 : i64} : (tensor<1x2x8x9xf32>, tensor<f32>) -> tensor<1x2x8x9xi8>
  %11 = nn.dequantize %10, %s {axis = 0 : i64} : (tensor<1x2x8x9xi8>, tensor<f32>) -> tensor<1x2x8x9xf32>
  %12 = nn.softmax %11 {axis = 3 : i64} : tensor<1x2x8x9xf32> -> tensor<1x2x8x9xf32>
  %13 = nn.quantize %12, %ps zero_point(%low) {axis = 0 : i64} : (tensor<1x2x8x9xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x8x9xi8>
  %14 = nn.dequantize %13, %ps zero_point(%low) {axis = 0 : i64} : (tensor<1x2x8x9xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x8x9xf32>
  %15 = nn.matmul %14, %2 : (tensor<1x2x8x9xf32>, tensor<1x2x9x32xf32>) -> tensor<1x2x8x32xf32>
  return %15 : tensor<1x2x8x32xf32>
}

// -----

// Probabilities that are not rounded stay floats, as do those with another
// reader.
// CHECK-LABEL: @floats
// CHECK-NOT: nn.byte_attention
func.func @floats(%q: tensor<1x2x8x16xui8>, %k: tensor<1x2x9x16xui8>, %v: tensor<1x2x9x32xi8>) -> (tensor<1x2x8x32xf32>, tensor<1x2x8x32xf32>, tensor<1x2x8x9xui8>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %0 = nn.dequantize %q, %s {axis = 0 : i64} : (tensor<1x2x8x16xui8>, tensor<f32>) -> tensor<1x2x8x16xf32>
  %1 = nn.dequantize %k, %s {axis = 0 : i64} : (tensor<1x2x9x16xui8>, tensor<f32>) -> tensor<1x2x9x16xf32>
  %2 = nn.dequantize %v, %s {axis = 0 : i64} : (tensor<1x2x9x32xi8>, tensor<f32>) -> tensor<1x2x9x32xf32>
  %3 = nn.matmul %0, %1 {transpose_b} : (tensor<1x2x8x16xf32>, tensor<1x2x9x16xf32>) -> tensor<1x2x8x9xf32>
  %4 = nn.softmax %3 {axis = 3 : i64} : tensor<1x2x8x9xf32> -> tensor<1x2x8x9xf32>
  %5 = nn.matmul %4, %2 : (tensor<1x2x8x9xf32>, tensor<1x2x9x32xf32>) -> tensor<1x2x8x32xf32>
  %6 = nn.matmul %0, %1 {transpose_b} : (tensor<1x2x8x16xf32>, tensor<1x2x9x16xf32>) -> tensor<1x2x8x9xf32>
  %7 = nn.softmax %6 {axis = 3 : i64} : tensor<1x2x8x9xf32> -> tensor<1x2x8x9xf32>
  %8 = nn.quantize %7, %s {axis = 0 : i64} : (tensor<1x2x8x9xf32>, tensor<f32>) -> tensor<1x2x8x9xui8>
  %9 = nn.dequantize %8, %s {axis = 0 : i64} : (tensor<1x2x8x9xui8>, tensor<f32>) -> tensor<1x2x8x9xf32>
  %10 = nn.matmul %9, %2 : (tensor<1x2x8x9xf32>, tensor<1x2x9x32xf32>) -> tensor<1x2x8x32xf32>
  return %5, %10, %8 : tensor<1x2x8x32xf32>, tensor<1x2x8x32xf32>, tensor<1x2x8x9xui8>
}

// -----

// The kernel takes neither heads of 12 elements nor 4 queries. Batches must not
// broadcast.
// CHECK-LABEL: @declined
// CHECK-NOT: nn.byte_attention
func.func @declined(%q: tensor<1x2x8x12xui8>, %k: tensor<1x2x9x12xui8>, %v: tensor<1x2x9x32xi8>, %few: tensor<1x2x4x16xui8>, %l: tensor<1x2x9x16xui8>, %r: tensor<1x1x9x32xi8>, %many: tensor<1x2x8x16xui8>) -> (tensor<1x2x8x32xf32>, tensor<1x2x4x32xf32>, tensor<1x2x8x32xf32>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %0 = nn.dequantize %q, %s {axis = 0 : i64} : (tensor<1x2x8x12xui8>, tensor<f32>) -> tensor<1x2x8x12xf32>
  %1 = nn.dequantize %k, %s {axis = 0 : i64} : (tensor<1x2x9x12xui8>, tensor<f32>) -> tensor<1x2x9x12xf32>
  %2 = nn.dequantize %v, %s {axis = 0 : i64} : (tensor<1x2x9x32xi8>, tensor<f32>) -> tensor<1x2x9x32xf32>
  %3 = nn.matmul %0, %1 {transpose_b} : (tensor<1x2x8x12xf32>, tensor<1x2x9x12xf32>) -> tensor<1x2x8x9xf32>
  %4 = nn.softmax %3 {axis = 3 : i64} : tensor<1x2x8x9xf32> -> tensor<1x2x8x9xf32>
  %5 = nn.quantize %4, %s {axis = 0 : i64} : (tensor<1x2x8x9xf32>, tensor<f32>) -> tensor<1x2x8x9xui8>
  %6 = nn.dequantize %5, %s {axis = 0 : i64} : (tensor<1x2x8x9xui8>, tensor<f32>) -> tensor<1x2x8x9xf32>
  %7 = nn.matmul %6, %2 : (tensor<1x2x8x9xf32>, tensor<1x2x9x32xf32>) -> tensor<1x2x8x32xf32>
  %8 = nn.dequantize %few, %s {axis = 0 : i64} : (tensor<1x2x4x16xui8>, tensor<f32>) -> tensor<1x2x4x16xf32>
  %9 = nn.dequantize %l, %s {axis = 0 : i64} : (tensor<1x2x9x16xui8>, tensor<f32>) -> tensor<1x2x9x16xf32>
  %10 = nn.matmul %8, %9 {transpose_b} : (tensor<1x2x4x16xf32>, tensor<1x2x9x16xf32>) -> tensor<1x2x4x9xf32>
  %11 = nn.softmax %10 {axis = 3 : i64} : tensor<1x2x4x9xf32> -> tensor<1x2x4x9xf32>
  %12 = nn.quantize %11, %s {axis = 0 : i64} : (tensor<1x2x4x9xf32>, tensor<f32>) -> tensor<1x2x4x9xui8>
  %13 = nn.dequantize %12, %s {axis = 0 : i64} : (tensor<1x2x4x9xui8>, tensor<f32>) -> tensor<1x2x4x9xf32>
  %14 = nn.matmul %13, %2 : (tensor<1x2x4x9xf32>, tensor<1x2x9x32xf32>) -> tensor<1x2x4x32xf32>
  %15 = nn.dequantize %r, %s {axis = 0 : i64} : (tensor<1x1x9x32xi8>, tensor<f32>) -> tensor<1x1x9x32xf32>
  %16 = nn.dequantize %many, %s {axis = 0 : i64} : (tensor<1x2x8x16xui8>, tensor<f32>) -> tensor<1x2x8x16xf32>
  %17 = nn.matmul %16, %9 {transpose_b} : (tensor<1x2x8x16xf32>, tensor<1x2x9x16xf32>) -> tensor<1x2x8x9xf32>
  %18 = nn.softmax %17 {axis = 3 : i64} : tensor<1x2x8x9xf32> -> tensor<1x2x8x9xf32>
  %19 = nn.quantize %18, %s {axis = 0 : i64} : (tensor<1x2x8x9xf32>, tensor<f32>) -> tensor<1x2x8x9xui8>
  %20 = nn.dequantize %19, %s {axis = 0 : i64} : (tensor<1x2x8x9xui8>, tensor<f32>) -> tensor<1x2x8x9xf32>
  %21 = nn.matmul %20, %15 : (tensor<1x2x8x9xf32>, tensor<1x1x9x32xf32>) -> tensor<1x2x8x32xf32>
  return %7, %14, %21 : tensor<1x2x8x32xf32>, tensor<1x2x4x32xf32>, tensor<1x2x8x32xf32>
}
