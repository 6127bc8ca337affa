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

#endif // INGOT_DIALECTS_NN_NNQUANTIZE_TD
