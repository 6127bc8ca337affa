//===- Console.cpp - all output of a subcommand ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/Console.h"

#include "tools/ingot/Options.h"
#include "tools/ingot/Text.h"

#include "ingot/ingot.h"

#include <chrono>
#include <stdio.h>
#include <unistd.h>

using namespace ingot;
using namespace ingot::tools;

/// The version of the JSON documents. It changes if a member is removed or
/// gets another meaning.
static constexpr unsigned kSchemaVersion = 1;

static double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

static const char *nameOf(Severity severity) {
  switch (severity) {
  case Severity::error:
    return "error";
  case Severity::warning:
    return "warning";
  case Severity::remark:
    return "remark";
  case Severity::note:
    return "note";
  }
  return "";
}

/// Returns the text of a JSON value. Bytes that are not UTF-8 become U+FFFD.
static std::string textOf(const Json &value, int indent = -1) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Console::Console(std::string command)
    : command(std::move(command)), isTerminal(isatty(STDERR_FILENO)) {}

void Console::writeLine(const Json &line) {
  std::string text = textOf(line) + "\n";
  fwrite(text.data(), 1, text.size(), stderr);
}

void Console::step(const std::string &phase, double fraction) {
  if (started < 0)
    started = now();
  // Tell the remaining time only once it can be estimated.
  double seconds = now() - started, remaining = -1;
  if (fraction > 0.02 && seconds > 1)
    remaining = seconds * (1 - fraction) / fraction;
  if (json) {
    Json line = {{"type", "progress"}, {"phase", phase}};
    if (fraction >= 0)
      line["fraction"] = fraction;
    if (remaining >= 0)
      line["remaining_s"] = remaining;
    writeLine(line);
  } else if (isTerminal && !quiet) {
    fprintf(stderr, "\r\033[K%s", formatLine(phase, 200).c_str());
    if (fraction >= 0)
      fprintf(stderr, " %.0f %%", fraction * 100);
    if (remaining >= 0)
      fprintf(stderr, ", %.0f s left", remaining);
    fputs(" …", stderr);
  }
}

void Console::clear() {
  if (isTerminal && !json && !quiet)
    fputs("\r\033[K", stderr);
}

void Console::message(const Message &message) {
  if (quiet && message.severity >= Severity::remark)
    return;
  if (json) {
    Json line = {{"type", "message"},
                 {"severity", nameOf(message.severity)},
                 {"text", message.text}};
    auto add = [&](const char *name, const std::string &value) {
      if (!value.empty())
        line[name] = value;
    };
    add("file", message.file);
    add("node", message.node);
    add("operator", message.op);
    add("scope", message.scope);
    add("hint", message.hint);
    writeLine(line);
    return;
  }
  clear();
  std::string where;
  if (!message.file.empty())
    where = formatLine(message.file, 200) + ": ";
  if (!message.node.empty()) {
    where += "node '" + formatLine(message.node, 200) + "'";
    if (!message.scope.empty())
      where += " (" + formatLine(message.scope, 200) + ")";
    where += ": ";
  }
  std::string text = message.text;
  if (!message.hint.empty())
    text += "; " + message.hint;
  fprintf(stderr, "ingot %s: %s: %s%s\n", command.c_str(),
          nameOf(message.severity), where.c_str(),
          formatLine(text, 2000).c_str());
}

int Console::failure(const std::string &text) {
  Message error;
  error.text = text;
  message(error);
  return exitFailure;
}

int Console::usageError(const std::string &text) {
  Message error;
  error.text = text;
  error.hint = "see: ingot " + command + " --help";
  message(error);
  return exitUsage;
}

void Console::result(const Json &members) {
  Json document = {{"schema", "ingot." + command},
                   {"version", kSchemaVersion},
                   {"ingot", ingot_version_get()}};
  document.update(members);
  std::string text = textOf(document, 2) + "\n";
  fwrite(text.data(), 1, text.size(), stdout);
}

ingot::Progress Console::progress() {
  ingot::Progress result;
  result.onStep = [this](const std::string &phase, double fraction) {
    step(phase, fraction);
  };
  result.onMessage = [this](const Message &text) { message(text); };
  return result;
}
