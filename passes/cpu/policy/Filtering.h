//===- Filtering.h - what convolutions take fewer products ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `conv-to-winograd` goes by, for those who choose before it what is
// multiplied.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_POLICY_FILTERING_H
#define INGOT_PASSES_CPU_POLICY_FILTERING_H

#include "dialects/nn/NNDialect.h"
#include "passes/support/Reason.h"

namespace ingot::cpu {

/// Why it has no 3x3 taps beside each other that all channels share.
Reason whyNotThreeByThree(nn::ConvOp op);

/// A size that only a run knows counts as so many pixels.
constexpr int64_t kUsualPixels = 28;

/// Operations of a transform as long as so many that multiply: those of the
/// data of a channel and of the results of a column, for tiles of 2 and 4.
constexpr double kTransformFlops[] = {250, 600};

/// Weights in tiles of 4 x 4 are no larger than that: from the last-level cache
/// they would come too late, and an artifact has to carry them.
constexpr int64_t kMostBytesOfFour = 5 << 19;

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_POLICY_FILTERING_H
