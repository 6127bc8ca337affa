// RUN: ingot-opt --fuse-elementwise %s | FileCheck %s
// RUN: ingot-opt --fuse-elementwise=most-ops=20 %s | FileCheck %s --check-prefix=SMALL

// Four functions become one op, or two ops if an op may have twenty operations.
// Each function counts as eight operations.

// CHECK-LABEL: @chain
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
// SMALL-LABEL: @chain
// SMALL-COUNT-2: linalg.generic
// SMALL-NOT: linalg.generic
// SMALL-LABEL: @shared
#id = affine_map<(i) -> (i)>
func.func @chain(%x: tensor<16xf32>) -> tensor<16xf32> {
  %e = tensor.empty() : tensor<16xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %y = math.tanh %in : f32
    linalg.yield %y : f32
  } -> tensor<16xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %y = math.exp %in : f32
    linalg.yield %y : f32
  } -> tensor<16xf32>
  %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%b : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %y = math.tanh %in : f32
    linalg.yield %y : f32
  } -> tensor<16xf32>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%c : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %y = math.exp %in : f32
    linalg.yield %y : f32
  } -> tensor<16xf32>
  return %d : tensor<16xf32>
}

// Must not fire: a value with other users is computed once.

// CHECK-LABEL: @shared
// CHECK-COUNT-2: linalg.generic
func.func @shared(%x: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %e = tensor.empty() : tensor<16xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %y = math.tanh %in : f32
    linalg.yield %y : f32
  } -> tensor<16xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %y = math.exp %in : f32
    linalg.yield %y : f32
  } -> tensor<16xf32>
  return %a, %b : tensor<16xf32>, tensor<16xf32>
}

// -----

// Must not fire: a reduction would be repeated for each element that it is
// broadcast to.

// CHECK-LABEL: @accumulated
// CHECK: linalg.generic
// CHECK: linalg.generic
#row = affine_map<(d0) -> (d0)>
#rows = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
func.func @accumulated(%x: tensor<4xf32>, %z: tensor<4xf32>, %w: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0:2 = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e, %z : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32, %sum: f32):
    %s = arith.addf %sum, %in : f32
    linalg.yield %sum, %s : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  %f = tensor.empty() : tensor<4x8xf32>
  %1 = linalg.generic {indexing_maps = [#rows, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%0#0, %w : tensor<4xf32>, tensor<4x8xf32>) outs(%f : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.mulf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// Must not fire: operands of a product are computed before it, since its tiles
// load them. A matrix times a vector has no tiles, and fuses them.
// CHECK-LABEL: @factors
// CHECK: linalg.generic
// CHECK: arith.divf
// CHECK: linalg.generic
// CHECK-NOT: arith.divf
// CHECK: arith.addf
// CHECK-LABEL: @one_row
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK-LABEL: @turned_function
#two = affine_map<(i, j) -> (i, j)>
#left = affine_map<(r, k, c) -> (r, k)>
#right = affine_map<(r, k, c) -> (c, k)>
#sums = affine_map<(r, k, c) -> (r, c)>
func.func @factors(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>, %e: tensor<?x64xf32>, %d: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %eight = arith.constant 8.0 : f32
  %a = linalg.generic {indexing_maps = [#two, #two], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %q = arith.divf %in, %eight : f32
    linalg.yield %q : f32
  } -> tensor<?x64xf32>
  %b = linalg.generic {indexing_maps = [#left, #right, #sums], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x, %a : tensor<?x64xf32>, tensor<?x64xf32>) outs(%d : tensor<?x?xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %b : tensor<?x?xf32>
}
func.func @one_row(%x: tensor<1x64xf32>, %y: tensor<?x64xf32>, %e: tensor<?x64xf32>, %d: tensor<1x?xf32>) -> tensor<1x?xf32> {
  %eight = arith.constant 8.0 : f32
  %a = linalg.generic {indexing_maps = [#two, #two], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %q = arith.divf %in, %eight : f32
    linalg.yield %q : f32
  } -> tensor<?x64xf32>
  %b = linalg.generic {indexing_maps = [#left, #right, #sums], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x, %a : tensor<1x64xf32>, tensor<?x64xf32>) outs(%d : tensor<1x?xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x?xf32>
  return %b : tensor<1x?xf32>
}

// A function is not fused with a transpose, so that it is computed on vectors. An op without functions is fused with
// the transpose.
// CHECK: math.erf
// CHECK: linalg.generic
// CHECK-NEXT: ^bb0
// CHECK-NEXT: linalg.yield
// CHECK-LABEL: @turned_sum
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
#turned = affine_map<(i, j) -> (j, i)>
func.func @turned_function(%x: tensor<64x?xf32>, %e: tensor<64x?xf32>, %d: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %a = linalg.generic {indexing_maps = [#two, #two], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x?xf32>) outs(%e : tensor<64x?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %q = math.erf %in : f32
    linalg.yield %q : f32
  } -> tensor<64x?xf32>
  %b = linalg.generic {indexing_maps = [#turned, #two], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<64x?xf32>) outs(%d : tensor<?x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<?x64xf32>
  return %b : tensor<?x64xf32>
}
func.func @turned_sum(%x: tensor<64x?xf32>, %e: tensor<64x?xf32>, %d: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %a = linalg.generic {indexing_maps = [#two, #two], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x?xf32>) outs(%e : tensor<64x?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %q = arith.addf %in, %in : f32
    linalg.yield %q : f32
  } -> tensor<64x?xf32>
  %b = linalg.generic {indexing_maps = [#turned, #two], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<64x?xf32>) outs(%d : tensor<?x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<?x64xf32>
  return %b : tensor<?x64xf32>
}

// Must not fire: table lookups of bytes.
// CHECK-LABEL: @look_up
// CHECK-COUNT-3: linalg.generic
#one_row = affine_map<(i) -> (i)>
func.func @look_up(%t: tensor<256xi8>, %x: tensor<64xi8>, %e: tensor<64xi8>) -> tensor<64xi8> {
  %a = linalg.generic {indexing_maps = [#one_row, #one_row], iterator_types = ["parallel"]} ins(%x : tensor<64xi8>) outs(%e : tensor<64xi8>) {
  ^bb0(%in: i8, %out: i8):
    %q = arith.addi %in, %in : i8
    linalg.yield %q : i8
  } -> tensor<64xi8>
  %b = linalg.generic {indexing_maps = [#one_row, #one_row], iterator_types = ["parallel"]} ins(%a : tensor<64xi8>) outs(%e : tensor<64xi8>) {
  ^bb0(%in: i8, %out: i8):
    %i = arith.index_castui %in : i8 to index
    %q = tensor.extract %t[%i] : tensor<256xi8>
    linalg.yield %q : i8
  } -> tensor<64xi8>
  %c = linalg.generic {indexing_maps = [#one_row, #one_row], iterator_types = ["parallel"]} ins(%b : tensor<64xi8>) outs(%e : tensor<64xi8>) {
  ^bb0(%in: i8, %out: i8):
    %q = arith.addi %in, %in : i8
    linalg.yield %q : i8
  } -> tensor<64xi8>
  return %c : tensor<64xi8>
}

// Must not fire: many operations would be repeated for each element that they
// are broadcast to. Few operations are fused.
// CHECK-LABEL: @broadcast_work
// CHECK: %[[TABLE:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<?xf32>)
// CHECK-COUNT-5: math.tanh
// CHECK: linalg.generic {{.*}} ins(%arg1, %[[TABLE]], %arg0 : tensor<?x8xf32>, tensor<?xf32>, tensor<?xf32>)
// CHECK-NOT: linalg.generic
// CHECK: arith.negf
// CHECK: return
func.func @broadcast_work(%x: tensor<?xf32>, %y: tensor<?x8xf32>, %e: tensor<?xf32>, %o: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %table = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.tanh %a : f32
    %1 = math.tanh %0 : f32
    %2 = math.tanh %1 : f32
    %3 = math.tanh %2 : f32
    %4 = math.tanh %3 : f32
    linalg.yield %4 : f32
  } -> tensor<?xf32>
  %little = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%y, %table, %little : tensor<?x8xf32>, tensor<?xf32>, tensor<?xf32>) outs(%o : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %c : f32
    linalg.yield %1 : f32
  } -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// A use of the size is another user. The sizes of a view come from its source.
// CHECK-LABEL: @sizes
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x8xf32>
// CHECK: %[[V:.*]] = tensor.expand_shape %[[X]]
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[V]] : tensor<?x?x2x4xf32>)
// CHECK: math.sqrt
// CHECK-NEXT: arith.negf
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @sizes(%x: tensor<?x?x8xf32>, %n: index, %m: index) -> tensor<?x?x2x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty(%n, %m) : tensor<?x?x8xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<?x?x8xf32>) outs(%e : tensor<?x?x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %q = math.sqrt %in : f32
    linalg.yield %q : f32
  } -> tensor<?x?x8xf32>
  %v = tensor.expand_shape %a [[0], [1], [2, 3]] output_shape [%n, %m, 2, 4] : tensor<?x?x8xf32> into tensor<?x?x2x4xf32>
  %d0 = tensor.dim %v, %c0 : tensor<?x?x2x4xf32>
  %d1 = tensor.dim %v, %c1 : tensor<?x?x2x4xf32>
  %f = tensor.empty(%d0, %d1) : tensor<?x?x2x4xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v : tensor<?x?x2x4xf32>) outs(%f : tensor<?x?x2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %q = arith.negf %in : f32
    linalg.yield %q : f32
  } -> tensor<?x?x2x4xf32>
  return %b : tensor<?x?x2x4xf32>
}

// Must not fuse: the loop over a row would run again for each column.
// CHECK-LABEL: @loops_of_rows
// CHECK-COUNT-2: linalg.generic
#summed = affine_map<(d0) -> (d0)>
#spread = affine_map<(d0, d1) -> (d0)>
#grid = affine_map<(d0, d1) -> (d0, d1)>
func.func @loops_of_rows(%x: tensor<4x8xi32>) -> tensor<4x16xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0 : i32
  %rows = tensor.empty() : tensor<4xi32>
  %sums = linalg.generic {indexing_maps = [#summed], iterator_types = ["parallel"]} outs(%rows : tensor<4xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %sum = scf.for %k = %c0 to %c8 step %c1 iter_args(%s = %zero) -> (i32) {
      %e = tensor.extract %x[%i, %k] : tensor<4x8xi32>
      %t = arith.addi %s, %e : i32
      scf.yield %t : i32
    }
    linalg.yield %sum : i32
  } -> tensor<4xi32>
  %out = tensor.empty() : tensor<4x16xi32>
  %y = linalg.generic {indexing_maps = [#spread, #grid], iterator_types = ["parallel", "parallel"]} ins(%sums : tensor<4xi32>) outs(%out : tensor<4x16xi32>) {
  ^bb0(%a: i32, %o: i32):
    %d = arith.addi %a, %a : i32
    linalg.yield %d : i32
  } -> tensor<4x16xi32>
  return %y : tensor<4x16xi32>
}
