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
  let summary = "Tell how many weights of products are zero";
  let description = [{
    Where at least one in a hundred of the weights of a `conv`, `conv_transpose`
    or `matmul` is zero, a remark says how many. If it is so of all of them
    together, the metadata has their number and that of the zeros:
    `ingot.weights`, `ingot.zero_weights`. Weights that several products share
    count once.
  }];
  let dependentDialects = ["::ingot::IngotDialect"];
  let statistics = [Statistic<"numZeros", "zeros", "Weights that are zero">];
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

def MergeConvs : Pass<"nn-merge-convs"> {
  let summary = "Make consecutive convolutions one where it saves work";
  let description = [{
    `conv(conv(x))` with nothing in between, mostly a 1x1 next to another,
    becomes one convolution if that multiplies less and is exact at the borders
    (see `nn-merge-branches`). Where it has more weights, `optimize` says how
    much time each byte must save (`OptimizeFor.h`).
  }];
  let options = [
    Option<"optimize", "optimize", "::ingot::OptimizeFor",
           "::ingot::OptimizeFor::balanced",
           "How much speed an added byte must bring",
           [{::ingot::optimizeForValues()}]>];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numMerged", "merged", "Pairs merged">];
}

def PruneChannels : Pass<"nn-prune-channels", "::mlir::ModuleOp"> {
  let summary = "Take out channels that are constant or that nobody reads";
  let description = [{
    Outputs of `conv`, `conv_transpose` and `matmul` with constant weights
    vanish, with all that is computed of them alone:

    - if all of the output's weights are zero, or multiply channels that are
      constants themselves: it is the number that its bias is, which goes, with
      what activations make of it, into the biases of the products that read it.
      A number that is not zero stays where a padded convolution reads it, whose
      padding is zero;
    - if no product that reads it has a weight for it that is not zero.

    Channels are followed through elementwise ops, pools, reductions of other
    dimensions, `concat`, `slice`, `pad`, `resize`, `transpose` and `reshape`.
    Those that are added or multiplied with each other vanish together, or not
    at all, as do those of a depthwise convolution's data and result. Of a
    convolution in groups, either whole groups vanish or as many channels of
    each. The model's inputs and outputs keep theirs, and so does what another
    op reads. No tensor loses all channels, and what depthwise convolutions read
    stays a multiple of 16 or 8 channels where it was one.

    A tensor all of whose channels are constants is one itself where an
    elementwise op reads it beside another of the result's size, so that a
    branch of zeros goes away.

    Biases are computed in double and rounded once. Zero times a number is taken
    to be zero, so data are taken to be finite.
  }];
  let dependentDialects = [
    "::ingot::IngotDialect", "::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numRemoved", "removed", "Outputs of products removed">];
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

def WidenConvTranspose : Pass<"nn-widen-conv-transpose"> {
  let summary = "Widen transposed convolutions of large strides, and crop";
  let description = [{
    The kernel of a transposed convolution whose strides have more phases than
    there may be kernels gets taps of zeros up to a multiple of the last stride,
    and what its pads would cut off is cropped by a `pad` behind it. All pixels
    between two of the source then see the same of it, so that they are further
    channels of one convolution: inverse short-time Fourier transforms, which
    exporters write as strides of 128 and more, and upsampling by 32.
  }];
  let statistics = [Statistic<"numWidened", "widened", "Kernels widened">];
}

def PromoteFloats : Pass<"nn-promote-floats", "::mlir::func::FuncOp"> {
  let summary = "Compute what is declared float16 or bfloat16 in f32";
  let description = [{
    Ops on `f16` and `bf16` read, compute and make `f32`; numbers are rounded
    where the model itself casts them, where they leave the function, and where
    an op of another dialect takes them, such as the state of a loop. So no
    result is rounded more often than the model says, and all that follows knows
    one type of floats. What only moves stored numbers does so with 16 bits.
    Products of two `bf16` tensors get the attribute
    `ingot.precision = #ingot.precision<bf16>`, those with constant weights of
    `f16` `#ingot.precision<fp16>`: they are stored so, unless that takes longer
    than f32 (`Policy.h`). Where no CPU level multiplies bf16 faster than
    f32 (`ingot.targets`), those of `bf16` are as of `f16`.
  }];
  let statistics = [
    Statistic<"promoted", "promoted", "ops that compute f32">];
  let dependentDialects = [
    "::ingot::IngotDialect", "::mlir::arith::ArithDialect"];
}

#endif // INGOT_PASSES_GRAPH_PASSES_TD
