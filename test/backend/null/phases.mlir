// RUN: ingot-opt-null --ingot-linalg=kernels=null %s | FileCheck %s --check-prefix=LOWER
// RUN: ingot-opt-null --ingot-linalg=kernels=null --ingot-memory=kernels=null %s | FileCheck %s --check-prefix=MEMORY

// The phases are those of the device: no other backend has passes in them.
// LOWER-LABEL: func.func @forward
// LOWER: %[[DST:.*]] = tensor.empty
// LOWER: null.relu ins(%{{.*}} : tensor<2x3xf32>) outs(%[[DST]] : tensor<2x3xf32>) -> tensor<2x3xf32>

// A profile names the backend.
// MEMORY: ingot.layers = [#ingot.layer<"relu" by null
// MEMORY: null.relu ins(%{{.*}} : memref<2x3xf32{{.*}}>) outs(%{{.*}} : memref<2x3xf32{{.*}}>)
func.func @forward(%x: tensor<2x3xf32> {ingot.name = "x"}) -> (tensor<2x3xf32> {ingot.name = "y"}) {
  %0 = nn.relu %x : tensor<2x3xf32> -> tensor<2x3xf32> loc("cut")
  return %0 : tensor<2x3xf32>
}
