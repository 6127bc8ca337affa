// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(nn-to-cuda,kernel-fuse-epilogues))' | FileCheck %s

// GPUs have code for all functions, so that an epilogue takes each of them.
// CHECK-LABEL: @functions
// CHECK: cuda.softmax
// CHECK: arith.maximumf
// CHECK: math.sinh
// CHECK: math.powf
// CHECK: cuda.yield
// CHECK-NOT: nn.
func.func @functions(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = nn.softmax %x {axis = 1 : i64, ingot.backend = #ingot.backend<cuda>} : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = nn.relu %0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = nn.sinh %1 : tensor<4x8xf32> -> tensor<4x8xf32>
  %3 = nn.pow %2, %2 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}
