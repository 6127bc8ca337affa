//===- Execute.cpp - running a model on arrays --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/Execute.h"

#include "client/Handles.h"

using namespace ingot::tools;

std::vector<ingot_input>
ingot::tools::inputViews(const std::vector<Array> &arrays) {
  std::vector<ingot_input> views;
  for (const Array &array : arrays) {
    views.push_back(ingot_input_make(array.data.data(), array.data.size(),
                                     array.dims.data(),
                                     uint32_t(array.dims.size()), array.dtype));
    if (array.dtype == INGOT_STRING) {
      views.back().text = array.text.data();
      views.back().text_bytes = array.text.size();
    }
  }
  return views;
}

std::vector<ingot_output>
ingot::tools::outputViews(std::vector<Array> &arrays) {
  std::vector<ingot_output> views;
  for (Array &array : arrays) {
    views.push_back(ingot_output_make(
        array.data.data(), array.data.size(), array.dims.data(),
        uint32_t(array.dims.size()), array.dtype));
    if (array.dtype == INGOT_STRING) {
      views.back().text = array.text.data();
      views.back().text_bytes = array.text.size();
    }
  }
  return views;
}

std::vector<std::string> ingot::tools::outputNames(const ingot_model *model) {
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ingot_model_describe(model, &info, nullptr);
  std::vector<std::string> names;
  for (uint32_t i = 0; i < info.num_outputs; ++i) {
    ingot_tensor_info tensor = INGOT_TENSOR_INFO_INIT;
    ingot_model_output_describe(model, i, &tensor, nullptr);
    names.push_back(tensor.name);
  }
  return names;
}

/// Allocates the outputs whose sizes follow from the sizes of the inputs. With
/// too little room a run would have to be repeated. Ignores errors, because the
/// run reports them.
static void makeRoom(const ingot_model *model, const std::vector<Array> &inputs,
                     std::vector<Array> &outputs) {
  std::vector<const int64_t *> given;
  std::vector<uint32_t> givenRanks, toldRanks;
  for (const Array &array : inputs) {
    given.push_back(array.dims.data());
    givenRanks.push_back(uint32_t(array.dims.size()));
  }
  std::vector<int64_t *> told;
  for (Array &array : outputs) {
    told.push_back(array.dims.data());
    toldRanks.push_back(uint32_t(array.dims.size()));
  }
  uint64_t arenaBytes = 0;
  if (ingot_model_infer(model, given.data(), givenRanks.data(),
                        uint32_t(given.size()), told.data(), toldRanks.data(),
                        uint32_t(told.size()), &arenaBytes,
                        nullptr) != INGOT_OK)
    return;
  for (Array &array : outputs)
    if (uint64_t bytes; denseBytes(array.dims, array.dtype, bytes))
      array.data.resize(bytes);
}

ingot_status ingot::tools::runToFit(const ingot_model *model,
                                    ingot_context *context,
                                    const std::vector<Array> &inputs,
                                    std::vector<Array> &outputs,
                                    ingot_error &error,
                                    const ingot_run_options *options) {
  std::vector<ingot_input> in = inputViews(inputs);
  ingot_model_info modelInfo = INGOT_MODEL_INFO_INIT;
  ingot_model_describe(model, &modelInfo, nullptr);
  outputs.resize(modelInfo.num_outputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    ingot_tensor_info info = INGOT_TENSOR_INFO_INIT;
    ingot_model_output_describe(model, uint32_t(i), &info, nullptr);
    outputs[i].dtype = info.dtype;
    outputs[i].dims.assign(info.dims, info.dims + info.rank);
    outputs[i].data.resize(info.bytes);
  }
  makeRoom(model, inputs, outputs);
  // Each run that fails reports at least one more size: that of an output's
  // elements or of its text. So two runs per output and a last one are enough.
  ingot_status status = INGOT_OK;
  std::vector<uint64_t> textUsed(outputs.size());
  for (size_t attempt = 0; attempt <= 2 * outputs.size(); ++attempt) {
    std::vector<ingot_output> out = outputViews(outputs);
    for (size_t i = 0; i < out.size(); ++i)
      if (outputs[i].dtype == INGOT_STRING)
        out[i].text_used = &textUsed[i];
    status =
        ingot_context_run(context, in.data(), uint32_t(in.size()), out.data(),
                          uint32_t(out.size()), options, &error);
    options = nullptr;
    if (status != INGOT_OK && status != INGOT_BUFFER_TOO_SMALL)
      return status;
    for (Array &array : outputs) {
      uint64_t bytes;
      if (denseBytes(array.dims, array.dtype, bytes) &&
          (status == INGOT_OK || bytes > array.data.size()))
        array.data.resize(bytes);
      uint64_t text = textUsed[size_t(&array - outputs.data())];
      if (status == INGOT_OK || text > array.text.size())
        array.text.resize(text);
    }
    if (status == INGOT_OK)
      return status;
  }
  return status;
}
