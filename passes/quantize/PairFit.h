//===- PairFit.h - int8 weights that fit in pairs ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses int8 weights that CPUs without dot-product instructions can multiply
// in pairs. Such a CPU adds two products of bytes in int16. The sum does not
// overflow if the weights of a pair that have equal signs add up to at most
// 128. All pairs of 7-bit weights meet this bound, but have four times the
// squared error. Both weights of a pair are rarely as large as the largest
// weight of their channel. So a scale that is larger by a fifth is usually
// enough.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_PAIRFIT_H
#define INGOT_PASSES_QUANTIZE_PAIRFIT_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/BitVector.h"

#include <vector>

namespace ingot::quantize {

struct QuantizedWeights;

/// The positions of the two elements of a pair in a weight tensor.
struct PairLayout {
  PairLayout(llvm::ArrayRef<int64_t> shape, int64_t axis);

  /// `distance` is the distance between the elements of a pair. `run` is the
  /// number of elements in a run of pairs. A run holds all first elements, and
  /// then all second elements.
  size_t distance = 1, run = 1;
};

/// Increases scales until the int8 weights of all pairs fit. A channel for
/// which `isFixed` is true keeps its scale. Returns false, and changes nothing,
/// if the larger scales cost too much accuracy. Precondition: `weights.bytes`
/// are not rounded yet.
bool widenForPairs(QuantizedWeights &weights, const PairLayout &layout,
                   const llvm::BitVector &isFixed);

/// Makes pairs fit that exceed their limit by one step because of rounding. In
/// each such pair, lowers the weight that rounding raised more. `values` are
/// the weights before rounding.
void lowerPairs(QuantizedWeights &weights, const PairLayout &layout,
                llvm::ArrayRef<double> values, const llvm::BitVector &isFixed);

} // namespace ingot::quantize

#endif // INGOT_PASSES_QUANTIZE_PAIRFIT_H
