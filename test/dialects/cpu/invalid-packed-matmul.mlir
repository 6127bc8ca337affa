// RUN: ingot-opt %s --split-input-file --verify-diagnostics

func.func @bad(%a: memref<2x20xf32>, %w: memref<1x8x16xi32>, %s: memref<1x2x16xf32>, %d: memref<2x5xf32>) {
  // expected-error @below {{expects 2, 4 or 8 bits, but got 3}}
  cpu.packed_matmul ins(%a, %w, %s : memref<2x20xf32>, memref<1x8x16xi32>, memref<1x2x16xf32>) outs(%d : memref<2x5xf32>) attributes {format = #cpu.weights<bits<3>, block_size = 16>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @bad(%a: memref<2x20xbf16>, %w: memref<1x8x16xi32>, %s: memref<1x2x16xf32>, %d: memref<2x5xf32>) {
  // expected-error @below {{expects src of f32 or i32, but got 'bf16'}}
  cpu.packed_matmul ins(%a, %w, %s : memref<2x20xbf16>, memref<1x8x16xi32>, memref<1x2x16xf32>) outs(%d : memref<2x5xf32>) attributes {format = #cpu.weights<bits<4>, block_size = 16>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @bad(%a: memref<2x20xf32>, %w: memref<1x8x16xi8>, %s: memref<1x2x16xf32>, %d: memref<2x5xf32>) {
  // expected-error @below {{expects weights of i32, but got 'i8'}}
  cpu.packed_matmul ins(%a, %w, %s : memref<2x20xf32>, memref<1x8x16xi8>, memref<1x2x16xf32>) outs(%d : memref<2x5xf32>) attributes {format = #cpu.weights<bits<4>, block_size = 16>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @bad(%a: memref<2x20xf32>, %w: memref<1x8x16xi32>, %s: memref<1x2x16xf32>, %d: memref<2x5xf32>) {
  // expected-error @below {{expects blocks of whole words of 8 elements, but got 12}}
  cpu.packed_matmul ins(%a, %w, %s : memref<2x20xf32>, memref<1x8x16xi32>, memref<1x2x16xf32>) outs(%d : memref<2x5xf32>) attributes {format = #cpu.weights<bits<4>, block_size = 12>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @bad(%a: memref<2x20xf32>, %w: memref<1x8x16xi32>, %s: memref<1x2x16xf32>, %d: memref<2x5xf32>) {
  // expected-error @below {{expects words of a panel of size 4, but got 8}}
  cpu.packed_matmul ins(%a, %w, %s : memref<2x20xf32>, memref<1x8x16xi32>, memref<1x2x16xf32>) outs(%d : memref<2x5xf32>) attributes {format = #cpu.weights<bits<4>, block_size = 16>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @bad(%a: memref<2x20xf32>, %w: memref<1x4x16xi32>, %s: memref<1x3x16xf32>, %d: memref<2x5xf32>) {
  // expected-error @below {{expects scales of 1x2x16, but got 'memref<1x3x16xf32>'}}
  cpu.packed_matmul ins(%a, %w, %s : memref<2x20xf32>, memref<1x4x16xi32>, memref<1x3x16xf32>) outs(%d : memref<2x5xf32>) attributes {format = #cpu.weights<bits<4>, block_size = 16>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @bad(%a: memref<2x20xf32>, %w: memref<1x4x16xi32>, %s: memref<1x2x16xf32>, %z: memref<1x2x16xi32>, %d: memref<2x5xf32>) {
  // expected-error @below {{expects zero points of i8 or f32, but got 'i32'}}
  cpu.packed_matmul ins(%a, %w, %s : memref<2x20xf32>, memref<1x4x16xi32>, memref<1x2x16xf32>) zero_points(%z : memref<1x2x16xi32>) outs(%d : memref<2x5xf32>) attributes {format = #cpu.weights<bits<4>, block_size = 16>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @bad(%a: memref<2x20xf32>, %w: memref<1x4x16xi32>, %s: memref<1x2x16xf32>, %d: memref<2x17xf32>) {
  // expected-error @below {{expects weight panels of size 2, but got 1}}
  cpu.packed_matmul ins(%a, %w, %s : memref<2x20xf32>, memref<1x4x16xi32>, memref<1x2x16xf32>) outs(%d : memref<2x17xf32>) attributes {format = #cpu.weights<bits<4>, block_size = 16>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @bad(%a: memref<2x20xf32>, %w: memref<1x4x16xi32>, %s: memref<1x2x16xf32>, %d: memref<3x5xf32>) {
  // expected-error @below {{expects dst dimension 0 of size 2, but got 3}}
  cpu.packed_matmul ins(%a, %w, %s : memref<2x20xf32>, memref<1x4x16xi32>, memref<1x2x16xf32>) outs(%d : memref<3x5xf32>) attributes {format = #cpu.weights<bits<4>, block_size = 16>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @bad(%a: memref<2x20xf32>, %w: memref<1x4x16xi32>, %s: memref<1x2x16xf32>, %d: memref<2x5xf32>) {
  // expected-error @below {{expects a tile whose columns divide panels of 16, but got 32}}
  cpu.packed_matmul ins(%a, %w, %s : memref<2x20xf32>, memref<1x4x16xi32>, memref<1x2x16xf32>) outs(%d : memref<2x5xf32>) attributes {format = #cpu.weights<bits<4>, block_size = 16>, schedule = #cpu.schedule<tile = <1x32>, grid = <2x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @bad(%a: memref<2x20xf32>, %w: memref<1x4x16xi32>, %s: memref<1x2x16xf32>, %d: memref<2x5xf32>) {
  // expected-error @below {{expects tasks of whole tiles of 2 rows, but got 3}}
  cpu.packed_matmul ins(%a, %w, %s : memref<2x20xf32>, memref<1x4x16xi32>, memref<1x2x16xf32>) outs(%d : memref<2x5xf32>) attributes {format = #cpu.weights<bits<4>, block_size = 16>, schedule = #cpu.schedule<tile = <2x16>, grid = <3x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @bad(%a: memref<2x20xf32>, %w: memref<1x4x16xi32>, %s: memref<1x2x16xf32>, %d: memref<2x5xf32>) {
  // expected-error @below {{expects sums of at most 65536 bytes to wait for unpacked weights, but got 2048 rows of 64}}
  cpu.packed_matmul ins(%a, %w, %s : memref<2x20xf32>, memref<1x4x16xi32>, memref<1x2x16xf32>) outs(%d : memref<2x5xf32>) attributes {format = #cpu.weights<bits<4>, block_size = 16>, schedule = #cpu.schedule<tile = <2x16>, grid = <2048x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @bad(%a: memref<2x12xi32>, %w: memref<1x5x16xi32>, %s: memref<1x2x16xf32>, %d: memref<2x5xf32>) {
  // expected-error @below {{expects words of a panel in 2 blocks, but got 5}}
  cpu.packed_matmul ins(%a, %w, %s : memref<2x12xi32>, memref<1x5x16xi32>, memref<1x2x16xf32>) outs(%d : memref<2x5xf32>) attributes {format = #cpu.weights<bits<4>, block_size = 16>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @bad(%a: memref<2x12xi32>, %w: memref<1x4x16xi32>, %s: memref<1x2x16xf32>, %d: memref<2x5xf32>) {
  // expected-error @below {{expects blocks of 16 elements, but got 32}}
  cpu.packed_matmul ins(%a, %w, %s : memref<2x12xi32>, memref<1x4x16xi32>, memref<1x2x16xf32>) outs(%d : memref<2x5xf32>) attributes {format = #cpu.weights<bits<4>, block_size = 32>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @bad(%a: memref<2x13xi32>, %w: memref<1x4x16xi32>, %s: memref<1x2x16xf32>, %d: memref<2x5xf32>) {
  // expected-error @below {{expects row of src of size 12, but got 13}}
  cpu.packed_matmul ins(%a, %w, %s : memref<2x13xi32>, memref<1x4x16xi32>, memref<1x2x16xf32>) outs(%d : memref<2x5xf32>) attributes {format = #cpu.weights<bits<4>, block_size = 16>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @bad(%a: memref<2x12xi32>, %w: memref<1x4x16xi32>, %s: memref<1x2x16xf32>, %d: memref<2x5xf32>) {
  // expected-error @below {{expects a tile of product int8_dot or int8_pairs for rounded src, but got f32}}
  cpu.packed_matmul ins(%a, %w, %s : memref<2x12xi32>, memref<1x4x16xi32>, memref<1x2x16xf32>) outs(%d : memref<2x5xf32>) attributes {format = #cpu.weights<bits<4>, block_size = 16>, schedule = #cpu.schedule<tile = <2x16>, grid = <2x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @bad(%a: memref<2x12xi32>, %w: memref<1x8x16xi32>, %s: memref<1x2x16xf32>, %d: memref<2x5xf32>) {
  // expected-error @below {{expects a tile of product int8_dot for rounded src and weights of 8 bits, but got int8_pairs}}
  cpu.packed_matmul ins(%a, %w, %s : memref<2x12xi32>, memref<1x8x16xi32>, memref<1x2x16xf32>) outs(%d : memref<2x5xf32>) attributes {format = #cpu.weights<bits<8>, block_size = 16>, schedule = #cpu.schedule<tile = <2x16, product = int8_pairs>, grid = <2x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}

// -----

func.func @bad(%a: memref<2x20xf32>, %w: memref<1x4x16xi32>, %s: memref<1x2x16xf32>, %d: memref<2x5xf32>) {
  // expected-error @below {{expects a tile of product f32, but got int8_pairs}}
  cpu.packed_matmul ins(%a, %w, %s : memref<2x20xf32>, memref<1x4x16xi32>, memref<1x2x16xf32>) outs(%d : memref<2x5xf32>) attributes {format = #cpu.weights<bits<4>, block_size = 16>, schedule = #cpu.schedule<tile = <2x16, product = int8_pairs>, grid = <2x1>>} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}
