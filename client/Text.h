//===- Text.h - how run and inspect print -------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_TEXT_H
#define INGOT_CLIENT_TEXT_H

#include <stdint.h>
#include <string>
#include <vector>

namespace ingot::tools {

/// Returns "1x3x?x<width>". A dynamic size is shown by its name. Without sizes,
/// returns "scalar".
std::string formatShape(const int64_t *dims, size_t rank,
                        const char *const *names = nullptr);

/// Returns "97.5 MiB (102236720 bytes)", or "640 bytes".
std::string formatBytes(uint64_t bytes);

/// Returns the text as valid UTF-8 with control characters escaped, cut to
/// `width` bytes.
std::string formatLine(const std::string &text, size_t width);

/// Returns a JSON string with its quotes. Bytes that are not UTF-8 become
/// U+FFFD.
std::string formatJson(const std::string &text);

/// Returns rows with aligned columns, indented. The first row is a heading.
/// Cells are escaped and cut.
std::string formatTable(std::vector<std::vector<std::string>> rows);

/// A text that grows piece by piece.
class TextBuilder {
public:
  /// Appends text that the pattern formats, in the syntax of the C library.
  [[gnu::format(printf, 2, 3)]] void add(const char *pattern, ...);
  /// Appends a table.
  void table(std::vector<std::vector<std::string>> rows);

  const std::string &str() const { return text; }

private:
  std::string text;
};

} // namespace ingot::tools

#endif // INGOT_CLIENT_TEXT_H
