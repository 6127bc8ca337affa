//===- RepairTimes.h - how long repairs take --------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_REPAIR_REPAIRTIMES_H
#define INGOT_COMPILER_STUDY_REPAIR_REPAIRTIMES_H

#include "compiler/study/ranges/Calibrator.h"
#include "compiler/study/repair/RepairKind.h"

namespace ingot::study {

/// Predicts the seconds of repairs from those of the calibration.
class RepairTimes {
public:
  RepairTimes(Calibrator::Times watched, uint64_t numSamples, size_t numTensors)
      : watched(watched), numSamples(numSamples), numTensors(numTensors) {}

  /// Returns the time for the automatic choice of repairs.
  double all() const;
  /// Returns the number of samples from which repairs are learnt.
  uint64_t numLearnt() const;
  /// Returns the seconds that remain for trying repairs after `passed` seconds.
  /// A measurement follows, and before it final ranges if they are needed.
  double left(double passed, bool needsRanges) const;
  /// Returns true if a repair fits into the seconds that remain, and the repair
  /// `keep` after it. That one comes last, but can lower nearly every error.
  bool fits(RepairKind kind, double left) const;
  /// Returns the number of samples for measuring each layer alone, at most
  /// kUsualSamples. All runs for `keep` take `seconds`, and each takes `run`.
  unsigned numForLayers(double seconds, double run) const;

  /// The seconds of the last measurement of an artifact. Each repair needs one.
  double measurement = 0;

private:
  /// Returns the time of a repair. For `keep`, returns the least time.
  double of(RepairKind kind) const;
  double perSample(double seconds) const {
    return seconds / double(numSamples);
  }

  Calibrator::Times watched;
  uint64_t numSamples;
  size_t numTensors;
};

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_REPAIR_REPAIRTIMES_H
