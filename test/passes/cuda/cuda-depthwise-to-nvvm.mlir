// RUN: ingot-opt --pass-pipeline="builtin.module(builtin.module(cuda-depthwise-to-nvvm))" --split-input-file %s | FileCheck %s

// A thread computes eight channels of a pixel. Elements outside of src become
// zeros: the address is that of the first element, and the value is replaced.
// CHECK-LABEL: func.func private @padded
// CHECK: scf.if
// CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xf16>
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
// CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xf16>
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : vector<8xf16>
// CHECK-COUNT-72: llvm.intr.fma
// CHECK-NOT: llvm.intr.fma
// CHECK: llvm.store {{.*}} {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<1>
module {
  module @ingot_cuda_kernels {
    func.func private @padded(%x: memref<1x9x9x16xf16>, %w: memref<3x3x16xf16>, %y: memref<1x9x9x16xf16>) {
      cuda.depthwise_conv ins(%x, %w : memref<1x9x9x16xf16>, memref<3x3x16xf16>) outs(%y : memref<1x9x9x16xf16>)
          attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
      ^bb0(%sum: f32):
        %0 = arith.truncf %sum : f32 to f16
        cuda.yield %0 : f16
      }
      return
    }
  }
}

// -----

// With many pixels, a thread computes two neighbors. They share an element of
// src: a row of two taps has three. The last column has no second pixel.
// CHECK-LABEL: func.func private @neighbors
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK-COUNT-2: llvm.load {{.*}} -> vector<4xf32>
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK-NOT: llvm.load
// CHECK: llvm.store
// CHECK: scf.if
// CHECK: llvm.store
// CHECK-NOT: llvm.store
module {
  module @ingot_cuda_kernels {
    func.func private @neighbors(%x: memref<2x100x92x16xf32>, %w: memref<1x2x16xf32>, %y: memref<2x100x91x16xf32>) {
      cuda.depthwise_conv ins(%x, %w : memref<2x100x92x16xf32>, memref<1x2x16xf32>) outs(%y : memref<2x100x91x16xf32>)
          attributes {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} {
      ^bb0(%sum: f32):
        cuda.yield %sum : f32
      }
      return
    }
  }
}

// -----

// Channels that are not a multiple of a vector are taken one by one.
// CHECK-LABEL: func.func private @narrow
// CHECK: llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK-NOT: vector<
module {
  module @ingot_cuda_kernels {
    func.func private @narrow(%x: memref<1x9x5xf32>, %w: memref<3x5xf32>, %y: memref<1x4x5xf32>) {
      cuda.depthwise_conv ins(%x, %w : memref<1x9x5xf32>, memref<3x5xf32>) outs(%y : memref<1x4x5xf32>)
          attributes {strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} {
      ^bb0(%sum: f32):
        cuda.yield %sum : f32
      }
      return
    }
  }
}

// -----

// A channel of src gives two of dst: a thread loads two channels for its four
// results. With five results of a channel, a vector is one result.
// CHECK-LABEL: func.func private @multiplier
// CHECK: arith.divui %{{.*}}, %c2_i32
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK: llvm.load {{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
// CHECK-COUNT-4: llvm.intr.fma
// CHECK-NOT: llvm.intr.fma
// CHECK: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<1>
// CHECK-LABEL: func.func private @odd
// CHECK-NOT: vector<
// CHECK: llvm.intr.fma
module {
  module @ingot_cuda_kernels {
    func.func private @multiplier(%x: memref<1x9x8xf32>, %w: memref<1x16xf32>, %y: memref<1x9x16xf32>) {
      cuda.depthwise_conv ins(%x, %w : memref<1x9x8xf32>, memref<1x16xf32>) outs(%y : memref<1x9x16xf32>)
          attributes {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} {
      ^bb0(%sum: f32):
        cuda.yield %sum : f32
      }
      return
    }
    func.func private @odd(%x: memref<1x9x4xf32>, %w: memref<1x20xf32>, %y: memref<1x9x20xf32>) {
      cuda.depthwise_conv ins(%x, %w : memref<1x9x4xf32>, memref<1x20xf32>) outs(%y : memref<1x9x20xf32>)
          attributes {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} {
      ^bb0(%sum: f32):
        cuda.yield %sum : f32
      }
      return
    }
  }
}
