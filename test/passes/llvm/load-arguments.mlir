// RUN: ingot-opt --load-arguments=most-buffers=2 --split-input-file --verify-diagnostics %s | FileCheck %s
// RUN: ingot-opt --load-arguments --split-input-file --verify-diagnostics %s | FileCheck %s --check-prefix=FEW
// RUN: ingot-opt --load-arguments=most-buffers=2 --cut-functions=most-ops=1 --split-input-file --verify-diagnostics %s | FileCheck %s --check-prefix=CUT

// Inputs and outputs have the host's numbers: output 0, whose shape is dynamic,
// is no argument.

// CHECK-LABEL: func.func @forward
// CHECK-SAME: (%[[WEIGHTS:.*]]: memref<?xi8> {ingot.operand = #ingot.operand<weights>}, %{{.*}}: memref<?xi8> {ingot.operand = #ingot.operand<arena>}, %[[CALL:.*]]: !llvm.ptr {ingot.operand = #ingot.operand<call>})
// CHECK-SAME: passthrough = ["ingot-loads-buffers"]
// CHECK-DAG: %[[X:.*]] = ingot.buffer input 0 of %[[CALL]] : !llvm.ptr -> memref<?x4xf32>
// CHECK-DAG: %[[Y:.*]] = ingot.buffer output 1 of %[[CALL]] : !llvm.ptr -> memref<4xf32>
// CHECK-NOT: input 1
// CHECK: memref.dim %[[X]]
// CHECK: memref.store %{{.*}}, %[[Y]]

// FEW: func.func @forward(%{{.*}}: memref<?x4xf32>, %{{.*}}: memref<4xf32>, %{{.*}}: memref<4xf32>,
// FEW-NOT: ingot.buffer

// A piece loads its arguments from the call.

// CUT-LABEL: func.func private @forward_piece_1
// CUT-SAME: (%[[CALL:.*]]: !llvm.ptr)
// CUT: ingot.buffer output 1 of %[[CALL]]
// CUT-NOT: ingot.buffer input
module attributes {
    ingot.inputs = [#ingot.tensor<"x" : tensor<?x4xf32>>, #ingot.tensor<"unused" : tensor<4xf32>>],
    ingot.outputs = [#ingot.tensor<"a" : tensor<?xf32>>, #ingot.tensor<"y" : tensor<4xf32>>]} {
  func.func private @take(index)
  func.func @forward(%x: memref<?x4xf32>, %unused: memref<4xf32>, %y: memref<4xf32>,
                     %weights: memref<?xi8> {ingot.operand = #ingot.operand<weights>}, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>},
                     %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
    %c0 = arith.constant 0 : index
    %f = arith.constant 1.0 : f32
    %n = memref.dim %x, %c0 : memref<?x4xf32>
    call @take(%n) : (index) -> ()
    memref.store %f, %y[%c0] : memref<4xf32>
    return
  }
}

// -----

module attributes {
    ingot.inputs = [#ingot.tensor<"a" : tensor<f32>>, #ingot.tensor<"b" : tensor<f32>>],
    ingot.outputs = [#ingot.tensor<"c" : tensor<f32>>]} {
  // CUT: func.func @forward
  func.func @forward(%a: memref<f32>, %b: memref<f32>, %c: memref<f32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
    return
  }
}
