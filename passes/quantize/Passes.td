//===- quantize/Passes.td - passes that quantize -----------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_PASSES_TD
#define INGOT_PASSES_QUANTIZE_PASSES_TD

include "mlir/Pass/PassBase.td"

def AttachCalibration : Pass<"ingot-attach-calibration", "::mlir::ModuleOp"> {
  let summary = "Read a file of ingot calibrate into the module";
  let description = [{
    Sets the module's `ingot.calibration` to what the file has, or reports what
    is wrong with the file. A module that already has the calibration of a file
    of this name keeps it. No other pass reads the file.
  }];
  let options = [
    Option<"file", "file", "std::string", "", "File of ingot calibrate">];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def RecognizeFakeQuantize
    : Pass<"nn-recognize-fake-quantize", "::mlir::ModuleOp"> {
  let summary = "Find quantization that a model writes in floats";
  let description = [{
    Networks trained for few bits (DoReFa, LSQ, XNOR-Net and others) compute
    clamp, scale, round and unscale, sign, or a choice of two constants: all
    elements of such a tensor are multiples of one step. Where such a tensor,
    moved or not, is multiplied by constant weights that lie on a grid as well,
    output channel by output channel, at most 127 steps from 0, both become
    bytes and an `nn.dequantize`, without loss. Rounding and scale become those
    of `nn.quantize`. Operations that come from nodes which `keep` names are
    left alone; so are those of which the model quantizes an operand itself.
  }];
  let options = [
    ListOption<"keep", "keep", "std::string",
               "Nodes that are not quantized: GLOB=fp32">];
  let statistics = [
    Statistic<"recognized", "recognized", "products of multiples">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::ingot::nn::NNDialect"];
}

def InsertObservers : Pass<"nn-insert-observers", "::mlir::ModuleOp"> {
  let summary = "Show the tensors that int8 wants ranges of";
  let description = [{
    An `ingot.observe` behind each tensor that `nn-insert-quantize` would
    quantize: what convolutions and matrix products with constant weights read,
    what pooling before them reads, and the second operand of additions and
    multiplications that lead to them. Their names, by number, become
    `ingot.observed`: a tensor has the name of the model's input, or of the ONNX
    nodes that its operation comes from; `#2` and so on tells those of one name
    apart.
  }];
  let statistics = [
    Statistic<"observed", "observed", "tensors shown">];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def InsertQuantize : Pass<"nn-insert-quantize", "::mlir::ModuleOp"> {
  let summary = "Quantize what a calibration has ranges of";
  let description = [{
    Around convolutions and matrix products with constant weights, the tensors
    that `nn-insert-observers` shows become `nn.quantize` to ui8 and
    `nn.dequantize`, with the scale and zero point that the module's
    `ingot.calibration` has under their name, and weights a constant of si8 and
    `nn.dequantize` with a scale for each output channel. A bias stays as it is.
    A product without a range, and operations that come from nodes which `keep`
    names, are left alone; so are those of which the model quantizes an operand
    itself.

    A product stays in f32 that gains nothing from bytes. Convolutions: of few
    channels that the model is given as floats, as words of three, too; of
    single channels that it is given and a cache holds, with more than four taps
    a row or as words; of single channels of few rows of pixels, and in one row
    of taps, or of volumes, that a cache holds; of groups of two to four
    channels that a cache holds; transposed ones of few channels. As words those
    of few terms that the model is given, 3x3 ones of few channels, and several
    rows that it is given times few columns. With a rule `GLOB=int8` they are
    quantized. Bytes are multiplied as words where no level of `ingot.targets`
    has instructions that add up their products.

    What only moves values gets its operands in the range of its result, so that
    it, too, is done on bytes.

    Weights become the nearest bytes, or of those beside them the ones that the
    calibration names, if there are 8 bits. With `fit-pairs`, if bytes are
    multiplied as words and the calibration has no repairs, weights of a channel
    have a scale with which two neighbours of one sign add up to at most 128,
    unless this more than doubles the squared error of the product's weights and
    makes it larger than that of normally distributed ones is with 8 bits.
  }];
  let options = [
    Option<"weightBits", "weight-bits", "int", "8",
           "Bits of weights: 8, or 7, which is faster where bytes are "
           "multiplied as words">,
    Option<"fitPairs", "fit-pairs", "bool", "false",
           "Scales of weights may be larger where all CPU levels multiply "
           "bytes as words">,
    ListOption<"keep", "keep", "std::string",
               "Nodes that are not quantized: GLOB=fp32">];
  let statistics = [
    Statistic<"quantized", "quantized", "tensors quantized">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::ingot::IngotDialect",
    "::ingot::nn::NNDialect"];
}

def ExcludeOverflow : Pass<"nn-exclude-overflow", "::mlir::ModuleOp"> {
  let summary = "Keep in f32 what a calibration saw beyond f16";
  let description = [{
    A convolution or matrix product with constant weights that reads a tensor
    whose range in `ingot.calibration` goes beyond 32752, half of what f16
    holds, gets `ingot.precision = #ingot.precision<fp32>`, so that what it
    reads stays f32. A warning names it. A range of a tensor that no product
    reads is an error, and so are ranges of what was equalized or smoothed for
    int8, for they are not those of the model.

    Does nothing unless all levels of `ingot.targets` have arithmetic on f16:
    otherwise all data are f32.
  }];
  let statistics = [
    Statistic<"excluded", "excluded", "products that stay f32">];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def EqualizeLayers : Pass<"nn-equalize-layers", "::mlir::ModuleOp"> {
  let summary = "Make weights of neighbouring products as large as each other";
  let description = [{
    Does nothing unless the module's `ingot.calibration` was made from a model
    with such weights.

    Of two products by constant weights, the second of which alone reads the
    first's result, as it is or through relu, leaky relu and pooling, each
    channel between them is divided by a factor and multiplied by it again:
    `sqrt(a / b)`, where `a` and `b` are the largest weights of that channel in
    the first and in the second, rounded to a power of two. So a channel whose
    range would drown the others gets smaller before it becomes bytes, and in
    floats no result changes. Chains, with depthwise convolutions in between,
    are gone through until nothing changes.
  }];
  let statistics = [
    Statistic<"equalized", "equalized", "products with other weights">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def InsertChannelObservers
    : Pass<"nn-insert-channel-observers", "::mlir::ModuleOp"> {
  let summary = "Show how large the channels of what products read are";
  let description = [{
    An `ingot.observe` of the largest magnitude of each channel of a tensor that
    products by constant weights read, as it is or pooled, and besides these
    only sums and products of two tensors. Their names, by number, become
    `ingot.observed`.
  }];
  let dependentDialects = ["::ingot::IngotDialect", "::ingot::nn::NNDialect"];
}

def InsertGramObservers
    : Pass<"nn-insert-gram-observers", "::mlir::ModuleOp"> {
  let summary = "Show what the weights of products are multiplied by";
  let description = [{
    Two `ingot.observe`s for each product by constant weights: the sums over all
    places of the products of each two numbers that the weights of one output
    are multiplied by, as `groups, inner, inner`, and the weights, a row for
    each output. So who sees them knows what an error of weights does to the
    result. Their names, by number, become `ingot.observed`.

    Products of sizes that only a run knows, with more than `max-inner` weights
    for an output, those whose nodes another product comes from as well, and
    transposed convolutions, are left out.
  }];
  let options = [
    Option<"maxInner", "max-inner", "int64_t", "2304",
           "The most weights of one output">];
  let statistics = [
    Statistic<"observed", "observed", "products shown">];
  let dependentDialects = ["::ingot::IngotDialect", "::ingot::nn::NNDialect",
                           "::mlir::arith::ArithDialect"];
}

def SmoothActivations : Pass<"nn-smooth-activations", "::mlir::ModuleOp"> {
  let summary = "Move ranges of channels into the weights behind them";
  let description = [{
    The module's `ingot.calibration` may have the largest magnitude `a` of each
    channel, from the tensors that `nn-insert-channel-observers` shows. Each
    channel is divided by `sqrt(a / b)`, where `b` is the largest weight of the
    products that read it, and these weights are multiplied by the same number.
    So no channel drowns the others when they become bytes.
    Where only products of single channels read it, whose weights have a scale
    for each, it is divided by `a`.

    The division goes into a normalization's own scale and bias, or into the
    weights and bias of the product that computes the tensor; after others there
    is an `nn.mul`. Sums and products that read the tensor get an `nn.mul` that
    multiplies it again. Factors are powers of two: in floats no result changes.
  }];
  let statistics = [
    Statistic<"smoothed", "smoothed", "tensors with other channels">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::ingot::nn::NNDialect"];
}

def CorrectBiases : Pass<"nn-correct-biases", "::mlir::ModuleOp"> {
  let summary = "Take the expected error of quantized products from their bias";
  let description = [{
    The module's `ingot.calibration` may say how much each channel of a product
    in bytes is too large on average: that is taken from its bias. Products that
    are not quantized, and a bias that a run computes, stay as they are.
  }];
  let statistics = [
    Statistic<"corrected", "corrected", "products with another bias">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def InsertSwitches : Pass<"nn-insert-switches", "::mlir::ModuleOp"> {
  let summary = "Let a run say what is rounded as int8 rounds it";
  let description = [{
    For measuring what int8 would do, without compiling anew for each layer:
    each tensor that `nn-insert-quantize` would quantize is read as it is, or
    rounded to what bytes can hold, and each product is computed by its weights
    and by what is left of them in bytes, of which one is taken. The function
    gets more inputs, behind those of the model: for each switch,
    `ingot.switches`, whether it is on; for each tensor, `ingot.observed`, its
    scale, and the least and the greatest number of steps. All is computed in
    f32. Weights are rounded as the module's `ingot.calibration` says, if there
    is one.

    With `errors` the run shows, under the number of a switch of one product,
    how much each channel of that product in bytes is larger than in floats, on
    average, whether it is on or not.

    A switch is of the products that come from one node. What is read in bytes
    for the sake of others, such as the second operand of an addition, is
    rounded when one of these is, and what only moves values when all are.
    Products in loops and branches read data that are rounded as
    `nn-insert-dynamic-quantize` would. Nodes that `keep` names have none.
  }];
  let options = [
    Option<"errors", "errors", "bool", "false",
           "Show the errors of products, channel by channel">,
    Option<"weightBits", "weight-bits", "int", "8",
           "Bits of weights: 8, or 7, which is faster where bytes are "
           "multiplied as words">,
    Option<"fitPairs", "fit-pairs", "bool", "false",
           "Scales of weights may be larger where all CPU levels multiply "
           "bytes as words">,
    ListOption<"keep", "keep", "std::string",
               "Nodes that are not quantized: GLOB=fp32">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::ingot::IngotDialect", "::ingot::nn::NNDialect"];
}

def InsertDynamicQuantize
    : Pass<"nn-insert-dynamic-quantize", "::mlir::ModuleOp"> {
  let summary = "Quantize data by the range that it has in a run";
  let description = [{
    What convolutions of one group and matrix products with constant weights
    read becomes `nn.quantize` to ui8 and `nn.dequantize`, with a scale and zero
    point that each run computes from the least and the greatest element, and 0,
    as ONNX's `DynamicQuantizeLinear` does; once for all products that read a
    tensor. Weights become a constant of si8 and `nn.dequantize` with a scale
    for each output channel. Operations that come from nodes which `keep` names
    are left alone; so are those of which the model quantizes an operand itself,
    and weights that are not finite, and those of a loop that has fewer than
    2^14 of them. With `inner-only` it is about
    bodies of loops and branches alone, whose data no calibration sees.
  }];
  let options = [
    Option<"weightBits", "weight-bits", "int", "8",
           "Bits of weights: 8, or 7, which is faster where bytes are "
           "multiplied as words">,
    Option<"fitPairs", "fit-pairs", "bool", "false",
           "Scales of weights may be larger where all CPU levels multiply "
           "bytes as words">,
    Option<"innerOnly", "inner-only", "bool", "false",
           "Only products in bodies of loops and in branches">,
    ListOption<"keep", "keep", "std::string",
               "Nodes that are not quantized: GLOB=fp32">];
  let statistics = [
    Statistic<"quantized", "quantized", "tensors quantized">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::ingot::IngotDialect",
    "::ingot::nn::NNDialect"];
}

def QuantizeWeights : Pass<"nn-quantize-weights", "::mlir::ModuleOp"> {
  let summary = "Store weights of matrix products in few bits";
  let description = [{
    A `matmul` of f32 with a constant matrix becomes `nn.packed_matmul`: with 8
    bits a scale for each column, with 4 one for each `block_size` elements of a
    column, of several the one with the least squared error. What is multiplied
    stays f32. Operations that come from nodes which `keep` names are left
    alone, and so are weights that are not finite, those of a loop that has no
    more than 2^18 of them, those of a module that has fewer than `least`, and,
    with fewer than four times as many, those of more than four rows.
  }];
  let options = [
    Option<"bits", "bits", "int64_t", "8", "Of each weight: 4 or 8">,
    Option<"blockSize", "block-size", "int64_t", "32",
           "Elements of a column that share a scale, of 4 bits">,
    Option<"least", "least", "int64_t", "-1",
           "Fewest weights that are quantized; negative: as many floats as a "
           "quarter of the second-level cache holds">,
    ListOption<"keep", "keep", "std::string",
               "Nodes that are not quantized: GLOB=fp32">];
  let statistics = [
    Statistic<"quantized", "quantized", "products with packed weights">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::ingot::nn::NNDialect"];
}

def PropagateQuantize : Pass<"nn-propagate-quantize"> {
  let summary = "Move quantize up and dequantize down, until they meet";
  let description = [{
    What lies between a `dequantize` and the product or the `quantize` behind it
    is done on bytes where that gives the same numbers:

    - movement (transpose, reshape, slice, gather, constant pad, concat of equal
      scales), of bytes max pooling, of a `dequantize` is one of its operand;
    - `quantize` of a transpose, reshape or concat becomes that of quantized
      tensors;
    - `quantize` of `dequantize` with the same scale and zero point is nothing;
    - a relu whose zero is the least quantized number is what `quantize` does
      anyway;
    - a relu of a `dequantize` that a product reads is a clamp of bytes by the
      zero point;
    - signed bytes that are only dequantized again become unsigned ones, and
      unsigned words signed ones, which kernels multiply.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numMoved", "moved", "Ops moved or dropped">];
}

def QuantizeTables : Pass<"nn-quantize-tables", "::mlir::ModuleOp"> {
  let summary = "Store tables of embeddings in bytes";
  let description = [{
    A `gather` of rows of a large constant matrix of f32 becomes one of signed
    bytes and one of a scale for each row, and their product: a row keeps its
    own precision, however large others are. Nodes that `keep` names are left
    alone.
  }];
  let options = [
    ListOption<"keep", "keep", "std::string",
               "Nodes that are not quantized: GLOB=fp32">];
  let statistics = [
    Statistic<"quantized", "quantized", "gathers of bytes">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::ingot::nn::NNDialect"];
}

#endif // INGOT_PASSES_QUANTIZE_PASSES_TD
