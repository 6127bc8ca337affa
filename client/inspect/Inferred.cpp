//===- Inferred.cpp - what a run makes and takes --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/inspect/Inferred.h"

#include "client/Handles.h"

using namespace ingot::tools;

std::string ingot::tools::inferSizes(const ingot_model *model,
                                     const InputSpecs &specs,
                                     Inferred &inferred) {
  std::string problem = makeShapes(model, specs, inferred.inputs);
  if (!problem.empty())
    return problem;
  std::vector<const int64_t *> given;
  std::vector<uint32_t> givenRanks, toldRanks;
  for (const std::vector<int64_t> &dims : inferred.inputs) {
    given.push_back(dims.data());
    givenRanks.push_back(uint32_t(dims.size()));
  }
  for (const ingot_tensor_info &output : outputInfosOf(model))
    inferred.outputs.emplace_back(output.rank);
  std::vector<int64_t *> told;
  for (std::vector<int64_t> &dims : inferred.outputs) {
    told.push_back(dims.data());
    toldRanks.push_back(uint32_t(dims.size()));
  }
  ingot_error error = INGOT_ERROR_INIT;
  return ingot_model_infer(model, given.data(), givenRanks.data(),
                           uint32_t(given.size()), told.data(),
                           toldRanks.data(), uint32_t(told.size()),
                           &inferred.arenaBytes, &error)
             ? error.message
             : "";
}

static void addShapes(TextBuilder &text, const char *title,
                      const std::vector<ingot_tensor_info> &infos,
                      const std::vector<std::vector<int64_t>> &shapes) {
  for (size_t i = 0; i < infos.size(); ++i) {
    const std::vector<int64_t> &dims = shapes[i];
    text.add("%s%s=%s\n", title, formatLine(infos[i].name, 60).c_str(),
             formatShape(dims.data(), uint32_t(dims.size())).c_str());
    title = "          ";
  }
}

void ingot::tools::addInferred(TextBuilder &text, const ingot_model *model,
                               const Inferred &inferred) {
  addShapes(text, "at        ", inputInfosOf(model), inferred.inputs);
  addShapes(text, "makes     ", outputInfosOf(model), inferred.outputs);
  if (inferred.arenaBytes == UINT64_MAX)
    text.add("takes     memory whose size depends on data\n");
  else
    text.add("takes     %s a context\n",
             formatBytes(inferred.arenaBytes).c_str());
}

Json ingot::tools::toJson(const Inferred &inferred) {
  Json json = {{"inputs", inferred.inputs}, {"outputs", inferred.outputs}};
  json["arena_bytes"] =
      inferred.arenaBytes == UINT64_MAX ? Json() : Json(inferred.arenaBytes);
  return json;
}
