// RUN: ingot-opt --outline-linalg --split-input-file %s | FileCheck %s

// Equal ops share a kernel. A small op is one task. Buffers are distinct.
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

// A large op is split along its outermost loop. In place, its single buffer is
// a single argument.
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

// Must not fire beside oneDNN's own threads.
module attributes {ingot.libraries = [#ingot.library<"blas", own_threads = true>]} {
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

// Must not fire: a computed scalar cannot be passed to a launch; functions that
// are not part of a run.
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

// A run splits two loops of dynamic ranges, since the first may have one
// iteration. One function counts the tasks, another one splits task numbers.
// All kernels with equal splits share both functions.
// CHECK-LABEL: func.func @forward
// CHECK: %[[D0:.*]] = memref.dim %arg0, %{{.*}}
// CHECK: %[[D1:.*]] = memref.dim %arg0, %{{.*}}
// CHECK-NOT: div
// CHECK: %[[N:.*]] = call @[[COUNT:.*]](%{{.*}}, %[[D0]], %[[D1]])
// CHECK: cpu.launch @[[EXP:.*]](%arg0) tasks(%[[N]])
// CHECK: call @[[COUNT]](
// CHECK: cpu.launch @[[LOG:.*]](%arg0)
// CHECK: func.func private @[[PART:.*]](%{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index) -> (index, index, index, index) attributes {{{.*}}passthrough = ["noinline", "nounwind", "willreturn"]}
// CHECK: arith.remui
// CHECK: func.func private @[[EXP]]
// CHECK-NOT: div
// CHECK: %[[AT:.*]]:4 = call @[[PART]](
// CHECK: memref.subview %{{.*}}[%[[AT]]#0, %[[AT]]#1, 0] [%[[AT]]#2, %[[AT]]#3, 64] [1, 1, 1]
// CHECK: func.func private @[[COUNT]](%{{.*}}: index, %[[R0:.*]]: index, %[[R1:.*]]: index) -> index
// CHECK: arith.divui
// CHECK: %[[B0:.*]] = arith.ceildivui %[[R0]], %{{.*}}
// CHECK: %[[B1:.*]] = arith.ceildivui %[[R1]], %{{.*}}
// CHECK: func.func private @[[LOG]]
// CHECK: call @[[PART]](
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @forward(%x: memref<?x?x64xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : memref<?x?x64xf32>) outs(%x : memref<?x?x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : memref<?x?x64xf32>) outs(%x : memref<?x?x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.log %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Must not fire: the body allocates memory of the run.
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

// -----

// A size that is read twice at each of many steps is computed once. Visiting it
// once per path would never end.
// CHECK-LABEL: func.func @forward
// CHECK: cpu.launch @[[K:.*]](%arg0)
// CHECK: func.func private @[[K]]
// CHECK-COUNT-40: arith.muli
// CHECK: linalg.generic
#id = affine_map<(d0) -> (d0)>
func.func @forward(%x: memref<?xi64>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %zero = arith.constant 0 : index
  %s0 = memref.dim %x, %zero : memref<?xi64>
  %s1 = arith.muli %s0, %s0 : index
  %s2 = arith.muli %s1, %s1 : index
  %s3 = arith.muli %s2, %s2 : index
  %s4 = arith.muli %s3, %s3 : index
  %s5 = arith.muli %s4, %s4 : index
  %s6 = arith.muli %s5, %s5 : index
  %s7 = arith.muli %s6, %s6 : index
  %s8 = arith.muli %s7, %s7 : index
  %s9 = arith.muli %s8, %s8 : index
  %s10 = arith.muli %s9, %s9 : index
  %s11 = arith.muli %s10, %s10 : index
  %s12 = arith.muli %s11, %s11 : index
  %s13 = arith.muli %s12, %s12 : index
  %s14 = arith.muli %s13, %s13 : index
  %s15 = arith.muli %s14, %s14 : index
  %s16 = arith.muli %s15, %s15 : index
  %s17 = arith.muli %s16, %s16 : index
  %s18 = arith.muli %s17, %s17 : index
  %s19 = arith.muli %s18, %s18 : index
  %s20 = arith.muli %s19, %s19 : index
  %s21 = arith.muli %s20, %s20 : index
  %s22 = arith.muli %s21, %s21 : index
  %s23 = arith.muli %s22, %s22 : index
  %s24 = arith.muli %s23, %s23 : index
  %s25 = arith.muli %s24, %s24 : index
  %s26 = arith.muli %s25, %s25 : index
  %s27 = arith.muli %s26, %s26 : index
  %s28 = arith.muli %s27, %s27 : index
  %s29 = arith.muli %s28, %s28 : index
  %s30 = arith.muli %s29, %s29 : index
  %s31 = arith.muli %s30, %s30 : index
  %s32 = arith.muli %s31, %s31 : index
  %s33 = arith.muli %s32, %s32 : index
  %s34 = arith.muli %s33, %s33 : index
  %s35 = arith.muli %s34, %s34 : index
  %s36 = arith.muli %s35, %s35 : index
  %s37 = arith.muli %s36, %s36 : index
  %s38 = arith.muli %s37, %s37 : index
  %s39 = arith.muli %s38, %s38 : index
  %s40 = arith.muli %s39, %s39 : index
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%x : memref<?xi64>) {
  ^bb0(%a: i64):
    %0 = arith.index_cast %s40 : index to i64
    linalg.yield %0 : i64
  }
  return
}

// -----

// Tasks of a transpose have whole squares: 8 of 8 channels, although there is
// work for 16 tasks.
// CHECK-LABEL: func.func @forward
// CHECK: %[[TASKS:.*]] = arith.constant 8 : index
// CHECK: cpu.launch @{{.*}}(%arg0, %arg1) tasks(%[[TASKS]])
// CHECK: memref.subview %arg1[0, %{{.*}}, 0] [1, 8, 12544]
#last = affine_map<(n, c, p) -> (n, p, c)>
#first = affine_map<(n, c, p) -> (n, c, p)>
func.func @forward(%x: memref<1x12544x64xf32>, %y: memref<1x64x12544xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  linalg.generic {indexing_maps = [#last, #first], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : memref<1x12544x64xf32>) outs(%y : memref<1x64x12544xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

// Floats that become bytes are transposed by 16. The last task has 20 pixels:
// the 4 pixels behind 12 squares alone would be no square.
// CHECK-LABEL: func.func @forward
// CHECK: %[[TASKS:.*]] = arith.constant 12 : index
// CHECK: cpu.launch @{{.*}}(%arg0, %arg1) tasks(%[[TASKS]])
// CHECK: %[[CHUNK:.*]] = arith.constant 16 : index
// CHECK: %[[OFFSET:.*]] = arith.muli %arg2, %[[CHUNK]]
// CHECK: %[[REST:.*]] = arith.subi %{{.*}}, %[[OFFSET]]
// CHECK: %[[IS_LAST:.*]] = arith.cmpi slt, %[[REST]], %{{.*}}
// CHECK: %[[SIZE:.*]] = arith.select %[[IS_LAST]], %[[REST]], %{{.*}}
// CHECK: memref.subview %arg1[0, %[[OFFSET]], 0] [1, %[[SIZE]], 384]
#last = affine_map<(n, p, c) -> (n, c, p)>
#first = affine_map<(n, p, c) -> (n, p, c)>
func.func @forward(%x: memref<1x384x196xf32>, %y: memref<1x196x384xi8>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  linalg.generic {indexing_maps = [#last, #first], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : memref<1x384x196xf32>) outs(%y : memref<1x196x384xi8>) {
  ^bb0(%a: f32, %b: i8):
    %0 = arith.constant 3.0 : f32
    %1 = arith.mulf %a, %0 : f32
    %2 = arith.maximumf %1, %0 : f32
    %3 = arith.fptosi %2 : f32 to i32
    %4 = arith.trunci %3 : i32 to i8
    linalg.yield %4 : i8
  }
  return
}

// -----

// A run splits dynamic loops only if that pays: a row of three elements stays
// whole.
// CHECK-LABEL: func.func @forward
// CHECK: %[[TASKS:.*]] = call @[[COUNT:.*]](%{{.*}}, %{{.*}}) : (index, index) -> index
// CHECK: cpu.launch @{{.*}}(%arg0) tasks(%[[TASKS]])
// CHECK: %[[PART:.*]]:2 = call
// CHECK: memref.subview %arg0[%[[PART]]#0, 0] [%[[PART]]#1, 3]
// CHECK: func.func private @[[COUNT]]
// CHECK: %[[SEVERAL:.*]] = arith.cmpi ugt
// CHECK: scf.if %[[SEVERAL]] -> (index)
// CHECK: arith.ceildivui
// CHECK: } else {
// CHECK-NOT: div
// CHECK: return
#id = affine_map<(i, j) -> (i, j)>
func.func @forward(%x: memref<?x3xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%x : memref<?x3xf32>) {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// A loop of as many elements as a task is split, too, since the batch may be
// one.
// CHECK-LABEL: func.func @forward
// CHECK: func.func private
// CHECK: %[[PART:.*]]:4 = call
// CHECK: memref.subview %arg0[%[[PART]]#0, %[[PART]]#1] [%[[PART]]#2, %[[PART]]#3]
#id = affine_map<(i, j) -> (i, j)>
func.func @forward(%x: memref<?x100000xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%x : memref<?x100000xf32>) {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// The reduction is outside of a loop that may have no steps: then there is no
// task.
// CHECK-LABEL: func.func @forward
// CHECK: %[[HOLDS:.*]] = arith.minsi
// CHECK: %[[TASKS:.*]] = arith.muli %{{.*}}, %[[HOLDS]]
// CHECK: cpu.launch @{{.*}}(%arg0, %arg1) tasks(%[[TASKS]])
#in = affine_map<(d0, d1) -> (d0, d1)>
#out = affine_map<(d0, d1) -> (d1)>
func.func @forward(%x: memref<?x?xi32>, %y: memref<?xi32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction", "parallel"]} ins(%x : memref<?x?xi32>) outs(%y : memref<?xi32>) {
  ^bb0(%a: i32, %b: i32):
    %0 = arith.xori %a, %b : i32
    linalg.yield %0 : i32
  }
  return
}

// -----

// A skipped buffer has no task, although the operand has elements. An op that
// stays in the function does not run, either.
// CHECK-LABEL: func.func @forward
// CHECK: %[[RUNS:.*]] = arith.select %arg2, %c0{{.*}}, %c1{{.*}} : index
// CHECK: %[[TASKS:.*]] = arith.muli %{{.*}}, %[[RUNS]]
// CHECK: cpu.launch @{{.*}} tasks(%[[TASKS]])
// CHECK: scf.if
// CHECK-NEXT: linalg.generic
#rows = affine_map<(d0) -> (d0)>
func.func @forward(%x: memref<?xf32>, %n: index, %unread: i1, %s: memref<f32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %size = arith.select %unread, %c0, %n : index
  %b = memref.alloc(%size) : memref<?xf32>
  linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel"]} ins(%x : memref<?xf32>) outs(%b : memref<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  %v = memref.load %s[] : memref<f32>
  linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel"]} ins(%x : memref<?xf32>) outs(%b : memref<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %v : f32
  }
  return
}

// -----

// The steps of a loop in the body count as work, so few rows become several
// tasks.
// CHECK-LABEL: func.func @forward
// CHECK: %[[N:.*]] = arith.constant 4 : index
// CHECK: cpu.launch @{{.*}}(%arg1, %arg0) tasks(%[[N]])
#row = affine_map<(d0) -> (d0)>
func.func @forward(%x: memref<4x16384xi32>, %y: memref<4xi32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = arith.constant 16384 : index
  %zero = arith.constant 0 : i32
  linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]} outs(%y : memref<4xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %sum = scf.for %k = %c0 to %steps step %c1 iter_args(%s = %zero) -> (i32) {
      %e = memref.load %x[%i, %k] : memref<4x16384xi32>
      %t = arith.addi %s, %e : i32
      scf.yield %t : i32
    }
    linalg.yield %sum : i32
  }
  return
}
