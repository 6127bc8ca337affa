//===- SampleSurvey.cpp - samples that stand for all of them --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/inputs/SampleSurvey.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace ingot::tools;

/// The number of samples to remember per quantity.
static constexpr size_t kPlaces = 32;
/// The number of outstanding samples per quantity. By default, no more are
/// picked.
static constexpr size_t kOutstanding = 4;

void SampleSurvey::see(size_t quantity, double magnitude) {
  Quantity &seen = quantities[quantity];
  ++seen.times;
  std::vector<Place> &largest = seen.largest;
  if (largest.size() == kPlaces && magnitude <= largest.back().magnitude) {
    seen.sumOfOthers += magnitude;
    return;
  }
  auto at = std::find_if(largest.begin(), largest.end(), [&](const Place &one) {
    return one.magnitude < magnitude;
  });
  largest.insert(at, {magnitude, samples});
  if (largest.size() <= kPlaces)
    return;
  seen.sumOfOthers += largest.back().magnitude;
  largest.pop_back();
}

void SampleSurvey::endSample(uint64_t bytes) {
  bytesOfLargest = std::max(bytesOfLargest, bytes);
  ++samples;
}

std::optional<FarSamples> SampleSurvey::findFar(size_t quantity,
                                                double factor) const {
  const std::vector<Place> &largest = quantities[quantity].largest;
  std::set<uint64_t> seen;
  std::optional<FarSamples> far;
  for (size_t i = 0; i + 1 < largest.size(); ++i) {
    seen.insert(largest[i].sample);
    const Place &next = largest[i + 1];
    // A tensor that is 0 in all other samples is rarely computed.
    if (double(seen.size()) > std::max(kMostFar * double(samples), 1.0) ||
        next.magnitude == 0)
      break;
    if (largest[i].magnitude >= factor * next.magnitude &&
        !seen.count(next.sample))
      far = FarSamples{seen.size(), *seen.begin(), largest[0].magnitude,
                       next.magnitude};
  }
  return far;
}

uint64_t SampleSurvey::findLargest(size_t quantity) const {
  const std::vector<Place> &largest = quantities[quantity].largest;
  return largest.empty() ? 0 : largest.front().sample;
}

/// Returns the samples with outstanding values, in ascending order.
std::vector<uint64_t> SampleSurvey::standingOut(uint64_t most) const {
  // The largest of hundreds of random values is rarely more than this factor
  // above their mean.
  constexpr double kLeast = 1.5;
  std::map<uint64_t, double> found;
  for (const Quantity &quantity : quantities) {
    double sum = quantity.sumOfOthers;
    for (size_t i = quantity.largest.size(); i-- > 0;) {
      const Place &place = quantity.largest[i];
      sum += place.magnitude;
      if (i >= kOutstanding)
        continue;
      // Larger values do not count, because one can exceed all others by far.
      const double times = place.magnitude * double(quantity.times - i) / sum;
      // If all values are 0, `times` is NaN, and the comparison is false.
      if (times >= kLeast)
        found[place.sample] = std::max(found[place.sample], times);
    }
  }
  std::vector<uint64_t> numbers;
  for (const auto &one : found)
    numbers.push_back(one.first);
  std::sort(numbers.begin(), numbers.end(), [&](uint64_t a, uint64_t b) {
    return std::pair(-found[a], a) < std::pair(-found[b], b);
  });
  numbers.resize(size_t(std::min<uint64_t>(numbers.size(), most)));
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::vector<PickedSample> SampleSurvey::pick(uint64_t most,
                                             uint64_t mostBytes) const {
  const uint64_t fitting = mostBytes / std::max<uint64_t>(bytesOfLargest, 1);
  most = std::min({most, std::max<uint64_t>(fitting, 1), samples});
  std::vector<PickedSample> picked;
  // If all samples are picked, outstanding samples need no special treatment.
  const std::vector<uint64_t> apart =
      most < samples ? standingOut(most / 2) : std::vector<uint64_t>();
  for (uint64_t number : apart)
    picked.push_back({number, 1});
  const uint64_t rest = samples - apart.size(), places = most - apart.size();
  // With steps of equal size, periodic data would yield similar samples.
  constexpr double kGoldenRatio = 0.6180339887498949;
  double fraction = 0.5;
  for (uint64_t i = 0; i < places; ++i) {
    const uint64_t begin = i * rest / places, end = (i + 1) * rest / places;
    uint64_t number = begin + uint64_t(fraction * double(end - begin));
    for (uint64_t taken : apart)
      number += taken <= number;
    picked.push_back({number, double(rest) / double(places)});
    fraction = std::fmod(fraction + kGoldenRatio, 1);
  }
  std::sort(picked.begin(), picked.end(),
            [](const PickedSample &a, const PickedSample &b) {
              return a.number < b.number;
            });
  return picked;
}
