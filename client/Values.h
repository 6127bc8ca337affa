//===- Values.h - elements of any type ----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_VALUES_H
#define INGOT_CLIENT_VALUES_H

#include "client/Npy.h"

#include <math.h>
#include <string>

namespace ingot::tools {

uint64_t elementCount(const Array &array);

/// Returns the elements as double, for any type. Equal strings become equal
/// numbers.
std::vector<double> toDoubles(const Array &array);

/// Fills `array.data` with values that depend only on the seed. Floats are
/// uniform in [-1, 1). Integers and booleans are 0 or 1: such a number is
/// nearly always a valid index, mask or token.
void fillRandom(Array &array, uint64_t seed);

/// The most elements of an array that are shown in JSON.
constexpr size_t kMostFirst = 64;

/// The smallest element, the largest element and the mean. Ignores elements
/// that are NaN or infinite.
struct Statistics {
  std::string least, largest, mean;
  uint64_t notNumbers = 0; ///< NaN or infinite
  std::string first;       ///< up to four elements
  /// Statistics as numbers, for JSON; NaN if no element is a number.
  double leastNumber = NAN, largestNumber = NAN, meanNumber = NAN;
  std::vector<double> firstNumbers; ///< up to kMostFirst elements, no strings
};
Statistics summarize(const Array &array);

} // namespace ingot::tools

#endif // INGOT_CLIENT_VALUES_H
