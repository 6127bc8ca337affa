//===- SoftmaxToVector.cpp - cpu-softmax-to-vector ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Softmax and its logarithm:
//
//     for row
//       maximum
//       exponentials: summed up, and stored in dst unless dst has integers
//         or the logarithm is wanted
//       exponentials over the sum, or x - max - log(sum); epilogue, store
//
// A row of up to two vectors stays in registers. Along columns, the kernel
// handles one vector of columns at a time, over all rows. If an open number of
// columns is one at run time, the column is computed like a row.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/Passes.h"
#include "passes/cpu/kernels/rows/RowEmitter.h"
#include "passes/cpu/policy/Thresholds.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <functional>

namespace ingot {
#define GEN_PASS_DEF_SOFTMAXTOVECTOR
#include "passes/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

namespace {

struct Emitter : RowEmitter<cpu::SoftmaxOp, Emitter> {
  using RowEmitter::RowEmitter;

  void emit(Value task) {
    if (op.getColumns())
      emitColumns(task);
    else
      RowEmitter::emit(task);
  }
  void emitRow(ArrayRef<Index> row);
  void emitShortRow(ArrayRef<Index> row, Index length, int64_t vectors);
  void emitLongRow(ArrayRef<Index> row, Index length);
  SmallVector<Index> placeInRow(ArrayRef<Index> row, Index at);
  void emitColumns(Value task);
  void emitColumn(ArrayRef<Index> outer, Index column, Value mask);

  Type element() { return getElementTypeOrSelf(output.dst.data); }
  /// Returns true if dst holds exponentials until their sum is known.
  bool isKept() { return !op.getLog() && isa<FloatType>(element()); }
  Value power(Value x, Value max);
  void keepPower(Value power, Index at, Value mask);
  Value finish(Value x, Value scale);
  Value scaleOf(Value sum);
};

struct SoftmaxToVectorPass
    : ingot::impl::SoftmaxToVectorBase<SoftmaxToVectorPass> {
  void runOnOperation() override {
    if (failed(emitKernels<cpu::SoftmaxOp, Emitter>(getOperation())))
      signalPassFailure();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value Emitter::power(Value x, Value max) {
  Value shifted = arith::SubFOp::create(b.b, b.loc, x, max);
  return math::ExpOp::create(b.b, b.loc, shifted);
}

/// Stores an exponential in dst until the sum is known.
void Emitter::keepPower(Value power, Index at, Value mask) {
  if (!element().isF32())
    power = arith::TruncFOp::create(
        b.b, b.loc, VectorType::get({lanes}, element()), power);
  storePiece(b, power, output.dst.data, at, mask);
}

/// Returns the factor of the exponentials. With the logarithm, returns the
/// value to subtract instead. `sum` is a vector or a scalar.
Value Emitter::scaleOf(Value sum) {
  if (op.getLog())
    return math::LogOp::create(b.b, b.loc, sum);
  Value one = floatConstant(b, 1);
  if (auto type = dyn_cast<VectorType>(sum.getType()))
    one = splat(b, type.getDimSize(0), one);
  return arith::DivFOp::create(b.b, b.loc, one, sum);
}

Value Emitter::finish(Value x, Value scale) {
  if (op.getLog())
    return arith::SubFOp::create(b.b, b.loc, x, scale);
  return arith::MulFOp::create(b.b, b.loc, x, scale);
}

//===----------------------------------------------------------------------===//
// Along rows
//===----------------------------------------------------------------------===//

/// Returns the indices of element `at` of a row. With `columns`, src has
/// another dimension behind the row. A row is used only if that dimension has
/// size 1, so its index is 0.
SmallVector<Index> Emitter::placeInRow(ArrayRef<Index> row, Index at) {
  SmallVector<Index> place(row);
  place.push_back(at);
  if (op.getColumns())
    place.push_back(0);
  return place;
}

void Emitter::emitRow(ArrayRef<Index> row) {
  Index length = dimOf(b, op.getSrc(), row.size());
  if (!length.value) {
    if (length.constant > 0 &&
        length.constant <= cpu::threshold::softmaxShortVectors * lanes)
      emitShortRow(row, length, llvm::divideCeil(length.constant, lanes));
    else
      emitLongRow(row, length);
    return;
  }
  std::function<void(int64_t)> emitOf = [&](int64_t vectors) {
    if (vectors > cpu::threshold::softmaxShortVectors)
      return emitLongRow(row, length);
    b.branch(b.compare(arith::CmpIPredicate::sle, length, vectors * lanes),
             [&] { emitShortRow(row, length, vectors); },
             [&] { emitOf(vectors + 1); });
  };
  emitOf(1);
}

/// Emits a row of more than `vectors - 1` and at most `vectors` vectors.
void Emitter::emitShortRow(ArrayRef<Index> row, Index length,
                           int64_t vectors) {
  Index from = src.at(b, placeInRow(row, 0));
  int64_t lastAt = (vectors - 1) * lanes;
  Value mask;
  if (length.value || length.constant != vectors * lanes)
    mask = maskOfFirst(b, lanes, b.add(length, -lastAt));
  auto maskOf = [&](int64_t v) { return v == vectors - 1 ? mask : Value(); };
  auto fold = [&](FoldKind kind, ArrayRef<Value> values) {
    Value folded = values[0];
    for (Value value : values.drop_front())
      folded = foldVectors(b, kind, folded, value);
    return foldLanes(b, kind, folded);
  };
  SmallVector<Value> values, inRow;
  for (int64_t v = 0; v < vectors; ++v) {
    values.push_back(
        loadPiece(b, lanes, src.data, b.add(from, v * lanes), maskOf(v)));
    inRow.push_back(values.back());
    if (maskOf(v))
      inRow.back() = arith::SelectOp::create(
          b.b, b.loc, mask, values.back(),
          neutralVector(b, FoldKind::max, lanes));
  }
  Value max = splat(b, lanes, fold(FoldKind::max, inRow));
  SmallVector<Value> powers, counted;
  for (int64_t v = 0; v < vectors; ++v) {
    powers.push_back(power(values[v], max));
    counted.push_back(keepLanes(b, maskOf(v), powers.back()));
  }
  Value scale = splat(b, lanes, scaleOf(fold(FoldKind::sum, counted)));
  for (int64_t v = 0; v < vectors; ++v) {
    Value x = powers[v];
    if (op.getLog())
      x = arith::SubFOp::create(b.b, b.loc, values[v], max);
    storeVector(b, output, finish(x, scale),
                VectorAt{placeInRow(row, v * lanes), lanes, lanes, maskOf(v)});
  }
}

void Emitter::emitLongRow(ArrayRef<Index> row, Index length) {
  SmallVector<Index> first = placeInRow(row, 0);
  Index from = src.at(b, first), to = output.dst.at(b, first);
  auto load = [&](IndexBuilder &b, const Piece &piece) {
    return loadPiece(b, lanes, src.data, b.add(from, piece.at), piece.mask);
  };
  Value max =
      splat(b, lanes, foldRow(b, plan.target, length, FoldKind::max, load));
  auto powerOf = [&](IndexBuilder &b, const Piece &piece) {
    Value powered = power(load(b, piece), max);
    if (isKept())
      keepPower(powered, b.add(to, piece.at), piece.mask);
    return powered;
  };
  Value sum = foldRow(b, plan.target, length, FoldKind::sum, powerOf);
  Value scale = splat(b, lanes, scaleOf(sum));
  forEachPiece(
      b, plan.target, length, [&](IndexBuilder &b, const Piece &piece) {
        Value x;
        if (op.getLog())
          x = arith::SubFOp::create(b.b, b.loc, load(b, piece), max);
        else if (isKept())
          x = loadPiece(b, lanes, output.dst.data, b.add(to, piece.at),
                        piece.mask);
        else
          x = powerOf(b, piece);
        storeVector(
            b, output, finish(x, scale),
            VectorAt{placeInRow(row, piece.at), lanes, lanes, piece.mask});
      });
}

//===----------------------------------------------------------------------===//
// Along columns
//===----------------------------------------------------------------------===//

void Emitter::emitColumns(Value task) {
  int64_t last = src.shape.size() - 1;
  Index width = dimOf(b, op.getSrc(), last);
  Index blocks = b.divideCeil(width, kSoftmaxColumns);
  Index all = b.mul(countOf(b, op.getSrc(), 0, last - 1), blocks);
  TaskRange range = rangeOf(b, task, plan.grid, all, 1);
  forEach(b, range.firstRow, range.endRow, 1, [&](Value number) {
    SmallVector<Index> outer = coordinatesOf(b, op.getSrc(), last - 1,
                                             b.div(Index(number), blocks));
    Index column = b.mul(b.rem(Index(number), blocks), kSoftmaxColumns);
    Index rest = b.sub(width, column);
    auto emitBlock = [&] {
      forEachLongPiece(b, plan.target, b.min(rest, kSoftmaxColumns),
                       [&](IndexBuilder &b, const Piece &piece) {
                         emitColumn(outer, b.add(column, piece.at), piece.mask);
                       });
    };
    if (!width.value || !output.operands.empty())
      return emitBlock();
    b.branch(isOneColumn(b, width, {src, output.dst}),
             [&] { emitRow(outer); }, emitBlock);
  });
}

/// Emits a vector of columns.
void Emitter::emitColumn(ArrayRef<Index> outer, Index column, Value mask) {
  int64_t last = src.shape.size() - 1;
  Index rows = dimOf(b, op.getSrc(), last - 1);
  auto placeOf = [&](Index row) {
    SmallVector<Index> at(outer);
    at.push_back(row);
    at.push_back(column);
    return at;
  };
  auto load = [&](Index row) {
    return loadPiece(b, lanes, src.data, src.at(b, placeOf(row)), mask);
  };
  Tile tile{/*rows=*/4, /*vectors=*/1, lanes, lanes, plan.target.hasFMA};
  Value max = foldColumns(b, tile, rows, FoldKind::max,
                          [&](IndexBuilder &, Index row, int64_t) {
                            return load(row);
                          })[0];
  auto powerOf = [&](Index row) {
    Value powered = power(load(row), max);
    if (isKept())
      keepPower(powered, output.dst.at(b, placeOf(row)), mask);
    return powered;
  };
  // Folds two exponentials in each step, so that constants stay in registers.
  Value sum = foldColumns(b, tile.withRows(2), rows, FoldKind::sum,
                          [&](IndexBuilder &, Index row, int64_t) {
                            return powerOf(row);
                          })[0];
  Value scale = scaleOf(sum);
  forEach(b, 0, rows, 1, [&](Value number) {
    Index row(number);
    Value x;
    if (op.getLog())
      x = arith::SubFOp::create(b.b, b.loc, load(row), max);
    else if (isKept())
      x = loadPiece(b, lanes, output.dst.data, output.dst.at(b, placeOf(row)),
                    mask);
    else
      x = powerOf(row);
    storeVector(b, output, finish(x, scale),
                VectorAt{placeOf(row), lanes, lanes, mask});
  });
}
