// RUN: ingot-opt --ingot-attach-targets=levels=sapphirerapids --nn-quantize-computed-products --split-input-file %s | FileCheck %s
// RUN: ingot-opt --ingot-attach-targets=levels=x86-64-v3 --nn-quantize-computed-products --split-input-file %s | FileCheck %s --check-prefix=WIDE
// RUN: ingot-opt %s --ingot-attach-targets=levels=sapphirerapids --nn-quantize-computed-products --split-input-file --remarks-filter-analyse=decision 2>&1 >/dev/null | FileCheck %s --check-prefix=DECISION

// DECISION-DAG: Decision="#ingot.decision<precision, "int8", "multiplies several bytes in an instruction">", Sizes=2x48x32
// DECISION-DAG: Decision="#ingot.decision<precision, "float32", "has short sums, or sums that do not fill groups of four">", Sizes=48x32
// DECISION-DAG: Decision="#ingot.decision<precision, "float32", "has few rows or columns, which do not pay for packing">", Sizes=4x32
// DECISION-DAG: Decision="#ingot.decision<precision, "float32", "has open sizes, for which no kernel packs a factor">", Sizes=?x32

// The right factor is shifted by 128, so that its zero point 130 becomes 2.
// 64 * 3 * 2 is added back. The sums of the rows are multiplied by 2, the sums
// of the columns by 3. CPUs that widen bytes multiply floats.
// CHECK-LABEL: @unsigned
// CHECK: %[[X:.*]] = nn.xor %arg1
// CHECK: %[[B:.*]] = nn.cast %[[X]] : tensor<2x64x32xui8> -> tensor<2x64x32xi8>
// CHECK: %[[P:.*]] = nn.matmul %arg0, %[[B]] : (tensor<2x48x64xui8>, tensor<2x64x32xi8>) -> tensor<2x48x32xi32>
// CHECK: %[[R:.*]] = nn.reduce sum %{{.*}} -> tensor<2x48x1xi32>
// CHECK: arith.constant dense<2> : tensor<i32>
// CHECK: nn.mul %[[R]]
// CHECK: %[[S:.*]] = nn.sub %[[P]]
// CHECK: %[[C:.*]] = nn.reduce sum %{{.*}} -> tensor<2x1x32xi32>
// CHECK: arith.constant dense<3> : tensor<i32>
// CHECK: nn.mul %[[C]]
// CHECK: %[[D:.*]] = nn.sub %[[S]]
// CHECK: %[[N:.*]] = arith.constant dense<384> : tensor<i32>
// CHECK: %[[A:.*]] = nn.add %[[D]], %[[N]]
// CHECK: %[[F:.*]] = nn.cast %[[A]]
// CHECK: arith.constant dense<1.250000e-01> : tensor<f32>
// CHECK: nn.mul %[[F]]
// WIDE-LABEL: @unsigned
// WIDE: nn.matmul {{.*}} (tensor<2x48x64xf32>, tensor<2x64x32xf32>)
func.func @unsigned(%a: tensor<2x48x64xui8>, %b: tensor<2x64x32xui8>) -> tensor<2x48x32xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<ui8>
  %t = arith.constant dense<0.25> : tensor<f32>
  %y = arith.constant dense<130> : tensor<ui8>
  %0 = nn.dequantize %a, %s zero_point(%z) {axis = 0 : i64} : (tensor<2x48x64xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x48x64xf32>
  %1 = nn.dequantize %b, %t zero_point(%y) {axis = 0 : i64} : (tensor<2x64x32xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x64x32xf32>
  %2 = nn.matmul %0, %1 : (tensor<2x48x64xf32>, tensor<2x64x32xf32>) -> tensor<2x48x32xf32>
  return %2 : tensor<2x48x32xf32>
}

// -----

// Both factors are signed and have no zero point. The left one is shifted to
// 128, which takes sums of the columns. They are the sums of the rows of a
// transposed factor.
// CHECK-LABEL: @signed
// CHECK: nn.matmul {{.*}}transpose_b{{.*}} (tensor<2x48x64xui8>, tensor<2x32x64xi8>) -> tensor<2x48x32xi32>
// CHECK: nn.transpose %arg1
// CHECK: nn.reduce sum %{{.*}} -> tensor<2x1x32xi32>
// CHECK: arith.constant dense<128> : tensor<i32>
// CHECK: nn.sub
// CHECK-NOT: nn.{{sub|add}}
// CHECK: return
func.func @signed(%a: tensor<2x48x64xi8>, %b: tensor<2x32x64xi8>) -> tensor<2x48x32xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %0 = nn.dequantize %a, %s {axis = 0 : i64} : (tensor<2x48x64xi8>, tensor<f32>) -> tensor<2x48x64xf32>
  %1 = nn.dequantize %b, %s {axis = 0 : i64} : (tensor<2x32x64xi8>, tensor<f32>) -> tensor<2x32x64xf32>
  %2 = nn.matmul %0, %1 {transpose_b} : (tensor<2x48x64xf32>, tensor<2x32x64xf32>) -> tensor<2x48x32xf32>
  return %2 : tensor<2x48x32xf32>
}

// -----

// Sums of 24 terms, 4 rows, and an open number of rows do not pay.
// CHECK-LABEL: @short
// CHECK: nn.matmul {{.*}} -> tensor<48x32xf32>
// CHECK: nn.matmul {{.*}} -> tensor<4x32xf32>
// CHECK: nn.matmul {{.*}} -> tensor<?x32xf32>
func.func @short(%a: tensor<48x24xui8>, %b: tensor<24x32xui8>, %c: tensor<4x64xui8>, %d: tensor<64x32xui8>, %e: tensor<?x64xui8>) -> (tensor<48x32xf32>, tensor<4x32xf32>, tensor<?x32xf32>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %0 = nn.dequantize %a, %s {axis = 0 : i64} : (tensor<48x24xui8>, tensor<f32>) -> tensor<48x24xf32>
  %1 = nn.dequantize %b, %s {axis = 0 : i64} : (tensor<24x32xui8>, tensor<f32>) -> tensor<24x32xf32>
  %2 = nn.matmul %0, %1 : (tensor<48x24xf32>, tensor<24x32xf32>) -> tensor<48x32xf32>
  %3 = nn.dequantize %c, %s {axis = 0 : i64} : (tensor<4x64xui8>, tensor<f32>) -> tensor<4x64xf32>
  %4 = nn.dequantize %d, %s {axis = 0 : i64} : (tensor<64x32xui8>, tensor<f32>) -> tensor<64x32xf32>
  %5 = nn.matmul %3, %4 : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  %6 = nn.dequantize %e, %s {axis = 0 : i64} : (tensor<?x64xui8>, tensor<f32>) -> tensor<?x64xf32>
  %7 = nn.matmul %6, %4 : (tensor<?x64xf32>, tensor<64x32xf32>) -> tensor<?x32xf32>
  return %2, %5, %7 : tensor<48x32xf32>, tensor<4x32xf32>, tensor<?x32xf32>
}

// -----

// A constant factor belongs to nn-quantize-products. Scores of an attention
// that multiplies floats stay, because one kernel of floats computes it.
// CHECK-LABEL: @others
// CHECK-COUNT-3: nn.matmul {{.*}} -> tensor<{{.*}}xf32>
func.func @others(%a: tensor<2x48x64xui8>, %b: tensor<2x48x64xui8>, %v: tensor<2x48x64xf32>) -> (tensor<2x48x32xf32>, tensor<2x48x64xf32>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %w = arith.constant dense<1> : tensor<2x64x32xi8>
  %0 = nn.dequantize %a, %s {axis = 0 : i64} : (tensor<2x48x64xui8>, tensor<f32>) -> tensor<2x48x64xf32>
  %1 = nn.dequantize %w, %s {axis = 0 : i64} : (tensor<2x64x32xi8>, tensor<f32>) -> tensor<2x64x32xf32>
  %2 = nn.matmul %0, %1 : (tensor<2x48x64xf32>, tensor<2x64x32xf32>) -> tensor<2x48x32xf32>
  %3 = nn.dequantize %b, %s {axis = 0 : i64} : (tensor<2x48x64xui8>, tensor<f32>) -> tensor<2x48x64xf32>
  %4 = nn.matmul %0, %3 {transpose_b} : (tensor<2x48x64xf32>, tensor<2x48x64xf32>) -> tensor<2x48x48xf32>
  %5 = nn.mul %4, %s : tensor<2x48x48xf32>, tensor<f32> -> tensor<2x48x48xf32>
  %6 = nn.softmax %5 {axis = 2 : i64} : tensor<2x48x48xf32> -> tensor<2x48x48xf32>
  %7 = nn.matmul %6, %v : (tensor<2x48x48xf32>, tensor<2x48x64xf32>) -> tensor<2x48x64xf32>
  return %2, %7 : tensor<2x48x32xf32>, tensor<2x48x64xf32>
}
