//===- ChooseRecurrent.cpp - schedules of recurrences ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/schedule/ChooseRecurrent.h"

#include "passes/cuda/schedule/Machine.h"

#include <random>

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

/// The most sums of a thread. More of them leave too few registers for the
/// factors of several loads.
static constexpr int64_t kMaxSums = 32;

static int64_t partsOf(int64_t x, int64_t size) {
  return int64_t(llvm::divideCeil(uint64_t(x), uint64_t(size)));
}

std::string cuda::textOf(RecurrentScheduleAttr schedule) {
  return std::to_string(schedule.getThreads()) + "x" +
         std::to_string(schedule.getUnits()) + "x" +
         std::to_string(schedule.getBatch());
}

int64_t cuda::estimateCycles(const RecurrentSizes &sizes,
                             RecurrentScheduleAttr schedule) {
  const int64_t threads = schedule.getThreads(), batch = schedule.getBatch();
  const int64_t sequences = sizes.batch.knownOr(kUsual.batch);
  const int64_t sums = sizes.products * batch;
  const int64_t steps = partsOf(sizes.hidden, sizes.vector * threads);
  const auto exchanges = int64_t(llvm::Log2_64(uint64_t(threads)));
  const int64_t stateBytes = int64_t(sizeof(float));
  // A thread that has a row alone reads other cache lines than its neighbors.
  const int64_t weightAccesses = sizes.products * (threads > 1 ? 1 : 2);
  const int64_t stateAccesses =
      batch * sizes.vector * stateBytes / kAccessBytes;
  const int64_t instructions =
      steps * (sums * sizes.vector +
               (weightAccesses + stateAccesses) * kWideAccess) +
      exchanges * sums * kShuffledResult;
  const int64_t alone = steps * kHeldStep + exchanges * kShuffle + instructions;
  const int64_t unitBlocks = sizes.unitBlocks(schedule),
                sequenceBlocks = partsOf(sequences, batch);
  const int64_t threadsOfProcessor =
      partsOf(sizes.directions * unitBlocks * sequenceBlocks, kProcessors) *
      schedule.getBlockThreads();
  const int64_t waves = partsOf(threadsOfProcessor, kProcessorThreads);
  const int64_t issue = threadsOfProcessor * instructions / kFloatRate;
  // Each block of sequences reads all weights, and each block of units all
  // states.
  const int64_t bytes = sizes.directions * sizes.hidden *
                        (sequenceBlocks * sizes.products * sizes.hidden *
                             kAccessBytes / sizes.vector +
                         unitBlocks * sequences * stateBytes);
  return kLatency +
         std::max({waves * alone, issue, bytes / (kProcessors * kCacheBytes)});
}

/// Returns a schedule for `threads` and `batch`. Its blocks are small if there
/// are few units.
static RecurrentScheduleAttr makeSchedule(MLIRContext *context,
                                          const RecurrentSizes &sizes,
                                          int64_t threads, int64_t batch) {
  const int64_t least = std::max<int64_t>(1, kWarp / threads);
  int64_t units = std::max(least, kGridThreads / threads);
  while (units > least && sizes.directions * sizes.hidden / units < kProcessors)
    units /= 2;
  return RecurrentScheduleAttr::get(context, threads, units, batch);
}

RecurrentScheduleAttr
cuda::chooseSchedule(MLIRContext *context, const RecurrentSizes &sizes,
                     SmallVectorImpl<Alternative> &alternatives) {
  RecurrentScheduleAttr best;
  int64_t least = 0;
  const int64_t sequences = sizes.batch.knownOr(kUsual.batch);
  for (int64_t threads = 1; threads <= kWarp; threads *= 2)
    for (int64_t batch = 1;
         batch <= std::min(threads, RecurrentScheduleAttr::kMaxBatch);
         batch *= 2) {
      if (batch > 1 &&
          (batch >= 2 * sequences || batch * sizes.products > kMaxSums))
        break;
      RecurrentScheduleAttr schedule =
          makeSchedule(context, sizes, threads, batch);
      const int64_t cycles = estimateCycles(sizes, schedule);
      alternatives.push_back({textOf(schedule), cycles});
      // More lanes read longer parts of a row, if that makes no difference.
      if (!best || cycles <= least) {
        best = schedule;
        least = cycles;
      }
    }
  return best;
}

RecurrentScheduleAttr cuda::drawRecurrentSchedule(MLIRContext *context,
                                                  uint64_t seed) {
  std::mt19937_64 random(seed);
  auto draw = [&](uint64_t count) { return int64_t(random() % count); };
  const int64_t threads = int64_t(1) << draw(6);
  const int64_t least = std::max<int64_t>(1, kWarp / threads);
  const int64_t units = std::min(least << draw(4), kMaxThreads / threads);
  const int64_t batch = std::min(
      {int64_t(1) << draw(4), threads, RecurrentScheduleAttr::kMaxBatch});
  return RecurrentScheduleAttr::get(context, threads, units, batch);
}
