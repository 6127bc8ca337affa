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

/// Evaluates a side-effect-free op with one result on constant operands.
/// Returns null if an operand is not constant or the op is not supported. Also
/// returns null if the result is dynamic or has more than `maxElements`. Values
/// are computed in double and rounded once. 64-bit integers are exact.
mlir::ElementsAttr evaluate(mlir::Operation *op, int64_t maxElements);

/// Replaces `op` by its value if its folder or `evaluate` finds one. Returns
/// true if `op` has been replaced.
bool foldInPlace(mlir::Operation *op, int64_t maxElements);

} // namespace ingot::nn

#endif // INGOT_DIALECTS_NN_EVALUATE_H
