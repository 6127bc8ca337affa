//===- Recurrence.h - a recurrence, as kernels see it -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_RECURRENT_RECURRENCE_H
#define INGOT_PASSES_CUDA_RECURRENT_RECURRENCE_H

#include "dialects/cuda/CudaDialect.h"
#include "passes/cuda/kernels/Number.h"

#include "llvm/Support/MathExtras.h"

namespace ingot::cuda {

/// The sizes of a recurrence.
struct RecurrentSizes {
  int64_t directions, hidden;
  /// Products of a state that each unit needs: one for each gate.
  int64_t products;
  /// Elements of an access of 16 bytes to a row of weights.
  int64_t vector;
  /// Sequences.
  Number batch = Number::open(1);

  /// Returns the blocks that share the units of a direction.
  int64_t unitBlocks(RecurrentScheduleAttr schedule) const {
    return int64_t(
        llvm::divideCeil(uint64_t(hidden), uint64_t(schedule.getUnits())));
  }
};

/// Returns the elements of an access of 16 bytes.
inline int64_t elementsOfAccess(mlir::Type element) {
  return kAccessBytes * 8 / int64_t(element.getIntOrFloatBitWidth());
}

/// The facts of a `cuda.recurrent` on memrefs.
struct Recurrence : RecurrentSizes {
  explicit Recurrence(RecurrentOp op)
      : RecurrentSizes{op.numDirections(), op.hidden(), op.numProducts(),
                       elementsOfAccess(op.getProductType())},
        op(op) {
    auto state = mlir::cast<mlir::ShapedType>(op.state(0, 0).getType());
    if (!state.isDynamicDim(0))
      batch = state.getDimSize(0);
  }

  RecurrentOp op;
};

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_RECURRENT_RECURRENCE_H
