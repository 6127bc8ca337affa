//===- Repair.cpp - repairs that are measured -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/calibrate/Repair.h"

#include "tools/ingot/Text.h"
#include "tools/ingot/calibrate/Rounding.h"
#include "tools/ingot/calibrate/TextFiles.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <limits>

using namespace ingot;
using namespace ingot::tools;

static constexpr std::pair<const char *, RepairKind> kRepairs[] = {
    {"round", RepairKind::round},
    {"equalize", RepairKind::equalize},
    {"smooth", RepairKind::smooth},
    {"bias", RepairKind::bias}};

std::string ingot::tools::parseRepairs(const std::string &text,
                                       RepairChoice &choice) {
  choice = {text == "auto", {}};
  if (text == "auto" || text == "none")
    return "";
  llvm::SmallVector<llvm::StringRef> names;
  llvm::StringRef(text).split(names, ',');
  for (const auto &one : kRepairs)
    if (llvm::count(names, one.first) > 1)
      return "names " + std::string(one.first) + " more than once";
  // The order is fixed. Biases come last, since they depend on the final
  // weights.
  for (auto [name, kind] : kRepairs)
    if (llvm::is_contained(names, name))
      choice.kinds.push_back(kind);
  const bool areKnown = llvm::all_of(names, [](llvm::StringRef name) {
    return llvm::any_of(kRepairs,
                        [&](const auto &one) { return name == one.first; });
  });
  return areKnown ? ""
                  : "must be auto, none, or of equalize, smooth, round and "
                    "bias, with commas";
}

void ingot::tools::setRepairs(const quantize::Calibration &calibration,
                              const std::string &path,
                              PipelineOptions &pipeline) {
  pipeline.repairs = calibration.isRepaired() ? path : "";
}

int Repairer::prepare(Probe &probe, const quantize::Calibration &calibration,
                      bool showsErrors) {
  if (std::string problem = writeScratch(calibration); !problem.empty())
    return progress.fail(problem);
  ScratchModel::Options model = options.model;
  setRepairs(calibration, path(), model.pipeline);
  model.pipeline.errors = showsErrors;
  if (int code = probe.prepare(model))
    return code;
  std::string problem = probe.setRanges(calibration);
  return problem.empty() ? exitSuccess : progress.fail(problem);
}

/// Measures the error of the outputs with all layers in int8.
int Repairer::measure(const quantize::Calibration &calibration, double &error) {
  Probe probe(parser, progress);
  if (int code = prepare(probe, calibration, /*showsErrors=*/false))
    return code;
  Samples samples(options.preprocess);
  std::string problem = samples.open(options.data);
  samples.setInputs(probe.scratch().inputs());
  samples.choose(survey.pick(mostSamples, mostBytes));
  if (problem.empty())
    problem = probe.readSamples(samples, mostBytes);
  measured = probe.numSamples();
  if (problem.empty())
    problem =
        probe.measure(std::vector<bool>(probe.units().size(), true), error);
  progress.clear();
  return problem.empty() ? exitSuccess : progress.fail(problem);
}

std::string Repairer::writeScratch(const quantize::Calibration &calibration) {
  return writeTexts({{path(), toText(calibration)}});
}

/// Calibrates again, since repaired weights change ranges.
int Repairer::recalibrate(quantize::Calibration &calibration) {
  if (std::string problem = writeScratch(calibration); !problem.empty())
    return progress.fail(problem);
  Calibrator::Options repaired = options;
  setRepairs(calibration, path(), repaired.model.pipeline);
  Calibrator calibrator(repaired, parser, progress);
  if (int code = calibrator.watch())
    return code;
  quantize::Calibration found;
  if (int code = calibrator.choose(found, /*warns=*/false))
    return code;
  calibration.tensors = std::move(found.tensors);
  return exitSuccess;
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
int Repairer::findMaxima(quantize::Calibration &calibration) {
  ScratchModel model(parser, progress);
  ScratchModel::Options shown = options.model;
  if (std::string problem = writeScratch(calibration); !problem.empty())
    return progress.fail(problem);
  setRepairs(calibration, path(), shown.pipeline);
  shown.pipeline.observeChannels = true;
  if (int code = model.prepare(shown))
    return code;
  for (const std::string &name : model.observed())
    calibration.channels.push_back({name, {}});
  Samples samples(options.preprocess);
  std::string problem = samples.open(options.data);
  samples.setInputs(model.inputs());
  std::vector<Array> inputs;
  while (problem.empty() && samples.next(inputs, problem)) {
    progress.show(samples.progress());
    std::string wrong;
    if (model.run(inputs, raiseMaxima, &calibration.channels, wrong) !=
        INGOT_OK)
      problem = samples.where() + ": " + wrong;
  }
  // Drop tensors that no sample computed.
  llvm::erase_if(calibration.channels, [](const quantize::ChannelValues &one) {
    return one.values.empty();
  });
  progress.clear();
  return problem.empty() ? exitSuccess : progress.fail(problem);
}

int Repairer::repair(RepairKind kind, quantize::Calibration &calibration) {
  if (kind == RepairKind::bias)
    return correctBiases(calibration);
  if (kind == RepairKind::round)
    return roundWeights(calibration);
  if (kind == RepairKind::equalize)
    calibration.equalize = true;
  else if (int code = findMaxima(calibration))
    return code;
  if (int code = recalibrate(calibration))
    return code;
  if (!rounds)
    return exitSuccess;
  // Changed weights must be rounded again. Moving ranges into weights pays only
  // if the weights do not lose much by it.
  calibration.rounding.clear();
  return roundWeights(calibration);
}

/// Rounds the weights. The best rounding depends on the values that the weights
/// are multiplied by.
int Repairer::roundWeights(quantize::Calibration &calibration) {
  if (std::string problem = writeScratch(calibration); !problem.empty())
    return progress.fail(problem);
  ScratchModel model(parser, progress);
  ScratchModel::Options shown = options.model;
  setRepairs(calibration, path(), shown.pipeline);
  shown.pipeline.observeGrams = true;
  if (int code = model.prepare(shown))
    return code;
  std::string problem = RoundingFinder(model, progress).find(
      options.preprocess, options.data, calibration.rounding);
  return problem.empty() ? exitSuccess : progress.fail(problem);
}

int Repairer::correctBiases(quantize::Calibration &calibration) {
  Probe probe(parser, progress);
  if (int code = prepare(probe, calibration, /*showsErrors=*/true))
    return code;
  Samples samples(options.preprocess);
  std::string problem = samples.open(options.data);
  samples.setInputs(probe.scratch().inputs());
  std::vector<std::vector<double>> errors;
  if (problem.empty())
    problem = probe.meanErrors(samples, errors);
  if (!problem.empty())
    return progress.fail(problem);
  for (size_t i = 0; i < errors.size(); ++i) {
    if (errors[i].empty() || !probe.canBeOn(i))
      continue;
    quantize::ChannelValues bias = {llvm::join(probe.units()[i].nodes, " + "),
                                    {}};
    for (double error : errors[i])
      bias.values.push_back(float(error));
    calibration.biases.push_back(std::move(bias));
  }
  progress.clear();
  return exitSuccess;
}

static std::string nameOf(RepairKind kind) {
  for (auto [name, one] : kRepairs)
    if (one == kind)
      return name;
  return "";
}

int Repairer::tryOne(RepairKind kind, State &state,
                     std::vector<Trial> &trials) {
  State repaired = state;
  if (int code = repair(kind, repaired.calibration))
    return code;
  if (int code = measure(repaired.calibration, repaired.error))
    return code;
  trials.push_back({nameOf(kind), state.error, repaired.error});
  if (trials.back().isKept())
    state = std::move(repaired);
  return exitSuccess;
}

int Repairer::run(const std::vector<RepairKind> &kinds,
                  quantize::Calibration &calibration,
                  std::vector<Trial> &trials) {
  if (std::string problem = scratch.create(); !problem.empty())
    return progress.fail(problem);
  rounds = llvm::is_contained(kinds, RepairKind::round);
  State state = {calibration, 0};
  if (int code = measure(calibration, state.error))
    return code;
  for (RepairKind kind : kinds)
    if (int code = tryOne(kind, state, trials))
      return code;
  calibration = std::move(state.calibration);
  return exitSuccess;
}
