//===- RecordSchedule.h - schedules in the decision trace -------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_SCHEDULE_RECORDSCHEDULE_H
#define INGOT_PASSES_CPU_SCHEDULE_RECORDSCHEDULE_H

#include "dialects/cpu/CpuDialect.h"

namespace ingot::cpu {

/// Records the schedule of `op`: its tile, its tasks, and the reasons for both.
/// The op must have a schedule.
void recordSchedule(cpu::ScheduledOpInterface op);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_SCHEDULE_RECORDSCHEDULE_H
