//===- ScheduleAttention.cpp - cuda-schedule-attention --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/backend/Policy.h"
#include "passes/cuda/Passes.h"
#include "passes/cuda/attention/Attention.h"
#include "passes/cuda/schedule/Machine.h"

#include "llvm/Support/MathExtras.h"

#include <random>

namespace ingot {
#define GEN_PASS_DEF_SCHEDULEATTENTION
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

/// Queries and keys of a tile, the largest ones first.
static constexpr int64_t kRows[] = {128, 64, 32, 16}, kKeys[] = {64, 32, 16};
static constexpr int64_t kStages = 2;

namespace {

struct ScheduleAttentionPass
    : ingot::impl::ScheduleAttentionBase<ScheduleAttentionPass> {
  using ScheduleAttentionBase::ScheduleAttentionBase;
  void runOnOperation() override;
};

} // namespace

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

/// Returns the text of a tile of a decision: its queries and keys.
static std::string tileText(int64_t rows, int64_t keys) {
  return std::to_string(rows) + "x" + std::to_string(keys);
}

/// Returns the largest tile that leaves no multiprocessor without a block.
/// `larger` receives the larger tiles, and why each does not serve.
static AttentionScheduleAttr choose(const Attention &attention,
                                    SmallVectorImpl<Alternative> &larger) {
  const int64_t heads =
      attention.batches().knownOr(kUsual.batch) * attention.heads();
  const int64_t queries = attention.queries().knownOr(kUsual.size),
                numKeys = attention.numKeys().knownOr(kUsual.size);
  for (int64_t rows : kRows) {
    const int64_t blocks = heads * int64_t(llvm::divideCeil(queries, rows));
    const bool isLeast = rows == kRows[std::size(kRows) - 1];
    if (!isLeast && (blocks < kProcessors || queries <= rows / 2)) {
      larger.push_back({tileText(rows, kKeys[0]), /*cycles=*/-1,
                        blocks < kProcessors ? "has too few blocks"
                                             : "has too few queries"});
      continue;
    }
    for (int64_t keys : kKeys) {
      if (keys > 16 && numKeys <= keys / 2) {
        larger.push_back(
            {tileText(rows, keys), /*cycles=*/-1, "has too few keys"});
        continue;
      }
      AttentionScheduleAttr schedule =
          makeSchedule(attention, rows, keys, kStages);
      if (sharedBytes(attention, schedule) <= kAttentionBytes)
        return schedule;
      larger.push_back({tileText(rows, keys), /*cycles=*/-1,
                        "needs too much shared memory"});
    }
  }
  llvm_unreachable("the smallest tile fits for the largest heads");
}

/// Returns a schedule that a test draws by `seed`: any that fits.
static AttentionScheduleAttr draw(const Attention &attention, uint64_t seed) {
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

/// Records the schedule in the decision trace.
static void recordSchedule(const Attention &attention,
                           AttentionScheduleAttr schedule,
                           SmallVectorImpl<Alternative> &alternatives) {
  if (!isRecorded(attention.op))
    return;
  auto textOf = [](const Number &number, const char *noun) {
    return (number.isOpen() ? "open" : std::to_string(number.known())) + noun;
  };
  const std::string choice = tileText(schedule.getRows(), schedule.getKeys());
  alternatives.push_back({choice});
  record(attention.op, Question::schedule, choice,
         "has " + std::to_string(attention.heads()) + " heads, " +
             textOf(attention.queries(), " queries") + " and " +
             textOf(attention.numKeys(), " keys"),
         alternatives);
}

void ScheduleAttentionPass::runOnOperation() {
  uint64_t number = 0;
  getOperation()->walk([&](AttentionOp op) {
    if (op->getNumResults() != 0 || op.getSchedule())
      return;
    Attention attention(op);
    SmallVector<Alternative> alternatives;
    AttentionScheduleAttr schedule = seed == 0
                                         ? choose(attention, alternatives)
                                         : draw(attention, seed + ++number);
    recordSchedule(attention, schedule, alternatives);
    op.setScheduleAttr(schedule);
    ++chosen;
  });
}
