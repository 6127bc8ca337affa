// RUN: ingot-opt --nn-to-linalg --split-input-file %s | FileCheck %s

// CHECK-LABEL: @cumsum
func.func @cumsum(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK: scf.for
  // CHECK: tensor.extract_slice %{{.*}}[0, %{{.*}}] [%{{.*}}, 1] [1, 1] : tensor<?x8xf32> to tensor<?x1xf32>
  // CHECK: linalg.generic
  // CHECK: arith.addf
  // CHECK: tensor.insert_slice
  // CHECK: scf.yield
  %0 = nn.cumsum %x {axis = 1 : i64} : tensor<?x8xf32> -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// From the end, and each result leaves its own element out.
// CHECK-LABEL: @cumprod
func.func @cumprod(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK: arith.constant 1 : i32
  // CHECK: scf.for
  // CHECK: arith.subi
  // CHECK: %[[P:.*]] = arith.muli %[[ACC:.*]], %{{.*}} : i32
  // CHECK: linalg.yield %[[ACC]], %[[P]]
  %0 = nn.cumsum %x {axis = 0 : i64, exclusive, product, reverse} : tensor<4xi32> -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
