// RUN: ingot-opt --cuda-emit-program %s | FileCheck %s
// RUN: rm -rf %t.kit && mkdir -p %t.kit/nvvm/libdevice && echo none > %t.kit/nvvm/libdevice/libdevice.10.bc
// RUN: env CUDA_HOME=%t.kit CUDA_PATH=%t.kit CUDA_ROOT=%t.kit ingot-opt --cuda-emit-program %s > %t
// RUN: env -u CUDA_HOME -u CUDA_PATH -u CUDA_ROOT ingot-opt --cuda-emit-program %s | diff - %t

// The kernels become PTX that every GPU from sm_80 on runs. Products and sums
// are rounded each, and only `fma` joins them.
// CHECK: module attributes {
// CHECK-SAME: ingot.libraries = [#ingot.library<"cuda"
// The metadata describe images, kernels, and nodes that the CPU computes.
// CHECK-SAME: ingot.metadata = {ingot.gpu = "{\22arena_bytes\22:128,
// CHECK-SAME: \22host_nodes\22:[{\22buffers\22:2,\22node\22:\22sort\22,\22reason\22:\22waits\22}]
// CHECK-SAME: \22images\22:[{\22bytes\22:{{[0-9]+}},\22kind\22:\22ptx\22,\22level\22:80,\22ptxas\22:\22\22}]
// CHECK-SAME: \22kernels\22:[{\22code\22:[],\22launches\22:3,\22name\22:\22kernel\22,\22node\22:\22\22,\22predicted_ns\22:1500,\22shared_bytes\22:0,\22threads\22:64}]
// CHECK: llvm.mlir.global internal constant @ingot_cuda_ptx("
// CHECK-SAME: .version 8.0\0A.target sm_80
// CHECK-SAME: .visible .entry kernel(
// CHECK-SAME: .reqntid 64, 1, 1
// CHECK-SAME: mul.rn.f32
// CHECK-SAME: add.rn.f32
// CHECK-NOT: module @ingot_cuda_kernels

// The table of kernels has names, threads and shared memory.
// CHECK: @ingot_cuda_kernel_table() {{.*}} !llvm.array<1 x struct<(ptr, ptr, i32, i32, i32, i32)>>
// CHECK: llvm.mlir.constant(64 : i32)
// The messages of checks that kernels make.
// CHECK: @ingot_cuda_check_0("one\00")
// CHECK: @ingot_cuda_check_1("two\00")
// CHECK: @ingot_cuda_checks() {{.*}} !llvm.array<2 x struct<(ptr)>>
// The bytes of inputs and outputs: a boolean takes a byte.
// CHECK: @ingot_cuda_input_bytes()
// CHECK: llvm.mlir.constant(256 : i64)
// CHECK: @ingot_cuda_output_bytes()
// CHECK: llvm.mlir.constant(64 : i64)
// CHECK: @ingot_cuda_program()
// CHECK: llvm.func @ingot_load(%[[CALL:.*]]: !llvm.ptr) -> i32
// CHECK: %[[P:.*]] = llvm.mlir.addressof @ingot_cuda_program
// CHECK: llvm.call @ingot_cuda_load(%[[CALL]], %[[P]])
// CHECK: llvm.func @ingot_unload
// CHECK: llvm.call @ingot_cuda_unload
module attributes {
    cuda.checks = ["one", "two"],
    cuda.host_nodes = [#cuda.host_node<node = "sort", reason = "waits", buffers = 2>],
    ingot.inputs = [#ingot.tensor<"x" : tensor<64xf32>, dims = "">],
    ingot.outputs = [#ingot.tensor<"y" : tensor<64xi1>, dims = "">],
    ingot.arena_bytes = 128 : i64, ingot.weights_bytes = 0 : i64} {
  module @ingot_cuda_kernels {
    llvm.func @kernel(%x: !llvm.ptr) attributes {cuda.block = #cuda.block<threads = 64>, cuda.prediction = #cuda.prediction<nanoseconds = 1500, launches = 3>, nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
      %0 = llvm.load %x : !llvm.ptr -> f32
      %1 = llvm.fmul %0, %0 : f32
      %2 = llvm.fadd %1, %0 : f32
      llvm.store %2, %x : f32, !llvm.ptr
      llvm.return
    }
  }
}
