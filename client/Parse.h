//===- Parse.h - parsing text of options ------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_PARSE_H
#define INGOT_CLIENT_PARSE_H

#include <string>
#include <vector>

namespace ingot::tools {

/// Splits `text` at each `separator`. Without a separator, the whole text is
/// one part.
std::vector<std::string> split(const std::string &text, char separator);

/// Parses a whole decimal number. Returns false if it is malformed or too
/// large.
bool parseNumber(const std::string &text, long long &value);

} // namespace ingot::tools

#endif // INGOT_CLIENT_PARSE_H
