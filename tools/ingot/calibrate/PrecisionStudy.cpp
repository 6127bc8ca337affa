//===- PrecisionStudy.cpp - what int8 costs and brings --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/Layers.h"
#include "tools/ingot/calibrate/PrecisionStudy.h"

#include "tools/ingot/Execute.h"
#include "tools/ingot/Text.h"
#include "tools/ingot/calibrate/Repair.h"
#include "tools/ingot/calibrate/TextFiles.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace ingot;
using namespace ingot::tools;

ScratchModel::Options PrecisionStudy::scratchOptions() const {
  ScratchModel::Options scratch;
  scratch.model = options.model;
  scratch.shapes = options.shapes;
  scratch.dims = options.dims;
  scratch.pipeline.weightBits = options.weightBits;
  scratch.pipeline.fitPairs = options.fitPairs;
  scratch.pipeline.winograd = options.winograd;
  scratch.pipeline.optimize = options.optimize;
  scratch.objects = options.objects;
  return scratch;
}

/// Reads the calibration file, or calibrates. Collects data for histograms.
int PrecisionStudy::findCalibration() {
  calibrationPath = options.calibration;
  if (!calibrationPath.empty()) {
    llvm::Expected<quantize::Calibration> read =
        quantize::readCalibration(calibrationPath);
    if (!read)
      return progress.fail(llvm::toString(read.takeError()));
    calibration = std::move(*read);
  }
  if (options.data.empty() || (!calibrationPath.empty() && !options.isReported))
    return exitSuccess;
  Calibrator::Options chosen;
  chosen.model = scratchOptions();
  setRepairs(calibration, calibrationPath, chosen.model.pipeline);
  chosen.data = options.data;
  chosen.preprocess = options.preprocess;
  // The method mse minimizes the error of each tensor, without hundreds of
  // runs.
  chosen.method.method = quantize::Method::mse;
  if (calibrationPath.empty())
    chosen.rules = options.rules;
  Calibrator calibrator(chosen, parser, progress);
  if (int code = calibrator.watch())
    return code;
  for (size_t i = 0; i < calibrator.tensors().size(); ++i)
    study.histograms[calibrator.tensors()[i]] = calibrator.seenOf(i).histogram;
  survey = calibrator.survey();
  if (!calibrationPath.empty())
    return exitSuccess;
  if (int code = calibrator.choose(calibration))
    return code;
  std::string problem = scratch.create();
  calibrationPath = scratch.path() + "/model.calib.json";
  if (problem.empty())
    problem = writeTexts({{calibrationPath, toText(calibration)}});
  return problem.empty() ? exitSuccess : progress.fail(problem);
}

bool ingot::tools::shareNodes(const std::vector<std::string> &a,
                       const std::vector<std::string> &b) {
  return llvm::any_of(
      a, [&](const std::string &node) { return llvm::is_contained(b, node); });
}

int PrecisionStudy::prepareModels() {
  ScratchModel::Options scratch = scratchOptions();
  if (int code = fp32.prepare(scratch))
    return code;
  scratch.pipeline.calibration = calibrationPath;
  scratch.pipeline.keep = options.keep;
  if (int code = int8.prepare(scratch))
    return code;
  scratch = scratchOptions();
  setRepairs(calibration, calibrationPath, scratch.pipeline);
  if (int code = probe.prepare(scratch))
    return code;
  if (std::string problem = probe.setRanges(calibration); !problem.empty())
    return progress.fail("'" + formatLine(calibrationPath, 200) + "' " +
                         problem);
  // The artifact itself tells which layers are in int8.
  const std::vector<Layer> layers = layersOf(int8.handle());
  for (size_t i = 0; i < probe.units().size(); ++i) {
    const Switch &unit = probe.units()[i];
    StudiedLayer layer;
    layer.nodes = unit.nodes;
    layer.tensor = probe.tensorOf(i);
    for (const quantize::TensorCalibration &range : calibration.tensors)
      if (range.name == layer.tensor)
        layer.range = range;
    layer.isInt8 = llvm::any_of(layers, [&](const Layer &one) {
      return one.precision == "int8" && shareNodes(one.nodes, unit.nodes);
    });
    if (!layer.isInt8) {
      layer.reason = !layer.range           ? "its data has no range"
                     : options.keep.empty()
                         ? "bytes gain nothing: its data has a zero point, or "
                           "few rows"
                         : "a rule keeps it";
      probe.forbid(i);
    }
    study.layers.push_back(std::move(layer));
  }
  study.fp32.bytes = fp32.fileBytes();
  study.int8.bytes = study.chosen.bytes = int8.fileBytes();
  return exitSuccess;
}

/// Returns the number of samples for errors. A report uses the default number.
/// A search only needs errors to order layers, and each layer takes a run of
/// all samples.
unsigned PrecisionStudy::numPicked() const {
  constexpr size_t kRuns = 64;
  if (options.isReported)
    return options.numSamples;
  const size_t fitting = kRuns / std::max<size_t>(study.layers.size(), 1);
  return unsigned(
      std::max<size_t>(std::min<size_t>(fitting, options.numSamples), 1));
}

std::string PrecisionStudy::readSamples() {
  if (options.data.empty())
    return "";
  Samples samples(options.preprocess);
  std::string problem = samples.open(options.data);
  if (!problem.empty())
    return problem;
  samples.setInputs(probe.scratch().inputs());
  samples.choose(survey.pick(numPicked()));
  problem = probe.readSamples(samples);
  study.samples = probe.numSamples();
  if (problem.empty())
    firstSample = probe.inputsOf(0);
  return problem;
}

/// Measures the error of each layer alone, and that of all layers on each
/// output.
std::string PrecisionStudy::measureErrors() {
  if (options.data.empty())
    return "";
  Sensitivity &sensitivity = study.sensitivity.emplace();
  std::string problem = measureSensitivity(probe, progress, sensitivity);
  if (!problem.empty())
    return problem;
  for (const LayerError &layer : sensitivity.layers)
    study.layers[layer.unit].alone = layer.alone;
  for (const Sensitivity::Kept &kept : sensitivity.kept)
    study.keepArguments.push_back(
        keepArguments(probe, sensitivity, kept.count));
  return "";
}

/// Measures the outputs' errors with the chosen precisions.
std::string PrecisionStudy::measureOutputs() {
  std::vector<bool> isOn;
  for (const StudiedLayer &layer : study.layers)
    isOn.push_back(layer.isInt8);
  for (const std::string &name : outputNames(fp32.handle()))
    study.outputs.push_back({name, {}});
  std::string halfProblem;
  std::string problem = probe.run(
      isOn, [&](size_t sample, const std::vector<Array> &wanted,
                const std::vector<Array> &rounded) {
        // The probe cannot switch layers to bf16, so run the artifact itself.
        std::vector<Array> computed;
        if (half && halfProblem.empty())
          halfProblem = runOnce(*half, probe.inputsOf(sample), computed);
        if (!halfProblem.empty())
          return;
        const std::vector<Array> &found = half ? computed : rounded;
        for (size_t i = 0; i < study.outputs.size(); ++i)
          study.outputs[i].add(wanted[i], found[i], probe.weightOf(sample));
      });
  return problem.empty() ? halfProblem : problem;
}

static bool hasOpenSizes(const ScratchModel &model) {
  for (const InputSpec &input : model.inputs())
    if (llvm::any_of(input.dims, [](int64_t dim) { return dim < 0; }))
      return true;
  return false;
}

int PrecisionStudy::run() {
  if (options.maxDrop) {
    evaluation =
        std::make_unique<Evaluation>(options.data.front(), options.preprocess);
    if (std::string problem = evaluation->open(); !problem.empty())
      return progress.fail(problem);
  }
  if (int code = findCalibration())
    return code;
  if (int code = prepareModels())
    return code;
  study.model = llvm::sys::path::filename(options.model).str();
  study.method = calibration.method;
  study.calibrationSamples = calibration.samples;
  std::string problem = options.maxDrop ? runReference() : "";
  if (problem.empty())
    problem = readSamples();
  TimedModel wide(fp32), narrow(int8);
  if (problem.empty() && (!hasOpenSizes(fp32) || !firstSample.empty())) {
    problem = measureInTurns({&wide, &narrow}, firstSample, 0, progress,
                             study.machine.emplace());
    study.fp32.latencyMs = wide.latencyMs;
    study.int8.latencyMs = study.chosen.latencyMs = narrow.latencyMs;
    for (StudiedLayer &layer : study.layers) {
      layer.fp32Ms = wide.timeOf(layer.nodes);
      if (layer.isInt8)
        layer.int8Ms = narrow.timeOf(layer.nodes);
    }
  }
  if (problem.empty() && options.isReported)
    problem = measureErrors();
  if (!problem.empty())
    return progress.fail(problem);
  if (options.maxDrop)
    if (int code = choose())
      return code;
  if (options.isReported)
    problem = measureOutputs();
  progress.clear();
  return problem.empty() ? exitSuccess : progress.fail(problem);
}

bool PrecisionStudy::hasInt8() const {
  return llvm::any_of(study.layers,
                      [](const StudiedLayer &layer) { return layer.isInt8; });
}

void PrecisionStudy::choosePrecisions(PipelineOptions &pipeline) const {
  pipeline.calibration = hasInt8() ? calibrationPath : std::string();
  pipeline.keep = hasInt8() ? keepRules() : std::vector<std::string>();
  if (!half)
    return;
  pipeline.precision = Precision::bf16;
  pipeline.keepFromInt8 = std::move(pipeline.keep);
  pipeline.keep.clear();
  for (llvm::StringRef rule : options.keep) {
    auto [glob, precision] = rule.rsplit('=');
    const llvm::StringRef wanted = precision == "fp32"
                                 ? precision
                                 : stringifyPrecision(Precision::bf16);
    pipeline.keep.push_back((glob + "=" + wanted).str());
  }
}

std::vector<std::string> PrecisionStudy::keepRules() const {
  std::vector<std::string> rules;
  if (options.maxDrop)
    for (const StudiedLayer &layer : study.layers)
      if (!layer.isInt8)
        rules.push_back(keepRule(layer.nodes.front()));
  // The user's rules come last, since they may ask for int8.
  llvm::append_range(rules, options.keep);
  return rules;
}
