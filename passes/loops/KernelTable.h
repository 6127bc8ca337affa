//===- KernelTable.h - one function for equal kernels -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LOOPS_KERNELTABLE_H
#define INGOT_PASSES_LOOPS_KERNELTABLE_H

#include "llvm/ADT/StringMap.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::loops {

/// Whether `op` needs what only the function that has the run's call has:
/// memory of the host, and a way to end the run.
bool needsRun(mlir::Operation *op);

/// The kernels of a module, by their text with locations and names left out.
class KernelTable {
public:
  explicit KernelTable(mlir::ModuleOp module) : symbols(module) {}

  /// An empty kernel that takes memrefs like `arguments` and the number of a
  /// task, not yet in the module; the builder is put into its body.
  static mlir::func::FuncOp create(mlir::OpBuilder &builder,
                                   mlir::Location loc,
                                   mlir::ValueRange arguments);

  /// `kernel` as a part of the module, called `name` and a number, or the
  /// kernel that is equal to it, `kernel` being erased.
  mlir::func::FuncOp insert(mlir::func::FuncOp kernel, mlir::StringRef name);

  /// How many kernels were found to be there already.
  int64_t numShared = 0;

private:
  mlir::SymbolTable symbols;
  llvm::StringMap<mlir::func::FuncOp> kernels;
};

} // namespace ingot::loops

#endif // INGOT_PASSES_LOOPS_KERNELTABLE_H
