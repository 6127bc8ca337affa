//===- ScheduleProducts.cpp - cuda-schedule-products ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/Passes.h"
#include "passes/cuda/schedule/ChooseSchedule.h"

namespace ingot {
#define GEN_PASS_DEF_SCHEDULEPRODUCTS
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

namespace {

struct ScheduleProductsPass
    : ingot::impl::ScheduleProductsBase<ScheduleProductsPass> {
  using ScheduleProductsBase::ScheduleProductsBase;
  void runOnOperation() override;
};

} // namespace

/// Records the schedule in the decision trace.
static void recordSchedule(const Product &product, ScheduleAttr schedule,
                           ArrayRef<Alternative> alternatives) {
  if (!isRecorded(product.op))
    return;
  auto textOf = [](Number size) {
    return size.isOpen() ? "open" : std::to_string(size.known());
  };
  const Number depth = product.depth();
  const std::string reason =
      "has " +
      (product.hasOpenSizes() ? std::string("open")
                              : std::to_string(product.usualRows())) +
      " rows, " + textOf(product.columns()) + " columns and " +
      (depth.isOpen() ? "an open depth" : "a depth of " + textOf(depth)) +
      (product.parts == 1 ? ""
                          : " in " + std::to_string(product.parts) + " parts");
  record(product.op, Question::schedule, tileText(schedule), reason,
         alternatives);
}

void ScheduleProductsPass::runOnOperation() {
  uint64_t number = 0;
  getOperation()->walk([&](Operation *op) {
    if (!isa<ConvOp, MatMulOp>(op) || op->getNumResults() != 0 ||
        op->hasAttr("schedule"))
      return;
    Product product(cast<kernel::EpilogueOpInterface>(op));
    SmallVector<Alternative> alternatives;
    ScheduleAttr schedule = seed == 0 ? chooseSchedule(product, alternatives)
                                      : drawSchedule(product, seed + ++number);
    recordSchedule(product, schedule, alternatives);
    op->setAttr("schedule", schedule);
    ++chosen;
  });
}
