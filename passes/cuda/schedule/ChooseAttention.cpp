//===- ChooseAttention.cpp - schedules of attentions ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/schedule/ChooseAttention.h"

#include "passes/cuda/schedule/Machine.h"

#include "llvm/Support/MathExtras.h"

#include <random>

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

/// Queries and keys of a tile, the largest ones first.
static constexpr int64_t kRows[] = {128, 64, 32, 16}, kKeys[] = {64, 32, 16};
static constexpr int64_t kStages = 2;

/// A smaller tile must save one part in so many of the time, because it reads
/// keys and values more often.
static constexpr int64_t kSmallerTileGain = 10;

static AttentionScheduleAttr makeSchedule(const Attention &attention,
                                          int64_t rows, int64_t keys,
                                          int64_t stages) {
  const int64_t width = attention.width();
  const int64_t stored =
      storedElements(attention.dst, attention.operands, /*most=*/2, width);
  return AttentionScheduleAttr::get(
      attention.op->getContext(), rows, keys, stages,
      attention.src.copyBytes(attention.depth()),
      attention.keys.copyBytes(attention.depth()),
      attention.values.copyBytes(attention.width()), stored);
}

static int64_t sharedBytes(const Attention &attention,
                           AttentionScheduleAttr schedule) {
  return schedule.getSharedBytes(attention.depth(), attention.width(),
                                 attention.element());
}

int64_t cuda::estimateCycles(const Attention &attention,
                             AttentionScheduleAttr schedule) {
  auto parts = [](int64_t count, int64_t size) {
    return int64_t(llvm::divideCeil(uint64_t(count), uint64_t(size)));
  };
  const int64_t heads =
      attention.batches().knownOr(kUsual.batch) * attention.heads();
  const int64_t blocks =
      heads * parts(attention.queries().knownOr(kUsual.size),
                    schedule.getRows());
  const int64_t steps =
      parts(attention.numKeys().knownOr(kUsual.size), schedule.getKeys());
  const int64_t elements = attention.depth() + attention.width();
  const int64_t scores = schedule.getRows() * schedule.getKeys();
  const int64_t rate = attention.element().isF32() ? kFloatRate : kHalfRate;
  const int64_t computed =
      scores * elements / rate + scores * kScoreInstructions / kFloatRate;
  // Blocks read the keys and values of a step from the L2 cache.
  const int64_t cached = schedule.getKeys() * elements *
                         attention.src.elementBytes() / kCacheBytes;
  const int64_t busy = std::max(computed, cached);
  // A single block waits at each step, and its warps may be too few for all
  // units. Further blocks fill the time.
  const int64_t warps = std::min(schedule.getThreads() / kWarp, kSchedulers);
  const int64_t alone =
      steps * (std::max(computed * kSchedulers / warps, cached) + kStep);
  return kLatency + std::max(alone, parts(blocks, kProcessors) * steps * busy);
}

AttentionScheduleAttr
cuda::chooseSchedule(const Attention &attention,
                     SmallVectorImpl<Alternative> &alternatives) {
  AttentionScheduleAttr best;
  int64_t least = 0;
  for (int64_t rows : kRows)
    for (int64_t keys : kKeys) {
      AttentionScheduleAttr schedule =
          makeSchedule(attention, rows, keys, kStages);
      // Half of the warps would compute nothing.
      if (rows > AttentionScheduleAttr::kWarpRows &&
          attention.queries().knownOr(kUsual.size) <= rows / 2) {
        alternatives.push_back(
            {tileText(schedule), /*cycles=*/-1, "has too few queries"});
        continue;
      }
      if (sharedBytes(attention, schedule) > kAttentionBytes) {
        alternatives.push_back({tileText(schedule), /*cycles=*/-1,
                                "needs too much shared memory"});
        continue;
      }
      const int64_t cycles = estimateCycles(attention, schedule);
      alternatives.push_back({tileText(schedule), cycles});
      if (!best || cycles < least - least / kSmallerTileGain) {
        best = schedule;
        least = cycles;
      }
    }
  assert(best && "the smallest tile fits for the largest heads");
  return best;
}

AttentionScheduleAttr cuda::drawSchedule(const Attention &attention,
                                         uint64_t seed) {
  std::mt19937_64 random(seed);
  auto draw = [&](uint64_t count) { return size_t(random() % count); };
  for (;;) {
    const int64_t rows = kRows[draw(std::size(kRows))];
    const int64_t keys = kKeys[draw(std::size(kKeys))];
    AttentionScheduleAttr schedule =
        makeSchedule(attention, rows, keys, int64_t(2 + draw(3)));
    if (sharedBytes(attention, schedule) > kMaxSharedBytes)
      continue;
    auto narrow = [&](int64_t bytes) {
      return std::max(bytes >> draw(3), attention.src.elementBytes());
    };
    return AttentionScheduleAttr::get(
        attention.op->getContext(), rows, keys, schedule.getStages(),
        narrow(schedule.getSrcBytes()), narrow(schedule.getKeysBytes()),
        narrow(schedule.getValuesBytes()),
        std::max<int64_t>(schedule.getStored() >> draw(2), 1));
  }
}

std::string cuda::tileText(AttentionScheduleAttr schedule) {
  return std::to_string(schedule.getRows()) + "x" +
         std::to_string(schedule.getKeys());
}
