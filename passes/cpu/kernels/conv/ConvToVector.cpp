//===- ConvToVector.cpp - cpu-conv-to-vector ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Convolutions:
//
//     for block of rows, column tile: its data stay in the second-level cache
//       for output row (n, e1, …, e(n-1))
//         for pixel tile within the row: pixels stay in the first-level cache
//           for taps of the outer kernel dimensions that lie within src
//             for k over taps of the row and their channels, contiguous in src:
//               accumulators += src[pixel, k] * weights[k, column]
//           epilogue, store
//
// Other files have other orders: ConvBlocks.cpp for short rows,
// ConvAcrossRows.cpp for rows of open size, and ConvWinograd.cpp for some
// convolutions of int8.
//
// Taps in the padding are not computed, except along a row of int8 with a zero
// point. In the outer dimensions, the bounds of loops exclude them. Within a
// row the compiler knows all pixels that have such taps. A tile with such
// pixels has its own code, tap by tap. With AMX, such a tile is copied with
// zeros (zero points) around it, and computed as a whole.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/Passes.h"
#include "passes/cpu/kernels/conv/ConvEmitter.h"
#include "passes/cpu/kernels/conv/ConvWinograd.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"

namespace ingot {
#define GEN_PASS_DEF_CONVTOVECTOR
#include "passes/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

namespace {

/// Emits a task with the algorithm that the schedule chose.
struct Emitter {
  Emitter(OpBuilder &builder, cpu::ConvOp op) : builder(builder), op(op) {}

  void emit(Value task) {
    if (op.getScheduleAttr().getWinograd() != 0)
      return emitWinograd(builder, op, task);
    ConvKernel conv(builder, op);
    ConvEmitter(conv).emit(task);
  }

  OpBuilder &builder;
  cpu::ConvOp op;
};

struct ConvToVectorPass : ingot::impl::ConvToVectorBase<ConvToVectorPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    ConvToVectorBase::getDependentDialects(registry);
    registry.insert<amx::AMXDialect, LLVM::LLVMDialect,
                    x86vector::X86VectorDialect>();
  }

  void runOnOperation() override {
    if (failed(emitKernels<cpu::ConvOp, Emitter>(getOperation())))
      signalPassFailure();
  }
};

} // namespace

void ConvEmitter::emit(Value task) {
  Index rows = countOf(b, op.getDst(), 0, outer + (plan.acrossRows ? 2 : 1));
  TaskRange range = rangeOf(b, task, plan.grid, rows, plan.tiles);
  int64_t columns = plan.columns / plan.groups;
  Tile full = fullTile(plan.target, plan.tile);
  auto emitTiles = [&](Index begin, Index end, Index group) {
    if (plan.acrossRows && !openRows.areWorthIt(full) &&
        acrossRows.copiesWindows(full))
      return acrossRows.emitFewChannels(full, group, range, [&](ColumnFn body) {
        forEachColumnTile(b, {begin, end, plan.tilesPerGroup}, full,
                          lastTile(plan.target, plan.tile, columns), body);
      });
    forEachColumnTile(b, {begin, end, plan.tilesPerGroup}, full,
                      lastTile(plan.target, plan.tile, columns),
                      [&](Value columnTile, const Tile &tile) {
                        emitColumns(tile, {group, Index(columnTile)}, range);
                      });
  };
  if (plan.groups == 1)
    return emitTiles(range.firstTile, range.endTile, 0);
  // A task has one column tile.
  Index group = b.div(range.firstTile, plan.tilesPerGroup);
  Index tile = b.rem(range.firstTile, plan.tilesPerGroup);
  emitTiles(tile, b.add(tile, 1), group);
}

void ConvEmitter::emitColumns(const Tile &tile, const ColumnAt &columnAt,
                              const TaskRange &range) {
  const ColumnForm form = infoOf(tile.product).columns;
  if (form == ColumnForm::byLists)
    columns.sortPairs(tile, columnAt);
  if (plan.acrossRows)
    return columns.withWidened(tile, columnAt, [&](const Tile &tile) {
      if (openRows.areWorthIt(tile))
        return openRows.emit(tile, columnAt, range);
      acrossRows.emit(tile, columnAt, range);
    });
  if (form == ColumnForm::asInt16)
    columns.widenWeights(tile, columnAt);
  if (plan.depthBlock != 0)
    return emitBlocks(tile, columnAt, range);
  columns.prepareWidened(tile, support::productOf(window.kernel) *
                                   plan.weights.depth);
  columns.clearWidened(weights.at(b, conv.weightsOf(columnAt)));
  forEach(b, range.firstRow, range.endRow, 1, [&](Value row) {
    emitRow(tile, columnAt, Index(row), b.sub(Index(row), range.firstRow));
  });
}

void ConvEmitter::emitRow(const Tile &tile, const ColumnAt &columnAt, Index row,
                          Index rowInTask) {
  SmallVector<Index> at = coordinatesOf(b, op.getDst(), outer + 1, row);
  int64_t tilesPerRow = window.tilesPerRow(tile.rows);
  int64_t passes = plan.grid.rowsPerTask * tilesPerRow;
  window.forEachTile(
      b, tile.rows,
      [&](const PixelTile &pixels, Index firstPixel, Index number) {
        emitTile(tile.withRows(pixels.size), pixels, {at, firstPixel}, columnAt,
                 conv.nextPanel(columnAt,
                                b.add(b.mul(rowInTask, tilesPerRow), number),
                                passes));
      });
}

void ConvEmitter::emitTile(const Tile &tile, const PixelTile &pixels,
                           const PixelsAt &pixelsAt, const ColumnAt &columnAt,
                           const NextWeights &next) {
  Accumulators total =
      infoOf(tile.product).rows == RowForm::asBits
          ? sumSigns(tile, pixels, pixelsAt, columnAt)
          : sums.sumTile(tile, pixels, pixelsAt, columnAt, next);
  conv.store(tile, total, columnAt, pixelsAt);
}
