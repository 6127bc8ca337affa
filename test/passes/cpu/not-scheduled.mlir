// RUN: ingot-opt %s --outline-kernels --split-input-file --verify-diagnostics
// RUN: ingot-opt %s --cpu-matmul-to-vector --cpu-softmax-to-vector --split-input-file --verify-diagnostics

// Neither splitting nor code generation works without a schedule: the missing
// schedule is reported.
func.func @matmul(%a: memref<5x7xf32>, %w: memref<1x7x16xf32>, %d: memref<5x9xf32>, %task: index) {
  // expected-error @+1 {{has no schedule: cpu-schedule sets it}}
  cpu.matmul ins(%a, %w : memref<5x7xf32>, memref<1x7x16xf32>) outs(%d : memref<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @softmax(%x: memref<2x50xf32>, %y: memref<2x50xf32>, %task: index) {
  // expected-error @+1 {{has no schedule: cpu-schedule sets it}}
  cpu.softmax ins(%x : memref<2x50xf32>) outs(%y : memref<2x50xf32>) {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}

// -----

// A schedule for another target is reported, too.
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @matmul(%a: memref<28x7xf32>, %w: memref<1x7x32xf32>, %d: memref<28x9xf32>, %task: index) {
    // expected-error @+1 {{expects a tile for the 16 registers of x86-64-v3, but got 14x32, which takes 61}}
    cpu.matmul ins(%a, %w : memref<28x7xf32>, memref<1x7x32xf32>) outs(%d : memref<28x9xf32>)
        attributes {schedule = #cpu.schedule<tile = <14x32>, grid = <14x1>>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}
