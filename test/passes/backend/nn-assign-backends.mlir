// RUN: ingot-opt --pass-pipeline='builtin.module(func.func(nn-assign-backends{onednn=second,fused}))' --split-input-file --verify-diagnostics %s | FileCheck %s

// CHECK-LABEL: func.func @forward
// CHECK: nn.relu {{.*}}ingot.backend = #ingot.backend<native>
// CHECK: nn.exp {{.*}}ingot.backend = #ingot.backend<onednn>
// CHECK: nn.add {{.*}}ingot.backend = #ingot.backend<onednn>
func.func @forward(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = nn.relu %x : tensor<2xf32> -> tensor<2xf32> loc("first")
  %1 = nn.exp %0 : tensor<2xf32> -> tensor<2xf32> loc("second")
  %2 = nn.add %1, %x : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32> loc(fused["third", "fused"])
  return %2 : tensor<2xf32>
}

// -----

// expected-error @below {{kernels were chosen for another model: no operation computes node 'fused'}}
func.func @another(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = nn.relu %x : tensor<2xf32> -> tensor<2xf32> loc("second")
  return %0 : tensor<2xf32>
}
