//===- ResampleToVector.cpp - cpu-resample-to-vector ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Resampling. A row is the whole last resampled dimension. The rows along the
// second to last resampled dimension form a plane. The taps of all resampled
// dimensions but the last are rows of src.
//
// With channels:
//
//     for row
//       for pixel
//         for vector of channels: sum over taps of weights * vector of src;
//           epilogue, store
//
// Without channels:
//
//     for eight elements
//       for row
//         sum up, over rows of src, the vectors that hold the taps
//         for each tap: a permutation of the sum times weights; epilogue, store
//
// If src is larger than dst, the taps of eight elements may not fit in a vector
// of src. In this case, the two neighbouring taps of each element are loaded as
// a pair, and pairs are summed up over rows. Single taps are loaded one by one,
// and stored as a vector. Other numbers of taps are summed up one by one.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/Passes.h"
#include "passes/cpu/kernels/rows/RowEmitter.h"
#include "passes/cpu/policy/Thresholds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace ingot {
#define GEN_PASS_DEF_RESAMPLETOVECTOR
#include "passes/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

namespace {

/// The number of elements that an instruction permutes, on every level that has
/// it.
constexpr int64_t kPermuted = 8;
/// The number of rows that share the data of their elements' taps. It is so
/// small that the first-level cache holds a line of each row.
const int64_t &kRowsAtOnce = cpu::threshold::resampledRows;

/// A tap of the dimensions before the last: the offset of a row of src, and its
/// weight (null if there is no other tap).
struct SrcRow {
  Index at;
  Value weight;
};

/// A row of dst and the rows of src that it is made of.
struct DstRow {
  SmallVector<Index> coordinates;
  SmallVector<SrcRow> taps;
};

/// Eight elements of any row, and the vector of src that holds their taps. It
/// begins at `start`, and its lanes `within` may be read.
struct TapColumns {
  Piece piece;
  Index start;
  Value within;
  /// For each tap, its lanes in the vector and its weights.
  SmallVector<Value> lanes, weights;
};

/// Eight elements of any row with two taps each. The taps of an element are
/// neighbours or equal. `starts` holds the offset of each element's pair in a
/// row of src.
struct Pairs {
  Piece piece;
  SmallVector<Index> starts;
  /// For each tap, a mask of the lanes in which the tap is the second element
  /// of the pair, and the weights.
  SmallVector<Value> isSecond, weights;
};

struct Emitter {
  Emitter(OpBuilder &builder, cpu::ResampleOp op)
      : b{builder, op.getLoc()}, op(op), plan(op), src(b, op.getSrc()),
        output(b, op), positions(flatten(b, op.getPositions())),
        weights(flatten(b, op.getWeights())), numTaps(op.numTaps()),
        last(op.lastDim()) {}

  void emit(Value task);
  void emitPixels(const DstRow &plane, Index begin, Index end);
  void emitPixel(const DstRow &row, ArrayRef<Index> pixel,
                 ArrayRef<SrcRow> inner);
  void emitRows(const DstRow &plane, Index begin, Index end);
  void emitVector(const DstRow &row, const TapColumns &columns);
  void emitElements(const DstRow &row, Index begin, Index end);
  void emitPairs(const DstRow &row, const Pairs &pairs);
  Pairs pairsOf(const Piece &piece, ArrayRef<Value> taps, Value starts);
  void storeColumns(const DstRow &row, const Piece &piece, Value sum);
  void emitFarColumns(
      const Piece &piece, ArrayRef<Value> taps,
      function_ref<void(function_ref<void(const DstRow &)>)> forEachOfRows);

  DstRow planeOf(ArrayRef<Index> coordinates);
  DstRow rowOf(const DstRow &plane, Index y);
  SmallVector<SrcRow> combine(ArrayRef<SrcRow> outer, ArrayRef<SrcRow> inner);
  SmallVector<Value> loadTaps(const Flat &table, const Piece &piece);
  Index boundOf(Value taps, Value mask, bool isFirst);
  TapColumns columnsOf(const Piece &piece, ArrayRef<Value> taps, Index start,
                       Value within);
  Index positionOf(int64_t dim, int64_t tap, Index at);
  Value weightOf(int64_t dim, int64_t tap, Index at);
  SmallVector<SrcRow> tapsOf(int64_t dim, Index at);
  void forEachVector(const TargetInfo &target, Index length,
                     function_ref<void(IndexBuilder &, const Piece &)> body);
  Value sumOf(ArrayRef<SrcRow> taps, int64_t lanes,
              function_ref<Value(const SrcRow &)> load);

  IndexBuilder b;
  cpu::ResampleOp op;
  Plan plan;
  Flat src;
  Output output;
  SmallVector<Flat> positions, weights;
  int64_t numTaps, last;
};

struct ResampleToVectorPass
    : ingot::impl::ResampleToVectorBase<ResampleToVectorPass> {
  void runOnOperation() override {
    if (failed(emitKernels<cpu::ResampleOp, Emitter>(getOperation())))
      signalPassFailure();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Taps
//===----------------------------------------------------------------------===//

/// Returns the position of a tap; `dim` is counted from the first resampled
/// dimension.
Index Emitter::positionOf(int64_t dim, int64_t tap, Index at) {
  const Flat &table = positions[dim];
  Value position = memref::LoadOp::create(b.b, b.loc, table.data,
                                          b.get(table.at(b, {tap, at})));
  return Index(Value(arith::IndexCastOp::create(b.b, b.loc, b.b.getIndexType(),
                                                position)));
}

Value Emitter::weightOf(int64_t dim, int64_t tap, Index at) {
  if (weights.empty())
    return {};
  const Flat &table = weights[dim];
  return memref::LoadOp::create(b.b, b.loc, table.data,
                                b.get(table.at(b, {tap, at})));
}

SmallVector<SrcRow> Emitter::tapsOf(int64_t dim, Index at) {
  Index stride = src.strides[op.getFirst() + dim];
  SmallVector<SrcRow> taps;
  for (int64_t tap = 0; tap < numTaps; ++tap)
    taps.push_back(
        {b.mul(positionOf(dim, tap, at), stride), weightOf(dim, tap, at)});
  return taps;
}

/// Returns a row without its last dimension: its coordinates, and all taps
/// along them.
DstRow Emitter::planeOf(ArrayRef<Index> coordinates) {
  DstRow row{SmallVector<Index>(coordinates), {}};
  int64_t first = op.getFirst(), count = coordinates.size();
  Index at;
  for (int64_t i = 0; i < std::min(first, count); ++i)
    at = b.add(at, b.mul(coordinates[i], src.strides[i]));
  row.taps.push_back({at, {}});
  for (int64_t i = first; i < count; ++i)
    row.taps = combine(row.taps, tapsOf(i - first, coordinates[i]));
  return row;
}

/// Returns row `y` of a plane.
DstRow Emitter::rowOf(const DstRow &plane, Index y) {
  DstRow row = plane;
  int64_t dim = plane.coordinates.size();
  row.coordinates.push_back(y);
  if (dim >= int64_t(op.getFirst()))
    row.taps = combine(plane.taps, tapsOf(dim - op.getFirst(), y));
  else
    row.taps = combine(plane.taps, {{b.mul(y, src.strides[dim]), {}}});
  return row;
}

/// Combines each tap of one dimension with each tap of another.
SmallVector<SrcRow> Emitter::combine(ArrayRef<SrcRow> outer,
                                     ArrayRef<SrcRow> inner) {
  SmallVector<SrcRow> all;
  for (const SrcRow &one : outer)
    for (const SrcRow &tap : inner) {
      Value weight = one.weight ? one.weight : tap.weight;
      if (one.weight && tap.weight)
        weight = arith::MulFOp::create(b.b, b.loc, one.weight, tap.weight);
      all.push_back({b.add(one.at, tap.at), weight});
    }
  return all;
}

/// Returns the sum over taps of weights times the results of `load`.
Value Emitter::sumOf(ArrayRef<SrcRow> taps, int64_t lanes,
                     function_ref<Value(const SrcRow &)> load) {
  Value sum;
  for (const SrcRow &tap : taps) {
    Value x = load(tap);
    if (!tap.weight)
      return x;
    Value weight = splat(b, lanes, tap.weight);
    sum = sum ? multiplyAddVectors(b, plan.target.hasFMA, x, weight, sum)
              : Value(arith::MulFOp::create(b.b, b.loc, x, weight));
  }
  return sum;
}

/// Runs `body` for the vectors of `length` elements. If the epilogue reads no
/// tensors, elements may be stored twice. The last vector then begins earlier,
/// so that it is whole. Otherwise the last vector is partial.
void Emitter::forEachVector(
    const TargetInfo &target, Index length,
    function_ref<void(IndexBuilder &, const Piece &)> body) {
  int64_t rest = length.value ? 0 : length.constant % target.lanes;
  if (rest == 0 || length.constant < target.lanes ||
      !op.getEpilogueOperands().empty())
    return forEachLongPiece(b, target, length, body);
  forEachLongPiece(b, target, length.constant - rest, body);
  body(b, Piece{length.constant - target.lanes, {}});
}

//===----------------------------------------------------------------------===//
// Pixels of channels
//===----------------------------------------------------------------------===//

/// Emits rows [begin, end) of a plane, with channels.
void Emitter::emitPixels(const DstRow &plane, Index begin, Index end) {
  forEach(b, begin, end, 1, [&](Value y) {
    DstRow row = rowOf(plane, Index(y));
    if (int64_t(row.coordinates.size()) == last + 1)
      return emitPixel(row, row.coordinates, {});
    forEach(b, 0, dimOf(b, op.getDst(), last), 1, [&](Value x) {
      SmallVector<Index> pixel(row.coordinates);
      pixel.push_back(Index(x));
      emitPixel(row, pixel, tapsOf(last - op.getFirst(), Index(x)));
    });
  });
}

/// Emits a pixel. `inner` are its taps along the last dimension; empty if they
/// are in `row` already.
void Emitter::emitPixel(const DstRow &row, ArrayRef<Index> pixel,
                        ArrayRef<SrcRow> inner) {
  int64_t lanes = plan.target.lanes;
  forEachVector(
      plan.target, dimOf(b, op.getDst(), last + 1),
      [&](IndexBuilder &b, const Piece &piece) {
        auto sumRows = [&](Index from) {
          return sumOf(row.taps, lanes, [&](const SrcRow &tap) {
            Index at = b.add(b.add(tap.at, from), piece.at);
            return bytesToFloats(
                b, loadPiece(b, lanes, src.data, at, piece.mask));
          });
        };
        Value sum = inner.empty()
                        ? sumRows(0)
                        : sumOf(inner, lanes, [&](const SrcRow &tap) {
                            return sumRows(tap.at);
                          });
        SmallVector<Index> coordinates(pixel);
        coordinates.push_back(piece.at);
        storeVector(b, output, sum,
                    VectorAt{coordinates, lanes, lanes, piece.mask});
      });
}

//===----------------------------------------------------------------------===//
// Rows of elements
//===----------------------------------------------------------------------===//

/// Emits rows [begin, end) of a plane, without channels.
void Emitter::emitRows(const DstRow &plane, Index begin, Index end) {
  auto forEachOfRows = [&](function_ref<void(const DstRow &)> body) {
    forEach(b, begin, end, 1, [&](Value y) { body(rowOf(plane, Index(y))); });
  };
  int64_t dim = last - op.getFirst();
  Index width = dimOf(b, op.getDst(), last);
  Index srcWidth = dimOf(b, op.getSrc(), last);
  if (plan.target.lanes < kPermuted)
    return forEachOfRows(
        [&](const DstRow &row) { emitElements(row, 0, width); });
  // The lanes that a vector of a row of src may read.
  Value within;
  if (srcWidth.value || srcWidth.constant < kPermuted)
    within = maskOfFirst(b, kPermuted, srcWidth);
  Index lastStart = b.max(b.add(srcWidth, -kPermuted), 0);
  TargetInfo target = plan.target;
  target.lanes = kPermuted;
  forEachVector(target, width, [&](IndexBuilder &, const Piece &piece) {
    SmallVector<Value> taps = loadTaps(positions[dim], piece);
    Index start = b.min(boundOf(taps.front(), piece.mask, true), lastStart);
    Index farthest = boundOf(taps.back(), piece.mask, false);
    b.branch(
        b.compare(arith::CmpIPredicate::slt, farthest, b.add(start, kPermuted)),
        [&] {
          TapColumns columns = columnsOf(piece, taps, start, within);
          forEachOfRows([&](const DstRow &row) { emitVector(row, columns); });
        },
        [&] { emitFarColumns(piece, taps, forEachOfRows); });
  });
}

/// Emits eight elements of each row, if their taps do not fit in a vector of
/// src.
void Emitter::emitFarColumns(
    const Piece &piece, ArrayRef<Value> taps,
    function_ref<void(function_ref<void(const DstRow &)>)> forEachOfRows) {
  Index end = b.min(b.add(piece.at, kPermuted), dimOf(b, op.getDst(), last));
  auto emitOneByOne = [&] {
    forEachOfRows([&](const DstRow &row) { emitElements(row, piece.at, end); });
  };
  if (weights.empty()) {
    SmallVector<Index> starts = indicesOf(b, taps.front());
    return forEachOfRows([&](const DstRow &row) {
      Index at = row.taps.front().at;
      storeColumns(row, piece, loadParts(b, src.data, at, starts, 1));
    });
  }
  if (numTaps != 2)
    return emitOneByOne();
  // Moves the last pair back into the row, which is longer than a vector here.
  Index lastStart = b.add(dimOf(b, op.getSrc(), last), -2);
  Value starts = arith::MinSIOp::create(
      b.b, b.loc, taps.front(),
      splat(b, kPermuted,
            arith::IndexCastOp::create(b.b, b.loc, b.b.getI32Type(),
                                       b.get(lastStart))));
  Value distances = arith::SubIOp::create(b.b, b.loc, taps.back(), starts);
  b.branch(
      b.compare(arith::CmpIPredicate::slt, boundOf(distances, {}, false), 2),
      [&] {
        Pairs pairs = pairsOf(piece, taps, starts);
        forEachOfRows([&](const DstRow &row) { emitPairs(row, pairs); });
      },
      emitOneByOne);
}

Pairs Emitter::pairsOf(const Piece &piece, ArrayRef<Value> taps,
                       Value starts) {
  Pairs pairs{piece, indicesOf(b, starts), {},
              loadTaps(weights[last - op.getFirst()], piece)};
  for (Value tap : taps)
    pairs.isSecond.push_back(arith::CmpIOp::create(
        b.b, b.loc, arith::CmpIPredicate::sgt, tap, starts));
  return pairs;
}

void Emitter::emitPairs(const DstRow &row, const Pairs &pairs) {
  Value all = sumOf(row.taps, 2 * kPermuted, [&](const SrcRow &tap) {
    return loadParts(b, src.data, tap.at, pairs.starts, 2);
  });
  auto halves = vector::DeinterleaveOp::create(b.b, b.loc, all);
  Value sum;
  for (auto [isSecond, weight] :
       llvm::zip_equal(pairs.isSecond, pairs.weights)) {
    Value x = arith::SelectOp::create(b.b, b.loc, isSecond,
                                      halves.getRes2(), halves.getRes1());
    sum = sum ? multiplyAddVectors(b, plan.target.hasFMA, x, weight, sum)
              : Value(arith::MulFOp::create(b.b, b.loc, x, weight));
  }
  storeColumns(row, pairs.piece, sum);
}

/// Stores eight elements of a row.
void Emitter::storeColumns(const DstRow &row, const Piece &piece, Value sum) {
  SmallVector<Index> coordinates(row.coordinates);
  coordinates.push_back(piece.at);
  storeVector(b, output, sum,
              VectorAt{coordinates, kPermuted, kPermuted, piece.mask});
}

SmallVector<Value> Emitter::loadTaps(const Flat &table, const Piece &piece) {
  SmallVector<Value> taps;
  for (int64_t tap = 0; tap < numTaps; ++tap)
    taps.push_back(loadPiece(b, kPermuted, table.data,
                             table.at(b, {tap, piece.at}), piece.mask));
  return taps;
}

/// Returns the smallest or the largest position. Positions need not be sorted,
/// so all lanes are compared.
Index Emitter::boundOf(Value taps, Value mask, bool isFirst) {
  auto kind = isFirst ? vector::CombiningKind::MINSI
                      : vector::CombiningKind::MAXSI;
  // Replaces masked lanes, which are 0, so that they do not become the minimum.
  if (mask && isFirst)
    taps = arith::SelectOp::create(
        b.b, b.loc, mask, taps,
        splatInt(b, cast<VectorType>(taps.getType()),
                 std::numeric_limits<int32_t>::max()));
  Value bound = vector::ReductionOp::create(b.b, b.loc, kind, taps);
  return Index(Value(
      arith::IndexCastOp::create(b.b, b.loc, b.b.getIndexType(), bound)));
}

TapColumns Emitter::columnsOf(const Piece &piece, ArrayRef<Value> taps,
                              Index start, Value within) {
  Value begin = splat(b, kPermuted,
                      arith::IndexCastOp::create(
                          b.b, b.loc, b.b.getI32Type(), b.get(start)));
  TapColumns columns{piece, start, within, {}, {}};
  for (Value tap : taps)
    columns.lanes.push_back(arith::SubIOp::create(b.b, b.loc, tap, begin));
  if (!weights.empty())
    columns.weights = loadTaps(weights[last - op.getFirst()], piece);
  return columns;
}

void Emitter::emitVector(const DstRow &row, const TapColumns &columns) {
  Value x = sumOf(row.taps, kPermuted, [&](const SrcRow &tap) {
    return bytesToFloats(b, loadPiece(b, kPermuted, src.data,
                                      b.add(tap.at, columns.start),
                                      columns.within));
  });
  Value sum;
  for (int64_t tap = 0; tap < numTaps; ++tap) {
    Value y = LLVM::CallIntrinsicOp::create(
                  b.b, b.loc, x.getType(),
                  b.b.getStringAttr("llvm.x86.avx2.permps"),
                  ValueRange{x, columns.lanes[tap]})
                  .getResult(0);
    if (columns.weights.empty())
      sum = y;
    else if (sum)
      sum = multiplyAddVectors(b, plan.target.hasFMA, y, columns.weights[tap],
                               sum);
    else
      sum = arith::MulFOp::create(b.b, b.loc, y, columns.weights[tap]);
  }
  storeColumns(row, columns.piece, sum);
}

void Emitter::emitElements(const DstRow &row, Index begin, Index end) {
  forEach(b, begin, end, 1, [&](Value x) {
    SmallVector<SrcRow> inner = tapsOf(last - op.getFirst(), Index(x));
    Value sum = sumOf(inner, 1, [&](const SrcRow &tap) {
      return sumOf(row.taps, 1, [&](const SrcRow &outer) {
        return bytesToFloats(
            b, loadPiece(b, 1, src.data, b.add(outer.at, tap.at), {}));
      });
    });
    SmallVector<Index> coordinates(row.coordinates);
    coordinates.push_back(Index(x));
    storeVector(b, output, sum, VectorAt{coordinates, 1, 1, {}});
  });
}

void Emitter::emit(Value task) {
  int64_t dims = op.numRowDims();
  Index all = countOf(b, op.getDst(), 0, dims);
  TaskRange range = rangeOf(b, task, plan.grid, all, 1);
  Index height = dimOf(b, op.getDst(), dims - 1);
  Index divisor = b.max(height, 1);
  forEach(b, b.div(range.firstRow, divisor),
          b.divideCeil(range.endRow, divisor), 1, [&](Value number) {
            Index before = b.mul(b.mul(Index(number), height), -1);
            Index begin = b.max(b.add(range.firstRow, before), 0);
            Index end = b.min(b.add(range.endRow, before), height);
            DstRow plane =
                planeOf(coordinatesOf(b, op.getDst(), dims - 1, Index(number)));
            forEach(b, begin, end, kRowsAtOnce, [&](Value first) {
              Index after = b.min(b.add(Index(first), kRowsAtOnce), end);
              if (op.hasChannels())
                emitPixels(plane, Index(first), after);
              else
                emitRows(plane, Index(first), after);
            });
          });
}
