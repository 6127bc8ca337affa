//===- BandMatMulToVector.cpp - cpu-band-matmul-to-vector -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products by a band matrix along dimension `dim`. If there are more channels
// than a vector has lanes, a task's row is one row of the matrix:
//
//     for row
//       for vectors of channels
//         sum over taps of weight times vector of src; epilogue, store
//
// If there are fewer channels, a vector of src holds P positions of C channels,
// in the order of memory. The row of a task is then the whole dimension `dim`:
//
//     for rows of src, a few at once
//       for P rows of the matrix
//         for each: sum over P taps at once, P partial sums of each channel
//         add up partial sums until a vector holds P results; epilogue, store
//
// Taps behind src are not read. Near the end of src, the second form uses
// masked vectors, one row and one position at a time.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/Passes.h"
#include "passes/cpu/kernels/rows/RowEmitter.h"
#include "passes/cpu/policy/Thresholds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

namespace ingot {
#define GEN_PASS_DEF_BANDMATMULTOVECTOR
#include "passes/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

namespace {

/// The number of vectors of channels that are summed up together.
const int64_t &kVectorsAtOnce = cpu::threshold::bandVectors;

/// The lanes that are read of a vector of positions: all lanes, the lanes of
/// its P positions, or the lanes of positions within src.
enum class Reads { all, positions, within };

/// A row of src and of dst: its offset in src, and its coordinates in dst up to
/// `dim`.
struct BandRow {
  Index srcAt;
  SmallVector<Index> coordinates;
};

struct Emitter {
  Emitter(OpBuilder &builder, cpu::BandMatMulOp op)
      : b{builder, op.getLoc()}, op(op), plan(op), src(b, op.getSrc()),
        starts(b, op.getStarts()), weights(b, op.getWeights()),
        output(b, op), lanes(plan.target.lanes), dim(op.getDim()),
        rank(src.shape.size()), taps(dimOf(b, op.getWeights(), 1)),
        depth(dimOf(b, op.getSrc(), dim)) {
    channels = op.numChannels();
    if (packsPositions(op))
      while (2 * positions * channels <= lanes)
        positions *= 2;
  }

  void emit(Value task);
  /// Returns true if no tap is behind src for any sizes.
  bool isWithinSrc() {
    return !taps.value && !depth.value && taps.constant <= depth.constant;
  }

  void emitChannels(ArrayRef<Index> row);
  Value weightAt(Index row, Index tap);
  Accumulators sumChannels(const Index &at, const Index &row, Index count,
                           int64_t vectors, Value mask, ArrayRef<Value> kept);

  void emitPositions(const TaskRange &range);
  void emitAllRows(const TaskRange &range);
  void emitSingly(Index begin, Index end, Reads reads);
  void specializeTaps(int64_t vectors, function_ref<void()> body);
  BandRow rowAt(Index number);
  void emitRows(ArrayRef<BandRow> rows, Reads reads);
  void emitGroup(ArrayRef<BandRow> rows, Index first, int64_t count,
                 Reads reads, bool mayOverwrite);
  Accumulators sumPosition(ArrayRef<BandRow> rows, Index position,
                           Reads reads);
  Value loadWeights(Index at);
  Value loadPositions(Index at, Index left, Reads reads);
  Value combine(Value a, Value other, int64_t results);
  void store(const BandRow &row, Index first, int64_t count, Value sums,
             bool mayOverwrite);
  void readFactors();
  Value takeLanes(Value vector, ArrayRef<int64_t> from);
  Index startOf(Index row);

  IndexBuilder b;
  cpu::BandMatMulOp op;
  Plan plan;
  Flat src, starts, weights;
  Output output;
  int64_t lanes, dim, rank, channels;
  Index taps, depth;
  /// The number of positions of src in a vector.
  int64_t positions = 1;
  /// Operands of the epilogue that are equal for all pixels, as vectors; null
  /// for other operands.
  SmallVector<Value> factors;
};

struct BandMatMulToVectorPass
    : ingot::impl::BandMatMulToVectorBase<BandMatMulToVectorPass> {
  void runOnOperation() override {
    if (failed(emitKernels<cpu::BandMatMulOp, Emitter>(getOperation())))
      signalPassFailure();
  }
};

} // namespace

void Emitter::emit(Value task) {
  Index rows = countOf(b, op.getDst(), 0, numRowDims(op));
  TaskRange range = rangeOf(b, task, plan.grid, rows, 1);
  if (packsPositions(op))
    return emitPositions(range);
  forEach(b, range.firstRow, range.endRow, 1, [&](Value number) {
    emitChannels(coordinatesOf(b, op.getDst(), dim + 1, Index(number)));
  });
}

/// Returns the first position of src that a row of the matrix reads.
Index Emitter::startOf(Index row) {
  Value start = memref::LoadOp::create(b.b, b.loc, starts.data,
                                       b.get(starts.at(b, {row})));
  return Index(Value(
      arith::IndexCastOp::create(b.b, b.loc, b.b.getIndexType(), start)));
}

//===----------------------------------------------------------------------===//
// Vectors of channels
//===----------------------------------------------------------------------===//

Value Emitter::weightAt(Index row, Index tap) {
  Value weight = memref::LoadOp::create(b.b, b.loc, weights.data,
                                        b.get(weights.at(b, {row, tap})));
  return splat(b, lanes, weight);
}

/// Returns the sums of `vectors` vectors of channels over `count` taps. The
/// first vector begins at `at` in the first position.
Accumulators Emitter::sumChannels(const Index &at, const Index &row,
                                  Index count, int64_t vectors, Value mask,
                                  ArrayRef<Value> kept) {
  auto addTap = [&](Index tap, Value weight, const Accumulators &sums) {
    Accumulators next;
    for (auto [v, sum] : llvm::enumerate(sums)) {
      Index from = b.add(b.add(at, b.mul(tap, src.strides[dim])),
                         int64_t(v) * lanes);
      Value x = bytesToFloats(b, loadPiece(b, lanes, src.data, from, mask));
      next.push_back(
          multiplyAddVectors(b, plan.target.hasFMA, x, weight, sum));
    }
    return next;
  };
  Accumulators sums(vectors, neutralVector(b, FoldKind::sum, lanes));
  if (kept.empty())
    return forEach(b, 0, count, sums,
                   [&](Value tap, const Accumulators &sums) {
                     return addTap(Index(tap), weightAt(row, Index(tap)),
                                   sums);
                   });
  for (auto [tap, weight] : llvm::enumerate(kept))
    sums = addTap(int64_t(tap), weight, sums);
  return sums;
}

/// Emits all channels of one row of the matrix, at `row` in dst.
void Emitter::emitChannels(ArrayRef<Index> row) {
  SmallVector<Index> from(row);
  Index start = startOf(row[dim]), count = taps;
  from[dim] = start;
  from.push_back(0);
  Index srcAt = src.at(b, from);
  SmallVector<Value> kept;
  if (!isWithinSrc())
    count = b.min(taps, b.sub(depth, start));
  else if (taps.constant <= cpu::threshold::bandKeptTaps)
    for (int64_t tap = 0; tap < taps.constant; ++tap)
      kept.push_back(weightAt(row[dim], tap));
  auto emitVectors = [&](Index channel, int64_t vectors, Value mask) {
    Accumulators sums = sumChannels(b.add(srcAt, channel), row[dim], count,
                                    vectors, mask, kept);
    for (auto [v, sum] : llvm::enumerate(sums)) {
      SmallVector<Index> coordinates(row);
      coordinates.push_back(b.add(channel, int64_t(v) * lanes));
      storeVector(b, output, sum, VectorAt{coordinates, lanes, lanes, mask});
    }
  };
  Index length = dimOf(b, op.getDst(), dim + 1);
  // Uses more vectors if the taps are in a loop, so that the loop does more
  // work for each weight.
  int64_t atOnce = isWithinSrc() ? kVectorsAtOnce : 2 * kVectorsAtOnce;
  int64_t step = atOnce * lanes;
  Index main = b.mul(b.div(length, step), step);
  forEach(b, 0, main, step, [&](Value channel) {
    emitVectors(Index(channel), atOnce, {});
  });
  // Lets the last vector begin earlier, so that it needs no mask.
  if (!length.value && length.constant >= lanes && output.mayStoreAgain()) {
    int64_t end = length.constant, at = main.constant;
    for (; at + lanes <= end; at += lanes)
      emitVectors(at, 1, {});
    if (at < end)
      emitVectors(end - lanes, 1, {});
    return;
  }
  Index whole = b.mul(b.div(length, lanes), lanes);
  forEach(b, main, whole, lanes,
          [&](Value channel) { emitVectors(Index(channel), 1, {}); });
  Index rest = b.sub(length, whole);
  if (!rest.value && rest.constant == 0)
    return;
  Value mask = maskOfFirst(b, lanes, rest);
  if (!rest.value)
    return emitVectors(whole, 1, mask);
  b.branch(b.compare(arith::CmpIPredicate::sgt, rest, 0),
           [&] { emitVectors(whole, 1, mask); });
}

//===----------------------------------------------------------------------===//
// Vectors of positions
//===----------------------------------------------------------------------===//

BandRow Emitter::rowAt(Index number) {
  BandRow row{0, coordinatesOf(b, op.getDst(), dim, number)};
  for (auto [at, stride] : llvm::zip(row.coordinates, src.strides))
    row.srcAt = b.add(row.srcAt, b.mul(at, stride));
  return row;
}

void Emitter::emitPositions(const TaskRange &range) {
  if (rank == dim + 2)
    readFactors();
  if (isWithinSrc())
    return emitAllRows(range);
  b.branch(
      b.compare(arith::CmpIPredicate::sle, taps, depth),
      [&] { emitAllRows(range); },
      [&] { emitSingly(range.firstRow, range.endRow, Reads::within); });
}

void Emitter::emitSingly(Index begin, Index end, Reads reads) {
  forEach(b, begin, end, 1, [&](Value number) {
    emitRows(rowAt(Index(number)), reads);
  });
}

/// Emits several rows at a time, which share weights, and then the remaining
/// rows one at a time. Lanes behind the last position are behind src only in
/// the last row. The last row is always one of the remaining rows.
void Emitter::emitAllRows(const TaskRange &range) {
  int64_t atOnce =
      lanes >= 16 ? cpu::threshold::bandRows : cpu::threshold::bandRowsOfShort;
  Index end = range.endRow;
  if (positions * channels < lanes)
    end = b.min(end, b.add(countOf(b, op.getDst(), 0, dim), -1));
  Index count = b.max(b.sub(end, range.firstRow), 0);
  Index main = b.add(range.firstRow, b.mul(b.div(count, atOnce), atOnce));
  specializeTaps(1, [&] {
    forEach(b, range.firstRow, main, atOnce, [&](Value first) {
      SmallVector<BandRow> rows;
      for (int64_t i = 0; i < atOnce; ++i)
        rows.push_back(rowAt(b.add(Index(first), i)));
      emitRows(rows, Reads::all);
    });
  });
  emitSingly(main, range.endRow, Reads::positions);
}

/// Runs `body` with a constant number of taps if the open number fills between
/// `vectors` and cpu::threshold::bandSpecialVectors vectors. With more taps,
/// runs it with the open number.
void Emitter::specializeTaps(int64_t vectors, function_ref<void()> body) {
  if (!taps.value || vectors > cpu::threshold::bandSpecialVectors)
    return body();
  Index open = taps, known = vectors * positions;
  auto withKnown = [&] {
    taps = known;
    body();
    taps = open;
  };
  b.branch(b.compare(arith::CmpIPredicate::eq, open, known), withKnown,
           [&] { specializeTaps(vectors + 1, body); });
}

void Emitter::emitRows(ArrayRef<BandRow> rows, Reads reads) {
  Index all = dimOf(b, op.getDst(), dim);
  auto emitGroups = [&](Index begin, Index end, int64_t n, bool mayOverwrite) {
    forEach(b, begin, end, n, [&](Value first) {
      emitGroup(rows, Index(first), n, reads, mayOverwrite);
    });
  };
  if (reads == Reads::within)
    return emitGroups(0, all, 1, false);
  auto floor = [&](Index n) { return b.mul(b.div(n, positions), positions); };
  Index whole = floor(all), overwriting = 0;
  // Stores a whole vector if a later group overwrites the excess lanes. At
  // least `spare` positions must follow the group.
  int64_t spare = llvm::divideCeil(lanes - positions * channels, channels);
  if (output.mayStoreAgain())
    overwriting = floor(b.max(b.sub(all, spare), 0));
  emitGroups(0, overwriting, positions, true);
  emitGroups(overwriting, whole, positions, false);
  if (all.value)
    return emitGroups(whole, all, 1, false);
  if (whole.constant < all.constant)
    emitGroup(rows, whole, all.constant - whole.constant, reads, false);
}

/// Emits `count` rows of the matrix, beginning with `first`.
void Emitter::emitGroup(ArrayRef<BandRow> rows, Index first, int64_t count,
                        Reads reads, bool mayOverwrite) {
  // For each row, the sums that are not combined yet.
  SmallVector<SmallVector<Value>> waiting(rows.size());
  for (int64_t i = 0; i < positions; ++i) {
    Accumulators sums;
    if (i < count)
      sums = sumPosition(rows, b.add(first, i), reads);
    for (size_t r = 0; r < rows.size(); ++r) {
      SmallVector<Value> &stack = waiting[r];
      stack.push_back(i < count ? sums[r] : stack.back());
      int64_t results = 1;
      for (int64_t n = i + 1; n % 2 == 0; n /= 2) {
        Value other = stack.pop_back_val();
        stack.back() = combine(stack.back(), other, results);
        results *= 2;
      }
    }
  }
  for (auto [row, stack] : llvm::zip_equal(rows, waiting))
    store(row, first, count, stack.front(), mayOverwrite);
}

/// Returns the sums of one row of the matrix for all of `rows`. A sum holds P
/// partial sums of each channel.
Accumulators Emitter::sumPosition(ArrayRef<BandRow> rows, Index position,
                                  Reads reads) {
  Index begin = startOf(position), start = b.mul(begin, channels);
  Index weightsAt = weights.at(b, {position, 0});
  auto addVector = [&](Index tap, const Accumulators &sums) {
    Value weight = loadWeights(b.add(weightsAt, tap));
    Index from = b.add(start, b.mul(tap, channels)), left = 0;
    if (reads == Reads::within)
      left = b.sub(b.sub(depth, begin), tap);
    Accumulators next;
    for (size_t r = 0; r < rows.size(); ++r) {
      Value x = loadPositions(b.add(rows[r].srcAt, from), left, reads);
      next.push_back(
          sums.empty()
              ? Value(arith::MulFOp::create(b.b, b.loc, x, weight))
              : multiplyAddVectors(b, plan.target.hasFMA, x, weight, sums[r]));
    }
    return next;
  };
  auto addEach = [&](Value v, const Accumulators &sums) {
    return addVector(b.mul(Index(v), positions), sums);
  };
  Index vectors = b.div(taps, positions);
  if (vectors.value)
    return forEach(b, 1, vectors, addVector(0, {}), addEach);
  if (vectors.constant > cpu::threshold::bandUnrolledVectors)
    return forEach(
        b, 0, vectors,
        Accumulators(rows.size(), neutralVector(b, FoldKind::sum, lanes)),
        addEach);
  Accumulators sums;
  for (int64_t v = 0; v < vectors.constant; ++v)
    sums = addVector(v * positions, sums);
  return sums;
}

/// Returns lanes `from` of a vector. The index -1 gives an undefined lane.
Value Emitter::takeLanes(Value vector, ArrayRef<int64_t> from) {
  return vector::ShuffleOp::create(b.b, b.loc, vector, vector, from);
}

/// Loads the weights of P taps and repeats each weight for every channel.
Value Emitter::loadWeights(Index at) {
  Value each = loadPiece(b, positions, weights.data, at, {});
  if (positions == lanes)
    return each;
  SmallVector<int64_t> from(lanes, 0);
  for (int64_t lane = 0; lane < positions * channels; ++lane)
    from[lane] = lane / channels;
  return takeLanes(each, from);
}

/// Returns P positions of src as floats; lanes behind them are undefined. With
/// Reads::within, positions behind the first `left` are 0.
Value Emitter::loadPositions(Index at, Index left, Reads reads) {
  int64_t used = positions * channels;
  if (reads == Reads::within) {
    Index count = b.max(b.mul(b.min(left, positions), channels), 0);
    return bytesToFloats(b, loadPiece(b, lanes, src.data, at,
                                      maskOfFirst(b, lanes, count)));
  }
  if (reads == Reads::all || used == lanes)
    return bytesToFloats(b, loadPiece(b, lanes, src.data, at, {}));
  Value exact = loadPiece(b, used, src.data, at, {});
  SmallVector<int64_t> from(lanes, 0);
  std::iota(from.begin(), from.begin() + used, 0);
  return bytesToFloats(b, takeLanes(exact, from));
}

/// Adds up neighbouring partial sums of two vectors, each with `results`
/// results. The returned vector has twice as many results and half as many
/// partial sums.
Value Emitter::combine(Value a, Value other, int64_t results) {
  int64_t partial = positions / results, half = partial / 2;
  auto part = [&](int64_t offset) -> Value {
    SmallVector<int64_t> from;
    for (int64_t vector = 0; vector < 2; ++vector)
      for (int64_t result = 0; result < results; ++result)
        for (int64_t i = 0; i < half * channels; ++i)
          from.push_back(vector * lanes + result * partial * channels +
                         offset + i);
    from.resize(lanes, 0);
    return vector::ShuffleOp::create(b.b, b.loc, a, other, from);
  };
  return arith::AddFOp::create(b.b, b.loc, part(0), part(half * channels),
                               arith::FastMathFlags::contract);
}

/// Loads epilogue operands that have one value, or one value for each channel.
void Emitter::readFactors() {
  for (const Flat &operand : output.operands) {
    bool isShared = llvm::all_of(operand.shape.drop_back(),
                                 [](int64_t size) { return size == 1; });
    int64_t size = operand.shape.back();
    bool isOfChannels = rank == dim + 2 && size == channels;
    if (!isShared || (size != 1 && !isOfChannels)) {
      factors.push_back({});
      continue;
    }
    Value each = loadPiece(b, size, operand.data,
                           operand.at(b, SmallVector<Index>(rank, 0)), {});
    SmallVector<int64_t> from(lanes, 0);
    for (int64_t lane = 0; lane < lanes; ++lane)
      from[lane] = lane % size;
    factors.push_back(takeLanes(each, from));
  }
}

/// Stores the results of `count` rows of the matrix, beginning with `first`.
/// The results are the first lanes of `sums`. With `mayOverwrite`, elements of
/// later groups may be overwritten.
void Emitter::store(const BandRow &row, Index first, int64_t count, Value sums,
                    bool mayOverwrite) {
  if (std::optional<ArrayRef<int64_t>> order = op.getOrder()) {
    SmallVector<int64_t> from(lanes, 0);
    for (int64_t lane = 0; lane < positions * channels; ++lane)
      from[lane] = lane - lane % channels + (*order)[lane % channels];
    sums = takeLanes(sums, from);
  }
  SmallVector<Index> coordinates(row.coordinates);
  coordinates.push_back(first);
  int64_t used = count * channels;
  if (rank == dim + 1)
    return storeVector(b, output, sums, VectorAt{coordinates, lanes, used, {}});
  coordinates.push_back(0);
  if (llvm::is_contained(factors, Value())) {
    // Stores each position alone, because an operand differs between positions.
    for (int64_t i = 0; i < count; ++i) {
      SmallVector<int64_t> from(channels);
      std::iota(from.begin(), from.end(), i * channels);
      coordinates[dim] = b.add(first, i);
      storeVector(b, output, takeLanes(sums, from),
                  VectorAt{coordinates, channels, channels, {}});
    }
    return;
  }
  SmallVector<Value> arguments = {sums};
  arguments.append(factors);
  Value result = evaluate(b, op.getEpilogue().front(), arguments, lanes)[0];
  if (!mayOverwrite && used < lanes)
    result = takeLanes(result, llvm::to_vector(llvm::seq<int64_t>(0, used)));
  vector::StoreOp::create(b.b, b.loc, result, output.dst.data,
                          b.get(output.dst.at(b, coordinates)));
}
