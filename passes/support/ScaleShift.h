//===- ScaleShift.h - per-channel scale and shift, and weights --*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares helpers to fold scales and shifts per channel into weights. All are
// computed in double and rounded once. They handle one constant at a time,
// because the weights of a whole model in double would not fit into memory.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_SCALESHIFT_H
#define INGOT_PASSES_SUPPORT_SCALESHIFT_H

#include "dialects/nn/NNDialect.h"
#include "passes/support/Shapes.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace ingot::support {

/// A scale and shift along one dimension c: y = scale[c] x + shift[c].
struct ScaleShift {
  std::vector<double> scale, shift;

  bool isFinite() const;
  bool scales() const;
  bool shifts() const;
};

using support::typeOf;

/// Returns the channel dimension of data in one of the two layouts.
inline int64_t channelDim(int64_t rank, bool channelsLast) {
  return channelsLast ? rank - 1 : 1;
}

/// Returns one value per index of dimension `dim`, which is static. The
/// constant, broadcast to `type`, may vary along this dimension only.
std::optional<std::vector<double>>
getPerChannel(mlir::Value constant, mlir::RankedTensorType type, int64_t dim);

/// Matches an `op` that scales and shifts its data operand along `dim`:
/// nn.batch_norm, and nn.add, nn.sub, nn.mul or nn.div by a constant. Sets
/// `data` to the operand, which has the type of the result.
std::optional<ScaleShift> matchScaleShift(mlir::Operation *op, int64_t dim,
                                  mlir::Value &data);

/// Returns the scale and shift of a batch normalization with constant
/// parameters.
std::optional<ScaleShift> getScaleShift(nn::BatchNormOp op);

/// Returns constant `weights`, seen as rows x columns x rest, with each element
/// multiplied by factor(row, column). Returns null if `weights` is not
/// constant.
mlir::Value
scaleWeights(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value weights,
             int64_t rows, int64_t columns,
             llvm::function_ref<double(int64_t, int64_t)> factor);

/// Creates a constant of rank 1.
mlir::Value makeVector(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Type elementType, llvm::ArrayRef<double> values);

/// Creates a constant that broadcasts along dimension `dim` of data of rank
/// `rank`.
mlir::Value makePerChannel(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Type elementType, int64_t rank, int64_t dim,
                           llvm::ArrayRef<double> values);

/// Returns the constant vector `bias`, or `size` zeros if it is null. Returns
/// nullopt if it is not constant.
std::optional<std::vector<double>> getBias(mlir::Value bias, int64_t size);

/// Replaces `op`, a scale and shift of the result of a producer, by the
/// producer with other weights. Fails if the producer has no constant weights
/// or if its result has other uses.
mlir::LogicalResult foldIntoProducer(mlir::PatternRewriter &rewriter,
                                     mlir::Operation *op);

/// Applies foldIntoProducer as a pattern, and counts the folds.
template <typename Op> struct FoldIntoProducer : mlir::OpRewritePattern<Op> {
  FoldIntoProducer(mlir::MLIRContext *context, mlir::Pass::Statistic &count)
      : mlir::OpRewritePattern<Op>(context), count(count) {}

  mlir::LogicalResult
  matchAndRewrite(Op op, mlir::PatternRewriter &rewriter) const override {
    mlir::LogicalResult folded = foldIntoProducer(rewriter, op);
    if (succeeded(folded))
      ++count;
    return folded;
  }

  mlir::Pass::Statistic &count;
};

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_SCALESHIFT_H
