//===- Backends.cpp - the backends of this compiler -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/pipeline/Backends.h"

// A tool may link this file with another list, which includes its own backend.
#ifndef INGOT_BACKENDS
#define INGOT_BACKENDS "compiler/pipeline/Backends.inc"
#endif

using namespace ingot;

#define INGOT_BACKEND(NAMESPACE)                                               \
  namespace ingot::NAMESPACE {                                                 \
  const Backend &getBackend();                                                 \
  }
#include INGOT_BACKENDS
#undef INGOT_BACKEND

llvm::ArrayRef<const Backend *> ingot::getBackends() {
  static const Backend *const all[] = {
#define INGOT_BACKEND(NAMESPACE) &NAMESPACE::getBackend(),
#include INGOT_BACKENDS
#undef INGOT_BACKEND
  };
  return all;
}

llvm::SmallVector<const Backend *> ingot::getBackends(const Device &device) {
  llvm::SmallVector<const Backend *> found;
  for (const Backend *backend : getBackends())
    if (backend->device() == device)
      found.push_back(backend);
  return found;
}

const Backend *ingot::findBackend(llvm::StringRef name) {
  const auto *at = llvm::find_if(getBackends(), [&](const Backend *backend) {
    return backend->name() == name;
  });
  return at == getBackends().end() ? nullptr : *at;
}
