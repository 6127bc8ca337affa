//===- TryCandidates.cpp - the fastest model within the budget ------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares models that meet the accuracy budget in turns, and takes the fastest
// one. The models are fp32, int8, int8-dynamic, and what AutoPrecision.cpp
// makes of int8 for single layers. Layers in fp32 use bf16 if it is faster and
// accurate enough.
//
//===----------------------------------------------------------------------===//
#include "client/Execute.h"
#include "client/Layers.h"
#include "compiler/study/precision/StudyRun.h"
#include "compiler/study/precision/Turns.h"
#include "compiler/study/runs/Stages.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace ingot;
using namespace ingot::study;

static std::string digits(const char *format, double value) {
  char text[40];
  snprintf(text, sizeof(text), format, value);
  return text;
}

std::string study::shortScore(const StudiedSearch &search, double percent) {
  return search.isCommand ? digits("%.6g", percent)
                          : digits("%.2f", percent) + " %";
}

std::string study::describeScore(const StudiedSearch &search, double percent) {
  return shortScore(search, percent) +
         (search.isCommand ? " by the command"
          : llvm::StringRef(search.metric).starts_with("argmax")
              ? " right"
              : " by " + search.metric);
}

/// Runs fp32 on the samples of the evaluation. Must come before samples are
/// picked.
llvm::Error StudyRun::runReference(const Progress &progress) {
  StudiedSearch &search = study.search.emplace();
  search.maxDrop = *options.maxDrop;
  const Judge &judge = evaluation->judge();
  if (llvm::Error error = evaluation->setModel(
          fp32.inputs(), tools::outputNames(fp32.handle())))
    return error;
  search.hasLabels = judge.hasLabels();
  search.isCommand = judge.isCommand();
  if (llvm::Error error = evaluation->runReference(
          runsOf(fp32), withPhase(progress, "evaluating fp32")))
    return error;
  search.metric = judge.metricName();
  search.output = judge.outputName();
  search.rows = judge.numRows();
  search.fp32Percent = judge.reference().percent;
  // Without a calibration run, all samples have equal weight.
  if (survey.count() == 0)
    for (uint64_t i = 0; i < judge.numSamples(); ++i)
      survey.endSample();
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Models with one precision
//===----------------------------------------------------------------------===//

static bool hasPrecision(const tools::Layer &layer, Precision precision) {
  return layer.precision == stringifyPrecision(precision);
}

/// Returns true if a model computes a studied layer in this precision.
static bool computes(const std::vector<tools::Layer> &layers,
                     const StudiedLayer &layer, Precision precision) {
  return llvm::any_of(layers, [&](const tools::Layer &one) {
    return hasPrecision(one, precision) && shareNodes(one.nodes, layer.nodes);
  });
}

/// Adds the models with int8 and int8-dynamic for all layers. `uniform` are the
/// layers of the int8 artifact.
llvm::Error StudyRun::tryUniform(const std::vector<StudiedLayer> &uniform,
                                 const Progress &progress) {
  Stages stages(progress, {1, 2});
  const Progress evaluating = stages.next();
  const auto isInt8 = [](const auto &one) { return one.name == "int8"; };
  // The search may have tried the same artifact.
  const bool isNew =
      llvm::none_of(trials, isInt8) && llvm::none_of(missed, isInt8);
  if (isNew && llvm::any_of(uniform, [](const StudiedLayer &layer) {
        return layer.isInt8;
      })) {
    llvm::Expected<Score> score = evaluation->rate(
        runsOf(int8), withPhase(evaluating, "evaluating int8"));
    if (!score)
      return score.takeError();
    if (isRight(score->percent)) {
      trials.push_back({"int8", &int8, *score, uniform, {}});
      for (StudiedLayer &layer : trials.back().layers)
        if (layer.isInt8)
          layer.reason = "int8 is the fastest for the model";
    } else {
      missed.push_back({"int8", score->percent});
    }
    if (study.search->evaluations++ == 0)
      study.search->int8Percent = score->percent;
  }
  return tryDynamic(stages.next());
}

llvm::Error StudyRun::tryDynamic(const Progress &progress) {
  Stages stages(progress, {1, 1});
  ScratchModel::Options scratch = scratchOptions();
  scratch.pipeline.quantization = Quantization::int8Dynamic;
  scratch.pipeline.keep = options.keep;
  if (llvm::Error error = dynamic.emplace().prepare(scratch, stages.next()))
    return error;
  const std::vector<tools::Layer> layers = tools::layersOf(dynamic->handle());
  if (llvm::none_of(layers, [](const tools::Layer &layer) {
        return hasPrecision(layer, Precision::int8);
      }))
    return llvm::Error::success();
  llvm::Expected<Score> score = evaluation->rate(
      runsOf(*dynamic), withPhase(stages.next(), "evaluating int8-dynamic"));
  if (!score)
    return score.takeError();
  ++study.search->evaluations;
  if (!isRight(score->percent)) {
    missed.push_back({"int8-dynamic", score->percent});
    return llvm::Error::success();
  }
  Trial trial{"int8-dynamic", &*dynamic, *score, study.layers, {}};
  for (StudiedLayer &layer : trial.layers) {
    layer.isInt8 = computes(layers, layer, Precision::int8);
    layer.reason = layer.isInt8 ? "int8-dynamic is the fastest for the model"
                                : "int8-dynamic does not take it";
  }
  trials.push_back(std::move(trial));
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// Returns a message that nothing can be in int8 within the budget.
std::string StudyRun::describeBudget() const {
  const StudiedSearch &search = *study.search;
  const Missed *nearest = &missed.front();
  for (const Missed &one : missed)
    if (one.percent > nearest->percent)
      nearest = &one;
  const double drop = search.fp32Percent - nearest->percent;
  // A budget that is rounded up is met.
  const double enough = std::ceil(100 * drop) / 100;
  return "--max-drop=" + digits("%g", search.maxDrop) +
         "%: no model in int8 meets this budget: the nearest, with " +
         nearest->name + ", has " + describeScore(search, nearest->percent) +
         ", " + digits("%.4g", drop - search.maxDrop) +
         " points too few; fp32 " + shortScore(search, search.fp32Percent) +
         ": give --max-drop=" + digits("%g", enough) + "% or --precision=fp32";
}

/// Returns true if a model that misses the budget is faster than fp32. If none
/// is, fp32 is the best model for any budget. Times of single layers do not
/// tell, because those of small layers are mostly noise.
llvm::Expected<bool> StudyRun::hasFasterMiss(const Progress &progress) {
  Stages stages(progress, {1, 1});
  if (llvm::Error error = compileChoice(0, stages.next()))
    return std::move(error);
  std::vector<const ScratchModel *> models = {&fp32, &int8};
  if (tried != &int8)
    models.push_back(tried);
  if (llvm::any_of(
          missed, [](const Missed &one) { return one.name == "int8-dynamic"; }))
    models.push_back(&*dynamic);
  llvm::Expected<std::vector<double>> times =
      timeInTurns(models, firstSample, stages.next());
  if (!times)
    return times.takeError();
  return kLeastGain * *llvm::min_element(llvm::drop_begin(*times)) <
         times->front();
}

Candidate StudyRun::candidateOf(const Trial &trial) const {
  return {trial.name, trial.score.percent, true, trial.milliseconds};
}

/// Measures all trials in turns, and takes the best one. Times that are
/// compared must come from one measurement, because machines change their
/// speed.
llvm::Error StudyRun::takeBest(const Progress &progress) {
  std::vector<const ScratchModel *> models;
  for (const Trial &trial : trials)
    models.push_back(trial.model);
  llvm::Expected<std::vector<double>> times =
      timeInTurns(models, firstSample, progress);
  if (!times)
    return times.takeError();
  std::vector<Candidate> candidates;
  for (auto [trial, milliseconds] : llvm::zip_equal(trials, *times)) {
    trial.milliseconds = milliseconds;
    if (trial.model == &int8)
      study.int8.latencyMs = milliseconds;
    candidates.push_back(candidateOf(trial));
  }
  take(chooseCandidate(candidates));
  return llvm::Error::success();
}

/// Sets the precisions of all layers to those of a trial.
void StudyRun::take(size_t trial) {
  taken = trial;
  const Trial &best = trials[trial];
  for (auto [layer, chosen] : llvm::zip_equal(study.layers, best.layers)) {
    layer.isInt8 = chosen.isInt8;
    layer.isBF16 = chosen.isBF16;
    layer.reason = chosen.reason;
  }
  study.chosen = {best.model->fileBytes(), best.milliseconds};
  study.fp32.latencyMs = trials.front().milliseconds;
  StudiedSearch &search = *study.search;
  search.chosen = best.name;
  search.chosenPercent = best.score.percent;
  search.details = best.score.details;
}

llvm::Error StudyRun::choose(const Progress &progress) {
  Stages stages(progress, {4, 2, 1, 1, 2});
  const std::vector<StudiedLayer> uniform = study.layers;
  dropSlowLayers();
  const Progress searching = stages.next();
  if (!order.empty())
    if (llvm::Error error = chooseLayers(searching))
      return error;
  if (llvm::Error error = tryUniform(uniform, stages.next()))
    return error;
  const Progress comparing = stages.next();
  if (trials.empty() && !order.empty()) {
    llvm::Expected<bool> areFaster = hasFasterMiss(comparing);
    if (!areFaster)
      return areFaster.takeError();
    if (*areFaster)
      return makeError(describeBudget());
  }
  apply(order.size());
  for (size_t unit : order)
    study.layers[unit].reason = "the model as a whole is not faster";
  trials.insert(
      trials.begin(),
      {"fp32", &fp32, evaluation->judge().reference(), study.layers, {}});
  if (llvm::Error error = takeBest(stages.next()))
    return error;
  if (!isTaken(dynamic))
    if (llvm::Error error = tryBF16(stages.next()))
      return error;
  if (taken == 0)
    warn(progress, order.empty()
                       ? "no layer is faster in int8 on this machine: "
                         "all of them stay in fp32"
                       : "the model is not faster in int8 on this "
                         "machine: all of it stays in fp32");
  for (const Trial &trial : trials)
    study.search->candidates.push_back(candidateOf(trial));
  for (const Missed &one : missed)
    study.search->candidates.push_back({one.name, one.percent, false, {}});
  return llvm::Error::success();
}

/// Tries bf16 for the layers that are not in int8.
llvm::Error StudyRun::tryBF16(const Progress &progress) {
  StudiedSearch &search = *study.search;
  Stages stages(progress, {1, 1, 1});
  ScratchModel::Options scratch = scratchOptions();
  half.emplace();
  findChoice(/*isBF16=*/true).applyTo(scratch.pipeline);
  if (llvm::Error error = half->prepare(scratch, stages.next()))
    return error;
  const std::vector<tools::Layer> layers = tools::layersOf(half->handle());
  if (llvm::none_of(layers, [](const tools::Layer &layer) {
        return hasPrecision(layer, Precision::bf16);
      }))
    return llvm::Error::success();
  llvm::Expected<Score> score = evaluation->rate(
      runsOf(*half), withPhase(stages.next(), "evaluating with bf16"));
  if (!score)
    return score.takeError();
  search.bf16Percent = score->percent;
  if (!isRight(score->percent))
    return llvm::Error::success();
  Trial trial{taken == 0 ? "bf16" : trials[taken].name + " with bf16",
              &*half,
              *score,
              study.layers,
              {}};
  for (StudiedLayer &layer : trial.layers) {
    layer.isBF16 = !layer.isInt8 && computes(layers, layer, Precision::bf16);
    if (layer.isBF16)
      layer.reason += "; the model is faster with bf16 for the rest";
  }
  trials.push_back(std::move(trial));
  if (llvm::Error error = takeBest(stages.next()))
    return error;
  search.bf16Speedup =
      *trials.front().milliseconds / *trials.back().milliseconds;
  return llvm::Error::success();
}
