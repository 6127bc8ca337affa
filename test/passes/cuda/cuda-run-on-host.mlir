// RUN: ingot-opt --cuda-run-on-host --split-input-file %s | FileCheck %s
// RUN: not ingot-opt --cuda-run-on-host=refuse --split-input-file %s 2>&1 | FileCheck %s --check-prefix=REFUSE

// The op works on copies. Only the buffer that it writes is copied back. Nothing
// has written that buffer before, so its elements are not copied to the host.
// The module lists the node.
// CHECK: module attributes {cuda.host_nodes = [#cuda.host_node<node = "", reason = "needs its data on the host", buffers = 2>]}
// CHECK-LABEL: func.func @sorted
// CHECK-SAME: (%[[X:.*]]: memref<8xf32>, %[[Y:.*]]: memref<8xf32>
// CHECK: %[[HX:.*]] = cuda.shadow %[[X]]
// CHECK: cuda.to_host %[[X]], %[[HX]]
// CHECK: %[[HY:.*]] = cuda.shadow %[[Y]]
// CHECK-NOT: cuda.to_host
// CHECK: cuda.wait
// CHECK: scf.for
// CHECK: memref.load %[[HX]]
// CHECK: memref.store %{{.*}}, %[[HY]]
// CHECK: cuda.to_device %[[HY]], %[[Y]]
// CHECK-NOT: cuda.to_device
// REFUSE: error: is not computed on GPUs: it needs its data on the host
func.func @sorted(%x: memref<8xf32>, %y: memref<8xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %0 = memref.load %x[%i] : memref<8xf32>
    memref.store %0, %y[%i] : memref<8xf32>
  }
  return
}

// -----

// A view of the arena has a part of the arena's shadow. The host has the
// weights, so they need no copy.
// CHECK: cuda.host_nodes = [#cuda.host_node<node = "", reason = "computes a function that GPUs lack", buffers = 2>]
// CHECK-LABEL: func.func @views
// CHECK-SAME: (%[[W:.*]]: memref<?xi8> {{.*}}, %[[A:.*]]: memref<?xi8>
// CHECK: %[[X:.*]] = memref.view %[[W]]
// CHECK: %[[Y:.*]] = memref.view %[[A]]
// CHECK: cuda.shadow %[[X]]
// CHECK: %[[V:.*]] = cuda.shadow %[[Y]]
// CHECK-NOT: cuda.to_host
// CHECK: cuda.wait
// CHECK: linalg.generic
// CHECK-NOT: cuda.reason
// CHECK: cuda.to_device %[[V]]
#id = affine_map<(d0) -> (d0)>
func.func @views(%w: memref<?xi8> {ingot.operand = #ingot.operand<weights>}, %a: memref<?xi8> {ingot.operand = #ingot.operand<arena>}, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c64 = arith.constant 64 : index
  %x = memref.view %w[%c64][] : memref<?xi8> to memref<8xf32>
  %y = memref.view %a[%c64][] : memref<?xi8> to memref<8xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) attrs = {cuda.reason = "computes a function that GPUs lack"} {
  ^bb0(%p: f32, %q: f32):
    %0 = math.sinh %p : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// In a loop with launches only the op that reads memory moves.
// CHECK-LABEL: func.func @loop
// CHECK: scf.for
// CHECK-NEXT: cuda.launch
// CHECK: cuda.wait
// CHECK-NEXT: memref.load
func.func @loop(%x: memref<8xi64>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    cuda.launch @ingot_cuda_kernels::@k(%x) blocks(%c1) writes 1 : memref<8xi64>
    %0 = memref.load %x[%i] : memref<8xi64>
    func.call @sink(%0) : (i64) -> ()
  }
  return
}
func.func private @sink(i64)
module @ingot_cuda_kernels {
  func.func @k(%x: memref<8xi64>) attributes {cuda.block = #cuda.block<threads = 32>} {
    return
  }
}

// -----

// Buffers of open size are in GPU memory, too. The ops that allocate, release
// and pass on memory read none. What a loop of host code allocates is in host
// memory, without copies.
// CHECK-LABEL: func.func @open
// CHECK: memref.alloc
// CHECK-NOT: cuda.
// CHECK: scf.for
// CHECK: %[[Y:.*]] = memref.alloc
// CHECK: %[[SHADOW:.*]] = cuda.shadow %[[Y]]
// CHECK-NOT: cuda.
// CHECK: memref.store %{{.*}}, %[[SHADOW]]
// CHECK-NEXT: memref.dealloc %[[Y]]
// CHECK-NOT: cuda.
// CHECK: call @ingot_support_store_output
func.func @open(%n: index, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = arith.constant 1.0 : f32
  %x = memref.alloc(%n) : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %y = memref.alloc(%i) : memref<?xf32>
    memref.store %v, %y[%c0] : memref<?xf32>
    memref.dealloc %y : memref<?xf32>
  }
  %data = memref.extract_aligned_pointer_as_index %x : memref<?xf32> -> index
  call @ingot_support_store_output(%call, %c0, %c0, %c0, %data, %c0) : (!llvm.ptr, index, index, index, index, index) -> ()
  memref.dealloc %x : memref<?xf32>
  return
}
func.func private @ingot_support_store_output(!llvm.ptr, index, index, index, index, index)

// -----

// A reshape reads its shape. The result is a view of the source, not of a copy.
// CHECK-LABEL: func.func @reshape
// CHECK: %[[SHAPE:.*]] = cuda.shadow %arg1
// CHECK: cuda.to_host %arg1, %[[SHAPE]]
// CHECK-NOT: cuda.shadow
// CHECK: memref.reshape %arg0(%[[SHAPE]])
func.func @reshape(%x: memref<?x4xf32>, %shape: memref<2xindex>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %y = memref.reshape %x(%shape) : (memref<?x4xf32>, memref<2xindex>) -> memref<?x?xf32>
  return
}

// -----

// A size of a new buffer is not one of its elements, which nobody wrote yet.
// CHECK-LABEL: func.func @size
// CHECK: %[[X:.*]] = memref.alloc
// CHECK: memref.dim %[[X]]
// CHECK: %[[SHADOW:.*]] = cuda.shadow %[[X]]
// CHECK-NOT: cuda.to_host
// CHECK: memref.store %{{.*}}, %[[SHADOW]]
// CHECK: cuda.to_device %[[SHADOW]], %[[X]]
func.func @size(%n: index, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %v = arith.constant 1.0 : f32
  %x = memref.alloc(%n) : memref<?xf32>
  %size = memref.dim %x, %c0 : memref<?xf32>
  memref.store %v, %x[%size] : memref<?xf32>
  return
}

// -----

// The first part of a new buffer defines all of it, because a copy of the other
// part includes the bytes between its elements.
// CHECK-LABEL: func.func @parts
// CHECK: %[[X:.*]] = memref.alloc
// CHECK: %[[FIRST:.*]] = memref.subview %[[X]][0, 0]
// CHECK: %[[PART:.*]] = cuda.shadow %[[FIRST]]
// CHECK-NOT: cuda.to_host
// CHECK: memref.store %{{.*}}, %[[PART]]
// CHECK: %[[ALL:.*]] = cuda.shadow %[[X]]
// CHECK: cuda.to_device %[[ALL]], %[[X]]
// CHECK: %[[SECOND:.*]] = memref.subview %[[X]][0, 1]
// CHECK: %[[OTHER:.*]] = cuda.shadow %[[SECOND]]
// CHECK: cuda.to_host %[[SECOND]], %[[OTHER]]
// CHECK: cuda.to_device %[[OTHER]], %[[SECOND]]
func.func @parts(%n: index, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %v = arith.constant 1.0 : f32
  %x = memref.alloc(%n) : memref<?x2xf32>
  %first = memref.subview %x[0, 0] [%n, 1] [1, 1] : memref<?x2xf32> to memref<?x1xf32, strided<[2, 1]>>
  memref.store %v, %first[%c0, %c0] : memref<?x1xf32, strided<[2, 1]>>
  %second = memref.subview %x[0, 1] [%n, 1] [1, 1] : memref<?x2xf32> to memref<?x1xf32, strided<[2, 1], offset: 1>>
  memref.store %v, %second[%c0, %c0] : memref<?x1xf32, strided<[2, 1], offset: 1>>
  return
}

// -----

// A value that the host loads comes from an input of the model, or from another
// node. The reason names it. If the node of the load computes the value, the
// reason names what the node computes it from.
// CHECK: cuda.host_nodes = [#cuda.host_node<node = "scan", reason = "needs input 'axis' on the host", buffers = 1>, #cuda.host_node<node = "expand", reason = "needs the result of node 'sum' on the host", buffers = 1>, #cuda.host_node<node = "sum", reason = "needs input 'x' on the host", buffers = 1>]
// CHECK-LABEL: func.func @values
// REFUSE: is not computed on GPUs: it needs input 'axis' on the host
module attributes {ingot.inputs = [#ingot.tensor<"x" : tensor<8xi64>, dims = "">, #ingot.tensor<"axis" : tensor<1xi64>, dims = "">]} {
  func.func @values(%x: memref<8xi64>, %axis: memref<1xi64>, %a: memref<?xi8> {ingot.operand = #ingot.operand<arena>}, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %s = memref.view %a[%c0][] : memref<?xi8> to memref<1xi64>
    %0 = memref.load %axis[%c0] : memref<1xi64> loc("scan")
    cuda.launch @ingot_cuda_kernels::@k(%x, %s) blocks(%c1) writes 1 : memref<8xi64>, memref<1xi64> loc("sum")
    cuda.launch @ingot_cuda_kernels::@r(%s, %x) blocks(%c1) writes 2 : memref<1xi64>, memref<8xi64> loc("reader")
    %1 = memref.load %s[%c0] : memref<1xi64> loc("expand")
    %2 = memref.load %s[%c0] : memref<1xi64> loc("sum")
    func.call @take(%0, %1, %2) : (i64, i64, i64) -> ()
    return
  }
  func.func private @take(i64, i64, i64)
  module @ingot_cuda_kernels {
    func.func @k(%x: memref<8xi64>, %y: memref<1xi64>) attributes {cuda.block = #cuda.block<threads = 32>} {
      %c0 = arith.constant 0 : index
      %0 = memref.load %x[%c0] : memref<8xi64>
      memref.store %0, %y[%c0] : memref<1xi64>
      return
    }
    func.func @r(%x: memref<1xi64>, %y: memref<8xi64>) attributes {cuda.block = #cuda.block<threads = 32>} {
      %c0 = arith.constant 0 : index
      %0 = memref.load %x[%c0] : memref<1xi64>
      memref.store %0, %y[%c0] : memref<8xi64>
      return
    }
  }
}

// -----

// Each step of a loop has the view anew, and the store writes all of it. The
// row of a list that lives longer is written as a whole, too.
// CHECK-LABEL: func.func @steps
// CHECK: scf.for
// CHECK-NOT: cuda.to_host
// CHECK: memref.store
// CHECK: cuda.to_device
// CHECK-NOT: cuda.to_host
// CHECK: linalg.generic
// CHECK: cuda.to_device
#row = affine_map<(d0) -> (d0)>
func.func @steps(%n: index, %x: memref<4xf32>, %list: memref<?x4xf32>, %a: memref<?xi8> {ingot.operand = #ingot.operand<arena>}, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = arith.constant 1.0 : f32
  cuda.launch @ingot_cuda_kernels::@k(%list) blocks(%c1) writes 1 : memref<?x4xf32>
  scf.for %i = %c0 to %n step %c1 {
    %number = arith.index_cast %i : index to i64
    %step = memref.view %a[%c0][] : memref<?xi8> to memref<i64>
    memref.store %number, %step[] : memref<i64>
    cuda.launch @ingot_cuda_kernels::@m(%step) blocks(%c1) writes 1 : memref<i64>
    %row = memref.subview %list[%i, 0] [1, 4] [1, 1] : memref<?x4xf32> to memref<4xf32, strided<[1], offset: ?>>
    linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]} outs(%row : memref<4xf32, strided<[1], offset: ?>>) {
    ^bb0(%q: f32):
      linalg.yield %v : f32
    }
  }
  return
}
module @ingot_cuda_kernels {
  func.func @k(%x: memref<?x4xf32>) attributes {cuda.block = #cuda.block<threads = 32>} {
    return
  }
  func.func @m(%x: memref<i64>) attributes {cuda.block = #cuda.block<threads = 32>} {
    return
  }
}

// -----

// A part of a buffer is written in a branch, and read in the other one. Nothing
// has defined the buffer before.
// CHECK-LABEL: func.func @branches
// CHECK: scf.if
// CHECK-NOT: cuda.to_host
// CHECK: memref.store
// CHECK: else
// CHECK: cuda.launch
func.func @branches(%is: i1, %i: index, %a: memref<?xi8> {ingot.operand = #ingot.operand<arena>}, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = arith.constant 1.0 : f32
  %x = memref.view %a[%c0][] : memref<?xi8> to memref<8xf32>
  scf.if %is {
    memref.store %v, %x[%i] : memref<8xf32>
  } else {
    cuda.launch @ingot_cuda_kernels::@k(%x) blocks(%c1) writes 1 : memref<8xf32>
  }
  return
}
module @ingot_cuda_kernels {
  func.func @k(%x: memref<8xf32>) attributes {cuda.block = #cuda.block<threads = 32>} {
    return
  }
}

// -----

// A buffer that lives longer than a step of a loop keeps the elements of earlier
// steps. So does what lies between the elements of a column.
// CHECK-LABEL: func.func @kept
// CHECK: scf.for
// CHECK: cuda.to_host
// CHECK: memref.store
// CHECK: cuda.to_host
// CHECK: linalg.fill
func.func @kept(%n: index, %x: memref<8xf32>, %y: memref<4x4xf32>, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    memref.store %v, %x[%i] : memref<8xf32>
    cuda.launch @ingot_cuda_kernels::@k(%x) blocks(%c1) writes 1 : memref<8xf32>
    %column = memref.subview %y[0, %i] [4, 1] [1, 1] : memref<4x4xf32> to memref<4xf32, strided<[4], offset: ?>>
    linalg.fill ins(%v : f32) outs(%column : memref<4xf32, strided<[4], offset: ?>>)
    cuda.launch @ingot_cuda_kernels::@m(%y) blocks(%c1) writes 1 : memref<4x4xf32>
  }
  return
}
module @ingot_cuda_kernels {
  func.func @k(%x: memref<8xf32>) attributes {cuda.block = #cuda.block<threads = 32>} {
    return
  }
  func.func @m(%x: memref<4x4xf32>) attributes {cuda.block = #cuda.block<threads = 32>} {
    return
  }
}

// -----

// An op that may end the run writes the run's status, but not the row that it
// appends to a list.
// CHECK-LABEL: func.func @appended
// CHECK: %[[ROW:.*]] = cuda.shadow %arg0
// CHECK-NEXT: cuda.to_host %arg0, %[[ROW]]
// CHECK: ingot.append %arg1, %[[ROW]]
// CHECK-NOT: cuda.to_device
// CHECK: return
func.func @appended(%x: memref<8xf32>, %list: index, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  ingot.append %list, %x, "the row has another size" : memref<8xf32>
  return
}

// -----

// A loop writes parts of a buffer that nothing has defined before. The first
// step copies the buffer, so it is defined in front of the loop. An input, which
// the loop reads, is defined.
// CHECK-LABEL: func.func @firstStep
// CHECK: %[[Y:.*]] = memref.view %arg2
// CHECK: %[[SHADOW:.*]] = cuda.shadow %[[Y]]
// CHECK-NEXT: cuda.to_device %[[SHADOW]], %[[Y]]
// CHECK-NOT: cuda.to_device
// CHECK: scf.for
// CHECK: cuda.to_host %arg1
// CHECK: cuda.to_host %[[Y]]
// CHECK: memref.store
// CHECK: cuda.to_device {{.*}}, %[[Y]]
func.func @firstStep(%n: index, %x: memref<8xf32>, %a: memref<?xi8> {ingot.operand = #ingot.operand<arena>}, %call: !llvm.ptr {ingot.operand = #ingot.operand<call>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = memref.view %a[%c0][] : memref<?xi8> to memref<8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<8xf32>
    memref.store %v, %y[%i] : memref<8xf32>
    cuda.launch @ingot_cuda_kernels::@k(%y) blocks(%c1) writes 1 : memref<8xf32>
  }
  return
}
module @ingot_cuda_kernels {
  func.func @k(%x: memref<8xf32>) attributes {cuda.block = #cuda.block<threads = 32>} {
    return
  }
}
