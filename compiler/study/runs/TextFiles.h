//===- TextFiles.h - what studies write -------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_RUNS_TEXTFILES_H
#define INGOT_COMPILER_STUDY_RUNS_TEXTFILES_H

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace ingot::study {

/// Checks that a file can be created, before long work starts. The file must
/// not replace `model`, or files and samples in `data`.
llvm::Error checkWritable(const std::string &path, const std::string &model,
                          const std::vector<std::string> &data);

struct TextFile {
  std::string path, text;
};

/// Writes files into one folder. Writes all or none.
llvm::Error writeTexts(const std::vector<TextFile> &texts);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_RUNS_TEXTFILES_H
