//===- GridSample.cpp - GridSample ---------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/vision/Sampling.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;
using namespace ingot::support;

using support::Scalars;

namespace {

enum class Padding { zeros, border, reflection };
enum class Interpolation { nearest, linear, cubic };

struct Grid {
  Interpolation mode = Interpolation::linear;
  Padding padding = Padding::zeros;
  bool alignCorners = false;

  /// Returns the number of taps along a dimension.
  int64_t taps() const {
    return mode == Interpolation::nearest  ? 1
           : mode == Interpolation::linear ? 2
                                           : 4;
  }
  Value reflect(Scalars s, Value x, Value size) const;
  Value positionOf(Scalars s, Value x, Value size) const;
  /// Returns the element that index `at` reads, or -1 for none.
  Value elementAt(Scalars s, Value at, Value size) const;
};

} // namespace

/// Reflects x at the ends of the data as often as needed.
Value Grid::reflect(Scalars s, Value x, Value size) const {
  Value low = s.f(alignCorners ? 0 : -0.5);
  Value range = s.sub(s.toFloat(size), s.f(alignCorners ? 1 : 0));
  Value period = s.add(range, range);
  // Avoids a period of 0 for a single element.
  Value some = arith::MaximumFOp::create(s.b, s.loc, period, s.f(1e-6));
  Value from = s.sub(x, low);
  Value rest = s.sub(from, s.mul(some, s.floor(s.div(from, some))));
  Value isPast = arith::CmpFOp::create(s.b, s.loc, arith::CmpFPredicate::OGT,
                                       rest, range);
  Value back = arith::SelectOp::create(s.b, s.loc, isPast, s.sub(period, rest),
                                       rest);
  return s.add(low, back);
}

Value Grid::positionOf(Scalars s, Value x, Value size) const {
  Value width = s.toFloat(size), half = s.f(0.5);
  Value shifted = s.add(x, s.f(1));
  Value at = alignCorners
                 ? s.mul(s.mul(shifted, half), s.sub(width, s.f(1)))
                 : s.mul(s.sub(s.mul(shifted, width), s.f(1)), half);
  if (mode == Interpolation::nearest)
    at = math::RoundEvenOp::create(s.b, s.loc, at);
  Value low = s.f(alignCorners ? 0 : -0.5);
  Value high = s.add(width, s.f(alignCorners ? -1 : -0.5));
  auto compare = [&](arith::CmpFPredicate predicate, Value bound) -> Value {
    return arith::CmpFOp::create(s.b, s.loc, predicate, at, bound);
  };
  Value isOutside = arith::OrIOp::create(
      s.b, s.loc, compare(arith::CmpFPredicate::OLT, low),
      compare(arith::CmpFPredicate::OGT, high));
  Value moved = at;
  if (padding == Padding::border && mode != Interpolation::cubic) {
    moved = arith::MaximumFOp::create(s.b, s.loc, at, s.f(0));
    moved = arith::MinimumFOp::create(s.b, s.loc, moved,
                                      s.sub(width, s.f(1)));
  } else if (padding == Padding::reflection) {
    moved = reflect(s, at, size);
  }
  at = arith::SelectOp::create(s.b, s.loc, isOutside, moved, at);
  if (mode == Interpolation::nearest)
    at = math::RoundEvenOp::create(s.b, s.loc, at);
  return holdNear(s, at, size, /*margin=*/4);
}

Value Grid::elementAt(Scalars s, Value at, Value size) const {
  Value last = s.sub(size, s.n(1));
  if (padding == Padding::zeros)
    return arith::SelectOp::create(s.b, s.loc, isWithin(s, at, s.n(0), size),
                                   at, s.n(-1));
  if (padding == Padding::reflection) {
    Value mirrored = reflect(s, s.toFloat(at), size);
    Value inside = isWithin(s, at, s.n(0), size);
    at = arith::SelectOp::create(
        s.b, s.loc, inside, at,
        s.toIndex(holdNear(s, mirrored, size, /*margin=*/4)));
  }
  return s.clamp(at, s.n(0), last);
}

static FailureOr<Grid> readGrid(Node &node, int64_t spatial) {
  Grid grid;
  StringRef mode = node.getString("mode", "linear"),
            padding = node.getString("padding_mode", "zeros");
  if (mode == "nearest")
    grid.mode = Interpolation::nearest;
  else if (mode == "cubic" || mode == "bicubic")
    grid.mode = Interpolation::cubic;
  else if (mode != "linear" && mode != "bilinear")
    return node.invalid("mode is " + mode);
  if (padding == "border")
    grid.padding = Padding::border;
  else if (padding == "reflection")
    grid.padding = Padding::reflection;
  else if (padding != "zeros")
    return node.invalid("padding_mode is " + padding);
  grid.alignCorners = node.getInt("align_corners", 0) != 0;
  if (grid.mode == Interpolation::cubic && spatial > 3)
    return node.unsupported("cubic interpolation of " + Twine(spatial) +
                            " dimensions");
  return grid;
}

/// Computes indices and weights of all taps for each point of the grid.
static Taps tapsOf(Node &node, const Grid &grid, Value points, Value x,
                   ArrayRef<OpFoldResult> shape) {
  int64_t spatial = typeOf(x).getRank() - 2;
  SmallVector<Value> sizes;
  for (int64_t d = 0; d < spatial; ++d)
    sizes.push_back(indexValue(node, sizeOf(node, x, 2 + d)));
  int64_t taps = grid.taps();
  // Calls `body` with (dimension, tap, position) for each dimension.
  auto forDims = [&](Scalars s, ValueRange at, auto body) {
    Value rest = at[0];
    for (int64_t d = spatial - 1; d >= 0; --d) {
      Value tap = arith::RemUIOp::create(s.b, s.loc, rest, s.n(taps));
      rest = arith::DivUIOp::create(s.b, s.loc, rest, s.n(taps));
      // The coordinate of the last dimension comes first.
      Value coordinate =
          floatAt(s, points, ValueRange{at[1], at[2], s.n(spatial - 1 - d)});
      body(d, tap, grid.positionOf(s, coordinate, sizes[d]));
    }
  };
  Type i64 = node.builder.getI64Type();
  Value at = generate(
      node, i64, shape,
      [&](OpBuilder &b, Location loc, ValueRange indices) -> Value {
        Scalars s{b, loc};
        Value flat = s.n(0), stride = s.n(1), isOutside;
        forDims(s, indices, [&](int64_t d, Value tap, Value position) {
          int64_t offset = grid.mode == Interpolation::cubic ? 1 : 0;
          Value first = s.sub(s.toIndex(s.floor(position)), s.n(offset));
          Value here = grid.elementAt(s, s.add(first, tap), sizes[d]);
          Value out = arith::CmpIOp::create(
              b, loc, arith::CmpIPredicate::slt, here, s.n(0));
          isOutside =
              isOutside ? Value(arith::OrIOp::create(b, loc, isOutside, out))
                        : out;
          flat = s.add(flat, s.mul(here, stride));
          stride = s.mul(stride, sizes[d]);
        });
        return asI64(s, arith::SelectOp::create(b, loc, isOutside, s.n(-1),
                                                flat));
      });
  if (grid.mode == Interpolation::nearest)
    return {at, Value()};
  Value weights = generate(
      node, node.builder.getF32Type(), shape,
      [&](OpBuilder &b, Location loc, ValueRange indices) -> Value {
        Scalars s{b, loc};
        Value weight = s.f(1);
        forDims(s, indices, [&](int64_t d, Value tap, Value position) {
          Value share = s.sub(position, s.floor(position));
          SmallVector<Value> all = {s.sub(s.f(1), share), share};
          if (grid.mode == Interpolation::cubic)
            all = support::cubicWeights(s, share, -0.75);
          Value own = all.back();
          for (int64_t k = 0; k + 1 < taps; ++k)
            own = s.choose(arith::CmpIPredicate::eq, tap, s.n(k), all[k], own);
          weight = s.mul(weight, own);
        });
        return weight;
      });
  return {at, weights};
}

static LogicalResult legalizeGridSample(Node &node) {
  if (!node.has(0) || !node.has(1))
    return node.invalid("X and grid are needed");
  int64_t rank = node.rank(0), spatial = rank - 2;
  if (rank < 3 || node.rank(1) != rank)
    return node.invalid("X and grid need one rank of at least 3, but got " +
                        Twine(rank) + " and " + Twine(node.rank(1)));
  SmallVector<int64_t> coordinates(rank, ShapedType::kDynamic);
  coordinates.back() = spatial;
  pinInput(node, 1, coordinates, "grid");
  if (node.shape(1).back() != spatial)
    return node.invalid("the last dimension of grid needs " + Twine(spatial) +
                        " coordinates");
  Value x = node.input(0);
  auto grid = readGrid(node, spatial);
  if (failed(grid) || failed(requireSpatial(node, x)) ||
      failed(requireFit(node, nn::SizeRelation::equal,
                        sizeOf(node, node.input(1), 0), sizeOf(node, x, 0),
                        "grid has {0} batches, but X has {1}")))
    return failure();
  Type element = node.elementType(0), f32 = node.builder.getF32Type();
  Sizes points = sizesOf(node, node.input(1)), result;
  OpFoldResult count = sizeAttr(node, 1);
  for (OpFoldResult size : ArrayRef(points).drop_front().drop_back())
    count = mulSizes(node, count, size);
  Value flat = reshape(node, castTo(node, node.input(1), f32),
                       {points[0], count, sizeAttr(node, spatial)});
  int64_t taps = 1;
  for (int64_t d = 0; d < spatial; ++d)
    taps *= grid->taps();
  Taps all = tapsOf(node, *grid, flat, x,
                    {sizeAttr(node, taps), points[0], count});
  Value data = flattenSpatial(node, all.weights ? castTo(node, x, f32) : x);
  Value y = sumOfTaps(node, data, Value(), all);
  result = {points[0], sizeOf(node, x, 1)};
  for (OpFoldResult size : ArrayRef(points).drop_front().drop_back())
    result.push_back(size);
  return node.replace(castTo(node, reshape(node, y, result), element));
}

void legalize::populateGridSample(Legalizers &legalizers) {
  legalizers.add("GridSample", legalizeGridSample);
}
