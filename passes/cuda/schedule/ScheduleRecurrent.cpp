//===- ScheduleRecurrent.cpp - cuda-schedule-recurrent --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/backend/Policy.h"
#include "passes/cuda/Passes.h"
#include "passes/cuda/schedule/ChooseRecurrent.h"

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

void ScheduleRecurrentPass::runOnOperation() {
  uint64_t number = 0;
  getOperation()->walk([&](RecurrentOp op) {
    if (op->getNumResults() != 0 || op.getSchedule())
      return;
    Recurrence facts(op);
    SmallVector<Alternative> alternatives;
    RecurrentScheduleAttr schedule =
        seed != 0 ? drawRecurrentSchedule(&getContext(), seed + ++number)
                  : chooseSchedule(&getContext(), facts, alternatives);
    if (isRecorded(op))
      record(op, Question::schedule, textOf(schedule),
             "has " + std::to_string(facts.hidden) + " units of " +
                 std::to_string(facts.products) + " products each",
             alternatives);
    op.setScheduleAttr(schedule);
    ++chosen;
  });
}
