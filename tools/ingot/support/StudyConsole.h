//===- StudyConsole.h - studies on the command line -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_SUPPORT_STUDYCONSOLE_H
#define INGOT_TOOLS_INGOT_SUPPORT_STUDYCONSOLE_H

#include "compiler/study/runs/ScratchModel.h"
#include "tools/ingot/Console.h"

namespace ingot::tools {

/// Writes the error of a study. Returns the exit code of the command.
int writeError(Console &console, llvm::Error error);

/// Reads the values of --shape and --dim. Returns an error message, or "".
std::string readSizes(const std::vector<std::string> &shapes,
                      const std::vector<std::string> &dims,
                      study::InputSizes &sizes);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_SUPPORT_STUDYCONSOLE_H
