//===- CheckOptions.cpp - the form of a command line ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/compile/CheckOptions.h"

#include "tools/ingot/Options.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace ingot::tools;

namespace {

/// Checks the arguments in one pass.
class Checker {
public:
  Checker(const CompileFlags &flags, ArrayRef<const char *> args)
      : flags(flags), args(args) {}

  std::string check();

private:
  cl::Option *find(StringRef name) const;
  std::string checkOption(size_t &i);
  std::string checkValue(const cl::Option &option, const std::string &spelled,
                         StringRef value) const;

  const CompileFlags &flags;
  ArrayRef<const char *> args;
  /// The options that were given so far, with their values.
  DenseMap<const cl::Option *, StringRef> given;
};

} // namespace

/// Returns the option at the start of an argument, without its value, or null.
cl::Option *Checker::find(StringRef argument) const {
  if (!argument.starts_with("-"))
    return nullptr;
  StringRef name = argument.split('=').first;
  name.consume_front("-");
  name.consume_front("-");
  const auto &known = cl::getRegisteredOptions();
  auto found = known.find(name);
  if (found == known.end() ||
      !is_contained(found->second->Categories, &flags.category))
    return nullptr;
  return found->second;
}

static bool isForHelp(StringRef argument) {
  return StringSwitch<bool>(argument)
      .Cases({"-h", "-help", "--help", "-version", "--version"}, true)
      .Cases({"--help-list", "--help-hidden", "--help-list-hidden"}, true)
      .Default(false);
}

static std::string spelledName(StringRef name) {
  return ((name.size() == 1 ? "-" : "--") + name).str();
}

std::string Checker::checkValue(const cl::Option &option,
                                const std::string &spelled,
                                StringRef value) const {
  uint64_t number;
  if (option.getValueExpectedFlag() == cl::ValueRequired && value.empty())
    return "option " + spelled + " is empty";
  if (&option == &flags.scheduleSeed && value.getAsInteger(0, number))
    return "option " + spelled + " must be a number, not '" + value.str() + "'";
  bool isSwitch = option.getValueExpectedFlag() == cl::ValueOptional;
  if (isSwitch && !StringSwitch<bool>(value)
                       .Cases({"", "true", "TRUE", "True", "1"}, true)
                       .Cases({"false", "FALSE", "False", "0"}, true)
                       .Default(false))
    return "option " + spelled + " must be true or false, not '" +
           value.str() + "'";
  return "";
}

std::string Checker::checkOption(size_t &i) {
  auto [name, value] = StringRef(args[i]).split('=');
  const cl::Option *option = find(name);
  if (!option) {
    std::vector<std::string> names;
    for (auto &entry : cl::getRegisteredOptions())
      if (is_contained(entry.second->Categories, &flags.category) &&
          entry.second->getOptionHiddenFlag() == cl::NotHidden)
        names.push_back(spelledName(entry.first));
    llvm::sort(names);
    return unknownName("option", name.str(), names);
  }
  std::string spelled = spelledName(name.ltrim('-'));
  bool hasValue = StringRef(args[i]).contains('=');
  if (option->getValueExpectedFlag() == cl::ValueRequired && !hasValue) {
    if (i + 1 == args.size() || find(args[i + 1]))
      return missingValue(spelled, option->ValueStr.str());
    value = args[++i];
  }
  if (std::string problem = checkValue(*option, spelled, value);
      !problem.empty())
    return problem;
  bool isList = option->getNumOccurrencesFlag() == cl::ZeroOrMore;
  auto [before, isNew] = given.try_emplace(option, value);
  return isList || isNew || before->second == value
             ? ""
             : repeatedOption(spelled, before->second.str(), value.str());
}

std::string Checker::check() {
  size_t models = 0;
  bool areOptions = true;
  for (size_t i = 1; i < args.size(); ++i) {
    StringRef argument = args[i];
    if (areOptions && isForHelp(argument))
      return "";
    if (areOptions && argument == "--") {
      areOptions = false;
    } else if (areOptions && argument.size() > 1 &&
               argument.starts_with("-")) {
      if (std::string problem = checkOption(i); !problem.empty())
        return problem;
    } else if (++models > 1) {
      return "more than one model is given";
    }
  }
  return models == 0 ? "no model.onnx is given" : "";
}

std::string ingot::tools::checkOptions(const CompileFlags &flags,
                                       ArrayRef<const char *> args) {
  return Checker(flags, args).check();
}
