// RUN: ingot-opt --nn-to-linalg --split-input-file %s | FileCheck %s

// CHECK-LABEL: @cumsum
func.func @cumsum(%x: tensor<?x8x2xf32>) -> tensor<?x8x2xf32> {
  // CHECK: scf.for
  // CHECK: tensor.extract_slice %{{.*}}[0, %{{.*}}, 0] [%{{.*}}, 1, 2] [1, 1, 1] : tensor<?x8x2xf32> to tensor<?x1x2xf32>
  // CHECK: linalg.generic
  // CHECK: arith.addf
  // CHECK: tensor.insert_slice
  // CHECK: scf.yield
  %0 = nn.cumsum %x {axis = 1 : i64} : tensor<?x8x2xf32> -> tensor<?x8x2xf32>
  return %0 : tensor<?x8x2xf32>
}

// -----

// Contiguous elements are summed one after the other.
// CHECK-LABEL: @rows
func.func @rows(%x: tensor<?x8x1xbf16>) -> tensor<?x8x1xbf16> {
  // CHECK-NOT: linalg.generic
  // CHECK: scf.for %[[ROW:[a-z0-9]+]] = {{.*}} -> (tensor<?x8xbf16>)
  // CHECK: scf.for %[[I:[a-z0-9]+]] = {{.*}} iter_args(%[[Y:[a-z0-9]+]] = {{.*}}, %[[SUM:[a-z0-9]+]] = {{.*}}) -> (tensor<?x8xbf16>, f32)
  // CHECK: tensor.extract %{{.*}}[%[[ROW]], %[[I]]]
  // CHECK: %[[NEXT:.*]] = arith.addf %[[SUM]], %{{.*}} : f32
  // CHECK: tensor.insert %{{.*}} into %[[Y]][%[[ROW]], %[[I]]]
  // CHECK: scf.yield %{{.*}}, %[[NEXT]]
  %0 = nn.cumsum %x {axis = 1 : i64} : tensor<?x8x1xbf16> -> tensor<?x8x1xbf16>
  return %0 : tensor<?x8x1xbf16>
}

// -----

// From the end, and each result excludes its own element.
// CHECK-LABEL: @cumprod
func.func @cumprod(%x: tensor<4x3xi32>) -> tensor<4x3xi32> {
  // CHECK: arith.constant 1 : i32
  // CHECK: scf.for
  // CHECK: arith.subi
  // CHECK: %[[P:.*]] = arith.muli %[[ACC:.*]], %{{.*}} : i32
  // CHECK: linalg.yield %[[ACC]], %[[P]]
  %0 = nn.cumsum %x {axis = 0 : i64, exclusive, product, reverse} : tensor<4x3xi32> -> tensor<4x3xi32>
  return %0 : tensor<4x3xi32>
}
