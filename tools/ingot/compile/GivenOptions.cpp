//===- GivenOptions.cpp - the options that made an artifact ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/compile/GivenOptions.h"

#include "compiler/pipeline/Backends.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

#include <vector>

using namespace llvm;

/// Returns true if an option does not change the artifact's code: names of
/// outputs, and messages while compiling.
static bool isForOutput(StringRef name) {
  return StringSwitch<bool>(name)
      .Cases({"o", "emit", "compile-to", "header", "report", "data"}, true)
      .Cases({"quiet", "q", "timing", "remarks", "decisions", "dump-after"},
             true)
      .Case("print-pipeline", true)
      .Default(false);
}

static bool isFile(StringRef name) {
  return StringSwitch<bool>(name)
      .Cases({"calibration", "eval", "rules"}, true)
      .Default(false);
}

/// Returns the overrides in a list of targets, such as `l2=2M`. The artifact
/// records the levels itself.
static std::string numbersOf(StringRef targets) {
  SmallVector<StringRef> parts;
  targets.split(parts, ',');
  llvm::erase_if(parts, [](StringRef part) { return !part.contains('='); });
  return join(parts, ",");
}

std::string ingot::tools::describeGivenOptions(ArrayRef<const char *> args) {
  const auto &known = cl::getRegisteredOptions();
  std::vector<std::pair<std::string, std::string>> given;
  for (size_t i = 1; i < args.size(); ++i) {
    StringRef text = args[i];
    if (text == "--")
      break;
    if (!text.starts_with("-"))
      continue;
    auto [name, value] = text.ltrim('-').split('=');
    auto option = known.find(name);
    if (option == known.end())
      continue;
    bool needsValue =
        option->second->getValueExpectedFlag() == cl::ValueRequired;
    if (needsValue && !text.contains('=') && i + 1 < args.size())
      value = args[++i];
    if (isForOutput(name))
      continue;
    std::string kept = value.str();
    if (isFile(name))
      kept = sys::path::filename(value).str();
    // The record of layers says which kernels each layer uses.
    if (name == "kernels" && !ingot::findBackend(value))
      continue;
    if (name == "target" && (kept = numbersOf(value)).empty())
      continue;
    std::string entry = ("--" + name).str();
    if (needsValue || text.contains('='))
      entry += "=" + kept;
    given.push_back({name.str(), std::move(entry)});
  }
  if (given.empty())
    return "";
  llvm::stable_sort(given, llvm::less_first());
  json::Array array;
  for (auto &[name, entry] : given)
    array.push_back(json::fixUTF8(entry));
  return formatv("{0}", json::Value(std::move(array))).str();
}
