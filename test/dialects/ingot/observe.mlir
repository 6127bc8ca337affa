// RUN: ingot-opt --split-input-file --verify-diagnostics %s | ingot-opt --split-input-file | FileCheck %s

// CHECK: ingot.observe 0 %arg0 : tensor<2x?xf32>
// CHECK: ingot.observe 1 %arg1 : memref<4xf32, strided<[2]>>
func.func @shown(%x: tensor<2x?xf32>, %y: memref<4xf32, strided<[2]>>) {
  ingot.observe 0 %x : tensor<2x?xf32>
  ingot.observe 1 %y : memref<4xf32, strided<[2]>>
  return
}

// -----

func.func @negative(%x: tensor<2xf32>) {
  // expected-error @+1 {{expects a number that is not negative, but got -1}}
  ingot.observe -1 %x : tensor<2xf32>
  return
}

// -----

// expected-error @+1 {{'ingot.observed' has a value of another type}}
module attributes {ingot.observed = [1]} {}
