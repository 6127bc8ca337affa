//===- NNElementwise.td - nn elementwise ops ---------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_NN_NNELEMENTWISE_TD
#define INGOT_DIALECTS_NN_NNELEMENTWISE_TD

include "dialects/nn/NNBase.td"

//===----------------------------------------------------------------------===//
// Base classes
//===----------------------------------------------------------------------===//

defvar NN_Elementwise = DeclareOpInterfaceMethods<NN_ElementwiseOpInterface>;

class NN_UnaryOp<string mnemonic, string formula, list<Trait> traits = []>
    : NN_InferredOp<mnemonic, !listconcat([NN_Elementwise], traits)> {
  let summary = "y = " # formula;
  let arguments = (ins NN_Tensor:$x);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

class NN_BinaryOp<string mnemonic, string formula, list<Trait> traits = []>
    : NN_InferredOp<mnemonic, !listconcat([NN_Elementwise], traits)> {
  let summary = "y = " # formula # ", broadcasting";
  let arguments = (ins NN_Tensor:$a, NN_Tensor:$b);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat =
      "$a `,` $b attr-dict `:` type($a) `,` type($b) `->` type($y)";
}

/// A comparison: the result has i1 elements.
class NN_CompareOp<string mnemonic, string formula>
    : NN_BinaryOp<mnemonic, formula> {
  let results = (outs NN_BoolTensor:$y);
}


//===----------------------------------------------------------------------===//
// Unary functions
//===----------------------------------------------------------------------===//

def NN_AbsOp : NN_UnaryOp<"abs", "|x|">;
def NN_NegOp : NN_UnaryOp<"neg", "-x">;
def NN_SignOp : NN_UnaryOp<"sign", "-1, 0 or 1">;
def NN_CeilOp : NN_UnaryOp<"ceil", "ceil(x)">;
def NN_FloorOp : NN_UnaryOp<"floor", "floor(x)">;
def NN_RoundOp : NN_UnaryOp<"round", "x rounded, halves to even">;
def NN_SqrtOp : NN_UnaryOp<"sqrt", "sqrt(x)">;
def NN_ExpOp : NN_UnaryOp<"exp", "e^x">;
def NN_LogOp : NN_UnaryOp<"log", "ln(x)">;
def NN_SinOp : NN_UnaryOp<"sin", "sin(x)">;
def NN_CosOp : NN_UnaryOp<"cos", "cos(x)">;
def NN_TanOp : NN_UnaryOp<"tan", "tan(x)">;
def NN_AsinOp : NN_UnaryOp<"asin", "asin(x)">;
def NN_AcosOp : NN_UnaryOp<"acos", "acos(x)">;
def NN_AtanOp : NN_UnaryOp<"atan", "atan(x)">;
def NN_SinhOp : NN_UnaryOp<"sinh", "sinh(x)">;
def NN_CoshOp : NN_UnaryOp<"cosh", "cosh(x)">;
def NN_TanhOp : NN_UnaryOp<"tanh", "tanh(x)">;
def NN_AsinhOp : NN_UnaryOp<"asinh", "asinh(x)">;
def NN_AcoshOp : NN_UnaryOp<"acosh", "acosh(x)">;
def NN_AtanhOp : NN_UnaryOp<"atanh", "atanh(x)">;
def NN_ErfOp : NN_UnaryOp<"erf", "erf(x)">;
def NN_SigmoidOp : NN_UnaryOp<"sigmoid", "1 / (1 + e^-x)">;
def NN_ReluOp : NN_UnaryOp<"relu", "max(x, 0)">;
def NN_ReciprocalOp : NN_UnaryOp<"reciprocal", "1 / x">;
def NN_NotOp : NN_UnaryOp<"not", "bitwise not; logical on i1">;
def NN_SoftplusOp : NN_UnaryOp<"softplus", "ln(1 + e^x)">;

def NN_IsNaNOp : NN_UnaryOp<"is_nan", "x is not a number"> {
  let results = (outs NN_BoolTensor:$y);
}

def NN_IsInfOp : NN_UnaryOp<"is_inf", "x is an infinity of an accepted sign"> {
  let arguments = (ins NN_FloatTensor:$x,
                       DefaultValuedAttr<BoolAttr, "true">:$detect_negative,
                       DefaultValuedAttr<BoolAttr, "true">:$detect_positive);
  let results = (outs NN_BoolTensor:$y);
}

def NN_GeluOp
    : NN_UnaryOp<"gelu", "x/2 (1 + erf(x/sqrt 2)), or its tanh form"> {
  let arguments = (ins NN_FloatTensor:$x, UnitAttr:$tanh_approximation);
}

def NN_EluOp : NN_UnaryOp<"elu", "x where x > 0, else alpha (e^x - 1)"> {
  let arguments = (ins NN_FloatTensor:$x, F32Attr:$alpha);
}

def NN_LeakyReluOp : NN_UnaryOp<"leaky_relu", "x where x >= 0, else alpha x"> {
  let arguments = (ins NN_FloatTensor:$x, F32Attr:$alpha);
}

def NN_HardSigmoidOp
    : NN_UnaryOp<"hard_sigmoid", "max(0, min(1, alpha x + beta))"> {
  let arguments = (ins NN_FloatTensor:$x, F32Attr:$alpha, F32Attr:$beta);
}

def NN_HardSwishOp
    : NN_UnaryOp<"hard_swish", "x max(0, min(1, x/6 + 1/2))">;

def NN_SwishOp : NN_UnaryOp<"swish", "x sigmoid(alpha x)"> {
  let arguments = (ins NN_FloatTensor:$x,
                       DefaultValuedAttr<F32Attr, "1.0f">:$alpha);
}

def NN_ClampOp : NN_UnaryOp<"clamp", "min(max(x, min), max)"> {
  let description = [{
    An infinite bound has no effect. A NaN stays NaN. (64-bit integer bounds
    that a double cannot hold are written with `nn.max` and `nn.min`.)
  }];
  let arguments = (ins NN_Tensor:$x, F64Attr:$min, F64Attr:$max);
}

def NN_RoundMode
    : I32EnumAttr<"RoundMode", "where what lies between two numbers goes", [
        I32EnumAttrCase<"nearest", 0>, I32EnumAttrCase<"up", 1>,
        I32EnumAttrCase<"down", 2>
      ]> {
  let cppNamespace = "::ingot::nn";
}

def NN_CastOp : NN_Op<"cast", [NN_Elementwise]> {
  let summary = "conversion of the element type";
  let description = [{
    Serves ONNX `Cast`: float to integer rounds toward zero, integer to narrower
    integer wraps, anything to i1 is `x != 0`. With `in_range` each rounded
    element is a value of the result's type, so that no wider intermediate type
    is needed.

    In a cast to a float of at most eight bits, values beyond the largest one
    become the largest one with `saturate`. Otherwise they become infinity, or
    NaN if there is no infinity. `rounding` is only for f8E8M0FNU, where
    `nearest` rounds halves up.
  }];
  let arguments = (ins NN_Tensor:$x, UnitAttr:$in_range, UnitAttr:$saturate,
                       DefaultValuedAttr<NN_RoundMode,
                                         "RoundMode::nearest">:$rounding);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
  let hasFolder = 1;
}


//===----------------------------------------------------------------------===//
// Binary functions
//===----------------------------------------------------------------------===//

def NN_AddOp : NN_BinaryOp<"add", "a + b", [Commutative]>;
def NN_SubOp : NN_BinaryOp<"sub", "a - b", []>;
def NN_MulOp : NN_BinaryOp<"mul", "a b", [Commutative]>;
def NN_DivOp : NN_BinaryOp<"div", "a / b, toward zero on integers", []>;
def NN_PowOp : NN_BinaryOp<"pow", "a^b", []>;
def NN_MaxOp : NN_BinaryOp<"max", "max(a, b), NaN if either is", [Commutative]>;
def NN_MinOp : NN_BinaryOp<"min", "min(a, b), NaN if either is", [Commutative]>;
def NN_AndOp : NN_BinaryOp<"and", "bitwise and; logical on i1", [Commutative]>;
def NN_OrOp : NN_BinaryOp<"or", "bitwise or; logical on i1", [Commutative]>;
def NN_XorOp : NN_BinaryOp<"xor", "bitwise exclusive or", [Commutative]>;
def NN_ShiftLeftOp : NN_BinaryOp<"shift_left", "a << b", []>;
def NN_ShiftRightOp : NN_BinaryOp<"shift_right", "a >> b", []>;
def NN_PReluOp : NN_BinaryOp<"prelu", "a where a >= 0, else a b", []>;

def NN_ModOp : NN_BinaryOp<"mod", "remainder of a / b"> {
  let description = [{
    The result has the sign of the divisor, or with `fmod` of the dividend
    (C's `fmod`).
  }];
  let arguments = (ins NN_Tensor:$a, NN_Tensor:$b, UnitAttr:$fmod);
}

def NN_EqualOp : NN_CompareOp<"equal", "a == b">;
def NN_LessOp : NN_CompareOp<"less", "a < b">;
def NN_LessOrEqualOp : NN_CompareOp<"less_or_equal", "a <= b">;
def NN_GreaterOp : NN_CompareOp<"greater", "a > b">;
def NN_GreaterOrEqualOp : NN_CompareOp<"greater_or_equal", "a >= b">;

def NN_SelectOp : NN_InferredOp<"select", [NN_Elementwise]> {
  let summary = "y = condition ? a : b, broadcasting";
  let arguments = (ins NN_BoolTensor:$condition, NN_Tensor:$a, NN_Tensor:$b);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{
    $condition `,` $a `,` $b attr-dict `:` type($condition) `,` type($a) `,`
    type($b) `->` type($y)
  }];
}

#endif // INGOT_DIALECTS_NN_NNELEMENTWISE_TD
