// Kernels that differ only in constants become calls of one function, which
// takes the constants as arguments.
// RUN: ingot-opt %s --split-input-file --merge-kernels=fewest-ops=7 | FileCheck %s
// RUN: ingot-opt %s --split-input-file --merge-kernels | FileCheck %s --check-prefix=SHORT

// Strides and counts, for memory that is seen as flat. A constant that is an
// argument plus a small number is computed. Constants that are equal everywhere
// stay.
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

// Must not fire: short functions are not worth a call.
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

// With vectors of 512 bits there is time to compute multiples. Other functions
// would need too many arguments in a loop, and stay. Each caller allocates
// stack memory, whose size may differ.
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

// Rows at multiples of one distance, whose scalars are multiplied by vectors of
// 512 bits, only need this distance. The number of iterations is the number of
// rows minus one.
// CHECK-LABEL: func.func private @tall.common(
// CHECK-SAME:    %{{[^:]*}}: memref<?xf32>, %{{[^:]*}}: memref<?xvector<16xf32>>, %[[N:[^:]*]]: index)
// CHECK-DAG:     %[[K:.*]] = arith.muli %[[N]], %c100{{.*}} overflow<nsw>
// CHECK-DAG:     %[[LESS:.*]] = arith.addi %{{.*}}, %c-1{{.*}} overflow<nsw>
// CHECK-LABEL: func.func private @tall(
// CHECK:         %[[THREE:.*]] = arith.constant 3
// CHECK:         call @tall.common(%{{.*}}, %{{.*}}, %[[THREE]])
// CHECK-LABEL: func.func private @taller(
// CHECK:         %[[FIVE:.*]] = arith.constant 5
// CHECK:         call @tall.common(%{{.*}}, %{{.*}}, %[[FIVE]])
func.func private @tall(%x: memref<?xf32>, %y: memref<?xvector<16xf32>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 299 : index
  scf.for %i = %c0 to %end step %c1 {
    %n1 = arith.constant 300 : index
    %1 = arith.addi %i, %n1 : index
    %v1 = memref.load %x[%1] : memref<?xf32>
    %w1 = vector.broadcast %v1 : f32 to vector<16xf32>
    memref.store %w1, %y[%i] : memref<?xvector<16xf32>>
    %n2 = arith.constant 600 : index
    %2 = arith.addi %i, %n2 : index
    %v2 = memref.load %x[%2] : memref<?xf32>
    %w2 = vector.broadcast %v2 : f32 to vector<16xf32>
    memref.store %w2, %y[%i] : memref<?xvector<16xf32>>
    %n3 = arith.constant 900 : index
    %3 = arith.addi %i, %n3 : index
    %v3 = memref.load %x[%3] : memref<?xf32>
    %w3 = vector.broadcast %v3 : f32 to vector<16xf32>
    memref.store %w3, %y[%i] : memref<?xvector<16xf32>>
    %n4 = arith.constant 1200 : index
    %4 = arith.addi %i, %n4 : index
    %v4 = memref.load %x[%4] : memref<?xf32>
    %w4 = vector.broadcast %v4 : f32 to vector<16xf32>
    memref.store %w4, %y[%i] : memref<?xvector<16xf32>>
    %n5 = arith.constant 1500 : index
    %5 = arith.addi %i, %n5 : index
    %v5 = memref.load %x[%5] : memref<?xf32>
    %w5 = vector.broadcast %v5 : f32 to vector<16xf32>
    memref.store %w5, %y[%i] : memref<?xvector<16xf32>>
    %n6 = arith.constant 1800 : index
    %6 = arith.addi %i, %n6 : index
    %v6 = memref.load %x[%6] : memref<?xf32>
    %w6 = vector.broadcast %v6 : f32 to vector<16xf32>
    memref.store %w6, %y[%i] : memref<?xvector<16xf32>>
    %n7 = arith.constant 2100 : index
    %7 = arith.addi %i, %n7 : index
    %v7 = memref.load %x[%7] : memref<?xf32>
    %w7 = vector.broadcast %v7 : f32 to vector<16xf32>
    memref.store %w7, %y[%i] : memref<?xvector<16xf32>>
    %n8 = arith.constant 2400 : index
    %8 = arith.addi %i, %n8 : index
    %v8 = memref.load %x[%8] : memref<?xf32>
    %w8 = vector.broadcast %v8 : f32 to vector<16xf32>
    memref.store %w8, %y[%i] : memref<?xvector<16xf32>>
    %n9 = arith.constant 2700 : index
    %9 = arith.addi %i, %n9 : index
    %v9 = memref.load %x[%9] : memref<?xf32>
    %w9 = vector.broadcast %v9 : f32 to vector<16xf32>
    memref.store %w9, %y[%i] : memref<?xvector<16xf32>>
    %n10 = arith.constant 3000 : index
    %10 = arith.addi %i, %n10 : index
    %v10 = memref.load %x[%10] : memref<?xf32>
    %w10 = vector.broadcast %v10 : f32 to vector<16xf32>
    memref.store %w10, %y[%i] : memref<?xvector<16xf32>>
    %n11 = arith.constant 3300 : index
    %11 = arith.addi %i, %n11 : index
    %v11 = memref.load %x[%11] : memref<?xf32>
    %w11 = vector.broadcast %v11 : f32 to vector<16xf32>
    memref.store %w11, %y[%i] : memref<?xvector<16xf32>>
  }
  return
}
func.func private @taller(%x: memref<?xf32>, %y: memref<?xvector<16xf32>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 499 : index
  scf.for %i = %c0 to %end step %c1 {
    %n1 = arith.constant 500 : index
    %1 = arith.addi %i, %n1 : index
    %v1 = memref.load %x[%1] : memref<?xf32>
    %w1 = vector.broadcast %v1 : f32 to vector<16xf32>
    memref.store %w1, %y[%i] : memref<?xvector<16xf32>>
    %n2 = arith.constant 1000 : index
    %2 = arith.addi %i, %n2 : index
    %v2 = memref.load %x[%2] : memref<?xf32>
    %w2 = vector.broadcast %v2 : f32 to vector<16xf32>
    memref.store %w2, %y[%i] : memref<?xvector<16xf32>>
    %n3 = arith.constant 1500 : index
    %3 = arith.addi %i, %n3 : index
    %v3 = memref.load %x[%3] : memref<?xf32>
    %w3 = vector.broadcast %v3 : f32 to vector<16xf32>
    memref.store %w3, %y[%i] : memref<?xvector<16xf32>>
    %n4 = arith.constant 2000 : index
    %4 = arith.addi %i, %n4 : index
    %v4 = memref.load %x[%4] : memref<?xf32>
    %w4 = vector.broadcast %v4 : f32 to vector<16xf32>
    memref.store %w4, %y[%i] : memref<?xvector<16xf32>>
    %n5 = arith.constant 2500 : index
    %5 = arith.addi %i, %n5 : index
    %v5 = memref.load %x[%5] : memref<?xf32>
    %w5 = vector.broadcast %v5 : f32 to vector<16xf32>
    memref.store %w5, %y[%i] : memref<?xvector<16xf32>>
    %n6 = arith.constant 3000 : index
    %6 = arith.addi %i, %n6 : index
    %v6 = memref.load %x[%6] : memref<?xf32>
    %w6 = vector.broadcast %v6 : f32 to vector<16xf32>
    memref.store %w6, %y[%i] : memref<?xvector<16xf32>>
    %n7 = arith.constant 3500 : index
    %7 = arith.addi %i, %n7 : index
    %v7 = memref.load %x[%7] : memref<?xf32>
    %w7 = vector.broadcast %v7 : f32 to vector<16xf32>
    memref.store %w7, %y[%i] : memref<?xvector<16xf32>>
    %n8 = arith.constant 4000 : index
    %8 = arith.addi %i, %n8 : index
    %v8 = memref.load %x[%8] : memref<?xf32>
    %w8 = vector.broadcast %v8 : f32 to vector<16xf32>
    memref.store %w8, %y[%i] : memref<?xvector<16xf32>>
    %n9 = arith.constant 4500 : index
    %9 = arith.addi %i, %n9 : index
    %v9 = memref.load %x[%9] : memref<?xf32>
    %w9 = vector.broadcast %v9 : f32 to vector<16xf32>
    memref.store %w9, %y[%i] : memref<?xvector<16xf32>>
    %n10 = arith.constant 5000 : index
    %10 = arith.addi %i, %n10 : index
    %v10 = memref.load %x[%10] : memref<?xf32>
    %w10 = vector.broadcast %v10 : f32 to vector<16xf32>
    memref.store %w10, %y[%i] : memref<?xvector<16xf32>>
    %n11 = arith.constant 5500 : index
    %11 = arith.addi %i, %n11 : index
    %v11 = memref.load %x[%11] : memref<?xf32>
    %w11 = vector.broadcast %v11 : f32 to vector<16xf32>
    memref.store %w11, %y[%i] : memref<?xvector<16xf32>>
  }
  return
}

// -----

// Must not fire: a division by a constant is compiled to a product, and results
// must stay equal.
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

// Once per task a division may be slow. Must not fire for functions that others
// may call.
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

// Must not fire: arguments are declared distinct, but two views of one argument
// are not.
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
