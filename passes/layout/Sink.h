//===- Sink.h - sinking transposes below their users ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares patterns that turn op(transpose(a), …) into transpose(op'(a, …)).
// The patterns never create an identity transpose. They add a transpose that
// moves data only if they remove another one.
//
// One walk through the program applies the patterns to each op once. At that
// time the transposes of the op's operands have reached their final places: see
// docs/design/channels-last.md.
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

/// Returns the transpose that computes `value`, or null.
inline nn::TransposeOp transposeOf(mlir::Value value) {
  return value.getDefiningOp<nn::TransposeOp>();
}

/// Returns the transpose that computes `value` if it may sink below `user`;
/// else null. A transpose before a loop must not sink into the loop, which
/// would repeat it.
nn::TransposeOp transposeFor(mlir::Operation *user, mlir::Value value);

using support::typeOf;

/// Returns `value` transposed by `perm`. Folds `value` if it is a transpose or
/// a constant; creates a new transpose only otherwise. Never creates an
/// identity transpose.
mlir::Value transposed(mlir::PatternRewriter &rewriter, mlir::Location loc,
                       mlir::Value value, llvm::ArrayRef<int64_t> perm);

/// Returns the most frequent permutation among the transposes of the `operands`
/// of `op`. Returns an empty permutation if sinking it would add as many
/// transposes on the other operands as it removes.
support::Perm commonPerm(mlir::Operation *op,
                         llvm::ArrayRef<mlir::Value> operands);

/// Replaces `op` by an op of the same kind on `operands`, and transposes its
/// results by `perm` unless `perm` is the identity.
mlir::Operation *replaceTransposed(mlir::PatternRewriter &rewriter,
                                   mlir::Operation *op,
                                   mlir::ValueRange operands,
                                   llvm::ArrayRef<int64_t> perm);

/// Replaces `op` as above. Its first operand becomes that of `transpose`, and
/// the other operands stay.
template <typename Op>
Op replaceFirstOperand(mlir::PatternRewriter &rewriter, Op op,
                       nn::TransposeOp transpose,
                       llvm::ArrayRef<int64_t> perm) {
  llvm::SmallVector<mlir::Value> operands(op->getOperands());
  operands[0] = transpose.getX();
  return mlir::cast<Op>(replaceTransposed(rewriter, op, operands, perm));
}

/// The dimension groups of reshapes whose sizes are computed at run time. The
/// constructor finds the groups before any pattern runs, while all sizes can
/// still be traced.
class OpenReshapes {
public:
  explicit OpenReshapes(mlir::Operation *root);
  /// Returns the dimension groups of `reshape` in order. Returns nullopt if the
  /// shape of `reshape` is not a tensor.from_elements, or if `reshape` was
  /// created later.
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

/// Failure reasons that several patterns share.
constexpr llvm::StringLiteral
    kNoTranspose("does not read a transpose's result");
constexpr llvm::StringLiteral kNoCommonPerm(
    "has too few operands of one transpose");

/// A pattern for ops with a single data operand `x` that matches if a transpose
/// computes `x`.
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
/// Adds the patterns for reshapes. `reshapes` must live as long as the
/// patterns.
void populateSinkThroughReshape(mlir::RewritePatternSet &patterns,
                                const OpenReshapes &reshapes);

} // namespace ingot::layout

#endif // INGOT_PASSES_LAYOUT_SINK_H
