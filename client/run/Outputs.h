//===- Outputs.h - files of a run's results -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_RUN_OUTPUTS_H
#define INGOT_CLIENT_RUN_OUTPUTS_H

#include "client/Npy.h"

#include <string>
#include <vector>

namespace ingot::tools {

/// Returns file names for outputs. Characters other than letters, digits and
/// `._-` become `_`. Names that would collide get a number.
std::vector<std::string> outputFileNames(const std::vector<std::string> &names);

/// Checks in advance that writeOutputs can write these files, as far as
/// possible. No output may be one of the files in `read`. Returns an error
/// message, or "".
std::string checkOutputs(const std::string &directory,
                         const std::vector<std::string> &fileNames,
                         const std::vector<std::string> &read);

/// Writes all arrays or none. First writes all under temporary names, then
/// renames them. Creates `directory`. Returns an error message, or "".
std::string writeOutputs(const std::string &directory,
                         const std::vector<std::string> &fileNames,
                         const std::vector<Array> &arrays);

} // namespace ingot::tools

#endif // INGOT_CLIENT_RUN_OUTPUTS_H
