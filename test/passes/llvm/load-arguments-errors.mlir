// RUN: ingot-opt --load-arguments=most-buffers=1 --split-input-file --verify-diagnostics %s

module attributes {
    ingot.inputs = [#ingot.tensor<"a" : tensor<f32>>],
    ingot.outputs = [#ingot.tensor<"c" : tensor<f32>>]} {
  // expected-error@+1 {{expects an argument for each of 2 inputs and outputs, and the run's call}}
  func.func @forward(%a: memref<f32>, %c: memref<f32>, %last: memref<?xi8>) {
    return
  }
}
