//===- ChooseRecurrent.h - schedules of recurrences -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_SCHEDULE_CHOOSERECURRENT_H
#define INGOT_PASSES_CUDA_SCHEDULE_CHOOSERECURRENT_H

#include "passes/backend/Policy.h"
#include "passes/cuda/recurrent/Recurrence.h"

namespace ingot::cuda {

/// Returns the schedule with the least estimated time. `alternatives` gets the
/// schedules that were compared, with their times.
RecurrentScheduleAttr
chooseSchedule(mlir::MLIRContext *context, const RecurrentSizes &sizes,
               llvm::SmallVectorImpl<Alternative> &alternatives);

/// Returns the cycles of a step with the schedule.
int64_t estimateCycles(const RecurrentSizes &sizes,
                       RecurrentScheduleAttr schedule);

/// Returns a schedule that a test draws by `seed`: any that fits.
RecurrentScheduleAttr drawRecurrentSchedule(mlir::MLIRContext *context,
                                            uint64_t seed);

/// Returns the threads, units and batch of a schedule as "8x4x2".
std::string textOf(RecurrentScheduleAttr schedule);

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_SCHEDULE_CHOOSERECURRENT_H
