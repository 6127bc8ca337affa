//===- Lowering.h - scalars and tensors of linalg ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_LOWERING_H
#define INGOT_PASSES_SUPPORT_LOWERING_H

#include "dialects/nn/NNDialect.h"

#include "mlir/IR/Builders.h"

namespace ingot::lower {

/// `ui8` → `i8` and so on; other types, tensors among them, as they are.
mlir::Type signless(mlir::Type type);

/// Whether the element type is an unsigned integer (or i1).
bool isUnsigned(mlir::Type type);

/// Size of dimension `dim` as an index value, a constant where static.
mlir::Value sizeOf(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Value tensor, int64_t dim);

/// The dynamic sizes of a result of `type`, whose dynamic dimension i is as
/// large as dimension `i` of `like`.
llvm::SmallVector<mlir::Value> dynamicSizesLike(mlir::OpBuilder &builder,
                                                mlir::Location loc,
                                                mlir::RankedTensorType type,
                                                mlir::Value like);

/// tensor.empty of `type`.
mlir::Value createEmpty(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::RankedTensorType type,
                        mlir::ValueRange dynamicSizes = {});

/// A tensor of `type` filled with the scalar `value`.
mlir::Value createFilled(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::RankedTensorType type, mlir::Value value,
                         mlir::ValueRange dynamicSizes = {});

/// A scalar constant of a signless or float type.
mlir::Value scalar(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Type type, double value);

/// The type arithmetic is done in: f32 for narrower floats, else `type`.
mlir::Type computeType(mlir::Type type);

/// Numeric conversion of scalars between float, integer and i1 types as ONNX
/// Cast does it; `fromUnsigned`, `toUnsigned` give the signs of integers.
mlir::Value convertScalar(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value value, mlir::Type to,
                          bool fromUnsigned, bool toUnsigned);

/// The scalar computation of an nn elementwise op on signless `args`; null if
/// the op is not defined on its element type.
mlir::Value buildScalar(mlir::OpBuilder &builder, mlir::Operation *op,
                        mlir::ValueRange args);

/// Whether two dimensions have one size in every run: follows both to where
/// they come from; function arguments' dimensions of one name are one.
bool isSameDim(mlir::Value a, int64_t dimA, mlir::Value b, int64_t dimB);

/// A linalg.generic over the result's dimensions, all parallel, reading each
/// input through its map.
mlir::Value createGeneric(
    mlir::OpBuilder &builder, mlir::Location loc, mlir::Value init,
    mlir::ValueRange inputs, llvm::ArrayRef<mlir::AffineMap> inputMaps,
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location,
                                   mlir::ValueRange)>
        body);

/// The largest or the smallest number of a type, infinite if there is one.
mlir::Value extremum(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Type type, bool highest, bool isUnsigned);

/// Whether `x` is larger (or smaller) than another; never with a NaN.
mlir::Value isBetter(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value x, mlir::Value than, bool isMax, bool orEqual,
                     bool isUnsigned);

/// `type` without `axes`, and the dimensions that are left.
mlir::RankedTensorType withoutDims(mlir::RankedTensorType type,
                                   llvm::ArrayRef<int64_t> axes,
                                   llvm::SmallVectorImpl<int64_t> &kept);

/// The dynamic sizes among `dims` of a tensor.
llvm::SmallVector<mlir::Value> dynamicSizesOf(mlir::OpBuilder &builder,
                                              mlir::Location loc,
                                              mlir::Value tensor,
                                              llvm::ArrayRef<int64_t> dims);

/// Puts back the reduced `axes` of a tensor of type `from` as ones.
mlir::Value keepReducedDims(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value reduced, mlir::RankedTensorType from,
                            llvm::ArrayRef<int64_t> axes);

/// The same tensor with more or fewer dimensions known in its type.
mlir::Value castShape(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value value, mlir::Type type);

} // namespace ingot::lower

#endif // INGOT_PASSES_SUPPORT_LOWERING_H
