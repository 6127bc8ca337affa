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
    the lowest first, in `blocks` of `block_size` elements each. Elements behind
    the last k are ignored. z is `zero_points`, which are integers or floats, or
    `2^(bits - 1)` if absent. Serves `com.microsoft` `MatMulNBits`.

    With `rounds_a` each block of a row of a is rounded to `s n`. Here `m` is
    the block's largest magnitude, `s = m / 127`, and n are its elements times
    `127 / m`, rounded to the nearest integer, ties to even. If m is 0, n is 0.
    `may_round_a` allows this rounding and changes nothing itself.

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

#endif // INGOT_DIALECTS_NN_NNQUANTIZE_TD
