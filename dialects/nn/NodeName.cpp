//===- NodeName.cpp - ONNX nodes of an op ---------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NodeName.h"
#include "dialects/nn/NodeScope.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

void ingot::forEachNode(Location location,
                        function_ref<void(StringAttr)> visit) {
  location->walk([&](Location part) {
    auto named = dyn_cast<NameLoc>(part);
    if (!named)
      return WalkResult::advance();
    visit(named.getName());
    return WalkResult::skip();
  });
}

std::string ingot::nodeNameOf(Location location) {
  llvm::SetVector<StringRef> names;
  forEachNode(location, [&](StringAttr name) { names.insert(name); });
  return llvm::join(names, " + ");
}

Location ingot::nodeLocation(StringAttr name, StringRef scope) {
  if (scope.empty())
    return NameLoc::get(name);
  return NameLoc::get(
      name, NameLoc::get(StringAttr::get(name.getContext(), scope)));
}

void ingot::forEachScope(Location location,
                         function_ref<void(StringAttr, StringAttr)> visit) {
  location->walk([&](Location part) {
    auto named = dyn_cast<NameLoc>(part);
    if (!named)
      return WalkResult::advance();
    if (auto scope = dyn_cast<NameLoc>(named.getChildLoc()))
      visit(named.getName(), scope.getName());
    return WalkResult::skip();
  });
}

std::string ingot::nodeScopeOf(Location location) {
  llvm::SetVector<StringRef> scopes;
  forEachScope(location,
               [&](StringAttr, StringAttr scope) { scopes.insert(scope); });
  return llvm::join(scopes, " + ");
}

/// Returns the number of bytes of the first character of `text`, or 0 if the
/// character must be escaped.
static size_t plainBytes(StringRef text) {
  auto at = [&](size_t i) {
    return i < text.size() ? uint8_t(text[i]) : uint8_t(0);
  };
  uint8_t first = at(0);
  if (first < 0x80)
    return first >= 0x20 && first != 0x7f;
  size_t bytes = first >= 0xf0   ? 4
                 : first >= 0xe0 ? 3
                 : first >= 0xc2 ? 2
                                 : 0;
  for (size_t i = 1; i < bytes; ++i)
    if ((at(i) & 0xc0) != 0x80)
      return 0;
  // Refuses overlong forms, surrogates, values beyond Unicode, C1 controls,
  // line separators, and characters that change the direction of text.
  bool isBad = (first == 0xe0 && at(1) < 0xa0) ||
               (first == 0xed && at(1) >= 0xa0) ||
               (first == 0xf0 && at(1) < 0x90) ||
               (first == 0xf4 && at(1) >= 0x90) || first > 0xf4 ||
               (first == 0xc2 && at(1) < 0xa0) ||
               (first == 0xe2 && at(1) == 0x80 && at(2) >= 0xa8 &&
                at(2) <= 0xae) ||
               (first == 0xe2 && at(1) == 0x81 && at(2) >= 0xa6 &&
                at(2) <= 0xa9);
  return isBad ? 0 : bytes;
}

static std::string escape(StringRef text, size_t max, bool backslashes) {
  // Reads only both ends, because the text may be very long.
  bool isCut = text.size() > max;
  StringRef head = text.take_front(isCut ? max * 2 / 3 : max);
  StringRef tail = isCut ? text.take_back(max / 3) : StringRef();
  // Does not cut inside a character.
  auto continues = [](char c) { return (uint8_t(c) & 0xc0) == 0x80; };
  if (isCut) {
    for (int i = 0; i < 3 && !head.empty() && continues(text[head.size()]); ++i)
      head = head.drop_back();
    for (int i = 0; i < 3 && !tail.empty() && continues(tail.front()); ++i)
      tail = tail.drop_front();
  }
  std::string result;
  auto add = [&](StringRef part) {
    while (!part.empty()) {
      size_t bytes = plainBytes(part);
      char c = part.front();
      if (c == '\\' && backslashes)
        result += "\\\\";
      else if (bytes)
        result += part.take_front(bytes).str();
      else if (c == '\n' || c == '\t' || c == '\r')
        result += c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r";
      else
        result += "\\x" + llvm::toHex(StringRef(&c, 1));
      part = part.drop_front(std::max<size_t>(bytes, 1));
    }
  };
  add(head);
  if (isCut)
    result += "…";
  add(tail);
  return result;
}

std::string ingot::printable(StringRef text, size_t max) {
  return escape(text, max, /*backslashes=*/true);
}

std::string ingot::oneLine(StringRef message, size_t max) {
  return escape(message.trim(), max, /*backslashes=*/false);
}
