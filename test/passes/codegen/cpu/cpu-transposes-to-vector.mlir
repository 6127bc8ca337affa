// RUN: ingot-opt --cpu-transposes-to-vector --split-input-file %s | FileCheck %s

// Squares of 8 rows and columns: 8 loads, 24 shuffles, 8 stores. The last of more
// than half a square ends with the tensor.
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

// Of halves 8 by 8, of bytes 16 by 16, of 128 bits each; with open sizes there
// may be fewer rows, which go one by one.
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

// Parts of squares: rows of 3, loaded under a mask, and columns of 3, stored as 2
// and 1; of halves rows of 4, and 2 rows behind whole squares.
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

// Rows that stay rows, rows of one element, what computes something, and wider
// elements.
// CHECK-LABEL: func.func @left
// CHECK-COUNT-4: linalg.generic
// CHECK-NOT: vector.
#in = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
#turned = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @left(%x: memref<32x16x8xf32>, %y: memref<16x32x8xf32>, %few: memref<2x64x1xf32>, %turned: memref<2x1x64xf32>, %square: memref<2x64x64xf32>, %result: memref<2x64x64xf32>, %wide: memref<2x64x64xi64>) {
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : memref<32x16x8xf32>) outs(%y : memref<16x32x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#turned, #out], iterator_types = ["parallel", "parallel", "parallel"]} ins(%few : memref<2x64x1xf32>) outs(%turned : memref<2x1x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#turned, #out], iterator_types = ["parallel", "parallel", "parallel"]} ins(%square : memref<2x64x64xf32>) outs(%result : memref<2x64x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#turned, #out], iterator_types = ["parallel", "parallel", "parallel"]} ins(%wide : memref<2x64x64xi64>) outs(%wide : memref<2x64x64xi64>) {
  ^bb0(%a: i64, %b: i64):
    linalg.yield %a : i64
  }
  return
}
}
