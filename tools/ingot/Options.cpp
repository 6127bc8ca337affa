//===- Options.cpp - command-line options of the subcommands ------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/Options.h"

#include "base/SystemFailures.h"
#include "client/Text.h"
#include "tools/ingot/Console.h"
#include "tools/ingot/OptionHelp.h"
#include "tools/ingot/OptionsFile.h"

#include "ingot/ingot.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <stdio.h>
#include <stdlib.h>

using namespace ingot::tools;

/// Returns the edit distance of `a` and `b`: the number of characters to
/// insert, remove, replace or swap with the next one.
static size_t editDistance(const std::string &a, const std::string &b) {
  std::vector<std::vector<size_t>> rows(
      a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      if (!i || !j) {
        rows[i][j] = i + j;
        continue;
      }
      rows[i][j] = std::min({rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]),
                             rows[i - 1][j] + 1, rows[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  return rows[a.size()][b.size()];
}

/// The maximum length of a name for which a similar option is searched.
static constexpr size_t kMostNameBytes = 64;

std::string
ingot::tools::unknownName(const std::string &kind, const std::string &given,
                          const std::vector<std::string> &known) {
  std::string message = "unknown " + kind + " '" + given + "'";
  if (given.size() > kMostNameBytes)
    return message;
  std::string nearest;
  // Allow fewer wrong characters in a shorter name.
  size_t least = given.size() / 3 + 1;
  for (const std::string &name : known) {
    bool isStart =
        given.size() > 3 && name.compare(0, given.size(), given) == 0;
    size_t distance = isStart ? 0 : editDistance(given, name);
    if (distance < least) {
      least = distance;
      nearest = name;
    }
  }
  if (!nearest.empty())
    message += " (did you mean " + nearest + "?)";
  return message;
}

std::string ingot::tools::missingValue(const std::string &option,
                                       const std::string &metavar) {
  return "option " + option + " needs a value, " + metavar;
}

std::string ingot::tools::repeatedOption(const std::string &option,
                                         const std::string &first,
                                         const std::string &second) {
  return "option " + option + " is given twice: '" + first + "' and '" +
         second + "'";
}

OptionParser::OptionParser(cli::CommandId id)
    : id(id), command(cli::commandOf(id).name) {}

#define INGOT_OPTION_SET(SET, COMMANDS)                                        \
  void OptionParser::add##SET(cli::SET##Flags &flags) {                        \
    const cli::Option *row = cli::setOf(cli::SetId::SET).options;
#define INGOT_OPTION(KIND, FIELD, ...) bind(*row++, flags.FIELD);
#define INGOT_OPTION_END(SET) }
#include "base/Options.inc"
#undef INGOT_OPTION_SET
#undef INGOT_OPTION
#undef INGOT_OPTION_END

static bool isTrue(const std::string &text) {
  return text.empty() || text == "true" || text == "1";
}

void OptionParser::bind(const cli::Option &row, bool &field) {
  const bool isSwitch = row.kind.id == cli::KindId::toggle;
  Check check;
  if (isSwitch)
    check = [](const std::string &text) -> std::string {
      if (isTrue(text) || text == "false" || text == "0")
        return "";
      return "must be true or false, not '" + text + "'";
    };
  options.push_back(
      {&row, [&field](const std::string &text) { field = isTrue(text); },
       check});
}

void OptionParser::bind(const cli::Option &row, std::string &field) {
  options.push_back(
      {&row, [&field](const std::string &text) { field = text; }, nullptr});
}

void OptionParser::bind(const cli::Option &row, unsigned &field) {
  auto check = [kind = row.kind](const std::string &text) {
    long long parsed;
    bool isRight = parseNumber(text, parsed) && parsed >= kind.least &&
                   parsed <= kind.most;
    return isRight ? std::string()
                   : "must be a number from " + std::to_string(kind.least) +
                         " to " + std::to_string(kind.most) + ", not '" + text +
                         "'";
  };
  auto set = [&field](const std::string &text) {
    long long parsed = 0;
    parseNumber(text, parsed);
    field = unsigned(parsed);
  };
  options.push_back({&row, set, check});
}

/// Parses a whole decimal number of 64 bits.
static bool parseSeed(const std::string &text, uint64_t &value) {
  const char *end = text.data() + text.size();
  auto [stop, failed] = std::from_chars(text.data(), end, value);
  return failed == std::errc() && stop == end;
}

void OptionParser::bind(const cli::Option &row, uint64_t &field) {
  auto check = [](const std::string &text) {
    uint64_t parsed;
    return parseSeed(text, parsed) ? std::string()
                                   : "must be a number, not '" + text + "'";
  };
  options.push_back(
      {&row, [&field](const std::string &text) { parseSeed(text, field); },
       check});
}

void OptionParser::bind(const cli::Option &row,
                        std::vector<std::string> &field) {
  options.push_back(
      {&row, [&field](const std::string &text) { field.push_back(text); },
       nullptr});
}

void OptionParser::check(const std::string &name, Check check) {
  for (Bound &bound : options)
    if (name == bound.row->name)
      bound.check = std::move(check);
}

bool OptionParser::isGiven(const std::string &name) const {
  const Bound *bound = findName(name);
  return bound && bound->given;
}

/// The most bytes of a message, which may quote options and files.
static constexpr size_t kMostMessage = 1000;

int OptionParser::usageError(const std::string &message) const {
  return Console(command).usageError(formatLine(message, kMostMessage));
}

int OptionParser::failure(const std::string &message) const {
  return Console(command).failure(formatLine(message, kMostMessage));
}

const OptionParser::Bound *
OptionParser::findName(const std::string &name) const {
  for (const Bound &bound : options)
    if (name == bound.row->name)
      return &bound;
  return nullptr;
}

/// Returns the option that `--name`, `--name=value` or `-n` refers to, or null.
OptionParser::Bound *OptionParser::find(const std::string &argument) {
  std::string name = argument.substr(0, argument.find('='));
  for (Bound &bound : options)
    if (name == spelledName(*bound.row) ||
        (bound.row->letter && name == std::string("-") + bound.row->letter))
      return &bound;
  return nullptr;
}

static bool isForHelp(const std::string &name) {
  return name == "--help" || name == "-h" || name == "--help-all" ||
         name == "--version";
}

/// Returns true if the value is `-` or NAME=-, where a path must stand.
static bool isDash(const ingot::cli::Option &option, const std::string &value) {
  if (!takesPath(option) || option.has(ingot::cli::TakesDash))
    return false;
  const bool isNamed = option.kind.id == ingot::cli::KindId::list &&
                       value.size() > 2 &&
                       !value.compare(value.size() - 2, 2, "=-");
  return value == "-" || isNamed;
}

int OptionParser::setValue(Bound &bound, const std::string &spelled,
                           std::string value, bool hasValue) {
  using cli::KindId;
  const KindId kind = bound.row->kind.id;
  const bool isList = kind == KindId::list;
  // Treat all spellings of true as equal.
  if (kind == KindId::toggle && isTrue(value)) {
    value.clear();
    hasValue = false;
  }
  if (value.empty() && kind != KindId::flag && kind != KindId::toggle)
    return usageError("option " + spelled + " is empty");
  if (isDash(*bound.row, value))
    return usageError("option " + spelled +
                      " needs the name of a file or folder, not '-': write "
                      "./- if it has this name");
  if (!isList && bound.given && *bound.given != value)
    return usageError(repeatedOption(spelled, *bound.given, value));
  if (kind == KindId::choice) {
    std::vector<std::string> words = wordsOf(*bound.row);
    if (std::find(words.begin(), words.end(), value) == words.end())
      return usageError("unknown " + spelled + "=" + value + ": use " +
                        cli::joinWords(words, "or"));
  }
  if (bound.check)
    if (std::string problem = bound.check(value); !problem.empty())
      return usageError("option " + spelled + " " + problem);
  bound.set(value);
  if (isList || !bound.given)
    givenOptions.push_back({bound.row, value, hasValue});
  bound.given = value;
  return exitSuccess;
}

/// Sets an option to `text`. Without a text, uses the next argument.
int OptionParser::readValue(int argc, char **argv, int &index, Bound &bound,
                            const std::string &spelled,
                            std::optional<std::string> text) {
  const bool hasValue = text.has_value();
  if (bound.row->kind.id == cli::KindId::flag && text)
    return usageError("option " + spelled + " takes no value");
  if (bound.row->takesValue() && bound.row->kind.id != cli::KindId::toggle &&
      !text) {
    const std::string next = index + 1 < argc ? argv[index + 1] : "--";
    if (isForHelp(next) || find(next) || !next.compare(0, 2, "--"))
      return usageError(missingValue(spelled, bound.row->value) +
                        (next.size() > 2 && next[1] == '-' && !find(next)
                             ? ": write " + spelled + "=" + next +
                                   " if it begins with two dashes"
                             : ""));
    text = argv[++index];
  }
  return setValue(bound, spelled, text.value_or(""), hasValue);
}

int OptionParser::parseOne(int argc, char **argv, int &index,
                           const std::string &argument) {
  size_t equals = argument.find('=');
  std::string name = argument.substr(0, equals);
  std::optional<std::string> text;
  if (equals != std::string::npos)
    text = argument.substr(equals + 1);
  if (text && isForHelp(name))
    return usageError("option " + name + " takes no value");
  if (Bound *bound = find(name))
    return readValue(argc, argv, index, *bound, name, std::move(text));
  std::vector<std::string> names{"--help", "--help-all", "--version"};
  for (const Bound &bound : options)
    if (!bound.row->has(cli::Hidden))
      names.push_back(spelledName(*bound.row));
  std::sort(names.begin(), names.end());
  return usageError(unknownName("option", name, names));
}

int OptionParser::addPositional(const std::string &argument,
                                std::string &first) {
  if (argument.empty())
    return usageError("an argument is empty");
  if (argument == "-")
    return usageError("a model is a file, not standard input: write ./- if it "
                      "has the name '-'");
  if (first.empty())
    first = argument;
  else if (second && second->empty())
    *second = argument;
  else
    return usageError("unexpected argument '" + argument + "'");
  return exitSuccess;
}

/// Reads the options in a file. They have the effect of options on the command
/// line.
int OptionParser::parseFile(const std::string &path, std::string &first) {
  std::vector<FileOption> read;
  std::string problem;
  files.push_back(path);
  if (!readOptionsFile(path, read, problem))
    return failure(problem);
  // Switch the form of messages before the first message.
  for (const FileOption &entry : read)
    if (entry.key == "json" && entry.type == FileOption::boolean &&
        entry.values.front() == "true")
      setWritesJson();
  const std::string inFile = "'" + path + "': ";
  if (!problem.empty())
    return usageError(inFile + problem);
  for (const FileOption &entry : read) {
    if (entry.key == kModelKey) {
      if (entry.type != FileOption::text)
        return usageError(inFile + wrongType(entry, "a string"));
      if (int code = addPositional(entry.values.front(), first))
        return code;
      continue;
    }
    const Bound *found = findName(entry.key);
    if (!found) {
      std::vector<std::string> names{kModelKey};
      for (const Bound &bound : options)
        names.push_back(bound.row->name);
      return usageError(inFile + unknownName("key", entry.key, names));
    }
    if (std::string wrong = checkType(*found->row, entry); !wrong.empty())
      return usageError(inFile + wrong);
    Bound &bound = *find(spelledName(*found->row));
    const bool isFlag = bound.row->kind.id == cli::KindId::flag;
    if (isFlag && entry.values.front() == "false")
      continue;
    for (const std::string &value : entry.values)
      if (int code = setValue(bound, spelledName(*bound.row),
                              isFlag ? "" : value, !isFlag))
        return code;
  }
  return exitSuccess;
}

/// Returns true if a condition of `allowed with` holds.
bool OptionParser::holds(const cli::Condition &condition) const {
  const Bound *bound = findName(condition.name);
  if (!bound)
    return false;
  if (condition.values.empty())
    return bound->given.has_value();
  // A value may be a list: one of its words suffices.
  const std::string value = bound->given.value_or(defaultText(*bound->row));
  for (const std::string &word : split(value, ','))
    if (std::find(condition.values.begin(), condition.values.end(), word) !=
        condition.values.end())
      return true;
  return false;
}

/// Returns a message about the first option that lacks another or excludes
/// another, or "".
std::string OptionParser::checkAllowed() const {
  for (const Bound &bound : options) {
    if (!bound.given)
      continue;
    cli::AllowedWith allowed = allowedWith(*bound.row, id);
    for (const cli::Condition &excluded : allowed.excluded)
      if (holds(excluded))
        return describe(excluded) + " and " + spelledName(*bound.row) +
               " exclude each other";
    if (allowed.alternatives.empty())
      continue;
    bool isAllowed =
        std::any_of(allowed.alternatives.begin(), allowed.alternatives.end(),
                    [&](const std::vector<cli::Condition> &conditions) {
                      return std::all_of(conditions.begin(), conditions.end(),
                                         [&](const cli::Condition &condition) {
                                           return holds(condition);
                                         });
                    });
    if (!isAllowed)
      return spelledName(*bound.row) + " is for " + describeNeeded(allowed);
  }
  return "";
}

/// Returns a message if an option would replace an options file, or "".
std::string OptionParser::checkOutputs() const {
  std::error_code ignored;
  for (const Bound &bound : options)
    for (const std::string &file : files)
      if (bound.row->has(ingot::cli::WritesFile) && bound.given &&
          std::filesystem::equivalent(*bound.given, file, ignored))
        return "option " + spelledName(*bound.row) +
               " would replace the options file '" + file + "'";
  return "";
}

bool OptionParser::parse(int argc, char **argv, std::string &positional,
                         int &exitCode) {
  bool optionsEnded = false;
  exitCode = exitSuccess;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (!optionsEnded && argument == "--") {
      optionsEnded = true;
    } else if (!optionsEnded && (argument == "--help" || argument == "-h")) {
      printUsualOptions(id);
      return false;
    } else if (!optionsEnded && argument == "--help-all") {
      printAllOptions(id);
      return false;
    } else if (!optionsEnded && argument == "--version") {
      printf("ingot %s\n", ingot_version_get());
      return false;
    } else if (!optionsEnded && argument.size() > 1 && argument[0] == '-') {
      if ((exitCode = parseOne(argc, argv, i, argument)))
        return false;
    } else if (!optionsEnded && isOptionsFile(argument)) {
      if ((exitCode = parseFile(argument.substr(1), positional)))
        return false;
    } else if ((exitCode = addPositional(argument, positional))) {
      return false;
    }
  }
  if (positional.empty()) {
    std::string usage = cli::commandOf(id).arguments;
    std::string first = usage.substr(0, usage.find(' '));
    for (char &c : first)
      c = char(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    exitCode = usageError("no " + first + " is given");
  } else if (std::string problem = checkAllowed(); !problem.empty()) {
    exitCode = usageError(problem);
  } else if (problem = checkOutputs(); !problem.empty()) {
    exitCode = usageError(problem);
  }
  return exitCode == exitSuccess;
}

std::string ingot::tools::parseBound(const std::string &text,
                                     std::optional<double> &bound) {
  char *end = nullptr;
  const double value = strtod(text.c_str(), &end);
  if (text.empty() || *end || !std::isfinite(value) || value < 0)
    return "must be a number of at least 0, not '" + text + "'";
  bound = value;
  return "";
}
