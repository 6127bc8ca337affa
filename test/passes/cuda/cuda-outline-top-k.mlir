// RUN: ingot-opt --cuda-outline-top-k --split-input-file %s | FileCheck %s

// A block sorts the 128 items of a row with 64 threads. Items behind the last
// element are the largest ones. Two equal ops are one kernel.
// CHECK-LABEL: func.func @top_k
// CHECK: %[[BLOCKS:.*]] = arith.constant 7 : index
// CHECK: cuda.launch @ingot_cuda_kernels::@top_k_0(%arg0, %arg1, %arg2) blocks(%[[BLOCKS]]) writes 2
// CHECK: cuda.launch @ingot_cuda_kernels::@top_k_0(
// CHECK-NOT: cuda.top_k
// CHECK: func.func private @top_k_0
// CHECK-SAME: cuda.block = #cuda.block<threads = 64, shared = 1024>
// CHECK: scf.for
// CHECK: arith.cmpi ult, %{{.*}}, %c100_i32
// CHECK: memref.load %arg0
// CHECK: arith.constant -1 : i64
// CHECK: llvm.store {{.*}} {alignment = 8 : i64} : i64, !llvm.ptr<3>
// CHECK: nvvm.barrier
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for
// CHECK: arith.cmpi ugt
// CHECK: nvvm.barrier
// CHECK: memref.store %{{.*}}, %arg1
// CHECK: memref.store %{{.*}}, %arg2
// CHECK-NOT: @top_k_1
func.func @top_k(%x: memref<7x100xf32>, %v: memref<7x5xf32>, %i: memref<7x5xi64>) {
  cuda.top_k ins(%x : memref<7x100xf32>) outs(%v, %i : memref<7x5xf32>, memref<7x5xi64>)
  cuda.top_k ins(%x : memref<7x100xf32>) outs(%v, %i : memref<7x5xf32>, memref<7x5xi64>)
  return
}

// -----

// A long row is taken in pieces behind the best items so far. Open rows are
// counted by host code.
// CHECK-LABEL: func.func @long
// CHECK: ingot.require %{{.*}}, "kernels of GPUs take tensors of up to {1} elements, but one has {0}"
// CHECK: %[[BLOCKS:.*]] = memref.dim %arg0
// CHECK: blocks(%[[BLOCKS]]) writes 2
// CHECK: cuda.block = #cuda.block<threads = 1024, shared = 65536>
// CHECK: %c20000_i32 = arith.constant 20000 : i32
// CHECK: %c8092_i32 = arith.constant 8092 : i32
// CHECK: scf.for %{{.*}} = %{{.*}} to %c20000_i32 step %c8092_i32
func.func @long(%x: memref<?x20000xf32>, %v: memref<?x100xf32>, %i: memref<?x100xi64>) {
  cuda.top_k ins(%x : memref<?x20000xf32>) outs(%v, %i : memref<?x100xf32>, memref<?x100xi64>) {smallest}
  return
}

// -----

// A key of 64 bits is made again for each comparison. Rows of open length are
// taken in pieces, and a run has the number of results.
// CHECK-LABEL: func.func @keys
// CHECK: cuda.block = #cuda.block<threads = 1024, shared = 16384>
// CHECK: %[[LENGTH:.*]] = arith.index_castui %{{.*}} : index to i32
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[LENGTH]] step %c2041_i32
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-2: memref.load %arg0
// CHECK: arith.cmpi eq
// CHECK: memref.dim %arg1
// CHECK: memref.store %{{.*}}, %arg1
func.func @keys(%x: memref<3x?xi64>, %v: memref<3x?xi64>, %i: memref<3x?xi64>) {
  cuda.top_k ins(%x : memref<3x?xi64>) outs(%v, %i : memref<3x?xi64>, memref<3x?xi64>) {most = 7}
  return
}

// -----

// CHECK-LABEL: func.func @tensors
// CHECK: cuda.top_k
// CHECK-NOT: cuda.launch
func.func @tensors(%x: tensor<7x100xf32>, %v: tensor<7x5xf32>, %i: tensor<7x5xi64>) -> (tensor<7x5xf32>, tensor<7x5xi64>) {
  %0:2 = cuda.top_k ins(%x : tensor<7x100xf32>) outs(%v, %i : tensor<7x5xf32>, tensor<7x5xi64>) -> tensor<7x5xf32>, tensor<7x5xi64>
  return %0#0, %0#1 : tensor<7x5xf32>, tensor<7x5xi64>
}
