// RUN: ingot-opt --ingot-skip-unread --split-input-file %s | FileCheck %s

#rows = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>

// The row sums have no elements if the result has none.

// CHECK-LABEL: func.func @sums
// CHECK: %[[N:.*]] = memref.dim %arg0, %c0
// CHECK: %[[M:.*]] = memref.dim %arg0, %c1
// CHECK: %[[NO_ROWS:.*]] = arith.cmpi eq, %[[N]]
// CHECK: %[[NO_COLUMNS:.*]] = arith.cmpi eq, %[[M]]
// CHECK: %[[EMPTY:.*]] = arith.ori %[[NO_ROWS]], %[[NO_COLUMNS]]
// CHECK: %[[SIZE:.*]] = arith.select %[[EMPTY]], %{{.*}}, %[[N]] : index
// CHECK: memref.alloc(%[[SIZE]]) : memref<?xf32>
// CHECK: ingot.room 0(%[[N]], %[[M]])
func.func @sums(%x: memref<?x?xf32>, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  %sums = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<?xf32>)
  linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]} ins(%x : memref<?x?xf32>) outs(%sums : memref<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  }
  %y = ingot.room 0(%n, %m) : memref<?x?xf32>
  linalg.generic {indexing_maps = [#all, #rows, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %sums : memref<?x?xf32>, memref<?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %d = arith.divf %in, %sum : f32
    linalg.yield %d : f32
  }
  return
}

// -----

#rows = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>

// An op that only feeds a skipped buffer is skipped, too. So are both buffers
// of an op that writes two.

// CHECK-LABEL: func.func @chain
// CHECK: %[[EMPTY:.*]] = arith.ori
// CHECK: %[[A:.*]] = arith.select %[[EMPTY]], %{{.*}}, %[[N:.*]] : index
// CHECK: memref.alloc(%[[A]]) : memref<?xf32>
// CHECK: %[[B:.*]] = arith.select %[[EMPTY]], %{{.*}}, %[[N]] : index
// CHECK: memref.alloc(%[[B]]) : memref<?xi64>
// CHECK: %[[C:.*]] = arith.select %[[EMPTY]], %{{.*}}, %[[N]] : index
// CHECK: memref.alloc(%[[C]]) : memref<?xi64>
func.func @chain(%x: memref<?x?xf32>, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  %best = memref.alloc(%n) : memref<?xf32>
  %at = memref.alloc(%n) : memref<?xi64>
  linalg.generic {indexing_maps = [#all, #rows, #rows], iterator_types = ["parallel", "reduction"]} ins(%x : memref<?x?xf32>) outs(%best, %at : memref<?xf32>, memref<?xi64>) {
  ^bb0(%in: f32, %a: f32, %b: i64):
    linalg.yield %in, %b : f32, i64
  }
  %next = memref.alloc(%n) : memref<?xi64>
  linalg.add ins(%at, %at : memref<?xi64>, memref<?xi64>) outs(%next : memref<?xi64>)
  %y = ingot.room 0(%n, %m) : memref<?x?xi64>
  linalg.generic {indexing_maps = [#rows, #all], iterator_types = ["parallel", "parallel"]} ins(%next : memref<?xi64>) outs(%y : memref<?x?xi64>) {
  ^bb0(%in: i64, %out: i64):
    linalg.yield %in : i64
  }
  return
}

// -----

#rows = affine_map<(d0, d1) -> (d0)>
#channels = affine_map<(d0, d1, d2) -> (d0, d2)>
#all = affine_map<(d0, d1) -> (d0, d1)>
#pixels = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// Must not fire if an output of static size is written, too; if a scalar is
// read; if the buffer is as large as its user; or for channels of a batch.

// CHECK-LABEL: func.func @stay
// CHECK-NOT: arith.select
func.func @stay(%x: memref<?x?xf32>, %p: memref<?x?x8xf32>, %w: memref<4xf32>, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  %y = ingot.room 0(%n, %m) : memref<?x?xf32>
  %known = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%zero : f32) outs(%known : memref<?xf32>)
  linalg.generic {indexing_maps = [#rows, #all], iterator_types = ["parallel", "parallel"]} ins(%known : memref<?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %known[%i] : memref<?xf32>
    memref.store %v, %w[%c0] : memref<4xf32>
  }
  %scalar = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%zero : f32) outs(%scalar : memref<?xf32>)
  linalg.generic {indexing_maps = [#rows, #all], iterator_types = ["parallel", "parallel"]} ins(%scalar : memref<?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  %read = memref.load %scalar[%c0] : memref<?xf32>
  %same = memref.alloc(%m, %n) : memref<?x?xf32>
  linalg.fill ins(%zero : f32) outs(%same : memref<?x?xf32>)
  linalg.transpose ins(%same : memref<?x?xf32>) outs(%y : memref<?x?xf32>) permutation = [1, 0]
  %k = memref.dim %p, %c0 : memref<?x?x8xf32>
  %h = memref.dim %p, %c1 : memref<?x?x8xf32>
  %means = memref.alloc(%k) : memref<?x8xf32>
  linalg.fill ins(%zero : f32) outs(%means : memref<?x8xf32>)
  %z = ingot.room 1(%k, %h) : memref<?x?x8xf32>
  linalg.generic {indexing_maps = [#channels, #pixels], iterator_types = ["parallel", "parallel", "parallel"]} ins(%means : memref<?x8xf32>) outs(%z : memref<?x?x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return %read : f32
}
