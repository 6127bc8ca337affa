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
  /// In order. Only steps read the kernel's result and what steps but the last
  /// compute.
  llvm::SmallVector<mlir::Operation *> ops;
  /// The other values that steps read, in the order of their first use.
  llvm::SmallVector<mlir::Value> operands;

  mlir::Value getResult() const { return kernel->getResult(0); }
  mlir::Operation *getLast() const { return ops.back(); }
};

/// A form of epilogues, as a region or a list of attributes: says which steps
/// it takes, and holds them.
class EpilogueForm {
public:
  virtual ~EpilogueForm() = default;

  /// Returns whether `op` is a kernel with an epilogue of this form.
  virtual bool isKernel(mlir::Operation *op) const = 0;

  /// Returns whether a step of the epilogue of `kernel` may compute elements of
  /// type `element`.
  virtual bool holds(mlir::Operation *kernel, mlir::Type element) const = 0;

  /// Appends `steps` to the epilogue of their kernel, whose result gets the
  /// type of the last step's. The caller moves the kernel and erases the steps.
  /// Returns false, and changes nothing, if there is no place for the steps.
  virtual bool append(const EpilogueSteps &steps, support::Order &order) = 0;

  /// Learns that `step`, which an epilogue computes now, will be erased.
  virtual void forget(mlir::Operation *step) {}
};

/// Moves elementwise nn ops below `root` into the epilogues of the kernels
/// before them, as far as `form` takes them. Returns how often it did.
int64_t fuseEpilogues(mlir::Operation *root, EpilogueForm &form);

} // namespace ingot::kernel

#endif // INGOT_PASSES_KERNEL_EPILOGUEFUSION_H
