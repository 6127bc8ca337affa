//===- PairwiseCoupling.h - probabilities of classes from pairs -*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_ML_PAIRWISECOUPLING_H
#define INGOT_PASSES_LEGALIZE_ML_PAIRWISECOUPLING_H

#include "passes/legalize/ml/MachineLearning.h"

namespace ingot::legalize {

/// Probabilities (rows, classes) of what each pair of classes scores, (rows,
/// pairs), where the first class of a pair has the share
/// 1 - sigmoid(slope * score + offset).
FailureOr<Value> couplePairs(Node &node, Value scores, int64_t classes,
                             ArrayRef<float> slopes, ArrayRef<float> offsets);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_ML_PAIRWISECOUPLING_H
