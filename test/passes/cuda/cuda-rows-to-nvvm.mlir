// RUN: ingot-opt --pass-pipeline="builtin.module(builtin.module(cuda-rows-to-nvvm))" --split-input-file %s | FileCheck %s

// A warp loads its row once, by accesses of 16 bytes, and keeps the
// exponentials. Lanes exchange the maximum and the sum by shuffles.
// CHECK-LABEL: func.func private @softmax
// CHECK-COUNT-2: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xf16>
// CHECK-NOT: llvm.load
// CHECK: arith.maximumf
// CHECK-COUNT-5: nvvm.shfl.sync bfly
// CHECK-COUNT-16: math.exp
// CHECK-NOT: math.exp
// CHECK-COUNT-5: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.barrier
// CHECK: arith.divf
// CHECK-COUNT-2: llvm.store {{.*}} {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<1>
module {
  module @ingot_cuda_kernels {
    func.func private @softmax(%x: memref<8x512xf16>, %y: memref<8x512xf16>) {
      cuda.softmax ins(%x : memref<8x512xf16>) outs(%y : memref<8x512xf16>)
          attributes {schedule = #cuda.row_schedule<threads = 32, rows = 4, vector = 8, held = 2>} {
      ^bb0(%p: f32):
        %0 = arith.truncf %p : f32 to f16
        cuda.yield %0 : f16
      }
      return
    }
  }
}

// -----

// A block reads a long row again for the sum and for the results. Its warps
// exchange their results in shared memory, in a place for each reduction.
// CHECK-LABEL: func.func private @long
// CHECK: scf.for
// CHECK: llvm.load
// CHECK: nvvm.barrier
// CHECK-COUNT-2: llvm.load {{.*}} !llvm.ptr<3> -> f32
// CHECK: scf.for
// CHECK: llvm.load
// CHECK: math.exp
// CHECK: nvvm.barrier
// CHECK: math.log
// CHECK: scf.for
// CHECK: llvm.load
// CHECK: llvm.store
module {
  module @ingot_cuda_kernels {
    func.func private @long(%x: memref<8x5000xf32>, %y: memref<8x5000xf32>) {
      cuda.softmax ins(%x : memref<8x5000xf32>) outs(%y : memref<8x5000xf32>)
          attributes {log, schedule = #cuda.row_schedule<threads = 64, rows = 1, vector = 4, held = 0>} {
      ^bb0(%p: f32):
        cuda.yield %p : f32
      }
      return
    }
  }
}

// -----

// Neither rows behind the last one nor elements behind the last of a row are
// loaded or stored. The elements do not count in sums. The epilogue scales.
// CHECK-LABEL: func.func private @tails
// CHECK: scf.if {{.*}} -> (f32)
// CHECK: llvm.load
// CHECK: } else {
// CHECK: arith.select {{.*}} : f32
// CHECK-COUNT-4: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync
// CHECK: math.sqrt
// CHECK: scf.if
// CHECK: llvm.load
// CHECK: arith.mulf %{{.*}}, %{{.*}} fastmath<contract>
// CHECK: llvm.store
module {
  module @ingot_cuda_kernels {
    func.func private @tails(%x: memref<7x13xf32>, %s: memref<1x13xf32>, %y: memref<7x13xf32>) {
      cuda.row_norm ins(%x : memref<7x13xf32>) operands(%s : memref<1x13xf32>) outs(%y : memref<7x13xf32>)
          attributes {epsilon = 1.0e-5 : f32, rms, schedule = #cuda.row_schedule<threads = 16, rows = 2, vector = 1, held = 1>} {
      ^bb0(%n: f32, %scale: f32):
        %0 = arith.mulf %n, %scale fastmath<contract> : f32
        cuda.yield %0 : f32
      }
      return
    }
  }
}

// -----

// A group has the same channels at all positions. The mean is subtracted once.
// CHECK-LABEL: func.func private @group
// CHECK-COUNT-4: llvm.load {{.*}} -> vector<2xf32>
// CHECK-COUNT-5: nvvm.shfl.sync bfly
// CHECK: nvvm.barrier
// CHECK-COUNT-8: arith.subf
// CHECK-NOT: arith.subf
// CHECK: nvvm.barrier
// CHECK-COUNT-4: llvm.store {{.*}} : vector<2xf32>, !llvm.ptr<1>
module {
  module @ingot_cuda_kernels {
    func.func private @group(%x: memref<2x64x32xf32>, %y: memref<2x64x32xf32>) {
      cuda.group_norm ins(%x : memref<2x64x32xf32>) outs(%y : memref<2x64x32xf32>)
          attributes {epsilon = 1.0e-5 : f32, groups = 4 : i64, schedule = #cuda.row_schedule<threads = 64, rows = 1, vector = 2, held = 4>} {
      ^bb0(%n: f32):
        cuda.yield %n : f32
      }
      return
    }
  }
}

// -----

// Eight threads share four columns. Each folds its elements, and then they
// combine their results through shared memory in steps of a half. The first one
// stores.
// CHECK-LABEL: func.func private @reduce
// CHECK-COUNT-2: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NOT: nvvm.shfl
// CHECK-COUNT-4: llvm.store {{.*}} : f32, !llvm.ptr<3>
// CHECK: nvvm.barrier
// CHECK: arith.constant 128 : i32
// CHECK: arith.cmpi ult
// CHECK: nvvm.barrier
// CHECK: arith.constant 64 : i32
// CHECK: nvvm.barrier
// CHECK: arith.constant 32 : i32
// CHECK: nvvm.barrier
// CHECK-NOT: nvvm.barrier
// CHECK: arith.divf
// CHECK: scf.if
// CHECK: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
module {
  module @ingot_cuda_kernels {
    func.func private @reduce(%x: memref<16x16x8xf32>, %y: memref<16x8xf32>) {
      cuda.reduce mean ins(%x : memref<16x16x8xf32>) outs(%y : memref<16x8xf32>)
          attributes {schedule = #cuda.row_schedule<threads = 8, rows = 32, vector = 4, held = 2>} {
      ^bb0(%mean: f32):
        cuda.yield %mean : f32
      }
      return
    }
  }
}

// -----

// A loop reads a column of open length, whose mean divides by the length.
// CHECK-LABEL: func.func private @open
// CHECK: %[[LENGTH:.*]] = arith.index_cast %sizes#1
// CHECK: %[[END:.*]] = arith.select %{{.*}}, %[[LENGTH]], %{{.*}} : i32
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[END]]
// CHECK: %[[COUNT:.*]] = arith.uitofp %[[LENGTH]]
// CHECK: arith.divf %{{.*}}, %[[COUNT]]
module {
  module @ingot_cuda_kernels {
    func.func private @open(%x: memref<4x?x8xf32>, %y: memref<4x8xf32>) {
      cuda.reduce mean ins(%x : memref<4x?x8xf32>) outs(%y : memref<4x8xf32>)
          attributes {schedule = #cuda.row_schedule<threads = 1, rows = 32, vector = 4, held = 0>} {
      ^bb0(%mean: f32):
        cuda.yield %mean : f32
      }
      return
    }
  }
}

// -----

// A thread computes a window of four channels. Taps in the padding count as
// -infinity, and their address is that of the first element. There is no
// exchange.
// CHECK-LABEL: func.func private @max_pool
// CHECK: arith.constant 0xFF800000 : f32
// CHECK-COUNT-9: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NOT: llvm.load
// CHECK-COUNT-32: arith.maximumf
// CHECK-NOT: arith.maximumf
// CHECK: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
module {
  module @ingot_cuda_kernels {
    func.func private @max_pool(%x: memref<1x32x32x8xf32>, %y: memref<1x16x16x8xf32>) {
      cuda.pool max ins(%x : memref<1x32x32x8xf32>) outs(%y : memref<1x16x16x8xf32>)
          attributes {taps = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 0, 0>, dilations = array<i64: 1, 1>,
                      schedule = #cuda.row_schedule<threads = 1, rows = 256, vector = 4, held = 9>} {
      ^bb0(%max: f32):
        cuda.yield %max : f32
      }
      return
    }
  }
}

// -----

// A mean divides by the number of elements that are not in the padding, and a
// mean with pads by the size of the window. Windows that stay in src need no
// comparison.
// CHECK-LABEL: func.func private @means
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: %[[COUNT:.*]] = arith.uitofp
// CHECK: arith.divf %{{.*}}, %[[COUNT]]
// CHECK-NOT: arith.select
// CHECK: %[[TAPS:.*]] = arith.constant 3.000000e+00 : f32
// CHECK: arith.divf %{{.*}}, %[[TAPS]]
module {
  module @ingot_cuda_kernels {
    func.func private @means(%x: memref<1x34x8xf32>, %y: memref<1x34x8xf32>, %z: memref<1x32x8xf32>) {
      cuda.pool mean ins(%x : memref<1x34x8xf32>) outs(%y : memref<1x34x8xf32>)
          attributes {taps = array<i64: 3>, strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>,
                      schedule = #cuda.row_schedule<threads = 1, rows = 32, vector = 8, held = 3>} {
      ^bb0(%mean: f32):
        cuda.yield %mean : f32
      }
      cuda.pool mean_with_pads ins(%x : memref<1x34x8xf32>) outs(%z : memref<1x32x8xf32>)
          attributes {taps = array<i64: 3>, strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>,
                      schedule = #cuda.row_schedule<threads = 1, rows = 32, vector = 8, held = 3>} {
      ^bb0(%mean: f32):
        cuda.yield %mean : f32
      }
      return
    }
  }
}

// -----

// Each of two columns has a maximum and a sum of its own.
// CHECK-LABEL: func.func private @columns
// CHECK-COUNT-4: llvm.load {{.*}} -> vector<2xf32>
// CHECK: nvvm.barrier
// CHECK-COUNT-8: math.exp
// CHECK-NOT: math.exp
// CHECK: nvvm.barrier
// CHECK-COUNT-2: arith.divf
// CHECK-COUNT-4: llvm.store {{.*}} : vector<2xf32>, !llvm.ptr<1>
module {
  module @ingot_cuda_kernels {
    func.func private @columns(%x: memref<4x64x32xf32>, %y: memref<4x64x32xf32>) {
      cuda.softmax ins(%x : memref<4x64x32xf32>) outs(%y : memref<4x64x32xf32>)
          attributes {columns, schedule = #cuda.row_schedule<threads = 16, rows = 4, vector = 2, held = 4>} {
      ^bb0(%p: f32):
        cuda.yield %p : f32
      }
      return
    }
  }
}

// -----

// The first thread of a group stores the mean and the variance together.
// CHECK-LABEL: func.func private @moments
// CHECK: arith.divf
// CHECK: arith.subf
// CHECK: arith.divf
// CHECK: scf.if
// CHECK: llvm.store {{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>
// CHECK-NOT: llvm.store {{.*}} !llvm.ptr<1>
module {
  module @ingot_cuda_kernels {
    func.func private @moments(%x: memref<8x64x32xf32>, %y: memref<8x4x2xf32>) {
      cuda.moments ins(%x : memref<8x64x32xf32>) outs(%y : memref<8x4x2xf32>)
          attributes {groups = 4 : i64, schedule = #cuda.row_schedule<threads = 64, rows = 1, vector = 2, held = 4>} {
      ^bb0(%m: f32):
        cuda.yield %m : f32
      }
      return
    }
  }
}

// -----

// Each thread combines the moments of four parts of its two columns, in order.
// There is no exchange. A row that does not exist has no moments.
// CHECK-LABEL: func.func private @normalize
// CHECK-NOT: nvvm.barrier
// CHECK: scf.for
// CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: scf.for
// CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: math.sqrt
// CHECK-COUNT-4: llvm.store {{.*}} : vector<2xf32>, !llvm.ptr<1>
module {
  module @ingot_cuda_kernels {
    func.func private @normalize(%x: memref<8x64x32xf32>, %m: memref<8x32x2xf32>, %y: memref<8x64x32xf32>) {
      cuda.normalize ins(%x, %m : memref<8x64x32xf32>, memref<8x32x2xf32>) outs(%y : memref<8x64x32xf32>)
          attributes {groups = 32 : i64, parts = 4 : i64, epsilon = 1.0e-5 : f32,
                      schedule = #cuda.row_schedule<threads = 16, rows = 16, vector = 2, held = 4>} {
      ^bb0(%n: f32):
        cuda.yield %n : f32
      }
      return
    }
  }
}

// -----

// CHECK-LABEL: func.func private @normalize_tail
// CHECK: memref.extract_aligned_pointer_as_index %arg1
// CHECK: %[[COUNT:.*]] = arith.select %{{.*}}, %c4_i32{{[_0-9]*}}, %c0_i32{{[_0-9]*}} : i32
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[COUNT]]
module {
  module @ingot_cuda_kernels {
    func.func private @normalize_tail(%x: memref<4x64x5xf32>, %m: memref<4x5x2xf32>, %y: memref<4x64x5xf32>) {
      cuda.normalize ins(%x, %m : memref<4x64x5xf32>, memref<4x5x2xf32>) outs(%y : memref<4x64x5xf32>)
          attributes {groups = 5 : i64, parts = 4 : i64, epsilon = 1.0e-5 : f32,
                      schedule = #cuda.row_schedule<threads = 16, rows = 8, vector = 1, held = 4>} {
      ^bb0(%n: f32):
        cuda.yield %n : f32
      }
      return
    }
  }
}
