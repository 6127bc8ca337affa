// RUN: ingot-opt --cuda-join-copies --split-input-file %s | FileCheck %s

// The second op reads what the first has written, and another buffer. One wait
// is enough, and nothing is copied between the ops.
// CHECK-LABEL: func.func @neighbors
// CHECK-SAME: (%[[X:.*]]: memref<8xf32>, %[[Y:.*]]: memref<8xf32>, %[[Z:.*]]: memref<8xf32>)
// CHECK: %[[HX:.*]] = cuda.shadow %[[X]]
// CHECK: cuda.to_host %[[X]], %[[HX]]
// CHECK: %[[HZ:.*]] = cuda.shadow %[[Z]]
// CHECK-NEXT: cuda.to_host %[[Z]], %[[HZ]]
// CHECK-NEXT: cuda.wait
// CHECK-NEXT: linalg.add ins(%[[HX]]
// CHECK-NOT: cuda
// CHECK: %[[HY:.*]] = cuda.shadow %[[Y]]
// CHECK-NOT: cuda
// CHECK: linalg.add ins(%[[HY]], %[[HZ]]
// CHECK-NEXT: cuda.to_device %{{.*}}, %[[Y]]
// CHECK-NEXT: cuda.to_device %{{.*}}, %[[Z]]
// CHECK-NEXT: return
func.func @neighbors(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) {
  %hx = cuda.shadow %x : memref<8xf32> -> memref<8xf32>
  cuda.to_host %x, %hx : memref<8xf32>, memref<8xf32>
  %hy = cuda.shadow %y : memref<8xf32> -> memref<8xf32>
  cuda.wait
  linalg.add ins(%hx, %hx : memref<8xf32>, memref<8xf32>) outs(%hy : memref<8xf32>)
  cuda.to_device %hy, %y : memref<8xf32>, memref<8xf32>
  %hy2 = cuda.shadow %y : memref<8xf32> -> memref<8xf32>
  cuda.to_host %y, %hy2 : memref<8xf32>, memref<8xf32>
  %hz = cuda.shadow %z : memref<8xf32> -> memref<8xf32>
  cuda.to_host %z, %hz : memref<8xf32>, memref<8xf32>
  cuda.wait
  linalg.add ins(%hy2, %hz : memref<8xf32>, memref<8xf32>) outs(%hz : memref<8xf32>)
  cuda.to_device %hz, %z : memref<8xf32>, memref<8xf32>
  return
}

// -----

// A launch needs the copies, and may write what the host has read.
// CHECK-LABEL: func.func @launch
// CHECK-SAME: (%[[X:.*]]: memref<8xf32>, %[[Y:.*]]: memref<8xf32>)
// CHECK: cuda.to_host %[[X]]
// CHECK: cuda.wait
// CHECK: linalg.add
// CHECK-NEXT: cuda.to_device %{{.*}}, %[[Y]]
// CHECK-NEXT: cuda.launch
// CHECK: cuda.to_host %[[Y]]
// CHECK: cuda.wait
// CHECK: linalg.add
// CHECK-NEXT: cuda.to_device %{{.*}}, %[[Y]]
// CHECK-NEXT: return
func.func @launch(%x: memref<8xf32>, %y: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  %hx = cuda.shadow %x : memref<8xf32> -> memref<8xf32>
  %hy = cuda.shadow %y : memref<8xf32> -> memref<8xf32>
  cuda.to_host %x, %hx : memref<8xf32>, memref<8xf32>
  cuda.wait
  linalg.add ins(%hx, %hx : memref<8xf32>, memref<8xf32>) outs(%hy : memref<8xf32>)
  cuda.to_device %hy, %y : memref<8xf32>, memref<8xf32>
  cuda.launch @ingot_cuda_kernels::@k(%y) blocks(%c1) writes 1 : memref<8xf32>
  cuda.to_host %y, %hy : memref<8xf32>, memref<8xf32>
  cuda.wait
  linalg.add ins(%hy, %hy : memref<8xf32>, memref<8xf32>) outs(%hy : memref<8xf32>)
  cuda.to_device %hy, %y : memref<8xf32>, memref<8xf32>
  return
}
module @ingot_cuda_kernels {
  func.func @k(%x: memref<8xf32>) attributes {cuda.block = #cuda.block<threads = 32>} {
    return
  }
}

// -----

// The second op reads all of a buffer, and the first has written a part of it.
// The host lacks the rest, so the part goes to the GPU first.
// CHECK-LABEL: func.func @part
// CHECK: cuda.wait
// CHECK: linalg.fill
// CHECK-NEXT: cuda.to_device
// CHECK-NEXT: cuda.to_host
// CHECK-NEXT: cuda.wait
// CHECK-NEXT: linalg.add
func.func @part(%x: memref<8xf32>, %y: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %hx = cuda.shadow %x : memref<8xf32> -> memref<8xf32>
  %hy = cuda.shadow %y : memref<8xf32> -> memref<8xf32>
  %part = memref.subview %x[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  %hpart = cuda.shadow %part : memref<4xf32, strided<[1]>> -> memref<4xf32, strided<[1]>>
  cuda.wait
  linalg.fill ins(%zero : f32) outs(%hpart : memref<4xf32, strided<[1]>>)
  cuda.to_device %hpart, %part : memref<4xf32, strided<[1]>>, memref<4xf32, strided<[1]>>
  cuda.to_host %x, %hx : memref<8xf32>, memref<8xf32>
  cuda.wait
  linalg.add ins(%hx, %hx : memref<8xf32>, memref<8xf32>) outs(%hy : memref<8xf32>)
  cuda.to_device %hy, %y : memref<8xf32>, memref<8xf32>
  return
}

// -----

// Nothing reads a buffer that is released. A step of a loop cannot know the
// copies of the step before it. A function of the model may launch kernels, a
// function of the runtime does not.
// CHECK-LABEL: func.func @steps
// CHECK: scf.for
// CHECK: cuda.to_host
// CHECK: cuda.wait
// CHECK: linalg.add
// CHECK-NEXT: memref.dealloc
// CHECK-NEXT: func.call @runtime
// CHECK: linalg.add
// CHECK-NEXT: cuda.to_device
// CHECK-NEXT: func.call @model
// CHECK-NOT: cuda.to_device
// CHECK: return
func.func @steps(%x: memref<8xf32>, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %c1 step %c1 {
    %y = memref.alloc() : memref<8xf32>
    %hx = cuda.shadow %x : memref<8xf32> -> memref<8xf32>
    %hy = cuda.shadow %y : memref<8xf32> -> memref<8xf32>
    cuda.to_host %x, %hx : memref<8xf32>, memref<8xf32>
    cuda.wait
    linalg.add ins(%hx, %hx : memref<8xf32>, memref<8xf32>) outs(%hy : memref<8xf32>)
    cuda.to_device %hy, %y : memref<8xf32>, memref<8xf32>
    memref.dealloc %y : memref<8xf32>
    func.call @runtime(%call) : (!llvm.ptr) -> ()
    cuda.to_host %x, %hx : memref<8xf32>, memref<8xf32>
    cuda.wait
    linalg.add ins(%hx, %hx : memref<8xf32>, memref<8xf32>) outs(%hx : memref<8xf32>)
    cuda.to_device %hx, %x : memref<8xf32>, memref<8xf32>
    func.call @model(%x, %call) : (memref<8xf32>, !llvm.ptr) -> ()
  }
  return
}
func.func private @runtime(!llvm.ptr)
func.func @model(%x: memref<8xf32>, %call: !llvm.ptr) {
  return
}

// -----

// Another form of a buffer has the same elements.
// CHECK-LABEL: func.func @forms
// CHECK: cuda.wait
// CHECK-NEXT: linalg.fill
// CHECK-NOT: cuda.to
// CHECK: linalg.add
// CHECK-NEXT: cuda.to_device
// CHECK-NEXT: cuda.to_device
// CHECK-NEXT: return
func.func @forms(%x: memref<2x4xf32>, %y: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %hx = cuda.shadow %x : memref<2x4xf32> -> memref<2x4xf32>
  cuda.wait
  linalg.fill ins(%zero : f32) outs(%hx : memref<2x4xf32>)
  cuda.to_device %hx, %x : memref<2x4xf32>, memref<2x4xf32>
  %flat = memref.collapse_shape %x [[0, 1]] : memref<2x4xf32> into memref<8xf32>
  %hflat = cuda.shadow %flat : memref<8xf32> -> memref<8xf32>
  %hy = cuda.shadow %y : memref<8xf32> -> memref<8xf32>
  cuda.to_host %flat, %hflat : memref<8xf32>, memref<8xf32>
  cuda.wait
  linalg.add ins(%hflat, %hflat : memref<8xf32>, memref<8xf32>) outs(%hy : memref<8xf32>)
  cuda.to_device %hy, %y : memref<8xf32>, memref<8xf32>
  return
}

// -----

// Host memory that is no shadow is released behind its copy and a wait. The
// shadow does not have these elements.
// CHECK-LABEL: func.func @released
// CHECK: %[[LIST:.*]] = ingot.stack
// CHECK: cuda.to_device %[[LIST]]
// CHECK: cuda.to_host
// CHECK-NEXT: cuda.wait
// CHECK-NEXT: memref.dealloc %[[LIST]]
// CHECK-NEXT: memref.load
func.func @released(%y: memref<8xf32>, %list: index) -> f32 {
  %c0 = arith.constant 0 : index
  %host = ingot.stack %list : memref<8xf32>
  cuda.to_device %host, %y : memref<8xf32>, memref<8xf32>
  cuda.wait
  memref.dealloc %host : memref<8xf32>
  %shadow = cuda.shadow %y : memref<8xf32> -> memref<8xf32>
  cuda.to_host %y, %shadow : memref<8xf32>, memref<8xf32>
  cuda.wait
  %v = memref.load %shadow[%c0] : memref<8xf32>
  return %v : f32
}
