// RUN: ingot-opt --cpu-schedule --outline-kernels --cpu-group-norm-to-vector --canonicalize %s | FileCheck %s

// Statistics of each channel of a block, then of the block's groups.

module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
// CHECK-LABEL: func.func @group_norm(
// CHECK: cpu.launch @group_norm.0
// CHECK-LABEL: func.func private @group_norm.0
// CHECK-COUNT-2: memref.alloca()
// CHECK: scf.for {{.*}} vector<16xf64>
// CHECK: vector.reduction <add>
// CHECK: arith.subf {{.*}} : vector<16xf32>
// CHECK: math.sqrt
// CHECK: vector.maskedstore
func.func @group_norm(%x: memref<1x300x20xf32>, %y: memref<1x300x20xf32>) {
  cpu.group_norm ins(%x : memref<1x300x20xf32>) outs(%y : memref<1x300x20xf32>)
      attributes {epsilon = 1.0e-5 : f32, groups = 4 : i64} {
  ^bb0(%r: f32):
    cpu.yield %r : f32
  }
  return
}
}
