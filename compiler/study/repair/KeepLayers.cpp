//===- KeepLayers.cpp - the layers that int8 hurts most -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the layers that stay in fp32. Measures the error of each layer alone in
// int8. Layers with much error for little work come first. The fewest layers
// are kept that make the error small enough. If no number does, the fewest are
// kept that come near the smallest error.
//
//===----------------------------------------------------------------------===//
#include "client/Layers.h"
#include "compiler/study/precision/Sensitivity.h"
#include "compiler/study/repair/Repair.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <algorithm>
#include <cmath>

using namespace ingot;
using namespace ingot::study;

/// The largest share of the model's arithmetic that may stay in fp32.
static constexpr double kMostWork = 0.2;
/// The least error of a layer to be kept, as a share of the largest error of
/// one layer.
static constexpr double kLeastError = 0.1;
/// A number of layers comes near the smallest error if its error is at most
/// this multiple.
static constexpr double kNear = 1.1;

namespace {

/// A layer that may stay in fp32.
struct Candidate {
  size_t unit;
  std::string node;
  double error, work;
};

} // namespace

/// Returns the arithmetic of a unit, in operations. A layer without a count has
/// one operation for each byte that it moves.
static double workOf(const PrecisionFlag &unit,
                     llvm::ArrayRef<tools::Layer> layers) {
  double work = 0;
  for (const tools::Layer &layer : layers)
    if (llvm::any_of(layer.nodes, [&](const std::string &node) {
          return llvm::is_contained(unit.nodes, node);
        }))
      work += double(std::max(layer.flops, layer.bytes));
  return std::max(work, 1.0);
}

/// Measures the units that are in int8. Returns those that may be kept, in the
/// order in which they are kept.
static llvm::Expected<std::vector<Candidate>>
findCandidates(Probe &probe, const Progress &progress) {
  // The work depends on sizes that may be known only in a run.
  llvm::Expected<std::vector<tools::Layer>> layers = probe.layersOfRun();
  if (!layers)
    return layers.takeError();
  std::vector<Candidate> all;
  double total = 0, largest = 0;
  for (size_t i = 0; i < probe.units().size(); ++i) {
    if (!probe.canBeOn(i))
      continue;
    progress.step("layer " + std::to_string(i + 1) + " of " +
                      std::to_string(probe.units().size()),
                  double(i) / double(probe.units().size()));
    llvm::Expected<double> error = measureAlone(probe, i, progress);
    if (!error)
      return error.takeError();
    const double work = workOf(probe.units()[i], *layers);
    total += work;
    largest = std::max(largest, *error);
    all.push_back({i, probe.units()[i].nodes.front(), *error, work});
  }
  llvm::erase_if(all, [&](const Candidate &one) {
    return !(one.error >= kLeastError * largest);
  });
  // Errors of layers add up as squares, because they are nearly independent.
  std::stable_sort(
      all.begin(), all.end(), [](const Candidate &a, const Candidate &b) {
        return a.error * a.error * b.work > b.error * b.error * a.work;
      });
  double kept = 0;
  llvm::erase_if(all, [&](const Candidate &one) {
    if (kept + one.work > kMostWork * total)
      return true;
    kept += one.work;
    return false;
  });
  return all;
}

/// Returns the number of candidates to keep for an error of at most
/// `mostError`. Without the time to find it, returns one that is enough, or
/// all.
static llvm::Expected<size_t> chooseCount(Probe &probe,
                                          llvm::ArrayRef<Candidate> candidates,
                                          double mostError,
                                          llvm::function_ref<bool()> hasTime,
                                          const Progress &progress) {
  // Trying 1, 2, 4 and so on finds the limits of the smallest number that is
  // enough, and then bisection finds the number.
  std::vector<std::pair<size_t, double>> tried;
  auto measure = [&](size_t count) -> llvm::Expected<double> {
    std::vector<bool> isOn(probe.units().size(), true);
    for (const Candidate &one : candidates.take_front(count))
      isOn[one.unit] = false;
    llvm::Expected<double> error = probe.measure(isOn, progress);
    if (error)
      tried.push_back({count, *error});
    return error;
  };
  size_t low = 0, high = 0;
  while (high < candidates.size()) {
    if (!hasTime())
      return candidates.size();
    low = high;
    high = std::min(std::max<size_t>(2 * high, 1), candidates.size());
    llvm::Expected<double> error = measure(high);
    if (!error)
      return error.takeError();
    if (*error <= mostError)
      break;
  }
  if (tried.empty() || tried.back().second > mostError) {
    double smallest = INFINITY;
    for (const auto &one : tried)
      smallest = std::min(smallest, one.second);
    for (auto [count, error] : tried)
      if (error <= kNear * smallest)
        return count;
    return size_t(0);
  }
  while (high - low > 1 && hasTime()) {
    const size_t middle = (low + high) / 2;
    llvm::Expected<double> error = measure(middle);
    if (!error)
      return error.takeError();
    (*error <= mostError ? high : low) = middle;
  }
  return high;
}

llvm::Error Repairer::readForLayers(Probe &probe, unsigned count,
                                    const Progress &progress) {
  Samples samples;
  if (llvm::Error error = openSamples(options.data, samples))
    return error;
  samples.setInputs(probe.scratch().inputs());
  samples.choose(survey.pick(count, mostBytes));
  return probe.readSamples(samples, progress, mostBytes);
}

/// Returns the number of samples with which the layers can be measured in time.
llvm::Expected<unsigned> Repairer::countForLayers(Probe &probe,
                                                  const Progress &progress) {
  if (llvm::Error error = readForLayers(probe, 1, progress))
    return std::move(error);
  const WorkTime taken;
  llvm::Expected<double> all =
      probe.measure(std::vector<bool>(probe.units().size(), true), progress);
  if (!all)
    return all.takeError();
  secondsOfRun = taken.seconds();
  const double left = end - time->seconds() - times.measurement;
  return times.numForLayers(left, secondsOfRun);
}

llvm::Error Repairer::keepLayers(quantize::Calibration &calibration,
                                 const Progress &progress) {
  Stages stages(progress, {1, 1, 6, 2});
  Probe probe;
  if (llvm::Error error =
          prepare(probe, calibration, /*showsErrors=*/false, stages.next()))
    return error;
  unsigned number = kUsualSamples;
  const Progress reading = stages.next();
  if (time)
    if (llvm::Error error = countForLayers(probe, reading).moveInto(number))
      return error;
  if (number == 0)
    return llvm::make_error<Cancelled>();
  if (llvm::Error error = readForLayers(probe, number, reading))
    return error;
  llvm::Expected<std::vector<Candidate>> candidates =
      findCandidates(probe, stages.next());
  if (!candidates)
    return candidates.takeError();
  isHurried = number < kUsualSamples;
  auto hasTime = [&] {
    const bool isEnough =
        !time ||
        time->seconds() + kUsualSamples * secondsOfRun + times.measurement <
            end;
    isHurried |= !isEnough;
    return isEnough;
  };
  // Few samples tell which layers are worse, but not how large the error is.
  const Progress choosing = stages.next();
  if (number < kUsualSamples && hasTime())
    if (llvm::Error error = readForLayers(probe, kUsualSamples, choosing))
      return error;
  llvm::Expected<size_t> count =
      chooseCount(probe, *candidates, mostError, hasTime, choosing);
  if (!count)
    return count.takeError();
  for (const Candidate &one :
       llvm::ArrayRef<Candidate>(*candidates).take_front(*count))
    calibration.keep.push_back(one.node);
  return llvm::Error::success();
}
