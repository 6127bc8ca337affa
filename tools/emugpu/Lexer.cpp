//===- Lexer.cpp - the tokens of PTX text ---------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/emugpu/PtxReader.h"

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>

using namespace emugpu;

void Lexer::skipSpace() {
  while (at < text.size()) {
    char c = text[at];
    if (c == '\n')
      ++line;
    if (c == '\0')
      at = text.size(); // the PTX in an image may end with zeros
    else if (isspace(static_cast<unsigned char>(c)))
      ++at;
    else if (text.compare(at, 2, "//") == 0)
      while (at < text.size() && text[at] != '\n')
        ++at;
    else if (text.compare(at, 2, "/*") == 0) {
      size_t close = text.find("*/", at + 2);
      size_t end = close == std::string::npos ? text.size() : close + 2;
      for (; at < end; ++at)
        line += text[at] == '\n';
    } else
      return;
  }
}

static bool isWordCharacter(char c) {
  return isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' ||
         c == '%' || c == '.';
}

void Lexer::advance() {
  skipSpace();
  current = {Token::end, "end of the text", line};
  if (at >= text.size())
    return;
  size_t first = at;
  char c = text[at];
  if (isdigit(static_cast<unsigned char>(c))) {
    // 0f3F800000 and 0d... are floats, given by their bits.
    while (at < text.size() &&
           (isalnum(static_cast<unsigned char>(text[at])) || text[at] == '.'))
      ++at;
    current.kind = Token::number;
  } else if (c == '"') {
    size_t close = text.find('"', at + 1);
    at = close == std::string::npos ? text.size() : close + 1;
    current.kind = Token::word;
  } else if (isWordCharacter(c)) {
    // Keep `::` of opcodes such as `shared::cta` in the word.
    while (at < text.size() && (isWordCharacter(text[at]) ||
                                (text.compare(at, 2, "::") == 0 && ++at)))
      ++at;
    current.kind = Token::word;
  } else {
    ++at;
    current.kind = Token::mark;
  }
  current.text = text.substr(first, at - first);
}

bool emugpu::parseNumber(const std::string &text, uint64_t &value) {
  const char *begin = text.c_str();
  int base = 0;
  if (text.size() > 2 && text[0] == '0' && strchr("fFdD", text[1])) {
    if (text.size() != (tolower(text[1]) == 'f' ? 10u : 18u))
      return false;
    begin += 2;
    base = 16;
  }
  char *end = nullptr;
  errno = 0;
  value = strtoull(begin, &end, base);
  if (*end == 'U' && end != begin)
    ++end;
  return !*end && end != begin && !errno;
}
