//===- GivenOptions.cpp - the options that made an artifact ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/compile/GivenOptions.h"

#include "compiler/pipeline/Backends.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

#include <vector>

using namespace llvm;
using namespace ingot;

/// Returns the overrides in a list of targets, such as `l2=2M`. Skips levels,
/// because the artifact records them itself.
static std::string numbersOf(StringRef targets) {
  SmallVector<StringRef> parts;
  targets.split(parts, ',');
  llvm::erase_if(parts, [](StringRef part) { return !part.contains('='); });
  return join(parts, ",");
}

std::string
ingot::study::describeGivenOptions(ArrayRef<cli::GivenOption> options) {
  std::vector<std::pair<StringRef, std::string>> given;
  for (const cli::GivenOption &option : options) {
    const cli::Option &row = *option.option;
    const StringRef name = row.name;
    if (row.has(cli::NotRecorded))
      continue;
    std::string kept = option.value;
    if (row.has(cli::NamesFile))
      kept = sys::path::filename(option.value).str();
    // The record of layers already states the kernels of each layer.
    if (name == "kernels" && !findBackend(option.value))
      continue;
    if (name == "target" && (kept = numbersOf(option.value)).empty())
      continue;
    std::string entry = cli::spelledName(row);
    if (row.kind.id != cli::KindId::toggle || option.hasValue)
      entry += "=" + kept;
    given.push_back({name, std::move(entry)});
  }
  if (given.empty())
    return "";
  llvm::stable_sort(given, llvm::less_first());
  json::Array array;
  for (auto &[name, entry] : given)
    array.push_back(json::fixUTF8(entry));
  return formatv("{0}", json::Value(std::move(array))).str();
}
