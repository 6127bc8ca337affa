//===- Model.cpp - models and their contexts ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Model.h"

#include <cstring>

#include "Errors.h"

namespace ingot::python {

Cancellation::Cancellation() {
  ingot_error error = INGOT_ERROR_INIT;
  if (ingot_cancellation_create(&cancellation, &error) != INGOT_OK)
    raise(error);
}

Pool::Pool(uint32_t threads, uint32_t spinMicroseconds) {
  ingot_pool_options options = INGOT_POOL_OPTIONS_INIT;
  options.num_threads = threads;
  options.spin_us = spinMicroseconds;
  ingot_error error = INGOT_ERROR_INIT;
  if (ingot_pool_create(&options, &pool, &error) != INGOT_OK)
    raise(error);
}

/// Returns the text of a name. Bytes that are no UTF-8 are replaced.
static nb::object makeName(const char *utf8) {
  PyObject *name =
      PyUnicode_DecodeUTF8(utf8, Py_ssize_t(std::strlen(utf8)), "replace");
  PyUnicode_InternInPlace(&name);
  return nb::steal(name);
}

/// Returns false if a run cannot end early, because its only layer has no loop.
/// Such a run is spared the preparations.
bool Model::mayHaveSteps(const ingot_model_info &info) const {
  if (info.num_layers != 1)
    return true;
  ingot_layer_info layer = INGOT_LAYER_INFO_INIT;
  return ingot_model_layer_describe(model, 0, &layer, nullptr) != INGOT_OK ||
         std::strcmp(layer.kind, "elementwise") != 0;
}

Model::Model(const char *path, nb::handle bytes, const LoadOptions &options) {
  ingot_model_options native = INGOT_MODEL_OPTIONS_INIT;
  native.flags = options.flags;
  native.weights_path = options.weights;
  native.max_level = options.maxLevel;
  native.device = options.device;
  nb::ndarray<nb::ro> content;
  if (!path && !nb::try_cast(bytes, content, false))
    raiseType("expected a path or the bytes of a compiled model");
  ingot_error error = INGOT_ERROR_INIT;
  ingot_status status;
  {
    nb::gil_scoped_release release;
    status = path ? ingot_model_load(path, &native, &model, &error)
                  : ingot_model_load_memory(content.data(), content.nbytes(),
                                            &native, &model, &error);
  }
  if (status != INGOT_OK)
    raise(error);

  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ingot_model_describe(model, &info, nullptr);
  canEndEarly = mayHaveSteps(info);
  isOnGpu = info.device_memory == INGOT_MEMORY_CUDA;
  gpuNumber = info.device;
  for (uint32_t i = 0; i < info.num_inputs; ++i) {
    ingot_tensor_info tensor = INGOT_TENSOR_INFO_INIT;
    ingot_model_input_describe(model, i, &tensor, nullptr);
    inputs.emplace_back(tensor);
    inputNames.push_back(makeName(tensor.name));
    plain &= inputs.back().isPlain;
  }
  for (uint32_t i = 0; i < info.num_outputs; ++i) {
    ingot_tensor_info tensor = INGOT_TENSOR_INFO_INIT;
    ingot_model_output_describe(model, i, &tensor, nullptr);
    outputs.emplace_back(tensor);
    outputNames.push_back(makeName(tensor.name));
    plain &= outputs.back().isPlain;
    fixedOutputs &= outputs.back().isFixed;
  }
}

/// Takes the values of `names` from a dictionary, and None for those that it
/// does not have. Returns the number of names that it has.
static size_t takeValues(nb::handle dict, const std::vector<nb::object> &names,
                         nb::object &values) {
  values = nb::steal(PyTuple_New(Py_ssize_t(names.size())));
  size_t found = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    PyObject *value = PyDict_GetItemWithError(dict.ptr(), names[i].ptr());
    if (!value && PyErr_Occurred())
      throw nb::python_error();
    found += value != nullptr;
    nb::object item = nb::borrow(value ? value : Py_None);
    PyTuple_SetItem(values.ptr(), Py_ssize_t(i), item.release().ptr());
  }
  return found;
}

nb::object Model::takeInputs(nb::handle dict) const {
  nb::object values;
  size_t found = takeValues(dict, inputNames, values);
  bool isExact =
      found == inputNames.size() && size_t(PyDict_Size(dict.ptr())) == found;
  return isExact ? values : nb::object();
}

nb::object Model::takeOutputs(nb::handle dict) const {
  nb::object values;
  size_t found = takeValues(dict, outputNames, values);
  return size_t(PyDict_Size(dict.ptr())) == found ? values : nb::object();
}

nb::object Model::nameOutputs(const std::vector<nb::object> &values) const {
  nb::object dict = nb::steal(PyDict_New());
  for (size_t i = 0; i < values.size(); ++i)
    if (PyDict_SetItem(dict.ptr(), outputNames[i].ptr(), values[i].ptr()))
      throw nb::python_error();
  return dict;
}

Model::~Model() {
  for (Free &entry : free)
    for (ingot_context *context : entry.contexts)
      ingot_context_release(context);
  ingot_model_release(model);
}

std::vector<ingot_context *> &Model::freeContexts(uint32_t threads) {
  for (Free &entry : free)
    if (entry.threads == threads)
      return entry.contexts;
  free.push_back({threads, {}});
  return free.back().contexts;
}

Model::Lease::Lease(Model &model, const Request &request)
    : model(model), threads(request.threads), isOfCaller(request.context),
      context(request.context) {
  if (isOfCaller)
    return;
  {
    std::lock_guard<std::mutex> lock(model.mutex);
    std::vector<ingot_context *> &free = model.freeContexts(threads);
    if (!free.empty()) {
      context = free.back();
      free.pop_back();
      return;
    }
  }
  ingot_context_options options = INGOT_CONTEXT_OPTIONS_INIT;
  options.num_threads = threads;
  ingot_error error = INGOT_ERROR_INIT;
  if (ingot_context_create(model.model, &options, &context, &error) != INGOT_OK)
    raise(error);
}

Model::Lease::~Lease() {
  if (isOfCaller)
    return;
  std::lock_guard<std::mutex> lock(model.mutex);
  model.freeContexts(threads).push_back(context);
}

Context::Context(Model &model, uint32_t threads, Pool *pool) {
  ingot_context_options options = INGOT_CONTEXT_OPTIONS_INIT;
  options.num_threads = threads;
  options.pool = pool ? pool->get() : nullptr;
  ingot_error error = INGOT_ERROR_INIT;
  if (ingot_context_create(model.get(), &options, &context, &error) != INGOT_OK)
    raise(error);
}

} // namespace ingot::python
