// RUN: ingot-opt --outline-linalg --split-input-file %s | FileCheck %s

// Equal ops share a kernel; a small one is one task. Buffers are distinct.
// CHECK-LABEL: func.func @forward
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: cpu.launch @[[K:.*]](%arg0, %arg1) tasks(%[[ONE]]) writes 2
// CHECK: cpu.launch @[[K]](%arg1, %arg2)
// CHECK: func.func private @[[K]](%{{.*}}: memref<8xf32>, %{{.*}}: memref<8xf32>, %{{.*}}: index) attributes {{{.*}}passthrough = ["ingot-distinct-buffers"]}
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
#id = affine_map<(d0) -> (d0)>
func.func @forward(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%y : memref<8xf32>) outs(%z : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// A large one is split along its outermost loop; in place, its one buffer is one
// argument.
// CHECK-LABEL: func.func @forward
// CHECK: %[[N:.*]] = arith.constant 16 : index
// CHECK: cpu.launch @{{.*}}(%arg0) tasks(%[[N]])
// CHECK: memref.subview %{{.*}} [64, 1024]
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @forward(%x: memref<1024x1024xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<1024x1024xf32>) outs(%x : memref<1024x1024xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Not beside oneDNN's own threads.
module attributes {ingot.needs_onednn} {
// CHECK-LABEL: func.func @forward
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: cpu.launch @{{.*}}(%arg0) tasks(%[[ONE]])
func.func @forward(%x: memref<1024x1024xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%x : memref<1024x1024xf32>)
  return
}
}

// -----

// A number that only the run knows does not fit into a launch; other functions
// are none of a run.
// CHECK-LABEL: func.func @forward
// CHECK: linalg.fill
// CHECK-LABEL: func.func @other
// CHECK: linalg.fill
func.func @forward(%x: memref<8xf32>, %n: memref<f32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %number = memref.load %n[] : memref<f32>
  linalg.fill ins(%number : f32) outs(%x : memref<8xf32>)
  return
}
func.func @other(%x: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%x : memref<8xf32>)
  return
}

// -----

// Of open ranges a run splits two loops, for the first may have one iteration:
// it counts the tasks as the kernel takes their numbers apart.
// CHECK-LABEL: func.func @forward
// CHECK: %[[D0:.*]] = memref.dim %arg0, %{{.*}}
// CHECK: %[[D1:.*]] = memref.dim %arg0, %{{.*}}
// CHECK: arith.divui
// CHECK: %[[B0:.*]] = arith.ceildivui %[[D0]], %{{.*}}
// CHECK: %[[B1:.*]] = arith.ceildivui %[[D1]], %{{.*}}
// CHECK: %[[N:.*]] = arith.muli %{{.*}}, %{{.*}}
// CHECK: cpu.launch @{{.*}}(%arg0) tasks(%{{.*}})
// CHECK: func.func private
// CHECK: arith.remui
// CHECK: memref.subview %{{.*}}, 64] [1, 1, 1]
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @forward(%x: memref<?x?x64xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : memref<?x?x64xf32>) outs(%x : memref<?x?x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// What makes memory of the run in its body stays where the run is.
// CHECK-LABEL: func.func @forward
// CHECK: linalg.generic
// CHECK: memref.alloc
// CHECK-NOT: cpu.launch
// CHECK: return
#id = affine_map<(d0) -> (d0)>
func.func @forward(%x: memref<8xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%x : memref<8xf32>) {
  ^bb0(%a: f32):
    %memory = memref.alloc() : memref<8xf32>
    memref.dealloc %memory : memref<8xf32>
    linalg.yield %a : f32
  }
  return
}
