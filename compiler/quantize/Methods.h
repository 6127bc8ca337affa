//===- Methods.h - ways to find a tensor's range ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_QUANTIZE_METHODS_H
#define INGOT_COMPILER_QUANTIZE_METHODS_H

#include "compiler/quantize/Ranges.h"

#include <string>
#include <vector>

namespace ingot::quantize {

/// `best` is whichever of the others does least to the model's outputs.
enum class Method { mse, percentile, minMax, entropy, movingAverage, best };

/// All of them, the default first.
const std::vector<Method> &allMethods();

/// As `--method` and rules name it.
const char *nameOf(Method method);
std::optional<Method> findMethod(const std::string &name);
/// "mse, percentile, minmax, entropy, moving-average or best".
std::string methodNames();

constexpr double kUsualPercentile = 99.999;
/// Whether so much of a tensor can be left in its range.
bool isPercentile(double percentile);

/// What is known of a tensor of the model.
struct WatchedTensor {
  Histogram histogram;
  /// Averages of the least and largest of each run, newer ones counting more.
  double averageMin = 0, averageMax = 0;
};

/// How a range is found.
struct MethodChoice {
  Method method = Method::mse;
  double percentile = kUsualPercentile;

  /// What of a tensor it reads.
  bool needsBins() const;
  bool needsAverages() const;
  /// Itself, or all that `best` chooses from.
  std::vector<MethodChoice> choices() const;
  /// Of any method but `best`.
  Range rangeOf(const WatchedTensor &tensor) const;
};

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_METHODS_H
