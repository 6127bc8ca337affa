//===- DnnlOps.td - dnnl ops -------------------------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_DNNL_DNNLOPS_TD
#define INGOT_DIALECTS_DNNL_DNNLOPS_TD

include "dialects/kernel/KernelInterfaces.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dnnl_Dialect : Dialect {
  let name = "dnnl";
  let cppNamespace = "::ingot::dnnl";
  let summary = "Operations that oneDNN computes";
  let description = [{
    An op is a call of a oneDNN primitive, in destination-passing style, on
    tensors or, after bufferization, on memrefs. Spatial data is channels-last
    (`N, D1, …, Dn, C`). Convolutions and matrix products carry `post_ops`, an
    epilogue that is applied in order to each element x of the result before it
    is stored:

    | post-op | meaning |
    |-|-|
    | `#dnnl.eltwise<kind, alpha = …, beta = …>` | x = f(x) |
    | `#dnnl.binary<kind, i>` | x = x op operand i, which has the result's rank and broadcasts where it has 1s |
    | `#dnnl.sum` | x = x + what `dst` held before |
  }];
  let useDefaultAttributePrinterParser = 1;
}

//===----------------------------------------------------------------------===//
// Post-ops
//===----------------------------------------------------------------------===//

class Dnnl_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::ingot::dnnl";
  let genSpecializedAttr = 0;
}

// The numbers are those of INGOT_DNNL_… in ingot/abi/dnnl.h.
def Dnnl_EltwiseKind : Dnnl_Enum<"EltwiseKind", "function of one number", [
    I32EnumAttrCase<"relu", 0>, I32EnumAttrCase<"tanh", 1>,
    I32EnumAttrCase<"elu", 2>, I32EnumAttrCase<"square", 3>,
    I32EnumAttrCase<"abs", 4>, I32EnumAttrCase<"sqrt", 5>,
    I32EnumAttrCase<"linear", 6>, I32EnumAttrCase<"softplus", 7>,
    I32EnumAttrCase<"hard_sigmoid", 8>, I32EnumAttrCase<"sigmoid", 9>,
    I32EnumAttrCase<"exp", 10>, I32EnumAttrCase<"gelu_tanh", 11>,
    I32EnumAttrCase<"gelu_erf", 12>, I32EnumAttrCase<"swish", 13>,
    I32EnumAttrCase<"log", 14>, I32EnumAttrCase<"clip", 15>,
    I32EnumAttrCase<"hard_swish", 16>]>;

def Dnnl_BinaryKind : Dnnl_Enum<"BinaryKind", "function of two numbers", [
    I32EnumAttrCase<"add", 0>, I32EnumAttrCase<"mul", 1>,
    I32EnumAttrCase<"sub", 2>, I32EnumAttrCase<"div", 3>,
    I32EnumAttrCase<"max", 4>, I32EnumAttrCase<"min", 5>]>;

def Dnnl_PoolKind : Dnnl_Enum<"PoolKind", "what a window becomes", [
    I32EnumAttrCase<"max", 3>, I32EnumAttrCase<"avg", 4>,
    I32EnumAttrCase<"avg_padded", 5>]>;
def Dnnl_PoolKindAttr : EnumAttr<Dnnl_Dialect, Dnnl_PoolKind, "pool">;

class Dnnl_Attr<string name, string attrMnemonic>
    : AttrDef<Dnnl_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Dnnl_EltwiseAttr : Dnnl_Attr<"Eltwise", "eltwise"> {
  let summary = "function of each result element";
  let parameters = (ins EnumParameter<Dnnl_EltwiseKind>:$kind,
                        OptionalParameter<"::mlir::FloatAttr">:$alpha,
                        OptionalParameter<"::mlir::FloatAttr">:$beta);
  let assemblyFormat =
      "`<` $kind (`,` `alpha` `=` $alpha^)? (`,` `beta` `=` $beta^)? `>`";
}

def Dnnl_BinaryAttr : Dnnl_Attr<"Binary", "binary"> {
  let summary = "function of each result element and an operand's element";
  let parameters = (ins EnumParameter<Dnnl_BinaryKind>:$kind,
                        "int64_t":$operand);
  let assemblyFormat = "`<` $kind `,` $operand `>`";
}

def Dnnl_SumAttr : Dnnl_Attr<"Sum", "sum"> {
  let summary = "addition of the destination's previous value";
}

def Dnnl_PostOps : TypedArrayAttrBase<
    AnyAttrOf<[Dnnl_EltwiseAttr, Dnnl_BinaryAttr, Dnnl_SumAttr]>,
    "list of post-ops">;

//===----------------------------------------------------------------------===//
// Interface and base classes
//===----------------------------------------------------------------------===//

def Dnnl_PostOpInterface : OpInterface<"PostOpInterface"> {
  let cppNamespace = "::ingot::dnnl";
  let description = "An op with an epilogue.";
  let methods = [
    InterfaceMethod<"the epilogue", "::mlir::ArrayAttr", "getPostOps">,
    InterfaceMethod<"", "void", "setPostOpsAttr",
                    (ins "::mlir::ArrayAttr":$postOps)>,
    InterfaceMethod<"operands of binary post-ops", "::mlir::OperandRange",
                    "getPostOperands">,
    InterfaceMethod<"", "::mlir::MutableOperandRange",
                    "getPostOperandsMutable">,
  ];
}

def Dnnl_Value
    : AnyTypeOf<[RankedTensorOf<[AnyType]>, StridedMemRefOf<[AnyType]>],
                "ranked tensor or memref">;

class Dnnl_Op<string mnemonic, list<Trait> traits = []>
    : Op<Dnnl_Dialect, mnemonic, !listconcat([
          DestinationStyleOpInterface,
          DeclareOpInterfaceMethods<KernelOpInterface, ["getKernelKind"]>,
          DeclareOpInterfaceMethods<MemoryEffectsOpInterface>], traits)> {
  let results = (outs Optional<RankedTensorOf<[AnyType]>>:$result);
  let hasVerifier = 1;
  code destination = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDstMutable(); }
    ::llvm::StringRef getBackend() { return kBackend; }
    /// Returns true, because oneDNN packs constants when the model is loaded.
    bool readsStoredConstants() { return true; }
  }];
  let extraClassDeclaration = destination;
}

class Dnnl_PostOp<string mnemonic>
    : Dnnl_Op<mnemonic, [AttrSizedOperandSegments, Dnnl_PostOpInterface]>;

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

class Dnnl_ConvolutionBase<string mnemonic> : Dnnl_PostOp<mnemonic> {
  let arguments = (ins Dnnl_Value:$src, Dnnl_Value:$weights,
                       Optional<Dnnl_Value>:$bias,
                       Variadic<Dnnl_Value>:$post_operands, Dnnl_Value:$dst,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, I64Attr:$groups,
                       DefaultValuedAttr<Dnnl_PostOps, "{}">:$post_ops);
  let assemblyFormat = [{
    `ins` `(` $src `,` $weights `:` type($src) `,` type($weights) `)`
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`operands` `(` $post_operands^ `:` type($post_operands) `)`)?
    `outs` `(` $dst `:` type($dst) `)` attr-dict (`->` type($result)^)?
  }];
}

def Dnnl_ConvolutionOp : Dnnl_ConvolutionBase<"convolution"> {
  let summary = "n-dimensional grouped convolution";
  let description = [{
    `nn.conv` on channels-last data: src is `N, D1…Dn, C`, weights are
    `O, C/G, K1…Kn`, bias has `O` elements, dst is `N, E1…En, O`. pads lists all
    begins, then all ends; a dilation of 1 is dense.

    Constraints:
    - C1: src, weights and dst have one rank, at least 3
    - C2: strides and dilations have rank - 2 elements, pads twice as many
    - C3: channels of src are weights dim 1 * groups, those of dst weights dim 0
    - C4: bias has one dimension, of as many elements as dst has channels
    - C5: operands of post-ops have dst's rank, and its size or 1 in each dim

    Example:
    ```mlir
    %y = dnnl.convolution ins(%x, %w : tensor<1x8x8x3xf32>, tensor<4x3x3x3xf32>)
        bias(%b : tensor<4xf32>) outs(%d : tensor<1x8x8x4xf32>)
        {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>,
         dilations = array<i64: 1, 1>, groups = 1 : i64,
         post_ops = [#dnnl.eltwise<relu>]} -> tensor<1x8x8x4xf32>
    ```
  }];
}

def Dnnl_DeconvolutionOp : Dnnl_ConvolutionBase<"deconvolution"> {
  let summary = "n-dimensional grouped transposed convolution";
  let description = [{
    `nn.conv_transpose` on channels-last data. weights are `C, O/G, K1…Kn`. The
    size of dst includes the output padding. Constraints as of
    `dnnl.convolution`, with weights' first two dimensions swapped.
  }];
}

def Dnnl_MatMulOp : Dnnl_PostOp<"matmul"> {
  let summary = "batched matrix product";
  let description = [{
    `dst[…, i, j] = bias[j] + sum over k of src[…, i, k] weights[…, k, j]`;
    batch dimensions broadcast, `transpose_src` and `transpose_weights` read the
    last two dimensions swapped. The post-ops follow.

    Constraints:
    - C1: src, weights have rank 2 or more, dst has the larger rank
    - C2: inner dimensions agree; dst has the outer and the broadcast batch ones
    - C3: bias has one dimension, of as many elements as dst has columns
    - C4: operands of post-ops have dst's rank, and its size or 1 in each dim
  }];
  let arguments = (ins Dnnl_Value:$src, Dnnl_Value:$weights,
                       Optional<Dnnl_Value>:$bias,
                       Variadic<Dnnl_Value>:$post_operands, Dnnl_Value:$dst,
                       UnitAttr:$transpose_src, UnitAttr:$transpose_weights,
                       DefaultValuedAttr<Dnnl_PostOps, "{}">:$post_ops);
  let assemblyFormat = [{
    `ins` `(` $src `,` $weights `:` type($src) `,` type($weights) `)`
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`operands` `(` $post_operands^ `:` type($post_operands) `)`)?
    `outs` `(` $dst `:` type($dst) `)` attr-dict (`->` type($result)^)?
  }];
}

def Dnnl_PoolingOp : Dnnl_Op<"pooling"> {
  let summary = "maximum or mean over windows";
  let description = [{
    Channels-last data. `avg` divides by the number of elements of the window
    that are inside the input, `avg_padded` by the size of the window.

    Constraints:
    - C1: src and dst have one rank, at least 3, and equal batch and channels
    - C2: kernel, strides, dilations have rank - 2 elements, pads twice as many
  }];
  let arguments = (ins Dnnl_PoolKindAttr:$kind, Dnnl_Value:$src,
                       Dnnl_Value:$dst, DenseI64ArrayAttr:$kernel,
                       DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations);
  let assemblyFormat = [{
    $kind `ins` `(` $src `:` type($src) `)` `outs` `(` $dst `:` type($dst) `)`
    attr-dict (`->` type($result)^)?
  }];
}

def Dnnl_SoftmaxOp : Dnnl_Op<"softmax"> {
  let summary = "softmax, or with `log` its logarithm, along an axis";
  let description = "Constraint: src and dst have one shape with that axis.";
  let arguments = (ins Dnnl_Value:$src, Dnnl_Value:$dst, I64Attr:$axis,
                       UnitAttr:$log);
  let assemblyFormat = [{
    `ins` `(` $src `:` type($src) `)` `outs` `(` $dst `:` type($dst) `)`
    attr-dict (`->` type($result)^)?
  }];
}

def Dnnl_LayerNormOp : Dnnl_Op<"layer_norm", [AttrSizedOperandSegments]> {
  let summary = "normalization over the last dimension";
  let description = [{
    `(x - mean) / sqrt(variance + epsilon) scale + shift`.

    Constraints:
    - C1: src and dst have one shape, of rank 2 or more
    - C2: scale and shift have one dimension, the last one of src
  }];
  let arguments = (ins Dnnl_Value:$src, Optional<Dnnl_Value>:$scale,
                       Optional<Dnnl_Value>:$shift, Dnnl_Value:$dst,
                       F32Attr:$epsilon);
  let assemblyFormat = [{
    `ins` `(` $src `:` type($src) `)` (`scale` `(` $scale^ `:` type($scale)
    `)`)? (`shift` `(` $shift^ `:` type($shift) `)`)? `outs` `(` $dst `:`
    type($dst) `)` attr-dict (`->` type($result)^)?
  }];
}

#endif // INGOT_DIALECTS_DNNL_DNNLOPS_TD
