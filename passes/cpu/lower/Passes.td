//===- cpu/lower/Passes.td - from nn to kernels of our own -*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_LOWER_PASSES_TD
#define INGOT_PASSES_CPU_LOWER_PASSES_TD

include "mlir/Pass/PassBase.td"

def DecomposeConvTranspose
    : Pass<"cpu-decompose-conv-transpose", "::mlir::func::FuncOp"> {
  let summary = "Turn transposed convolutions into convolutions";
  let description = [{
    The pixels of the result that lie a stride apart see the same taps of the
    kernel, flipped: they are an ordinary convolution of the source with these
    taps, the sub-pixel convolution of one phase. Each phase writes its pixels
    where they belong, a slice with steps of the destination; its epilogue goes
    along. Nothing is multiplied with zeros between pixels.

    Where all phases of the last dimension read the same pixels (the kernel is
    as wide as the stride and nothing is cut off) they are one convolution with
    as many times the output channels, whose results lie together in memory.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::ingot::cpu::CpuDialect",
                           "::ingot::nn::NNDialect",
                           "::mlir::tensor::TensorDialect"];
}

def DropZeroBlocks : Pass<"cpu-drop-zero-blocks", "::mlir::ModuleOp"> {
  let summary = "Leave blocks of zeros out of the weights of matrix products";
  let description = [{
    Of a `cpu.matmul` with one constant matrix of weights, which 1x1
    convolutions are by now, those blocks of a panel's columns and of a few
    neighbouring k that are not all zero are stored and multiplied, where they
    are few enough: see `blocks` of `cpu.matmul`. Panels of 32 columns become
    panels of 16 where these hold clearly more zeros. How many bytes that saves
    goes into the module's metadata. Left alone are matrices with fewer blocks
    of zeros, small ones, and convolutions.

    Where a level of `ingot.targets` has AMX tiles, so are weights of bytes and
    of bf16.
  }];
  let statistics = [Statistic<"numProducts", "products",
                              "products whose blocks of zeros vanished">];
  let dependentDialects = ["::ingot::IngotDialect",
                           "::mlir::arith::ArithDialect",
                           "::ingot::cpu::CpuDialect"];
}

def FlattenKernels : Pass<"cpu-flatten-kernels", "::mlir::func::FuncOp"> {
  let summary = "Turn kernels over many dimensions into matrix products";
  let description = [{
    A convolution with a 1x1 kernel, no padding and no strides is the product of
    the matrix of all pixels with the weights; a batched product with one right
    factor is the product of all rows. A product of two matrices tiles best.
    With an open batch, and 48 known rows or more in each of it, these are rows
    of one matrix each, so that their tiles are those of known sizes. A
    convolution along one column of pixels loses the dimension of its rows,
    which would be tiles of one pixel.
    Left alone where an epilogue operand broadcasts along some of the dimensions
    or the result goes into a slice with steps.
  }];
  let dependentDialects = ["::ingot::cpu::CpuDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FuseAttention : Pass<"nn-fuse-attention", "::mlir::func::FuncOp"> {
  let summary = "Make one kernel of scores, softmax and their product";
  let description = [{
    `softmax(scale * q kᵀ + mask) v` becomes `cpu.attention`: `f32`, heads known
    and within the kernel's bounds, scores used by nothing else. Scale and mask
    may be missing; a scale may stand at the queries or be a division.
    Transposes that bring heads to the front are taken along. Where bf16 was
    assigned to both products the kernel has the attribute, too, and multiplies
    bf16 if that is faster on its CPU level. With `or-f32`, and where all
    levels of `ingot.targets` multiply bf16 faster than f32, products of bf16
    whose factors a run computes, and which are left, multiply f32 again.
  }];
  let options = [
    Option<"orF32", "or-f32", "bool", "false",
           "Take bf16 from products that are left">];
  let dependentDialects = [
    "::ingot::cpu::CpuDialect", "::ingot::IngotDialect",
    "::ingot::nn::NNDialect", "::mlir::tensor::TensorDialect"];
}

def FuseRecurrent : Pass<"nn-fuse-recurrent", "::mlir::func::FuncOp"> {
  let summary = "Make one kernel of a recurrent net's loop over time";
  let description = [{
    A loop over the steps of a sequence, as RNN, GRU and LSTM are legalized to,
    becomes `cpu.recurrent` if a step computes each unit of its states from
    products of a state with constant weights, the step's part of a tensor, the
    unit's states, numbers for each unit, and whether the sequence has ended:
    elementwise, of slices along the units. One product may be of what was
    computed from the others.

    Two loops that go over the same lengths, neither of which needs the other,
    become the directions of one op, whose tasks run side by side. A loop alone
    stays if its recurrent weights are more than 512 KiB: threads then share the
    products of each step.
  }];
  let statistics = [Statistic<"fused", "fused", "loops that became kernels">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::ingot::cpu::CpuDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ConvToWinograd : Pass<"conv-to-winograd", "::mlir::func::FuncOp"> {
  let summary = "Give 3x3 convolutions to kernels with fewer products";
  let description = [{
    A convolution of f32 with 3x3 constant taps, strides and dilations of 1 and
    one group becomes `cpu.winograd_conv` if that takes clearly less time: with
    enough channels on both sides that transforms pay, with enough pixels that
    larger weights do, and with no more channels than a task's stack has room
    for. What is open in size counts as 28 pixels. Weights that are to be stored
    as f16 are rounded behind the transform, unless f16 does not hold them. With
    `precision=fp16`, and where all levels of `ingot.targets` multiply f16,
    those that would multiply f16 have to take less time than that.
    Transformed weights are larger: `optimize` says how much time each byte that
    they add must save (`OptimizeFor.h`).
  }];
  let options = [
    Option<"precision", "precision", "::ingot::Precision",
           "::ingot::Precision::fp32",
           "What the user wants heavy ops to multiply",
           [{::llvm::cl::values(
               clEnumValN(::ingot::Precision::fp32, "fp32", "32-bit floats"),
               clEnumValN(::ingot::Precision::bf16, "bf16", "bfloat16"),
               clEnumValN(::ingot::Precision::fp16, "fp16", "float16"))}]>,
    Option<"optimize", "optimize", "::ingot::OptimizeFor",
           "::ingot::OptimizeFor::balanced",
           "How much speed an added byte must bring",
           [{::ingot::optimizeForValues()}]>];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::ingot::cpu::CpuDialect",
    "::ingot::IngotDialect", "::ingot::nn::NNDialect",
    "::mlir::tensor::TensorDialect"];
}

def RepeatChannels : Pass<"nn-repeat-channels", "::mlir::func::FuncOp"> {
  let summary = "Give each output of a group of one channel a channel";
  let description = [{
    Of a convolution whose groups have one channel and M outputs each channel is
    repeated M times, so that it is one of single channels, whose kernels fill
    vectors. Weights stay as they are. Only convolutions that have kernels.
  }];
  let dependentDialects = [
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def NNToCpu : Pass<"nn-to-cpu", "::mlir::func::FuncOp"> {
  let summary = "Give heavy nn ops to native kernels";
  let description = [{
    Convolutions, transposed ones too, and matrix products become `cpu` ops:
    `f32`, data channels-last and of known size but for the batch. Constant
    weights are packed here, once and for all CPU levels; a right factor that is
    known in a run only is packed by the run. All else stays for `nn-to-linalg`.
    An op with the attribute `ingot.backend = #ingot.backend<loops>` is left
    alone.

    With `precision=fp16`, and where all levels of `ingot.targets` multiply f16,
    products that are marked `fp16` multiply f16 by f16 where 32 of them or more
    follow each other, and depthwise filters read f16. A few
    products are added up as f16 then; so that no such sum is beyond f16,
    whatever it holds is multiplied, the weights of each output channel are
    scaled by a power of two, which the epilogue undoes.
  }];
  let options = [
    Option<"precision", "precision", "::ingot::Precision",
           "::ingot::Precision::fp32",
           "What the user wants heavy ops to multiply",
           [{::llvm::cl::values(
               clEnumValN(::ingot::Precision::fp32, "fp32", "32-bit floats"),
               clEnumValN(::ingot::Precision::bf16, "bf16", "bfloat16"),
               clEnumValN(::ingot::Precision::fp16, "fp16", "float16"))}]>,
    Option<"maxTableBytes", "max-table-bytes", "int64_t", "16777216",
           "Bytes of a table of positions or weights of nn.resize that is made "
           "here; a run makes larger ones">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::ingot::cpu::CpuDialect",
    "::ingot::IngotDialect", "::mlir::linalg::LinalgDialect",
    "::ingot::nn::NNDialect", "::mlir::tensor::TensorDialect"];
}

def ProductsToSigns : Pass<"products-to-signs", "::mlir::func::FuncOp"> {
  let summary = "Give products of signs to kernels that count bits";
  let description = [{
    A convolution of one group or a matrix product of bytes with constant
    weights of 1 and -1, whose data are each one of three neighbouring bytes
    because of what computes them, becomes `cpu.pack_signs` and a `cpu.conv` or
    `cpu.matmul` with `sign_channels`. Products of few channels or outputs, and
    rows of open size, stay bytes.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::ingot::cpu::CpuDialect",
    "::mlir::linalg::LinalgDialect", "::ingot::nn::NNDialect",
    "::mlir::tensor::TensorDialect"];
}

def SignsToThresholds : Pass<"signs-to-thresholds", "::mlir::func::FuncOp"> {
  let summary = "Compare sums where only their signs are read";
  let description = [{
    A product of signs whose epilogue computes bytes that only `cpu.pack_signs`
    reads (scale and shift of a normalization, a sign, a choice of two numbers)
    compares its sum with an integer for each channel instead, and stores bits:
    it gets `dst_signs`, and `cpu.pack_signs` goes. All sums are tried, so that
    the results are those of the epilogue, whatever it rounds.

    Left alone are results that neither grow nor fall with the sum, operands
    that are not known, functions that a run approximates, and bytes that others
    read.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::ingot::cpu::CpuDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ProvePairs : Pass<"cpu-prove-pairs", "::mlir::func::FuncOp"> {
  let summary = "Find the pairs of constant bytes whose products fit a word";
  let description = [{
    Gives products of bytes their `pairs`, as `cpu.matmul` describes them, for
    CPUs that have `vpmaddubsw` but not VNNI. All pairs fit if the data are at
    most 127, as what computes them says. Left alone are groups, channels that
    are no fours, few rows, sums of few or of very many products, and weights
    of which half or more may saturate.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::ingot::cpu::CpuDialect"];
}

def ProveWinograd : Pass<"cpu-prove-winograd", "::mlir::func::FuncOp"> {
  let summary = "Find convolutions of bytes that fewer products give exactly";
  let description = [{
    Gives convolutions of bytes their `winograd`, as `cpu.conv` describes it:
    the largest tiles whose transforms leave as many bits of a sum as the
    weights, which are constant, let it have for any src.
  }];
  let dependentDialects = ["::ingot::cpu::CpuDialect"];
}

def TabulateBytes : Pass<"nn-tabulate-bytes", "::mlir::func::FuncOp"> {
  let summary = "Look functions of bytes up in tables";
  let description = [{
    Elementwise ops that compute a tensor of bytes from another one of the same
    shape and from numbers, through floats, become `nn.gather` from a table of
    256 bytes, which is computed here: what stands between a `dequantize` and a
    `quantize` of one scale each, and what several such pairs are together.

    Left alone is what the epilogue of the kernel that stores the bytes computes
    with little arithmetic, or of few elements, and a function that others read
    as floats.
  }];
  let statistics = [Statistic<"numTables", "tables", "functions looked up">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::ingot::nn::NNDialect"];
}

def NarrowStorage : Pass<"narrow-storage", "::mlir::func::FuncOp"> {
  let summary = "Store what goes from heavy op to heavy op as bf16 or f16";
  let description = [{
    Around products of bf16 a tensor of f32 becomes one of bf16 where all ops
    that make or use it can: the epilogue that stores it rounds, what loads it
    widens, data movement takes it as it is, and a cast to bf16 is there no
    more. All arithmetic stays f32. What the function takes and returns,
    constants, results of `linalg` reductions and all that is compared or
    converted to integers is stored as before.

    `PrecisionTable.cpp` says for each level and kind of op whether its results
    are stored as bf16 wherever they can, only behind what is, or never; what
    only products read, which round it, may be stored so all the same. Rules of
    `keep` come first.

    With `half=fp16` it is f16 in place of bf16, around products of f16; results
    of sums, and of ops with constants that f16 does not hold, stay f32 then but
    for products.

    All stays f32 where the levels of `ingot.targets` do not multiply `half`:
    for bf16 one level has to multiply it faster than f32, for f16 all levels
    have to have arithmetic on it.
  }];
  let options = [
    Option<"half", "half", "::ingot::Precision", "::ingot::Precision::bf16",
           "What tensors become",
           [{::llvm::cl::values(
               clEnumValN(::ingot::Precision::bf16, "bf16", "bfloat16"),
               clEnumValN(::ingot::Precision::fp16, "fp16", "float16"))}]>,
    Option<"level", "level", "int", "1", "1, 2 or 3, as --precision=O1 …">,
    ListOption<"keep", "keep", "std::string",
               "Nodes whose results stay f32: GLOB=fp32">];
  let statistics = [
    Statistic<"narrowed", "narrowed", "tensors stored as bf16 or f16">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::ingot::IngotDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

#endif // INGOT_PASSES_CPU_LOWER_PASSES_TD
