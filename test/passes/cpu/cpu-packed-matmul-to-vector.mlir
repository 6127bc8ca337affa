// RUN: ingot-opt %s --cpu-schedule --cpu-packed-matmul-to-vector --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

// A vector times a matrix: codes are looked up in registers, four bits at a time. A block is scaled as a whole.
// CHECK-LABEL: func.func private @vector
// CHECK: scf.for
// CHECK: vector.load {{.*}} vector<16xf32>
// CHECK: memref.prefetch
// CHECK: vector.load {{.*}} vector<16xi32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"
// CHECK: vector.fma
// CHECK: arith.shrui
// CHECK-NOT: memref.alloca
// CHECK-NOT: cpu.
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @vector(%a: memref<1x64xf32>, %w: memref<1x8x32xi32>, %s: memref<1x2x32xf32>, %d: memref<1x32xf32>, %task: index) {
    cpu.packed_matmul ins(%a, %w, %s : memref<1x64xf32>, memref<1x8x32xi32>, memref<1x2x32xf32>) outs(%d : memref<1x32xf32>)
        attributes {format = #cpu.weights<bits<4>, block_size = 32>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// One tile of rows unpacks in registers. For bytes a load extends the sign, and
// the only block's sums are scaled at the end.
// CHECK-LABEL: func.func private @tile
// CHECK-NOT: memref.alloca
// CHECK: scf.for
// CHECK-NOT: arith.mulf
// CHECK: vector.load {{.*}} vector<4xi32>
// CHECK: vector.bitcast {{.*}} vector<4xi32> to vector<16xi8>
// CHECK: arith.extsi
// CHECK: arith.sitofp
// CHECK: vector.fma
// CHECK: scf.yield
// CHECK-NOT: cpu.
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @tile(%a: memref<7x64xf32>, %w: memref<1x16x32xi32>, %s: memref<1x1x32xf32>, %d: memref<7x32xf32>, %task: index) {
    cpu.packed_matmul ins(%a, %w, %s : memref<7x64xf32>, memref<1x16x32xi32>, memref<1x1x32xf32>) outs(%d : memref<7x32xf32>)
        attributes {format = #cpu.weights<bits<8>, block_size = 64>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// More rows share weights that are unpacked to the stack. Without a table of
// floats, four bits are looked up as bytes and moved to the top of a lane. This
// multiplies them by 2^24, by which the scales are divided.
// CHECK-LABEL: func.func private @nibbles
// CHECK-DAG: arith.constant dense<5.96046448E-8> : vector<8xf32>
// CHECK-DAG: arith.constant dense<252645135> : vector<8xi32>
// CHECK-DAG: %[[TABLE:.*]] = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1,
// CHECK-DAG: %[[FIRST:.*]] = arith.constant dense<[-1, -1, -1, 0, -1, -1, -1, 4, -1, -1, -1, 8, -1, -1, -1, 12,
// CHECK-DAG: %[[SECOND:.*]] = arith.constant dense<[-1, -1, -1, 1, -1, -1, -1, 5, -1, -1, -1, 9, -1, -1, -1, 13,
// CHECK: memref.alloca
// CHECK: arith.mulf
// CHECK: %[[WORDS:.*]] = vector.load {{.*}} vector<8xi32>
// CHECK: arith.andi %[[WORDS]]
// CHECK: %[[LOW:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pshuf.b"(%[[TABLE]], %{{.*}})
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.pshuf.b"(%[[LOW]], %[[FIRST]])
// CHECK: arith.sitofp
// CHECK: arith.mulf
// CHECK: vector.store
// CHECK: arith.shrui %[[WORDS]]
// CHECK: %[[HIGH:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pshuf.b"(%[[TABLE]], %{{.*}})
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.pshuf.b"(%[[HIGH]], %[[FIRST]])
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.pshuf.b"(%{{.*}}, %[[SECOND]])
// CHECK: vector.fma
// CHECK-NOT: cpu.
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @nibbles(%a: memref<9x64xf32>, %w: memref<1x8x16xi32>, %s: memref<1x2x16xf32>, %d: memref<9x16xf32>, %task: index) {
    cpu.packed_matmul ins(%a, %w, %s : memref<9x64xf32>, memref<1x8x16xi32>, memref<1x2x16xf32>) outs(%d : memref<9x16xf32>)
        attributes {format = #cpu.weights<bits<4>, block_size = 32>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// CHECK-LABEL: func.func private @rows
// CHECK: memref.alloca
// CHECK: vector.load {{.*}} vector<2xi32>
// CHECK: arith.extsi
// CHECK: arith.sitofp
// CHECK: arith.subf
// CHECK: arith.mulf
// CHECK: vector.store
// CHECK: vector.fma
// CHECK-NOT: cpu.
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @rows(%a: memref<9x64xf32>, %w: memref<1x16x16xi32>, %s: memref<1x2x16xf32>, %z: memref<1x2x16xi8>, %d: memref<9x16xf32>, %task: index) {
    cpu.packed_matmul ins(%a, %w, %s : memref<9x64xf32>, memref<1x16x16xi32>, memref<1x2x16xf32>) zero_points(%z : memref<1x2x16xi8>) outs(%d : memref<9x16xf32>)
        attributes {format = #cpu.weights<bits<8>, block_size = 32>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @registers(%a: memref<9x64xf32>, %w: memref<1x16x16xi32>, %s: memref<1x2x16xf32>, %d: memref<9x16xf32>, %task: index) {
    // expected-error @below {{expects a tile for the 16 registers of x86-64-v3, but got 9x16, which takes 21}}
    cpu.packed_matmul ins(%a, %w, %s : memref<9x64xf32>, memref<1x16x16xi32>, memref<1x2x16xf32>) outs(%d : memref<9x16xf32>)
        attributes {format = #cpu.weights<bits<8>, block_size = 32>, schedule = #cpu.schedule<tile = <9x16>, grid = <9x1>>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Rounded rows: sums of a block start with the contribution of zero points of
// 8. Four codes at a time are multiplied by a word of the row.
// CHECK-LABEL: func.func private @fours
// CHECK-DAG: %[[MASK:.*]] = arith.constant dense<252645135> : vector<16xi32>
// CHECK-DAG: %[[SHIFT:.*]] = arith.constant dense<4> : vector<16xi32>
// CHECK-NOT: memref.alloca
// CHECK: scf.for
// CHECK: memref.load {{.*}} memref<{{.*}}xi32
// CHECK: vector.broadcast {{.*}} vector<16xi32>
// CHECK: memref.prefetch
// CHECK: %[[WORDS:.*]] = vector.load {{.*}} vector<16xi32>
// CHECK: %[[LOW:.*]] = arith.andi %[[WORDS]], %[[MASK]]
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// CHECK: %[[UP:.*]] = arith.shrui %[[WORDS]], %[[SHIFT]]
// CHECK: arith.andi %[[UP]], %[[MASK]]
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// CHECK: arith.sitofp
// CHECK: arith.mulf
// CHECK: vector.fma
// CHECK: scf.yield
// CHECK-NOT: cpu.
// CHECK: return
module attributes {ingot.target = #ingot.target<"sapphirerapids">} {
  func.func private @fours(%a: memref<1x20xi32>, %w: memref<1x8x16xi32>, %s: memref<1x2x16xf32>, %d: memref<1x16xf32>, %task: index) {
    cpu.packed_matmul ins(%a, %w, %s : memref<1x20xi32>, memref<1x8x16xi32>, memref<1x2x16xf32>) outs(%d : memref<1x16xf32>)
        attributes {format = #cpu.weights<bits<4>, block_size = 32>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Without VNNI, eight sums of pairs are added as int16 before they are widened.
// Zero points of blocks are multiplied by the rows' sums.
// CHECK-LABEL: func.func private @pairs
// CHECK-DAG: %[[ONES:.*]] = arith.constant dense<1> : vector<16xi16>
// CHECK-DAG: arith.constant dense<1.250000e-01> : vector<8xf32>
// CHECK-COUNT-32: llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"(%{{.*}}, %[[ONES]])
// CHECK-NOT: llvm.call_intrinsic
// CHECK: vector.load {{.*}} vector<8xi8>
// CHECK: arith.sitofp
// CHECK: arith.sitofp
// CHECK: vector.fma
// CHECK: arith.mulf
// CHECK: vector.fma
// CHECK-NOT: cpu.
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @pairs(%a: memref<4x20xi32>, %w: memref<1x8x16xi32>, %s: memref<1x2x16xf32>, %z: memref<1x2x16xi8>, %d: memref<4x16xf32>, %task: index) {
    cpu.packed_matmul ins(%a, %w, %s : memref<4x20xi32>, memref<1x8x16xi32>, memref<1x2x16xf32>) zero_points(%z : memref<1x2x16xi8>) outs(%d : memref<4x16xf32>)
        attributes {format = #cpu.weights<bits<4>, block_size = 32>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// For many rows, codes are unpacked on the stack. With two bits, all sums of
// pairs of a block fit into int16.
// CHECK-LABEL: func.func private @unpacked
// CHECK: memref.alloca
// CHECK-COUNT-4: vector.store {{.*}} vector<8xi32>
// CHECK: scf.for
// CHECK-COUNT-32: llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// CHECK-NOT: llvm.call_intrinsic
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @unpacked(%a: memref<16x20xi32>, %w: memref<1x4x16xi32>, %s: memref<1x2x16xf32>, %d: memref<16x16xf32>, %task: index) {
    cpu.packed_matmul ins(%a, %w, %s : memref<16x20xi32>, memref<1x4x16xi32>, memref<1x2x16xf32>) outs(%d : memref<16x16xf32>)
        attributes {format = #cpu.weights<bits<2>, block_size = 32>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// With 8 bits, words are used directly as groups of four.
// CHECK-LABEL: func.func private @bytes
// CHECK-NOT: arith.andi
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"
// CHECK-NOT: arith.andi
// CHECK: return
module attributes {ingot.target = #ingot.target<"alderlake">} {
  func.func private @bytes(%a: memref<4x20xi32>, %w: memref<1x16x16xi32>, %s: memref<1x2x16xf32>, %d: memref<4x16xf32>, %task: index) {
    cpu.packed_matmul ins(%a, %w, %s : memref<4x20xi32>, memref<1x16x16xi32>, memref<1x2x16xf32>) outs(%d : memref<4x16xf32>)
        attributes {format = #cpu.weights<bits<8>, block_size = 32>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @no_vnni(%a: memref<4x20xi32>, %w: memref<1x8x16xi32>, %s: memref<1x2x16xf32>, %d: memref<4x16xf32>, %task: index) {
    // expected-error @below {{expects a product that x86-64-v3 has instructions for, but got int8_dot}}
    cpu.packed_matmul ins(%a, %w, %s : memref<4x20xi32>, memref<1x8x16xi32>, memref<1x2x16xf32>) outs(%d : memref<4x16xf32>)
        attributes {format = #cpu.weights<bits<4>, block_size = 32>, schedule = #cpu.schedule<tile = <4x8, product = int8_dot>, grid = <4x1>>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @block_registers(%a: memref<3x20xi32>, %w: memref<1x8x16xi32>, %s: memref<1x2x16xf32>, %d: memref<3x16xf32>, %task: index) {
    // expected-error @below {{expects a tile for the 16 registers of x86-64-v3, but got 3x16, which takes 17}}
    cpu.packed_matmul ins(%a, %w, %s : memref<3x20xi32>, memref<1x8x16xi32>, memref<1x2x16xf32>) outs(%d : memref<3x16xf32>)
        attributes {format = #cpu.weights<bits<4>, block_size = 32>, schedule = #cpu.schedule<tile = <3x16, product = int8_pairs>, grid = <3x1>>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Rows of three bytes for each element: i32 holds the sum of the lower two
// digits, and f32 adds the third.
// CHECK-LABEL: func.func private @digits
// CHECK-DAG: arith.constant dense<6.553600e+04> : vector<16xf32>
// CHECK-NOT: memref.alloca
// CHECK-COUNT-24: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// CHECK-NOT: llvm.call_intrinsic
// CHECK: arith.shli
// CHECK: arith.addi
// CHECK: arith.sitofp
// CHECK: vector.fma
// CHECK: arith.mulf
// CHECK: vector.fma
// CHECK: scf.yield
// CHECK: return
module attributes {ingot.target = #ingot.target<"cascadelake">} {
  func.func private @digits(%a: memref<1x56xi32>, %w: memref<1x8x16xi32>, %s: memref<1x2x16xf32>, %d: memref<1x16xf32>, %task: index) {
    cpu.packed_matmul ins(%a, %w, %s : memref<1x56xi32>, memref<1x8x16xi32>, memref<1x2x16xf32>) outs(%d : memref<1x16xf32>)
        attributes {format = #cpu.weights<bits<4>, block_size = 32>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Several row tiles of one vector unpack in registers, with 32 registers. Zero
// points are subtracted from weights, and the sums of a block are scaled.
// CHECK-LABEL: func.func private @again
// CHECK-NOT: memref.alloca
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"
// CHECK: arith.subf
// CHECK-NOT: arith.mulf
// CHECK-COUNT-10: vector.fma
// CHECK-NOT: arith.mulf
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @again(%a: memref<20x64xf32>, %w: memref<1x8x32xi32>, %s: memref<1x2x32xf32>, %z: memref<1x2x32xf32>, %d: memref<20x32xf32>, %task: index) {
    cpu.packed_matmul ins(%a, %w, %s : memref<20x64xf32>, memref<1x8x32xi32>, memref<1x2x32xf32>) zero_points(%z : memref<1x2x32xf32>) outs(%d : memref<20x32xf32>)
        attributes {format = #cpu.weights<bits<4>, block_size = 32>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// More rows share weights that are unpacked to the stack.
// CHECK-LABEL: func.func private @once
// CHECK: memref.alloca
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @once(%a: memref<100x64xf32>, %w: memref<1x8x32xi32>, %s: memref<1x2x32xf32>, %d: memref<100x32xf32>, %task: index) {
    cpu.packed_matmul ins(%a, %w, %s : memref<100x64xf32>, memref<1x8x32xi32>, memref<1x2x32xf32>) outs(%d : memref<100x32xf32>)
        attributes {format = #cpu.weights<bits<4>, block_size = 32>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}
