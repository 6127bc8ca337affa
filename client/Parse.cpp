//===- Parse.cpp - parsing text of options --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/Parse.h"

#include <charconv>

using namespace ingot::tools;

bool ingot::tools::parseNumber(const std::string &text, long long &value) {
  const char *end = text.data() + text.size();
  auto [stop, failed] = std::from_chars(text.data(), end, value);
  return !text.empty() && failed == std::errc() && stop == end;
}

std::vector<std::string> ingot::tools::split(const std::string &text,
                                             char separator) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}
