// RUN: ingot-opt --nn-fold-constants="small-bytes=0 max-bytes=16" --split-input-file %s | FileCheck %s

// Results of ops that only move elements may be larger than other results.
// CHECK-LABEL: @gates
func.func @gates() -> (tensor<2x4xf32>, tensor<4x2xf32>) {
  // CHECK-DAG: dense<{{\[}}[5.000000e+00, 6.000000e+00, 7.000000e+00, 8.000000e+00], [1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]]>
  // CHECK-DAG: dense<{{\[}}[1.000000e+00, 5.000000e+00], [2.000000e+00, 6.000000e+00], [3.000000e+00, 7.000000e+00], [4.000000e+00, 8.000000e+00]]>
  // CHECK-NOT: nn.
  %w = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>
  %0 = nn.slice %w {sizes = array<i64: 1, 4>, starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : tensor<2x4xf32> -> tensor<1x4xf32>
  %1 = nn.slice %w {sizes = array<i64: 1, 4>, starts = array<i64: 1, 0>, steps = array<i64: 1, 1>} : tensor<2x4xf32> -> tensor<1x4xf32>
  %2 = nn.concat %1, %0 {axis = 0 : i64} : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
  %3 = nn.transpose %w {perm = array<i64: 1, 0>} : tensor<2x4xf32> -> tensor<4x2xf32>
  return %2, %3 : tensor<2x4xf32>, tensor<4x2xf32>
}

// -----

// There is a limit: four times the 32 bytes of all constants are 64 and then
// not 128.
// CHECK-LABEL: @doubled
// CHECK: %[[W:.*]] = arith.constant dense<{{.*}}> : tensor<2x8xf32>
// CHECK: nn.concat %[[W]], %[[W]] {{.*}} -> tensor<4x8xf32>
func.func @doubled() -> tensor<4x8xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]]> : tensor<1x8xf32>
  %0 = nn.concat %w, %w {axis = 0 : i64} : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
  %1 = nn.concat %0, %0 {axis = 0 : i64} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// Other results keep their limit.
// CHECK-LABEL: @computed
// CHECK: nn.add
func.func @computed() -> tensor<1x8xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]]> : tensor<1x8xf32>
  %0 = nn.add %w, %w : tensor<1x8xf32>, tensor<1x8xf32> -> tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}
