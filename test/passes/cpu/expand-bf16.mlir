// RUN: ingot-opt %s --expand-bf16 --split-input-file | FileCheck %s

// CHECK-LABEL: @no_instruction
// CHECK-NOT: arith.truncf
// CHECK: arith.select {{.*}} : vector<16xi1>, vector<16xi32>
// CHECK: arith.trunci {{.*}} vector<16xi32> to vector<16xi16>
// CHECK-NEXT: arith.bitcast {{.*}} : vector<16xi16> to vector<16xbf16>
module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
  func.func @no_instruction(%x: vector<16xf32>) -> vector<16xbf16> {
    %0 = arith.truncf %x : vector<16xf32> to vector<16xbf16>
    return %0 : vector<16xbf16>
  }
  // CHECK-LABEL: @scalars
  // CHECK-NOT: arith.truncf
  // CHECK: arith.select {{.*}} : i32
  // CHECK: arith.extui {{.*}} : i16 to i32
  // CHECK-NOT: arith.extf
  func.func @scalars(%x: f32) -> f32 {
    %0 = arith.truncf %x : f32 to bf16
    %1 = arith.extf %0 : bf16 to f32
    return %1 : f32
  }
}

// -----

// CHECK-LABEL: @instruction
// CHECK: arith.truncf
module attributes {ingot.target = #ingot.target<"znver4">} {
  func.func @instruction(%x: vector<16xf32>) -> vector<16xbf16> {
    %0 = arith.truncf %x : vector<16xf32> to vector<16xbf16>
    return %0 : vector<16xbf16>
  }
  // Widening has no instruction of its own at any level.
  // CHECK-LABEL: @widens
  // CHECK: arith.extui {{.*}} : vector<16xi16> to vector<16xi32>
  // CHECK: arith.shli
  // CHECK-NOT: arith.extf
  func.func @widens(%x: vector<16xbf16>) -> vector<16xf32> {
    %0 = arith.extf %x : vector<16xbf16> to vector<16xf32>
    return %0 : vector<16xf32>
  }
}
