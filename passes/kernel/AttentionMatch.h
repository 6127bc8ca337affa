//===- AttentionMatch.h - an attention of nn ops ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_KERNEL_ATTENTIONMATCH_H
#define INGOT_PASSES_KERNEL_ATTENTIONMATCH_H

#include "dialects/nn/NNDialect.h"
#include "passes/shape/SameSizes.h"
#include "passes/support/Reason.h"

#include "mlir/IR/PatternMatch.h"

namespace ingot::kernel {

/// The operands of a kernel that computes attention for all heads.
struct AttentionOperands {
  /// The queries, keys and values, as `B, L, H, D`.
  mlir::Value q, k, v;
  /// The sum of all masks, which broadcasts to `B, H, keys, queries`; may be
  /// null.
  mlir::Value mask;
  /// The factor of the scores.
  double scale = 1;
};

/// An attention that nn ops compute: two matrix products with a softmax in
/// between, `softmax(scale * Q K^T + masks) V`, on `B, H, L, D` or `B, L, D`.
struct AttentionMatch {
  nn::MatMulOp scores, result;
  nn::SoftmaxOp softmax;
  /// The values that are added to the scores, the last one first, such as a
  /// mask or a position bias.
  llvm::SmallVector<mlir::Value, 2> masks;
  /// The factor between the first product and the masks.
  double scale = 1;
  /// True if NaN probabilities become zeros.
  bool isSafe = false;
  /// The condition under which results are zero, as `B, H, L, 1`. The first
  /// three dimensions may broadcast. Null if there is no condition.
  mlir::Value zeroed;
  /// The locations of the ops between the operands and the result.
  llvm::SmallVector<mlir::Location> locations;

  /// Matches an attention that ends with `op`, and fills the fields. Otherwise
  /// returns the reason.
  Reason match(nn::MatMulOp op);

  /// Returns why one kernel cannot compute the attention for all heads. For
  /// example, batches or masks broadcast in an unsupported way, or scales are
  /// out of range.
  Reason whyNotOneKernel(const shape::SameSizes &sizes);

  /// Builds the operands of a kernel, without transposes of heads and without
  /// scales before or behind them.
  AttentionOperands buildOperands(mlir::PatternRewriter &rewriter);

  /// Replaces the last product, and transposes of its heads, by `value`.
  /// `value` is the result of a kernel, `B, L, H, D`, and has `sizes`.
  void replaceBy(mlir::PatternRewriter &rewriter, mlir::Value value,
                 llvm::ArrayRef<mlir::OpFoldResult> sizes);

private:
  nn::SoftmaxOp matchSoftmax(mlir::Value value);
  bool isScaleModest();
};

/// Returns a mask of attention, which has `rank` dimensions or fewer and
/// broadcasts to `B, H, queries, keys`, as `B, H, keys, queries`.
mlir::Value queriesLast(mlir::PatternRewriter &rewriter, mlir::Location loc,
                        mlir::Value mask, int64_t rank);

} // namespace ingot::kernel

#endif // INGOT_PASSES_KERNEL_ATTENTIONMATCH_H
