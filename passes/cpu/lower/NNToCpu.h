//===- NNToCpu.h - shared parts of nn-to-cpu --------------------*- C++ -*-===//
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

/// The reason to decline constants without values, e.g. elided ones.
inline constexpr char kNoBytes[] = "has weights without values";

/// Builds an epilogue that stores the sum. With `hasScale` the sum is
/// multiplied by an element of the first operand; with `hasBias` an element of
/// the bias is added.
void buildEpilogue(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Region &region, mlir::Type type, bool hasBias,
                   bool hasScale = false);

/// Builds the epilogue of an op without weights. Scale and shift are applied if
/// their operands exist.
void buildRowEpilogue(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Operation *kernel, bool hasScale = false,
                      bool hasBias = false);

/// Adds the pattern of attentions of bytes, for nn-fuse-attention.
void populateByteAttentionToCpu(mlir::RewritePatternSet &patterns);
void populateBandMatMulToCpu(mlir::RewritePatternSet &patterns);
/// Adds the patterns of resizes. Tables of more than `maxTableBytes` bytes are
/// made at run time.
void populateResampleToCpu(mlir::RewritePatternSet &patterns,
                           int64_t maxTableBytes);
/// Adds the patterns of reductions, softmax, normalizations and pooling.
void populateRowsToCpu(mlir::RewritePatternSet &patterns);
void populatePackedMatMulToCpu(mlir::RewritePatternSet &patterns);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_LOWER_NNTOCPU_H
