//===- Message.cpp - messages on one line --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Message.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace ingot::importer {

std::string makeOneLine(StringRef message) {
  constexpr size_t kMaxLength = 1000;
  std::string line;
  for (char c : message.trim()) {
    if (c == '\n' || c == '\r' || c == '\t')
      c = ' ';
    if (c == ' ' && !line.empty() && line.back() == ' ')
      continue;
    if (uint8_t(c) < 0x20 || c == 0x7f) {
      line += "\\x" + toHex(StringRef(&c, 1));
      continue;
    }
    line.push_back(c);
    if (line.size() > kMaxLength)
      return line + "...";
  }
  return line;
}

std::string cleanOnnxMessage(StringRef message) {
  // "what\n\n==> Context: Bad node spec for node. Name: NAME OpType: OP"
  auto [what, context] = message.split("==> Context:");
  // Of assertions: "file.cc:123: function: Assertion `cond` failed: what".
  size_t failed = what.find("` failed");
  if (what.contains("Assertion `") && failed != StringRef::npos)
    what = what.substr(failed + 8).ltrim(": ");
  for (StringRef tag : {"[ShapeInferenceError]", "[TypeInferenceError]",
                        "[ParseError at position"})
    if (what.ltrim().consume_front(tag) && tag.back() == ']')
      what = what.ltrim().drop_front(tag.size());
  // One message quotes the offending line below; the first line is enough.
  std::string result = makeOneLine(what);
  while (!result.empty() && (result.back() == '.' || result.back() == ' '))
    result.pop_back();
  if (!context.empty()) {
    StringRef node = context.split("Name:").second.trim();
    auto [name, op] = node.rsplit(" OpType:");
    name = name.trim();
    op = op.trim();
    std::string where = "node '" + name.str() + "' (" + op.str() + ")";
    if (name.empty())
      where = "a node of type " + op.str();
    result = makeOneLine(where) + ": " + result;
  }
  return result;
}

} // namespace ingot::importer
