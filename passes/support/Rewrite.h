//===- Rewrite.h - greedy rewriting that comes to an end --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only way to apply patterns until none matches. MLIR's own driver runs for
// ever if two patterns undo each other, and says nothing if it stops early.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_REWRITE_H
#define INGOT_PASSES_SUPPORT_REWRITE_H

#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace ingot {

/// Rewrites that a pass may make for `numOps` operations: in proportion to
/// them, and far more than any pass needs.
int64_t rewriteBudget(int64_t numOps);

/// Applies `patterns` to what is in `root`, folds and drops what is unused,
/// until nothing changes. Past the budget, an error that names `pass` is
/// emitted on `root`, and failure returned: a pass that cannot settle is a
/// defect. `config` says how, but for the limits.
mlir::LogicalResult
rewriteGreedily(mlir::Operation *root,
                const mlir::FrozenRewritePatternSet &patterns,
                llvm::StringRef pass, mlir::GreedyRewriteConfig config = {});

/// The error that ends a pass which does not come to an end by itself.
mlir::LogicalResult reportEndless(mlir::Operation *root, llvm::StringRef pass);

/// Applies patterns to each op once, in the order of the operations: what they
/// make is not visited. The walk knows the op behind the matched one already,
/// so that a pattern may erase what it matched or made itself, and nothing
/// else; what it leaves without users, the pass erases.
void rewriteInOneWalk(mlir::Operation *root,
                      const mlir::FrozenRewritePatternSet &patterns);

} // namespace ingot

#endif // INGOT_PASSES_SUPPORT_REWRITE_H
