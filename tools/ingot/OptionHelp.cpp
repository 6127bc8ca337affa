//===- OptionHelp.cpp - help about options --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/OptionHelp.h"

#include "tools/ingot/Options.h"
#include "client/Text.h"

#include <algorithm>
#include <stdio.h>
#include <string.h>

using namespace ingot;
using namespace ingot::tools;

/// The columns of the text, of an option's name, and of the lines below it.
static constexpr size_t kWidth = 79, kNameWidth = 28, kIndent = 31;

/// Prints text in lines that start at a column. The first line starts where the
/// cursor is.
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

/// Returns the spelling in help. A long list of words becomes a placeholder.
static std::string shortForm(const cli::Option &option) {
  std::string form = spelledForm(option);
  if (form.size() <= kNameWidth)
    return form;
  std::string value = strchr(option.value, '|') ? "WORD" : "VALUE";
  return form.substr(0, form.find(' ')) + " " + value;
}

static void printOption(const std::string &left, const std::string &text) {
  printf("  %-*s ", int(kNameWidth), left.c_str());
  if (left.size() > kNameWidth)
    printf("\n%*s", int(kIndent), "");
  printWrapped(text, kIndent);
}

/// Returns the one line of an option, with its default.
static std::string lineOf(const cli::Option &option) {
  std::string text = option.summary, initial = defaultText(option);
  if (!initial.empty())
    text += " (default: " + initial + ")";
  return text;
}

static void printDetails(const cli::Option &option) {
  printOption(shortForm(option), lineOf(option));
  auto more = [](const std::string &text) {
    printf("%*s", int(kIndent), "");
    printWrapped(text, kIndent);
  };
  std::vector<std::string> words = wordsOf(option);
  if (shortForm(option) != spelledForm(option) && !words.empty())
    more("WORD is " + cli::joinWords(words, "or") + ".");
  if (*option.details)
    more(option.details);
  if (option.kind.id == cli::KindId::list)
    more("May be repeated.");
  cli::AllowedWith allowed = allowedWith(option);
  if (!allowed.excluded.empty())
    more("Excludes --" + allowed.excluded + ".");
  if (!allowed.alternatives.empty())
    more("For " + describe(allowed) + ".");
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
      // The default is left out if the line has no room for it.
      std::string text = lineOf(*option);
      printOption(shortForm(*option),
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
      printDetails(*option);
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
      printDetails(*option);
    }
  }
  return isFound;
}

static void printTopics() {
  printf("Prints help about a topic, a command or an option.\n\n"
         "usage: ingot help TOPIC\n\ntopics:\n");
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

int tools::helpMain(int argc, char **argv) {
  std::string topic = argc > 1 ? argv[1] : "";
  if (argc > 2) {
    fprintf(stderr,
            "ingot help: error: unexpected argument '%s'; see: ingot "
            "help\n",
            formatLine(argv[2], 120).c_str());
    return exitUsage;
  }
  if (topic.empty() || topic == "--help" || topic == "-h") {
    printTopics();
    return exitSuccess;
  }
  std::vector<std::string> names;
  for (const cli::Group &group : cli::allGroups()) {
    names.push_back(group.name);
    if (topic != group.name)
      continue;
    printTopic(group);
    return exitSuccess;
  }
  for (const cli::Command &command : cli::allCommands()) {
    names.push_back(command.name);
    if (topic != command.name)
      continue;
    printAllOptions(command.id);
    return exitSuccess;
  }
  topic.erase(0, std::min(topic.find_first_not_of('-'), topic.size()));
  if (printByCommand(
          [&](const cli::Option &option) { return topic == option.name; }))
    return exitSuccess;
  for (const cli::OptionSet &set : cli::allSets())
    for (size_t i = 0; i < set.size; ++i)
      names.push_back(set.options[i].name);
  fprintf(stderr, "ingot help: error: %s; see: ingot help\n",
          formatLine(unknownName("topic", topic, names), 300).c_str());
  return exitUsage;
}
