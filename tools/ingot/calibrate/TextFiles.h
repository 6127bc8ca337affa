//===- TextFiles.h - what commands write ------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_CALIBRATE_TEXTFILES_H
#define INGOT_TOOLS_INGOT_CALIBRATE_TEXTFILES_H

#include <string>
#include <vector>

namespace ingot::tools {

/// Checks that a file can be created, before minutes of work. The file must not
/// replace `model`, or files and samples in `data`. Returns an error message,
/// or "".
std::string checkWritable(const std::string &path, const std::string &model,
                          const std::vector<std::string> &data);

struct TextFile {
  std::string path, text;
};

/// Writes files into one folder, all or none. Returns an error message, or "".
std::string writeTexts(const std::vector<TextFile> &texts);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CALIBRATE_TEXTFILES_H
