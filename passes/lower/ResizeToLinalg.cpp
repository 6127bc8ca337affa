//===- ResizeToLinalg.cpp - resampling ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/lower/Resampling.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::lower;

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
  Scalars outside{rewriter, loc};
  Sampling sampling{op.getMode(), op.getCoordinates(), op.getNearestMode(),
                    op.getCubicCoeffA().convertToFloat(),
                    op.getExcludeOutside()};
  SmallVector<ResampledAxis> axes;
  SmallVector<bool> isCopied;
  for (auto [i, scale] : llvm::enumerate(op.getScales())) {
    Value size = indexValue(rewriter, loc, sizes[i]);
    if (!type.isDynamicDim(i)) {
      sizes[i] = rewriter.getIndexAttr(type.getDimSize(i));
    } else if (scale != 1) {
      sizes[i] = outside.toIndex(outside.floor(
          outside.mul(outside.toFloat(size), outside.f(scale))));
    }
    axes.push_back({outside.f(scale), size,
                    indexValue(rewriter, loc, sizes[i])});
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
            taps.push_back(tapsOf(s, sampling, axes[i], index));
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
