//===- Match.h - comparing results with expected ones -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_GPU_RUNNER_MATCH_H
#define INGOT_TOOLS_GPU_RUNNER_MATCH_H

#include "client/Npy.h"

#include <string>
#include <vector>

namespace ingot::gpu {

/// The most elements of an output that a bundle stores. Only the first elements
/// of larger outputs are stored and compared.
constexpr uint64_t kMostStored = 16384;

/// How far results may be from the expected ones. All numbers are 0 where bits
/// must be equal.
struct Tolerance {
  double absolute = 0, relative = 0;
  /// Relative to the largest expected element of the output.
  double scale = 0;
};

/// Numbers of elements, and the largest error.
struct Match {
  uint64_t elements = 0;
  /// Elements with other bits, and elements beyond the tolerance.
  uint64_t different = 0, wrong = 0;
  double largestError = 0;
  /// Message if the arrays cannot be compared.
  std::string problem;
};

/// Adds the comparison of one output to `match`. NaN equals NaN.
void compare(const tools::Array &got, const tools::Array &expected,
             const Tolerance &tolerance, Match &match);

/// Returns the part of an output that a bundle stores. An output that is too
/// large becomes a vector of its first elements.
tools::Array storedPart(const tools::Array &array);

} // namespace ingot::gpu

#endif // INGOT_TOOLS_GPU_RUNNER_MATCH_H
