//===- Schedule.cpp - cpu-schedule ----------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"
#include "passes/cpu/Passes.h"
#include "passes/cpu/schedule/ChooseSchedule.h"
#include "passes/cpu/schedule/RecordSchedule.h"

#include "llvm/ADT/TypeSwitch.h"

namespace ingot {
#define GEN_PASS_DEF_SCHEDULE
#include "passes/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

/// Drops the counts of pairs, which no later pass needs. Kernels that differ
/// only in these counts then become one.
static void dropPairCounts(Operation *op) {
  llvm::TypeSwitch<Operation *>(op).Case<cpu::ConvOp, cpu::MatMulOp>(
      [](auto product) {
        product.setFormatAttr(product.getFormat().withoutPairCounts());
      });
}

namespace {

struct SchedulePass : ingot::impl::ScheduleBase<SchedulePass> {
  using ScheduleBase::ScheduleBase;

  void runOnOperation() override {
    bool isFine = true;
    uint64_t number = 0;
    getOperation()->walk([&](cpu::ScheduledOpInterface op) {
      // Skips an op on tensors, which has no strides and no kernel yet.
      if (op->getNumResults() != 0)
        return;
      if (!op.getScheduleAttr()) {
        op.setScheduleAttr(seed == 0 ? cpu::chooseSchedule(op)
                                     : cpu::drawSchedule(op, seed + ++number));
        ++chosen;
      } else {
        ++given;
      }
      cpu::recordSchedule(op);
      dropPairCounts(op);
      isFine &= succeeded(cpu::checkSchedule(op));
    });
    if (!isFine)
      signalPassFailure();
  }
};

} // namespace
