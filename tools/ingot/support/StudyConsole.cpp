//===- StudyConsole.cpp - studies on the command line ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/support/StudyConsole.h"

#include "tools/ingot/Options.h"
#include "tools/ingot/support/ShapeOption.h"

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
      [&](const llvm::ErrorInfoBase &other) {
        code = console.failure(other.message());
      });
  return code;
}

std::string ingot::tools::readSizes(const std::vector<std::string> &shapes,
                                    const std::vector<std::string> &dims,
                                    study::InputSizes &sizes) {
  ImportOptions import;
  ShapeProfile ranges;
  std::string error;
  for (const std::string &text : shapes)
    if (!parseShape(text, import, ranges, error))
      return error;
  for (const std::string &text : dims)
    if (!parseDim(text, import, ranges, error))
      return error;
  sizes = {std::move(import.shapes), std::move(import.dims)};
  return ranges.empty() ? ""
                        : "ranges of sizes are for ingot compile: leave a "
                          "dimension open here, or fix it";
}
