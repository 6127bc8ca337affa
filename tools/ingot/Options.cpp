//===- Options.cpp - command-line options of the subcommands ------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/Options.h"
#include "tools/ingot/Text.h"

#include "ingot/ingot.h"

#include <charconv>
#include <stdio.h>

using namespace ingot::tools;

bool ingot::tools::parseNumber(const std::string &text, long long &value) {
  const char *end = text.data() + text.size();
  auto [stop, failed] = std::from_chars(text.data(), end, value);
  return !text.empty() && failed == std::errc() && stop == end;
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
                        std::vector<std::string> &values, std::string help) {
  options.push_back({std::move(name), std::move(metavar), std::move(help),
                     [&values](const std::string &text) {
                       values.push_back(text);
                       return std::string(text.empty() ? "is empty" : "");
                     }});
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
  printf("\nexample:\n  %s\n\nexit codes: 0 done, 1 failed, 2 wrong use\n",
         example.c_str());
}

/// Bytes of a message. Option values and names in it may be anything.
static constexpr size_t kMostOfMessage = 2000;

int OptionParser::usageError(const std::string &message) const {
  fprintf(stderr, "ingot %s: error: %s; see: ingot %s --help\n",
          command.c_str(), formatLine(message, kMostOfMessage).c_str(),
          command.c_str());
  return exitUsage;
}

int OptionParser::failure(const std::string &message) const {
  fprintf(stderr, "ingot %s: error: %s\n", command.c_str(),
          formatLine(message, kMostOfMessage).c_str());
  return exitFailure;
}

int OptionParser::parseOne(int argc, char **argv, int &index,
                           const std::string &argument) {
  const size_t dashes = argument[1] == '-' ? 2 : 1;
  const std::string start = argument.substr(0, dashes);
  size_t equals = argument.find('=');
  std::string name = argument.substr(dashes, equals - dashes);
  for (const Option &option : options) {
    if (option.name != name || (name.size() == 1) != (dashes == 1))
      continue;
    std::string text;
    if (option.metavar.empty()) {
      if (equals != std::string::npos)
        return usageError("option " + start + name + " takes no value");
    } else if (equals != std::string::npos) {
      text = argument.substr(equals + 1);
    } else if (++index < argc) {
      text = argv[index];
    } else {
      return usageError("option " + start + name + " needs a value, " +
                        option.metavar);
    }
    std::string problem = option.set(text);
    return problem.empty()
               ? exitSuccess
               : usageError("option " + start + name + " " + problem);
  }
  return usageError("unknown option '" + start + name + "'");
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
