//===- Labels.h - right results that the user gives -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_METRIC_LABELS_H
#define INGOT_COMPILER_STUDY_METRIC_LABELS_H

#include "client/Npy.h"

#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace ingot::study {

/// The right results of all samples, as the user gives them.
struct Labels {
  std::vector<double> values;
  std::vector<int64_t> dims;
  bool areIntegers = false;

  /// Returns the number of values of each row of the first dimension.
  uint64_t rowSize() const;
};

/// Reads the array `labels` of an .npz file. Returns nothing if `path` is no
/// .npz file or has no such array.
llvm::Expected<std::optional<tools::Array>> readLabels(const std::string &path);

/// Converts labels to numbers. `path` is named in the error.
llvm::Expected<Labels> toLabels(const tools::Array &array,
                                const std::string &path);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_METRIC_LABELS_H
