//===- CudaOps.td - cuda ops -------------------------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CUDA_CUDAOPS_TD
#define INGOT_DIALECTS_CUDA_CUDAOPS_TD

include "dialects/kernel/KernelInterfaces.td"
include "dialects/kernel/Recurrent.td"
include "dialects/kernel/Resample.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Cuda_Dialect : Dialect {
  let name = "cuda";
  let cppNamespace = "::ingot::cuda";
  let summary = "Kernels for NVIDIA GPUs, and their launches";
  let description = [{
    Kernels are functions of a nested module, `@ingot_cuda_kernels`. They use
    the ops of the `gpu` dialect for the numbers of blocks and threads. Host
    code launches them.

    `cuda.reason` says why an op has no kernel: a phrase whose subject is the
    op.

    `cuda.cycles` of a kernel has the cycles by the model that chose its
    schedule or tile. `cuda.prediction` of a kernel is its estimated time.
    `cuda.host_nodes` of
    the module lists the nodes that the CPU computes. `cuda.checks` lists the
    messages of checks that kernels make.
  }];
  let useDefaultAttributePrinterParser = 1;
  let discardableAttrs = (ins "::ingot::cuda::BlockAttr":$block,
                               "::mlir::ArrayAttr":$checks,
                               "::ingot::cuda::CyclesAttr":$cycles,
                               "::mlir::ArrayAttr":$host_nodes,
                               "::ingot::cuda::PredictionAttr":$prediction,
                               "::mlir::StringAttr":$reason);
}

def Cuda_BlockAttr : AttrDef<Cuda_Dialect, "Block"> {
  let mnemonic = "block";
  let summary = "the threads of a block of a kernel";
  let description = [{
    `threads` is a multiple of 32, at most 1,024. `shared` is the number of
    bytes of dynamic shared memory, at most 101,376: all GPUs from sm_80 on
    have as many.
  }];
  let parameters = (ins "int64_t":$threads,
                        DefaultValuedParameter<"int64_t", "0">:$shared);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Cuda_CyclesAttr : AttrDef<Cuda_Dialect, "Cycles"> {
  let mnemonic = "cycles";
  let summary = "the estimated cycles of a kernel";
  let description = [{
    `count` is the number of cycles of one launch, at least 0. The pass that
    makes the kernel knows the model that chose its schedule, so it sets the
    number. `cuda-predict-times` makes a prediction of it and removes it.
  }];
  let parameters = (ins "int64_t":$count);
  let assemblyFormat = "`<` $count `>`";
  let genVerifyDecl = 1;
}

def Cuda_PredictionAttr : AttrDef<Cuda_Dialect, "Prediction"> {
  let mnemonic = "prediction";
  let summary = "the estimated time of a kernel";
  let description = [{
    `nanoseconds` is the time of one launch by the model of one GPU that also
    chooses schedules. `launches` is the number of launches of the kernel in a
    run. A loop counts with its steps if their number is known, else once.
  }];
  let parameters = (ins "int64_t":$nanoseconds, "int64_t":$launches);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Cuda_HostNodeAttr : AttrDef<Cuda_Dialect, "HostNode"> {
  let mnemonic = "host_node";
  let summary = "a node that the CPU computes between copies";
  let description = [{
    `reason` is a phrase whose subject is the node. `buffers` is the number of
    buffers that are copied.
  }];
  let parameters = (ins "::mlir::StringAttr":$node,
                        "::mlir::StringAttr":$reason, "int64_t":$buffers);
  let assemblyFormat = "`<` struct(params) `>`";
}

include "dialects/cuda/CudaProducts.td"
include "dialects/cuda/CudaAttention.td"
include "dialects/cuda/CudaRows.td"
include "dialects/cuda/CudaMoments.td"
include "dialects/cuda/CudaReductions.td"
include "dialects/cuda/CudaResample.td"
include "dialects/cuda/CudaRecurrent.td"
include "dialects/cuda/CudaTopK.td"
include "dialects/cuda/CudaScatter.td"
include "dialects/cuda/CudaScan.td"

def Cuda_LaunchOp : Op<Cuda_Dialect, "launch",
    [LaunchOpInterface, DeclareOpInterfaceMethods<SymbolUserOpInterface>,
     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "runs a kernel on a GPU";
  let description = [{
    Enqueues `blocks` blocks of the kernel. The run waits for kernels at its
    end. Operands are memrefs in GPU memory, and the last `writes` of them are
    written. Without blocks there is no launch.

    Constraints:
    - C1: the kernel is a function of a nested module that takes the operands
      and returns nothing
    - C2: an operand differs from its parameter in the offset at most
    - C3: the kernel has an attribute `cuda.block`

    Example:
    ```mlir
    cuda.launch @ingot_cuda_kernels::@loops_0(%x, %y) blocks(%n) writes 1
        : memref<8x4xf32>, memref<8x4xf32>
    ```
  }];
  let arguments = (ins SymbolRefAttr:$kernel, Variadic<AnyStridedMemRef>:$args,
                       Index:$blocks, I64Attr:$writes);
  let assemblyFormat = [{
    $kernel `(` $args `)` `blocks` `(` $blocks `)` `writes` $writes attr-dict
    `:` type($args)
  }];
}

def Cuda_ShadowOp : Op<Cuda_Dialect, "shadow", [Pure]> {
  let summary = "the host's memory for a buffer of the GPU";
  let description = [{
    The result has the layout of `device` in host memory, where host code reads
    and writes copies of the buffer's elements. Parts of one buffer share its
    copy. The copy of the weights is the weights themselves. A buffer that is in
    host memory already is its own shadow.
  }];
  let arguments = (ins AnyStridedMemRef:$device);
  let results = (outs AnyStridedMemRef:$host);
  let assemblyFormat = "$device attr-dict `:` type($device) `->` type($host)";
}

def Cuda_StatusOp : Op<Cuda_Dialect, "status", [Pure]> {
  let summary = "memory of the GPU for the run's first check that fails";
  let description = [{
    A kernel that checks data stores the number of its message in `cuda.checks`,
    from 1 on, and two values for the message. It does so only if the number is
    0. The run reads the words at its end, together with the outputs.
  }];
  let results = (outs MemRefRankOf<[I64], [1]>:$status);
  let extraClassDeclaration = [{
    /// A number and two values.
    static constexpr int64_t kWords = 3;
  }];
  let assemblyFormat = "attr-dict `:` type($status)";
}

def Cuda_ToHostOp : Op<Cuda_Dialect, "to_host"> {
  let summary = "copies a buffer from the GPU to the host";
  let description = [{
    Enqueues a copy of all bytes between the first and the last element. The
    host must not read them before `cuda.wait`.
  }];
  let arguments = (ins AnyStridedMemRef:$device, AnyStridedMemRef:$host);
  let assemblyFormat = [{
    $device `,` $host attr-dict `:` type($device) `,` type($host)
  }];
}

def Cuda_ToDeviceOp : Op<Cuda_Dialect, "to_device"> {
  let summary = "copies a buffer from the host to the GPU";
  let description = [{
    Enqueues a copy of all bytes between the first and the last element. The
    host must not write them before `cuda.wait`.
  }];
  let arguments = (ins AnyStridedMemRef:$host, AnyStridedMemRef:$device);
  let assemblyFormat = [{
    $host `,` $device attr-dict `:` type($host) `,` type($device)
  }];
}

def Cuda_WaitOp : Op<Cuda_Dialect, "wait"> {
  let summary = "waits for all work of the run on the GPU";
  let assemblyFormat = "attr-dict";
}

#endif // INGOT_DIALECTS_CUDA_CUDAOPS_TD
