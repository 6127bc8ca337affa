//===- WinogradEmitter.cpp - code of Winograd convolutions ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/winograd/WinogradEmitter.h"

#include "passes/cpu/schedule/CountTasks.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

WinogradEmitter::WinogradEmitter(OpBuilder &builder,
                                 kernel::EpilogueOpInterface op,
                                 const WinogradPlan &plan, const Pixels &of)
    : b{builder, op.getLoc()}, op(op), plan(plan), src(b, of.src),
      output(b, op), points(plan.transform.points()),
      outputs(plan.transform.outputs()),
      pitch(cpu::Winograd::pitch(of.elements)), pads(of.pads),
      elements(of.elements),
      keptType(VectorType::get({plan.target.lanes}, of.kept)) {
  Value dst = cast<DestinationStyleOpInterface>(*op).getDpsInits()[0];
  images = dimOf(b, dst, 0);
  for (int64_t d : {0, 1}) {
    srcSizes[d] = dimOf(b, of.src, 1 + d);
    dstSizes[d] = dimOf(b, dst, 1 + d);
    tileCounts[d] = countWinogradTiles(b, dst, d, outputs);
  }
  int64_t positions = plan.transform.positions(), columns = tileColumns();
  auto atPoints = [&](int64_t row) {
    int64_t distance = cpu::Winograd::distance(plan.blockRows * row);
    return createScratch(b, positions * distance, of.kept);
  };
  pixels = atPoints(pitch);
  sums = atPoints(columns);
  lines = createScratch(b, (points + 1) * outputs * columns, of.kept);
}

Value WinogradEmitter::load(Value data, Index at) {
  return vector::LoadOp::create(b.b, b.loc, keptType, data, b.get(at));
}

void WinogradEmitter::store(Value vector, Value data, Index at) {
  vector::StoreOp::create(b.b, b.loc, vector, data, b.get(at));
}

void WinogradEmitter::forEachKept(function_ref<void(Index at)> body) {
  int64_t lanes = plan.target.lanes;
  forEach(b, 0, int64_t(llvm::alignTo(elements, lanes)), lanes,
          [&](Value at) { body(Index(at)); });
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

void WinogradEmitter::emit(Value task) {
  padding = makePadding();
  Index rows = b.mul(images, b.mul(tileCounts[0], tileCounts[1]));
  TaskRange range = rangeOf(b, task, plan.grid, rows, plan.tiles);
  int64_t height = plan.tile.rows;
  forEach(b, range.firstRow, range.endRow, plan.blockRows, [&](Value begin) {
    Index first(begin);
    Index count =
        b.min(b.sub(range.endRow, first), plan.blockRows);
    Index rowTiles = b.divideCeil(count, height);
    // Repeats the last tile to fill the last register tile.
    forEach(b, 0, b.mul(rowTiles, height), 1, [&](Value row) {
      transformPixels(b.add(first, b.min(Index(row), b.add(count, -1))),
                      Index(row));
    });
    forEachColumnTile(
        b, {range.firstTile, range.endTile, plan.tiles},
        fullTile(plan.target, plan.tile),
        lastTile(plan.target, plan.tile, output.dst.shape.back()),
        [&](Value columnTile, const Tile &tile) {
          multiply(tile, Index(columnTile), rowTiles);
          forEach(b, 0, count, 1, [&](Value row) {
            transformSums(tile, b.add(first, Index(row)), Index(row),
                          b.mul(Index(columnTile), tileColumns()));
          });
        });
  });
}

WinogradEmitter::Position WinogradEmitter::positionOf(Index number) {
  Index x = b.rem(number, tileCounts[1]);
  Index line = b.div(number, tileCounts[1]);
  Index y = b.rem(line, tileCounts[0]);
  return {b.div(line, tileCounts[0]), b.mul(y, outputs), b.mul(x, outputs)};
}

//===----------------------------------------------------------------------===//
// Transforms of a line
//===----------------------------------------------------------------------===//

/// Returns x + y or x - y, of floats or of integers modulo their width.
static Value addOrSub(IndexBuilder &b, bool isSum, Value x, Value y) {
  if (isSum)
    return addSums(b, x, y);
  if (getElementTypeOrSelf(x).isInteger())
    return arith::SubIOp::create(b.b, b.loc, x, y);
  return arith::SubFOp::create(b.b, b.loc, x, y);
}

/// Returns sum + value * number; `sum` may be null.
static Value addTerm(IndexBuilder &b, bool hasFMA, Value sum, Value value,
                     double number) {
  if (!sum && number == 1)
    return value;
  if (sum && std::abs(number) == 1)
    return addOrSub(b, number > 0, sum, value);
  auto type = cast<VectorType>(value.getType());
  if (type.getElementType().isInteger()) {
    Value factor = splatInt(b, type, int64_t(sum ? std::abs(number) : number));
    Value product = arith::MulIOp::create(b.b, b.loc, value, factor);
    return sum ? addOrSub(b, number > 0, sum, product) : product;
  }
  Value factor = arith::ConstantOp::create(
      b.b, b.loc, DenseElementsAttr::get(type, float(number)));
  return sum ? multiplyAddVectors(b, hasFMA, value, factor, sum)
             : arith::MulFOp::create(b.b, b.loc, value, factor).getResult();
}

Value WinogradEmitter::combine(ArrayRef<Value> values,
                               function_ref<double(int64_t)> factor) {
  SmallVector<std::pair<Value, double>> terms;
  for (auto [i, value] : llvm::enumerate(values))
    if (double number = factor(i))
      terms.push_back({value, number});
  assert(!terms.empty() && "each point has data, each output products");
  // Moves a term with factor 1 to the front, because it needs no
  // multiplication.
  auto plain =
      llvm::find_if(terms, [](const auto &term) { return term.second == 1; });
  if (plain != terms.end())
    std::swap(*plain, terms.front());
  Value sum;
  for (auto [value, number] : terms)
    sum = addTerm(b, plan.target.hasFMA, sum, value, number);
  return sum;
}

SmallVector<Value> WinogradEmitter::toPoints(
    ArrayRef<Value> values, function_ref<double(int64_t, int64_t)> factor) {
  auto at = [&](int64_t point, std::optional<int64_t> parity) {
    return combine(values, [&](int64_t k) {
      return parity && k % 2 != *parity ? 0 : factor(point, k);
    });
  };
  SmallVector<Value> result{at(0, std::nullopt)};
  for (int64_t point = 1; point < points - 1; point += 2) {
    Value even = at(point, 0), odd = at(point, 1);
    result.push_back(addOrSub(b, true, even, odd));
    result.push_back(addOrSub(b, false, even, odd));
  }
  result.push_back(at(points - 1, std::nullopt));
  return result;
}

SmallVector<Value> WinogradEmitter::ofData(ArrayRef<Value> data) {
  return toPoints(data, [&](int64_t point, int64_t k) {
    return plan.transform.data(point, k);
  });
}

SmallVector<Value> WinogradEmitter::ofProducts(ArrayRef<Value> products) {
  const cpu::Winograd &transform = plan.transform;
  // Combines each pair of points: their sum contributes to even outputs, their
  // difference to odd outputs.
  SmallVector<Value> folded(products);
  for (int64_t point = 1; point < points - 1; point += 2) {
    for (int64_t i : {0, 1})
      folded[point + i] =
          addOrSub(b, i == 0, products[point], products[point + 1]);
  }
  SmallVector<Value> result;
  for (int64_t i = 0; i < outputs; ++i)
    result.push_back(combine(folded, [&](int64_t point) {
      bool isPair = point > 0 && point < points - 1;
      if (!isPair)
        return transform.output(i, point);
      // Uses the sum of a pair at its first point, and the difference at its
      // second point.
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

void WinogradEmitter::transformPixels(Index number, Index row) {
  Position at = positionOf(number);
  forEach(b, 0, points, 1, [&](Value column) {
    transformColumn(at, row, Index(column));
  });
  forEach(b, 0, points, 1,
          [&](Value line) { transformRow(row, Index(line)); });
}

/// Transforms column `column` of the pixels that a tile reads, into points of
/// its rows.
void WinogradEmitter::transformColumn(const Position &at, Index row,
                                      Index column) {
  Index x = b.add(b.add(at.x, column), -pads[1]);
  Index y = b.add(at.y, -pads[0]);
  // Checks both ends with one unsigned comparison: a coordinate before src is a
  // large unsigned number.
  Value isInside =
      b.compare(arith::CmpIPredicate::ult, x, srcSizes[1]);
  auto to = [&](int64_t point, Index element) {
    return b.add(pixelsAt(b.add(column, point * points), row), element);
  };
  auto readPixels = [&] {
    SmallVector<Value> dataOf;
    SmallVector<Index> from;
    Value outside =
        memref::CastOp::create(b.b, b.loc, src.data.getType(), padding);
    for (int64_t k = 0; k < points; ++k) {
      Index line = b.add(y, k);
      Value within =
          b.compare(arith::CmpIPredicate::ult, line, srcSizes[0]);
      dataOf.push_back(arith::SelectOp::create(b.b, b.loc, within, src.data,
                                               outside));
      from.push_back(b.select(within, src.at(b, {at.image, line, x, 0}), 0));
    }
    forEachLoad([&](LoadFn load) {
      SmallVector<SmallVector<ChannelSlice>> loaded;
      for (auto [memref, first] : llvm::zip_equal(dataOf, from))
        loaded.push_back(load(memref, first));
      for (size_t part = 0; part < loaded[0].size(); ++part) {
        SmallVector<Value> data;
        for (const auto &pixel : loaded)
          data.push_back(pixel[part].vector);
        for (auto [point, value] : llvm::enumerate(ofData(data)))
          store(pack(value), pixels, to(point, loaded[0][part].to));
      }
    });
  };
  auto clear = [&] {
    Value zero =
        arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(keptType));
    forEachKept([&](Index element) {
      for (int64_t point = 0; point < points; ++point)
        store(zero, pixels, to(point, element));
    });
  };
  b.branch(isInside, readPixels, clear);
}

/// Transforms line `line` of the results of the columns, in place.
void WinogradEmitter::transformRow(Index row, Index line) {
  SmallVector<Index> at;
  for (int64_t k = 0; k < points; ++k)
    at.push_back(pixelsAt(b.add(b.mul(line, points), k), row));
  forEachKept([&](Index element) {
    SmallVector<Value> data;
    for (Index first : at)
      data.push_back(unpack(load(pixels, b.add(first, element))));
    for (auto [first, value] : llvm::zip_equal(at, ofData(data)))
      store(pack(value), pixels, b.add(first, element));
  });
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

Accumulators WinogradEmitter::loadSums(const Tile &tile, Index point,
                                       Index row) {
  int64_t columns = tileColumns();
  Accumulators products;
  for (int64_t r = 0; r < tile.rows; ++r)
    for (int64_t v = 0; v < tile.vectors; ++v)
      products.push_back(load(
          sums, b.add(sumsAt(point, b.add(row, r), columns), v * tile.lanes)));
  return products;
}

void WinogradEmitter::storeSums(const Tile &tile, Index point, Index row,
                                const Accumulators &products) {
  int64_t columns = tileColumns();
  for (int64_t r = 0; r < tile.rows; ++r)
    for (int64_t v = 0; v < tile.vectors; ++v)
      store(products[r * tile.vectors + v], sums,
            b.add(sumsAt(point, b.add(row, r), columns), v * tile.lanes));
}

void WinogradEmitter::transformSums(const Tile &tile, Index number, Index row,
                                    Index column) {
  int64_t columns = tileColumns();
  Position at = positionOf(number);
  auto lineAt = [&](Index line, Index point, int64_t v) {
    return b.add(b.mul(b.add(b.mul(line, points), point), columns),
                 v * tile.lanes);
  };
  // Transforms the columns of points first, then the rows of pixels.
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
  // Limits a tile at the border to the pixels that exist.
  Index height = b.min(b.sub(dstSizes[0], at.y), outputs);
  Index width = b.min(b.sub(dstSizes[1], at.x), outputs);
  Tile pixel = tile.withRows(1);
  forEach(b, 0, height, 1, [&](Value line) {
    Index done = outputs * points * columns;
    for (int64_t v = 0; v < tile.vectors; ++v) {
      SmallVector<Value> products;
      for (int64_t x = 0; x < points; ++x)
        products.push_back(load(lines, lineAt(Index(line), x, v)));
      for (auto [x, value] : llvm::enumerate(ofProducts(products)))
        store(finish(value), lines,
              b.add(done, int64_t(x) * columns + v * tile.lanes));
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
