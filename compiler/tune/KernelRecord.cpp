//===- KernelRecord.cpp - record of chosen kernels ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/tune/KernelRecord.h"

#include "base/InputFile.h"
#include "compiler/Version.h"
#include "passes/support/Json.h"

#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace ingot;

static constexpr const char *kVersionKey = "ingot_kernels";

static StringRef nameOf(Kernels kernels) {
  switch (kernels) {
  case Kernels::native:
    return kDefaultKernels;
  case Kernels::other:
    return otherBackend().name();
  case Kernels::mixed:
    return "mixed";
  }
  return "";
}

/// Returns the kernels called `name`, or nullopt.
static std::optional<Kernels> kernelsOf(std::optional<StringRef> name) {
  for (Kernels kernels : {Kernels::native, Kernels::other, Kernels::mixed})
    if (name && *name == nameOf(kernels))
      return kernels;
  return std::nullopt;
}

std::string KernelRecord::toJson() const {
  const std::string native = nameOf(Kernels::native).str();
  const std::string other = nameOf(Kernels::other).str();
  json::Object latency{{native, nativeMs}, {other, otherMs}};
  if (mixedMs)
    latency["mixed"] = *mixedMs;
  json::Array rows;
  for (const LayerChoice &layer : layers) {
    // Layers have different kernels only if the model's kernels are mixed.
    Kernels taken = kernels == Kernels::mixed ? layer.kernels : kernels;
    rows.push_back(json::Object{{"kernels", nameOf(taken)},
                                {native + "_ms", layer.nativeMs},
                                {other + "_ms", layer.otherMs},
                                {"nodes", json::Array(layer.nodes)}});
  }
  json::Object root{{kVersionKey, 1},
                    {"compiler", "ingot " INGOT_VERSION},
                    {"target", target},
                    {"cpu", cpu},
                    {"threads", int64_t(threads)},
                    {"latency_ms", std::move(latency)},
                    {"kernels", nameOf(kernels)},
                    {"layers", std::move(rows)}};
  return formatv("{0:2}\n", json::Value(std::move(root)));
}

Expected<KernelRecord> KernelRecord::fromJson(StringRef text) {
  Expected<json::Value> parsed = parseJson(text);
  if (!parsed)
    return parsed.takeError();
  auto wrong = [](const Twine &what) {
    return createStringError(std::make_error_code(std::errc::invalid_argument),
                             what);
  };
  const json::Object *root = parsed->getAsObject();
  if (!root || root->getInteger(kVersionKey) != 1)
    return wrong("it is not a file of --kernels=auto of this version");
  KernelRecord record;
  std::optional<Kernels> kernels = kernelsOf(root->getString("kernels"));
  if (!kernels)
    return wrong("\"kernels\" is none of " + nameOf(Kernels::native) + ", " +
                 nameOf(Kernels::other) + ", " + nameOf(Kernels::mixed));
  record.kernels = *kernels;
  if (record.kernels != Kernels::mixed)
    return record;
  const json::Array *layers = root->getArray("layers");
  if (!layers)
    return wrong("\"layers\" is missing");
  for (const json::Value &value : *layers) {
    const json::Object *layer = value.getAsObject();
    const json::Array *nodes = layer ? layer->getArray("nodes") : nullptr;
    if (!nodes || !layer->getString("kernels"))
      return wrong("a layer lacks \"nodes\" or \"kernels\"");
    LayerChoice &choice = record.layers.emplace_back();
    std::optional<Kernels> taken = kernelsOf(layer->getString("kernels"));
    if (!taken || *taken == Kernels::mixed)
      return wrong("\"kernels\" of a layer is neither " +
                   nameOf(Kernels::native) + " nor " + nameOf(Kernels::other));
    choice.kernels = *taken;
    for (const json::Value &node : *nodes) {
      if (!node.getAsString())
        return wrong("the name of a node is not a string");
      choice.nodes.push_back(node.getAsString()->str());
    }
  }
  return record;
}

void KernelRecord::applyTo(PipelineOptions &pipeline) const {
  const Kernels asked =
      kernels == Kernels::other ? Kernels::other : Kernels::native;
  pipeline.kernels = nameOf(asked).str();
  pipeline.preferred.clear();
  pipeline.preferredNodes.clear();
  if (kernels != Kernels::mixed)
    return;
  pipeline.preferred = nameOf(Kernels::other).str();
  for (const LayerChoice &layer : layers)
    if (layer.kernels == Kernels::other)
      llvm::append_range(pipeline.preferredNodes, layer.nodes);
}

std::string ingot::readKernelRecord(StringRef file, PipelineOptions &pipeline) {
  std::string text;
  constexpr uint64_t mostBytes = 256 << 20;
  std::string problem = readWholeFile(file.str(), mostBytes, text);
  if (!problem.empty())
    return "cannot read '" + file.str() + "': " + problem;
  Expected<KernelRecord> record = KernelRecord::fromJson(text);
  if (!record)
    return "'" + file.str() + "': " + toString(record.takeError());
  record->applyTo(pipeline);
  return "";
}
