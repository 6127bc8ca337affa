//===- OutlineKernels.cpp - outline-kernels -------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"
#include "passes/cpu/Passes.h"
#include "passes/cpu/schedule/ChooseSchedule.h"
#include "passes/cpu/schedule/CountTasks.h"
#include "passes/loops/KernelTable.h"
#include "passes/loops/OpenTasks.h"
#include "passes/support/Regions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace ingot {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "passes/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct OutlineKernelsPass
    : ingot::impl::OutlineKernelsBase<OutlineKernelsPass> {
  void runOnOperation() override {
    SmallVector<cpu::ScheduledOpInterface> ops;
    getOperation()->walk([&](cpu::ScheduledOpInterface op) {
      if (op->getNumResults() == 0)
        ops.push_back(op);
    });
    // Outlines nothing if an op has no schedule, or one that does not fit.
    if (!llvm::all_of(ops, [](cpu::ScheduledOpInterface op) {
          return succeeded(cpu::checkSchedule(op));
        }))
      return signalPassFailure();
    loops::KernelTable table(getOperation());
    for (cpu::ScheduledOpInterface op : ops)
      outline(op, table);
    shared += table.numShared;
  }

  void outline(cpu::ScheduledOpInterface op, loops::KernelTable &table);
};

} // namespace

void OutlineKernelsPass::outline(cpu::ScheduledOpInterface op,
                                 loops::KernelTable &table) {
  for (Region &region : op->getRegions())
    support::sinkConstants(region);
  OpBuilder builder(&getContext());
  func::FuncOp kernel =
      loops::KernelTable::create(builder, op.getLoc(), op->getOperands(),
                                 builder.getIndexType());
  Operation *copy = op->clone();
  copy->setOperands(kernel.getArguments().drop_back());
  builder.insert(copy);
  kernel = table.insert(kernel, (op->getName().stripDialect() + ".").str());
  builder.setInsertionPoint(op);
  Value tasks =
      loops::skipEmpty(builder, cast<DestinationStyleOpInterface>(*op),
                       cpu::countTasks(builder, op));
  cpu::LaunchOp::create(builder, op.getLoc(),
                        FlatSymbolRefAttr::get(kernel.getSymNameAttr()),
                        op->getOperands(), tasks,
                        builder.getI64IntegerAttr(
                            cast<DestinationStyleOpInterface>(*op)
                                .getNumDpsInits()));
  op->erase();
}
