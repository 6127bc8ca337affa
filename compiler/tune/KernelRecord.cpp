//===- KernelRecord.cpp - what choosing kernels found ---------------------===//
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
    return "native";
  case Kernels::onednn:
    return "onednn";
  case Kernels::mixed:
    return "mixed";
  }
  return "";
}

std::string KernelRecord::toJson() const {
  json::Object latency{{"native", nativeMs}, {"onednn", onednnMs}};
  if (mixedMs)
    latency["mixed"] = *mixedMs;
  json::Array rows;
  for (const LayerChoice &layer : layers) {
    // Of mixed kernels only, layers differ.
    Kernels taken = kernels == Kernels::mixed ? layer.kernels : kernels;
    rows.push_back(json::Object{{"kernels", nameOf(taken)},
                                {"native_ms", layer.nativeMs},
                                {"onednn_ms", layer.onednnMs},
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
  std::optional<StringRef> kernels = root->getString("kernels");
  if (kernels == "native")
    record.kernels = Kernels::native;
  else if (kernels == "onednn")
    record.kernels = Kernels::onednn;
  else if (kernels == "mixed")
    record.kernels = Kernels::mixed;
  else
    return wrong("\"kernels\" is none of native, onednn, mixed");
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
    if (layer->getString("kernels") == "onednn")
      choice.kernels = Kernels::onednn;
    else if (layer->getString("kernels") != "native")
      return wrong("\"kernels\" of a layer is neither native nor onednn");
    for (const json::Value &node : *nodes) {
      if (!node.getAsString())
        return wrong("the name of a node is no string");
      choice.nodes.push_back(node.getAsString()->str());
    }
  }
  return record;
}

void KernelRecord::applyTo(PipelineOptions &pipeline) const {
  pipeline.kernels = kernels;
  pipeline.onednnNodes.clear();
  if (kernels != Kernels::mixed)
    return;
  for (const LayerChoice &layer : layers)
    if (layer.kernels == Kernels::onednn)
      llvm::append_range(pipeline.onednnNodes, layer.nodes);
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
