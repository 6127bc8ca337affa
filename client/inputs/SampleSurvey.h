//===- SampleSurvey.h - samples that stand for all of them ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_INPUTS_SAMPLESURVEY_H
#define INGOT_CLIENT_INPUTS_SAMPLESURVEY_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace ingot::tools {

/// The index of a sample, and the number of samples that it represents.
struct PickedSample {
  uint64_t number = 0;
  double weight = 1;
};

/// The least factor by which a sample is far larger than the others. If its
/// values take the whole range of bytes, the others have four of 255 steps.
constexpr double kFarFactor = 64;
/// The most samples that are exceptions, as a share of all.
constexpr double kMostFar = 0.25;

/// Few samples in which a quantity is far larger than in all others.
struct FarSamples {
  /// The number of samples, and the index of the first one.
  uint64_t count = 0, first = 0;
  /// The largest magnitude in these samples and in the others.
  double magnitude = 0, others = 0;
};

/// Statistics about the samples that were run, in constant memory: the number
/// of samples, and the outstanding samples. In an outstanding sample, a
/// quantity is far from the mean of its smaller values, such as a tensor's
/// largest magnitude.
class SampleSurvey {
public:
  explicit SampleSurvey(size_t numQuantities = 0) : quantities(numQuantities) {}

  /// Adds a quantity of the current sample.
  void see(size_t quantity, double magnitude);
  /// Ends the current sample. `bytes` is the memory that keeping the sample
  /// takes.
  void endSample(uint64_t bytes = 0);

  uint64_t count() const { return samples; }

  /// Returns the samples in which a quantity is at least `factor` times as
  /// large as in all others, if there are any. They are at most a quarter of
  /// all.
  std::optional<FarSamples> findFar(size_t quantity, double factor) const;

  /// Returns the sample with the largest value of a quantity, and 0 if there is
  /// none.
  uint64_t findLargest(size_t quantity) const;

  /// Picks at least one and at most `most` samples, which take at most
  /// `mostBytes`. Up to half of them are the most outstanding samples, and
  /// represent only themselves. The others are spread over all samples. Returns
  /// them in ascending order.
  std::vector<PickedSample> pick(uint64_t most,
                                 uint64_t mostBytes = UINT64_MAX) const;

private:
  struct Place {
    double magnitude = 0;
    uint64_t sample = 0;
  };
  struct Quantity {
    /// The samples with the largest values, the largest first.
    std::vector<Place> largest;
    double sumOfOthers = 0;
    uint64_t times = 0;
  };
  std::vector<uint64_t> standingOut(uint64_t most) const;

  std::vector<Quantity> quantities;
  uint64_t samples = 0, bytesOfLargest = 0;
};

} // namespace ingot::tools

#endif // INGOT_CLIENT_INPUTS_SAMPLESURVEY_H
