//===- Backend.cpp - the backends of a context ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/backend/Backend.h"

using namespace ingot;

Backend::~Backend() = default;

llvm::ArrayRef<const Backend *> BackendList::of(mlir::MLIRContext *context) {
  auto *dialect = context->getLoadedDialect<IngotDialect>();
  const auto *list =
      dialect ? dialect->getRegisteredInterface<BackendList>() : nullptr;
  return list ? list->all : llvm::ArrayRef<const Backend *>();
}
