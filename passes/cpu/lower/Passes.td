//===- cpu/lower/Passes.td - from nn to native kernels -----*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_LOWER_PASSES_TD
#define INGOT_PASSES_CPU_LOWER_PASSES_TD

include "mlir/Pass/PassBase.td"

/// The type that the user wants heavy ops to multiply.
class PrecisionOption
    : Option<"precision", "precision", "::ingot::Precision",
             "::ingot::Precision::fp32",
             "Type that the user wants heavy ops to multiply",
             [{::llvm::cl::values(
                 clEnumValN(::ingot::Precision::fp32, "fp32", "32-bit floats"),
                 clEnumValN(::ingot::Precision::bf16, "bf16", "bfloat16"),
                 clEnumValN(::ingot::Precision::fp16, "fp16", "float16"))}]>;

def DecomposeConvTranspose
    : Pass<"cpu-decompose-conv-transpose", "::mlir::func::FuncOp"> {
  let summary = "Rewrite transposed convolutions as convolutions";
  let description = [{
    Pixels of the result that lie a stride apart use the same taps of the
    kernel, flipped. They form a phase: an ordinary convolution of the source
    with these taps (a sub-pixel convolution). Each phase writes its pixels to a
    slice of the destination with steps, and has a copy of the epilogue. No
    zeros between pixels are multiplied.

    All phases of the last dimension may read the same pixels, if the kernel is
    as wide as the stride and nothing is cropped. They then become one
    convolution with a multiple of the output channels, whose results are
    contiguous in memory.
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
    Rewrites a `cpu.matmul` with one constant matrix of weights, which includes
    1x1 convolutions. A block holds the columns of a panel and a few
    neighbouring k. Only blocks that are not all zero are stored and multiplied,
    if they are few enough: see `blocks` of `cpu.matmul`. Panels of 32 columns
    become panels of 16 if these have clearly more blocks of zeros. The module's
    metadata records how many bytes are saved. Matrices with fewer blocks of
    zeros, small matrices and convolutions stay as they are.

    Weights of bytes and of bf16 also stay as they are if a level of
    `ingot.targets` has AMX tiles.
  }];
  let statistics = [Statistic<"numProducts", "products",
                              "products without their blocks of zeros">];
  let dependentDialects = ["::ingot::IngotDialect",
                           "::mlir::arith::ArithDialect",
                           "::ingot::cpu::CpuDialect"];
}

def FlattenKernels : Pass<"cpu-flatten-kernels", "::mlir::func::FuncOp"> {
  let summary = "Turn kernels over many dimensions into matrix products";
  let description = [{
    A convolution with a 1x1 kernel, no padding and no strides is the product of
    the matrix of all pixels with the weights. A batched product with one right
    factor is the product of all rows. A product of two matrices tiles best.

    If the batch is open and has 48 known rows or more, each batch keeps its own
    matrix. Tiles then have known sizes. A convolution along one column of
    pixels becomes one along a row, because it would otherwise have tiles of one
    pixel.

    Kernels stay as they are if an epilogue operand broadcasts along some of the
    dimensions, or if the result goes into a slice with steps.
  }];
  let dependentDialects = ["::ingot::cpu::CpuDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FuseAttention : Pass<"nn-fuse-attention", "::mlir::func::FuncOp"> {
  let summary = "Fuse scores, softmax and their product into one kernel";
  let description = [{
    `softmax(scale * q kᵀ + mask) v` becomes `cpu.attention`. Elements must be
    `f32`, heads must be known and within the kernel's bounds, and the scores
    must have no other use. Scale and mask are optional; the queries may be
    scaled instead, and the scale may be a division. Transposes that bring heads
    to the front are fused too.

    If both products are assigned bf16, the kernel has the attribute, too. It
    then multiplies bf16 if that is faster on its CPU level.

    `or-f32` affects the products of bf16 that are left and whose factors a run
    computes. They multiply f32 again if all levels of `ingot.targets` multiply
    bf16 faster than f32.
  }];
  let options = [
    Option<"orF32", "or-f32", "bool", "false",
           "Remove bf16 from the remaining products">];
  let dependentDialects = [
    "::ingot::cpu::CpuDialect", "::ingot::IngotDialect",
    "::ingot::nn::NNDialect", "::mlir::tensor::TensorDialect"];
}

def FuseRecurrent : Pass<"nn-fuse-recurrent", "::mlir::func::FuncOp"> {
  let summary = "Make one kernel of a recurrent net's loop over time";
  let description = [{
    RNN, GRU and LSTM are legalized to a loop over the steps of a sequence. The
    loop becomes `cpu.recurrent` if each step computes every unit of its states
    elementwise from

    - products of a state with constant weights,
    - the step's part of a tensor,
    - the unit's states,
    - constants for each unit, and
    - a flag that the sequence has ended.

    Slices must be along the units. One product may have a factor that is
    computed from the others.

    Two loops over the same lengths that do not depend on each other become the
    directions of one op, whose tasks run in parallel. A single loop stays if
    its recurrent weights are more than 512 KiB: threads then share the products
    of each step.
  }];
  let statistics = [Statistic<"fused", "fused", "loops that became kernels">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::ingot::cpu::CpuDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ConvToWinograd : Pass<"conv-to-winograd", "::mlir::func::FuncOp"> {
  let summary = "Compute 3x3 convolutions by Winograd's algorithm";
  let description = [{
    A convolution of f32 with 3x3 constant taps, strides and dilations of 1 and
    one group becomes `cpu.winograd_conv` if that takes clearly less time. It
    needs enough channels on both sides to pay for the transforms, and enough
    pixels to pay for the larger weights. Its channels must fit a task's stack.
    Open sizes count as 28 pixels.

    Weights that are stored as f16 are rounded after the transform, unless f16
    does not hold them. With `precision=fp16`, if all levels of `ingot.targets`
    multiply f16, the result must be faster than a product of f16.

    Transformed weights are larger: `optimize` says how much time each added
    byte must save (`OptimizeFor.h`).
  }];
  let options = [
    PrecisionOption<>,
    Option<"optimize", "optimize", "::ingot::OptimizeFor",
           "::ingot::OptimizeFor::balanced",
           "Trade-off between speed and added bytes",
           [{::ingot::optimizeForValues()}]>];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::ingot::cpu::CpuDialect",
    "::ingot::IngotDialect", "::ingot::nn::NNDialect",
    "::mlir::tensor::TensorDialect"];
}

def RepeatChannels : Pass<"nn-repeat-channels", "::mlir::func::FuncOp"> {
  let summary = "Repeat channels to make a grouped convolution depthwise";
  let description = [{
    A convolution whose groups have one channel and M outputs becomes one of
    single channels: each channel is repeated M times. Depthwise kernels then
    fill their vectors. Weights stay as they are. Only convolutions that have
    kernels are rewritten.
  }];
  let dependentDialects = [
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def StorePadding : Pass<"nn-store-padding", "::mlir::func::FuncOp"> {
  let summary = "Store the padding of rows with few channels and many taps";
  let description = [{
    The pads of the last spatial dimension of a convolution become `nn.pad` if
    the convolution has few channels and many taps in a row. Its kernel then
    computes all pixels of a row by the same code. Copying the data takes little
    time beside so many products. Each choice is recorded.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::ingot::nn::NNDialect"];
}

def NNToCpu : Pass<"nn-to-cpu", "::mlir::func::FuncOp"> {
  let summary = "Lower heavy nn ops to native kernels";
  let description = [{
    Convolutions, transposed ones too, and matrix products become `cpu` ops.
    They must be `f32`, channels-last and of known size except for the batch.
    Constant weights are packed here, once for all CPU levels. The run packs a
    right factor that it computes. `nn-to-linalg` lowers the other ops. An op
    with the attribute `ingot.backend = #ingot.backend<loops>` is left alone.

    The following holds for `precision=fp16` if all levels of `ingot.targets`
    multiply f16. Products marked `fp16` multiply f16 by f16 if at least 32 of
    them are added. Depthwise filters read f16. A few products are then added as
    f16. The weights of each output channel are scaled by a power of two, so
    that no such sum exceeds f16 for any data. The epilogue undoes the scale.
  }];
  let options = [
    PrecisionOption<>,
    Option<"maxTableBytes", "max-table-bytes", "int64_t", "16777216",
           "Bytes of a table of positions or weights of nn.resize that is made "
           "here; a run makes larger ones">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::ingot::cpu::CpuDialect",
    "::ingot::IngotDialect", "::mlir::linalg::LinalgDialect",
    "::ingot::nn::NNDialect", "::mlir::tensor::TensorDialect"];
}

def ProductsToSigns : Pass<"products-to-signs", "::mlir::func::FuncOp"> {
  let summary = "Lower products of signs to kernels that count bits";
  let description = [{
    Rewrites a convolution of one group or a matrix product of bytes with
    constant weights of 1 and -1. The ops that compute its data must limit them
    to three neighbouring bytes. The product becomes `cpu.pack_signs` and a
    `cpu.conv` or `cpu.matmul` with `sign_channels`. Products of few channels or
    outputs, and rows of open size, stay bytes.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::ingot::cpu::CpuDialect",
    "::mlir::linalg::LinalgDialect", "::ingot::nn::NNDialect",
    "::mlir::tensor::TensorDialect"];
}

def SignsToThresholds : Pass<"signs-to-thresholds", "::mlir::func::FuncOp"> {
  let summary = "Compare sums where only their signs are read";
  let description = [{
    The epilogue of a product of signs may compute bytes that only
    `cpu.pack_signs` reads, e.g. by a normalization's scale and shift, a sign or
    a choice of two values. Such a product compares its sum with an integer for
    each channel instead, and stores bits: it gets `dst_signs`, and
    `cpu.pack_signs` is removed. All sums are tried, so that results equal those
    of the epilogue, however it rounds.

    The pass declines results that neither grow nor fall with the sum, and
    operands that are not constant. It also declines functions that a run
    approximates, and bytes with other users.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::ingot::cpu::CpuDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ProvePairs : Pass<"cpu-prove-pairs", "::mlir::func::FuncOp"> {
  let summary = "Find the pairs of constant bytes whose products fit int16";
  let description = [{
    Gives products of bytes their `pairs`, as `cpu.matmul` describes them, for
    CPUs that have `vpmaddubsw` but not VNNI. All pairs fit if the data are at
    most 127, as the ops that compute them prove. The pass declines groups,
    channels that are no multiple of four, few rows, and sums of few or very
    many products. It also declines weights if half or more may saturate.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::ingot::cpu::CpuDialect"];
}

def ProveWinograd : Pass<"cpu-prove-winograd", "::mlir::func::FuncOp"> {
  let summary = "Find convolutions of bytes that Winograd computes exactly";
  let description = [{
    Gives convolutions of bytes their `winograd`, as `cpu.conv` describes it.
    Larger tiles have transforms that leave fewer bits for a sum. The pass picks
    the largest tiles that leave enough bits for the constant weights and any
    src.
  }];
  let dependentDialects = ["::ingot::cpu::CpuDialect"];
}

def TabulateBytes : Pass<"nn-tabulate-bytes", "::mlir::func::FuncOp"> {
  let summary = "Look functions of bytes up in tables";
  let description = [{
    Elementwise ops may compute a tensor of bytes, through floats, from another
    tensor of bytes of the same shape and from constants. They become a
    `nn.gather` from a table of 256 bytes, which the pass computes. Examples are
    the ops between a `dequantize` and a `quantize` of one scale each, and
    several such pairs in a row.

    The pass declines tensors of few elements, and functions whose floats have
    other users. It also declines cheap ops that the epilogue of the preceding
    kernel can compute.
  }];
  let statistics = [
    Statistic<"numTables", "tables", "functions that became tables">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::ingot::nn::NNDialect"];
}

def SkipStoredBytes : Pass<"nn-skip-stored-bytes", "::mlir::func::FuncOp"> {
  let summary = "Read rounded floats instead of bytes in the same loop";
  let description = [{
    A pair of quantize and dequantize becomes rounding, a cast to bytes, a cast
    back and a product. The pass reads the rounded floats instead, so that the
    bytes are not computed. It does so if all readers are in the same loop or
    epilogue, or if a product reads floats from memory.

    The pass declines bytes with other readers, and integers that a cast to
    bytes may wrap around. It also declines bytes that a later loop reads, since
    bytes take less memory than floats.
  }];
  let statistics = [
    Statistic<"numSkipped", "skipped", "bytes that are not computed">];
  let dependentDialects = ["::ingot::nn::NNDialect"];
}

#endif // INGOT_PASSES_CPU_LOWER_PASSES_TD
