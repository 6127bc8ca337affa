//===- ProfileOption.h - ranges of sizes in options -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_COMPILE_PROFILEOPTION_H
#define INGOT_TOOLS_INGOT_COMPILE_PROFILEOPTION_H

#include "compiler/driver/ShapeProfiles.h"

namespace ingot {

/// How an option gives a size.
struct GivenSize {
  enum Kind { open, fixed, range } kind = open;
  SizeRange sizes;
};

/// Reads `?`, `224`, `64:320:2048`, `(64:320:2048)`, with steps
/// `64:320:2048:32k`, or `8k`: a multiple of 8. On failure `problem` says what
/// is wrong with the text, if that is not only how it is written.
bool parseSize(llvm::StringRef text, GivenSize &size, std::string &problem);

/// Reads what --profile gives: `x=1x3x(32:48:64)x?,length=1:128:512`.
bool parseProfile(llvm::StringRef text, ShapeProfile &profile,
                  std::string &error);

} // namespace ingot

#endif // INGOT_TOOLS_INGOT_COMPILE_PROFILEOPTION_H
