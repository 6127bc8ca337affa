//===- AutoPrecision.cpp - the fastest precisions that are right ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses the precision of each layer. At first every layer that int8 makes
// faster is in int8. If this artifact meets the accuracy budget, it is the
// result. Otherwise layers are widened until the budget is met. Layers with
// much error for little saved time come first. Widened layers use bf16 if it is
// faster and accurate enough.
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
/// The least speedup for which a precision is changed: the noise between two
/// measurements of one artifact is smaller.
static constexpr double kLeastGain = 1.03;

static std::string digits(const char *format, double value) {
  char text[40];
  snprintf(text, sizeof(text), format, value);
  return text;
}

std::string study::describeScore(const StudiedSearch &search, double percent) {
  return digits("%.2f", percent) +
         (llvm::StringRef(search.metric).starts_with("argmax")
              ? " % right"
              : " % by " + search.metric);
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
    if (lossOf(layer) > 0 && !areKept)
      layer.reason = "int8 is not faster: " + digits("%.4f", *layer.int8Ms) +
                     " ms, fp32 " + digits("%.4f", *layer.fp32Ms) + " ms";
    else
      order.push_back(i);
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

static Evaluation::Run runsOf(const ScratchModel &model) {
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

/// Returns a message that no layer can be in int8 within the budget.
std::string StudyRun::describeBudget(double percent) const {
  const StudiedSearch &search = *study.search;
  return "--max-drop=" + digits("%g", search.maxDrop) + "%: with only " +
         nameOf(study.layers[order.back()]) + " in int8, " +
         describeScore(search, percent) + "; fp32 " +
         digits("%.2f", search.fp32Percent) +
         " %: nothing can be in int8 within this budget";
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
/// first, and then bisects.
llvm::Expected<size_t> StudyRun::findFewestWide(const Progress &progress) {
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
    double percent = study.search->int8Percent;
    if (order.size() > 1) {
      llvm::Expected<double> rated = evaluation->rate(
          probeRun(order.size() - 1, progress), withoutSteps(progress));
      if (!rated)
        return rated.takeError();
      percent = *rated;
    }
    return makeError(describeBudget(percent));
  }
  while (numWide - tooFew > 1) {
    const size_t between = tooFew + (numWide - tooFew) / 2;
    llvm::Expected<bool> isEnough = reachesBudget(between, progress);
    if (!isEnough)
      return isEnough.takeError();
    (*isEnough ? numWide : tooFew) = between;
  }
  return numWide;
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

/// Returns true if each layer of the int8 artifact may stay in int8.
bool StudyRun::hasNoWideLayer() const {
  const auto isInt8 = [](const StudiedLayer &layer) { return layer.isInt8; };
  return order.size() == size_t(llvm::count_if(study.layers, isInt8));
}

/// Compiles the choice, or uses the artifact with all layers in int8 if they
/// are equal. Returns the score in percent.
llvm::Expected<double> StudyRun::compileChoice(size_t numWide,
                                               const Progress &progress) {
  const bool isAll = numWide == 0 && hasNoWideLayer();
  Stages stages(progress, {isAll ? 0.0 : 1.0, 1.0});
  const Progress compiling = stages.next();
  apply(numWide);
  tried = &int8;
  if (!isAll) {
    ScratchModel::Options scratch = scratchOptions();
    scratch.pipeline.calibration = calibrationPath;
    scratch.pipeline.keep = keepRules();
    tried = &mixed.emplace();
    if (llvm::Error error = tried->prepare(scratch, compiling))
      return std::move(error);
  }
  ++study.search->evaluations;
  return evaluation->rate(runsOf(*tried),
                          withPhase(stages.next(), "evaluating the artifact"));
}

/// Widens layers until the artifact meets the budget.
llvm::Error StudyRun::widen(const Progress &progress) {
  StudiedSearch &search = *study.search;
  Stages stages(progress, {2, 1, 1});
  if (llvm::Error error = orderLayers(stages.next()))
    return error;
  llvm::Expected<size_t> fewest = findFewestWide(stages.next());
  if (!fewest)
    return fewest.takeError();
  size_t numWide = *fewest;
  const Progress checking = stages.next();
  for (int check = 0;; ++check) {
    llvm::Expected<double> percent =
        compileChoice(numWide, partOf(checking, check / (kMostChecks + 1.0),
                                      (check + 1) / (kMostChecks + 1.0)));
    if (!percent)
      return percent.takeError();
    search.chosenPercent = *percent;
    if (isRight(search.chosenPercent))
      return llvm::Error::success();
    if (numWide + 1 >= order.size() || check == kMostChecks)
      return makeError("--max-drop=" + digits("%g", search.maxDrop) +
                       "%: " + describeScore(search, search.chosenPercent) +
                       ", fp32 " + digits("%.2f", search.fp32Percent) +
                       " %, with as few layers in int8 as were tried: give "
                       "--precision=fp32 or a larger budget");
    numWide = std::min(order.size() - 1, numWide + 1 + numWide / 4);
  }
}

/// Chooses layers by measuring whole artifacts: their accuracy, and their
/// speedup over fp32.
llvm::Error StudyRun::chooseLayers(const Progress &progress) {
  StudiedSearch &search = *study.search;
  Stages stages(progress, {1, 1, 4, 1});
  const Progress probing = stages.next(), compiling = stages.next();
  std::optional<double> percent;
  // The probe is compiled already, so it tells whether an artifact without
  // slow layers is worth its compilation.
  if (!hasNoWideLayer())
    if (llvm::Error error =
            evaluation->rate(probeRun(0, probing), probing).moveInto(percent))
      return error;
  if (isRight(percent.value_or(100)))
    if (llvm::Error error = compileChoice(0, compiling).moveInto(percent))
      return error;
  search.chosenPercent = search.int8Percent = *percent;
  const Progress widening = stages.next();
  if (!isRight(search.int8Percent))
    if (llvm::Error error = widen(widening))
      return error;
  // The artifact with all layers in int8 has been measured already.
  if (tried == &int8)
    return llvm::Error::success();
  TimedModel wide(fp32), narrow(*tried);
  llvm::Expected<TimedMachine> machine = measureInTurns(
      {&wide, &narrow}, firstSample, 0, TimedParts::whole, stages.next());
  if (!machine)
    return machine.takeError();
  study.machine = std::move(*machine);
  study.chosen = {tried->fileBytes(), narrow.latencyMs};
  study.fp32.latencyMs = wide.latencyMs;
  return llvm::Error::success();
}

/// Runs fp32 on the samples of the evaluation. Must come before samples are
/// picked.
llvm::Error StudyRun::runReference(const Progress &progress) {
  StudiedSearch &search = study.search.emplace();
  search.maxDrop = *options.maxDrop;
  search.hasLabels = evaluation->hasLabels();
  evaluation->setInputs(fp32.inputs());
  if (llvm::Error error = evaluation->runReference(
          runsOf(fp32), withPhase(progress, "evaluating fp32")))
    return error;
  search.metric = evaluation->metricName();
  search.rows = evaluation->numRows();
  search.fp32Percent = evaluation->referencePercent();
  // Without a calibration run, all samples have equal weight.
  if (survey.count() == 0)
    for (uint64_t i = 0; i < evaluation->numSamples(); ++i)
      survey.endSample();
  return llvm::Error::success();
}

llvm::Error StudyRun::choose(const Progress &progress) {
  dropSlowLayers();
  Stages stages(progress, {2, 1});
  if (llvm::Error error = chooseInt8(stages.next()))
    return error;
  return chooseBF16(stages.next());
}

llvm::Error StudyRun::chooseInt8(const Progress &progress) {
  if (!order.empty())
    if (llvm::Error error = chooseLayers(progress))
      return error;
  const bool isSlower =
      !order.empty() && *study.chosen.latencyMs >= *study.fp32.latencyMs;
  if (!order.empty() && !isSlower)
    return llvm::Error::success();
  warn(progress, isSlower ? "the model is not faster in int8 on this machine: "
                            "all of it stays in fp32"
                          : "no layer is faster in int8 on this machine: all "
                            "of them stay in fp32");
  apply(order.size());
  for (size_t unit : order)
    study.layers[unit].reason = "the model as a whole is not faster";
  study.search->chosenPercent = study.search->fp32Percent;
  study.chosen = study.fp32;
  return llvm::Error::success();
}

static bool isHalf(const tools::Layer &layer) {
  return layer.precision == stringifyPrecision(Precision::bf16);
}

llvm::Error StudyRun::chooseBF16(const Progress &progress) {
  StudiedSearch &search = *study.search;
  if (!study.chosen.latencyMs || !study.fp32.latencyMs)
    return llvm::Error::success();
  Stages stages(progress, {1, 1, 1});
  half.emplace();
  ScratchModel::Options scratch = scratchOptions();
  findChoice().applyTo(scratch.pipeline);
  if (llvm::Error error = half->prepare(scratch, stages.next()))
    return error;
  const std::vector<tools::Layer> layers = tools::layersOf(half->handle());
  if (llvm::none_of(layers, isHalf)) {
    half.reset();
    return llvm::Error::success();
  }
  llvm::Expected<double> percent = evaluation->rate(
      runsOf(*half), withPhase(stages.next(), "evaluating with bf16"));
  if (!percent)
    return percent.takeError();
  search.bf16Percent = *percent;
  TimedModel wide(fp32), narrow(*half);
  if (isRight(*percent)) {
    llvm::Expected<TimedMachine> machine = measureInTurns(
        {&wide, &narrow}, firstSample, 0, TimedParts::whole, stages.next());
    if (!machine)
      return machine.takeError();
    study.machine = std::move(*machine);
    search.bf16Speedup = wide.latencyMs / narrow.latencyMs;
  }
  const double speedup = *study.fp32.latencyMs / *study.chosen.latencyMs;
  if (search.bf16Speedup.value_or(0) < kLeastGain * speedup) {
    half.reset();
    return llvm::Error::success();
  }
  search.chosenPercent = *percent;
  study.chosen = {half->fileBytes(), narrow.latencyMs};
  study.fp32.latencyMs = wide.latencyMs;
  for (StudiedLayer &layer : study.layers) {
    layer.isBF16 =
        !layer.isInt8 && llvm::any_of(layers, [&](const tools::Layer &one) {
          return isHalf(one) && shareNodes(one.nodes, layer.nodes);
        });
    if (layer.isBF16)
      layer.reason += "; the model is faster with bf16 for the rest";
  }
  return llvm::Error::success();
}
