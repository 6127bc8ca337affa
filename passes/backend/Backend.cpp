//===- Backend.cpp - all backends -----------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/backend/Backend.h"

using namespace ingot;

Backend::~Backend() = default;

llvm::ArrayRef<const Backend *> ingot::getBackends() {
  static const Backend *const all[] = {&oneDnnBackend(), &nativeBackend(),
                                       &loopsBackend()};
  return all;
}

const Backend &ingot::getBackend(BackendKind kind) {
  return **llvm::find_if(getBackends(), [&](const Backend *backend) {
    return backend->kind() == kind;
  });
}

BackendKind ingot::backendOf(mlir::Operation *op) {
  return (*llvm::find_if(getBackends(),
                         [&](const Backend *backend) {
                           return backend->computes(op);
                         }))
      ->kind();
}
