//===- ResampledBand.cpp - resampling as a band matrix --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes the band matrix of a resampled dimension. For each row of the
// matrix:
//
//     find the first column, and the weights of all taps, in f64
//     clear the row
//     for taps: write the sum of the weights of the tap's column up to here
//
// Taps outside of the operand count for its first or last column. So taps of
// the same column are neighbours, and the last write has the column's whole
// sum.
//
//===----------------------------------------------------------------------===//
#include "passes/support/ResampledBand.h"

#include "passes/support/FilterWeight.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

double support::reachOf(nn::ResizeMode mode) {
  return mode == nn::ResizeMode::linear ? 1 : 2;
}

namespace {

/// Builder of the loops of one matrix.
struct BandBuilder {
  BandBuilder(OpBuilder &b, Location loc, const Sampling &sampling,
              const ResampledAxis &axis, bool filters)
      : s{b, loc, /*isWide=*/true}, sampling(sampling), axis(axis),
        filters(filters) {
    last = s.sub(axis.size, s.n(1));
    count = s.n(numTaps(sampling.mode));
    if (!filters)
      return;
    this->axis.scale =
        arith::ExtFOp::create(b, loc, b.getF64Type(), axis.scale);
    // At the smallest scale, a result element covers all operand elements.
    Value size = s.max(s.toFloat(axis.size), s.f(1));
    narrow = s.max(s.min(this->axis.scale, s.f(1)), s.div(s.f(1), size));
    radius = s.div(s.f(reachOf(sampling.mode)), narrow);
    count = s.toIndex(s.ceil(s.mul(radius, s.f(2))));
  }

  SmallVector<Value> writeRow(Value row, Value at, Value taps,
                              ValueRange tables);
  SmallVector<Value> writeTaps(Value row, Value at, Value taps,
                               ValueRange tables);
  SmallVector<Value> writeFilter(Value row, Value at, Value taps,
                                 ValueRange tables);
  SmallVector<Value> clearRow(Value row, Value start, Value taps,
                              ValueRange tables);
  SmallVector<Value> addTap(Value row, Value start, Value held, Value weight,
                            ValueRange state);
  Value startOf(Value first, Value taps);

  Scalars s;
  const Sampling &sampling;
  ResampledAxis axis;
  bool filters;
  /// The last column, and the number of taps per row before taps are merged
  /// into columns.
  Value last, count;
  /// The scale of distances, and the reach of a filter.
  Value narrow, radius;
};

} // namespace

/// Returns the first column of a row with the first tap `first`. As few columns
/// as possible are behind the end of the operand.
Value BandBuilder::startOf(Value first, Value taps) {
  Value most = s.sub(axis.size, taps);
  Value zero = s.n(0);
  return s.clamp(first, zero,
                 arith::MaxSIOp::create(s.b, s.loc, most, zero));
}

/// Stores the start of the row and clears its weights.
SmallVector<Value> BandBuilder::clearRow(Value row, Value start, Value taps,
                                         ValueRange tables) {
  OpBuilder &b = s.b;
  Value narrowStart =
      arith::IndexCastOp::create(b, s.loc, b.getI32Type(), start);
  Value starts = tensor::InsertOp::create(b, s.loc, narrowStart, tables[0],
                                          ValueRange{row});
  Value zero = scalar(b, s.loc, b.getF32Type(), 0.0);
  Value weights =
      s.loop(s.n(0), taps, tables[1], [&](Value tap, ValueRange state) {
        return SmallVector<Value>{tensor::InsertOp::create(
            b, s.loc, zero, state[0], ValueRange{row, tap})};
      })[0];
  return {starts, weights};
}

/// Adds a tap to `state`: the table of weights, the column of the previous tap,
/// and the sum of the weights of this column.
SmallVector<Value> BandBuilder::addTap(Value row, Value start, Value held,
                                       Value weight, ValueRange state) {
  Value isSame = s.compare(arith::CmpIPredicate::eq, held, state[1]);
  Value sum = s.select(isSame, s.add(state[2], weight), weight);
  Value rounded =
      arith::TruncFOp::create(s.b, s.loc, s.b.getF32Type(), sum);
  Value weights =
      tensor::InsertOp::create(s.b, s.loc, rounded, state[0],
                               ValueRange{row, s.sub(held, start)});
  return {weights, held, sum};
}

/// Writes a row with the taps of an interpolation.
SmallVector<Value> BandBuilder::writeTaps(Value row, Value at, Value taps,
                                          ValueRange tables) {
  Scalars single{s.b, s.loc};
  SmallVector<Tap> found = tapsOf(single, sampling, axis, at);
  Value start = startOf(found.front().position, taps);
  SmallVector<Value> cleared = clearRow(row, start, taps, tables);
  SmallVector<Value> state = {cleared[1], s.n(-1), s.f(0)};
  for (const Tap &tap : found)
    state = addTap(row, start, tap.position,
                   arith::ExtFOp::create(s.b, s.loc, s.b.getF64Type(),
                                         tap.weight),
                   state);
  return {cleared[0], state[0]};
}

/// Writes a row with the taps of a filter. Their weights sum to 1.
SmallVector<Value> BandBuilder::writeFilter(Value row, Value at, Value taps,
                                            ValueRange tables) {
  Value position = positionOf(s, sampling, axis, at);
  Value first =
      s.add(s.toIndex(s.floor(s.sub(position, radius))), s.n(1));
  auto tapAt = [&](Value i) -> std::pair<Value, Value> {
    Value tap = s.add(first, i), held = s.clamp(tap, s.n(0), last);
    Value distance = math::AbsFOp::create(
        s.b, s.loc, s.mul(s.sub(s.toFloat(tap), position), narrow));
    Value weight = filterWeight(s, sampling, distance);
    if (sampling.excludeOutside)
      weight = s.choose(arith::CmpIPredicate::eq, tap, held, weight, s.f(0));
    return {held, weight};
  };
  Value total = s.loop(s.n(0), count, s.f(0), [&](Value i, ValueRange sum) {
    return SmallVector<Value>{s.add(sum[0], tapAt(i).second)};
  })[0];
  Value share = s.div(s.f(1), total);
  Value start = startOf(first, taps);
  SmallVector<Value> cleared = clearRow(row, start, taps, tables);
  SmallVector<Value> state =
      s.loop(s.n(0), count, {cleared[1], s.n(-1), s.f(0)},
             [&](Value i, ValueRange state) {
               auto [held, weight] = tapAt(i);
               return addTap(row, start, held, s.mul(weight, share), state);
             });
  return {cleared[0], state[0]};
}

SmallVector<Value> BandBuilder::writeRow(Value row, Value at, Value taps,
                                         ValueRange tables) {
  return filters ? writeFilter(row, at, taps, tables)
                 : writeTaps(row, at, taps, tables);
}

ResampledBand support::makeResampledBand(const Scalars &scalars,
                                         const Sampling &sampling,
                                         const ResampledAxis &axis,
                                         bool filters, int64_t unit,
                                         const TakenRows &rows) {
  OpBuilder &b = scalars.b;
  Location loc = scalars.loc;
  BandBuilder builder(b, loc, sampling, axis, filters);
  Scalars &s = builder.s;
  OpFoldResult taps;
  if (filters) {
    Value most = arith::MinSIOp::create(b, loc, builder.count, axis.size);
    Value units = arith::DivUIOp::create(b, loc, s.add(most, s.n(unit - 1)),
                                         s.n(unit));
    taps = s.mul(units, s.n(unit));
  } else {
    taps = b.getIndexAttr(llvm::alignTo(numTaps(sampling.mode), unit));
  }
  Value width = indexValue(b, loc, taps);
  SmallVector<Value> tables = {
      empty(b, loc, {rows.count}, b.getI32Type()),
      empty(b, loc, {rows.count, taps}, b.getF32Type())};
  tables = s.loop(s.n(0), indexValue(b, loc, rows.count), tables,
                  [&](Value row, ValueRange state) {
                    Value at = s.add(s.mul(row, s.n(rows.step)),
                                     s.n(rows.first));
                    return builder.writeRow(row, at, width, state);
                  });
  return {tables[0], tables[1]};
}
