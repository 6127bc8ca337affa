//===- ScheduleRows.cpp - cuda-schedule-rows ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/Passes.h"
#include "passes/cuda/schedule/ChooseResample.h"
#include "passes/cuda/schedule/ChooseRows.h"

namespace ingot {
#define GEN_PASS_DEF_SCHEDULEROWS
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

namespace {

struct ScheduleRowsPass : ingot::impl::ScheduleRowsBase<ScheduleRowsPass> {
  using ScheduleRowsBase::ScheduleRowsBase;
  void runOnOperation() override;
};

} // namespace

/// Records the threads of a row and the rows of a block.
static void recordSchedule(const Rows &rows, RowScheduleAttr schedule,
                           ArrayRef<Alternative> alternatives) {
  if (!isRecorded(rows.op))
    return;
  const int64_t vector = schedule.getVector();
  const Number vectors = rows.vectors(vector);
  auto isOpen = [](Number size) { return size.isOpen(); };
  const std::string count = llvm::any_of(rows.outerSizes(), isOpen)
                                ? "open"
                                : std::to_string(rows.usualRows(vector));
  record(rows.op, Question::schedule, threadsText(schedule),
         "has " + count + " rows of " +
             (vectors.isOpen() ? "open length"
                               : std::to_string(vectors.known()) + " vectors"),
         alternatives);
}

/// Gives a resampling the schedule that `seed` draws, or the best one if the
/// seed is 0.
static void scheduleResample(ResampleOp op, uint64_t seed) {
  Resample resample(op);
  SmallVector<Alternative> alternatives;
  RowScheduleAttr schedule = seed != 0 ? drawResample(resample, seed)
                                       : chooseResample(resample, alternatives);
  op.setScheduleAttr(schedule);
  record(op, Question::schedule,
         "vectors of " + std::to_string(schedule.getVector()),
         "has " + std::to_string(op.numAllTaps()) + " taps for an element",
         alternatives);
}

void ScheduleRowsPass::runOnOperation() {
  uint64_t number = 0;
  getOperation()->walk([&](kernel::EpilogueOpInterface op) {
    if (auto resample = dyn_cast<ResampleOp>(*op);
        resample && !resample.getResult() && !resample.getSchedule()) {
      scheduleResample(resample, seed == 0 ? 0 : seed + ++number);
      ++chosen;
      return;
    }
    if (!isRowKernel(op) || op->getNumResults() != 0 || op->hasAttr("schedule"))
      return;
    Rows rows(op);
    SmallVector<Alternative> alternatives;
    RowScheduleAttr schedule;
    if (seed != 0)
      schedule = drawRowSchedule(rows, seed + ++number);
    else
      schedule = chooseRowSchedule(rows, alternatives);
    recordSchedule(rows, schedule, alternatives);
    op->setAttr("schedule", schedule);
    ++chosen;
  });
}
