//===- quantize/Passes.td - passes that quantize -----------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_PASSES_TD
#define INGOT_PASSES_QUANTIZE_PASSES_TD

include "mlir/Pass/PassBase.td"

def Int8WeightsOption
    : Option<"int8Weights", "int8-weights", "::ingot::quantize::Int8Weights",
             "::ingot::quantize::Int8Weights::eight",
             "Bits of int8 weights; CPUs that multiply bytes as int16 are "
             "faster with 7 bits",
             [{::ingot::quantize::int8WeightsValues()}]>;

def AttachCalibration : Pass<"ingot-attach-calibration", "::mlir::ModuleOp"> {
  let summary = "Read a calibration file into the module";
  let description = [{
    Sets the module's `ingot.calibration` to the content of a file that
    `ingot calibrate` wrote, and reports errors in the file. A module that
    already has the calibration of a file of this name keeps it. No other pass
    reads the file.
  }];
  let options = [
    Option<"file", "file", "std::string", "",
           "File that ingot calibrate wrote">];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def RecognizeFakeQuantize
    : Pass<"nn-recognize-fake-quantize", "::mlir::ModuleOp"> {
  let summary = "Recognize quantization that a model expresses in floats";
  let description = [{
    Networks trained for few bits (DoReFa, LSQ, XNOR-Net and others) clamp,
    scale, round and unscale their tensors, take signs, or choose between two
    constants. All elements of such a tensor are multiples of one step.

    The pass rewrites a product of such a tensor with constant weights. The
    weights of each output channel must also be multiples of a step, at most 127
    steps from 0. Both operands become bytes with an `nn.dequantize`, without
    loss. Rounding and scale become those of `nn.quantize`. Data movement
    between the tensor and the product is allowed.

    Ops stay as they are if `keep` names their nodes, or if the model itself
    quantizes an operand of theirs.
  }];
  let options = [
    ListOption<"keep", "keep", "std::string",
               "Nodes to keep in fp32: GLOB=fp32">];
  let statistics = [
    Statistic<"recognized", "recognized", "products that were recognized">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::ingot::nn::NNDialect"];
}

def InsertObservers : Pass<"nn-insert-observers", "::mlir::ModuleOp"> {
  let summary = "Show the tensors whose ranges int8 needs";
  let description = [{
    Adds an `ingot.observe` behind each tensor that `nn-insert-quantize` would
    quantize. Such tensors are the data of convolutions and matrix products with
    constant weights, and the data of pooling in front of these. The second
    operands of additions and multiplications that lead to them are also
    included.

    `ingot.observed` lists the names of the tensors by index. A tensor has the
    name of the model's input, or of the ONNX nodes that its op comes from. A
    suffix `#2` and so on distinguishes tensors of one name.
  }];
  let statistics = [
    Statistic<"observed", "observed", "tensors shown">];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def InsertQuantize : Pass<"nn-insert-quantize", "::mlir::ModuleOp"> {
  let summary = "Quantize tensors for which a calibration has ranges";
  let description = [{
    Works around convolutions and matrix products with constant weights. The
    tensors that `nn-insert-observers` shows become `nn.quantize` to ui8 and
    `nn.dequantize`. Scale and zero point are those of the tensor's name in the
    module's `ingot.calibration`. Weights become a constant of si8 and
    `nn.dequantize` with a scale for each output channel. A bias stays as it is.

    Ops stay as they are if the calibration has no range for them, or if `keep`
    names their nodes. This also holds if the model itself quantizes an operand
    of theirs. A product also stays in f32 if the policy of the device expects
    no gain from int8 (`Policy.h`). Examples are products of few channels or few
    terms, and groups of two to four channels. A rule `GLOB=int8` quantizes such
    products nevertheless. Each decision is recorded.

    Weights may have a matrix for each batch of the data. They become one
    constant matrix with a row and a scale for each output of each batch, and a
    reshape. Data that broadcast to the batches stay floats.

    The operands of an op that only moves values get the range of its result, so
    that it also works on bytes.

    Weights are rounded to the nearest byte, or with 8 bits to the neighbouring
    byte that the calibration chooses. With `int8-weights=auto` the scale of a
    channel may be larger, so that two neighbouring weights of one sign add up
    to at most 128. This applies if bytes are multiplied as int16 and the
    calibration has no repairs. The larger scale must not double the squared
    error of the product's weights, unless the error stays below that of
    normally distributed weights.
  }];
  let options = [
    Int8WeightsOption,
    ListOption<"keep", "keep", "std::string",
               "Nodes to keep in fp32: GLOB=fp32">];
  let statistics = [
    Statistic<"quantized", "quantized", "tensors quantized">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::ingot::IngotDialect",
    "::ingot::nn::NNDialect"];
}

def ExcludeOverflow : Pass<"nn-exclude-overflow", "::mlir::ModuleOp"> {
  let summary = "Keep products in f32 whose data f16 might not hold";
  let description = [{
    A convolution or matrix product with constant weights gets
    `ingot.precision = #ingot.precision<fp32>` if the range of its data in
    `ingot.calibration` exceeds 32752. This is half of the largest f16. The data
    then stay f32. A warning names the product.

    A range of a tensor that no product reads is an error. Ranges of layers that
    were equalized or smoothed for int8 are also errors, because they differ
    from the ranges of the model.

    The pass does nothing unless all levels of `ingot.targets` have arithmetic
    on f16, because all data are f32 otherwise.
  }];
  let statistics = [
    Statistic<"excluded", "excluded", "products that stay f32">];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def EqualizeLayers : Pass<"nn-equalize-layers", "::mlir::ModuleOp"> {
  let summary = "Equalize the weights of neighbouring products";
  let description = [{
    Applies cross-layer equalization to two products with constant weights. The
    second product must be the only user of the first one's result, directly or
    through relu, leaky relu and pooling. Each channel between them is divided
    by `sqrt(a / b)` in the first product and multiplied by it in the second.
    Here `a` and `b` are the largest weights of the channel in the first and in
    the second product. The factor is rounded to a power of two.

    A channel with a large range thus becomes smaller before it is quantized. In
    floats, no result changes. Chains of products, also with depthwise
    convolutions, are processed until nothing changes.

    The pass does nothing unless the module's `ingot.calibration` was made with
    equalized weights.
  }];
  let statistics = [
    Statistic<"equalized", "equalized", "products with changed weights">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def InsertChannelObservers
    : Pass<"nn-insert-channel-observers", "::mlir::ModuleOp"> {
  let summary = "Show the magnitudes of the channels that products read";
  let description = [{
    Adds an `ingot.observe` of the largest magnitude of each channel of a
    tensor. The tensor must be the data of products with constant weights,
    directly or after pooling. All its other users must be additions and
    multiplications of two tensors. `ingot.observed` lists the names by index.
  }];
  let dependentDialects = ["::ingot::IngotDialect", "::ingot::nn::NNDialect"];
}

def InsertGramObservers
    : Pass<"nn-insert-gram-observers", "::mlir::ModuleOp"> {
  let summary = "Show the Gram matrices of the data of products";
  let description = [{
    Adds two `ingot.observe` ops for each product with constant weights. The
    first shows the Gram matrix of the data, summed over all positions, as
    `groups, inner, inner`. An element is the sum of products of two numbers
    that the weights of one output multiply. The second shows the weights, with
    a row for each output. From both, the effect of an error of the weights on
    the result can be computed. `ingot.observed` lists the names by index.

    Products that share their weights are shown together, so that they get one
    rounding. The first gives the name, and their Gram matrices are added.

    The pass leaves out products that are not computed in int8, transposed
    convolutions, products of dynamic sizes, and products with more than
    `max-inner` weights for an output. It also leaves out products that share
    their ONNX nodes with another product.
  }];
  let options = [
    Option<"maxInner", "max-inner", "int64_t", "2304",
           "Most weights of one output">,
    ListOption<"keep", "keep", "std::string",
               "Nodes to keep in fp32: GLOB=fp32">];
  let statistics = [
    Statistic<"observed", "observed", "products shown">];
  let dependentDialects = ["::ingot::IngotDialect", "::ingot::nn::NNDialect",
                           "::mlir::arith::ArithDialect"];
}

def SmoothActivations : Pass<"nn-smooth-activations", "::mlir::ModuleOp"> {
  let summary = "Move the ranges of channels into the weights of their users";
  let description = [{
    The module's `ingot.calibration` may have the largest magnitude `a` of each
    channel of the tensors that `nn-insert-channel-observers` shows. Each
    channel is divided by `sqrt(a / b)`, where `b` is the largest weight that
    multiplies it. These weights are multiplied by the same factor. Thus no
    single channel determines the scale of the tensor (SmoothQuant). If only
    products of single channels read the tensor, a channel is divided by `a`,
    because each channel's weights have a scale of their own.

    The division goes into the scale and bias of a normalization, or into the
    weights and bias of the product that computes the tensor. Behind any other
    op it becomes an `nn.mul`. Additions and multiplications that read the
    tensor get an `nn.mul` that undoes the division. Factors are powers of two,
    so that no result in floats changes.
  }];
  let statistics = [
    Statistic<"smoothed", "smoothed", "tensors with scaled channels">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::ingot::nn::NNDialect"];
}

def CorrectBiases : Pass<"nn-correct-biases", "::mlir::ModuleOp"> {
  let summary = "Subtract the mean error of quantized products from their bias";
  let description = [{
    The module's `ingot.calibration` may have the mean error of each channel of
    a quantized product. The pass subtracts it from the product's bias. Products
    that are not quantized stay as they are, and so do biases that a run
    computes.
  }];
  let statistics = [
    Statistic<"corrected", "corrected", "products with a changed bias">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def InsertPrecisionFlags
    : Pass<"nn-insert-precision-flags", "::mlir::ModuleOp"> {
  let summary = "Add run-time flags that select int8 rounding for each product";
  let description = [{
    Serves measurements of the effect of int8 without a compilation for each
    layer. At run time, a flag selects one of two forms of a product: floats, or
    operands and weights rounded as int8 rounds them. All arithmetic stays f32.

    The function gets more inputs behind those of the model. Each flag of
    `ingot.precision_flags` has an input that turns it on. Each tensor of
    `ingot.observed` has inputs for its scale and for the least and the greatest
    number of steps. Weights are rounded as the module's `ingot.calibration`
    requires, if there is one.

    With `errors`, the run also shows the mean error of each channel of a
    product in int8, under the index of its flag. This applies to flags of a
    single product.

    The products that come from one node share a flag. The second operand of an
    addition, for example, is quantized because of other ops. It is rounded if
    the flag of one of these ops is on. The operand of an op that only moves
    values is rounded if all flags are on. Products in loops and branches read
    data that are rounded as by `nn-insert-dynamic-quantize`. Nodes that `keep`
    names get no flags.
  }];
  let options = [
    Option<"errors", "errors", "bool", "false",
           "Show the errors of products by channel">,
    Int8WeightsOption,
    ListOption<"keep", "keep", "std::string",
               "Nodes to keep in fp32: GLOB=fp32">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::ingot::IngotDialect", "::ingot::nn::NNDialect"];
}

def InsertDynamicQuantize
    : Pass<"nn-insert-dynamic-quantize", "::mlir::ModuleOp"> {
  let summary = "Quantize data by the range that the run finds";
  let description = [{
    The data of convolutions with one group, and of matrix products with
    constant weights, become `nn.quantize` to ui8 and `nn.dequantize`. Each run
    computes scale and zero point from the least and the greatest element and 0,
    as ONNX's `DynamicQuantizeLinear` does. Each row of a matrix has its own.
    All matrix products, or all convolutions, that read a tensor share them.
    Weights become a constant of si8 and `nn.dequantize` with a scale for each
    output channel.

    Ops stay as they are if `keep` names their nodes, or if the model itself
    quantizes an operand of theirs. Weights that are not finite stay as well. In
    a loop, products with few weights stay as well.

    With `inner-only` the pass rewrites only products in bodies of loops and in
    branches, whose data no calibration sees.
  }];
  let options = [
    Int8WeightsOption,
    Option<"innerOnly", "inner-only", "bool", "false",
           "Rewrite only products in bodies of loops and in branches">,
    ListOption<"keep", "keep", "std::string",
               "Nodes to keep in fp32: GLOB=fp32">];
  let statistics = [
    Statistic<"quantized", "quantized", "tensors quantized">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::ingot::IngotDialect",
    "::ingot::nn::NNDialect"];
}

def QuantizeWeights : Pass<"nn-quantize-weights", "::mlir::ModuleOp"> {
  let summary = "Store weights of matrix products in few bits";
  let description = [{
    A `matmul` of f32 with a constant matrix becomes `nn.packed_matmul`. With 8
    bits, each column has a scale. With 4 bits, each `block_size` elements of a
    column have a scale, which is the one of several candidates with the least
    squared error. The data stay f32.

    These weights stay as they are:

    - weights of ops that come from nodes which `keep` names,
    - weights that are not finite, or so large or so small that packed products
      leave the range of f32,
    - weights with a matrix for each batch,
    - weights for which the device's policy declines. The CPU's policy declines
      few weights, of a loop or of a module, and, unless there are many weights,
      matrices with many rows of data. A rule `GLOB=w8` or `GLOB=w4` of `keep`
      takes precedence.
  }];
  let options = [
    Option<"bits", "bits", "int64_t", "8", "Bits of each weight: 4 or 8">,
    Option<"blockSize", "block-size", "int64_t", "32",
           "Elements of a column that share a scale, with 4 bits">,
    Option<"least", "least", "int64_t", "-1",
           "Fewest weights that are quantized; if negative, the policy of "
           "the device chooses">,
    ListOption<"keep", "keep", "std::string",
               "Nodes to keep in fp32: GLOB=fp32; nodes to convert in any "
               "case: GLOB=w8 or GLOB=w4, as the bits say">];
  let statistics = [
    Statistic<"quantized", "quantized", "products with packed weights">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::ingot::nn::NNDialect"];
}

def PropagateQuantize : Pass<"nn-propagate-quantize"> {
  let summary = "Move quantize up and dequantize down until they meet";
  let description = [{
    Ops between a `dequantize` and a product, or a `quantize` behind it, work on
    bytes if this gives equal results:

    - A transpose, reshape, slice, gather, constant pad or concat of equal
      scales moves in front of a `dequantize`. For bytes, so does max pooling.
    - A lookup of rows looks up bytes, scales and zero points if a
      `dequantize` of constants has scales for each row or for blocks of rows.
    - A `quantize` of a transpose, reshape or concat becomes the op on quantized
      tensors.
    - A `quantize` of a `dequantize` with equal scale and zero point disappears.
    - A relu disappears in front of a `quantize` if the least quantized number
      is its zero.
    - A relu of a `dequantize` that a product reads becomes a clamp of bytes by
      the zero point.
    - Signed bytes that are only dequantized become unsigned bytes, and unsigned
      int16 become signed ones. Kernels multiply these types.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numMoved", "moved", "Ops moved or dropped">];
}

def QuantizeTables : Pass<"nn-quantize-tables", "::mlir::ModuleOp"> {
  let summary = "Store embedding tables in bytes";
  let description = [{
    A `gather` of rows of a large constant f32 matrix becomes the product of two
    gathers: of signed bytes, and of a scale for each row. Each row keeps its
    own precision, regardless of the magnitude of other rows. Nodes that `keep`
    names in fp32 stay as they are, and those that it names in the `narrow`
    precision are converted. The device's policy decides about the others.
  }];
  let options = [
    Option<"narrow", "narrow", "std::string", "\"int8\"",
           "Precision that rules name besides fp32">,
    ListOption<"keep", "keep", "std::string",
               "Nodes to keep in fp32: GLOB=fp32; nodes to convert in any "
               "case: GLOB=NARROW">];
  let statistics = [
    Statistic<"quantized", "quantized", "gathers of bytes">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::ingot::nn::NNDialect"];
}

#endif // INGOT_PASSES_QUANTIZE_PASSES_TD
