//===- Probe.cpp - what int8 does, layer by layer -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/calibrate/Probe.h"

#include "tools/ingot/Execute.h"
#include "tools/ingot/Text.h"
#include "tools/ingot/calibrate/OutputDifference.h"

#include <string.h>

using namespace ingot;
using namespace ingot::tools;

static void setFloat(Array &scalar, float value) {
  memcpy(scalar.data.data(), &value, sizeof(value));
}

int Probe::prepare(const ScratchModel::Options &given) {
  ScratchModel::Options options = given;
  options.pipeline.switches = true;
  isPartial = !options.pipeline.keep.empty();
  if (int code = model.prepare(options))
    return code;
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
  return exitSuccess;
}

void Probe::setExact(size_t tensor) {
  // Set a step so small that rounding changes nothing.
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

std::string Probe::setRanges(const quantize::Calibration &calibration) {
  if (calibration.sha256 != model.sha256())
    return "is of another model, '" + formatLine(calibration.model, 200) + "'";
  for (const quantize::TensorCalibration &tensor : calibration.tensors) {
    auto at = std::find(tensors().begin(), tensors().end(), tensor.name);
    // Kept layers need no ranges.
    if (at == tensors().end() && isPartial)
      continue;
    if (at == tensors().end())
      return "has a range of tensor '" + formatLine(tensor.name, 200) +
             "', which the model does not have";
    setRange(size_t(at - tensors().begin()), {tensor.scale, tensor.zeroPoint});
  }
  return "";
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

std::string Probe::runOne(KnownSample &sample, std::vector<Array> &outputs) {
  const size_t numInputs = sample.inputs.size();
  // Move the inputs into the list for this run, and back after it, since they
  // may be large.
  std::vector<Array> inputs = std::move(sample.inputs);
  inputs.insert(inputs.end(), settings.begin(), settings.end());
  ingot_error error = INGOT_ERROR_INIT;
  const ingot_status status =
      runToFit(model.handle(), model.runs(), inputs, outputs, error);
  inputs.resize(numInputs);
  sample.inputs = std::move(inputs);
  return status == INGOT_OK ? "" : sample.where + ": " + error.message;
}

uint64_t ingot::tools::bytesOf(const std::vector<Array> &arrays) {
  uint64_t bytes = 0;
  for (const Array &array : arrays)
    bytes += array.data.size();
  return bytes;
}

std::string Probe::readSamples(Samples &samples, uint64_t mostBytes) {
  turn(std::vector<bool>(units().size()));
  std::string problem;
  std::vector<Array> inputs;
  uint64_t bytes = 0;
  while (bytes < mostBytes && samples.next(inputs, problem)) {
    progress.show(samples.progress());
    kept.push_back({inputs, {}, samples.where(), samples.weight()});
    problem = runOne(kept.back(), kept.back().outputs);
    if (!problem.empty())
      return problem;
    bytes += bytesOf(inputs) + bytesOf(kept.back().outputs);
  }
  return problem;
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

std::string Probe::meanErrors(Samples &samples,
                              std::vector<std::vector<double>> &errors) {
  errors.assign(units().size(), {});
  turn(std::vector<bool>(units().size()));
  std::vector<Array> inputs;
  std::string problem;
  while (samples.next(inputs, problem)) {
    progress.show(samples.progress());
    inputs.insert(inputs.end(), settings.begin(), settings.end());
    if (model.run(inputs, addErrors, &errors, problem) != INGOT_OK)
      return samples.where() + ": " + problem;
  }
  for (std::vector<double> &sums : errors)
    for (double &sum : sums)
      sum /= double(samples.count());
  return problem;
}

std::string Probe::runOnce(const std::vector<bool> &isOn,
                           const std::vector<Array> &inputs,
                           std::vector<Array> &outputs) {
  turn(isOn);
  std::vector<Array> all = inputs;
  all.insert(all.end(), settings.begin(), settings.end());
  ingot_error error = INGOT_ERROR_INIT;
  const ingot_status status =
      runToFit(model.handle(), model.runs(), all, outputs, error);
  return status == INGOT_OK ? "" : error.message;
}

std::string Probe::run(const std::vector<bool> &isOn, const Visit &visit) {
  turn(isOn);
  std::vector<Array> outputs;
  for (size_t i = 0; i < kept.size(); ++i) {
    std::string problem = runOne(kept[i], outputs);
    if (!problem.empty())
      return problem;
    visit(i, kept[i].outputs, outputs);
  }
  return "";
}

std::string Probe::compareWith(const std::vector<bool> &isOn) {
  turn(isOn);
  std::string problem;
  for (KnownSample &sample : kept)
    if (problem.empty())
      problem = runOne(sample, sample.outputs);
  return problem;
}

std::string Probe::measure(const std::vector<bool> &isOn, double &error) {
  OutputsDifference difference;
  std::string problem = run(isOn, [&](size_t sample,
                                      const std::vector<Array> &f32,
                                      const std::vector<Array> &found) {
    difference.add(f32, found, weightOf(sample));
  });
  error = difference.relative();
  return problem;
}
