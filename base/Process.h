//===- Process.h - running other programs -------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_BASE_PROCESS_H
#define INGOT_BASE_PROCESS_H

#include <functional>
#include <stddef.h>
#include <string>
#include <vector>

namespace ingot {

/// Describes a signal, e.g. "signal 9 (Killed)".
std::string signalText(int number);

struct ProcessResult {
  int exitCode = -1; ///< 127: the program was not found; -1: killed
  int signal = 0;    ///< the signal that ended the program, or 0
  /// errno if the program was not started, or 0.
  int startError = 0;
  std::string out, err;
  bool isLate = false; ///< killed after the time of its limits

  /// Returns the last line of `err`, where Python prints its error. If a signal
  /// has ended the program, it stands before that line.
  std::string lastError() const;
};

/// Limits of a program that may not end by itself.
struct ProcessLimits {
  unsigned seconds = 0; ///< 0: no limit
  /// The most bytes of each pipe that are kept.
  size_t bytes = size_t(1) << 20;
  /// Returns true if the caller no longer needs the result. May be empty.
  std::function<bool()> isCancelled;
};

/// Runs a program to its end. The first argument is searched in PATH. Kills it
/// with all of its children if it exceeds a limit. The program reads nothing
/// from standard input.
ProcessResult runProcess(const std::vector<std::string> &arguments,
                         const ProcessLimits &limits = {});

} // namespace ingot

#endif // INGOT_BASE_PROCESS_H
