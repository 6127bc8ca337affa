// RUN: ingot-opt %s --cpu-schedule --split-input-file | FileCheck %s
// RUN: ingot-opt %s --cpu-schedule --outline-kernels --canonicalize --split-input-file | FileCheck %s --check-prefix=TASKS
// RUN: ingot-opt %s --cpu-schedule --cpu-schedule --split-input-file | FileCheck %s

// RUN: ingot-opt %s --cpu-schedule=seed=7 --split-input-file > %t.one
// RUN: ingot-opt %s --cpu-schedule=seed=7 --split-input-file | diff %t.one -
// RUN: ingot-opt %s --cpu-schedule=seed=8 --split-input-file > %t.other
// RUN: not diff %t.one %t.other
// RUN: FileCheck %s --check-prefix=DRAWN --input-file=%t.one
// RUN: ingot-opt %s --cpu-schedule --split-input-file --remarks-filter-analyse=decision 2>&1 >/dev/null | FileCheck %s --check-prefix=DECISION

// Random schedules for tests depend on the seed only. A given schedule stays.
// DRAWN-LABEL: func.func @chosen(
// DRAWN: schedule = #cpu.schedule<tile = <
// DRAWN-LABEL: func.func @given(
// DRAWN: schedule = #cpu.schedule<tile = <4x8>, grid = <12x3, rows_outside = true>>

// As many rows as registers hold, and tasks of whole tiles. Neighbouring tasks have the same rows, so that a thread
// reads the rows that it wrote in the operation before.
// DECISION-DAG: cpu.matmul {{.*}} Decision="#ingot.decision<schedule, "f32 tiles of 14x32, tasks of 14x4", "computes 196 rows of 256 columns">", Level=x86-64-v4, Sizes=196x256
// DECISION-DAG: cpu.matmul {{.*}} Decision="#ingot.decision<schedule, "f32 tiles of 1x32, tasks of 1x8, prefetch", "computes 1 row of 256 columns">", Level=x86-64-v3, Sizes=1x256
// CHECK-LABEL: func.func @chosen(
// CHECK: schedule = #cpu.schedule<tile = <14x32>, grid = <14x4, rows_outside = true>>
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func @chosen(%a: memref<196x256xf32>, %w: memref<8x256x32xf32>, %d: memref<196x256xf32>) {
    cpu.matmul ins(%a, %w : memref<196x256xf32>, memref<8x256x32xf32>) outs(%d : memref<196x256xf32>) {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// On CPUs without VNNI, tasks in a loop have a quarter of the arithmetic.
// CHECK-LABEL: func.func @loop(
// CHECK: schedule = #cpu.schedule<tile = <6x16>, grid = <42x6>>
// CHECK: scf.for
// CHECK: schedule = #cpu.schedule<tile = <6x16>, grid = <24x6, rows_outside = true>>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @loop(%a: memref<40x96xf32>, %w: memref<3x96x32xf32>, %d: memref<40x96xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    cpu.matmul ins(%a, %w : memref<40x96xf32>, memref<3x96x32xf32>) outs(%d : memref<40x96xf32>) {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    scf.for %i = %c0 to %n step %c1 {
      cpu.matmul ins(%a, %w : memref<40x96xf32>, memref<3x96x32xf32>) outs(%d : memref<40x96xf32>) {
      ^bb0(%sum: f32):
        cpu.yield %sum : f32
      }
    }
    return
  }
}

// -----

// On CPUs with VNNI, they do not.
// CHECK-LABEL: func.func @loop_with_vnni(
// CHECK: scf.for
// CHECK: schedule = #cpu.schedule<tile = <14x32>, grid = <42x3>>
module attributes {ingot.target = #ingot.target<"znver4">} {
  func.func @loop_with_vnni(%a: memref<40x96xf32>, %w: memref<3x96x32xf32>, %d: memref<40x96xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      cpu.matmul ins(%a, %w : memref<40x96xf32>, memref<3x96x32xf32>) outs(%d : memref<40x96xf32>) {
      ^bb0(%sum: f32):
        cpu.yield %sum : f32
      }
    }
    return
  }
}

// -----

// Weights that do not stay in the cache are read once.
// CHECK-LABEL: func.func @large_weights(
// CHECK: schedule = #cpu.schedule<tile = <14x32>, grid = <196x1>, prefetch = true>
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func @large_weights(%a: memref<196x256xf32>, %w: memref<16x256x32xf32>, %d: memref<196x512xf32>) {
    cpu.matmul ins(%a, %w : memref<196x256xf32>, memref<16x256x32xf32>) outs(%d : memref<196x512xf32>) {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// With 16 registers of 8 elements.
// CHECK-LABEL: func.func @level(
// CHECK: schedule = #cpu.schedule<tile = <6x16>,
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @level(%a: memref<196x256xf32>, %w: memref<8x256x32xf32>, %d: memref<196x256xf32>) {
    cpu.matmul ins(%a, %w : memref<196x256xf32>, memref<8x256x32xf32>) outs(%d : memref<196x256xf32>) {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// A single row takes a panel's columns at a time.
// CHECK-LABEL: func.func @row(
// CHECK: schedule = #cpu.schedule<tile = <1x32>,
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @row(%a: memref<1x256xf32>, %w: memref<8x256x32xf32>, %d: memref<1x256xf32>) {
    cpu.matmul ins(%a, %w : memref<1x256xf32>, memref<8x256x32xf32>) outs(%d : memref<1x256xf32>) {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// An existing schedule stays, and the op is split by it: 12 rows of 5 per task are 17 blocks, 3 of 32 column tiles of 8
// are 11.
// CHECK-LABEL: func.func @given(
// CHECK: schedule = #cpu.schedule<tile = <4x8>, grid = <12x3, rows_outside = true>>
// TASKS-LABEL: func.func @given(
// TASKS: %[[TASKS:.*]] = arith.constant 187 : index
// TASKS: cpu.launch @matmul.0({{.*}}) tasks(%[[TASKS]])
// TASKS: func.func private @matmul.0
// TASKS: schedule = #cpu.schedule<tile = <4x8>, grid = <12x3, rows_outside = true>>
func.func @given(%a: memref<196x256xf32>, %w: memref<8x256x32xf32>, %d: memref<196x256xf32>) {
  cpu.matmul ins(%a, %w : memref<196x256xf32>, memref<8x256x32xf32>) outs(%d : memref<196x256xf32>)
      attributes {schedule = #cpu.schedule<tile = <4x8>, grid = <12x3, rows_outside = true>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

// Two equal ops with different schedules are two kernels.
// TASKS-LABEL: func.func @apart(
// TASKS: cpu.launch @softmax.0(
// TASKS: cpu.launch @softmax.1(
func.func @apart(%x: memref<64x50xf32>, %y: memref<64x50xf32>, %z: memref<64x50xf32>) {
  cpu.softmax ins(%x : memref<64x50xf32>) outs(%y : memref<64x50xf32>)
      attributes {schedule = #cpu.schedule<grid = <32x1>>} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  cpu.softmax ins(%y : memref<64x50xf32>) outs(%z : memref<64x50xf32>)
      attributes {schedule = #cpu.schedule<grid = <16x1>>} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}

// -----

// Depthwise on bytes: in groups of four if the CPU has the instruction, in
// blocks of 64 channels. As many channels go through all rows as the
// first-level cache holds.
// CHECK-LABEL: func.func @depthwise_bytes(
// CHECK: cpu.depthwise_conv {{.*}}schedule = #cpu.schedule<tile = <8x64, product = int8_dot>, grid = <{{[0-9]+}}x15, rows_outside = true>, tile_block = 4>
module attributes {ingot.target = #ingot.target<"cascadelake">} {
  func.func @depthwise_bytes(%x: memref<1x14x14x960xi8>, %w: memref<3x3x960xf32>, %y: memref<1x14x14x960xf32>) {
    cpu.depthwise_conv ins(%x, %w : memref<1x14x14x960xi8>, memref<3x3x960xf32>)
        outs(%y : memref<1x14x14x960xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Bytes under many taps are multiplied as floats.
// CHECK-LABEL: func.func @depthwise_taps(
// CHECK: cpu.depthwise_conv {{.*}}schedule = #cpu.schedule<tile = <8x16>,
module attributes {ingot.target = #ingot.target<"cascadelake">} {
  func.func @depthwise_taps(%x: memref<1x14x14x64xi8>, %w: memref<13x13x64xf32>, %y: memref<1x14x14x64xf32>) {
    cpu.depthwise_conv ins(%x, %w : memref<1x14x14x64xi8>, memref<13x13x64xf32>)
        outs(%y : memref<1x14x14x64xf32>)
        attributes {dilations = array<i64: 1, 1>, pads = array<i64: 6, 6, 6, 6>, strides = array<i64: 1, 1>} {
      ^bb0(%e: f32):
        cpu.yield %e : f32
    }
    return
  }
}

// -----

// Without the instruction, as pairs of int16, in four vectors of up to 256
// bits.
// CHECK-LABEL: func.func @depthwise_words(
// CHECK: cpu.depthwise_conv {{.*}}schedule = #cpu.schedule<tile = <4x32, product = int8_wide>,
// Five pixels have sums that are carried, for which two vectors have registers.
// CHECK: cpu.depthwise_conv {{.*}}schedule = #cpu.schedule<tile = <4x16, product = int8_wide>,
// Three taps are not worth it, except if four vectors of results are packed to bytes.
// CHECK: cpu.depthwise_conv {{.*}}schedule = #cpu.schedule<tile = <4x8>,
// CHECK: cpu.depthwise_conv {{.*}}schedule = #cpu.schedule<tile = <4x32, product = int8_wide>,
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @depthwise_words(%x: memref<1x14x14x64xi8>, %w: memref<3x3x64xf32>, %v: memref<5x5x64xf32>, %u: memref<1x3x64xf32>, %y: memref<1x14x14x64xf32>, %z: memref<1x14x14x64xi8>) {
    cpu.depthwise_conv ins(%x, %w : memref<1x14x14x64xi8>, memref<3x3x64xf32>) outs(%y : memref<1x14x14x64xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    cpu.depthwise_conv ins(%x, %v : memref<1x14x14x64xi8>, memref<5x5x64xf32>) outs(%y : memref<1x14x14x64xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    cpu.depthwise_conv ins(%x, %u : memref<1x14x14x64xi8>, memref<1x3x64xf32>) outs(%y : memref<1x14x14x64xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 0, 1, 0, 1>, dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    cpu.depthwise_conv ins(%x, %u : memref<1x14x14x64xi8>, memref<1x3x64xf32>) outs(%z : memref<1x14x14x64xi8>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 0, 1, 0, 1>, dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32):
      %whole = arith.fptosi %sum : f32 to i32
      %byte = arith.trunci %whole : i32 to i8
      cpu.yield %byte : i8
    }
    return
  }
}

// -----

// Otherwise as f32.
// CHECK-LABEL: func.func @depthwise_floats(
// CHECK: cpu.depthwise_conv {{.*}}schedule = #cpu.schedule<tile = <8x16>,
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func @depthwise_floats(%x: memref<1x14x14x64xi8>, %w: memref<3x3x64xf32>, %y: memref<1x14x14x64xf32>) {
    cpu.depthwise_conv ins(%x, %w : memref<1x14x14x64xi8>, memref<3x3x64xf32>)
        outs(%y : memref<1x14x14x64xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// All kinds of ops.
// CHECK-LABEL: func.func @kinds(
// CHECK: cpu.conv {{.*}}schedule = #cpu.schedule<tile = <6x16>, grid = <7x2>, depth_block = 128>
// CHECK: cpu.depthwise_conv {{.*}}schedule = #cpu.schedule<tile = <4x8>, grid = <{{[0-9]+}}x4, rows_outside = true>>
// CHECK: cpu.attention {{.*}}schedule = #cpu.schedule<tile = <4x16>, scores = <5x16>>
// CHECK: cpu.reduce {{.*}}schedule = #cpu.schedule<tile = <2x32>, grid = <4x1>>
// CHECK: cpu.reduce {{.*}}schedule = #cpu.schedule<grid = <4x1, rows_outside = true>>
// CHECK: cpu.softmax {{.*}}schedule = #cpu.schedule<grid = <2x1, rows_outside = true>>
// CHECK: cpu.row_norm {{.*}}schedule = #cpu.schedule<grid = <2x1, rows_outside = true>>
// CHECK: cpu.group_norm {{.*}}schedule = #cpu.schedule<tile = <1x20>, grid = <1x1, rows_outside = true>>
// CHECK: cpu.pool max {{.*}}schedule = #cpu.schedule<tile = <1x32>, grid = <9x1, rows_outside = true>>
func.func @kinds(%c: memref<1x7x3x256xf32>, %cw: memref<1x1x1x256x32xf32>, %cy: memref<1x7x3x32xf32>,
                 %x: memref<1x8x8x32xf32>, %w: memref<3x3x32xf32>, %y: memref<1x8x8x32xf32>,
                 %q: memref<1x7x2x16xf32>, %k: memref<1x9x2x16xf32>, %v: memref<1x9x2x32xf32>, %o: memref<1x7x2x32xf32>,
                 %r: memref<4x9x32xf32>, %rd: memref<4x32xf32>, %l: memref<4x99x1xf32>, %ld: memref<4x1xf32>,
                 %s: memref<2x64xf32>, %sd: memref<2x64xf32>, %g: memref<1x30x20xf32>, %gd: memref<1x30x20xf32>,
                 %p: memref<1x9x9x32xf32>, %pd: memref<1x9x9x32xf32>) {
  cpu.conv ins(%c, %cw : memref<1x7x3x256xf32>, memref<1x1x1x256x32xf32>) outs(%cy : memref<1x7x3x32xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  cpu.depthwise_conv ins(%x, %w : memref<1x8x8x32xf32>, memref<3x3x32xf32>) outs(%y : memref<1x8x8x32xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  cpu.attention ins(%q, %k, %v : memref<1x7x2x16xf32>, memref<1x9x2x16xf32>, memref<1x9x2x32xf32>)
      outs(%o : memref<1x7x2x32xf32>) attributes {scale = 2.5e-1 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  cpu.reduce sum ins(%r : memref<4x9x32xf32>) outs(%rd : memref<4x32xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  cpu.reduce sum ins(%l : memref<4x99x1xf32>) outs(%ld : memref<4x1xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  cpu.softmax ins(%s : memref<2x64xf32>) outs(%sd : memref<2x64xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  cpu.row_norm ins(%s : memref<2x64xf32>) outs(%sd : memref<2x64xf32>) attributes {epsilon = 1.0e-5 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  cpu.group_norm ins(%g : memref<1x30x20xf32>) outs(%gd : memref<1x30x20xf32>)
      attributes {epsilon = 1.0e-5 : f32, groups = 4 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  cpu.pool max ins(%p : memref<1x9x9x32xf32>) outs(%pd : memref<1x9x9x32xf32>)
      attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>,
                  pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

// Ops on tensors are not scheduled yet.
// CHECK-LABEL: func.func @tensors(
// CHECK-NOT: schedule
// CHECK: return
func.func @tensors(%a: tensor<5x7xf32>, %w: tensor<1x7x16xf32>, %d: tensor<5x9xf32>) -> tensor<5x9xf32> {
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  return %0 : tensor<5x9xf32>
}

// -----

// Bytes without VNNI use pairs if these are proved for most groups of k, in the
// 16 columns of a tile. The counts are then dropped, so that such kernels are
// merged.
// DECISION: [<"int8_wide", cycles = 8800>, <"int8_pairs", cycles = 6566>], "computes 64 rows of 32 columns"
// DECISION: [<"int8_wide", cycles = 4312>, <"int8_pairs">], "computes 31 rows of 32 columns"
// CHECK-LABEL: func.func @pairs(
// CHECK-NOT: pair_counts
// CHECK: schedule = #cpu.schedule<tile = <5x16, product = int8_pairs>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @pairs(%a: memref<64x64xi8>, %w: memref<1x16x32x4xi8>, %p: memref<1x16xi8>, %d: memref<64x32xi32>) {
    cpu.matmul ins(%a, %w : memref<64x64xi8>, memref<1x16x32x4xi8>) pairs(%p : memref<1x16xi8>) outs(%d : memref<64x32xi32>)
        attributes {format = #cpu.weights<panels, pairs = true, pair_counts = [28, 2, 2, 8, 2, 6]>} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// For the 32 columns of a tile here they are not proved: int16.
// CHECK-LABEL: func.func @pairs_of_panel(
// CHECK: product = int8_wide>
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func @pairs_of_panel(%a: memref<64x64xi8>, %w: memref<1x16x32x4xi8>, %p: memref<1x16xi8>, %d: memref<64x32xi32>) {
    cpu.matmul ins(%a, %w : memref<64x64xi8>, memref<1x16x32x4xi8>) pairs(%p : memref<1x16xi8>) outs(%d : memref<64x32xi32>)
        attributes {format = #cpu.weights<panels, pairs = true, pair_counts = [28, 2, 2, 0, 1, 15]>} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// Nor are they for 16 columns.
// CHECK-LABEL: func.func @pairs_of_none(
// CHECK: product = int8_wide>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @pairs_of_none(%a: memref<64x64xi8>, %w: memref<1x16x32x4xi8>, %p: memref<1x16xi8>, %d: memref<64x32xi32>) {
    cpu.matmul ins(%a, %w : memref<64x64xi8>, memref<1x16x32x4xi8>) pairs(%p : memref<1x16xi8>) outs(%d : memref<64x32xi32>)
        attributes {format = #cpu.weights<panels, pairs = true, pair_counts = [0, 2, 30, 0, 0, 16]>} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// Too few rows for the lists of groups.
// CHECK-LABEL: func.func @pairs_for_few(
// CHECK: product = int8_wide>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @pairs_for_few(%a: memref<31x64xi8>, %w: memref<1x16x32x4xi8>, %p: memref<1x16xi8>, %d: memref<31x32xi32>) {
    cpu.matmul ins(%a, %w : memref<31x64xi8>, memref<1x16x32x4xi8>) pairs(%p : memref<1x16xi8>) outs(%d : memref<31x32xi32>)
        attributes {format = #cpu.weights<panels, pairs = true, pair_counts = [32, 0, 0, 16, 0, 0]>} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// VNNI uses groups of four.
// CHECK-LABEL: func.func @pairs_for_vnni(
// CHECK: product = int8_dot>
module attributes {ingot.target = #ingot.target<"cascadelake">} {
  func.func @pairs_for_vnni(%a: memref<64x64xi8>, %w: memref<1x16x32x4xi8>, %p: memref<1x16xi8>, %d: memref<64x32xi32>) {
    cpu.matmul ins(%a, %w : memref<64x64xi8>, memref<1x16x32x4xi8>) pairs(%p : memref<1x16xi8>) outs(%d : memref<64x32xi32>)
        attributes {format = #cpu.weights<panels, pairs = true, pair_counts = [32, 0, 0, 16, 0, 0]>} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// AVX-VNNI does, too, with half as many columns per vector.
// CHECK-LABEL: func.func @pairs_for_short_vnni(
// CHECK: #cpu.schedule<tile = <6x16, product = int8_dot>
// CHECK-LABEL: func.func @fours_for_short_vnni(
// CHECK: #cpu.schedule<tile = <4x32, product = int8_dot>
module attributes {ingot.target = #ingot.target<"alderlake">} {
  func.func @pairs_for_short_vnni(%a: memref<64x64xi8>, %w: memref<1x16x32x4xi8>, %p: memref<1x16xi8>, %d: memref<64x32xi32>) {
    cpu.matmul ins(%a, %w : memref<64x64xi8>, memref<1x16x32x4xi8>) pairs(%p : memref<1x16xi8>) outs(%d : memref<64x32xi32>)
        attributes {format = #cpu.weights<panels, pairs = true, pair_counts = [32, 0, 0, 16, 0, 0]>} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
  func.func @fours_for_short_vnni(%x: memref<1x8x12x64xi8>, %w: memref<3x3x64xf32>, %d: memref<1x8x12x64xf32>) {
    cpu.depthwise_conv ins(%x, %w : memref<1x8x12x64xi8>, memref<3x3x64xf32>)
        outs(%d : memref<1x8x12x64xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Lists of groups, and weights as int16, serve many rows: three of 28 pixels,
// although one would be enough for a task.
// CHECK-LABEL: func.func @rows_of_words(
// CHECK: schedule = #cpu.schedule<tile = <5x16, product = int8_wide>, grid = <3x3
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @rows_of_words(%a: memref<1x28x28x128xi8>, %w: memref<4x1x1x32x32x4xi8>, %d: memref<1x28x28x128xi32>) {
    cpu.conv ins(%a, %w : memref<1x28x28x128xi8>, memref<4x1x1x32x32x4xi8>) outs(%d : memref<1x28x28x128xi32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// With 16 registers, there are blocks of k whose weights fill half of the
// first-level cache. Short rows have no blocks.
// CHECK-LABEL: func.func @long_rows(
// CHECK: schedule = #cpu.schedule<tile = <6x16>, grid = <{{.*}}, depth_block = 256{{.*}}>
// CHECK-NOT: depth_block
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @long_rows(%a: memref<128x1024xf32>, %w: memref<32x1024x32xf32>, %d: memref<128x1024xf32>,
                       %b: memref<128x256xf32>, %v: memref<8x256x32xf32>, %e: memref<128x256xf32>) {
    cpu.matmul ins(%a, %w : memref<128x1024xf32>, memref<32x1024x32xf32>) outs(%d : memref<128x1024xf32>) {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    cpu.matmul ins(%b, %v : memref<128x256xf32>, memref<8x256x32xf32>) outs(%e : memref<128x256xf32>) {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Winograd: tiles of pixels of a block fit on the stack, 36 points of 64
// channels each. The number of blocks does not depend on the threads.
// CHECK-LABEL: func.func @filter(
// CHECK: schedule = #cpu.schedule<tile = <6x16>, grid = <18x4, rows_outside = true>, tile_block = 3>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @filter(%x: memref<1x56x56x64xf32>, %w: memref<2x36x64x32xf32>, %d: memref<1x56x56x64xf32>) {
    cpu.winograd_conv ins(%x, %w : memref<1x56x56x64xf32>, memref<2x36x64x32xf32>) outs(%d : memref<1x56x56x64xf32>)
        attributes {format = #cpu.weights<winograd<4>>, pads = array<i64: 1, 1, 1, 1>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}

// -----

// Blocks of weights are neither prefetched nor multiplied in AMX tiles. The
// number of tasks follows from the stored bytes, here one. Narrow panels share
// the transform of a block among more rows.
// CHECK-LABEL: func.func @blocks(
// CHECK: schedule = #cpu.schedule<tile = <14x32>, grid = <196x8, rows_outside = true>>
// CHECK: schedule = #cpu.schedule<tile = <28x16>, grid = <196x16, rows_outside = true>>
// CHECK: schedule = #cpu.schedule<tile = <14x32, product = int8_dot>,
module attributes {ingot.target = #ingot.target<"sapphirerapids">} {
  func.func @blocks(%a: memref<196x256xf32>, %w: memref<9x8x32xf32>, %v: memref<9x8x16xf32>, %b: memref<18xi32>, %c: memref<26xi32>, %d: memref<196x256xf32>,
                    %i: memref<196x256xi8>, %u: memref<9x4x32x4xi8>, %e: memref<196x256xi32>) {
    cpu.matmul ins(%a, %w : memref<196x256xf32>, memref<9x8x32xf32>) blocks(%b : memref<18xi32>) outs(%d : memref<196x256xf32>) attributes {format = #cpu.weights<blocks>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    cpu.matmul ins(%a, %v : memref<196x256xf32>, memref<9x8x16xf32>) blocks(%c : memref<26xi32>) outs(%d : memref<196x256xf32>) attributes {format = #cpu.weights<blocks>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    cpu.matmul ins(%i, %u : memref<196x256xi8>, memref<9x4x32x4xi8>) blocks(%b : memref<18xi32>) outs(%e : memref<196x256xi32>) attributes {format = #cpu.weights<blocks>} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// If many tiles of a row have taps in the padding, pixels are found at run
// time. Code for each tap of each such tile would be several times the rest.
// CHECK-LABEL: func.func @borders(
// CHECK: cpu.conv {{.*}}schedule = #cpu.schedule<tile = <14x32>, {{.*}}across_rows = true>
// CHECK: cpu.conv {{.*}}schedule = #cpu.schedule<tile = <14x32>, grid = <1x1>>
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func @borders(%x: memref<1x160x32xf32>, %w: memref<1x11x32x32xf32>, %v: memref<1x7x32x32xf32>, %d: memref<1x160x32xf32>) {
    cpu.conv ins(%x, %w : memref<1x160x32xf32>, memref<1x11x32x32xf32>) outs(%d : memref<1x160x32xf32>)
        attributes {strides = array<i64: 1>, pads = array<i64: 25, 25>, dilations = array<i64: 5>, groups = 1 : i64} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    cpu.conv ins(%x, %v : memref<1x160x32xf32>, memref<1x7x32x32xf32>) outs(%d : memref<1x160x32xf32>)
        attributes {strides = array<i64: 1>, pads = array<i64: 3, 3>, dilations = array<i64: 1>, groups = 1 : i64} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    }
    return
  }
}
