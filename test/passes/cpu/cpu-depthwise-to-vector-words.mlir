// RUN: ingot-opt %s --cpu-schedule --cpu-depthwise-to-vector --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

// Two taps above each other are a pair of int16: 3x3 taps are five pairs for
// each vector of channels. Weights are paired once. Four vectors go together. A
// loop over pixels takes two at a time: both use a column that it unpacks once.
// The sums of the next two pixels are carried.
// CHECK-LABEL: func.func private @pairs
// CHECK: memref.alloca
// CHECK-COUNT-9: arith.fptosi {{.*}} : vector<32xf32> to vector<32xi32>
// CHECK-NOT: arith.fptosi
// The weights of a missing row are masked.
// CHECK: scf.if
// CHECK: arith.andi {{.*}} : vector<8xi32>
// CHECK: %{{.*}}:8 = scf.for
// CHECK-COUNT-20: llvm.x86.avx2.pmadd.wd
// CHECK-NOT: llvm.x86.avx2.pmadd.wd
// CHECK: llvm.x86.avx.cvt.ps2dq.256
// CHECK-COUNT-2: llvm.x86.avx2.packssdw
// CHECK: llvm.x86.avx2.packuswb
// CHECK-NOT: vector.shuffle
// CHECK: vector.store {{.*}} : memref<{{.*}}>, vector<32xi8>
// CHECK: llvm.x86.avx2.pmadd.wd
// CHECK: scf.yield
// CHECK-NOT: vector.fma
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @pairs(%x: memref<1x8x12x32xi8>, %w: memref<3x3x32xf32>, %d: memref<1x8x12x32xi8>, %task: index) {
    cpu.depthwise_conv ins(%x, %w : memref<1x8x12x32xi8>, memref<3x3x32xf32>) outs(%d : memref<1x8x12x32xi8>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32):
      %low = arith.constant 0.0 : f32
      %high = arith.constant 255.0 : f32
      %above = arith.maximumf %sum, %low : f32
      %within = arith.minimumf %above, %high : f32
      %near = math.roundeven %within : f32
      %whole = arith.fptosi %near : f32 to i32
      %byte = arith.trunci %whole : i32 to i8
      cpu.yield %byte : i8
    }
    return
  }
}

// -----

// The last block of 58 channels has the last 32 channels; six of them are
// computed twice.
// CHECK-LABEL: func.func private @overlapping
// CHECK: vector.load %{{.*}}[%c26] : memref<{{.*}}>, vector<32xf32>
// CHECK-NOT: vector.masked
// CHECK: return
// An op that reads a residual from its own result must not run twice. So 16 channels and 8 go separately, the last two
// as f32.
// CHECK-LABEL: func.func private @apart
// CHECK-DAG: vector.load %{{.*}}[%c32] : memref<{{.*}}>, vector<16xf32>
// CHECK-DAG: vector.load %{{.*}}[%c48] : memref<{{.*}}>, vector<8xf32>
// CHECK: vector.masked
// CHECK: vector.fma
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @overlapping(%x: memref<1x8x12x58xi8>, %w: memref<3x3x58xf32>, %d: memref<1x8x12x58xf32>, %task: index) {
    cpu.depthwise_conv ins(%x, %w : memref<1x8x12x58xi8>, memref<3x3x58xf32>) outs(%d : memref<1x8x12x58xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
  func.func private @apart(%x: memref<1x8x12x58xi8>, %w: memref<3x3x58xf32>, %r: memref<1x8x12x58xf32>, %d: memref<1x8x12x58xf32>, %task: index) {
    cpu.depthwise_conv ins(%x, %w : memref<1x8x12x58xi8>, memref<3x3x58xf32>) operands(%r : memref<1x8x12x58xf32>) outs(%d : memref<1x8x12x58xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32, %rest: f32):
      %0 = arith.addf %sum, %rest : f32
      cpu.yield %0 : f32
    }
    return
  }
}

// -----

// Five pixels use five taps along a row. Five rows are two pairs above each
// other, and one along: 13 pairs, too many to unroll. Bytes are widened as they
// are loaded. Loops multiply two pixels at once: one over taps in one over
// pairs of rows, and one along the last row.
// CHECK-LABEL: func.func private @five
// CHECK: arith.extui {{.*}} : vector<16xi8> to vector<16xi16>
// CHECK: %{{.*}}:4 = scf.for {{.*}} to %c2
// CHECK: %{{.*}}:4 = scf.for {{.*}} to %c5
// CHECK-COUNT-4: llvm.x86.avx2.pmadd.wd
// CHECK-NOT: llvm.x86.avx2.pmadd.wd
// CHECK: scf.yield
// CHECK: %{{.*}}:4 = scf.for {{.*}} to %c3
// CHECK-COUNT-4: llvm.x86.avx2.pmadd.wd
// CHECK-NOT: llvm.x86.avx2.pmadd.wd
// CHECK: scf.yield
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @five(%x: memref<1x8x20x16xi8>, %w: memref<5x5x16xf32>, %d: memref<1x8x20x16xf32>, %task: index) {
    cpu.depthwise_conv ins(%x, %w : memref<1x8x20x16xi8>, memref<5x5x16xf32>) outs(%d : memref<1x8x20x16xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// The zero point is multiplied by the weights once, and sums start with the
// product. Vectors of 128 bits have their channels in order.
// CHECK-LABEL: func.func private @zero_point
// CHECK: llvm.x86.sse2.pmadd.wd
// CHECK: arith.subi {{.*}} : vector<4xi32>
// CHECK: vector.store
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v2">} {
  func.func private @zero_point(%x: memref<1x8x12x16xi8>, %w: memref<3x3x16xf32>, %d: memref<1x8x12x16xf32>, %task: index) {
    cpu.depthwise_conv ins(%x, %w : memref<1x8x12x16xi8>, memref<3x3x16xf32>) outs(%d : memref<1x8x12x16xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, src_zero_point = 7 : i64} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// With AVX-VNNI four taps above each other are a group of four bytes: 3x3 taps
// are three groups per vector of channels. Rows are unpacked directly.
// CHECK-LABEL: func.func private @fours
// CHECK: memref.alloca
// CHECK-COUNT-9: arith.fptosi {{.*}} : vector<32xf32> to vector<32xi32>
// CHECK-NOT: arith.fptosi
// CHECK: scf.if
// CHECK: arith.andi {{.*}} : vector<8xi32>
// CHECK: %{{.*}}:8 = scf.for
// CHECK-NOT: arith.extui {{.*}} : vector<{{[0-9]+}}xi8>
// CHECK-COUNT-12: llvm.x86.avx512.vpdpbusd.256
// CHECK: llvm.x86.avx2.packuswb
// CHECK: vector.store {{.*}} : memref<{{.*}}>, vector<32xi8>
// CHECK-COUNT-12: llvm.x86.avx512.vpdpbusd.256
// CHECK: scf.yield
// CHECK-NOT: pmadd
// CHECK: return
module attributes {ingot.target = #ingot.target<"alderlake">} {
  func.func private @fours(%x: memref<1x8x12x32xi8>, %w: memref<3x3x32xf32>, %d: memref<1x8x12x32xi8>, %task: index) {
    cpu.depthwise_conv ins(%x, %w : memref<1x8x12x32xi8>, memref<3x3x32xf32>) outs(%d : memref<1x8x12x32xi8>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32):
      %low = arith.constant 0.0 : f32
      %high = arith.constant 255.0 : f32
      %above = arith.maximumf %sum, %low : f32
      %within = arith.minimumf %above, %high : f32
      %near = math.roundeven %within : f32
      %whole = arith.fptosi %near : f32 to i32
      %byte = arith.trunci %whole : i32 to i8
      cpu.yield %byte : i8
    }
    return
  }
}

// -----

// Five rows are one group of four above each other and two along the last row:
// 7 groups. The zero point is a product with the weights, too.
// CHECK-LABEL: func.func private @five_in_fours
// CHECK: arith.constant dense<50529027> : vector<8xi32>
// CHECK: arith.subi {{.*}} : vector<8xi32>
// CHECK: %{{.*}}:8 = scf.for
// CHECK-COUNT-28: llvm.x86.avx512.vpdpbusd.256
// CHECK-NOT: vpdpbusd
// CHECK: scf.yield
// CHECK: return
module attributes {ingot.target = #ingot.target<"alderlake">} {
  func.func private @five_in_fours(%x: memref<1x8x20x16xi8>, %w: memref<5x5x16xf32>, %d: memref<1x8x20x16xf32>, %task: index) {
    cpu.depthwise_conv ins(%x, %w : memref<1x8x20x16xi8>, memref<5x5x16xf32>) outs(%d : memref<1x8x20x16xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 1, 1>, src_zero_point = 3 : i64} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Weights of bytes are widened without floats.
// CHECK-LABEL: func.func private @byte_weights
// CHECK-COUNT-9: arith.extsi {{.*}} : vector<32xi8> to vector<32xi32>
// CHECK-NOT: arith.fptosi {{.*}} : vector<32xf32> to vector<32xi32>
// CHECK: llvm.x86.avx2.pmadd.wd
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @byte_weights(%x: memref<1x8x12x32xi8>, %w: memref<3x3x32xi8>, %d: memref<1x8x12x32xf32>, %task: index) {
    cpu.depthwise_conv ins(%x, %w : memref<1x8x12x32xi8>, memref<3x3x32xi8>) outs(%d : memref<1x8x12x32xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}
