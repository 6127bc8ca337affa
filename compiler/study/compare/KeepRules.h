//===- KeepRules.h - keep rules of a comparison -----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_COMPARE_KEEPRULES_H
#define INGOT_COMPILER_STUDY_COMPARE_KEEPRULES_H

#include "compiler/study/compare/Comparison.h"

namespace ingot::study {

/// Adds the keep rules of a comparison to those of the artifact. The caller's
/// rules have precedence, then those of the file, then those of the artifact.
llvm::Error readKeepRules(const CompareOptions &options,
                          PipelineOptions &pipeline);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_COMPARE_KEEPRULES_H
