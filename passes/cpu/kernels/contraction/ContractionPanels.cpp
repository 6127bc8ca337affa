//===- ContractionPanels.cpp - products by packed panels ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/contraction/ContractionPanels.h"
#include "passes/cpu/kernels/rows/Transposes.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/cpu/products/PairProducts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

/// Packs columns [begin, end) of a panel one by one, beginning with row
/// `firstRow` of the block.
void ContractionPanels::packOneByOne(const PanelSlice &part, Index begin,
                                     Index end, Index firstRow) {
  auto packFrom = [&](Value c, Index first, Index last, int64_t count) {
    forEach(b, first, last, 1, [&](Value i) {
      auto load = [&](int64_t next) -> Value {
        return memref::LoadOp::create(
            b.b, b.loc, op->getOperand(1),
            all.at(1, 0, b.add(part.k, b.add(b.mul(Index(i), step), next)),
                   b.add(part.column, Index(c))));
      };
      Value low = load(0);
      Value factor = step == 1
                         ? all.widen(1, low)
                         : all.joinWords(low, count == 1 ? Value() : load(1));
      memref::StoreOp::create(
          b.b, b.loc, factor, panel,
          b.get(b.add(part.at, b.add(b.mul(Index(i), width), Index(c)))));
    });
  };
  forEach(b, begin, end, 1, [&](Value c) {
    Index whole = b.div(part.depth, step);
    packFrom(c, firstRow, whole, step);
    if (step != 1)
      packFrom(c, whole, b.divideCeil(part.depth, step), 1);
  });
}

/// Packs a right factor that is stored transposed. Transposes squares, and
/// copies the remaining elements one by one. Also packs partial panels of int8
/// and int16, which have no masked loads.
void ContractionPanels::packTransposed(const PanelSlice &part) {
  int64_t square = squareOf(target);
  bool hasSquares = element.isF32() && all.isTransposed();
  Index columns = b.min(part.columns, width);
  b.branch(b.compare(arith::CmpIPredicate::slt, columns, width), [&] {
    auto type = VectorType::get({lanes}, element);
    Value zero = arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(type));
    forEach(b, 0, b.mul(part.depth, width), lanes, [&](Value i) {
      vector::StoreOp::create(b.b, b.loc, zero, panel,
                              b.get(b.add(part.at, Index(i))));
    });
  });
  Index whole = hasSquares ? b.mul(b.div(columns, square), square) : Index(0);
  Index wholeRows = b.mul(b.div(part.depth, square), square);
  forEach(b, 0, whole, square, [&](Value c) {
    forEach(b, 0, wholeRows, square, [&](Value i) {
      SmallVector<Value> rows;
      for (int64_t r = 0; r < square; ++r)
        rows.push_back(
            all.loadFactors(all.at(1, 0, b.add(part.k, Index(i)),
                                   b.add(b.add(part.column, Index(c)), r)),
                            square, {}));
      for (auto [r, transposed] : llvm::enumerate(transposeSquare(b, rows)))
        vector::StoreOp::create(
            b.b, b.loc, transposed, panel,
            b.get(b.add(part.at,
                        b.add(b.mul(b.add(Index(i), r), width), Index(c)))));
    });
  });
  packOneByOne(part, 0, whole, wholeRows);
  packOneByOne(part, whole, columns, 0);
}

Value ContractionPanels::loadForPanel(Index kAt, Index columnAt, Value mask,
                                      int64_t count) {
  if (step == 1)
    return all.loadFactors(all.at(1, 0, kAt, columnAt), lanes, mask);
  auto type = VectorType::get({lanes}, getElementTypeOrSelf(op->getOperand(1)));
  auto load = [&](int64_t next) -> Value {
    return vector::LoadOp::create(b.b, b.loc, type, op->getOperand(1),
                                  all.at(1, 0, b.add(kAt, next), columnAt));
  };
  Value low = load(0);
  return all.joinWords(low, count == 1 ? Value() : load(1));
}

/// Packs row `i` of `vectors` vectors of panels. A row holds `count` values of
/// k.
void ContractionPanels::packRow(const PanelSlice &part, Index i,
                                int64_t vectors, bool isWhole, int64_t count) {
  SmallVector<Value> masks = all.masksOf(part.columns, isWhole);
  for (int64_t v = 0; v < vectors; ++v) {
    Value loaded = loadForPanel(b.add(part.k, b.mul(i, step)),
                                b.add(part.column, v * lanes),
                                isWhole ? Value() : masks[v], count);
    int64_t before = v / kVectors * kDepth * width;
    vector::StoreOp::create(b.b, b.loc, loaded, panel,
                            b.get(b.add(b.add(part.at, b.mul(i, width)),
                                        before + v % kVectors * lanes)));
  }
}

/// Packs all rows of `vectors` vectors. With `isWhole`, all their columns
/// exist.
void ContractionPanels::pack(const PanelSlice &part, int64_t vectors,
                             bool isWhole) {
  Index whole = b.div(part.depth, step);
  forEach(b, 0, whole, 1,
          [&](Value i) { packRow(part, Index(i), vectors, isWhole, step); });
  if (step != 1)
    forEach(b, whole, b.divideCeil(part.depth, step), 1,
            [&](Value i) { packRow(part, Index(i), vectors, isWhole, 1); });
}

Value ContractionPanels::loadLeft(Index rowAt, Index kAt, int64_t count) {
  SmallVector<Value> place = all.at(0, rowAt, kAt, 0);
  if (step == 1)
    return splat(b, lanes, all.loadFactor(0, place));
  Value left = op->getOperand(0);
  if (count == 1)
    return splat(b, lanes,
                 all.joinWords(memref::LoadOp::create(b.b, b.loc, left, place),
                               Value()));
  auto pair = VectorType::get({step}, getElementTypeOrSelf(left));
  Value loaded = vector::BitCastOp::create(
      b.b, b.loc, VectorType::get({1}, element),
      vector::LoadOp::create(b.b, b.loc, pair, left, place));
  return splat(b, lanes, vector::ExtractOp::create(b.b, b.loc, loaded, 0));
}

void ContractionPanels::emitTile(const PanelSlice &part, int64_t rows,
                                 Index firstRow, ArrayRef<Value> masks) {
  Value result = op->getOperand(2);
  int64_t vectors = masks.size();
  auto placeOf = [&](int64_t r, int64_t v) {
    return all.at(2, b.add(firstRow, r), 0, b.add(part.column, v * lanes));
  };
  auto type = VectorType::get({lanes}, element);
  Accumulators sums;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t v = 0; v < vectors; ++v)
      sums.push_back(all.loadPiece(placeOf(r, v), masks[v]));
  auto addRows = [&](Index from, Index end, int64_t count) {
    auto addRow = [&](Value i, const Accumulators &before) {
      Accumulators next(before);
      SmallVector<Value> factors;
      for (int64_t v = 0; v < vectors; ++v)
        factors.push_back(vector::LoadOp::create(
            b.b, b.loc, type, panel,
            b.get(b.add(b.add(part.at, b.mul(Index(i), width)), v * lanes))));
      for (int64_t r = 0; r < rows; ++r) {
        Value left = loadLeft(b.add(firstRow, r),
                              b.add(part.k, b.mul(Index(i), step)), count);
        for (int64_t v = 0; v < vectors; ++v) {
          Value &sum = next[r * vectors + v];
          sum = step == 1 ? all.multiplyAdd(left, factors[v], sum)
                          : addInt16(b, asInt16(b, left),
                                     asInt16(b, factors[v]), sum);
        }
      }
      return next;
    };
    sums = forEach(b, from, end, sums, addRow);
  };
  Index whole = b.div(part.depth, step);
  addRows(0, whole, step);
  if (step != 1)
    addRows(whole, b.divideCeil(part.depth, step), 1);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t v = 0; v < vectors; ++v) {
      Value sum = sums[r * vectors + v];
      if (masks[v])
        vector::MaskedStoreOp::create(b.b, b.loc, result, placeOf(r, v),
                                      masks[v], sum);
      else
        vector::StoreOp::create(b.b, b.loc, sum, result, placeOf(r, v));
    }
}

void ContractionPanels::emitRows(const PanelSlice &part, int64_t most,
                                 ArrayRef<Value> masks) {
  all.forEachPlace(/*isOuter=*/false, [&] {
    Index done = 0, end = sizes[row];
    for (int64_t rows = most; rows != 0; rows = rows == 1 ? 0 : rows / 2) {
      Index next = b.add(done, b.mul(b.div(b.sub(end, done), rows), rows));
      forEach(b, done, next, rows,
              [&](Value first) { emitTile(part, rows, Index(first), masks); });
      done = next;
    }
  });
}

void ContractionPanels::emitPanel(const PanelSlice &part) {
  auto emitWhole = [&] {
    emitRows(part,
             target.numRegisters == 32 ? cpu::threshold::contractionRows
                                       : cpu::threshold::contractionRows / 2,
             SmallVector<Value>(kVectors));
  };
  // Emits one vector at a time, because a partial panel may have only one.
  auto emitRest = [&] {
    forEach(b, 0, b.min(part.columns, width), lanes, [&](Value first) {
      PanelSlice vector = part;
      vector.column = b.add(part.column, Index(first));
      vector.at = b.add(part.at, Index(first));
      Index left = b.sub(part.columns, Index(first));
      emitRows(vector, cpu::threshold::contractionRows,
               maskOfFirst(b, lanes, left));
    });
  };
  b.branch(b.compare(arith::CmpIPredicate::sge, part.columns, width), emitWhole,
           emitRest);
}

void ContractionPanels::forEachPanel(
    const PanelSlice &part,
    llvm::function_ref<void(const PanelSlice &panel)> body) {
  Index end = b.min(part.columns, kPanels * width);
  forEach(b, 0, end, width, [&](Value first) {
    PanelSlice panel = part;
    panel.column = b.add(part.column, Index(first));
    panel.columns = b.sub(part.columns, Index(first));
    panel.at = b.mul(Index(first), kDepth);
    body(panel);
  });
}

void ContractionPanels::emit(Index firstColumn) {
  PanelSlice columns;
  columns.column = firstColumn;
  columns.columns = b.sub(sizes[column], firstColumn);
  columns.at = 0;
  auto hasColumns = [&](const PanelSlice &part, int64_t columns) {
    return b.compare(arith::CmpIPredicate::sge, part.columns, columns);
  };
  forEach(b, 0, sizes[k], kDepth, [&](Value firstK) {
    columns.k = Index(firstK);
    columns.depth = b.min(b.sub(sizes[k], Index(firstK)), kDepth);
    if (all.isTransposed())
      forEachPanel(columns,
                   [&](const PanelSlice &panel) { packTransposed(panel); });
    else
      b.branch(
          hasColumns(columns, kPanels * width),
          [&] { pack(columns, kPanels * kVectors, /*isWhole=*/true); },
          [&] {
            forEachPanel(columns, [&](const PanelSlice &panel) {
              if (!all.isNarrow())
                return pack(panel, kVectors, /*isWhole=*/false);
              b.branch(
                  hasColumns(panel, width),
                  [&] { pack(panel, kVectors, /*isWhole=*/true); },
                  [&] { packTransposed(panel); });
            });
          });
    forEachPanel(columns, [&](const PanelSlice &panel) { emitPanel(panel); });
  });
}
