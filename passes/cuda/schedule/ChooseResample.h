//===- ChooseResample.h - schedules of resampling ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_SCHEDULE_CHOOSERESAMPLE_H
#define INGOT_PASSES_CUDA_SCHEDULE_CHOOSERESAMPLE_H

#include "passes/backend/Policy.h"
#include "passes/cuda/rows/Resample.h"

namespace ingot::cuda {

/// Returns the cycles of the op with the schedule.
int64_t estimateCycles(const Resample &resample, RowScheduleAttr schedule);

/// Returns the schedule with the least estimated time. `others` gets the ones
/// that were compared.
RowScheduleAttr chooseResample(const Resample &resample,
                               llvm::SmallVectorImpl<Alternative> &others);

/// Returns a schedule that a test draws by `seed`.
RowScheduleAttr drawResample(const Resample &resample, uint64_t seed);

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_SCHEDULE_CHOOSERESAMPLE_H
