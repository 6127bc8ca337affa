// RUN: ingot-opt --cuda-outline-grids --split-input-file %s | FileCheck %s

// A thread computes an element. Its indices follow the dimensions of the
// result, so neighbouring threads write neighbouring elements of a transpose.
// CHECK-LABEL: func.func @transpose
// CHECK: %[[BLOCKS:.*]] = arith.constant 2 : index
// CHECK: cuda.launch @ingot_cuda_kernels::@[[K:.*]](%arg0, %arg1) blocks(%[[BLOCKS]]) writes 2
// CHECK: module @ingot_cuda_kernels
// CHECK: func.func private @[[K]](%[[X:[^:]*]]: memref<12x32xf32>, %[[Y:[^:]*]]: memref<32x12xf32>
// CHECK-SAME: cuda.block = #cuda.block<threads = 256>
// CHECK: %[[BLOCK:.*]] = gpu.block_id x
// CHECK: %[[THREAD:.*]] = gpu.thread_id x
// CHECK: arith.cmpi ult, %{{.*}}, %c384
// CHECK: scf.if
// CHECK: arith.remui %{{.*}}, %c12_i32
// CHECK: arith.divui %{{.*}}, %c12_i32
// CHECK: %[[V:.*]] = memref.load %[[X]]
// CHECK: memref.store %[[V]], %[[Y]]
#in = affine_map<(d0, d1) -> (d0, d1)>
#out = affine_map<(d0, d1) -> (d1, d0)>
func.func @transpose(%x: memref<12x32xf32>, %y: memref<32x12xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel"]} ins(%x : memref<12x32xf32>) outs(%y : memref<32x12xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

// A sum stays in a register. It starts with the value of the result.
// CHECK-LABEL: func.func @sum
// CHECK: func.func private @grid_0(%[[X:[^:]*]]: memref<4x8xf32>, %[[Y:[^:]*]]: memref<4xf32>
// CHECK: %[[START:.*]] = memref.load %[[Y]]
// CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %c0{{.*}} to %c8{{.*}} step %c1{{.*}} iter_args(%[[S:.*]] = %[[START]])
// CHECK: %[[V:.*]] = memref.load %[[X]]
// CHECK: %[[N:.*]] = arith.addf %[[S]], %[[V]]
// CHECK: scf.yield %[[N]]
// CHECK: memref.store %[[SUM]], %[[Y]]
#in = affine_map<(d0, d1) -> (d0, d1)>
#out = affine_map<(d0, d1) -> (d0)>
func.func @sum(%x: memref<4x8xf32>, %y: memref<4xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4x8xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %b, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Equal ops share a kernel. An op without elements vanishes.
// CHECK-LABEL: func.func @shared
// CHECK: cuda.launch @ingot_cuda_kernels::@grid_0(%arg0, %arg1)
// CHECK: cuda.launch @ingot_cuda_kernels::@grid_0(%arg1, %arg0)
// CHECK-NOT: linalg
// CHECK-NOT: @grid_1
#id = affine_map<(d0) -> (d0)>
func.func @shared(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<0xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%y : memref<8xf32>) outs(%x : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%z : memref<0xf32>) outs(%z : memref<0xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

// A copy with gaps becomes a kernel, a dense one stays. The address has the
// offset, so the kernel's parameter has none.
// CHECK-LABEL: func.func @copies
// CHECK: memref.copy %arg0, %arg1
// CHECK: cuda.launch @ingot_cuda_kernels::@grid_0(%{{.*}}, %{{.*}}) {{.*}} : memref<2x4xf32, strided<[8, 1], offset: 4>>, memref<2x4xf32>
// CHECK: func.func private @grid_0(%{{.*}}: memref<2x4xf32, strided<[8, 1]>>
func.func @copies(%x: memref<2x8xf32>, %y: memref<2x8xf32>, %z: memref<2x4xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  memref.copy %x, %y : memref<2x8xf32> to memref<2x8xf32>
  %half = memref.subview %x[0, 4] [2, 4] [1, 1] : memref<2x8xf32> to memref<2x4xf32, strided<[8, 1], offset: 4>>
  memref.copy %half, %z : memref<2x4xf32, strided<[8, 1], offset: 4>> to memref<2x4xf32>
  return
}

// -----

// Ops that no kernel can compute stay, with the reason.
// CHECK-LABEL: func.func @declined
// CHECK: linalg.generic {{.*}} attrs = {cuda.reason = "uses a value that only the host knows"}
// CHECK: linalg.generic {{.*}} attrs = {cuda.reason = "ends the run if its data are wrong"}
// CHECK: linalg.generic {{.*}} attrs = {cuda.reason = "uses a buffer of the host"}
#id = affine_map<(d0) -> (d0)>
func.func @declined(%y: memref<8xf32>, %n: f32, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%y : memref<8xf32>) {
  ^bb0(%b: f32):
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%y : memref<8xf32>) {
  ^bb0(%b: f32):
    %0 = arith.constant true
    ingot.require %0, "is wrong"
    linalg.yield %b : f32
  }
  %host = memref.alloca() : memref<8xf32>
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%host : memref<8xf32>) {
  ^bb0(%b: f32):
    linalg.yield %b : f32
  }
  return
}

// -----

// Open sizes: host code counts the elements of the result, and the blocks. The
// kernel reads sizes from its parameters.
// CHECK-LABEL: func.func @open
// CHECK-SAME: (%[[X:[^:]*]]: memref<?x?xf32>, %[[Y:[^:]*]]: memref<?x8xf32>
// CHECK: %[[N:.*]] = memref.dim %[[X]]
// CHECK: %[[ELEMENTS:.*]] = arith.muli %[[N]], %c8
// CHECK: %[[MORE:.*]] = arith.addi %[[ELEMENTS]], %c1023
// CHECK: %[[BLOCKS:.*]] = arith.divui %[[MORE]], %c1024
// CHECK: cuda.launch @ingot_cuda_kernels::@grid_0(%[[X]], %[[Y]]) blocks(%[[BLOCKS]])
// CHECK: func.func private @grid_0(%[[A:[^:]*]]: memref<?x?xf32> {{.*}}, %[[B:[^:]*]]: memref<?x8xf32>
// CHECK: memref.dim %[[A]]
// CHECK: arith.cmpi ult
// CHECK: scf.if
// CHECK: %[[DEPTH:.*]] = memref.dim %[[A]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[DEPTH]]
// CHECK: memref.store %{{.*}}, %[[B]]
#in = affine_map<(d0, d1, d2) -> (d0, d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @open(%x: memref<?x?xf32>, %y: memref<?x8xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : memref<?x?xf32>) outs(%y : memref<?x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Functions without the call of the run are not run on a GPU.
// CHECK-LABEL: func.func @other
// CHECK: linalg.generic
#id = affine_map<(d0) -> (d0)>
func.func @other(%x: memref<8xf32>) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%x : memref<8xf32>) {
  ^bb0(%b: f32):
    linalg.yield %b : f32
  }
  return
}

// -----

// A grid that fills a GPU computes four neighbouring elements in a thread. The
// loads come before the stores, and parameters are aligned, so that LLVM joins
// them to accesses of 16 bytes.
// CHECK-LABEL: func.func @neighbours
// CHECK: %[[BLOCKS:.*]] = arith.constant 512 : index
// CHECK: blocks(%[[BLOCKS]])
// CHECK: func.func private @grid_0(%[[X:.*]]: memref<1024x512xf32> {llvm.align = 16 : i64}, %[[Y:.*]]: memref<1024x512xf32> {llvm.align = 16 : i64})
// CHECK-COUNT-4: memref.load %[[X]]
// CHECK-NOT: memref.load
// CHECK-COUNT-4: memref.store %{{.*}}, %[[Y]]
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @neighbours(%x: memref<1024x512xf32>, %y: memref<1024x512xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<1024x512xf32>) outs(%y : memref<1024x512xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// A part of a buffer that begins at an odd element is not aligned.
// CHECK-LABEL: func.func @part
// CHECK: func.func private @grid_0(%{{.*}}: memref<1024x512xf32, strided<[520, 1]>>, %{{.*}}: memref<1024x512xf32> {llvm.align = 16 : i64})
#id1 = affine_map<(d0, d1) -> (d0, d1)>
func.func @part(%x: memref<1024x512xf32, strided<[520, 1], offset: 3>>, %y: memref<1024x512xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel", "parallel"]} ins(%x : memref<1024x512xf32, strided<[520, 1], offset: 3>>) outs(%y : memref<1024x512xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Neighbouring columns are summed together: two sums of a thread.
// CHECK-LABEL: func.func @columns
// CHECK: scf.for %{{.*}} iter_args(%{{.*}}, %{{.*}}) -> (f32, f32)
// CHECK-COUNT-2: memref.load
// CHECK: scf.yield %{{.*}}, %{{.*}} : f32, f32
#in = affine_map<(d0, d1) -> (d0, d1)>
#out = affine_map<(d0, d1) -> (d1)>
func.func @columns(%x: memref<3x221184xf32>, %y: memref<221184xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction", "parallel"]} ins(%x : memref<3x221184xf32>) outs(%y : memref<221184xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %b, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Functions of floats have code, in both widths. No op of a model becomes the
// cube root, which has none.
// CHECK-LABEL: func.func @functions
// CHECK: cuda.launch
// CHECK-NEXT: linalg.generic {{.*}} attrs = {cuda.reason = "computes a function that GPUs lack"}
// CHECK: math.powf
// CHECK: math.sinh
#id = affine_map<(d0) -> (d0)>
func.func @functions(%x: memref<8xf64>, %y: memref<8xf64>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<8xf64>) outs(%y : memref<8xf64>) {
  ^bb0(%a: f64, %b: f64):
    %0 = math.powf %a, %a : f64
    %1 = math.sinh %0 : f64
    linalg.yield %1 : f64
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<8xf64>) outs(%y : memref<8xf64>) {
  ^bb0(%a: f64, %b: f64):
    %0 = math.cbrt %a : f64
    linalg.yield %0 : f64
  }
  return
}
