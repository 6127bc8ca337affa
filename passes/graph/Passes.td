//===- graph/Passes.td - passes that make the graph simpler *- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_GRAPH_PASSES_TD
#define INGOT_PASSES_GRAPH_PASSES_TD

include "mlir/Pass/PassBase.td"

def FoldScaleShift : Pass<"nn-fold-scale-shift"> {
  let summary =
      "Fold constants that are added to or multiplied with conv and matmul";
  let description = [{
    An `add`, `sub`, `mul` or `div` by a constant is folded into the weights and
    the bias of the preceding `conv`, `conv_transpose` or `matmul`. The constant
    has a value for each output channel, or one for all. The product's result
    must have no other users. A constant that is only added does not need
    constant weights.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numFolded", "folded", "Ops folded">];
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
    Statistic<"numFolded", "folded",
              "Normalizations folded into their producer">,
    Statistic<"numFoldedForward", "folded-forward",
              "Normalizations folded into their consumer">,
    Statistic<"numScaleShift", "scale-shift",
              "Normalizations turned into scale and shift">];
}

def CountZeroWeights : Pass<"nn-count-zero-weights", "::mlir::ModuleOp"> {
  let summary = "Report how many weights of products are zero";
  let description = [{
    If at least one percent of the weights of a `conv`, `conv_transpose` or
    `matmul` are zero, a remark reports their number. If this holds for all
    weights together, the metadata gets the numbers of weights and of zeros:
    `ingot.weights`, `ingot.zero_weights`. Weights that several products share
    count once.
  }];
  let dependentDialects = ["::ingot::IngotDialect"];
  let statistics = [Statistic<"numZeros", "zeros", "Weights that are zero">];
}

def FoldPad : Pass<"nn-fold-pad"> {
  let summary = "Fold constant padding into convolutions and pools";
  let description = [{
    Removes a `pad` of spatial dimensions whose value is that of the window op's
    own padding, and enlarges that padding. The value is zero for `conv` and for
    `avg_pool`, which then counts its padding. It is the lowest value for
    `max_pool`, or zero after a `relu`.
  }];
  let statistics = [Statistic<"numFolded", "folded", "Pads folded">];
}

def MergeBranches : Pass<"nn-merge-branches"> {
  let summary =
      "Merge parallel linear branches of one input into a convolution";
  let description = [{
    The terms of a sum that are chains of linear ops over the same value become
    one `conv`. This removes training-time structure such as RepVGG's (3x3, 1x1
    and identity) or ACNet's (3x3, 3x1 and 1x3). Another example is the Diverse
    Branch Block (1x1 then KxK, 1x1 then average pooling). Linear ops are
    `conv`, `batch_norm`, `avg_pool` with a constant divisor, zero `pad`,
    `slice` of spatial dimensions, and `add`, `sub`, `mul`, `div` by a constant
    for each channel. Branches may differ in kernel, padding, dilation and
    groups: the merged kernel is the smallest that holds all.

    Branches are merged only if the result is exact everywhere. Their strides
    must agree, and intermediate values must have no other users. A branch stays
    if a later op with padding would not see its bias at the border. The merged
    convolution must not cost more than the branches and their sum, so that a
    depthwise branch does not become dense.

    Weights are computed in double and rounded once.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numMerged", "merged", "Branches merged into convolutions">];
}

def MergeConvs : Pass<"nn-merge-convs"> {
  let summary = "Merge consecutive convolutions if this saves work";
  let description = [{
    `conv(conv(x))` without other ops in between becomes one convolution if this
    needs fewer multiplications and is exact at the borders (see
    `nn-merge-branches`). Usually one of them is 1x1. If the merged convolution
    has more weights, `optimize` determines how much time each byte must save
    (`OptimizeFor.h`).
  }];
  let options = [
    Option<"optimize", "optimize", "::ingot::OptimizeFor",
           "::ingot::OptimizeFor::balanced",
           "Trade-off between speed and added bytes",
           [{::ingot::optimizeForValues()}]>];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numMerged", "merged", "Pairs merged">];
}

def PruneChannels : Pass<"nn-prune-channels", "::mlir::ModuleOp"> {
  let summary = "Remove channels that are constant or that are never read";
  let description = [{
    Removes outputs of `conv`, `conv_transpose` and `matmul` with constant
    weights, together with all ops that compute only on them, in two cases:

    - All weights of the output are zero, or multiply constant channels. The
      output then equals its bias. The bias, after the activations, is added to
      the biases of the products that read it. A value other than zero stays if
      a padded convolution reads it, because the padding is zero.
    - No product that reads the output has a nonzero weight for it.

    Channels are followed through elementwise ops, pools, reductions of other
    dimensions, `concat`, `slice`, `pad`, `resize`, `transpose` and `reshape`.
    Channels that are added to or multiplied with each other are removed
    together or not at all. This also holds for the data and the result of a
    depthwise convolution. A convolution with groups loses whole groups, or
    equally many channels of each group. Channels of the model's inputs and
    outputs stay, and so do channels that other ops read. No tensor loses all
    channels. The data of depthwise convolutions keep a multiple of 16 or 8
    channels.

    If all channels of a tensor are constants, the tensor becomes a constant
    operand of an elementwise op whose other operand has the result's size. Thus
    a branch of zeros disappears.

    Biases are computed in double and rounded once. The pass assumes that data
    are finite, so that zero times a number is zero.
  }];
  let dependentDialects = [
    "::ingot::IngotDialect", "::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numRemoved", "removed", "Outputs of products removed">];
}

def RecognizeActivations : Pass<"nn-recognize-activations"> {
  let summary = "Recognize activation functions that exporters decompose";
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

def RecognizeDequantize : Pass<"nn-recognize-dequantize"> {
  let summary = "Recognize weights that exporters dequantize by arithmetic";
  let description = [{
    A chain of casts, sums, products, quotients, reshapes and transposes of
    constant weights of at most 8 bits becomes one `dequantize` or
    `dequantize_blocks` if its value is `(weights - zero_point) scale`.
    Otherwise constant folding would compute weights of f32, which are four
    times as large. Scales and zero points are constants for all weights, for
    each index of one dimension, or for each block along one dimension.

    Integers that are unpacked from others are folded first. Chains in other
    types than f32 stay. Integers that are only cast are recognized in front of
    products and lookups.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numRecognized", "recognized", "Weights recognized">];
}

def RecognizeNorms : Pass<"nn-recognize-norms"> {
  let summary = "Recognize normalizations that exporters decompose";
  let description = [{
    `(x - mean) / sqrt(mean((x - mean)^2) + epsilon)` over trailing dimensions
    becomes `layer_norm`, together with a scale and a bias behind it.
    `x / sqrt(mean(x^2) + epsilon) scale` becomes `rms_norm`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numRecognized", "recognized", "Normalizations recognized">];
}

def Simplify : Pass<"nn-simplify"> {
  let summary = "Rewrite ops as simpler ops";
  let description = [{
    - A pool with one window becomes a `reduce`, and a convolution with one
      window a `matmul`.
    - Additions of zero, multiplications by one, casts forth and back, and
      chains of `reshape` or `transpose` are removed.
    - Two constants that are added to or subtracted from an `i32` are merged.
    - A `clamp` or `max` that computes a `relu` becomes one. A `relu` of a value
      that cannot be negative is removed.
    - `pow` by 2, 0.5 or -1 becomes `mul`, `sqrt` or `reciprocal`. `pow` by 1 is
      removed.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def WidenConvTranspose : Pass<"nn-widen-conv-transpose"> {
  let summary = "Widen and crop transposed convolutions with large strides";
  let description = [{
    Applies to a transposed convolution whose strides have more phases than the
    allowed number of kernels. Its kernel gets taps of zeros up to a multiple of
    the last stride. A `pad` behind it crops the pixels that its own pads would
    crop. All pixels between two pixels of the source then use the same source
    pixels, so that they become additional channels of one convolution. Examples
    are inverse short-time Fourier transforms, which exporters write with
    strides of 128 and more, and upsampling by 32.
  }];
  let statistics = [Statistic<"numWidened", "widened", "Kernels widened">];
}

def PromoteFloats : Pass<"nn-promote-floats", "::mlir::func::FuncOp"> {
  let summary = "Compute float16 and bfloat16 models in f32";
  let description = [{
    Ops on `f16` and `bf16` read, compute and return `f32`. Values are rounded
    where the model itself casts them, and where they leave the function. They
    are also rounded where an op of another dialect uses them, such as the state
    of a loop. So no result is rounded more often than in the model, and later
    passes see one float type. Ops that only move stored elements keep 16 bits.

    Products of two `bf16` tensors get the attribute
    `ingot.precision = #ingot.precision<bf16>`. Products with constant weights
    of `f16` get `#ingot.precision<fp16>`, and their weights are stored as
    `f16`, unless this is slower than f32 (`Policy.h`). If no CPU level of
    `ingot.targets` multiplies bf16 faster than f32, products of `bf16` are
    treated as those of `f16`.
  }];
  let statistics = [
    Statistic<"promoted", "promoted", "ops that compute f32">];
  let dependentDialects = [
    "::ingot::IngotDialect", "::mlir::arith::ArithDialect"];
}

#endif // INGOT_PASSES_GRAPH_PASSES_TD
