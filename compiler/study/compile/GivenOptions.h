//===- GivenOptions.h - the options that made an artifact -------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_COMPILE_GIVENOPTIONS_H
#define INGOT_COMPILER_STUDY_COMPILE_GIVENOPTIONS_H

#include "base/OptionTable.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace ingot::study {

/// Returns the options that affect the artifact's contents, as a JSON array of
/// `--name=value`; "" if there are none. Options are sorted by name, and paths
/// lose their folders. So equal artifacts have equal records.
std::string describeGivenOptions(llvm::ArrayRef<cli::GivenOption> options);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_COMPILE_GIVENOPTIONS_H
