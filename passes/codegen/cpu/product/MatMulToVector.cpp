//===- MatMulToVector.cpp - cpu-matmul-to-vector --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for batch, block of rows, column tile: what it reads of src and weights stays
//   in the second-level cache
//   for row tile (its rows of src stay in the first-level cache)
//     for k: accumulators += src[row, k] * weights[k, column]
//     epilogue, store
//
// Where k is long, it goes by blocks instead, of which the weights of a column
// tile stay in the first-level cache for all rows of the task. Sums wait on the
// stack meanwhile.
//
// With blocks of weights k goes over those of the column tile's panel alone.
//
// With AMX a row tile that would be too small for its tiles starts earlier, and
// stores what is left.
//
//===----------------------------------------------------------------------===//
#include "passes/codegen/cpu/Passes.h"
#include "passes/codegen/cpu/amx/AmxTiles.h"
#include "passes/codegen/cpu/product/BlockProducts.h"
#include "passes/codegen/cpu/product/BytePairs.h"
#include "passes/codegen/cpu/product/Kernels.h"
#include "passes/codegen/cpu/product/SignProducts.h"
#include "passes/codegen/cpu/product/WidenedWeights.h"

#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"

namespace ingot {
#define GEN_PASS_DEF_MATMULTOVECTOR
#include "passes/codegen/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::codegen;

namespace {

/// A column tile of one product of a batch.
struct ColumnTile {
  /// Where its weights start, and its first column.
  Index weightsAt, first;
  ArrayRef<Index> batch;
};

/// Given the tile, its first row and its number in the task.
using RowTileFn =
    function_ref<void(const Tile &tile, Index row, Index number)>;

struct Emitter {
  Emitter(OpBuilder &builder, cpu::MatMulOp op)
      : b{builder, op.getLoc()}, op(op), plan(op), src(b, op.getSrc()),
        weights(b, op.getWeights()), output(b, op) {}

  void emit(Value task);
  Tile tileOf(const Tile &tile, int64_t count) const;
  void forEachRowTile(const Tile &tile, const TaskRange &range,
                      RowTileFn body);
  void forEachEvenRowTile(const Tile &tile, const TaskRange &range,
                          RowTileFn body);
  void forEachOpenRowTile(const Tile &tile, const TaskRange &range,
                          RowTileFn body);
  SmallVector<int64_t> smallerTiles(const Tile &tile);
  bool canRepeatRows(const Tile &tile);
  bool takesPanels(const Tile &tile);
  void emitPanel(const Tile &tile, const ColumnTile &panel,
                 const TaskRange &range);
  void emitColumns(const Tile &tile, ArrayRef<Index> batch, Index columnTile,
                   const TaskRange &range);
  Accumulators sum(const Tile &tile, const ColumnTile &columns, Index row,
                   std::optional<Index> number, const NextWeights &next);
  /// Of row tile `number` of its task: the first widens weights for the others.
  Accumulators sumWidened(const TileWeights &tile, std::optional<Index> number,
                          MultiplyFn multiply) {
    return widened && number ? widened->sum(b, tile, *number, multiply)
                             : multiply(tile);
  }
  void store(const Tile &tile, const Accumulators &sums,
             const ColumnTile &columns, Index row);
  void emitBlocks(const Tile &tile, const ColumnTile &columns,
                  const TaskRange &range);
  Index numTiles(const TaskRange &range);
  /// At most; open if those of a matrix are.
  int64_t rowsOfTask() const {
    return ShapedType::isDynamic(plan.rows)
               ? plan.rows
               : std::min(plan.rows, plan.grid.rowsPerTask);
  }

  IndexBuilder b;
  cpu::MatMulOp op;
  MatMulPlan plan;
  Flat src, weights;
  Output output;
  /// Sums between two blocks of k.
  Value waiting;
  std::optional<PanelBlocks> blocks;
  std::optional<PairLists> pairs;
  std::optional<WideWeights> wide;
  std::optional<WidenedWeights> widened;
};

struct MatMulToVectorPass
    : ingot::impl::MatMulToVectorBase<MatMulToVectorPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    MatMulToVectorBase::getDependentDialects(registry);
    registry.insert<amx::AMXDialect, LLVM::LLVMDialect,
                    x86vector::X86VectorDialect>();
  }

  void runOnOperation() override {
    if (failed(emitKernels<cpu::MatMulOp, Emitter>(getOperation())))
      signalPassFailure();
  }
};

} // namespace

void Emitter::emit(Value task) {
  forEachProductTile(b, task, op.getDst(), plan,
                     [&](const Tile &tile, ArrayRef<Index> batch,
                         Index columnTile, const TaskRange &range) {
                       emitColumns(tile, batch, columnTile, range);
                     });
}

/// The tile for `count` rows, at most as many as `tile` has.
Tile Emitter::tileOf(const Tile &tile, int64_t count) const {
  Tile part = tile.withRows(count);
  if (!usesTiles(tile.product) || count >= tile.amxRows)
    return part;
  if (ShapedType::isDynamic(plan.rows)) {
    part.product = productFor(plan.target, plan.weights.element,
                              plan.weights.group);
    return part;
  }
  // An AMX tile that ends with the last row, of which the first are done.
  part.rows = tile.amxRows;
  part.done = tile.amxRows - count;
  return part;
}

/// Row tiles of even sizes: no last one with a row or two, which would read all
/// weights for little. The first ones have a row more than the others.
void Emitter::forEachEvenRowTile(const Tile &tile, const TaskRange &range,
                                 RowTileFn body) {
  int64_t most = plan.tile.rows, tiles = llvm::divideCeil(plan.rows, most);
  int64_t size = plan.rows / tiles, larger = plan.rows % tiles;
  Index first = b.div(range.firstRow, most);
  Index end = b.div(b.add(range.endRow, most - 1), most);
  auto emit = [&](Index begin, Index end, int64_t size, int64_t before) {
    forEach(b, begin, end, 1, [&](Value number) {
      body(tile.withRows(size), b.add(b.mul(Index(number), size), before),
           b.sub(Index(number), first));
    });
  };
  if (larger != 0)
    emit(first, b.min(end, larger), size + 1, 0);
  emit(b.max(first, larger), end, size, larger);
}

/// Rows of the tiles that are for what full ones leave of open rows. Weights
/// from behind the second cache take as long to come as 14 rows of products: of
/// these, what is left are as few tiles as can be, however much of them is
/// computed once more.
SmallVector<int64_t> Emitter::smallerTiles(const Tile &tile) {
  constexpr int64_t kFewRows = 4;
  int64_t larger = std::max((tile.rows + 1) / 2,
                            std::min(tile.rows - 1, kFewRows));
  if (usesTiles(tile.product))
    larger = tile.amxRows;
  auto type = cast<ShapedType>(op.getWeights().getType());
  int64_t weightBytes =
      type.getNumElements() * nn::elementBytes(type.getElementType());
  if (canRepeatRows(tile) && plan.grid.prefetch &&
      weightBytes > 2 * plan.target.l2)
    return larger > kFewRows ? SmallVector<int64_t>{tile.rows, larger}
                             : SmallVector<int64_t>{tile.rows};
  SmallVector<int64_t> sizes;
  for (int64_t size : {larger, kFewRows})
    if (size > 1 && size < (sizes.empty() ? tile.rows : sizes.back()))
      sizes.push_back(size);
  return sizes;
}

/// Whether a tile may be higher than the matrix: what is multiplied as vectors
/// reads each row where it is told to.
bool Emitter::canRepeatRows(const Tile &tile) {
  return !usesTiles(tile.product) && tile.product != Product::signs &&
         !op.getBlocks() && plan.depthBlock == 0;
}

/// Whether fewer open rows than any tile has go through panels as a whole, each
/// of which is one stream then: with half a panel at a time, as tiles of short
/// vectors have it, a row took 1.6 times as long.
bool Emitter::takesPanels(const Tile &tile) {
  constexpr int64_t kMostVectors = 4;
  return ShapedType::isDynamic(plan.rows) && !tile.isPart() &&
         (tile.product == Product::f32 || tile.product == Product::f16Wide) &&
         plan.depthBlock == 0 && plan.tilesPerPanel > 1 &&
         plan.grid.columnTilesPerTask % plan.tilesPerPanel == 0 &&
         plan.panel <= kMostVectors * tile.lanes &&
         !smallerTiles(tile).empty();
}

/// Each row of the task alone.
void Emitter::emitPanel(const Tile &tile, const ColumnTile &panel,
                        const TaskRange &range) {
  Tile whole = tile.withRows(1);
  whole.vectors = plan.panel / tile.lanes;
  forEach(b, range.firstRow, range.endRow, 1, [&](Value row) {
    store(whole, sum(whole, panel, Index(row), std::nullopt, {}), panel,
          Index(row));
  });
}

/// Tiles of open rows: full ones, then those of a smaller size, of which the
/// last ends with the last row: rows before it are computed once more, since
/// all weights are read for a tile, however few rows it has. Fewer rows than
/// even the smallest tile has go one by one, if they come here at all.
void Emitter::forEachOpenRowTile(const Tile &tile, const TaskRange &range,
                                 RowTileFn body) {
  int64_t full = tile.rows;
  Index end = range.endRow;
  Index whole = b.div(b.sub(end, range.firstRow), full);
  Index row = b.add(range.firstRow, b.mul(whole, full));
  auto numberOf = [&](Index row) {
    return b.div(b.sub(row, range.firstRow), full);
  };
  forEach(b, range.firstRow, row, full, [&](Value at) {
    body(tileOf(tile, full), Index(at), numberOf(Index(at)));
  });
  SmallVector<int64_t> sizes = smallerTiles(tile);
  const bool areFewElsewhere =
      takesPanels(tile) && plan.columns % plan.panel == 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t size = sizes[i];
    Tile part = tileOf(tile, size);
    int64_t next = areFewElsewhere ? 0 : 1;
    if (i + 1 < sizes.size())
      next = sizes[i + 1];
    // As many tiles as leave no more than the next size takes.
    Index rest = b.max(b.add(b.sub(end, row), -next), 0);
    Index first = row;
    Index last =
        b.min(b.add(row, b.mul(b.divideCeil(rest, size), size)), end);
    bool takesFewer = canRepeatRows(part);
    if (!takesFewer)
      last = b.select(b.compare(arith::CmpIPredicate::sge, end, size), last,
                      row);
    forEach(b, first, last, size, [&](Value wanted) {
      Index at = b.min(Index(wanted), b.add(end, -size));
      Tile tile = part;
      if (takesFewer) {
        at = b.max(at, 0);
        tile = tile.withEnd(b.min(b.sub(end, at), size));
      }
      body(tile.withDone(b.sub(Index(wanted), at)), at,
           numberOf(first));
    });
    row = last;
  }
  if (areFewElsewhere)
    return;
  forEach(b, row, end, 1, [&](Value at) {
    body(tileOf(tile, 1), Index(at), numberOf(row));
  });
}

/// Row tiles: full ones, then what is left.
void Emitter::forEachRowTile(const Tile &tile, const TaskRange &range,
                             RowTileFn body) {
  if (ShapedType::isDynamic(plan.rows))
    return forEachOpenRowTile(tile, range, body);
  if (!usesTiles(tile.product))
    return forEachEvenRowTile(tile, range, body);
  SmallVector<int64_t> sizes = {tile.rows};
  if (int64_t rest = plan.rows % tile.rows)
    sizes.push_back(rest);
  Index row = range.firstRow;
  for (int64_t size : sizes) {
    // Rows up to here are in tiles of this size.
    Index whole = b.div(b.sub(range.endRow, row), size);
    Index end = size == sizes.back() ? range.endRow
                                     : b.add(row, b.mul(whole, size));
    Tile part = tileOf(tile, size);
    forEach(b, row, end, size, [&](Value at) {
      Index number = b.div(b.sub(Index(at), range.firstRow),
                           plan.tile.rows);
      body(part, b.sub(Index(at), part.done), number);
    });
    row = end;
  }
}

void Emitter::emitColumns(const Tile &tile, ArrayRef<Index> batch,
                          Index columnTile, const TaskRange &range) {
  bool isBatched = plan.weights.outer.size() > 1;
  int64_t columns = plan.tile.vectors * plan.target.lanes;
  auto weightsOf = [&](Index panel, Index column) {
    SmallVector<Index> at;
    if (isBatched)
      at.append(batch.begin(), batch.end());
    at.append({op.getBlocks() ? Index(0) : panel, 0, column});
    at.resize(weights.shape.size(), Index(0));
    return weights.at(b, at);
  };
  Index panel = b.div(columnTile, plan.tilesPerPanel);
  Index part = b.rem(columnTile, plan.tilesPerPanel);
  ColumnTile at{weightsOf(panel, b.mul(part, columns)),
                b.mul(columnTile, columns), batch};
  // LLVM would set up AMX's tiles anew in each function.
  const bool hasFunction =
      ShapedType::isDynamic(plan.rows) && !usesTiles(tile.product);
  if (hasFunction)
    // Also where there is one panel, as one of several.
    for (Index *number : {&panel, &part, &at.weightsAt, &at.first})
      number->value = b.get(std::exchange(*number, Index()));

  if (op.getBlocks())
    blocks.emplace(b, op, panel);
  if (tile.product == Product::int8Pairs) {
    if (!pairs)
      pairs.emplace(b, op, 1, 1, plan.weights.depth / plan.weights.group);
    Flat statements(b, op.getPairs());
    pairs->sort(b, statements.data, statements.at(b, {panel, 0}),
                b.mul(part, columns), columns, 0);
  }
  int64_t groups = plan.weights.depth / plan.weights.group;
  if (tile.product == Product::int8Wide && !blocks &&
      !ShapedType::isDynamic(plan.rows) &&
      WideWeights::pays(groups, columns, rowsOfTask())) {
    if (!wide)
      wide.emplace(b, op, groups, columns);
    wide->fill(b, tile, weights.data, at.weightsAt, plan.panel);
  }
  if (plan.depthBlock != 0)
    return emitBlocks(tile, at, range);
  if (!blocks && WidenedWeights::pays(tile, plan.weights.depth, rowsOfTask()) &&
      !widened)
    widened.emplace(b, op, fullTile(plan.target, plan.tile),
                    plan.weights.depth);
  auto emitTiles = [&] {
    Index tiles = numTiles(range);
    forEachRowTile(tile, range, [&](const Tile &tile, Index row,
                                    Index number) {
      // Weights that a run packs are in the cache.
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
          // A task takes all tiles of a panel.
          b.branch(b.compare(arith::CmpIPredicate::eq, part, 0), [&] {
            ColumnTile whole{weightsOf(panel, 0), b.mul(panel, plan.panel),
                             batch};
            emitPanel(tile, whole, range);
          });
        },
        emitTiles);
  };
  if (hasFunction)
    buildInFunction(b, op, emitRows);
  else
    emitRows();
}

void Emitter::emitBlocks(const Tile &tile, const ColumnTile &columns,
                         const TaskRange &range) {
  int64_t group = plan.weights.group;
  int64_t rowSize = plan.tile.vectors * tile.lanes;
  if (!waiting)
    waiting = createScratch(b, op, plan.grid.rowsPerTask * rowSize,
                            sumType(b, tile));
  // Rows that are split evenly are not where the task's range begins.
  auto sumsAt = [&](Index number) {
    return b.mul(number, plan.tile.rows * rowSize);
  };
  Tile one = fullTile(plan.target, plan.tile).withRows(1);
  forEach(b, 0, plan.grid.rowsPerTask, 1, [&](Value row) {
    spill(b, one, zeroAccumulators(b, one), waiting,
          b.mul(Index(row), rowSize));
  });
  if (tile.product == Product::f16Wide && !widened)
    widened.emplace(b, op, fullTile(plan.target, plan.tile), plan.depthBlock);
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
            return multiplyAdd(b, used.tile, rows, used.data, used.at,
                               used.panel, size,
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

/// Row tiles of a task, or of the first where the last has fewer.
Index Emitter::numTiles(const TaskRange &range) {
  if (ShapedType::isDynamic(plan.rows))
    return b.divideCeil(b.sub(range.endRow, range.firstRow),
                        plan.tile.rows);
  return llvm::divideCeil(std::min(plan.grid.rowsPerTask, plan.rows),
                          plan.tile.rows);
}

Accumulators Emitter::sum(const Tile &tile, const ColumnTile &columns,
                          Index row, std::optional<Index> number,
                          const NextWeights &next) {
  SmallVector<Index> at(columns.batch);
  at.append({row, 0});
  Index first = src.at(b, at), stride = src.strides[src.strides.size() - 2];
  if (blocks)
    return blocks->multiply(b, tile, src, first, stride, weights.data,
                            columns.weightsAt);
  if (usesTiles(tile.product))
    return multiplyAddAmx(b, tile, SrcRows(b, src.data, first, stride, 1),
                          weights.data, columns.weightsAt, plan.panel,
                          src.shape.back(), zeroAccumulators(b, tile), op);
  if (tile.product == Product::signs)
    return sumSigns(b, tile, *op.getSignChannels(), src, first, stride,
                    weights.data, columns.weightsAt, plan.panel);
  SrcRows rows(b, src.data, first, stride, tile.rows);
  if (tile.end) {
    Index last = b.mul(b.add(*tile.end, -1), stride);
    for (int64_t r = 1; r < tile.rows; ++r)
      rows.at[r] = b.add(first, b.min(b.mul(stride, r), last));
  }
  if (wide)
    return multiplyAddWhole(b, tile, rows, wide->words, 0,
                            tile.vectors * tile.lanes / 2, src.shape.back(),
                            zeroAccumulators(b, tile), op);
  if (tile.product == Product::int8Pairs)
    return multiplyAddPairs(b, tile, rows, weights.data, columns.weightsAt,
                            plan.panel, *pairs, 0, zeroAccumulators(b, tile));
  return sumWidened(
      {tile, weights.data, columns.weightsAt, plan.panel}, number,
      [&](const TileWeights &used) {
        return multiplyAddWhole(b, used.tile, rows, used.data, used.at,
                                used.panel, src.shape.back(),
                                zeroAccumulators(b, tile), op,
                                next.times(b, plan.panel / used.panel));
      });
}

void Emitter::store(const Tile &tile, const Accumulators &sums,
                    const ColumnTile &columns, Index row) {
  storeTile(b, tile, output, sums,
            [&](IndexBuilder &b, Index inTile) {
              SmallVector<Index> coordinates(columns.batch);
              coordinates.append({b.add(row, inTile), columns.first});
              return coordinates;
            });
}
