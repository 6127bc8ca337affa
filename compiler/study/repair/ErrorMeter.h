//===- ErrorMeter.h - the error of a model in int8 --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_REPAIR_ERRORMETER_H
#define INGOT_COMPILER_STUDY_REPAIR_ERRORMETER_H

#include "compiler/study/ranges/Calibrator.h"
#include "compiler/study/runs/OutputErrors.h"

namespace ingot::study {

/// The error of an artifact in int8.
struct MeasuredError {
  /// The output with the largest error.
  std::string output;
  /// The relative error of this output, and its 95 % confidence interval.
  double error = 0, low = 0, high = 0;
  /// The number of samples that were run.
  uint64_t samples = 0;
  /// The part of the output that has this error, in words; "" for all of it.
  std::string part;
  /// The largest error of an output that is judged by the size of its values.
  double strictError = 0;
};

/// Measures artifacts in int8 on the samples of a calibration. Such an artifact
/// is the one that a user gets, and runs much faster than a probe. The meter
/// begins with few samples, and adds more until the error is known well enough
/// or a few seconds have passed. The confidence interval tells how well.
class ErrorMeter {
public:
  /// The error above which `auto` repairs. Its square is half a percent: the
  /// share of the variance that measured values lose. Networks with a smaller
  /// error lost less than half a percentage point of accuracy
  /// (docs/measured/accuracy.md).
  static constexpr double kMostError = 0.07;

  /// Runs at most `most` samples. `calibrator` has watched them.
  ErrorMeter(Calibrator &calibrator, uint64_t most)
      : calibrator(calibrator), most(most) {}

  /// Returns the number of samples to begin with. There are fewer if runs are
  /// slow.
  static uint64_t numFirst(const Calibrator &calibrator);

  uint64_t mostSamples() const { return most; }

  /// Compiles a model with `options` and measures it.
  llvm::Expected<MeasuredError> measure(const ScratchModel::Options &options,
                                        const Progress &progress);

private:
  Calibrator &calibrator;
  const uint64_t most;
};

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_REPAIR_ERRORMETER_H
