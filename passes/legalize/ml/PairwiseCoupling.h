//===- PairwiseCoupling.h - class probabilities from pairs ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_ML_PAIRWISECOUPLING_H
#define INGOT_PASSES_LEGALIZE_ML_PAIRWISECOUPLING_H

#include "passes/legalize/ml/MachineLearning.h"

namespace ingot::legalize {

/// Computes probabilities (rows, classes) from the scores of all pairs of
/// classes (rows, pairs). The first class of a pair has the probability 1 -
/// sigmoid(slope * score + offset).
FailureOr<Value> couplePairs(Node &node, Value scores, int64_t classes,
                             ArrayRef<float> slopes, ArrayRef<float> offsets);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_ML_PAIRWISECOUPLING_H
