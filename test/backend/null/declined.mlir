// RUN: ingot-opt-null --nn-assign-backends='backends=native preferred=null preferred-nodes=cut,rows' %s | FileCheck %s
// RUN: ingot-opt-null --nn-assign-backends='backends=native preferred=null preferred-nodes=cut,rows' --remarks-filter-analyse=decision %s 2>&1 | FileCheck %s --check-prefix=REMARK

// A backend may be asked first for some nodes, whatever its device; what it declines goes to the next.
// CHECK: module attributes {ingot.declined = [#ingot.declined<"rows", null, "is not an nn.relu">]}
// CHECK: nn.relu {{.*}}ingot.backend = #ingot.backend<null>
// CHECK: nn.softmax {{.*}}ingot.backend = #ingot.backend<native>
// REMARK: remark: loc("rows"): [Analysis] nn.softmax | Category:decision | Decision="#ingot.decision<backend, "native", [<"null">, <"native">], "null: is not an nn.relu">"
func.func @chain(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = nn.relu %x : tensor<2x3xf32> -> tensor<2x3xf32> loc("cut")
  %1 = nn.softmax %0 {axis = 1 : i64} : tensor<2x3xf32> -> tensor<2x3xf32> loc("rows")
  return %1 : tensor<2x3xf32>
}
