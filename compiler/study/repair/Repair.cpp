//===- Repair.cpp - repairs that are measured -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/repair/Repair.h"

#include "compiler/study/runs/TextFiles.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <limits>

using namespace ingot;
using namespace ingot::study;

static constexpr std::pair<const char *, RepairKind> kRepairs[] = {
    {"round", RepairKind::round},
    {"equalize", RepairKind::equalize},
    {"smooth", RepairKind::smooth},
    {"bias", RepairKind::bias},
    {"keep", RepairKind::keep}};

std::string ingot::study::parseRepairs(const std::string &text,
                                       RepairChoice &choice) {
  choice = {text == "auto", {}};
  if (text == "auto" || text == "none")
    return "";
  llvm::SmallVector<llvm::StringRef> names;
  llvm::StringRef(text).split(names, ',');
  for (const auto &one : kRepairs)
    if (llvm::count(names, one.first) > 1)
      return "names " + std::string(one.first) + " more than once";
  // The order is fixed. Biases depend on the final weights. Layers are kept in
  // fp32 only for the error that the other repairs leave.
  for (auto [name, kind] : kRepairs)
    if (llvm::is_contained(names, name))
      choice.kinds.push_back(kind);
  const bool areKnown = llvm::all_of(names, [](llvm::StringRef name) {
    return llvm::any_of(kRepairs,
                        [&](const auto &one) { return name == one.first; });
  });
  return areKnown ? ""
                  : "must be auto, none, or of equalize, smooth, round, bias "
                    "and keep, with commas";
}

void ingot::study::setRepairs(const quantize::Calibration &calibration,
                              const std::string &path,
                              PipelineOptions &pipeline) {
  pipeline.repairs = calibration.isRepaired() ? path : "";
}

llvm::Error Repairer::prepare(Probe &probe,
                              const quantize::Calibration &calibration,
                              bool showsErrors, const Progress &progress) {
  if (llvm::Error error = writeScratch(calibration))
    return error;
  ScratchModel::Options model = options.model;
  setRepairs(calibration, path(), model.pipeline);
  model.pipeline.errors = showsErrors;
  if (llvm::Error error = probe.prepare(model, progress))
    return error;
  return probe.setRanges(calibration, path());
}

/// Measures the error of the outputs with all layers in int8.
llvm::Expected<double>
Repairer::measure(const quantize::Calibration &calibration,
                  const Progress &progress) {
  if (comparator) {
    llvm::Expected<MeasuredError> measured =
        measureInt8(*comparator, calibration, progress);
    if (!measured)
      return measured.takeError();
    return measured->error;
  }
  Stages stages(progress, {1, 1, 1});
  Probe probe;
  if (llvm::Error error =
          prepare(probe, calibration, /*showsErrors=*/false, stages.next()))
    return std::move(error);
  Samples samples;
  if (llvm::Error error = openSamples(options.data, samples))
    return std::move(error);
  samples.setInputs(probe.scratch().inputs());
  samples.choose(survey.pick(mostSamples, mostBytes));
  if (llvm::Error error = probe.readSamples(samples, stages.next(), mostBytes))
    return std::move(error);
  return probe.measure(std::vector<bool>(probe.units().size(), true),
                       stages.next());
}

llvm::Error Repairer::writeScratch(const quantize::Calibration &calibration) {
  return writeTexts({{path(), toText(calibration)}});
}

/// Calibrates again, because repaired weights change the ranges.
llvm::Error Repairer::recalibrate(quantize::Calibration &calibration,
                                  const Progress &progress) {
  if (llvm::Error error = writeScratch(calibration))
    return error;
  Calibrator::Options repaired = options;
  setRepairs(calibration, path(), repaired.model.pipeline);
  Stages stages(progress, {3, 1});
  Calibrator calibrator(repaired);
  if (llvm::Error error = calibrator.watch(stages.next()))
    return error;
  llvm::Expected<quantize::Calibration> found =
      calibrator.choose(stages.next(), /*warns=*/false);
  if (!found)
    return found.takeError();
  calibration.tensors = std::move(found->tensors);
  return llvm::Error::success();
}

static ingot_status raiseMaxima(void *user, uint64_t number,
                                const ingot_tensor_view *view) {
  auto &tensors = *static_cast<std::vector<quantize::ChannelValues> *>(user);
  if (number >= tensors.size() || view->dtype != INGOT_FLOAT || view->rank != 1)
    return INGOT_OK;
  std::vector<float> &largest = tensors[number].values;
  largest.resize(size_t(view->dims[0]));
  const auto *values = static_cast<const float *>(view->data);
  for (size_t i = 0; i < largest.size(); ++i)
    largest[i] = std::max(largest[i], values[int64_t(i) * view->strides[0]]);
  return INGOT_OK;
}

/// Finds the largest magnitude of each channel of the inputs of products.
llvm::Error Repairer::findMaxima(quantize::Calibration &calibration,
                                 const Progress &progress) {
  Stages stages(progress, {1, 1});
  ScratchModel model;
  ScratchModel::Options shown = options.model;
  if (llvm::Error error = writeScratch(calibration))
    return error;
  setRepairs(calibration, path(), shown.pipeline);
  shown.pipeline.observeChannels = true;
  if (llvm::Error error = model.prepare(shown, stages.next()))
    return error;
  for (const std::string &name : model.observed())
    calibration.channels.push_back({name, {}});
  Samples samples;
  if (llvm::Error error = openSamples(options.data, samples))
    return error;
  samples.setInputs(model.inputs());
  llvm::Error error =
      forEachSample(samples, stages.next(),
                    [&](std::vector<Array> &inputs) -> llvm::Expected<bool> {
                      std::string wrong;
                      if (model.run(inputs, raiseMaxima, &calibration.channels,
                                    wrong) != INGOT_OK)
                        return makeError(samples.where() + ": " + wrong);
                      return true;
                    });
  // Drop tensors that were never computed.
  llvm::erase_if(calibration.channels, [](const quantize::ChannelValues &one) {
    return one.values.empty();
  });
  return error;
}

llvm::Error Repairer::repair(RepairKind kind,
                             quantize::Calibration &calibration,
                             const Progress &progress) {
  if (kind == RepairKind::bias)
    return correctBiases(calibration, progress);
  if (kind == RepairKind::keep)
    return keepLayers(calibration, progress);
  if (kind == RepairKind::round)
    return roundWeights(calibration, progress);
  Stages stages(progress, {1, 2, rounds ? 1.0 : 0.0});
  const Progress finding = stages.next();
  if (kind == RepairKind::equalize)
    calibration.equalize = true;
  else if (llvm::Error error = findMaxima(calibration, finding))
    return error;
  if (llvm::Error error = recalibrate(calibration, stages.next()))
    return error;
  if (!rounds)
    return llvm::Error::success();
  // The weights have changed, so they must be rounded again. Moving ranges into
  // weights helps only if the rounded weights remain accurate.
  calibration.rounding.clear();
  return roundWeights(calibration, stages.next());
}

/// Rounds the weights. The best rounding depends on the data that the weights
/// are multiplied by.
llvm::Error Repairer::roundWeights(quantize::Calibration &calibration,
                                   const Progress &progress) {
  if (llvm::Error error = writeScratch(calibration))
    return error;
  Stages stages(progress, {1, 3});
  ScratchModel model;
  ScratchModel::Options shown = options.model;
  setRepairs(calibration, path(), shown.pipeline);
  shown.pipeline.observeGrams = true;
  if (llvm::Error error = model.prepare(shown, stages.next()))
    return error;
  return RoundingFinder(model, mostGrams)
      .find(options.data, calibration.rounding, stages.next());
}

llvm::Error Repairer::correctBiases(quantize::Calibration &calibration,
                                    const Progress &progress) {
  Stages stages(progress, {1, 1});
  Probe probe;
  if (llvm::Error error =
          prepare(probe, calibration, /*showsErrors=*/true, stages.next()))
    return error;
  Samples samples;
  if (llvm::Error error = openSamples(options.data, samples))
    return error;
  samples.setInputs(probe.scratch().inputs());
  std::vector<std::vector<double>> errors;
  if (llvm::Error error = probe.meanErrors(samples, stages.next(), errors))
    return error;
  for (size_t i = 0; i < errors.size(); ++i) {
    // Floats overflow in samples with huge numbers, and say nothing then.
    if (errors[i].empty() || !probe.canBeOn(i) ||
        !llvm::all_of(errors[i],
                      [](double error) { return std::isfinite(float(error)); }))
      continue;
    quantize::ChannelValues bias = {llvm::join(probe.units()[i].nodes, " + "),
                                    {}};
    for (double error : errors[i])
      bias.values.push_back(float(error));
    calibration.biases.push_back(std::move(bias));
  }
  return llvm::Error::success();
}

std::string ingot::study::nameOf(RepairKind kind) {
  for (auto [name, one] : kRepairs)
    if (one == kind)
      return name;
  return "";
}

llvm::Error Repairer::tryOne(RepairKind kind, State &state,
                             std::vector<RepairTrial> &trials,
                             const Progress &progress) {
  Stages stages(progress, {2, 1});
  State repaired = state;
  if (llvm::Error error = repair(kind, repaired.calibration, stages.next()))
    return error;
  llvm::Expected<double> after = measure(repaired.calibration, stages.next());
  if (!after)
    return after.takeError();
  repaired.error = *after;
  RepairTrial trial = {nameOf(kind), state.error, repaired.error};
  // NaN is not kept.
  trial.isKept = repaired.error < mostLeft * state.error;
  if (kind == RepairKind::keep) {
    trial.kept = repaired.calibration.keep;
    trial.isHurried = isHurried;
  }
  if (trial.isKept)
    state = std::move(repaired);
  trials.push_back(std::move(trial));
  return llvm::Error::success();
}

llvm::Expected<std::vector<RepairTrial>>
Repairer::run(const std::vector<RepairKind> &kinds,
              quantize::Calibration &calibration, const Progress &progress) {
  if (llvm::Error error = errorIf(scratch.create()))
    return std::move(error);
  rounds = llvm::is_contained(kinds, RepairKind::round);
  Stages stages(progress, std::vector<double>(kinds.size() + 1, 1.0));
  llvm::Expected<double> before = measure(calibration, stages.next());
  if (!before)
    return before.takeError();
  State state = {calibration, *before};
  std::vector<RepairTrial> trials;
  for (RepairKind kind : kinds)
    if (llvm::Error error = tryOne(kind, state, trials, stages.next()))
      return std::move(error);
  calibration = std::move(state.calibration);
  return trials;
}
