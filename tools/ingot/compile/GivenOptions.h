//===- GivenOptions.h - the options that made an artifact -------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_COMPILE_GIVENOPTIONS_H
#define INGOT_TOOLS_INGOT_COMPILE_GIVENOPTIONS_H

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace ingot::tools {

/// Returns the options in `args` that determine the artifact's contents, as a
/// JSON array of `--name=value`; "" if there are none. Options are sorted by
/// name, and files lose their folders, so that equal artifacts have equal
/// records. `args` must have been parsed.
std::string describeGivenOptions(llvm::ArrayRef<const char *> args);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_COMPILE_GIVENOPTIONS_H
