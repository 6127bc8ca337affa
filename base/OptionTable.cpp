//===- OptionTable.cpp - the table of options -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/OptionTable.h"

#include <ctype.h>
#include <iterator>
#include <string.h>

using namespace ingot;
using namespace ingot::cli;

#define INGOT_OPTION_SET(SET, COMMANDS) static const Option k##SET##Rows[] = {
#define INGOT_OPTION(KIND, FIELD, NAME, LETTER, INITIAL, VALUE, GROUP,         \
                     PROPERTIES, ALLOWED, SUMMARY, DETAILS)                    \
  {KIND,           NAME,       LETTER,  #INITIAL, VALUE,                       \
   GroupId::GROUP, PROPERTIES, ALLOWED, SUMMARY,  DETAILS},
#define INGOT_OPTION_END(SET)                                                  \
  }                                                                            \
  ;
#include "base/Options.inc"
#undef INGOT_OPTION_SET
#undef INGOT_OPTION
#undef INGOT_OPTION_END

const std::vector<OptionSet> &cli::allSets() {
  static const std::vector<OptionSet> sets = {
#define INGOT_OPTION_SET(SET, COMMANDS)                                        \
  {COMMANDS, k##SET##Rows, sizeof(k##SET##Rows) / sizeof(Option)},
#define INGOT_OPTION(...)
#define INGOT_OPTION_END(SET)
#include "base/Options.inc"
#undef INGOT_OPTION_SET
#undef INGOT_OPTION
#undef INGOT_OPTION_END
  };
  return sets;
}

/// The commands, in a constant array, so that their names can be read before
/// any memory is allocated.
static constexpr Command kCommands[] = {
#define INGOT_COMMAND(NAME, ...) {CommandId::NAME, #NAME, __VA_ARGS__},
#include "base/options/Commands.inc"
#undef INGOT_COMMAND
};

const std::vector<cli::Command> &cli::allCommands() {
  static const std::vector<Command> commands(std::begin(kCommands),
                                             std::end(kCommands));
  return commands;
}

const std::vector<Group> &cli::allGroups() {
  static const std::vector<Group> groups = {
#define INGOT_OPTION_GROUP(NAME, ...) {GroupId::NAME, #NAME, __VA_ARGS__},
#include "base/options/Groups.inc"
#undef INGOT_OPTION_GROUP
  };
  return groups;
}

const cli::Command &cli::commandOf(CommandId id) {
  return kCommands[size_t(id)];
}

const OptionSet &cli::setOf(SetId id) { return allSets()[size_t(id)]; }

std::vector<const Option *> cli::optionsOf(CommandId command) {
  std::vector<const Option *> found;
  for (const OptionSet &set : allSets())
    if (set.commands & (1u << unsigned(command)))
      for (size_t i = 0; i < set.size; ++i)
        found.push_back(&set.options[i]);
  return found;
}

std::string cli::defaultText(const Option &option) {
  std::string text = option.initial;
  switch (option.kind.id) {
  case KindId::flag:
  case KindId::list:
    return "";
  case KindId::toggle:
    return text;
  case KindId::number:
  case KindId::seed:
    return text == "0" ? "" : text;
  case KindId::text:
  case KindId::choice:
    // Remove the quotes.
    return text.substr(1, text.size() - 2);
  }
  return text;
}

std::string cli::spelledName(const Option &option) {
  return std::string("--") + option.name;
}

std::string cli::spelledForm(const Option &option) {
  std::string text;
  if (option.letter)
    text = std::string("-") + option.letter + ", ";
  text += spelledName(option);
  if (option.kind.id == KindId::toggle)
    return text + "=true|false";
  return option.takesValue() ? text + " " + option.value : text;
}

static std::vector<std::string> splitAt(const std::string &text,
                                        char separator) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

std::vector<std::string> cli::wordsOf(const Option &option) {
  if (option.kind.id == KindId::toggle)
    return {"true", "false"};
  std::vector<std::string> words;
  if (option.kind.id != KindId::choice && !strchr(option.value, '|'))
    return words;
  for (const std::string &part : splitAt(option.value, '|')) {
    bool isPlaceholder = option.kind.id != KindId::choice && !part.empty() &&
                         isupper(static_cast<unsigned char>(part[0]));
    if (!isPlaceholder)
      words.push_back(part);
  }
  return words;
}

bool cli::takesPath(const Option &option) {
  for (const char *word : {"FILE", "DIR", "PATH", "SOURCE"})
    if (strstr(option.value, word))
      return true;
  return false;
}

/// Parses `precision=int8,auto` or `profile`.
static Condition parseCondition(const std::string &text) {
  const size_t equals = text.find('=');
  Condition condition{text.substr(0, equals), {}};
  if (equals != std::string::npos)
    condition.values = splitAt(text.substr(equals + 1), ',');
  return condition;
}

static bool hasOption(CommandId command, const std::string &name) {
  for (const Option *option : optionsOf(command))
    if (name == option->name)
      return true;
  return false;
}

AllowedWith cli::allowedWith(const Option &option, CommandId command) {
  AllowedWith allowed;
  std::string text = option.allowedWith;
  while (!text.empty() && text[0] == '!') {
    const size_t end = text.find('&');
    Condition condition = parseCondition(text.substr(1, end - 1));
    if (hasOption(command, condition.name))
      allowed.excluded.push_back(std::move(condition));
    text = end == std::string::npos ? "" : text.substr(end + 1);
  }
  if (text.empty())
    return allowed;
  for (const std::string &alternative : splitAt(text, '|')) {
    std::vector<Condition> &conditions = allowed.alternatives.emplace_back();
    for (const std::string &part : splitAt(alternative, '&'))
      conditions.push_back(parseCondition(part));
  }
  return allowed;
}

std::string cli::joinWords(const std::vector<std::string> &words,
                           const std::string &last) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i)
      text += i + 1 == words.size() ? " " + last + " " : ", ";
    text += words[i];
  }
  return text;
}

std::string cli::describe(const Condition &condition) {
  std::string text = "--" + condition.name;
  if (!condition.values.empty())
    text += "=" + joinWords(condition.values, "and");
  return text;
}

std::string cli::describeNeeded(const AllowedWith &allowed) {
  std::vector<std::string> alternatives;
  for (const std::vector<Condition> &conditions : allowed.alternatives) {
    std::string text;
    for (const Condition &condition : conditions)
      text += (text.empty() ? "" : " with ") + describe(condition);
    alternatives.push_back(text);
  }
  return joinWords(alternatives, "and");
}

std::vector<std::string> cli::describe(const AllowedWith &allowed) {
  std::vector<std::string> sentences, excluded;
  if (!allowed.alternatives.empty())
    sentences.push_back("Only for " + describeNeeded(allowed) + ".");
  for (const Condition &condition : allowed.excluded)
    excluded.push_back(describe(condition));
  if (!excluded.empty())
    sentences.push_back("Not with " + joinWords(excluded, "or") + ".");
  return sentences;
}
