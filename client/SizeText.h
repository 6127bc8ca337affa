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
/// this syntax; each command decides which kinds it takes.
struct SizeText {
  enum Kind {
    open,  ///< `?`
    fixed, ///< `224`
    range, ///< `64:320:2048`, with a multiple `64:320:2048:32k`; or `8k`
    steps, ///< `64:320:+64`: 64, 128, ... 320
  };
  Kind kind = open;
  /// The bounds, which are equal for a fixed size.
  int64_t min = 0, usual = -1, max = INT64_MAX;
  /// The number that divides each size of a range.
  int64_t multiple = 1;
  /// The distance between two sizes of `steps`.
  int64_t step = 0;
};

/// Parses one size; brackets around a range are allowed. Returns false if
/// `text` is malformed. `problem` then gives the reason, or stays empty if the
/// spelling itself is wrong.
bool parseSizeText(std::string text, SizeText &size, std::string &problem);

/// Parses sizes with `x` between them; "scalar" has none. Returns false as
/// parseSizeText does.
bool parseSizesText(const std::string &text, std::vector<SizeText> &sizes,
                    std::string &problem);

/// Splits `NAME=VALUE` at the last `=`, since names may contain one. Returns
/// false if there is no `=` or the name is empty.
bool splitNameAndValue(const std::string &text, std::string &name,
                       std::string &value);

} // namespace ingot::tools

#endif // INGOT_CLIENT_SIZETEXT_H
