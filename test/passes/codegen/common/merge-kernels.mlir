// Kernels that are one but for numbers become calls of one function, which is
// told these.
// RUN: ingot-opt %s --split-input-file --merge-kernels=fewest-ops=7 | FileCheck %s
// RUN: ingot-opt %s --split-input-file --merge-kernels | FileCheck %s --check-prefix=SHORT

// Strides and counts, of memory that is seen as flat; a number that is a few
// more than one that is told, and what is the same everywhere.
// CHECK-LABEL: func.func private @rows.common(
// CHECK-SAME:    %{{[^:]*}}: index, %[[X:[^:]*]]: memref<?xf32>, %[[SIZE:[^:]*]]: index, %[[STRIDE:[^:]*]]: index)
// CHECK:         %[[C4:.*]] = arith.constant 4
// CHECK:         %[[MORE:.*]] = arith.addi %[[STRIDE]], %[[C4]] overflow<nsw>
// CHECK:         %[[TASK:.*]] = arith.constant 16
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %[[SIZE]]
// CHECK:           %[[ROW:.*]] = arith.muli %[[I]], %[[STRIDE]]
// CHECK:           %[[NEXT:.*]] = arith.addi %[[ROW]], %[[MORE]]
// CHECK:           vector.load %[[X]][%[[NEXT]]]
// CHECK-LABEL: func.func private @rows(
// CHECK-SAME:    %[[A:[^:]*]]: memref<?x96xf32>, %{{.*}}: index)
// CHECK-DAG:     %[[FLAT:.*]] = memref.reinterpret_cast %[[A]]
// CHECK-DAG:     %[[DIM:.*]] = memref.dim %[[A]]
// CHECK:         %[[N:.*]] = arith.constant 96
// CHECK:         call @rows.common(%{{.*}}, %[[FLAT]], %[[DIM]], %[[N]])
// CHECK-NEXT:    return
// CHECK-LABEL: func.func private @others(
// CHECK:         %[[N:.*]] = arith.constant 160
// CHECK:         call @rows.common({{.*}}, %[[N]])

// Short functions are not worth a call.
// SHORT-NOT: common
func.func private @rows(%a: memref<?x96xf32>, %task: index) attributes {ingot.kernel} {
  %all = arith.constant 2147483647 : index
  %flat = memref.reinterpret_cast %a to offset: [0], sizes: [%all], strides: [1] : memref<?x96xf32> to memref<?xf32>
  %c0 = arith.constant 0 : index
  %size = memref.dim %a, %c0 : memref<?x96xf32>
  %zero = arith.constant 0 : index
  %one = arith.constant 16 : index
  scf.for %i = %zero to %size step %one {
    %stride = arith.constant 96 : index
    %row = arith.muli %i, %stride : index
    %more = arith.constant 100 : index
    %next = arith.addi %row, %more : index
    %v = vector.load %flat[%next] : memref<?xf32>, vector<8xf32>
    %w = arith.addf %v, %v : vector<8xf32>
    vector.store %w, %flat[%row] : memref<?xf32>, vector<8xf32>
  }
  return
}
func.func private @others(%a: memref<?x160xf32>, %task: index) attributes {ingot.kernel} {
  %all = arith.constant 2147483647 : index
  %flat = memref.reinterpret_cast %a to offset: [0], sizes: [%all], strides: [1] : memref<?x160xf32> to memref<?xf32>
  %c0 = arith.constant 0 : index
  %size = memref.dim %a, %c0 : memref<?x160xf32>
  %zero = arith.constant 0 : index
  %one = arith.constant 16 : index
  scf.for %i = %zero to %size step %one {
    %stride = arith.constant 160 : index
    %row = arith.muli %i, %stride : index
    %more = arith.constant 164 : index
    %next = arith.addi %row, %more : index
    %v = vector.load %flat[%next] : memref<?xf32>, vector<8xf32>
    %w = arith.addf %v, %v : vector<8xf32>
    vector.store %w, %flat[%row] : memref<?xf32>, vector<8xf32>
  }
  return
}

// -----

// Beside vectors of 512 bits there is time to compute multiples; other
// functions are not told so many numbers in a round, and stay. What is reserved
// on the stack is reserved by each, for it may be larger or smaller.
// CHECK-LABEL: func.func private @wide.common(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?xf32>, %[[SCRATCH:[^:]*]]: memref<?xf32>, %[[FACTOR:[^:]*]]: index)
// CHECK:         arith.muli %[[FACTOR]], %{{.*}} overflow<nsw>
// CHECK:         vector.store %{{.*}}, %[[SCRATCH]]
// CHECK-LABEL: func.func private @wide(
// CHECK:         %[[SCRATCH:.*]] = memref.alloca() {{.*}} : memref<64xf32>
// CHECK:         memref.cast %[[SCRATCH]] : memref<64xf32> to memref<?xf32>
// CHECK:         %[[N:.*]] = arith.constant -3
// CHECK:         call @wide.common(%{{.*}}, %{{.*}}, %[[N]])
// CHECK-LABEL: func.func private @wider(
// CHECK:         memref.alloca() {{.*}} : memref<128xf32>
// CHECK:         %[[N:.*]] = arith.constant -5
// CHECK:         call @wide.common(%{{.*}}, %{{.*}}, %[[N]])
func.func private @wide(%x: memref<?xf32>) {
  %scratch = memref.alloca() {alignment = 64 : i64} : memref<64xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    %v = vector.load %x[%i] : memref<?xf32>, vector<16xf32>
    vector.store %v, %scratch[%i] : memref<64xf32>, vector<16xf32>
    %n0 = arith.constant 300 : index
    %0 = arith.muli %i, %n0 : index
    %n1 = arith.constant 600 : index
    %1 = arith.addi %0, %n1 : index
    %n2 = arith.constant 900 : index
    %2 = arith.addi %1, %n2 : index
    %n3 = arith.constant 1200 : index
    %3 = arith.addi %2, %n3 : index
    %n4 = arith.constant 1500 : index
    %4 = arith.addi %3, %n4 : index
    %n5 = arith.constant 1800 : index
    %5 = arith.addi %4, %n5 : index
    %n6 = arith.constant -2100 : index
    %6 = arith.addi %5, %n6 : index
    vector.store %v, %x[%6] : memref<?xf32>, vector<16xf32>
  }
  return
}
func.func private @wider(%x: memref<?xf32>) {
  %scratch = memref.alloca() {alignment = 64 : i64} : memref<128xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    %v = vector.load %x[%i] : memref<?xf32>, vector<16xf32>
    vector.store %v, %scratch[%i] : memref<128xf32>, vector<16xf32>
    %n0 = arith.constant 500 : index
    %0 = arith.muli %i, %n0 : index
    %n1 = arith.constant 1000 : index
    %1 = arith.addi %0, %n1 : index
    %n2 = arith.constant 1500 : index
    %2 = arith.addi %1, %n2 : index
    %n3 = arith.constant 2000 : index
    %3 = arith.addi %2, %n3 : index
    %n4 = arith.constant 2500 : index
    %4 = arith.addi %3, %n4 : index
    %n5 = arith.constant 3000 : index
    %5 = arith.addi %4, %n5 : index
    %n6 = arith.constant -3500 : index
    %6 = arith.addi %5, %n6 : index
    vector.store %v, %x[%6] : memref<?xf32>, vector<16xf32>
  }
  return
}

// -----

// CHECK-NOT: common
func.func private @narrow(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    %n0 = arith.constant 300 : index
    %0 = arith.muli %i, %n0 : index
    %n1 = arith.constant 600 : index
    %1 = arith.addi %0, %n1 : index
    %n2 = arith.constant 900 : index
    %2 = arith.addi %1, %n2 : index
    %n3 = arith.constant 1200 : index
    %3 = arith.addi %2, %n3 : index
    %n4 = arith.constant 1500 : index
    %4 = arith.addi %3, %n4 : index
    %n5 = arith.constant 1800 : index
    %5 = arith.addi %4, %n5 : index
    %n6 = arith.constant 2100 : index
    %6 = arith.addi %5, %n6 : index
    %v = memref.load %x[%6] : memref<?xf32>
    memref.store %v, %x[%i] : memref<?xf32>
  }
  return
}
func.func private @narrower(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    %n0 = arith.constant 500 : index
    %0 = arith.muli %i, %n0 : index
    %n1 = arith.constant 1000 : index
    %1 = arith.addi %0, %n1 : index
    %n2 = arith.constant 1500 : index
    %2 = arith.addi %1, %n2 : index
    %n3 = arith.constant 2000 : index
    %3 = arith.addi %2, %n3 : index
    %n4 = arith.constant 2500 : index
    %4 = arith.addi %3, %n4 : index
    %n5 = arith.constant 3000 : index
    %5 = arith.addi %4, %n5 : index
    %n6 = arith.constant 3500 : index
    %6 = arith.addi %5, %n6 : index
    %v = memref.load %x[%6] : memref<?xf32>
    memref.store %v, %x[%i] : memref<?xf32>
  }
  return
}

// -----

// A division by a constant is a product, and what is computed must be the same.
// CHECK-NOT: common
func.func private @thirds(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    %n = arith.constant 3 : index
    %0 = arith.divui %i, %n : index
    %v = memref.load %x[%0] : memref<?xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %x[%i] : memref<?xf32>
  }
  return
}
func.func private @fifths(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    %n = arith.constant 5 : index
    %0 = arith.divui %i, %n : index
    %v = memref.load %x[%0] : memref<?xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %x[%i] : memref<?xf32>
  }
  return
}
func.func private @products(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    %n = arith.constant 3 : index
    %0 = arith.divui %i, %n : index
    %v = memref.load %x[%0] : memref<?xf32>
    %w = arith.mulf %v, %v : f32
    memref.store %w, %x[%i] : memref<?xf32>
  }
  return
}

// -----

// Once a task a division may take as long as it does. What others may call
// stays as it is.
// CHECK-LABEL: func.func private @first.common(
// CHECK-SAME:    %[[X:.*]]: memref<?xf32>, %[[TASK:.*]]: index, %[[N:.*]]: index)
// CHECK:         arith.divui %[[TASK]], %[[N]]
// CHECK-LABEL: func.func private @first(
// CHECK-LABEL: func.func private @second(
// CHECK:         %[[N:.*]] = arith.constant 500
// CHECK:         call @first.common(%{{.*}}, %{{.*}}, %[[N]])
// CHECK-LABEL: func.func @third(
// CHECK:         arith.divui
func.func private @first(%x: memref<?xf32>, %task: index) {
  %n = arith.constant 300 : index
  %0 = arith.divui %task, %n : index
  %v = memref.load %x[%0] : memref<?xf32>
  %w = arith.addf %v, %v : f32
  %u = arith.addf %w, %v : f32
  %t = arith.addf %u, %v : f32
  memref.store %t, %x[%task] : memref<?xf32>
  return
}
func.func private @second(%x: memref<?xf32>, %task: index) {
  %n = arith.constant 500 : index
  %0 = arith.divui %task, %n : index
  %v = memref.load %x[%0] : memref<?xf32>
  %w = arith.addf %v, %v : f32
  %u = arith.addf %w, %v : f32
  %t = arith.addf %u, %v : f32
  memref.store %t, %x[%task] : memref<?xf32>
  return
}
func.func @third(%x: memref<?xf32>, %task: index) {
  %n = arith.constant 700 : index
  %0 = arith.divui %task, %n : index
  %v = memref.load %x[%0] : memref<?xf32>
  %w = arith.addf %v, %v : f32
  %u = arith.addf %w, %v : f32
  %t = arith.addf %u, %v : f32
  memref.store %t, %x[%task] : memref<?xf32>
  return
}

// -----

// Where memory is said to be distinct, two views of it would not be.
// CHECK-NOT: common
func.func private @views(%x: memref<?x8xf32>) attributes {passthrough = ["ingot-distinct-buffers"]} {
  %all = arith.constant 2147483647 : index
  %a = memref.reinterpret_cast %x to offset: [0], sizes: [%all], strides: [1] : memref<?x8xf32> to memref<?xf32>
  %b = memref.reinterpret_cast %x to offset: [1], sizes: [%all], strides: [1] : memref<?x8xf32> to memref<?xf32, strided<[1], offset: 1>>
  %n = arith.constant 300 : index
  %v = memref.load %a[%n] : memref<?xf32>
  %w = arith.addf %v, %v : f32
  %u = arith.addf %w, %v : f32
  memref.store %u, %b[%n] : memref<?xf32, strided<[1], offset: 1>>
  return
}
func.func private @viewed(%x: memref<?x8xf32>) attributes {passthrough = ["ingot-distinct-buffers"]} {
  %all = arith.constant 2147483647 : index
  %a = memref.reinterpret_cast %x to offset: [0], sizes: [%all], strides: [1] : memref<?x8xf32> to memref<?xf32>
  %b = memref.reinterpret_cast %x to offset: [1], sizes: [%all], strides: [1] : memref<?x8xf32> to memref<?xf32, strided<[1], offset: 1>>
  %n = arith.constant 500 : index
  %v = memref.load %a[%n] : memref<?xf32>
  %w = arith.addf %v, %v : f32
  %u = arith.addf %w, %v : f32
  memref.store %u, %b[%n] : memref<?xf32, strided<[1], offset: 1>>
  return
}
