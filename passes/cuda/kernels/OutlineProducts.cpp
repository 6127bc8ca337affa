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
#include "passes/cuda/products/Depthwise.h"
#include "passes/cuda/products/PartSum.h"
#include "passes/cuda/products/Product.h"
#include "passes/cuda/rows/Resample.h"
#include "passes/cuda/rows/Rows.h"
#include "passes/cuda/schedule/Grids.h"
#include "passes/loops/KernelTable.h"
#include "passes/support/Regions.h"
#include "passes/support/ScalarBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

namespace ingot {
#define GEN_PASS_DEF_OUTLINEPRODUCTS
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

namespace {

/// The grid of a kernel: the sizes of dst that are multiplied and divided by
/// the tile to get the number of blocks.
struct Grid {
  /// Blocks of one batch and one part of the rows.
  int64_t across;
  /// Sizes of batches, and of rows. Rows of a part share a block.
  SmallVector<unsigned> batches, rows;
  int64_t rowsOfPart, threads, sharedBytes;
  /// The units of a row, of which a block has `rowsOfPart`.
  int64_t unitsOfRow = 1;
  /// Columns of a block if their number is open; `across` counts no parts of
  /// columns then. Else 0.
  int64_t columnsOfPart = 0;
};

struct OutlineProductsPass
    : ingot::impl::OutlineProductsBase<OutlineProductsPass> {
  void runOnOperation() override;
  void outline(kernel::EpilogueOpInterface op, loops::KernelTable &table);
};

} // namespace

static Grid gridOf(kernel::EpilogueOpInterface op) {
  if (auto attention = dyn_cast<AttentionOp>(*op)) {
    Attention facts(attention);
    return {facts.heads(),
            {0},
            {1},
            facts.schedule().getRows(),
            facts.schedule().getThreads(),
            facts.sharedBytes()};
  }
  if (isRowKernel(op)) {
    Rows rows(op);
    RowScheduleAttr schedule = rows.schedule();
    return {/*across=*/1,
            {},
            llvm::to_vector(llvm::seq(0u, unsigned(rows.outerSizes().size()))),
            schedule.getRows(),
            schedule.getBlockThreads(),
            rows.team().sharedBytes(rows.numResults()),
            rows.unitsOfRow(schedule.getVector())};
  }
  if (auto resample = dyn_cast<ResampleOp>(*op)) {
    Resample facts(resample);
    RowScheduleAttr schedule = facts.schedule();
    const int64_t vector = schedule.getVector();
    const unsigned rank = unsigned(facts.dst.sizes.size());
    return {/*across=*/1,
            {},
            llvm::to_vector(llvm::seq(0u, vector == 1 ? rank : rank - 1)),
            schedule.getRows(),
            schedule.getBlockThreads(),
            /*sharedBytes=*/0,
            vector == 1 ? 1 : facts.dst.sizes.back().known() / vector};
  }
  if (auto conv = dyn_cast<DepthwiseConvOp>(*op)) {
    Depthwise facts(conv);
    if (!facts.isOpen())
      return {facts.blocks(),   {}, {}, /*rowsOfPart=*/1, kGridThreads,
              /*sharedBytes=*/0};
    return {
        /*across=*/1,
        {},
        llvm::to_vector(llvm::seq(0u, unsigned(facts.dst.sizes.size()) - 1)),
        kGridThreads,
        kGridThreads,
        /*sharedBytes=*/0,
        facts.dst.sizes.back().known() / facts.vector};
  }
  if (auto parts = dyn_cast<SumPartsOp>(*op)) {
    PartSum facts(parts);
    return {facts.blocks(),
            {},
            {},
            /*rowsOfPart=*/1,
            PartSum::kThreads,
            /*sharedBytes=*/0};
  }
  Product product(op);
  ScheduleAttr schedule = product.schedule();
  // Dst has a dimension of parts before its batches and rows.
  const unsigned first = product.parts > 1 ? 1 : 0;
  const unsigned firstRow = first + product.numBatchDims;
  const unsigned rank = first + unsigned(product.dst.sizes.size());
  const bool isOpen = product.columns().isOpen();
  const int64_t across = isOpen
                             ? 1
                             : int64_t(llvm::divideCeil(product.usualColumns(),
                                                        schedule.getColumns()));
  return {product.parts * product.groups * across,
          llvm::to_vector(llvm::seq(first, firstRow)),
          llvm::to_vector(llvm::seq(firstRow, rank - 1)),
          schedule.getRows(),
          schedule.getThreads(),
          schedule.getSharedBytes(),
          /*unitsOfRow=*/1,
          /*columnsOfPart=*/isOpen ? schedule.getColumns() : 0};
}

/// Returns the number of blocks of a grid.
static Value countBlocks(OpBuilder &b, Location loc, Value dst,
                         const Grid &grid) {
  support::Scalars s{b, loc};
  OpFoldResult batches = multiplySizes(b, loc, dst, grid.batches),
               rows = multiplySizes(b, loc, dst, grid.rows);
  std::optional<int64_t> knownBatches = getConstantIntValue(batches),
                         knownRows = getConstantIntValue(rows);
  if (knownBatches && knownRows && !grid.columnsOfPart)
    return s.n(*knownBatches * grid.across *
               int64_t(llvm::divideCeil(*knownRows * grid.unitsOfRow,
                                        grid.rowsOfPart)));
  Value units = s.mul(support::indexValue(b, loc, rows), s.n(grid.unitsOfRow));
  Value parts = countBlocks(b, loc, units, grid.rowsOfPart);
  Value blocks = s.mul(parts, support::indexValue(b, loc, batches));
  if (grid.columnsOfPart) {
    const int64_t last = cast<MemRefType>(dst.getType()).getRank() - 1;
    Value columns = memref::DimOp::create(b, loc, dst, last);
    blocks = s.mul(blocks, countBlocks(b, loc, columns, grid.columnsOfPart));
  }
  return s.mul(blocks, s.n(grid.across));
}

void OutlineProductsPass::outline(kernel::EpilogueOpInterface op,
                                  loops::KernelTable &table) {
  const Grid grid = gridOf(op);
  auto dst = cast<MemRefType>(dstOf(op).getType());
  if (llvm::is_contained(dst.getShape(), 0))
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
  requireCounted(b, op.getLoc(), op->getOperands());
  Value blocks = countBlocks(b, op.getLoc(), dstOf(op), grid);
  launch(b, op.getLoc(), kernel, op->getOperands(), blocks, /*writes=*/1);
  op->erase();
  ++launched;
}

void OutlineProductsPass::runOnOperation() {
  shared += outlineOps(
      getOperation(),
      [](Operation *op) {
        return isa<AttentionOp, ConvOp, DepthwiseConvOp, MatMulOp, ResampleOp,
                   SumPartsOp>(op) ||
               isRowKernel(op);
      },
      [&](Operation *op, loops::KernelTable &table) {
        outline(cast<kernel::EpilogueOpInterface>(op), table);
      });
}
