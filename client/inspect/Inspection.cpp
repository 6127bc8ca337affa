//===- Inspection.cpp - what an artifact tells ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/inspect/Inspection.h"

#include "client/Layers.h"
#include "client/MetadataKeys.h"
#include "client/ShapeProfiles.h"
#include "client/Text.h"
#include "ingot/abi/artifact.h"

#include <map>
#include <stdio.h>
#include <stdlib.h>

using namespace ingot::tools;

namespace {
constexpr struct {
  uint64_t bit;
  const char *name;
} cpuFeatures[] = {
#define INGOT_CPU_FEATURE(BIT, NAME, LLVM_NAME) {uint64_t(1) << BIT, LLVM_NAME},
#include "ingot/abi/cpu_features.inc"
};

} // namespace

static std::vector<std::string> featureNames(uint64_t bits) {
  std::vector<std::string> names;
  for (const auto &feature : cpuFeatures)
    if (bits & feature.bit)
      names.push_back(feature.name);
  return names;
}

/// Returns the names of CPU features. Empty if the architecture's features are
/// unknown.
static std::vector<std::string> featureNames(const ingot_variant_info &info) {
  return info.architecture == INGOT_ABI_ARCHITECTURE_X86_64
             ? featureNames(info.features)
             : std::vector<std::string>();
}

static std::string hex(const uint8_t (&digest)[32]) {
  std::string text;
  for (uint8_t byte : digest) {
    char digits[3];
    snprintf(digits, sizeof(digits), "%02x", byte);
    text += digits;
  }
  return text;
}

std::string ingot::tools::inspectModel(const InspectOptions &options,
                                       Inspection &inspection) {
  const InputSpecs &sizes = options.sizes;
  const bool givesSizes = !sizes.shapes.empty() || !sizes.dims.empty();
  std::string problem =
      options.verify
          ? verifyModel(options.model, options.weights, inspection.model)
      : givesSizes ? loadModel(options.model, {options.weights, /*device=*/""},
                               /*pool=*/nullptr, inspection.model)
                   : describeModel(options.model, inspection.model);
  const ingot_model *model = inspection.model.get();
  if (problem.empty())
    problem = readGpuCode(model, inspection.gpu);
  if (problem.empty() && givesSizes)
    problem = inferSizes(model, sizes, inspection.inferred.emplace());
  if (!problem.empty())
    return problem;
  ingot_model_describe(model, &inspection.info, nullptr);
  inspection.isVerified = options.verify;
  return "";
}

//===----------------------------------------------------------------------===//
// Output for people
//===----------------------------------------------------------------------===//

static void addTensors(TextBuilder &text, const char *title,
                       const std::vector<ingot_tensor_info> &infos) {
  text.add("\n%s\n", title);
  std::vector<std::vector<std::string>> rows;
  for (const ingot_tensor_info &info : infos)
    rows.push_back(
        {formatLine(info.name, 60), ingot_dtype_name(info.dtype),
         formatLine(formatShape(info.dims, info.rank, info.dim_names), 60),
         info.is_dynamic ? "" : formatBytes(info.bytes)});
  text.table(std::move(rows));
}

/// Prints a line for each kind of machine: its requirements and its code size.
static void addVariants(TextBuilder &text,
                        const std::vector<ingot_variant_info> &infos) {
  const char *title = "target    ";
  for (const ingot_variant_info &info : infos) {
    std::string features;
    for (const std::string &name : featureNames(info))
      features += (features.empty() ? " (" : ", ") + name;
    features += features.empty() ? "" : ")";
    text.add("%s%s%s%s, code %s%s\n", title,
             formatLine(info.target, 60).c_str(),
             info.device == INGOT_ABI_DEVICE_CPU
                 ? ""
                 : (std::string(" on ") + deviceName(info.device)).c_str(),
             features.c_str(), formatBytes(info.code_bytes).c_str(),
             infos.size() > 1 && info.is_in_use ? ", used here" : "");
    title = "          ";
  }
}

/// Appends the sizes that a run may have: one line for each profile, in the
/// syntax of --profile.
static void addProfiles(TextBuilder &text, const ingot_model *model,
                        bool takesGeneral) {
  std::vector<ShapeProfile> profiles = shapeProfilesOf(model);
  const char *title = "profiles  ";
  for (const ShapeProfile &profile : profiles) {
    text.add("%s%s\n", title, formatProfile(model, profile).c_str());
    title = "          ";
  }
  if (!profiles.empty())
    text.add("          %s\n",
             takesGeneral ? "and all other sizes" : "no other sizes run");
}

/// Prints how many layers each backend computes.
static void addBackends(TextBuilder &text, const std::vector<Layer> &layers) {
  std::map<std::string, size_t> counts;
  size_t declined = 0;
  for (const Layer &layer : layers) {
    ++counts[layer.backend];
    declined += !layer.reason.empty();
  }
  if (layers.empty())
    return;
  text.add("layers    %zu:", layers.size());
  const char *separator = " ";
  for (const auto &[name, count] : counts) {
    text.add("%s%zu by %s", separator, count,
             name.empty() ? "?" : formatLine(name.c_str(), 40).c_str());
    separator = ", ";
  }
  if (declined)
    text.add("; %zu were declined by a faster backend: --layers tells why",
             declined);
  text.add("\n");
  // Warn about loops without a kernel, because they often take much time.
  for (const Layer &layer : layers)
    if (layer.isInLoop)
      text.add("remark    node '%s': %s\n",
               formatLine(layer.shownName(), 100).c_str(),
               formatLine(layer.reason, 200).c_str());
}

/// Appends each layer, its backend, and the reason why a faster backend
/// declined it.
static void addLayers(TextBuilder &text, const std::vector<Layer> &layers) {
  if (layers.empty())
    return;
  text.add("\nlayers\n");
  // Layers for usual sizes come after those for all sizes.
  const bool hasProfiles = layers.back().usualOf != 0;
  std::vector<std::vector<std::string>> rows;
  for (const Layer &layer : layers) {
    std::vector<std::string> row = {
        formatLine(layer.description(), 40), formatLine(layer.backend, 40),
        formatLine(layer.shape, 60), formatLine(layer.shownName(), 100),
        formatLine(layer.reason, 200)};
    if (hasProfiles)
      row.insert(row.begin(), layer.usualOf
                                  ? "profile " + std::to_string(layer.usualOf)
                                  : "all sizes");
    rows.push_back(std::move(row));
  }
  text.table(std::move(rows));
}

/// Appends a line with names, unless there are none.
static void addNames(TextBuilder &text, const char *title,
                     const std::vector<std::string> &names) {
  const char *separator = title;
  for (const std::string &name : names) {
    text.add("%s%s", separator, formatLine(name.c_str(), 60).c_str());
    separator = ", ";
  }
  if (!names.empty())
    text.add("\n");
}

/// Appends what the compiler has removed from the model and found in it. The
/// metadata record both.
static void addPruned(TextBuilder &text, const ingot_model *model) {
  auto find = [&](const char *key) {
    return ingot_model_metadata_find(model, key);
  };
  const char *channels = find(metadatakey::channels),
             *removed = find(metadatakey::channels_removed),
             *before = find(metadatakey::unpruned_bytes),
             *after = find(metadatakey::pruned_bytes);
  if (channels && removed && before && after)
    text.add("pruned    %s of %s channels, weights from %s to %s as floats\n",
             formatLine(removed, 20).c_str(), formatLine(channels, 20).c_str(),
             formatBytes(strtoull(before, nullptr, 10)).c_str(),
             formatBytes(strtoull(after, nullptr, 10)).c_str());
  const char *whole = find(metadatakey::whole_bytes),
             *blocks = find(metadatakey::block_bytes);
  if (whole && blocks)
    text.add("blocks    %s stored of %s of weights, the rest are blocks of "
             "zeros\n",
             formatBytes(strtoull(blocks, nullptr, 10)).c_str(),
             formatBytes(strtoull(whole, nullptr, 10)).c_str());
  const char *weights = find(metadatakey::weights),
             *zeros = find(metadatakey::zero_weights);
  if (weights && zeros)
    text.add("zeros     %.1f %% of %s weights\n",
             100 * strtod(zeros, nullptr) / strtod(weights, nullptr),
             formatLine(weights, 20).c_str());
}

std::string ingot::tools::textOf(const Inspection &inspection,
                                 bool withLayers) {
  const ingot_model *model = inspection.model.get();
  const ingot_model_info &info = inspection.info;
  TextBuilder text;
  text.add("model     %s\n", formatLine(info.name, 100).c_str());
  text.add("compiler  %s, ABI version %u\n",
           formatLine(info.compiler, 60).c_str(), info.abi_version);
  addVariants(text, variantsOf(model));
  addNames(text, "libraries ", usesOf(model, INGOT_USE_LIBRARY));
  text.add("precision %s\n", precisionOf(model).c_str());
  text.add("weights   %s, %s\n", formatBytes(info.weights_bytes).c_str(),
           info.separate_weights ? "in a file of their own" : "embedded");
  if (info.weights_bytes)
    text.add("          SHA-256 %s\n", hex(info.weights_sha256).c_str());
  text.add("arena     %s a context\n", formatBytes(info.arena_bytes).c_str());
  if (info.num_size_rules_proved || info.num_size_rules_checked)
    text.add(
        "sizes     %u conditions always hold, %u are checked in each run\n",
        info.num_size_rules_proved, info.num_size_rules_checked);
  addPruned(text, model);
  addProfiles(text, model, info.takes_general);
  if (inspection.inferred)
    addInferred(text, model, *inspection.inferred);
  std::vector<Layer> layers = layersOf(model);
  addBackends(text, layers);
  if (inspection.gpu)
    addGpuCode(text, *inspection.gpu);
  if (inspection.isVerified)
    text.add("verified  code, tables and weights are what was compiled\n");
  addTensors(text, "inputs", inputInfosOf(model));
  addTensors(text, "outputs", outputInfosOf(model));
  if (withLayers)
    addLayers(text, layers);
  if (withLayers && inspection.gpu)
    addGpuKernels(text, *inspection.gpu);
  std::vector<std::vector<std::string>> rows;
  for (uint32_t i = 0; i < info.num_metadata; ++i) {
    const char *key, *value;
    ingot_model_metadata_get(model, i, &key, &value, nullptr);
    // Skip entries that the lists of layers and kernels already show.
    if (std::string(key) == metadatakey::layer_shapes ||
        std::string(key) == metadatakey::scopes ||
        std::string(key) == metadatakey::gpu)
      continue;
    rows.push_back({formatLine(key, 40), formatLine(value, 72)});
  }
  if (!rows.empty()) {
    text.add("\nmetadata\n");
    text.table(std::move(rows));
  }
  return text.str();
}

//===----------------------------------------------------------------------===//
// Output for programs
//===----------------------------------------------------------------------===//

static Json toJson(const std::vector<ingot_tensor_info> &infos) {
  Json all = Json::array();
  for (const ingot_tensor_info &info : infos)
    all.push_back(
        {{"name", info.name},
         {"dtype", ingot_dtype_name(info.dtype)},
         {"shape", std::vector<int64_t>(info.dims, info.dims + info.rank)},
         {"bytes", info.is_dynamic ? Json() : Json(info.bytes)},
         {"dim_names", std::vector<std::string>(info.dim_names,
                                                info.dim_names + info.rank)}});
  return all;
}

static Json toJson(const std::vector<ingot_variant_info> &infos) {
  Json all = Json::array();
  for (const ingot_variant_info &info : infos)
    all.push_back({{"target", info.target},
                   {"device", deviceName(info.device)},
                   {"in_use", bool(info.is_in_use)},
                   {"priority", info.priority},
                   {"arena_bytes", info.arena_bytes},
                   {"code_bytes", info.code_bytes},
                   {"features", featureNames(info)}});
  return all;
}

static Json toJson(const std::vector<Layer> &layers) {
  Json all = Json::array();
  for (const Layer &layer : layers)
    all.push_back({{"kind", layer.kind},
                   {"backend", layer.backend},
                   {"reason", layer.reason},
                   {"precision", layer.precision},
                   {"shape", layer.shape},
                   {"usual_of", layer.usualOf},
                   {"in_loop", layer.isInLoop},
                   {"nodes", layer.nodes},
                   {"scopes", layer.scopes}});
  return all;
}

static Json profilesToJson(const ingot_model *model) {
  Json all = Json::array();
  for (const ShapeProfile &profile : shapeProfilesOf(model)) {
    Json ranges = Json::array();
    for (const ingot_size_range_info &range : profile) {
      ingot_tensor_info input = INGOT_TENSOR_INFO_INIT;
      ingot_model_input_describe(model, range.input, &input, nullptr);
      ranges.push_back({{"input", input.name},
                        {"dim", range.dim},
                        {"min", range.min},
                        {"usual", range.usual},
                        {"max", range.max},
                        {"multiple", range.multiple}});
    }
    all.push_back(std::move(ranges));
  }
  return all;
}

Json ingot::tools::toJson(const Inspection &inspection) {
  const ingot_model *model = inspection.model.get();
  const ingot_model_info &info = inspection.info;
  Json json = {{"name", info.name},
               {"compiler", info.compiler},
               {"abi_version", info.abi_version},
               {"target", info.target},
               {"variants", toJson(variantsOf(model))},
               {"libraries", usesOf(model, INGOT_USE_LIBRARY)},
               {"precision", precisionOf(model)},
               {"precisions", usesOf(model, INGOT_USE_PRECISION)},
               {"separate_weights", bool(info.separate_weights)},
               {"weights_bytes", info.weights_bytes},
               {"weights_sha256", hex(info.weights_sha256)},
               {"arena_bytes", info.arena_bytes},
               {"code_bytes", info.code_bytes},
               {"size_rules",
                {{"proved", info.num_size_rules_proved},
                 {"checked", info.num_size_rules_checked}}},
               {"inputs", toJson(inputInfosOf(model))},
               {"outputs", toJson(outputInfosOf(model))},
               {"takes_general", bool(info.takes_general)},
               {"shape_profiles", profilesToJson(model)}};
  if (inspection.inferred)
    json["inferred"] = toJson(*inspection.inferred);
  json["layers"] = ::toJson(layersOf(model));
  json["gpu"] = inspection.gpu ? toJson(*inspection.gpu) : Json();
  if (inspection.isVerified)
    json["verified"] = true;
  Json metadata = Json::object();
  for (uint32_t i = 0; i < info.num_metadata; ++i) {
    const char *key, *value;
    ingot_model_metadata_get(model, i, &key, &value, nullptr);
    metadata[key] = value;
  }
  json["metadata"] = std::move(metadata);
  return json;
}
