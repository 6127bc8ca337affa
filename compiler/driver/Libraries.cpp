//===- Libraries.cpp - libraries that backends call -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/Compilation.h"
#include "compiler/pipeline/Backends.h"

using namespace mlir;
using namespace ingot;

/// Selects the backends. If a backend's library is missing, reports that and
/// continues without the backend.
LogicalResult Compilation::chooseKernels() {
  for (const Backend *backend : getBackends()) {
    const Library *library = backend->library();
    const bool takesPartInDevice =
        asked.host && takesPart(*backend, devicePipeline);
    if (!library || !(takesPart(*backend, pipeline) || takesPartInDevice) ||
        isInstalled({library->glue, library->path, library->isShared}))
      continue;
    if (takesPartInDevice)
      return fail("this compiler was installed without code for " +
                  backend->device().title);
    emitWarning(UnknownLoc::get(&context))
        << library->title << " is not on this machine: " << kDefaultKernels
        << " kernels take its place";
    pipeline.kernels = kDefaultKernels.str();
    pipeline.preferred.clear();
    pipeline.preferredNodes.clear();
  }
  return success();
}

std::vector<const Library *> ingot::usedLibraries(const Manifest &manifest) {
  std::vector<const Library *> used;
  for (const Backend *backend : getBackends())
    if (const Library *library = backend->library();
        library && manifest.usesLibrary(library->name))
      used.push_back(library);
  return used;
}
