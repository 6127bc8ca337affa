//===- RepairKind.h - the repairs by name -----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_REPAIR_REPAIRKIND_H
#define INGOT_COMPILER_STUDY_REPAIR_REPAIRKIND_H

namespace ingot::study {

enum class RepairKind { equalize, smooth, round, bias, keep };

/// Returns true if the repair changes values that layers read, so that their
/// ranges must be found again.
inline bool changesRanges(RepairKind kind) {
  return kind == RepairKind::equalize || kind == RepairKind::smooth;
}

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_REPAIR_REPAIRKIND_H
