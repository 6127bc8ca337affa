// RUN: ingot-opt --cuda-outline-scan --split-input-file %s | FileCheck %s

// A thread adds up a column. Two equal ops are one kernel.
// CHECK-LABEL: func.func @columns
// CHECK: %[[BLOCKS:.*]] = arith.constant 3 : index
// CHECK: cuda.launch @ingot_cuda_kernels::@scan_0(%arg0, %arg1) blocks(%[[BLOCKS]]) writes 1
// CHECK: cuda.launch @ingot_cuda_kernels::@scan_0(
// CHECK-NOT: cuda.scan
// CHECK: func.func private @scan_0
// CHECK-SAME: cuda.block = #cuda.block<threads = 256>
// CHECK: scf.if
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (f32)
// CHECK: memref.load %arg0
// CHECK: %[[NEXT:.*]] = arith.addf %[[SUM]]
// CHECK: memref.store %[[NEXT]], %arg1
// CHECK-NOT: nvvm.barrier
// CHECK-NOT: @scan_1
func.func @columns(%x: memref<2x50x300xf32>, %y: memref<2x50x300xf32>) {
  cuda.scan ins(%x : memref<2x50x300xf32>) outs(%y : memref<2x50x300xf32>)
  cuda.scan ins(%x : memref<2x50x300xf32>) outs(%y : memref<2x50x300xf32>)
  return
}

// -----

// A block adds up a row, from its end. Each thread has four elements, so 32 of
// them have the row. They exchange f32 sums of f16 elements.
// CHECK-LABEL: func.func @row
// CHECK: %[[BLOCKS:.*]] = arith.constant 7 : index
// CHECK: blocks(%[[BLOCKS]]) writes 1
// CHECK: cuda.block = #cuda.block<threads = 32, shared = 256>
// CHECK: scf.for {{.*}} -> (f32)
// CHECK: arith.subi
// CHECK: arith.extf
// CHECK-COUNT-3: arith.mulf
// CHECK: llvm.store {{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<3>
// CHECK-COUNT-5: nvvm.barrier
// CHECK: memref.store %{{.*}}, %arg1
// CHECK: nvvm.barrier
func.func @row(%x: memref<7x100x1xf16>, %y: memref<7x100x1xf16>) {
  cuda.scan ins(%x : memref<7x100x1xf16>) outs(%y : memref<7x100x1xf16>) {product, reverse}
  return
}

// -----

// Blocks take rows of open length, and few long columns. The run checks the
// number of elements.
// CHECK-LABEL: func.func @open
// CHECK: ingot.require %{{.*}}, "kernels of GPUs take tensors of up to {1} elements, but one has {0}"
// CHECK: cuda.launch @ingot_cuda_kernels::@scan_0
// CHECK: cuda.launch @ingot_cuda_kernels::@scan_1
// CHECK-COUNT-2: cuda.block = #cuda.block<threads = 256, shared = 2048>
func.func @open(%x: memref<?x?x1xi32>, %y: memref<?x?x1xi32>, %a: memref<1x2000x3xi32>, %b: memref<1x2000x3xi32>) {
  cuda.scan ins(%x : memref<?x?x1xi32>) outs(%y : memref<?x?x1xi32>)
  cuda.scan ins(%a : memref<1x2000x3xi32>) outs(%b : memref<1x2000x3xi32>)
  return
}

// -----

// CHECK-LABEL: func.func @tensors
// CHECK: cuda.scan
// CHECK-NOT: cuda.launch
func.func @tensors(%x: tensor<2x50x3xf32>, %y: tensor<2x50x3xf32>) -> tensor<2x50x3xf32> {
  %0 = cuda.scan ins(%x : tensor<2x50x3xf32>) outs(%y : tensor<2x50x3xf32>) {exclusive} -> tensor<2x50x3xf32>
  return %0 : tensor<2x50x3xf32>
}
