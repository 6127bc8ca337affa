//===- OutlineProducts.cpp - cuda-outline-products ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "passes/cuda/Passes.h"
#include "passes/cuda/attention/Attention.h"
#include "passes/cuda/kernels/KernelModule.h"
#include "passes/cuda/products/PartSum.h"
#include "passes/cuda/products/Product.h"
#include "passes/cuda/rows/Rows.h"
#include "passes/loops/KernelTable.h"
#include "passes/support/Regions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"

namespace ingot {
#define GEN_PASS_DEF_OUTLINEPRODUCTS
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

namespace {

struct Grid {
  int64_t blocks, threads, sharedBytes;
};

struct OutlineProductsPass
    : ingot::impl::OutlineProductsBase<OutlineProductsPass> {
  void runOnOperation() override;
  void outline(kernel::EpilogueOpInterface op, loops::KernelTable &table);
};

} // namespace

/// Returns the blocks of a kernel, and the threads and shared memory of each.
static Grid gridOf(kernel::EpilogueOpInterface op) {
  if (auto attention = dyn_cast<AttentionOp>(*op)) {
    Attention facts(attention);
    return {facts.blocks(), facts.schedule().getThreads(), facts.sharedBytes()};
  }
  if (isRowKernel(op)) {
    Rows rows(op);
    return {rows.blocks(), rows.schedule().getBlockThreads(),
            rows.team().sharedBytes(rows.numReductions())};
  }
  if (auto parts = dyn_cast<SumPartsOp>(*op)) {
    PartSum facts(parts);
    return {facts.blocks(), PartSum::kThreads, /*sharedBytes=*/0};
  }
  Product product(op);
  ScheduleAttr schedule = product.schedule();
  return {product.blocks(schedule), schedule.getThreads(),
          schedule.getSharedBytes()};
}

void OutlineProductsPass::outline(kernel::EpilogueOpInterface op,
                                  loops::KernelTable &table) {
  const Grid grid = gridOf(op);
  if (grid.blocks == 0)
    return op->erase();
  for (Region &region : op->getRegions())
    support::sinkConstants(region);
  OpBuilder b(&getContext());
  func::FuncOp kernel =
      loops::KernelTable::create(b, op.getLoc(), op->getOperands(), {});
  setBlock(kernel, grid.threads, grid.sharedBytes);
  Operation *copy = op->clone();
  copy->setOperands(kernel.getArguments());
  b.insert(copy);
  kernel = table.insert(kernel, (op->getName().stripDialect() + "_").str());
  b.setInsertionPoint(op);
  Value blocks = arith::ConstantIndexOp::create(b, op.getLoc(), grid.blocks);
  launch(b, op.getLoc(), kernel, op->getOperands(), blocks, /*writes=*/1);
  op->erase();
  ++launched;
}

void OutlineProductsPass::runOnOperation() {
  SmallVector<kernel::EpilogueOpInterface> ops;
  getOperation()->walk([&](kernel::EpilogueOpInterface op) {
    if ((isa<AttentionOp, ConvOp, MatMulOp, SumPartsOp>(*op) ||
         isRowKernel(op)) &&
        op->getNumResults() == 0)
      ops.push_back(op);
  });
  if (ops.empty())
    return;
  loops::KernelTable table(kernelsOf(getOperation()));
  for (kernel::EpilogueOpInterface op : ops)
    outline(op, table);
  shared += table.numShared;
}
