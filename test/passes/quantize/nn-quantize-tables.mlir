// RUN: ingot-opt %s --nn-quantize-tables | FileCheck %s
// RUN: ingot-opt %s --pass-pipeline='builtin.module(nn-quantize-tables{keep=words=fp32})' | FileCheck %s --check-prefix=KEEP
// RUN: not ingot-opt %s --pass-pipeline='builtin.module(nn-quantize-tables{keep=word=fp32})' 2>&1 | FileCheck %s --check-prefix=RULE
// RUN: ingot-opt %s --pass-pipeline='builtin.module(nn-quantize-tables{narrow=w8 keep=small=w8})' | FileCheck %s --check-prefix=CONVERT
// RUN: ingot-opt %s --nn-quantize-tables --remarks-filter-analyse=decision 2>&1 >/dev/null | FileCheck %s --check-prefix=DECISION

// RULE: error: rule 'word=fp32' matches no node of the model; similar names: 'words'

// DECISION-DAG: nn.gather {{.*}}Decision="#ingot.decision<precision, "int8", [<"float32">, <"int8">], "has a large table">", Sizes=?x3x8192
// DECISION-DAG: nn.gather {{.*}}Decision="#ingot.decision<precision, "float32", [<"float32", cycles = {{[0-9]+}}>, <"int8", cycles = {{[0-9]+}}>], "has a small table, which does not pay for converting rows">", Sizes=3x8

// A scale per row: 2 is 127 steps in the row here.
// CHECK-LABEL: func.func @rows
// CHECK-DAG: %[[B:.*]] = arith.constant dense<127> : tensor<2x8192xi8>
// CHECK-DAG: %[[S:.*]] = arith.constant dense<0.0157480314> : tensor<2x1xf32>
// CHECK: %[[R:.*]] = nn.gather %[[B]], %arg0 {axis = 0 : i64} : (tensor<2x8192xi8>, tensor<?x3xi64>) -> tensor<?x3x8192xi8>
// CHECK: %[[F:.*]] = nn.gather %[[S]], %arg0 {axis = 0 : i64} : (tensor<2x1xf32>, tensor<?x3xi64>) -> tensor<?x3x1xf32>
// CHECK: %[[N:.*]] = nn.cast %[[R]] : tensor<?x3x8192xi8> -> tensor<?x3x8192xf32>
// CHECK: %[[Y:.*]] = nn.mul %[[N]], %[[F]]
// CHECK: return %[[Y]]
// KEEP-LABEL: func.func @rows
// KEEP-NOT: i8
// KEEP: return
func.func @rows(%i: tensor<?x3xi64>) -> tensor<?x3x8192xf32> {
  %table = arith.constant dense<2.0> : tensor<2x8192xf32>
  %0 = nn.gather %table, %i {axis = 0 : i64} : (tensor<2x8192xf32>, tensor<?x3xi64>) -> tensor<?x3x8192xf32> loc("words")
  return %0 : tensor<?x3x8192xf32>
}

// A rule converts a small table.
// CONVERT-LABEL: func.func @no
// CONVERT: nn.gather %{{.*}} : (tensor<2x8xi8>, tensor<3xi64>) -> tensor<3x8xi8>

// Must not fire: a small table, columns, a computed table, values that are not finite.
// CHECK-LABEL: func.func @no
// CHECK-NOT: i8
// CHECK: return
func.func @no(%i: tensor<3xi64>, %x: tensor<2x8192xf32>) -> (tensor<3x8xf32>, tensor<2x3xf32>, tensor<3x8192xf32>, tensor<3x8192xf32>) {
  %small = arith.constant dense<2.0> : tensor<2x8xf32>
  %table = arith.constant dense<2.0> : tensor<2x8192xf32>
  %inf = arith.constant dense<0x7f800000> : tensor<2x8192xf32>
  %0 = nn.gather %small, %i {axis = 0 : i64} : (tensor<2x8xf32>, tensor<3xi64>) -> tensor<3x8xf32> loc("small")
  %1 = nn.gather %table, %i {axis = 1 : i64} : (tensor<2x8192xf32>, tensor<3xi64>) -> tensor<2x3xf32>
  %2 = nn.gather %x, %i {axis = 0 : i64} : (tensor<2x8192xf32>, tensor<3xi64>) -> tensor<3x8192xf32>
  %3 = nn.gather %inf, %i {axis = 0 : i64} : (tensor<2x8192xf32>, tensor<3xi64>) -> tensor<3x8192xf32>
  return %0, %1, %2, %3 : tensor<3x8xf32>, tensor<2x3xf32>, tensor<3x8192xf32>, tensor<3x8192xf32>
}
