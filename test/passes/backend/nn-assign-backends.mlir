// RUN: ingot-opt --nn-assign-backends='backends=native' --split-input-file --verify-diagnostics %s | FileCheck %s
// RUN: ingot-opt --nn-assign-backends='backends=native' --split-input-file --remarks-filter-analyse=decision %s 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: ingot-opt --nn-assign-backends='backends=onednn' --split-input-file %s | FileCheck %s --check-prefix=ONEDNN
// RUN: ingot-opt --nn-assign-backends='backends=native preferred=onednn preferred-nodes=rows,product' --split-input-file %s | FileCheck %s --check-prefix=NODES
// RUN: not ingot-opt --nn-assign-backends='backends=native preferred=onednn preferred-nodes=none' %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not ingot-opt --nn-assign-backends='backends=gpu' %s 2>&1 | FileCheck %s --check-prefix=NO-BACKEND

// UNKNOWN: error: kernels were chosen for another model: no operation computes node 'none'
// NO-BACKEND: error: no backend is called 'gpu': use one of onednn, native, loops

// The first backend that takes the op gets it. No backend is asked for a sum.
// CHECK: module attributes {ingot.declined = [#ingot.declined<"product", native, "has a right factor of open size: float32[3,?]">]}
// CHECK-LABEL: func.func @softmax
// CHECK: nn.softmax {{.*}}ingot.backend = #ingot.backend<native>
// CHECK: nn.matmul {{.*}}ingot.backend = #ingot.backend<loops>
// CHECK: nn.add
// CHECK-NOT: ingot.backend
// CHECK: return
// REMARK: remark: loc("rows"): [Analysis] nn.softmax | Category:decision | Decision="#ingot.decision<backend, "native", [<"native">], "is computed by the first backend that is asked">", Sizes=2x3
// REMARK: remark: loc("product"): [Analysis] nn.matmul | Category:decision | Decision="#ingot.decision<backend, "loops", [<"native">, <"loops">], "native: has a right factor of open size: float32[3,?]">", Sizes=2x?
// REMARK-NOT: loc("sum"): {{.*}}decision
// ONEDNN: module {
// ONEDNN-LABEL: func.func @softmax
// ONEDNN: nn.softmax {{.*}}ingot.backend = #ingot.backend<onednn>
// ONEDNN: nn.matmul {{.*}}ingot.backend = #ingot.backend<onednn>
// NODES: module {
// NODES-LABEL: func.func @softmax
// NODES: nn.softmax {{.*}}ingot.backend = #ingot.backend<onednn>
// NODES: nn.matmul {{.*}}ingot.backend = #ingot.backend<onednn>
func.func @softmax(%x: tensor<2x3xf32>, %w: tensor<3x?xf32>) -> tensor<2x?xf32> {
  %0 = nn.softmax %x {axis = 1 : i64} : tensor<2x3xf32> -> tensor<2x3xf32> loc("rows")
  %1 = nn.matmul %0, %w : (tensor<2x3xf32>, tensor<3x?xf32>) -> tensor<2x?xf32> loc("product")
  %2 = nn.add %1, %1 : tensor<2x?xf32>, tensor<2x?xf32> -> tensor<2x?xf32> loc("sum")
  return %2 : tensor<2x?xf32>
}
