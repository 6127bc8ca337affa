// RUN: ingot-opt --ingot-place-state --split-input-file %s | FileCheck %s

// Branches of static size write to one buffer.

// CHECK-LABEL: @branches
// CHECK: %[[E:.*]] = bufferization.alloc_tensor() : tensor<4xf32>
// CHECK: scf.if
// CHECK: %[[A:.*]] = bufferization.materialize_in_destination %{{.*}} in %[[E]]
// CHECK: scf.yield %[[A]]
// CHECK: %[[B:.*]] = bufferization.materialize_in_destination %arg2 in %[[E]]
// CHECK: scf.yield %[[B]]
func.func @branches(%c: i1, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = scf.if %c -> tensor<4xf32> {
    %e = tensor.empty() : tensor<4xf32>
    %1 = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %y : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// States that are exchanged: a state that would be overwritten is copied first.

// CHECK-LABEL: @swap
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %arg0, %[[B:.*]] = %arg1)
// CHECK: %[[B1:.*]] = bufferization.alloc_tensor() copy(%[[B]])
// CHECK: %[[A1:.*]] = bufferization.alloc_tensor() copy(%[[A]])
// CHECK: %[[A2:.*]] = bufferization.materialize_in_destination %[[B1]] in %[[A]]
// CHECK: %[[B2:.*]] = bufferization.materialize_in_destination %[[A1]] in %[[B]]
// CHECK: scf.yield %[[A2]], %[[B2]]
func.func @swap(%x: tensor<4xf32>, %y: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (tensor<4xf32>, tensor<4xf32>) {
    ingot.poll
    scf.yield %b, %a : tensor<4xf32>, tensor<4xf32>
  }
  return %0#0 : tensor<4xf32>
}

// -----

// States of dynamic size have a buffer per step. Insertions in place stay.

// CHECK-LABEL: @open
// CHECK: %[[X:.*]] = bufferization.alloc_tensor() copy(%arg0)
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %[[X]], %[[R:.*]] = %arg1)
// CHECK: %[[Y:.*]] = linalg.exp
// CHECK: %[[P:.*]] = tensor.insert_slice
// CHECK-NOT: materialize_in_destination
// CHECK: %[[C:.*]] = bufferization.alloc_tensor() copy(%[[Y]])
// CHECK: scf.yield %[[C]], %[[P]]
func.func @open(%x: tensor<?xf32>, %rows: tensor<9xf32>, %one: tensor<1xf32>, %n: index) -> (tensor<?xf32>, tensor<9xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %r = %rows) -> (tensor<?xf32>, tensor<9xf32>) {
    ingot.poll
    %d = tensor.dim %a, %c0 : tensor<?xf32>
    %e = tensor.empty(%d) : tensor<?xf32>
    %y = linalg.exp ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    %p = tensor.insert_slice %one into %r[%i] [1] [1] : tensor<1xf32> into tensor<9xf32>
    scf.yield %y, %p : tensor<?xf32>, tensor<9xf32>
  }
  return %0#0, %0#1 : tensor<?xf32>, tensor<9xf32>
}

// -----

// Both regions of a loop take equal values in equal order.

// CHECK-LABEL: @aligned
// CHECK: scf.while (%[[A:.*]] = %arg0, %[[I:.*]] = %{{.*}})
// CHECK: scf.condition(%{{.*}}) %[[A]], %[[I]] : tensor<4xf32>, index
// CHECK: ^bb0(%[[B:.*]]: tensor<4xf32>, %{{.*}}: index):
// CHECK: materialize_in_destination %{{.*}} in %[[B]]
func.func @aligned(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.while (%a = %x, %i = %c0) : (tensor<4xf32>, index) -> tensor<4xf32> {
    %c = arith.cmpi slt, %i, %n : index
    scf.condition(%c) %a : tensor<4xf32>
  } do {
  ^bb0(%a: tensor<4xf32>):
    %e = tensor.empty() : tensor<4xf32>
    %y = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %y, %n : tensor<4xf32>, index
  }
  return %0 : tensor<4xf32>
}

// -----

// A choice between two tensors becomes a branch.

// CHECK-LABEL: @choice
// CHECK: %[[E:.*]] = bufferization.alloc_tensor() : tensor<4xf32>
// CHECK: scf.if
// CHECK: bufferization.materialize_in_destination %arg1 in %[[E]]
// CHECK: bufferization.materialize_in_destination %arg2 in %[[E]]
func.func @choice(%c: i1, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.select %c, %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Elements of a state of dynamic size are read before it is written, so it is
// written in place. A later read needs another tensor.

// CHECK-LABEL: @read_before
// CHECK: scf.for {{.*}} iter_args(%[[A:[a-z0-9]+]] = %arg0, %[[B:[a-z0-9]+]] = %{{.*}})
// CHECK-NOT: alloc_tensor
// CHECK: %[[NEXT:.*]] = tensor.insert %{{.*}} into %[[A]]
// CHECK: %[[OTHER:.*]] = tensor.insert %{{.*}} into %[[B]]
// CHECK: %[[KEPT:.*]] = bufferization.alloc_tensor({{.*}}) copy(%[[OTHER]])
// CHECK: scf.yield %[[NEXT]], %[[KEPT]]
func.func @read_before(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: index) -> (tensor<?xf32>, tensor<?xf32>, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %0:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y, %last = %zero) -> (tensor<?xf32>, tensor<?xf32>, f32) {
    ingot.poll
    %sum = scf.for %j = %c0 to %i step %c1 iter_args(%s = %zero) -> (f32) {
      %part = tensor.extract_slice %a[%j] [4] [1] : tensor<?xf32> to tensor<4xf32>
      %p = tensor.extract %part[%c1] : tensor<4xf32>
      %q = tensor.extract %a[%j] : tensor<?xf32>
      %pq = arith.addf %p, %q : f32
      %t = arith.addf %s, %pq : f32
      scf.yield %t : f32
    }
    %next = tensor.insert %sum into %a[%i] : tensor<?xf32>
    %other = tensor.insert %sum into %b[%i] : tensor<?xf32>
    %r = tensor.extract %b[%c0] : tensor<?xf32>
    scf.yield %next, %other, %r : tensor<?xf32>, tensor<?xf32>, f32
  }
  return %0#0, %0#1, %0#2 : tensor<?xf32>, tensor<?xf32>, f32
}
