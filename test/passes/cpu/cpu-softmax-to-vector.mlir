// RUN: ingot-opt --cpu-schedule --outline-kernels --cpu-softmax-to-vector --canonicalize --split-input-file %s | FileCheck %s

module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
// CHECK-LABEL: func.func private @softmax.0
// Halves of the lanes are combined, down to one lane.
// CHECK: vector.shuffle %{{.*}} [4, 5, 6, 7] : vector<8xf32>
// CHECK: arith.select {{.*}} vector<4xi1>, vector<4xf32>
// CHECK: vector.shuffle %{{.*}} [2, 3] : vector<4xf32>
// CHECK: vector.shuffle %{{.*}} [1] : vector<2xf32>
// CHECK: vector.extract %{{.*}}[0] : f32 from vector<1xf32>
// CHECK: math.exp {{.*}} : vector<16xf32>
// CHECK: vector.reduction <add>
// CHECK: arith.divf
// CHECK: arith.mulf {{.*}} : vector<16xf32>
// CHECK: vector.maskedstore
// CHECK-NOT: cpu.softmax
func.func @softmax(%x: memref<2x50xf32>, %y: memref<2x50xf32>) {
  cpu.softmax ins(%x : memref<2x50xf32>) outs(%y : memref<2x50xf32>) {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}
}

// -----

// The logarithm stores no powers.

module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
// CHECK-LABEL: func.func @log(
// CHECK-LABEL: func.func private @softmax.0
// CHECK: math.exp {{.*}} : vector<8xf32>
// CHECK-NOT: vector.store
// CHECK: math.log
// CHECK: vector.store
func.func @log(%x: memref<2x64xf32>, %y: memref<2x64xf32>) {
  cpu.softmax ins(%x : memref<2x64xf32>) outs(%y : memref<2x64xf32>)
      attributes {log} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}
}

// -----

// Bytes cannot hold powers, either: the powers are computed again.

module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
// CHECK-LABEL: func.func @bytes(
// CHECK-LABEL: func.func private @softmax.0
// CHECK: math.exp
// CHECK-NOT: vector.store
// CHECK: arith.divf
// CHECK: math.exp
// CHECK: vector.store {{.*}} vector<8xi8>
func.func @bytes(%x: memref<2x64xf32>, %y: memref<2x64xi8>) {
  cpu.softmax ins(%x : memref<2x64xf32>) outs(%y : memref<2x64xi8>) {
  ^bb0(%r: f32):
    %0 = arith.fptoui %r : f32 to i8
    cpu.yield %0 : i8
  }
  return
}
}

// -----

// A row of two vectors at most stays in registers: loaded and stored once.

module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
// CHECK-LABEL: func.func private @softmax.0
// CHECK: vector.load
// CHECK: vector.maskedload
// CHECK-NOT: load
// CHECK: vector.store
// CHECK: vector.maskedstore
// CHECK-NOT: store
// CHECK: return
func.func @short(%x: memref<2x13xf32>, %y: memref<2x13xf32>) {
  cpu.softmax ins(%x : memref<2x13xf32>) outs(%y : memref<2x13xf32>) {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}
}

// -----

// The length of rows is only known in the run.

module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
// CHECK-LABEL: func.func private @softmax.0
// CHECK: arith.cmpi sle, %{{.*}}, %c8
// CHECK: scf.if
// CHECK: } else {
// CHECK: arith.cmpi sle, %{{.*}}, %c16
// CHECK: scf.if
// CHECK: } else {
// CHECK: scf.for
func.func @open(%x: memref<2x?xf32>, %y: memref<2x?xf32>) {
  cpu.softmax ins(%x : memref<2x?xf32>) outs(%y : memref<2x?xf32>) {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}
}

// -----

// Along columns: no vector is reduced.

module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
// CHECK-LABEL: func.func private @softmax.0
// CHECK-NOT: vector.reduction
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK: math.exp {{.*}} : vector<8xf32>
// CHECK: arith.divf {{.*}} : vector<8xf32>
// CHECK: vector.store
func.func @columns(%x: memref<2x9x10xf32>, %y: memref<2x9x10xf32>) {
  cpu.softmax ins(%x : memref<2x9x10xf32>) outs(%y : memref<2x9x10xf32>)
      attributes {columns} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}
}

// -----

// Dynamic columns may be one column in a run, which is handled as a row.

module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
// CHECK-LABEL: func.func private @softmax.0
// CHECK: arith.cmpi eq, %{{.*}}, %c1
// CHECK: scf.if
// CHECK: vector.reduction
// CHECK: } else {
// CHECK-NOT: vector.reduction
// CHECK: return
func.func @open_columns(%x: memref<2x9x?xf32>, %y: memref<2x9x?xf32>) {
  cpu.softmax ins(%x : memref<2x9x?xf32>) outs(%y : memref<2x9x?xf32>)
      attributes {columns} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}
}

// -----

// An operand of the epilogue is read along columns.

module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
// CHECK-LABEL: func.func private @softmax.0
// CHECK-NOT: vector.reduction
// CHECK: return
func.func @open_factors(%x: memref<2x9x?xf32>, %f: memref<1x9x?xf32>, %y: memref<2x9x?xf32>) {
  cpu.softmax ins(%x : memref<2x9x?xf32>) operands(%f : memref<1x9x?xf32>) outs(%y : memref<2x9x?xf32>)
      attributes {columns} {
  ^bb0(%r: f32, %s: f32):
    %0 = arith.mulf %r, %s : f32
    cpu.yield %0 : f32
  }
  return
}
}
