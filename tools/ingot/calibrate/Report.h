//===- Report.h - a page on what int8 costs and brings ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_CALIBRATE_REPORT_H
#define INGOT_TOOLS_INGOT_CALIBRATE_REPORT_H

#include "tools/ingot/calibrate/PrecisionStudy.h"

namespace ingot::tools {

/// A page that stands alone, and the same as JSON.
std::string reportPage(const Study &study);
std::string reportJson(const Study &study);

/// The JSON beside a page: `report.html` has `report.json`.
std::string reportJsonPath(const std::string &page);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CALIBRATE_REPORT_H
