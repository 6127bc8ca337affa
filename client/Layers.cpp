//===- Layers.cpp - the layers of a compiled model ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/Layers.h"

#include "client/MetadataKeys.h"
#include "client/Parse.h"

#include <algorithm>
#include <unordered_map>

using namespace ingot::tools;

std::string Layer::description() const {
  return precision.empty() ? kind : kind + ", " + precision;
}

static std::string joinNames(const std::vector<std::string> &names,
                             const std::string &kind) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : " + ") + name;
  return text.empty() ? "(" + kind + ")" : text;
}

std::string Layer::name() const { return joinNames(nodes, kind); }

std::string Layer::shownName() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::string &name = scopes[i].empty() ? nodes[i] : scopes[i];
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  }
  return joinNames(names, kind);
}

/// Returns the lines of a metadata entry; none if there is no entry.
static std::vector<std::string> linesOf(const ingot_model *model,
                                        const char *key) {
  const char *text = ingot_model_metadata_find(model, key);
  return text ? split(text, '\n') : std::vector<std::string>();
}

std::vector<Layer> ingot::tools::layersOf(const ingot_model *model) {
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ingot_model_describe(model, &info, nullptr);
  const std::vector<std::string> shapes =
      linesOf(model, metadatakey::layer_shapes);
  std::unordered_map<std::string, std::string> scopes;
  for (const std::string &line : linesOf(model, metadatakey::scopes))
    if (size_t tab = line.find('\t'); tab != std::string::npos)
      scopes[line.substr(0, tab)] = line.substr(tab + 1);
  std::vector<Layer> layers;
  for (uint32_t i = 0; i < info.num_layers; ++i) {
    ingot_layer_info described = INGOT_LAYER_INFO_INIT;
    ingot_model_layer_describe(model, i, &described, nullptr);
    Layer layer;
    layer.number = i;
    layer.kind = described.kind;
    layer.backend = layer.kind == "loop" || layer.kind == "branch"
                        ? layer.kind
                        : described.backend;
    layer.reason = described.reason;
    layer.precision = described.precision;
    layer.flops = described.flops;
    layer.bytes = described.bytes;
    layer.usualOf = described.usual_of;
    layer.isInLoop = described.flags & INGOT_LAYER_LOOP;
    if (i < shapes.size())
      layer.shape = shapes[i];
    for (uint32_t n = 0; n < described.num_nodes; ++n) {
      layer.nodes.push_back(ingot_model_layer_node(model, i, n));
      auto scope = scopes.find(layer.nodes.back());
      layer.scopes.push_back(scope == scopes.end() ? "" : scope->second);
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}
