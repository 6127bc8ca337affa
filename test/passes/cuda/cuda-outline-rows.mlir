// RUN: ingot-opt --cuda-outline-rows --split-input-file %s | FileCheck %s

#in = affine_map<(d0, d1) -> (d0, d1)>
#out = affine_map<(d0, d1) -> (d0)>

// A warp sums a row: its lanes take every 32nd element, exchange their sums,
// and the first adds the value before and stores. A block has eight warps.
// CHECK-LABEL: func.func @warp
// CHECK: %[[BLOCKS:.*]] = arith.constant 2 : index
// CHECK: cuda.launch @ingot_cuda_kernels::@rows_0(%arg0, %arg1) blocks(%[[BLOCKS]])
// CHECK: func.func private @rows_0(%[[X:.*]]: memref<12x100xf32>, %[[Y:.*]]: memref<12xf32>)
// CHECK: %[[LANE:.*]] = arith.remui %{{.*}}, %c32
// CHECK: scf.if
// CHECK: scf.for %{{.*}} = %[[LANE]] to %c100{{.*}} step %c32
// CHECK: memref.load %[[X]]
// CHECK-COUNT-5: nvvm.shfl.sync bfly
// CHECK: scf.if
// CHECK: memref.load %[[Y]]
// CHECK: arith.addf
// CHECK: memref.store
func.func @warp(%x: memref<12x100xf32>, %y: memref<12xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x : memref<12x100xf32>) outs(%y : memref<12xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %b, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#in = affine_map<(d0, d1) -> (d0, d1)>
#out = affine_map<(d0, d1) -> (d0)>

// A block takes a long row. Its warps exchange maxima in shared memory.
// CHECK-LABEL: func.func @block
// CHECK: func.func private @rows_0
// CHECK-SAME: shared = 32
// CHECK: scf.for {{.*}} step %c256
// CHECK: nvvm.shfl.sync bfly
// CHECK: llvm.store {{.*}} !llvm.ptr<3>
// CHECK: nvvm.barrier
// CHECK-COUNT-8: llvm.load {{.*}} !llvm.ptr<3> -> f32
// CHECK: memref.store
func.func @block(%x: memref<2x5000xf32>, %y: memref<2xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x : memref<2x5000xf32>) outs(%y : memref<2xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.maximumf %b, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#in = affine_map<(d0, d1) -> (d0, d1)>
#out = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>

// Short rows, columns, and elements of 64 bits stay in place.
// CHECK-LABEL: func.func @declined
// CHECK-COUNT-3: linalg.generic
// CHECK-NOT: cuda.launch
func.func @declined(%x: memref<12x20xf32>, %y: memref<12xf32>, %z: memref<100x12xf32>, %i: memref<12x100xi64>, %j: memref<12xi64>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x : memref<12x20xf32>) outs(%y : memref<12xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %b, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#in, #column], iterator_types = ["reduction", "parallel"]} ins(%z : memref<100x12xf32>) outs(%y : memref<12xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %b, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%i : memref<12x100xi64>) outs(%j : memref<12xi64>) {
  ^bb0(%a: i64, %b: i64):
    %0 = arith.addi %b, %a : i64
    linalg.yield %0 : i64
  }
  return
}

// -----

#in = affine_map<(d0, d1) -> (d0, d1)>
#out = affine_map<(d0, d1) -> (d0)>

// A run may skip the buffer of the results, which has no elements then, so no
// block writes it.
// CHECK-LABEL: func.func @skipped
// CHECK-SAME: %[[SKIPS:[^:]*]]: i1
// CHECK: %[[ALL:.*]] = arith.divui
// CHECK: %[[BLOCKS:.*]] = arith.select %[[SKIPS]], %c0{{.*}}, %[[ALL]] : index
// CHECK: cuda.launch @ingot_cuda_kernels::@rows_0{{.*}} blocks(%[[BLOCKS]])
func.func @skipped(%x: memref<?x?xf32>, %n: index, %skips: i1, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %size = arith.select %skips, %c0, %n : index
  %y = memref.alloc(%size) : memref<?xf32>
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x : memref<?x?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %b, %a : f32
    linalg.yield %0 : f32
  }
  memref.dealloc %y : memref<?xf32>
  return
}
