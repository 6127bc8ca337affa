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

/// Methods that find a range. `best` means that the method with the least
/// change of the model's outputs is selected for each tensor.
enum class Method { mse, percentile, minMax, entropy, movingAverage, best };

/// Returns all methods, the default first.
const std::vector<Method> &allMethods();

/// Returns the name of a method, as in `--method` and in rules.
const char *nameOf(Method method);
std::optional<Method> findMethod(const std::string &name);
/// Returns the list of names: "mse, percentile, minmax, entropy, moving-average
/// or best".
std::string methodNames();

constexpr double kUsualPercentile = 99.999;
/// Returns true if the value is valid as a percentile.
bool isPercentile(double percentile);

/// Statistics of a tensor of the model.
struct WatchedTensor {
  Histogram histogram;
  /// Moving averages of the minimum and the maximum of each run. Recent runs
  /// have more weight.
  double averageMin = 0, averageMax = 0;
};

/// A method with its parameter.
struct MethodChoice {
  Method method = Method::mse;
  double percentile = kUsualPercentile;

  /// Returns true if the method needs the tensor's bins, or its averages.
  bool needsBins() const;
  bool needsAverages() const;
  /// Returns this method, or all candidates if it is `best`.
  std::vector<MethodChoice> choices() const;
  /// Returns the range of a tensor. The method must not be `best`.
  Range rangeOf(const WatchedTensor &tensor) const;
};

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_METHODS_H
