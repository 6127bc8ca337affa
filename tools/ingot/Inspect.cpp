//===- Inspect.cpp - ingot inspect --------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ingot/abi/artifact.h"
#include "tools/ingot/Commands.h"
#include "tools/ingot/Handles.h"
#include "tools/ingot/Inferred.h"
#include "tools/ingot/Layers.h"
#include "tools/ingot/MetadataKeys.h"
#include "tools/ingot/Options.h"
#include "tools/ingot/ShapeProfiles.h"
#include "tools/ingot/Text.h"

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

/// Returns the names of CPU features, if the list of the architecture is known.
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

/// Prints the sizes that a run may have: a line per profile, in the syntax of
/// --profile.
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
  // Warn about loops that no kernel takes, where much of the time goes.
  for (const Layer &layer : layers)
    if (layer.isInLoop)
      printf("remark    node '%s': %s\n",
             formatLine(layer.shownName(), 100).c_str(),
             formatLine(layer.reason, 200).c_str());
}

/// Prints each layer, its backend, and why a better backend declined.
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

/// Prints a line of names, if there are any.
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

/// Prints what the compiler removed from the model and found in it, as recorded
/// in the metadata.
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
    // Skip entries that the list of layers shows.
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

static void printJsonTensors(const char *key,
                             const std::vector<ingot_tensor_info> &infos) {
  printf("  \"%s\": [", key);
  for (size_t i = 0; i < infos.size(); ++i) {
    const ingot_tensor_info &info = infos[i];
    printf("%s\n    {\"name\": %s, \"dtype\": \"%s\", \"shape\": [",
           i ? "," : "", formatJson(info.name).c_str(),
           ingot_dtype_name(info.dtype));
    for (uint32_t d = 0; d < info.rank; ++d)
      printf("%s%lld", d ? ", " : "", static_cast<long long>(info.dims[d]));
    printf("], \"dim_names\": [");
    for (uint32_t d = 0; d < info.rank; ++d)
      printf("%s%s", d ? ", " : "", formatJson(info.dim_names[d]).c_str());
    printf("]}");
  }
  printf("\n  ],\n");
}

static void printJsonNames(const std::vector<std::string> &names) {
  printf("[");
  const char *separator = "";
  for (const std::string &name : names) {
    printf("%s%s", separator, formatJson(name.c_str()).c_str());
    separator = ", ";
  }
  printf("]");
}

static void printJsonVariants(const std::vector<ingot_variant_info> &infos) {
  printf("  \"variants\": [");
  for (size_t i = 0; i < infos.size(); ++i) {
    const ingot_variant_info &info = infos[i];
    printf("%s\n    {\"target\": %s, \"device\": \"%s\", \"in_use\": %s, "
           "\"priority\": %u, \"arena_bytes\": %llu, \"code_bytes\": %llu, "
           "\"features\": ",
           i ? "," : "", formatJson(info.target).c_str(),
           deviceName(info.device), info.is_in_use ? "true" : "false",
           info.priority, static_cast<unsigned long long>(info.arena_bytes),
           static_cast<unsigned long long>(info.code_bytes));
    printJsonNames(featureNames(info));
    printf("}");
  }
  printf("\n  ],\n");
}

static void printJsonLayers(const std::vector<Layer> &layers) {
  printf("  \"layers\": [");
  const char *separator = "";
  for (const Layer &layer : layers) {
    printf("%s\n    {\"kind\": %s, \"backend\": %s, \"reason\": %s, "
           "\"precision\": %s, \"shape\": %s, \"usual_of\": %u, "
           "\"in_loop\": %s, \"nodes\": ",
           separator, formatJson(layer.kind).c_str(),
           formatJson(layer.backend).c_str(), formatJson(layer.reason).c_str(),
           formatJson(layer.precision).c_str(), formatJson(layer.shape).c_str(),
           layer.usualOf, layer.isInLoop ? "true" : "false");
    printJsonNames(layer.nodes);
    printf(", \"scopes\": ");
    printJsonNames(layer.scopes);
    printf("}");
    separator = ",";
  }
  printf("\n  ],\n");
}

static void printJsonProfiles(const ingot_model *model, bool takesGeneral) {
  printf("  \"takes_general\": %s,\n  \"shape_profiles\": [",
         takesGeneral ? "true" : "false");
  const char *separator = "";
  for (const ShapeProfile &profile : shapeProfilesOf(model)) {
    printf("%s\n    [", separator);
    separator = ",";
    const char *between = "";
    for (const ingot_size_range_info &range : profile) {
      ingot_tensor_info input = INGOT_TENSOR_INFO_INIT;
      ingot_model_input_describe(model, range.input, &input, nullptr);
      auto ll = [](int64_t value) { return static_cast<long long>(value); };
      printf("%s{\"input\": %s, \"dim\": %u, \"min\": %lld, \"usual\": "
             "%lld, \"max\": %lld, \"multiple\": %lld}",
             between, formatJson(input.name).c_str(), range.dim, ll(range.min),
             ll(range.usual), ll(range.max), ll(range.multiple));
      between = ", ";
    }
    printf("]");
  }
  printf("\n  ],\n");
}

static void printJson(const ingot_model *model, const ingot_model_info &info,
                      bool isVerified, const Inferred *inferred) {
  auto ull = [](uint64_t value) -> unsigned long long { return value; };
  printf("{\n  \"name\": %s,\n  \"compiler\": %s,\n  \"abi_version\": %u,\n"
         "  \"target\": %s,\n",
         formatJson(info.name).c_str(), formatJson(info.compiler).c_str(),
         info.abi_version, formatJson(info.target).c_str());
  printJsonVariants(variantsOf(model));
  printf("  \"libraries\": ");
  printJsonNames(usesOf(model, INGOT_USE_LIBRARY));
  printf(",\n  \"precisions\": ");
  printJsonNames(usesOf(model, INGOT_USE_PRECISION));
  printf(",\n  \"separate_weights\": %s,\n"
         "  \"weights_bytes\": %llu,\n  \"weights_sha256\": \"%s\",\n"
         "  \"arena_bytes\": %llu,\n  \"code_bytes\": %llu,\n"
         "  \"size_rules\": {\"proved\": %u, \"checked\": %u},\n",
         info.separate_weights ? "true" : "false", ull(info.weights_bytes),
         hex(info.weights_sha256).c_str(), ull(info.arena_bytes),
         ull(info.code_bytes), info.num_size_rules_proved,
         info.num_size_rules_checked);
  printJsonTensors("inputs", inputInfosOf(model));
  printJsonTensors("outputs", outputInfosOf(model));
  printJsonProfiles(model, info.takes_general);
  if (inferred)
    printJsonInferred(*inferred);
  printJsonLayers(layersOf(model));
  if (isVerified)
    printf("  \"verified\": true,\n");
  printf("  \"metadata\": {");
  for (uint32_t i = 0; i < info.num_metadata; ++i) {
    const char *key, *value;
    ingot_model_metadata_get(model, i, &key, &value, nullptr);
    printf("%s\n    %s: %s", i ? "," : "", formatJson(key).c_str(),
           formatJson(value).c_str());
  }
  printf("%s}\n}\n", info.num_metadata ? "\n  " : "");
}

int ingot::inspectMain(int argc, char **argv) {
  OptionParser parser("inspect", "MODEL.so [options]",
                      "Prints what a compiled model is and needs, without "
                      "running it; it may be for another CPU.",
                      "ingot inspect repvgg_a0.so --json");
  std::string path, key, weights;
  InputSpecs specs;
  bool json = false, verify = false, layers = false;
  parser.flag("json", json, "print one JSON object");
  parser.flag("layers", layers,
              "list the layers: what they are, which backend computes them, "
              "and why no better one does");
  addShapeOptions(parser, specs);
  parser.flag("verify", verify,
              "compare all of the model with the checksums that it was "
              "compiled with, and fail if they differ");
  parser.value("weights", "FILE", weights,
               "with --verify, --shape or --dim: separate weights (default: "
               "MODEL.so.HASH.weights)");
  parser.value("metadata", "KEY", key, "print only the value of KEY, as it is");
  int exitCode;
  if (!parser.parse(argc, argv, path, exitCode))
    return exitCode;
  if (json && !key.empty())
    return parser.usageError("--json and --metadata exclude each other");
  const bool asksForSizes = !specs.shapes.empty() || !specs.dims.empty();
  if (!weights.empty() && !verify && !asksForSizes)
    return parser.usageError("--weights needs --verify, --shape or --dim");
  if (verify && asksForSizes)
    return parser.usageError("--verify excludes --shape and --dim");

  ModelHandle model;
  std::string problem = verify ? verifyModel(path, weights, model)
                        : asksForSizes
                            ? loadModel(path, weights, /*pool=*/nullptr, model)
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
    printJson(raw, info, verify, asksForSizes ? &inferred : nullptr);
  } else {
    printText(raw, info, verify, layers, asksForSizes ? &inferred : nullptr);
  }
  return exitSuccess;
}
