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

/// Returns true if `op` needs the call of the run, which only the entry
/// function has: to allocate host memory, or to end the run.
bool needsRun(mlir::Operation *op);

/// The kernels of a module, keyed by their printed text without locations and
/// names.
class KernelTable {
public:
  explicit KernelTable(mlir::ModuleOp module) : symbols(module) {}

  /// Returns an empty kernel that is not yet in the module. Its parameters are
  /// memrefs like `arguments`, and `further` types. The builder is moved into
  /// its body.
  static mlir::func::FuncOp create(mlir::OpBuilder &builder,
                                   mlir::Location loc,
                                   mlir::ValueRange arguments,
                                   mlir::TypeRange further);

  /// Adds `kernel` to the module. Its name is `prefix` and a number. If an
  /// equal kernel exists, erases `kernel` and returns the existing one.
  mlir::func::FuncOp insert(mlir::func::FuncOp kernel, mlir::StringRef prefix);

  /// The number of kernels that were equal to an existing one.
  int64_t numShared = 0;

private:
  mlir::SymbolTable symbols;
  llvm::StringMap<mlir::func::FuncOp> kernels;
};

} // namespace ingot::loops

#endif // INGOT_PASSES_LOOPS_KERNELTABLE_H
