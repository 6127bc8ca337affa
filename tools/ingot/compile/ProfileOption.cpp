//===- ProfileOption.cpp - ranges of sizes in options ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/compile/ProfileOption.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace ingot;

static bool parseNumber(StringRef text, int64_t &number, std::string &problem) {
  if (text.empty() || !all_of(text, isDigit))
    return false;
  if (to_integer(text, number, 10))
    return true;
  problem = "'" + text.str() + "' is larger than 9223372036854775807";
  return false;
}

static bool parseMultiple(StringRef text, int64_t &multiple,
                          std::string &problem) {
  if (!text.consume_back("k") || !parseNumber(text, multiple, problem))
    return false;
  if (multiple > 0)
    return true;
  problem = "no size is a multiple of 0";
  return false;
}

/// What is wrong with a range; "" if nothing is.
static std::string problemOf(const SizeRange &range) {
  if (range.min > range.usual || range.usual > range.max)
    return "the usual size " + std::to_string(range.usual) +
           " is not within " + std::to_string(range.min) + " to " +
           std::to_string(range.max) + "; write MIN:USUAL:MAX";
  if (range.usual % range.multiple != 0)
    return "the usual size " + std::to_string(range.usual) +
           " is no multiple of " + std::to_string(range.multiple);
  return "";
}

bool ingot::parseSize(StringRef text, GivenSize &size, std::string &problem) {
  text = text.trim();
  if (text == "?")
    return true;
  SizeRange &range = size.sizes;
  if (text.consume_front("(") && !text.consume_back(")"))
    return false;
  SmallVector<StringRef> parts;
  text.split(parts, ':');
  if (parts.size() == 1) {
    int64_t number;
    if (text.ends_with("k")) {
      size.kind = GivenSize::range;
      return parseMultiple(text, range.multiple, problem);
    }
    if (!parseNumber(text, number, problem))
      return false;
    size = {GivenSize::fixed, SizeRange::of(number)};
    return true;
  }
  size.kind = GivenSize::range;
  if (parts.size() != 3 && parts.size() != 4)
    return false;
  if (!parseNumber(parts[0], range.min, problem) ||
      !parseNumber(parts[1], range.usual, problem) ||
      !parseNumber(parts[2], range.max, problem) ||
      (parts.size() == 4 && !parseMultiple(parts[3], range.multiple, problem)))
    return false;
  problem = problemOf(range);
  return problem.empty();
}

/// `x=1x3x(32:48:64)x?` is a shape, `length=1:128:512` a named dimension: what
/// has several sizes, an open one or brackets is a shape.
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
    GivenSize size;
    if (!parseSize(part, size, problem))
      return false;
    ranges.push_back(size.kind == GivenSize::open ? std::nullopt
                                                  : std::optional(size.sizes));
  }
  bool isNew = isShape ? profile.shapes.try_emplace(name, ranges).second
                       : profile.dims.try_emplace(name, *ranges[0]).second;
  if (!isNew)
    problem = "'" + name.str() + "' stands there twice";
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
