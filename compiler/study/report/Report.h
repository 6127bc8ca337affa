//===- Report.h - a page on what int8 costs and brings ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_REPORT_REPORT_H
#define INGOT_COMPILER_STUDY_REPORT_REPORT_H

#include "compiler/study/precision/PrecisionStudy.h"

namespace ingot::study {

/// Functions that return the report: as a self-contained page, and as JSON.
std::string reportPage(const Study &study);
std::string reportJson(const Study &study);

/// Returns the name of the JSON beside a page: `report.json` for `report.html`.
std::string reportJsonPath(const std::string &page);

/// Writes the page and the JSON beside it. Writes both or none.
llvm::Error writeReport(const Study &study, const std::string &page);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_REPORT_REPORT_H
