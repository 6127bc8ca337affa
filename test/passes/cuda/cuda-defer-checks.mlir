// RUN: ingot-opt --cuda-defer-checks --split-input-file %s | FileCheck %s

// A kernel of one thread checks the range of indices, which other kernels have
// computed. The host does not read it any more.
// CHECK: module attributes {cuda.checks = ["node 'lookup': an index is outside of [-8, 7]"]}
// CHECK-LABEL: func.func @indices
// CHECK-SAME: (%[[LOW:.*]]: memref<i64>, %[[HIGH:.*]]: memref<i64>
// CHECK-NOT: memref.load
// CHECK: %[[STATUS:.*]] = cuda.status : memref<3xi64>
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: cuda.launch @ingot_cuda_kernels::@check_0(%[[LOW]], %[[HIGH]], %[[STATUS]]) blocks(%[[ONE]]) writes 1
// CHECK-NOT: ingot.require
// CHECK: module @ingot_cuda_kernels
// CHECK: func.func private @check_0(%[[L:.*]]: memref<i64>, %[[H:.*]]: memref<i64>, %[[S:.*]]: memref<3xi64>)
// CHECK-SAME: cuda.block = #cuda.block<threads = 32>
// CHECK: %[[THREAD:.*]] = gpu.thread_id x
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[THREAD]]
// CHECK: scf.if %[[FIRST]] {
// CHECK: memref.load %[[L]][]
// CHECK: memref.load %[[H]][]
// CHECK: arith.andi
// CHECK: scf.if
// CHECK: memref.load %[[S]]
// CHECK: scf.if
// CHECK: memref.store %c1_i64{{.*}}, %[[S]]
func.func @indices(%low: memref<i64>, %high: memref<i64>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c-8 = arith.constant -8 : i64
  %c8 = arith.constant 8 : i64
  %least = memref.load %low[] : memref<i64>
  %most = memref.load %high[] : memref<i64>
  %0 = arith.cmpi sge, %least, %c-8 : i64
  %1 = arith.cmpi slt, %most, %c8 : i64
  %2 = arith.andi %0, %1 : i1
  ingot.require %2, "node 'lookup': an index is outside of [-8, 7]"
  return
}

// -----

// The kernel stores the values of the message, too. Two checks with equal
// messages have one number.
// CHECK: cuda.checks = ["one: {0}", "two"]
// CHECK-LABEL: func.func @values
// CHECK: cuda.launch @ingot_cuda_kernels::@check_0
// CHECK: cuda.launch @ingot_cuda_kernels::@check_1
// CHECK: cuda.launch @ingot_cuda_kernels::@check_0
// CHECK: func.func private @check_0
// CHECK: arith.index_cast %{{.*}} : index to i64
// CHECK: memref.store
func.func @values(%x: memref<4xi64>, %y: memref<4xi64>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %0 = memref.load %x[%c0] : memref<4xi64>
  %1 = arith.index_cast %0 : i64 to index
  %2 = arith.cmpi slt, %1, %c5 : index
  ingot.require %2, "one: {0}"(%1) : index
  %3 = memref.load %x[%c5] : memref<4xi64>
  %4 = arith.index_cast %3 : i64 to index
  %5 = arith.cmpi eq, %4, %c5 : index
  ingot.require %5, "two"
  %6 = memref.load %y[%c0] : memref<4xi64>
  %7 = arith.index_cast %6 : i64 to index
  %8 = arith.cmpi slt, %7, %c5 : index
  ingot.require %8, "one: {0}"(%7) : index
  return
}

// -----

// A kernel takes open sizes from its parameters. The host may need them, too. A
// check of a condition that an earlier check has is not needed, and other checks
// may share elements. The launch of a check may lie between loads.
// CHECK: cuda.checks = ["node 'a': is outside", "node 'c': is outside"]
// CHECK-LABEL: func.func @sizes
// CHECK-SAME: (%[[X:.*]]: memref<2xi64>, %[[Y:.*]]: memref<?x8xf32>
// CHECK-NOT: memref.load
// CHECK: cuda.launch @ingot_cuda_kernels::@check_0(%[[X]], %[[Y]], %{{.*}}) blocks(%{{.*}}) writes 1 : memref<2xi64>, memref<?x8xf32>, memref<3xi64>
// CHECK: cuda.launch @ingot_cuda_kernels::@check_1(%[[X]], %{{.*}}) blocks(%{{.*}}) writes 1 : memref<2xi64>, memref<3xi64>
// CHECK: memref.dim %[[Y]]
// CHECK-NOT: ingot.require
// CHECK: return
// CHECK: func.func private @check_0
// CHECK: memref.load
// CHECK: memref.dim
func.func @sizes(%x: memref<2xi64>, %y: memref<?x8xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : i64
  %0 = memref.load %x[%c0] : memref<2xi64>
  %1 = memref.load %x[%c1] : memref<2xi64>
  %rows = memref.dim %y, %c0 : memref<?x8xf32>
  %2 = arith.index_cast %rows : index to i64
  %3 = arith.cmpi slt, %0, %2 : i64
  ingot.require %3, "node 'a': is outside"
  ingot.require %3, "node 'b': is outside"
  %4 = arith.addi %0, %1 : i64
  %5 = arith.cmpi slt, %4, %c8 : i64
  ingot.require %5, "node 'c': is outside"
  return %rows : index
}

// -----

// Checks stay on the host if it needs the element for a size, if they use a
// number of the host, if the element is in host memory, or if the buffer may
// change between two loads.
// CHECK-NOT: cuda.checks
// CHECK-LABEL: func.func @host
// CHECK-NOT: cuda.launch
// CHECK-COUNT-4: ingot.require
func.func @host(%x: memref<4xindex>, %n: index, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = memref.load %x[%c0] : memref<4xindex>
  %0 = arith.cmpi slt, %c0, %size : index
  ingot.require %0, "is not positive"
  %y = memref.alloca(%size) : memref<?xindex>
  %1 = memref.load %x[%c1] : memref<4xindex>
  %2 = arith.cmpi slt, %1, %n : index
  ingot.require %2, "is too large"
  %3 = memref.load %y[%c0] : memref<?xindex>
  %4 = arith.cmpi slt, %3, %c1 : index
  ingot.require %4, "is of the host"
  %5 = memref.load %x[%c0] : memref<4xindex>
  memref.store %c1, %x[%c1] : memref<4xindex>
  %6 = memref.load %x[%c1] : memref<4xindex>
  %7 = arith.cmpi eq, %5, %6 : index
  ingot.require %7, "differ"
  return
}

// -----

// A function without the run's call has no status.
// CHECK-LABEL: func.func @infer
// CHECK: ingot.require
func.func @infer(%x: memref<i1>) {
  %0 = memref.load %x[] : memref<i1>
  ingot.require %0, "is false"
  return
}
