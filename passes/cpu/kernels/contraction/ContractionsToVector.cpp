//===- ContractionsToVector.cpp - cpu-contractions-to-vector --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of which cpu.matmul computes none: any of their sizes may be open.
// And convolutions, where the rows of the left factor are windows.
//
// for batch, tap, four panels of columns
//   for block of k
//     the panels' part of the right factor, packed: rows of whole vectors
//     for panel, batch that the right factor does not know, row tile
//       for k of the block: accumulators += a[row, k] * panel[k, column]
//       add them to the result
//
// A packed panel lies in the first-level cache and serves all rows; it is where
// a right factor is turned whose columns are rows, and what is behind its last
// column becomes zeros. Four are packed together, since lines that are read one
// by one from as many rows cost more than the products of 64 rows. Fewer than
// four rows, which a run may bring, read the right factor as it is. Of fewer
// than four columns each is packed alone, and rows are summed up along k.
// Words are multiplied in pairs of k (`vpmaddwd`), and packed as such.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/Passes.h"
#include "passes/cpu/kernels/contraction/ContractionEmitter.h"
#include "passes/cpu/kernels/rows/Transposes.h"
#include "passes/cpu/products/BytePairs.h"
#include "passes/support/Contractions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace ingot {
#define GEN_PASS_DEF_CONTRACTIONSTOVECTOR
#include "passes/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using namespace ingot::support;

namespace {

struct ContractionsToVectorPass
    : ingot::impl::ContractionsToVectorBase<ContractionsToVectorPass> {
  void runOnOperation() override;
};

} // namespace

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Index ContractionEmitter::valueOf(AffineExpr expr, Index rowAt, Index kAt,
                                  Index columnAt) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    int64_t loop = dim.getPosition();
    return loop == row      ? rowAt
           : loop == k      ? kAt
           : loop == column ? columnAt
                            : batch[loop];
  }
  auto both = cast<AffineBinaryOpExpr>(expr);
  Index left = valueOf(both.getLHS(), rowAt, kAt, columnAt),
        right = valueOf(both.getRHS(), rowAt, kAt, columnAt);
  return expr.getKind() == AffineExprKind::Add ? b.add(left, right)
                                               : b.mul(left, right);
}

SmallVector<Value> ContractionEmitter::at(int64_t operand, Index rowAt,
                                          Index kAt, Index columnAt) {
  SmallVector<Value> found;
  for (AffineExpr result : map(operand).getResults())
    found.push_back(b.get(valueOf(result, rowAt, kAt, columnAt)));
  return found;
}

Value ContractionEmitter::widen(int64_t operand, Value loaded) {
  if (getElementTypeOrSelf(loaded) == element)
    return loaded;
  Type to = element;
  if (auto type = dyn_cast<VectorType>(loaded.getType()))
    to = type.clone(element);
  if (isa<FloatType>(element))
    return arith::ExtFOp::create(b.b, b.loc, to, loaded);
  bool isUnsigned = llvm::any_of(op.getBody()->getArgument(operand).getUsers(),
                                 llvm::IsaPred<arith::ExtUIOp>);
  if (isUnsigned)
    return arith::ExtUIOp::create(b.b, b.loc, to, loaded);
  return arith::ExtSIOp::create(b.b, b.loc, to, loaded);
}

Value ContractionEmitter::multiplyAdd(Value x, Value y, Value sum) {
  bool isVector = isa<VectorType>(x.getType());
  if (isa<FloatType>(element) && isVector)
    return multiplyAddVectors(b, target.hasFMA, x, y, sum);
  if (isa<FloatType>(element)) {
    auto fused = arith::FastMathFlags::contract;
    Value product = arith::MulFOp::create(b.b, b.loc, x, y, fused);
    return arith::AddFOp::create(b.b, b.loc, sum, product, fused);
  }
  return arith::AddIOp::create(b.b, b.loc, sum,
                               arith::MulIOp::create(b.b, b.loc, x, y));
}

Value ContractionEmitter::loadFactor(int64_t operand, ArrayRef<Value> at) {
  Value loaded =
      memref::LoadOp::create(b.b, b.loc, op->getOperand(operand), at);
  return widen(operand, loaded);
}

Value ContractionEmitter::loadFactors(ArrayRef<Value> at, int64_t lanes,
                                      Value mask) {
  Value factor = op->getOperand(1);
  auto type = VectorType::get({lanes}, getElementTypeOrSelf(factor));
  if (!mask)
    return widen(1, vector::LoadOp::create(b.b, b.loc, type, factor, at));
  Value zero = arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(type));
  return widen(1, vector::MaskedLoadOp::create(b.b, b.loc, type, factor, at,
                                               mask, zero));
}

Value ContractionEmitter::loadPiece(ArrayRef<Value> at, Value mask) {
  Value result = op->getOperand(2);
  auto type = VectorType::get({lanes}, element);
  if (!mask)
    return vector::LoadOp::create(b.b, b.loc, type, result, at);
  Value zero = arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(type));
  return vector::MaskedLoadOp::create(b.b, b.loc, type, result, at, mask, zero);
}

/// Of each vector of a panel; null if all of its columns are there.
SmallVector<Value> ContractionEmitter::masksOf(Index columns, bool isWhole) {
  SmallVector<Value> masks(kVectors);
  for (int64_t v = 0; v < kVectors && !isWhole; ++v)
    masks[v] = maskOfFirst(b, lanes, b.add(columns, -v * lanes));
  return masks;
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

bool ContractionEmitter::multipliesPairs() {
  return llvm::all_of(op.getDpsInputs(),
                      [](Value factor) {
                        return getElementTypeOrSelf(factor).isInteger(16);
                      }) &&
         support::isRow(op->getOperand(0).getType()) &&
         map(0).getResults().back() == getAffineDimExpr(k, op.getContext());
}

Value ContractionEmitter::joinWords(Value low, Value high) {
  Type word = getElementTypeOrSelf(low), to = element;
  if (auto type = dyn_cast<VectorType>(low.getType()))
    to = type.clone(element);
  low = arith::ExtUIOp::create(b.b, b.loc, to, low);
  if (!high)
    return low;
  high = arith::ExtUIOp::create(b.b, b.loc, to, high);
  auto bits = b.b.getIntegerAttr(element, word.getIntOrFloatBitWidth());
  Value shift =
      isa<VectorType>(to)
          ? Value(arith::ConstantOp::create(
                b.b, b.loc,
                DenseElementsAttr::get(cast<VectorType>(to), bits)))
          : Value(arith::ConstantOp::create(b.b, b.loc, bits));
  high = arith::ShLIOp::create(b.b, b.loc, high, shift);
  return arith::OrIOp::create(b.b, b.loc, low, high);
}

/// Columns [begin, end) of a panel, from `firstRow` of the block on.
void ContractionEmitter::packOneByOne(const Part &part, Index begin, Index end,
                                      Index firstRow) {
  auto packFrom = [&](Value c, Index first, Index last, int64_t count) {
    forEach(b, first, last, 1, [&](Value i) {
      auto load = [&](int64_t next) -> Value {
        return memref::LoadOp::create(
            b.b, b.loc, op->getOperand(1),
            at(1, 0, b.add(part.k, b.add(b.mul(Index(i), step), next)),
               b.add(part.column, Index(c))));
      };
      Value low = load(0);
      Value factor = step == 1 ? widen(1, low)
                               : joinWords(low, count == 1 ? Value() : load(1));
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

/// Of a right factor whose columns are rows: squares that are turned, and what
/// is left element by element. Bytes and words behind the last column, for
/// which there are no masked loads, go the same way.
void ContractionEmitter::packTurned(const Part &part) {
  int64_t square = squareOf(target);
  bool hasSquares = element.isF32() && isTurned();
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
        rows.push_back(loadFactors(at(1, 0, b.add(part.k, Index(i)),
                                      b.add(b.add(part.column, Index(c)), r)),
                                   square, {}));
      for (auto [r, turned] : llvm::enumerate(transposeSquare(b, rows)))
        vector::StoreOp::create(
            b.b, b.loc, turned, panel,
            b.get(b.add(part.at,
                        b.add(b.mul(b.add(Index(i), r), width), Index(c)))));
    });
  });
  packOneByOne(part, 0, whole, wholeRows);
  packOneByOne(part, whole, columns, 0);
}

Value ContractionEmitter::loadForPanel(Index kAt, Index columnAt, Value mask,
                                       int64_t count) {
  if (step == 1)
    return loadFactors(at(1, 0, kAt, columnAt), lanes, mask);
  auto type =
      VectorType::get({lanes}, getElementTypeOrSelf(op->getOperand(1)));
  auto load = [&](int64_t next) -> Value {
    return vector::LoadOp::create(b.b, b.loc, type, op->getOperand(1),
                                  at(1, 0, b.add(kAt, next), columnAt));
  };
  Value low = load(0);
  return joinWords(low, count == 1 ? Value() : load(1));
}

/// Row `i` of so many vectors of panels, of the next `count` k.
void ContractionEmitter::packRow(const Part &part, Index i, int64_t vectors,
                                 bool isWhole, int64_t count) {
  SmallVector<Value> masks = masksOf(part.columns, isWhole);
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

/// Rows of so many vectors, which are whole panels.
void ContractionEmitter::pack(const Part &part, int64_t vectors, bool isWhole) {
  Index whole = b.div(part.depth, step);
  forEach(b, 0, whole, 1, [&](Value i) {
    packRow(part, Index(i), vectors, isWhole, step);
  });
  if (step != 1)
    forEach(b, whole, b.divideCeil(part.depth, step), 1, [&](Value i) {
      packRow(part, Index(i), vectors, isWhole, 1);
    });
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Value ContractionEmitter::loadLeft(Index rowAt, Index kAt, int64_t count) {
  SmallVector<Value> place = at(0, rowAt, kAt, 0);
  if (step == 1)
    return splat(b, lanes, loadFactor(0, place));
  Value left = op->getOperand(0);
  if (count == 1)
    return splat(b, lanes,
                 joinWords(memref::LoadOp::create(b.b, b.loc, left, place),
                           Value()));
  auto pair = VectorType::get({step}, getElementTypeOrSelf(left));
  Value loaded = vector::BitCastOp::create(
      b.b, b.loc, VectorType::get({1}, element),
      vector::LoadOp::create(b.b, b.loc, pair, left, place));
  return splat(b, lanes, vector::ExtractOp::create(b.b, b.loc, loaded, 0));
}

void ContractionEmitter::emitTile(const Part &part, int64_t rows,
                                  Index firstRow, ArrayRef<Value> masks) {
  Value result = op->getOperand(2);
  int64_t vectors = masks.size();
  auto placeOf = [&](int64_t r, int64_t v) {
    return at(2, b.add(firstRow, r), 0, b.add(part.column, v * lanes));
  };
  auto type = VectorType::get({lanes}, element);
  Accumulators sums;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t v = 0; v < vectors; ++v)
      sums.push_back(loadPiece(placeOf(r, v), masks[v]));
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
          sum = step == 1 ? multiplyAdd(left, factors[v], sum)
                          : addWords(b, asWords(b, left),
                                     asWords(b, factors[v]), sum);
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

bool ContractionEmitter::isOuter(int64_t loop) {
  return map(1).isFunctionOfDim(loop) ||
         op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction;
}

void ContractionEmitter::forEachPlace(bool isOuterLoop,
                                      llvm::function_ref<void()> body) {
  OpBuilder::InsertionGuard guard(b.b);
  for (int64_t i = 0; i < row; ++i) {
    if (isOuter(i) != isOuterLoop)
      continue;
    auto loop =
        scf::ForOp::create(b.b, b.loc, b.get(0), b.get(sizes[i]), b.get(1));
    batch[i] = Index(loop.getInductionVar());
    b.b.setInsertionPointToStart(loop.getBody());
  }
  body();
}

void ContractionEmitter::emitRows(const Part &part, int64_t most,
                                  ArrayRef<Value> masks) {
  forEachPlace(/*isOuter=*/false, [&] {
    Index done = 0, end = sizes[row];
    for (int64_t rows = most; rows != 0; rows = rows == 1 ? 0 : rows / 2) {
      Index next =
          b.add(done, b.mul(b.div(b.sub(end, done), rows), rows));
      forEach(b, done, next, rows,
              [&](Value first) { emitTile(part, rows, Index(first), masks); });
      done = next;
    }
  });
}

void ContractionEmitter::emitPanel(const Part &part) {
  constexpr int64_t kMost = 12;
  auto emitWhole = [&] {
    emitRows(part, target.numRegisters == 32 ? kMost : kMost / 2,
             SmallVector<Value>(kVectors));
  };
  // Vector by vector: there may be one alone.
  auto emitRest = [&] {
    forEach(b, 0, b.min(part.columns, width), lanes, [&](Value first) {
      Part vector = part;
      vector.column = b.add(part.column, Index(first));
      vector.at = b.add(part.at, Index(first));
      Index left = b.sub(part.columns, Index(first));
      emitRows(vector, kMost, maskOfFirst(b, lanes, left));
    });
  };
  b.branch(b.compare(arith::CmpIPredicate::sge, part.columns, width), emitWhole,
           emitRest);
}

void ContractionEmitter::forEachPanel(
    const Part &part, llvm::function_ref<void(const Part &panel)> body) {
  Index end = b.min(part.columns, kPanels * width);
  forEach(b, 0, end, width, [&](Value first) {
    Part panel = part;
    panel.column = b.add(part.column, Index(first));
    panel.columns = b.sub(part.columns, Index(first));
    panel.at = b.mul(Index(first), kDepth);
    body(panel);
  });
}

void ContractionEmitter::emitPanels(Index firstColumn) {
  Part all;
  all.column = firstColumn;
  all.columns = b.sub(sizes[column], firstColumn);
  all.at = 0;
  auto hasColumns = [&](const Part &part, int64_t columns) {
    return b.compare(arith::CmpIPredicate::sge, part.columns, columns);
  };
  forEach(b, 0, sizes[k], kDepth, [&](Value firstK) {
    all.k = Index(firstK);
    all.depth = b.min(b.sub(sizes[k], Index(firstK)), kDepth);
    if (isTurned())
      forEachPanel(all, [&](const Part &panel) { packTurned(panel); });
    else
      b.branch(
          hasColumns(all, kPanels * width),
          [&] { pack(all, kPanels * kVectors, /*isWhole=*/true); },
          [&] {
            forEachPanel(all, [&](const Part &panel) {
              if (!isNarrow())
                return pack(panel, kVectors, /*isWhole=*/false);
              b.branch(
                  hasColumns(panel, width),
                  [&] { pack(panel, kVectors, /*isWhole=*/true); },
                  [&] { packTurned(panel); });
            });
          });
    forEachPanel(all, [&](const Part &panel) { emitPanel(panel); });
  });
}

void ContractionEmitter::emit() {
  panel = createScratch(b, kPanels * kDepth * width, element);
  auto loops = cast<linalg::LinalgOp>(*op);
  for (const Range &range : loops.createLoopRanges(b.b, b.loc)) {
    if (std::optional<int64_t> known = getConstantIntValue(range.size))
      sizes.push_back(*known);
    else
      sizes.push_back(Index(cast<Value>(range.size)));
  }
  batch.resize(row);
  auto emitTiles = [&] {
    forEachPlace(/*isOuter=*/true, [&] {
      forEach(b, 0, sizes[column], kPanels * width,
              [&](Value first) { emitPanels(Index(first)); });
    });
  };
  // What only a run knows is asked there.
  auto ifFew = [&](int64_t loop, llvm::function_ref<void()> few,
                   llvm::function_ref<void()> many) {
    if (!sizes[loop].value)
      return sizes[loop].constant < kFew ? few() : many();
    b.branch(b.compare(arith::CmpIPredicate::slt, sizes[loop], kFew), few,
             many);
  };
  ifFew(
      column, [&] { emitFewColumns(); },
      [&] {
        if (isTurned())
          return emitTiles();
        ifFew(
            row, [&] { emitFewRows(); }, emitTiles);
      });
}

//===----------------------------------------------------------------------===//
// For what
//===----------------------------------------------------------------------===//

/// A vector times a matrix reads it once: packing it would be another time.
static bool isFor(linalg::GenericOp op) {
  return support::isTiledProduct(op) &&
         op.getStaticLoopRanges()[op.getNumLoops() - 3] != 1;
}

void ContractionsToVectorPass::runOnOperation() {
  numWritten +=
      emitInPlace<linalg::GenericOp, ContractionEmitter>(getOperation(), isFor);
}
