//===- ErrorWatch.cpp - whether an error was reported ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/ErrorWatch.h"

#include "compiler/driver/UserText.h"

using namespace mlir;
using namespace ingot;

ErrorWatch::ErrorWatch(MLIRContext &context)
    : handler(&context,
              [this](Diagnostic &diagnostic) { return handle(diagnostic); }) {}

LogicalResult ErrorWatch::handle(Diagnostic &diagnostic) {
  seen |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
  std::string text = diagnostic.str(), words = toUserText(text);
  // Other handlers get it as it is.
  if (words == text)
    return failure();
  Diagnostic translated(diagnostic.getLocation(), diagnostic.getSeverity());
  translated << words;
  // It comes back to this handler, which then has nothing to change.
  diagnostic.getLocation()->getContext()->getDiagEngine().emit(
      std::move(translated));
  return success();
}
