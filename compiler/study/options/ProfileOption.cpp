//===- ProfileOption.cpp - ranges of sizes in options ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/options/ProfileOption.h"

#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using namespace ingot;
using namespace ingot::tools;

bool ingot::parseSize(StringRef text, SizeText &size, std::string &problem) {
  if (!parseSizeText(text.trim().str(), size, problem))
    return false;
  if (size.kind == SizeText::steps)
    problem = "steps are for ingot bench; write MIN:USUAL:MAX";
  return problem.empty();
}

std::optional<SizeRange> ingot::rangeOf(const SizeText &size) {
  if (size.kind == SizeText::open)
    return std::nullopt;
  return SizeRange{size.min, size.usual, size.max, size.multiple};
}

/// Parses a shape, `x=1x3x(32:48:64)x?`, or a named dimension,
/// `length=1:128:512`. The entry is a shape if it has several sizes, a dynamic
/// size or brackets.
static bool parseEntry(StringRef text, ShapeProfile &profile,
                       std::string &problem) {
  auto [name, value] = text.rsplit('=');
  name = name.trim();
  value = value.trim();
  if (name.empty() || value.empty())
    return false;
  bool isShape = value.find_first_of("x?(") != StringRef::npos;
  SmallVector<StringRef> parts;
  value.split(parts, 'x');
  SmallVector<std::optional<SizeRange>> ranges;
  for (StringRef part : parts) {
    SizeText size;
    if (!parseSize(part, size, problem))
      return false;
    ranges.push_back(rangeOf(size));
  }
  bool isNew = isShape ? profile.shapes.try_emplace(name, ranges).second
                       : profile.dims.try_emplace(name, *ranges[0]).second;
  if (!isNew)
    problem = "'" + name.str() + "' is given twice";
  return isNew;
}

bool ingot::parseProfile(StringRef text, ShapeProfile &profile,
                         std::string &error) {
  SmallVector<StringRef> entries;
  text.split(entries, ',');
  for (StringRef entry : entries) {
    std::string problem;
    if (parseEntry(entry, profile, problem))
      continue;
    error = "--profile=" + text.str() + " cannot be read: " +
            (problem.empty() ? "write it as --profile "
                               "'image=1x3x(32:48:64)x(64:320:2048),"
                               "length=1:128:512'"
                             : problem);
    return false;
  }
  return true;
}
