//===- OptionTable.h - the table of options ---------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the rows of base/Options.inc, and a struct with a field for each
// option of a set, such as `CompileFlags`.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_BASE_OPTIONTABLE_H
#define INGOT_BASE_OPTIONTABLE_H

#include <stddef.h>
#include <stdint.h>
#include <string>
#include <vector>

namespace ingot::cli {

enum class CommandId : unsigned {
#define INGOT_COMMAND(NAME, ...) NAME,
#include "base/options/Commands.inc"
#undef INGOT_COMMAND
};

/// Bits of commands, for sets of options.
enum CommandBit : unsigned {
#define INGOT_COMMAND(NAME, ...) NAME = 1u << unsigned(CommandId::NAME),
#include "base/options/Commands.inc"
#undef INGOT_COMMAND
};

enum class GroupId : unsigned {
#define INGOT_OPTION_GROUP(NAME, ...) NAME,
#include "base/options/Groups.inc"
#undef INGOT_OPTION_GROUP
};

/// Form of an option's value.
enum class KindId {
  flag,   ///< no value
  toggle, ///< true or false
  text,   ///< any text
  choice, ///< one of the words in `value`
  number, ///< a number with bounds
  seed,   ///< any 64-bit number
  list    ///< text; the option may be repeated
};

struct Kind {
  KindId id;
  unsigned least = 0, most = 0;
};

// Kinds of options. Each kind defines the type of its field.
struct Flag : Kind {
  using Field = bool;
  constexpr Flag() : Kind{KindId::flag} {}
};
struct Switch : Kind {
  using Field = bool;
  constexpr Switch() : Kind{KindId::toggle} {}
};
struct Text : Kind {
  using Field = std::string;
  constexpr Text() : Kind{KindId::text} {}
};
struct Choice : Kind {
  using Field = std::string;
  constexpr Choice() : Kind{KindId::choice} {}
};
struct Number : Kind {
  using Field = unsigned;
  constexpr Number(unsigned least, unsigned most)
      : Kind{KindId::number, least, most} {}
};
struct Seed : Kind {
  using Field = uint64_t;
  constexpr Seed() : Kind{KindId::seed} {}
};
struct List : Kind {
  using Field = std::vector<std::string>;
  constexpr List() : Kind{KindId::list} {}
};

/// Properties of an option.
enum Property : unsigned {
  /// Shown by --help. Other options are shown only by --help-all.
  Usual = 1,
  /// Not shown by any help.
  Hidden = 2,
  /// Not recorded in artifacts, since it does not change them.
  NotRecorded = 4,
  /// The value is the name of a file that the artifact depends on.
  NamesFile = 8,
  /// The value `-` stands for standard output. Other paths must not be `-`.
  TakesDash = 16,
  /// The value is the name of a file that is written. It must not be that of an
  /// options file.
  WritesFile = 32,
};

/// A row of the table.
struct Option {
  Kind kind;
  const char *name;
  /// The letter of the short form, or 0.
  char letter;
  /// The default as C++ text; see `defaultText`.
  const char *initial;
  const char *value;
  GroupId group;
  unsigned properties;
  const char *allowedWith, *summary, *details;

  bool has(Property property) const { return properties & property; }
  bool takesValue() const { return kind.id != KindId::flag; }
};

/// An option of a command line or of an options file.
struct GivenOption {
  const Option *option;
  std::string value;
  /// True for the form `--name=value` of an option with an optional value.
  bool hasValue;
};

/// A set of options that several commands share.
struct OptionSet {
  unsigned commands;
  const Option *options;
  size_t size;
};

struct Command {
  CommandId id;
  const char *name, *arguments, *summary, *example, *moreExitCodes;
};

struct Group {
  GroupId id;
  const char *name, *title, *text;
};

/// Sets of the table, for `optionsOf(SetId)`.
enum class SetId {
#define INGOT_OPTION_SET(SET, COMMANDS) SET,
#define INGOT_OPTION(...)
#define INGOT_OPTION_END(SET)
#include "base/Options.inc"
#undef INGOT_OPTION_SET
#undef INGOT_OPTION
#undef INGOT_OPTION_END
};

#define INGOT_OPTION_SET(SET, COMMANDS) struct SET##Flags {
#define INGOT_OPTION(KIND, FIELD, NAME, LETTER, INITIAL, ...)                  \
  decltype(KIND)::Field FIELD = INITIAL;
#define INGOT_OPTION_END(SET)                                                  \
  }                                                                            \
  ;
#include "base/Options.inc"
#undef INGOT_OPTION_SET
#undef INGOT_OPTION
#undef INGOT_OPTION_END

const std::vector<Command> &allCommands();
const std::vector<Group> &allGroups();
const std::vector<OptionSet> &allSets();

const Command &commandOf(CommandId id);
const OptionSet &setOf(SetId id);

/// Returns the options of a command, in the order of the table.
std::vector<const Option *> optionsOf(CommandId command);

/// Returns the default as a user writes it, or "" if there is none.
std::string defaultText(const Option &option);

/// Returns the spelling on a command line: `--name`.
std::string spelledName(const Option &option);

/// Returns the spelling in help: `-o, --output FILE`.
std::string spelledForm(const Option &option);

/// Returns the possible values in lower case: `auto`, `7`, `8`.
std::vector<std::string> wordsOf(const Option &option);

/// Returns true if the value is a path, or may be one.
bool takesPath(const Option &option);

/// The condition that option `name` is given, with one of `values` if there are
/// any.
struct Condition {
  std::string name;
  std::vector<std::string> values;
};

/// Conditions of an option's column `allowed with`.
struct AllowedWith {
  /// Conditions that must not hold.
  std::vector<Condition> excluded;
  /// Alternatives, of which one must hold with all its conditions.
  std::vector<std::vector<Condition>> alternatives;
};

/// Returns the conditions for an option of a command.
AllowedWith allowedWith(const Option &option, CommandId command);

/// Returns a condition as text: `--precision=int8 and auto`.
std::string describe(const Condition &condition);
/// Returns the alternatives as text: `--report with --precision=int8`.
std::string describeNeeded(const AllowedWith &allowed);
/// Returns sentences for help: `Only for --profile. Not with --json.`
std::vector<std::string> describe(const AllowedWith &allowed);

/// Returns "a, b and c"; `last` joins the last two.
std::string joinWords(const std::vector<std::string> &words,
                      const std::string &last);

} // namespace ingot::cli

#endif // INGOT_BASE_OPTIONTABLE_H
