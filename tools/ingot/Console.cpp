//===- Console.cpp - all output of a subcommand ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/Console.h"

#include "base/SystemFailures.h"
#include "client/Text.h"
#include "tools/ingot/Options.h"

#include "ingot/ingot.h"

#include <algorithm>
#include <chrono>
#include <math.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace ingot;
using namespace ingot::tools;

/// The version of the JSON documents. It increases if a member is removed or
/// changes its meaning.
static constexpr unsigned kSchemaVersion = 1;

/// The least time in seconds between two displayed steps of a phase.
static constexpr double kStepSeconds = 0.1;

/// The most bytes of a message, and of a name in it. Names come from options,
/// files and models.
static constexpr size_t kMostMessage = 8000, kMostName = 500;

/// True if the terminal has a status line, of whichever object.
static bool isStatusShown = false;

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

Console::Console(std::string command)
    : command(std::move(command)), json(writesJson()),
      isTerminal(isatty(STDERR_FILENO)) {}

/// Returns the columns of the terminal.
static size_t terminalWidth() {
  winsize size = {};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
    return 80;
  return size.ws_col;
}

/// Returns "12 s" or "3 min".
static std::string formatSeconds(double seconds) {
  char text[40];
  if (seconds < 100)
    snprintf(text, sizeof(text), "%.0f s", seconds);
  else
    snprintf(text, sizeof(text), "%.0f min", seconds / 60);
  return text;
}

void Console::writeLine(const Json &line) {
  std::string text = toLine(line) + "\n";
  fwrite(text.data(), 1, text.size(), stderr);
}

void Console::step(const std::string &phase, double fraction) {
  if (quiet || (!json && !isTerminal))
    return;
  lastFraction = fraction;
  const double time = now();
  if (started < 0)
    started = time;
  if (phase == lastPhase && time - shown < kStepSeconds && fraction < 1)
    return;
  lastPhase = phase;
  shown = time;
  // Show the remaining time only once it can be estimated.
  const double seconds = time - started;
  double remaining = -1;
  if (fraction > 0.02 && seconds > 1)
    remaining = seconds * std::max(0.0, 1 - fraction) / fraction;
  if (json) {
    Json line = {{"type", "progress"}, {"phase", phase}};
    if (fraction >= 0)
      line["fraction"] = round(fraction * 1e4) / 1e4;
    if (remaining >= 0)
      line["remaining_s"] = round(remaining * 10) / 10;
    writeLine(line);
    return;
  }
  std::string numbers;
  if (fraction >= 0) {
    char percent[40];
    snprintf(percent, sizeof(percent), " %.0f %%", fraction * 100);
    numbers = percent;
  }
  if (remaining >= 0)
    numbers += ", " + formatSeconds(remaining) + " left";
  // Keep the line shorter than the terminal, because a wrapped line could not
  // be removed.
  const size_t width = terminalWidth(), taken = numbers.size() + 6;
  isStatusShown = true;
  fprintf(stderr, "\r\033[K%s%s …",
          formatLine(phase, width > taken ? width - taken : 1).c_str(),
          numbers.c_str());
}

void Console::clear() {
  if (isStatusShown)
    fputs("\r\033[K", stderr);
  isStatusShown = false;
}

/// Returns the name of a file. The number of a descriptor says nothing without
/// its folder.
static std::string withoutFolder(const std::string &path) {
  const size_t folder = path.rfind('/') + 1;
  return folder && path.compare(0, folder, "/proc/self/fd/") == 0
             ? path
             : path.substr(folder);
}

void Console::message(const Message &message) {
  if (quiet && message.severity >= Severity::remark)
    return;
  if (message.severity == Severity::warning)
    warnings.push_back(message.text);
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
  std::string line = "ingot";
  if (!command.empty())
    line += " " + command;
  line += std::string(": ") + nameOf(message.severity) + ": ";
  if (!message.file.empty())
    line += formatLine(withoutFolder(message.file), kMostName) + ": ";
  // Errors of the import name the node in their text.
  if (!message.node.empty() && message.text.rfind("node '", 0) != 0) {
    line += "node '" + formatLine(message.node, kMostName) + "'";
    if (!message.scope.empty())
      line += " (" + formatLine(message.scope, kMostName) + ")";
    line += ": ";
  }
  line += formatLine(message.text, kMostMessage);
  if (!message.hint.empty())
    line += "; " + formatLine(message.hint, kMostMessage);
  fprintf(stderr, "%s\n", line.c_str());
}

void Console::warning(const std::string &text) {
  Message warning;
  warning.severity = Severity::warning;
  warning.text = text;
  message(warning);
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
  error.hint = command.empty() ? "see: ingot --help"
                               : "see: ingot " + command + " --help";
  message(error);
  return exitUsage;
}

std::string Console::resultText(const Json &members) {
  if (!lastPhase.empty() && lastFraction < 1)
    step(lastPhase, 1);
  Json document = {{"schema", "ingot." + command},
                   {"version", kSchemaVersion},
                   {"ingot", ingot_version_get()},
                   {"warnings", warnings}};
  for (const auto &[name, value] : members.items()) {
    if (name != "warnings") {
      document[name] = value;
      continue;
    }
    Json &all = document["warnings"];
    all.insert(all.end(), value.begin(), value.end());
  }
  return toLines(document) + "\n";
}

void Console::result(const Json &members) {
  const std::string text = resultText(members);
  clear();
  fwrite(text.data(), 1, text.size(), stdout);
}

ingot::Progress Console::progress() {
  ingot::Progress result;
  if (!quiet && (json || isTerminal))
    result.onStep = [this](const std::string &phase, double fraction) {
      step(phase, fraction);
    };
  result.onMessage = [this](const Message &text) { message(text); };
  return result;
}
