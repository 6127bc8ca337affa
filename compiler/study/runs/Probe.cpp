//===- Probe.cpp - what int8 does, layer by layer -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/runs/Probe.h"

#include "compiler/study/runs/OutputErrors.h"

#include "llvm/ADT/STLExtras.h"

#include <string.h>

using namespace ingot;
using namespace ingot::study;

static void setFloat(Array &scalar, float value) {
  memcpy(scalar.data.data(), &value, sizeof(value));
}

llvm::Error Probe::prepare(const ScratchModel::Options &given,
                           const Progress &progress) {
  ScratchModel::Options options = given;
  options.pipeline.precisionFlags = true;
  if (llvm::Error error = model.prepare(options, progress))
    return error;
  for (size_t i = 0; i < units().size(); ++i)
    settings.push_back({INGOT_BOOL, {}, {0}, {}});
  for (size_t i = 0; i < kNumbersOfRange * tensors().size(); ++i)
    settings.push_back(
        {INGOT_FLOAT, {}, std::vector<unsigned char>(sizeof(float)), {}});
  ranged.assign(tensors().size(), false);
  forbidden.assign(units().size(), false);
  for (size_t i = 0; i < tensors().size(); ++i) {
    setExact(i);
    ranged[i] = false;
  }
  return llvm::Error::success();
}

void Probe::setExact(size_t tensor) {
  // Choose a step so small that rounding changes nothing.
  Array *numbers = &settings[units().size() + kNumbersOfRange * tensor];
  setFloat(numbers[0], 0x1p-60f);
  setFloat(numbers[1], -0x1p120f);
  setFloat(numbers[2], 0x1p120f);
  ranged[tensor] = true;
}

void Probe::setRange(size_t tensor, const quantize::Encoding &encoding) {
  Array *numbers = &settings[units().size() + kNumbersOfRange * tensor];
  setFloat(numbers[0], encoding.scale);
  setFloat(numbers[1], -float(encoding.zeroPoint));
  setFloat(numbers[2], 255 - float(encoding.zeroPoint));
  ranged[tensor] = true;
}

llvm::Error Probe::setRanges(const quantize::Calibration &calibration,
                             const std::string &name) {
  const std::string quoted = "'" + formatLine(name, 200) + "'";
  if (calibration.sha256 != model.sha256())
    return makeError(quoted + " is of another model, '" +
                     formatLine(calibration.model, 200) + "'");
  std::string unread;
  for (const quantize::TensorCalibration &tensor : calibration.tensors) {
    auto at = std::find(tensors().begin(), tensors().end(), tensor.name);
    if (at == tensors().end())
      unread = tensor.name;
    else
      setRange(size_t(at - tensors().begin()),
               {tensor.scale, tensor.zeroPoint});
  }
  // Layers that are kept, or that this target computes in floats anyway, need
  // no ranges. But a range under a wrong name leaves a layer without one.
  if (unread.empty() || llvm::all_of(ranged, [](bool is) { return is; }))
    return llvm::Error::success();
  return makeError(quoted + " has a range of tensor '" +
                   formatLine(unread, 200) +
                   "', which the model does not have");
}

bool Probe::canBeOn(size_t unit) const {
  std::optional<size_t> tensor = units()[unit].tensor;
  return (!tensor || ranged[*tensor]) && !forbidden[unit];
}

std::string Probe::tensorOf(size_t unit) const {
  std::optional<size_t> tensor = units()[unit].tensor;
  return tensor ? tensors()[*tensor] : "";
}

void Probe::turn(const std::vector<bool> &isOn) {
  for (size_t i = 0; i < units().size(); ++i)
    settings[i].data[0] = isOn[i] && canBeOn(i);
}

llvm::Error Probe::runOne(KnownSample &sample, std::vector<Array> &outputs) {
  const size_t numInputs = sample.inputs.size();
  // Move the inputs into the list for this run and back afterwards. They may be
  // large, so do not copy them.
  std::vector<Array> inputs = std::move(sample.inputs);
  inputs.insert(inputs.end(), settings.begin(), settings.end());
  llvm::Error error = model.runOnce(inputs, outputs);
  inputs.resize(numInputs);
  sample.inputs = std::move(inputs);
  return atSample(sample.where, std::move(error));
}

uint64_t ingot::study::bytesOf(const std::vector<Array> &arrays) {
  uint64_t bytes = 0;
  for (const Array &array : arrays)
    bytes += array.data.size();
  return bytes;
}

llvm::Error Probe::readSamples(Samples &samples, const Progress &progress,
                               uint64_t mostBytes) {
  turn(std::vector<bool>(units().size()));
  kept.clear();
  uint64_t bytes = 0;
  return forEachSample(
      samples, progress,
      [&](std::vector<Array> &inputs) -> llvm::Expected<bool> {
        kept.push_back({inputs, {}, samples.where(), samples.weight()});
        if (llvm::Error error = runOne(kept.back(), kept.back().outputs))
          return std::move(error);
        bytes += bytesOf(inputs) + bytesOf(kept.back().outputs);
        return bytes < mostBytes;
      });
}

static ingot_status addErrors(void *user, uint64_t number,
                              const ingot_tensor_view *view) {
  auto &errors = *static_cast<std::vector<std::vector<double>> *>(user);
  if (number >= errors.size() || view->dtype != INGOT_FLOAT || view->rank != 1)
    return INGOT_OK;
  std::vector<double> &sums = errors[number];
  sums.resize(size_t(view->dims[0]));
  const auto *values = static_cast<const float *>(view->data);
  for (size_t i = 0; i < sums.size(); ++i)
    sums[i] += double(values[int64_t(i) * view->strides[0]]);
  return INGOT_OK;
}

llvm::Error Probe::meanErrors(Samples &samples, const Progress &progress,
                              std::vector<std::vector<double>> &errors) {
  errors.assign(units().size(), {});
  turn(std::vector<bool>(units().size()));
  llvm::Error error = forEachSample(
      samples, progress,
      [&](std::vector<Array> &inputs) -> llvm::Expected<bool> {
        inputs.insert(inputs.end(), settings.begin(), settings.end());
        std::string problem;
        if (model.run(inputs, addErrors, &errors, problem) != INGOT_OK)
          return makeError(samples.where() + ": " + problem);
        return true;
      });
  for (std::vector<double> &sums : errors)
    for (double &sum : sums)
      sum /= double(samples.count());
  return error;
}

llvm::Error Probe::runOnce(const std::vector<bool> &isOn,
                           const std::vector<Array> &inputs,
                           std::vector<Array> &outputs) {
  turn(isOn);
  std::vector<Array> all = inputs;
  all.insert(all.end(), settings.begin(), settings.end());
  return model.runOnce(all, outputs);
}

llvm::Expected<std::vector<tools::Layer>> Probe::layersOfRun() {
  std::vector<Array> all = kept.front().inputs;
  all.insert(all.end(), settings.begin(), settings.end());
  return model.layersOfRun(all);
}

llvm::Error Probe::run(const std::vector<bool> &isOn, const Progress &progress,
                       Visit visit) {
  turn(isOn);
  std::vector<Array> outputs;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (llvm::Error error = checkCancelled(progress))
      return error;
    if (llvm::Error error = runOne(kept[i], outputs))
      return error;
    if (llvm::Error error = visit(i, kept[i].outputs, outputs))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error Probe::compareWith(const std::vector<bool> &isOn,
                               const Progress &progress) {
  turn(isOn);
  for (KnownSample &sample : kept) {
    if (llvm::Error error = checkCancelled(progress))
      return error;
    if (llvm::Error error = runOne(sample, sample.outputs))
      return error;
  }
  return llvm::Error::success();
}

llvm::Expected<double> Probe::measure(const std::vector<bool> &isOn,
                                      const Progress &progress) {
  std::vector<SampleErrors> errors;
  llvm::Error error =
      run(isOn, progress,
          [&](size_t sample, const std::vector<Array> &f32,
              const std::vector<Array> &found) {
            errors.push_back({weightOf(sample), compareOutputs(f32, found)});
            return llvm::Error::success();
          });
  if (error)
    return std::move(error);
  return estimateError(errors).error;
}
