// RUN: ingot-opt %s -split-input-file -verify-diagnostics

func.func @matmul_low_rank(%a: tensor<7xf32>, %w: tensor<1x7x16xf32>, %d: tensor<9xf32>) {
  // expected-error @+1 {{expects src of rank 2 or more, but got 1}}
  %0 = cpu.matmul ins(%a, %w : tensor<7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<9xf32>
  return
}

// -----

func.func @matmul_dst_rank(%a: tensor<5x7xf32>, %w: tensor<1x7x16xf32>, %d: tensor<1x5x9xf32>) {
  // expected-error @+1 {{expects dst of rank 2, but got 3}}
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<1x5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<1x5x9xf32>
  return
}

// -----

func.func @matmul_weights_rank(%a: tensor<2x3x5x7xf32>, %w: tensor<3x1x7x16xf32>, %d: tensor<2x3x5x9xf32>) {
  // expected-error @+1 {{expects weights of rank 5, but got 4}}
  %0 = cpu.matmul ins(%a, %w : tensor<2x3x5x7xf32>, tensor<3x1x7x16xf32>) outs(%d : tensor<2x3x5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<2x3x5x9xf32>
  return
}

// -----

func.func @matmul_inner(%a: tensor<5x7xf32>, %w: tensor<1x6x16xf32>, %d: tensor<5x9xf32>) {
  // expected-error @+1 {{expects inner dimension of size 7, but got 6}}
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x6x16xf32>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  return
}

// -----

func.func @matmul_rows(%a: tensor<5x7xf32>, %w: tensor<1x7x16xf32>, %d: tensor<4x9xf32>) {
  // expected-error @+1 {{expects dst rows of size 5, but got 4}}
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<4x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<4x9xf32>
  return
}

// -----

func.func @matmul_dynamic_weights(%a: tensor<5x7xf32>, %w: tensor<1x?x16xf32>, %d: tensor<5x9xf32>) {
  // expected-error @+1 {{expects weights of known size}}
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x?x16xf32>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  return
}

// -----

func.func @matmul_dynamic_columns(%a: tensor<5x7xf32>, %w: tensor<1x7x16xf32>, %d: tensor<5x?xf32>) {
  // expected-error @+1 {{expects columns of dst of known size}}
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<5x?xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x?xf32>
  return
}

// -----

func.func @matmul_panel_width(%a: tensor<5x7xf32>, %w: tensor<1x7x9xf32>, %d: tensor<5x9xf32>) {
  // expected-error @+1 {{expects panels of 16, 32 or 64 channels, but got 9}}
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x7x9xf32>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  return
}

// -----

func.func @matmul_panels(%a: tensor<5x7xf32>, %w: tensor<2x7x16xf32>, %d: tensor<5x9xf32>) {
  // expected-error @+1 {{expects weight panels of size 1, but got 2}}
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<2x7x16xf32>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  return
}

// -----

func.func @matmul_batch(%a: tensor<3x5x7xf32>, %w: tensor<1x7x16xf32>, %d: tensor<2x5x9xf32>) {
  // expected-error @+1 {{expects dst batch of size 3, but got 2}}
  %0 = cpu.matmul ins(%a, %w : tensor<3x5x7xf32>, tensor<1x7x16xf32>) outs(%d : tensor<2x5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<2x5x9xf32>
  return
}

// -----

func.func @matmul_weight_batch(%a: tensor<3x5x7xf32>, %w: tensor<2x1x7x16xf32>, %d: tensor<3x5x9xf32>) {
  // expected-error @+1 {{expects weight batch of size 3, but got 2}}
  %0 = cpu.matmul ins(%a, %w : tensor<3x5x7xf32>, tensor<2x1x7x16xf32>) outs(%d : tensor<3x5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<3x5x9xf32>
  return
}

// -----

func.func @src_type(%a: tensor<5x7xf32>, %w: tensor<1x4x16x2xbf16>, %d: tensor<5x9xf32>) {
  // expected-error @+1 {{expects src of 'bf16', but got 'f32'}}
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x4x16x2xbf16>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  return
}

// -----

func.func @weights_type(%a: tensor<5x7xf64>, %w: tensor<1x7x16xf64>, %d: tensor<5x9xf32>) {
  // expected-error @+1 {{expects weights of f32, f16, bf16, i8, i16 or i32, but got 'f64'}}
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf64>, tensor<1x7x16xf64>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  return
}

// -----

// Weights for rows of f16 lie in pairs, those for rows of f32 do not.
func.func @half_src(%a: tensor<5x7xf16>, %w: tensor<1x7x16xf16>, %d: tensor<5x9xf32>) {
  // expected-error @+1 {{expects weights of rank 4, but got 3}}
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf16>, tensor<1x7x16xf16>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  return
}

// -----

func.func @half_weights(%a: tensor<5x7xf32>, %w: tensor<1x4x16x2xf16>, %d: tensor<5x9xf32>) {
  // expected-error @+1 {{expects weights of rank 3, but got 4}}
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x4x16x2xf16>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  return
}

// -----

func.func @sum_type(%a: tensor<5x7xi8>, %w: tensor<1x2x16x4xi8>, %d: tensor<5x9xf32>) {
  // expected-error @+1 {{expects a sum of 'i32', but got 'f32'}}
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xi8>, tensor<1x2x16x4xi8>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  return
}

// -----

func.func @group(%a: tensor<5x7xbf16>, %w: tensor<1x2x16x4xbf16>, %d: tensor<5x9xf32>) {
  // expected-error @+1 {{expects a group of weights of size 2, but got 4}}
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xbf16>, tensor<1x2x16x4xbf16>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  return
}

// -----

func.func @padded_depth(%a: tensor<5x7xbf16>, %w: tensor<1x3x16x2xbf16>, %d: tensor<5x9xf32>) {
  // expected-error @+1 {{expects inner dimension of size 8, but got 6}}
  %0 = cpu.matmul ins(%a, %w : tensor<5x7xbf16>, tensor<1x3x16x2xbf16>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<5x9xf32>
  return
}

// -----

func.func @pairs_of_halves(%a: tensor<4x30xi8>, %w: tensor<1x8x16x4xi8>, %p: tensor<1x8xi8>, %d: tensor<4x16xi32>) {
  // expected-error @+1 {{expects pairs for weights of i8 in groups of 4, but got 30 of 'i8'}}
  %0 = cpu.matmul ins(%a, %w : tensor<4x30xi8>, tensor<1x8x16x4xi8>) pairs(%p : tensor<1x8xi8>) outs(%d : tensor<4x16xi32>) attributes {format = #cpu.weights<panels, pairs = true>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<4x16xi32>
  return
}

// -----

func.func @few_pairs(%a: tensor<4x32xi8>, %w: tensor<1x8x16x4xi8>, %p: tensor<1x7xi8>, %d: tensor<4x16xi32>) {
  // expected-error @+1 {{expects pairs of i8 with an element for each four weights of a column, but got 'tensor<1x7xi8>'}}
  %0 = cpu.matmul ins(%a, %w : tensor<4x32xi8>, tensor<1x8x16x4xi8>) pairs(%p : tensor<1x7xi8>) outs(%d : tensor<4x16xi32>) attributes {format = #cpu.weights<panels, pairs = true>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<4x16xi32>
  return
}

// -----

func.func @few_counts(%a: tensor<4x32xi8>, %w: tensor<1x8x16x4xi8>, %p: tensor<1x8xi8>, %d: tensor<4x16xi32>) {
  // expected-error @+2 {{expects 6 pair_counts, but got 2}}
  %0 = cpu.matmul ins(%a, %w : tensor<4x32xi8>, tensor<1x8x16x4xi8>) pairs(%p : tensor<1x8xi8>) outs(%d : tensor<4x16xi32>)
      attributes {format = #cpu.weights<panels, pairs = true, pair_counts = [1, 2]>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<4x16xi32>
  return
}

// -----

func.func @counts_of_nothing(%a: tensor<4x32xi8>, %w: tensor<1x8x16x4xi8>, %d: tensor<4x16xi32>) {
  // expected-error @+2 {{expects pair_counts only beside pairs}}
  %0 = cpu.matmul ins(%a, %w : tensor<4x32xi8>, tensor<1x8x16x4xi8>) outs(%d : tensor<4x16xi32>)
      attributes {format = #cpu.weights<panels, pair_counts = [1, 2, 3, 4, 5, 6]>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<4x16xi32>
  return
}

// -----

func.func @pairs_of_batch(%a: tensor<2x4x32xi8>, %w: tensor<2x1x8x16x4xi8>, %p: tensor<2x1x8xi8>, %d: tensor<2x4x16xi32>) {
  // expected-error @+1 {{expects pairs for one matrix of weights}}
  %0 = cpu.matmul ins(%a, %w : tensor<2x4x32xi8>, tensor<2x1x8x16x4xi8>) pairs(%p : tensor<2x1x8xi8>) outs(%d : tensor<2x4x16xi32>) attributes {format = #cpu.weights<panels, pairs = true>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<2x4x16xi32>
  return
}

// -----

// A list has a number for each of the panels, one for all, and the blocks'.
func.func @blocks_of_panels(%a: tensor<4x24xf32>, %w: tensor<3x8x32xf32>, %b: tensor<5xi32>, %d: tensor<4x40xf32>) {
  // expected-error @+1 {{expects blocks of 6 i32, but got 'tensor<5xi32>'}}
  %0 = cpu.matmul ins(%a, %w : tensor<4x24xf32>, tensor<3x8x32xf32>) blocks(%b : tensor<5xi32>) outs(%d : tensor<4x40xf32>) attributes {format = #cpu.weights<blocks>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<4x40xf32>
  return
}

// -----

func.func @blocks_of_longs(%a: tensor<4x24xf32>, %w: tensor<3x8x32xf32>, %b: tensor<6xi64>, %d: tensor<4x40xf32>) {
  // expected-error @+1 {{expects blocks of 6 i32, but got 'tensor<6xi64>'}}
  %0 = cpu.matmul ins(%a, %w : tensor<4x24xf32>, tensor<3x8x32xf32>) blocks(%b : tensor<6xi64>) outs(%d : tensor<4x40xf32>) attributes {format = #cpu.weights<blocks>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<4x40xf32>
  return
}

// -----

func.func @deep_blocks(%a: tensor<4x24xf32>, %w: tensor<3x32x32xf32>, %b: tensor<6xi32>, %d: tensor<4x40xf32>) {
  // expected-error @+1 {{expects 1 block or more of 1 to 24 k, but got 3 of 32}}
  %0 = cpu.matmul ins(%a, %w : tensor<4x24xf32>, tensor<3x32x32xf32>) blocks(%b : tensor<6xi32>) outs(%d : tensor<4x40xf32>) attributes {format = #cpu.weights<blocks>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<4x40xf32>
  return
}

// -----

func.func @no_blocks(%a: tensor<4x24xf32>, %w: tensor<0x8x32xf32>, %b: tensor<3xi32>, %d: tensor<4x40xf32>) {
  // expected-error @+1 {{expects 1 block or more of 1 to 24 k, but got 0 of 8}}
  %0 = cpu.matmul ins(%a, %w : tensor<4x24xf32>, tensor<0x8x32xf32>) blocks(%b : tensor<3xi32>) outs(%d : tensor<4x40xf32>) attributes {format = #cpu.weights<blocks>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<4x40xf32>
  return
}

// -----

func.func @blocks_of_batch(%a: tensor<2x4x24xf32>, %w: tensor<2x3x8x32xf32>, %b: tensor<6xi32>, %d: tensor<2x4x40xf32>) {
  // expected-error @+1 {{expects blocks of one matrix of weights}}
  %0 = cpu.matmul ins(%a, %w : tensor<2x4x24xf32>, tensor<2x3x8x32xf32>) blocks(%b : tensor<6xi32>) outs(%d : tensor<2x4x40xf32>) attributes {format = #cpu.weights<blocks>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  } -> tensor<2x4x40xf32>
  return
}

// -----

func.func @blocks_and_pairs(%a: tensor<4x24xi8>, %w: tensor<3x4x32x4xi8>, %b: tensor<6xi32>, %p: tensor<3x4xi8>, %d: tensor<4x40xi32>) {
  // expected-error @+1 {{expects pairs and exact_tiles only for panels, but got blocks}}
  %0 = cpu.matmul ins(%a, %w : tensor<4x24xi8>, tensor<3x4x32x4xi8>) blocks(%b : tensor<6xi32>) pairs(%p : tensor<3x4xi8>) outs(%d : tensor<4x40xi32>) attributes {format = #cpu.weights<blocks, pairs = true>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<4x40xi32>
  return
}

// -----

func.func @blocks_of_signs(%a: tensor<4x5xi32>, %w: tensor<3x2x32xi32>, %b: tensor<6xi32>, %d: tensor<4x40xi32>) {
  // expected-error @+1 {{expects signs as weights of i32 and only as these, but got weights of 'i32'}}
  %0 = cpu.matmul ins(%a, %w : tensor<4x5xi32>, tensor<3x2x32xi32>) blocks(%b : tensor<6xi32>) outs(%d : tensor<4x40xi32>)
      attributes {format = #cpu.weights<blocks>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<4x40xi32>
  return
}
