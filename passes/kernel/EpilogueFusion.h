//===- EpilogueFusion.h - ops that move into kernels ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_KERNEL_EPILOGUEFUSION_H
#define INGOT_PASSES_KERNEL_EPILOGUEFUSION_H

#include "passes/support/Producers.h"

namespace ingot::kernel {

/// Elementwise ops that a kernel may compute in its epilogue.
struct EpilogueSteps {
  mlir::Operation *kernel;
  /// The steps in order. No other op reads the kernel's result, or the result
  /// of a step before the last.
  llvm::SmallVector<mlir::Operation *> ops;
  /// The other values that steps read, in the order of their first use.
  llvm::SmallVector<mlir::Value> operands;

  mlir::Value getResult() const { return kernel->getResult(0); }
  mlir::Operation *getLast() const { return ops.back(); }
};

/// A representation of epilogues, such as a region or a list of attributes. It
/// decides which steps it takes, and stores them.
class EpilogueForm {
public:
  virtual ~EpilogueForm() = default;

  /// Returns true if `op` is a kernel with an epilogue of this form.
  virtual bool isKernel(mlir::Operation *op) const = 0;

  /// Returns true if a step of the epilogue of `kernel` may compute elements of
  /// type `element`.
  virtual bool holds(mlir::Operation *kernel, mlir::Type element) const = 0;

  /// Appends `steps` to the epilogue of their kernel, whose result gets the
  /// type of the last step. The caller moves the kernel and erases the steps.
  /// Returns false, and changes nothing, if the epilogue cannot take the steps.
  virtual bool append(const EpilogueSteps &steps, support::Order &order) = 0;

  /// Called before `step`, which an epilogue computes now, is erased.
  virtual void forget(mlir::Operation *step) {}
};

/// Moves elementwise nn ops below `root` into the epilogues of the kernels
/// before them, if `form` takes them. Returns the number of fusions.
int64_t fuseEpilogues(mlir::Operation *root, EpilogueForm &form);

} // namespace ingot::kernel

#endif // INGOT_PASSES_KERNEL_EPILOGUEFUSION_H
