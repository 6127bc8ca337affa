//===- Message.cpp - messages on one line ---------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Message.h"

#include "dialects/nn/NodeName.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace ingot::importer {

std::string quote(StringRef name) { return "'" + printable(name) + "'"; }

/// Joins the lines of a message of ONNX's library into one line.
static std::string makeOneLine(StringRef message) {
  std::string line;
  for (char c : message.trim()) {
    if (c == '\n' || c == '\r' || c == '\t')
      c = ' ';
    if (c != ' ' || line.empty() || line.back() != ' ')
      line.push_back(c);
  }
  return line;
}

/// Removes the node's name, because the message starts with it already. Handles
/// the forms "Node(NAME) with schema(DOMAIN:OP:VERSION) has …", "No Op
/// registered for OP with domain_version of N" and "No opset import for domain
/// 'DOMAIN'".
static std::string simplify(StringRef what) {
  if (what.starts_with("Node(")) {
    size_t end = what.find(") with schema(");
    size_t close = end == StringRef::npos ? end : what.find(") ", end + 2);
    if (close != StringRef::npos)
      return what.drop_front(close + 2).str();
  }
  if (what.consume_front("No Op registered for ")) {
    auto [op, version] = what.rsplit(" with domain_version of ");
    return ("opset " + version + " has no operator " + op).str();
  }
  if (what.consume_front("No opset import for domain "))
    return ("the model imports no opset of domain " + what +
            ": add it to opset_import")
        .str();
  return what.str();
}

std::string cleanOnnxMessage(StringRef message) {
  // Form: "what\n\n==> Context: Bad node spec for node. Name: NAME OpType: OP".
  auto [what, context] = message.split("==> Context:");
  // Form of assertions: "file.cc:123: function: Assertion `cond` failed: what".
  size_t failed = what.find("` failed");
  if (what.contains("Assertion `") && failed != StringRef::npos)
    what = what.substr(failed + 8).ltrim(": ");
  what = what.trim();
  for (StringRef tag : {"[ShapeInferenceError]", "[TypeInferenceError]"})
    what.consume_front(tag);
  what = what.trim().rtrim('.');
  std::string result = makeOneLine(simplify(what));
  if (context.empty())
    return result;
  StringRef node = context.split("Name:").second;
  auto [name, op] = node.rsplit(" OpType:");
  return makeOneLine(
      ("node " + quote(name.trim()) + " (" + op.trim() + "): " + result).str());
}

std::string cleanParserMessage(StringRef message) {
  // Form: "[ParseError at position (line: 2 column: 45)]\nError context:
  // LINE\nWHAT".
  StringRef position = message.split('(').second.split(')').first;
  StringRef what = message.rtrim().rsplit('\n').second.rtrim(".");
  if (!message.starts_with("[ParseError at position") || what.empty())
    return "ONNX text: " + makeOneLine(message);
  auto [line, column] = position.split(" column: ");
  line.consume_front("line: ");
  return makeOneLine(
      ("ONNX text, line " + line + ", column " + column + ": " + what).str());
}

} // namespace ingot::importer
