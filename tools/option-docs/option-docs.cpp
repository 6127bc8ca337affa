//===- option-docs.cpp - completion, man page, reference of options -------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints texts that are generated from base/Options.inc: the completion for
// bash and zsh, the man page, and docs/reference/command-line.md.
//
//===----------------------------------------------------------------------===//
#include "base/OptionTable.h"

#include <stdio.h>
#include <string.h>

using namespace ingot::cli;

static std::string replaceAll(std::string text, const std::string &from,
                              const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

static std::string joinAll(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : " ") + word;
  return text;
}

static std::vector<const Option *> shownOptions(CommandId id) {
  std::vector<const Option *> shown;
  for (const Option *option : optionsOf(id))
    if (!option->has(Hidden))
      shown.push_back(option);
  return shown;
}

/// Returns the summary with the default, and the details.
static std::string describe(const Option &option, CommandId command,
                            bool withDetails) {
  std::string text = option.summary, initial = defaultText(option);
  if (!initial.empty())
    text += " (default: " + initial + ")";
  if (!withDetails)
    return text;
  text += ".";
  if (*option.details)
    text += std::string(" ") + option.details;
  if (option.kind.id == KindId::list)
    text += " May be repeated.";
  for (const std::string &sentence : describe(allowedWith(option, command)))
    text += " " + sentence;
  return text;
}

//===----------------------------------------------------------------------===//
// Shell completion
//===----------------------------------------------------------------------===//

static std::vector<std::string> topicNames() {
  std::vector<std::string> names;
  for (const Group &group : allGroups())
    names.push_back(group.name);
  for (const Command &command : allCommands())
    names.push_back(command.name);
  return names;
}

static std::vector<std::string> spellings(const Option &option) {
  std::vector<std::string> names{spelledName(option)};
  if (option.letter)
    names.push_back(std::string("-") + option.letter);
  return names;
}

static void printBash() {
  std::vector<std::string> commands;
  for (const Command &command : allCommands())
    commands.push_back(command.name);
  printf("# Completion of ingot for bash. Generated from base/Options.inc; do "
         "not edit.\n\n"
         "_ingot() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]}\n"
         "  local previous=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  local command=${COMP_WORDS[1]} options= words= kind=file\n"
         "  COMPREPLY=()\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    COMPREPLY=($(compgen -W '%s help --help --version' -- "
         "\"$current\"))\n"
         "    return\n"
         "  fi\n"
         "  # Bash splits words at \"=\".\n"
         "  if [ \"$current\" = = ]; then\n"
         "    current=\n"
         "  elif [ \"$previous\" = = ] && [ \"$COMP_CWORD\" -gt 2 ]; then\n"
         "    previous=${COMP_WORDS[COMP_CWORD-2]}\n"
         "  fi\n"
         "  case $command in\n",
         joinAll(commands).c_str());
  for (const Command &command : allCommands()) {
    std::vector<std::string> names;
    for (const Option *option : shownOptions(command.id))
      for (const std::string &name : spellings(*option))
        names.push_back(name);
    names.insert(names.end(), {"--help", "--help-all", "--version"});
    printf("    %s) options='%s' ;;\n", command.name, joinAll(names).c_str());
  }
  printf("    help)\n"
         "      COMPREPLY=($(compgen -W '%s' -- \"$current\"))\n"
         "      return ;;\n"
         "  esac\n"
         "  case $command:$previous in\n",
         joinAll(topicNames()).c_str());
  for (const Command &command : allCommands())
    for (const Option *option : shownOptions(command.id)) {
      // A switch takes a value only after "=". A flag takes no value.
      if (option->kind.id == KindId::flag)
        continue;
      std::string pattern;
      for (const std::string &name : spellings(*option))
        pattern += (pattern.empty() ? "" : "|") + (command.name + (":" + name));
      std::vector<std::string> words = wordsOf(*option);
      printf("    %s) kind=%s words='%s' ;;\n", pattern.c_str(),
             option->kind.id == KindId::toggle ? "switch"
             : takesPath(*option)              ? "file"
                                               : "value",
             joinAll(words).c_str());
    }
  printf(
      "    *) kind=any ;;\n"
      "  esac\n"
      "  if [ $kind = switch ] && [ \"${COMP_WORDS[COMP_CWORD]}\" != = ] &&\n"
      "     [ \"${COMP_WORDS[COMP_CWORD-1]}\" != = ]; then\n"
      "    kind=any words=\n"
      "  fi\n"
      "  if [ $kind = any ] && [[ $current == -* ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  local IFS=$'\\n'\n"
      "  if [ $kind = any ] && [[ $current == @* ]]; then\n"
      "    COMPREPLY+=($(compgen -f -P @ -- \"${current#@}\"))\n"
      "  elif [ $kind = any ] || [ $kind = file ]; then\n"
      "    COMPREPLY+=($(compgen -f -- \"$current\"))\n"
      "    compopt -o filenames 2>/dev/null\n"
      "  fi\n"
      "}\n\n"
      "complete -F _ingot ingot\n");
}

/// Returns the text, escaped for an argument of zsh's _arguments.
static std::string zshText(std::string text) {
  for (const char *special : {"\\", "[", "]", ":"})
    text = replaceAll(text, special, std::string("\\") + special);
  return replaceAll(text, "'", "'\\''");
}

static std::string zshAction(const Option &option) {
  std::vector<std::string> words = wordsOf(option);
  if (words.empty())
    return takesPath(option) ? "_files" : " ";
  return takesPath(option) ? " _ingot_word_or_file " + joinAll(words)
                           : "(" + joinAll(words) + ")";
}

static void printZshOption(const Option &option, CommandId command) {
  std::string text = "[" + zshText(describe(option, command, false)) + "]",
              names, name = spelledName(option);
  const bool isList = option.kind.id == KindId::list;
  const char *equals = option.kind.id == KindId::toggle ? "=-"
                       : option.takesValue()            ? "="
                                                        : "";
  if (option.takesValue())
    text += (option.kind.id == KindId::toggle ? "::" : ":") +
            zshText(option.value) + ":" +
            zshAction(option);
  if (option.letter) {
    std::string letter = std::string("-") + option.letter;
    printf("        '(%s %s)'{%s,%s%s}'%s' \\\n", letter.c_str(), name.c_str(),
           letter.c_str(), name.c_str(), equals, text.c_str());
    return;
  }
  printf("        '%s%s%s%s' \\\n", isList ? "*" : "", name.c_str(), equals,
         text.c_str());
}

static void printZsh() {
  printf("#compdef ingot\n"
         "# Completion of ingot for zsh. Generated from base/Options.inc; do "
         "not edit.\n\n"
         "_ingot_word_or_file() {\n"
         "  _alternative \"words:word:($*)\" files:file:_files\n"
         "}\n\n"
         "_ingot() {\n"
         "  if (( CURRENT == 2 )); then\n"
         "    local -a commands\n"
         "    commands=(\n");
  for (const Command &command : allCommands())
    printf("      '%s:%s'\n", command.name, zshText(command.summary).c_str());
  printf("      'help:Explains a topic.'\n"
         "    )\n"
         "    _describe command commands\n"
         "    return\n"
         "  fi\n"
         "  local command=$words[2]\n"
         "  shift words\n"
         "  (( CURRENT-- ))\n"
         "  case $command in\n");
  for (const Command &command : allCommands()) {
    printf("    %s)\n      _arguments -S \\\n", command.name);
    for (const Option *option : shownOptions(command.id))
      printZshOption(*option, command.id);
    printf("        '--help[print the usual options]' \\\n"
           "        '--help-all[print all options]' \\\n"
           "        '--version[print the version]' \\\n"
           "        '*:file:_files' ;;\n");
  }
  printf("    help)\n      _arguments '1:topic:(%s)' ;;\n  esac\n}\n\n"
         "if [ \"$funcstack[1]\" = _ingot ]; then\n"
         "  _ingot \"$@\"\nelse\n  compdef _ingot ingot\nfi\n",
         joinAll(topicNames()).c_str());
}

//===----------------------------------------------------------------------===//
// Man page
//===----------------------------------------------------------------------===//

static std::string roff(const std::string &text) {
  std::string escaped = replaceAll(replaceAll(text, "\\", "\\e"), "-", "\\-");
  bool isControl = !escaped.empty() && strchr(".'", escaped[0]);
  return isControl ? "\\&" + escaped : escaped;
}

static void printMan() {
  printf(".\\\" Generated from base/Options.inc; do not edit.\n"
         ".TH INGOT 1\n.SH NAME\ningot \\- compiles ONNX models and runs them\n"
         ".SH SYNOPSIS\n");
  for (const Command &command : allCommands())
    printf(".B ingot %s\n%s\n.br\n", command.name,
           roff(command.arguments).c_str());
  printf(".B ingot help\n%s\n.SH DESCRIPTION\n"
         "Ingot compiles ONNX models ahead of time into shared libraries.\n"
         ".SH TOPICS\n",
         roff("[TOPIC]").c_str());
  for (const Group &group : allGroups())
    printf(".TP\n.B %s\n%s\n", roff(group.title).c_str(),
           roff(group.text).c_str());
  for (const Command &command : allCommands()) {
    std::string title = command.name;
    for (char &c : title)
      c = char(c - 'a' + 'A');
    printf(".SH INGOT %s\n%s\n", title.c_str(), roff(command.summary).c_str());
    for (const Group &group : allGroups()) {
      bool isFirst = true;
      for (const Option *option : shownOptions(command.id)) {
        if (option->group != group.id)
          continue;
        if (isFirst)
          printf(".SS %s\n", roff(group.title).c_str());
        isFirst = false;
        printf(".TP\n.B %s\n%s\n", roff(spelledForm(*option)).c_str(),
               roff(describe(*option, command.id, true)).c_str());
      }
    }
    printf(".PP\nExample:\n.PP\n.RS\n%s\n.RE\n", roff(command.example).c_str());
  }
  printf(".SH EXIT STATUS\n0 done, 1 failed, 2 wrong use");
  for (const Command &command : allCommands())
    if (*command.moreExitCodes)
      printf(". \\fBingot %s\\fR: %s", command.name,
             roff(command.moreExitCodes).c_str());
  printf(".\n");
}

//===----------------------------------------------------------------------===//
// Reference page
//===----------------------------------------------------------------------===//

static std::string cell(const std::string &text) {
  return replaceAll(replaceAll(replaceAll(text, "|", "\\|"), "*", "\\*"), "<",
                    "&lt;");
}

/// Returns the text as a code span in a table cell.
static std::string codeCell(const std::string &text) {
  return "`" + replaceAll(text, "|", "\\|") + "`";
}

static void printMarkdown() {
  printf("# Command line\n\n"
         "`ingot COMMAND --help` prints the usual options, `--help-all` all of "
         "them, and `ingot help TOPIC` explains a topic. Every command also "
         "has `--version`. An exit code is one of these:\n\n"
         "| code | meaning |\n|---|---|\n"
         "| 0 | done |\n"
         "| 1 | failed: a file cannot be read or written, its content is "
         "wrong, or it does not have what an option names |\n"
         "| 2 | wrong use: the text of an option or of an options file is "
         "wrong, whatever other files hold |\n\n"
         "## Topics\n");
  for (const Group &group : allGroups())
    printf("\n### %s\n\n%s `ingot help %s` prints this.\n", group.title,
           replaceAll(group.text, "<", "&lt;").c_str(), group.name);
  for (const Command &command : allCommands()) {
    printf("\n## ingot %s\n\n%s\n\n```\ningot %s %s\n%s\n```\n", command.name,
           command.summary, command.name, command.arguments, command.example);
    if (*command.moreExitCodes)
      printf("\nExit code: %s.\n", command.moreExitCodes);
    for (const Group &group : allGroups()) {
      bool isFirst = true;
      for (const Option *option : shownOptions(command.id)) {
        if (option->group != group.id)
          continue;
        if (isFirst)
          printf("\n| %s | |\n|---|---|\n", group.title);
        isFirst = false;
        printf("| %s | %s |\n", codeCell(spelledForm(*option)).c_str(),
               cell(describe(*option, command.id, true)).c_str());
      }
    }
  }
  printf("\n## Pipelines of ingot-opt\n\n"
         "Each phase is a pipeline `ingot-<phase>`, as in "
         "`--ingot-linalg=\"precision=bf16\"`. All have these options.\n\n"
         "| option | |\n|---|---|\n");
#define INGOT_PIPELINE_OPTION(FIELD, NAME, SUMMARY)                            \
  printf("| `%s` | %s |\n", NAME, cell(SUMMARY).c_str());
#include "base/options/Pipeline.inc"
#undef INGOT_PIPELINE_OPTION
}

int main(int argc, char **argv) {
  struct Form {
    const char *name;
    void (*print)();
  };
  for (const Form &form :
       {Form{"bash", printBash}, Form{"zsh", printZsh}, Form{"man", printMan},
        Form{"markdown", printMarkdown}})
    if (argc == 2 && !strcmp(argv[1], form.name)) {
      form.print();
      return fflush(stdout) || ferror(stdout);
    }
  fprintf(stderr, "usage: option-docs bash|zsh|man|markdown\n");
  return 2;
}
