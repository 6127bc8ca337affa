//===- Process.h - running other programs -------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_MEASURE_PROCESS_H
#define INGOT_CLIENT_MEASURE_PROCESS_H

#include <string>
#include <vector>

namespace ingot::tools {

struct ProcessResult {
  int exitCode = -1; ///< 127: the program was not found; -1: killed
  std::string out, err;

  /// Returns the last line of `err`, where Python prints its error.
  std::string lastError() const;
};

/// Runs a program to its end. The first argument is searched in PATH.
ProcessResult runProcess(const std::vector<std::string> &arguments);

/// Checks that the interpreter `python` has numpy and a package. Returns an
/// error message, or "".
std::string checkPython(const std::string &python, const std::string &package);

} // namespace ingot::tools

#endif // INGOT_CLIENT_MEASURE_PROCESS_H
