// RUN: ingot-opt --outline-loops %s | FileCheck %s

// The view is repeated in the loop's function; buffers are its arguments.
// CHECK: func.func private @forward_loops_0(%[[X:.*]]: memref<16xf32>, %[[ARENA:.*]]: memref<?xi8>) attributes {llvm.linkage = #llvm.linkage<internal>, passthrough = ["noinline", "ingot-distinct-buffers"]}
// CHECK: %[[VIEW:.*]] = memref.view %[[ARENA]][%{{.*}}][]
// CHECK: scf.for
// CHECK: memref.load %[[X]]
// CHECK: memref.store %{{.*}}, %[[VIEW]]
// CHECK: return
// A buffer that is made in the function may be a part of another one.
// CHECK: func.func private @forward_loops_1(%{{.*}}: memref<?xf32>
// CHECK-SAME: passthrough = ["noinline"]
// CHECK: func.func @forward
// CHECK-NOT: scf.for
// CHECK: call @forward_loops_0(%{{.*}}, %{{.*}})
// CHECK: memref.alloc
// CHECK: call @forward_loops_1
// CHECK: call @somewhere
// CHECK: scf.for
// CHECK: call @somewhere
func.func private @somewhere()
func.func @forward(%x: memref<16xf32>, %arena: memref<?xi8>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %view = memref.view %arena[%c64][] : memref<?xi8> to memref<16xf32>
  scf.for %i = %c0 to %c16 step %c1 {
    %v = memref.load %x[%i] : memref<16xf32>
    memref.store %v, %view[%i] : memref<16xf32>
  }
  %new = memref.alloc(%n) : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %view[%i] : memref<16xf32>
    memref.store %v, %new[%i] : memref<?xf32>
  }
  memref.dealloc %new : memref<?xf32>
  call @somewhere() : () -> ()
  scf.for %i = %c0 to %c16 step %c1 {
    func.call @somewhere() : () -> ()
  }
  return
}

// Must not fire: a loop that runs kernels, such as a step of a recurrent net,
// needs the run's call.
// CHECK-LABEL: func.func @steps
// CHECK: scf.for
// CHECK: cpu.launch @kernel
func.func private @kernel(memref<16xf32>, index)
func.func @steps(%x: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %c16 step %c1 {
    cpu.launch @kernel(%x) tasks(%c1) writes 1 : memref<16xf32>
  }
  return
}
