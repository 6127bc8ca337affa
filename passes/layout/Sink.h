//===- Sink.h - transposes moved behind the ops that use them - -*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each pattern turns op(transpose(a), …) into transpose(op'(a, …)). They never
// add a transpose that moves data unless they remove one, and never make one of
// the identity.
//
// They are applied in one walk through the program, each op once, when the
// transposes of its operands are where they stay: see docs/passes.md.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LAYOUT_SINK_H
#define INGOT_PASSES_LAYOUT_SINK_H

#include "dialects/nn/NNDialect.h"
#include "passes/support/Permutation.h"
#include "passes/support/ReshapeGroups.h"
#include "passes/support/Shapes.h"

#include "mlir/IR/PatternMatch.h"

#include <optional>

namespace ingot::layout {

/// The transpose that computes `value`, or null.
inline nn::TransposeOp transposeOf(mlir::Value value) {
  return value.getDefiningOp<nn::TransposeOp>();
}

/// The same, if it may go behind `user`: one before a loop stays out of it,
/// where it would be done again and again.
nn::TransposeOp transposeFor(mlir::Operation *user, mlir::Value value);

using support::typeOf;

/// `value` transposed by `perm`: what another transpose transposed, a constant
/// computed now, or a new transpose, in this order. Never one of the identity.
mlir::Value transposed(mlir::PatternRewriter &rewriter, mlir::Location loc,
                       mlir::Value value, llvm::ArrayRef<int64_t> perm);

/// The permutation that most of the `operands` of `op` come out of, provided
/// that undoing it on the others adds fewer transposes than it removes; empty
/// if none.
support::Perm commonPerm(mlir::Operation *op,
                         llvm::ArrayRef<mlir::Value> operands);

/// Replaces `op` by an op of that kind on `operands`, transposed by `perm`
/// unless that is the identity.
mlir::Operation *replaceTransposed(mlir::PatternRewriter &rewriter,
                                   mlir::Operation *op,
                                   mlir::ValueRange operands,
                                   llvm::ArrayRef<int64_t> perm);

/// What is known of the sizes of reshapes whose sizes a run computes. It is
/// looked for before any pattern runs, when all sizes can be followed.
class OpenReshapes {
public:
  explicit OpenReshapes(mlir::Operation *root);
  /// Its groups in their order. Nothing of a reshape to something else than a
  /// list of sizes, or that came later.
  std::optional<llvm::ArrayRef<support::ReshapeGroup>>
  lookup(mlir::Operation *reshape) const {
    auto it = found.find(reshape);
    if (it == found.end())
      return std::nullopt;
    return llvm::ArrayRef(it->second);
  }

private:
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<support::ReshapeGroup>>
      found;
};

/// Reasons of several patterns.
constexpr llvm::StringLiteral kNoTranspose("is not of what a transpose gives");
constexpr llvm::StringLiteral kNoCommonPerm(
    "has too few operands of one transpose");

/// A pattern for ops on one value, `x`, that fires if a transpose computes it.
template <typename Op>
struct SinkPattern : mlir::OpRewritePattern<Op> {
  using mlir::OpRewritePattern<Op>::OpRewritePattern;

  mlir::LogicalResult
  matchAndRewrite(Op op, mlir::PatternRewriter &rewriter) const final {
    nn::TransposeOp transpose = transposeFor(op, op.getX());
    if (!transpose)
      return rewriter.notifyMatchFailure(op, kNoTranspose);
    return sink(op, transpose, rewriter);
  }

  virtual mlir::LogicalResult sink(Op op, nn::TransposeOp transpose,
                                   mlir::PatternRewriter &rewriter) const = 0;
};

void populateSinkThroughElementwise(mlir::RewritePatternSet &patterns);
void populateSinkThroughMovement(mlir::RewritePatternSet &patterns);
void populateSinkThroughReduction(mlir::RewritePatternSet &patterns);
/// `reshapes` lives as long as the patterns.
void populateSinkThroughReshape(mlir::RewritePatternSet &patterns,
                                const OpenReshapes &reshapes);

} // namespace ingot::layout

#endif // INGOT_PASSES_LAYOUT_SINK_H
