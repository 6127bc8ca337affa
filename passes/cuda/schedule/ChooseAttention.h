//===- ChooseAttention.h - schedules of attentions --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_SCHEDULE_CHOOSEATTENTION_H
#define INGOT_PASSES_CUDA_SCHEDULE_CHOOSEATTENTION_H

#include "passes/backend/Policy.h"
#include "passes/cuda/attention/Attention.h"

namespace ingot::cuda {

/// Returns the schedule with the least estimated time. `alternatives` gets the
/// tiles that were compared, with their times.
AttentionScheduleAttr
chooseSchedule(const Attention &attention,
               llvm::SmallVectorImpl<Alternative> &alternatives);

/// Returns the cycles of the attention with the schedule.
int64_t estimateCycles(const Attention &attention,
                       AttentionScheduleAttr schedule);

/// Returns a schedule that a test draws by `seed`: any that fits.
AttentionScheduleAttr drawSchedule(const Attention &attention, uint64_t seed);

/// Returns the queries and keys of a tile as "64x32".
std::string tileText(AttentionScheduleAttr schedule);

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_SCHEDULE_CHOOSEATTENTION_H
