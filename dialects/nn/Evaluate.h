//===- Evaluate.h - computing ops on constants ------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_NN_EVALUATE_H
#define INGOT_DIALECTS_NN_EVALUATE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace ingot::nn {

/// The result of a side-effect-free, single-result op on constant operands, or
/// null: if an operand is not constant, if the result is dynamic or has more
/// than `maxElements`, or if the op is not one that is evaluated. Numbers are
/// computed in double and rounded once; 64-bit integers exactly.
mlir::ElementsAttr evaluate(mlir::Operation *op, int64_t maxElements);

/// Folds `op` away if its folder or `evaluate` can; true if it is gone.
bool foldInPlace(mlir::Operation *op, int64_t maxElements);

} // namespace ingot::nn

#endif // INGOT_DIALECTS_NN_EVALUATE_H
