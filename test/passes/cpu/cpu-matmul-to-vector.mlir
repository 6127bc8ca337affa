// RUN: ingot-opt %s --cpu-schedule --cpu-matmul-to-vector --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

// 20 rows are two even tiles of 10, not one of 14 and one of 6.
// CHECK-LABEL: func.func private @v4
// CHECK: %{{.*}}:20 = scf.for %{{.*}} = %c0 to %c7 step
// CHECK: vector.load {{.*}} vector<16xf32>
// CHECK: vector.fma {{.*}} : vector<16xf32>
// CHECK-NOT: iter_args
// CHECK-COUNT-20: vector.store {{.*}} vector<16xf32>
// CHECK-NOT: vector.masked
// CHECK-NOT: cpu.
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @v4(%a: memref<20x7xf32>, %w: memref<1x7x32xf32>, %d: memref<20x32xf32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<20x7xf32>, memref<1x7x32xf32>) outs(%d : memref<20x32xf32>) {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// 13 rows at 6 a tile: one of 5, then two of 4. Half a vector of columns is
// masked.
// CHECK-LABEL: func.func private @v3
// CHECK: %{{.*}}:5 = scf.for %{{.*}} = %c0 to %c7 step
// CHECK: vector.fma {{.*}} : vector<8xf32>
// CHECK: vector.maskedstore {{.*}} vector<8xf32>
// CHECK: scf.for %{{.*}} = %c1 to %c3 step
// CHECK: %{{.*}}:4 = scf.for %{{.*}} = %c0 to %c7 step
// CHECK-NOT: vector.store
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @v3(%a: memref<13x7xf32>, %w: memref<1x7x16xf32>, %d: memref<13x4xf32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<13x7xf32>, memref<1x7x16xf32>) outs(%d : memref<13x4xf32>) {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// A dynamic number of rows: whole tiles, then four rows, then single rows.
// CHECK-LABEL: func.func private @dynamic
// CHECK: memref.dim
// CHECK: %{{.*}}:14 = scf.for
// CHECK: %{{.*}}:4 = scf.for
// CHECK: %{{[^:]*}} = scf.for {{.*}} iter_args(%{{[^,]*}} = %{{[^,]*}}) -> (vector<16xf32>)
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @dynamic(%a: memref<?x7xf32>, %w: memref<1x7x16xf32>, %d: memref<?x16xf32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<?x7xf32>, memref<1x7x16xf32>) outs(%d : memref<?x16xf32>) {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// The batch is computed from the task's number, since each batch has its own
// weights.
// CHECK-LABEL: func.func private @batched
// CHECK-SAME: %[[TASK:[a-z0-9]*]]: index
// CHECK: %[[INNER:.*]] = arith.remui %{{.*}}, %c3
// CHECK: arith.divui %{{.*}}, %c3
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @batched(%a: memref<2x3x5x7xf32>, %w: memref<2x3x1x7x16xf32>, %d: memref<2x3x5x16xf32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<2x3x5x7xf32>, memref<2x3x1x7x16xf32>) outs(%d : memref<2x3x5x16xf32>) {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Epilogue operands: a vector for all rows, a vector of each row, an element of
// each row for all columns.
// CHECK-LABEL: func.func private @operands
// CHECK-SAME: %[[B:[a-z0-9]*]]: memref<1x16xf32>, %[[R:[a-z0-9]*]]: memref<2x16xf32>, %[[S:[a-z0-9]*]]: memref<2x1xf32>
// CHECK: %[[FB:.*]] = memref.reinterpret_cast %[[B]]
// CHECK: %[[FR:.*]] = memref.reinterpret_cast %[[R]]
// CHECK: %[[FS:.*]] = memref.reinterpret_cast %[[S]]
// CHECK: %[[SUMS:.*]]:2 = scf.for
// CHECK: vector.load %[[FB]]
// CHECK: vector.load %[[FR]]
// CHECK: memref.load %[[FS]]
// CHECK: vector.broadcast {{.*}} : f32 to vector<16xf32>
// CHECK: arith.addf %[[SUMS]]#0, %{{.*}} : vector<16xf32>
// CHECK: arith.mulf {{.*}} : vector<16xf32>
// CHECK: arith.subf {{.*}} : vector<16xf32>
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @operands(%a: memref<2x7xf32>, %w: memref<1x7x16xf32>, %b: memref<1x16xf32>, %r: memref<2x16xf32>, %s: memref<2x1xf32>,
                              %d: memref<2x16xf32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<2x7xf32>, memref<1x7x16xf32>)
        operands(%b, %r, %s : memref<1x16xf32>, memref<2x16xf32>, memref<2x1xf32>) outs(%d : memref<2x16xf32>) {
    ^bb0(%sum: f32, %bias: f32, %residual: f32, %scale: f32):
      %0 = arith.addf %sum, %bias : f32
      %1 = arith.mulf %0, %residual : f32
      %2 = arith.subf %1, %scale : f32
      cpu.yield %2 : f32
    }
    return
  }
}

// -----

// Rows 4 KB apart fall into one set of the cache. Half of them are copied, 256
// elements at a time, and the products read the copies.
// CHECK-LABEL: func.func private @colliding
// CHECK: %[[COPY:.*]] = memref.alloca() {alignment = 64 : i64}
// CHECK: %{{.*}}:14 = scf.for %{{.*}} = %c0 to %c4 step
// CHECK: vector.store %{{.*}}, %[[COPY]]
// CHECK: %{{.*}}:14 = scf.for %{{.*}} = %c0 to %c256 step
// CHECK: memref.load %{{[^]]*}}[
// CHECK-COUNT-7: memref.load %[[COPY]]
// CHECK-NOT: memref.load
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @colliding(%a: memref<14x1024xf32>, %w: memref<1x1024x16xf32>, %d: memref<14x16xf32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<14x1024xf32>, memref<1x1024x16xf32>) outs(%d : memref<14x16xf32>) {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// A slice of such rows is not copied if it is not made of whole blocks.
// CHECK-LABEL: func.func private @colliding_slice
// CHECK-NOT: memref.alloca
// CHECK: %{{.*}}:14 = scf.for %{{.*}} = %c0 to %c300 step
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @colliding_slice(%a: memref<14x300xf32, strided<[1024, 1]>>, %w: memref<1x300x16xf32>, %d: memref<14x16xf32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<14x300xf32, strided<[1024, 1]>>, memref<1x300x16xf32>) outs(%d : memref<14x16xf32>) {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Two passes over a panel prefetch one half of the next panel each, into the
// second-level cache.
// CHECK-LABEL: func.func private @ahead
// CHECK: scf.for
// CHECK: %{{.*}}:28 = scf.for %[[K:.*]] = %c0 to %c300 step
// CHECK: %[[DONE:.*]] = arith.muli %[[K]], %c65536
// CHECK: arith.divui %[[DONE]], %c4096
// CHECK: memref.prefetch {{.*}} read, locality<2>
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @ahead(%a: memref<28x300xf32>, %w: memref<2x300x32xf32>, %d: memref<28x64xf32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<28x300xf32>, memref<2x300x32xf32>) outs(%d : memref<28x64xf32>) {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// The target says how far ahead the weights of a pass are prefetched: 5 steps of
// 32 columns.
// CHECK-LABEL: func.func private @steps
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %c160
// CHECK: memref.prefetch %{{.*}}[%[[AT]]], read, locality<3>
module attributes {ingot.target = #ingot.target<"x86-64-v4", prefetch_steps = 5>} {
  func.func private @steps(%a: memref<14x300xf32>, %w: memref<1x300x32xf32>, %d: memref<14x32xf32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<14x300xf32>, memref<1x300x32xf32>) outs(%d : memref<14x32xf32>) {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// A single pass has no time for prefetches. Weights that stay in the cache
// while blocks of rows pass need none.
// CHECK-LABEL: func.func private @one_pass
// CHECK-NOT: locality<2>
// CHECK-LABEL: func.func private @weights_stay
// CHECK-NOT: locality<2>
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @one_pass(%a: memref<7x300xf32>, %w: memref<2x300x32xf32>, %d: memref<7x64xf32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<7x300xf32>, memref<2x300x32xf32>) outs(%d : memref<7x64xf32>) {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
  func.func private @weights_stay(%a: memref<100x300xf32>, %w: memref<2x300x32xf32>, %d: memref<100x64xf32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<100x300xf32>, memref<2x300x32xf32>) outs(%d : memref<100x64xf32>) {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Must not fire for other kernels.
// CHECK-LABEL: func.func private @other
// CHECK: cpu.depthwise_conv
func.func private @other(%x: memref<1x11x8xf32>, %w: memref<3x8xf32>, %d: memref<1x4x8xf32>, %task: index) {
  cpu.depthwise_conv ins(%x, %w : memref<1x11x8xf32>, memref<3x8xf32>) outs(%d : memref<1x4x8xf32>)
      attributes {strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 2>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @no_task_number(%a: memref<5x7xf32>, %w: memref<1x7x16xf32>, %d: memref<5x9xf32>) {
  // expected-error @+1 {{expects to be in a kernel: outline-kernels makes it}}
  cpu.matmul ins(%a, %w : memref<5x7xf32>, memref<1x7x16xf32>) outs(%d : memref<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

// Pairs of f16: 130 k are three blocks, the last of 42. Each block is summed as
// f16. Even and odd lanes of both vectors are added, then halves of the sums as
// f32.
// CHECK-LABEL: func.func private @f16_dot
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c2{{.*}} -> (vector<16xf32>
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c22{{.*}} -> (vector<32xf16>
// CHECK: vector.load {{.*}} vector<32xf16>
// CHECK: vector.load {{.*}} vector<2xf16>
// CHECK: vector.bitcast {{.*}} : vector<2xf16> to vector<1xi32>
// CHECK: vector.fma {{.*}} : vector<32xf16>
// CHECK: %[[EVEN:.*]] = vector.shuffle %[[A:.*]], %[[B:.*]] [0, 2, 4, {{.*}} 62] : vector<32xf16>, vector<32xf16>
// CHECK: %[[ODD:.*]] = vector.shuffle %[[A]], %[[B]] [1, 3, 5, {{.*}} 63] : vector<32xf16>, vector<32xf16>
// CHECK: %[[BOTH:.*]] = arith.addf %[[EVEN]], %[[ODD]] : vector<32xf16>
// CHECK: vector.shuffle %[[BOTH]], %[[BOTH]] [0, 1, 2, {{.*}} 15] : vector<32xf16>, vector<32xf16>
// CHECK: arith.extf {{.*}} : vector<16xf16> to vector<16xf32>
// CHECK: arith.addf {{.*}} : vector<16xf32>
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c21{{.*}} -> (vector<32xf16>
#fp16 = #ingot.target<"avx512fp16">
module attributes {ingot.target = #fp16} {
  func.func private @f16_dot(%a: memref<20x130xf16>, %w: memref<1x65x32x2xf16>, %d: memref<20x32xf32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<20x130xf16>, memref<1x65x32x2xf16>) outs(%d : memref<20x32xf32>) {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Pairs of bf16. 7 elements are three and a half pairs: three steps, then one
// element with a zero behind it.
// CHECK-LABEL: func.func private @bf16_dot
// CHECK: %[[P:.*]]:20 = scf.for %{{.*}} = %c0 to %c3 step
// CHECK: vector.load {{.*}} vector<32xbf16>
// CHECK: vector.load {{.*}} vector<2xbf16>
// CHECK: vector.bitcast {{.*}} : vector<2xbf16> to vector<1xi32>
// CHECK: x86vector.avx512.dot {{.*}} : vector<32xbf16> -> vector<16xf32>
// CHECK: arith.extui {{.*}} : i16 to i32
// CHECK: x86vector.avx512.dot %[[P]]#0
// CHECK-NOT: vector.fma
// CHECK: vector.store {{.*}} vector<16xf32>
module attributes {ingot.target = #ingot.target<"znver4">} {
  func.func private @bf16_dot(%a: memref<20x7xbf16>, %w: memref<1x4x32x2xbf16>, %d: memref<20x32xf32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<20x7xbf16>, memref<1x4x32x2xbf16>) outs(%d : memref<20x32xf32>) {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Rows that fall into one set of the cache are copied unchanged, 512 elements at a time.
// CHECK-LABEL: func.func private @bf16_colliding
// CHECK: %[[COPY:.*]] = memref.alloca() {{.*}} : memref<3808xbf16>
// CHECK: %[[PIECE:.*]] = vector.load {{.*}} vector<32xbf16>
// CHECK-NEXT: vector.store %[[PIECE]], %[[COPY]]
// CHECK-NOT: arith.extf
// CHECK: %{{.*}}:28 = scf.for %{{.*}} = %c0 to %c256 step
// CHECK: vector.load %[[COPY]]{{.*}} vector<2xbf16>
// CHECK: x86vector.avx512.dot
module attributes {ingot.target = #ingot.target<"znver4">} {
  func.func private @bf16_colliding(%a: memref<14x2048xbf16>, %w: memref<1x1024x32x2xbf16>, %d: memref<14x32xf32>,
                                    %task: index) {
    cpu.matmul ins(%a, %w : memref<14x2048xbf16>, memref<1x1024x32x2xbf16>) outs(%d : memref<14x32xf32>) {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Without the instruction, rows are copied as f32, and both halves of a pair of
// weights are multiplied as f32. Results may be rounded when they are stored.
// CHECK-LABEL: func.func private @bf16_wide
// CHECK: %[[COPY:.*]] = memref.alloca() {{.*}} : memref<{{.*}}xf32>
// CHECK: arith.extf {{.*}} : vector<8xbf16> to vector<8xf32>
// CHECK: vector.store {{.*}}, %[[COPY]]
// CHECK: %{{.*}}:10 = scf.for %{{.*}} = %c0 to %c4 step
// CHECK: vector.load {{.*}} vector<16xbf16>
// CHECK: memref.load %[[COPY]]
// CHECK: arith.shli {{.*}} : vector<8xi32>
// CHECK: vector.fma {{.*}} : vector<8xf32>
// CHECK: arith.andi {{.*}} : vector<8xi32>
// CHECK-NOT: x86vector
// CHECK: arith.truncf {{.*}} : vector<8xf32> to vector<8xbf16>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @bf16_wide(%a: memref<5x8xbf16>, %w: memref<1x4x16x2xbf16>, %d: memref<5x16xbf16>, %task: index) {
    cpu.matmul ins(%a, %w : memref<5x8xbf16>, memref<1x4x16x2xbf16>) outs(%d : memref<5x16xbf16>) {
    ^bb0(%sum: f32):
      %r = arith.truncf %sum : f32 to bf16
      cpu.yield %r : bf16
    }
    return
  }
}

// -----

// Groups of four bytes: one instruction with VNNI.
// CHECK-LABEL: func.func private @int8_dot
// CHECK: %{{.*}}:10 = scf.for %{{.*}} = %c0 to %c2 step
// CHECK: vector.load {{.*}} vector<64xi8>
// CHECK: vector.load {{.*}} vector<4xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// CHECK: vector.store {{.*}} vector<16xi32>
module attributes {ingot.target = #ingot.target<"cascadelake">} {
  func.func private @int8_dot(%a: memref<5x8xi8>, %w: memref<1x2x32x4xi8>, %d: memref<5x32xi32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<5x8xi8>, memref<1x2x32x4xi8>) outs(%d : memref<5x32xi32>) {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// Pairs of int16: rows are read directly, and five elements are three pairs.
// CHECK-LABEL: func.func private @int16_dot
// CHECK-NOT: memref.alloca
// CHECK: vector.load {{.*}} vector<16xi16>
// CHECK: vector.load {{.*}} vector<2xi16>
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// CHECK: arith.extui {{.*}} : i16 to i32
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// CHECK: vector.store {{.*}} vector<8xi32>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @int16_dot(%a: memref<3x5xi16>, %w: memref<1x3x32x2xi16>, %d: memref<3x32xi32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<3x5xi16>, memref<1x3x32x2xi16>) outs(%d : memref<3x32xi32>) {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// Groups of four bytes with AVX-VNNI, in vectors of 256 bits: a tile for 16
// registers.
// CHECK-LABEL: func.func private @int8_dot_short
// CHECK: %{{.*}}:12 = scf.for %{{.*}} = %c0 to %c2 step
// CHECK-COUNT-2: vector.load {{.*}} vector<32xi8>
// CHECK: vector.load {{.*}} vector<4xi8>
// CHECK-COUNT-12: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"
// CHECK-NOT: vpdpbusd
// CHECK: vector.store {{.*}} vector<8xi32>
module attributes {ingot.target = #ingot.target<"alderlake">} {
  func.func private @int8_dot_short(%a: memref<6x8xi8>, %w: memref<1x2x16x4xi8>, %d: memref<6x16xi32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<6x8xi8>, memref<1x2x16x4xi8>) outs(%d : memref<6x16xi32>) {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// Many groups: four per iteration, as for floats.
// CHECK-LABEL: func.func private @int8_dot_long
// CHECK: %{{.*}}:12 = scf.for %{{.*}} = %c0 to %c5 step
// CHECK-COUNT-48: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"
// CHECK: scf.yield
module attributes {ingot.target = #ingot.target<"alderlake">} {
  func.func private @int8_dot_long(%a: memref<6x80xi8>, %w: memref<1x20x16x4xi8>, %d: memref<6x16xi32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<6x80xi8>, memref<1x20x16x4xi8>) outs(%d : memref<6x16xi32>) {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// Without VNNI, bytes are multiplied as int16, which never saturate. Rows are
// copied, with even and odd bytes apart: here six bytes, the last two followed
// by zeros. Only weights are widened in the product. A function of the tiles,
// which kernels may share, has the copies as an argument.
// CHECK-LABEL: func.func private @int8_wide(
// CHECK: %[[SCRATCH:.*]] = memref.alloca() {{.*}} : memref<144xi32>
// CHECK: call @int8_wide.tiles({{.*}}%[[SCRATCH]]{{[,)]}}
// CHECK: func.func private @int8_wide.tiles({{.*}}%[[COPY:[^:]*]]: memref<144xi32>
// CHECK: arith.andi {{.*}} : vector<2xi16>
// CHECK: arith.shrui {{.*}} : vector<2xi16>
// CHECK: arith.extui {{.*}} : i8 to i32
// CHECK: memref.store {{.*}} %[[COPY]]
// CHECK-NOT: arith.shrui {{.*}} : vector
// CHECK: arith.shrsi {{.*}} : vector<16xi16>
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// CHECK-NOT: arith.andi
// CHECK-NOT: pmadd.ub
// CHECK: vector.store {{.*}} vector<8xi32>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @int8_wide(%a: memref<4x6xi8>, %w: memref<1x2x16x4xi8>, %d: memref<4x16xi32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<4x6xi8>, memref<1x2x16x4xi8>) outs(%d : memref<4x16xi32>) {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// As pairs: the groups of k are sorted by kind once. Each tile then goes
// through three loops: unchanged, with the second and third byte exchanged, and
// as int16.
// CHECK-LABEL: func.func private @int8_pairs(
// CHECK: %[[SORTED:.*]] = memref.alloca() {{.*}} : memref<3xi32>
// CHECK: %[[LISTS:.*]] = memref.alloca() {{.*}} : memref<48xi32>
// CHECK: scf.for %{{.*}} = %c0 to %c8 {{.*}} -> (i32, i32, i32)
// CHECK-COUNT-6: memref.store {{.*}} %[[LISTS]]
// CHECK-COUNT-3: memref.store {{.*}} %[[SORTED]]
// CHECK: func.func private @int8_pairs.tiles({{.*}}%[[COUNTS:[^:]*]]: memref<3xi32>
// CHECK: memref.load %[[COUNTS]]
// CHECK: scf.for
// CHECK-NOT: pshuf.b
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// CHECK: memref.load %[[COUNTS]]
// CHECK: scf.for
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.pshuf.b"
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// CHECK: memref.load %[[COUNTS]]
// CHECK: scf.for
// CHECK: arith.shrsi {{.*}} : vector<16xi16>
// CHECK-NOT: pmadd.ub.sw
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// CHECK: vector.store {{.*}} vector<8xi32>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @int8_pairs(%a: memref<4x32xi8>, %w: memref<1x8x16x4xi8>, %p: memref<1x8xi8>, %d: memref<4x16xi32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<4x32xi8>, memref<1x8x16x4xi8>) pairs(%p : memref<1x8xi8>) outs(%d : memref<4x16xi32>)
        attributes {format = #cpu.weights<panels, pairs = true>, schedule = #cpu.schedule<tile = <4x16, product = int8_pairs>, grid = <4x1>>} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// As int16 with many rows per task: weights are widened once. Tiles only have
// loads, products and sums. All odd bytes are behind all even ones.
// CHECK-LABEL: func.func private @int8_wide_once(
// CHECK-DAG: %[[WIDE:.*]] = memref.alloca() {{.*}} : memref<512xi16>
// CHECK: scf.for %{{.*}} = %c0 to %c8
// CHECK-COUNT-4: vector.store {{.*}} %[[WIDE]]
// CHECK: func.func private @int8_wide_once.tiles({{.*}}%[[WORDS:[^:]*]]: memref<512xi16>
// CHECK-NOT: arith.shrsi
// CHECK: scf.for {{.*}} iter_args
// CHECK: vector.load %[[WORDS]][%[[EVEN:.*]]] : {{.*}} vector<16xi16>
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// CHECK: %[[ODD:.*]] = arith.addi %[[EVEN]], %c256
// CHECK: vector.load %[[WORDS]][%[[ODD]]] : {{.*}} vector<16xi16>
// CHECK-NOT: arith.shrsi
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @int8_wide_once(%a: memref<40x32xi8>, %w: memref<1x8x16x4xi8>, %d: memref<40x16xi32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<40x32xi8>, memref<1x8x16x4xi8>) outs(%d : memref<40x16xi32>) {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// A dynamic number of rows: tiles of 14, then of 7 until at most four rows are
// left, then of 4, then single ones. A tile ends with the last row. If there
// are fewer rows than the tile has, it repeats the last one. Only rows that are
// not done yet are stored.
// CHECK-LABEL: func.func private @open_rows
// CHECK: scf.for
// CHECK: %{{.*}}:28 = scf.for
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: %[[END7:.*]] = arith.minsi %{{.*}}, %c7
// CHECK: %{{.*}}:14 = scf.for
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[END7]] step
// CHECK: %[[END4:.*]] = arith.minsi %{{.*}}, %c4
// CHECK: %{{.*}}:8 = scf.for
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[END4]] step
// CHECK-NOT: cpu.
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @open_rows(%a: memref<?x300xf32>, %w: memref<2x300x32xf32>, %d: memref<?x64xf32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<?x300xf32>, memref<2x300x32xf32>) outs(%d : memref<?x64xf32>) {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// With vectors of 512 bits, the function for dynamic rows takes the number of
// lanes of the last vector as an argument. One function then serves full tiles
// and a tile of 24 columns.
// CHECK-LABEL: func.func private @told_lanes
// CHECK: scf.for
// CHECK: %[[LEFT:.*]] = arith.addi %{{.*}}, %c40
// CHECK: %[[LANES:.*]] = arith.minsi %[[LEFT]], %c16
// CHECK: func.call @told_lanes.tiles({{.*}}%[[LANES]]
// CHECK-NOT: call
// CHECK: return
// CHECK-LABEL: func.func private @told_lanes.tiles(
// CHECK: arith.cmpi sgt, %{{.*}} : vector<16xi32>
// CHECK: vector.maskedstore
// CHECK-NOT: @
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @told_lanes(%a: memref<?x300xf32>, %w: memref<2x300x32xf32>, %d: memref<?x56xf32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<?x300xf32>, memref<2x300x32xf32>) outs(%d : memref<?x56xf32>) {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// With AVX2 and dynamic rows, a single row goes through whole panels of four
// vectors, with two sums each. Several rows use tiles of 6, and of 4 for the
// rest.
// CHECK-LABEL: func.func private @few_open_rows
// CHECK: %[[FEW:.*]] = arith.cmpi slt, %{{.*}}, %c2
// CHECK: scf.if %[[FEW]]
// CHECK: arith.cmpi eq
// CHECK: scf.if
// CHECK: %{{.*}}:8 = scf.for %{{.*}} = %c0 to %c32 step
// CHECK-COUNT-8: vector.fma
// CHECK-COUNT-4: vector.store
// CHECK: } else {
// CHECK: %{{.*}}:12 = scf.for
// CHECK: %{{.*}}:8 = scf.for
// CHECK-COUNT-32: vector.fma
// CHECK-NOT: vector.fma
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @few_open_rows(%a: memref<?x64xf32>, %w: memref<4x64x32xf32>, %d: memref<?x128xf32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<?x64xf32>, memref<4x64x32xf32>) outs(%d : memref<?x128xf32>)
      attributes {schedule = #cpu.schedule<tile = <6x16>, grid = <36x2>>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// An iteration of four steps prefetches a line of two of six rows, and the
// weights of each step.
// CHECK-LABEL: func.func private @rounds
// CHECK-SAME: %[[A:[^:]*]]: memref<6x192xf32>, %[[W:[^:]*]]: memref<1x192x16xf32>
// CHECK-DAG: %[[ROWS:.*]] = memref.reinterpret_cast %[[A]]
// CHECK-DAG: %[[WEIGHTS:.*]] = memref.reinterpret_cast %[[W]]
// CHECK: scf.for %[[I:.*]] = %c0 to %c48 step
// CHECK: %[[K:.*]] = arith.muli %[[I]], %c4
// CHECK: %[[TURN:.*]] = arith.andi %[[K]], %c15
// CHECK-COUNT-2: memref.prefetch %[[ROWS]]
// CHECK-NOT: memref.prefetch %[[ROWS]]
// CHECK-COUNT-4: memref.prefetch %[[WEIGHTS]]
// CHECK: scf.yield
// CHECK-NOT: vector.fma
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @rounds(%a: memref<6x192xf32>, %w: memref<1x192x16xf32>, %d: memref<6x16xf32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<6x192xf32>, memref<1x192x16xf32>) outs(%d : memref<6x16xf32>)
      attributes {schedule = #cpu.schedule<tile = <6x16>, grid = <6x1>>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Long rows go by blocks of k, with AVX2: sums wait on the stack.
// CHECK-LABEL: func.func private @blocks
// CHECK: %[[SUMS:.*]] = memref.alloca() {{.*}} : memref<384xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c4 step
// CHECK: vector.load %[[SUMS]]
// Iterations of four steps, and the two remaining steps.
// CHECK: %{{.*}}:12 = scf.for %{{.*}} = %c0 to %c62 step
// CHECK-COUNT-48: vector.fma
// CHECK: scf.yield
// CHECK-COUNT-24: vector.fma
// CHECK-COUNT-12: vector.store %{{.*}}, %[[SUMS]]
// CHECK: scf.for
// CHECK-COUNT-12: vector.load %[[SUMS]]
// CHECK-NOT: cpu.
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @blocks(%a: memref<24x1000xf32>, %w: memref<1x1000x16xf32>, %d: memref<24x16xf32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<24x1000xf32>, memref<1x1000x16xf32>) outs(%d : memref<24x16xf32>)
      attributes {schedule = #cpu.schedule<tile = <6x16>, grid = <24x1>, depth_block = 250>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// A column tile visits the nonzero blocks of its panel. The first values of the
// list give their range; the first k of each block stands behind. With two
// rows, every second k has its own sums.
// CHECK-LABEL: func.func private @blocks(
// CHECK-DAG: %[[PANELS:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[BLOCK:.*]] = arith.constant 128 : index
// CHECK: %[[LIST:.*]] = memref.reinterpret_cast {{.*}} to memref<2147483647xi32
// CHECK: memref.load %[[LIST]][[[PANEL:%[a-z0-9]+]]]
// CHECK: %[[FIRST:.*]] = arith.index_cast
// CHECK: [[NEXT:%[a-z0-9]+]] = arith.addi [[PANEL]], %c1
// CHECK: memref.load %[[LIST]][[[NEXT]]]
// CHECK: %[[END:.*]] = arith.index_cast
// CHECK: %{{.*}}:8 = scf.for %[[I:.*]] = %[[FIRST]] to %[[END]] step %c1 iter_args
// CHECK: %[[AT:.*]] = arith.addi %[[I]], %[[PANELS]]
// CHECK: memref.load %[[LIST]][%[[AT]]]
// CHECK: %[[K:.*]] = arith.index_cast
// CHECK: %[[WEIGHTS:.*]] = arith.muli %[[I]], %[[BLOCK]]
// CHECK: vector.load %{{.*}}[%[[WEIGHTS]]]
// CHECK: memref.load %{{.*}}[%[[K]]]
// CHECK-COUNT-16: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.yield
// CHECK-COUNT-4: arith.addf
// CHECK: vector.store
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @blocks(%a: memref<2x24xf32>, %w: memref<3x4x32xf32>, %b: memref<6xi32>, %d: memref<2x40xf32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<2x24xf32>, memref<3x4x32xf32>) blocks(%b : memref<6xi32>) outs(%d : memref<2x40xf32>)
        attributes {format = #cpu.weights<blocks>, schedule = #cpu.schedule<tile = <2x32>, grid = <2x1>>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Rows that fall into one set of the cache: only the part of half of them that
// a block reads is copied. Bytes without VNNI are copied as int16.
// CHECK-LABEL: func.func private @colliding_blocks(
// CHECK: %[[COPY:.*]] = memref.alloca() {{.*}} : memref<112xf32>
// CHECK: scf.for {{.*}} iter_args
// CHECK-COUNT-7: vector.store {{.*}}, %[[COPY]]
// CHECK-NOT: vector.store
// CHECK: memref.load %[[COPY]]
// CHECK-LABEL: func.func private @wide_blocks(
// CHECK: %[[WORDS:.*]] = memref.alloca() {{.*}} : memref<{{.*}}xi32>
// CHECK: scf.for {{.*}} iter_args
// CHECK: scf.for
// CHECK: vector.store {{.*}}, %[[WORDS]]
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @colliding_blocks(%a: memref<14x1024xf32>, %w: memref<3x8x32xf32>, %b: memref<6xi32>, %d: memref<14x64xf32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<14x1024xf32>, memref<3x8x32xf32>) blocks(%b : memref<6xi32>) outs(%d : memref<14x64xf32>)
        attributes {format = #cpu.weights<blocks>, schedule = #cpu.schedule<tile = <14x32>, grid = <14x1>>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
  func.func private @wide_blocks(%a: memref<12x64xi8>, %w: memref<3x4x32x4xi8>, %b: memref<6xi32>, %d: memref<12x64xi32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<12x64xi8>, memref<3x4x32x4xi8>) blocks(%b : memref<6xi32>) outs(%d : memref<12x64xi32>)
        attributes {format = #cpu.weights<blocks>, schedule = #cpu.schedule<tile = <12x32, product = int8_wide>, grid = <12x1>>} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}
