//===- UserText.cpp - messages in terms of ONNX ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/UserText.h"

#include "passes/support/TypeText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <optional>

using namespace llvm;
using ingot::elementName;

namespace {

bool isWord(char c) { return isAlnum(c) || c == '_' || c == '.'; }

/// Returns `2x?xf32` as `float32[2,?]`, or nullopt if `text` is not of this
/// form.
std::optional<std::string> shapedName(StringRef text) {
  SmallVector<StringRef> dims;
  while (!text.empty() && (isDigit(text[0]) || text[0] == '?')) {
    size_t end = text[0] == '?' ? 1 : text.find_if_not(isDigit);
    if (end == StringRef::npos || text.substr(end, 1) != "x")
      return std::nullopt;
    dims.push_back(text.take_front(end));
    text = text.drop_front(end + 1);
  }
  bool hasRank = !text.consume_front("*x");
  std::optional<std::string> element = elementName(text);
  if (!element)
    return std::nullopt;
  return hasRank ? *element + "[" + join(dims, ",") + "]"
                 : *element + " of unknown rank";
}

/// Takes a type such as `tensor<2xf32>` from the front of `text`.
std::optional<std::string> takeType(StringRef &text) {
  size_t open = text.find('<');
  if (open == StringRef::npos ||
      !is_contained(ArrayRef<StringRef>{"tensor", "memref", "vector"},
                    text.take_front(open)))
    return std::nullopt;
  size_t end = open, comma = StringRef::npos;
  int depth = 0;
  for (; end < text.size(); ++end) {
    char c = text[end];
    depth += (c == '<') - (c == '>' && text[end - 1] != '-');
    if (c == ',' && depth == 1)
      comma = std::min(comma, end);
    if (depth == 0)
      break;
  }
  if (end == text.size())
    return std::nullopt;
  auto name = shapedName(text.slice(open + 1, std::min(comma, end)));
  if (name)
    text = text.drop_front(end + 1);
  return name;
}

/// Takes `2x?xf32` without brackets from the front of `text`.
std::optional<std::string> takeBareType(StringRef &text) {
  size_t end = text.find_if([](char c) {
    return !isAlnum(c) && c != '?' && c != '<' && c != '>';
  });
  StringRef word = text.take_front(end);
  auto name = word.contains('x') && (isDigit(word[0]) || word[0] == '?')
                  ? shapedName(word)
                  : std::nullopt;
  if (name)
    text = text.drop_front(word.size());
  return name;
}

/// Takes `f32` from the front of `text` if the words before `f32` speak of a
/// type. Elsewhere `f32` may be a name.
std::optional<std::string> takeElement(StringRef before, StringRef &text) {
  if (none_of(ArrayRef<StringRef>{" of ", "type ", " given ", " got ", " is "},
              [&](StringRef words) { return before.ends_with(words); }))
    return std::nullopt;
  StringRef word = text.take_while(isWord).rtrim('.');
  // "index" may be an English word.
  auto name = word == "index" ? std::nullopt : elementName(word);
  if (name)
    text = text.drop_front(word.size());
  return name;
}

std::string renameTypes(StringRef text) {
  std::string result;
  while (!text.empty()) {
    bool startsWord = result.empty() || !isWord(result.back());
    std::optional<std::string> name;
    if (startsWord)
      name = takeType(text);
    if (!name && (result.empty() || result.back() == ' '))
      name = takeBareType(text);
    if (!name && startsWord)
      name = takeElement(result, text);
    if (name) {
      result += *name;
      continue;
    }
    result += text.front();
    text = text.drop_front();
  }
  return result;
}

/// Returns true if `text` is `dialect.operation` of MLIR or of this compiler.
bool isOperation(StringRef text) {
  static constexpr StringLiteral dialects[] = {
      "affine",  "amx",    "arith",  "bufferization", "builtin", "cf",
      "complex", "cpu",    "cuda",   "dnnl",          "func",    "gpu",
      "index",   "ingot",  "kernel", "linalg",        "llvm",    "math",
      "memref",  "nn",     "nvvm",   "onnx",          "scf",     "tensor",
      "ub",      "vector", "x86",    "x86vector"};
  auto [dialect, name] = text.split('.');
  return is_contained(dialects, dialect) && !name.empty() &&
         all_of(name, isWord);
}

/// Returns true if a word of `text` is an operation's name.
bool namesOperation(StringRef text) {
  while (!text.empty()) {
    StringRef word = text.take_while(isWord);
    if (isOperation(word.rtrim('.')))
      return true;
    text = text.drop_front(std::max<size_t>(word.size(), 1));
  }
  return false;
}

/// Returns the part of `message` that says what is wrong with an operation,
/// without the operation's name. Returns nullopt if the message is not about an
/// operation. Only MLIR's two forms of such messages count, because names in a
/// model may look alike.
std::optional<StringRef> reasonOfOperation(StringRef message) {
  auto [name, reason] = message.split("' op ");
  if (!name.consume_front("'") || !isOperation(name)) {
    StringRef rest = message.split("operation '").second;
    if (!isOperation(rest.split('\'').first))
      return std::nullopt;
    reason = "";
  }
  return namesOperation(reason) ? "" : reason;
}

} // namespace

std::string ingot::toUserText(StringRef message) {
  std::optional<StringRef> reason = reasonOfOperation(message);
  if (!reason)
    return renameTypes(message);
  return "internal error" +
         (reason->empty() ? "" : ": an operation " + renameTypes(*reason)) +
         "; this is a bug in ingot, please report it with the model";
}
