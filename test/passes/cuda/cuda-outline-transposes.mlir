// RUN: ingot-opt --cuda-outline-transposes --split-input-file %s | FileCheck %s
// RUN: ingot-opt --cuda-outline-transposes --split-input-file --remarks-filter-analyse=decision %s 2>&1 >/dev/null | FileCheck %s --check-prefix=DECISION
// RUN: ingot-opt --cuda-outline-transposes=seed=7 --split-input-file %s -o %t.drawn
// RUN: ingot-opt --cuda-outline-transposes=seed=7 --split-input-file %s | diff - %t.drawn

#in = affine_map<(d0, d1) -> (d1, d0)>
#out = affine_map<(d0, d1) -> (d0, d1)>

// A thread loads four neighbors of x, and stores four neighbors of y. Rows of
// the tile have one element more, so that the banks of a column differ.
// CHECK-LABEL: func.func @transpose
// CHECK: cuda.launch @ingot_cuda_kernels::@transpose_0(%arg0, %arg1) blocks(
// CHECK: func.func private @transpose_0(%[[X:[^:]*]]: memref<512x1024xf32> {llvm.align = 16 : i64}, %[[Y:[^:]*]]: memref<1024x512xf32> {llvm.align = 16 : i64})
// CHECK-SAME: cuda.block = #cuda.block<threads = 256, shared = {{[0-9]+}}>
// CHECK-SAME: cuda.cycles = #cuda.cycles<{{[0-9]+}}>
// CHECK-NOT: scf.if
// CHECK-COUNT-4: memref.load %[[X]]
// CHECK: llvm.store {{.*}} : f32, !llvm.ptr<3>
// CHECK: nvvm.barrier
// CHECK-COUNT-4: llvm.load {{.*}} : !llvm.ptr<3> -> f32
// CHECK-COUNT-4: memref.store {{.*}}, %[[Y]]
// DECISION: linalg.generic | Category:decision | Decision="#ingot.decision<schedule, "{{[0-9]+x[0-9]+}}", [<"grid", cycles = {{[0-9]+}}>, {{.*}}], "transposes neighboring elements">"
func.func @transpose(%x: memref<512x1024xf32>, %y: memref<1024x512xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel"]} ins(%x : memref<512x1024xf32>) outs(%y : memref<1024x512xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

#in = affine_map<(d0, d1) -> (d1, d0)>
#out = affine_map<(d0, d1) -> (d0, d1)>

// The body is computed in the order of the result, in which z is read. A
// vector of z is not known to be aligned. Sizes with tails are clamped where
// tiles are loaded, and compared where results are stored.
// CHECK-LABEL: func.func @fused
// CHECK: func.func private @transpose_0(%[[X:[^:]*]]: memref<511x1021xf16>, %[[Z:[^:]*]]: memref<1021x511xf32>, %[[Y:[^:]*]]: memref<1021x511xf32>)
// CHECK: arith.minui
// CHECK: memref.load %[[X]]
// CHECK: llvm.store {{.*}} : f16, !llvm.ptr<3>
// CHECK: nvvm.barrier
// CHECK: arith.cmpi ult
// CHECK: scf.if
// CHECK: %[[V:.*]] = llvm.load {{.*}} : !llvm.ptr<3> -> f16
// CHECK: %[[R:.*]] = memref.load %[[Z]]
// CHECK: %[[W:.*]] = arith.extf %[[V]]
// CHECK: arith.addf %[[W]], %[[R]]
// CHECK: memref.store {{.*}}, %[[Y]]
func.func @fused(%x: memref<511x1021xf16>, %z: memref<1021x511xf32>, %y: memref<1021x511xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  linalg.generic {indexing_maps = [#in, #out, #out], iterator_types = ["parallel", "parallel"]} ins(%x, %z : memref<511x1021xf16>, memref<1021x511xf32>) outs(%y : memref<1021x511xf32>) {
  ^bb0(%a: f16, %c: f32, %b: f32):
    %0 = arith.extf %a : f16 to f32
    %1 = arith.addf %0, %c : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

#in = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// Host code counts the tiles of open sizes.
// CHECK-LABEL: func.func @open
// CHECK-DAG: %[[N:.*]] = memref.dim %arg0, %c0
// CHECK-DAG: arith.divui
// CHECK-DAG: arith.muli
// CHECK: cuda.launch @ingot_cuda_kernels::@transpose_0(%arg0, %arg1)
// CHECK: func.func private @transpose_0(%[[X:[^:]*]]: memref<?x64x?xf32>, %[[Y:[^:]*]]: memref<?x?x64xf32>
// CHECK: memref.dim
func.func @open(%x: memref<?x64x?xf32>, %y: memref<?x?x64xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : memref<?x64x?xf32>) outs(%y : memref<?x?x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

#in = affine_map<(d0, d1) -> (d1, d0)>
#out = affine_map<(d0, d1) -> (d0, d1)>

// A small tensor stays. So does one of few channels, of which a warp reads
// whole sectors, and one of few elements in both dimensions.
// CHECK-LABEL: func.func @stays
// CHECK-COUNT-3: linalg.generic {
// CHECK-NOT: cuda.launch
// DECISION: Decision="#ingot.decision<schedule, "grid", {{.*}}, "transposes 20x30 elements, for which a tile takes longer">"
// DECISION: Decision="#ingot.decision<schedule, "grid", {{.*}}, "transposes 200000x4 elements, for which a tile takes longer">"
// DECISION: Decision="#ingot.decision<schedule, "grid", {{.*}}, "transposes 3x5 elements, which no tile fits">"
func.func @stays(%x: memref<30x20xf32>, %y: memref<20x30xf32>, %c: memref<4x200000xf32>, %d: memref<200000x4xf32>, %e: memref<5x3xf32>, %f: memref<3x5xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel"]} ins(%x : memref<30x20xf32>) outs(%y : memref<20x30xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel"]} ins(%c : memref<4x200000xf32>) outs(%d : memref<200000x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel"]} ins(%e : memref<5x3xf32>) outs(%f : memref<3x5xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

#in = affine_map<(d0, d1) -> (d1, d0)>
#out = affine_map<(d0, d1) -> (d0, d1)>
#sum = affine_map<(d0, d1) -> (d1)>

// No operand of these is transposed, or a reduction adds its elements up. No
// decision is recorded.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-2: linalg.generic {
// CHECK-NOT: cuda.launch
// DECISION-NOT: decision
func.func @others(%x: memref<512x1024xf32>, %y: memref<512x1024xf32>, %z: memref<512xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  linalg.generic {indexing_maps = [#out, #out], iterator_types = ["parallel", "parallel"]} ins(%x : memref<512x1024xf32>) outs(%y : memref<512x1024xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#in, #sum], iterator_types = ["reduction", "parallel"]} ins(%x : memref<512x1024xf32>) outs(%z : memref<512xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %b, %a : f32
    linalg.yield %0 : f32
  }
  return
}
