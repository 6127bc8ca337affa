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

/// Operands of a kernel that computes an attention for all heads.
struct AttentionOperands {
  /// Queries, keys and values as `B, L, H, D`.
  mlir::Value q, k, v;
  /// Sum of all masks, which broadcasts to `B, H, keys, queries`; may be null.
  mlir::Value mask;
  /// Factor of the scores.
  double scale = 1;
};

/// An attention that nn ops compute: two products with a softmax in between,
/// `softmax(scale * Q K^T + masks) V`, on `B, H, L, D` or `B, L, D`.
struct AttentionMatch {
  nn::MatMulOp scores, result;
  nn::SoftmaxOp softmax;
  /// Values that are added to the scores, the last first: a mask, a bias of
  /// positions.
  llvm::SmallVector<mlir::Value, 2> masks;
  /// Factor between the first product and the masks.
  double scale = 1;
  /// Set if probabilities that are no numbers become zeros.
  bool isSafe = false;
  /// Condition for results that are zero: `B, H, L, 1`, where all dimensions
  /// but the last broadcast. Null if there is none.
  mlir::Value zeroed;
  /// Locations of the ops between the factors and the result.
  llvm::SmallVector<mlir::Location> locations;

  /// Fills this in; else says why `op` is not the end of an attention.
  Reason match(nn::MatMulOp op);

  /// Says why one kernel cannot compute it for all heads: batches or masks that
  /// broadcast in other ways, scales out of range.
  Reason whyNotOneKernel(const shape::SameSizes &sizes);

  /// Builds the operands of a kernel. Transposes of heads and scales before or
  /// behind them are left out.
  AttentionOperands buildOperands(mlir::PatternRewriter &rewriter);

  /// Replaces the last product, and transposes of its heads, by `value`: the
  /// result of a kernel, `B, L, H, D`, which has `sizes`.
  void replaceBy(mlir::PatternRewriter &rewriter, mlir::Value value,
                 llvm::ArrayRef<mlir::OpFoldResult> sizes);

private:
  nn::SoftmaxOp matchSoftmax(mlir::Value value);
  bool isScaleModest();
};

} // namespace ingot::kernel

#endif // INGOT_PASSES_KERNEL_ATTENTIONMATCH_H
