// RUN: ingot-opt --bound-buffers --split-input-file %s | FileCheck %s
// RUN: ingot-opt --bound-buffers --plan-memory --split-input-file %s | FileCheck %s --check-prefix=PLAN

// Sizes that depend on an input's size get their largest value within the
// ranges: (20 - 1) / 2 + 1 = 10 rows of 16 elements, and 10 x 20 of them. Sizes
// from data, and in loops, stay dynamic.

#half = affine_map<()[s0] -> ((s0 - 1) floordiv 2 + 1)>
// PLAN: ingot.arena_bytes = 1472 : i64
// CHECK-LABEL: @forward
module attributes {ingot.shape_profiles = [
    #ingot.shape_profile<<input = 0, dim = 0, min = 1, usual = 4, max = 8, multiple = 1>>,
    #ingot.shape_profile<<input = 0, dim = 0, min = 9, usual = 9, max = 20, multiple = 1>>]} {
  func.func @forward(%x: memref<?xf32>, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %size = memref.dim %x, %c0 : memref<?xf32>
    %half = affine.apply #half()[%size]
    // CHECK: memref.alloc(%{{.*}}) {ingot.most_bytes = 640 : i64} : memref<?x16xf32>
    // PLAN: memref.view %{{.*}}[%{{.*}}][%{{.*}}] : memref<?xi8> to memref<?x16xf32>
    %a = memref.alloc(%half) : memref<?x16xf32>
    %view = memref.reinterpret_cast %a to offset: [0], sizes: [%half, 8], strides: [16, 1] : memref<?x16xf32> to memref<?x8xf32, strided<[16, 1]>>
    %dim = memref.dim %view, %c0 : memref<?x8xf32, strided<[16, 1]>>
    %area = arith.muli %dim, %size : index
    // CHECK: memref.alloc(%{{.*}}) {ingot.most_bytes = 800 : i64} : memref<?xf32>
    %b = memref.alloc(%area) : memref<?xf32>
    // CHECK: memref.alloc(%{{.*}}) : memref<?xf32>
    // PLAN: memref.alloc(%{{.*}}) : memref<?xf32>
    %c = memref.alloc(%n) : memref<?xf32>
    scf.for %i = %c0 to %size step %c1 {
      // CHECK: memref.alloc(%{{.*}}) : memref<?xf32>
      %d = memref.alloc(%size) : memref<?xf32>
      memref.copy %x, %d : memref<?xf32> to memref<?xf32>
    }
    memref.copy %a, %a : memref<?x16xf32> to memref<?x16xf32>
    memref.copy %b, %c : memref<?xf32> to memref<?xf32>
    memref.copy %a, %a : memref<?x16xf32> to memref<?x16xf32>
    return
  }
}

// -----

// A padding to an even size is small, however large the size is. It is not the
// difference between the largest and the smallest size.

// CHECK-LABEL: func.func @padded
module attributes {ingot.shape_profiles = [
    #ingot.shape_profile<<input = 0, dim = 0, min = 1, usual = 4, max = 1024, multiple = 1>>]} {
  func.func @padded(%x: memref<?xf32>, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %size = memref.dim %x, %c0 : memref<?xf32>
    %up = arith.addi %size, %c1 : index
    %half = arith.divsi %up, %c2 : index
    %even = arith.muli %half, %c2 : index
    %more = arith.subi %even, %size : index
    %missing = arith.maxsi %more, %c0 : index
    %padded = arith.addi %size, %missing : index
    // A slice of 32 elements, and the number by which the largest size exceeds
    // the smallest.
    // CHECK: memref.alloc(%{{.*}}) {ingot.most_bytes = 4220 : i64} : memref<?xf32>
    %a = memref.alloc(%padded) : memref<?xf32>
    memref.copy %x, %a : memref<?xf32> to memref<?xf32>
    return
  }
}

// -----

// Must not fire if sizes outside of the profiles run, too.

// CHECK-LABEL: func.func @general
module attributes {ingot.takes_general, ingot.shape_profiles = [
    #ingot.shape_profile<<input = 0, dim = 0, min = 1, usual = 4, max = 8, multiple = 1>>]} {
  func.func @general(%x: memref<?xf32>, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}) {
    %c0 = arith.constant 0 : index
    %size = memref.dim %x, %c0 : memref<?xf32>
    // CHECK: memref.alloc(%{{.*}}) : memref<?xf32>
    %a = memref.alloc(%size) : memref<?xf32>
    memref.copy %x, %a : memref<?xf32> to memref<?xf32>
    return
  }
}

// -----

// Must not fire for a range without an end, or a buffer of more than 2^47
// bytes.

// CHECK-LABEL: func.func @endless
module attributes {ingot.shape_profiles = [
    #ingot.shape_profile<<input = 0, dim = 0, min = 0, usual = -1, max = 9223372036854775807, multiple = 8>>]} {
  func.func @endless(%x: memref<?xf32>, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}) {
    %c0 = arith.constant 0 : index
    %size = memref.dim %x, %c0 : memref<?xf32>
    // CHECK: memref.alloc(%{{.*}}) : memref<?xf32>
    %a = memref.alloc(%size) : memref<?xf32>
    memref.copy %x, %a : memref<?xf32> to memref<?xf32>
    return
  }
}

// -----

// A chunk of images has at most all images.

// CHECK-LABEL: @chunks
module attributes {ingot.shape_profiles = [
    #ingot.shape_profile<<input = 0, dim = 0, min = 1, usual = 4, max = 8, multiple = 1>>]} {
  func.func @chunks(%x: memref<?x4xf32>, %arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}, %call: !llvm.ptr) {
    %c0 = arith.constant 0 : index
    %n = memref.dim %x, %c0 : memref<?x4xf32>
    %size = ingot.chunk %n per_thread 2 of %call : !llvm.ptr
    // CHECK: memref.alloc(%{{.*}}) {ingot.most_bytes = 512 : i64} : memref<?x64xi8>
    %a = memref.alloc(%size) : memref<?x64xi8>
    memref.copy %a, %a : memref<?x64xi8> to memref<?x64xi8>
    return
  }
}
