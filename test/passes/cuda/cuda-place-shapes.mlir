// RUN: ingot-opt --cuda-place-shapes --split-input-file %s | FileCheck %s

// Host code writes the shape, and the reshape reads it.
// CHECK-LABEL: func.func @shape
// CHECK: %[[SHAPE:.*]] = memref.alloca() : memref<2xindex>
// CHECK-NOT: memref.view
// CHECK-COUNT-2: memref.store %{{.*}}, %[[SHAPE]]
// CHECK: memref.reshape %arg0(%[[SHAPE]])
func.func @shape(%x: memref<?x4xf32>, %n: index, %a: memref<?xi8> {ingot.operand = #ingot.operand<arena>}, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %shape = memref.view %a[%c0][] : memref<?xi8> to memref<2xindex>
  memref.store %n, %shape[%c0] : memref<2xindex>
  memref.store %n, %shape[%c1] : memref<2xindex>
  %y = memref.reshape %x(%shape) : (memref<?x4xf32>, memref<2xindex>) -> memref<?x?xf32>
  return
}

// -----

// A kernel may compute elements, and an op may read them in its body.
// CHECK-LABEL: func.func @kernels
// CHECK-NOT: memref.alloca
// CHECK: memref.view
// CHECK: memref.view
#id = affine_map<(d0) -> (d0)>
func.func @kernels(%x: memref<2xindex>, %a: memref<?xi8> {ingot.operand = #ingot.operand<arena>}, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %p = memref.view %a[%c0][] : memref<?xi8> to memref<2xindex>
  %q = memref.view %a[%c64][] : memref<?xi8> to memref<2xindex>
  memref.store %c0, %q[%c0] : memref<2xindex>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<2xindex>) outs(%p : memref<2xindex>) {
  ^bb0(%v: index, %w: index):
    %0 = memref.load %q[%v] : memref<2xindex>
    linalg.yield %0 : index
  }
  return
}
