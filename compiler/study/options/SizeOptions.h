//===- SizeOptions.h - sizes of inputs for studies --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_OPTIONS_SIZEOPTIONS_H
#define INGOT_COMPILER_STUDY_OPTIONS_SIZEOPTIONS_H

#include "compiler/study/runs/ScratchModel.h"

namespace ingot::study {

/// Reads the values of --shape and --dim. Returns an error message, or "".
std::string readSizes(const std::vector<std::string> &shapes,
                      const std::vector<std::string> &dims, InputSizes &sizes);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_OPTIONS_SIZEOPTIONS_H
