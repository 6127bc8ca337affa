//===- Console.h - all output of a subcommand -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A command writes its results to standard output, and everything else to
// standard error. With --json, the results are one JSON document, and standard
// error has one JSON object a line: a progress step or a message.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_CONSOLE_H
#define INGOT_TOOLS_INGOT_CONSOLE_H

#include "base/Progress.h"

#include <nlohmann/json.hpp>

#include <string>

namespace ingot::tools {

/// JSON whose members keep their order.
using Json = nlohmann::ordered_json;

/// Writes the output of one subcommand, as text or as JSON.
class Console {
public:
  /// `command` is the name of the subcommand, e.g. "compile". Writes JSON if
  /// the command line has --json. All objects write to the same streams.
  explicit Console(std::string command);

  /// Writes JSON from now on, or text.
  void setJson(bool isOn) { json = isOn; }
  bool isJson() const { return json; }
  /// Suppresses progress and remarks.
  void setQuiet(bool isOn) { quiet = isOn; }

  /// Shows the phase and, if known, the fraction and the remaining time. Writes
  /// a line with --json, a status line on a terminal, and nothing otherwise.
  /// Steps that follow each other faster than a person can read are left out,
  /// except the first of a phase and the last of all.
  void step(const std::string &phase, double fraction = -1);
  /// Removes the status line from the terminal.
  void clear();
  /// Writes a message: "ingot compile: warning: m.onnx: node 'a': text".
  void message(const Message &message);

  /// Returns how many warnings were written.
  unsigned numWarnings() const { return warnings; }
  /// Writes a warning.
  void warning(const std::string &text);
  /// Writes an error. Returns the exit code for failures.
  int failure(const std::string &text);
  /// Writes an error about the command line. Returns the exit code for wrong
  /// use.
  int usageError(const std::string &text);

  /// Writes the results of the command as a JSON document. Adds the members
  /// "schema" ("ingot.<command>"), "version" and "ingot" in front. Only for
  /// --json; text is printed to standard output by the command.
  void result(const Json &members);
  /// Returns the document of `result` as text.
  std::string resultText(const Json &members) const;

  /// Returns callbacks that write here. They must not outlive this object. Work
  /// can skip its steps if nobody sees them: `onStep` is then empty.
  ingot::Progress progress();

private:
  void writeLine(const Json &line);

  std::string command, lastPhase;
  bool json, quiet = false, isTerminal;
  unsigned warnings = 0;
  /// The time of the first step and of the last one that was shown, in seconds
  /// of the monotonic clock. Negative if there was none.
  double started = -1, shown = -1;
};

/// Returns one line of JSON. Bytes that are not UTF-8 become U+FFFD.
std::string toLine(const Json &value);
/// Returns a number, or null for infinity and values that are no numbers.
Json toNumber(double value);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CONSOLE_H
