//===- DecomposeQuantize.cpp - nn-decompose-quantize ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/Scalars.h"
#include "passes/quantize/QuantizationParameters.h"
#include "passes/quantize/form/Passes.h"
#include "passes/support/Intervals.h"
#include "passes/support/Rewrite.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

#include <cmath>

namespace ingot {
#define GEN_PASS_DEF_DECOMPOSEQUANTIZE
#include "passes/quantize/form/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;
using namespace ingot::support;

namespace {

/// Builds elementwise ops at one location.
struct Maker {
  OpBuilder &b;
  Location loc;

  template <typename Op, typename... Args> Value make(Args &&...args) {
    return Op::create(b, loc, std::forward<Args>(args)...)->getResult(0);
  }
  Value cast(Value x, Type element) {
    if (typeOf(x).getElementType() == element)
      return x;
    return make<nn::CastOp>(typeOf(x).clone(element), x);
  }
  /// Reshapes a vector along `axis` of `rank` dimensions so that it broadcasts.
  /// Returns other values unchanged, because they broadcast.
  Value alongAxis(Value v, int64_t rank, int64_t axis) {
    RankedTensorType type = typeOf(v);
    if (type.getRank() != 1 || rank - axis == 1)
      return v;
    SmallVector<int64_t> shape(rank - axis, 1);
    shape[0] = type.getDimSize(0);
    if (nn::getConstant(v))
      return nn::makeConstant(b, loc, type.clone(shape),
                              *nn::getConstantDoubles(v));
    return make<nn::ReshapeOp>(type.clone(shape), v);
  }
};

} // namespace

/// Returns true if all elements of `x` are known to be integers: `x` is a sign,
/// or a select between two constant integers.
static bool areWhole(Value x) {
  auto isWhole = [](Value value) {
    std::optional<double> number = nn::getSplat(value);
    return number && *number == std::nearbyint(*number);
  };
  if (auto select = x.getDefiningOp<nn::SelectOp>())
    return isWhole(select->getOperand(1)) && isWhole(select->getOperand(2));
  return bool(x.getDefiningOp<nn::SignOp>());
}

/// Returns the bounds to which `near` must be clamped, so that rounding gives
/// an integer within [least, most]. A bound is infinite if `near` respects it
/// without a clamp, up to an f32 rounding error.
static support::Interval boundsNeeded(Value near, double least, double most) {
  constexpr double kRoom = 0.25, kInfinity = HUGE_VAL;
  support::Interval interval = support::IntervalAnalysis().intervalOf(near);
  return {interval.least >= least - kRoom ? -kInfinity : least,
          interval.most <= most + kRoom ? kInfinity : most};
}

static constexpr char kNoIntegers[] = "is not of floats and integers";

namespace {

/// Replaces dequantize ops by f32 arithmetic on `whole`, if all users of the
/// int16 result dequantize it. No int16 values are then stored. `whole` is the
/// rounded quotient before the zero point is added.
static void readRounded(Maker b, nn::QuantizeOp op, Value whole,
                        PatternRewriter &rewriter) {
  std::optional<Scale> scale = getScale(op);
  SmallVector<nn::DequantizeOp> found;
  auto isRead = [&](Operation *user) {
    auto dequantize = dyn_cast<nn::DequantizeOp>(user);
    if (!dequantize || !(getScale(dequantize) == scale) ||
        typeOf(dequantize.getY()).getElementType() !=
            typeOf(whole).getElementType())
      return false;
    found.push_back(dequantize);
    return true;
  };
  if (!llvm::all_of(op->getUsers(), [&](Operation *user) {
        return isa<nn::ReshapeOp>(user)
                   ? llvm::all_of(user->getUsers(), isRead)
                   : isRead(user);
      }))
    return;
  // Leave the replaced ops in place, without users, because the walk still
  // visits them.
  for (nn::DequantizeOp dequantize : found) {
    Value y = b.make<nn::MulOp>(whole, dequantize.getScale());
    OpBuilder::InsertionGuard guard(rewriter);
    if (auto reshape = dequantize.getX().getDefiningOp<nn::ReshapeOp>()) {
      rewriter.setInsertionPoint(reshape);
      IRMapping values;
      values.map(reshape.getX(), y);
      Operation *moved = rewriter.clone(*reshape, values);
      moved->getResult(0).setType(dequantize.getY().getType());
      y = moved->getResult(0);
    }
    rewriter.replaceAllUsesWith(dequantize.getY(), y);
  }
}

/// Replaces casts to f32 by f32 arithmetic on `whole`, if all users of the
/// 8-bit result cast it to f32. Products with few channels do so. No bytes are
/// then stored. `whole` is the rounded quotient before the zero point `zero` is
/// added.
static void castRounded(Maker b, nn::QuantizeOp op, Value whole, int64_t zero,
                        PatternRewriter &rewriter) {
  auto isCast = [&](Operation *user) {
    return isa<nn::CastOp>(user) &&
           typeOf(user->getResult(0)) == typeOf(whole);
  };
  if (op->use_empty() || !llvm::all_of(op->getUsers(), isCast))
    return;
  for (Operation *cast : op->getUsers()) {
    auto takesZeroOff = [&](Operation *user) {
      auto difference = dyn_cast<nn::SubOp>(user);
      return difference && difference.getA() == cast->getResult(0) &&
             nn::getSplat(difference.getB()) == double(zero) &&
             difference->getResult(0).getType() == whole.getType();
    };
    if (zero == 0)
      rewriter.replaceAllUsesWith(cast->getResult(0), whole);
    else if (llvm::all_of(cast->getUsers(), takesZeroOff))
      for (Operation *user : cast->getUsers())
        rewriter.replaceAllUsesWith(user->getResult(0), whole);
  }
}

/// Returns the clamp of bytes that is the only user of `op`, if all users of
/// the clamp dequantize the bytes. The bytes are then not stored, and the
/// saturation can have the bounds of the clamp. Returns null otherwise. A
/// product keeps its clamp, from which its kernel knows the largest byte.
static nn::ClampOp findReadClamp(nn::QuantizeOp op) {
  auto clamp = op->hasOneUse() ? dyn_cast<nn::ClampOp>(*op->user_begin())
                               : nn::ClampOp();
  if (!clamp || !nn::isByte(op.getY().getType().getElementType()) ||
      !llvm::all_of(clamp->getUsers(), llvm::IsaPred<nn::DequantizeOp>))
    return {};
  return clamp;
}

/// Decomposes a quantize into saturate(round(x / scale) + zero point). Adds the
/// zero point after rounding, because adding an odd zero point first would
/// change how halves round to even. A constant zero point is added to integers.
struct DecomposeQuantizeOp : OpRewritePattern<nn::QuantizeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::QuantizeOp op,
                                PatternRewriter &rewriter) const override {
    Maker b{rewriter, op.getLoc()};
    Type precision = typeOf(op.getScale()).getElementType();
    Type to = op.getY().getType().getElementType();
    if (!isa<FloatType>(precision) || !to.isInteger())
      return rewriter.notifyMatchFailure(op, kNoIntegers);
    int64_t rank = op.getY().getType().getRank(), axis = op.getAxis();
    Type real = nn::computeType(precision);
    Value x = b.cast(op.getX(), precision);
    Value scaled = x;
    if (nn::getSplat(op.getScale()) != 1.0)
      scaled = b.make<nn::DivOp>(x, b.alongAxis(op.getScale(), rank, axis));
    scaled = b.cast(scaled, real);
    auto clamp = [&](Value y, double least, double most) {
      return b.make<nn::ClampOp>(y, rewriter.getF64FloatAttr(least),
                                 rewriter.getF64FloatAttr(most));
    };
    auto [low, high] = rangeOf(to);
    std::optional<Scale> constant = getScale(op);
    if (constant && real.isF32() && to.getIntOrFloatBitWidth() <= 16) {
      int64_t zero = constant->zeroPoint;
      nn::ClampOp outer = findReadClamp(op);
      if (outer) {
        // Bounds of clamps of bytes are integers or infinite.
        low = int64_t(std::max(double(low), outer.getMin().convertToDouble()));
        high =
            int64_t(std::min(double(high), outer.getMax().convertToDouble()));
      }
      double least = double(low - zero), most = double(high - zero);
      // The bounds are integers, so clamping before rounding has the same
      // result as clamping after it.
      Value near = scaled;
      const bool areInt16 = to.getIntOrFloatBitWidth() == 16;
      if (areInt16) {
        auto [from, upTo] = boundsNeeded(near, least, most);
        if (std::isfinite(from) || std::isfinite(upTo))
          near = clamp(near, from, upTo);
      } else if (!support::IntervalAnalysis().intervalOf(near).isWithin(least,
                                                                        most)) {
        near = clamp(near, least, most);
      }
      if (!areWhole(near))
        near = b.make<nn::RoundOp>(near);
      if (areInt16)
        readRounded(b, op, near, rewriter);
      else
        castRounded(b, op, near, zero, rewriter);
      RankedTensorType words = typeOf(near).clone(rewriter.getI32Type());
      Value whole = b.make<nn::CastOp>(words, near, /*in_range=*/true);
      if (zero != 0)
        whole = b.make<nn::AddOp>(
            whole, nn::makeScalar(rewriter, op.getLoc(), rewriter.getI32Type(),
                                  double(zero)));
      Value bytes =
          b.make<nn::CastOp>(op.getY().getType(), whole, /*in_range=*/true);
      if (outer)
        rewriter.replaceAllUsesWith(outer.getResult(), bytes);
      rewriter.replaceOp(op, bytes);
      return success();
    }
    Value y = b.make<nn::RoundOp>(scaled);
    if (Value zero = op.getZeroPoint())
      y = b.make<nn::AddOp>(y, b.cast(b.alongAxis(zero, rank, axis), real));
    y = clamp(y, double(low), double(high));
    // f32 cannot represent the largest value of a wide type, so the clamped
    // value may exceed this value by one. Only values of narrow types are
    // certain to be in range.
    bool inRange = to.getIntOrFloatBitWidth() <= 16;
    rewriter.replaceOpWithNewOp<nn::CastOp>(op, op.getY().getType(), y,
                                            inRange);
    return success();
  }
};

/// Decomposes a dequantize into (x - zero point) * scale. The difference is
/// exact.
struct DecomposeDequantizeOp : OpRewritePattern<nn::DequantizeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::DequantizeOp op,
                                PatternRewriter &rewriter) const override {
    Maker b{rewriter, op.getLoc()};
    RankedTensorType type = op.getY().getType();
    Type to = type.getElementType();
    Type from = typeOf(op.getX()).getElementType();
    if (!isa<FloatType>(to) || !from.isInteger())
      return rewriter.notifyMatchFailure(op, kNoIntegers);
    int64_t rank = type.getRank(), axis = op.getAxis();
    Value x = op.getX(), zero = op.getZeroPoint();
    if (zero && nn::getSplat(zero) != 0.0) {
      Type wide =
          from.getIntOrFloatBitWidth() < 32 ? rewriter.getI32Type() : from;
      x = b.make<nn::SubOp>(b.cast(x, wide),
                            b.cast(b.alongAxis(zero, rank, axis), wide));
    }
    Type real = nn::computeType(to);
    Value scale = b.cast(b.alongAxis(op.getScale(), rank, axis), real);
    Value y = b.cast(b.make<nn::MulOp>(b.cast(x, real), scale), to);
    if (y.getType() != type)
      y = tensor::CastOp::create(rewriter, op.getLoc(), type, y);
    rewriter.replaceOp(op, y);
    return success();
  }
};

/// Decomposes a blockwise dequantize: repeats scales and zero points for each
/// element of their block.
struct DecomposeDequantizeBlocks
    : OpRewritePattern<nn::DequantizeBlocksOp> {
  using OpRewritePattern::OpRewritePattern;

  static Value spread(Maker b, Value value, nn::DequantizeBlocksOp op) {
    int64_t axis = op.getAxis(), block = op.getBlockSize();
    RankedTensorType type = typeOf(value), x = typeOf(op.getX());
    SmallVector<int64_t> split(type.getShape()), joined(type.getShape());
    split.insert(split.begin() + axis + 1, 1);
    value = b.make<nn::ReshapeOp>(type.clone(split), value);
    split[axis + 1] = block;
    value = b.make<nn::BroadcastToOp>(type.clone(split), value, ValueRange());
    joined[axis] *= block;
    value = b.make<nn::ReshapeOp>(type.clone(joined), value);
    SmallVector<int64_t> starts(joined.size(), 0), steps(joined.size(), 1);
    return b.make<nn::SliceOp>(type.clone(x.getShape()), value, starts,
                               x.getShape(), steps);
  }

  /// Returns the floats of constants. A run would compute them each time, since
  /// scales that are repeated for each element are too large to be folded.
  static Value evaluate(Maker b, nn::DequantizeBlocksOp op) {
    RankedTensorType type = op.getY().getType();
    auto numbers = nn::getConstantDoubles(op.getX());
    auto scales = nn::getConstantDoubles(op.getScale());
    std::optional<std::vector<double>> zeros;
    if (Value zero = op.getZeroPoint())
      zeros = nn::getConstantDoubles(zero);
    if (!numbers || !scales || (op.getZeroPoint() && !zeros))
      return {};
    const int64_t axis = op.getAxis(), block = op.getBlockSize();
    const int64_t size = type.getDimSize(axis);
    const int64_t blocks = typeOf(op.getScale()).getDimSize(axis);
    const int64_t behind = productOf(type.getShape().drop_front(axis + 1));
    for (auto [i, number] : llvm::enumerate(*numbers)) {
      const int64_t outer = int64_t(i) / (size * behind),
                    at = int64_t(i) / behind % size;
      const int64_t from =
          (outer * blocks + at / block) * behind + int64_t(i) % behind;
      number = (number - (zeros ? (*zeros)[from] : 0)) * (*scales)[from];
    }
    return nn::makeConstant(b.b, b.loc, type, *numbers);
  }

  LogicalResult matchAndRewrite(nn::DequantizeBlocksOp op,
                                PatternRewriter &rewriter) const override {
    Maker b{rewriter, op.getLoc()};
    if (Value constant = evaluate(b, op)) {
      rewriter.replaceOp(op, constant);
      return success();
    }
    Type to = op.getY().getType().getElementType();
    Type real = nn::computeType(to);
    Value y = b.cast(op.getX(), real);
    if (Value zero = op.getZeroPoint())
      y = b.make<nn::SubOp>(y, b.cast(spread(b, zero, op), real));
    Value scale = b.cast(spread(b, op.getScale(), op), real);
    rewriter.replaceOp(op, b.cast(b.make<nn::MulOp>(y, scale), to));
    return success();
  }
};

struct DecomposeQuantizePass
    : ingot::impl::DecomposeQuantizeBase<DecomposeQuantizePass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<DecomposeQuantizeOp, DecomposeDequantizeOp,
                 DecomposeDequantizeBlocks>(&getContext());
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace
