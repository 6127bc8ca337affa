// RUN: ingot-opt %s --split-input-file --verify-diagnostics

// Formats that contradict themselves.

// expected-error @+1 {{expects a kind of weights, but got columns}}
#columns = #cpu.weights<columns>

// -----

// expected-error @+1 {{expects no size of panels, but got 4}}
#sized_panels = #cpu.weights<panels<4>>

// -----

// expected-error @+1 {{expects Winograd tiles of 2 or 4, but got 3}}
#tiles_of_three = #cpu.weights<winograd<3>>

// -----

// expected-error @+1 {{expects block_size of at least 1, but got 0}}
#no_blocks_of_bits = #cpu.weights<bits<4>>

// -----

// expected-error @+1 {{expects block_size only for bits, but got 32 for panels}}
#blocks_of_panels = #cpu.weights<panels, block_size = 32>

// -----

// Operands that the format does not imply, and the other way round.
func.func @pairs_unsaid(%a: memref<4x32xi8>, %w: memref<1x8x16x4xi8>, %p: memref<1x8xi8>, %d: memref<4x16xi32>) {
  // expected-error @+1 {{expects no pairs for weights in #cpu.weights<panels>}}
  cpu.matmul ins(%a, %w : memref<4x32xi8>, memref<1x8x16x4xi8>) pairs(%p : memref<1x8xi8>) outs(%d : memref<4x16xi32>) {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @no_pairs(%a: memref<4x32xi8>, %w: memref<1x8x16x4xi8>, %d: memref<4x16xi32>) {
  // expected-error @+1 {{expects pairs for weights in #cpu.weights<panels, pairs = true>}}
  cpu.matmul ins(%a, %w : memref<4x32xi8>, memref<1x8x16x4xi8>) outs(%d : memref<4x16xi32>)
      attributes {format = #cpu.weights<panels, pairs = true>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  }
  return
}

// -----

func.func @blocks_unsaid(%a: memref<4x24xf32>, %w: memref<3x8x32xf32>, %b: memref<6xi32>, %d: memref<4x40xf32>) {
  // expected-error @+1 {{expects no blocks for weights in #cpu.weights<panels>}}
  cpu.matmul ins(%a, %w : memref<4x24xf32>, memref<3x8x32xf32>) blocks(%b : memref<6xi32>) outs(%d : memref<4x40xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @no_blocks(%a: memref<4x24xf32>, %w: memref<3x8x32xf32>, %d: memref<4x40xf32>) {
  // expected-error @+1 {{expects blocks for weights in #cpu.weights<blocks>}}
  cpu.matmul ins(%a, %w : memref<4x24xf32>, memref<3x8x32xf32>) outs(%d : memref<4x40xf32>)
      attributes {format = #cpu.weights<blocks>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

// Kinds that an op has no kernel for.
func.func @blocks_of_conv(%x: memref<1x8x8x3xf32>, %w: memref<1x3x3x3x16xf32>, %d: memref<1x8x8x4xf32>) {
  // expected-error @+1 {{expects weights in panels or signs, but got blocks}}
  cpu.conv ins(%x, %w : memref<1x8x8x3xf32>, memref<1x3x3x3x16xf32>) outs(%d : memref<1x8x8x4xf32>)
      attributes {format = #cpu.weights<blocks>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @bits_of_matmul(%a: memref<4x24xf32>, %w: memref<2x24x32xf32>, %d: memref<4x40xf32>) {
  // expected-error @+1 {{expects weights in panels or blocks or signs, but got bits}}
  cpu.matmul ins(%a, %w : memref<4x24xf32>, memref<2x24x32xf32>) outs(%d : memref<4x40xf32>)
      attributes {format = #cpu.weights<bits<4>, block_size = 24>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}
