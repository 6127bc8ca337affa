//===- Resampling.cpp - positions and weights of resizing -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/Resampling.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

Sampling support::samplingOf(nn::ResizeOp op) {
  return {op.getMode(), op.getCoordinates(), op.getNearestMode(),
          op.getCubicCoeffA().convertToFloat(), op.getExcludeOutside()};
}

ResampledAxis support::axisOf(Scalars s, nn::ResizeOp op, int64_t dim,
                              OpFoldResult size, OpFoldResult resultSize) {
  bool isComputed = op.isComputed(dim);
  ResampledAxis axis;
  axis.scale = isComputed ? op.getFactors()[op.computedBefore(dim)]
                          : s.f(op.getScales()[dim]);
  axis.size = indexValue(s.b, s.loc, size);
  axis.resultSize = indexValue(s.b, s.loc, resultSize);
  axis.isComputed = isComputed;
  return axis;
}

bool support::isCopiedDim(nn::ResizeOp op, int64_t dim) {
  return op.getScales()[dim] == 1 &&
         typeOf(op.getX()).getDimSize(dim) == typeOf(op.getY()).getDimSize(dim);
}

/// Returns the operand position of result position `at`.
static Value originalPosition(Scalars s, nn::Coordinates coordinates,
                              const ResampledAxis &axis, Value at) {
  Value position = s.toFloat(at), scale = axis.scale, half = s.f(0.5);
  Value size = s.toFloat(axis.size), resultSize = s.toFloat(axis.resultSize);
  if (axis.start) {
    Value last = s.sub(size, s.f(1)), share = s.sub(axis.end, axis.start);
    Value steps = arith::MaximumFOp::create(
        s.b, s.loc, s.sub(resultSize, s.f(1)), s.f(1));
    Value spread = s.add(s.mul(axis.start, last),
                         s.div(s.mul(position, s.mul(share, last)), steps));
    Value center =
        s.mul(s.mul(half, s.add(axis.start, axis.end)), last);
    return s.choose(arith::CmpIPredicate::sgt, axis.resultSize, s.n(1), spread,
                    center);
  }
  auto halfPixel = [&] {
    return s.sub(s.div(s.add(position, half), scale), half);
  };
  switch (coordinates) {
  case nn::Coordinates::half_pixel:
    return halfPixel();
  case nn::Coordinates::half_pixel_symmetric: {
    // Rounding the size down cuts off a part of the result. Split this part
    // between both ends.
    Value adjustment = s.div(resultSize, s.mul(size, scale));
    Value center = s.mul(size, half);
    Value offset = s.mul(center, s.sub(s.f(1), adjustment));
    // Computes the sum in f64. In f32, two rounding errors could give a value
    // slightly below an integer position.
    auto wide = [&](Value x) -> Value {
      if (s.isWide)
        return x;
      return arith::ExtFOp::create(s.b, s.loc, s.b.getF64Type(), x);
    };
    Value wideHalf = scalar(s.b, s.loc, s.b.getF64Type(), 0.5);
    Value scaled = s.div(s.add(wide(position), wideHalf), wide(scale));
    Value sum = s.sub(s.add(wide(offset), scaled), wideHalf);
    if (s.isWide)
      return sum;
    return arith::TruncFOp::create(s.b, s.loc, s.b.getF32Type(), sum);
  }
  case nn::Coordinates::pytorch_half_pixel:
    return s.choose(arith::CmpIPredicate::sgt, axis.resultSize, s.n(1),
                    halfPixel(), s.f(0));
  case nn::Coordinates::align_corners: {
    Value steps = s.sub(resultSize, s.f(1));
    Value spread =
        s.div(s.mul(position, s.sub(size, s.f(1))),
              arith::MaximumFOp::create(s.b, s.loc, steps, s.f(1)));
    return s.choose(arith::CmpIPredicate::sgt, axis.resultSize, s.n(1), spread,
                    s.f(0));
  }
  case nn::Coordinates::asymmetric:
    return s.div(position, scale);
  }
  return position;
}

/// Rounds x to an integer position. A fraction within 1e-6 of a half counts as
/// a half. The reason is that a scale of f32, such as 2 / 7, moves halves by
/// its rounding error.
static Value nearestPosition(Scalars s, nn::NearestMode mode, Value x) {
  // The fraction is exact, but a sum of x and such a small number would not be.
  Value below = s.floor(x), fraction = s.sub(x, below), half = s.f(0.5 + 1e-6);
  switch (mode) {
  case nn::NearestMode::round_prefer_floor:
    return s.add(below, s.ceil(s.sub(fraction, half)));
  case nn::NearestMode::round_prefer_ceil:
    return s.add(below, s.floor(s.add(fraction, half)));
  case nn::NearestMode::floor:
    return s.floor(x);
  case nn::NearestMode::ceil:
    return s.ceil(x);
  }
  return x;
}

SmallVector<Value> support::cubicWeights(Scalars s, Value t, double a) {
  auto inner = [&](Value d) { // ((a + 2) d - (a + 3)) d d + 1
    Value y = s.sub(s.mul(s.f(a + 2), d), s.f(a + 3));
    return s.add(s.mul(s.mul(y, d), d), s.f(1));
  };
  auto outer = [&](Value d) { // ((a d - 5 a) d + 8 a) d - 4 a
    Value y = s.sub(s.mul(s.f(a), d), s.f(5 * a));
    y = s.add(s.mul(y, d), s.f(8 * a));
    return s.sub(s.mul(y, d), s.f(4 * a));
  };
  Value rest = s.sub(s.f(1), t);
  return {outer(s.add(t, s.f(1))), inner(t), inner(rest),
          outer(s.add(rest, s.f(1)))};
}

Value support::positionOf(Scalars s, const Sampling &sampling,
                          const ResampledAxis &axis, Value at) {
  Value x = originalPosition(s, sampling.coordinates, axis, at);
  if (!axis.isComputed)
    return x;
  // Clamps positions to the reach of the taps. NaN becomes a number.
  x = arith::MaxNumFOp::create(s.b, s.loc, x, s.f(-4));
  return arith::MinNumFOp::create(s.b, s.loc, x,
                                  s.add(s.toFloat(axis.size), s.f(4)));
}

int64_t support::numTaps(nn::ResizeMode mode) {
  return mode == nn::ResizeMode::nearest  ? 1
         : mode == nn::ResizeMode::linear ? 2
                                          : 4;
}

SmallVector<Tap> support::tapsOf(Scalars s, const Sampling &sampling,
                                 const ResampledAxis &axis, Value at) {
  Value x = positionOf(s, sampling, axis, at);
  Value zero = s.n(0), last = s.sub(axis.size, s.n(1));
  if (sampling.mode == nn::ResizeMode::nearest) {
    Value position = s.toIndex(nearestPosition(s, sampling.nearest, x));
    return {{s.clamp(position, zero, last), Value()}};
  }
  Value below = s.floor(x), t = s.sub(x, below), first = s.toIndex(below);
  SmallVector<Value> weights;
  int64_t offset = 0;
  if (sampling.mode == nn::ResizeMode::linear) {
    weights = {s.sub(s.f(1), t), t};
  } else {
    weights = cubicWeights(s, t, sampling.cubicCoeff);
    offset = -1;
  }
  SmallVector<Tap> taps;
  Value total;
  for (auto [i, weight] : llvm::enumerate(weights)) {
    Value position = s.add(first, s.n(int64_t(i) + offset));
    Value held = s.clamp(position, zero, last);
    if (sampling.excludeOutside) {
      weight = s.choose(arith::CmpIPredicate::eq, position, held, weight,
                        s.f(0));
      total = total ? s.add(total, weight) : weight;
    }
    taps.push_back({held, weight});
  }
  if (total)
    for (Tap &tap : taps)
      tap.weight = s.div(tap.weight, total);
  return taps;
}
