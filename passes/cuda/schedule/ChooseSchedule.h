//===- ChooseSchedule.h - schedules of products -----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_SCHEDULE_CHOOSESCHEDULE_H
#define INGOT_PASSES_CUDA_SCHEDULE_CHOOSESCHEDULE_H

#include "passes/backend/Policy.h"
#include "passes/cuda/products/Product.h"

namespace ingot::cuda {

/// A number of parts of the depth, and the cycles of the product and the sum of
/// its parts.
struct Parts {
  int64_t count, cycles;
};

/// Returns the number of parts of the depth with the least estimated time. Each
/// part has its own blocks, so that more multiprocessors share a small result.
Parts chooseParts(Product product);

/// Returns a number of parts that a test draws by `seed`.
int64_t drawParts(const Product &product, uint64_t seed);

/// Returns the schedule with the least estimated time. `alternatives` gets the
/// tiles that were compared, with their times.
ScheduleAttr chooseSchedule(const Product &product,
                            llvm::SmallVectorImpl<Alternative> &alternatives);

/// Returns the cycles of the product with the schedule.
int64_t estimateCycles(const Product &product, ScheduleAttr schedule);

/// Returns the cycles of a kernel that adds up parts of these bytes, which are
/// in the L2 cache.
int64_t estimateSumOfParts(int64_t bytes);

/// Returns a schedule that a test draws by `seed`: any that fits.
ScheduleAttr drawSchedule(const Product &product, uint64_t seed);

/// Returns the tile of a schedule as "128x64".
std::string tileText(ScheduleAttr schedule);

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_SCHEDULE_CHOOSESCHEDULE_H
