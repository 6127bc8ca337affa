//===- NNToCpu.h - what the patterns of nn-to-cpu share ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_LOWER_NNTOCPU_H
#define INGOT_PASSES_CPU_LOWER_NNTOCPU_H

#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/PatternMatch.h"

namespace ingot::cpu {

/// Why a pattern declines constants that are elided, say.
inline constexpr char kNoBytes[] = "has weights without values";

/// `bias`, a vector, along the last of `rank` dimensions.
mlir::Value expandBias(mlir::OpBuilder &builder, mlir::Value bias,
                       int64_t rank);

/// An epilogue that stores the sum, times an element of the first operand if
/// it `hasScale`, and an element of the bias added.
void buildEpilogue(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Region &region, mlir::Type type, bool hasBias,
                   bool hasScale = false);

/// Groups that make one dimension of dimension `first` and all behind it.
mlir::SmallVector<mlir::ReassociationIndices> groupsFrom(int64_t rank,
                                                         int64_t first);

/// An epilogue of an op without weights: scale and shift where there are
/// operands for them.
void buildRowEpilogue(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Operation *kernel, bool hasScale = false,
                      bool hasBias = false);

void populateBandMatMulToCpu(mlir::RewritePatternSet &patterns);
/// Tables of more bytes than `maxTableBytes` are made by the run.
void populateResampleToCpu(mlir::RewritePatternSet &patterns,
                           int64_t maxTableBytes);
/// Reductions, softmax, normalizations, pooling.
void populateRowsToCpu(mlir::RewritePatternSet &patterns);
void populatePackedMatMulToCpu(mlir::RewritePatternSet &patterns);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_LOWER_NNTOCPU_H
