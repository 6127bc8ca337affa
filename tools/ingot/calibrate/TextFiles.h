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

/// Checks that a file can get its name, before minutes of work: it must not
/// take the place of `model` or of files and samples in `data`. Returns what is
/// wrong, or "".
std::string checkWritable(const std::string &path, const std::string &model,
                          const std::vector<std::string> &data);

struct TextFile {
  std::string path, text;
};

/// Writes files of one folder, all or none. Returns what is wrong, or "".
std::string writeTexts(const std::vector<TextFile> &texts);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CALIBRATE_TEXTFILES_H
