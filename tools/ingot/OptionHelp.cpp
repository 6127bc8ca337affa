//===- OptionHelp.cpp - help about options --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/OptionHelp.h"

#include "base/SystemFailures.h"
#include "client/Text.h"
#include "tools/ingot/Console.h"
#include "tools/ingot/Options.h"

#include <algorithm>
#include <stdio.h>
#include <string.h>

using namespace ingot;
using namespace ingot::tools;

/// The width of the text, the width of an option's name, and the indentation of
/// continued lines.
static constexpr size_t kWidth = 79, kNameWidth = 28, kIndent = 31;

/// Prints text in lines that start at a column. The first line starts at the
/// cursor.
static void printWrapped(const std::string &text, size_t indent) {
  size_t column = indent;
  const char *separator = "";
  for (const std::string &word : split(text, ' ')) {
    if (*separator && column + 1 + word.size() > kWidth) {
      printf("\n%*s", int(indent), "");
      column = indent;
      separator = "";
    }
    printf("%s%s", separator, word.c_str());
    column += strlen(separator) + word.size();
    separator = " ";
  }
  printf("\n");
}

/// Prints an option's name and value, and the text beside or below it. A list
/// of words that is too long for a line is broken behind a `|`.
static void printOption(const std::string &left, const std::string &text) {
  std::string rest = left;
  while (rest.size() + 2 > kWidth) {
    const size_t end = rest.rfind('|', kWidth - 3);
    if (end == std::string::npos)
      break;
    printf("  %s\n", rest.substr(0, end + 1).c_str());
    rest = "        " + rest.substr(end + 1);
  }
  if (rest.size() > kNameWidth)
    printf("  %s\n%*s", rest.c_str(), int(kIndent), "");
  else
    printf("  %-*s ", int(kNameWidth), rest.c_str());
  printWrapped(text, kIndent);
}

/// Returns the one-line description of an option, with its default.
static std::string lineOf(const cli::Option &option) {
  std::string text = option.summary, initial = defaultText(option);
  if (!initial.empty())
    text += " (default: " + initial + ")";
  return text;
}

static void printDetails(const cli::Option &option, cli::CommandId command) {
  printOption(spelledForm(option), lineOf(option));
  auto more = [](const std::string &text) {
    printf("%*s", int(kIndent), "");
    printWrapped(text, kIndent);
  };
  if (*option.details)
    more(option.details);
  if (option.kind.id == cli::KindId::list)
    more("May be repeated.");
  for (const std::string &sentence : describe(allowedWith(option, command)))
    more(sentence);
}

static void printHead(const cli::Command &command) {
  printf("%s\n\nusage: ingot %s %s\n", command.summary, command.name,
         command.arguments);
}

static void printTail(const cli::Command &command) {
  printf("\nexample:\n  %s\n\nexit codes: 0 done, 1 failed, 2 wrong use%s%s\n",
         command.example, *command.moreExitCodes ? ", " : "",
         command.moreExitCodes);
}

void tools::printUsualOptions(cli::CommandId id) {
  const cli::Command &command = cli::commandOf(id);
  printHead(command);
  printf("\noptions:\n");
  for (const cli::Option *option : cli::optionsOf(id))
    if (option->has(cli::Usual)) {
      // Omit the default if the line has no room for it.
      std::string text = lineOf(*option);
      printOption(spelledForm(*option),
                  kIndent + text.size() > kWidth ? option->summary : text);
    }
  printOption("--help, --help-all", "print the usual options, or all of them");
  printOption("--version", "print the version");
  printTail(command);
}

void tools::printAllOptions(cli::CommandId id) {
  const cli::Command &command = cli::commandOf(id);
  printHead(command);
  for (const cli::Group &group : cli::allGroups()) {
    bool isFirst = true;
    for (const cli::Option *option : cli::optionsOf(id)) {
      if (option->group != group.id || option->has(cli::Hidden))
        continue;
      if (isFirst)
        printf("\n%s (ingot help %s):\n", group.title, group.name);
      isFirst = false;
      printDetails(*option, command.id);
    }
    if (group.id != cli::GroupId::general)
      continue;
    if (isFirst)
      printf("\n%s (ingot help %s):\n", group.title, group.name);
    printOption("@FILE.json", "read options from a file");
    printOption("--help, --help-all", "print the usual options, or all");
    printOption("--version", "print the version");
  }
  printTail(command);
}

/// Prints the options that `isWanted` selects, by command. Returns false if
/// there are none.
template <typename Predicate>
static bool printByCommand(Predicate isWanted) {
  bool isFound = false;
  for (const cli::Command &command : cli::allCommands()) {
    bool isFirst = true;
    for (const cli::Option *option : cli::optionsOf(command.id)) {
      if (option->has(cli::Hidden) || !isWanted(*option))
        continue;
      if (isFirst)
        printf("%singot %s:\n", isFound ? "\n" : "", command.name);
      isFound = true;
      isFirst = false;
      printDetails(*option, command.id);
    }
  }
  return isFound;
}

static void printTopics() {
  printf("Prints help about a topic, a command or an option.\n\n"
         "usage: ingot help [TOPIC] [--json]\n\ntopics:\n");
  for (const cli::Group &group : cli::allGroups())
    printf("  %-14s %s\n", group.name, group.title);
  printf("\ncommands:\n");
  for (const cli::Command &command : cli::allCommands())
    printf("  %-14s %s\n", command.name, command.summary);
  printf("\nexample:\n  ingot help quantization\n\n"
         "exit codes: 0 done, 1 failed, 2 wrong use\n");
}

static void printTopic(const cli::Group &group) {
  printf("%s\n\n", group.title);
  printWrapped(group.text, 0);
  printf("\n");
  printByCommand(
      [&](const cli::Option &option) { return option.group == group.id; });
}

static Json toJson(const cli::Option &option, cli::CommandId command) {
  const cli::AllowedWith allowed = allowedWith(option, command);
  Json excludes = Json::array();
  for (const cli::Condition &condition : allowed.excluded)
    excludes.push_back(describe(condition));
  auto orNull = [](const std::string &text) {
    return text.empty() ? Json() : Json(text);
  };
  const bool isSwitch = option.kind.id == cli::KindId::toggle;
  return {{"name", option.name},
          {"letter", orNull(std::string(option.letter ? 1 : 0, option.letter))},
          {"value", orNull(isSwitch ? "true|false" : option.value)},
          {"words", wordsOf(option)},
          {"default", orNull(defaultText(option))},
          {"repeatable", option.kind.id == cli::KindId::list},
          {"topic", cli::allGroups()[size_t(option.group)].name},
          {"usual", option.has(cli::Usual)},
          {"summary", option.summary},
          {"details", option.details},
          {"needs", orNull(describeNeeded(allowed))},
          {"excludes", std::move(excludes)}};
}

/// Writes the topics, commands and options that have the name `topic`, or all
/// if it is empty. Returns false if there are none.
static bool writeJson(const std::string &topic) {
  Json topics = Json::array(), commands = Json::array();
  for (const cli::Group &group : cli::allGroups())
    if (topic.empty() || topic == group.name)
      topics.push_back(
          {{"name", group.name}, {"title", group.title}, {"text", group.text}});
  for (const cli::Command &command : cli::allCommands()) {
    Json options = Json::array();
    for (const cli::Option *option : cli::optionsOf(command.id)) {
      const char *group = cli::allGroups()[size_t(option->group)].name;
      if (!option->has(cli::Hidden) &&
          (topic.empty() || topic == command.name || topic == group ||
           topic == option->name))
        options.push_back(toJson(*option, command.id));
    }
    if (!options.empty())
      commands.push_back({{"name", command.name},
                          {"arguments", command.arguments},
                          {"summary", command.summary},
                          {"example", command.example},
                          {"options", std::move(options)}});
  }
  if (commands.empty())
    return false;
  Console("help").result(
      {{"topics", std::move(topics)}, {"commands", std::move(commands)}});
  return true;
}

static int wrongTopic(const std::string &text) {
  Message error;
  error.text = text;
  error.hint = "see: ingot help";
  Console("help").message(error);
  return exitUsage;
}

static std::string withoutDashes(std::string topic) {
  topic.erase(0, std::min(topic.find_first_not_of('-'), topic.size()));
  return topic;
}

int tools::helpMain(int argc, char **argv) {
  const bool json = writesJson();
  std::vector<std::string> given;
  for (int i = 1; i < argc; ++i)
    if (std::string(argv[i]) != "--json")
      given.push_back(argv[i]);
  if (given.size() > 1)
    return wrongTopic("unexpected argument '" + given[1] + "'");
  std::string topic = given.empty() ? "" : given[0];
  const bool isGeneral = topic.empty() || topic == "--help" || topic == "-h";
  if (json && writeJson(isGeneral ? "" : withoutDashes(topic)))
    return exitSuccess;
  if (isGeneral) {
    printTopics();
    return exitSuccess;
  }
  std::vector<std::string> names;
  for (const cli::Group &group : cli::allGroups()) {
    names.push_back(group.name);
    if (json || topic != group.name)
      continue;
    printTopic(group);
    return exitSuccess;
  }
  for (const cli::Command &command : cli::allCommands()) {
    names.push_back(command.name);
    if (json || topic != command.name)
      continue;
    printAllOptions(command.id);
    return exitSuccess;
  }
  topic = withoutDashes(topic);
  if (!json && printByCommand([&](const cli::Option &option) {
        return topic == option.name;
      }))
    return exitSuccess;
  for (const cli::OptionSet &set : cli::allSets())
    for (size_t i = 0; i < set.size; ++i)
      names.push_back(set.options[i].name);
  return wrongTopic(unknownName("topic", formatLine(topic, 200), names));
}
