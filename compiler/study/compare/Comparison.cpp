//===- Comparison.cpp - a compiled model beside a reference ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/compare/Comparison.h"

#include "client/Execute.h"
#include "client/inputs/Npz.h"
#include "compiler/pipeline/PrecisionName.h"
#include "compiler/study/compare/ArtifactPrecision.h"
#include "compiler/study/compare/KeepRules.h"
#include "compiler/study/compare/OnnxRuntime.h"
#include "compiler/study/ranges/Watch.h"
#include "compiler/study/repair/Repair.h"
#include "compiler/study/runs/Stages.h"
#include "dialects/nn/NodeName.h"
#include "passes/support/Rules.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>
#include <errno.h>
#include <map>
#include <string.h>
#include <unistd.h>

using namespace ingot;
using namespace ingot::study;

namespace {
/// Receives the tensors of a run. Either stores them, or compares them with the
/// tensors of an earlier run.
struct Shown {
  std::map<uint64_t, std::vector<float>> *kept;
  /// The results of the comparison; null to store the tensors.
  std::vector<ComparedTensor> *compared;
};

/// Samples that the artifact has run, but the reference has not.
struct Waiting {
  std::vector<Tensors> inputs, got;
  std::vector<std::string> places;
  uint64_t bytes = 0;
};

/// Does the work of `compare`.
class Comparing {
public:
  explicit Comparing(CompareOptions options) : options(std::move(options)) {}

  llvm::Error run(const Progress &progress);

  Comparison result;

private:
  llvm::Error checkSignature() const;
  llvm::Error load();
  llvm::Error findPrecision();
  llvm::Error readCalibration();
  ScratchModel::Options scratchOptions() const;
  void findSizes();
  llvm::Error preparePeer();
  llvm::Error prepare(const Progress &progress);
  llvm::Error runAll(const Progress &progress);
  llvm::Error findSensitivity(const Progress &progress);
  llvm::Error addSample(Tensors &inputs, const std::string &where,
                        Waiting &waiting);
  llvm::Error runReference(const std::vector<Tensors> &inputs,
                           std::vector<Tensors> &wanted);
  llvm::Error compareTogether(Waiting &waiting);
  llvm::Error compareOutputs(const Tensors &wanted, const Tensors &got,
                             const std::string &place);
  bool isBeyond(const ComparedOutput &output) const;
  llvm::Error compareLayers(const std::vector<Array> &inputs,
                            const std::string &where);

  const CompareOptions options;
  PoolHandle pool;
  ModelHandle model;
  ContextHandle context;
  ScratchModel reference, quantized;
  quantize::Calibration calibration;
  Samples samples;
  Preprocess preprocess;
  /// The sizes that the reference is compiled with.
  InputSizes sizes;
  OnnxRuntime peer;
  /// The artifact's options, unless the caller overrides them.
  PipelineOptions pipeline;
  /// The magnitude of the outputs' errors in each sample.
  SampleSurvey survey;
  /// The errors of the outputs in each sample, for the verdict.
  std::vector<SampleErrors> errors;
  /// The scores by a metric; null if the outputs are not judged.
  std::unique_ptr<ScoredPair> scored;
};
} // namespace

static ingot_status observe(void *user, uint64_t number,
                            const ingot_tensor_view *view) {
  auto &shown = *static_cast<Shown *>(user);
  if (view->dtype != INGOT_FLOAT)
    return INGOT_OK;
  std::vector<float> &kept = (*shown.kept)[number];
  std::vector<float> values;
  forEachPiece(*view, values, [&](const float *piece, size_t size) {
    if (piece != values.data())
      values.insert(values.end(), piece, piece + size);
  });
  if (!shown.compared) {
    kept = std::move(values);
    return INGOT_OK;
  }
  assert(number < shown.compared->size() && "both show the same tensors");
  for (size_t i = 0; i < std::min(values.size(), kept.size()); ++i)
    (*shown.compared)[number].difference.add(double(kept[i]),
                                             double(values[i]));
  return INGOT_OK;
}

/// Returns the type and the shape, for example "float32 1x10".
static std::string typeAndShape(const Array &array) {
  return std::string(ingot_dtype_name(array.dtype)) + " " +
         formatShape(array.dims.data(), array.dims.size());
}

/// Checks that the artifact and the reference may come from one model.
llvm::Error Comparing::checkSignature() const {
  auto describeAll = [](const std::vector<InputSpec> &inputs) {
    std::string text;
    for (const InputSpec &input : inputs)
      text += (text.empty() ? "" : ", ") + input.name + " " +
              formatShape(input.dims.data(), input.dims.size()) + " " +
              ingot_dtype_name(input.dtype);
    return text;
  };
  const std::string artifact = "'" + formatLine(options.artifact, 200) + "'",
                    source = "'" + formatLine(options.model, 200) + "'";
  const std::string ours = describeAll(inputsOf(model.get())),
                    theirs = describeAll(reference.inputs());
  if (ours != theirs)
    return makeError(artifact + " takes " + formatLine(ours, 200) + ", but " +
                     source + " takes " + formatLine(theirs, 200) +
                     ": give the --shape and --dim that it was compiled with");
  if (tools::outputNames(model.get()) != tools::outputNames(reference.handle()))
    return makeError(artifact + " and " + source + " have other outputs");
  return llvm::Error::success();
}

ScratchModel::Options Comparing::scratchOptions() const {
  ScratchModel::Options scratch;
  scratch.model = options.model;
  scratch.sizes = sizes;
  scratch.threads = options.threads;
  scratch.pipeline = withoutPrecision(pipeline);
  return scratch;
}

llvm::Error Comparing::findPrecision() {
  if (!options.calibration.empty()) {
    pipeline.calibration = options.calibration;
    // As by default in `ingot compile`.
    pipeline.int8Weights = quantize::Int8Weights::fitted;
    return llvm::Error::success();
  }
  if (llvm::Error error = readArtifactPrecision(model.get(), options.artifact,
                                                options.model, pipeline))
    return error;
  if (options.sensitivity && pipeline.calibration.empty())
    return makeError("--sensitivity needs int8, but '" +
                     formatLine(options.artifact, 200) +
                     "' was compiled without a calibration: give "
                     "--calibration=FILE");
  return llvm::Error::success();
}

/// Finds the sizes for compiling the reference. If the caller gives one sample,
/// drops the caller's sizes for dynamic dimensions of the artifact, so that the
/// run's sizes are used.
void Comparing::findSizes() {
  sizes = options.sizes;
  if (!options.data.empty())
    return;
  for (const ingot_tensor_info &info : tools::inputInfosOf(model.get()))
    for (uint32_t i = 0; i < info.rank; ++i) {
      if (info.dims[i] != INGOT_ABI_DYNAMIC)
        continue;
      auto shape = sizes.shapes.find(info.name);
      if (shape != sizes.shapes.end() &&
          llvm::none_of(shape->second, [](int64_t size) { return size < 0; }))
        sizes.shapes.erase(shape);
      if (info.dim_names[i])
        sizes.dims.erase(info.dim_names[i]);
    }
}

llvm::Error Comparing::preparePeer() {
  peer.python = options.python.empty() ? "python3" : options.python;
  peer.model = options.model;
  peer.threads = options.threads;
  for (const ingot_tensor_info &info : tools::inputInfosOf(model.get()))
    peer.inputNames.push_back(info.name);
  peer.outputNames = tools::outputNames(model.get());
  if (access(options.model.c_str(), R_OK))
    return makeError("cannot read '" + options.model + "': " + strerror(errno));
  return peer.check();
}

llvm::Error Comparing::load() {
  std::string problem = tools::createPool(options.threads, pool);
  if (problem.empty())
    problem = tools::loadModel(options.artifact, {"", options.device},
                               pool.get(), model);
  if (problem.empty())
    problem = tools::createContext(model.get(), pool.get(), context);
  return errorIf(problem);
}

llvm::Error Comparing::readCalibration() {
  llvm::Expected<quantize::Calibration> read =
      quantize::readCalibration(pipeline.calibration);
  if (!read)
    return makeError(llvm::toString(read.takeError()));
  calibration = std::move(*read);
  return llvm::Error::success();
}

llvm::Error Comparing::prepare(const Progress &progress) {
  if (llvm::Error error = load())
    return error;
  // Check names first, so that wrong names cost no compilation.
  if (options.isByLayer())
    if (llvm::Error error = findPrecision())
      return error;
  if (llvm::Error error = readKeepRules(options, pipeline))
    return error;
  if (!pipeline.calibration.empty())
    if (llvm::Error error = readCalibration())
      return error;
  if (options.usesOnnxRuntime)
    return preparePeer();
  findSizes();
  Stages stages(progress, {1.0, options.perLayer ? 1.0 : 0.0});
  ScratchModel::Options scratch = scratchOptions();
  scratch.pipeline.observe = options.perLayer;
  // Apply the repairs, so that both models show tensors of one graph.
  if (!pipeline.calibration.empty())
    setRepairs(calibration, pipeline.calibration, scratch.pipeline);
  if (llvm::Error error = reference.prepare(scratch, stages.next()))
    return error;
  if (llvm::Error error = checkSignature())
    return error;
  if (!options.perLayer)
    return llvm::Error::success();
  scratch.pipeline = pipeline;
  scratch.pipeline.observe = true;
  if (llvm::Error error = quantized.prepare(scratch, stages.next()))
    return error;
  result.tensors.emplace();
  for (const std::string &name : reference.observed())
    result.tensors->push_back({name, {}});
  return llvm::Error::success();
}

/// Measures the sensitivity on some samples. They are read a second time.
llvm::Error Comparing::findSensitivity(const Progress &progress) {
  Stages stages(progress, {1, 1, 3});
  ScratchModel::Options scratch = scratchOptions();
  const std::vector<std::string> &keep =
      pipeline.keepFromInt8.empty() ? pipeline.keep : pipeline.keepFromInt8;
  scratch.pipeline.keep = keep;
  setRepairs(calibration, pipeline.calibration, scratch.pipeline);
  Probe probe;
  if (llvm::Error error = probe.prepare(scratch, stages.next()))
    return error;
  if (probe.units().empty())
    return makeError("--sensitivity has nothing to measure: " +
                     std::string(keep.empty()
                                     ? "int8 computes no layer of the model"
                                     : "all layers are kept in fp32"));
  if (llvm::Error error = probe.setRanges(calibration, pipeline.calibration))
    return error;
  Samples picked;
  if (llvm::Error error = openSamples({options.data, preprocess}, picked))
    return error;
  picked.setInputs(probe.scratch().inputs());
  picked.choose(
      survey.pick(options.numSamples ? options.numSamples : kUsualSamples));
  if (llvm::Error error = probe.readSamples(picked, stages.next()))
    return error;
  llvm::Expected<Sensitivity> measured =
      measureSensitivity(probe, stages.next());
  if (!measured)
    return measured.takeError();
  result.sensitivity = std::move(*measured);
  return llvm::Error::success();
}

llvm::Error Comparing::compareLayers(const std::vector<Array> &inputs,
                                     const std::string &where) {
  std::map<uint64_t, std::vector<float>> kept;
  Shown wanted = {&kept, nullptr}, got = {&kept, &*result.tensors};
  std::string problem;
  if (reference.run(inputs, observe, &wanted, problem) ||
      quantized.run(inputs, observe, &got, problem))
    return makeError(where + ": " + problem);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

/// The most bytes of inputs and outputs for one process of ONNX Runtime. With
/// this limit few processes are started, and each needs little memory.
static constexpr uint64_t kMostBytesTogether = 64 << 20;

static uint64_t countBytes(const Tensors &tensors) {
  uint64_t bytes = 0;
  for (const Array &array : tensors)
    bytes += array.data.size() + array.text.size();
  return bytes;
}

llvm::Error Comparing::runReference(const std::vector<Tensors> &inputs,
                                    std::vector<Tensors> &wanted) {
  if (options.usesOnnxRuntime)
    return peer.run(inputs, wanted);
  wanted.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (llvm::Error error = reference.runOnce(inputs[i], wanted[i]))
      return error;
  return llvm::Error::success();
}

llvm::Error Comparing::compareOutputs(const Tensors &wanted, const Tensors &got,
                                      const std::string &place) {
  bool haveShapes = true;
  for (size_t i = 0; i < wanted.size(); ++i) {
    ComparedOutput &output = result.outputs[i];
    const bool hasType = got[i].dtype == wanted[i].dtype;
    // The number of detected boxes, for example, depends on the precision.
    if (hasType && got[i].dims != wanted[i].dims && scored) {
      ++output.otherShapes;
      haveShapes = false;
      continue;
    }
    if (!hasType || got[i].dims != wanted[i].dims)
      return makeError(place + ": output '" + formatLine(output.name, 60) +
                       "' is " + typeAndShape(got[i]) + ", but " +
                       typeAndShape(wanted[i]) + " in the reference");
    const double before = output.difference.error;
    output.add(wanted[i], got[i]);
    output.excess.add(options.tolerance, wanted[i], got[i], place);
    survey.see(i, std::sqrt(output.difference.error - before));
  }
  survey.endSample();
  // The errors of many samples would take much memory.
  constexpr size_t kMostJudged = 4096;
  if (haveShapes && errors.size() < kMostJudged)
    errors.push_back({1, study::compareOutputs(wanted, got)});
  return scored ? scored->add(wanted, got, place) : llvm::Error::success();
}

/// Runs the reference on the waiting samples, and compares the outputs.
llvm::Error Comparing::compareTogether(Waiting &waiting) {
  std::vector<Tensors> wanted;
  if (waiting.inputs.empty())
    return llvm::Error::success();
  if (llvm::Error error = runReference(waiting.inputs, wanted))
    return waiting.inputs.size() == 1
               ? atSample(waiting.places[0], std::move(error))
               : std::move(error);
  for (size_t i = 0; i < wanted.size(); ++i)
    if (llvm::Error error =
            compareOutputs(wanted[i], waiting.got[i], waiting.places[i]))
      return error;
  waiting = {};
  return llvm::Error::success();
}

/// Runs the artifact on a sample. If enough samples wait, also runs the
/// reference.
llvm::Error Comparing::addSample(Tensors &inputs, const std::string &where,
                                 Waiting &waiting) {
  ++result.samples;
  ingot_error error = INGOT_ERROR_INIT;
  Tensors got;
  if (tools::runToFit(model.get(), context.get(), inputs, got, error))
    return makeError(where + ": " + error.message);
  if (options.perLayer)
    if (llvm::Error error = compareLayers(inputs, where))
      return error;
  waiting.bytes += countBytes(inputs) + countBytes(got);
  waiting.inputs.push_back(std::move(inputs));
  waiting.got.push_back(std::move(got));
  waiting.places.push_back(where);
  if (options.usesOnnxRuntime && waiting.bytes < kMostBytesTogether)
    return llvm::Error::success();
  return compareTogether(waiting);
}

llvm::Error Comparing::runAll(const Progress &progress) {
  Waiting waiting;
  llvm::Error error = llvm::Error::success();
  if (options.data.empty()) {
    Tensors inputs;
    tools::InputSpecs specs = options.inputs;
    if (!options.usesOnnxRuntime)
      tools::eraseFixedDims(model.get(), specs);
    error = errorIf(tools::makeInputs(model.get(), specs, inputs));
    if (!error)
      error = addSample(inputs, "the given inputs", waiting);
  } else {
    error = forEachSample(
        samples, progress,
        [&](std::vector<Array> &inputs) -> llvm::Expected<bool> {
          if (llvm::Error error = addSample(inputs, samples.where(), waiting))
            return std::move(error);
          return true;
        });
  }
  if (error)
    return error;
  return compareTogether(waiting);
}

bool Comparing::isBeyond(const ComparedOutput &output) const {
  const double relative = output.difference.relative();
  // NaN is beyond every bound.
  return output.excess.count ||
         (options.tolerance.output && !(relative <= *options.tolerance.output));
}

llvm::Error Comparing::run(const Progress &progress) {
  const double measures = options.sensitivity ? 1 : 0;
  Stages stages(progress, {1, 1, 2 * measures});
  if (!options.data.empty())
    if (llvm::Error error = errorIf(samples.open(options.data)))
      return error;
  if (llvm::Error error = prepare(stages.next()))
    return error;
  result.precision = tools::precisionOf(model.get());
  for (const std::string &name : tools::outputNames(model.get()))
    result.outputs.emplace_back().name = name;
  survey = SampleSurvey(result.outputs.size());
  if (llvm::Error error =
          ScoredPair::open(options, model.get(), progress).moveInto(scored))
    return error;
  preprocess = tools::preprocessOf(model.get(), options.inputs.preprocess);
  if (std::string warning =
          tools::preprocessWarning(model.get(), options.inputs.preprocess);
      !warning.empty())
    warn(progress, warning);
  samples.setPreprocess(preprocess);
  samples.setInputs(inputsOf(model.get()));
  if (llvm::Error error = runAll(stages.next()))
    return error;
  result.onnxRuntime = peer.version();
  if (scored)
    if (llvm::Error error = scored->end().moveInto(result.score))
      return error;
  for (ComparedOutput &output : result.outputs)
    output.isBeyond = isBeyond(output);
  result.verdict = judgeErrors(errors, tools::outputNames(model.get()));
  if (options.sensitivity)
    if (llvm::Error error = findSensitivity(stages.next()))
      return error;
  return checkCancelled(progress);
}

bool Comparison::isWithin() const {
  return llvm::none_of(
      outputs, [](const ComparedOutput &output) { return output.isBeyond; });
}

llvm::Expected<Comparison> ingot::study::compare(CompareOptions options,
                                                 const Progress &progress) {
  Comparing work(std::move(options));
  if (llvm::Error error = work.run(progress))
    return std::move(error);
  progress.step("done", 1);
  return std::move(work.result);
}
