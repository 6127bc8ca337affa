//===- Intervals.cpp - value ranges of tensors ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/Intervals.h"

#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/support/Shapes.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr Interval kAll{-kInfinity, kInfinity};
/// Limit of ops to look through. Further ops rarely change the result.
static constexpr int kMaxDepth = 64;

/// Absolute tolerance for f32 rounding, and relative tolerance for large
/// bounds. Bounds are computed in f64.
static constexpr double kSlack = 1e-3, kRelativeSlack = 0x1p-20;

static double slackAt(double bound) {
  return std::max(kSlack, std::abs(bound) * kRelativeSlack);
}

static Interval scaledBy(Interval x, double factor) {
  if (factor == 0 || !std::isfinite(factor))
    return kAll;
  return factor < 0 ? Interval{x.most * factor, x.least * factor}
                    : Interval{x.least * factor, x.most * factor};
}

/// Returns the interval of products of an element of `x` and one of `y`.
static Interval product(Interval x, Interval y) {
  for (double bound : {x.least, x.most, y.least, y.most})
    if (!std::isfinite(bound))
      return kAll;
  auto [least, most] = std::minmax(
      {x.least * y.least, x.least * y.most, x.most * y.least, x.most * y.most});
  return {least, most};
}

/// Returns the interval of sums. For floats, it includes the rounding error,
/// which may be large relative to a small difference.
static Interval sum(Operation *op, Interval x, Interval y) {
  double rounded = 0;
  if (isa<FloatType>(typeOf(op->getResult(0)).getElementType()))
    for (double bound : {x.least, x.most, y.least, y.most})
      if (std::isfinite(bound))
        rounded = std::max(rounded, std::abs(bound) * kRelativeSlack);
  return {x.least + y.least - rounded, x.most + y.most + rounded};
}

static Interval joined(Interval x, Interval y) {
  return {std::min(x.least, y.least), std::max(x.most, y.most)};
}

/// Integers of at most this width have the range of their type if nothing else
/// is known.
static constexpr unsigned kMaxBoundedWidth = 16;

/// Returns `x` if the type of `value` can hold it. Other integers wrap around.
static Interval heldBy(Value value, Interval x) {
  auto type = dyn_cast<IntegerType>(getElementTypeOrSelf(value.getType()));
  if (!type)
    return x;
  if (type.getWidth() == 1)
    return {0, 1};
  if (type.getWidth() > 32)
    return kAll;
  double size = std::ldexp(1.0, int(type.getWidth()));
  double least = type.isUnsigned() ? 0 : -size / 2;
  if (!x.isWithin(least, least + size - 1))
    return type.getWidth() <= kMaxBoundedWidth
               ? Interval{least, least + size - 1}
               : kAll;
  return {std::trunc(x.least), std::trunc(x.most)};
}

/// Returns true if each window has an element of x, i.e. if no window lies
/// wholly in the padding.
static bool hasElements(nn::MaxPoolOp pool) {
  ArrayRef<int64_t> kernel = pool.getKernel(), pads = pool.getPads();
  for (auto [i, pad] : llvm::enumerate(pads))
    if (pad >= kernel[i % kernel.size()])
      return false;
  return llvm::all_of(pool.getDilations(),
                      [](int64_t dilation) { return dilation == 1; });
}

Interval IntervalAnalysis::findInterval(Operation *op) {
  if (auto splat = nn::getSplat(op->getResult(0)))
    return std::isnan(*splat) ? kAll : Interval{*splat, *splat};
  auto x = [&] { return intervalOf(op->getOperand(0)); };
  auto y = [&] { return intervalOf(op->getOperand(1)); };
  /// Returns the operand that is not constant, and the constant.
  auto splitConstant = [&]() -> std::pair<Value, std::optional<double>> {
    if (auto right = nn::getSplat(op->getOperand(1)))
      return {op->getOperand(0), right};
    return {op->getOperand(1), nn::getSplat(op->getOperand(0))};
  };
  return llvm::TypeSwitch<Operation *, Interval>(op)
      .Case<nn::ReshapeOp, nn::TransposeOp, nn::SliceOp>(
          [&](auto) { return x(); })
      .Case([&](nn::MaxPoolOp pool) {
        return hasElements(pool) ? x() : kAll;
      })
      .Case([&](nn::ConcatOp) {
        Interval all = x();
        for (Value operand : op->getOperands().drop_front())
          all = joined(all, intervalOf(operand));
        return all;
      })
      .Case([&](nn::ClampOp clamp) {
        auto [least, most] = x();
        double low = clamp.getMin().convertToDouble(),
               high = clamp.getMax().convertToDouble();
        return Interval{std::min(std::max(least, low), high),
                        std::min(std::max(most, low), high)};
      })
      .Case([&](nn::ReluOp) {
        auto [least, most] = x();
        return Interval{std::max(least, 0.0), std::max(most, 0.0)};
      })
      .Case<nn::SigmoidOp, nn::HardSigmoidOp>(
          [](auto) { return Interval{0, 1}; })
      .Case([&](nn::SignOp) {
        auto [least, most] = x();
        return Interval{least > 0 ? 1.0 : least == 0 ? 0 : -1,
                        most < 0 ? -1.0 : most == 0 ? 0 : 1};
      })
      .Case<nn::TanhOp, nn::ErfOp, nn::SinOp, nn::CosOp>(
          [](auto) { return Interval{-1, 1}; })
      .Case([&](nn::AbsOp) {
        auto [least, most] = x();
        return Interval{0, std::max(std::abs(least), std::abs(most))};
      })
      .Case([&](nn::RoundOp) {
        auto [least, most] = x();
        return Interval{std::nearbyint(least - slackAt(least)),
                        std::nearbyint(most + slackAt(most))};
      })
      .Case([&](nn::CastOp) { return x(); })
      .Case([](nn::RequantizeOp requantize) {
        const auto [least, most] = requantize.getBounds();
        return Interval{double(least), double(most)};
      })
      .Case([&](nn::NegOp) { return scaledBy(x(), -1); })
      .Case([&](nn::MulOp) {
        auto [value, factor] = splitConstant();
        return factor ? scaledBy(intervalOf(value), *factor)
                      : product(x(), y());
      })
      .Case([&](nn::DivOp) {
        auto divisor = nn::getSplat(op->getOperand(1));
        return divisor ? scaledBy(x(), 1 / *divisor) : kAll;
      })
      .Case([&](nn::AddOp) { return sum(op, x(), y()); })
      .Case([&](nn::SubOp) { return sum(op, x(), scaledBy(y(), -1)); })
      .Case([&](nn::SelectOp) {
        return joined(y(), intervalOf(op->getOperand(2)));
      })
      .Default(kAll);
}

Interval IntervalAnalysis::intervalOf(Value value) {
  if (auto known = intervals.find(value); known != intervals.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  if (!op || value != op->getResult(0) || depth == kMaxDepth)
    return heldBy(value, kAll);
  ++depth;
  Interval interval = heldBy(value, findInterval(op));
  --depth;
  return intervals[value] = interval;
}
