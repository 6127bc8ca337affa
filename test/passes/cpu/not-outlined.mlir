// RUN: ingot-opt --cpu-schedule --cpu-group-norm-to-vector --cpu-pool-to-vector --cpu-reduce-to-vector --cpu-row-norm-to-vector \
// RUN:   --cpu-softmax-to-vector --split-input-file --verify-diagnostics %s

// An op outside of a kernel is reported by every pass that lowers such ops to
// loops.
func.func @group_norm(%x: memref<1x30x20xf32>, %y: memref<1x30x20xf32>) {
  // expected-error @+1 {{expects to be in a kernel: outline-kernels makes it}}
  cpu.group_norm ins(%x : memref<1x30x20xf32>) outs(%y : memref<1x30x20xf32>)
      attributes {epsilon = 1.0e-5 : f32, groups = 4 : i64} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}

// -----

func.func @pool(%x: memref<1x9x9x32xf32>, %y: memref<1x9x9x32xf32>) {
  // expected-error @+1 {{expects to be in a kernel: outline-kernels makes it}}
  cpu.pool max ins(%x : memref<1x9x9x32xf32>) outs(%y : memref<1x9x9x32xf32>)
      attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>,
                  pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}

// -----

func.func @reduce(%x: memref<4x99x1xf32>, %y: memref<4x1xf32>) {
  // expected-error @+1 {{expects to be in a kernel: outline-kernels makes it}}
  cpu.reduce sum ins(%x : memref<4x99x1xf32>) outs(%y : memref<4x1xf32>) {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}

// -----

func.func @row_norm(%x: memref<2x64xf32>, %y: memref<2x64xf32>) {
  // expected-error @+1 {{expects to be in a kernel: outline-kernels makes it}}
  cpu.row_norm ins(%x : memref<2x64xf32>) outs(%y : memref<2x64xf32>) attributes {epsilon = 1.0e-5 : f32} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}

// -----

func.func @softmax(%x: memref<2x50xf32>, %y: memref<2x50xf32>) {
  // expected-error @+1 {{expects to be in a kernel: outline-kernels makes it}}
  cpu.softmax ins(%x : memref<2x50xf32>) outs(%y : memref<2x50xf32>) {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}
