//===- Ranges.cpp - ranges in profilers' timelines ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/Ranges.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

using namespace ingot::cuda;

namespace {

using AnyFunction = void (*)();

/// Values of NvtxExportTableID, NvtxCallbackModule and NvtxCallbackIdCore.
enum : uint32_t { callbacksTable = 1, versionTable = 3 };
enum : uint32_t { coreModule = 1, lastModule = 6 };
enum : uint32_t { rangePushA = 9, rangePop = 11 };

/// The number of functions of a module. A profiler may set more functions than
/// we call.
constexpr uint32_t numFunctions = 32;

/// A module's functions, and their places, as the profiler wants them.
struct ModuleTable {
  AnyFunction functions[numFunctions];
  AnyFunction *places[numFunctions + 1];
};

/// NvtxExportTableCallbacks.
struct Callbacks {
  size_t bytes;
  int (*moduleTable)(uint32_t module, AnyFunction ***places, unsigned *count);
};

/// NvtxExportTableVersionInfo.
struct Version {
  size_t bytes;
  uint32_t version, reserved;
  void (*setInjectionVersion)(uint32_t version);
};

} // namespace

/// The profiler keeps their addresses, so they live as long as the model's
/// library.
static ModuleTable modules[lastModule + 1];

static int moduleTable(uint32_t module, AnyFunction ***places,
                       unsigned *count) {
  if (module == 0 || module > lastModule)
    return 0;
  ModuleTable &table = modules[module];
  for (uint32_t i = 0; i < numFunctions; ++i)
    table.places[i] = &table.functions[i];
  if (places)
    *places = table.places;
  if (count)
    *count = numFunctions;
  return 1;
}

static const void *exportTable(uint32_t table) {
  static const Callbacks callbacks = {sizeof(Callbacks), moduleTable};
  static const Version version = {sizeof(Version), 3, 0, [](uint32_t) {}};
  if (table == callbacksTable)
    return &callbacks;
  return table == versionTable ? &version : nullptr;
}

static void inject() {
  const char *path = getenv("NVTX_INJECTION64_PATH");
  if (!path || !*path)
    return;
  // The profiler stays loaded.
  void *library = dlopen(path, RTLD_LAZY);
  using Initialize = int(const void *(*)(uint32_t));
  auto *initialize = reinterpret_cast<Initialize *>(
      library ? dlsym(library, "InitializeInjectionNvtx2") : nullptr);
  if (!initialize || !initialize(exportTable))
    modules[coreModule] = {};
}

void Ranges::open() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, inject);
  const ModuleTable &core = modules[coreModule];
  // A range that begins must end.
  if (!core.functions[rangePushA] || !core.functions[rangePop])
    return;
  begin = reinterpret_cast<int (*)(const char *)>(core.functions[rangePushA]);
  end = reinterpret_cast<int (*)()>(core.functions[rangePop]);
}
