//===- GpuCode.cpp - an artifact's code for GPUs --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/inspect/GpuCode.h"

#include "client/MetadataKeys.h"

#include <algorithm>
#include <stdio.h>

using namespace ingot::tools;

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace {

/// Reads members of JSON objects. An artifact may come from anywhere, so each
/// member is checked.
class Reader {
public:
  bool isFine = true;

  std::string text(const Json &object, const char *name) {
    const Json *member = find(object, name);
    if (member && member->is_string())
      return member->get<std::string>();
    isFine = false;
    return "";
  }

  uint64_t number(const Json &object, const char *name) {
    const Json *member = find(object, name);
    if (member && member->is_number_unsigned())
      return member->get<uint64_t>();
    isFine = false;
    return 0;
  }

  /// Calls `body` for each element of an array.
  template <typename Body>
  void each(const Json &object, const char *name, Body body) {
    const Json *member = find(object, name);
    if (!member || !member->is_array()) {
      isFine = false;
      return;
    }
    for (const Json &element : *member)
      body(element);
  }

private:
  static const Json *find(const Json &object, const char *name) {
    if (!object.is_object())
      return nullptr;
    auto member = object.find(name);
    return member == object.end() ? nullptr : &*member;
  }
};

} // namespace

static GpuKernel readKernel(Reader &reader, const Json &one) {
  GpuKernel kernel = {reader.text(one, "name"),
                      reader.text(one, "node"),
                      reader.number(one, "threads"),
                      reader.number(one, "shared_bytes"),
                      reader.number(one, "launches"),
                      reader.number(one, "predicted_ns"),
                      {}};
  reader.each(one, "code", [&](const Json &code) {
    kernel.code.push_back({reader.number(code, "level"),
                           reader.number(code, "registers"),
                           reader.number(code, "static_shared_bytes"),
                           reader.number(code, "stack_bytes"),
                           reader.number(code, "spill_bytes")});
  });
  return kernel;
}

std::optional<GpuCode> ingot::tools::parseGpuCode(const std::string &text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  Reader reader;
  GpuCode read;
  reader.each(json, "images", [&](const Json &one) {
    read.images.push_back(
        {reader.text(one, "kind"), reader.number(one, "level"),
         reader.number(one, "bytes"), reader.text(one, "ptxas")});
  });
  reader.each(json, "kernels", [&](const Json &one) {
    read.kernels.push_back(readKernel(reader, one));
  });
  reader.each(json, "host_nodes", [&](const Json &one) {
    read.hostNodes.push_back({reader.text(one, "node"),
                              reader.text(one, "reason"),
                              reader.number(one, "buffers")});
  });
  read.weightsBytes = reader.number(json, "weights_bytes");
  read.arenaBytes = reader.number(json, "arena_bytes");
  return reader.isFine ? std::optional(std::move(read)) : std::nullopt;
}

std::string ingot::tools::readGpuCode(const ingot_model *model,
                                      std::optional<GpuCode> &code) {
  const char *text = ingot_model_metadata_find(model, metadatakey::gpu);
  if (text)
    code = parseGpuCode(text);
  return !text || code ? ""
                       : std::string("the metadata '") + metadatakey::gpu +
                             "' are malformed; compile the model again";
}

uint64_t GpuCode::predictedNanoseconds() const {
  uint64_t sum = 0;
  for (const GpuKernel &kernel : kernels)
    sum += kernel.predictedNanoseconds * kernel.launches;
  return sum;
}

//===----------------------------------------------------------------------===//
// Output for people
//===----------------------------------------------------------------------===//

static std::string levelName(uint64_t level) {
  return "sm_" + std::to_string(level);
}

/// Returns the levels of the machine code.
static std::vector<uint64_t> levelsOf(const GpuCode &code) {
  std::vector<uint64_t> levels;
  for (const GpuImage &image : code.images)
    if (image.kind == "cubin")
      levels.push_back(image.level);
  return levels;
}

/// Returns the largest values of all kernels.
static GpuResources largestOf(const GpuCode &code) {
  GpuResources most = {};
  for (const GpuKernel &kernel : code.kernels)
    for (const GpuResources &one : kernel.code) {
      most.registers = std::max(most.registers, one.registers);
      most.stackBytes = std::max(most.stackBytes, one.stackBytes);
      most.spillBytes = std::max(most.spillBytes, one.spillBytes);
      most.staticSharedBytes = std::max(
          most.staticSharedBytes, one.staticSharedBytes + kernel.sharedBytes);
    }
  return most;
}

static void addImages(TextBuilder &text, const GpuCode &code) {
  const char *title = "gpu       ";
  for (const GpuImage &image : code.images) {
    const bool isPtx = image.kind == "ptx";
    text.add("%s%s %s%s, %s", title, isPtx ? "PTX for" : "code for",
             levelName(image.level).c_str(), isPtx ? " and later" : "",
             formatBytes(image.bytes).c_str());
    if (!image.ptxas.empty())
      text.add(", by ptxas %s", formatLine(image.ptxas, 40).c_str());
    text.add("\n");
    title = "          ";
  }
}

void ingot::tools::addGpuCode(TextBuilder &text, const GpuCode &code) {
  addImages(text, code);
  text.add("          weights %s, arena %s a run\n",
           formatBytes(code.weightsBytes).c_str(),
           formatBytes(code.arenaBytes).c_str());
  text.add("          %zu kernels", code.kernels.size());
  if (const GpuResources most = largestOf(code); most.registers) {
    text.add(" with at most %llu registers and %s of shared memory, ",
             static_cast<unsigned long long>(most.registers),
             formatBytes(most.staticSharedBytes).c_str());
    if (most.stackBytes || most.spillBytes)
      text.add("%llu bytes of local memory, %llu of spills",
               static_cast<unsigned long long>(most.stackBytes),
               static_cast<unsigned long long>(most.spillBytes));
    else
      text.add("without local memory or spills");
  }
  text.add("\n");
  if (const uint64_t nanoseconds = code.predictedNanoseconds())
    text.add("          predicted for an A100: %.1f us of kernels in a run; no "
             "GPU has confirmed it\n",
             double(nanoseconds) / 1e3);
  for (const GpuHostNode &node : code.hostNodes)
    text.add("on CPU    node '%s': %s; copies %llu buffer%s\n",
             formatLine(node.node, 100).c_str(),
             formatLine(node.reason, 200).c_str(),
             static_cast<unsigned long long>(node.buffers),
             node.buffers == 1 ? "" : "s");
}

void ingot::tools::addGpuKernels(TextBuilder &text, const GpuCode &code) {
  if (code.kernels.empty())
    return;
  std::string levels;
  for (uint64_t level : levelsOf(code))
    levels += (levels.empty() ? " of " : ", ") + levelName(level);
  text.add("\nkernels: threads and shared memory of a block, registers%s, "
           "local memory, predicted time\n",
           levels.c_str());
  std::vector<std::vector<std::string>> rows;
  for (const GpuKernel &kernel : code.kernels) {
    std::string registers;
    uint64_t local = 0;
    for (const GpuResources &one : kernel.code) {
      registers +=
          (registers.empty() ? "" : ", ") + std::to_string(one.registers);
      local = std::max(local, one.stackBytes);
    }
    char predicted[48] = "";
    if (kernel.predictedNanoseconds)
      snprintf(predicted, sizeof(predicted), "%.1f us",
               double(kernel.predictedNanoseconds) / 1e3);
    rows.push_back({formatLine(kernel.name, 40), std::to_string(kernel.threads),
                    formatBytes(kernel.sharedBytes), registers,
                    kernel.code.empty() ? "" : std::to_string(local), predicted,
                    formatLine(kernel.node, 100)});
  }
  text.table(std::move(rows));
}

//===----------------------------------------------------------------------===//
// Output for programs
//===----------------------------------------------------------------------===//

static Json toJson(const GpuKernel &kernel) {
  Json code = Json::array();
  for (const GpuResources &one : kernel.code)
    code.push_back({{"level", one.level},
                    {"registers", one.registers},
                    {"static_shared_bytes", one.staticSharedBytes},
                    {"stack_bytes", one.stackBytes},
                    {"spill_bytes", one.spillBytes}});
  return {{"name", kernel.name},
          {"node", kernel.node},
          {"threads", kernel.threads},
          {"shared_bytes", kernel.sharedBytes},
          {"launches", kernel.launches},
          {"predicted_us", kernel.predictedNanoseconds
                               ? Json(double(kernel.predictedNanoseconds) / 1e3)
                               : Json()},
          {"code", std::move(code)}};
}

Json ingot::tools::toJson(const GpuCode &code) {
  Json images = Json::array(), kernels = Json::array(), nodes = Json::array();
  for (const GpuImage &image : code.images)
    images.push_back({{"kind", image.kind},
                      {"level", image.level},
                      {"bytes", image.bytes},
                      {"ptxas", image.ptxas}});
  for (const GpuKernel &kernel : code.kernels)
    kernels.push_back(::toJson(kernel));
  for (const GpuHostNode &node : code.hostNodes)
    nodes.push_back({{"node", node.node},
                     {"reason", node.reason},
                     {"buffers", node.buffers}});
  return {{"images", std::move(images)},
          {"weights_bytes", code.weightsBytes},
          {"arena_bytes", code.arenaBytes},
          {"predicted_us", double(code.predictedNanoseconds()) / 1e3},
          {"kernels", std::move(kernels)},
          {"on_cpu", std::move(nodes)}};
}
