//===- QuantizeInt16.cpp - nn-quantize-int16 ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/Scalars.h"
#include "passes/backend/Policy.h"
#include "passes/quantize/form/Passes.h"
#include "passes/quantize/form/ProductOperands.h"
#include "passes/support/Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace ingot {
#define GEN_PASS_DEF_QUANTIZEINT16
#include "passes/quantize/form/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;
using namespace ingot::support;

/// Limit of parts to split a product into. Products that need more stay floats.
static constexpr int64_t kMaxParts = 8;

namespace {

/// A part of the input channels, from `begin` to `end`.
struct ChannelRange {
  int64_t begin, end;

  int64_t size() const { return end - begin; }
};

/// The operands of an int16 product.
struct Operands {
  /// The data, of i16, and the least and greatest element that they may have.
  Value x;
  double least, most;
  Scale scale;
  Weights weights;
  std::vector<double> bias;
  /// The dimension of the weights that counts inputs, and the parts of the
  /// inputs whose sums fit in i32.
  int64_t along;
  SmallVector<ChannelRange> parts;
};

} // namespace

/// Returns true if the elements that `op` dequantizes have `bits` bits. `op`
/// may be null.
static bool haveBits(nn::DequantizeOp op, unsigned bits) {
  return op && typeOf(op.getX()).getElementType().isInteger(bits);
}

/// Returns true if the data `x` or the weights `w` are dequantized from 16
/// bits, and the data from 8 or 16.
static bool readsInt16(Value x, Value w) {
  nn::DequantizeOp op = getDequantize(x);
  return haveBits(op, 16) ||
         (haveBits(op, 8) && haveBits(w.getDefiningOp<nn::DequantizeOp>(), 16));
}

/// Returns the data that `value` dequantizes as i16. Sets `scale`.
/// Precondition: `readsInt16(value, weights)`.
static Value readWords(OpBuilder &builder, Location loc, Value value,
                       Scale &scale) {
  nn::DequantizeOp op = getDequantize(value);
  scale = *getScale(op);
  if (haveBits(op, 8))
    return nn::CastOp::create(
        builder, loc, typeOf(op.getX()).clone(builder.getI16Type()), op.getX());
  if (!typeOf(op.getX()).getElementType().isUnsignedInteger())
    return op.getX();
  scale.zeroPoint += kWordOffset;
  Type word = builder.getIntegerType(16);
  RankedTensorType type = typeOf(op.getX()).clone(word);
  Value bits = nn::CastOp::create(builder, loc, type, op.getX());
  return nn::XorOp::create(builder, loc, type, bits,
                           nn::makeScalar(builder, loc, word, kWordOffset));
}

/// Calls `visit(element, output, input)` for all weights.
template <typename Visit>
static void forEachWeight(const Weights &weights, int64_t along, Visit visit) {
  const int64_t inputs = weights.type.getDimSize(along),
                inner = support::productOf(
                    weights.type.getShape().drop_front(along + 1));
  weights.forEachRun([&](int64_t output, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      visit(i, output, int64_t(i) / inner % inputs);
  });
}

/// Returns true if i32 holds the sums of each of `parts`, for all data minus
/// their zero point. Intermediate sums may wrap around, because later
/// additions wrap them back.
static bool holdsSums(const Operands &operands, ArrayRef<ChannelRange> parts) {
  const int64_t outputs = operands.weights.outputs(),
                size = parts.front().size();
  std::vector<double> positive(outputs * parts.size()),
      negative(positive.size());
  forEachWeight(operands.weights, operands.along,
                [&](size_t i, int64_t output, int64_t input) {
                  double weight = operands.weights.bytes[i];
                  (weight > 0 ? positive
                              : negative)[input / size * outputs + output] +=
                      std::abs(weight);
                });
  const auto zero = double(operands.scale.zeroPoint);
  const double above = operands.most - zero, below = zero - operands.least;
  constexpr double kMax = 2147483647;
  for (auto [p, n] : llvm::zip_equal(positive, negative))
    if (above * p + below * n > kMax || below * p + above * n > kMax)
      return false;
  return true;
}

/// Splits the inputs into the fewest parts whose sums fit in i32. All parts but
/// the last have equal sizes. Returns false if more than `kMaxParts` are
/// needed.
static bool choosePartsOf(Operands &operands) {
  const int64_t inputs = operands.weights.type.getDimSize(operands.along);
  for (int64_t count = 1; count <= std::min(kMaxParts, inputs); ++count) {
    // Round up to whole vectors of int16.
    int64_t size = llvm::alignTo(llvm::divideCeil(inputs, count), 16);
    operands.parts.clear();
    for (int64_t begin = 0; begin < inputs; begin += size)
      operands.parts.push_back({begin, std::min(begin + size, inputs)});
    if (holdsSums(operands, operands.parts))
      return true;
  }
  return false;
}

/// Reads the operands of an int16 product. Returns nullopt and sets `reason` if
/// the product cannot be computed in int16.
static std::optional<Operands> readOperands(OpBuilder &builder, Operation *op,
                                            const FloatProduct &product,
                                            OptimizeFor goal,
                                            StringRef &reason) {
  const auto [x, w, outputs, bias, groups] = product;
  if (!readsInt16(x, w)) {
    reason = "has neither data nor weights of int16, or several scales of data";
    return std::nullopt;
  }
  const Answer<bool> answer = Policy::of(op).multiplyInt16(op, goal);
  auto recordAnswer = [&] {
    return record(op, Question::precision, answer, "int16", "float32");
  };
  if (!answer.choice) {
    recordAnswer();
    reason = "is faster in floats";
    return std::nullopt;
  }
  std::optional<Weights> weights =
      readWeights(op, w, outputs, reason, /*mostBits=*/16);
  if (!weights)
    return std::nullopt;
  auto [low, high] = rangeOf(builder.getI16Type());
  if (llvm::any_of(weights->bytes, [low = low, high = high](double weight) {
        return weight < double(low) || weight > double(high);
      })) {
    reason = "has weights beyond int16 after subtraction of the zero point";
    return std::nullopt;
  }
  auto biases = readBias(bias, weights->outputs(), reason);
  if (!biases)
    return std::nullopt;
  Scale scale;
  Value words = readWords(builder, op->getLoc(), x, scale);
  nn::DequantizeOp data = getDequantize(x);
  auto [least, most] = haveBits(data, 8)
                           ? rangeOf(typeOf(data.getX()).getElementType())
                           : std::pair(low, high);
  // The inputs are dimension 0 of the weights if the outputs are the columns.
  // Otherwise the inputs are dimension 1.
  const int64_t along = outputs == 0 ? 1 : 0;
  Operands operands{words,
                    double(least),
                    double(most),
                    scale,
                    std::move(*weights),
                    std::move(*biases),
                    along,
                    {}};
  if (!choosePartsOf(operands)) {
    reason = "has sums that i32 does not hold";
    return std::nullopt;
  }
  if (operands.parts.size() > 1 &&
      (groups != 1 || !typeOf(x).hasStaticShape())) {
    reason = "has sums that i32 does not hold, and groups or open sizes";
    return std::nullopt;
  }
  recordAnswer();
  return operands;
}

/// Creates the weights of a part as int16.
static Value wordsOf(OpBuilder &builder, Location loc, const Operands &operands,
                     const ChannelRange &part) {
  SmallVector<int64_t> shape(operands.weights.type.getShape());
  shape[operands.along] = part.size();
  std::vector<double> words;
  words.reserve(support::productOf(shape));
  forEachWeight(operands.weights, operands.along,
                [&](size_t i, int64_t, int64_t input) {
                  if (input >= part.begin && input < part.end)
                    words.push_back(operands.weights.bytes[i]);
                });
  return nn::makeConstant(
      builder, loc, RankedTensorType::get(shape, builder.getI16Type()), words);
}

/// Returns the data of a part; dimension `dim` counts inputs.
static Value dataOf(OpBuilder &builder, Location loc, const Operands &operands,
                    const ChannelRange &part, int64_t dim) {
  RankedTensorType type = typeOf(operands.x);
  if (operands.parts.size() == 1)
    return operands.x;
  SmallVector<int64_t> starts(type.getRank(), 0), steps(type.getRank(), 1),
      sizes(type.getShape());
  starts[dim] = part.begin;
  sizes[dim] = part.size();
  return nn::SliceOp::create(builder, loc, type.clone(sizes), operands.x,
                             starts, sizes, steps);
}

/// Converts the sums of a part to f32 and multiplies them by each output's
/// scale.
static Value scaleSums(OpBuilder &builder, Location loc, RankedTensorType type,
                       Value sums, int64_t dim, const Operands &operands) {
  std::vector<double> factors;
  for (int64_t o = 0; o < operands.weights.outputs(); ++o)
    factors.push_back(operands.scale.scale *
                      operands.weights.parameters.scaleOf(o));
  Value y = nn::CastOp::create(builder, loc, type, sums);
  return nn::MulOp::create(
      builder, loc, type, y,
      alongOutputs(builder, loc, type, dim, type.getElementType(), factors));
}

/// Returns the sum of all parts and the bias.
static Value addParts(OpBuilder &builder, Location loc, RankedTensorType type,
                      int64_t dim, const Operands &operands,
                      function_ref<Value(const ChannelRange &)> sumsOf) {
  Value y;
  if (llvm::any_of(operands.bias, [](double bias) { return bias != 0; }))
    y = alongOutputs(builder, loc, type, dim, type.getElementType(),
                     operands.bias);
  for (const ChannelRange &part : operands.parts) {
    Value next = scaleSums(builder, loc, type, sumsOf(part), dim, operands);
    y = y ? nn::AddOp::create(builder, loc, type, next, y).getResult() : next;
  }
  return y;
}

/// Subtracts the zero-point term from the sums in i32. This arithmetic wraps
/// around, so the result is exact even if the sums wrapped around.
static Value takeOffZeroPoint(OpBuilder &builder, Location loc, Value sums,
                              int64_t dim, const Operands &operands,
                              const ChannelRange &part) {
  if (operands.scale.zeroPoint == 0)
    return sums;
  std::vector<int64_t> totals(operands.weights.outputs());
  forEachWeight(operands.weights, operands.along,
                [&](size_t i, int64_t output, int64_t input) {
                  if (input >= part.begin && input < part.end)
                    totals[output] += int64_t(operands.weights.bytes[i]);
                });
  std::vector<double> shifts;
  for (int64_t total : totals)
    shifts.push_back(double(int32_t(-operands.scale.zeroPoint * total)));
  RankedTensorType type = typeOf(sums);
  return nn::AddOp::create(
      builder, loc, type, sums,
      alongOutputs(builder, loc, type, dim, type.getElementType(), shifts));
}

namespace {

struct QuantizeConv : OpRewritePattern<nn::ConvOp> {
  QuantizeConv(MLIRContext *context, Pass::Statistic &count, OptimizeFor goal)
      : OpRewritePattern(context), count(count), goal(goal) {}

  LogicalResult matchAndRewrite(nn::ConvOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType();
    int64_t groups = op.getGroups();
    StringRef reason;
    std::optional<Operands> operands = readOperands(
        rewriter, op, {op.getX(), op.getW(), 0, op.getBias(), groups}, goal,
        reason);
    if (!operands)
      return rewriter.notifyMatchFailure(op, reason);
    Location loc = op.getLoc();
    const int64_t dim = op.getChannelsLast() ? type.getRank() - 1 : 1;
    const bool isPadded =
        llvm::any_of(op.getPads(), [](int64_t pad) { return pad != 0; });
    auto sumsOf = [&](const ChannelRange &part) -> Value {
      Value sums = nn::ConvOp::create(
          rewriter, loc, type.clone(rewriter.getI32Type()),
          dataOf(rewriter, loc, *operands, part, dim),
          wordsOf(rewriter, op.getW().getLoc(), *operands, part),
          /*bias=*/Value(), op.getStrides(), op.getPads(), op.getDilations(),
          groups, op.getChannelsLast(),
          isPadded ? operands->scale.zeroPoint : 0);
      return isPadded
                 ? sums
                 : takeOffZeroPoint(rewriter, loc, sums, dim, *operands, part);
    };
    rewriter.replaceOp(op,
                       addParts(rewriter, loc, type, dim, *operands, sumsOf));
    ++count;
    return success();
  }
  Pass::Statistic &count;
  OptimizeFor goal;
};

struct QuantizeMatMul : OpRewritePattern<nn::MatMulOp> {
  QuantizeMatMul(MLIRContext *context, Pass::Statistic &count, OptimizeFor goal)
      : OpRewritePattern(context), count(count), goal(goal) {}

  LogicalResult matchAndRewrite(nn::MatMulOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType();
    if (typeOf(op.getB()).getRank() != 2 || op.getTransposeA())
      return rewriter.notifyMatchFailure(op, "has no matrix of weights");
    StringRef reason;
    std::optional<Operands> operands = readOperands(
        rewriter, op,
        {op.getA(), op.getB(), op.getTransposeB() ? 0 : 1, op.getBias()}, goal,
        reason);
    if (!operands)
      return rewriter.notifyMatchFailure(op, reason);
    Location loc = op.getLoc();
    rewriter.replaceOp(
        op,
        addParts(rewriter, loc, type, type.getRank() - 1, *operands,
                 [&](const ChannelRange &part) {
                   Value sums = nn::MatMulOp::create(
                       rewriter, loc, type.clone(rewriter.getI32Type()),
                       dataOf(rewriter, loc, *operands, part,
                              typeOf(op.getA()).getRank() - 1),
                       wordsOf(rewriter, op.getB().getLoc(), *operands, part),
                       /*bias=*/Value(), /*transpose_a=*/false,
                       op.getTransposeB());
                   return takeOffZeroPoint(rewriter, loc, sums,
                                           type.getRank() - 1, *operands, part);
                 }));
    ++count;
    return success();
  }
  Pass::Statistic &count;
  OptimizeFor goal;
};

struct QuantizeInt16Pass : ingot::impl::QuantizeInt16Base<QuantizeInt16Pass> {
  using QuantizeInt16Base::QuantizeInt16Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<QuantizeConv, QuantizeMatMul>(&getContext(), numProducts,
                                               optimize);
    rewriteInOneWalk(getOperation(), std::move(patterns));
    eraseUnread(getOperation());
  }
};

} // namespace
