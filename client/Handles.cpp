//===- Handles.cpp - making libingot's objects --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/Handles.h"

#include <algorithm>

using namespace ingot::tools;

/// Calls `make` with a pointer to set. `handle` then owns the object.
template <typename Handle, typename Make>
static std::string fill(Handle &handle, Make make) {
  ingot_error error = INGOT_ERROR_INIT;
  typename Handle::pointer raw = nullptr;
  if (make(&raw, &error))
    return error.message;
  handle.reset(raw);
  return "";
}

std::string ingot::tools::createPool(unsigned threads, PoolHandle &pool,
                                     unsigned spinUs) {
  ingot_pool_options options = INGOT_POOL_OPTIONS_INIT;
  options.num_threads = threads;
  options.spin_us = spinUs;
  return fill(pool, [&](ingot_pool **raw, ingot_error *error) {
    return ingot_pool_create(&options, raw, error);
  });
}

static std::string load(const std::string &path,
                        const ingot_model_options &options,
                        ModelHandle &model) {
  return fill(model, [&](ingot_model **raw, ingot_error *error) {
    return ingot_model_load(path.c_str(), &options, raw, error);
  });
}

/// Loads a model. Fails if a weights file is given, but the model has no
/// separate weights.
static std::string loadWith(ingot_model_options options,
                            const std::string &path, const std::string &weights,
                            ModelHandle &model) {
  if (!weights.empty())
    options.weights_path = weights.c_str();
  std::string problem = load(path, options, model);
  if (!problem.empty() || weights.empty())
    return problem;
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ingot_model_describe(model.get(), &info, nullptr);
  return info.separate_weights ? ""
                               : "'" + path +
                                     "' has no separate weights; "
                                     "leave out --weights";
}

std::string ingot::tools::loadModel(const std::string &path,
                                    const LoadOptions &given, ingot_pool *pool,
                                    ModelHandle &model) {
  ingot_model_options options = INGOT_MODEL_OPTIONS_INIT;
  options.pool = pool;
  if (!given.device.empty())
    options.device = given.device.c_str();
  // Map the code, because a command is short, and profilers find symbols in the
  // file.
  options.flags =
      INGOT_MODEL_MAP_CODE | (given.verifies ? INGOT_MODEL_VERIFY : 0);
  return loadWith(options, path, given.weights, model);
}

std::string ingot::tools::describeModel(const std::string &path,
                                        ModelHandle &model) {
  ingot_model_options options = INGOT_MODEL_OPTIONS_INIT;
  options.flags = INGOT_MODEL_DESCRIBE_ONLY;
  return load(path, options, model);
}

std::string ingot::tools::verifyModel(const std::string &path,
                                      const std::string &weights,
                                      ModelHandle &model) {
  ingot_model_options options = INGOT_MODEL_OPTIONS_INIT;
  options.flags = INGOT_MODEL_DESCRIBE_ONLY | INGOT_MODEL_VERIFY;
  return loadWith(options, path, weights, model);
}

std::string ingot::tools::createContext(ingot_model *model, ingot_pool *pool,
                                        ContextHandle &context) {
  ingot_context_options options = INGOT_CONTEXT_OPTIONS_INIT;
  options.pool = pool;
  return fill(context, [&](ingot_context **raw, ingot_error *error) {
    return ingot_context_create(model, &options, raw, error);
  });
}

std::string ingot::tools::createProfile(ingot_model *model,
                                        ProfileHandle &profile) {
  return fill(profile, [&](ingot_profile **raw, ingot_error *error) {
    return ingot_profile_create(model, nullptr, raw, error);
  });
}

std::vector<ingot_tensor_info>
ingot::tools::inputInfosOf(const ingot_model *model) {
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ingot_model_describe(model, &info, nullptr);
  std::vector<ingot_tensor_info> infos(info.num_inputs, INGOT_TENSOR_INFO_INIT);
  for (uint32_t i = 0; i < info.num_inputs; ++i)
    ingot_model_input_describe(model, i, &infos[i], nullptr);
  return infos;
}

std::vector<ingot_tensor_info>
ingot::tools::outputInfosOf(const ingot_model *model) {
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ingot_model_describe(model, &info, nullptr);
  std::vector<ingot_tensor_info> infos(info.num_outputs,
                                       INGOT_TENSOR_INFO_INIT);
  for (uint32_t i = 0; i < info.num_outputs; ++i)
    ingot_model_output_describe(model, i, &infos[i], nullptr);
  return infos;
}

std::vector<ingot_variant_info>
ingot::tools::variantsOf(const ingot_model *model) {
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ingot_model_describe(model, &info, nullptr);
  std::vector<ingot_variant_info> infos(info.num_variants,
                                        INGOT_VARIANT_INFO_INIT);
  for (uint32_t i = 0; i < info.num_variants; ++i)
    ingot_model_variant_describe(model, i, &infos[i], nullptr);
  return infos;
}

std::vector<std::string> ingot::tools::usesOf(const ingot_model *model,
                                              uint32_t kind) {
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ingot_model_describe(model, &info, nullptr);
  std::vector<std::string> names;
  for (uint32_t i = 0; i < info.num_uses; ++i) {
    ingot_use_info use = INGOT_USE_INFO_INIT;
    ingot_model_use_describe(model, i, &use, nullptr);
    if (use.kind == kind)
      names.push_back(use.name);
  }
  return names;
}

static bool contains(const std::vector<std::string> &names,
                     const std::string &name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string ingot::tools::precisionOf(const ingot_model *model) {
  const std::vector<std::string> uses = usesOf(model, INGOT_USE_PRECISION);
  static constexpr std::pair<const char *, const char *> kPrecisions[] = {
#define INGOT_PRECISION(NAME, USE) {#NAME, USE},
#include "ingot/abi/precisions.inc"
  };
  for (auto [name, use] : kPrecisions)
    if (contains(uses, use))
      return name;
  return "fp32";
}

const char *ingot::tools::deviceName(uint32_t device) {
  switch (device) {
  case INGOT_ABI_DEVICE_CPU:
    return "cpu";
  case INGOT_ABI_DEVICE_CUDA:
    return "cuda";
  default:
    return "unknown";
  }
}
