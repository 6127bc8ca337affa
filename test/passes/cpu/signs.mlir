// RUN: ingot-opt %s --cpu-schedule --cpu-conv-to-vector --cpu-matmul-to-vector --canonicalize --cse --split-input-file | FileCheck %s
// RUN: ingot-opt %s --cpu-schedule --split-input-file | FileCheck %s --check-prefix=SCHEDULE

// Two pairs of words and a single word. Sums start with the number of products,
// and two signs that differ subtract 4. The words behind the signs tell if both
// signs must be counted; the mean is then used.
// SCHEDULE-LABEL: @counts
// SCHEDULE: #cpu.schedule<tile = <6x32, product = signs>, grid = <6x1>>
// CHECK-LABEL: func.func private @counts
// CHECK-DAG: %[[TWO:.*]] = arith.constant dense<-2> : vector<64xi8>
// CHECK-DAG: %[[FOUR:.*]] = arith.constant dense<-4> : vector<64xi8>
// CHECK-DAG: %[[ALL:.*]] = arith.constant dense<150> : vector<16xi32>
// CHECK: %[[ZEROS:.*]] = arith.ori
// CHECK-NOT: scf.for
// CHECK: vector.broadcast %{{.*}} : i32 to vector<16xi32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.pternlog.d.512"
// CHECK: %[[COUNT:.*]] = math.ctpop {{.*}} : vector<16xi32>
// CHECK: %[[BYTES:.*]] = vector.bitcast %[[COUNT]]
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%[[ALL]], %[[BYTES]], %[[FOUR]])
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"({{.*}}, {{.*}}, %[[TWO]])
// CHECK: %[[HAS:.*]] = arith.cmpi ne, %{{.*}}, %c0_i32
// CHECK: scf.if %[[HAS]]
// CHECK: %[[BOTH:.*]] = arith.addi
// CHECK: arith.shrsi %[[BOTH]],
// CHECK: } else {
// CHECK-NOT: cpu.
// CHECK: return
module attributes {ingot.target = #ingot.target<"znver4">} {
  func.func private @counts(%a: memref<6x11xi32>, %w: memref<1x5x32xi32>, %d: memref<6x32xi32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<6x11xi32>, memref<1x5x32xi32>) outs(%d : memref<6x32xi32>)
        attributes {format = #cpu.weights<signs<150>>} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// Without an instruction that counts bits, bits of bytes are counted, and four
// of them are added: by VNNI if available,
// CHECK-LABEL: func.func private @bytes
// CHECK: math.ctpop {{.*}} : vector<64xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
module attributes {ingot.target = #ingot.target<"cascadelake">} {
  func.func private @bytes(%a: memref<6x5xi32>, %w: memref<1x2x32xi32>, %d: memref<6x32xi32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<6x5xi32>, memref<1x2x32xi32>) outs(%d : memref<6x32xi32>)
        attributes {format = #cpu.weights<signs<64>>} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// in vectors of any length,
// CHECK-LABEL: func.func private @short_bytes
// CHECK: math.ctpop {{.*}} : vector<32xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"
module attributes {ingot.target = #ingot.target<"alderlake">} {
  func.func private @short_bytes(%a: memref<6x5xi32>, %w: memref<1x2x32xi32>, %d: memref<6x32xi32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<6x5xi32>, memref<1x2x32xi32>) outs(%d : memref<6x32xi32>)
        attributes {format = #cpu.weights<signs<64>>} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// else by pairs. An instruction is replaced by three here.
// SCHEDULE-LABEL: @pairs
// SCHEDULE: #cpu.schedule<tile = <2x16, product = signs>
// CHECK-LABEL: func.func private @pairs
// CHECK-NOT: pternlog
// CHECK: math.ctpop {{.*}} : vector<32xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// CHECK-NOT: pternlog
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @pairs(%a: memref<6x5xi32>, %w: memref<1x2x32xi32>, %d: memref<6x32xi32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<6x5xi32>, memref<1x2x32xi32>) outs(%d : memref<6x32xi32>)
        attributes {format = #cpu.weights<signs<64>>} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// Rows of a convolution count their existing taps: 64 channels of each tap, and
// two of three taps at both ends of a row.
// SCHEDULE-LABEL: @taps
// SCHEDULE: product = signs
// CHECK-LABEL: func.func private @taps
// CHECK: %[[SEEN:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %c0_i32, %[[BEFORE:.*]] = %c0)
// CHECK-COUNT-4: arith.ori
// CHECK: arith.addi %[[BEFORE]], %c1
// CHECK-DAG: arith.muli %[[SEEN]]#1, %c128
// CHECK-DAG: arith.muli %[[SEEN]]#1, %c192
// CHECK: scf.if
// CHECK-NOT: cpu.
// CHECK: return
module attributes {ingot.target = #ingot.target<"znver4">} {
  func.func private @taps(%a: memref<1x4x4x5xi32>, %w: memref<1x3x3x2x32xi32>, %d: memref<1x4x4x32xi32>, %task: index) {
    cpu.conv ins(%a, %w : memref<1x4x4x5xi32>, memref<1x3x3x2x32xi32>) outs(%d : memref<1x4x4x32xi32>)
        attributes {format = #cpu.weights<signs<64>>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>,
                    groups = 1 : i64} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// Nine pairs: two times four and one. Without zeros, no check is needed.
// CHECK-LABEL: func.func private @many
// CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1
// CHECK-COUNT-4: math.ctpop
// CHECK: scf.yield
// CHECK-COUNT-2: math.ctpop
// CHECK-NOT: math.ctpop
// CHECK-NOT: scf.if
// CHECK: return
module attributes {ingot.target = #ingot.target<"znver4">} {
  func.func private @many(%a: memref<1x18xi32>, %w: memref<1x18x16xi32>, %d: memref<1x16xi32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<1x18xi32>, memref<1x18x16xi32>) outs(%d : memref<1x16xi32>)
        attributes {format = #cpu.weights<signs<576>>} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// Contiguous taps of whole pairs are one run of twelve words: the only loop is
// that over rows of taps. The bits of two vectors are a word. Words of odd
// index are xor the word before.
// CHECK-LABEL: func.func private @stored
// CHECK-COUNT-6: math.ctpop
// CHECK-NOT: scf.if
// CHECK: %[[IS:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : vector<16xi32>
// CHECK: %[[MASK:.*]] = vector.bitcast %[[IS]] : vector<16xi1> to vector<1xi16>
// CHECK: %[[WORD:.*]] = arith.ori
// CHECK: %[[BEFORE:.*]] = memref.load
// CHECK: %[[KEPT:.*]] = arith.andi %[[BEFORE]],
// CHECK: %[[JOINED:.*]] = arith.xori %[[KEPT]], %[[WORD]]
// CHECK: memref.store %[[JOINED]]
// CHECK-NOT: cpu.
// CHECK: return
module attributes {ingot.target = #ingot.target<"znver4">} {
  func.func private @stored(%a: memref<1x3x6x4xi32>, %w: memref<4x1x3x4x32xi32>, %t: memref<1x1x1x128xi32>, %d: memref<1x3x4x4xi32>, %task: index) {
    cpu.conv ins(%a, %w : memref<1x3x6x4xi32>, memref<4x1x3x4x32xi32>) operands(%t : memref<1x1x1x128xi32>) outs(%d : memref<1x3x4x4xi32>)
        attributes {format = #cpu.weights<signs<128>>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>,
                    groups = 1 : i64, dst_signs = 128 : i64} {
    ^bb0(%sum: i32, %low: i32):
      %u = arith.cmpi slt, %sum, %low : i32
      cpu.yield %u : i1
    }
    return
  }
}

// -----

// With vectors of eight channels, a word is joined from tiles of 16. Both
// signs, and if they differ, are stored by one task for all channels.
// SCHEDULE-LABEL: @parts
// SCHEDULE: #cpu.schedule<tile = <2x16, product = signs>, grid = <6x6>>
// CHECK-LABEL: func.func private @parts
// CHECK: vector.bitcast %{{.*}} : vector<8xi1> to vector<1xi8>
// CHECK: %[[IN:.*]] = arith.remui %{{.*}}, %c32 : index
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[IN]], %c0
// CHECK: arith.select %[[FIRST]]
// CHECK: arith.shli
// CHECK: %[[START:.*]] = arith.cmpi eq, %{{.*}}, %c0
// CHECK: arith.select %[[START]], %c0, %c-1
// CHECK: arith.ori
// CHECK: memref.store
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @parts(%a: memref<6x2xi32>, %w: memref<3x2x32xi32>, %l: memref<1x90xi32>, %h: memref<1x90xi32>, %d: memref<6x7xi32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<6x2xi32>, memref<3x2x32xi32>) operands(%l, %h : memref<1x90xi32>, memref<1x90xi32>) outs(%d : memref<6x7xi32>)
        attributes {format = #cpu.weights<signs<64>>, dst_signs = 90 : i64} {
    ^bb0(%sum: i32, %low: i32, %high: i32):
      %u = arith.cmpi slt, %sum, %low : i32
      %v = arith.cmpi slt, %sum, %high : i32
      cpu.yield %u, %v : i1, i1
    }
    return
  }
}
