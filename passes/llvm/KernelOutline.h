//===- KernelOutline.h - what a kernel does, in words -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LLVM_KERNELOUTLINE_H
#define INGOT_PASSES_LLVM_KERNELOUTLINE_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>

namespace ingot::codegen {

/// An argument of the common function. It replaces equal values of one
/// function. The type is the one that the values have in the common function.
struct CommonArgument {
  llvm::SmallVector<mlir::Value> values;
  mlir::Type type;
};

/// A fingerprint of a function. Functions with equal fingerprints have equal
/// code except for constants that may become arguments. The fingerprint also
/// ignores the layout of memory that the function only uses through flat views.
struct Outline {
  explicit Outline(mlir::func::FuncOp function);

  mlir::func::FuncOp function;
  llvm::SmallVector<uintptr_t> words;
  /// The integer constants that the fingerprint ignores.
  llvm::SmallVector<mlir::arith::ConstantOp> numbers;
  /// Scalars, or splats of scalars, that the fingerprint ignores. They are
  /// factors and bounds of an epilogue. LLVM does not select code by their
  /// values.
  llvm::SmallVector<mlir::arith::ConstantOp> scalars;
  llvm::SmallVector<CommonArgument> given;
  int64_t numOps = 0;

private:
  void note(mlir::Operation &op);
  void noteView(mlir::Operation &op);
  void noteType(mlir::Type type) {
    words.push_back(uintptr_t(type.getAsOpaquePointer()));
  }

  /// Numbers for arguments, blocks and results, in order of appearance.
  llvm::DenseMap<mlir::Value, size_t> order;
  /// For each view, the index in `given` of its first result.
  std::map<llvm::SmallVector<uintptr_t>, size_t> firstOfView;
};

/// Returns the scalar of one of `Outline::scalars`, or of its splat.
mlir::TypedAttr scalarOf(mlir::arith::ConstantOp constant);

} // namespace ingot::codegen

#endif // INGOT_PASSES_LLVM_KERNELOUTLINE_H
