//===- ChooseRows.h - schedules of rows -------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_SCHEDULE_CHOOSEROWS_H
#define INGOT_PASSES_CUDA_SCHEDULE_CHOOSEROWS_H

#include "passes/backend/Policy.h"
#include "passes/cuda/rows/Rows.h"

namespace ingot::cuda {

/// Returns the schedule of rows. `alternatives` gets the ones that were
/// compared, with their times.
RowScheduleAttr
chooseRowSchedule(const Rows &rows,
                  llvm::SmallVectorImpl<Alternative> &alternatives);

/// Returns the cycles of rows with the schedule. Memory takes the same time
/// with any schedule that keeps it busy.
int64_t estimateCycles(const Rows &rows, RowScheduleAttr schedule);

/// Returns a schedule that a test draws by `seed`: any that fits.
RowScheduleAttr drawRowSchedule(const Rows &rows, uint64_t seed);

/// Returns the threads of a row and the rows of a block, as "16x8".
std::string threadsText(RowScheduleAttr schedule);

/// Returns the number of parts of each row with the least estimated time. Parts
/// have blocks of their own, so that more multiprocessors share long rows. All
/// sizes are known.
int64_t choosePartsOfRows(Rows rows);

/// Returns a number of parts that a test draws by `seed`.
int64_t drawPartsOfRows(const Rows &rows, uint64_t seed);

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_SCHEDULE_CHOOSEROWS_H
