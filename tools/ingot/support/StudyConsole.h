//===- StudyConsole.h - studies on the command line -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_SUPPORT_STUDYCONSOLE_H
#define INGOT_TOOLS_INGOT_SUPPORT_STUDYCONSOLE_H

#include "tools/ingot/Console.h"

#include "llvm/Support/Error.h"

namespace ingot::tools {

/// Writes the error of a study or of a compilation, unless its messages were
/// written before. Returns the exit code of the command.
int writeError(Console &console, llvm::Error error);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_SUPPORT_STUDYCONSOLE_H
