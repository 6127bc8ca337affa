// RUN: ingot-opt --cpu-schedule --outline-kernels --cpu-row-norm-to-vector --canonicalize --split-input-file %s | FileCheck %s

module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
// CHECK-LABEL: func.func @layer_norm(
// CHECK-LABEL: func.func private @row_norm.0
// CHECK: vector.reduction <add>
// CHECK: arith.subf {{.*}} : vector<16xf32>
// CHECK: vector.reduction <add>
// CHECK: math.sqrt
// CHECK: arith.divf
// CHECK-COUNT-2: arith.mulf {{.*}} : vector<16xf32>
func.func @layer_norm(%x: memref<2x64xf32>, %s: memref<1x64xf32>, %y: memref<2x64xf32>) {
  cpu.row_norm ins(%x : memref<2x64xf32>) operands(%s : memref<1x64xf32>)
      outs(%y : memref<2x64xf32>) attributes {epsilon = 1.0e-5 : f32} {
  ^bb0(%r: f32, %f: f32):
    %0 = arith.mulf %r, %f : f32
    cpu.yield %0 : f32
  }
  return
}
}

// -----

module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
// CHECK-LABEL: func.func @rms_norm(
// CHECK-LABEL: func.func private @row_norm.0
// CHECK-NOT: arith.subf
// CHECK: vector.reduction <add>
// CHECK-NOT: vector.reduction
func.func @rms_norm(%x: memref<2x64xf32>, %y: memref<2x64xf32>) {
  cpu.row_norm ins(%x : memref<2x64xf32>) outs(%y : memref<2x64xf32>)
      attributes {epsilon = 1.0e-5 : f32, rms} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}
}
