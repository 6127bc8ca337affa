//===- OpenTasks.h - tasks of loops whose ranges a run says -----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LOOPS_OPENTASKS_H
#define INGOT_PASSES_LOOPS_OPENTASKS_H

#include "dialects/ingot/TargetInfo.h"

#include "llvm/ADT/StringMap.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace ingot::loops {

/// Loops of open ranges that a run splits, and what all of their iterations
/// cost.
struct OpenWork {
  struct Loop {
    mlir::Value range;
    /// Iterations that stay together.
    int64_t grain = 1;
    /// Tasks but the last have at least so many, or the one before has them.
    int64_t least = 1;
  };

  mlir::Value cost;
  llvm::SmallVector<Loop> loops;
};

/// How many iterations a task has: all of `rest` or `chunk`, so that others
/// have at least `least`.
mlir::Value sizeOfTask(mlir::OpBuilder &b, mlir::Location loc, mlir::Value rest,
                       mlir::Value chunk, int64_t least);

/// Returns `tasks`, or 0 where none of the results of `op` has an element: a
/// kernel would go over all rows of a tensor whose rows are empty.
mlir::Value skipEmpty(mlir::OpBuilder &b, mlir::DestinationStyleOpInterface op,
                      mlir::Value tasks);

/// Says how a run splits such loops. Dividing numbers that only a run knows is
/// as much code as many a kernel, and the run's function and each kernel need
/// it: they call one function for loops of as many grains.
class OpenTasks {
public:
  explicit OpenTasks(mlir::ModuleOp module)
      : symbols(module), target(TargetInfo::of(module)) {}

  /// As many tasks as the work is worth, none where there is none.
  mlir::Value count(mlir::OpBuilder &b, mlir::Location loc,
                    const OpenWork &work);
  /// What task `number` does: the offsets of all loops, then the sizes.
  llvm::SmallVector<mlir::Value> partsOf(mlir::OpBuilder &b, mlir::Location loc,
                                         const OpenWork &work,
                                         mlir::Value number);

private:
  /// The function that `build` writes, called `name` and the loops' grains. It
  /// takes the cost, the ranges and, for parts, a number.
  mlir::func::FuncOp
  function(mlir::StringRef name, const OpenWork &work, bool takesNumber,
           llvm::function_ref<llvm::SmallVector<mlir::Value>(
               mlir::OpBuilder &, const OpenWork &, mlir::Value)>
               build);
  mlir::Value worthOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value cost);

  mlir::SymbolTable symbols;
  TargetInfo target;
  llvm::StringMap<mlir::func::FuncOp> functions;
};

} // namespace ingot::loops

#endif // INGOT_PASSES_LOOPS_OPENTASKS_H
