//===- ComparisonReport.h - text and JSON of a comparison -------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_COMPARE_COMPARISONREPORT_H
#define INGOT_COMPILER_STUDY_COMPARE_COMPARISONREPORT_H

#include "client/Json.h"
#include "compiler/study/compare/Comparison.h"

namespace ingot::study {

/// Returns the result as lines for people.
std::string textReport(const CompareOptions &options, const Comparison &result);

/// Returns the members of the result as JSON.
tools::Json jsonReport(const CompareOptions &options, const Comparison &result);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_COMPARE_COMPARISONREPORT_H
