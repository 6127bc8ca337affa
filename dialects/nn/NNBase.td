//===- NNBase.td - nn dialect, types and base classes ------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_NN_NNBASE_TD
#define INGOT_DIALECTS_NN_NNBASE_TD

include "dialects/nn/NNInterfaces.td"

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def NN_Dialect : Dialect {
  let name = "nn";
  let cppNamespace = "::ingot::nn";
  let summary = "Named tensor operations of neural networks";
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
  let hasConstantMaterializer = 1;
  let description = [{
    Operations that graph passes recognize: convolutions, products, pooling,
    normalizations, reductions, data movement and elementwise functions, on
    ranked tensors. Any dimension may be dynamic (`?`). Unsigned integers keep
    their sign in the type (`ui8`); the lowering makes them signless. Operations
    that `tensor`, `linalg` or `arith` already have are not repeated here.

    Spatial ops (convolution, pooling, batch and group normalization) take data
    as `N, C, D1, …, Dn`, or, with the unit attribute `channels_last`, as
    `N, D1, …, Dn, C`. `pads` lists all begins, then all ends.
  }];
}

def NN_Tensor : RankedTensorOf<[AnyType]>;
def NN_FloatTensor : RankedTensorOf<[AnyFloat]>;
def NN_IntTensor : RankedTensorOf<[AnyInteger, Index]>;
def NN_BoolTensor : RankedTensorOf<[I1]>;

class NN_Op<string mnemonic, list<Trait> traits = []>
    : Op<NN_Dialect, mnemonic, !listconcat(
          [Pure, DeclareOpInterfaceMethods<NN_SizesOpInterface>], traits)>;

/// An op whose operands and attributes determine its result types. The type in
/// the IR may be more, or less, static than the inferred type.
class NN_InferredOp<string mnemonic, list<Trait> traits = []>
    : NN_Op<mnemonic, !listconcat(
          [DeclareOpInterfaceMethods<InferTypeOpInterface>], traits)> {
  let extraClassDeclaration = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred,
                                        ::mlir::TypeRange stated);
  }];
}

#endif // INGOT_DIALECTS_NN_NNBASE_TD
