//===- WinogradToVector.cpp - cpu-winograd-to-vector ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for block of tiles of m x m pixels
//   for tile, point: transform the pixels that it reads, all channels
//   for column tile (its transformed weights go through the caches once)
//     for point, row tile of the block
//       for k over channels:
//         sums[point, tile] += transformed[point, tile, k] * weights[k, column]
//     for tile: transform the sums into m x m pixels, epilogue, store
//
// Both transforms go through columns of a tile first and through its rows then,
// over vectors of channels. Transformed pixels of a block and the sums of a
// column tile are on the stack, where the second-level cache keeps them.
//
//===----------------------------------------------------------------------===//
#include "passes/codegen/cpu/Passes.h"
#include "passes/codegen/cpu/product/Kernels.h"
#include "passes/codegen/cpu/schedule/CountTasks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

namespace ingot {
#define GEN_PASS_DEF_WINOGRADTOVECTOR
#include "passes/codegen/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::codegen;

namespace {

struct Emitter {
  Emitter(OpBuilder &builder, cpu::WinogradConvOp op);

  void emit(Value task);

private:
  /// Where tile `number` is: its image, and its first pixel of dst.
  struct Position {
    Index image, y, x;
  };
  Position positionOf(Index number);

  /// Transforms what tile `number` reads, for row `row` of the block.
  void transformPixels(Index number, Index row);
  void transformColumn(const Position &at, Index row, Index column);
  void transformRow(Index row, Index line);
  /// For all vectors of channels; the last tile may have fewer lanes.
  void forEachVector(function_ref<void(Index channel, const Tile &tile)> body);

  void multiply(const Tile &tile, Index columnTile, Index rowTiles);
  /// Transforms the sums of row `row` of the block, tile `number`, and stores
  /// its pixels.
  void transformSums(const Tile &tile, Index number, Index row, Index column);

  /// The transforms of a line.
  SmallVector<Value> ofData(ArrayRef<Value> data);
  SmallVector<Value> ofProducts(ArrayRef<Value> products);
  /// The sum of `values`, each times `factor` of its number.
  Value combine(ArrayRef<Value> values,
                function_ref<double(int64_t)> factor);

  Value load(Value data, Index at) {
    return vector::LoadOp::create(b.b, b.loc, vectorType, data, b.get(at));
  }
  void store(Value vector, Value data, Index at) {
    vector::StoreOp::create(b.b, b.loc, vector, data, b.get(at));
  }
  /// Where `point` of a row of the block is.
  Index pixelsAt(Index point, Index row) {
    return b.mul(b.add(b.mul(point, plan.blockRows), row), pitch);
  }
  Index sumsAt(Index point, Index row, int64_t columns) {
    return b.mul(b.add(b.mul(point, plan.blockRows + 1), row), columns);
  }

  IndexBuilder b;
  cpu::WinogradConvOp op;
  WinogradPlan plan;
  Flat src, weights;
  Output output;
  int64_t channels, points, outputs;
  /// Elements between two rows of transformed pixels.
  int64_t pitch;
  VectorType vectorType;
  Index srcSizes[2], dstSizes[2], tileCounts[2];
  /// Transformed pixels, a pixel in the padding; sums, and half of their
  /// transform.
  Value pixels, zeros, sums, lines;
};

struct WinogradToVectorPass
    : ingot::impl::WinogradToVectorBase<WinogradToVectorPass> {
  void runOnOperation() override {
    if (failed(emitKernels<cpu::WinogradConvOp, Emitter>(getOperation())))
      signalPassFailure();
  }
};

} // namespace

Emitter::Emitter(OpBuilder &builder, cpu::WinogradConvOp op)
    : b{builder, op.getLoc()}, op(op), plan(op), src(b, op.getSrc()),
      weights(b, op.getWeights()), output(b, op), channels(plan.weights.depth),
      points(plan.transform.points()), outputs(plan.transform.outputs()),
      pitch(cpu::Winograd::pitch(channels)),
      vectorType(VectorType::get({plan.target.lanes}, b.b.getF32Type())) {
  for (int64_t d : {0, 1}) {
    srcSizes[d] = dimOf(b, op.getSrc(), 1 + d);
    dstSizes[d] = dimOf(b, op.getDst(), 1 + d);
    tileCounts[d] = countWinogradTiles(b, op.getDst(), d, plan.transform);
  }
  int64_t positions = plan.transform.positions();
  int64_t columns = plan.tile.vectors * plan.target.lanes;
  Type f32 = b.b.getF32Type();
  pixels = createScratch(b, op, positions * plan.blockRows * pitch, f32);
  sums = createScratch(b, op, positions * (plan.blockRows + 1) * columns, f32);
  lines = createScratch(b, op, (points + 1) * outputs * columns, f32);
  zeros = createScratch(b, op, pitch, f32);
}

void Emitter::forEachVector(
    function_ref<void(Index channel, const Tile &tile)> body) {
  int64_t lanes = plan.target.lanes, rest = channels % lanes;
  Tile tile = fullTile(plan.target, {1, 1});
  forEach(b, 0, channels - rest, lanes,
          [&](Value channel) { body(Index(channel), tile); });
  if (rest == 0)
    return;
  tile.lastLanes = rest;
  body(channels - rest, tile);
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

void Emitter::emit(Value task) {
  Value zero =
      arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(vectorType));
  forEach(b, 0, pitch, plan.target.lanes,
          [&](Value at) { store(zero, zeros, Index(at)); });
  Index rows = b.mul(dimOf(b, op.getDst(), 0),
                     b.mul(tileCounts[0], tileCounts[1]));
  TaskRange range = rangeOf(b, task, plan.grid, rows, plan.tiles);
  int64_t height = plan.tile.rows;
  forEach(b, range.firstRow, range.endRow, plan.blockRows, [&](Value begin) {
    Index first(begin);
    Index count =
        b.min(b.add(range.endRow, b.mul(first, -1)), plan.blockRows);
    Index rowTiles = b.divideCeil(count, height);
    // The last register tile is full: of tiles that are there already.
    forEach(b, 0, b.mul(rowTiles, height), 1, [&](Value row) {
      transformPixels(b.add(first, b.min(Index(row), b.add(count, -1))),
                      Index(row));
    });
    forEachColumnTile(
        b, range.firstTile, range.endTile, plan.tiles,
        fullTile(plan.target, plan.tile),
        lastTile(plan.target, plan.tile, output.dst.shape.back()),
        [&](Value columnTile, const Tile &tile) {
          multiply(tile, Index(columnTile), rowTiles);
          int64_t columns = plan.tile.vectors * plan.target.lanes;
          forEach(b, 0, count, 1, [&](Value row) {
            transformSums(tile, b.add(first, Index(row)), Index(row),
                          b.mul(Index(columnTile), columns));
          });
        });
  });
}

Emitter::Position Emitter::positionOf(Index number) {
  Index x = b.rem(number, tileCounts[1]);
  Index line = b.div(number, tileCounts[1]);
  Index y = b.rem(line, tileCounts[0]);
  return {b.div(line, tileCounts[0]), b.mul(y, outputs), b.mul(x, outputs)};
}

//===----------------------------------------------------------------------===//
// Transforms of a line
//===----------------------------------------------------------------------===//

Value Emitter::combine(ArrayRef<Value> values,
                       function_ref<double(int64_t)> factor) {
  Tile tile = fullTile(plan.target, plan.tile);
  SmallVector<std::pair<Value, double>> terms;
  for (auto [i, value] : llvm::enumerate(values))
    if (double number = factor(i))
      terms.push_back({value, number});
  assert(!terms.empty() && "each point has data, each output products");
  // One that is there as it is comes first.
  auto plain =
      llvm::find_if(terms, [](const auto &term) { return term.second == 1; });
  if (plain != terms.end())
    std::swap(*plain, terms.front());
  Value sum;
  for (auto [value, number] : terms) {
    if (!sum && number == 1) {
      sum = value;
    } else if (sum && number == 1) {
      sum = arith::AddFOp::create(b.b, b.loc, sum, value);
    } else if (sum && number == -1) {
      sum = arith::SubFOp::create(b.b, b.loc, sum, value);
    } else {
      Value constant = arith::ConstantOp::create(
          b.b, b.loc, DenseElementsAttr::get(vectorType, float(number)));
      sum = sum ? multiplyAddVectors(b, tile.hasFMA, value, constant, sum)
                : arith::MulFOp::create(b.b, b.loc, value, constant)
                      .getResult();
    }
  }
  return sum;
}

SmallVector<Value> Emitter::ofData(ArrayRef<Value> data) {
  const cpu::Winograd &transform = plan.transform;
  auto at = [&](int64_t point, std::optional<int64_t> parity) {
    return combine(data, [&](int64_t k) {
      return parity && k % 2 != *parity ? 0 : transform.data(point, k);
    });
  };
  SmallVector<Value> result{at(0, std::nullopt)};
  for (int64_t point = 1; point < points - 1; point += 2) {
    Value even = at(point, 0), odd = at(point, 1);
    result.push_back(arith::AddFOp::create(b.b, b.loc, even, odd));
    result.push_back(arith::SubFOp::create(b.b, b.loc, even, odd));
  }
  result.push_back(at(points - 1, std::nullopt));
  return result;
}

SmallVector<Value> Emitter::ofProducts(ArrayRef<Value> products) {
  const cpu::Winograd &transform = plan.transform;
  // Of pairs, sums go into even outputs, and differences into odd ones.
  SmallVector<Value> folded(products);
  for (int64_t point = 1; point < points - 1; point += 2) {
    folded[point] = arith::AddFOp::create(b.b, b.loc, products[point],
                                          products[point + 1]);
    folded[point + 1] = arith::SubFOp::create(b.b, b.loc, products[point],
                                              products[point + 1]);
  }
  SmallVector<Value> result;
  for (int64_t i = 0; i < outputs; ++i)
    result.push_back(combine(folded, [&](int64_t point) {
      bool isPair = point > 0 && point < points - 1;
      if (!isPair)
        return transform.output(i, point);
      // What stands for the even outputs is at the first of a pair.
      bool isEven = point % 2 != 0;
      if (isEven != (i % 2 == 0))
        return 0.0;
      return transform.output(i, isEven ? point : point - 1);
    }));
  return result;
}

//===----------------------------------------------------------------------===//
// Pixels
//===----------------------------------------------------------------------===//

void Emitter::transformPixels(Index number, Index row) {
  Position at = positionOf(number);
  forEach(b, 0, points, 1, [&](Value column) {
    transformColumn(at, row, Index(column));
  });
  forEach(b, 0, points, 1,
          [&](Value line) { transformRow(row, Index(line)); });
}

/// Column `column` of the pixels that a tile reads, points of its rows.
void Emitter::transformColumn(const Position &at, Index row, Index column) {
  Index x = b.add(b.add(at.x, column), -op.getPads()[1]);
  Index y = b.add(at.y, -op.getPads()[0]);
  // What is before src is a large unsigned number.
  Value isInside =
      b.compare(arith::CmpIPredicate::ult, x, srcSizes[1]);
  auto to = [&](int64_t point, Index channel) {
    return b.add(pixelsAt(b.add(column, point * points), row), channel);
  };
  auto readPixels = [&] {
    SmallVector<Value> dataOf;
    SmallVector<Index> from;
    Value padding =
        memref::CastOp::create(b.b, b.loc, src.data.getType(), zeros);
    for (int64_t k = 0; k < points; ++k) {
      Index line = b.add(y, k);
      Value within =
          b.compare(arith::CmpIPredicate::ult, line, srcSizes[0]);
      dataOf.push_back(arith::SelectOp::create(b.b, b.loc, within, src.data,
                                               padding));
      from.push_back(b.select(within, src.at(b, {at.image, line, x, 0}), 0));
    }
    forEachVector([&](Index channel, const Tile &tile) {
      SmallVector<Value> data;
      for (auto [memref, first] : llvm::zip_equal(dataOf, from))
        data.push_back(loadPart(b, tile, memref, b.add(first, channel)));
      for (auto [point, value] : llvm::enumerate(ofData(data)))
        store(value, pixels, to(point, channel));
    });
  };
  auto clear = [&] {
    Value zero =
        arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(vectorType));
    forEachVector([&](Index channel, const Tile &) {
      for (int64_t point = 0; point < points; ++point)
        store(zero, pixels, to(point, channel));
    });
  };
  b.branch(isInside, readPixels, clear);
}

/// Line `line` of what columns left, in place.
void Emitter::transformRow(Index row, Index line) {
  SmallVector<Index> at;
  for (int64_t k = 0; k < points; ++k)
    at.push_back(pixelsAt(b.add(b.mul(line, points), k), row));
  forEachVector([&](Index channel, const Tile &) {
    SmallVector<Value> data;
    for (Index first : at)
      data.push_back(load(pixels, b.add(first, channel)));
    for (auto [first, value] : llvm::zip_equal(at, ofData(data)))
      store(value, pixels, b.add(first, channel));
  });
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void Emitter::multiply(const Tile &tile, Index columnTile, Index rowTiles) {
  int64_t columns = plan.tile.vectors * plan.target.lanes;
  Index panel = b.div(columnTile, plan.tilesPerPanel);
  Index column = b.mul(b.rem(columnTile, plan.tilesPerPanel), columns);
  forEach(b, 0, plan.transform.positions(), 1, [&](Value point) {
    Index weightsAt = weights.at(b, {panel, Index(point), 0, column});
    forEach(b, 0, rowTiles, 1, [&](Value number) {
      Index row = b.mul(Index(number), tile.rows);
      SrcRows rows(b, pixels, pixelsAt(Index(point), row), pitch, tile.rows);
      Accumulators products =
          multiplyAdd(b, tile, rows, weights.data, weightsAt, plan.panel,
                      channels, zeroAccumulators(b, tile));
      for (int64_t r = 0; r < tile.rows; ++r)
        for (int64_t v = 0; v < tile.vectors; ++v)
          store(products[r * tile.vectors + v], sums,
                b.add(sumsAt(Index(point), b.add(row, r), columns),
                      v * tile.lanes));
    });
  });
}

void Emitter::transformSums(const Tile &tile, Index number, Index row,
                            Index column) {
  int64_t columns = plan.tile.vectors * plan.target.lanes;
  Position at = positionOf(number);
  auto lineAt = [&](Index line, Index point, int64_t v) {
    return b.add(b.mul(b.add(b.mul(line, points), point), columns),
                 v * tile.lanes);
  };
  // Columns of points, rows of pixels.
  forEach(b, 0, points, 1, [&](Value x) {
    for (int64_t v = 0; v < tile.vectors; ++v) {
      SmallVector<Value> products;
      for (int64_t y = 0; y < points; ++y)
        products.push_back(
            load(sums, b.add(sumsAt(b.add(Index(x), y * points), row, columns),
                             v * tile.lanes)));
      for (auto [line, value] : llvm::enumerate(ofProducts(products)))
        store(value, lines, lineAt(int64_t(line), Index(x), v));
    }
  });
  // Only some of a tile at the border are pixels.
  Index height = b.min(b.add(dstSizes[0], b.mul(at.y, -1)), outputs);
  Index width = b.min(b.add(dstSizes[1], b.mul(at.x, -1)), outputs);
  Tile pixel = tile.withRows(1);
  forEach(b, 0, height, 1, [&](Value line) {
    Index done = outputs * points * columns;
    for (int64_t v = 0; v < tile.vectors; ++v) {
      SmallVector<Value> products;
      for (int64_t x = 0; x < points; ++x)
        products.push_back(load(lines, lineAt(Index(line), x, v)));
      for (auto [x, value] : llvm::enumerate(ofProducts(products)))
        store(value, lines, b.add(done, int64_t(x) * columns + v * tile.lanes));
    }
    forEach(b, 0, width, 1, [&](Value x) {
      storeTile(b, pixel, output,
                reload(b, pixel, lines, b.add(done, b.mul(Index(x), columns))),
                [&](IndexBuilder &b, Index) {
                  return SmallVector<Index>{at.image,
                                            b.add(at.y, Index(line)),
                                            b.add(at.x, Index(x)), column};
                });
    });
  });
}
