//===- RepairReport.h - a calibration in words ------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_REPAIR_REPAIRREPORT_H
#define INGOT_COMPILER_STUDY_REPAIR_REPAIRREPORT_H

#include "compiler/study/Calibrate.h"

namespace ingot::study {

/// Returns lines about a calibration and its repairs. `file` is the calibration
/// file.
std::string textReport(const Calibration &calibration, const std::string &file);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_REPAIR_REPAIRREPORT_H
