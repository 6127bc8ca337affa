// RUN: ingot-opt %s --ingot-canonicalize | FileCheck %s

// CHECK-LABEL: func.func @folds
// CHECK-SAME: (%[[X:.*]]: index)
func.func @folds(%x: index) -> index {
  // CHECK-NEXT: return %[[X]]
  %zero = arith.constant 0 : index
  %sum = arith.addi %x, %zero : index
  return %sum : index
}

// Ops with effects stay.
// CHECK-LABEL: func.func @keeps
func.func @keeps(%to: memref<4xf32>, %i: index) {
  // CHECK: %[[ONE:.*]] = arith.constant 1.0
  // CHECK: memref.store %[[ONE]]
  %one = arith.constant 1.0 : f32
  %dead = arith.addf %one, %one : f32
  memref.store %one, %to[%i] : memref<4xf32>
  return
}

// An unreachable block is dropped, in any function.
// CHECK-LABEL: func.func @reaches
// CHECK-NOT: memref.store
// CHECK: return
func.func @reaches(%to: memref<4xf32>, %i: index) {
  return
^dead:
  %one = arith.constant 1.0 : f32
  memref.store %one, %to[%i] : memref<4xf32>
  cf.br ^dead
}

// Casts of operands are folded into an op whose second region is empty.
// CHECK-LABEL: func.func @takes_casts
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x3xf32>, %[[W:.*]]: tensor<1x3x16xf32>, %[[H:.*]]: tensor<1x3xf32>
func.func @takes_casts(%x: tensor<?x?x3xf32>, %w: tensor<1x3x16xf32>,
                       %h: tensor<1x3xf32>, %room: tensor<?x16xf32>)
    -> (tensor<?x3xf32>, index) {
  // CHECK: %[[R:.*]]:2 = cpu.recurrent ins(%[[X]] : {{.*}}) weights(%[[W]] : {{.*}}) outs(%[[H]], %{{.*}} : tensor<1x3xf32>, tensor<?x16xf32>)
  // CHECK: -> tensor<1x3xf32>, tensor<?x16xf32>
  // CHECK: %[[CAST:.*]] = tensor.cast %[[R]]#0 : tensor<1x3xf32> to tensor<?x3xf32>
  // CHECK: return %[[CAST]]
  %cast = tensor.cast %h : tensor<1x3xf32> to tensor<?x3xf32>
  %r:2 = cpu.recurrent ins(%x : tensor<?x?x3xf32>)
      weights(%w : tensor<1x3x16xf32>)
      outs(%cast, %room : tensor<?x3xf32>, tensor<?x16xf32>)
      attributes {reverse = array<i1: false>, gates = array<i64: 1>,
                  num_states = 1 : i64} {
  ^bb0(%product: f32, %input: f32, %state: f32):
    %sum = arith.addf %product, %input : f32
    cpu.yield %sum, %sum : f32, f32
  } -> tensor<?x3xf32>, tensor<?x16xf32>
  %zero = arith.constant 0 : index
  %rows = tensor.dim %r#0, %zero : tensor<?x3xf32>
  return %r#0, %rows : tensor<?x3xf32>, index
}
