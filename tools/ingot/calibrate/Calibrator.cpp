//===- Calibrator.cpp - finds the ranges of a model's tensors -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/calibrate/Calibrator.h"

#include "tools/ingot/Text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace ingot;
using namespace ingot::tools;

static constexpr uint64_t kFewSamples = 10;

std::string Calibrator::runOne(Watch &watch, const std::vector<Array> &inputs,
                               const Samples &samples) {
  std::string problem;
  const bool isFirst = watch.survey().count() == 0;
  std::vector<Array> outputs;
  const ingot_status status = model.run(inputs, Watch::observe, &watch, problem,
                                        isFirst ? &outputs : nullptr);
  if (isFirst)
    bytesOfOutputs = bytesOf(outputs);
  watch.survey().endSample(bytesOf(inputs) + bytesOfOutputs);
  if (watch.notFinite() >= 0)
    return "tensor '" + formatLine(tensors()[size_t(watch.notFinite())], 200) +
           "' becomes infinite or not a number on " + samples.where();
  return status == INGOT_OK ? "" : samples.where() + ": " + problem;
}

std::string Calibrator::runAll(Samples &samples) {
  Watch::Options wanted;
  wanted.fillsBins = false;
  for (const quantize::MethodChoice &method : methods) {
    wanted.averages |= method.needsAverages();
    wanted.fillsBins |= method.needsBins();
  }
  wanted.threads = model.threads();
  Watch watch(tensors().size(), wanted);
  std::vector<Array> inputs;
  std::string problem;
  while (samples.next(inputs, problem)) {
    progress.show(samples.progress());
    problem = runOne(watch, inputs, samples);
    if (!problem.empty())
      return problem;
  }
  for (size_t i = 0; i < tensors().size(); ++i)
    watched.push_back(watch.result(i));
  seen = watch.survey();
  progress.clear();
  return problem;
}

int Calibrator::watch() {
  // Open the samples first, so that wrong names cost no compilation.
  Samples samples(options.preprocess);
  std::string problem = samples.open(options.data);
  if (!problem.empty())
    return progress.fail(problem);
  ScratchModel::Options scratch = options.model;
  scratch.pipeline.observe = true;
  if (int code = model.prepare(scratch))
    return code;
  if (tensors().empty())
    return progress.fail(
        "'" + formatLine(options.model.model, 200) +
        "' has no convolution or matrix product of float32 with "
        "constant weights that could be quantized; those of loops and branches "
        "--precision=int8-dynamic quantizes, without calibration");
  problem = checkMethodRules(options.rules, tensors());
  for (const std::string &name : tensors())
    methods.push_back(methodFor(name, options.rules, options.method));
  samples.setInputs(model.inputs());
  if (problem.empty())
    problem = runAll(samples);
  return problem.empty() ? exitSuccess : progress.fail(problem);
}

void Calibrator::warn() const {
  const uint64_t count = numSamples();
  if (count < kFewSamples)
    progress.warn(
        "there " +
        std::string(count == 1 ? "is 1 sample"
                               : "are " + std::to_string(count) + " samples") +
        ": ranges may be too narrow; 100 to 500 are usual");
  for (size_t i = 0; i < tensors().size(); ++i)
    if (const quantize::Histogram &histogram = watched[i].histogram;
        histogram.count() && histogram.min() == histogram.max())
      progress.warn("tensor '" + formatLine(tensors()[i], 200) +
                    "' was always " + std::to_string(histogram.min()));
}

int Calibrator::chooseBestMethods() {
  if (llvm::all_of(choices, [](const RangeChoice &choice) {
        return choice.candidates.size() == 1;
      }))
    return exitSuccess;
  if (int code = probe.prepare(options.model))
    return code;
  Samples picked(options.preprocess);
  std::string problem = picked.open(options.data);
  picked.setInputs(probe.scratch().inputs());
  picked.choose(seen.pick(options.numSamples));
  if (problem.empty())
    problem = probe.readSamples(picked);
  if (problem.empty())
    problem = chooseBest(probe, progress, choices);
  return problem.empty() ? exitSuccess : progress.fail(problem);
}

int Calibrator::readPicked(uint64_t most, uint64_t mostBytes,
                           std::vector<KnownSample> &picked) {
  Samples samples(options.preprocess);
  std::string problem = samples.open(options.data);
  samples.setInputs(model.inputs());
  samples.choose(seen.pick(most, mostBytes));
  uint64_t bytes = 0;
  std::vector<Array> inputs;
  while (problem.empty() && bytes < mostBytes &&
         samples.next(inputs, problem)) {
    picked.push_back({inputs, {}, samples.where(), samples.weight()});
    if (model.run(inputs, nullptr, nullptr, problem, &picked.back().outputs) !=
        INGOT_OK)
      problem = samples.where() + ": " + problem;
    bytes += bytesOf(inputs) + bytesOf(picked.back().outputs);
  }
  return problem.empty() ? exitSuccess : progress.fail(problem);
}

int Calibrator::choose(quantize::Calibration &result, bool warns) {
  if (warns)
    warn();
  progress.show("finding ranges");
  result.model = llvm::sys::path::filename(options.model.model).str();
  result.sha256 = model.sha256();
  result.method = nameOf(options.method.method);
  result.samples = numSamples();
  if (options.preprocess.isGiven)
    result.preprocess = options.preprocess.text();
  for (size_t i = 0; i < tensors().size(); ++i) {
    const quantize::Histogram &histogram = watched[i].histogram;
    // Skip tensors that no sample computed.
    if (!histogram.count())
      continue;
    choices.push_back({tensors()[i], candidatesOf(watched[i], methods[i])});
    quantize::TensorCalibration tensor;
    tensor.name = tensors()[i];
    tensor.min = histogram.min();
    tensor.max = histogram.max();
    result.tensors.push_back(std::move(tensor));
  }
  if (int code = chooseBestMethods())
    return code;
  for (auto [choice, tensor] : llvm::zip_equal(choices, result.tensors)) {
    const RangeChoice::Candidate &chosen = choice.candidates[choice.chosen];
    tensor.scale = chosen.encoding.scale;
    tensor.zeroPoint = chosen.encoding.zeroPoint;
    if (nameOf(chosen.method) != result.method)
      tensor.method = nameOf(chosen.method);
  }
  progress.clear();
  return exitSuccess;
}
