//===- PairFit.h - weights for pairs of bytes -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CPUs that cannot add up four products of bytes multiply pairs, without words
// in between, if the weights of a pair that have one sign add up to at most
// 128. With 7 bits all pairs do, at four times the squared error. Two
// neighbours are rarely both as large as the largest weight of their channel:
// mostly a scale that is a fifth larger is enough.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_PAIRFIT_H
#define INGOT_PASSES_QUANTIZE_PAIRFIT_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/BitVector.h"

#include <vector>

namespace ingot::quantize {

struct QuantizedWeights;

/// How the elements of a pair lie in weights of a shape.
struct PairLayout {
  PairLayout(llvm::ArrayRef<int64_t> shape, int64_t axis);

  /// From one element to the other, and the elements of a run of pairs, whose
  /// first ones lie together, and so do the others.
  size_t distance = 1, run = 1;
};

/// Makes scales so large that the bytes of all pairs fit, but for channels
/// whose scale `isFixed`, and says whether it did: not if that costs too much.
/// `weights.bytes` are not rounded yet.
bool widenForPairs(QuantizedWeights &weights, const PairLayout &layout,
                   const llvm::BitVector &isFixed);

/// Of pairs that rounding made a step too large, lowers the byte that it raised
/// more. `values` are the weights that were rounded.
void lowerPairs(QuantizedWeights &weights, const PairLayout &layout,
                llvm::ArrayRef<double> values, const llvm::BitVector &isFixed);

} // namespace ingot::quantize

#endif // INGOT_PASSES_QUANTIZE_PAIRFIT_H
