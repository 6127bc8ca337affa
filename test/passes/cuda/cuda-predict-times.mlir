// RUN: ingot-opt --cuda-predict-times --split-input-file %s | FileCheck %s

#tile = #cuda.schedule<rows = 128, columns = 128, warp_rows = 64, warp_columns = 32, depth = 64, stages = 4, src_bytes = 16, weights_bytes = 16, stored = 4>

// A large product takes the time of its products: 2048 tiles in 19 rounds.
// CHECK-LABEL: func.func private @matmul_0
// CHECK-SAME: cuda.prediction = #cuda.prediction<nanoseconds = {{[0-9][0-9][0-9][0-9][0-9][0-9]}}, launches = 2>
module {
  module @ingot_cuda_kernels {
    func.func private @matmul_0(%x: memref<8192x512xf16>, %w: memref<4096x512xf16>, %y: memref<8192x4096xf32>) attributes {cuda.block = #cuda.block<threads = 256, shared = 65536>} {
      cuda.matmul ins(%x, %w : memref<8192x512xf16>, memref<4096x512xf16>) outs(%y : memref<8192x4096xf32>) attributes {schedule = #tile} {
      ^bb0(%sum: f32):
        cuda.yield %sum : f32
      }
      return
    }
  }
  func.func @run(%x: memref<8192x512xf16>, %w: memref<4096x512xf16>, %y: memref<8192x4096xf32>, %z: memref<8192x4096xf32>) {
    %blocks = arith.constant 2048 : index
    cuda.launch @ingot_cuda_kernels::@matmul_0(%x, %w, %y) blocks(%blocks) writes 1 : memref<8192x512xf16>, memref<4096x512xf16>, memref<8192x4096xf32>
    cuda.launch @ingot_cuda_kernels::@matmul_0(%x, %w, %z) blocks(%blocks) writes 1 : memref<8192x512xf16>, memref<4096x512xf16>, memref<8192x4096xf32>
    return
  }
}

// -----

// Another kernel takes the time of its operands: 8 MiB in 7626 cycles, after
// 1800 cycles of latency. A kernel that nobody launches has no prediction.
// CHECK-LABEL: func.func private @grid_0
// CHECK-SAME: cuda.prediction = #cuda.prediction<nanoseconds = 6685, launches = 1>
// CHECK-LABEL: func.func private @grid_1
// CHECK-NOT: cuda.prediction
module {
  module @ingot_cuda_kernels {
    func.func private @grid_0(%x: memref<1048576xf32>, %y: memref<1048576xf32>) attributes {cuda.block = #cuda.block<threads = 256>} {
      return
    }
    func.func private @grid_1(%x: memref<1048576xf32>) attributes {cuda.block = #cuda.block<threads = 256>} {
      return
    }
  }
  func.func @run(%x: memref<1048576xf32>, %y: memref<1048576xf32>) {
    %blocks = arith.constant 4096 : index
    cuda.launch @ingot_cuda_kernels::@grid_0(%x, %y) blocks(%blocks) writes 1 : memref<1048576xf32>, memref<1048576xf32>
    return
  }
}

// -----

// One row is read by one block: 34000 elements take the steps of its threads,
// not the time of the memory's rate, which would be 1525 ns.
// CHECK-LABEL: func.func private @softmax_0
// CHECK-SAME: cuda.prediction = #cuda.prediction<nanoseconds = 5595, launches = 1>
module {
  module @ingot_cuda_kernels {
    func.func private @softmax_0(%x: memref<1x34000xf32>, %y: memref<1x34000xf32>) attributes {cuda.block = #cuda.block<threads = 1024>} {
      cuda.softmax ins(%x : memref<1x34000xf32>) outs(%y : memref<1x34000xf32>) attributes {schedule = #cuda.row_schedule<threads = 1024, rows = 1, vector = 4, held = 0>} {
      ^bb0(%v: f32):
        cuda.yield %v : f32
      }
      return
    }
  }
  func.func @run(%x: memref<1x34000xf32>, %y: memref<1x34000xf32>) {
    %blocks = arith.constant 1 : index
    cuda.launch @ingot_cuda_kernels::@softmax_0(%x, %y) blocks(%blocks) writes 1 : memref<1x34000xf32>, memref<1x34000xf32>
    return
  }
}

// -----

// An attention takes the time of its scores. The sum of parts finds them in
// the cache: 1 MiB in 242 cycles, after 1800 cycles of latency.
// CHECK-LABEL: func.func private @attention_0
// CHECK-SAME: cuda.prediction = #cuda.prediction<nanoseconds = {{[0-9][0-9][0-9][0-9][0-9]}}, launches = 1>
// CHECK-LABEL: func.func private @sum_parts_0
// CHECK-SAME: cuda.prediction = #cuda.prediction<nanoseconds = 1448, launches = 1>
module {
  module @ingot_cuda_kernels {
    func.func private @attention_0(%q: memref<8x512x16x64xf16>, %y: memref<8x512x16x64xf32>) attributes {cuda.block = #cuda.block<threads = 256, shared = 49152>} {
      cuda.attention ins(%q, %q, %q : memref<8x512x16x64xf16>, memref<8x512x16x64xf16>, memref<8x512x16x64xf16>)
          outs(%y : memref<8x512x16x64xf32>) attributes {scale = 1.25e-1 : f32, schedule =
          #cuda.attention_schedule<rows = 128, keys = 64, stages = 2, src_bytes = 16, keys_bytes = 16, values_bytes = 16, stored = 2>} {
      ^bb0(%sum: f32):
        cuda.yield %sum : f32
      }
      return
    }
    func.func private @sum_parts_0(%x: memref<4x256x256xf32>, %y: memref<256x256xf32>) attributes {cuda.block = #cuda.block<threads = 256>} {
      cuda.sum_parts ins(%x : memref<4x256x256xf32>) outs(%y : memref<256x256xf32>) {
      ^bb0(%sum: f32):
        cuda.yield %sum : f32
      }
      return
    }
  }
  func.func @run(%q: memref<8x512x16x64xf16>, %y: memref<8x512x16x64xf32>, %x: memref<4x256x256xf32>, %z: memref<256x256xf32>) {
    %blocks = arith.constant 512 : index
    cuda.launch @ingot_cuda_kernels::@attention_0(%q, %y) blocks(%blocks) writes 1 : memref<8x512x16x64xf16>, memref<8x512x16x64xf32>
    cuda.launch @ingot_cuda_kernels::@sum_parts_0(%x, %z) blocks(%blocks) writes 1 : memref<4x256x256xf32>, memref<256x256xf32>
    return
  }
}

// -----

// A launch in a loop counts once for each step, if their number is known.
// CHECK-LABEL: func.func private @grid_0
// CHECK-SAME: launches = 42>
module {
  module @ingot_cuda_kernels {
    func.func private @grid_0(%x: memref<64xf32>) attributes {cuda.block = #cuda.block<threads = 64>} {
      return
    }
  }
  func.func @run(%x: memref<64xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c40 = arith.constant 40 : index
    scf.for %i = %c0 to %c40 step %c1 {
      cuda.launch @ingot_cuda_kernels::@grid_0(%x) blocks(%c1) writes 1 : memref<64xf32>
    }
    scf.for %i = %c0 to %n step %c1 {
      cuda.launch @ingot_cuda_kernels::@grid_0(%x) blocks(%c1) writes 1 : memref<64xf32>
    }
    cuda.launch @ingot_cuda_kernels::@grid_0(%x) blocks(%c1) writes 1 : memref<64xf32>
    return
  }
}

// -----

// So many launches are not counted that their time would not fit.
// CHECK-LABEL: func.func private @grid_0
// CHECK-SAME: launches = 2147483648>
module {
  module @ingot_cuda_kernels {
    func.func private @grid_0(%x: memref<64xf32>) attributes {cuda.block = #cuda.block<threads = 64>} {
      return
    }
  }
  func.func @run(%x: memref<64xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %most = arith.constant 9223372036854775807 : index
    scf.for %i = %c0 to %most step %c1 {
      scf.for %j = %c0 to %most step %c1 {
        cuda.launch @ingot_cuda_kernels::@grid_0(%x) blocks(%c1) writes 1 : memref<64xf32>
      }
    }
    return
  }
}

// -----

// A depthwise convolution of 7x7 taps takes the time of its multiply-adds and
// accesses, which is longer than that of its 51 MB in memory: 34 us.
// CHECK-LABEL: func.func private @depthwise_0
// CHECK-SAME: cuda.prediction = #cuda.prediction<nanoseconds = {{[5-9][0-9][0-9][0-9][0-9]|1[0-9][0-9][0-9][0-9][0-9]}}, launches = 1>
module {
  module @ingot_cuda_kernels {
    func.func private @depthwise_0(%x: memref<4x56x56x512xf32>, %w: memref<7x7x512xf32>, %y: memref<4x56x56x512xf32>) attributes {cuda.block = #cuda.block<threads = 256>} {
      cuda.depthwise_conv ins(%x, %w : memref<4x56x56x512xf32>, memref<7x7x512xf32>) outs(%y : memref<4x56x56x512xf32>) attributes {dilations = array<i64: 1, 1>, pads = array<i64: 3, 3, 3, 3>, strides = array<i64: 1, 1>} {
      ^bb0(%sum: f32):
        cuda.yield %sum : f32
      }
      return
    }
  }
  func.func @run(%x: memref<4x56x56x512xf32>, %w: memref<7x7x512xf32>, %y: memref<4x56x56x512xf32>) {
    %blocks = arith.constant 1568 : index
    cuda.launch @ingot_cuda_kernels::@depthwise_0(%x, %w, %y) blocks(%blocks) writes 1 : memref<4x56x56x512xf32>, memref<7x7x512xf32>, memref<4x56x56x512xf32>
    return
  }
}

// -----

// A written kernel takes the time of its instructions, if a launch knows its
// blocks. A loop counts with its steps: the inner one with 49 on average. The
// largest of several numbers of blocks counts.
// CHECK-LABEL: func.func private @grid_0
// CHECK-SAME: cuda.prediction = #cuda.prediction<nanoseconds = {{[0-9][0-9][0-9][0-9][0-9][0-9]}}, launches = 2>
// CHECK-LABEL: func.func private @grid_1
// CHECK-SAME: cuda.prediction = #cuda.prediction<nanoseconds = 1{{[0-9][0-9][0-9]}}, launches = 1>
// The model of the schedule has given the time of a step.
// CHECK-LABEL: func.func private @recurrent_0
// CHECK-NOT: cuda.cycles
// CHECK-SAME: cuda.prediction = #cuda.prediction<nanoseconds = 2000, launches = 1>
module {
  module @ingot_cuda_kernels {
    func.func private @grid_0(%x: memref<262144xf32>) attributes {cuda.block = #cuda.block<threads = 256>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c32 = arith.constant 32 : index
      %c64 = arith.constant 64 : index
      %thread = gpu.thread_id x
      %v = memref.load %x[%thread] : memref<262144xf32>
      %r = scf.for %i = %c0 to %c32 step %c1 iter_args(%a = %v) -> (f32) {
        %s = scf.for %j = %i to %c64 step %c1 iter_args(%b = %a) -> (f32) {
          %e = math.exp %b : f32
          scf.yield %e : f32
        }
        scf.yield %s : f32
      }
      memref.store %r, %x[%thread] : memref<262144xf32>
      return
    }
    func.func private @grid_1(%x: memref<262144xf32>) attributes {cuda.block = #cuda.block<threads = 256>} {
      %thread = gpu.thread_id x
      %v = memref.load %x[%thread] : memref<262144xf32>
      %e = math.exp %v : f32
      memref.store %e, %x[%thread] : memref<262144xf32>
      return
    }
    func.func private @recurrent_0(%x: memref<262144xf32>) attributes {cuda.block = #cuda.block<threads = 256>, cuda.cycles = #cuda.cycles<2820>} {
      return
    }
  }
  func.func @run(%x: memref<262144xf32>, %n: index) {
    %c1 = arith.constant 1 : index
    %blocks = arith.constant 1024 : index
    cuda.launch @ingot_cuda_kernels::@grid_0(%x) blocks(%c1) writes 1 : memref<262144xf32>
    cuda.launch @ingot_cuda_kernels::@grid_0(%x) blocks(%blocks) writes 1 : memref<262144xf32>
    cuda.launch @ingot_cuda_kernels::@grid_1(%x) blocks(%n) writes 1 : memref<262144xf32>
    cuda.launch @ingot_cuda_kernels::@recurrent_0(%x) blocks(%n) writes 1 : memref<262144xf32>
    return
  }
}

// -----

// A transpose takes the cycles by which its tile was chosen, whatever those of its
// operands are.
// CHECK-LABEL: func.func private @transpose_0
// CHECK-SAME: cuda.prediction = #cuda.prediction<nanoseconds = 10000, launches = 1>
module {
  module @ingot_cuda_kernels {
    func.func private @transpose_0(%x: memref<1024x1024xf32>, %y: memref<1024x1024xf32>) attributes {cuda.block = #cuda.block<threads = 256, shared = 4224>, cuda.cycles = #cuda.cycles<14100>} {
      return
    }
  }
  func.func @run(%x: memref<1024x1024xf32>, %y: memref<1024x1024xf32>) {
    %blocks = arith.constant 1024 : index
    cuda.launch @ingot_cuda_kernels::@transpose_0(%x, %y) blocks(%blocks) writes 1 : memref<1024x1024xf32>, memref<1024x1024xf32>
    return
  }
}

// -----

// Memory delivers each element of a resampling once: 50 MB. Caches deliver the
// elements of both taps in less time.
// CHECK-LABEL: func.func private @resample_0
// CHECK-SAME: cuda.prediction = #cuda.prediction<nanoseconds = 33733, launches = 1>
module {
  module @ingot_cuda_kernels {
    func.func private @resample_0(%x: memref<64x256x512xf16>, %p: memref<2x512xi32>, %w: memref<2x512xf32>, %y: memref<64x512x512xf16>) attributes {cuda.block = #cuda.block<threads = 256>} {
      cuda.resample ins(%x : memref<64x256x512xf16>) positions(%p : memref<2x512xi32>) weights(%w : memref<2x512xf32>)
          outs(%y : memref<64x512x512xf16>) attributes {first = 1 : i64, schedule = #cuda.row_schedule<threads = 1, rows = 256, vector = 8, held = 0>} {
      ^bb0(%s: f32):
        %0 = arith.truncf %s : f32 to f16
        cuda.yield %0 : f16
      }
      return
    }
  }
  func.func @run(%x: memref<64x256x512xf16>, %p: memref<2x512xi32>, %w: memref<2x512xf32>, %y: memref<64x512x512xf16>) {
    %blocks = arith.constant 8192 : index
    cuda.launch @ingot_cuda_kernels::@resample_0(%x, %p, %w, %y) blocks(%blocks) writes 1 : memref<64x256x512xf16>, memref<2x512xi32>, memref<2x512xf32>, memref<64x512x512xf16>
    return
  }
}
