//===- Process.h - running other programs -------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_MEASURE_PROCESS_H
#define INGOT_CLIENT_MEASURE_PROCESS_H

#include <functional>
#include <string>
#include <vector>

namespace ingot::tools {

struct ProcessResult {
  int exitCode = -1; ///< 127: the program was not found; -1: killed
  int signal = 0;    ///< the signal that ended the program, or 0
  std::string out, err;
  bool isLate = false; ///< killed after the time of its limits

  /// Returns the last line of `err`, where Python prints its error. If a signal
  /// has ended the program, it stands before that line.
  std::string lastError() const;
};

/// Limits of a program that may not end by itself.
struct ProcessLimits {
  unsigned seconds = 0; ///< 0: no limit
  /// Returns true if the caller no longer needs the result. May be empty.
  std::function<bool()> isCancelled;
};

/// Runs a program to its end. The first argument is searched in PATH. Kills it
/// with all of its children if it exceeds a limit. The program reads nothing
/// from standard input. At most a MiB of each pipe is kept.
ProcessResult runProcess(const std::vector<std::string> &arguments,
                         const ProcessLimits &limits = {});

/// Checks that the interpreter `python` has numpy and a package. Returns an
/// error message, or "".
std::string checkPython(const std::string &python, const std::string &package);

} // namespace ingot::tools

#endif // INGOT_CLIENT_MEASURE_PROCESS_H
