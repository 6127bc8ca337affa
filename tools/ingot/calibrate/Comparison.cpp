//===- Comparison.cpp - a compiled model beside a reference ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/calibrate/Comparison.h"

#include "compiler/pipeline/PrecisionName.h"
#include "compiler/quantize/RulesFile.h"
#include "dialects/nn/NodeName.h"
#include "passes/support/Rules.h"
#include "tools/ingot/Execute.h"
#include "tools/ingot/Options.h"
#include "tools/ingot/SizeText.h"
#include "tools/ingot/Text.h"
#include "tools/ingot/calibrate/ArtifactPrecision.h"
#include "tools/ingot/calibrate/Repair.h"
#include "tools/ingot/calibrate/Watch.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>
#include <errno.h>
#include <string.h>
#include <unistd.h>

using namespace ingot;
using namespace ingot::tools;

namespace {

/// The tensors of a run: they are stored, or compared with those of an earlier
/// run.
struct Shown {
  std::map<uint64_t, std::vector<float>> *kept;
  /// If null, tensors are stored.
  std::vector<Inner> *compared;
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

/// Returns type and shape, as in "float32 1x10".
static std::string typeAndShape(const Array &array) {
  return std::string(ingot_dtype_name(array.dtype)) + " " +
         formatShape(array.dims.data(), array.dims.size());
}

/// Checks that the artifact and the reference come from one model, as far as
/// possible.
std::string Comparison::checkSignature() const {
  auto describeAll = [](const std::vector<InputSpec> &inputs) {
    std::string text;
    for (const InputSpec &input : inputs)
      text += (text.empty() ? "" : ", ") + input.name + " " +
              formatShape(input.dims.data(), input.dims.size()) + " " +
              ingot_dtype_name(input.dtype);
    return text;
  };
  const std::string ours = describeAll(inputsOf(model.get())),
                    theirs = describeAll(reference.inputs());
  if (ours != theirs)
    return "'" + formatLine(options.artifact, 200) + "' takes " +
           formatLine(ours, 200) + ", but '" + formatLine(options.model, 200) +
           "' takes " + formatLine(theirs, 200) +
           ": give the --shape and --dim that it was compiled with";
  if (outputNames(model.get()) != outputNames(reference.handle()))
    return "'" + formatLine(options.artifact, 200) + "' and '" +
           formatLine(options.model, 200) + "' have other outputs";
  return "";
}

ScratchModel::Options Comparison::scratchOptions() const {
  ScratchModel::Options scratch;
  scratch.model = options.model;
  scratch.shapes = shapes;
  scratch.dims = dims;
  scratch.threads = options.threads;
  scratch.pipeline.weightBits = pipeline.weightBits;
  scratch.pipeline.fitPairs = pipeline.fitPairs;
  return scratch;
}

std::string Comparison::findPrecision() {
  if (!options.calibration.empty()) {
    pipeline.calibration = options.calibration;
    // The default of `ingot compile`.
    pipeline.fitPairs = true;
    return "";
  }
  std::string problem = readArtifactPrecision(model.get(), options.artifact,
                                              options.model, pipeline);
  if (problem.empty() && options.sensitivity && pipeline.calibration.empty())
    return "--sensitivity is of int8, and '" +
           formatLine(options.artifact, 200) +
           "' was compiled without a calibration: give --calibration=FILE";
  return problem;
}

/// Reads the keep rules. Rules of the command line come first, then those of
/// the file, then those of the artifact.
int Comparison::readKeep() {
  std::vector<quantize::Rule> rules;
  if (!options.rules.empty())
    if (std::string wrong = quantize::readRules(options.rules, rules);
        !wrong.empty())
      return progress.fail(wrong);
  const llvm::StringRef narrow = narrowName(pipeline);
  std::vector<std::string> keep;
  for (const std::string &rule : options.keep) {
    if (std::string wrong = checkRule(rule, narrow); !wrong.empty())
      return parser.usageError("--keep='" + printable(rule) + "' " + wrong);
    keep.push_back(rule);
  }
  for (const std::string &rule : quantize::precisionRules(rules)) {
    if (std::string wrong = checkRule(rule, narrow); !wrong.empty())
      return progress.fail("'" + printable(options.rules) + "': rule '" +
                           printable(rule) + "' " + wrong);
    keep.push_back(rule);
  }
  pipeline.keep.insert(pipeline.keep.begin(), keep.begin(), keep.end());
  return exitSuccess;
}

/// Finds the sizes that the model was compiled with. With --input, dynamic
/// sizes of the artifact become those of the run.
void Comparison::findSizes() {
  shapes = options.inputs.shapes;
  dims = options.inputs.dims;
  if (options.inputs.inputs.empty())
    return;
  const std::vector<ingot_tensor_info> infos = inputInfosOf(model.get());
  auto isOpen = [&](const std::string &spec, bool isName) {
    std::string name, value, problem;
    std::vector<SizeText> sizes;
    if (!splitNameAndValue(spec, name, value) ||
        !parseSizesText(value, sizes, problem) ||
        llvm::any_of(sizes, [](const SizeText &size) {
          return size.kind != SizeText::fixed;
        }))
      return false;
    return llvm::any_of(infos, [&](const ingot_tensor_info &info) {
      for (uint32_t i = 0; i < info.rank; ++i)
        if (info.dims[i] == INGOT_ABI_DYNAMIC &&
            name == (isName ? info.dim_names[i] : info.name))
          return true;
      return false;
    });
  };
  llvm::erase_if(shapes, [&](auto &spec) { return isOpen(spec, false); });
  llvm::erase_if(dims, [&](auto &spec) { return isOpen(spec, true); });
}

int Comparison::preparePeer() {
  peer.python = options.python.empty() ? "python3" : options.python;
  peer.model = options.model;
  peer.threads = options.threads;
  for (const ingot_tensor_info &info : inputInfosOf(model.get()))
    peer.inputNames.push_back(info.name);
  peer.outputNames = outputNames(model.get());
  std::string problem;
  if (access(options.model.c_str(), R_OK))
    problem = "cannot read '" + options.model + "': " + strerror(errno);
  else
    problem = peer.check();
  return problem.empty() ? exitSuccess : progress.fail(problem);
}

int Comparison::prepare() {
  std::string problem = createPool(options.threads, pool);
  if (problem.empty())
    problem = loadModel(options.artifact, "", pool.get(), model);
  if (problem.empty())
    problem = createContext(model.get(), pool.get(), context);
  // Check names first, so that wrong names cost no compilation.
  if (problem.empty() && options.isByLayer())
    problem = findPrecision();
  if (!problem.empty())
    return progress.fail(problem);
  if (int code = readKeep())
    return code;
  ScratchModel::Options scratch = scratchOptions();
  scratch.pipeline.observe = options.perLayer;
  if (!pipeline.calibration.empty()) {
    llvm::Expected<quantize::Calibration> read =
        quantize::readCalibration(pipeline.calibration);
    if (!read)
      return progress.fail(llvm::toString(read.takeError()));
    calibration = std::move(*read);
    // Apply the repairs, so that both models show tensors of one graph.
    setRepairs(calibration, pipeline.calibration, scratch.pipeline);
  }
  if (options.usesOnnxRuntime)
    return preparePeer();
  findSizes();
  scratch.shapes = shapes;
  scratch.dims = dims;
  if (int code = reference.prepare(scratch))
    return code;
  problem = checkSignature();
  if (!problem.empty())
    return progress.fail(problem);
  if (!options.perLayer)
    return exitSuccess;
  scratch.pipeline = pipeline;
  scratch.pipeline.observe = true;
  if (int code = quantized.prepare(scratch))
    return code;
  for (const std::string &name : reference.observed())
    layers.push_back({name, {}});
  return exitSuccess;
}

/// Measures the sensitivity on some samples, which are read again.
int Comparison::findSensitivity() {
  ScratchModel::Options scratch = scratchOptions();
  const std::vector<std::string> &keep =
      pipeline.keepFromInt8.empty() ? pipeline.keep : pipeline.keepFromInt8;
  scratch.pipeline.keep = keep;
  setRepairs(calibration, pipeline.calibration, scratch.pipeline);
  if (int code = probe.prepare(scratch))
    return code;
  if (probe.units().empty())
    return progress.fail("--sensitivity has nothing to measure: " +
                         std::string(keep.empty()
                                         ? "int8 computes no layer of the model"
                                         : "all layers are kept in fp32"));
  if (std::string problem = probe.setRanges(calibration); !problem.empty())
    return progress.fail("'" + formatLine(pipeline.calibration, 200) + "' " +
                         problem);
  Samples picked(preprocess);
  std::string problem = picked.open(options.data);
  picked.setInputs(probe.scratch().inputs());
  picked.choose(survey.pick(options.numSamples));
  if (problem.empty())
    problem = probe.readSamples(picked);
  if (problem.empty())
    problem = measureSensitivity(probe, progress, sensitivity);
  return problem.empty() ? exitSuccess : progress.fail(problem);
}

std::string Comparison::compareLayers(const std::vector<Array> &inputs) {
  std::map<uint64_t, std::vector<float>> kept;
  Shown wanted = {&kept, nullptr}, got = {&kept, &layers};
  std::string problem;
  if (reference.run(inputs, observe, &wanted, problem) ||
      quantized.run(inputs, observe, &got, problem))
    return where() + ": " + problem;
  return "";
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

int Comparison::open() {
  if (!options.inputs.inputs.empty())
    return exitSuccess;
  samples = std::make_unique<Samples>(options.inputs.preprocess);
  std::string problem = samples->open(options.data);
  return problem.empty() ? exitSuccess : progress.fail(problem);
}

/// Reads the next sample of --data, or the only sample of --input.
bool Comparison::next(Tensors &inputs, std::string &problem) {
  if (samples) {
    if (!samples->next(inputs, problem))
      return false;
    progress.show(samples->progress());
  } else {
    if (numRead)
      return false;
    problem = makeInputs(model.get(), options.inputs, inputs);
    if (!problem.empty())
      return false;
  }
  ++numRead;
  return true;
}

std::string Comparison::where() const {
  return samples ? samples->where() : "the given inputs";
}

/// The most bytes of inputs and outputs that one process of ONNX Runtime takes.
/// The limit gives few processes that need little memory.
static constexpr uint64_t kMostBytesTogether = 64 << 20;

static uint64_t countBytes(const Tensors &tensors) {
  uint64_t bytes = 0;
  for (const Array &array : tensors)
    bytes += array.data.size() + array.text.size();
  return bytes;
}

std::string Comparison::runReference(const std::vector<Tensors> &inputs,
                                     std::vector<Tensors> &wanted) {
  if (options.usesOnnxRuntime)
    return peer.run(inputs, wanted);
  wanted.resize(inputs.size());
  ingot_error error = INGOT_ERROR_INIT;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (runToFit(reference.handle(), reference.runs(), inputs[i], wanted[i],
                 error))
      return error.message;
  return "";
}

std::string Comparison::compareOutputs(const Tensors &wanted,
                                       const Tensors &got,
                                       const std::string &place) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (got[i].dims != wanted[i].dims || got[i].dtype != wanted[i].dtype)
      return place + ": output '" + formatLine(outputs[i].name, 60) + "' is " +
             typeAndShape(got[i]) + ", but " + typeAndShape(wanted[i]) +
             " in the reference";
    const double before = outputs[i].difference.error;
    outputs[i].add(wanted[i], got[i]);
    excess[i].add(options.tolerance, wanted[i], got[i], place);
    survey.see(i, std::sqrt(outputs[i].difference.error - before));
  }
  survey.endSample();
  return "";
}

/// Runs the reference on the waiting samples, and compares the outputs.
std::string Comparison::compareTogether(Waiting &waiting) {
  std::vector<Tensors> wanted;
  if (waiting.inputs.empty())
    return "";
  std::string problem = runReference(waiting.inputs, wanted);
  if (!problem.empty())
    return waiting.inputs.size() == 1 ? waiting.places[0] + ": " + problem
                                      : problem;
  for (size_t i = 0; i < wanted.size() && problem.empty(); ++i)
    problem = compareOutputs(wanted[i], waiting.got[i], waiting.places[i]);
  waiting = {};
  return problem;
}

std::string Comparison::runAll() {
  Waiting waiting;
  Tensors inputs;
  std::string problem;
  while (next(inputs, problem)) {
    ingot_error error = INGOT_ERROR_INIT;
    Tensors got;
    if (runToFit(model.get(), context.get(), inputs, got, error))
      return where() + ": " + error.message;
    if (options.perLayer)
      if (problem = compareLayers(inputs); !problem.empty())
        return problem;
    waiting.bytes += countBytes(inputs) + countBytes(got);
    waiting.inputs.push_back(std::move(inputs));
    waiting.got.push_back(std::move(got));
    waiting.places.push_back(where());
    if (options.usesOnnxRuntime && waiting.bytes < kMostBytesTogether)
      continue;
    if (problem = compareTogether(waiting); !problem.empty())
      return problem;
  }
  if (problem.empty())
    problem = compareTogether(waiting);
  progress.clear();
  return problem;
}

bool Comparison::isBeyond(size_t output) const {
  const double relative = outputs[output].difference.relative();
  // NaN is beyond every bound.
  return excess[output].count ||
         (options.tolerance.output && !(relative <= *options.tolerance.output));
}

bool Comparison::isWithin() const {
  for (size_t i = 0; i < outputs.size(); ++i)
    if (isBeyond(i))
      return false;
  return true;
}

int Comparison::run() {
  if (int code = open())
    return code;
  if (int code = prepare())
    return code;
  for (const std::string &name : outputNames(model.get()))
    outputs.push_back({name, {}});
  excess.resize(outputs.size());
  survey = SampleSurvey(outputs.size());
  preprocess = preprocessOf(model.get(), options.inputs.preprocess);
  if (std::string warning =
          preprocessWarning(model.get(), options.inputs.preprocess);
      !warning.empty())
    progress.warn(warning);
  if (samples) {
    samples->setPreprocess(preprocess);
    samples->setInputs(inputsOf(model.get()));
  }
  std::string problem = runAll();
  if (!problem.empty())
    return progress.fail(problem);
  if (options.sensitivity)
    if (int code = findSensitivity())
      return code;
  options.json ? printJson() : print();
  return isWithin() ? exitSuccess : exitBeyond;
}
