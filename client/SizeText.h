//===- SizeText.h - sizes and shapes in options -----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_SIZETEXT_H
#define INGOT_CLIENT_SIZETEXT_H

#include <stdint.h>
#include <string>
#include <vector>

namespace ingot::tools {

/// A size in the syntax of --shape, --dim and --profile. All commands share
/// this syntax. Each command decides which kinds of sizes it accepts.
struct SizeText {
  enum Kind {
    open,  ///< `?`
    fixed, ///< `224`
    range, ///< `64:320:2048`, with a multiple `64:320:2048:32k`; or `8k`
    steps, ///< `64:320:+64`: 64, 128, ... 320
  };
  Kind kind = open;
  /// The bounds. They are equal for a fixed size.
  int64_t min = 0, usual = -1, max = INT64_MAX;
  /// The number that all sizes of a range are multiples of.
  int64_t multiple = 1;
  /// The distance between neighboring sizes, for the kind `steps`.
  int64_t step = 0;
};

/// Parses one size. A range may be in brackets. Returns false if `text` is
/// malformed. Then `problem` contains the reason, or is empty if `text` is not
/// a size at all.
bool parseSizeText(std::string text, SizeText &size, std::string &problem);

/// Parses sizes separated by `x`. "scalar" means no sizes. Returns false and
/// sets `problem` like parseSizeText.
bool parseSizesText(const std::string &text, std::vector<SizeText> &sizes,
                    std::string &problem);

/// Splits `NAME=VALUE` at the last `=`, because names may contain `=`. Returns
/// false if there is no `=` or the name is empty.
bool splitNameAndValue(const std::string &text, std::string &name,
                       std::string &value);

} // namespace ingot::tools

#endif // INGOT_CLIENT_SIZETEXT_H
