//===- Json.h - JSON that nobody vouches for --------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_JSON_H
#define INGOT_PASSES_SUPPORT_JSON_H

#include "llvm/Support/JSON.h"

namespace ingot {

/// llvm::json::parse, which calls itself for each array and object: text that
/// nests them deeper than any file of ours is refused.
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
      return llvm::createStringError("arrays and objects are nested deeper "
                                     "than 64");
  }
  return llvm::json::parse(text);
}

} // namespace ingot

#endif // INGOT_PASSES_SUPPORT_JSON_H
