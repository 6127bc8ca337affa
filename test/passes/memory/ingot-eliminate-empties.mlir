// RUN: ingot-opt --ingot-eliminate-empties --split-input-file --verify-diagnostics %s | FileCheck %s

// Ops write directly into the concatenation of their results, which lies in the
// output.

// CHECK-LABEL: @concat
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<16xf32>
// CHECK-NOT: tensor.empty
// CHECK: %[[ALL:.*]] = bufferization.to_tensor %[[OUT]]
// CHECK: %[[FIRST:.*]] = tensor.extract_slice %[[ALL]][0] [8]
// CHECK: linalg.exp {{.*}} outs(%[[FIRST]]
// CHECK: tensor.extract_slice %{{.*}}[8] [8]
// CHECK: linalg.exp
func.func @concat(%x: tensor<8xf32>, %out: memref<16xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %all = tensor.empty() : tensor<16xf32>
  %a = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %0 = tensor.insert_slice %a into %all[0] [8] [1] : tensor<8xf32> into tensor<16xf32>
  %b = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %1 = tensor.insert_slice %b into %0[8] [8] [1] : tensor<8xf32> into tensor<16xf32>
  bufferization.materialize_in_destination %1 in restrict writable %out : (tensor<16xf32>, memref<16xf32>) -> ()
  return
}

// -----

// A reshaped destination becomes one of the other shape.

// CHECK-LABEL: @matrices
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<6x4xf32>, %[[OUT:[a-z0-9]+]]: memref<6x8xf32>
// CHECK-NOT: tensor.empty
// CHECK-NOT: tensor.collapse_shape
// CHECK: %[[ALL:.*]] = bufferization.to_tensor %[[OUT]]
// CHECK: %[[FIRST:.*]] = tensor.extract_slice %[[ALL]][0, 0] [6, 4]
// CHECK: linalg.exp {{.*}} outs(%[[FIRST]]
// CHECK: tensor.extract_slice %{{.*}}[0, 4] [6, 4]
// CHECK: linalg.exp
func.func @matrices(%x: tensor<6x4xf32>, %out: memref<6x8xf32>) {
  %e = tensor.empty() : tensor<2x3x4xf32>
  %flat = tensor.collapse_shape %e [[0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>
  %all = tensor.empty() : tensor<6x8xf32>
  %a = linalg.exp ins(%x : tensor<6x4xf32>) outs(%flat : tensor<6x4xf32>) -> tensor<6x4xf32>
  %0 = tensor.insert_slice %a into %all[0, 0] [6, 4] [1, 1] : tensor<6x4xf32> into tensor<6x8xf32>
  %b = linalg.exp ins(%x : tensor<6x4xf32>) outs(%flat : tensor<6x4xf32>) -> tensor<6x4xf32>
  %1 = tensor.insert_slice %b into %0[0, 4] [6, 4] [1, 1] : tensor<6x4xf32> into tensor<6x8xf32>
  bufferization.materialize_in_destination %1 in restrict writable %out : (tensor<6x8xf32>, memref<6x8xf32>) -> ()
  return
}

// -----

// Each op has its own destination, right in front of it.

// CHECK-LABEL: @separate
// CHECK: tensor.empty
// CHECK-NEXT: linalg.exp
// CHECK-NEXT: tensor.empty
// CHECK-NEXT: linalg.exp
func.func @separate(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  %a = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %b = linalg.exp ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %b : tensor<?xf32>
}

// -----

// Must not fire: an operand that an op copies before it writes. It may be
// needed after the op's result is written.

// CHECK-LABEL: @copied
// CHECK: %[[OWN:.*]] = tensor.empty() : tensor<4xf32>
// CHECK: linalg.exp {{.*}} outs(%[[OWN]]
func.func @copied(%x: tensor<4xf32>, %i: index, %v: f32, %first: memref<4xf32>, %second: memref<2x2xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %0 = tensor.insert %v into %a[%i] : tensor<4xf32>
  %b = tensor.expand_shape %a [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  %1 = tensor.insert %v into %b[%i, %i] : tensor<2x2xf32>
  bufferization.materialize_in_destination %0 in restrict writable %first : (tensor<4xf32>, memref<4xf32>) -> ()
  bufferization.materialize_in_destination %1 in restrict writable %second : (tensor<2x2xf32>, memref<2x2xf32>) -> ()
  return
}

// -----

// Must not fire: a reshape in between.

// CHECK-LABEL: @reshaped
// CHECK: %[[OWN:.*]] = tensor.empty() : tensor<2x4xf32>
// CHECK: linalg.exp {{.*}} outs(%[[OWN]]
func.func @reshaped(%x: tensor<2x4xf32>, %all: tensor<16xf32>) -> tensor<16xf32> {
  %e = tensor.empty() : tensor<2x4xf32>
  %a = linalg.exp ins(%x : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %b = tensor.collapse_shape %a [[0, 1]] : tensor<2x4xf32> into tensor<8xf32>
  %0 = tensor.insert_slice %b into %all[0] [8] [1] : tensor<8xf32> into tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// Lists that a loop starts with are different, even if they are empty in the
// same way or cast.

// CHECK-LABEL: @lists
// CHECK-DAG: %[[A:.*]] = tensor.empty() : tensor<8xf32>
// CHECK-DAG: %[[B:.*]] = tensor.empty() : tensor<8xf32>
// CHECK-DAG: %[[C:.*]] = tensor.cast %[[A]]
// CHECK-DAG: %[[D:.*]] = tensor.cast %[[B]]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[C]], %{{.*}} = %[[D]])
func.func @lists(%n: index, %x: f32, %y: f32) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<8xf32>
  %l = tensor.cast %e : tensor<8xf32> to tensor<?xf32>
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %l, %b = %l) -> (tensor<?xf32>, tensor<?xf32>) {
    %1 = tensor.insert %x into %a[%i] : tensor<?xf32>
    %2 = tensor.insert %y into %b[%i] : tensor<?xf32>
    scf.yield %1, %2 : tensor<?xf32>, tensor<?xf32>
  }
  return %0#0, %0#1 : tensor<?xf32>, tensor<?xf32>
}

// -----

func.func @unknown(%m: memref<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expects 'restrict': what it reads may be anything else}}
  %t = bufferization.to_tensor %m : memref<4xf32> to tensor<4xf32>
  return %t : tensor<4xf32>
}
