//===- Captures.h - values that a loop uses from outside --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LOOPS_CAPTURES_H
#define INGOT_PASSES_LOOPS_CAPTURES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SetVector.h"

namespace ingot::loops {

/// The values that an op uses from outside. A kernel that computes the op takes
/// the memrefs as operands and computes the scalars again.
struct Captures {
  llvm::SetVector<mlir::Value> memrefs;
  /// Constants, sizes of the memrefs, and values computed from them, in the
  /// order of computation.
  llvm::SetVector<mlir::Operation *> repeated;
  /// A value that the op uses and that a kernel cannot compute again, or null.
  mlir::Value unknown;

  explicit Captures(mlir::linalg::LinalgOp op);
  bool areComplete() const { return !unknown; }

private:
  void add(mlir::Value value);
};

} // namespace ingot::loops

#endif // INGOT_PASSES_LOOPS_CAPTURES_H
