//===- Lowering.h - building linalg ops -------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_LOWERING_H
#define INGOT_PASSES_SUPPORT_LOWERING_H

#include "dialects/nn/NNDialect.h"
#include "dialects/nn/Scalars.h"
#include "passes/support/Shapes.h"

#include "mlir/IR/Builders.h"

namespace ingot::support {

using nn::computeType;
using nn::convertScalar;
using nn::isUnsigned;
using nn::scalar;
using nn::signless;

/// Creates a tensor.empty of `type`.
mlir::Value createEmpty(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::RankedTensorType type,
                        mlir::ValueRange dynamicSizes = {});

/// Creates a tensor of `type` filled with the scalar `value`.
mlir::Value createFilled(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::RankedTensorType type, mlir::Value value,
                         mlir::ValueRange dynamicSizes = {});

/// Creates a linalg.generic with a parallel loop per result dimension. Each
/// input is read through its map.
mlir::Value createGeneric(
    mlir::OpBuilder &builder, mlir::Location loc, mlir::Value init,
    mlir::ValueRange inputs, llvm::ArrayRef<mlir::AffineMap> inputMaps,
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location,
                                   mlir::ValueRange)>
        body);

/// Returns the largest or smallest value of a type, infinity if it has one.
mlir::Value extremum(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Type type, bool highest, bool isUnsigned);

/// An order of integers. With `isMax`, a larger one is better, else a smaller
/// one.
struct IntegerOrder {
  bool isMax, isUnsigned;
};

/// Creates the check whether an integer `x` replaces the best value so far,
/// `than`. With `orEqual`, an equal x does, too.
mlir::Value isBetter(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value x, mlir::Value than, const IntegerOrder &order,
                     bool orEqual);

/// Returns `type` without `axes`, and sets `kept` to the remaining dimensions.
mlir::RankedTensorType withoutDims(mlir::RankedTensorType type,
                                   llvm::ArrayRef<int64_t> axes,
                                   llvm::SmallVectorImpl<int64_t> &kept);

/// Restores dimensions `axes` of a reduced tensor with size 1. `from` is the
/// type before the reduction.
mlir::Value keepReducedDims(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value reduced, mlir::RankedTensorType from,
                            llvm::ArrayRef<int64_t> axes);

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_LOWERING_H
