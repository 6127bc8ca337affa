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

/// Loops of dynamic ranges that a run splits, and the cost of all their
/// iterations.
struct OpenWork {
  struct Loop {
    mlir::Value range;
    /// The number of iterations that stay together.
    int64_t grain = 1;
    /// The minimum number of iterations of the last task. A shorter rest is
    /// added to the previous task.
    int64_t least = 1;
  };

  mlir::Value cost;
  llvm::SmallVector<Loop> loops;
};

/// Returns the number of iterations of a task: `chunk`. If fewer than `least`
/// iterations would remain for the next task, returns all of `rest`.
mlir::Value sizeOfTask(mlir::OpBuilder &b, mlir::Location loc, mlir::Value rest,
                       mlir::Value chunk, int64_t least);

/// Returns `tasks`, or 0 if all results of `op` are empty. Without this case, a
/// kernel would visit all rows of a tensor whose rows are empty.
mlir::Value skipEmpty(mlir::OpBuilder &b, mlir::DestinationStyleOpInterface op,
                      mlir::Value tasks);

/// Builds the code that splits loops of dynamic ranges at run time. The entry
/// function and each kernel need this code, which may be longer than a kernel.
/// All loops with the same grains therefore call one function.
class OpenTasks {
public:
  explicit OpenTasks(mlir::ModuleOp module)
      : symbols(module), target(TargetInfo::of(module)) {}

  /// Returns how many tasks the work is worth, or 0 if there is no work.
  mlir::Value count(mlir::OpBuilder &b, mlir::Location loc,
                    const OpenWork &work);
  /// Returns the part of task `number`: the offsets of all loops, then the
  /// sizes.
  llvm::SmallVector<mlir::Value> partsOf(mlir::OpBuilder &b, mlir::Location loc,
                                         const OpenWork &work,
                                         mlir::Value number);

private:
  /// Returns a function. `build` writes its body. The name of the function is
  /// `name` and the loops' grains. It takes the cost, the ranges and, if
  /// `takesNumber`, a task number.
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
