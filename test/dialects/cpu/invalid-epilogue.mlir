// RUN: ingot-opt %s -split-input-file -verify-diagnostics

func.func @epilogue_arguments(%x: tensor<1x8x8x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x8x8x4xf32>, %b: tensor<1x1x1x4xf32>) {
  // expected-error @+1 {{expects 2 epilogue arguments, but got 1}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<1x3x3x3x16xf32>) operands(%b : tensor<1x1x1x4xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @epilogue_rank(%x: tensor<1x8x8x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x8x8x4xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{cannot broadcast epilogue operand 'tensor<4xf32>' to 'tensor<1x8x8x4xf32>'}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<1x3x3x3x16xf32>) operands(%b : tensor<4xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32, %o: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @epilogue_size(%x: tensor<1x8x8x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x8x8x4xf32>, %b: tensor<1x2x1x4xf32>) {
  // expected-error @+1 {{cannot broadcast epilogue operand 'tensor<1x2x1x4xf32>' to 'tensor<1x8x8x4xf32>'}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<1x3x3x3x16xf32>) operands(%b : tensor<1x2x1x4xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32, %o: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @epilogue_type(%x: tensor<1x8x8x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x8x8x4xf32>, %b: tensor<1x1x1x4xf64>) {
  // expected-error @+1 {{expects an epilogue argument of type 'f64', but got 'f32'}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<1x3x3x3x16xf32>) operands(%b : tensor<1x1x1x4xf64>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32, %o: f32):
    cpu.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @epilogue_no_value(%x: tensor<1x8x8x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects an epilogue that yields 1 value, but got 0}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<1x3x3x3x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f32):
    cpu.yield
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @epilogue_value_type(%x: tensor<1x8x8x3xf32>, %w: tensor<1x3x3x3x16xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{expects an epilogue that yields 'f32', but got 'f64'}}
  %0 = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<1x3x3x3x16xf32>) outs(%d : tensor<1x8x8x4xf32>)
      attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: f64):
    cpu.yield %sum : f64
  } -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @yield_outside(%x: f32) {
  // expected-error @+1 {{expects parent op to be one of 'cpu.attention, }}
  cpu.yield %x : f32
}
