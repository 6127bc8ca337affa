// RUN: ingot-opt %s --cpu-matmul-to-vector --split-input-file | FileCheck %s

// Two vectors of a row are packed together, which clamps to bytes. Only values
// that are too large for i32 are clamped before. The last columns fill no
// vector, so each is narrowed separately.
// CHECK-LABEL: func.func private @row
// CHECK: arith.minnumf
// CHECK: %[[A:.*]] = llvm.call_intrinsic "llvm.x86.avx.cvt.ps2dq.256"
// CHECK: arith.minnumf
// CHECK: %[[B:.*]] = llvm.call_intrinsic "llvm.x86.avx.cvt.ps2dq.256"
// CHECK: %[[WORDS:.*]] = llvm.call_intrinsic "llvm.x86.avx2.packssdw"(%[[A]], %[[B]])
// CHECK: %[[BYTES:.*]] = llvm.call_intrinsic "llvm.x86.sse2.packuswb.128"
// CHECK: %[[FOURS:.*]] = vector.bitcast %[[BYTES]] : vector<16xi8> to vector<4xi32>
// CHECK: %[[ORDER:.*]] = vector.shuffle %[[FOURS]], %[[FOURS]] [0, 2, 1, 3]
// CHECK: %[[ROW:.*]] = vector.bitcast %[[ORDER]]
// CHECK: vector.store %[[ROW]], {{.*}} : {{.*}}, vector<16xi8>
// CHECK: arith.trunci
// CHECK: vector.maskedstore
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @row(%a: memref<1x8xi8>, %w: memref<2x2x16x4xi8>, %d: memref<1x28xi8>, %task: index) {
    cpu.matmul ins(%a, %w : memref<1x8xi8>, memref<2x2x16x4xi8>) outs(%d : memref<1x28xi8>)
        attributes {schedule = #cpu.schedule<tile = <1x16, product = int8_wide>, grid = <1x2>>} {
    ^bb0(%sum: i32):
      %low = arith.constant 0.0 : f32
      %high = arith.constant 2.55e+2 : f32
      %0 = arith.sitofp %sum : i32 to f32
      %1 = arith.maximumf %0, %low : f32
      %2 = arith.minimumf %1, %high : f32
      %3 = math.roundeven %2 : f32
      %4 = arith.fptosi %3 : f32 to i32
      %5 = arith.trunci %4 : i32 to i8
      cpu.yield %5 : i8
    }
    return
  }
}

// -----

// A zero point is added to words, which hold the values before saturation.
// CHECK-LABEL: func.func private @zero_point
// CHECK: %[[M:.*]] = arith.minnumf
// CHECK: %[[I:.*]] = llvm.call_intrinsic "llvm.x86.avx.cvt.ps2dq.256"(%[[M]])
// CHECK: %[[WORDS:.*]] = llvm.call_intrinsic "llvm.x86.avx2.packssdw"(%[[I]], %{{.*}})
// CHECK: %[[ZERO:.*]] = arith.constant dense<12> : vector<16xi16>
// CHECK: %[[MOVED:.*]] = llvm.intr.sadd.sat(%[[WORDS]], %[[ZERO]])
// CHECK: llvm.call_intrinsic "llvm.x86.sse2.packuswb.128"
// A zero point whose bytes hold the other number is added to bytes.
// CHECK-LABEL: func.func private @half
// CHECK-NOT: sadd.sat
// CHECK: %[[BYTES:.*]] = llvm.call_intrinsic "llvm.x86.sse2.packsswb.128"
// CHECK: arith.addi %[[BYTES]], %{{.*}} : vector<16xi8>
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @zero_point(%a: memref<1x8xi8>, %w: memref<1x2x16x4xi8>, %d: memref<1x16xi8>, %task: index) {
    cpu.matmul ins(%a, %w : memref<1x8xi8>, memref<1x2x16x4xi8>) outs(%d : memref<1x16xi8>)
        attributes {schedule = #cpu.schedule<tile = <1x16, product = int8_wide>, grid = <1x1>>} {
    ^bb0(%sum: i32):
      %low = arith.constant -1.2e+1 : f32
      %high = arith.constant 2.43e+2 : f32
      %zero = arith.constant 12 : i32
      %0 = arith.sitofp %sum : i32 to f32
      %1 = arith.maximumf %0, %low : f32
      %2 = arith.minimumf %1, %high : f32
      %3 = math.roundeven %2 : f32
      %4 = arith.fptosi %3 : f32 to i32
      %5 = arith.addi %4, %zero : i32
      %6 = arith.trunci %5 : i32 to i8
      cpu.yield %6 : i8
    }
    return
  }
  func.func private @half(%a: memref<1x8xi8>, %w: memref<1x2x16x4xi8>, %d: memref<1x16xi8>, %task: index) {
    cpu.matmul ins(%a, %w : memref<1x8xi8>, memref<1x2x16x4xi8>) outs(%d : memref<1x16xi8>)
        attributes {schedule = #cpu.schedule<tile = <1x16, product = int8_wide>, grid = <1x1>>} {
    ^bb0(%sum: i32):
      %low = arith.constant -1.28e+2 : f32
      %high = arith.constant 1.27e+2 : f32
      %zero = arith.constant 128 : i32
      %0 = arith.sitofp %sum : i32 to f32
      %1 = arith.maximumf %0, %low : f32
      %2 = arith.minimumf %1, %high : f32
      %3 = math.roundeven %2 : f32
      %4 = arith.fptosi %3 : f32 to i32
      %5 = arith.addi %4, %zero : i32
      %6 = arith.trunci %5 : i32 to i8
      cpu.yield %6 : i8
    }
    return
  }
}

// -----

// Integers are packed without a clamp if narrowing them may not wrap around.
// CHECK-LABEL: func.func private @in_range
// CHECK: %[[WORDS:.*]] = llvm.call_intrinsic "llvm.x86.avx2.packssdw"
// CHECK: llvm.intr.sadd.sat(%[[WORDS]], %{{.*}})
// CHECK: llvm.call_intrinsic "llvm.x86.sse2.packuswb.128"
// CHECK-LABEL: func.func private @signed
// CHECK: llvm.call_intrinsic "llvm.x86.sse2.packsswb.128"
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @in_range(%a: memref<1x8xi8>, %w: memref<1x2x16x4xi8>, %d: memref<1x16xi8>, %task: index) {
    cpu.matmul ins(%a, %w : memref<1x8xi8>, memref<1x2x16x4xi8>) outs(%d : memref<1x16xi8>)
        attributes {schedule = #cpu.schedule<tile = <1x16, product = int8_wide>, grid = <1x1>>} {
    ^bb0(%sum: i32):
      %zero = arith.constant 12 : i32
      %0 = arith.addi %sum, %zero : i32
      %1 = arith.trunci %0 overflow<nuw> : i32 to i8
      cpu.yield %1 : i8
    }
    return
  }
  func.func private @signed(%a: memref<1x8xi8>, %w: memref<1x2x16x4xi8>, %d: memref<1x16xi8>, %task: index) {
    cpu.matmul ins(%a, %w : memref<1x8xi8>, memref<1x2x16x4xi8>) outs(%d : memref<1x16xi8>)
        attributes {schedule = #cpu.schedule<tile = <1x16, product = int8_wide>, grid = <1x1>>} {
    ^bb0(%sum: i32):
      %0 = arith.trunci %sum overflow<nsw> : i32 to i8
      cpu.yield %0 : i8
    }
    return
  }
}

// -----

// Integers that are clamped to a byte are packed instead of clamped.
// CHECK-LABEL: func.func private @held
// CHECK: %[[SUMS:.*]]:2 = scf.for
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.packssdw"(%[[SUMS]]#0, %[[SUMS]]#1)
// CHECK: llvm.call_intrinsic "llvm.x86.sse2.packsswb.128"
// Narrower bounds stay.
// CHECK-LABEL: func.func private @narrower
// CHECK: arith.maxsi {{.*}} : vector<8xi32>
// CHECK: arith.maxsi {{.*}} : vector<8xi32>
// CHECK: %[[HIGH:.*]] = arith.minsi {{.*}} : vector<8xi32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.packssdw"({{.*}}, %[[HIGH]])
// CHECK: llvm.call_intrinsic "llvm.x86.sse2.packsswb.128"
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @held(%a: memref<1x8xi8>, %w: memref<1x2x16x4xi8>, %d: memref<1x16xi8>, %task: index) {
    cpu.matmul ins(%a, %w : memref<1x8xi8>, memref<1x2x16x4xi8>) outs(%d : memref<1x16xi8>)
        attributes {schedule = #cpu.schedule<tile = <1x16, product = int8_wide>, grid = <1x1>>} {
    ^bb0(%sum: i32):
      %low = arith.constant -128 : i32
      %high = arith.constant 127 : i32
      %0 = arith.maxsi %sum, %low : i32
      %1 = arith.minsi %0, %high : i32
      %2 = arith.trunci %1 : i32 to i8
      cpu.yield %2 : i8
    }
    return
  }
  func.func private @narrower(%a: memref<1x8xi8>, %w: memref<1x2x16x4xi8>, %d: memref<1x16xi8>, %task: index) {
    cpu.matmul ins(%a, %w : memref<1x8xi8>, memref<1x2x16x4xi8>) outs(%d : memref<1x16xi8>)
        attributes {schedule = #cpu.schedule<tile = <1x16, product = int8_wide>, grid = <1x1>>} {
    ^bb0(%sum: i32):
      %low = arith.constant -128 : i32
      %high = arith.constant 100 : i32
      %0 = arith.maxsi %sum, %low : i32
      %1 = arith.minsi %0, %high : i32
      %2 = arith.trunci %1 : i32 to i8
      cpu.yield %2 : i8
    }
    return
  }
}

// -----

// Values that may exceed a byte keep their low bits. Wider vectors have an
// instruction that narrows.
// CHECK-LABEL: func.func private @wraps
// CHECK-NOT: pack
// CHECK: return
// CHECK-LABEL: func.func private @wide
// CHECK-NOT: pack
// CHECK: return
module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
  func.func private @wraps(%a: memref<1x8xi8>, %w: memref<1x2x16x4xi8>, %d: memref<1x16xi8>, %task: index) {
    cpu.matmul ins(%a, %w : memref<1x8xi8>, memref<1x2x16x4xi8>) outs(%d : memref<1x16xi8>)
        attributes {schedule = #cpu.schedule<tile = <1x16, product = int8_wide>, grid = <1x1>>} {
    ^bb0(%sum: i32):
      %0 = arith.trunci %sum : i32 to i8
      cpu.yield %0 : i8
    }
    return
  }
}

// -----

module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func private @wide(%a: memref<1x8xi8>, %w: memref<1x2x32x4xi8>, %d: memref<1x32xi8>, %task: index) {
    cpu.matmul ins(%a, %w : memref<1x8xi8>, memref<1x2x32x4xi8>) outs(%d : memref<1x32xi8>)
        attributes {schedule = #cpu.schedule<tile = <1x32, product = int8_wide>, grid = <1x1>>} {
    ^bb0(%sum: i32):
      %low = arith.constant 0.0 : f32
      %high = arith.constant 2.55e+2 : f32
      %0 = arith.sitofp %sum : i32 to f32
      %1 = arith.maximumf %0, %low : f32
      %2 = arith.minimumf %1, %high : f32
      %3 = math.roundeven %2 : f32
      %4 = arith.fptosi %3 : f32 to i32
      %5 = arith.trunci %4 : i32 to i8
      cpu.yield %5 : i8
    }
    return
  }
}
