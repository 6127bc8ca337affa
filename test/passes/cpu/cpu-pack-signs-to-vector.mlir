// RUN: ingot-opt --cpu-schedule --outline-kernels --cpu-pack-signs-to-vector --canonicalize --split-input-file %s | FileCheck %s

// A pair of 32-bit words by a loop, then 6 channels: the last word is masked
// and has no partner.
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
// CHECK-LABEL: func.func private @pack_signs.0
// CHECK-DAG: %[[LESS:.*]] = arith.constant dense<127> : vector<32xi8>
// CHECK-DAG: %[[MORE:.*]] = arith.constant dense<-127> : vector<32xi8>
// CHECK: %[[BYTES:.*]] = vector.load {{.*}} : memref<{{.*}}xi8{{.*}}>, vector<32xi8>
// CHECK: arith.cmpi eq, %[[BYTES]], %[[MORE]]
// CHECK: vector.bitcast %{{.*}} : vector<32xi1> to vector<1xi32>
// CHECK: arith.cmpi eq, %[[BYTES]], %[[LESS]]
// CHECK: vector.load {{.*}} vector<32xi8>
// CHECK-COUNT-4: memref.store
// CHECK: vector.maskedload {{.*}}, %[[MORE]] : {{.*}} vector<32xi8>
// CHECK-COUNT-3: memref.store
// CHECK-NOT: memref.store
func.func @rows(%x: memref<5x70xi8>, %y: memref<5x7xi32>) {
  cpu.pack_signs ins(%x : memref<5x70xi8>) outs(%y : memref<5x7xi32>) attributes {zero_point = 128 : i64} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  }
  return
}
}
