//===- Options.h - command-line options of the subcommands --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_OPTIONS_H
#define INGOT_TOOLS_INGOT_OPTIONS_H

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
  /// Outputs differ more than the tolerance of `ingot compare`.
  exitBeyond = 3
};

/// The options of a subcommand. `--name value` and `--name=value` are equal. A
/// name of one letter has one dash. `--` ends the options.
class OptionParser {
public:
  /// `usage` follows the command's name in the help; `example` is shown at its
  /// end.
  OptionParser(std::string command, std::string usage, std::string summary,
               std::string example);

  void flag(std::string name, bool &value, std::string help);
  void value(std::string name, std::string metavar, std::string &value,
             std::string help);
  /// Adds an option that may be given several times. `check` returns an error
  /// message that follows the option's name, or "".
  void list(std::string name, std::string metavar,
            std::vector<std::string> &values, std::string help,
            std::function<std::string(const std::string &)> check = nullptr);
  /// Adds an option whose value is a number from `least` to `most`.
  void number(std::string name, std::string metavar, unsigned &value,
              unsigned least, unsigned most, std::string help);

  /// Adds an option with any other value. `set` takes the value. It returns an
  /// error message that follows the option's name, or "".
  void custom(std::string name, std::string metavar,
              std::function<std::string(const std::string &)> set,
              std::string help);

  /// Adds an exit code to the help: "3 the outputs differ".
  void exitCode(std::string meaning) { moreExitCodes += ", " + meaning; }

  /// Lets a second positional argument follow the model.
  void optionalArgument(std::string &value) { second = &value; }

  /// Parses the command line, which must have one positional argument, the
  /// model. Returns false after --help, --version or a usage error; the command
  /// then ends with `exitCode`.
  bool parse(int argc, char **argv, std::string &positional, int &exitCode);

  /// Returns the name of the subcommand.
  const std::string &name() const { return command; }

  /// Prints one line on stderr. Returns exitUsage.
  int usageError(const std::string &message) const;
  /// Prints one line on stderr. Returns exitFailure.
  int failure(const std::string &message) const;

private:
  struct Option {
    std::string name, metavar, help;
    /// Takes a value. Returns "", or why the value is wrong.
    std::function<std::string(const std::string &)> set;
    bool isList = false;
    std::optional<std::string> given = std::nullopt;
  };
  std::string spelledName(const Option &option) const;
  bool isOption(const std::string &argument) const;
  int readValue(int argc, char **argv, int &index, Option &option,
                std::optional<std::string> text);
  void printHelp() const;
  int addPositional(const std::string &argument, std::string &first);
  int parseOne(int argc, char **argv, int &index, const std::string &argument);

  std::string command, usage, summary, example, moreExitCodes;
  std::vector<Option> options;
  std::string *second = nullptr;
};

/// Returns the message that there is no option or command `given`, with the
/// nearest name in `known`.
std::string unknownName(const std::string &kind, const std::string &given,
                        const std::vector<std::string> &known);
/// Returns the message that an option lacks its value, described by `metavar`.
std::string missingValue(const std::string &option, const std::string &metavar);
/// Returns the message that an option has two values.
std::string repeatedOption(const std::string &option, const std::string &first,
                           const std::string &second);

/// Splits `text` at each `separator`. Without a separator, the whole text is
/// one part.
std::vector<std::string> split(const std::string &text, char separator);

/// Parses a whole decimal number. Returns false if it is malformed or too
/// large.
bool parseNumber(const std::string &text, long long &value);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_OPTIONS_H
