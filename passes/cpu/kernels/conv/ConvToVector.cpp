//===- ConvToVector.cpp - cpu-conv-to-vector ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for block of rows, column tile: what it reads stays in the second-level cache
//   for output row (n, e1, …, e(n-1))
//     for pixel tile within the row (its pixels stay in the first-level cache)
//       for taps of the outer kernel dimensions that lie within src
//         for k over the taps of the row and their channels, contiguous in src:
//           accumulators += src[pixel, k] * weights[k, column]
//       epilogue, store
//
// Short rows go by blocks of weights instead: see ConvBlocks.cpp; rows of open
// size by pixels: see ConvAcrossRows.cpp; some bytes in fewer products: see
// ConvWinograd.cpp.
//
// Taps in the padding are not computed, but for those along a row of bytes with
// a zero point: in the outer dimensions the bounds of the loops leave them out;
// within a row it is known which pixels of which tile have them, and such a
// tile has code of its own, tap by tap. With AMX such a tile is copied, zeros
// (zero points) around it, and computed as a whole.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/Passes.h"
#include "passes/cpu/kernels/conv/ConvEmitter.h"
#include "passes/cpu/kernels/conv/ConvWinograd.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"

namespace ingot {
#define GEN_PASS_DEF_CONVTOVECTOR
#include "passes/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

namespace {

/// As its schedule says.
struct Emitter {
  Emitter(OpBuilder &builder, cpu::ConvOp op) : builder(builder), op(op) {}

  void emit(Value task) {
    if (op.getScheduleAttr().getWinograd() != 0)
      return emitFiltering(builder, op, task);
    ConvEmitter(builder, op).emit(task);
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
    if (copiesWindows(full))
      return emitFewChannels(
          full, group, range,
          [&](function_ref<void(Value, const Tile &)> body) {
            forEachColumnTile(b, begin, end, plan.tilesPerGroup, full,
                              lastTile(plan.target, plan.tile, columns), body);
          });
    forEachColumnTile(
        b, begin, end, plan.tilesPerGroup, full,
        lastTile(plan.target, plan.tile, columns),
        [&](Value columnTile, const Tile &tile) {
          emitColumns(tile, group, Index(columnTile), range);
        });
  };
  if (plan.groups == 1)
    return emitTiles(range.firstTile, range.endTile, 0);
  // One column tile a task.
  Index group = b.div(range.firstTile, plan.tilesPerGroup);
  Index tile = b.rem(range.firstTile, plan.tilesPerGroup);
  emitTiles(tile, b.add(tile, 1), group);
}

void ConvEmitter::emitColumns(const Tile &tile, Index group, Index columnTile,
                              const TaskRange &range) {
  if (tile.product == Product::int8Pairs)
    sortPairs(tile, columnTile);
  if (plan.acrossRows)
    return withWidened(tile, group, columnTile, [&](const Tile &tile) {
      if (goesByRows(tile))
        return emitOpenRows(tile, group, columnTile, range);
      emitAcrossRows(tile, group, columnTile, range);
    });
  if (tile.product == Product::int8Wide)
    widenWeights(tile, group, columnTile);
  if (plan.depthBlock != 0)
    return emitBlocks(tile, group, columnTile, range);
  prepareWidened(tile, support::productOf(window.kernel) * plan.weights.depth);
  clearWidened(weights.at(b, weightsOf(group, columnTile)));
  forEach(b, range.firstRow, range.endRow, 1, [&](Value row) {
    emitRow(tile, group, columnTile, Index(row),
            b.sub(Index(row), range.firstRow));
  });
}

void ConvEmitter::emitRow(const Tile &tile, Index group, Index columnTile,
                          Index row, Index rowInTask) {
  SmallVector<Index> at = coordinatesOf(b, op.getDst(), outer + 1, row);
  int64_t tilesPerRow = window.tilesPerRow(tile.rows);
  int64_t passes = plan.grid.rowsPerTask * tilesPerRow;
  window.forEachTile(b, tile.rows, [&](const PixelTile &pixels,
                                       Index firstPixel, Index number) {
    emitTile(tile.withRows(pixels.size), pixels, firstPixel, group, columnTile,
             at,
             nextPanel(group, columnTile,
                       b.add(b.mul(rowInTask, tilesPerRow), number), passes));
  });
}

Accumulators ConvEmitter::sumTile(const Tile &tile, const PixelTile &pixels,
                                  Index firstPixel, Index group,
                                  Index columnTile, ArrayRef<Index> row,
                                  const NextWeights &next) {
  SmallVector<Index> srcAt = window.originOf(b, row, firstPixel);
  srcAt.push_back(b.mul(group, channels));
  SmallVector<Index> weightsAt = weightsOf(group, columnTile);
  return window.sumOuter(
      b, srcAt, zeroAccumulators(b, tile),
      [&](ArrayRef<Index> srcAt, ArrayRef<Index> taps,
          const Accumulators &sums) {
        llvm::copy(taps, weightsAt.begin() + 1);
        return sumRow(tile, pixels, srcAt, weightsAt, sums,
                      next.from(b, inPanel(taps)));
      });
}

void ConvEmitter::emitTile(const Tile &tile, const PixelTile &pixels,
                           Index firstPixel, Index group, Index columnTile,
                           ArrayRef<Index> row, const NextWeights &next) {
  if (tile.product == Product::signs)
    return emitSigns(tile, pixels, firstPixel, columnTile, row);
  store(tile,
        sumTile(tile, pixels, firstPixel, group, columnTile, row, next), group,
        columnTile, row, firstPixel);
}

void ConvEmitter::store(const Tile &tile, const Accumulators &sums, Index group,
                        Index columnTile, ArrayRef<Index> row,
                        Index firstPixel) {
  Index column = columnOf(group, columnTile);
  storeTile(b, tile, output, sums,
            [&](IndexBuilder &b, Index inTile) {
              SmallVector<Index> coordinates(row);
              coordinates.append({b.add(firstPixel, inTile), column});
              return coordinates;
            },
            compensationOf(tile, group, columnTile, row));
}

NextWeights ConvEmitter::nextPanel(Index group, Index columnTile, Index pass,
                                   Index passes) {
  if (!plan.grid.prefetch)
    return {};
  const Flat &panels = packed ? *packed : weights;
  SmallVector<Index> at = {b.add(weightsOf(group, columnTile)[0], 1)};
  at.resize(panels.shape.size(), Index(0));
  int64_t elements = support::productOf(plan.weights.outer.drop_front()) *
                     plan.weights.depth * plan.weights.width;
  Index before = b.mul(b.rem(columnTile, plan.tilesPerPanel), passes);
  return nextWeights(b, panels.data, panels.at(b, at), elements,
                     b.add(before, pass), b.mul(passes, plan.tilesPerPanel))
      .times(b, plan.weights.width / plan.panel);
}

Index ConvEmitter::inPanel(ArrayRef<Index> taps) {
  Index at = 0;
  for (auto [tap, stride] :
       llvm::zip(taps, ArrayRef(weights.strides).drop_front()))
    at = b.add(at, b.mul(tap, stride));
  return at;
}

Index ConvEmitter::columnOf(Index group, Index columnTile) {
  return b.add(b.mul(group, plan.columns / plan.groups),
               b.mul(columnTile, plan.tile.vectors * plan.target.lanes));
}

SmallVector<Index> ConvEmitter::weightsOf(Index group, Index columnTile) {
  int64_t panels = weights.shape[0] / plan.groups;
  SmallVector<Index> at = {b.add(b.mul(group, panels),
                                 b.div(columnTile, plan.tilesPerPanel))};
  at.append(outer + 2, Index(0));
  at.push_back(b.mul(b.rem(columnTile, plan.tilesPerPanel),
                     plan.tile.vectors * plan.target.lanes));
  // The first element of a group.
  at.resize(weights.shape.size(), Index(0));
  return at;
}

Accumulators ConvEmitter::sumRow(const Tile &tile, const PixelTile &pixels,
                                 ArrayRef<Index> srcAt,
                                 ArrayRef<Index> weightsAt,
                                 const Accumulators &start,
                                 const NextWeights &next) {
  int64_t inner = window.inner();
  Index from = src.at(b, srcAt), panelAt = weights.at(b, weightsAt);
  if (tile.product == Product::bf16Wide)
    return sumAsFloats(tile, pixels, from, panelAt, start);
  if (tile.product == Product::int8Wide)
    return sumWords(tile, pixels, from, panelAt,
                    weightsAt.slice(1, outer), start);
  if (tile.product == Product::int8Pairs)
    return sumPairs(tile, pixels, from, panelAt,
                    weightsAt.slice(1, outer), start);
  if (usesTiles(tile.product))
    return sumAmx(tile, pixels, from, panelAt, start);
  Index apart = b.mul(pixelStride, window.dilations[inner]);
  auto rowsOf = [&](int64_t tap) {
    Index first = b.add(from, b.mul(apart, tap));
    return rowsOfTap(tile, pixels, tap, src.data, first,
                     b.mul(pixelStride, window.strides[inner]));
  };
  const bool isWhole = pixels.isWhole();
  auto multiply = [&](const TileWeights &used) {
    NextWeights later = next.times(b, plan.panel / used.panel);
    if (isWhole && window.kernel[inner] == 1)
      return multiplyAddWhole(b, used, rowsOf(0), channels, start, later);
    return sumTaps(used,
                   {isWhole && isContiguous(),
                    isWhole ? std::optional(apart) : std::nullopt, rowsOf},
                   channels, start, later);
  };
  return sumWidened({tile, weights.data, panelAt, plan.panel},
                    weightsAt.slice(1, outer), multiply);
}

Accumulators ConvEmitter::sumTaps(const TileWeights &weights,
                                  const TapRows &taps, int64_t depth,
                                  const Accumulators &start,
                                  const NextWeights &next) {
  int64_t count = window.kernel[window.inner()];
  if (taps.asOne)
    return multiplyAdd(b, weights, taps.rowsOf(0), count * depth, start, next);
  const int64_t tapSize = plan.weights.depth * weights.panel;
  // Speech has windows of 128 taps: code for each would be 40 KiB.
  constexpr int64_t kManyTaps = 7;
  auto addTap = [&](const SrcRows &rows, Index tapAt,
                    const Accumulators &sums) {
    TileWeights ofTap = weights;
    ofTap.at = b.add(weights.at, tapAt);
    return multiplyAdd(b, ofTap, rows, depth, sums, next.from(b, tapAt));
  };
  if (taps.apart && count >= kManyTaps)
    return forEach(b, 0, count, start,
                   [&](Value tap, const Accumulators &sums) {
                     SrcRows rows = taps.rowsOf(0);
                     for (std::optional<Index> &at : rows.at)
                       at = b.add(*at, b.mul(*taps.apart, Index(tap)));
                     return addTap(rows, b.mul(Index(tap), tapSize), sums);
                   });
  Accumulators sums = start;
  for (int64_t tap = 0; tap < count; ++tap)
    sums = addTap(taps.rowsOf(tap), tap * tapSize, sums);
  return sums;
}

bool ConvEmitter::isContiguous() const {
  return plan.groups == 1 && window.dilations[window.inner()] == 1 &&
         !pixelStride.value &&
         pixelStride.constant == src.shape.back() &&
         plan.weights.depth == src.shape.back();
}

SrcRows ConvEmitter::rowsOfTap(const Tile &tile, const PixelTile &pixels,
                               int64_t tap, Value data, Index first,
                               Index stride) {
  SrcRows rows(b, data, first, stride, tile.rows);
  for (int64_t r = 0; r < tile.rows; ++r) {
    if (pixels.hasTap(r, tap))
      continue;
    rows.at[r] = std::nullopt;
    if (op.getSrcZeroPoint() != 0) {
      rows.dataOf[r] = zeroPointPixel();
      rows.at[r] = 0;
    }
  }
  return rows;
}
