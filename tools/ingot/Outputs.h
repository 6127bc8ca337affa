//===- Outputs.h - files of a run's results -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_OUTPUTS_H
#define INGOT_TOOLS_INGOT_OUTPUTS_H

#include "tools/ingot/Npy.h"

#include <string>
#include <vector>

namespace ingot::tools {

/// File names for outputs: characters other than letters, digits and `._-`
/// become `_`, and names that would collide get a number.
std::vector<std::string> outputFileNames(const std::vector<std::string> &names);

/// Checks that writeOutputs can write these files, as far as that is known
/// before, and that they are none of the files `read`. Empty string, or what is
/// wrong.
std::string checkOutputs(const std::string &directory,
                         const std::vector<std::string> &fileNames,
                         const std::vector<std::string> &read);

/// Writes all arrays or none: under temporary names first, renamed at the end.
/// Creates `directory`. Empty string, or what went wrong.
std::string writeOutputs(const std::string &directory,
                         const std::vector<std::string> &fileNames,
                         const std::vector<Array> &arrays);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_OUTPUTS_H
