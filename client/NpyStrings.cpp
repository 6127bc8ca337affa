//===- NpyStrings.cpp - strings in NumPy's .npy files -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes strings of NumPy. All strings of an array have the same
// number of characters, each of four bytes or of one byte. Nulls at the end of
// a string are not part of it.
//
//===----------------------------------------------------------------------===//
#include "client/Npy.h"

#include <algorithm>
#include <string.h>

using namespace ingot::tools;

static int64_t offsetAt(const Array &array, uint64_t i) {
  int64_t offset;
  memcpy(&offset, &array.data[i * sizeof(offset)], sizeof(offset));
  return offset;
}

std::string_view ingot::tools::stringAt(const Array &array, uint64_t i) {
  int64_t start = offsetAt(array, i);
  return std::string_view(array.text)
      .substr(size_t(start), size_t(offsetAt(array, i + 1) - start));
}

static void appendOffset(Array &array) {
  auto end = int64_t(array.text.size());
  auto *bytes = reinterpret_cast<const unsigned char *>(&end);
  array.data.insert(array.data.end(), bytes, bytes + sizeof(end));
}

void ingot::tools::appendString(Array &array, std::string_view text) {
  if (array.data.empty())
    appendOffset(array);
  array.text += text;
  appendOffset(array);
}

/// Appends a character as UTF-8. Returns false if it is invalid.
static bool encode(std::string &text, uint32_t character) {
  if (character > 0x10ffff || (character >= 0xd800 && character < 0xe000))
    return false;
  if (character < 0x80) {
    text += char(character);
    return true;
  }
  int more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
  uint32_t lead = 0xff00u >> (more + 1) & 0xff;
  text += char(lead | character >> (6 * more));
  while (more-- > 0)
    text += char(0x80 | (character >> (6 * more) & 0x3f));
  return true;
}

/// Removes the first character. Returns false if the bytes are not UTF-8.
static bool decode(std::string_view &text, uint32_t &character) {
  auto byte = [&](size_t i) { return uint32_t(uint8_t(text[i])); };
  uint32_t lead = byte(0);
  size_t more = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
  if ((lead >= 0x80 && lead < 0xc2) || lead > 0xf4 || text.size() <= more)
    return false;
  character = more ? lead & (0x3fu >> more) : lead;
  for (size_t i = 1; i <= more; ++i) {
    if ((byte(i) & 0xc0) != 0x80)
      return false;
    character = character << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t least[] = {0, 0x80, 0x800, 0x10000};
  text.remove_prefix(more + 1);
  std::string ignored;
  return character >= least[more] && encode(ignored, character);
}

std::string ingot::tools::readStrings(const NpyOrder &order, Array &array) {
  std::vector<unsigned char> read = std::move(array.data);
  array.data.clear();
  array.text.clear();
  appendOffset(array);
  const uint64_t bytes = order.charBytes * order.chars;
  for (uint64_t at = 0; at < read.size(); at += bytes) {
    std::string text;
    if (order.charBytes == 1)
      text.assign(reinterpret_cast<char *>(&read[at]), bytes);
    for (uint64_t i = 0; i < order.chars && order.charBytes == 4; ++i) {
      uint32_t character;
      memcpy(&character, &read[at + 4 * i], sizeof(character));
      if (!encode(text, character))
        return "its element " + std::to_string(at / bytes) +
               " has bytes that are not characters";
    }
    text.erase(text.find_last_not_of('\0') + 1);
    appendString(array, text);
  }
  return "";
}

/// Decodes the characters of a string. Returns false if it is not UTF-8.
static bool decodeAll(std::string_view text, std::u32string &characters) {
  characters.clear();
  while (!text.empty()) {
    uint32_t character;
    if (!decode(text, character))
      return false;
    characters += char32_t(character);
  }
  return true;
}

std::string ingot::tools::writeStrings(const Array &array, std::string &descr) {
  const uint64_t count = array.data.size() / sizeof(int64_t) - 1;
  bool isUtf8 = true;
  size_t longest = 1, most = 1; // NumPy has no strings of length 0
  std::u32string characters;
  for (uint64_t i = 0; i < count; ++i) {
    std::string_view text = stringAt(array, i);
    isUtf8 = isUtf8 && decodeAll(text, characters);
    longest = std::max(longest, text.size());
    most = std::max(most, characters.size());
  }
  std::string data;
  if (!isUtf8) {
    descr = "|S" + std::to_string(longest);
    for (uint64_t i = 0; i < count; ++i) {
      data += stringAt(array, i);
      data.resize((i + 1) * longest);
    }
    return data;
  }
  descr = "<U" + std::to_string(most);
  for (uint64_t i = 0; i < count; ++i) {
    decodeAll(stringAt(array, i), characters);
    data.append(reinterpret_cast<const char *>(characters.data()),
                4 * characters.size());
    data.resize((i + 1) * 4 * most);
  }
  return data;
}
