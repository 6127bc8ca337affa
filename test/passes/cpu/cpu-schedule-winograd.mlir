// RUN: ingot-opt %s --cpu-schedule --split-input-file | FileCheck %s
// RUN: ingot-opt %s --cpu-schedule --cpu-schedule --split-input-file | FileCheck %s
// RUN: ingot-opt %s --cpu-schedule --outline-kernels --canonicalize --split-input-file | FileCheck %s --check-prefix=TASKS
// RUN: ingot-opt %s --cpu-schedule=seed=3 --split-input-file | FileCheck %s --check-prefix=DRAWN

// All random schedules are valid.
// DRAWN: schedule = #cpu.schedule<{{.*}}winograd = {{[24]}}>

// Bytes on CPUs that multiply int16: 4 x 4 pixels from 6 x 6 products, blocks of tiles on the stack, weights of as many
// channels as there is room for.
// CHECK-LABEL: func.func @large(
// CHECK: schedule = #cpu.schedule<tile = <6x16, product = int8_wide>, grid = <30x4, rows_outside = true>, depth_block = 16, tile_block = 5, winograd = 4>
// TASKS-LABEL: func.func @large(
// TASKS: arith.constant 7 : index
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @large(%x: memref<1x56x56x64xi8>, %w: memref<4x3x3x16x16x4xi8>, %d: memref<1x56x56x64xi32>) {
    cpu.conv ins(%x, %w : memref<1x56x56x64xi8>, memref<4x3x3x16x16x4xi8>) outs(%d : memref<1x56x56x64xi32>)
        attributes {format = #cpu.weights<panels, exact_tiles = 4>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// All tiles at a time. 64 groups of four channels are four blocks of weights.
// CHECK-LABEL: func.func @small(
// CHECK: schedule = #cpu.schedule<tile = <4x16, product = int8_wide>, grid = <4x8, rows_outside = true>, depth_block = 16, tile_block = 1, winograd = 4>
// TASKS-LABEL: func.func @small(
// TASKS: arith.constant 2 : index
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @small(%x: memref<1x7x7x256xi8>, %w: memref<16x3x3x64x16x4xi8>, %d: memref<1x7x7x256xi32>) {
    cpu.conv ins(%x, %w : memref<1x7x7x256xi8>, memref<16x3x3x64x16x4xi8>) outs(%d : memref<1x7x7x256xi32>)
        attributes {format = #cpu.weights<panels, exact_tiles = 4>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// If only tiles of 2 x 2 are proved, these are used.
// CHECK-LABEL: func.func @proved(
// CHECK: schedule = #cpu.schedule<tile = <5x16, product = int8_wide>, grid = <15x4, rows_outside = true>, depth_block = 43, tile_block = 3, winograd = 2>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @proved(%x: memref<1x14x14x512xi8>, %w: memref<4x3x3x128x16x4xi8>, %d: memref<1x14x14x64xi32>) {
    cpu.conv ins(%x, %w : memref<1x14x14x512xi8>, memref<4x3x3x128x16x4xi8>) outs(%d : memref<1x14x14x64xi32>)
        attributes {format = #cpu.weights<panels, exact_tiles = 2>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// The smaller tiles waste less on five pixels.
// CHECK-LABEL: func.func @five(
// CHECK: schedule = #cpu.schedule<tile = <3x16, product = int8_wide>, grid = <9x4, rows_outside = true>, depth_block = 16, tile_block = 3, winograd = 2>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @five(%x: memref<1x5x5x64xi8>, %w: memref<4x3x3x16x16x4xi8>, %d: memref<1x5x5x64xi32>) {
    cpu.conv ins(%x, %w : memref<1x5x5x64xi8>, memref<4x3x3x16x16x4xi8>) outs(%d : memref<1x5x5x64xi32>)
        attributes {format = #cpu.weights<panels, exact_tiles = 4>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// Vectors of 512 and of 128 bits.
// CHECK-LABEL: func.func @wide(
// CHECK: schedule = #cpu.schedule<tile = <14x16, product = int8_wide>, grid = <28x4, rows_outside = true>, depth_block = 16, tile_block = 2, winograd = 4>
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func @wide(%x: memref<1x56x56x64xi8>, %w: memref<4x3x3x16x16x4xi8>, %d: memref<1x56x56x64xi32>) {
    cpu.conv ins(%x, %w : memref<1x56x56x64xi8>, memref<4x3x3x16x16x4xi8>) outs(%d : memref<1x56x56x64xi32>)
        attributes {format = #cpu.weights<panels, exact_tiles = 4>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// CHECK-LABEL: func.func @narrow(
// CHECK: schedule = #cpu.schedule<tile = <6x8, product = int8_wide>, grid = <36x8, rows_outside = true>, depth_block = 16, tile_block = 6, winograd = 4>
module attributes {ingot.target = #ingot.target<"x86-64-v2">} {
  func.func @narrow(%x: memref<1x56x56x64xi8>, %w: memref<4x3x3x16x16x4xi8>, %d: memref<1x56x56x64xi32>) {
    cpu.conv ins(%x, %w : memref<1x56x56x64xi8>, memref<4x3x3x16x16x4xi8>) outs(%d : memref<1x56x56x64xi32>)
        attributes {format = #cpu.weights<panels, exact_tiles = 4>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// Dynamic sizes are assumed to be large. A run has the same number of blocks for all sizes.
// CHECK-LABEL: func.func @open(
// CHECK: schedule = #cpu.schedule<tile = <5x16, product = int8_wide>, grid = <25x4, rows_outside = true, row_blocks = 32>, depth_block = 16, tile_block = 5, winograd = 4>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @open(%x: memref<?x?x?x64xi8>, %w: memref<4x3x3x16x16x4xi8>, %d: memref<?x?x?x64xi32>) {
    cpu.conv ins(%x, %w : memref<?x?x?x64xi8>, memref<4x3x3x16x16x4xi8>) outs(%d : memref<?x?x?x64xi32>)
        attributes {format = #cpu.weights<panels, exact_tiles = 4>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// Must not fire: the transform of a tile of weights costs more than three
// pixels save.
// CHECK-LABEL: func.func @three(
// CHECK-NOT: winograd = {{[24]}}>
// CHECK: cpu.yield
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @three(%x: memref<1x3x3x64xi8>, %w: memref<4x3x3x16x16x4xi8>, %d: memref<1x3x3x64xi32>) {
    cpu.conv ins(%x, %w : memref<1x3x3x64xi8>, memref<4x3x3x16x16x4xi8>) outs(%d : memref<1x3x3x64xi32>)
        attributes {format = #cpu.weights<panels, exact_tiles = 4>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// Must not fire: the transforms of four channels take as long as the products.
// CHECK-LABEL: func.func @few_channels(
// CHECK-NOT: winograd = {{[24]}}>
// CHECK: cpu.yield
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @few_channels(%x: memref<1x14x14x4xi8>, %w: memref<1x3x3x1x16x4xi8>, %d: memref<1x14x14x16xi32>) {
    cpu.conv ins(%x, %w : memref<1x14x14x4xi8>, memref<1x3x3x1x16x4xi8>) outs(%d : memref<1x14x14x16xi32>)
        attributes {format = #cpu.weights<panels, exact_tiles = 4>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// Must not fire: with so many channels no tile fits on the stack.
// CHECK-LABEL: func.func @many_channels(
// CHECK-NOT: winograd = {{[24]}}>
// CHECK: cpu.yield
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @many_channels(%x: memref<1x14x14x12000xi8>, %w: memref<1x3x3x3000x16x4xi8>, %d: memref<1x14x14x16xi32>) {
    cpu.conv ins(%x, %w : memref<1x14x14x12000xi8>, memref<1x3x3x3000x16x4xi8>) outs(%d : memref<1x14x14x16xi32>)
        attributes {format = #cpu.weights<panels, exact_tiles = 4>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// CHECK-LABEL: func.func @unproved(
// CHECK-NOT: winograd = {{[24]}}>
// CHECK: cpu.yield
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func @unproved(%x: memref<1x56x56x64xi8>, %w: memref<4x3x3x16x16x4xi8>, %d: memref<1x56x56x64xi32>) {
    cpu.conv ins(%x, %w : memref<1x56x56x64xi8>, memref<4x3x3x16x16x4xi8>) outs(%d : memref<1x56x56x64xi32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// Must not fire on CPUs with VNNI or AMX.
// CHECK-LABEL: func.func @vnni(
// CHECK-NOT: winograd = {{[24]}}>
// CHECK: cpu.yield
module attributes {ingot.target = #ingot.target<"cascadelake">} {
  func.func @vnni(%x: memref<1x56x56x64xi8>, %w: memref<4x3x3x16x16x4xi8>, %d: memref<1x56x56x64xi32>) {
    cpu.conv ins(%x, %w : memref<1x56x56x64xi8>, memref<4x3x3x16x16x4xi8>) outs(%d : memref<1x56x56x64xi32>)
        attributes {format = #cpu.weights<panels, exact_tiles = 4>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// CHECK-LABEL: func.func @short_vnni(
// CHECK-NOT: winograd = {{[24]}}>
// CHECK: cpu.yield
module attributes {ingot.target = #ingot.target<"alderlake">} {
  func.func @short_vnni(%x: memref<1x56x56x64xi8>, %w: memref<4x3x3x16x16x4xi8>, %d: memref<1x56x56x64xi32>) {
    cpu.conv ins(%x, %w : memref<1x56x56x64xi8>, memref<4x3x3x16x16x4xi8>) outs(%d : memref<1x56x56x64xi32>)
        attributes {format = #cpu.weights<panels, exact_tiles = 4>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// CHECK-LABEL: func.func @amx(
// CHECK-NOT: winograd = {{[24]}}>
// CHECK: cpu.yield
module attributes {ingot.target = #ingot.target<"sapphirerapids">} {
  func.func @amx(%x: memref<1x56x56x64xi8>, %w: memref<4x3x3x16x16x4xi8>, %d: memref<1x56x56x64xi32>) {
    cpu.conv ins(%x, %w : memref<1x56x56x64xi8>, memref<4x3x3x16x16x4xi8>) outs(%d : memref<1x56x56x64xi32>)
        attributes {format = #cpu.weights<panels, exact_tiles = 4>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}

// -----

// A schedule that is given stays.
// CHECK-LABEL: func.func @given(
// CHECK: schedule = #cpu.schedule<tile = <3x16, product = int8_wide>, grid = <6x1>, depth_block = 5, tile_block = 2, winograd = 2>
// TASKS-LABEL: func.func @given(
// TASKS: arith.constant 524 : index
module attributes {ingot.target = #ingot.target<"cascadelake">} {
  func.func @given(%x: memref<1x56x56x64xi8>, %w: memref<4x3x3x16x16x4xi8>, %d: memref<1x56x56x64xi32>) {
    cpu.conv ins(%x, %w : memref<1x56x56x64xi8>, memref<4x3x3x16x16x4xi8>) outs(%d : memref<1x56x56x64xi32>)
        attributes {format = #cpu.weights<panels, exact_tiles = 4>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
                    schedule = #cpu.schedule<tile = <3x16, product = int8_wide>, grid = <6x1>, depth_block = 5, tile_block = 2, winograd = 2>} {
    ^bb0(%sum: i32):
      cpu.yield %sum : i32
    }
    return
  }
}
