//===- Images.cpp - loading GPU code through the driver -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/gpu-runner/Images.h"

#include "client/measure/System.h"

#include <algorithm>
#include <fstream>
#include <iterator>

using namespace ingot;
using namespace ingot::gpu;

/// Reads registers and local memory of all kernels. Returns an error message,
/// or "".
static std::string inspect(const Gpu &gpu, cuda::Module module,
                           const Json &kernels, Json &row) {
  int mostRegisters = 0, mostLocal = 0;
  for (const Json &kernel : kernels) {
    const std::string name = kernel;
    cuda::Function function;
    int registers = 0, local = 0;
    std::string problem = gpu.check(
        gpu.driver.cuModuleGetFunction(&function, module, name.c_str()),
        "cuModuleGetFunction");
    if (problem.empty())
      problem = gpu.check(gpu.driver.cuFuncGetAttribute(
                              &registers, cuda::functionRegisters, function),
                          "cuFuncGetAttribute");
    if (problem.empty())
      problem = gpu.check(gpu.driver.cuFuncGetAttribute(
                              &local, cuda::functionLocalBytes, function),
                          "cuFuncGetAttribute");
    if (!problem.empty())
      return problem + " for kernel '" + name + "'";
    mostRegisters = std::max(mostRegisters, registers);
    mostLocal = std::max(mostLocal, local);
  }
  row["kernels"] = kernels.size();
  row["most_registers"] = mostRegisters;
  row["most_local_bytes"] = mostLocal;
  return "";
}

static std::string loadInto(const Json &item, const std::string &folder,
                            Json &row) {
  std::ifstream file(folder + "/" + item.at("file").get<std::string>(),
                     std::ios::binary);
  // The driver expects a null character behind PTX.
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  if (bytes.empty())
    return "the file cannot be read";
  row["bytes"] = bytes.size();
  Gpu gpu;
  std::string problem = gpu.open();
  if (!problem.empty())
    return problem;
  const int level = item.at("level");
  const bool isCubin = item.at("kind") == "cubin";
  if (level > gpu.level || (isCubin && level / 10 != gpu.level / 10) ||
      (isCubin && gpu.isEmulated)) {
    row["status"] = "other level";
    return "";
  }
  cuda::Module module;
  const uint64_t start = tools::nowNs();
  problem = gpu.check(gpu.driver.cuModuleLoadData(&module, bytes.data()),
                      "cuModuleLoadData");
  if (!problem.empty())
    return problem;
  row["load_ms"] = double(tools::nowNs() - start) * 1e-6;
  problem = inspect(gpu, module, item.at("kernels"), row);
  gpu.driver.cuModuleUnload(module);
  if (problem.empty())
    row["status"] = "loaded";
  return problem;
}

Json gpu::loadImage(const Json &item, const std::string &folder) {
  Json row = {{"name", item.at("name")},
              {"group", item.value("group", "")},
              {"kind", item.at("kind")},
              {"level", item.at("level")},
              {"status", "failed"}};
  if (const std::string problem = loadInto(item, folder, row); !problem.empty())
    row["message"] = problem;
  return row;
}
