// RUN: ingot-opt %s | ingot-opt | FileCheck %s

// Schedules come back as they were written; what is as usual is left out.

// CHECK-LABEL: func.func @matmul(
// CHECK: schedule = #cpu.schedule<tile = <3x16>, grid = <6x1>>
func.func @matmul(%a: memref<5x7xf32>, %w: memref<1x7x16xf32>, %d: memref<5x9xf32>) {
  cpu.matmul ins(%a, %w : memref<5x7xf32>, memref<1x7x16xf32>) outs(%d : memref<5x9xf32>)
      attributes {schedule = #cpu.schedule<tile = <3x16>, grid = <6x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// CHECK-LABEL: func.func @matmul_prefetch(
// CHECK: schedule = #cpu.schedule<tile = <3x16>, grid = <6x2, rows_outside = true>, prefetch = true>
func.func @matmul_prefetch(%a: memref<5x7xf32>, %w: memref<1x7x16xf32>, %d: memref<5x9xf32>) {
  cpu.matmul ins(%a, %w : memref<5x7xf32>, memref<1x7x16xf32>) outs(%d : memref<5x9xf32>)
      attributes {schedule = #cpu.schedule<tile = <3x16>, grid = <6x2, rows_outside = true>, prefetch = true>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// CHECK-LABEL: func.func @matmul_bf16(
// CHECK: schedule = #cpu.schedule<tile = <20x32, product = bf16_tiles, amx_rows = 10>, grid = <40x1>>
func.func @matmul_bf16(%a: memref<40x64xbf16>, %w: memref<1x32x32x2xbf16>, %d: memref<40x32xf32>) {
  cpu.matmul ins(%a, %w : memref<40x64xbf16>, memref<1x32x32x2xbf16>) outs(%d : memref<40x32xf32>)
      attributes {schedule = #cpu.schedule<tile = <20x32, product = bf16_tiles, amx_rows = 10>, grid = <40x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// CHECK-LABEL: func.func @conv(
// CHECK: schedule = #cpu.schedule<tile = <5x8>, grid = <2x1>, depth_block = 2>
func.func @conv(%a: memref<1x8x8x3xf32>, %w: memref<1x3x3x3x16xf32>, %d: memref<1x8x8x4xf32>) {
  cpu.conv ins(%a, %w : memref<1x8x8x3xf32>, memref<1x3x3x3x16xf32>) outs(%d : memref<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
                  schedule = #cpu.schedule<tile = <5x8>, grid = <2x1>, depth_block = 2>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// CHECK-LABEL: func.func @depthwise(
// CHECK: schedule = #cpu.schedule<tile = <3x16>, grid = <4x1>, tile_block = 1>
func.func @depthwise(%a: memref<1x8x8x32xf32>, %w: memref<3x3x32xf32>, %d: memref<1x8x8x32xf32>) {
  cpu.depthwise_conv ins(%a, %w : memref<1x8x8x32xf32>, memref<3x3x32xf32>) outs(%d : memref<1x8x8x32xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>,
                  schedule = #cpu.schedule<tile = <3x16>, grid = <4x1>, tile_block = 1>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// CHECK-LABEL: func.func @attention(
// CHECK: schedule = #cpu.schedule<tile = <2x16>, scores = <3x8>>
func.func @attention(%a: memref<1x7x2x16xf32>, %w: memref<1x9x2x16xf32>, %v: memref<1x9x2x32xf32>, %d: memref<1x7x2x32xf32>) {
  cpu.attention ins(%a, %w, %v : memref<1x7x2x16xf32>, memref<1x9x2x16xf32>, memref<1x9x2x32xf32>)
      outs(%d : memref<1x7x2x32xf32>) attributes {scale = 2.5e-1 : f32, schedule = #cpu.schedule<tile = <2x16>, scores = <3x8>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// CHECK-LABEL: func.func @reduce(
// CHECK: schedule = #cpu.schedule<tile = <2x16>, grid = <3x1>>
func.func @reduce(%a: memref<4x9x32xf32>, %d: memref<4x32xf32>) {
  cpu.reduce sum ins(%a : memref<4x9x32xf32>) outs(%d : memref<4x32xf32>)
      attributes {schedule = #cpu.schedule<tile = <2x16>, grid = <3x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// CHECK-LABEL: func.func @reduce_rows(
// CHECK: schedule = #cpu.schedule<grid = <3x1>>
func.func @reduce_rows(%a: memref<4x99x1xf32>, %d: memref<4x1xf32>) {
  cpu.reduce sum ins(%a : memref<4x99x1xf32>) outs(%d : memref<4x1xf32>)
      attributes {schedule = #cpu.schedule<grid = <3x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// CHECK-LABEL: func.func @softmax(
// CHECK: schedule = #cpu.schedule<grid = <1x1>>
func.func @softmax(%a: memref<2x50xf32>, %d: memref<2x50xf32>) {
  cpu.softmax ins(%a : memref<2x50xf32>) outs(%d : memref<2x50xf32>)
      attributes {schedule = #cpu.schedule<grid = <1x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// CHECK-LABEL: func.func @row_norm(
// CHECK: schedule = #cpu.schedule<grid = <1x1>>
func.func @row_norm(%a: memref<2x64xf32>, %d: memref<2x64xf32>) {
  cpu.row_norm ins(%a : memref<2x64xf32>) outs(%d : memref<2x64xf32>)
      attributes {epsilon = 1.0e-5 : f32, schedule = #cpu.schedule<grid = <1x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// CHECK-LABEL: func.func @group_norm(
// CHECK: schedule = #cpu.schedule<tile = <1x10>, grid = <1x1, rows_outside = true>>
func.func @group_norm(%a: memref<1x30x20xf32>, %d: memref<1x30x20xf32>) {
  cpu.group_norm ins(%a : memref<1x30x20xf32>) outs(%d : memref<1x30x20xf32>)
      attributes {epsilon = 1.0e-5 : f32, groups = 4 : i64, schedule = #cpu.schedule<tile = <1x10>, grid = <1x1, rows_outside = true>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// CHECK-LABEL: func.func @pool(
// CHECK: schedule = #cpu.schedule<tile = <1x8>, grid = <2x3>>
func.func @pool(%a: memref<1x9x9x32xf32>, %d: memref<1x9x9x32xf32>) {
  cpu.pool max ins(%a : memref<1x9x9x32xf32>) outs(%d : memref<1x9x9x32xf32>)
      attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, schedule = #cpu.schedule<tile = <1x8>, grid = <2x3>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// CHECK-LABEL: func.func @usual(
// CHECK: schedule = #cpu.schedule<tile = <3x16>, grid = <6x1>>
func.func @usual(%a: memref<5x7xf32>, %w: memref<1x7x16xf32>, %d: memref<5x9xf32>) {
  cpu.matmul ins(%a, %w : memref<5x7xf32>, memref<1x7x16xf32>) outs(%d : memref<5x9xf32>)
      attributes {schedule = #cpu.schedule<grid = <6x1, rows_outside = false>, tile = <3x16, product = f32, amx_rows = 0>, prefetch = false, depth_block = 0>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}
