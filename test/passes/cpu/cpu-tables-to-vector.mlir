// RUN: ingot-opt --cpu-tables-to-vector --split-input-file %s | FileCheck %s

// 200 bytes are three vectors of 64 and a masked one. A table is four registers.
// CHECK-LABEL: func.func @words
// CHECK-COUNT-4: vector.load %arg0[%{{.*}}] : memref<256xi8>, vector<64xi8>
// CHECK: scf.for
// CHECK: vector.load %arg1[%{{.*}}] : memref<200xi8>, vector<64xi8>
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.hi.512"
// CHECK: vector.store
// CHECK: }
// CHECK: vector.maskedload
// CHECK: vector.maskedstore
// CHECK-NOT: linalg.generic
#id = affine_map<(d0) -> (d0)>
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
func.func @words(%t: memref<256xi8>, %x: memref<200xi8>, %y: memref<200xi8>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<200xi8>) outs(%y : memref<200xi8>) {
  ^bb0(%a: i8, %b: i8):
    %i = arith.index_castui %a : i8 to index
    %e = memref.load %t[%i] : memref<256xi8>
    linalg.yield %e : i8
  }
  return
}
}

// -----

// With AVX2 a table is 16 parts. Rows of dynamic length end with 16 bytes at a time, then one by one.
// CHECK-LABEL: func.func @parts
// CHECK: scf.for %[[I:.*]] =
// CHECK-COUNT-16: vector.load %arg0[%{{.*}}] : memref<256xi8>, vector<16xi8>
// CHECK: scf.for
// CHECK: vector.load %arg1[%[[I]], %{{.*}}] : memref<?x?xi8>, vector<32xi8>
// CHECK-COUNT-16: llvm.call_intrinsic "llvm.x86.avx2.pshuf.b"
// CHECK: vector.store
// CHECK: scf.for
// CHECK-COUNT-16: llvm.call_intrinsic "llvm.x86.ssse3.pshuf.b.128"
// CHECK: scf.for
// CHECK: memref.store %{{.*}}, %arg2[%[[I]], %{{.*}}]
#map = affine_map<(d0, d1) -> (d0, d1)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @parts(%t: memref<256xi8>, %x: memref<?x?xi8>, %y: memref<?x?xi8>) {
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%x : memref<?x?xi8>) outs(%y : memref<?x?xi8>) {
  ^bb0(%a: i8, %b: i8):
    %i = arith.index_castui %a : i8 to index
    %e = memref.load %t[%i] : memref<256xi8>
    linalg.yield %e : i8
  }
  return
}
}

// -----

// Must not fire for columns and for bodies with other ops.
// CHECK-LABEL: func.func @declined
// CHECK-NOT: vector
// CHECK-COUNT-2: linalg.generic
#map = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
func.func @declined(%t: memref<256xi8>, %x: memref<8x8xi8>, %y: memref<8x8xi8>) {
  linalg.generic {indexing_maps = [#turned, #map], iterator_types = ["parallel", "parallel"]} ins(%x : memref<8x8xi8>) outs(%y : memref<8x8xi8>) {
  ^bb0(%a: i8, %b: i8):
    %i = arith.index_castui %a : i8 to index
    %e = memref.load %t[%i] : memref<256xi8>
    linalg.yield %e : i8
  }
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%x : memref<8x8xi8>) outs(%y : memref<8x8xi8>) {
  ^bb0(%a: i8, %b: i8):
    %i = arith.index_castui %a : i8 to index
    %e = memref.load %t[%i] : memref<256xi8>
    %f = arith.addi %e, %a : i8
    linalg.yield %f : i8
  }
  return
}
}
