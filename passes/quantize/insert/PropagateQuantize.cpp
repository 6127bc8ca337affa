//===- PropagateQuantize.cpp - nn-propagate-quantize ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/Scalars.h"
#include "passes/quantize/Passes.h"
#include "passes/quantize/QuantizationParameters.h"
#include "passes/quantize/insert/LookUpScales.h"
#include "passes/support/Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

namespace ingot {
#define GEN_PASS_DEF_PROPAGATEQUANTIZE
#include "passes/quantize/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;
using namespace ingot::support;

static constexpr char kNoDequantize[] =
    "does not move numbers of one constant scale";
static constexpr char kNoMaxima[] =
    "computes the maximum of elements that are not bytes";
static constexpr char kNoScale[] = "has no constant scale for all elements";

/// Returns true if kernels compute maxima of type `element`. Maxima of 16-bit
/// integers are computed as floats.
static bool hasMaxima(Type element) { return nn::isByte(element); }

/// Returns true if `op` only moves elements of its first operand, or picks the
/// largest.
static bool isMovement(Operation *op) {
  if (auto resize = dyn_cast<nn::ResizeOp>(op))
    return resize.getMode() == nn::ResizeMode::nearest;
  return isa<nn::GatherOp, nn::MaxPoolOp, nn::ReshapeOp, nn::SliceOp,
             nn::TransposeOp>(op);
}

/// Creates `op` with `x` as its first operand and with the element type of `x`.
static Value moveInstead(PatternRewriter &rewriter, Operation *op, Value x) {
  Operation *moved = rewriter.clone(*op);
  moved->setOperand(0, x);
  moved->getResult(0).setType(
      typeOf(op->getResult(0)).clone(typeOf(x).getElementType()));
  return moved->getResult(0);
}

/// Replaces `op` by a dequantize of `bytes` with the parameters of `like`.
static void replaceByDequantize(PatternRewriter &rewriter, Operation *op,
                                Value bytes, nn::DequantizeOp like,
                                int64_t axis = 0) {
  rewriter.replaceOpWithNewOp<nn::DequantizeOp>(op, op->getResult(0).getType(),
                                                bytes, like.getScale(),
                                                like.getZeroPoint(), axis);
}

/// Returns the result dimension that corresponds to dimension `axis` of the
/// operand; nullopt if a reshape splits or merges it.
static std::optional<int64_t> axisBehind(Operation *op, int64_t axis) {
  if (auto transpose = dyn_cast<nn::TransposeOp>(op))
    return llvm::find(transpose.getPerm(), axis) - transpose.getPerm().begin();
  if (auto gather = dyn_cast<nn::GatherOp>(op)) {
    if (gather.getAxis() == uint64_t(axis))
      return std::nullopt;
    return axis < int64_t(gather.getAxis())
               ? axis
               : axis + typeOf(gather.getIndices()).getRank() - 1;
  }
  auto reshape = dyn_cast<nn::ReshapeOp>(op);
  if (!reshape)
    return std::nullopt;
  ArrayRef<int64_t> from = typeOf(reshape.getX()).getShape(),
                    to = reshape.getType().getShape();
  if (ShapedType::isDynamicShape(from) || ShapedType::isDynamicShape(to))
    return std::nullopt;
  int64_t before = support::productOf(from.take_front(axis));
  for (int64_t i = 0; i < int64_t(to.size()); ++i)
    if (to[i] == from[axis] && support::productOf(to.take_front(i)) == before)
      return i;
  return std::nullopt;
}

namespace {

/// A pattern of this pass that counts its rewrites.
template <typename Op> struct Propagation : OpRewritePattern<Op> {
  Propagation(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern<Op>(context), count(count) {}

  Pass::Statistic &count;
};

/// A pattern for an nn.quantize with one constant scale.
struct QuantizePropagation : Propagation<nn::QuantizeOp> {
  using Propagation::Propagation;

  LogicalResult matchAndRewrite(nn::QuantizeOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Scale> scale = getScale(op);
    if (!scale)
      return rewriter.notifyMatchFailure(op, kNoScale);
    if (failed(propagate(op, *scale, rewriter)))
      return failure();
    ++count;
    return success();
  }

  virtual LogicalResult propagate(nn::QuantizeOp op, Scale scale,
                                  PatternRewriter &rewriter) const = 0;
};

//===----------------------------------------------------------------------===//
// Moving dequantize down
//===----------------------------------------------------------------------===//

/// Replaces move(dequantize(x)) by dequantize(move(x)).
struct SinkDequantize : RewritePattern {
  SinkDequantize(MLIRContext *context, Pass::Statistic &count)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context),
        count(count) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isMovement(op))
      return rewriter.notifyMatchFailure(op, "computes");
    auto dequantize = op->getOperand(0).getDefiningOp<nn::DequantizeOp>();
    if (!dequantize || !typeOf(dequantize.getX()).getElementType().isInteger())
      return rewriter.notifyMatchFailure(op, kNoDequantize);
    if (isa<nn::MaxPoolOp>(op) &&
        !hasMaxima(typeOf(dequantize.getX()).getElementType()))
      return rewriter.notifyMatchFailure(op, kNoMaxima);
    if (typeOf(dequantize.getScale()).getRank() > 1)
      return rewriter.notifyMatchFailure(op, "moves rows of several scales");
    std::optional<int64_t> axis = 0;
    // If the scale has one element for each index of an axis, find this axis in
    // the result.
    if (typeOf(dequantize.getScale()).getRank() != 0)
      axis = axisBehind(op, dequantize.getAxis());
    if (!axis)
      return rewriter.notifyMatchFailure(op, kNoDequantize);
    Value moved = moveInstead(rewriter, op, dequantize.getX());
    replaceByDequantize(rewriter, op, moved, dequantize, *axis);
    ++count;
    return success();
  }
  Pass::Statistic &count;
};

/// Replaces relu(dequantize(x)) by dequantize(max(x, zero point)) before
/// products. The pattern handles networks that were trained without fused
/// layers, because these do not quantize again after a relu.
struct SinkThroughRelu : Propagation<nn::ReluOp> {
  using Propagation::Propagation;

  LogicalResult matchAndRewrite(nn::ReluOp op,
                                PatternRewriter &rewriter) const override {
    nn::DequantizeOp dequantize = getDequantize(op.getX());
    if (!dequantize || !nn::isByte(typeOf(dequantize.getX()).getElementType()))
      return rewriter.notifyMatchFailure(op, kNoDequantize);
    if (llvm::none_of(op->getUses(), [](OpOperand &use) {
          return use.getOperandNumber() == 0 &&
                 (isa<nn::ConvOp, nn::ConvTransposeOp, nn::MatMulOp>(
                      use.getOwner()) ||
                  isMovement(use.getOwner()));
        }))
      return rewriter.notifyMatchFailure(op, "is not the data of a product");
    const int64_t zero = getScale(dequantize)->zeroPoint;
    Value bytes = dequantize.getX();
    if (zero > rangeOf(typeOf(bytes).getElementType()).first)
      bytes = nn::ClampOp::create(
          rewriter, op.getLoc(), bytes.getType(), bytes,
          rewriter.getF64FloatAttr(double(zero)),
          rewriter.getF64FloatAttr(std::numeric_limits<double>::infinity()));
    replaceByDequantize(rewriter, op, bytes, dequantize);
    ++count;
    return success();
  }
};

/// Moves a dequantize behind a pad whose value can be quantized exactly.
struct SinkThroughPad : Propagation<nn::PadOp> {
  using Propagation::Propagation;

  LogicalResult matchAndRewrite(nn::PadOp op,
                                PatternRewriter &rewriter) const override {
    nn::DequantizeOp dequantize = getDequantize(op.getX());
    if (!dequantize)
      return rewriter.notifyMatchFailure(op, kNoDequantize);
    Scale scale = *getScale(dequantize);
    RankedTensorType bytes = typeOf(dequantize.getX());
    Value value;
    if (op.getValue()) {
      std::optional<double> number = nn::getSplat(op.getValue());
      if (!number)
        return rewriter.notifyMatchFailure(op, "pads with a computed value");
      double byte = *number / scale.scale + double(scale.zeroPoint);
      auto [low, high] = rangeOf(bytes.getElementType());
      if (std::nearbyint(byte) != byte || byte < low || byte > high)
        return rewriter.notifyMatchFailure(
            op, "pads with a value between two quantized ones");
      value =
          nn::makeScalar(rewriter, op.getLoc(), bytes.getElementType(), byte);
    }
    Value padded = nn::PadOp::create(
        rewriter, op.getLoc(), op.getType().clone(bytes.getElementType()),
        dequantize.getX(), value, op.getLow(), op.getHigh(), op.getMode());
    replaceByDequantize(rewriter, op, padded, dequantize);
    ++count;
    return success();
  }
};

/// Moves dequantize ops with equal scales behind a concat.
struct SinkThroughConcat : Propagation<nn::ConcatOp> {
  using Propagation::Propagation;

  LogicalResult matchAndRewrite(nn::ConcatOp op,
                                PatternRewriter &rewriter) const override {
    nn::DequantizeOp first = getDequantize(op.getInputs().front());
    if (!first)
      return rewriter.notifyMatchFailure(op, kNoDequantize);
    Type element = typeOf(first.getX()).getElementType();
    SmallVector<Value> parts;
    for (Value input : op.getInputs()) {
      nn::DequantizeOp part = getDequantize(input);
      if (!part || !(getScale(part) == getScale(first)) ||
          typeOf(part.getX()).getElementType() != element)
        return rewriter.notifyMatchFailure(op,
                                           "joins numbers of several scales");
      parts.push_back(part.getX());
    }
    Value joined =
        nn::ConcatOp::create(rewriter, op.getLoc(), op.getType().clone(element),
                             parts, op.getAxis());
    replaceByDequantize(rewriter, op, joined, first);
    ++count;
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Moving quantize up
//===----------------------------------------------------------------------===//

/// Replaces quantize(move(x)) by move(quantize(x)), if nothing else uses the
/// moved value.
struct RaiseQuantize : QuantizePropagation {
  using QuantizePropagation::QuantizePropagation;

  LogicalResult propagate(nn::QuantizeOp op, Scale scale,
                          PatternRewriter &rewriter) const override {
    Operation *move = op.getX().getDefiningOp();
    if (!move || !move->hasOneUse())
      return rewriter.notifyMatchFailure(op, "has data of several uses");
    if (isa<nn::MaxPoolOp>(move) &&
        !hasMaxima(op.getY().getType().getElementType()))
      return rewriter.notifyMatchFailure(move, kNoMaxima);
    auto quantized = [&](Value value) -> Value {
      return nn::QuantizeOp::create(
          rewriter, op.getLoc(),
          typeOf(value).clone(op.getY().getType().getElementType()), value,
          op.getScale(), op.getZeroPoint(), /*axis=*/0);
    };
    if (auto concat = dyn_cast<nn::ConcatOp>(move)) {
      SmallVector<Value> parts =
          llvm::map_to_vector(concat.getInputs(), quantized);
      rewriter.replaceOpWithNewOp<nn::ConcatOp>(op, op.getY().getType(), parts,
                                                concat.getAxis());
    } else if (isa<nn::MaxPoolOp, nn::ReshapeOp, nn::TransposeOp>(move)) {
      rewriter.replaceOp(
          op, moveInstead(rewriter, move, quantized(move->getOperand(0))));
    } else {
      return rewriter.notifyMatchFailure(op, "has data that is computed");
    }
    return success();
  }
};

/// Removes a relu or clamp before a quantize if the saturation of the quantize
/// has the same effect.
struct DropActivation : QuantizePropagation {
  using QuantizePropagation::QuantizePropagation;

  LogicalResult propagate(nn::QuantizeOp op, Scale scale,
                          PatternRewriter &rewriter) const override {
    auto [low, high] = rangeOf(op.getY().getType().getElementType());
    double least = double(low - scale.zeroPoint) * scale.scale,
           most = double(high - scale.zeroPoint) * scale.scale;
    double from, to = std::numeric_limits<double>::infinity();
    Operation *activation = op.getX().getDefiningOp();
    if (isa_and_nonnull<nn::ReluOp>(activation)) {
      from = 0;
    } else if (auto clamp = dyn_cast_or_null<nn::ClampOp>(activation)) {
      from = clamp.getMin().convertToDouble();
      to = clamp.getMax().convertToDouble();
    } else {
      return rewriter.notifyMatchFailure(op, "has data of another op");
    }
    if (from > least || to < most)
      return rewriter.notifyMatchFailure(
          activation, "clamps to less than the quantized range");
    rewriter.modifyOpInPlace(
        op, [&] { op.getXMutable().assign(activation->getOperand(0)); });
    return success();
  }
};

/// Replaces quantize(dequantize(x)) by x.
struct CancelQuantize : QuantizePropagation {
  using QuantizePropagation::QuantizePropagation;

  LogicalResult propagate(nn::QuantizeOp op, Scale scale,
                          PatternRewriter &rewriter) const override {
    nn::DequantizeOp dequantize = getDequantize(op.getX());
    if (!dequantize || !(getScale(dequantize) == scale) ||
        dequantize.getX().getType() != op.getY().getType())
      return rewriter.notifyMatchFailure(
          op, "is not of the numbers that a dequantize had");
    rewriter.replaceOp(op, dequantize.getX());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Signs
//===----------------------------------------------------------------------===//

/// Converts signed bytes to unsigned ones, and unsigned 16-bit integers to
/// signed ones, because kernels multiply these types. Applies only if all users
/// dequantize the integers.
struct ChangeSign : QuantizePropagation {
  using QuantizePropagation::QuantizePropagation;

  LogicalResult propagate(nn::QuantizeOp op, Scale scale,
                          PatternRewriter &rewriter) const override {
    Type element = op.getY().getType().getElementType();
    const bool areWords = element.isUnsignedInteger(16);
    if (!areWords && !element.isSignlessInteger(8))
      return rewriter.notifyMatchFailure(
          op, "is not of signed bytes or unsigned words");
    SmallVector<nn::DequantizeOp> users;
    for (Operation *user : op->getUsers()) {
      auto dequantize = dyn_cast<nn::DequantizeOp>(user);
      if (!dequantize || dequantize.getX() != op.getY() ||
          !getScale(dequantize))
        return rewriter.notifyMatchFailure(
            user, "has a user that depends on the sign");
      users.push_back(dequantize);
    }
    auto shifted = [&](Scale scale) {
      return Scale{scale.scale, scale.zeroPoint +
                                    (areWords ? kWordOffset : kSignOffset)};
    };
    Value y = makeQuantize(rewriter, op.getLoc(), op.getX(),
                           areWords
                               ? rewriter.getIntegerType(16)
                               : rewriter.getIntegerType(8, /*isSigned=*/false),
                           shifted(scale));
    for (nn::DequantizeOp user : users) {
      rewriter.setInsertionPoint(user);
      rewriter.replaceOp(user,
                         makeDequantize(rewriter, user.getLoc(), y,
                                        user.getY().getType().getElementType(),
                                        shifted(*getScale(user))));
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct PropagateQuantizePass
    : ingot::impl::PropagateQuantizeBase<PropagateQuantizePass> {
  using PropagateQuantizeBase::PropagateQuantizeBase;

  void runOnOperation() override {
    // Change signs first, while each quantize is next to its dequantize.
    RewritePatternSet signs(&getContext());
    signs.add<ChangeSign>(&getContext(), numMoved);
    RewritePatternSet patterns(&getContext());
    patterns.add<CancelQuantize, DropActivation, RaiseQuantize, SinkDequantize,
                 SinkThroughConcat, SinkThroughPad, SinkThroughRelu>(
        &getContext(), numMoved);
    populateLookUpScales(patterns, numMoved);
    if (failed(
            rewriteGreedily(getOperation(), std::move(signs), getArgument())) ||
        failed(rewriteGreedily(getOperation(), std::move(patterns),
                               getArgument())))
      signalPassFailure();
  }
};

} // namespace
