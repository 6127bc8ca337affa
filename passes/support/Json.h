//===- Json.h - parsing of untrusted JSON -----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_JSON_H
#define INGOT_PASSES_SUPPORT_JSON_H

#include "llvm/Support/JSON.h"
#include "llvm/ADT/StringSet.h"

#include <string>
#include <vector>

namespace ingot {

/// Returns a key that an object in the JSON `text` has more than once, or "".
/// The parser would use the last one. Keys are compared as they are written.
inline std::string findRepeatedKey(llvm::StringRef text) {
  std::vector<llvm::StringSet<>> open;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '{' || text[i] == '[')
      open.emplace_back();
    else if (text[i] == '}' || text[i] == ']')
      open.pop_back();
    if (text[i] != '"')
      continue;
    const size_t from = i + 1;
    for (i = from; text[i] != '"'; ++i)
      i += text[i] == '\\';
    // A string before a colon is a key.
    llvm::StringRef string = text.slice(from, i);
    if (text.drop_front(i + 1).ltrim().starts_with(":") &&
        !open.back().insert(string).second)
      return string.str();
  }
  return "";
}

/// Calls llvm::json::parse, which is recursive. Rejects text that nests arrays
/// and objects deeper than any valid file. An error says that the file is not
/// JSON.
inline llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text) {
  constexpr int kDeepest = 64;
  int depth = 0;
  bool isInString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (isInString && c == '\\')
      ++i;
    else if (c == '"')
      isInString = !isInString;
    else if (!isInString && (c == '[' || c == '{'))
      ++depth;
    else if (!isInString && (c == ']' || c == '}'))
      --depth;
    if (depth > kDeepest)
      return llvm::createStringError("it is not a whole JSON file: arrays and "
                                     "objects are nested deeper than 64");
  }
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(text);
  if (!parsed)
    return llvm::createStringError("it is not a whole JSON file: " +
                                   llvm::toString(parsed.takeError()));
  return parsed;
}

} // namespace ingot

#endif // INGOT_PASSES_SUPPORT_JSON_H
