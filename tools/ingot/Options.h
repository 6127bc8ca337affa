//===- Options.h - command-line options of the subcommands --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_OPTIONS_H
#define INGOT_TOOLS_INGOT_OPTIONS_H

#include "base/OptionTable.h"
#include "client/Parse.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ingot::tools {

/// The exit codes of every subcommand.
enum ExitCode {
  exitSuccess = 0,
  exitFailure = 1,
  exitUsage = 2,
  /// The outputs differ by more than the tolerance of `ingot compare`.
  exitBeyond = 3
};

/// The parser of a command's options, which base/Options.inc defines. `--name
/// value` and `--name=value` are equal. A letter has one dash. `--` ends the
/// options. `@FILE.json` reads options from a file.
class OptionParser {
public:
  explicit OptionParser(cli::CommandId command);

  // Functions that add the options of a set. Their values go to `flags`.
#define INGOT_OPTION_SET(SET, COMMANDS) void add##SET(cli::SET##Flags &flags);
#define INGOT_OPTION(...)
#define INGOT_OPTION_END(SET)
#include "base/Options.inc"
#undef INGOT_OPTION_SET
#undef INGOT_OPTION
#undef INGOT_OPTION_END

  /// Checks or converts a value of an option. Returns "", or an error text that
  /// continues the option's name.
  using Check = std::function<std::string(const std::string &)>;
  void check(const std::string &name, Check check);

  /// Allows a second positional argument after the model.
  void optionalArgument(std::string &value) { second = &value; }

  /// Parses the command line, which must have the model as a positional
  /// argument. Returns false after --help, --version or an error. The command
  /// must then end with `exitCode`.
  bool parse(int argc, char **argv, std::string &positional, int &exitCode);

  /// Returns true if the user has given a value for the option.
  bool isGiven(const std::string &name) const;
  /// Returns the options that the user has given, in their order.
  const std::vector<cli::GivenOption> &given() const { return givenOptions; }

  /// Returns the options files that were read.
  const std::vector<std::string> &optionsFiles() const { return files; }

  /// Returns the name of the subcommand.
  const std::string &name() const { return command; }

  /// Prints an error in one line on stderr. Returns exitUsage.
  int usageError(const std::string &message) const;
  /// Prints an error in one line on stderr. Returns exitFailure.
  int failure(const std::string &message) const;

private:
  struct Bound {
    const cli::Option *row;
    std::function<void(const std::string &)> set;
    Check check;
    std::optional<std::string> given = std::nullopt;
  };
  /// Overloads that bind an option to a field of its type.
  void bind(const cli::Option &row, bool &field);
  void bind(const cli::Option &row, std::string &field);
  void bind(const cli::Option &row, unsigned &field);
  void bind(const cli::Option &row, uint64_t &field);
  void bind(const cli::Option &row, std::vector<std::string> &field);

  Bound *find(const std::string &argument);
  const Bound *findName(const std::string &name) const;
  int setValue(Bound &bound, const std::string &spelled, std::string value,
               bool hasValue);
  int readValue(int argc, char **argv, int &index, Bound &bound,
                const std::string &spelled, std::optional<std::string> text);
  int addPositional(const std::string &argument, std::string &first);
  int parseOne(int argc, char **argv, int &index, const std::string &argument);
  int parseFile(const std::string &path, std::string &first);
  bool holds(const cli::Condition &condition) const;
  std::string checkAllowed() const;
  std::string checkOutputs() const;

  cli::CommandId id;
  std::string command;
  std::vector<Bound> options;
  std::vector<cli::GivenOption> givenOptions;
  std::vector<std::string> files;
  std::string *second = nullptr;
};

/// Returns a message that no option or command is called `given`. Suggests the
/// most similar name in `known`.
std::string unknownName(const std::string &kind, const std::string &given,
                        const std::vector<std::string> &known);
/// Returns a message that an option has no value. `metavar` describes the
/// value.
std::string missingValue(const std::string &option, const std::string &metavar);
/// Returns a message that an option has two values.
std::string repeatedOption(const std::string &option, const std::string &first,
                           const std::string &second);
/// Parses a number of at least 0. Returns "", or an error text that continues
/// the option's name.
std::string parseBound(const std::string &text, std::optional<double> &bound);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_OPTIONS_H
