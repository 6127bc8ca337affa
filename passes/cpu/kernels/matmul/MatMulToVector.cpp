//===- MatMulToVector.cpp - cpu-matmul-to-vector --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matrix products:
//
//     for batch, block of rows, column tile: its part of src and weights
//         stays in the second-level cache
//       for row tile: its rows of src stay in the first-level cache
//         for k: accumulators += src[row, k] * weights[k, column]
//         epilogue, store
//
// A long k is split into blocks. The weights of a column tile thus stay in the
// first-level cache for all rows of the task. Partial sums are then kept on the
// stack. With block-sparse weights, k covers only the blocks of the column
// tile's panel. If the remaining rows would be too few for an AMX tile, the
// last row tile starts earlier, and stores only the remaining rows.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/Passes.h"
#include "passes/cpu/kernels/matmul/MatMulEmitter.h"
#include "passes/cpu/kernels/rows/RowEmitter.h"
#include "passes/cpu/products/SignProducts.h"

#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"

namespace ingot {
#define GEN_PASS_DEF_MATMULTOVECTOR
#include "passes/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

namespace {

struct MatMulToVectorPass
    : ingot::impl::MatMulToVectorBase<MatMulToVectorPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    MatMulToVectorBase::getDependentDialects(registry);
    registry.insert<amx::AMXDialect, LLVM::LLVMDialect,
                    x86vector::X86VectorDialect>();
  }

  void runOnOperation() override {
    if (failed(emitKernels<cpu::MatMulOp, MatMulEmitter>(getOperation())))
      signalPassFailure();
  }
};

} // namespace

void MatMulEmitter::emit(Value task) {
  Tile full = fullTile(plan.target, plan.tile),
       last = lastTile(plan.target, plan.tile, plan.columns);
  // Uses a single kind of tile if the number of lanes is an argument.
  if (tellsLanes(full) && last.vectors == full.vectors)
    last = full;
  forEachProductTile(b, task, op.getDst(), plan, last,
                     [&](const Tile &tile, ArrayRef<Index> batch,
                         Index columnTile, const TaskRange &range) {
                       emitColumns(tile, batch, columnTile, range);
                     });
}

/// Returns the tile for `count` rows, at most as many as `tile` has.
Tile MatMulEmitter::tileOf(const Tile &tile, int64_t count) const {
  Tile part = tile.withRows(count);
  if (!usesTiles(tile.product) || count >= tile.amxRows)
    return part;
  if (ShapedType::isDynamic(plan.rows)) {
    part.product = productFor(plan.target, plan.weights.element,
                              plan.weights.group);
    return part;
  }
  // Makes an AMX tile that ends with the last row. Other tiles have computed
  // its first rows.
  part.rows = tile.amxRows;
  part.done = tile.amxRows - count;
  return part;
}

/// Emits row tiles whose heights differ by at most one row, the higher ones
/// first. With full tiles, the last tile might have one or two rows. Such a
/// tile would read all weights for little work.
void MatMulEmitter::forEachEvenRowTile(const Tile &tile, const TaskRange &range,
                                       RowTileFn body) {
  int64_t most = plan.tile.rows;
  Index first = b.div(range.firstRow, most);
  Index end = b.div(b.add(range.endRow, most - 1), most);
  auto emit = [&](int64_t size, Index row, Index number) {
    // Multiplies the number of the row, rather than its two terms, by the
    // distance of rows. Kernels then differ in fewer numbers.
    if (hasFunction(tile))
      row = Index(b.get(row));
    body(tile.withRows(size), row, b.sub(number, first));
  };
  RowTiling::cutEvenly(b, plan.rows, most, first, end, emit);
}

/// Emits row tiles: full tiles, then a tile for the rest.
void MatMulEmitter::forEachRowTile(const Tile &tile, const TaskRange &range,
                                   RowTileFn body) {
  if (ShapedType::isDynamic(plan.rows))
    return forEachOpenRowTile(tile, range, body);
  if (!usesTiles(tile.product))
    return forEachEvenRowTile(tile, range, body);
  SmallVector<int64_t> sizes = {tile.rows};
  if (int64_t rest = plan.rows % tile.rows)
    sizes.push_back(rest);
  RowTiling(sizes).cutInTurn(
      b, range.firstRow, range.endRow, [&](int64_t size, Index row) {
        Tile part = tileOf(tile, size);
        Index number = b.div(b.sub(row, range.firstRow), plan.tile.rows);
        body(part, b.sub(row, part.done), number);
      });
}

void MatMulEmitter::emitColumns(const Tile &tile, ArrayRef<Index> batch,
                                Index columnTile, TaskRange range) {
  bool isBatched = plan.weights.outer.size() > 1;
  int64_t columns = plan.tile.vectors * plan.target.lanes;
  auto weightsOf = [&](Index panel, Index column) {
    SmallVector<Index> at;
    if (isBatched)
      at.append(batch.begin(), batch.end());
    at.append({op.getFormat().isBlocks() ? Index(0) : panel, 0, column});
    at.resize(weights.shape.size(), Index(0));
    return weights.at(b, at);
  };
  Index panel = b.div(columnTile, plan.tilesPerPanel);
  Index part = b.rem(columnTile, plan.tilesPerPanel);
  ColumnTile at{weightsOf(panel, b.mul(part, columns)),
                b.mul(columnTile, columns), batch};
  Index lanes = tile.lanes;
  if (plan.columns % (plan.tile.vectors * tile.lanes) != 0)
    lanes =
        b.min(b.sub(plan.columns - (tile.vectors - 1) * tile.lanes, at.first),
              tile.lanes);
  if (hasFunction(tile))
    // Passes the position as arguments, even if there is only one panel or one
    // task, so that several kernels can share the function.
    for (Index *number : {&panel, &part, &at.weightsAt, &at.first, &lanes,
                          &range.firstRow, &range.endRow})
      number->value = b.get(std::exchange(*number, Index()));

  if (op.getFormat().isBlocks())
    blocks.emplace(b, op, panel);
  if (tile.product == Product::int8Pairs) {
    if (!pairs)
      pairs.emplace(b, 1, 1, plan.weights.depth / plan.weights.group);
    Flat statements(b, op.getPairs());
    pairs->sort(b,
                {statements.data, statements.at(b, {panel, 0}),
                 b.mul(part, columns), columns},
                0);
  }
  int64_t groups = plan.weights.depth / plan.weights.group;
  if (tile.product == Product::int8Wide && !blocks &&
      !ShapedType::isDynamic(plan.rows) &&
      Int16Weights::pays(plan.target, groups, columns, rowsOfTask())) {
    if (!wide)
      wide.emplace(b, groups, columns);
    wide->fill(b, {tile, weights.data, at.weightsAt, plan.panel});
  }
  if (plan.depthBlock != 0)
    return emitBlocks(tile, at, range);
  if (!blocks && !widened &&
      WidenedWeights::pays(plan.target, tile, plan.weights.depth, rowsOfTask()))
    widened.emplace(b, fullTile(plan.target, plan.tile), plan.weights.depth);
  Tile used = tile;
  auto emitTiles = [&] {
    Index tiles = numTiles(range);
    forEachRowTile(used, range, [&](const Tile &tile, Index row, Index number) {
      // Prefetches only weights in memory: weights that are packed at run time
      // are in the cache.
      NextWeights next;
      if (!isBatched && plan.grid.prefetch)
        next = nextWeights(b, weights.data, weightsOf(b.add(panel, 1), 0),
                           plan.weights.depth * plan.panel,
                           b.add(b.mul(part, tiles), number),
                           b.mul(tiles, plan.tilesPerPanel));
      store(tile, sum(tile, at, row, number, next), at, row);
    });
  };
  auto emitRows = [&] {
    if (tellsLanes(tile))
      used.lastMask = maskOfFirst(b, tile.lanes, lanes);
    if (!takesPanels(tile))
      return emitTiles();
    Value isFew = b.compare(
        arith::CmpIPredicate::slt,
        b.sub(range.endRow, range.firstRow),
        canRepeatRows(tile) ? 2 : smallerTiles(tile).back());
    if (plan.columns % plan.panel != 0)
      isFew =
          b.both(isFew, b.compare(arith::CmpIPredicate::slt, panel,
                                  plan.columns / plan.panel));
    b.branch(
        isFew,
        [&] {
          // Multiplies the whole panel in the step of its first part, and
          // nothing in other steps. This is correct because a task has all
          // parts of a panel.
          b.branch(b.compare(arith::CmpIPredicate::eq, part, 0), [&] {
            ColumnTile whole{weightsOf(panel, 0), b.mul(panel, plan.panel),
                             batch};
            emitPanel(tile, whole, range);
          });
        },
        emitTiles);
  };
  if (hasFunction(tile))
    buildInFunction(b, op, emitRows);
  else
    emitRows();
}

void MatMulEmitter::emitBlocks(const Tile &tile, const ColumnTile &columns,
                               const TaskRange &range) {
  int64_t group = plan.weights.group;
  int64_t rowSize = plan.tile.vectors * tile.lanes;
  if (!waiting)
    waiting =
        createScratch(b, plan.grid.rowsPerTask * rowSize, sumType(b, tile));
  // Indexes the buffer by tile, because evenly split rows need not start where
  // the task's range starts.
  auto sumsAt = [&](Index number) {
    return b.mul(number, plan.tile.rows * rowSize);
  };
  Tile one = fullTile(plan.target, plan.tile).withRows(1);
  forEach(b, 0, plan.grid.rowsPerTask, 1, [&](Value row) {
    spill(b, one, zeroAccumulators(b, one), waiting,
          b.mul(Index(row), rowSize));
  });
  if (infoOf(tile.product).columns == ColumnForm::asFloats && !widened)
    widened.emplace(b, fullTile(plan.target, plan.tile), plan.depthBlock);
  auto addBlock = [&](Index from, int64_t size) {
    Index weightsAt = b.add(columns.weightsAt, b.mul(from, plan.panel));
    forEachRowTile(tile, range, [&](const Tile &tile, Index row,
                                    Index number) {
      SmallVector<Index> at(columns.batch);
      at.append({row, from});
      SrcRows rows(b, src.data, src.at(b, at),
                   src.strides[src.strides.size() - 2], tile.rows);
      Accumulators sums = sumWidened(
          {tile, weights.data, weightsAt, plan.panel}, number,
          [&](const TileWeights &used) {
            return multiplyAdd(b, used, rows, size,
                               reload(b, tile, waiting, sumsAt(number)));
          });
      spill(b, tile, sums, waiting, sumsAt(number));
    });
  };
  forEachBlock(b, src.shape.back(), plan.depthBlock * group, addBlock);
  forEachRowTile(tile, range, [&](const Tile &tile, Index row, Index number) {
    store(tile, reload(b, tile, waiting, sumsAt(number)), columns, row);
  });
}

/// Returns the number of row tiles of a task. If the last task has fewer,
/// returns the number of the first task.
Index MatMulEmitter::numTiles(const TaskRange &range) {
  if (ShapedType::isDynamic(plan.rows))
    return b.divideCeil(b.sub(range.endRow, range.firstRow),
                        plan.tile.rows);
  return llvm::divideCeil(std::min(plan.grid.rowsPerTask, plan.rows),
                          plan.tile.rows);
}

Accumulators MatMulEmitter::sum(const Tile &tile, const ColumnTile &columns,
                                Index row, std::optional<Index> number,
                                const NextWeights &next) {
  SmallVector<Index> at(columns.batch);
  at.append({row, 0});
  Index first = src.at(b, at), stride = src.strides[src.strides.size() - 2];
  TileWeights used{tile, weights.data, columns.weightsAt, plan.panel};
  if (blocks)
    return blocks->multiply(b, used, src.data, first, stride);
  if (infoOf(tile.product).rows == RowForm::asBits)
    return sumSigns(b, used,
                    {src, first, stride, op.getFormat().getSignChannels()});
  SrcRows rows(b, src.data, first, stride, tile.rows);
  if (tile.end) {
    Index last = b.mul(b.add(*tile.end, -1), stride);
    for (int64_t r = 1; r < tile.rows; ++r)
      rows.at[r] = b.add(first, b.min(b.mul(stride, r), last));
  }
  if (wide)
    return multiplyAddWhole(
        b, {tile, wide->words, 0, tile.vectors * tile.lanes / 2}, rows,
        src.shape.back(), zeroAccumulators(b, tile));
  if (pairs)
    used.lists = &*pairs;
  return sumWidened(used, number, [&](const TileWeights &used) {
    return multiplyAddWhole(b, used, rows, src.shape.back(),
                            zeroAccumulators(b, tile),
                            next.times(b, plan.panel / used.panel));
  });
}

void MatMulEmitter::store(const Tile &tile, const Accumulators &sums,
                          const ColumnTile &columns, Index row) {
  storeTile(b, tile, output, sums,
            [&](IndexBuilder &b, Index inTile) {
              SmallVector<Index> coordinates(columns.batch);
              coordinates.append({b.add(row, inTile), columns.first});
              return coordinates;
            });
}
