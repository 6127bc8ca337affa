//===- ResizeToLinalg.cpp - resampling ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/loops/Patterns.h"
#include "passes/support/ResampledBand.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

namespace {

struct LowerResize : OpConversionPattern<nn::ResizeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(nn::ResizeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

} // namespace

/// Returns the sum of weight times element over the taps of dimension `dim` and
/// of the later dimensions.
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
      part = arith::MulFOp::create(s.b, s.loc, part, tap.weight,
                                   arith::FastMathFlags::contract);
    sum = sum ? Value(arith::AddFOp::create(s.b, s.loc, sum, part,
                                            arith::FastMathFlags::contract))
              : part;
  }
  return sum;
}

/// Converts a sum to an element of the result.
static Value roundSum(Scalars s, Value sum, Type element, bool toUnsigned) {
  if (isa<IntegerType>(element)) {
    // Cubic interpolation overshoots; clip to the range of the type.
    unsigned width = element.getIntOrFloatBitWidth();
    double low = toUnsigned ? 0 : -std::ldexp(1.0, width - 1);
    double high = std::ldexp(1.0, toUnsigned ? width : width - 1) - 1;
    sum = math::RoundEvenOp::create(s.b, s.loc, sum);
    sum = arith::MaximumFOp::create(s.b, s.loc, sum, s.f(low));
    sum = arith::MinimumFOp::create(s.b, s.loc, sum, s.f(high));
  }
  return convertScalar(s.b, s.loc, sum, element, false, toUnsigned);
}

namespace {

/// Interpolates one dimension after the other, for static sizes. The sums equal
/// those of all dimensions at once. No source element is multiplied twice by
/// the same weights.
struct Separable {
  OpBuilder &b;
  Location loc;
  const Sampling &sampling;
  bool isUnsigned;

  Value resample(Value x, int64_t dim, const ResampledAxis &axis, Type element,
                 bool isLast);
};

} // namespace

/// The number of elements that fill vectors of every CPU level.
static constexpr int64_t kVectorElements = 16;

Value Separable::resample(Value x, int64_t dim, const ResampledAxis &axis,
                          Type element, bool isLast) {
  RankedTensorType from = typeOf(x);
  SmallVector<int64_t> shape(from.getShape());
  shape[dim] = *getConstantIntValue(axis.resultSize);
  auto sizes = [&](ArrayRef<int64_t> values) {
    return getAsIndexOpFoldResult(b.getContext(), values);
  };
  // Joins all dimensions behind this one, regardless of the number of channels.
  // If channels fill vectors, keeps the shape, so that the op can be fused with
  // its users.
  bool isRun = dim + 1 < from.getRank() &&
               (!isLast || shape.back() % kVectorElements != 0);
  SmallVector<int64_t> result = shape;
  int64_t at = dim;
  if (isRun) {
    int64_t outer = 1, inner = 1;
    for (int64_t i = 0; i < from.getRank(); ++i)
      (i < dim ? outer : inner) *= i == dim ? 1 : shape[i];
    x = reshape(b, loc, x, sizes({outer, from.getDimSize(dim), inner}));
    result = {outer, shape[dim], inner};
    at = 1;
  }
  Value y = generate(
      b, loc, sizes(result), element,
      [&](OpBuilder &b, Location loc, ValueRange indices) -> Value {
        Scalars s{b, loc};
        SmallVector<SmallVector<Tap>> taps;
        for (auto [i, index] : llvm::enumerate(indices)) {
          if (int64_t(i) == at)
            taps.push_back(tapsOf(s, sampling, axis, index));
          else
            taps.push_back({{index, Value()}});
        }
        SmallVector<Value> position;
        Value sum = sumTaps(s, x, taps, position, isUnsigned);
        return roundSum(s, sum, element, isUnsigned);
      });
  return isRun ? reshape(b, loc, y, sizes(shape)) : y;
}

/// Multiplies dimension `dim` by the matrix of its resampling.
static Value multiplyByBand(OpBuilder &b, nn::ResizeOp op, Value x, int64_t dim,
                            const ResampledAxis &axis, OpFoldResult size) {
  Location loc = op.getLoc();
  Sizes sizes = sizesOf(b, loc, x);
  sizes[dim] = size;
  ResampledBand band =
      makeResampledBand({b, loc}, samplingOf(op), axis, op.mayFilter(dim),
                        /*unit=*/1, {0, 1, size});
  Value taps = sizeOf(b, loc, band.weights, 1);
  return generate(
      b, loc, sizes, b.getF32Type(),
      [&](OpBuilder &b, Location loc, ValueRange indices) -> Value {
        Scalars s{b, loc};
        Value row = indices[dim];
        Value narrow =
            tensor::ExtractOp::create(b, loc, band.starts, ValueRange{row});
        Value start =
            arith::IndexCastOp::create(b, loc, b.getIndexType(), narrow);
        Value count = arith::MinSIOp::create(b, loc, taps,
                                             s.sub(axis.size, start));
        return s.loop(s.n(0), count, s.f(0), [&](Value tap, ValueRange sum) {
          SmallVector<Value> at(indices);
          at[dim] = s.add(start, tap);
          Value element = tensor::ExtractOp::create(b, loc, x, at);
          Value weight = tensor::ExtractOp::create(b, loc, band.weights,
                                                   ValueRange{row, tap});
          return SmallVector<Value>{s.add(sum[0], s.mul(element, weight))};
        })[0];
      });
}

LogicalResult
LowerResize::matchAndRewrite(nn::ResizeOp op, OpAdaptor adaptor,
                             ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  RankedTensorType type = signless(getTypeConverter(), op);
  Type element = type.getElementType();
  Value x = adaptor.getX();
  bool noSign = isUnsigned(op.getX().getType());
  Sizes from = sizesOf(rewriter, loc, x),
        sizes = resultSizes(rewriter, op->getResult(0));
  Scalars outside{rewriter, loc};
  Sampling sampling = samplingOf(op);
  SmallVector<ResampledAxis> axes;
  SmallVector<bool> isCopied;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    axes.push_back(axisOf(outside, op, i, from[i], sizes[i]));
    isCopied.push_back(isCopiedDim(op, i));
  }
  if (op.getAntialias()) {
    for (int64_t i = 0; i < type.getRank(); ++i)
      if (!isCopied[i])
        x = multiplyByBand(rewriter, op, x, i, axes[i], sizes[i]);
    rewriter.replaceOp(op, castTo(rewriter, loc, x, type));
    return success();
  }
  bool isNearest = op.getMode() == nn::ResizeMode::nearest;
  int64_t left = llvm::count(isCopied, false);
  // If channels fill vectors, interpolate all dimensions of a pixel at once.
  bool fitsVectors =
      left == 0 || (isCopied.back() &&
                    type.getShape().back() % kVectorElements == 0);
  if (!isNearest && !fitsVectors && typeOf(x).hasStaticShape() &&
      type.hasStaticShape()) {
    // Begin with the innermost dimension. The rows are then short when later
    // dimensions read them again.
    Separable separable{rewriter, loc, sampling, noSign};
    for (int64_t i = type.getRank() - 1; i >= 0; --i)
      if (!isCopied[i]) {
        bool isLast = --left == 0;
        x = separable.resample(
            x, i, axes[i], isLast ? element : Type(rewriter.getF32Type()),
            isLast);
      }
    rewriter.replaceOp(op, castTo(rewriter, loc, x, type));
    return success();
  }
  Value y = generate(
      rewriter, loc, sizes, element,
      [&](OpBuilder &b, Location loc, ValueRange indices) -> Value {
        Scalars s{b, loc};
        SmallVector<SmallVector<Tap>> taps;
        for (auto [i, index] : llvm::enumerate(indices)) {
          if (isCopied[i])
            taps.push_back({{index, Value()}});
          else
            taps.push_back(tapsOf(s, sampling, axes[i], index));
        }
        SmallVector<Value> at;
        if (isNearest) {
          for (ArrayRef<Tap> one : taps)
            at.push_back(one.front().position);
          return tensor::ExtractOp::create(b, loc, x, at);
        }
        Value sum = sumTaps(s, x, taps, at, noSign);
        return roundSum(s, sum, element, noSign);
      });
  rewriter.replaceOp(op, castTo(rewriter, loc, y, type));
  return success();
}

void loops::populateResizeToLinalg(RewritePatternSet &patterns,
                                   const TypeConverter &converter) {
  patterns.add<LowerResize>(converter, patterns.getContext());
}
