//===- cuda/Passes.td - from linalg to kernels of GPUs -----*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_PASSES_TD
#define INGOT_PASSES_CUDA_PASSES_TD

include "passes/cuda/OutlinePasses.td"

def OutlineGrids : Pass<"cuda-outline-grids", "::mlir::ModuleOp"> {
  let summary = "Move linalg ops into kernels with a thread for each element";
  let description = [{
    Each linalg op on memrefs becomes a kernel of the module
    `@ingot_cuda_kernels`, and a `cuda.launch` in its place. A thread computes
    one element of the result, or a few neighboring ones if all operands are
    contiguous and the grid fills a GPU anyway. The indices of the parallel
    loops follow from the thread's number, in the order of the result's
    dimensions, so neighbouring threads write neighbouring elements. Reductions
    are loops of the thread. Its sums stay in registers and are added up in the
    order of the op. A copy of a memref with gaps becomes such a kernel, too.
    Equal kernels are shared.

    Sizes that only a run knows are parameters of the kernel, and host code
    computes the number of blocks.

    An op stays in place if it uses a value that only the host knows, or if it
    ends the run.
  }];
  let dependentDialects = [
      "::ingot::cuda::CudaDialect", "::mlir::affine::AffineDialect",
      "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
      "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
      "::mlir::scf::SCFDialect"];
  let statistics = [
      Statistic<"launched", "launched", "ops that are launched as kernels">,
      Statistic<"shared", "shared", "kernels that an equal op had made">];
}

def OutlineRows : Pass<"cuda-outline-rows", "::mlir::ModuleOp"> {
  let summary = "Move reductions of rows into kernels";
  let description = [{
    A linalg op that reduces contiguous elements becomes a kernel. A warp
    reduces the elements of one result. If there are many elements and few
    results, a block does. Neighboring lanes read neighboring elements, and
    exchange their partial results in a fixed order. So a result does not depend
    on the order of threads.

    An op stays in place if a row has few elements or if they are not
    contiguous. It also stays if it combines elements by more than one op, or
    has other types than f32 and i32. `cuda-outline-grids` takes it then.
  }];
  let dependentDialects = [
      "::ingot::cuda::CudaDialect", "::mlir::affine::AffineDialect",
      "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
      "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
      "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
      "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect"];
  let statistics = [
      Statistic<"launched", "launched", "ops that are launched as kernels">,
      Statistic<"shared", "shared", "kernels that an equal op had made">];
}

def CollapseRows : Pass<"cuda-collapse-rows", "::mlir::ModuleOp"> {
  let summary = "Make the open rows of a product one dimension";
  let description = [{
    The rows of a `cuda.matmul` on memrefs of open size become one dimension if
    all operands allow that. Their strides are then known. A product with
    batches of weights stays as it is. So does one whose operand has gaps
    between rows, or broadcasts along some of the dimensions.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
  let statistics = [
      Statistic<"collapsed", "collapsed", "products whose rows were joined">];
}

def ScheduleProducts : Pass<"cuda-schedule-products", "::mlir::ModuleOp"> {
  let summary = "Choose the tiles of products";
  let description = [{
    Gives each `cuda.conv` and `cuda.matmul` on memrefs a `#cuda.schedule` if
    it has none. The tile is the one with the least estimated time. The widths
    of accesses follow from strides, offsets and sizes.
  }];
  let options = [
      Option<"seed", "seed", "uint64_t", "0",
             "draw schedules at random with this seed; 0: choose them">];
  let statistics = [
      Statistic<"chosen", "chosen", "products that got a schedule">];
}

def ScheduleAttention : Pass<"cuda-schedule-attention", "::mlir::ModuleOp"> {
  let summary = "Choose the tiles of attentions";
  let description = [{
    Gives each `cuda.attention` on memrefs a `#cuda.attention_schedule`, if it
    has none. Its tiles fit into shared memory and have the least estimated
    time: large tiles read keys less often, and small ones leave no
    multiprocessor without a block. The widths of accesses follow from
    strides, offsets and sizes.
  }];
  let options = [
      Option<"seed", "seed", "uint64_t", "0",
             "draw schedules at random with this seed; 0: choose them">];
  let statistics = [
      Statistic<"chosen", "chosen", "attentions that got a schedule">];
}

def ScheduleRows : Pass<"cuda-schedule-rows", "::mlir::ModuleOp"> {
  let summary = "Choose the threads of rows and columns";
  let description = [{
    Gives each softmax, norm, reduction, pooling and resampling of the dialect
    on memrefs a `#cuda.row_schedule`, if it has none. A row has as few threads
    as can hold it in registers, up to a block. The threads of a longer row read
    it again in each step. The threads of columns, and the vectors of a
    resampling, are those with the least estimated time. The width of accesses
    follows from strides, offsets and sizes.
  }];
  let options = [
      Option<"seed", "seed", "uint64_t", "0",
             "draw schedules at random with this seed; 0: choose them">];
  let statistics = [Statistic<"chosen", "chosen", "ops that got a schedule">];
}

def CudaFuseRecurrent : Pass<"cuda-fuse-recurrent", "::mlir::func::FuncOp"> {
  let summary = "Fuse the steps of a recurrent net into kernels of GPUs";
  let description = [{
    A loop over time that `nn-fuse-recurrent` recognizes becomes
    `cuda.recurrent`. Two loops over the same number of steps become the
    directions of one op. Masks of sequences are computed for all steps at once.
    Weights have the type that `ingot.precision` names. For tf32 they are f32.

    A loop stays if its weights have different types, or if it has so many
    sequences that products of matrices are faster. The decision trace has the
    reason.
  }];
  let dependentDialects = [
      "::mlir::arith::ArithDialect", "::ingot::cuda::CudaDialect",
      "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
      "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"fused", "fused", "loops that became kernels">];
}

def ScheduleRecurrent : Pass<"cuda-schedule-recurrent", "::mlir::ModuleOp"> {
  let summary = "Choose the threads of the steps of recurrences";
  let description = [{
    Gives each `cuda.recurrent` on memrefs a `#cuda.recurrent_schedule`, if it
    has none. The schedule is the one with the least estimated time of a step.
  }];
  let options = [
      Option<"seed", "seed", "uint64_t", "0",
             "draw schedules at random with this seed; 0: choose them">];
  let statistics = [
      Statistic<"chosen", "chosen", "recurrences that got a schedule">];
}

def OutlineRecurrent : Pass<"cuda-outline-recurrent", "::mlir::ModuleOp"> {
  let summary = "Move the steps of recurrences into kernels";
  let description = [{
    Each `cuda.recurrent` on memrefs becomes a loop of host code, which launches
    a kernel for all directions in each step. A `reset` is a kernel of its own.

    Lanes of a warp multiply the rows of weights of one unit by first states,
    and exchange sums in a fixed order. Each lane then computes the cell of one
    sequence. Steps read and write two copies of the
    first state in turn. Other states are updated in place.
  }];
  let dependentDialects = [
      "::mlir::arith::ArithDialect", "::ingot::cuda::CudaDialect",
      "::mlir::func::FuncDialect", "::mlir::gpu::GPUDialect",
      "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
      "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect"];
  let statistics = [
      Statistic<"launched", "launched", "kernels that steps launch">,
      Statistic<"shared", "shared", "kernels that an equal op had made">];
}

def SplitProducts : Pass<"cuda-split-products", "::mlir::func::FuncOp"> {
  let summary = "Split the depth of products with small results";
  let description = [{
    Some `cuda.conv` and `cuda.matmul` on tensors have fewer tiles than there
    are multiprocessors. They compute several parts of their depth at once, if
    the cost model finds that faster. `cuda.sum_parts` then adds the parts up,
    in their order, and has the epilogue (split-k). The parts are a tensor, so
    memory planning finds a place for them in the arena.
  }];
  let options = [
      Option<"seed", "seed", "uint64_t", "0",
             "draw the parts at random with this seed; 0: choose them">];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
  let statistics = [
      Statistic<"numSplit", "split", "products that are split">];
}

def SplitRows : Pass<"cuda-split-rows", "::mlir::func::FuncOp"> {
  let summary = "Split long rows of reductions and group norms";
  let description = [{
    Some `cuda.reduce` and `cuda.group_norm` on tensors have fewer rows than
    keep the multiprocessors busy. They compute several parts of each row at
    once, if the cost model finds that faster. Another `cuda.reduce` combines
    the parts. For a norm, `cuda.moments` computes the mean and the variance of
    each part. Then `cuda.normalize` combines them. The order is that of the
    parts.

    An op stays as it is if its rows have no suitable number of parts, or if
    sizes are open. A norm also stays if its epilogue has an operand that
    differs between samples alone.
  }];
  let options = [
      Option<"seed", "seed", "uint64_t", "0",
             "draw the parts at random with this seed; 0: choose them">];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
  let statistics = [
      Statistic<"numSplit", "split", "ops that are split">];
}

def OutlineProducts : Pass<"cuda-outline-products", "::mlir::ModuleOp"> {
  let summary = "Move products into kernels";
  let description = [{
    Each product, attention, softmax, norm, reduction, pooling and resampling of
    the dialect on memrefs moves into a kernel of the module
    `@ingot_cuda_kernels`, and leaves a `cuda.launch`. Equal kernels are shared.
    The schedule gives the threads, the shared memory and the number of blocks,
    which host code computes from open sizes. It also ends the run if a tensor
    of open size has more elements than 32 bits count.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::ingot::IngotDialect",
                           "::mlir::memref::MemRefDialect",
                           "::ingot::cuda::CudaDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect"];
  let statistics = [
      Statistic<"launched", "launched", "products that are launched">,
      Statistic<"shared", "shared", "kernels that an equal product had made">];
}

def PassSizes : Pass<"cuda-pass-sizes", "::mlir::ModuleOp"> {
  let summary = "Pass open sizes to kernels as parameters";
  let description = [{
    The module is the nested one of the kernels. A memref whose sizes or strides
    only a run knows becomes the address of its first element. Behind the
    addresses of all memrefs, the kernel gets parameters for these sizes and
    strides of each memref. `cuda-launches-to-calls` passes them.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def PredictTimes : Pass<"cuda-predict-times", "::mlir::ModuleOp"> {
  let summary = "Estimate the times of kernels";
  let description = [{
    Gives each kernel that is launched an attribute `cuda.prediction`. The time
    is the longer one of two: that of its operands in memory, and that of the
    model of its schedule or of its instructions. A kernel with `cuda.cycles`
    has this time alone. The artifact has the predictions, and `ingot inspect`
    shows them. No code depends on them.
  }];
}

def ProductsToNVVM : Pass<"cuda-products-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Write the code of products";
  let description = [{
    The module is the nested one of the kernels. A block copies tiles of both
    factors to shared memory with `cp.async`, several steps ahead. Its warps
    multiply them: f16 and bf16 by matrix units (`ldmatrix`, `mma.sync`), f32
    by multiply-adds. The rows of a convolution are windows of src, which the
    copies gather (implicit GEMM: Chetlur et al., cuDNN, 2014).

    The sums of a block then lie in shared memory. Each thread runs the epilogue
    on neighboring sums and stores the results together.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::scf::SCFDialect"];
}

def AttentionToNVVM : Pass<"cuda-attention-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Write the code of attentions";
  let description = [{
    The module is the nested one of the kernels. A block has some queries of one
    head, and copies tiles of keys and values to shared memory with `cp.async`.
    A thread keeps the running maximum and sum of its queries, and their results
    so far, in registers. A larger maximum scales sum and results down (Dao,
    FlashAttention-2, 2023). Factors of f16 and bf16 are multiplied by matrix
    units (`ldmatrix`, `mma.sync`), those of f32 by multiply-adds.
  }];
  let dependentDialects = [
      "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
      "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
      "::mlir::memref::MemRefDialect", "::mlir::NVVM::NVVMDialect",
      "::mlir::scf::SCFDialect"];
}

def DepthwiseToNVVM : Pass<"cuda-depthwise-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Write the code of depthwise convolutions";
  let description = [{
    The module is the nested one of the kernels. A thread computes a vector of
    channels, of one pixel or of up to four neighbors if there are many. All
    taps are unrolled. An element of src that several of its windows share is
    loaded once. Sums are f32 and have the order of the taps.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def PartsToNVVM : Pass<"cuda-parts-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Write the code of sums of parts";
  let description = [{
    The module is the nested one of the kernels. A thread adds up a vector of
    all parts, in their order, runs the epilogue and stores the results.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def RowsToNVVM : Pass<"cuda-rows-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Write the code of softmax, norms, reductions and poolings";
  let description = [{
    The module is the nested one of the kernels. The threads of a row load its
    vectors, which stay in registers if the schedule says so. They exchange the
    maximum, sums and squares in a fixed order: within a warp by shuffles, and
    between warps through shared memory. Each thread runs the epilogue on its
    elements and stores the results.

    An op along columns has a vector of neighboring columns in the place of a
    row. Neighboring threads take neighboring vectors, and the threads of one
    exchange results through shared memory. Reductions and poolings store one
    result for each column. Taps of a window in the padding are left out.
  }];
  let dependentDialects = [
      "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
      "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
      "::mlir::memref::MemRefDialect", "::mlir::NVVM::NVVMDialect",
      "::mlir::scf::SCFDialect"];
}

def ResampleToNVVM : Pass<"cuda-resample-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Write the code of resampling";
  let description = [{
    The module is the nested one of the kernels. A thread loads the positions
    and weights of its taps from tables. It computes a vector of neighboring
    channels, or one element if there are no channels. All taps are unrolled.
    The thread then runs the epilogue and stores the results.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def PlaceLists : Pass<"cuda-place-lists", "::mlir::ModuleOp"> {
  let summary = "Copy the tensor that a list becomes to GPU memory";
  let description = [{
    Lists of tensors are in host memory. The result of `ingot.stack` is copied
    to a buffer of the GPU, so that kernels read it. The host's memory is
    released at once.
  }];
  let dependentDialects = ["::ingot::cuda::CudaDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
  let statistics = [
      Statistic<"numPlaced", "placed", "tensors that were copied">];
}

def PlaceShapes : Pass<"cuda-place-shapes", "::mlir::ModuleOp"> {
  let summary = "Keep shapes that host code computes in host memory";
  let description = [{
    Some small buffers of the arena have elements that only host code uses, such
    as the shape of a `memref.reshape`. They move to the host's stack. Without
    that, each access would be a copy. A buffer stays if the body of a linalg op
    reads it.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
  let statistics = [
      Statistic<"numPlaced", "placed", "buffers that moved to the host">];
}

def DeferChecks : Pass<"cuda-defer-checks", "::mlir::ModuleOp"> {
  let summary = "Let kernels check data";
  let description = [{
    A check of elements in GPU memory, `ingot.require`, becomes a kernel of one
    thread, so the host does not wait for them. If the check fails, the kernel
    stores its number in `cuda.status`, and the run goes on. It ends with the
    message of the first check that failed. Kernels clamp their indices, so they
    stay within their memory until then.

    A check stays on the host if the host needs its elements for more, e.g. for
    a size. It also stays if it uses a value that only the host knows.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::ingot::cuda::CudaDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
  let statistics = [
      Statistic<"deferred", "deferred", "checks that kernels make">];
}

def RunOnHost : Pass<"cuda-run-on-host", "::mlir::ModuleOp"> {
  let summary = "Compute the ops without a kernel on the CPU";
  let description = [{
    All buffers of a run are in GPU memory, also those whose sizes only a run
    knows. An op of the host code that reads or
    writes them, because it has no kernel, works on copies in host memory. The
    pass copies its buffers to the host, waits, and copies those back that the
    op may write. A remark names the node and the reason, and `cuda.host_nodes`
    of the module records both. With `refuse`, such an op is an error.

    A loop or branch with launches inside stays host code, and only the ops
    inside that access memory get copies. So does one that hands on a buffer
    that it allocates.
  }];
  let options = [
      Option<"refuse", "refuse", "bool", "false",
             "fail instead of computing ops on the CPU">];
  let dependentDialects = ["::ingot::cuda::CudaDialect"];
  let statistics = [
      Statistic<"onHost", "on-host", "ops that are computed on the CPU">];
}

def JoinCopies : Pass<"cuda-join-copies", "::mlir::ModuleOp"> {
  let summary = "Remove copies and waits between ops on the CPU";
  let description = [{
    Ops on the CPU that follow each other may have no work of the GPU between
    them. The elements that they exchange are not copied then. Copies to the
    GPU move behind the last of these ops. Copies to the host move in front of
    the first, so that one wait is enough. `cuda-run-on-host` has made the
    copies.

    A wait stays in front of an op that may write host memory that a copy still
    reads.
  }];
  let dependentDialects = ["::ingot::cuda::CudaDialect"];
  let statistics = [
      Statistic<"copies", "copies", "copies that are not needed">,
      Statistic<"waits", "waits", "waits that are not needed">];
}

def KernelsToNVVM : Pass<"cuda-kernels-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Lower the kernels of a module to the LLVM and NVVM dialects";
  let description = [{
    The module is the nested one of the kernels. A memref becomes the address of
    its first element. Functions of scalars use LLVM's intrinsics or the
    polynomials of `expand-math` and `approximate-math`, never a library of
    functions.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

def LaunchesToCalls : Pass<"cuda-launches-to-calls", "::mlir::ModuleOp"> {
  let summary = "Turn launches and copies into calls of the runtime";
  let description = [{
    `cuda.launch` becomes a call of `ingot_cuda_launch`. It passes the kernel's
    number, the addresses of the operands and their open sizes. `memref.copy`
    becomes a call of `ingot_cuda_copy`. The other ops of the dialect become
    calls, too, as do ops that allocate and release memory of a run.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect"];
}

def EmitProgram : Pass<"cuda-emit-program", "::mlir::ModuleOp"> {
  let summary = "Translate the kernels to PTX, a constant of the module";
  let description = [{
    Removes `@ingot_cuda_kernels`. Adds its PTX, a cubin for each level of
    `cubins` if there is a ptxas, and the description of the kernels
    (`ingot_cuda_program` of ingot/abi/cuda.h), and functions that are
    called when the model is loaded and closed. An entry of the metadata tells
    `ingot inspect` about images and kernels.
  }];
  let options = [
      Option<"level", "level", "unsigned", "80",
             "compute capability of the PTX, 10 * major + minor">,
      ListOption<"cubins", "cubins", "unsigned",
                 "compute capabilities that get machine code">,
      Option<"ptxas", "ptxas", "std::string", "",
             "path of ptxas, which makes machine code; none: no machine code">,
      Option<"weightsOffset", "weights-offset", "uint64_t", "0",
             "offset of the kernels' weights in the artifact's">,
      Option<"firstLayer", "first-layer", "uint64_t", "0",
             "number of the module's first layer in the artifact's table">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // INGOT_PASSES_CUDA_PASSES_TD
