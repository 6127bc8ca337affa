// RUN: ingot-opt --cuda-pass-sizes %s | FileCheck %s

// Behind the addresses come the sizes of each memref, then its strides. The
// strides of a contiguous memref follow from its sizes.
// CHECK-LABEL: func.func @open
// CHECK-SAME: (%[[X:.*]]: memref<f32> {llvm.align = 16 : i64}, %[[Y:.*]]: memref<f32>, %[[N:.*]]: index, %[[M:.*]]: index, %[[K:.*]]: index, %[[STRIDE:.*]]: index)
// CHECK: %[[STEP:.*]] = arith.muli %c4{{.*}}, %[[M]]
// CHECK: memref.reinterpret_cast %[[X]] to offset: [0], sizes: [%[[N]], %[[M]], 4], strides: [%[[STEP]], 4, 1] : memref<f32> to memref<?x?x4xf32>
// CHECK: memref.reinterpret_cast %[[Y]] to offset: [0], sizes: [%[[K]], 2], strides: [%[[STRIDE]], 1] : memref<f32> to memref<?x2xf32, strided<[?, 1]>>
func.func @open(%x: memref<?x?x4xf32> {llvm.align = 16 : i64}, %y: memref<?x2xf32, strided<[?, 1]>>) attributes {cuda.block = #cuda.block<threads = 32>} {
  %c0 = arith.constant 0 : index
  %0 = memref.load %x[%c0, %c0, %c0] : memref<?x?x4xf32>
  memref.store %0, %y[%c0, %c0] : memref<?x2xf32, strided<[?, 1]>>
  return
}

// Known sizes need no parameters, nor do functions that kernels call.
// CHECK-LABEL: func.func @known
// CHECK-SAME: (%{{.*}}: memref<8xf32>, %{{.*}}: memref<2xf32, strided<[4]>>)
func.func @known(%x: memref<8xf32>, %y: memref<2xf32, strided<[4]>>) attributes {cuda.block = #cuda.block<threads = 32>} {
  return
}
// CHECK-LABEL: func.func @called
// CHECK-SAME: (%{{.*}}: memref<?xf32>)
func.func @called(%x: memref<?xf32>) {
  return
}
