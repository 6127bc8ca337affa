//===- ResizeToLinalg.cpp - resampling ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/lower/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::lower;

namespace {

/// Scalar f32 and index arithmetic, written short.
struct Scalars {
  OpBuilder &b;
  Location loc;

  Value f(double value) { return scalar(b, loc, b.getF32Type(), value); }
  Value n(int64_t value) { return indexConstant(b, loc, value); }
  Value add(Value x, Value y) { return addScalars(b, loc, x, y); }
  Value mul(Value x, Value y) { return mulScalars(b, loc, x, y); }
  Value sub(Value x, Value y) {
    if (isa<FloatType>(x.getType()))
      return arith::SubFOp::create(b, loc, x, y);
    return arith::SubIOp::create(b, loc, x, y);
  }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, loc, x, y); }
  Value floor(Value x) { return math::FloorOp::create(b, loc, x); }
  Value ceil(Value x) { return math::CeilOp::create(b, loc, x); }
  Value clamp(Value x, Value low, Value high) {
    x = arith::MaxSIOp::create(b, loc, x, low);
    return arith::MinSIOp::create(b, loc, x, high);
  }
  Value toFloat(Value index) {
    Value wide = arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
    return arith::SIToFPOp::create(b, loc, b.getF32Type(), wide);
  }
  Value toIndex(Value x) {
    Value wide = arith::FPToSIOp::create(b, loc, b.getI64Type(), x);
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), wide);
  }
  /// condition ? x : y, comparing two indices.
  Value choose(arith::CmpIPredicate predicate, Value p, Value q, Value x,
               Value y) {
    Value condition = arith::CmpIOp::create(b, loc, predicate, p, q);
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
};

/// One element that a result element is made of, along one dimension.
struct Tap {
  Value position;
  Value weight;
};

/// A dimension that is resampled.
struct Axis {
  float scale;
  Value size, resultSize;
};

} // namespace

/// The operand position, as f32, that result position `at` stands for.
static Value originalPosition(Scalars s, nn::Coordinates coordinates,
                              const Axis &axis, Value at) {
  Value position = s.toFloat(at), scale = s.f(axis.scale), half = s.f(0.5);
  Value size = s.toFloat(axis.size), resultSize = s.toFloat(axis.resultSize);
  auto halfPixel = [&] {
    return s.sub(s.div(s.add(position, half), scale), half);
  };
  switch (coordinates) {
  case nn::Coordinates::half_pixel:
    return halfPixel();
  case nn::Coordinates::half_pixel_symmetric: {
    // What rounding the size down cut off is shared by both ends.
    Value adjustment = s.div(resultSize, s.mul(size, scale));
    Value center = s.mul(size, half);
    Value offset = s.mul(center, s.sub(s.f(1), adjustment));
    return s.add(offset, halfPixel());
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

static Value nearestPosition(Scalars s, nn::NearestMode mode, Value x) {
  Value half = s.f(0.5);
  switch (mode) {
  case nn::NearestMode::round_prefer_floor:
    return s.ceil(s.sub(x, half));
  case nn::NearestMode::round_prefer_ceil:
    return s.floor(s.add(x, half));
  case nn::NearestMode::floor:
    return s.floor(x);
  case nn::NearestMode::ceil:
    return s.ceil(x);
  }
  return x;
}

/// The four cubic convolution weights at distance t past the second tap.
static SmallVector<Value> cubicWeights(Scalars s, Value t, double a) {
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

static SmallVector<Tap> tapsOf(Scalars s, nn::ResizeOp op, const Axis &axis,
                               Value at) {
  Value x = originalPosition(s, op.getCoordinates(), axis, at);
  Value zero = s.n(0), last = s.sub(axis.size, s.n(1));
  if (op.getMode() == nn::ResizeMode::nearest) {
    Value position = s.toIndex(nearestPosition(s, op.getNearestMode(), x));
    return {{s.clamp(position, zero, last), Value()}};
  }
  Value below = s.floor(x), t = s.sub(x, below), first = s.toIndex(below);
  SmallVector<Value> weights;
  int64_t offset = 0;
  if (op.getMode() == nn::ResizeMode::linear) {
    weights = {s.sub(s.f(1), t), t};
  } else {
    weights = cubicWeights(s, t, op.getCubicCoeffA().convertToFloat());
    offset = -1;
  }
  SmallVector<Tap> taps;
  Value total;
  for (auto [i, weight] : llvm::enumerate(weights)) {
    Value position = s.add(first, s.n(int64_t(i) + offset));
    Value held = s.clamp(position, zero, last);
    if (op.getExcludeOutside()) {
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

namespace {

struct LowerResize : OpConversionPattern<nn::ResizeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(nn::ResizeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

} // namespace

/// The sum over the taps of dimension `dim` on, of weight times element.
static Value sumTaps(Scalars s, Value x, ArrayRef<SmallVector<Tap>> taps,
                     SmallVectorImpl<Value> &at, bool fromUnsigned) {
  size_t dim = at.size();
  if (dim == taps.size()) {
    Value element = tensor::ExtractOp::create(s.b, s.loc, x, at);
    return convertScalar(s.b, s.loc, element, s.b.getF32Type(), fromUnsigned,
                         false);
  }
  Value sum;
  for (const Tap &tap : taps[dim]) {
    at.push_back(tap.position);
    Value part = sumTaps(s, x, taps, at, fromUnsigned);
    at.pop_back();
    if (tap.weight)
      part = s.mul(part, tap.weight);
    sum = sum ? s.add(sum, part) : part;
  }
  return sum;
}

LogicalResult
LowerResize::matchAndRewrite(nn::ResizeOp op, OpAdaptor adaptor,
                             ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  RankedTensorType type = signless(getTypeConverter(), op);
  Type element = type.getElementType();
  Value x = adaptor.getX();
  bool noSign = isUnsigned(op.getX().getType());
  Sizes sizes = sizesOf(rewriter, loc, x);
  SmallVector<Axis> axes;
  SmallVector<bool> isCopied;
  for (auto [i, scale] : llvm::enumerate(op.getScales())) {
    Value size = indexValue(rewriter, loc, sizes[i]);
    if (!type.isDynamicDim(i)) {
      sizes[i] = rewriter.getIndexAttr(type.getDimSize(i));
    } else if (scale != 1) {
      Scalars s{rewriter, loc};
      sizes[i] = s.toIndex(s.floor(s.mul(s.toFloat(size), s.f(scale))));
    }
    axes.push_back({scale, size, indexValue(rewriter, loc, sizes[i])});
    isCopied.push_back(scale == 1 &&
                       type.getDimSize(i) == typeOf(x).getDimSize(i));
  }
  bool isNearest = op.getMode() == nn::ResizeMode::nearest;
  Value y = generate(
      rewriter, loc, sizes, element,
      [&](OpBuilder &b, Location loc, ValueRange indices) -> Value {
        Scalars s{b, loc};
        SmallVector<SmallVector<Tap>> taps;
        for (auto [i, index] : llvm::enumerate(indices)) {
          if (isCopied[i])
            taps.push_back({{index, Value()}});
          else
            taps.push_back(tapsOf(s, op, axes[i], index));
        }
        SmallVector<Value> at;
        if (isNearest) {
          for (ArrayRef<Tap> one : taps)
            at.push_back(one.front().position);
          return tensor::ExtractOp::create(b, loc, x, at);
        }
        Value sum = sumTaps(s, x, taps, at, noSign);
        if (isa<IntegerType>(element)) {
          // Cubic interpolation overshoots; what does not fit is clipped.
          unsigned width = element.getIntOrFloatBitWidth();
          double low = noSign ? 0 : -std::ldexp(1.0, width - 1);
          double high = std::ldexp(1.0, noSign ? width : width - 1) - 1;
          sum = math::RoundEvenOp::create(b, loc, sum);
          sum = arith::MaximumFOp::create(b, loc, sum, s.f(low));
          sum = arith::MinimumFOp::create(b, loc, sum, s.f(high));
        }
        return convertScalar(b, loc, sum, element, false, noSign);
      });
  rewriter.replaceOp(op, castTo(rewriter, loc, y, type));
  return success();
}

void lower::populateResizeToLinalg(RewritePatternSet &patterns,
                                   const TypeConverter &converter) {
  patterns.add<LowerResize>(converter, patterns.getContext());
}
