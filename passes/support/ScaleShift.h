//===- ScaleShift.h - per-channel scale and shift, and weights --*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything is computed in double and rounded once, one constant at a time:
// the weights of a whole model in double would not fit.
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

/// y = scale[c] x + shift[c], along one dimension.
struct ScaleShift {
  std::vector<double> scale, shift;

  bool isFinite() const;
  bool scales() const;
  bool shifts() const;
};

using support::typeOf;

/// The channel dimension of data in one of the two layouts.
inline int64_t channelDim(int64_t rank, bool channelsLast) {
  return channelsLast ? rank - 1 : 1;
}

/// The elements of a constant that varies, broadcast to `type`, along
/// dimension `dim` at most: one for each of its (statically many) entries.
std::optional<std::vector<double>>
getPerChannel(mlir::Value constant, mlir::RankedTensorType type, int64_t dim);

/// If `op` scales and shifts its data operand along `dim`: how. Serves
/// nn.batch_norm, and nn.add, nn.sub, nn.mul, nn.div by a constant. `data` is
/// set to the operand, which has the type of the result.
std::optional<ScaleShift> matchScaleShift(mlir::Operation *op, int64_t dim,
                                  mlir::Value &data);

/// What the constant parameters of a batch normalization amount to.
std::optional<ScaleShift> getScaleShift(nn::BatchNormOp op);

/// A constant like `weights`, seen as rows x columns x rest, with each element
/// multiplied by factor(row, column); null if `weights` is not constant.
mlir::Value
scaleWeights(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value weights,
             int64_t rows, int64_t columns,
             llvm::function_ref<double(int64_t, int64_t)> factor);

/// A constant of one dimension.
mlir::Value makeVector(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Type elementType, llvm::ArrayRef<double> values);

/// A constant that broadcasts along dimension `dim` of data of rank `rank`.
mlir::Value makePerChannel(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Type elementType, int64_t rank, int64_t dim,
                           llvm::ArrayRef<double> values);

/// The constant vector `bias`, or `size` zeros if it is null; nullopt if it is
/// not constant.
std::optional<std::vector<double>> getBias(mlir::Value bias, int64_t size);

/// Replaces `op`, a scale and shift of the single result of `producer`, by a
/// `producer` with other weights. Fails if the producer has no weights to
/// change or something else uses its result.
mlir::LogicalResult foldIntoProducer(mlir::PatternRewriter &rewriter,
                                     mlir::Operation *op);

/// foldIntoProducer as a pattern, which counts.
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
