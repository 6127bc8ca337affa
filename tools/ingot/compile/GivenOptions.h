//===- GivenOptions.h - the options that made an artifact -------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_COMPILE_GIVENOPTIONS_H
#define INGOT_TOOLS_INGOT_COMPILE_GIVENOPTIONS_H

#include "tools/ingot/Options.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace ingot::tools {

/// Returns the options that affect the artifact's contents, as a JSON array of
/// `--name=value`; "" if there are none. Options are sorted by name, and paths
/// lose their folders. So equal artifacts have equal records.
std::string describeGivenOptions(llvm::ArrayRef<GivenOption> options);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_COMPILE_GIVENOPTIONS_H
