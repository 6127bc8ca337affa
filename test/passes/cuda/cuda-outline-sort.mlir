// RUN: ingot-opt --cuda-outline-sort --split-input-file %s | FileCheck %s

// One block sorts few items.
// CHECK-LABEL: func.func @few
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: cuda.launch @ingot_cuda_kernels::@sort_0(%arg0, %arg0) blocks(%[[ONE]]) writes 1
// CHECK-NOT: cuda.launch
// CHECK-NOT: cuda.sort
// CHECK: func.func private @sort_0
// CHECK-SAME: cuda.block = #cuda.block<threads = 64, shared = 1024>
// CHECK: arith.constant -1 : i64
// CHECK: nvvm.barrier
// CHECK: arith.cmpi ugt
// CHECK: nvvm.barrier
// CHECK: memref.store %{{.*}}, %arg1
func.func @few(%i: memref<100xi64>, %s: memref<100xi64>) {
  cuda.sort outs(%i, %s : memref<100xi64>, memref<100xi64>)
  return
}

// -----

// Three blocks sort pieces, which two kernels merge. The last one writes to the
// items.
// CHECK-LABEL: func.func @pieces
// CHECK: cuda.launch @ingot_cuda_kernels::@sort_0(%arg0, %arg0)
// CHECK: cuda.launch @ingot_cuda_kernels::@merge_1(%arg0, %arg1)
// CHECK: cuda.launch @ingot_cuda_kernels::@merge_2(%arg1, %arg0)
// CHECK: func.func private @merge_1
// CHECK-SAME: cuda.block = #cuda.block<threads = 256>
// CHECK: arith.andi %{{.*}}, %c-4096_i32
// CHECK: arith.andi %{{.*}}, %c-8192_i32
func.func @pieces(%i: memref<10000xi64>, %s: memref<10000xi64>) {
  cuda.sort outs(%i, %s : memref<10000xi64>, memref<10000xi64>)
  return
}

// -----

// With one merge, the blocks sort into the spare memory.
// CHECK-LABEL: func.func @two
// CHECK: cuda.launch @ingot_cuda_kernels::@sort_0(%arg0, %arg1)
// CHECK: cuda.launch @ingot_cuda_kernels::@merge_1(%arg1, %arg0)
// CHECK-NOT: cuda.launch
func.func @two(%i: memref<5000xi64>, %s: memref<5000xi64>) {
  cuda.sort outs(%i, %s : memref<5000xi64>, memref<5000xi64>)
  return
}

// -----

// A run leaves out pairs of merges that are not needed.
// CHECK-LABEL: func.func @open
// CHECK: ingot.require %{{.*}}, "kernels of GPUs take tensors of up to {1} elements, but one has {0}"
// CHECK: cuda.launch @ingot_cuda_kernels::@sort_0(%arg0, %arg0)
// CHECK: %[[IS_MORE:.*]] = arith.cmpi ugt, %{{.*}}, %c4096
// CHECK: %[[BLOCKS:.*]] = arith.select %[[IS_MORE]]
// CHECK: cuda.launch @ingot_cuda_kernels::@merge_1(%arg0, %arg1) blocks(%[[BLOCKS]])
// CHECK: cuda.launch @ingot_cuda_kernels::@merge_2(%arg1, %arg0) blocks(%[[BLOCKS]])
// CHECK: arith.cmpi ugt, %{{.*}}, %c16384
// CHECK: @merge_18(%arg1, %arg0)
// CHECK-NOT: cuda.launch
func.func @open(%i: memref<?xi64>, %s: memref<?xi64>) {
  cuda.sort outs(%i, %s : memref<?xi64>, memref<?xi64>)
  return
}

// -----

// CHECK-LABEL: func.func @tensors
// CHECK: cuda.sort
// CHECK-NOT: cuda.launch
func.func @tensors(%i: tensor<9xi64>, %s: tensor<9xi64>) -> tensor<9xi64> {
  %0, %1 = cuda.sort outs(%i, %s : tensor<9xi64>, tensor<9xi64>) -> tensor<9xi64>, tensor<9xi64>
  return %0 : tensor<9xi64>
}
