//===- ContractionsToVector.cpp - cpu-contractions-to-vector --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of which cpu.matmul computes none: any of their sizes may be open.
//
// for batch, panel of columns
//   for block of k
//     the panel's part of the right factor, packed: rows of whole vectors
//     for row tile
//       for k of the block: accumulators += a[row, k] * panel[k, column]
//       add them to the result
//
// The packed panel lies in the first-level cache and serves all rows; it is
// where a right factor is turned whose columns are rows, and what is behind its
// last column becomes zeros.
//
//===----------------------------------------------------------------------===//
#include "passes/codegen/cpu/Passes.h"
#include "passes/codegen/cpu/rows/Rows.h"
#include "passes/codegen/cpu/rows/Transposes.h"
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
#include "passes/codegen/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::codegen;

namespace {

/// A panel is two vectors wide; so many of its rows are packed at a time.
constexpr int64_t kVectors = 2, kDepth = 256;

struct Emitter {
  Emitter(OpBuilder &builder, linalg::GenericOp op)
      : b{builder, op.getLoc()}, op(op), target(TargetInfo::of(op)),
        row(op.getNumLoops() - 3), k(row + 1), column(row + 2),
        width(kVectors * target.lanes) {}

  void emit();
  void emitPanel(Index firstColumn);
  void emitBlock(Index firstColumn, Index columns, Index firstK, Index depth,
                 bool isWhole);
  void pack(Index firstColumn, Index columns, Index firstK, Index depth,
            bool isWhole);
  void packTurned(Index firstColumn, Index columns, Index firstK, Index depth,
                  bool isWhole);
  void packOneByOne(Index begin, Index end, Index firstColumn, Index firstK,
                    Index firstRow, Index depth);
  void emitTile(int64_t rows, Index firstRow, Index firstColumn, Index firstK,
                Index depth, ArrayRef<Value> masks);
  SmallVector<Value> at(int64_t operand, Index row, Index k, Index column);
  Value loadFactor(int64_t operand, ArrayRef<Value> at);
  Value loadFactors(ArrayRef<Value> at, int64_t lanes, Value mask);
  SmallVector<Value> masksOf(Index columns, bool isWhole);
  AffineMap map(int64_t operand) {
    return op.getMatchingIndexingMap(&op->getOpOperand(operand));
  }
  bool isTurned() {
    return map(1).getResults().back() !=
           getAffineDimExpr(column, op.getContext());
  }

  IndexBuilder b;
  linalg::GenericOp op;
  TargetInfo target;
  int64_t row, k, column, width;
  SmallVector<Index> sizes, batch;
  Value panel;
};

struct ContractionsToVectorPass
    : ingot::impl::ContractionsToVectorBase<ContractionsToVectorPass> {
  void runOnOperation() override;
};

} // namespace

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

SmallVector<Value> Emitter::at(int64_t operand, Index rowAt, Index kAt,
                               Index columnAt) {
  SmallVector<Value> found;
  for (AffineExpr result : map(operand).getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    if (!dim) {
      found.push_back(b.get(0));
      continue;
    }
    int64_t loop = dim.getPosition();
    found.push_back(b.get(loop == row      ? rowAt
                          : loop == k      ? kAt
                          : loop == column ? columnAt
                                           : batch[loop]));
  }
  return found;
}

Value Emitter::loadFactor(int64_t operand, ArrayRef<Value> at) {
  Value loaded =
      memref::LoadOp::create(b.b, b.loc, op->getOperand(operand), at);
  if (loaded.getType().isF32())
    return loaded;
  return arith::ExtFOp::create(b.b, b.loc, b.b.getF32Type(), loaded);
}

Value Emitter::loadFactors(ArrayRef<Value> at, int64_t lanes, Value mask) {
  Value factor = op->getOperand(1);
  auto type = VectorType::get({lanes}, getElementTypeOrSelf(factor));
  if (!mask)
    return widenFloats(b, vector::LoadOp::create(b.b, b.loc, type, factor, at));
  Value zero = arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(type));
  return widenFloats(b, vector::MaskedLoadOp::create(
                            b.b, b.loc, type, factor, at,
                                                   mask, zero));
}

/// Of each vector of a panel; null if all of its columns are there.
SmallVector<Value> Emitter::masksOf(Index columns, bool isWhole) {
  SmallVector<Value> masks(kVectors);
  for (int64_t v = 0; v < kVectors && !isWhole; ++v)
    masks[v] = maskOfFirst(b, target.lanes,
                           b.add(columns, -v * target.lanes));
  return masks;
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// Columns [begin, end) of a panel, from `firstRow` of the block on.
void Emitter::packOneByOne(Index begin, Index end, Index firstColumn,
                           Index firstK, Index firstRow, Index depth) {
  forEach(b, begin, end, 1, [&](Value c) {
    forEach(b, firstRow, depth, 1, [&](Value i) {
      Value factor = loadFactor(1, at(1, 0, b.add(firstK, Index(i)),
                                      b.add(firstColumn, Index(c))));
      memref::StoreOp::create(
          b.b, b.loc, factor, panel,
          b.get(b.add(b.mul(Index(i), width), Index(c))));
    });
  });
}

/// Of a right factor whose columns are rows: squares that are turned, and what
/// is left element by element.
void Emitter::packTurned(Index firstColumn, Index columns, Index firstK,
                         Index depth, bool isWhole) {
  int64_t square = squareOf(target);
  if (!isWhole) {
    auto type = VectorType::get({target.lanes}, b.b.getF32Type());
    Value zero = arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(type));
    forEach(b, 0, b.mul(depth, width), target.lanes, [&](Value i) {
      vector::StoreOp::create(b.b, b.loc, zero, panel, i);
    });
  }
  Index whole = b.mul(b.div(columns, square), square);
  Index wholeRows = b.mul(b.div(depth, square), square);
  forEach(b, 0, whole, square, [&](Value c) {
    forEach(b, 0, wholeRows, square, [&](Value i) {
      SmallVector<Value> rows;
      for (int64_t r = 0; r < square; ++r)
        rows.push_back(loadFactors(
            at(1, 0, b.add(firstK, Index(i)),
               b.add(b.add(firstColumn, Index(c)), r)),
            square, {}));
      for (auto [r, turned] : llvm::enumerate(transposeSquare(b, rows)))
        vector::StoreOp::create(
            b.b, b.loc, turned, panel,
            b.get(b.add(b.mul(b.add(Index(i), r), width), Index(c))));
    });
  });
  packOneByOne(0, whole, firstColumn, firstK, wholeRows, depth);
  packOneByOne(whole, columns, firstColumn, firstK, 0, depth);
}

void Emitter::pack(Index firstColumn, Index columns, Index firstK, Index depth,
                   bool isWhole) {
  if (isTurned())
    return packTurned(firstColumn, columns, firstK, depth, isWhole);
  SmallVector<Value> masks = masksOf(columns, isWhole);
  forEach(b, 0, depth, 1, [&](Value i) {
    for (int64_t v = 0; v < kVectors; ++v) {
      Value loaded = loadFactors(
          at(1, 0, b.add(firstK, Index(i)),
             b.add(firstColumn, v * target.lanes)),
          target.lanes, masks[v]);
      vector::StoreOp::create(
          b.b, b.loc, loaded, panel,
          b.get(b.add(b.mul(Index(i), width), v * target.lanes)));
    }
  });
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void Emitter::emitTile(int64_t rows, Index firstRow, Index firstColumn,
                       Index firstK, Index depth, ArrayRef<Value> masks) {
  Tile tile{rows, kVectors, target.lanes, target.lanes, target.hasFMA};
  Value result = op->getOperand(2);
  auto placeOf = [&](int64_t r, int64_t v) {
    return at(2, b.add(firstRow, r), 0,
              b.add(firstColumn, v * target.lanes));
  };
  auto type = VectorType::get({target.lanes}, b.b.getF32Type());
  Value zero = arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(type));
  Accumulators sums;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t v = 0; v < kVectors; ++v)
      sums.push_back(
          masks[v] ? vector::MaskedLoadOp::create(b.b, b.loc, type, result,
                                                  placeOf(r, v), masks[v], zero)
                         .getResult()
                   : vector::LoadOp::create(b.b, b.loc, type, result,
                                            placeOf(r, v))
                         .getResult());
  sums = forEach(b, 0, depth, sums, [&](Value i, const Accumulators &before) {
    Accumulators next(before);
    SmallVector<Value> factors;
    for (int64_t v = 0; v < kVectors; ++v)
      factors.push_back(vector::LoadOp::create(
          b.b, b.loc, type, panel,
          b.get(b.add(b.mul(Index(i), width), v * target.lanes))));
    for (int64_t r = 0; r < rows; ++r) {
      Value left = splat(b, target.lanes,
                         loadFactor(0, at(0, b.add(firstRow, r),
                                          b.add(firstK, Index(i)), 0)));
      for (int64_t v = 0; v < kVectors; ++v)
        next[r * kVectors + v] = multiplyAddVectors(
            b, tile.hasFMA, left, factors[v], next[r * kVectors + v]);
    }
    return next;
  });
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t v = 0; v < kVectors; ++v) {
      Value sum = sums[r * kVectors + v];
      if (masks[v])
        vector::MaskedStoreOp::create(b.b, b.loc, result, placeOf(r, v),
                                      masks[v], sum);
      else
        vector::StoreOp::create(b.b, b.loc, sum, result, placeOf(r, v));
    }
}

void Emitter::emitBlock(Index firstColumn, Index columns, Index firstK,
                        Index depth, bool isWhole) {
  pack(firstColumn, columns, firstK, depth, isWhole);
  SmallVector<Value> masks = masksOf(columns, isWhole);
  Index done = 0, end = sizes[row];
  int64_t most = target.numRegisters == 32 ? 12 : 6;
  for (int64_t rows : {most, most / 2, int64_t(1)}) {
    Index next = b.add(
        done, b.mul(b.div(b.add(end, b.mul(done, -1)), rows), rows));
    forEach(b, done, next, rows, [&](Value first) {
      emitTile(rows, Index(first), firstColumn, firstK, depth, masks);
    });
    done = next;
  }
}

void Emitter::emitPanel(Index firstColumn) {
  Index columns = b.add(sizes[column], b.mul(firstColumn, -1));
  forEach(b, 0, sizes[k], kDepth, [&](Value firstK) {
    Index depth =
        b.min(b.add(sizes[k], b.mul(Index(firstK), -1)), kDepth);
    Value isWhole =
        b.compare(arith::CmpIPredicate::sge, columns, width);
    b.branch(
        isWhole,
        [&] {
          emitBlock(firstColumn, width, Index(firstK), depth, true);
        },
        [&] {
          emitBlock(firstColumn, columns, Index(firstK), depth, false);
        });
  });
}

void Emitter::emit() {
  panel = createScratch(b, op, kDepth * width, b.b.getF32Type());
  auto loops = cast<linalg::LinalgOp>(*op);
  for (const Range &range : loops.createLoopRanges(b.b, b.loc)) {
    if (std::optional<int64_t> known = getConstantIntValue(range.size))
      sizes.push_back(*known);
    else
      sizes.push_back(Index(cast<Value>(range.size)));
  }
  OpBuilder::InsertionGuard guard(b.b);
  for (int64_t i = 0; i < row; ++i) {
    auto loop = scf::ForOp::create(b.b, b.loc, b.get(0), b.get(sizes[i]),
                                   b.get(1));
    batch.push_back(Index(loop.getInductionVar()));
    b.b.setInsertionPointToStart(loop.getBody());
  }
  forEach(b, 0, sizes[column], width,
          [&](Value first) { emitPanel(Index(first)); });
}

//===----------------------------------------------------------------------===//
// For what
//===----------------------------------------------------------------------===//

/// A vector times a matrix reads it once: packing it would be another time.
static bool isFor(linalg::GenericOp op) {
  return lower::isTiledProduct(op) &&
         op.getStaticLoopRanges()[op.getNumLoops() - 3] != 1;
}

void ContractionsToVectorPass::runOnOperation() {
  numWritten += emitInPlace<linalg::GenericOp, Emitter>(getOperation(), isFor);
}
