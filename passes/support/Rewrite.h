//===- Rewrite.h - bounded greedy rewriting ---------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the only functions that apply patterns until none matches. MLIR's
// own driver runs forever if two patterns undo each other, and it does not
// report an early stop.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_REWRITE_H
#define INGOT_PASSES_SUPPORT_REWRITE_H

#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace ingot {

/// Returns the number of rewrites that a pass may make for `numOps` ops. It is
/// proportional to `numOps`, and much larger than any pass needs.
int64_t rewriteBudget(int64_t numOps);

/// Applies `patterns` to the ops in `root`, folds, and erases dead ops, until
/// nothing changes. If the budget is exceeded, reports an error that names
/// `pass`, because this is a defect. `config` sets everything except the
/// limits.
mlir::LogicalResult
rewriteGreedily(mlir::Operation *root,
                const mlir::FrozenRewritePatternSet &patterns,
                llvm::StringRef pass, mlir::GreedyRewriteConfig config = {});

/// Applies `patterns` to `ops` and to the ops that patterns create, as
/// rewriteGreedily does. Does not visit other ops.
mlir::LogicalResult rewriteOps(llvm::ArrayRef<mlir::Operation *> ops,
                               const mlir::FrozenRewritePatternSet &patterns,
                               llvm::StringRef pass);

/// Reports that a pass does not terminate.
mlir::LogicalResult reportEndless(mlir::Operation *root, llvm::StringRef pass);

/// Applies patterns to each op once, in order. Ops that patterns create are not
/// visited. The walk already holds the next op, so a pattern may erase only the
/// op that it matched and ops that it created. The pass itself erases ops that
/// lose all uses.
void rewriteInOneWalk(mlir::Operation *root,
                      const mlir::FrozenRewritePatternSet &patterns);

} // namespace ingot

#endif // INGOT_PASSES_SUPPORT_REWRITE_H
