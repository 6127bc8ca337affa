//===- Calibrator.cpp - finds the ranges of a model's tensors -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/ranges/Calibrator.h"

#include "compiler/study/runs/Stages.h"
#include "compiler/study/runs/WorkTime.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>

using namespace ingot;
using namespace ingot::study;

static constexpr uint64_t kFewSamples = 10;
/// The most bytes of outputs that are kept, so that errors can be measured
/// without running the model in f32 again.
static constexpr uint64_t kMostOutputBytes = uint64_t(32) << 20;

llvm::Error Calibrator::runOne(Watch &watch, const std::vector<Array> &inputs,
                               const Samples &samples) {
  std::string problem;
  std::vector<Array> found;
  const ingot_status status =
      model.run(inputs, Watch::observe, &watch, problem, &found);
  const uint64_t bytes = bytesOf(found);
  const bool areAllKept = outputs.size() == watch.survey().count();
  watch.survey().endSample(bytesOf(inputs) + bytes);
  if (areAllKept && bytesOfOutputs + bytes <= kMostOutputBytes) {
    outputs.push_back(std::move(found));
    bytesOfOutputs += bytes;
  }
  if (watch.notFinite() < 0)
    return errorIf(status == INGOT_OK ? "" : samples.where() + ": " + problem);
  if (numNotFinite++ == 0)
    firstNotFinite = "tensor '" +
                     formatLine(tensors()[size_t(watch.notFinite())], 200) +
                     "' becomes infinite or not a number on " + samples.where();
  watch.forgetNotFinite();
  return llvm::Error::success();
}

llvm::Error Calibrator::runAll(Samples &samples, const Progress &progress) {
  Watch::Options wanted;
  wanted.fillsBins = false;
  for (const quantize::MethodChoice &method : methods) {
    wanted.averages |= method.needsAverages();
    wanted.fillsBins |= method.needsBins();
  }
  wanted.threads = model.threads();
  Watch watch(tensors().size(), wanted);
  const WorkTime time;
  llvm::Error error =
      forEachSample(samples, progress,
                    [&](std::vector<Array> &inputs) -> llvm::Expected<bool> {
                      if (llvm::Error error = runOne(watch, inputs, samples))
                        return std::move(error);
                      return true;
                    });
  if (error)
    return error;
  if (numNotFinite > 0)
    return makeError(firstNotFinite +
                     tools::adviceToLeaveOut(numNotFinite - 1));
  taken.runs = time.seconds();
  taken.inference = std::max(taken.runs - watch.seconds(), 0.0);
  for (size_t i = 0; i < tensors().size(); ++i)
    watched.push_back(watch.result(i));
  seen = watch.survey();
  return llvm::Error::success();
}

llvm::Error Calibrator::watch(const Progress &progress) {
  // Open the samples first, so that a wrong name is reported before
  // compilation.
  Samples samples;
  if (llvm::Error error = openSamples(options.data, samples))
    return error;
  Stages stages(progress, {1, 2});
  ScratchModel::Options scratch = options.model;
  scratch.pipeline.observe = true;
  const WorkTime time;
  if (llvm::Error error = model.prepare(scratch, stages.next()))
    return error;
  taken.compiling = time.seconds();
  if (tensors().empty())
    return makeError(
        "'" + formatLine(options.model.model, 200) +
        "' has no convolution or matrix product of float32 with "
        "constant weights; quantized models need no calibration, and "
        "--precision=int8-dynamic quantizes products in loops");
  if (llvm::Error error = errorIf(checkMethodRules(options.rules, tensors())))
    return error;
  for (const std::string &name : tensors())
    methods.push_back(methodFor(name, options.rules, options.method));
  samples.setInputs(model.inputs());
  if (llvm::Error error = runAll(samples, stages.next()))
    return error;
  model.unload();
  return llvm::Error::success();
}

void Calibrator::warnOfRanges(const Progress &progress) const {
  const uint64_t count = numSamples();
  if (count < kFewSamples)
    warn(progress, "there " +
                       std::string(count == 1 ? "is 1 sample"
                                              : "are " + std::to_string(count) +
                                                    " samples") +
                       ": ranges may be too narrow; 100 to 500 are usual");
  for (size_t i = 0; i < tensors().size(); ++i)
    if (const quantize::Histogram &histogram = watched[i].histogram;
        histogram.count() && histogram.min() == histogram.max())
      warn(progress, "tensor '" + formatLine(tensors()[i], 200) +
                         "' was always " + std::to_string(histogram.min()));
  warnOfFarSamples(progress);
}

void Calibrator::warnOfFarSamples(const Progress &progress) const {
  // The products of larger ranges and weights may overflow.
  constexpr double kLargestRange = 1e30;
  for (size_t i = 0; i < tensors().size(); ++i) {
    const quantize::Histogram &histogram = watched[i].histogram;
    const double largest = std::max(std::abs(double(histogram.min())),
                                    std::abs(double(histogram.max())));
    const std::optional<tools::FarSamples> far =
        numSamples() < kFewSamples ? std::nullopt
                                   : seen.findFar(i, tools::kFarFactor);
    if (!far && largest <= kLargestRange)
      continue;
    const uint64_t number = far ? far->first : seen.findLargest(i);
    const std::string sample = "sample " + std::to_string(number + 1);
    std::string text;
    llvm::raw_string_ostream out(text);
    out << "tensor '" << formatLine(tensors()[i], 200) << "' reaches "
        << llvm::format("%g in ", largest);
    if (far && far->count > 1)
      out << far->count << " of " << numSamples() << " samples, the first is ";
    out << sample;
    if (far)
      out << llvm::format(", but only %g in all others", far->others)
          << ": int8 has few steps for these; leave ";
    else
      out << ": layers of such ranges may stay in fp32; scale the data, or "
             "leave ";
    out << (far && far->count > 1 ? "these samples out if they are wrong"
                                  : "the sample out if it is wrong");
    // Later tensors follow from this one.
    return warn(progress, std::move(text));
  }
}

llvm::Error Calibrator::chooseBestMethods(const Progress &progress) {
  if (llvm::all_of(choices, [](const RangeChoice &choice) {
        return choice.candidates.size() == 1;
      }))
    return llvm::Error::success();
  Stages stages(progress, {1, 1, 4});
  if (llvm::Error error = probe.prepare(options.model, stages.next()))
    return error;
  Samples picked;
  if (llvm::Error error = openSamples(options.data, picked))
    return error;
  picked.setInputs(probe.scratch().inputs());
  picked.choose(seen.pick(options.numSamples));
  if (llvm::Error error = probe.readSamples(picked, stages.next()))
    return error;
  return chooseBest(probe, stages.next(), choices);
}

llvm::Error Calibrator::runOnce(const std::vector<Array> &inputs,
                                const Samples &samples,
                                std::vector<Array> &found) {
  if (llvm::Error error = model.load())
    return error;
  if (llvm::Error error = model.runOnce(inputs, found))
    return atSample(samples.where(), std::move(error));
  return llvm::Error::success();
}

llvm::Error Calibrator::forEachKnown(
    std::vector<PickedSample> picked, const Progress &progress,
    llvm::function_ref<llvm::Error(const KnownSample &)> visit) {
  Samples samples;
  if (llvm::Error error = openSamples(options.data, samples))
    return error;
  samples.setInputs(model.inputs());
  std::vector<uint64_t> numbers;
  for (const PickedSample &sample : picked)
    numbers.push_back(sample.number);
  samples.choose(std::move(picked));
  size_t taken = 0;
  auto unloads = llvm::make_scope_exit([&] { model.unload(); });
  return forEachSample(
      samples, progress,
      [&](std::vector<Array> &inputs) -> llvm::Expected<bool> {
        const uint64_t number = numbers[taken++];
        KnownSample known = {inputs, {}, samples.where(), samples.weight()};
        if (number < outputs.size())
          known.outputs = outputs[number];
        else if (llvm::Error error = runOnce(inputs, samples, known.outputs))
          return std::move(error);
        if (llvm::Error error = visit(known))
          return std::move(error);
        return true;
      });
}

llvm::Expected<quantize::Calibration>
Calibrator::choose(const Progress &progress, bool warns) {
  if (warns)
    warnOfRanges(progress);
  progress.step("finding ranges", 0);
  quantize::Calibration result;
  result.model = llvm::sys::path::filename(options.model.model).str();
  result.sha256 = model.sha256();
  result.method = nameOf(options.method.method);
  result.samples = numSamples();
  if (options.data.preprocess.isGiven)
    result.preprocess = options.data.preprocess.text();
  for (size_t i = 0; i < tensors().size(); ++i) {
    const quantize::Histogram &histogram = watched[i].histogram;
    // Skip tensors that were never computed.
    if (!histogram.count())
      continue;
    choices.push_back({tensors()[i], candidatesOf(watched[i], methods[i])});
    quantize::TensorCalibration tensor;
    tensor.name = tensors()[i];
    tensor.min = histogram.min();
    tensor.max = histogram.max();
    result.tensors.push_back(std::move(tensor));
  }
  if (llvm::Error error = chooseBestMethods(progress))
    return std::move(error);
  for (auto [choice, tensor] : llvm::zip_equal(choices, result.tensors)) {
    const RangeChoice::Candidate &chosen = choice.candidates[choice.chosen];
    tensor.scale = chosen.encoding.scale;
    tensor.zeroPoint = chosen.encoding.zeroPoint;
    if (nameOf(chosen.method) != result.method)
      tensor.method = nameOf(chosen.method);
  }
  return result;
}
