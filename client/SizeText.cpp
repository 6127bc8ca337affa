//===- SizeText.cpp - sizes and shapes in options -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/SizeText.h"

#include "client/Parse.h"
#include "client/Text.h"

#include <algorithm>

using namespace ingot::tools;

static bool isDigits(const std::string &text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c >= '0' && c <= '9';
  });
}

static bool parseSizeNumber(const std::string &text, int64_t &number,
                            std::string &problem) {
  if (!isDigits(text))
    return false;
  long long value;
  if (!parseNumber(text, value)) {
    problem = "'" + formatLine(text, 40) + "' is larger than " +
              std::to_string(INT64_MAX);
    return false;
  }
  number = value;
  return true;
}

static bool parseMultiple(const std::string &text, int64_t &multiple,
                          std::string &problem) {
  if (text.empty() || text.back() != 'k' ||
      !parseSizeNumber(text.substr(0, text.size() - 1), multiple, problem))
    return false;
  if (multiple > 0)
    return true;
  problem = "no size is a multiple of 0";
  return false;
}

/// Checks a range. Returns an error message, or "".
static std::string checkRange(const SizeText &range) {
  if (range.min > range.usual || range.usual > range.max)
    return "the usual size " + std::to_string(range.usual) + " is not within " +
           std::to_string(range.min) + " to " + std::to_string(range.max) +
           "; write MIN:USUAL:MAX";
  if (range.usual % range.multiple != 0)
    return "the usual size " + std::to_string(range.usual) +
           " is no multiple of " + std::to_string(range.multiple);
  return "";
}

/// Parses the part after the last colon of `FIRST:LAST:+STEP`.
static bool parseSteps(const std::vector<std::string> &parts, SizeText &size,
                       std::string &problem) {
  size.kind = SizeText::steps;
  if (!parseSizeNumber(parts[0], size.min, problem) ||
      !parseSizeNumber(parts[1], size.max, problem) ||
      !parseSizeNumber(parts[2].substr(1), size.step, problem))
    return false;
  if (size.step < 1 || size.min > size.max)
    problem = "write FIRST:LAST:+STEP with a step of at least 1";
  return problem.empty();
}

bool ingot::tools::parseSizeText(std::string text, SizeText &size,
                                 std::string &problem) {
  size = {};
  problem.clear();
  if (text == "?")
    return true;
  if (!text.empty() && text.front() == '(') {
    if (text.back() != ')')
      return false;
    text = text.substr(1, text.size() - 2);
  }
  std::vector<std::string> parts = split(text, ':');
  if (parts.size() == 1) {
    size.kind = SizeText::range;
    if (!text.empty() && text.back() == 'k')
      return parseMultiple(text, size.multiple, problem);
    size.kind = SizeText::fixed;
    if (!parseSizeNumber(text, size.usual, problem))
      return false;
    size.min = size.max = size.usual;
    return true;
  }
  if (parts.size() == 3 && parts[2].rfind('+', 0) == 0)
    return parseSteps(parts, size, problem);
  size.kind = SizeText::range;
  if (parts.size() != 3 && parts.size() != 4)
    return false;
  if (!parseSizeNumber(parts[0], size.min, problem) ||
      !parseSizeNumber(parts[1], size.usual, problem) ||
      !parseSizeNumber(parts[2], size.max, problem) ||
      (parts.size() == 4 && !parseMultiple(parts[3], size.multiple, problem)))
    return false;
  problem = checkRange(size);
  return problem.empty();
}

bool ingot::tools::parseSizesText(const std::string &text,
                                  std::vector<SizeText> &sizes,
                                  std::string &problem) {
  sizes.clear();
  problem.clear();
  if (text == "scalar")
    return true;
  for (const std::string &part : split(text, 'x'))
    if (!parseSizeText(part, sizes.emplace_back(), problem))
      return false;
  return true;
}

bool ingot::tools::splitNameAndValue(const std::string &text, std::string &name,
                                     std::string &value) {
  size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0)
    return false;
  name = text.substr(0, equals);
  value = text.substr(equals + 1);
  return true;
}
