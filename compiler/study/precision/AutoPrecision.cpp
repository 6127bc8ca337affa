//===- AutoPrecision.cpp - the fastest precisions that are right ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds a model with int8 for some layers that meets the accuracy budget. At
// first every layer that int8 makes faster is in int8. If this artifact does
// not meet the budget, layers are widened until it is met. Layers with much
// error for little saved time come first. TryCandidates.cpp compares the
// artifact with others.
//
//===----------------------------------------------------------------------===//
#include "client/Layers.h"
#include "compiler/study/precision/StudyRun.h"
#include "compiler/study/runs/Stages.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>

using namespace ingot;
using namespace ingot::study;

/// The most candidates that a search compiles and runs.
static constexpr int kMostChecks = 5;
/// The rounding error allowed when percentages are compared.
static constexpr double kRounding = 1e-9;

static std::string digits(const char *format, double value) {
  char text[40];
  snprintf(text, sizeof(text), format, value);
  return text;
}

static std::string nameOf(const StudiedLayer &layer) {
  return "'" + formatLine(layer.nodes.front(), 120) + "'";
}

/// Returns the milliseconds that int8 adds to a layer; 0 if int8 is faster.
static double lossOf(const StudiedLayer &layer) {
  if (!layer.isInt8 || !layer.fp32Ms || !layer.int8Ms)
    return 0;
  return std::max(*layer.int8Ms - *layer.fp32Ms, 0.0);
}

/// Removes layers that int8 makes slower. If they lose less in total than the
/// noise of a measurement, they stay, because another artifact would have to be
/// compiled without them.
void StudyRun::dropSlowLayers() {
  double losses = 0;
  for (const StudiedLayer &layer : study.layers)
    losses += lossOf(layer);
  const bool areKept =
      losses <= (kLeastGain - 1) * study.int8.latencyMs.value_or(0);
  for (size_t i = 0; i < study.layers.size(); ++i) {
    StudiedLayer &layer = study.layers[i];
    if (!layer.isInt8)
      continue;
    if (areKept || lossOf(layer) == 0) {
      order.push_back(i);
      continue;
    }
    hasSlowLayers = true;
    layer.reason = "int8 is not faster: " + digits("%.4f", *layer.int8Ms) +
                   " ms, fp32 " + digits("%.4f", *layer.fp32Ms) + " ms";
  }
}

/// Measures the error of each layer alone, unless a report has already needed
/// it. Then sorts layers by error per time that int8 saves.
llvm::Error StudyRun::orderLayers(const Progress &progress) {
  for (size_t i = 0; i < order.size(); ++i) {
    std::optional<double> &alone = study.layers[order[i]].alone;
    if (alone)
      continue;
    progress.step("layer " + std::to_string(i + 1) + " of " +
                      std::to_string(order.size()),
                  double(i) / double(order.size()));
    llvm::Expected<double> error = measureAlone(probe, order[i], progress);
    if (!error)
      return error.takeError();
    alone = *error;
  }
  auto costOfTime = [&](size_t unit) {
    const StudiedLayer &layer = study.layers[unit];
    const double gain =
        layer.fp32Ms && layer.int8Ms ? *layer.fp32Ms - *layer.int8Ms : 0;
    return layer.alone.value_or(0) / std::max(gain, 1e-6);
  };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return costOfTime(a) > costOfTime(b);
  });
  return llvm::Error::success();
}

/// Returns a run of the probe with all layers in int8 but the first `numWide`.
Evaluation::Run StudyRun::probeRun(size_t numWide, const Progress &progress) {
  std::vector<bool> isOn(study.layers.size());
  for (size_t i = numWide; i < order.size(); ++i)
    isOn[order[i]] = true;
  progress.step("evaluating with " + std::to_string(order.size() - numWide) +
                " of " + std::to_string(study.layers.size()) +
                " layers in int8");
  ++study.search->evaluations;
  return [this, isOn](const std::vector<Array> &inputs,
                      std::vector<Array> &outputs) {
    return probe.runOnce(isOn, inputs, outputs);
  };
}

Evaluation::Run ingot::study::runsOf(const ScratchModel &model) {
  return [&](const std::vector<Array> &inputs, std::vector<Array> &outputs) {
    return model.runOnce(inputs, outputs);
  };
}

double StudyRun::leastPercent() const {
  return study.search->fp32Percent - study.search->maxDrop - kRounding;
}

bool StudyRun::isRight(double percent) const {
  return percent >= leastPercent();
}

/// Returns a progress that reports no steps, for work of unknown length.
static Progress withoutSteps(Progress progress) {
  progress.onStep = nullptr;
  return progress;
}

llvm::Expected<bool> StudyRun::reachesBudget(size_t numWide,
                                             const Progress &progress) {
  return evaluation->reaches(probeRun(numWide, progress), leastPercent(),
                             withoutSteps(progress));
}

/// Finds how many layers must be wide. At least one must be, because the
/// artifact without wide layers was not accurate enough. Apart from noise, the
/// drop decreases with each widened layer. So the search doubles the number
/// first, and then bisects. Returns nothing if not even one layer can be in
/// int8.
llvm::Expected<std::optional<size_t>>
StudyRun::findFewestWide(const Progress &progress) {
  size_t tooFew = 0, numWide = 1;
  bool isFound = false;
  while (numWide < order.size()) {
    llvm::Expected<bool> isEnough = reachesBudget(numWide, progress);
    if (!isEnough)
      return isEnough.takeError();
    if ((isFound = *isEnough))
      break;
    tooFew = numWide;
    if (numWide + 1 == order.size())
      break;
    numWide = std::min(order.size() - 1, 2 * numWide);
  }
  if (!isFound) {
    if (order.size() == 1)
      return std::nullopt;
    llvm::Expected<Score> rated = evaluation->rate(
        probeRun(order.size() - 1, progress), withoutSteps(progress));
    if (!rated)
      return rated.takeError();
    missed.push_back({"only " + nameOf(study.layers[order.back()]) + " in int8",
                      rated->percent});
    return std::nullopt;
  }
  while (numWide - tooFew > 1) {
    const size_t between = tooFew + (numWide - tooFew) / 2;
    llvm::Expected<bool> isEnough = reachesBudget(between, progress);
    if (!isEnough)
      return isEnough.takeError();
    (*isEnough ? numWide : tooFew) = between;
  }
  return std::optional(numWide);
}

void StudyRun::apply(size_t numWide) {
  for (StudiedLayer &layer : study.layers)
    layer.isInt8 = false;
  for (size_t i = 0; i < order.size(); ++i) {
    StudiedLayer &layer = study.layers[order[i]];
    layer.isInt8 = i >= numWide;
    layer.reason = layer.isInt8 ? "int8 is faster"
                                : "widened for its error, as number " +
                                      std::to_string(i + 1) + " of " +
                                      std::to_string(numWide);
  }
}

/// Compiles the choice, or uses the artifact with all layers in int8 if they
/// are equal.
llvm::Error StudyRun::compileChoice(size_t numWide, const Progress &progress) {
  apply(numWide);
  tried = &int8;
  if (isInt8Artifact(numWide))
    return llvm::Error::success();
  ScratchModel::Options scratch = scratchOptions();
  scratch.pipeline.calibration = calibrationPath;
  scratch.pipeline.keep = keepRules();
  tried = &mixed.emplace();
  return tried->prepare(scratch, progress);
}

/// Compiles the choice. Returns its score.
llvm::Expected<Score> StudyRun::rateChoice(size_t numWide,
                                           const Progress &progress) {
  Stages stages(progress, {isInt8Artifact(numWide) ? 0.0 : 1.0, 1.0});
  if (llvm::Error error = compileChoice(numWide, stages.next()))
    return std::move(error);
  ++study.search->evaluations;
  return evaluation->rate(runsOf(*tried),
                          withPhase(stages.next(), "evaluating the artifact"));
}

/// Widens layers until the artifact meets the budget. Returns its score, or
/// nothing if no number of layers meets the budget.
llvm::Expected<std::optional<Score>> StudyRun::widen(const Progress &progress) {
  Stages stages(progress, {2, 1, 1});
  if (llvm::Error error = orderLayers(stages.next()))
    return std::move(error);
  llvm::Expected<std::optional<size_t>> fewest = findFewestWide(stages.next());
  if (!fewest)
    return fewest.takeError();
  if (!*fewest)
    return std::nullopt;
  size_t numWide = **fewest;
  const Progress checking = stages.next();
  for (int check = 0;; ++check) {
    llvm::Expected<Score> score =
        rateChoice(numWide, partOf(checking, check / (kMostChecks + 1.0),
                                   (check + 1) / (kMostChecks + 1.0)));
    if (!score)
      return score.takeError();
    if (isRight(score->percent))
      return std::optional(*score);
    missed.push_back(
        {std::to_string(order.size() - numWide) + " layers in int8",
         score->percent});
    if (numWide + 1 >= order.size() || check == kMostChecks)
      return std::nullopt;
    numWide = std::min(order.size() - 1, numWide + 1 + numWide / 4);
  }
}

/// Finds the precisions of single layers. Adds the artifact to the trials if it
/// meets the budget.
llvm::Error StudyRun::chooseLayers(const Progress &progress) {
  StudiedSearch &search = *study.search;
  Stages stages(progress, {1, 1, 4});
  const Progress probing = stages.next(), compiling = stages.next();
  std::optional<Score> score;
  // The probe is compiled already, so it tells whether an artifact without
  // slow layers is worth its compilation.
  if (!isInt8Artifact(0))
    if (llvm::Error error =
            evaluation->rate(probeRun(0, probing), probing).moveInto(score))
      return error;
  if (!score || isRight(score->percent))
    if (llvm::Error error = rateChoice(0, compiling).moveInto(score))
      return error;
  search.int8Percent = score->percent;
  const Progress widening = stages.next();
  if (!isRight(score->percent)) {
    missed.push_back({isInt8Artifact(0)
                          ? "int8"
                          : std::to_string(order.size()) + " layers in int8",
                      score->percent});
    if (llvm::Error error = widen(widening).moveInto(score))
      return error;
  }
  if (score)
    trials.push_back(
        {tried == &int8 ? "int8" : "mixed", tried, *score, study.layers, {}});
  return llvm::Error::success();
}
