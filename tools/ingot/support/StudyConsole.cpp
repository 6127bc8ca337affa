//===- StudyConsole.cpp - studies on the command line ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/support/StudyConsole.h"

#include "compiler/study/compile/CompileSession.h"
#include "compiler/study/runs/Errors.h"
#include "tools/ingot/Options.h"

using namespace ingot;
using namespace ingot::tools;

int ingot::tools::writeError(Console &console, llvm::Error error) {
  int code = exitFailure;
  llvm::handleAllErrors(
      std::move(error),
      [&](const study::StudyError &found) {
        if (!found.isUsage()) {
          for (const Message &message : found.messages())
            console.message(message);
          return;
        }
        for (const Message &message : found.messages())
          code = console.usageError(message.text);
      },
      [](const study::Reported &) {},
      [&](const llvm::ErrorInfoBase &other) {
        code = console.failure(other.message());
      });
  return code;
}
