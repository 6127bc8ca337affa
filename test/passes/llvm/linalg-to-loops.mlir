// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(linalg-to-loops))' \
// RUN:   | FileCheck %s

// CHECK-LABEL: func @negate
// CHECK: scf.for %[[I:.*]] =
// CHECK: %[[X:.*]] = memref.load %{{.*}}[%[[I]]]
// CHECK: %[[Y:.*]] = arith.negf %[[X]]
// CHECK: memref.store %[[Y]], %{{.*}}[%[[I]]]
// CHECK-NOT: linalg
func.func @negate(%arg0: memref<8xf32>, %arg1: memref<8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>,
                                   affine_map<(d0) -> (d0)>],
                  iterator_types = ["parallel"]}
      ins(%arg0 : memref<8xf32>) outs(%arg1 : memref<8xf32>) {
  ^bb0(%x: f32, %out: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  }
  return
}

// A function without linalg ops stays as it is: nothing is folded.
// CHECK-LABEL: func @without
// CHECK: arith.addi
func.func @without(%arg0: memref<8xf32>) -> f32 {
  %c1 = arith.constant 1 : index
  %c2 = arith.addi %c1, %c1 : index
  %0 = memref.load %arg0[%c2] : memref<8xf32>
  return %0 : f32
}
