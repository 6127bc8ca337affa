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

/// What the common function is given: values of one function that are equal to
/// each other, and the type that they have there.
struct Given {
  llvm::SmallVector<mlir::Value> values;
  mlir::Type type;
};

/// What a function does, written down so that equal words are equal code. The
/// numbers that it may be told instead are left out, and so is how memory is
/// laid out of which it has flat views alone.
struct Outline {
  explicit Outline(mlir::func::FuncOp function);

  mlir::func::FuncOp function;
  llvm::SmallVector<uintptr_t> words;
  /// The numbers that are left out.
  llvm::SmallVector<mlir::arith::ConstantOp> numbers;
  /// Scalars, or splats of them, that are left out: factors and bounds of an
  /// epilogue, which no code is chosen by.
  llvm::SmallVector<mlir::arith::ConstantOp> scalars;
  llvm::SmallVector<Given> given;
  int64_t numOps = 0;

private:
  void note(mlir::Operation &op);
  void noteView(mlir::Operation &op);
  void noteType(mlir::Type type) {
    words.push_back(uintptr_t(type.getAsOpaquePointer()));
  }

  /// Arguments, blocks and results.
  llvm::DenseMap<mlir::Value, size_t> order;
  /// Which of `given` a view's results are the first of.
  std::map<llvm::SmallVector<uintptr_t>, size_t> firstOfView;
};

/// The scalar that one of `Outline::scalars` holds, or is a splat of.
mlir::TypedAttr scalarOf(mlir::arith::ConstantOp constant);

} // namespace ingot::codegen

#endif // INGOT_PASSES_LLVM_KERNELOUTLINE_H
