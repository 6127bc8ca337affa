//===- NNOps.td - nn structured ops ------------------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_NN_NNOPS_TD
#define INGOT_DIALECTS_NN_NNOPS_TD

include "dialects/nn/NNElementwise.td"
include "dialects/nn/NNQuantize.td"

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

def NN_ReduceKind : I32EnumAttr<"ReduceKind", "what a reduction computes", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"mean", 1>,
    I32EnumAttrCase<"max", 2>, I32EnumAttrCase<"min", 3>,
    I32EnumAttrCase<"prod", 4>, I32EnumAttrCase<"sum_square", 5>]> {
  let cppNamespace = "::ingot::nn";
}

def NN_PadMode : I32EnumAttr<"PadMode", "how padding is filled", [
    I32EnumAttrCase<"constant", 0>, I32EnumAttrCase<"reflect", 1>,
    I32EnumAttrCase<"edge", 2>, I32EnumAttrCase<"wrap", 3>]> {
  let cppNamespace = "::ingot::nn";
}

def NN_ScatterReduction
    : I32EnumAttr<"ScatterReduction", "how updates combine", [
    I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"add", 1>,
    I32EnumAttrCase<"mul", 2>, I32EnumAttrCase<"max", 3>,
    I32EnumAttrCase<"min", 4>]> {
  let cppNamespace = "::ingot::nn";
}

def NN_ResizeMode : I32EnumAttr<"ResizeMode", "interpolation", [
    I32EnumAttrCase<"nearest", 0>, I32EnumAttrCase<"linear", 1>,
    I32EnumAttrCase<"cubic", 2>]> {
  let cppNamespace = "::ingot::nn";
}

def NN_Coordinates
    : I32EnumAttr<"Coordinates", "from output to input position", [
    I32EnumAttrCase<"half_pixel", 0>,
    I32EnumAttrCase<"half_pixel_symmetric", 1>,
    I32EnumAttrCase<"pytorch_half_pixel", 2>,
    I32EnumAttrCase<"align_corners", 3>, I32EnumAttrCase<"asymmetric", 4>]> {
  let cppNamespace = "::ingot::nn";
}

def NN_NearestMode : I32EnumAttr<"NearestMode", "rounding of a position", [
    I32EnumAttrCase<"round_prefer_floor", 0>,
    I32EnumAttrCase<"round_prefer_ceil", 1>, I32EnumAttrCase<"floor", 2>,
    I32EnumAttrCase<"ceil", 3>]> {
  let cppNamespace = "::ingot::nn";
}

//===----------------------------------------------------------------------===//
// Convolution and matrix product
//===----------------------------------------------------------------------===//

def NN_ConvOp : NN_InferredOp<"conv"> {
  let summary = "n-dimensional grouped convolution";
  let description = [{
    `y[n, o, p] = bias[o] + sum over c, k of
     w[o, c, k] x[n, g C/G + c, p strides + k dilations - pads_begin]`, with g
    the group of o. Serves ONNX `Conv` (all opsets).

    Sums of bytes and of i16 are i32 sums of `x - x_zero_point`. Padding adds
    nothing, as if it were `x_zero_point`. Serves ONNX `ConvInteger` and
    `QLinearConv`.

    | | shape |
    |-|-|
    | x | `N, C, D1…Dn` or `N, D1…Dn, C` with `channels_last` |
    | w | `O, C/G, K1…Kn`, always |
    | bias | `O` |

    Constraints:
    - C1: x and w have the same rank, at least 3
    - C2: strides, dilations have rank - 2 positive elements, pads twice as many
    - C3: C = w dim 1 * groups, and groups divides O
    - C4: the dilated kernel fits into the padded input
    - C5: `x_zero_point` is 0, or x and w are bytes or i16 and x can hold it

    Example:
    ```mlir
    %y = nn.conv %x, %w bias(%b) {
        dilations = array<i64: 1, 1>, groups = 1 : i64,
        pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
      : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>)
      -> tensor<1x4x4x4xf32>
    ```
  }];
  let arguments = (ins NN_Tensor:$x, NN_Tensor:$w, Optional<NN_Tensor>:$bias,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, I64Attr:$groups,
                       UnitAttr:$channels_last,
                       DefaultValuedAttr<I64Attr, "0">:$x_zero_point);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{
    $x `,` $w (`bias` `(` $bias^ `)`)? attr-dict `:` functional-type(operands,
    results)
  }];
}

def NN_ConvTransposeOp : NN_InferredOp<"conv_transpose"> {
  let summary = "n-dimensional grouped transposed convolution";
  let description = [{
    The gradient of `nn.conv` with respect to its data. Serves ONNX
    `ConvTranspose`, whose `auto_pad` and `output_shape` become explicit pads. w
    has shape `C, O/G, K1…Kn`. The result's size is `(D - 1) strides + (K - 1)
    dilations + 1 + output_padding - pads`. `pads` may be negative. Sums of
    bytes are i32 sums of `x - x_zero_point`.

    Constraints: C1…C3 and C5 of `nn.conv`, with w's first two dimensions
    swapped.
  }];
  let arguments = (ins NN_Tensor:$x, NN_Tensor:$w, Optional<NN_Tensor>:$bias,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$output_padding, I64Attr:$groups,
                       UnitAttr:$channels_last,
                       DefaultValuedAttr<I64Attr, "0">:$x_zero_point);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{
    $x `,` $w (`bias` `(` $bias^ `)`)? attr-dict `:` functional-type(operands,
    results)
  }];
}

def NN_MatMulOp : NN_InferredOp<"matmul"> {
  let summary = "batched matrix product";
  let description = [{
    `y[…, i, j] = bias[j] + sum over k of a[…, i, k] b[…, k, j]`. Batch
    dimensions broadcast. `transpose_a` and `transpose_b` read the operand's
    last two dimensions swapped. Sums of bytes, and of i16, are i32 and wrap
    around. Serves ONNX `MatMul`, `Gemm`, `MatMulInteger`.

    Constraints:
    - C1: a and b have rank 2 or more
    - C2: the inner dimensions agree, batch dimensions broadcast
    - C3: bias broadcasts to the result
  }];
  let arguments = (ins NN_Tensor:$a, NN_Tensor:$b, Optional<NN_Tensor>:$bias,
                       UnitAttr:$transpose_a, UnitAttr:$transpose_b);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{
    $a `,` $b (`bias` `(` $bias^ `)`)? attr-dict `:` functional-type(operands,
    results)
  }];
}

//===----------------------------------------------------------------------===//
// Pooling, reduction
//===----------------------------------------------------------------------===//

class NN_PoolOp<string mnemonic, string what, dag more = (ins)>
    : NN_InferredOp<mnemonic> {
  let summary = what # " over windows";
  let arguments = !con((ins NN_Tensor:$x, DenseI64ArrayAttr:$kernel,
                            DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                            DenseI64ArrayAttr:$dilations,
                            UnitAttr:$channels_last), more);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

def NN_MaxPoolOp : NN_PoolOp<"max_pool", "maximum"> {
  let description = "Padding counts as the lowest value.";
}

def NN_AvgPoolOp : NN_PoolOp<"avg_pool", "mean",
                             (ins UnitAttr:$count_include_pad)> {
  let description = [{
    Divides by the number of elements of the window that are inside the input,
    or with `count_include_pad` by the size of the window.
  }];
}

def NN_MaxPoolWithIndicesOp : NN_InferredOp<"max_pool_with_indices"> {
  let summary = "maximum over windows, and its position";
  let description = [{
    Channels first only. `indices` are positions in the flattened input, as ONNX
    `MaxPool` defines them. With `column_major` the positions count the last two
    spatial dimensions in swapped order (`storage_order = 1`).
  }];
  let arguments = (ins NN_Tensor:$x, DenseI64ArrayAttr:$kernel,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, UnitAttr:$column_major);
  let results = (outs NN_Tensor:$y, NN_IntTensor:$indices);
  let assemblyFormat =
      "$x attr-dict `:` type($x) `->` type($y) `,` type($indices)";
}

def NN_ReduceOp : NN_InferredOp<"reduce"> {
  let summary = "reduction over axes";
  let description = [{
    Serves ONNX `ReduceSum`, `ReduceMean`, … and the global poolings. Axes are
    sorted, unique and non-negative. Without axes nothing is reduced.
  }];
  let arguments = (ins NN_Tensor:$x, NN_ReduceKind:$kind,
                       DenseI64ArrayAttr:$axes, UnitAttr:$keep_dims);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$kind $x attr-dict `:` type($x) `->` type($y)";
  let hasFolder = 1;
}

def NN_ArgReduceOp : NN_InferredOp<"arg_reduce"> {
  let summary = "position of the maximum or minimum along an axis, as i64";
  let arguments = (ins NN_Tensor:$x, NN_ReduceKind:$kind, I64Attr:$axis,
                       UnitAttr:$keep_dims, UnitAttr:$select_last_index);
  let results = (outs NN_IntTensor:$y);
  let assemblyFormat = "$kind $x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Normalization
//===----------------------------------------------------------------------===//

def NN_BatchNormOp : NN_InferredOp<"batch_norm"> {
  let summary = "inference-mode batch normalization";
  let description = [{
    `y = (x - mean[c]) / sqrt(variance[c] + epsilon) scale[c] + bias[c]` for
    channel c. Serves ONNX `BatchNormalization` in inference mode.

    Constraints: scale, bias, mean, variance have one dimension, of C elements.
  }];
  let arguments = (ins NN_Tensor:$x, NN_Tensor:$scale, NN_Tensor:$bias,
                       NN_Tensor:$mean, NN_Tensor:$variance, F32Attr:$epsilon,
                       UnitAttr:$channels_last);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{
    $x `,` $scale `,` $bias `,` $mean `,` $variance attr-dict `:`
    functional-type(operands, results)
  }];
}

def NN_LayerNormOp : NN_InferredOp<"layer_norm", [AttrSizedOperandSegments]> {
  let summary = "normalization over the dimensions from an axis on";
  let description = [{
    `y = (x - mean(x)) / sqrt(var(x) + epsilon) scale + bias` over dimensions
    `axis…`; scale and bias broadcast to those dimensions.
  }];
  let arguments = (ins NN_Tensor:$x, Optional<NN_Tensor>:$scale,
                       Optional<NN_Tensor>:$bias, I64Attr:$axis,
                       F32Attr:$epsilon);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{
    $x (`scale` `(` $scale^ `)`)? (`bias` `(` $bias^ `)`)? attr-dict `:`
    functional-type(operands, results)
  }];
}

def NN_RMSNormOp : NN_InferredOp<"rms_norm"> {
  let summary = "y = x / sqrt(mean(x^2) + epsilon) scale, from an axis on";
  let arguments = (ins NN_Tensor:$x, NN_Tensor:$scale, I64Attr:$axis,
                       F32Attr:$epsilon);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat =
      "$x `,` $scale attr-dict `:` functional-type(operands, results)";
}

def NN_GroupNormOp : NN_InferredOp<"group_norm"> {
  let summary = "normalization over groups of channels of each sample";
  let description = [{
    With one channel per group, this is instance normalization. scale and bias
    have C elements. Serves ONNX `GroupNormalization`, `InstanceNormalization`.
  }];
  let arguments = (ins NN_Tensor:$x, NN_Tensor:$scale, NN_Tensor:$bias,
                       I64Attr:$groups, F32Attr:$epsilon,
                       UnitAttr:$channels_last);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{
    $x `,` $scale `,` $bias attr-dict `:` functional-type(operands, results)
  }];
}

def NN_LRNOp : NN_InferredOp<"lrn"> {
  let summary = "local response normalization across channels";
  let description = [{
    `y = x / (k + alpha/size sum of x^2 over size channels around c)^beta`.
    Serves ONNX `LRN`.
  }];
  let arguments = (ins NN_FloatTensor:$x, I64Attr:$size, F32Attr:$alpha,
                       F32Attr:$beta, F32Attr:$k, UnitAttr:$channels_last);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

def NN_SoftmaxOp : NN_InferredOp<"softmax"> {
  let summary = "y = e^(x - max) / sum of e^(x - max), along an axis";
  let description = "With `log`, the logarithm of this (ONNX `LogSoftmax`).";
  let arguments = (ins NN_FloatTensor:$x, I64Attr:$axis, UnitAttr:$log);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

def NN_TransposeOp : NN_InferredOp<"transpose"> {
  let summary =
      "permutation of dimensions: result dim i is operand dim perm[i]";
  let arguments = (ins NN_Tensor:$x, DenseI64ArrayAttr:$perm);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def NN_ReshapeOp : NN_Op<"reshape"> {
  let summary = "the same elements in row-major order, in another shape";
  let description = [{
    The result type is the new shape. At most one of its dimensions is dynamic
    and follows from the number of elements. (For more, use `tensor.reshape`.)
  }];
  let arguments = (ins NN_Tensor:$x);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def NN_BroadcastToOp : NN_Op<"broadcast_to"> {
  let summary = "numpy-style broadcast to the result's shape";
  let description = [{
    `sizes` gives the dynamic dimensions of the result, in order.
  }];
  let arguments = (ins NN_Tensor:$x, Variadic<Index>:$sizes);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{
    $x (`sizes` `(` $sizes^ `)`)? attr-dict `:` type($x) `->` type($y)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def NN_ConcatOp : NN_InferredOp<"concat"> {
  let summary = "concatenation along an axis";
  let arguments = (ins Variadic<NN_Tensor>:$inputs, I64Attr:$axis);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat =
      "$inputs attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def NN_SliceOp : NN_InferredOp<"slice"> {
  let summary = "strided window: y[i] = x[starts + i steps]";
  let description = [{
    Takes a start, a size and a step for each dimension. Steps may be negative.
    A dynamic dimension is either taken whole (start 0, step 1, size -1) or gets
    a static size that is known to fit.
  }];
  let arguments = (ins NN_Tensor:$x, DenseI64ArrayAttr:$starts,
                       DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$steps);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasFolder = 1;
}

def NN_PadOp : NN_InferredOp<"pad"> {
  let summary = "extension at the borders; negative amounts crop";
  let description = [{
    `value` (a scalar tensor) fills in mode `constant`; it is absent otherwise.
  }];
  let arguments = (ins NN_Tensor:$x, Optional<NN_Tensor>:$value,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high,
                       NN_PadMode:$mode);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{
    $mode $x (`value` `(` $value^ `)`)? attr-dict `:` functional-type(operands,
    results)
  }];
  let hasVerifier = 1;
}

def NN_GatherOp : NN_InferredOp<"gather"> {
  let summary =
      "entries of an axis by index; negative indices count from the end";
  let description = [{
    `y[a…, i…, b…] = x[a…, indices[i…], b…]`. Serves ONNX `Gather`. Indices of
    bytes into 256 entries are always valid, so lookup tables need no checks.
  }];
  let arguments = (ins NN_Tensor:$x, NN_IntTensor:$indices, I64Attr:$axis);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat =
      "$x `,` $indices attr-dict `:` functional-type(operands, results)";
}

def NN_GatherElementsOp : NN_InferredOp<"gather_elements"> {
  let summary = "y[…, i, …] = x[…, indices[…, i, …], …] along an axis";
  let arguments = (ins NN_Tensor:$x, NN_IntTensor:$indices, I64Attr:$axis);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat =
      "$x `,` $indices attr-dict `:` functional-type(operands, results)";
}

def NN_GatherNDOp : NN_InferredOp<"gather_nd"> {
  let summary = "slices by index tuples (ONNX GatherND)";
  let arguments = (ins NN_Tensor:$x, NN_IntTensor:$indices,
                       I64Attr:$batch_dims);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat =
      "$x `,` $indices attr-dict `:` functional-type(operands, results)";
}

def NN_ScatterElementsOp : NN_InferredOp<"scatter_elements"> {
  let summary = "x with elements replaced or combined (ONNX ScatterElements)";
  let arguments = (ins NN_Tensor:$x, NN_IntTensor:$indices, NN_Tensor:$updates,
                       I64Attr:$axis, NN_ScatterReduction:$reduction);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{
    $reduction $x `,` $indices `,` $updates attr-dict `:`
    functional-type(operands, results)
  }];
}

def NN_ScatterNDOp : NN_InferredOp<"scatter_nd"> {
  let summary = "x with slices replaced or combined (ONNX ScatterND)";
  let arguments = (ins NN_Tensor:$x, NN_IntTensor:$indices, NN_Tensor:$updates,
                       NN_ScatterReduction:$reduction);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{
    $reduction $x `,` $indices `,` $updates attr-dict `:`
    functional-type(operands, results)
  }];
}

def NN_ResizeOp : NN_Op<"resize", [AttrSizedOperandSegments]> {
  let summary = "resampling of a dense grid";
  let description = [{
    Each result position p of a dimension with scale s reads the operand around
    the position that `coordinates` gives (ONNX `Resize`, opset 19). `scales`
    has one element per dimension; a dimension of scale 1 is copied. A scale of
    0 means that a run computes it. `sizes` and `factors` have an element for
    each such dimension: its result size and its scale.

    With `antialias` a dimension whose scale is below 1 is filtered: a result is
    the weighted mean of the elements that it covers. Its weights are those of
    the interpolation at distances times the scale. Then x must be of f32 and
    the mode linear or cubic.
  }];
  let arguments = (ins NN_Tensor:$x, Variadic<Index>:$sizes,
                       Variadic<F32>:$factors, DenseF32ArrayAttr:$scales,
                       NN_ResizeMode:$mode, NN_Coordinates:$coordinates,
                       NN_NearestMode:$nearest_mode,
                       DefaultValuedAttr<F32Attr, "-0.75f">:$cubic_coeff_a,
                       UnitAttr:$exclude_outside, UnitAttr:$antialias);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{
    $mode $x (`sizes` `(` $sizes^ `)` `factors` `(` $factors `)`)? attr-dict `:`
    type($x) `->` type($y)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns true if the scale of dimension `i` is computed at run time.
    bool isComputed(int64_t i) { return getScales()[i] == 0; }
    /// Returns the index of dimension `i` in `sizes` and `factors`.
    int64_t computedBefore(int64_t i);
    /// Returns true if dimension `i` is filtered in some or all runs.
    bool mayFilter(int64_t i) {
      return getAntialias() && getScales()[i] < 1;
    }
  }];
}

def NN_CumSumOp : NN_InferredOp<"cumsum"> {
  let summary = "running sum, or product, along an axis";
  let description = [{
    `exclusive` leaves out the element itself; `reverse` runs from the end.
    Serves ONNX `CumSum`, and with `product` `CumProd`.
  }];
  let arguments = (ins NN_Tensor:$x, I64Attr:$axis, UnitAttr:$exclusive,
                       UnitAttr:$reverse, UnitAttr:$product);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

def NN_TopKOp : NN_InferredOp<"top_k"> {
  let summary = "the k largest, or smallest, elements along an axis, sorted";
  let description = [{
    Equal elements keep the order of their indices. `count`, computed at run
    time and at most k, is the number of requested elements. Serves ONNX `TopK`.
  }];
  let arguments = (ins NN_Tensor:$x, Optional<Index>:$count, I64Attr:$k,
                       I64Attr:$axis, UnitAttr:$smallest);
  let results = (outs NN_Tensor:$values, NN_IntTensor:$indices);
  let assemblyFormat = [{
    $x (`count` `(` $count^ `)`)? attr-dict `:` type($x) `->` type($values) `,`
    type($indices)
  }];
}

#endif // INGOT_DIALECTS_NN_NNOPS_TD
