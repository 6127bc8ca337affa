//===- Options.cpp - command-line options of the subcommands ------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/Options.h"

#include "tools/ingot/Text.h"

#include "ingot/ingot.h"

#include <algorithm>
#include <charconv>
#include <stdio.h>

using namespace ingot::tools;

bool ingot::tools::parseNumber(const std::string &text, long long &value) {
  const char *end = text.data() + text.size();
  auto [stop, failed] = std::from_chars(text.data(), end, value);
  return !text.empty() && failed == std::errc() && stop == end;
}

std::vector<std::string> ingot::tools::split(const std::string &text,
                                             char separator) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

/// Returns how many characters must be inserted, removed, replaced or swapped
/// with the next one to turn `a` into `b`.
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

/// The longest name for which a similar option is searched.
static constexpr size_t kMostNameBytes = 64;

std::string
ingot::tools::unknownName(const std::string &kind, const std::string &given,
                          const std::vector<std::string> &known) {
  std::string message = "unknown " + kind + " '" + given + "'";
  if (given.size() > kMostNameBytes)
    return message;
  std::string nearest;
  // In a short name, few characters may be wrong.
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

OptionParser::OptionParser(std::string command, std::string usage,
                           std::string summary, std::string example)
    : command(std::move(command)), usage(std::move(usage)),
      summary(std::move(summary)), example(std::move(example)) {}

void OptionParser::flag(std::string name, bool &value, std::string help) {
  options.push_back({std::move(name), "", std::move(help),
                     [&value](const std::string &) {
                       value = true;
                       return std::string();
                     }});
}

void OptionParser::value(std::string name, std::string metavar,
                         std::string &value, std::string help) {
  options.push_back({std::move(name), std::move(metavar), std::move(help),
                     [&value](const std::string &text) {
                       value = text;
                       return std::string(text.empty() ? "is empty" : "");
                     }});
}

void OptionParser::list(std::string name, std::string metavar,
                        std::vector<std::string> &values, std::string help,
                        std::function<std::string(const std::string &)> check) {
  options.push_back({std::move(name), std::move(metavar), std::move(help),
                     [&values, check](const std::string &text) {
                       values.push_back(text);
                       if (text.empty())
                         return std::string("is empty");
                       return check ? check(text) : "";
                     },
                     /*isList=*/true});
}

void OptionParser::number(std::string name, std::string metavar,
                          unsigned &value, unsigned least, unsigned most,
                          std::string help) {
  options.push_back(
      {std::move(name), std::move(metavar), std::move(help),
       [&value, least, most](const std::string &text) {
         long long parsed;
         if (!parseNumber(text, parsed) || parsed < least || parsed > most)
           return "must be a number from " + std::to_string(least) + " to " +
                  std::to_string(most) + ", not '" + text + "'";
         value = unsigned(parsed);
         return std::string();
       }});
}

void OptionParser::custom(std::string name, std::string metavar,
                          std::function<std::string(const std::string &)> set,
                          std::string help) {
  options.push_back(
      {std::move(name), std::move(metavar), std::move(help), std::move(set)});
}

void OptionParser::printHelp() const {
  printf("%s\n\nusage: ingot %s %s\n\noptions:\n", summary.c_str(),
         command.c_str(), usage.c_str());
  auto print = [](const std::string &left, const std::string &help) {
    printf("  %-28s %s\n", left.c_str(), help.c_str());
  };
  for (const Option &option : options)
    print((option.name.size() == 1 ? "-" : "--") + option.name +
              (option.metavar.empty() ? "" : " " + option.metavar),
          option.help);
  print("--help", "print this and exit");
  print("--version", "print the version and exit");
  printf("\nexample:\n  %s\n\nexit codes: 0 done, 1 failed, 2 wrong use%s\n",
         example.c_str(), moreExitCodes.c_str());
}

/// The most bytes of a message, which may quote options and files.
static constexpr size_t kMostMessage = 1000;

int OptionParser::usageError(const std::string &message) const {
  fprintf(stderr, "ingot %s: error: %s; see: ingot %s --help\n",
          command.c_str(), formatLine(message, kMostMessage).c_str(),
          command.c_str());
  return exitUsage;
}

int OptionParser::failure(const std::string &message) const {
  fprintf(stderr, "ingot %s: error: %s\n", command.c_str(),
          formatLine(message, kMostMessage).c_str());
  return exitFailure;
}

std::string OptionParser::spelledName(const Option &option) const {
  return (option.name.size() == 1 ? "-" : "--") + option.name;
}

/// Returns true if an argument is one of the options, rather than a value.
bool OptionParser::isOption(const std::string &argument) const {
  std::string name = argument.substr(0, argument.find('='));
  return name == "--help" || name == "--version" ||
         std::any_of(options.begin(), options.end(),
                     [&](const Option &option) {
                       return spelledName(option) == name;
                     });
}

/// Sets an option to `text`, or to the next argument if there is none.
int OptionParser::readValue(int argc, char **argv, int &index, Option &option,
                            std::optional<std::string> text) {
  std::string name = spelledName(option);
  if (option.metavar.empty()) {
    if (text)
      return usageError("option " + name + " takes no value");
    text = "";
  } else if (!text) {
    if (index + 1 >= argc || isOption(argv[index + 1]))
      return usageError(missingValue(name, option.metavar));
    text = argv[++index];
  }
  if (!option.isList && option.given && *option.given != *text)
    return usageError(repeatedOption(name, *option.given, *text));
  option.given = text;
  std::string problem = option.set(*text);
  return problem.empty() ? exitSuccess
                         : usageError("option " + name + " " + problem);
}

int OptionParser::parseOne(int argc, char **argv, int &index,
                           const std::string &argument) {
  size_t equals = argument.find('=');
  std::string name = argument.substr(0, equals);
  std::optional<std::string> text;
  if (equals != std::string::npos)
    text = argument.substr(equals + 1);
  if (text && (name == "--help" || name == "--version"))
    return usageError("option " + name + " takes no value");
  for (Option &option : options)
    if (spelledName(option) == name)
      return readValue(argc, argv, index, option, std::move(text));
  std::vector<std::string> names{"--help", "--version"};
  for (const Option &option : options)
    names.push_back(spelledName(option));
  return usageError(unknownName("option", name, names));
}

int OptionParser::addPositional(const std::string &argument,
                                std::string &first) {
  if (argument.empty())
    return usageError("an argument is empty");
  if (first.empty())
    first = argument;
  else if (second && second->empty())
    *second = argument;
  else
    return usageError("unexpected argument '" + argument + "'");
  return exitSuccess;
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
      printHelp();
      return false;
    } else if (!optionsEnded && argument == "--version") {
      printf("ingot %s\n", ingot_version_get());
      return false;
    } else if (!optionsEnded && argument.size() > 1 && argument[0] == '-') {
      if ((exitCode = parseOne(argc, argv, i, argument)))
        return false;
    } else if ((exitCode = addPositional(argument, positional))) {
      return false;
    }
  }
  if (!positional.empty())
    return true;
  std::string first = usage.substr(0, usage.find(' '));
  for (char &c : first)
    c = char(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  exitCode = usageError("no " + first + " is given");
  return false;
}
