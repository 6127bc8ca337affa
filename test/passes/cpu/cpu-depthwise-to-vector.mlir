// RUN: ingot-opt %s --cpu-schedule --cpu-depthwise-to-vector --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

// 24 pixels are three tiles of 8. 24 channels are two vectors; the second
// begins with channel 8, so half a vector needs no code of its own. All taps of
// a row are unrolled. The inner tile loads 10 pixels for 24 products; border
// tiles leave a pixel and a product out.
// CHECK-LABEL: func.func private @v4
// CHECK: scf.for
// CHECK: scf.for %[[NUMBER:.*]] = %c0 to %c2 step
// CHECK: %[[CHANNEL:.*]] = arith.muli %[[NUMBER]], %c16
// CHECK: arith.minsi %[[CHANNEL]], %c8
// CHECK: %{{.*}}:8 = scf.for
// CHECK-COUNT-23: vector.fma {{.*}} : vector<16xf32>
// CHECK-NOT: vector.fma
// CHECK: scf.yield
// The epilogue.
// CHECK-COUNT-8: math.absf {{.*}} : vector<16xf32>
// CHECK-NOT: vector.masked
// Inner tile: three vectors of weights, ten of pixels.
// CHECK: %{{.*}}:8 = scf.for
// CHECK-COUNT-13: vector.load
// CHECK-NOT: vector.load
// CHECK: scf.yield
// CHECK-NOT: cpu.
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @v4(%x: memref<1x8x24x24xf32>, %w: memref<3x3x24xf32>, %d: memref<1x8x24x24xf32>, %task: index) {
    cpu.depthwise_conv ins(%x, %w : memref<1x8x24x24xf32>, memref<3x3x24xf32>) outs(%d : memref<1x8x24x24xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32):
      %0 = math.absf %sum : f32
      cpu.yield %0 : f32
    }
    return
  }
}

// -----

// A residual may lie where the result is written, so it must not be read again:
// the second vector is half a vector.
// CHECK-LABEL: func.func private @added
// CHECK: vector.load
// CHECK: vector.maskedload
// CHECK: vector.maskedstore
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @added(%x: memref<1x8x24x24xf32>, %w: memref<3x3x24xf32>, %d: memref<1x8x24x24xf32>, %task: index) {
    cpu.depthwise_conv ins(%x, %w : memref<1x8x24x24xf32>, memref<3x3x24xf32>) operands(%d : memref<1x8x24x24xf32>) outs(%d : memref<1x8x24x24xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32, %other: f32):
      %0 = arith.addf %sum, %other : f32
      cpu.yield %0 : f32
    }
    return
  }
}

// -----

// Tiles of four pixels; 24 channels are three whole vectors.
// CHECK-LABEL: func.func private @v3
// CHECK: scf.for %{{.*}} = %c0 to %c3 step
// CHECK: %{{.*}}:4 = scf.for
// CHECK: vector.fma {{.*}} : vector<8xf32>
// CHECK-NOT: vector.masked
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @v3(%x: memref<1x8x16x24xf32>, %w: memref<3x3x24xf32>, %d: memref<1x8x16x24xf32>, %task: index) {
    cpu.depthwise_conv ins(%x, %w : memref<1x8x16x24xf32>, memref<3x3x24xf32>) outs(%d : memref<1x8x16x24xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// With a stride of 2 and a dilation of 2, taps share every other pixel: pixels
// 0, 2, 4 … 10 for four results of a kernel of 3.
// CHECK-LABEL: func.func private @strided
// CHECK-COUNT-9: vector.load
// CHECK-NOT: vector.load
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @strided(%x: memref<1x11x8xf32>, %w: memref<3x8xf32>, %d: memref<1x4x8xf32>, %task: index) {
    cpu.depthwise_conv ins(%x, %w : memref<1x11x8xf32>, memref<3x8xf32>) outs(%d : memref<1x4x8xf32>)
        attributes {strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 2>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Must not fire for other kernels.
// CHECK-LABEL: func.func private @other
// CHECK: cpu.matmul
func.func private @other(%a: memref<5x7xf32>, %w: memref<1x7x16xf32>, %d: memref<5x9xf32>, %task: index) {
  cpu.matmul ins(%a, %w : memref<5x7xf32>, memref<1x7x16xf32>) outs(%d : memref<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @not_a_kernel(%x: tensor<1x11x8xf32>, %w: tensor<3x8xf32>, %d: tensor<1x4x8xf32>, %task: index) -> tensor<1x4x8xf32> {
  // expected-error @+1 {{expects to be in a kernel: outline-kernels makes it}}
  %0 = cpu.depthwise_conv ins(%x, %w : tensor<1x11x8xf32>, tensor<3x8xf32>) outs(%d : tensor<1x4x8xf32>)
      attributes {strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 2>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x4x8xf32>
  return %0 : tensor<1x4x8xf32>
}

// -----

// 24 vectors of channels. Four of them go through all rows of the task at a time: their 3 rows of 14 pixels stay in the
// first-level cache.
// CHECK-LABEL: func.func private @blocks
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C24:.*]] = arith.constant 24 : index
// CHECK: scf.for %[[FIRST:.*]] = %[[C0]] to %[[C24]] step %[[C4]]
// CHECK: %[[END:.*]] = arith.addi %[[FIRST]], %[[C4]]
// CHECK: scf.for
// CHECK: vector.fma
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @blocks(%x: memref<1x14x14x384xf32>, %w: memref<3x3x384xf32>, %d: memref<1x14x14x384xf32>, %task: index) {
    cpu.depthwise_conv ins(%x, %w : memref<1x14x14x384xf32>, memref<3x3x384xf32>) outs(%d : memref<1x14x14x384xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// In wide rows too little of each pixel would stay in the cache, so all channels of a row go one after the other.
// CHECK-LABEL: func.func private @wide
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK: scf.for %{{.*}} = %[[C0]] to %[[C2]] step %{{[a-z0-9_]+}} {
// CHECK-NOT: step %{{[a-z0-9_]+}} {
// CHECK: vector.fma
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @wide(%x: memref<1x4x112x32xf32>, %w: memref<3x3x32xf32>, %d: memref<1x4x112x32xf32>, %task: index) {
    cpu.depthwise_conv ins(%x, %w : memref<1x4x112x32xf32>, memref<3x3x32xf32>) outs(%d : memref<1x4x112x32xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Rows of dynamic size. The first four pixels, if there are as many, lack their
// first tap. Tiles of 8 and of 4 pixels have all taps. The last four lack their
// last tap. Other pixels read the nearest pixels and replace missing ones by
// zeros. Pixels that are computed twice are stored twice.
// CHECK-LABEL: func.func private @open
// CHECK: scf.for
// CHECK: scf.if
// CHECK: %{{.*}}:4 = scf.for
// CHECK-COUNT-11: vector.fma {{.*}} : vector<16xf32>
// CHECK-NOT: vector.fma
// CHECK: scf.yield
// CHECK: scf.for
// CHECK: %{{.*}}:8 = scf.for
// CHECK-COUNT-24: vector.fma {{.*}} : vector<16xf32>
// CHECK-NOT: vector.fma
// CHECK: scf.yield
// CHECK: scf.for
// CHECK: %{{.*}}:4 = scf.for
// CHECK-COUNT-12: vector.fma {{.*}} : vector<16xf32>
// CHECK-NOT: vector.fma
// CHECK: scf.yield
// CHECK: scf.if
// CHECK: %{{.*}}:4 = scf.for
// CHECK-COUNT-11: vector.fma {{.*}} : vector<16xf32>
// CHECK-NOT: vector.fma
// CHECK: scf.yield
// CHECK-NOT: memref.alloca
// CHECK: scf.for
// CHECK-COUNT-6: vector.broadcast {{.*}} : i1 to vector<16xi1>
// CHECK: %{{.*}}:4 = scf.if
// CHECK: %{{.*}}:4 = scf.for
// CHECK: vector.load
// CHECK: arith.select {{.*}} : vector<16xi1>, vector<16xf32>
// CHECK-COUNT-12: vector.fma {{.*}} : vector<16xf32>
// CHECK-NOT: cpu.
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @open(%x: memref<1x?x?x16xf32>, %w: memref<3x3x16xf32>, %d: memref<1x?x?x16xf32>, %task: index) {
    cpu.depthwise_conv ins(%x, %w : memref<1x?x?x16xf32>, memref<3x3x16xf32>) outs(%d : memref<1x?x?x16xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// With a stride of two, windows end with one or with two pixels of padding, and
// both cases have code. A residual may lie in the stored tile. In a tile that
// begins with pixels that are already stored, only the others are stored.
// CHECK-LABEL: func.func private @open_strided
// CHECK: scf.if
// CHECK-COUNT-18: vector.fma {{.*}} : vector<16xf32>
// CHECK-NOT: vector.fma
// CHECK: scf.for
// CHECK-COUNT-40: vector.fma {{.*}} : vector<16xf32>
// CHECK-NOT: vector.fma
// CHECK: scf.for
// CHECK-COUNT-20: vector.fma {{.*}} : vector<16xf32>
// CHECK-NOT: vector.fma
// CHECK: vector.store
// CHECK: scf.for
// CHECK: arith.addf
// CHECK: scf.if
// CHECK: scf.if
// CHECK-COUNT-18: vector.fma {{.*}} : vector<16xf32>
// CHECK-NOT: vector.fma
// CHECK: } else {
// CHECK-COUNT-19: vector.fma {{.*}} : vector<16xf32>
// CHECK-NOT: vector.fma
// CHECK: scf.for
// CHECK-COUNT-20: vector.fma {{.*}} : vector<16xf32>
// CHECK-NOT: vector.fma
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @open_strided(%x: memref<1x?x?x16xf32>, %w: memref<3x5x16xf32>, %r: memref<1x?x?x16xf32>, %d: memref<1x?x?x16xf32>, %task: index) {
    cpu.depthwise_conv ins(%x, %w : memref<1x?x?x16xf32>, memref<3x5x16xf32>) operands(%r : memref<1x?x?x16xf32>) outs(%d : memref<1x?x?x16xf32>)
        attributes {strides = array<i64: 1, 2>, pads = array<i64: 1, 2, 1, 2>, dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32, %residual: f32):
      %y = arith.addf %sum, %residual : f32
      cpu.yield %y : f32
    }
    return
  }
}

// -----

// Groups of four channels: each channel is broadcast to all lanes of its group.
// A tile of one row loads six pixels, and shuffles each for each channel.
// CHECK-LABEL: func.func private @groups
// CHECK: vector.shuffle %{{.*}} [0, 0, 0, 0, 4, 4, 4, 4] : vector<8xf32>, vector<8xf32>
// CHECK: vector.fma
// CHECK: vector.shuffle %{{.*}} [1, 1, 1, 1, 5, 5, 5, 5]
// CHECK: vector.shuffle %{{.*}} [2, 2, 2, 2, 6, 6, 6, 6]
// CHECK: vector.shuffle %{{.*}} [3, 3, 3, 3, 7, 7, 7, 7]
// CHECK-NOT: cpu.
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @groups(%x: memref<1x1x18x32xf32>, %w: memref<1x3x128xf32>, %d: memref<1x1x16x32xf32>, %task: index) {
    cpu.depthwise_conv ins(%x, %w : memref<1x1x18x32xf32>, memref<1x3x128xf32>) outs(%d : memref<1x1x16x32xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Bytes in groups of four. 80 channels are a block of 64 and one of 16. In the larger block, a column of pixels is
// unpacked to four vectors. The scales of a block's channels are brought into this order once.
// CHECK-LABEL: func.func private @fours
// CHECK: vector.load {{.*}} : memref<{{.*}}xf32{{.*}}>, vector<64xf32>
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 3, 16, 17, 18, 19, 32, 33, 34, 35, 48, 49, 50, 51] : vector<64xf32>, vector<64xf32>
// A row that src does not have gets weights of zero.
// CHECK: arith.select {{.*}} : i32
// CHECK: arith.andi {{.*}} : vector<16xi32>
// The second column. The first is in the padding.
// CHECK: vector.shuffle {{.*}} [0, 64, 1, 65, 2, 66, 3, 67, 4, 68, 5, 69, 6, 70, 7, 71, 16, 80, {{.*}}] : vector<64xi8>, vector<64xi8>
// CHECK: vector.shuffle {{.*}} [0, 32, 1, 33, 2, 34, 3, 35, 8, 40, {{.*}}] : vector<32xi16>, vector<32xi16>
// The loop carries two columns, and loads no weights.
// CHECK: %{{.*}}:8 = scf.for
// CHECK-COUNT-3: vector.load {{.*}} : memref<{{.*}}xi8{{.*}}>, vector<64xi8>
// CHECK-NOT: vector.load {{.*}}xi32
// CHECK-COUNT-12: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// CHECK-NOT: vpdpbusd
// CHECK-COUNT-4: arith.sitofp {{.*}} : vector<16xi32> to vector<16xf32>
// Results within a byte are packed, which restores the order of channels and applies the lower bound.
// CHECK-NOT: arith.maximumf
// CHECK: arith.minnumf
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.mask.cvtps2dq.512"
// CHECK-NOT: arith.trunci
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.packssdw.512"
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.packuswb.512"
// CHECK: vector.store {{.*}} : memref<{{.*}}xi8{{.*}}>, vector<64xi8>
// CHECK: scf.yield
// The last pixel, whose last column is in the padding.
// CHECK-COUNT-12: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// CHECK: vector.store
// The block of 16. Even lanes of 128 bits are packed with odd ones, which keeps the order.
// CHECK: vector.load {{.*}} : memref<{{.*}}xi8{{.*}}>, vector<16xi8>
// CHECK: vector.shuffle {{.*}} [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15] : vector<16xi32>, vector<16xi32>
// CHECK: vector.shuffle {{.*}} [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 16, 20, {{.*}}] : vector<64xi8>, vector<64xi8>
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 3, 8, 9, 10, 11] : vector<16xi32>, vector<16xi32>
// CHECK: vector.shuffle {{.*}} [4, 5, 6, 7, 12, 13, 14, 15] : vector<16xi32>, vector<16xi32>
// CHECK: vector.store {{.*}} : memref<{{.*}}xi8{{.*}}>, vector<16xi8>
// CHECK-NOT: cpu.
// CHECK: return
module attributes {ingot.target = #ingot.target<"cascadelake">} {
  func.func private @fours(%x: memref<1x8x16x80xi8>, %w: memref<3x3x80xf32>, %s: memref<1x1x1x80xf32>,
                           %d: memref<1x8x16x80xi8>, %task: index) {
    cpu.depthwise_conv ins(%x, %w : memref<1x8x16x80xi8>, memref<3x3x80xf32>)
        operands(%s : memref<1x1x1x80xf32>) outs(%d : memref<1x8x16x80xi8>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32, %scale: f32):
      %low = arith.constant 0.0 : f32
      %high = arith.constant 255.0 : f32
      %scaled = arith.mulf %sum, %scale : f32
      %above = arith.maximumf %scaled, %low : f32
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

// Five rows are a group of four above each other, and two groups along the last row. Without padding no weights are
// masked. The zero point is multiplied by the weights once. The columns of eight pixels lie on the stack. Four pixels
// share each vector of weights. Shuffles bring results that are no bytes into their order.
// CHECK-LABEL: func.func private @zero_point
// CHECK: arith.constant dense<50529027> : vector<16xi32>
// CHECK: memref.alloca() {{.*}} : memref<1024xi32>
// CHECK: arith.subi {{.*}} : vector<16xi32>
// CHECK-NOT: scf.if
// CHECK: scf.for {{.*}} = %c0 to %c8
// CHECK-COUNT-4: vector.store {{.*}} : memref<1024xi32>, vector<16xi32>
// CHECK-NOT: vector.store
// The last row reads later columns, too. For the last three columns, src lacks some.
// CHECK: scf.for {{.*}} = %c0 to %c5
// CHECK-NOT: arith.select
// CHECK-COUNT-4: vector.store {{.*}} : memref<1024xi32>, vector<16xi32>
// CHECK: scf.for {{.*}} = %c5{{.*}} to %c8
// CHECK-COUNT-4: arith.select {{.*}} : vector<64xi8>
// CHECK-COUNT-4: vector.store {{.*}} : memref<1024xi32>, vector<16xi32>
// CHECK-COUNT-112: vpdpbusd
// CHECK-NOT: vpdpbusd
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 3, 16, 17, 18, 19, {{.*}}] : vector<64xf32>, vector<64xf32>
// CHECK: vector.store {{.*}} : memref<{{.*}}xf32{{.*}}>, vector<64xf32>
// CHECK-NOT: pack
// CHECK: return
module attributes {ingot.target = #ingot.target<"cascadelake">} {
  func.func private @zero_point(%x: memref<1x5x8x64xi8>, %w: memref<5x5x64xf32>, %d: memref<1x1x4x64xf32>, %task: index) {
    cpu.depthwise_conv ins(%x, %w : memref<1x5x8x64xi8>, memref<5x5x64xf32>)
        outs(%d : memref<1x1x4x64xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, src_zero_point = 3 : i64} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Seven taps in seven rows are two groups of four for each tap along the row: a loop over groups and one over taps
// multiply five pixels at once. Columns in the padding are filled once.
// CHECK-LABEL: func.func private @seven
// CHECK: vector.store %cst{{.*}} : memref<2048xi32>, vector<16xi32>
// CHECK: scf.for {{.*}} = %c3 to %c13
// CHECK-COUNT-8: vector.store {{.*}} : memref<2048xi32>, vector<16xi32>
// CHECK: %{{.*}}:20 = scf.for {{.*}} to %c2
// CHECK: %{{.*}}:20 = scf.for {{.*}} to %c7
// CHECK-COUNT-20: vpdpbusd
// CHECK-NOT: vpdpbusd
// CHECK-COUNT-2: scf.yield
// CHECK: return
module attributes {ingot.target = #ingot.target<"cascadelake">} {
  func.func private @seven(%x: memref<1x10x10x64xi8>, %w: memref<7x7x64xi8>, %d: memref<1x10x10x64xf32>, %task: index) {
    cpu.depthwise_conv ins(%x, %w : memref<1x10x10x64xi8>, memref<7x7x64xi8>) outs(%d : memref<1x10x10x64xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 3, 3, 3, 3>, dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Dynamic sizes may have no pixels: then sums are zeros, and no pixel is read.
// CHECK-LABEL: func.func private @open_fours
// CHECK: arith.cmpi ne
// CHECK: scf.if
// CHECK: vpdpbusd
// CHECK: arith.select {{.*}} : vector<64xi8>
// CHECK: } else {
// CHECK-NOT: vpdpbusd
// CHECK: return
module attributes {ingot.target = #ingot.target<"cascadelake">} {
  func.func private @open_fours(%x: memref<1x?x?x64xi8>, %w: memref<3x3x64xf32>, %d: memref<1x?x?x64xf32>, %task: index) {
    cpu.depthwise_conv ins(%x, %w : memref<1x?x?x64xi8>, memref<3x3x64xf32>)
        outs(%d : memref<1x?x?x64xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// A zero point of the result is added to packed bytes. Results with another lower bound than a byte's are converted
// before the store.
// CHECK-LABEL: func.func private @packed
// CHECK-NOT: arith.maximumf
// CHECK: packuswb
// CHECK: arith.addi {{.*}} : vector<64xi8>
// CHECK: return
// CHECK-LABEL: func.func private @bounded
// CHECK: arith.maximumf {{.*}} : vector<16xf32>
// CHECK: arith.fptosi {{.*}} : vector<16xf32> to vector<16xi32>
// CHECK: packsswb
// CHECK: return
// CHECK-LABEL: func.func private @unknown
// CHECK-NOT: packssdw
// CHECK: arith.trunci {{.*}} : vector<16xi32> to vector<16xi8>
// CHECK: vector.shuffle {{.*}} : vector<64xi8>, vector<64xi8>
// CHECK: return
module attributes {ingot.target = #ingot.target<"cascadelake">} {
  func.func private @packed(%x: memref<1x3x8x64xi8>, %w: memref<3x3x64xf32>, %d: memref<1x1x6x64xi8>, %task: index) {
    cpu.depthwise_conv ins(%x, %w : memref<1x3x8x64xi8>, memref<3x3x64xf32>) outs(%d : memref<1x1x6x64xi8>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32):
      %low = arith.constant 0.0 : f32
      %high = arith.constant 252.0 : f32
      %three = arith.constant 3 : i32
      %above = arith.maximumf %sum, %low : f32
      %within = arith.minimumf %above, %high : f32
      %near = math.roundeven %within : f32
      %whole = arith.fptosi %near : f32 to i32
      %moved = arith.addi %whole, %three : i32
      %byte = arith.trunci %moved : i32 to i8
      cpu.yield %byte : i8
    }
    return
  }
  func.func private @bounded(%x: memref<1x3x8x64xi8>, %w: memref<3x3x64xf32>, %d: memref<1x1x6x64xi8>, %task: index) {
    cpu.depthwise_conv ins(%x, %w : memref<1x3x8x64xi8>, memref<3x3x64xf32>) outs(%d : memref<1x1x6x64xi8>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32):
      %low = arith.constant -100.0 : f32
      %high = arith.constant 127.0 : f32
      %above = arith.maximumf %sum, %low : f32
      %within = arith.minimumf %above, %high : f32
      %whole = arith.fptosi %within : f32 to i32
      %byte = arith.trunci %whole : i32 to i8
      cpu.yield %byte : i8
    }
    return
  }
  func.func private @unknown(%x: memref<1x3x8x64xi8>, %w: memref<3x3x64xf32>, %d: memref<1x1x6x64xi8>, %task: index) {
    cpu.depthwise_conv ins(%x, %w : memref<1x3x8x64xi8>, memref<3x3x64xf32>) outs(%d : memref<1x1x6x64xi8>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32):
      %whole = arith.fptosi %sum : f32 to i32
      %byte = arith.trunci %whole : i32 to i8
      cpu.yield %byte : i8
    }
    return
  }
}

// -----

// Without instructions for bytes, weights of bytes become floats on the stack once, for all rows of a task.
// CHECK-LABEL: func.func private @byte_weights
// CHECK: memref.alloca() {{.*}} : memref<288xf32>
// CHECK: arith.extsi {{.*}} : vector<16xi8> to vector<16xi32>
// CHECK: arith.sitofp
// CHECK: vector.store {{.*}} : memref<288xf32>, vector<16xf32>
// CHECK: scf.for
// CHECK-NOT: arith.extsi
// CHECK: vector.load {{.*}} : memref<288xf32>, vector<16xf32>
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @byte_weights(%x: memref<1x8x16x16xi8>, %w: memref<3x3x16xi8>, %d: memref<1x8x16x16xf32>, %task: index) {
    cpu.depthwise_conv ins(%x, %w : memref<1x8x16x16xi8>, memref<3x3x16xi8>) outs(%d : memref<1x8x16x16xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}
