//===- RecurrentDirections.h - loops over time side by side -----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_KERNEL_RECURRENTDIRECTIONS_H
#define INGOT_PASSES_KERNEL_RECURRENTDIRECTIONS_H

#include "passes/kernel/RecurrentLoop.h"

namespace ingot::kernel {

/// Finds the loops over time in `root` that are recurrences. Calls `fuse` for
/// each two neighbors that can become directions of one kernel, and for each
/// other loop.
///
/// One cell computes both directions, and neither depends on the other. Users
/// of the first loop are behind the second one then.
void forEachRecurrence(
    mlir::Operation *root, const RecurrentBuilder &backend,
    llvm::function_ref<void(llvm::ArrayRef<RecurrentLoop *>)> fuse);

/// The operands of a kernel for some directions, but for its weights, and for
/// the buffers in which it computes.
struct RecurrentOperands {
  /// Builds the operands in front of the last loop.
  RecurrentOperands(mlir::OpBuilder &b,
                    llvm::ArrayRef<RecurrentLoop *> directions);

  mlir::Location loc;
  llvm::SmallVector<mlir::Value> srcs, columnOperands;
  /// Destinations: the outputs of all steps, if they are stored, and states.
  llvm::SmallVector<mlir::Value> all, states;
  llvm::SmallVector<bool> reverse;
};

/// Replaces the loops by the results of a kernel: the outputs of all steps of
/// each direction, if they are stored, then the states.
void replaceLoops(llvm::ArrayRef<RecurrentLoop *> directions,
                  mlir::ValueRange results);

} // namespace ingot::kernel

#endif // INGOT_PASSES_KERNEL_RECURRENTDIRECTIONS_H
