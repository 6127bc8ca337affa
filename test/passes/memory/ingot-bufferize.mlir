// RUN: ingot-opt --ingot-bufferize %s | FileCheck %s

// Copies are loops, not memref.copy.

// CHECK-LABEL: @copies
// CHECK-NOT: memref.copy
// CHECK: linalg.generic
func.func @copies(%x: tensor<4x4xf32> {bufferization.writable = false}, %s: f32) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %c0 = arith.constant 0 : index
  %y = tensor.insert %s into %x[%c0, %c0] : tensor<4x4xf32>
  return %x, %y : tensor<4x4xf32>, tensor<4x4xf32>
}

// Whole vectors are loaded and stored in place.

// CHECK-LABEL: @vectors
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[I:.*]]: index
// CHECK-NOT: memref.alloc
// CHECK: %[[V:.*]] = vector.load %[[X]][%[[I]]] : memref<?xf32>, vector<8xf32>
// CHECK: vector.store %{{.*}}, %[[X]][%[[I]]] : memref<?xf32>, vector<8xf32>
func.func @vectors(%x: tensor<?xf32> {bufferization.writable = true}, %i: index) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%i], %zero {in_bounds = [true]} : tensor<?xf32>, vector<8xf32>
  %w = arith.addf %v, %v : vector<8xf32>
  %y = vector.transfer_write %w, %x[%i] {in_bounds = [true]} : vector<8xf32>, tensor<?xf32>
  return %y : tensor<?xf32>
}

// A group with two unknown sizes is written as a view of contiguous memory.

// CHECK-LABEL: @expand_unknown
// CHECK-NOT: memref.expand_shape
// CHECK: memref.reinterpret_cast
func.func @expand_unknown(%x: tensor<?x3xf32>, %n: index, %m: index) -> tensor<?x?x3xf32> {
  %y = tensor.expand_shape %x [[0, 1], [2]] output_shape [%n, %m, 3] : tensor<?x3xf32> into tensor<?x?x3xf32>
  return %y : tensor<?x?x3xf32>
}

// A static size may be an operand, too.

// CHECK-LABEL: @expand_known
// CHECK: memref.expand_shape {{.*}} output_shape [%{{.*}}, 1, 1]
func.func @expand_known(%x: tensor<?x1xf32>, %n: index) -> tensor<?x1x1xf32> {
  %c1 = arith.constant 1 : index
  %y = "tensor.expand_shape"(%x, %n, %c1) <{reassociation = [[0], [1, 2]], static_output_shape = array<i64: -9223372036854775808, -9223372036854775808, 1>}>
      : (tensor<?x1xf32>, index, index) -> tensor<?x1x1xf32>
  return %y : tensor<?x1x1xf32>
}

// A view with gaps is copied if contiguous memory is needed, whatever its strides.

// CHECK-LABEL: @middle_of_unknown
// CHECK-NOT: memref.cast
// CHECK: %[[COPY:.*]] = memref.alloc
// CHECK: linalg.generic {{.*}} outs(%[[COPY]]
// CHECK: return %[[COPY]]
func.func @middle_of_unknown(%x: tensor<?x8x?xf32>) -> tensor<?x4x?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?x8x?xf32>
  %m = tensor.dim %x, %c2 : tensor<?x8x?xf32>
  %y = tensor.extract_slice %x[0, 0, 0] [%n, 4, %m] [1, 1, 1] : tensor<?x8x?xf32> to tensor<?x4x?xf32>
  return %y : tensor<?x4x?xf32>
}

// The first rows are contiguous.

// CHECK-LABEL: @rows_of_unknown
// CHECK-NOT: memref.alloc
// CHECK: memref.cast
func.func @rows_of_unknown(%x: tensor<?x?xf32>, %n: index) -> tensor<?x?xf32> {
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %y = tensor.extract_slice %x[0, 0] [%n, %m] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
