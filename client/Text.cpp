//===- Text.cpp - how run and inspect print -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/Text.h"

#include "ingot/abi/artifact.h"

#include <algorithm>
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

using namespace ingot::tools;

std::string ingot::tools::formatShape(const int64_t *dims, size_t rank,
                                      const char *const *names) {
  std::string text;
  for (size_t i = 0; i < rank; ++i) {
    text += i ? "x" : "";
    if (dims[i] != INGOT_ABI_DYNAMIC)
      text += std::to_string(dims[i]);
    else
      text += names && *names[i] ? "<" + formatLine(names[i], 60) + ">" : "?";
  }
  return rank ? text : "scalar";
}

std::string ingot::tools::formatBytes(uint64_t bytes) {
  std::string exact = std::to_string(bytes) + " bytes";
  if (bytes < 1024)
    return exact;
  const char *units[] = {"KiB", "MiB", "GiB", "TiB"};
  double value = double(bytes) / 1024;
  size_t unit = 0;
  while (value >= 1024 && unit < 3)
    value /= 1024, ++unit;
  char text[64];
  snprintf(text, sizeof(text), "%.1f %s (%s)", value, units[unit],
           exact.c_str());
  return text;
}

/// Returns the length of the UTF-8 sequence at `at` in bytes, or 0 if it is
/// invalid.
static size_t sequenceLength(const std::string &text, size_t at) {
  auto byte = [&](size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  unsigned lead = byte(at);
  size_t length = lead < 0x80                    ? 1
                  : lead >= 0xc2 && lead <= 0xdf ? 2
                  : (lead & 0xf0) == 0xe0        ? 3
                  : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                 : 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xc0) != 0x80)
      return 0;
  // Reject overlong forms, surrogates, and values above U+10FFFF.
  unsigned second = byte(at + 1);
  if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
      (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f))
    return 0;
  return length;
}

static std::string escapeByte(const char *prefix, unsigned byte) {
  char digits[4];
  snprintf(digits, sizeof(digits), "%02X", byte & 0xff);
  return std::string(prefix) + digits;
}

std::string ingot::tools::formatLine(const std::string &text, size_t width) {
  std::string line;
  for (size_t at = 0; at < text.size();) {
    size_t length = sequenceLength(text, at);
    std::string piece = length ? text.substr(at, length) : "\xef\xbf\xbd";
    auto byte = static_cast<unsigned char>(text[at]);
    if (byte == '\n')
      piece = "\\n";
    else if (byte == '\t')
      piece = "\\t";
    else if (byte < 0x20 || byte == 0x7f)
      piece = escapeByte("\\x", byte);
    else if (length == 2 && byte == 0xc2 && uint8_t(text[at + 1]) < 0xa0)
      piece = escapeByte("\\u00", uint8_t(text[at + 1]));
    if (line.size() + piece.size() > width)
      return line + "...";
    line += piece;
    at += length ? length : 1;
  }
  return line;
}

std::string ingot::tools::formatJson(const std::string &text) {
  std::string json = "\"";
  for (size_t at = 0; at < text.size();) {
    size_t length = sequenceLength(text, at);
    auto byte = static_cast<unsigned char>(text[at]);
    if (!length) {
      json += "\\ufffd";
    } else if (byte == '"' || byte == '\\') {
      json += '\\';
      json += char(byte);
    } else if (byte < 0x20) {
      char escaped[8];
      snprintf(escaped, sizeof(escaped), "\\u%04x", byte);
      json += escaped;
    } else {
      json += text.substr(at, length);
    }
    at += length ? length : 1;
  }
  return json + "\"";
}

/// The most bytes of a cell in a table. Cells contain names of the model, which
/// may be long.
static constexpr size_t kMostOfCell = 400;

std::string
ingot::tools::formatTable(std::vector<std::vector<std::string>> rows) {
  std::vector<size_t> widths;
  for (auto &row : rows) {
    for (std::string &cell : row)
      cell = formatLine(cell, kMostOfCell);
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  }
  std::string table;
  for (const auto &row : rows) {
    std::string line = " ";
    for (size_t i = 0; i < row.size(); ++i)
      line += " " + row[i] + std::string(widths[i] - row[i].size() + 1, ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    table += line + "\n";
  }
  return table;
}

void TextBuilder::add(const char *pattern, ...) {
  va_list arguments, again;
  va_start(arguments, pattern);
  va_copy(again, arguments);
  const int length = vsnprintf(nullptr, 0, pattern, arguments);
  va_end(arguments);
  assert(length >= 0 && "the pattern is wrong");
  const size_t size = text.size();
  // The terminating zero takes the place of the string's own.
  text.resize(size + size_t(length));
  vsnprintf(text.data() + size, size_t(length) + 1, pattern, again);
  va_end(again);
}

void TextBuilder::table(std::vector<std::vector<std::string>> rows) {
  text += formatTable(std::move(rows));
}
