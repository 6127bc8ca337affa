//===- PrecisionStudy.cpp - what int8 costs and brings --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/precision/PrecisionStudy.h"

#include "client/Execute.h"
#include "client/Layers.h"
#include "compiler/study/precision/StudyRun.h"
#include "compiler/study/repair/Repair.h"
#include "compiler/study/runs/Stages.h"
#include "compiler/study/runs/TextFiles.h"
#include "passes/support/Rules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

#include <map>

using namespace ingot;
using namespace ingot::study;

ScratchModel::Options StudyRun::scratchOptions() const {
  ScratchModel::Options scratch;
  scratch.model = options.model;
  scratch.sizes = options.sizes;
  scratch.pipeline = options.pipeline;
  scratch.objects = options.objects;
  return scratch;
}

/// Reads the calibration file, or calibrates. If a report needs histograms,
/// collects their data.
llvm::Error StudyRun::findCalibration(const Progress &progress) {
  calibrationPath = options.calibration;
  if (!calibrationPath.empty()) {
    llvm::Expected<quantize::Calibration> read =
        quantize::readCalibration(calibrationPath);
    if (!read)
      return makeError(llvm::toString(read.takeError()));
    calibration = std::move(*read);
  }
  if (options.data.paths.empty() ||
      (!calibrationPath.empty() && !options.isReported))
    return llvm::Error::success();
  Calibrator::Options chosen;
  chosen.model = scratchOptions();
  setRepairs(calibration, calibrationPath, chosen.model.pipeline);
  chosen.data = options.data;
  // Unlike `best`, the method mse needs no further runs. It minimizes the error
  // of each tensor.
  chosen.method.method = quantize::Method::mse;
  if (calibrationPath.empty())
    chosen.rules = options.rules;
  Stages stages(progress, {9, 1});
  Calibrator calibrator(chosen);
  if (llvm::Error error = calibrator.watch(stages.next()))
    return error;
  for (size_t i = 0; i < calibrator.tensors().size(); ++i)
    study.histograms[calibrator.tensors()[i]] = calibrator.seenOf(i).histogram;
  survey = calibrator.survey();
  if (!calibrationPath.empty())
    return llvm::Error::success();
  llvm::Expected<quantize::Calibration> found =
      calibrator.choose(stages.next());
  if (!found)
    return found.takeError();
  calibration = std::move(*found);
  scratch = std::make_shared<ScratchFolder>();
  if (llvm::Error error = errorIf(scratch->create()))
    return error;
  calibrationPath = scratch->path() + "/model.calib.json";
  return writeTexts({{calibrationPath, toText(calibration)}});
}

bool ingot::study::shareNodes(const std::vector<std::string> &a,
                              const std::vector<std::string> &b) {
  return llvm::any_of(
      a, [&](const std::string &node) { return llvm::is_contained(b, node); });
}

llvm::Error StudyRun::prepareModels(const Progress &progress) {
  Stages stages(progress, {1, 1, 1});
  ScratchModel::Options scratch = scratchOptions();
  if (llvm::Error error = fp32.prepare(scratch, stages.next()))
    return error;
  scratch.pipeline.calibration = calibrationPath;
  scratch.pipeline.keep = options.keep;
  DecisionTrace decisions;
  scratch.decisions = &decisions;
  if (llvm::Error error = int8.prepare(scratch, stages.next()))
    return error;
  scratch = scratchOptions();
  // The probe rounds whatever the artifact has in int8. Layers that a rule
  // keeps in fp32 need no rule here, because a run does not round them.
  llvm::copy_if(options.keep, std::back_inserter(scratch.pipeline.keep),
                [](llvm::StringRef rule) { return rule.ends_with("=int8"); });
  setRepairs(calibration, calibrationPath, scratch.pipeline);
  if (llvm::Error error = probe.prepare(scratch, stages.next()))
    return error;
  if (llvm::Error error = probe.setRanges(calibration, calibrationPath))
    return error;
  addLayers(decisions.getDecisions());
  study.fp32.bytes = fp32.fileBytes();
  study.int8.bytes = study.chosen.bytes = int8.fileBytes();
  return llvm::Error::success();
}

/// Returns why layers of the int8 artifact compute in floats, by their nodes.
static std::map<std::vector<std::string>, std::string>
floatReasons(const std::vector<Decision> &decisions) {
  std::map<std::vector<std::string>, std::string> reasons;
  for (const auto &[nodes, layer] : precisionsOf(decisions))
    if (!layer.isNarrow)
      reasons[nodes] =
          "the " + layer.decision->operation + " " + layer.decision->reason;
  return reasons;
}

/// Lists the layers: first the units of the probe, then layers that this target
/// computes in floats. The description of the int8 artifact shows which layers
/// are in int8.
void StudyRun::addLayers(const std::vector<Decision> &decisions) {
  const auto reasons = floatReasons(decisions);
  const std::vector<tools::Layer> layers = tools::layersOf(int8.handle());
  for (size_t i = 0; i < probe.units().size(); ++i) {
    const PrecisionFlag &unit = probe.units()[i];
    StudiedLayer layer;
    layer.nodes = unit.nodes;
    layer.tensor = probe.tensorOf(i);
    for (const quantize::TensorCalibration &range : calibration.tensors)
      if (range.name == layer.tensor)
        layer.range = range;
    layer.isInt8 = llvm::any_of(layers, [&](const tools::Layer &one) {
      return one.precision == stringifyPrecision(Precision::int8) &&
             shareNodes(one.nodes, unit.nodes);
    });
    if (!layer.isInt8) {
      const auto given = llvm::find_if(reasons, [&](const auto &one) {
        return shareNodes(one.first, unit.nodes);
      });
      layer.reason = given != reasons.end() ? given->second
                     : layer.range          ? "int8 does not pay"
                                            : "its data has no range";
      probe.forbid(i);
    }
    study.layers.push_back(std::move(layer));
  }
  for (const auto &one : reasons) {
    const bool isKnown = llvm::any_of(study.layers, [&](const auto &layer) {
      return shareNodes(one.first, layer.nodes);
    });
    if (isKnown)
      continue;
    StudiedLayer layer;
    layer.nodes = one.first;
    layer.reason = one.second;
    study.layers.push_back(std::move(layer));
  }
}

/// Returns the number of samples for measuring errors. A report uses the number
/// from the options. A search uses fewer samples: it needs errors only to order
/// layers, and measuring each layer runs all samples.
unsigned StudyRun::numPicked() const {
  constexpr size_t kRuns = 64;
  if (options.isReported)
    return options.numSamples;
  const size_t measured = size_t(llvm::count_if(
      study.layers, [](const StudiedLayer &layer) { return layer.isInt8; }));
  const size_t fitting = kRuns / std::max<size_t>(measured, 1);
  return unsigned(
      std::max<size_t>(std::min<size_t>(fitting, options.numSamples), 1));
}

llvm::Error StudyRun::readSamples(const Progress &progress) {
  if (options.data.paths.empty())
    return llvm::Error::success();
  Samples samples;
  if (llvm::Error error = openSamples(options.data, samples))
    return error;
  samples.setInputs(probe.scratch().inputs());
  samples.choose(survey.pick(numPicked()));
  if (llvm::Error error = probe.readSamples(samples, progress))
    return error;
  study.samples = probe.numSamples();
  firstSample = probe.inputsOf(0);
  return llvm::Error::success();
}

/// Measures the error of each layer alone, and the error of each output if all
/// layers are in int8.
llvm::Error StudyRun::measureErrors(const Progress &progress) {
  if (options.data.paths.empty())
    return llvm::Error::success();
  llvm::Expected<Sensitivity> measured = measureSensitivity(probe, progress);
  if (!measured)
    return measured.takeError();
  for (const LayerError &layer : measured->layers)
    study.layers[layer.unit].alone = layer.alone;
  for (const Sensitivity::Kept &kept : measured->kept)
    study.keepArguments.push_back(keepArguments(*measured, kept.count));
  study.sensitivity = std::move(*measured);
  return llvm::Error::success();
}

/// Measures the error of each output with the chosen precisions.
llvm::Error StudyRun::measureOutputs(const Progress &progress) {
  std::vector<bool> isOn;
  for (const StudiedLayer &layer : study.layers)
    isOn.push_back(layer.isInt8);
  for (const std::string &name : tools::outputNames(fp32.handle()))
    study.outputs.push_back({name, {}});
  progress.step("errors of the outputs", 0);
  return probe.run(
      isOn, progress,
      [&](size_t sample, const std::vector<Array> &wanted,
          const std::vector<Array> &rounded) -> llvm::Error {
        // The probe cannot switch layers to bf16, and has no dynamic ranges. So
        // run the artifact instead.
        const ScratchModel *exact =
            isTaken(half) || isTaken(dynamic) ? trials[taken].model : nullptr;
        std::vector<Array> computed;
        if (exact)
          if (llvm::Error error =
                  exact->runOnce(probe.inputsOf(sample), computed))
            return error;
        const std::vector<Array> &found = exact ? computed : rounded;
        for (size_t i = 0; i < study.outputs.size(); ++i)
          study.outputs[i].add(wanted[i], found[i], probe.weightOf(sample));
        return llvm::Error::success();
      });
}

static bool hasOpenSizes(const ScratchModel &model) {
  for (const InputSpec &input : model.inputs())
    if (llvm::any_of(input.dims, [](int64_t dim) { return dim < 0; }))
      return true;
  return false;
}

llvm::Error StudyRun::measureTimes(const Progress &progress) {
  if (hasOpenSizes(fp32) && firstSample.empty())
    return llvm::Error::success();
  TimedModel wide(fp32), narrow(int8);
  llvm::Expected<TimedMachine> machine =
      measureLayers({&wide, &narrow}, firstSample, progress);
  if (!machine)
    return machine.takeError();
  study.machine = std::move(*machine);
  study.fp32.latencyMs = wide.latencyMs;
  study.int8.latencyMs = study.chosen.latencyMs = narrow.latencyMs;
  for (StudiedLayer &layer : study.layers) {
    layer.fp32Ms = wide.timeOf(layer.nodes);
    if (layer.isInt8)
      layer.int8Ms = narrow.timeOf(layer.nodes);
  }
  return llvm::Error::success();
}

llvm::Error StudyRun::run(const Progress &progress) {
  const double chooses = options.maxDrop ? 1 : 0,
               reports = options.isReported ? 1 : 0;
  if (options.maxDrop) {
    evaluation = std::make_unique<Evaluation>(
        options.data.paths.front(), options.data.preprocess, options.judge);
    if (llvm::Error error = evaluation->open())
      return error;
  }
  // Calibration, models, fp32, samples, times, errors, choice and outputs.
  Stages stages(progress,
                {3, 3, chooses, 1, 1, 4 * reports, 6 * chooses, reports});
  if (llvm::Error error = findCalibration(stages.next()))
    return error;
  if (llvm::Error error = prepareModels(stages.next()))
    return error;
  study.model = llvm::sys::path::filename(options.model).str();
  study.method = calibration.method;
  study.calibrationSamples = calibration.samples;
  const Progress ofReference = stages.next();
  if (options.maxDrop)
    if (llvm::Error error = runReference(ofReference))
      return error;
  if (llvm::Error error = readSamples(stages.next()))
    return error;
  if (llvm::Error error = measureTimes(stages.next()))
    return error;
  const Progress ofErrors = stages.next(), ofChoice = stages.next();
  if (options.isReported)
    if (llvm::Error error = measureErrors(ofErrors))
      return error;
  if (options.maxDrop)
    if (llvm::Error error = choose(ofChoice))
      return error;
  if (options.isReported)
    if (llvm::Error error = measureOutputs(stages.next()))
      return error;
  study.choice = findChoice(isTaken(half));
  return checkCancelled(progress);
}

llvm::Expected<Study> ingot::study::studyPrecision(StudyOptions options,
                                                   const Progress &progress) {
  StudyRun work(std::move(options));
  if (llvm::Error error = work.run(progress))
    return std::move(error);
  progress.step("done", 1);
  return work.takeResult();
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

bool StudyRun::hasInt8() const {
  return llvm::any_of(study.layers,
                      [](const StudiedLayer &layer) { return layer.isInt8; });
}

bool StudyRun::isTaken(const std::optional<ScratchModel> &model) const {
  return model && !trials.empty() && trials[taken].model == &*model;
}

PrecisionChoice StudyRun::findChoice(bool isBF16) const {
  PrecisionChoice choice;
  choice.files = scratch;
  if (isTaken(dynamic)) {
    choice.isDynamic = true;
    choice.keep = options.keep;
    return choice;
  }
  if (hasInt8()) {
    choice.calibration = calibrationPath;
    choice.keep = keepRules();
  }
  if (!isBF16)
    return choice;
  choice.isBF16 = true;
  choice.keepFromInt8 = std::move(choice.keep);
  choice.keep.clear();
  for (llvm::StringRef rule : options.keep) {
    auto [glob, precision] = rule.rsplit('=');
    const llvm::StringRef wanted =
        precision == "fp32" ? precision : stringifyPrecision(Precision::bf16);
    choice.keep.push_back((glob + "=" + wanted).str());
  }
  return choice;
}

void PrecisionChoice::applyTo(PipelineOptions &pipeline) const {
  pipeline.calibration = calibration;
  pipeline.keep = keep;
  if (isDynamic)
    pipeline.quantization = Quantization::int8Dynamic;
  if (!isBF16)
    return;
  pipeline.precision = Precision::bf16;
  pipeline.keepFromInt8 = keepFromInt8;
}

std::vector<std::string> StudyRun::keepRules() const {
  std::vector<std::string> rules;
  // Other layers are never in int8, so they need no rule.
  if (options.maxDrop)
    for (const StudiedLayer &layer :
         llvm::ArrayRef(study.layers).take_front(probe.units().size()))
      if (!layer.isInt8)
        rules.push_back(keepRule(layer.nodes.front()));
  // The user's rules come last, because they may ask for int8.
  llvm::append_range(rules, options.keep);
  return rules;
}
