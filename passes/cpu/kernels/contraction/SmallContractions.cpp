//===- SmallContractions.cpp - products of few rows or columns ------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products that are too narrow for the panels of ContractionsToVector.cpp:
//
//     few rows: for batch, row, four k, vector of columns:
//       result += a[k] * b[k]
//     few columns: for batch, column, block of k
//       the column's part of the right factor, packed
//       for row: result += sum of a[k] * column[k], by four vectors of k
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/contraction/SmallContractions.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/cpu/products/Products.h"
#include "passes/support/Contractions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

/// Multiplies `steps` elements of a row by rows of the right factor, and adds
/// the products to a row of the result.
void SmallContractions::emitSteps(Index rowAt, Index firstK, int64_t steps) {
  SmallVector<Value> left, splats;
  for (int64_t i = 0; i < steps; ++i) {
    left.push_back(all.loadFactor(0, all.at(0, rowAt, b.add(firstK, i), 0)));
    splats.push_back(splat(b, lanes, left.back()));
  }
  Value result = op->getOperand(2);
  auto factorAt = [&](int64_t i, Index c) {
    return all.at(1, 0, b.add(firstK, i), c);
  };
  auto addVector = [&](Index c, Value mask) {
    SmallVector<Value> place = all.at(2, rowAt, 0, c);
    Value sum = all.loadPiece(place, mask);
    for (int64_t i = 0; i < steps; ++i)
      sum = all.multiplyAdd(splats[i],
                            all.loadFactors(factorAt(i, c), lanes, mask), sum);
    if (mask)
      vector::MaskedStoreOp::create(b.b, b.loc, result, place, mask, sum);
    else
      vector::StoreOp::create(b.b, b.loc, sum, result, place);
  };
  // Emits a scalar loop for int8 and int16. LLVM vectorizes it and multiplies
  // pairs of int16.
  bool isBytes = all.isNarrow();
  Index end = sizes[column];
  Index whole = isBytes ? Index(0) : b.mul(b.div(end, lanes), lanes);
  forEach(b, 0, whole, lanes, [&](Value c) { addVector(Index(c), {}); });
  if (!isBytes) {
    b.branch(b.compare(arith::CmpIPredicate::slt, whole, end), [&] {
      addVector(whole, maskOfFirst(b, lanes, b.sub(end, whole)));
    });
    return;
  }
  forEach(b, whole, end, 1, [&](Value c) {
    SmallVector<Value> place = all.at(2, rowAt, 0, Index(c));
    Value sum = memref::LoadOp::create(b.b, b.loc, result, place);
    for (int64_t i = 0; i < steps; ++i)
      sum = all.multiplyAdd(left[i], all.loadFactor(1, factorAt(i, Index(c))),
                            sum);
    memref::StoreOp::create(b.b, b.loc, sum, result, place);
  });
}

void SmallContractions::emitRows() {
  const int64_t &kSteps = cpu::threshold::contractionSteps;
  auto emitRow = [&](Value r) {
    Index end = sizes[k], whole = b.mul(b.div(end, kSteps), kSteps);
    forEach(b, 0, whole, kSteps,
            [&](Value i) { emitSteps(Index(r), Index(i), kSteps); });
    forEach(b, whole, end, 1,
            [&](Value i) { emitSteps(Index(r), Index(i), 1); });
  };
  all.forEachPlace(/*isOuter=*/true, [&] {
    all.forEachPlace(/*isOuter=*/false,
                     [&] { forEach(b, 0, sizes[row], 1, emitRow); });
  });
}

/// Adds to a column of the result the sums over a packed block of k.
void SmallContractions::emitSums(Index columnAt, Index firstK, Index depth) {
  const int64_t &kSums = cpu::threshold::contractionSums;
  auto type = VectorType::get({lanes}, element);
  Value zeros = arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(type));
  Value zero = arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(element));
  auto addVector = [&](Index rowAt, Index i, Value sum) {
    auto from =
        VectorType::get({lanes}, getElementTypeOrSelf(op->getOperand(0)));
    Value left = all.widen(
        0, vector::LoadOp::create(b.b, b.loc, from, op->getOperand(0),
                                  all.at(0, rowAt, b.add(firstK, i), 0)));
    Value right = vector::LoadOp::create(b.b, b.loc, type, panel, b.get(i));
    return all.multiplyAdd(left, right, sum);
  };
  Index wide = b.div(depth, kSums * lanes), whole = b.div(depth, lanes);
  all.forEachPlace(/*isOuter=*/false, [&] {
    forEach(b, 0, sizes[row], 1, [&](Value rowAt) {
      Accumulators sums(kSums, zeros);
      sums =
          forEach(b, 0, wide, sums, [&](Value i, const Accumulators &before) {
            Accumulators next;
            for (int64_t v = 0; v < kSums; ++v)
              next.push_back(addVector(
                  Index(rowAt),
                  b.add(b.mul(Index(i), kSums * lanes), v * lanes), before[v]));
            return next;
          });
      Accumulators sum = {addSums(b, addSums(b, sums[0], sums[1]),
                                  addSums(b, sums[2], sums[3]))};
      sum = forEach(b, b.mul(wide, kSums), whole, sum,
                    [&](Value i, const Accumulators &before) {
                      return Accumulators{addVector(
                          Index(rowAt), b.mul(Index(i), lanes), before[0])};
                    });
      auto flags = arith::FastMathFlagsAttr::get(b.b.getContext(),
                                                 arith::FastMathFlags::reassoc);
      Value total =
          isa<FloatType>(element)
              ? vector::ReductionOp::create(b.b, b.loc,
                                            vector::CombiningKind::ADD, sum[0],
                                            zero, flags.getValue())
                    .getResult()
              : vector::ReductionOp::create(b.b, b.loc,
                                            vector::CombiningKind::ADD, sum[0])
                    .getResult();
      sum = forEach(
          b, b.mul(whole, lanes), depth, Accumulators{total},
          [&](Value i, const Accumulators &before) {
            Value left = all.loadFactor(
                0, all.at(0, Index(rowAt), b.add(firstK, Index(i)), 0));
            Value right = memref::LoadOp::create(b.b, b.loc, panel, i);
            return Accumulators{all.multiplyAdd(left, right, before[0])};
          });
      SmallVector<Value> place = all.at(2, Index(rowAt), 0, columnAt);
      Value before =
          memref::LoadOp::create(b.b, b.loc, op->getOperand(2), place);
      memref::StoreOp::create(b.b, b.loc, addSums(b, before, sum[0]),
                              op->getOperand(2), place);
    });
  });
}

/// Emits products with small depth and few columns, e.g. those of depthwise
/// convolutions, element by element.
void SmallContractions::emitElements() {
  all.forEachPlace(/*isOuter=*/false, [&] {
    forEach(b, 0, sizes[k], 1, [&](Value i) {
      forEach(b, 0, sizes[column], 1, [&](Value c) {
        Value right = all.loadFactor(1, all.at(1, 0, Index(i), Index(c)));
        forEach(b, 0, sizes[row], 1, [&](Value r) {
          Value left = all.loadFactor(0, all.at(0, Index(r), Index(i), 0));
          SmallVector<Value> place = all.at(2, Index(r), 0, Index(c));
          Value sum =
              memref::LoadOp::create(b.b, b.loc, op->getOperand(2), place);
          memref::StoreOp::create(b.b, b.loc, all.multiplyAdd(left, right, sum),
                                  op->getOperand(2), place);
        });
      });
    });
  });
}

void SmallContractions::emitColumns() {
  auto emitDots = [&] {
    forEach(b, 0, sizes[column], 1, [&](Value c) {
      int64_t most = kPanels * kDepth * width;
      forEach(b, 0, sizes[k], most, [&](Value firstK) {
        Index depth = b.min(b.sub(sizes[k], Index(firstK)), most);
        forEach(b, 0, depth, 1, [&](Value i) {
          Value factor = all.loadFactor(
              1, all.at(1, 0, b.add(Index(firstK), Index(i)), Index(c)));
          memref::StoreOp::create(b.b, b.loc, factor, panel, i);
        });
        emitSums(Index(c), Index(firstK), depth);
      });
    });
  };
  // True if the left factor's rows can be read as vectors along k.
  bool hasRows =
      support::isRow(op->getOperand(0).getType()) &&
      all.map(0).getResults().back() == getAffineDimExpr(k, op.getContext());
  all.forEachPlace(/*isOuter=*/true, [&] {
    if (!hasRows)
      return emitElements();
    b.branch(b.compare(arith::CmpIPredicate::sge, sizes[k], 2 * lanes),
             emitDots, [&] { emitElements(); });
  });
}
