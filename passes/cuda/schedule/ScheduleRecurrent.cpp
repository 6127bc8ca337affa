//===- ScheduleRecurrent.cpp - cuda-schedule-recurrent --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/backend/Policy.h"
#include "passes/cuda/Passes.h"
#include "passes/cuda/recurrent/Recurrence.h"
#include "passes/cuda/schedule/Machine.h"

#include <random>

namespace ingot {
#define GEN_PASS_DEF_SCHEDULERECURRENT
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

namespace {

struct ScheduleRecurrentPass
    : ingot::impl::ScheduleRecurrentBase<ScheduleRecurrentPass> {
  using ScheduleRecurrentBase::ScheduleRecurrentBase;
  void runOnOperation() override;
};

} // namespace

/// The most sums of a thread. More of them leave too few registers for the
/// factors of several loads.
static constexpr int64_t kMaxSums = 32;

static std::string textOf(RecurrentScheduleAttr schedule) {
  return std::to_string(schedule.getThreads()) + "x" +
         std::to_string(schedule.getUnits()) + "x" +
         std::to_string(schedule.getBatch());
}

/// Returns the cycles of a launch: the latency of a thread, or the issue of all
/// multiply-adds.
static int64_t estimateCycles(const Recurrence &facts,
                              RecurrentScheduleAttr schedule) {
  const int64_t threads = schedule.getThreads(), batch = schedule.getBatch();
  const int64_t sums = facts.products * batch;
  auto parts = [](int64_t x, int64_t size) {
    return int64_t(llvm::divideCeil(uint64_t(x), uint64_t(size)));
  };
  const int64_t steps = parts(facts.hidden, facts.vector * threads);
  const int64_t exchanges = int64_t(llvm::Log2_64(uint64_t(threads)));
  const int64_t multiplyAdds = steps * sums * facts.vector;
  const int64_t shuffles = exchanges * sums * kShuffledResult;
  const int64_t latency =
      steps * kHeldStep + multiplyAdds + exchanges * kShuffle + shuffles;
  const int64_t teams = facts.directions * facts.unitBlocks(schedule) *
                        schedule.getUnits() *
                        parts(facts.batch.knownOr(kUsual.batch), batch);
  const int64_t issue =
      teams * threads * (multiplyAdds + shuffles) / (kProcessors * kFloatRate);
  return kLatency + std::max(latency, issue);
}

/// Returns a schedule for `threads` and `batch`. Its blocks are small if there
/// are few units.
static RecurrentScheduleAttr makeSchedule(const Recurrence &facts,
                                          int64_t threads, int64_t batch) {
  const int64_t least = std::max<int64_t>(1, kWarp / threads);
  int64_t units = std::max(least, kGridThreads / threads);
  while (units > least && facts.directions * facts.hidden / units < kProcessors)
    units /= 2;
  return RecurrentScheduleAttr::get(facts.op->getContext(), threads, units,
                                    batch);
}

static RecurrentScheduleAttr
chooseSchedule(const Recurrence &facts,
               SmallVectorImpl<Alternative> &alternatives) {
  RecurrentScheduleAttr best;
  int64_t least = 0;
  const int64_t sequences = facts.batch.knownOr(kUsual.batch);
  for (int64_t threads = 1; threads <= kWarp; threads *= 2)
    for (int64_t batch = 1;
         batch <= std::min(threads, RecurrentScheduleAttr::kMaxBatch);
         batch *= 2) {
      if (batch > 1 &&
          (batch >= 2 * sequences || batch * facts.products > kMaxSums))
        break;
      RecurrentScheduleAttr schedule = makeSchedule(facts, threads, batch);
      const int64_t cycles = estimateCycles(facts, schedule);
      alternatives.push_back({textOf(schedule), cycles});
      if (!best || cycles < least) {
        best = schedule;
        least = cycles;
      }
    }
  return best;
}

static RecurrentScheduleAttr drawSchedule(const Recurrence &facts,
                                          uint64_t seed) {
  std::mt19937_64 random(seed);
  auto draw = [&](uint64_t count) { return int64_t(random() % count); };
  const int64_t threads = int64_t(1) << draw(6);
  const int64_t least = std::max<int64_t>(1, kWarp / threads);
  const int64_t units = std::min(least << draw(4), kMaxThreads / threads);
  const int64_t batch = std::min(
      {int64_t(1) << draw(4), threads, RecurrentScheduleAttr::kMaxBatch});
  return RecurrentScheduleAttr::get(facts.op->getContext(), threads, units,
                                    batch);
}

void ScheduleRecurrentPass::runOnOperation() {
  uint64_t number = 0;
  getOperation()->walk([&](RecurrentOp op) {
    if (op->getNumResults() != 0 || op.getSchedule())
      return;
    Recurrence facts(op);
    SmallVector<Alternative> alternatives;
    RecurrentScheduleAttr schedule = seed != 0
                                         ? drawSchedule(facts, seed + ++number)
                                         : chooseSchedule(facts, alternatives);
    if (isRecorded(op))
      record(op, Question::schedule, textOf(schedule),
             "has " + std::to_string(facts.hidden) + " units of " +
                 std::to_string(facts.products) + " products each",
             alternatives);
    op.setScheduleAttr(schedule);
    ++chosen;
  });
}
