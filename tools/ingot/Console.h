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
  /// `command` is the name of the subcommand, e.g. "compile".
  explicit Console(std::string command);

  /// Writes JSON from now on.
  void setJson(bool isOn) { json = isOn; }
  bool isJson() const { return json; }
  /// Suppresses progress and remarks.
  void setQuiet(bool isOn) { quiet = isOn; }

  /// Shows the phase and, if known, the fraction and the remaining time. Writes
  /// a line with --json, a status line on a terminal, and nothing otherwise.
  void step(const std::string &phase, double fraction = -1);
  /// Removes the status line from the terminal.
  void clear();
  /// Writes a message: "ingot compile: warning: m.onnx: node 'a': text".
  void message(const Message &message);

  /// Writes an error. Returns the exit code for failures.
  int failure(const std::string &text);
  /// Writes an error about the command line. Returns the exit code for wrong
  /// use.
  int usageError(const std::string &text);

  /// Writes the results of the command as a JSON document. Adds the members
  /// "schema" ("ingot.<command>"), "version" and "ingot" in front. Only for
  /// --json; text is printed to standard output by the command.
  void result(const Json &members);

  /// Returns callbacks that write here. They must not outlive this object.
  ingot::Progress progress();

private:
  void writeLine(const Json &line);

  std::string command;
  bool json = false, quiet = false, isTerminal;
  /// The time of the first step, in seconds of the monotonic clock; negative
  /// before it.
  double started = -1;
};

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CONSOLE_H
