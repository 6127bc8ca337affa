//===- ScheduleAttention.cpp - cuda-schedule-attention --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/Passes.h"
#include "passes/cuda/schedule/ChooseAttention.h"

namespace ingot {
#define GEN_PASS_DEF_SCHEDULEATTENTION
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

namespace {

struct ScheduleAttentionPass
    : ingot::impl::ScheduleAttentionBase<ScheduleAttentionPass> {
  using ScheduleAttentionBase::ScheduleAttentionBase;
  void runOnOperation() override;
};

} // namespace

/// Records the schedule in the decision trace.
static void recordSchedule(const Attention &attention,
                           AttentionScheduleAttr schedule,
                           ArrayRef<Alternative> alternatives) {
  if (!isRecorded(attention.op))
    return;
  auto textOf = [](const Number &number, const char *noun) {
    return (number.isOpen() ? "open" : std::to_string(number.known())) + noun;
  };
  record(attention.op, Question::schedule, tileText(schedule),
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
    AttentionScheduleAttr schedule =
        seed == 0 ? chooseSchedule(attention, alternatives)
                  : drawSchedule(attention, seed + ++number);
    recordSchedule(attention, schedule, alternatives);
    op.setScheduleAttr(schedule);
    ++chosen;
  });
}
