//===- AutoPrecision.cpp - the fastest precisions that are right ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses the precision of each layer. At first every layer that is faster in
// int8 is in int8. If that artifact meets the accuracy budget, nothing else is
// tried. Otherwise layers are widened until the budget holds. The layers with
// the most error for the time that int8 saves come first. The other layers use
// bf16 if that is faster and accurate enough.
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/Layers.h"
#include "tools/ingot/Execute.h"
#include "tools/ingot/Text.h"
#include "tools/ingot/calibrate/PrecisionStudy.h"

#include <algorithm>
#include <limits>

using namespace ingot;
using namespace ingot::tools;

/// How often a choice is compiled and run before the search ends.
static constexpr int kMostChecks = 5;
/// The rounding error allowed when percentages are compared.
static constexpr double kRounding = 1e-9;
/// The least speedup for which a model uses bf16, which adds error. Two
/// measurements of one artifact differ by less.
static constexpr double kLeastGain = 1.03;

static std::string digits(const char *format, double value) {
  char text[40];
  snprintf(text, sizeof(text), format, value);
  return text;
}

static std::string nameOf(const StudiedLayer &layer) {
  return "'" + formatLine(layer.nodes.front(), 120) + "'";
}

/// Removes layers that are not faster in int8.
void PrecisionStudy::dropSlowLayers() {
  for (size_t i = 0; i < study.layers.size(); ++i) {
    StudiedLayer &layer = study.layers[i];
    if (!layer.isInt8)
      continue;
    if (layer.fp32Ms && layer.int8Ms && *layer.int8Ms >= *layer.fp32Ms)
      layer.reason = "int8 is not faster: " + digits("%.4f", *layer.int8Ms) +
                     " ms, fp32 " + digits("%.4f", *layer.fp32Ms) + " ms";
    else
      order.push_back(i);
  }
}

/// Measures the error of each layer alone, if no report has needed it yet. Then
/// sorts layers by their error for the time that int8 saves.
std::string PrecisionStudy::orderLayers() {
  for (size_t i = 0; i < order.size(); ++i) {
    std::optional<double> &alone = study.layers[order[i]].alone;
    if (alone)
      continue;
    progress.show("layer " + std::to_string(i + 1) + " of " +
                  std::to_string(order.size()));
    std::string problem = measureAlone(probe, order[i], alone.emplace());
    if (!problem.empty())
      return problem;
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
  return "";
}

/// Returns a run of the probe with all layers in int8 but the first `numWide`.
Evaluation::Run PrecisionStudy::probeRun(size_t numWide) {
  std::vector<bool> isOn(study.layers.size());
  for (size_t i = numWide; i < order.size(); ++i)
    isOn[order[i]] = true;
  progress.show("evaluating with " + std::to_string(order.size() - numWide) +
                " of " + std::to_string(study.layers.size()) +
                " layers in int8");
  ++study.search->evaluations;
  return [this, isOn](const std::vector<Array> &inputs,
                      std::vector<Array> &outputs) {
    return probe.runOnce(isOn, inputs, outputs);
  };
}

std::string ingot::tools::runOnce(const ScratchModel &model,
                                  const std::vector<Array> &inputs,
                                  std::vector<Array> &outputs) {
  ingot_error error = INGOT_ERROR_INIT;
  return runToFit(model.handle(), model.runs(), inputs, outputs, error)
             ? std::string(error.message)
             : "";
}

static Evaluation::Run runsOf(const ScratchModel &model) {
  return [&](const std::vector<Array> &inputs, std::vector<Array> &outputs) {
    return runOnce(model, inputs, outputs);
  };
}

double PrecisionStudy::leastPercent() const {
  return study.search->fp32Percent - study.search->maxDrop - kRounding;
}

bool PrecisionStudy::isRight(double percent) const {
  return percent >= leastPercent();
}

/// Returns a message that no layer can be in int8.
std::string PrecisionStudy::describeBudget(double percent) const {
  const StudiedSearch &search = *study.search;
  return "--max-drop=" + digits("%g", search.maxDrop) + "%: with only " +
         nameOf(study.layers[order.back()]) + " in int8 " +
         digits("%.2f", percent) + " % are right, and " +
         digits("%.2f", search.fp32Percent) +
         " % in fp32: nothing can be in int8 within this budget";
}

/// Finds how many layers must be wide. At least one must, since the artifact
/// with none was not accurate enough. Apart from noise, the drop falls with
/// each layer that is widened. The search doubles the number first, then
/// bisects.
std::string PrecisionStudy::findFewestWide(size_t &numWide) {
  size_t tooFew = 0;
  bool isEnough = false;
  std::string problem;
  auto tryWide = [&](size_t count) {
    problem = evaluation->reaches(probeRun(count), leastPercent(), isEnough);
    return problem.empty();
  };
  for (numWide = 1; numWide < order.size() && tryWide(numWide) && !isEnough;
       numWide = std::min(order.size() - 1, 2 * numWide)) {
    tooFew = numWide;
    if (numWide + 1 == order.size())
      break;
  }
  if (problem.empty() && !isEnough) {
    double percent = study.search->int8Percent;
    if (order.size() > 1)
      problem = evaluation->rate(probeRun(order.size() - 1), percent);
    return problem.empty() ? describeBudget(percent) : problem;
  }
  while (problem.empty() && numWide - tooFew > 1) {
    const size_t between = tooFew + (numWide - tooFew) / 2;
    if (tryWide(between))
      (isEnough ? numWide : tooFew) = between;
  }
  return problem;
}

void PrecisionStudy::apply(size_t numWide) {
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

/// Compiles the choice, unless it is the artifact with all layers in int8.
/// Measures how many percent of its rows are right.
int PrecisionStudy::compileChoice(size_t numWide, double &percent) {
  const auto isInt8 = [](const StudiedLayer &layer) { return layer.isInt8; };
  const bool isAll =
      numWide == 0 &&
      order.size() == size_t(llvm::count_if(study.layers, isInt8));
  apply(numWide);
  tried = &int8;
  if (!isAll) {
    ScratchModel::Options scratch = scratchOptions();
    scratch.pipeline.calibration = calibrationPath;
    scratch.pipeline.keep = keepRules();
    tried = &mixed.emplace(parser, progress);
    if (int code = tried->prepare(scratch))
      return code;
  }
  progress.show("evaluating the artifact");
  ++study.search->evaluations;
  std::string problem = evaluation->rate(runsOf(*tried), percent);
  return problem.empty() ? exitSuccess : progress.fail(problem);
}

/// Widens layers until the artifact meets the budget.
int PrecisionStudy::widen() {
  StudiedSearch &search = *study.search;
  std::string problem = orderLayers();
  size_t numWide = 0;
  if (problem.empty())
    problem = findFewestWide(numWide);
  if (!problem.empty())
    return progress.fail(problem);
  for (int check = 0;; ++check) {
    if (int code = compileChoice(numWide, search.chosenPercent))
      return code;
    if (isRight(search.chosenPercent))
      return exitSuccess;
    if (numWide + 1 >= order.size() || check == kMostChecks)
      return progress.fail("--max-drop=" + digits("%g", search.maxDrop) +
                           "%: " + digits("%.2f", search.chosenPercent) +
                           " % are right, and " +
                           digits("%.2f", search.fp32Percent) +
                           " % in fp32, with as few layers in int8 as were "
                           "tried: give --precision=fp32 or a larger budget");
    numWide = std::min(order.size() - 1, numWide + 1 + numWide / 4);
  }
}

/// Chooses layers by measuring whole artifacts: their accuracy, and their speed
/// compared with fp32.
int PrecisionStudy::chooseLayers() {
  StudiedSearch &search = *study.search;
  if (int code = compileChoice(0, search.int8Percent))
    return code;
  search.chosenPercent = search.int8Percent;
  if (!isRight(search.int8Percent))
    if (int code = widen())
      return code;
  // The artifact with all layers in int8 has been measured already.
  if (tried == &int8)
    return exitSuccess;
  TimedModel wide(fp32), narrow(*tried);
  std::string problem = measureInTurns({&wide, &narrow}, firstSample, 0,
                                       progress, *study.machine);
  if (!problem.empty())
    return progress.fail(problem);
  study.chosen = {tried->fileBytes(), narrow.latencyMs};
  study.fp32.latencyMs = wide.latencyMs;
  return exitSuccess;
}

/// Runs fp32 on the samples of the evaluation, before samples are picked.
std::string PrecisionStudy::runReference() {
  StudiedSearch &search = study.search.emplace();
  search.maxDrop = *options.maxDrop;
  search.hasLabels = evaluation->hasLabels();
  evaluation->setInputs(fp32.inputs());
  progress.show("evaluating fp32");
  std::string problem = evaluation->runReference(runsOf(fp32));
  search.rows = evaluation->numRows();
  search.fp32Percent = evaluation->referencePercent();
  // Without a calibration run all samples count alike.
  if (survey.count() == 0)
    for (uint64_t i = 0; i < evaluation->numSamples(); ++i)
      survey.endSample();
  return problem;
}

int PrecisionStudy::choose() {
  dropSlowLayers();
  if (int code = chooseInt8())
    return code;
  return chooseBF16();
}

int PrecisionStudy::chooseInt8() {
  if (!order.empty())
    if (int code = chooseLayers())
      return code;
  const bool isSlower =
      !order.empty() && *study.chosen.latencyMs >= *study.fp32.latencyMs;
  if (!order.empty() && !isSlower)
    return exitSuccess;
  progress.warn(isSlower ? "the model is not faster in int8 on this machine: "
                           "all of it stays in fp32"
                         : "no layer is faster in int8 on this machine: all "
                           "of them stay in fp32");
  apply(order.size());
  for (size_t unit : order)
    study.layers[unit].reason = "the model as a whole is not faster";
  study.search->chosenPercent = study.search->fp32Percent;
  study.chosen = study.fp32;
  return exitSuccess;
}

int PrecisionStudy::chooseBF16() {
  StudiedSearch &search = *study.search;
  if (!study.chosen.latencyMs || !study.fp32.latencyMs)
    return exitSuccess;
  half.emplace(parser, progress);
  ScratchModel::Options scratch = scratchOptions();
  choosePrecisions(scratch.pipeline);
  if (int code = half->prepare(scratch))
    return code;
  const std::vector<Layer> layers = layersOf(half->handle());
  auto isHalf = [](const Layer &layer) {
    return layer.precision == stringifyPrecision(Precision::bf16);
  };
  if (llvm::none_of(layers, isHalf)) {
    half.reset();
    return exitSuccess;
  }
  progress.show("evaluating with bf16");
  double percent = 0;
  std::string problem = evaluation->rate(runsOf(*half), percent);
  search.bf16Percent = percent;
  TimedModel wide(fp32), narrow(*half);
  if (problem.empty() && isRight(percent)) {
    problem = measureInTurns({&wide, &narrow}, firstSample, 0, progress,
                             *study.machine);
    search.bf16Speedup = wide.latencyMs / narrow.latencyMs;
  }
  if (!problem.empty())
    return progress.fail(problem);
  const double speedup = *study.fp32.latencyMs / *study.chosen.latencyMs;
  if (search.bf16Speedup.value_or(0) < kLeastGain * speedup) {
    half.reset();
    return exitSuccess;
  }
  search.chosenPercent = percent;
  study.chosen = {half->fileBytes(), narrow.latencyMs};
  study.fp32.latencyMs = wide.latencyMs;
  for (StudiedLayer &layer : study.layers) {
    layer.isBF16 =
        !layer.isInt8 && llvm::any_of(layers, [&](const Layer &one) {
          return isHalf(one) && shareNodes(one.nodes, layer.nodes);
        });
    if (layer.isBF16)
      layer.reason += "; the model is faster with bf16 for the rest";
  }
  return exitSuccess;
}
