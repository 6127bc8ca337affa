//===- PoolToVector.cpp - cpu-pool-to-vector ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pooling; any size may be open, except for the number of channels:
//
//     for output row
//       taps of the outer window dimensions that lie within src
//       for pixel: those whose window crosses the left end, those with all taps
//                   of the row, those whose window crosses the right end
//         for tile of channels
//           accumulators[vector] = over taps of src[pixel, tap, vector]
//           over the number of taps, if a mean; epilogue, store
//
// Pixels with all taps of the row also have a second variant, for rows in which
// all outer taps exist.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/Passes.h"
#include "passes/cpu/kernels/rows/PixelTiles.h"
#include "passes/cpu/kernels/rows/RowEmitter.h"
#include "passes/cpu/policy/Thresholds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace ingot {
#define GEN_PASS_DEF_POOLTOVECTOR
#include "passes/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

namespace {

/// The taps [begin, end) of one window dimension that lie within src. Tap 0 has
/// coordinate `origin`.
struct Taps {
  Index origin, begin, end;
};

struct Emitter {
  Emitter(OpBuilder &builder, cpu::PoolOp op)
      : b{builder, op.getLoc()}, op(op), plan(op), src(b, op.getSrc()),
        output(b, op), numDims(op.getKernel().size()) {}

  void emit(Value task);
  void emitRow(ArrayRef<Index> row, const TaskRange &range);
  void emitPixels(ArrayRef<Index> row, const TaskRange &range,
                  SmallVector<Taps> taps, Index begin, Index end,
                  bool isWhole);
  void emitTile(const Tile &tile, ArrayRef<Index> pixel, ArrayRef<Taps> taps,
                Index channel, Value factor);
  Accumulators foldTaps(const Tile &tile, SmallVector<Index> srcAt,
                        ArrayRef<Taps> taps, size_t dim,
                        const Accumulators &start);
  Taps tapsOf(int64_t dim, Index at);
  Value factorOf(ArrayRef<Taps> taps);

  bool isMax() { return op.getKind() == cpu::PoolKind::max; }
  FoldKind kind() {
    if (!isMax())
      return FoldKind::sum;
    return getElementTypeOrSelf(src.data).isInteger() ? FoldKind::maxUnsigned
                                                      : FoldKind::maxOrNaN;
  }

  IndexBuilder b;
  cpu::PoolOp op;
  ColumnPlan plan;
  Flat src;
  Output output;
  int64_t numDims;
};

struct PoolToVectorPass : ingot::impl::PoolToVectorBase<PoolToVectorPass> {
  void runOnOperation() override {
    if (failed(emitKernels<cpu::PoolOp, Emitter>(getOperation())))
      signalPassFailure();
  }
};

} // namespace

/// Returns the taps of window number `at` of dimension `dim`.
Taps Emitter::tapsOf(int64_t dim, Index at) {
  int64_t kernel = op.getKernel()[dim], dilation = op.getDilations()[dim];
  int64_t low = op.getPads()[dim], high = op.getPads()[numDims + dim];
  Taps taps{b.add(b.mul(at, op.getStrides()[dim]), -low), 0, kernel};
  std::tie(taps.begin, taps.end) =
      tapsWithin(b, taps.origin, dimOf(b, op.getSrc(), 1 + dim),
                 {kernel, dilation, /*crossesLow=*/low > 0,
                  /*crossesHigh=*/high > 0});
  taps.begin = b.min(taps.begin, taps.end);
  return taps;
}

void Emitter::emit(Value task) {
  Index rows = countOf(b, op.getDst(), 0, numDims);
  TaskRange range = rangeOf(b, task, plan.grid, rows, plan.tiles);
  forEach(b, range.firstRow, range.endRow, 1, [&](Value number) {
    emitRow(coordinatesOf(b, op.getDst(), numDims, Index(number)), range);
  });
}

/// Emits a row; `row` holds the batch and the outer window dimensions.
void Emitter::emitRow(ArrayRef<Index> row, const TaskRange &range) {
  SmallVector<Taps> taps;
  for (int64_t d = 0; d < numDims - 1; ++d)
    taps.push_back(tapsOf(d, row[1 + d]));
  int64_t i = numDims - 1, stride = op.getStrides()[i];
  int64_t low = op.getPads()[i], high = op.getPads()[numDims + i];
  Index width = dimOf(b, op.getDst(), 1 + i);
  // Finds the windows [first, end) that lie within the row.
  Index first = 0, end = width;
  if (low > 0)
    first = b.min((low + stride - 1) / stride, width);
  if (high > 0) {
    int64_t extent = (op.getKernel()[i] - 1) * op.getDilations()[i] + 1;
    Index room = b.add(dimOf(b, op.getSrc(), 1 + i), low - extent + stride);
    end = b.max(b.min(b.div(b.max(room, 0), stride), width), first);
  }
  emitPixels(row, range, taps, 0, first, /*isWhole=*/false);
  // Emits a variant with constant bounds, because in most rows all outer taps
  // are within src.
  SmallVector<Taps> whole(taps);
  Value areWithin;
  for (auto [d, tap] : llvm::enumerate(whole)) {
    int64_t kernel = op.getKernel()[d];
    areWithin = b.both(
        areWithin,
        b.both(b.compare(arith::CmpIPredicate::eq, tap.begin, 0),
               b.compare(arith::CmpIPredicate::eq, tap.end, kernel)));
    tap.begin = 0, tap.end = kernel;
  }
  auto emitWhole = [&](ArrayRef<Taps> outer) {
    emitPixels(row, range, SmallVector<Taps>(outer), first, end,
               /*isWhole=*/true);
  };
  if (areWithin)
    b.branch(areWithin, [&] { emitWhole(whole); }, [&] { emitWhole(taps); });
  else
    emitWhole(taps);
  emitPixels(row, range, taps, end, width, /*isWhole=*/false);
}

void Emitter::emitPixels(ArrayRef<Index> row, const TaskRange &range,
                         SmallVector<Taps> taps, Index begin, Index end,
                         bool isWhole) {
  int64_t i = numDims - 1;
  if (!begin.value && !end.value && begin.constant >= end.constant)
    return;
  if (!isWhole && op.getPads()[i] == 0 && op.getPads()[numDims + i] == 0)
    return;
  forEach(b, begin, end, 1, [&](Value x) {
    Taps inner = tapsOf(i, Index(x));
    if (isWhole)
      inner.begin = 0, inner.end = op.getKernel()[i];
    SmallVector<Taps> all(taps);
    all.push_back(inner);
    Value factor = isMax() ? Value() : factorOf(all);
    SmallVector<Index> pixel(row);
    pixel.push_back(Index(x));
    forEachColumnTile(
        b, {range.firstTile, range.endTile, plan.tiles},
        fullTile(plan.target, plan.tile),
        lastTile(plan.target, plan.tile, output.dst.shape.back()),
        [&](Value number, const Tile &tile) {
          emitTile(tile, pixel, all,
                   b.mul(Index(number), plan.tile.vectors * plan.target.lanes),
                   factor);
        });
  });
}

/// Returns the reciprocal of the number of taps, as a vector.
Value Emitter::factorOf(ArrayRef<Taps> taps) {
  Index count = 1;
  for (auto [tap, size] : llvm::zip_equal(taps, op.getKernel()))
    count = b.mul(count, op.getKind() == cpu::PoolKind::mean_with_pads
                             ? Index(size)
                             : b.sub(tap.end, tap.begin));
  Value one = floatConstant(b, 1);
  Value factor = arith::DivFOp::create(b.b, b.loc, one,
                                       toFloat(b, b.max(count, 1)));
  return splat(b, plan.target.lanes, factor);
}

void Emitter::emitTile(const Tile &tile, ArrayRef<Index> pixel,
                       ArrayRef<Taps> taps, Index channel, Value factor) {
  SmallVector<Index> srcAt(1, pixel[0]);
  for (const Taps &tap : taps)
    srcAt.push_back(tap.origin);
  srcAt.push_back(channel);
  Accumulators folded = foldTaps(
      tile, srcAt, taps, 0,
      Accumulators(tile.vectors, neutralVector(b, kind(), tile.lanes)));
  if (factor)
    for (Value &vector : folded)
      vector = arith::MulFOp::create(b.b, b.loc, vector, factor);
  storeTile(b, tile, output, folded,
            [&](IndexBuilder &, Index) {
              SmallVector<Index> coordinates(pixel);
              coordinates.push_back(channel);
              return coordinates;
            });
}

/// Folds the taps of dimension `dim` and of the dimensions inside it.
Accumulators Emitter::foldTaps(const Tile &tile, SmallVector<Index> srcAt,
                               ArrayRef<Taps> taps, size_t dim,
                               const Accumulators &start) {
  if (dim == taps.size()) {
    Index at = src.at(b, srcAt);
    Accumulators next;
    for (auto [v, folded] : llvm::enumerate(start)) {
      Value x = loadPiece(b, tile.lanes, src.data,
                          b.add(at, int64_t(v) * tile.lanes),
                          maskOfVector(b, tile, v));
      if (!isMax())
        x = bytesToFloats(b, x);
      next.push_back(foldVectors(b, kind(), folded, x));
    }
    return next;
  }
  auto fold = [&](Index tap, const Accumulators &folded) {
    srcAt[1 + dim] =
        b.add(taps[dim].origin, b.mul(tap, op.getDilations()[dim]));
    return foldTaps(tile, srcAt, taps, dim + 1, folded);
  };
  // Unrolls a few taps if all of them exist, so that their distances are
  // constants.
  Index begin = taps[dim].begin, end = taps[dim].end;
  int64_t count = 1;
  for (const Taps &tap : taps.drop_front(dim)) {
    bool isKnown = !tap.begin.value && !tap.end.value;
    count *= isKnown ? tap.end.constant - tap.begin.constant
                     : cpu::threshold::poolUnrolledTaps + 1;
  }
  if (count <= cpu::threshold::poolUnrolledTaps) {
    Accumulators folded(start);
    for (int64_t tap = begin.constant; tap < end.constant; ++tap)
      folded = fold(tap, folded);
    return folded;
  }
  return forEach(b, begin, end, start,
                 [&](Value tap, const Accumulators &folded) {
                   return fold(Index(tap), folded);
                 });
}
