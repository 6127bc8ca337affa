// RUN: ingot-opt %s --emulate-instructions=on=x86-64-v4 --split-input-file --verify-diagnostics | FileCheck %s

// A tile is memory. The product adds to the accumulator's memory, pair by pair.
// CHECK: module attributes {ingot.target = #ingot.target<"x86-64-v4">}
// CHECK-LABEL: func.func @bf16
// CHECK-COUNT-3: memref.alloca() {{.*}} : memref<{{2x8xbf16|4x32xbf16|2x16xf32}}>
// CHECK-NOT: amx
// CHECK: scf.for {{.*}} -> (memref<2x16xf32>)
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c4
// CHECK: vector.broadcast {{.*}} : i32 to vector<16xi32>
// CHECK-COUNT-2: math.fma {{.*}} : vector<16xf32>
// CHECK-NOT: amx
module attributes {ingot.target = #ingot.target<"sapphirerapids">} {
  func.func @bf16(%a: memref<?xbf16>, %w: memref<?xbf16>, %d: memref<?xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %zero = amx.tile_zero : !amx.tile<2x16xf32>
    %sums = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!amx.tile<2x16xf32>) {
      %x = amx.tile_load %a[%i], %c16 : memref<?xbf16> into !amx.tile<2x8xbf16>
      %y = amx.tile_load %w[%i], %c64 : memref<?xbf16> into !amx.tile<4x32xbf16>
      %next = amx.tile_mulf %x, %y, %sum : !amx.tile<2x8xbf16>, !amx.tile<4x32xbf16>, !amx.tile<2x16xf32>
      scf.yield %next : !amx.tile<2x16xf32>
    }
    amx.tile_store %d[%c0], %sums, %c16 : memref<?xf32>, !amx.tile<2x16xf32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @int8
// CHECK-NOT: amx
// CHECK-COUNT-4: arith.muli {{.*}} : vector<16xi32>
// CHECK-LABEL: func.func @dots
// CHECK-COUNT-2: math.fma {{.*}} : vector<16xf32>
// CHECK-COUNT-4: arith.muli {{.*}} : vector<16xi32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"
func.func @int8(%a: memref<?xi8>, %w: memref<?xi8>, %d: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = amx.tile_zero : !amx.tile<2x16xi32>
  %x = amx.tile_load %a[%c0], %c64 : memref<?xi8> into !amx.tile<2x64xi8>
  %y = amx.tile_load %w[%c0], %c64 : memref<?xi8> into !amx.tile<16x64xi8>
  %sum = amx.tile_muli %x zext, %y, %zero : !amx.tile<2x64xi8>, !amx.tile<16x64xi8>, !amx.tile<2x16xi32>
  amx.tile_store %d[%c0], %sum, %c64 : memref<?xi32>, !amx.tile<2x16xi32>
  return
}
func.func @dots(%s: vector<16xf32>, %x: vector<32xbf16>, %t: vector<16xi32>, %y: vector<64xi8>, %z: vector<32xi16>) -> (vector<16xf32>, vector<16xi32>, vector<16xi32>) {
  %0 = x86vector.avx512.dot %s, %x, %x : vector<32xbf16> -> vector<16xf32>
  %1 = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%t, %y, %y) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
  %2 = llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"(%z, %z) : (vector<32xi16>, vector<32xi16>) -> vector<16xi32>
  return %0, %1, %2 : vector<16xf32>, vector<16xi32>, vector<16xi32>
}

// -----

// The instruction of AVX-VNNI, too.
// CHECK-LABEL: func.func @short_dots
// CHECK-COUNT-4: arith.muli {{.*}} : vector<8xi32>
// CHECK-COUNT-4: arith.muli {{.*}} : vector<4xi32>
// CHECK-NOT: vpdpbusd
// CHECK: return
func.func @short_dots(%s: vector<8xi32>, %x: vector<32xi8>, %t: vector<4xi32>, %y: vector<16xi8>) -> (vector<8xi32>, vector<4xi32>) {
  %0 = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"(%s, %x, %x) : (vector<8xi32>, vector<32xi8>, vector<32xi8>) -> vector<8xi32>
  %1 = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.128"(%t, %y, %y) : (vector<4xi32>, vector<16xi8>, vector<16xi8>) -> vector<4xi32>
  return %0, %1 : vector<8xi32>, vector<4xi32>
}

// -----

// In lanes of 128 bits: four int16 of the first operand, four of the second.
// CHECK-LABEL: func.func @packs
// CHECK: arith.maxsi {{.*}} : vector<16xi32>
// CHECK: arith.minsi {{.*}} : vector<16xi32>
// CHECK-COUNT-2: arith.trunci {{.*}} : vector<16xi32> to vector<16xi16>
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, {{.*}}] : vector<16xi16>, vector<16xi16>
// CHECK-COUNT-2: arith.trunci {{.*}} : vector<32xi16> to vector<32xi8>
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 32, {{.*}}] : vector<32xi8>, vector<32xi8>
// CHECK-NOT: llvm.call_intrinsic
// CHECK: return
func.func @packs(%x: vector<16xi32>, %y: vector<16xi32>) -> (vector<64xi8>, vector<64xi8>) {
  %0 = llvm.call_intrinsic "llvm.x86.avx512.packssdw.512"(%x, %y) : (vector<16xi32>, vector<16xi32>) -> vector<32xi16>
  %1 = llvm.call_intrinsic "llvm.x86.avx512.packuswb.512"(%0, %0) : (vector<32xi16>, vector<32xi16>) -> vector<64xi8>
  %2 = llvm.call_intrinsic "llvm.x86.avx512.packsswb.512"(%0, %0) : (vector<32xi16>, vector<32xi16>) -> vector<64xi8>
  return %1, %2 : vector<64xi8>, vector<64xi8>
}

// -----

// Values that i32 cannot hold become its smallest value.
// CHECK-LABEL: func.func @conversions
// CHECK: %[[W:.*]] = arith.andi {{.*}} : vector<16xi1>
// CHECK: math.roundeven
// CHECK: arith.fptosi
// CHECK: arith.select %[[W]], {{.*}} : vector<16xi1>, vector<16xi32>
// CHECK-NOT: math.roundeven
// CHECK: arith.fptosi
// CHECK-NOT: llvm.call_intrinsic
// CHECK: return
func.func @conversions(%x: vector<16xf32>, %zero: vector<16xi32>, %all: i16, %mode: i32) -> (vector<16xi32>, vector<16xi32>) {
  %0 = llvm.call_intrinsic "llvm.x86.avx512.mask.cvtps2dq.512"(%x, %zero, %all, %mode) : (vector<16xf32>, vector<16xi32>, i16, i32) -> vector<16xi32>
  %1 = llvm.call_intrinsic "llvm.x86.avx512.mask.cvttps2dq.512"(%x, %zero, %all, %mode) : (vector<16xf32>, vector<16xi32>, i16, i32) -> vector<16xi32>
  return %0, %1 : vector<16xi32>, vector<16xi32>
}

// -----

// A function of three bits. Its cases 7 and 1 are: all three bits set, and only
// the third set.
// CHECK-LABEL: func.func @table
// CHECK-SAME: (%[[X:.*]]: vector<16xi32>, %[[Y:.*]]: vector<16xi32>, %[[Z:.*]]: vector<16xi32>)
// CHECK-NOT: pternlog
// CHECK: arith.xori %[[Y]]
// CHECK: arith.xori %[[X]]
// CHECK: arith.andi
// CHECK: arith.ori
// CHECK: return
func.func @table(%x: vector<16xi32>, %y: vector<16xi32>, %z: vector<16xi32>) -> vector<16xi32> {
  %table = llvm.mlir.constant(130 : i32) : i32
  %0 = llvm.call_intrinsic "llvm.x86.avx512.pternlog.d.512"(%x, %y, %z, %table) : (vector<16xi32>, vector<16xi32>, vector<16xi32>, i32) -> vector<16xi32>
  return %0 : vector<16xi32>
}

// -----

// Sums of f16 are rounded behind each product; those of f32 are left alone.
// CHECK-LABEL: func.func @halves
// CHECK-COUNT-3: arith.extf {{.*}} : vector<32xf16> to vector<32xf32>
// CHECK: math.fma {{.*}} : vector<32xf32>
// CHECK: arith.truncf {{.*}} : vector<32xf32> to vector<32xf16>
// CHECK: arith.addf {{.*}} : vector<32xf32>
// CHECK: arith.truncf {{.*}} : vector<32xf32> to vector<32xf16>
// CHECK: vector.fma {{.*}} : vector<16xf32>
func.func @halves(%x: vector<32xf16>, %s: vector<32xf16>, %y: vector<16xf32>) -> (vector<32xf16>, vector<16xf32>) {
  %0 = vector.fma %x, %x, %s : vector<32xf16>
  %1 = arith.addf %0, %s : vector<32xf16>
  %2 = vector.fma %y, %y, %y : vector<16xf32>
  return %1, %2 : vector<32xf16>, vector<16xf32>
}

// -----

func.func @usedAgain(%a: memref<?xbf16>, %d: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = amx.tile_zero : !amx.tile<16x16xf32>
  %x = amx.tile_load %a[%c0], %c64 : memref<?xbf16> into !amx.tile<16x32xbf16>
  // expected-error @below {{cannot be emulated: its accumulator is used again}}
  %sum = amx.tile_mulf %x, %x, %zero : !amx.tile<16x32xbf16>, !amx.tile<16x32xbf16>, !amx.tile<16x16xf32>
  amx.tile_store %d[%c0], %sum, %c64 : memref<?xf32>, !amx.tile<16x16xf32>
  amx.tile_store %d[%c0], %zero, %c64 : memref<?xf32>, !amx.tile<16x16xf32>
  return
}

// -----

func.func @noStride(%a: memref<?x?xbf16>) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{cannot be emulated without a stride}}
  %x = amx.tile_load %a[%c0, %c0] : memref<?x?xbf16> into !amx.tile<16x32xbf16>
  return
}

// -----

func.func @carried(%a: memref<?xbf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %first = amx.tile_zero : !amx.tile<16x32xbf16>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%x = %first) -> (!amx.tile<16x32xbf16>) {
    // expected-error @below {{cannot be emulated if a loop carries its result}}
    %next = amx.tile_load %a[%i], %c64 : memref<?xbf16> into !amx.tile<16x32xbf16>
    scf.yield %next : !amx.tile<16x32xbf16>
  }
  return
}

// -----

func.func @storeWithoutStride(%d: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = amx.tile_zero : !amx.tile<16x16xf32>
  // expected-error @below {{cannot be emulated without a stride}}
  amx.tile_store %d[%c0, %c0], %zero : memref<?x?xf32>, !amx.tile<16x16xf32>
  return
}

// -----

func.func @f16(%a: memref<?xf16>, %d: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = amx.tile_zero : !amx.tile<16x16xf32>
  %x = amx.tile_load %a[%c0], %c64 : memref<?xf16> into !amx.tile<16x32xf16>
  // expected-error @below {{cannot be emulated for this type}}
  %sum = amx.tile_mulf %x, %x, %zero : !amx.tile<16x32xf16>, !amx.tile<16x32xf16>, !amx.tile<16x16xf32>
  amx.tile_store %d[%c0], %sum, %c64 : memref<?xf32>, !amx.tile<16x16xf32>
  return
}
