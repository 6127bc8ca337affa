// RUN: ingot-opt --cpu-transposes-to-vector --split-input-file %s | FileCheck %s

// Squares of 8 rows and columns: 8 loads, 24 shuffles, 8 stores. If the rest is
// more than half a square, the last square overlaps and ends with the tensor.
// CHECK-LABEL: func.func @squares
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-8: vector.load %arg0{{.*}} vector<8xf32>
// CHECK-COUNT-24: vector.shuffle
// CHECK-COUNT-8: vector.store %{{.*}}, %arg1
// CHECK-NOT: scf.if
// CHECK-NOT: linalg.generic
#in = affine_map<(d0, d1) -> (d1, d0)>
#out = affine_map<(d0, d1) -> (d0, d1)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @squares(%x: memref<102x54xf32>, %y: memref<54x102xf32>) {
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel"]} ins(%x : memref<102x54xf32>) outs(%y : memref<54x102xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}
}

// -----

// f16 goes 8 by 8, bytes 16 by 16, both in 128 bits. Dynamic sizes may have
// fewer rows, which go one by one.
// CHECK-LABEL: func.func @narrow
// CHECK: scf.if
// CHECK-COUNT-8: vector.load %arg0{{.*}} vector<8xf16>
// CHECK-COUNT-24: vector.shuffle {{.*}} vector<8xi16>
// CHECK: } else {
// CHECK: memref.load %arg0
// CHECK-COUNT-16: vector.load %arg2{{.*}} vector<16xi8>
// CHECK-COUNT-64: vector.shuffle
#in = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @narrow(%x: memref<3x?x?xf16>, %y: memref<3x?x?xf16>, %z: memref<3x64x32xi8>, %w: memref<3x32x64xi8>) {
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : memref<3x?x?xf16>) outs(%y : memref<3x?x?xf16>) {
  ^bb0(%a: f16, %b: f16):
    linalg.yield %a : f16
  }
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel", "parallel"]} ins(%z : memref<3x64x32xi8>) outs(%w : memref<3x32x64xi8>) {
  ^bb0(%a: i8, %b: i8):
    linalg.yield %a : i8
  }
  return
}
}

// -----

// Parts of squares: rows of 3, loaded under a mask; columns of 3, stored as 2
// and 1; rows of 4 f16; and 2 rows behind whole squares.
// CHECK-LABEL: func.func @parts
// CHECK: scf.for
// CHECK-COUNT-8: vector.maskedload %arg0{{.*}} vector<8xf32>
// CHECK-COUNT-3: vector.store %{{.*}}, %arg1{{.*}} vector<8xf32>
// CHECK: scf.for
// CHECK-COUNT-3: vector.load %arg1{{.*}} vector<8xf32>
// CHECK: vector.store %{{.*}}, %arg0{{.*}} vector<2xf32>
// CHECK: vector.store %{{.*}}, %arg0{{.*}} vector<1xf32>
// CHECK: scf.for
// CHECK-COUNT-8: vector.load %arg2{{.*}} vector<4xf16>
// CHECK-COUNT-4: vector.store %{{.*}}, %arg3{{.*}} vector<8xf16>
// CHECK-COUNT-2: vector.load %arg2{{.*}} vector<4xf16>
// CHECK-COUNT-4: vector.store %{{.*}}, %arg3{{.*}} vector<2xf16>
#in = affine_map<(d0, d1) -> (d1, d0)>
#out = affine_map<(d0, d1) -> (d0, d1)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @parts(%x: memref<64x3xf32>, %y: memref<3x64xf32>, %z: memref<66x4xf16>, %w: memref<4x66xf16>) {
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel"]} ins(%x : memref<64x3xf32>) outs(%y : memref<3x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel"]} ins(%y : memref<3x64xf32>) outs(%x : memref<64x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel"]} ins(%z : memref<66x4xf16>) outs(%w : memref<4x66xf16>) {
  ^bb0(%a: f16, %b: f16):
    linalg.yield %a : f16
  }
  return
}
}

// -----

// Elementwise ops are computed by vectors of rows, before the transpose. Other
// operands are scalars.
// CHECK-LABEL: func.func @computed
// CHECK-COUNT-8: math.absf %{{.*}} : vector<8xf32>
// CHECK: vector.shuffle
// CHECK: memref.load %arg2
// CHECK: arith.mulf %{{.*}} : vector<8xf32>
// CHECK: arith.truncf %{{.*}} : vector<8xf32> to vector<8xbf16>
// CHECK-COUNT-24: vector.shuffle %{{.*}} : vector<8xi16>
// CHECK-NOT: linalg.generic
#in = affine_map<(d0, d1) -> (d1, d0)>
#out = affine_map<(d0, d1) -> (d0, d1)>
#one = affine_map<(d0, d1) -> ()>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @computed(%x: memref<64x64xf32>, %y: memref<64x64xf32>, %s: memref<f32>, %z: memref<64x64xbf16>) {
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel"]} ins(%x : memref<64x64xf32>) outs(%y : memref<64x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#in, #one, #out], iterator_types = ["parallel", "parallel"]} ins(%x, %s : memref<64x64xf32>, memref<f32>) outs(%z : memref<64x64xbf16>) {
  ^bb0(%a: f32, %b: f32, %c: bf16):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.truncf %0 : f32 to bf16
    linalg.yield %1 : bf16
  }
  return
}
}

// -----

// Floats that become bytes: 16 rows of 16 are computed as i32, four of which
// are joined. 8 shuffles transpose these 256 bytes, 16 more take each column.
// CHECK-LABEL: func.func @to_bytes
// CHECK: scf.for
// CHECK-COUNT-4: vector.load %arg0{{.*}} vector<16xf32>
// CHECK: arith.shli {{.*}} : vector<16xi32>
// CHECK: arith.ori {{.*}} : vector<16xi32>
// CHECK-COUNT-12: vector.load %arg0{{.*}} vector<16xf32>
// CHECK-COUNT-8: vector.shuffle {{.*}} : vector<16xi32>, vector<16xi32>
// CHECK-COUNT-16: vector.store %{{.*}}, %arg1{{.*}} vector<16xi8>
// The last 8 rows: halves of columns.
// CHECK-COUNT-8: vector.load %arg0{{.*}} vector<16xf32>
// CHECK-NOT: vector.load
// CHECK-COUNT-16: vector.store %{{.*}}, %arg1{{.*}} vector<8xi8>
// CHECK-NOT: linalg.generic
#in = affine_map<(d0, d1) -> (d1, d0)>
#out = affine_map<(d0, d1) -> (d0, d1)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @to_bytes(%x: memref<24x64xf32>, %y: memref<64x24xi8>) {
  %zero = arith.constant 125 : i32
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel"]} ins(%x : memref<24x64xf32>) outs(%y : memref<64x24xi8>) {
  ^bb0(%a: f32, %b: i8):
    %0 = math.roundeven %a : f32
    %1 = arith.fptosi %0 : f32 to i32
    %2 = arith.addi %1, %zero : i32
    %3 = arith.trunci %2 : i32 to i8
    linalg.yield %3 : i8
  }
  return
}
}

// -----

// Bytes that become floats are transposed as i32, from which each byte is
// taken.
// CHECK-LABEL: func.func @from_bytes
// CHECK: scf.if
// CHECK-COUNT-16: vector.load %arg0{{.*}} vector<16xi8>
// CHECK-COUNT-8: vector.shuffle {{.*}} : vector<16xi32>, vector<16xi32>
// CHECK-COUNT-16: vector.store %{{.*}}, %arg1{{.*}} vector<16xf32>
// CHECK: } else {
// CHECK: memref.load %arg0
// CHECK: arith.sitofp %{{.*}} : i8 to f32
// CHECK: memref.store %{{.*}}, %arg1
#in = affine_map<(d0, d1) -> (d1, d0)>
#out = affine_map<(d0, d1) -> (d0, d1)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @from_bytes(%x: memref<?x?xi8>, %y: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel"]} ins(%x : memref<?x?xi8>) outs(%y : memref<?x?xf32>) {
  ^bb0(%a: i8, %b: f32):
    %0 = arith.sitofp %a : i8 to f32
    linalg.yield %0 : f32
  }
  return
}
}

// -----

// Pixels of three contiguous bytes are loaded as i32. Four pixels are stored at
// once, and the bytes behind them are overwritten by the next ones.
// CHECK-LABEL: func.func @pixels
// CHECK: %[[Y:.*]] = memref.collapse_shape %arg1 {{.*}} into memref<192xi8>
// CHECK-COUNT-3: vector.load %arg0{{.*}} vector<16xf32>
// CHECK-COUNT-3: vector.store %{{.*}}, %[[Y]]{{.*}} vector<16xi8>
// CHECK: vector.store %{{.*}}, %[[Y]]{{.*}} vector<8xi8>
// CHECK: vector.store %{{.*}}, %[[Y]]{{.*}} vector<4xi8>
// CHECK-NOT: vector.store
// CHECK: %[[X:.*]] = memref.collapse_shape %arg1 {{.*}} into memref<192xi8>
// CHECK: vector.load %[[X]]{{.*}} vector<8xi8>
// CHECK: vector.load %[[X]]{{.*}} vector<4xi8>
// CHECK-COUNT-3: vector.store %{{.*}}, %arg0{{.*}} vector<16xf32>
// Must not fire for a part of each pixel.
// CHECK-COUNT-16: vector.store %{{.*}}, %arg2{{.*}} vector<2xi8>
#in = affine_map<(d0, d1) -> (d1, d0)>
#out = affine_map<(d0, d1) -> (d0, d1)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @pixels(%x: memref<3x64xf32>, %y: memref<64x3xi8>, %z: memref<64x2xi8, strided<[3, 1]>>, %w: memref<2x64xf32>) {
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel"]} ins(%x : memref<3x64xf32>) outs(%y : memref<64x3xi8>) {
  ^bb0(%a: f32, %b: i8):
    %0 = arith.fptosi %a : f32 to i8
    linalg.yield %0 : i8
  }
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel"]} ins(%y : memref<64x3xi8>) outs(%x : memref<3x64xf32>) {
  ^bb0(%a: i8, %b: f32):
    %0 = arith.uitofp %a : i8 to f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel"]} ins(%w : memref<2x64xf32>) outs(%z : memref<64x2xi8, strided<[3, 1]>>) {
  ^bb0(%a: f32, %b: i8):
    %0 = arith.fptosi %a : f32 to i8
    linalg.yield %0 : i8
  }
  return
}
}

// -----

// Must not fire: rows that stay rows, rows of one element, two transposed
// operands, divided integers, and wider elements.
// CHECK-LABEL: func.func @left
// CHECK-COUNT-5: linalg.generic
// CHECK-NOT: vector.
#in = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
#turned = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @left(%x: memref<32x16x8xf32>, %y: memref<16x32x8xf32>, %few: memref<2x64x1xf32>, %turned: memref<2x1x64xf32>, %square: memref<2x64x64xf32>, %result: memref<2x64x64xf32>, %wide: memref<2x64x64xi64>, %whole: memref<2x64x64xi32>, %divided: memref<2x64x64xi32>) {
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : memref<32x16x8xf32>) outs(%y : memref<16x32x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#turned, #out], iterator_types = ["parallel", "parallel", "parallel"]} ins(%few : memref<2x64x1xf32>) outs(%turned : memref<2x1x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#turned, #turned, #out], iterator_types = ["parallel", "parallel", "parallel"]} ins(%square, %square : memref<2x64x64xf32>, memref<2x64x64xf32>) outs(%result : memref<2x64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#turned, #out], iterator_types = ["parallel", "parallel", "parallel"]} ins(%whole : memref<2x64x64xi32>) outs(%divided : memref<2x64x64xi32>) {
  ^bb0(%a: i32, %b: i32):
    %ten = arith.constant 10 : i32
    %0 = arith.divsi %ten, %a : i32
    linalg.yield %0 : i32
  }
  linalg.generic {indexing_maps = [#turned, #out], iterator_types = ["parallel", "parallel", "parallel"]} ins(%wide : memref<2x64x64xi64>) outs(%wide : memref<2x64x64xi64>) {
  ^bb0(%a: i64, %b: i64):
    linalg.yield %a : i64
  }
  return
}
}
