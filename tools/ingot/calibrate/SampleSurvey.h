//===- SampleSurvey.h - samples that stand for all of them ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_CALIBRATE_SAMPLESURVEY_H
#define INGOT_TOOLS_INGOT_CALIBRATE_SAMPLESURVEY_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ingot::tools {

/// A sample by its number among all, and for how many of them it stands.
struct PickedSample {
  uint64_t number = 0;
  double weight = 1;
};

/// What was seen of each sample, in memory that does not grow with them: how
/// many there are, and in which of them a quantity, say a tensor's largest
/// magnitude, is far from what it usually is.
class SampleSurvey {
public:
  explicit SampleSurvey(size_t numQuantities = 0)
      : quantities(numQuantities) {}

  /// Of the sample that is seen now.
  void see(size_t quantity, double magnitude);
  /// It is over. `bytes` is what it takes to keep it.
  void endSample(uint64_t bytes = 0);

  uint64_t count() const { return samples; }

  /// No more than `most` samples, and than take `mostBytes`, in ascending
  /// order: of those that stand out, the ones that do most, each for itself;
  /// and others, spread over all, for the rest. One at least.
  std::vector<PickedSample> pick(uint64_t most,
                                 uint64_t mostBytes = UINT64_MAX) const;

private:
  struct Place {
    double magnitude = 0;
    uint64_t sample = 0;
  };
  struct Quantity {
    /// The largest first.
    std::vector<Place> largest;
    double sum = 0;
    uint64_t times = 0;
  };
  std::vector<uint64_t> standingOut(uint64_t most) const;

  std::vector<Quantity> quantities;
  uint64_t samples = 0, bytesOfLargest = 0;
};

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CALIBRATE_SAMPLESURVEY_H
