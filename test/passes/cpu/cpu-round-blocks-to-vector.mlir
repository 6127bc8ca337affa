// RUN: ingot-opt --cpu-schedule --outline-kernels --cpu-round-blocks-to-vector --canonicalize --cse --split-input-file %s | FileCheck %s

// A block of 32 by a loop, then one of 8, with zeros behind it.
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
// CHECK-LABEL: func.func private @round_blocks.0
// CHECK-DAG: %[[SIZE:.*]] = arith.constant dense<2147483647> : vector<16xi32>
// CHECK-DAG: %[[MOST:.*]] = arith.constant 1.270000e+02 : f32
// CHECK-DAG: %[[FACTOR:.*]] = arith.constant -8 : i32
// CHECK: scf.for
// CHECK: vector.load {{.*}} vector<16xf32>
// CHECK: arith.andi %{{.*}}, %[[SIZE]]
// CHECK: arith.maxsi
// CHECK: %[[BITS:.*]] = vector.reduction <maxsi>
// CHECK: %[[LARGEST:.*]] = arith.bitcast %[[BITS]] : i32 to f32
// CHECK: arith.maxsi %[[BITS]]
// CHECK: arith.minsi
// CHECK: %[[RANGE:.*]] = arith.bitcast
// CHECK: %[[FINITE:.*]] = arith.cmpi sle, %[[BITS]]
// CHECK: %[[SCALE:.*]] = arith.divf %[[RANGE]], %[[MOST]]
// CHECK: arith.select %[[FINITE]], %[[SCALE]], %[[LARGEST]]
// CHECK: memref.store
// CHECK: arith.divf %[[MOST]], %[[RANGE]]
// CHECK: arith.maxnumf
// CHECK: arith.minnumf
// CHECK: math.roundeven
// CHECK: arith.fptosi
// CHECK: arith.trunci {{.*}} vector<16xi32> to vector<16xi8>
// CHECK: vector.store {{.*}} vector<4xi32>
// CHECK: vector.store {{.*}} vector<4xi32>
// CHECK: %[[SUM:.*]] = vector.reduction <add>
// CHECK: arith.muli %[[SUM]], %[[FACTOR]]
// CHECK: memref.store
// CHECK: vector.maskedload {{.*}} vector<16xf32>
// CHECK: vector.store {{.*}} vector<4xi32>
// CHECK: vector.store %{{.*}} vector<4xi32>
// CHECK: return
func.func @rows(%x: memref<5x40xf32>, %y: memref<5x20xi32>) {
  cpu.round_blocks ins(%x : memref<5x40xf32>) outs(%y : memref<5x20xi32>) attributes {block_size = 32 : i64, factor = -8 : i64} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  }
  return
}
}

// -----

// A single block, of two words.
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
// CHECK-LABEL: func.func private @round_blocks.0
// CHECK: vector.maskedload
// CHECK-NOT: vector.store
// CHECK-COUNT-4: memref.store
// CHECK-NOT: memref.store
// CHECK: return
func.func @short(%x: memref<5x7xf32>, %y: memref<5x4xi32>) {
  cpu.round_blocks ins(%x : memref<5x7xf32>) outs(%y : memref<5x4xi32>) attributes {block_size = 8 : i64, factor = -8 : i64} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  }
  return
}
}

// -----

// Three digits for each element. A shuffle collects the bytes of each digit, and
// an instruction for products of bytes adds them up.
module attributes {ingot.target = #ingot.target<"cascadelake">} {
// CHECK-LABEL: func.func private @round_blocks.0
// CHECK-DAG: arith.constant dense<0x4AFEFEFE> : vector<16xf32>
// CHECK-DAG: %[[MIDDLE:.*]] = arith.constant dense<32896> : vector<16xi32>
// CHECK: vector.reduction <maxsi>
// CHECK: arith.mulf
// CHECK: arith.divf
// CHECK-NOT: arith.divf
// CHECK: %[[ALL:.*]] = arith.fptosi
// CHECK: %[[SUM:.*]] = arith.addi %[[ALL]], %[[MIDDLE]]
// CHECK: arith.xori %[[SUM]], %[[MIDDLE]]
// CHECK: vector.shuffle {{.*}} vector<64xi8>
// CHECK: vector.store {{.*}} vector<4xi32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.128"
// CHECK: vector.store {{.*}} vector<4xi32>
// CHECK: vector.store {{.*}} vector<4xi32>
// CHECK-COUNT-3: vector.reduction <add>, %{{.*}} : vector<4xi32>
// CHECK: return
func.func @digits(%x: memref<5x16xf32>, %y: memref<5x16xi32>) {
  cpu.round_blocks ins(%x : memref<5x16xf32>) outs(%y : memref<5x16xi32>) attributes {block_size = 16 : i64, factor = -8 : i64} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  }
  return
}
}
