//===- ProfileOption.h - ranges of sizes in options -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_OPTIONS_PROFILEOPTION_H
#define INGOT_COMPILER_STUDY_OPTIONS_PROFILEOPTION_H

#include "client/SizeText.h"
#include "compiler/driver/ShapeProfiles.h"

namespace ingot {

/// Parses a size like parseSizeText, but rejects steps, because they are only
/// for `ingot bench`.
bool parseSize(llvm::StringRef text, tools::SizeText &size,
               std::string &problem);

/// Returns the range of allowed sizes, or nothing for a dynamic size.
std::optional<SizeRange> rangeOf(const tools::SizeText &size);

/// Parses the value of --profile: `x=1x3x(32:48:64)x?,length=1:128:512`.
bool parseProfile(llvm::StringRef text, ShapeProfile &profile,
                  std::string &error);

} // namespace ingot

#endif // INGOT_COMPILER_STUDY_OPTIONS_PROFILEOPTION_H
