//===- ErrorWatch.cpp - whether an error was reported ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/ErrorWatch.h"

#include "passes/support/UserText.h"

using namespace mlir;
using namespace ingot;

ErrorWatch::ErrorWatch(MLIRContext &context)
    : handler(&context,
              [this](Diagnostic &diagnostic) { return handle(diagnostic); }) {}

LogicalResult ErrorWatch::handle(Diagnostic &diagnostic) {
  seen |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
  std::string text = diagnostic.str(), words = toUserText(text);
  if (words != text) {
    // Change the diagnostic in place, since handlers that already saw it must
    // not see it again.
    Diagnostic translated(diagnostic.getLocation(), diagnostic.getSeverity());
    translated << words;
    for (Diagnostic &note : diagnostic.getNotes())
      translated.attachNote(note.getLocation()) << note.str();
    diagnostic = std::move(translated);
  }
  return failure();
}
