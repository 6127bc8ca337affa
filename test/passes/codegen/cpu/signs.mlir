// RUN: ingot-opt %s --cpu-schedule --cpu-conv-to-vector --cpu-matmul-to-vector --canonicalize --cse --split-input-file | FileCheck %s
// RUN: ingot-opt %s --cpu-schedule --split-input-file | FileCheck %s --check-prefix=SCHEDULE

// Two pairs of words and one alone. The words behind the signs say whether both
// signs have to be counted; where none is 0 what the first gave counts twice.
// SCHEDULE-LABEL: @counts
// SCHEDULE: #cpu.schedule<tile = <6x32, product = signs>, grid = <6x1>>
// CHECK-LABEL: func.func private @counts
// CHECK: %[[ZEROS:.*]] = arith.ori
// CHECK: %{{.*}}:24 = scf.for
// CHECK: %[[X:.*]] = memref.load
// CHECK: vector.broadcast %[[X]] : i32 to vector<16xi32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.pternlog.d.512"
// CHECK: math.ctpop {{.*}} : vector<16xi32>
// CHECK: %[[HAS:.*]] = arith.cmpi ne, %{{.*}}, %c0_i32
// CHECK: scf.if %[[HAS]]
// CHECK: scf.for
// CHECK: } else {
// CHECK: arith.subi
// CHECK-NOT: cpu.
// CHECK: return
module attributes {ingot.target = #ingot.target<"znver4">} {
  func.func private @counts(%a: memref<6x11xi32>, %w: memref<1x5x32xi32>, %d: memref<6x32xi32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<6x11xi32>, memref<1x5x32xi32>) outs(%d : memref<6x32xi32>)
        attributes {sign_channels = 150 : i64} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// Without an instruction that counts bits those of bytes are, and four of them
// added up: by VNNI where there is that,
// CHECK-LABEL: func.func private @bytes
// CHECK: math.ctpop {{.*}} : vector<64xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
module attributes {ingot.target = #ingot.target<"cascadelake">} {
  func.func private @bytes(%a: memref<6x5xi32>, %w: memref<1x2x32xi32>, %d: memref<6x32xi32>, %task: index) {
    cpu.matmul ins(%a, %w : memref<6x5xi32>, memref<1x2x32xi32>) outs(%d : memref<6x32xi32>)
        attributes {sign_channels = 64 : i64} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// else by pairs. What takes one instruction there are three here.
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
        attributes {sign_channels = 64 : i64} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// Rows of a convolution count the taps that they have: 64 channels of each, two
// of three along the row at its ends.
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
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>,
                    groups = 1 : i64, sign_channels = 64 : i64} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}
