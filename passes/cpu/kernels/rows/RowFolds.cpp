//===- RowFolds.cpp - pieces and folds of rows ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/rows/RowEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

static VectorType vectorOf(IndexBuilder &b, int64_t lanes) {
  return VectorType::get({lanes}, b.b.getF32Type());
}

static int64_t lanesOf(Value vector) {
  return cast<VectorType>(vector.getType()).getDimSize(0);
}

static Value firstLanes(IndexBuilder &b, int64_t lanes, int64_t count) {
  SmallVector<bool> within(lanes, false);
  std::fill_n(within.begin(), count, true);
  return arith::ConstantOp::create(
      b.b, b.loc,
      DenseElementsAttr::get(VectorType::get({lanes}, b.b.getI1Type()),
                             within));
}

Value cpu::maskOfVector(IndexBuilder &b, const Tile &tile, int64_t vector) {
  if (vector < tile.vectors - 1 || tile.lastLanes == tile.lanes)
    return {};
  return firstLanes(b, tile.lanes, tile.lastLanes);
}

/// Builds an `scf.for` with a step that carries values.
static Accumulators
carry(IndexBuilder &b, Index begin, Index end, int64_t step,
      const Accumulators &start,
      function_ref<Accumulators(Index, const Accumulators &)> body) {
  if (!begin.value && !end.value && begin.constant >= end.constant)
    return start;
  auto loop = scf::ForOp::create(b.b, b.loc, b.get(begin), b.get(end),
                                 b.get(step), start);
  OpBuilder::InsertionGuard guard(b.b);
  b.b.setInsertionPointToStart(loop.getBody());
  Accumulators next = body(Index(loop.getInductionVar()),
                           Accumulators(loop.getRegionIterArgs()));
  scf::YieldOp::create(b.b, b.loc, next);
  return Accumulators(loop.getResults());
}

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

FoldKind cpu::foldKindOf(cpu::ReduceKind kind) {
  switch (kind) {
  case cpu::ReduceKind::sum:
  case cpu::ReduceKind::mean:
  case cpu::ReduceKind::sum_square:
    return FoldKind::sum;
  case cpu::ReduceKind::max:
    return FoldKind::maxOrNaN;
  case cpu::ReduceKind::min:
    return FoldKind::minOrNaN;
  case cpu::ReduceKind::prod:
    return FoldKind::prod;
  case cpu::ReduceKind::range:
    llvm_unreachable("folds by two kinds");
  }
  llvm_unreachable("unknown kind");
}

Value cpu::squareVector(IndexBuilder &b, Value x) {
  return arith::MulFOp::create(b.b, b.loc, x, x,
                               arith::FastMathFlags::contract);
}

Value cpu::foldVectors(IndexBuilder &b, FoldKind kind, Value x, Value y) {
  switch (kind) {
  case FoldKind::sum:
    return arith::AddFOp::create(b.b, b.loc, x, y,
                                 arith::FastMathFlags::contract);
  case FoldKind::prod:
    return arith::MulFOp::create(b.b, b.loc, x, y);
  case FoldKind::max: {
    // Emits a comparison and a selection, which become one instruction. It
    // returns `x` if y is NaN.
    Value isMore =
        arith::CmpFOp::create(b.b, b.loc, arith::CmpFPredicate::OGT, y, x);
    return arith::SelectOp::create(b.b, b.loc, isMore, y, x);
  }
  case FoldKind::maxOrNaN:
    return arith::MaximumFOp::create(b.b, b.loc, x, y);
  case FoldKind::maxSignedBits:
    return arith::MaxSIOp::create(b.b, b.loc, x, y);
  case FoldKind::maxUnsigned:
  case FoldKind::maxUnsignedBits:
    return arith::MaxUIOp::create(b.b, b.loc, x, y);
  case FoldKind::minOrNaN:
    return arith::MinimumFOp::create(b.b, b.loc, x, y);
  }
  llvm_unreachable("unknown kind");
}

Value cpu::neutralVector(IndexBuilder &b, FoldKind kind, int64_t lanes) {
  if (kind == FoldKind::maxUnsigned)
    return splatInt(b, VectorType::get({lanes}, b.b.getI8Type()), 0);
  if (kind == FoldKind::maxSignedBits || kind == FoldKind::maxUnsignedBits)
    return splatInt(b, VectorType::get({lanes}, b.b.getI32Type()), 0);
  float value = 0;
  if (kind == FoldKind::prod)
    value = 1;
  else if (kind == FoldKind::max || kind == FoldKind::maxOrNaN)
    value = -std::numeric_limits<float>::infinity();
  else if (kind == FoldKind::minOrNaN)
    value = std::numeric_limits<float>::infinity();
  return arith::ConstantOp::create(
      b.b, b.loc, DenseElementsAttr::get(vectorOf(b, lanes), value));
}

/// Folds all of `values` into one, as a tree.
static Value foldTree(IndexBuilder &b, FoldKind kind, ArrayRef<Value> values) {
  SmallVector<Value> level(values);
  while (level.size() > 1) {
    SmallVector<Value> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2)
      next.push_back(foldVectors(b, kind, level[i], level[i + 1]));
    if (level.size() % 2)
      next.push_back(level.back());
    level = std::move(next);
  }
  return level[0];
}

/// Folds all lanes of a vector: repeatedly folds one half with the other.
static Value foldHalves(IndexBuilder &b, FoldKind kind, Value vector) {
  for (int64_t half = lanesOf(vector) / 2; half != 0; half /= 2) {
    auto part = [&](int64_t first) -> Value {
      return vector::ShuffleOp::create(
          b.b, b.loc, vector, vector,
          llvm::to_vector(llvm::seq<int64_t>(first, first + half)));
    };
    vector = foldVectors(b, kind, part(0), part(half));
  }
  return vector::ExtractOp::create(b.b, b.loc, vector, 0);
}

Value cpu::foldLanes(IndexBuilder &b, FoldKind kind, Value vector) {
  std::optional<vector::CombiningKind> combining = [&] {
    using Combining = std::optional<vector::CombiningKind>;
    switch (kind) {
    case FoldKind::sum:
      return Combining(vector::CombiningKind::ADD);
    case FoldKind::prod:
      return Combining(vector::CombiningKind::MUL);
    case FoldKind::maxSignedBits:
      return Combining(vector::CombiningKind::MAXSI);
    case FoldKind::maxUnsigned:
    case FoldKind::maxUnsignedBits:
      return Combining(vector::CombiningKind::MAXUI);
    case FoldKind::max:
    case FoldKind::maxOrNaN:
    case FoldKind::minOrNaN:
      // Folds halves instead of using a reduction, in which LLVM would keep the
      // order of lanes.
      return Combining();
    }
    llvm_unreachable("unknown kind");
  }();
  if (!combining)
    return foldHalves(b, kind, vector);
  // Lets LLVM fold lanes as a tree; the order is the same in every run.
  return vector::ReductionOp::create(b.b, b.loc, *combining, vector,
                                     kind == FoldKind::sum ||
                                             kind == FoldKind::prod
                                         ? arith::FastMathFlags::reassoc
                                         : arith::FastMathFlags::none);
}

/// The largest number of values that are added in sequence in f32. The sums of
/// such sequences are added in f64. If n terms have one sign, the error is
/// below n/2 units in the last place.
static constexpr int64_t kSerialSums = 8;

static Value widen(IndexBuilder &b, Value x) {
  return arith::ExtFOp::create(
      b.b, b.loc, VectorType::get({lanesOf(x)}, b.b.getF64Type()), x);
}

static Value addWide(IndexBuilder &b, Value total, Value x) {
  return arith::AddFOp::create(b.b, b.loc, total, widen(b, x));
}

static Value zeroWide(IndexBuilder &b, int64_t lanes) {
  return arith::ConstantOp::create(
      b.b, b.loc, b.b.getZeroAttr(VectorType::get({lanes}, b.b.getF64Type())));
}

/// Returns `length` rounded down to a multiple of `multiple`.
static Index floorTo(IndexBuilder &b, Index length, int64_t multiple) {
  if (!length.value)
    return length.constant / multiple * multiple;
  return b.mul(b.div(length, multiple), multiple);
}

/// Returns true if there are so few terms that no f64 is needed.
static bool isShort(Index count) {
  return !count.value && count.constant <= kSerialSums;
}

/// Returns the vector 0, 1, 2, …
static Value numbers(IndexBuilder &b, int64_t lanes) {
  auto values = llvm::to_vector(llvm::seq<int32_t>(lanes));
  return arith::ConstantOp::create(
      b.b, b.loc,
      DenseElementsAttr::get(VectorType::get({lanes}, b.b.getI32Type()),
                             ArrayRef<int32_t>(values)));
}

Value cpu::maskOfFirst(IndexBuilder &b, int64_t lanes, Index count) {
  return arith::CmpIOp::create(
      b.b, b.loc, arith::CmpIPredicate::slt, numbers(b, lanes),
      splat(b, lanes,
            arith::IndexCastOp::create(b.b, b.loc, b.b.getI32Type(),
                                       b.get(count))));
}

/// Returns the piece behind the last whole vector; nullopt if it is empty.
static std::optional<Piece> tailOf(IndexBuilder &b, int64_t lanes,
                                   Index length) {
  if (!length.value) {
    int64_t rest = length.constant % lanes;
    if (rest == 0)
      return std::nullopt;
    return Piece{length.constant - rest, firstLanes(b, lanes, rest)};
  }
  return Piece{floorTo(b, length, lanes),
               maskOfFirst(b, lanes, b.rem(length, lanes))};
}

void cpu::forEachPiece(IndexBuilder &b, const TargetInfo &target, Index length,
                       function_ref<void(IndexBuilder &, const Piece &)> body) {
  forEach(b, 0, floorTo(b, length, target.lanes), target.lanes, [&](Value at) {
    body(b, Piece{Index(at), {}});
  });
  if (std::optional<Piece> tail = tailOf(b, target.lanes, length))
    body(b, *tail);
}

void cpu::forEachLongPiece(
    IndexBuilder &b, const TargetInfo &target, Index length,
    function_ref<void(IndexBuilder &, const Piece &)> body) {
  forEachPiece(b, target, length, [&](IndexBuilder &b, const Piece &piece) {
    if (!piece.mask || !length.value)
      return body(b, piece);
    b.branch(b.compare(arith::CmpIPredicate::slt, piece.at, length),
             [&] { body(b, piece); });
  });
}

namespace {

/// A pass over a row that folds its elements by each of `kinds`. The
/// accumulators of a kind are neighbours.
struct RowFold {
  RowFold(IndexBuilder &b, const TargetInfo &target, Index length,
          ArrayRef<FoldKind> kinds, PieceFn element)
      : b(b), lanes(target.lanes), accumulators(target.fma_latency),
        step(accumulators * lanes), length(length),
        endMain(floorTo(b, length, step)), kinds(kinds), element(element) {}

  /// Returns `count` neutral accumulators for each kind.
  Accumulators start(int64_t count);
  /// Folds neighbouring vectors, the first one at `at`, with `sums`.
  Accumulators fold(Index at, const Accumulators &sums);
  Accumulators foldMain(Index from, Index end);
  /// Folds the few whole vectors behind the steps, and the tail.
  Accumulators foldRest();

  IndexBuilder &b;
  /// There are enough accumulators to hide the latency of an addition.
  int64_t lanes, accumulators, step;
  Index length, endMain;
  ArrayRef<FoldKind> kinds;
  PieceFn element;
};

} // namespace

Accumulators RowFold::start(int64_t count) {
  Accumulators sums;
  for (FoldKind kind : kinds)
    sums.append(count, neutralVector(b, kind, lanes));
  return sums;
}

Accumulators RowFold::fold(Index at, const Accumulators &sums) {
  Accumulators next(sums);
  const size_t count = sums.size() / kinds.size();
  for (size_t i = 0; i < count; ++i) {
    Value x = element(b, Piece{b.add(at, int64_t(i) * lanes), {}});
    for (auto [k, kind] : llvm::enumerate(kinds))
      next[k * count + i] = foldVectors(b, kind, sums[k * count + i], x);
  }
  return next;
}

Accumulators RowFold::foldMain(Index from, Index end) {
  Accumulators sums =
      carry(b, from, end, step, start(accumulators),
            [&](Index at, const Accumulators &sums) { return fold(at, sums); });
  Accumulators folded;
  for (auto [k, kind] : llvm::enumerate(kinds))
    folded.push_back(foldTree(
        b, kind, ArrayRef(sums).slice(k * accumulators, accumulators)));
  return folded;
}

Accumulators RowFold::foldRest() {
  Accumulators rest =
      carry(b, endMain, floorTo(b, length, lanes), lanes, start(1),
            [&](Index at, const Accumulators &sums) { return fold(at, sums); });
  std::optional<Piece> tail = tailOf(b, lanes, length);
  if (!tail)
    return rest;
  Value last = element(b, *tail);
  for (auto [kind, sum] : llvm::zip_equal(kinds, rest)) {
    Value kept = kind == FoldKind::sum
                     ? keepLanes(b, tail->mask, last)
                     : arith::SelectOp::create(b.b, b.loc, tail->mask, last,
                                               neutralVector(b, kind, lanes));
    sum = foldVectors(b, kind, sum, kept);
  }
  return rest;
}

Accumulators cpu::foldRowByKinds(IndexBuilder &b, const TargetInfo &target,
                                 Index length, ArrayRef<FoldKind> kinds,
                                 PieceFn element) {
  RowFold row(b, target, length, kinds, element);
  Accumulators main = row.foldMain(0, row.endMain), rest = row.foldRest();
  Accumulators folded;
  for (auto [kind, x, y] : llvm::zip_equal(kinds, main, rest))
    folded.push_back(foldLanes(b, kind, foldVectors(b, kind, x, y)));
  return folded;
}

Value cpu::foldRow(IndexBuilder &b, const TargetInfo &target, Index length,
                   FoldKind kind, PieceFn element) {
  RowFold row(b, target, length, kind, element);
  bool inWide = kind == FoldKind::sum &&
                (length.value || !isShort(length.constant / row.step));
  if (!inWide)
    return foldRowByKinds(b, target, length, kind, element)[0];
  int64_t chunk = kSerialSums * row.step;
  Value total =
      carry(b, 0, row.endMain, chunk, {zeroWide(b, row.lanes)},
            [&](Index from, const Accumulators &total) -> Accumulators {
              Index end = b.min(b.add(from, chunk), row.endMain);
              return {addWide(b, total[0], row.foldMain(from, end)[0])};
            })[0];
  total = addWide(b, total, row.foldRest()[0]);
  return arith::TruncFOp::create(b.b, b.loc, b.b.getF32Type(),
                                 foldLanes(b, kind, total));
}

Value cpu::isOneColumn(IndexBuilder &b, Index columns, ArrayRef<Flat> memrefs) {
  Value holds = b.compare(arith::CmpIPredicate::eq, columns, 1);
  for (const Flat &memref : memrefs) {
    Index stride = memref.strides[memref.strides.size() - 2];
    holds = b.both(holds, b.compare(arith::CmpIPredicate::eq, stride, 1));
  }
  return holds;
}

Accumulators
cpu::foldColumns(IndexBuilder &b, const Tile &tile, Index rows, FoldKind kind,
                 function_ref<Value(IndexBuilder &, Index, int64_t)> element) {
  int64_t vectors = tile.vectors;
  Value neutral = neutralVector(b, kind, tile.lanes);
  Index endMain = floorTo(b, rows, tile.rows);
  Accumulators start(tile.rows * vectors, neutral);
  auto foldSome = [&](int64_t count) {
    return [&, count](Index row, const Accumulators &sums) {
      Accumulators next(sums);
      for (int64_t r = 0; r < count; ++r)
        for (int64_t v = 0; v < vectors; ++v) {
          Value &sum = next[r * vectors + v];
          sum = foldVectors(b, kind, sum, element(b, b.add(row, r), v));
        }
      return next;
    };
  };
  auto foldSideBySide = [&](const Accumulators &sums) {
    Accumulators folded;
    for (int64_t v = 0; v < vectors; ++v) {
      SmallVector<Value> column;
      for (size_t i = v; i < sums.size(); i += vectors)
        column.push_back(sums[i]);
      folded.push_back(foldTree(b, kind, column));
    }
    return folded;
  };
  Accumulators rest =
      carry(b, endMain, rows, 1, Accumulators(vectors, neutral), foldSome(1));
  bool inWide = kind == FoldKind::sum &&
                (rows.value || !isShort(rows.constant / tile.rows));
  if (!inWide) {
    Accumulators sums =
        carry(b, 0, endMain, tile.rows, start, foldSome(tile.rows));
    sums.append(rest);
    return foldSideBySide(sums);
  }
  int64_t chunk = kSerialSums * tile.rows;
  Accumulators totals = carry(
      b, 0, endMain, chunk, Accumulators(vectors, zeroWide(b, tile.lanes)),
      [&](Index from, const Accumulators &totals) {
        Index end = b.min(b.add(from, chunk), endMain);
        Accumulators sums = foldSideBySide(
            carry(b, from, end, tile.rows, start, foldSome(tile.rows)));
        Accumulators next;
        for (auto [total, sum] : llvm::zip_equal(totals, sums))
          next.push_back(addWide(b, total, sum));
        return next;
      });
  Accumulators sums;
  for (auto [total, last] : llvm::zip_equal(totals, rest))
    sums.push_back(arith::TruncFOp::create(b.b, b.loc, vectorOf(b, tile.lanes),
                                           addWide(b, total, last)));
  return sums;
}
