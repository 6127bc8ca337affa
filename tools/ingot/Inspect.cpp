//===- Inspect.cpp - ingot inspect --------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/Handles.h"
#include "client/Layers.h"
#include "client/MetadataKeys.h"
#include "client/ShapeProfiles.h"
#include "client/Text.h"
#include "ingot/abi/artifact.h"
#include "tools/ingot/Commands.h"
#include "tools/ingot/Console.h"
#include "tools/ingot/Inferred.h"
#include "tools/ingot/InputOptions.h"
#include "tools/ingot/Options.h"

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

static const char *deviceName(uint32_t device) {
  switch (device) {
  case INGOT_ABI_DEVICE_CPU:
    return "cpu";
  case INGOT_ABI_DEVICE_CUDA:
    return "cuda";
  default:
    return "unknown";
  }
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

//===----------------------------------------------------------------------===//
// Output for people
//===----------------------------------------------------------------------===//

static void printTensors(const char *title,
                         const std::vector<ingot_tensor_info> &infos) {
  printf("\n%s\n", title);
  std::vector<std::vector<std::string>> rows;
  for (const ingot_tensor_info &info : infos)
    rows.push_back({formatLine(info.name, 60), ingot_dtype_name(info.dtype),
                    formatLine(formatShape(info.dims, info.rank,
                                           info.dim_names),
                               60),
                    info.is_dynamic ? "" : formatBytes(info.bytes)});
  printTable(rows);
}

/// Prints a line for each kind of machine: its requirements and its code size.
static void printVariants(const std::vector<ingot_variant_info> &infos) {
  const char *title = "target    ";
  for (const ingot_variant_info &info : infos) {
    std::string features;
    for (const std::string &name : featureNames(info))
      features += (features.empty() ? " (" : ", ") + name;
    features += features.empty() ? "" : ")";
    printf("%s%s%s%s, code %s%s\n", title, formatLine(info.target, 60).c_str(),
           info.device == INGOT_ABI_DEVICE_CPU
               ? ""
               : (std::string(" on ") + deviceName(info.device)).c_str(),
           features.c_str(), formatBytes(info.code_bytes).c_str(),
           infos.size() > 1 && info.is_in_use ? ", used here" : "");
    title = "          ";
  }
}

/// Prints the sizes that a run may have: one line for each profile, in the
/// syntax of --profile.
static void printProfiles(const ingot_model *model, bool takesGeneral) {
  std::vector<ShapeProfile> profiles = shapeProfilesOf(model);
  const char *title = "profiles  ";
  for (const ShapeProfile &profile : profiles) {
    printf("%s%s\n", title, formatProfile(model, profile).c_str());
    title = "          ";
  }
  if (!profiles.empty())
    printf("          %s\n", takesGeneral ? "and all other sizes"
                                          : "no other sizes run");
}

/// Prints how many layers each backend computes.
static void printBackends(const std::vector<Layer> &layers) {
  std::map<std::string, size_t> counts;
  size_t declined = 0;
  for (const Layer &layer : layers) {
    ++counts[layer.backend];
    declined += !layer.reason.empty();
  }
  if (layers.empty())
    return;
  printf("layers    %zu:", layers.size());
  const char *separator = " ";
  for (const auto &[name, count] : counts) {
    printf("%s%zu by %s", separator, count,
           name.empty() ? "?" : formatLine(name.c_str(), 40).c_str());
    separator = ", ";
  }
  if (declined)
    printf("; %zu not by a better one: --layers tells why", declined);
  printf("\n");
  // Warn about loops without a kernel, because they often take much time.
  for (const Layer &layer : layers)
    if (layer.isInLoop)
      printf("remark    node '%s': %s\n",
             formatLine(layer.shownName(), 100).c_str(),
             formatLine(layer.reason, 200).c_str());
}

/// Prints each layer, its backend, and the reason why a faster backend declined
/// it.
static void printLayers(const std::vector<Layer> &layers) {
  if (layers.empty())
    return;
  printf("\nlayers\n");
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
  printTable(rows);
}

/// Prints a line with names, unless there are none.
static void printNames(const char *title,
                       const std::vector<std::string> &names) {
  const char *separator = title;
  for (const std::string &name : names) {
    printf("%s%s", separator, formatLine(name.c_str(), 60).c_str());
    separator = ", ";
  }
  if (!names.empty())
    printf("\n");
}

/// Prints what the compiler has removed from the model and found in it. The
/// metadata record both.
static void printPruned(const ingot_model *model) {
  auto find = [&](const char *key) {
    return ingot_model_metadata_find(model, key);
  };
  const char *channels = find(metadatakey::channels),
             *removed = find(metadatakey::channels_removed),
             *before = find(metadatakey::unpruned_bytes),
             *after = find(metadatakey::pruned_bytes);
  if (channels && removed && before && after)
    printf("pruned    %s of %s channels, weights from %s to %s as floats\n",
           formatLine(removed, 20).c_str(), formatLine(channels, 20).c_str(),
           formatBytes(strtoull(before, nullptr, 10)).c_str(),
           formatBytes(strtoull(after, nullptr, 10)).c_str());
  const char *whole = find(metadatakey::whole_bytes),
             *blocks = find(metadatakey::block_bytes);
  if (whole && blocks)
    printf("blocks    %s stored of %s of weights, the rest are blocks of "
           "zeros\n",
           formatBytes(strtoull(blocks, nullptr, 10)).c_str(),
           formatBytes(strtoull(whole, nullptr, 10)).c_str());
  const char *weights = find(metadatakey::weights),
             *zeros = find(metadatakey::zero_weights);
  if (weights && zeros)
    printf("zeros     %.1f %% of %s weights\n",
           100 * strtod(zeros, nullptr) / strtod(weights, nullptr),
           formatLine(weights, 20).c_str());
}

static void printText(const ingot_model *model, const ingot_model_info &info,
                      bool isVerified, bool withLayers,
                      const Inferred *inferred) {
  printf("model     %s\n", formatLine(info.name, 100).c_str());
  printf("compiler  %s, ABI version %u\n",
         formatLine(info.compiler, 60).c_str(), info.abi_version);
  printVariants(variantsOf(model));
  printNames("libraries ", usesOf(model, INGOT_USE_LIBRARY));
  printf("precision %s\n", precisionOf(model).c_str());
  printf("weights   %s, %s\n", formatBytes(info.weights_bytes).c_str(),
         info.separate_weights ? "in a file of their own" : "embedded");
  if (info.weights_bytes)
    printf("          SHA-256 %s\n", hex(info.weights_sha256).c_str());
  printf("arena     %s a context\n", formatBytes(info.arena_bytes).c_str());
  if (info.num_size_rules_proved || info.num_size_rules_checked)
    printf(
        "sizes     %u rules hold for all sizes, %u are checked in each run\n",
        info.num_size_rules_proved, info.num_size_rules_checked);
  printPruned(model);
  printProfiles(model, info.takes_general);
  if (inferred)
    printInferred(model, *inferred);
  std::vector<Layer> layers = layersOf(model);
  printBackends(layers);
  if (isVerified)
    printf("verified  code, tables and weights are what was compiled\n");
  printTensors("inputs", inputInfosOf(model));
  printTensors("outputs", outputInfosOf(model));
  if (withLayers)
    printLayers(layers);
  std::vector<std::vector<std::string>> rows;
  for (uint32_t i = 0; i < info.num_metadata; ++i) {
    const char *key, *value;
    ingot_model_metadata_get(model, i, &key, &value, nullptr);
    // Skip entries that the list of layers already shows.
    if (std::string(key) == metadatakey::layer_shapes ||
        std::string(key) == metadatakey::scopes)
      continue;
    rows.push_back({formatLine(key, 40), formatLine(value, 72)});
  }
  if (rows.empty())
    return;
  printf("\nmetadata\n");
  printTable(rows);
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

/// Returns the members of the JSON document.
static Json toJson(const ingot_model *model, const ingot_model_info &info,
                   bool isVerified, const Inferred *inferred) {
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
  if (inferred)
    json["inferred"] = toJson(*inferred);
  json["layers"] = toJson(layersOf(model));
  if (isVerified)
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

int ingot::inspectMain(int argc, char **argv) {
  OptionParser parser(cli::CommandId::inspect);
  std::string path;
  InputSpecs specs;
  cli::InspectFlags flags;
  cli::JsonFlags output;
  parser.addInspect(flags);
  addShapeOptions(parser, specs);
  parser.addJson(output);
  int exitCode;
  if (!parser.parse(argc, argv, path, exitCode))
    return exitCode;
  const std::string &key = flags.metadata, &weights = flags.weights;
  const bool json = output.json, verify = flags.verify, layers = flags.layers;
  const bool asksForSizes = !specs.shapes.empty() || !specs.dims.empty();
  if (verify && asksForSizes)
    return parser.usageError("--verify excludes --shape and --dim");

  ModelHandle model;
  std::string problem =
      verify         ? verifyModel(path, weights, model)
      : asksForSizes ? loadModel(path, {weights}, /*pool=*/nullptr, model)
                     : describeModel(path, model);
  Inferred inferred;
  if (problem.empty() && asksForSizes)
    problem = inferSizes(model.get(), specs, inferred);
  if (!problem.empty())
    return parser.failure(problem);
  const ingot_model *raw = model.get();
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ingot_model_describe(raw, &info, nullptr);
  if (!key.empty()) {
    const char *value = ingot_model_metadata_find(raw, key.c_str());
    if (!value)
      return parser.failure("'" + path + "' has no metadata '" + key + "'");
    fputs(value, stdout);
  } else if (json) {
    Console("inspect").result(
        toJson(raw, info, verify, asksForSizes ? &inferred : nullptr));
  } else {
    printText(raw, info, verify, layers, asksForSizes ? &inferred : nullptr);
  }
  return exitSuccess;
}
