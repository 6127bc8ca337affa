//===- NNQuantize.td - nn quantization ops -----------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_NN_NNQUANTIZE_TD
#define INGOT_DIALECTS_NN_NNQUANTIZE_TD

include "dialects/nn/NNBase.td"

def NN_QuantizeOp : NN_Op<"quantize"> {
  let summary = "y = saturate(round(x / scale) + zero_point)";
  let description = [{
    scale and zero_point are scalars, or have one element per channel of `axis`.
    With rank 2 or more they broadcast to x, and `axis` is not read. Rounds ties
    to even (ONNX `QuantizeLinear`).
  }];
  let arguments = (ins NN_Tensor:$x, NN_Tensor:$scale,
                       Optional<NN_Tensor>:$zero_point, I64Attr:$axis);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{
    $x `,` $scale (`zero_point` `(` $zero_point^ `)`)? attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def NN_DequantizeOp : NN_Op<"dequantize"> {
  let summary = "y = (x - zero_point) scale";
  let arguments = (ins NN_Tensor:$x, NN_Tensor:$scale,
                       Optional<NN_Tensor>:$zero_point, I64Attr:$axis);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{
    $x `,` $scale (`zero_point` `(` $zero_point^ `)`)? attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def NN_DequantizeBlocksOp : NN_Op<"dequantize_blocks"> {
  let summary = "y = (x - zero_point) scale, with parameters for each block";
  let description = [{
    scale and zero_point have x's dimensions, but `ceil(size / block_size)`
    along `axis`. Serves constant weights of ONNX `DequantizeLinear` with a
    `block_size`.

    Constraints:
    - C1: all sizes are static; scale and zero_point have the sizes above
    - C2: block_size is at least 1
  }];
  let arguments = (ins NN_Tensor:$x, NN_Tensor:$scale,
                       Optional<NN_Tensor>:$zero_point, I64Attr:$axis,
                       I64Attr:$block_size);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{
    $x `,` $scale (`zero_point` `(` $zero_point^ `)`)? attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def NN_RequantizeOp : NN_InferredOp<"requantize", [NN_Elementwise]> {
  let summary = "y = saturate(round(x scale + zero_point)), broadcasting";
  let description = [{
    For sums of products of bytes. Product and sum are of f64, as ONNX's
    reference computes `QLinearConv` and `QLinearMatMul`; ties go to the even
    number.

    `fits_f32` states that one fused multiply-add of f32 gives the same result.
    The pass that sets it has proved this: x is below 2^24 and `x scale` below
    2^21, so both forms round once, and the rounding of the f64 sum changes
    nothing.

    `least` and `most` are narrower bounds than those of the result's type. The
    readers of the result make no difference between a bound and what lies
    beyond it.

    Constraints:
    - C1: x is of i32, or with `fits_f32` whole numbers of f32; scale is of
      f32, zero_point and the result are of one type of bytes
    - C2: least <= most, both within the type of the result
  }];
  let arguments = (ins NN_Tensor:$x, NN_Tensor:$scale, NN_Tensor:$zero_point,
                       UnitAttr:$fits_f32, OptionalAttr<I64Attr>:$least,
                       OptionalAttr<I64Attr>:$most);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{
    $x `,` $scale `,` $zero_point attr-dict `:` type($x) `,` type($scale) `,`
    type($zero_point) `->` type($y)
  }];
  let extraClassDeclaration = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred,
                                        ::mlir::TypeRange stated);
    /// Returns the least and the most value of the result.
    std::pair<int64_t, int64_t> getBounds();
  }];
  let hasVerifier = 1;
}

def NN_PackedMatMulOp : NN_InferredOp<"packed_matmul"> {
  let summary = "matrix product with weights of a few bits in blocks";
  let description = [{
    `y[…, i, j] = sum over k of a[…, i, k] (q[j, k] - z[j, k / block]) scales[j,
    k / block]`. Row j of codes holds q of column j in the bits of its bytes,
    the lowest first, in `blocks` of `block_size` elements each. Elements behind
    the last k are ignored. z is `zero_points`, which are integers or floats, or
    `2^(bits - 1)` if absent. Serves `com.microsoft` `MatMulNBits`.

    With `rounds_a` each block of a row of a is rounded to `s n`. Here `m` is
    the block's largest magnitude, but at least `127 / 2^126` and finite. Then
    `s = m / 127`, and n are the elements times `127 / m`, rounded to the
    nearest integer, ties to even. If the block has infinities, their n is 127
    or -127 and s is infinite. A NaN makes s NaN. `may_round_a` allows this
    rounding and changes nothing itself.

    Constraints:
    - C1: a is of f32 and of rank 2 or more, its inner dimension is `depth`
    - C2: bits are 2, 4 or 8
    - C3: codes are `N, ceil(depth / block_size), ceil(block_size * bits / 8)`
      of ui8; if there are several blocks, each is a whole number of bytes
    - C4: scales of f32 and zero points of ui8 or f32 have the first two of
      these dimensions
  }];
  let arguments = (ins NN_Tensor:$a, NN_Tensor:$codes, NN_Tensor:$scales,
                       Optional<NN_Tensor>:$zero_points, I64Attr:$bits,
                       I64Attr:$block_size, I64Attr:$depth,
                       UnitAttr:$may_round_a, UnitAttr:$rounds_a);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{
    $a `,` $codes `,` $scales (`zero_points` `(` $zero_points^ `)`)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def NN_ByteAttentionOp : NN_InferredOp<"byte_attention"> {
  let summary = "scaled dot-product attention of bytes";
  let description = [{
    Attention as a quantized model computes it. q is `B, M, H, D`, k is `B, N,
    H, D`, v is `B, N, H, E`, all of ui8 or i8, and y is `B, M, H, E` of f32. In
    the formulas, zero points are already subtracted from q, k and v.

    - `x[j] = product_scale * sum over d of q[b, i, h, d] k[b, j, h, d]`,
      rounded by `product_rounding`
    - `scale * x[j]`, rounded by `score_rounding`
    - plus `mask[b, h, i, j]`, rounded by `masked_rounding`
    - `p[j] = min(round(softmax(x)[j] / p_scale), p_most)`
    - `y[b, i, h, :] = result_scale * sum over j of p[j] v[b, j, h, :]`

    A rounding is three numbers `s, least, most`. It replaces x by `s *
    min(max(round(x / s), least), most)`. Halves are rounded to even. An absent
    rounding changes nothing. The sums of both products are exact integers.

    Constraints:
    - C1: q, k and v are bytes of rank 4 with the sizes above
    - C2: the mask is of f32 and of rank 4, with sizes of B, H, M, or 1, and N
    - C3: scales are above 0, and roundings are ordered numbers with `s` above 0
    - C4: `p_most` is from 1 to 255

    Example:
    ```mlir
    %y = nn.byte_attention %q, %k, %v {q_zero_point = 128 : i64,
        k_zero_point = 3 : i64, v_zero_point = 0 : i64,
        product_scale = 1.0e-2 : f32, scale = 2.5e-1 : f32,
        p_scale = 3.92156886e-03 : f32, p_most = 255 : i64,
        result_scale = 1.0e-4 : f32}
        : (tensor<1x7x2x16xui8>, tensor<1x9x2x16xui8>, tensor<1x9x2x32xi8>)
        -> tensor<1x7x2x32xf32>
    ```
  }];
  let arguments = (ins NN_Tensor:$q, NN_Tensor:$k, NN_Tensor:$v,
                       Optional<NN_Tensor>:$mask, I64Attr:$q_zero_point,
                       I64Attr:$k_zero_point, I64Attr:$v_zero_point,
                       F32Attr:$product_scale,
                       OptionalAttr<DenseF32ArrayAttr>:$product_rounding,
                       F32Attr:$scale,
                       OptionalAttr<DenseF32ArrayAttr>:$score_rounding,
                       OptionalAttr<DenseF32ArrayAttr>:$masked_rounding,
                       F32Attr:$p_scale, I64Attr:$p_most,
                       F32Attr:$result_scale);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{
    $q `,` $k `,` $v (`mask` `(` $mask^ `)`)? attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // INGOT_DIALECTS_NN_NNQUANTIZE_TD
