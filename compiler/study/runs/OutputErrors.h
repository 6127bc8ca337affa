//===- OutputErrors.h - the largest error of an output ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_RUNS_OUTPUTERRORS_H
#define INGOT_COMPILER_STUDY_RUNS_OUTPUTERRORS_H

#include "compiler/study/runs/Client.h"

#include "llvm/ADT/ArrayRef.h"

#include <algorithm>
#include <string>
#include <vector>

namespace ingot::study {

/// Sums over the elements of one column of an output, for one sample.
struct ColumnError {
  /// Sums of squares of the wanted values and of the differences.
  double wanted = 0, error = 0;
  /// The sum of the wanted values, and their number.
  double sum = 0, count = 0;
  /// The largest wanted magnitude.
  double largest = 0;
  /// True if all wanted values are from 0 to 1.
  bool isUnit = true;
};

/// Sums of squares over the elements of one output, for one sample: of the
/// wanted values, and of the differences. For labels, which are integers of 32
/// or 64 bits, booleans and strings, `wanted` counts elements, and `error`
/// counts wrong elements. An infinity or NaN that stays as it is counts for
/// nothing.
struct OutputError {
  double wanted = 0, error = 0;
  /// The columns, if the output has few enough. See OutputErrors.cpp.
  std::vector<ColumnError> columns = {};
};

/// The errors of all outputs for one sample.
struct SampleErrors {
  /// The number of samples that this sample represents. A sample of weight 1
  /// represents itself. The others are drawn from the remaining samples.
  double weight = 1;
  std::vector<OutputError> outputs;
};

/// Compares the outputs of one sample. A missing element is an infinite error.
std::vector<OutputError> compareOutputs(llvm::ArrayRef<Array> wanted,
                                        llvm::ArrayRef<Array> got);

/// The relative error of one output over all samples: the norm of the
/// differences divided by the norm of the wanted values. If a part of the
/// output has a larger error, that of the part.
struct ErrorEstimate {
  /// The index of the output.
  size_t output = 0;
  double error = 0;
  /// The 95 % confidence interval of the error over all samples. It is empty if
  /// no sample represents others.
  double low = 0, high = 0;
  /// The part whose error it is, in words; "" for the whole output.
  std::string part = "";
  /// The largest error of values that all count. It may be that of another
  /// output. Not the error of values in several rows of a sample, such as
  /// offsets of boxes: most of these may be far from all objects.
  double strictError = 0;
};

/// Returns the estimate for the output with the largest error. An error that is
/// NaN is the largest. The interval is that of a ratio of two sums (W. Cochran,
/// Sampling Techniques, 3rd ed., section 6.3).
ErrorEstimate estimateError(llvm::ArrayRef<SampleErrors> samples);

/// Returns true if an error makes results useless: one above `most`, or for
/// values in several rows, one above their spread.
inline bool isUseless(double error, double strictError, double most) {
  return strictError > most || error > std::max(most, 1.0);
}

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_RUNS_OUTPUTERRORS_H
