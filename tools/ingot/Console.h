//===- Console.h - all output of a subcommand -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A command writes its results to standard output, and everything else to
// standard error. With --json, the results are one JSON document. Standard
// error then has one JSON object per line: a progress step or a message.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_CONSOLE_H
#define INGOT_TOOLS_INGOT_CONSOLE_H

#include "base/Progress.h"
#include "client/Json.h"

#include <string>
#include <vector>

namespace ingot::tools {

/// Writes the output of one subcommand, as text or as JSON.
class Console {
public:
  /// `command` is the name of the subcommand, e.g. "compile". The console
  /// writes JSON if the command line has --json. All consoles write to the same
  /// streams.
  explicit Console(std::string command);

  /// Switches the output to JSON, or to text.
  void setJson(bool isOn) { json = isOn; }
  bool isJson() const { return json; }
  /// Suppresses progress and remarks.
  void setQuiet(bool isOn) { quiet = isOn; }

  /// Shows the phase and, if known, the fraction and the remaining time. Writes
  /// a line with --json, a status line on a terminal, and otherwise nothing.
  /// Skips steps that are too fast to read. Always shows the first step of a
  /// phase and the very last step.
  void step(const std::string &phase, double fraction = -1);
  /// Removes the status line from the terminal.
  void clear();
  /// Writes a message: "ingot compile: warning: m.onnx: node 'a': text".
  void message(const Message &message);

  /// Writes a warning.
  void warning(const std::string &text);
  /// Writes an error. Returns the exit code for failures.
  int failure(const std::string &text);
  /// Writes an error about the command line. Returns the exit code for wrong
  /// use.
  int usageError(const std::string &text);

  /// Writes the results of the command as a JSON document. Adds the members
  /// "schema" ("ingot.<command>"), "version", "ingot" and "warnings" in front.
  /// "warnings" has the texts of all warnings: those that were written, and
  /// those of `members`, which the command writes later. Only for --json; text
  /// is printed to standard output by the command.
  void result(const Json &members);
  /// Returns the document of `result` as text. Ends the progress with the
  /// fraction 1.
  std::string resultText(const Json &members);

  /// Returns callbacks that write to this console. They must not outlive it. If
  /// nobody sees steps, `onStep` is empty, so that work can skip them.
  ingot::Progress progress();

private:
  void writeLine(const Json &line);

  std::string command, lastPhase;
  bool json, quiet = false, isTerminal;
  std::vector<std::string> warnings;
  /// The time of the first step and of the last one that was shown, in seconds
  /// of the monotonic clock. Negative if there was none.
  double started = -1, shown = -1;
  /// The fraction of the last step, or -1.
  double lastFraction = -1;
};

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CONSOLE_H
