//===- quantize/form/Passes.td - passes that quantize ------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_FORM_PASSES_TD
#define INGOT_PASSES_QUANTIZE_FORM_PASSES_TD

include "mlir/Pass/PassBase.td"

def ClampBytes : Pass<"nn-clamp-bytes"> {
  let summary = "Compute a relu or clamp between equal scales on bytes";
  let description = [{
    Networks that were trained with quantization quantize the result of a
    product before and after its activation, often with one scale. A `relu` or
    `clamp` between such a `dequantize` and `quantize` becomes a clamp of bytes
    by the quantized bounds. Two clamps of bytes in a row become one.

    Activations between different scales stay as they are.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numClamped", "clamped", "Clamps of bytes">];
}
def PackWeights : Pass<"nn-pack-weights"> {
  let summary = "Multiply weights of a few bits in packed form";
  let description = [{
    A `matmul` of f32 by constant weights of up to 8 bits becomes
    `nn.packed_matmul`. Each weight takes 2, 4 or 8 bits, whichever is the
    fewest that holds all weights. Two forms are rewritten:

    - Weights behind `dequantize_blocks` with blocks along the inner dimension.
      Blocks must fill whole words of 32 bits, unless there is only one.
    - Weights behind `dequantize` with one scale, or one for each output. The
      device's policy must find the matrix large enough. The module must have at
      least `least` such weights.
  }];
  let options = [
    Option<"least", "least", "int64_t", "-1",
           "Fewest weights with a scale for each output that are packed; if "
           "negative, the policy of the device chooses">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numPacked", "packed", "Products with packed weights">];
}

def RoundPackedRows : Pass<"nn-round-packed-rows", "::mlir::ModuleOp"> {
  let summary = "Let products with weights of a few bits multiply int8";
  let description = [{
    Sets `rounds_a` of an `nn.packed_matmul` if the model allows it by
    `may_round_a`, or with `any` for all ops. Its data then become bytes, where
    each block of a row has a scale of its own.

    A product stays in f32 if some level gains nothing. Examples are products of
    few columns, weights that the run computes, blocks of more than 256
    elements, and blocks that do not fill whole words. Weights of 8 bits stay as
    well, unless all levels of `ingot.targets` have instructions that add up
    products of bytes: without these, the products exceed int16. Ops that come
    from nodes which `keep` names also stay.
  }];
  let options = [
    Option<"any", "any", "bool", "false",
           "Round even if the model does not allow it">,
    ListOption<"keep", "keep", "std::string",
               "Nodes to keep in fp32: GLOB=fp32">];
  let statistics = [Statistic<"rounded", "rounded", "products of bytes">];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def UnpackWeights : Pass<"nn-unpack-weights"> {
  let summary = "Multiply small weights of a few bits as floats";
  let description = [{
    An `nn.packed_matmul` of constant weights becomes a `matmul` by weights of
    f32, if the device's policy finds that unpacking takes longer than reading
    floats. CPUs say so for several rows and weights that take little space as
    floats, if the product multiplies no bytes.
  }];
  let options = [
    Option<"optimize", "optimize", "::ingot::OptimizeFor",
           "::ingot::OptimizeFor::balanced",
           "Trade-off between speed and added bytes",
           [{::ingot::optimizeForValues()}]>];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numUnpacked", "unpacked",
                              "Products whose weights became floats">];
}

def QuantizeProducts : Pass<"nn-quantize-products"> {
  let summary = "Multiply bytes instead of dequantized floats";
  let description = [{
    Rewrites a `conv` or `matmul` of a `dequantize` by constant weights with a
    `dequantize` of their own, so that it multiplies the bytes. With scales `s`,
    `t` and zero point `z`, `sum of s (x - z) t w = s t (sum of x w - z sum of
    w)`. The sums are i32 and exact. Scale and bias follow as `mul` and `add` of
    f32.

    Data are ui8 with one scale. Weights are si8 with zero point 0, or are
    converted to this form if they fit. If few weights exceed bytes, these are
    bounded, and each remainder is multiplied by the data that it meets. Other
    weights, without groups, become bytes and a number for each output, which is
    multiplied by the sum of all data under the weights. The zero point of the
    data goes into the bias, or with padding into `x_zero_point`. A convolution
    of one or two channels multiplies the integers as f32 if all sums are exact.
    Weights of a `matmul` may have a matrix for each batch. Scales then vary by
    column, by batch or by column of each batch.

    The zero point of a `conv_transpose` also becomes its `x_zero_point`,
    because its effect on a pixel depends on the taps within the data. Groups of
    one channel stay floats.

    A scale and zero point of the data that only the run knows stay operands.
    The product of the zero point and sums of weights is subtracted from the
    sums, as in `MatMulInteger`. Padding becomes an `nn.pad` with the zero
    point.
  }];
  let dependentDialects = [
    "::ingot::IngotDialect", "::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numProducts", "products", "Products of bytes">];
}

def QuantizeComputedProducts : Pass<"nn-quantize-computed-products"> {
  let summary = "Multiply two computed factors of bytes";
  let description = [{
    Rewrites a `matmul` of f32 whose factors are both a `dequantize` of computed
    bytes with one constant scale. The bytes are multiplied, with sums of i32.
    Sums of the rows and of the columns take off the zero points. The product of
    both scales follows as `mul` of f32. The right factor is packed in each run.

    A product stays in floats if packing does not pay, or if its sums may exceed
    i32. Scores also stay if one kernel of floats computes the whole attention.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numProducts", "products", "Products of bytes">];
}

def FuseByteAttention : Pass<"nn-fuse-byte-attention", "::mlir::ModuleOp"> {
  let summary = "Compute an attention of bytes as one operation";
  let description = [{
    Two products of bytes with a softmax in between become
    `nn.byte_attention`. Queries, keys, values and probabilities are each a
    `dequantize` with one constant scale. Scores may be scaled, masked and
    rounded to a grid by a `quantize` and a `dequantize`, in this order:
    rounding, scale, rounding, mask, rounding. All roundings of the model stay.

    The operation has the heads inside, `B, L, H, D`. Transposes of heads
    become transposes of bytes, or vanish.

    An attention stays as it is if the device's policy declines, e.g. because of
    few queries. Other users of scores or probabilities prevent the rewrite.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numAttentions", "attentions", "Attentions of bytes">];
}

def PadChannels : Pass<"nn-pad-channels"> {
  let summary = "Pad the channels of int8 convolutions to groups of four";
  let description = [{
    Kernels multiply four channels of bytes at once. The data and constant
    weights of a `conv` of bytes get channels of zeros up to a multiple of four.
    All users of a tensor share its padded form after CSE.

    Convolutions of one or two channels stay as they are. So do groups, weights
    of signs, and convolutions that multiply each byte too rarely to pay for
    copying.
  }];
  let dependentDialects = [
    "::ingot::IngotDialect", "::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numPadded", "padded", "Convolutions padded">];
}

def QuantizeInt16 : Pass<"nn-quantize-int16"> {
  let summary = "Multiply int16 instead of floats dequantized from 16 bits";
  let description = [{
    Rewrites a `conv` or `matmul` so that it multiplies i16. The data are a
    `dequantize` from 16 bits, or from bytes if the weights have 16 bits. The
    weights are constants with a `dequantize` of their own. The sums are i32.
    The constant weights bound the sums. If a sum might overflow, the inputs are
    split into parts, whose sums are added as f32. Scale and bias follow as
    `mul` and `add` of f32.

    Data are signed, 32768 less than unsigned data of 16 bits. Their zero point
    is the `x_zero_point` of a convolution. For a matrix product, its
    contribution is subtracted from the sums as i32.

    Products stay floats if these are faster. Examples are groups of few
    channels, products of few rows that wait for the weights, and 3x3
    convolutions that `conv-to-winograd` computes faster. `optimize` has the
    value of `conv-to-winograd`, or `size` if that pass does not run.
  }];
  let options = [
    Option<"optimize", "optimize", "::ingot::OptimizeFor",
           "::ingot::OptimizeFor::balanced",
           "Trade-off between speed and added bytes",
           [{::ingot::optimizeForValues()}]>];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numProducts", "products", "Products of int16">];
}

def DecomposeQuantize : Pass<"nn-decompose-quantize"> {
  let summary = "Write quantize and dequantize as elementwise ops";
  let description = [{
    `quantize` becomes a division, rounding, an addition of the zero point, a
    clamp and a cast. `dequantize` becomes a difference of integers and a
    product, as ONNX defines them. Both are then fused like other elementwise
    ops.

    Integers of 8 or 16 bits that are only converted to floats are not created.
    An int16 is clamped only on the sides that its operand can exceed.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FoldRequantize : Pass<"nn-fold-requantize"> {
  let summary = "Fold the division by a scale into constants in front of it";
  let description = [{
    Rewrites a quotient by a constant scale that is rounded and stored as bytes.
    Its dividend is often the sum of a product, times constants, plus constants
    or other scaled numbers, through relu and clamp. The scale goes into these
    constants, into the constant weights of a product of f32, or into the
    constants of one factor. Each constant is rounded once, so that a result
    that lies between two steps may differ by one step.

    A hard swish of sums takes the scale into the constants of its gate. If such
    a dividend has no constants, or the scale varies by channel, it is
    multiplied by the inverse.

    A hard sigmoid that is not stored as int16 is scaled in the same way. A
    sigmoid, tanh, erf, softmax or norm is multiplied by the inverse of the
    scale, whatever it is computed from.

    Other dividends keep their division, which `divide-by-constants` turns into
    exact products. Such dividends are bytes times a scale, and functions of
    bytes that equal x for large x. Their quotients often lie exactly between
    two steps.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numFolded", "folded", "Divisions folded">];
}

def FoldDequantize : Pass<"nn-fold-dequantize"> {
  let summary = "Fold the scale of rounded data into the weights behind them";
  let description = [{
    Rewrites integers of f32 times a constant scale, if only products of f32
    with constant weights read them. The products multiply the integers, and
    the scale becomes part of the weights. `nn.reshape` and `nn.transpose` may
    lie in between. Each weight is rounded once.

    Example: with constant w, `(s round(x)) w` becomes `round(x) (s w)`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numFolded", "folded", "Scales of data folded">];
}

def FoldChannelScales : Pass<"nn-fold-channel-scales"> {
  let summary = "Move scales of channels out of the data of bytes";
  let description = [{
    Some quantizers give the data of a depthwise convolution a scale for each
    channel. With one zero point for all channels, such a `quantize` becomes a
    division by the scales and a `quantize` with scale 1. The division then
    becomes part of the scales of the product before. An activation vanishes if
    the saturation of the bytes has the same effect.

    A depthwise convolution of such data reads them with scale 1, because the
    scales of its weights take the scales of the data.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numDivided", "divided", "Divisions before quantize">,
    Statistic<"numFolded", "folded", "Convolutions with scaled weights">];
}

def FoldByteScales : Pass<"nn-fold-byte-scales"> {
  let summary = "Fold scales between two roundings of bytes";
  let description = [{
    Rewrites `round(f(x) / scale)`, where `f` depends on one or two tensors of
    bytes, or of other integers of a small range. Networks with a pair of
    quantize and dequantize behind each operator compute such functions. All
    scales become constants of `f`: of additions, products, relu, clamp, hard
    sigmoid and hard swish. The division becomes part of a product. A
    saturating clamp that has no effect is dropped.

    The pass computes the old and the new function for all inputs, with the
    roundings of f32. Both must give equal integers. If they do not, the
    constants are moved by few units in the last place. If that does not help,
    the division stays.

    In a hard swish between integers of 16 bits, one integer of 1000 may be one
    step off. The roundings of ONNX's own form move about as many.

    Example: `round(relu(s q) / t)` becomes `round(relu(q r))` with a constant
    `r` near `s / t`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numFolded", "folded", "Functions with fewer ops">];
}

def NarrowSaturation : Pass<"nn-narrow-saturation"> {
  let summary = "Saturate once between two roundings of bytes";
  let description = [{
    A quantize clamps its data to bytes. If only one function reads these bytes,
    and rounds its results to integers again, many bytes may give one integer.
    An example is a relu, which gives 0 for all negative data. The bounds of the
    clamp, or of a `nn.requantize`, move as far as the integers stay equal.
    Bounds of later clamps that have no effect then are dropped.

    The pass computes the function for all bytes. It handles functions that
    `nn-fold-byte-scales` handles, if they depend on one tensor.
  }];
  let statistics = [
    Statistic<"numNarrowed", "narrowed", "Clamps with other bounds">,
    Statistic<"numDropped", "dropped", "Bounds of clamps that were dropped">];
}

def PatchesToMatMul : Pass<"nn-patches-to-matmul"> {
  let summary = "Rewrite convolutions over patches of few channels as products";
  let description = [{
    A convolution with adjacent windows, such as the patch embedding of a vision
    transformer, is a product of the matrix of patches and the weights. With few
    channels, a tap has too few terms to fill tiles of bf16 or groups of bytes,
    while all taps together do. Pixels that are left over at the edges are
    cropped. The convolution stays if it has many channels, because then no data
    have to be moved, or if sizes are dynamic.

    Example: `nn.conv` of `1x3x224x224` with strides and kernels of 16 becomes
    `nn.reshape` to `1x3x14x16x14x16`, `nn.transpose` to `1x14x14x3x16x16` and
    `nn.matmul` of `1x14x14x768` by `768x192`.
  }];
  let options = [
    Option<"bytesOnly", "bytes-only", "bool", "false",
           "Rewrite only convolutions of dequantized pixels, because f32 "
           "gains nothing">];
  let statistics = [Statistic<"numPatches", "patches",
                              "Convolutions that became products">];
}

def MergeScaleShifts : Pass<"nn-merge-scale-shifts"> {
  let summary = "Merge scales and shifts behind a product";
  let description = [{
    Consecutive ops that scale and shift the channels of a product become at
    most one `mul` and one `add`: `s (t x + u) + v = s t x + (s u + v)`. The
    constants are computed in double and rounded once. For example, the scales
    of bytes, the factors of a trained quantization and a batch normalization
    become one scale and one shift, without a division. The quantized weights
    stay as they are.

    Integers that are not sums of products stay as they are, because they may be
    counts, whose quotients are whole numbers.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numMerged", "merged", "Chains merged">];
}

#endif // INGOT_PASSES_QUANTIZE_FORM_PASSES_TD
