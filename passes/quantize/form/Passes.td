//===- quantize/form/Passes.td - passes that quantize ------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_FORM_PASSES_TD
#define INGOT_PASSES_QUANTIZE_FORM_PASSES_TD

include "mlir/Pass/PassBase.td"

def PackWeights : Pass<"nn-pack-weights"> {
  let summary = "Multiply weights of a few bits as they are packed";
  let description = [{
    A `matmul` of f32 by constant weights of up to 8 bits becomes
    `nn.packed_matmul`: behind `dequantize_blocks` with blocks along the inner
    dimension, which are whole words of 32 bits or the only ones; or behind
    `dequantize` with one scale, or one for each output, unless the matrix is
    small, or the module has fewer than `least` such weights. Each number takes
    the fewest of 2, 4 or 8 bits that hold all.
  }];
  let options = [
    Option<"least", "least", "int64_t", "-1",
           "Fewest weights with a scale for each output that are packed; "
           "negative: as many floats as a quarter of the second-level cache "
           "holds">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numPacked", "packed", "Products">];
}

def RoundPackedRows : Pass<"nn-round-packed-rows", "::mlir::ModuleOp"> {
  let summary = "Let products with weights of a few bits multiply bytes";
  let description = [{
    An `nn.packed_matmul` whose model allows it by `may_round_a`, or any with
    `any`, gets `rounds_a`: what it multiplies becomes bytes, each block of a
    row with a scale of its own. A product stays in f32 that some level gains
    nothing by: those of few columns, of weights that a run brings, of blocks
    of more than 256 elements or of no whole words, and, unless all levels of
    `ingot.targets` have instructions that add up products of bytes, of 8 bits,
    whose products without these are too large for words. So do operations that
    come from nodes which `keep` names.
  }];
  let options = [
    Option<"any", "any", "bool", "false",
           "Whether the model does not have to allow it">,
    ListOption<"keep", "keep", "std::string",
               "Nodes that are not rounded: GLOB=fp32">];
  let statistics = [Statistic<"rounded", "rounded", "products of bytes">];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def QuantizeProducts : Pass<"nn-quantize-products"> {
  let summary = "Multiply bytes instead of dequantized numbers";
  let description = [{
    A `conv` or `matmul` of `dequantize` by constant weights behind a
    `dequantize` of their own multiplies the bytes: with scales `s`, `t` and
    zero point `z`, `sum of s (x - z) t w = s t (sum of x w - z sum of w)`. The
    sums are of i32 and exact; scale and bias follow as `mul` and `add` of f32.
    Weights have bytes with a zero point of 0, or are made so if they fit; those
    of others, without groups, are bytes and a number for each output, which
    counts once for each sum of all data that the weights meet. Data is of ui8
    with one scale. The zero point goes into the bias, or with padding
    into `x_zero_point`. A convolution of one or two channels multiplies the
    same numbers as f32 where all sums are exact.

    The zero point of a `conv_transpose` is its `x_zero_point`, too: it would
    count for each place as much as that has taps within the data. Groups of one
    channel stay floats.

    A scale and zero point of the data that only the run knows stay operands:
    the zero point times sums of weights is taken off the sums, as
    `MatMulInteger` has it, and padding becomes an `nn.pad` with it.
  }];
  let dependentDialects = [
    "::ingot::IngotDialect", "::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numProducts", "products", "Products of bytes">];
}

def PadChannels : Pass<"nn-pad-channels"> {
  let summary = "Give convolutions of bytes whole groups of four channels";
  let description = [{
    Kernels multiply four channels of bytes at once. What a `conv` of bytes
    with constant weights reads gets channels of zeros up to a multiple of four,
    and its weights get zeros for them; once for all that read a tensor (CSE).
    One or two channels stay, and so do groups, weights of signs, which are
    multiplied as bits, and convolutions that multiply each byte fewer than 128
    times, for which copying takes longer.
  }];
  let dependentDialects = [
    "::ingot::IngotDialect", "::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numPadded", "padded", "Convolutions padded">];
}

def QuantizeWords : Pass<"nn-quantize-words"> {
  let summary = "Multiply words instead of numbers dequantized from 16 bits";
  let description = [{
    A `conv` or `matmul` of `dequantize` of 16 bits by constant weights of bytes
    behind a `dequantize` of their own multiplies words of i16. The sums are of
    i32: of those the constant weights tell how large they get, so that all are
    exact. Where one would be too large, inputs are split into parts, whose sums
    are added as f32. Scale and bias follow as `mul` and `add` of f32.

    Data are signed, 32768 less than unsigned ones. Their zero point is the
    `x_zero_point` of a convolution, and what it adds to the sums of a matrix
    product is taken off as i32.

    Groups of few channels, products of so few rows that they wait for the
    weights, and 3x3 convolutions that `conv-to-winograd` makes faster than
    words, stay floats. `optimize` is that of `conv-to-winograd`, and `size`
    where that pass does not run.
  }];
  let options = [
    Option<"optimize", "optimize", "::ingot::OptimizeFor",
           "::ingot::OptimizeFor::balanced",
           "How much speed an added byte must bring",
           [{::ingot::optimizeForValues()}]>];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numProducts", "products", "Products of words">];
}

def DecomposeQuantize : Pass<"nn-decompose-quantize"> {
  let summary = "Write quantize and dequantize as elementwise ops";
  let description = [{
    `quantize` becomes a division, rounding, the zero point, a clamp and a cast;
    `dequantize` a difference of integers and a product, as ONNX defines them.
    So they are fused like others. Bytes that are only cast to floats, and words
    that only become floats, are not made; words are bounded only from the sides
    that what they are made of can exceed.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FoldRequantize : Pass<"nn-fold-requantize"> {
  let summary = "Fold the division by a scale into constants before it";
  let description = [{
    A quotient by a constant scale, which is rounded and stored as bytes, is
    mostly made of a product's sums: times constants, plus constants or other
    numbers times constants, through relu and clamp, or of f32 by constant
    weights. The scale goes into these constants, or into those of one factor.
    Each constant is rounded once, so that a result may be a step off where it
    lies between two. A hard sigmoid of which no words are stored is scaled in
    the same way. A sigmoid, tanh, erf, softmax or norm is multiplied by one
    over the scale.

    Other numbers are divided, which `divide-by-constants` makes exact products.
    Bytes times a scale, and functions that are x itself for a large x, lie
    between two steps of a scale with a simple ratio on purpose.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numFolded", "folded", "Divisions folded">];
}

def PatchesToMatMul : Pass<"nn-patches-to-matmul"> {
  let summary = "Convolutions over patches of few channels as products";
  let description = [{
    A convolution whose windows lie side by side, as those that cut a picture
    into the patches of a vision transformer, is a product of the matrix of
    patches and the weights. Of few channels a tap has few terms, which neither
    fill tiles of bf16 nor groups of bytes; all taps together do. What is left
    over at the edges is cropped. With many channels, of which nothing has to be
    moved, and where sizes are open, it stays.

    Example: `nn.conv` of `1x3x224x224` with strides and kernels of 16 becomes
    `nn.reshape` to `1x3x14x16x14x16`, `nn.transpose` to `1x14x14x3x16x16` and
    `nn.matmul` of `1x14x14x768` by `768x192`.
  }];
  let options = [
    Option<"bytesOnly", "bytes-only", "bool", "false",
           "Only what reads dequantized pixels: f32 gains nothing">];
  let statistics = [Statistic<"numPatches", "patches",
                              "Convolutions that became products">];
}

def MergeScaleShifts : Pass<"nn-merge-scale-shifts"> {
  let summary = "Merge scales and shifts of what a product gives";
  let description = [{
    What scales and shifts the channels of a product one after the other
    becomes one `mul` and one `add` at most: `s (t x + u) + v = s t x + (s u +
    v)`, with constants that are computed in double and rounded once. So the
    scales of bytes, the factors of a trained quantization and a batch
    normalization behind it, whose weights are bytes and stay as they are, are
    one scale and one shift, of which a division is none. Other integers than
    sums of products are left alone: they may be counts, whose quotients are
    whole numbers.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numMerged", "merged", "Chains merged">];
}

#endif // INGOT_PASSES_QUANTIZE_FORM_PASSES_TD
