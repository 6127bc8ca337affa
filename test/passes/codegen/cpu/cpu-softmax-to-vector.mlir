// RUN: ingot-opt --cpu-schedule --outline-kernels --cpu-softmax-to-vector --canonicalize --split-input-file %s | FileCheck %s

module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
// CHECK-LABEL: func.func private @softmax.0
// CHECK: vector.reduction <maxnumf>
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

// Neither do bytes hold any: the powers are computed again.

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
