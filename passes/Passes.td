//===- Passes.td - all passes of Ingot ---------------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_TD
#define INGOT_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// legalize/
//===----------------------------------------------------------------------===//

def OnnxLegalize : Pass<"onnx-legalize", "::mlir::ModuleOp"> {
  let summary = "Rewrite onnx.node ops into nn, tensor, arith, linalg and scf";
  let description = [{
    Goes through the program in order, so that each node sees operands whose
    types and small constants are already final. Every node that has no
    lowering, or uses one that is missing, is reported, each with its name, op,
    opset and what is missing; then the pass fails.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::math::MathDialect", "::ingot::nn::NNDialect"];
}

//===----------------------------------------------------------------------===//
// graph/
//===----------------------------------------------------------------------===//

def NNFoldConstants : Pass<"nn-fold-constants"> {
  let summary = "Compute ops whose operands are constant";
  let description = [{
    Runs every op's folder, and computes nn ops on constants in double (integers
    exactly), rounding once. A result larger than `max-bytes`, or much larger
    than its operands, is left to run time, where it costs less than to ship.
  }];
  let options = [
    Option<"maxBytes", "max-bytes", "int64_t", "16777216",
           "largest result that is computed, in bytes">,
    Option<"maxGrowth", "max-growth", "int64_t", "8",
           "how many times larger than its operands a result may be">,
    Option<"smallBytes", "small-bytes", "int64_t", "65536",
           "a result up to this size may grow by more">];
  let statistics = [Statistic<"folded", "folded", "ops folded">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def FoldBatchNorm : Pass<"nn-fold-batch-norm"> {
  let summary = "Fold batch normalizations into the ops around them";
  let description = [{
    With constant parameters, `batch_norm` scales and shifts each channel:

    - after `conv` (any groups), `conv_transpose` or `matmul` with constant
      weights, whose result nothing else uses: folded into weights and bias; a
      constant added between the two goes along;
    - before `conv` or `matmul`, if the producer has no weights: folded forward,
      but not into a padded convolution if it shifts, because the padding is
      zero after the normalization, not before;
    - elsewhere: `mul` and `add` with constants.

    The arithmetic is in double and rounded once. Parameters that are computed,
    or that give a NaN or an infinity, stay as they are.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numFolded", "folded", "Normalizations folded into their producer">,
    Statistic<"numFoldedForward", "folded-forward",
              "Normalizations folded into their consumer">,
    Statistic<"numScaleShift", "scale-shift",
              "Normalizations turned into scale and shift">];
}

def MergeBranches : Pass<"nn-merge-branches"> {
  let summary = "Make parallel linear branches over one input one convolution";
  let description = [{
    The terms of a sum that are chains of linear ops over the same value become
    one `conv`: training-time structure such as RepVGG's (3x3, 1x1 and
    identity), ACNet's (3x3, 3x1 and 1x3) or the Diverse Branch Block's (1x1
    then KxK, 1x1 then average pooling) goes away. Linear ops are `conv`,
    `batch_norm`, `avg_pool` (where its divisor is constant), zero `pad`,
    `slice` of spatial dimensions, and `add`, `sub`, `mul`, `div` by a constant
    for each channel. Branches may differ in kernel, padding, dilation and
    groups: the merged kernel is the smallest that holds all.

    Branches are merged only if the result is exact everywhere: strides agree;
    a bias that a later padded op would not see at the border keeps the branch
    apart; so do intermediate values with other users. And only if it pays:
    the merged convolution may not cost more than the branches and their sum,
    so a depthwise branch does not become dense.

    Weights are computed in double and rounded once.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numMerged", "merged", "Branches merged into convolutions">];
}

def FoldAffine : Pass<"nn-fold-affine"> {
  let summary = "Fold constants added to or multiplied with conv and matmul";
  let description = [{
    `add`, `sub`, `mul`, `div` by a constant for each output channel (or one for
    all) go into the weights and the bias of the `conv`, `conv_transpose` or
    `matmul` before, if nothing else uses its result. A constant that is only
    added needs no constant weights.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numFolded", "folded", "Ops folded">];
}

def FoldPad : Pass<"nn-fold-pad"> {
  let summary = "Fold constant padding into convolutions and pools";
  let description = [{
    A `pad` of spatial dimensions with what the window op takes its own padding
    to be: zero for `conv` and `avg_pool` (which then counts its padding), the
    lowest value for `max_pool`, for which zero does as well after a `relu`.
  }];
  let statistics = [Statistic<"numFolded", "folded", "Pads folded">];
}

def MergeConvs : Pass<"nn-merge-convs"> {
  let summary = "Make consecutive convolutions one where it saves work";
  let description = [{
    `conv(conv(x))` with nothing in between, mostly a 1x1 next to another,
    becomes one convolution if that multiplies less and is exact at the borders
    (see `nn-merge-branches`).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numMerged", "merged", "Pairs merged">];
}

def Simplify : Pass<"nn-simplify"> {
  let summary = "Rewrite ops into simpler ones";
  let description = [{
    - a pool with one window is a `reduce`, a convolution with one window a
      `matmul`
    - adding zero, multiplying with one, casts there and back, chains of
      `reshape` or `transpose` go away
    - `clamp` and `max` that are a `relu` become one; a `relu` of what is not
      negative goes away
    - `pow` by 2, 1, 0.5 or -1 becomes `mul`, nothing, `sqrt`, `reciprocal`
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def RecognizeActivations : Pass<"nn-recognize-activations"> {
  let summary = "Recognize activation functions that exporters take apart";
  let description = [{
    - `x sigmoid(a x)` is `swish`
    - `x/2 (1 + erf(x / sqrt 2))` is `gelu`, and
      `x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))` its tanh form
    - `clamp(x + 3, 0, 6) / 6` is `hard_sigmoid`, and its product with x
      `hard_swish`

    in whatever order the factors are multiplied.
  }];
  let statistics = [
    Statistic<"numRecognized", "recognized", "Activations recognized">];
}

def RecognizeNorms : Pass<"nn-recognize-norms"> {
  let summary = "Recognize normalizations that exporters take apart";
  let description = [{
    `(x - mean) / sqrt(mean((x - mean)^2) + epsilon)` over trailing dimensions
    is `layer_norm`, which takes a scale and a bias that follow;
    `x / sqrt(mean(x^2) + epsilon) scale` is `rms_norm`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numRecognized", "recognized", "Normalizations recognized">];
}

//===----------------------------------------------------------------------===//
// layout/
//===----------------------------------------------------------------------===//

def ToChannelsLast : Pass<"nn-to-channels-last"> {
  let summary = "Give spatial ops channels-last data";
  let description = [{
    Convolutions, poolings and normalizations on `N, C, D1...` become the same
    op with `channels_last`, between two transposes. Weights keep their layout.
    `nn-propagate-transposes` then takes the transposes to the model's edges.
  }];
  let statistics = [
    Statistic<"numChanged", "changed", "Ops given channels-last data">];
}

def PropagateTransposes : Pass<"nn-propagate-transposes"> {
  let summary = "Move transposes behind the ops that use them, and cancel them";
  let description = [{
    `op(transpose(a))` becomes `transpose(op(a))` for elementwise ops, data
    movement, reductions, softmax and reshapes, with their axes renumbered, so
    that a transpose goes on until it meets its inverse or a result of the
    function. Ops with several operands are passed only if that adds no more
    transposes than it takes away; constants are transposed at once. A matmul
    takes in a swap of the last two dimensions. Channel shuffles (reshape,
    transpose, reshape) become a transpose within each pixel.

    In the end, a transpose that moves only dimensions of one element becomes a
    reshape.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numLeft", "left", "Transposes left">];
}

//===----------------------------------------------------------------------===//
// fuse/
//===----------------------------------------------------------------------===//

def DnnlFusePostOps : Pass<"dnnl-fuse-post-ops", "::mlir::func::FuncOp"> {
  let summary = "Fold elementwise nn ops into the dnnl op before them";
  let description = [{
    An elementwise op becomes a post-op of the convolution or matrix product
    whose result nobody else uses: activations, sums and products with numbers,
    with a value a channel or with whole tensors. An addend of the result's shape
    that is not needed afterwards is summed to in place: the residual of a
    block. The op moves to where the elementwise op was.
  }];
  let statistics = [Statistic<"fused", "fused", "ops folded into an epilogue">];
  let dependentDialects = ["::ingot::dnnl::DnnlDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FuseEpilogues : Pass<"cpu-fuse-epilogues", "::mlir::func::FuncOp"> {
  let summary = "Fold elementwise nn ops into the cpu op before them";
  let description = [{
    An elementwise op moves into the epilogue of the convolution or matrix
    product whose result nobody else uses. Its other operands, which broadcast to
    the result, become epilogue operands; numbers stay in the region. The kernel
    moves to where the elementwise op was.
  }];
  let statistics = [Statistic<"fused", "fused", "ops folded into an epilogue">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::ingot::cpu::CpuDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

//===----------------------------------------------------------------------===//
// lower/
//===----------------------------------------------------------------------===//

def FlattenKernels : Pass<"cpu-flatten-kernels", "::mlir::func::FuncOp"> {
  let summary = "Turn kernels over many dimensions into matrix products";
  let description = [{
    A convolution with a 1x1 kernel, no padding and no strides is the product of
    the matrix of all pixels with the weights; a batched product with one right
    factor is the product of all rows. A product of two matrices tiles best.
    Left alone where an epilogue operand broadcasts along some of the dimensions.
  }];
  let dependentDialects = ["::ingot::cpu::CpuDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NNToCpu : Pass<"nn-to-cpu", "::mlir::func::FuncOp"> {
  let summary = "Give heavy nn ops to native kernels";
  let description = [{
    Convolutions and matrix products become `cpu` ops: `f32`, data channels-last
    and of known size but for the batch. Constant weights are packed here, once
    and for all CPU levels; a right factor that is known in a run only is packed
    by the run. All else stays for `nn-to-linalg`. An op with the attribute
    `ingot.kernel = "loops"` is left alone.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::ingot::cpu::CpuDialect",
    "::mlir::linalg::LinalgDialect", "::ingot::nn::NNDialect",
    "::mlir::tensor::TensorDialect"];
}

def ConvertDnnlToCalls : Pass<"convert-dnnl-to-calls", "::mlir::ModuleOp"> {
  let summary = "Turn dnnl ops on memrefs into calls of the oneDNN glue";
  let description = [{
    Each op becomes a record of the constant table that `ingot/abi/dnnl.h`
    describes, and a call that names it, with the addresses of its memrefs and
    its dynamic sizes. Weights, being views of the argument marked
    `ingot.weights` at a constant offset, go into the record instead: they are
    rearranged once, when the model is loaded. The run is passed on from the
    argument marked `ingot.call`. The module gets `@ingot_load`, which hands the
    table to the glue, `@ingot_unload`, and the attribute `ingot.onednn`.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

def NNToDnnl : Pass<"nn-to-dnnl", "::mlir::func::FuncOp"> {
  let summary = "Give heavy nn ops to oneDNN";
  let description = [{
    Convolutions and transposed convolutions, matrix products, pooling, softmax
    and layer normalization become `dnnl` ops where oneDNN computes them: `f32`,
    spatial data channels-last, weights of static shape, windows that touch the
    input. All else stays for `nn-to-linalg`. An op with the attribute
    `ingot.kernel = "loops"` is left alone: here kernels are chosen per op.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::ingot::dnnl::DnnlDialect",
    "::ingot::nn::NNDialect", "::mlir::tensor::TensorDialect"];
}

def NNToLinalg : Pass<"nn-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Lower nn ops to linalg, tensor, arith and math";
  let description = [{
    Also drops the sign of integer types: `ui8` tensors become `i8`, their ops
    having been lowered by sign. Elementwise ops become `linalg.generic`s with
    broadcasting in the indexing maps; a dimension that may or may not broadcast
    in a run is decided there.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

//===----------------------------------------------------------------------===//
// memory/
//===----------------------------------------------------------------------===//

def PrepareEntry : Pass<"prepare-entry", "::mlir::ModuleOp"> {
  let summary = "Give @forward the form in which an artifact runs it";
  let description = [{
    Inputs become memrefs; an output of static shape becomes a memref to write
    to, one of dynamic shape is handed to the host at the end. Behind them come
    the weights and the arena (`memref<?xi8>`) and the run's `ingot_abi_call`
    (`!llvm.ptr`), marked by the argument attributes `ingot.weights`,
    `ingot.arena` and `ingot.call`. Names and types move into the module's
    attributes `ingot.inputs` and `ingot.outputs`.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect"];
}

def LinalgReuseOperands
    : Pass<"linalg-reuse-operands"> {
  let summary = "Let elementwise ops write over an operand nobody else needs";
  let description = [{
    A `linalg.generic` that reads an intermediate value only where it writes its
    result takes that value, instead of a fresh `tensor.empty`, as destination.
  }];
}

def ReuseEpilogueOperands : Pass<"cpu-reuse-operands"> {
  let summary = "Let kernels write over an epilogue operand nobody else needs";
  let description = [{
    A `cpu` op whose epilogue reads an intermediate value of the result's type,
    which nobody needs afterwards, takes that value instead of a fresh
    `tensor.empty` as destination: the residual of a block is summed to in place.
  }];
}

def Bufferize : Pass<"ingot-bufferize", "::mlir::ModuleOp"> {
  let summary = "One-shot bufferization, with copies as linalg loops";
  let description = [{
    Across functions, whose arguments and results get the identity layout. A
    copy is a `linalg` op and not `memref.copy`, which would call a function
    that only MLIR's own runner has.
  }];
  let dependentDialects = [
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect"];
}

def CollectWeights : Pass<"collect-weights", "::mlir::ModuleOp"> {
  let summary = "Place large constants in one block of weights";
  let description = [{
    Constant `memref.global`s become views of the argument marked
    `ingot.weights`, at multiples of 64 bytes, equal ones once. The module's
    attribute `ingot.weights` lists pairs of offset and value, and
    `ingot.weights_bytes` is their extent.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def PlanMemory : Pass<"plan-memory", "::mlir::ModuleOp"> {
  let summary = "Give every buffer of static size an offset in one arena";
  let description = [{
    Lifetimes go from the first to the last use of a buffer or a view of it.
    Sizes and plan are left in `ingot.arena_bytes`, `ingot.arena_lower_bound`
    and `ingot.memory_plan` (rows of offset, bytes, first, last). A buffer of
    dynamic size stays a `memref.alloc` and gets its `memref.dealloc`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def InstrumentLayers : Pass<"instrument-layers", "::mlir::ModuleOp"> {
  let summary = "Let a profile follow a run layer by layer";
  let description = [{
    Top-level ops that follow each other and come from the same ONNX nodes, as
    their locations say, are a layer. Behind its last op goes a call of the
    run's profile, taken only where there is one, with the layer's arithmetic
    operations and bytes; what depends on dynamic sizes is computed there. The
    module's attribute `ingot.layers` lists kind, nodes, flops and bytes (0: a
    run tells, or unknown).

    Applies to the function with an argument marked `ingot.call`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

//===----------------------------------------------------------------------===//
// codegen/
//===----------------------------------------------------------------------===//

class Cpu_ToVector<string flag> : Pass<flag, "::mlir::ModuleOp"> {
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

class Cpu_RowsToVector<string flag> : Pass<flag, "::mlir::ModuleOp"> {
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def ConvToVector : Cpu_ToVector<"cpu-conv-to-vector"> {
  let summary = "Write convolution kernels as loops over register tiles";
  let description = [{
    See the head of ConvToVector.cpp. Tiles are those of Schedule.cpp for the CPU
    level that the module's `ingot.target` names.
  }];
}

def DepthwiseToVector : Cpu_ToVector<"cpu-depthwise-to-vector"> {
  let summary = "Write depthwise convolution kernels as loops over vectors";
  let description = [{
    See the head of DepthwiseToVector.cpp.
  }];
}

def MatMulToVector : Cpu_ToVector<"cpu-matmul-to-vector"> {
  let summary = "Write matrix product kernels as loops over register tiles";
  let description = [{
    See the head of MatMulToVector.cpp.
  }];
}

def OutlineLinalg : Pass<"outline-linalg", "::mlir::ModuleOp"> {
  let summary = "Give every linalg op of the run a kernel of its own";
  let description = [{
    A linalg op on memrefs in the function that has the run's `ingot.call` becomes
    a `cpu.launch` of a private function, which equal ops share. Where there is
    enough to do, the outermost parallel loop is split into tasks; not in modules
    that oneDNN, with its own threads, works for (`ingot.onednn`).
  }];
  let statistics = [Statistic<"shared", "shared", "kernels used once more">];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::ingot::cpu::CpuDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

def GroupNormToVector : Cpu_RowsToVector<"cpu-group-norm-to-vector"> {
  let summary = "Write group norm kernels as loops over vectors";
  let description = [{
    See the head of GroupNormToVector.cpp.
  }];
}

def PoolToVector : Cpu_RowsToVector<"cpu-pool-to-vector"> {
  let summary = "Write pooling kernels as loops over vectors";
  let description = [{
    See the head of PoolToVector.cpp.
  }];
}

def ReduceToVector : Cpu_RowsToVector<"cpu-reduce-to-vector"> {
  let summary = "Write reduction kernels as loops over vectors";
  let description = [{
    See the head of ReduceToVector.cpp.
  }];
}

def RowNormToVector : Cpu_RowsToVector<"cpu-row-norm-to-vector"> {
  let summary = "Write layer and RMS norm kernels as loops over vectors";
  let description = [{
    See the head of RowNormToVector.cpp.
  }];
}

def SoftmaxToVector : Cpu_RowsToVector<"cpu-softmax-to-vector"> {
  let summary = "Write softmax kernels as loops over vectors";
  let description = [{
    See the head of SoftmaxToVector.cpp.
  }];
}

def OutlineKernels : Pass<"outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Give every kernel a function of its own, equal ones the same";
  let description = [{
    A cpu op on memrefs becomes a `cpu.launch` of a private function that takes
    the op's operands and the number of a task. Ops that differ in their operands
    and locations only share a function.
  }];
  let statistics = [Statistic<"shared", "shared", "kernels used once more">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::ingot::cpu::CpuDialect",
    "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect"];
}

def LinalgFillSplats : Pass<"linalg-fill-splats"> {
  let summary = "Fill buffers that hold one number rather than store them";
  let description = [{
    A constant that is one number everywhere takes no memory in the compiler, but
    all of its size in the artifact. Where it is large, each of its uses gets a
    buffer of the arena that is filled in the run. Weights that oneDNN
    rearranges once stay constants.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"minBytes", "min-bytes", "int64_t", "65536",
           "Smaller constants are stored">];
  let statistics = [Statistic<"filled", "filled", "Constants that are filled">];
}

def LinalgRelaxReductions
    : Pass<"linalg-relax-reductions"> {
  let summary = "Let sums and products of reductions be reordered";
  let description = [{
    Without it no reduction of floats becomes vector code. The order is still
    the same in every run.
  }];
}

def ApproximateMath : Pass<"approximate-math"> {
  let summary = "Replace frequent transcendental functions by polynomials";
  let description = [{
    `exp`, `log`, `log1p`, `erf` and `tanh`, on which loops over tensors spend
    their time: polynomials become vector code, calls of libm do not. Other
    functions stay calls.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def GuardDivision : Pass<"guard-division"> {
  let summary = "Keep integer divisions from ending the process";
  let description = [{
    A processor traps on an integer division by zero, and on the least number
    divided by minus one; ONNX leaves both open. Here `x / 0` and `x % 0` are 0,
    and `x / -1` wraps around. Divisors known to be others stay as they are.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def OutlineLoops : Pass<"outline-loops", "::mlir::ModuleOp"> {
  let summary = "Give each loop nest a function of its own";
  let description = [{
    LLVM's work on a function grows faster than its size: one function with the
    loops of all of a model's layers takes minutes. Views of buffers at known
    offsets are repeated inside, so that LLVM still sees what does not alias.
    Loops that allocate memory or call something stay where they are.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect"];
  let statistics = [
    Statistic<"outlinedLoops", "outlined-loops", "Loop nests that were outlined">];
}

def IngotConvertToLLVM : Pass<"ingot-convert-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Convert what is left to the LLVM dialect";
  let description = [{
    Upstream's conversions in one go. Memory of dynamic size comes from the host,
    through the function's last argument, the run's `ingot_abi_call`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // INGOT_PASSES_TD
