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
    scale and zero_point are scalars, or have one element a channel of `axis`.
    Rounds halves to even (ONNX `QuantizeLinear`).
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
  let summary = "y = (x - zero_point) scale, which each block has of its own";
  let description = [{
    scale and zero_point have x's dimensions, but `ceil(size / block_size)`
    along `axis`. Serves constant weights of ONNX `DequantizeLinear` with a
    `block_size`.

    Constraints:
    - C1: all sizes are known, those of scale and zero_point as above
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
    Of sums of products of bytes: product and sum are of f64, as ONNX's
    reference computes `QLinearConv` and `QLinearMatMul`; halves go to the even
    number.

    With `fits_f32` one fused multiply-add of f32 gives the same, which whoever
    sets it has proven: x is below 2^24 and `x scale` below 2^21, so that both
    are rounded once, and what the sum of f64 rounds before changes nothing.

    Constraints:
    - C1: x is of i32, scale of f32, zero_point and the result of one type of
      bytes
  }];
  let arguments = (ins NN_Tensor:$x, NN_Tensor:$scale, NN_Tensor:$zero_point,
                       UnitAttr:$fits_f32);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{
    $x `,` $scale `,` $zero_point attr-dict `:` type($x) `,` type($scale) `,`
    type($zero_point) `->` type($y)
  }];
  let hasVerifier = 1;
}

def NN_PackedMatMulOp : NN_InferredOp<"packed_matmul"> {
  let summary = "matrix product with weights of a few bits in blocks";
  let description = [{
    `y[…, i, j] = sum over k of a[…, i, k] (q[j, k] - z[j, k / block]) scales[j,
    k / block]`. Row j of codes holds q of column j in the bits of its bytes,
    the lowest first, in `blocks` of `block_size` elements each; what is behind
    the last k counts for nothing. z is `zero_points`, which may be whole
    numbers or floats, and without them `2^(bits - 1)`. Serves `com.microsoft`
    `MatMulNBits`.

    With `rounds_a` each block of a row of a counts as `s n`, with `m` its
    largest magnitude, `s = m / 127` and n its elements times `127 / m`, rounded
    to the nearest whole number, halves to even; where m is 0, n is. Whoever
    made the op allows that by `may_round_a`, which changes nothing.

    Constraints:
    - C1: a is of f32 and of rank 2 or more, its inner dimension is `depth`
    - C2: bits are 2, 4 or 8
    - C3: codes are `N, ceil(depth / block_size), ceil(block_size * bits / 8)`
      of ui8; with more than one block a block is whole bytes
    - C4: scales of f32 and zero points of ui8 or f32 are those two dimensions
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

#endif // INGOT_DIALECTS_NN_NNQUANTIZE_TD
