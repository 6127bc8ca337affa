//===- FoldByteScales.cpp - nn-fold-byte-scales ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "passes/quantize/form/ByteFunction.h"
#include "passes/quantize/form/Passes.h"
#include "passes/quantize/form/RoundedQuotient.h"
#include "passes/support/Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ingot {
#define GEN_PASS_DEF_FOLDBYTESCALES
#include "passes/quantize/form/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;

/// Units in the last place by which up to three constants may be off. A result
/// that lies near the middle of two integers needs the right one.
static constexpr int8_t kNudges[][3] = {
    {0, 0, 0},   {1, 0, 0},  {-1, 0, 0},  {0, 1, 0},   {0, -1, 0},
    {0, 0, 1},   {0, 0, -1}, {1, 1, 0},   {1, -1, 0},  {-1, 1, 0},
    {-1, -1, 0}, {2, 0, 0},  {-2, 0, 0},  {0, 2, 0},   {0, -2, 0},
    {2, 1, 0},   {2, -1, 0}, {-2, 1, 0},  {-2, -1, 0}, {1, 2, 0},
    {1, -2, 0},  {-1, 2, 0}, {-1, -2, 0}, {1, 0, 1},   {-1, 0, -1}};

/// Limit of the range of results that count as bytes, not words.
static constexpr float kMaxByteRange = 1 << 10;

/// Number of inputs of which one may give a word that is one step off.
static constexpr size_t kInputsOfOneOff = 1000;

/// Returns the float that is `steps` after `number`.
static double moveBy(double number, int steps) {
  auto moved = float(number);
  for (; steps > 0; --steps)
    moved = std::nextafter(moved, HUGE_VALF);
  for (; steps < 0; ++steps)
    moved = std::nextafter(moved, -HUGE_VALF);
  return moved;
}

namespace {

/// A factor for all channels, or a factor for each channel.
struct Factor {
  std::vector<double> numbers;

  Factor(double number) : numbers{number} {}
  Factor(std::vector<double> numbers) : numbers(std::move(numbers)) {}

  bool isScalar() const { return numbers.size() == 1; }
  bool isOne() const { return isScalar() && numbers.front() == 1; }
  bool isPositive() const {
    return llvm::all_of(numbers, [](double number) { return number > 0; });
  }
  Factor inverse() const {
    Factor result = *this;
    for (double &number : result.numbers)
      number = 1 / number;
    return result;
  }
  Factor operator*(const Factor &other) const {
    const bool isLonger = numbers.size() > other.numbers.size();
    Factor result = isLonger ? *this : other;
    const Factor &rest = isLonger ? other : *this;
    for (auto [i, number] : llvm::enumerate(result.numbers))
      number *= rest.numbers[rest.isScalar() ? 0 : i];
    return result;
  }
};

/// Writes a function of integers times a factor. All products with constants
/// become one product with each source, where possible.
class Scaler {
public:
  Scaler(const ByteFunction &function, Location loc)
      : function(function), loc(loc), nudgeOf(function.getChannels(), 0) {}

  /// Writes `value` times `factor`.
  Value write(OpBuilder &b, Value value, const Factor &factor) {
    builder = &b;
    numConstants = 0;
    areHeld = true;
    return times(value, factor);
  }
  /// Returns true if f32 holds all constants that `write` created.
  bool holds() const { return areHeld; }

  /// Uses other constants for `channel` from now on. Returns false if there are
  /// no others.
  bool nudge(size_t channel) {
    return numConstants > 0 && ++nudgeOf[channel] < std::size(kNudges);
  }

private:
  bool takes(Value value, const Factor &factor) const;
  Value times(Value value, const Factor &factor);
  Value timesProduct(nn::MulOp op, const Factor &factor);
  Value hardSigmoid(Value x, double slope, double middle, double most);
  Value clamp(Value x, double min, double max);
  Value constant(Factor numbers);
  Value multiply(Value x, Factor factor) {
    return factor.isOne() ? x
                          : nn::MulOp::create(*builder, loc, x,
                                              constant(std::move(factor)))
                                ->getResult(0);
  }
  /// Returns the operand that is scaled, and its factor, if `value` is a
  /// product with a constant or a quotient by one. Otherwise returns `value`.
  std::pair<Value, Factor> split(Value value) const;
  /// Splits off factors for all channels only.
  std::pair<Value, double> splitScalar(Value value) const;

  const ByteFunction &function;
  Location loc;
  OpBuilder *builder = nullptr;
  /// Number of constants that were created so far.
  size_t numConstants = 0;
  bool areHeld = true;
  /// Row of kNudges for each channel.
  std::vector<size_t> nudgeOf;
};

} // namespace

std::pair<Value, Factor> Scaler::split(Value value) const {
  Operation *op = value.getDefiningOp();
  if (function.isSource(value) || !isa_and_nonnull<nn::MulOp, nn::DivOp>(op))
    return {value, 1};
  Value a = op->getOperand(0), b = op->getOperand(1);
  if (nn::getConstant(b)) {
    Factor factor = function.readConstant(b);
    return {a, isa<nn::DivOp>(op) ? factor.inverse() : factor};
  }
  if (nn::getConstant(a) && isa<nn::MulOp>(op))
    return {b, function.readConstant(a)};
  return {value, 1};
}

std::pair<Value, double> Scaler::splitScalar(Value value) const {
  double product = 1;
  while (true) {
    auto [inner, factor] = split(value);
    if (inner == value || !factor.isScalar())
      return {value, product};
    product *= factor.numbers.front();
    value = inner;
  }
}

/// Returns true if changing constants of `value` multiplies it by `factor`.
bool Scaler::takes(Value value, const Factor &factor) const {
  if (nn::getConstant(value))
    return true;
  if (!factor.isScalar() && !function.isWhole(value))
    return false;
  if (function.isSource(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (isa<nn::MulOp, nn::DivOp>(op))
    return split(value).first != value || isa<nn::MulOp>(op);
  if (isa<nn::AddOp, nn::SubOp>(op))
    return llvm::all_of(op->getOperands(),
                        [&](Value operand) { return takes(operand, factor); });
  if (isa<nn::ReluOp, nn::LeakyReluOp>(op))
    return factor.isPositive() && takes(op->getOperand(0), factor);
  if (isa<nn::ClampOp>(op))
    return factor.isScalar() && factor.isPositive() &&
           takes(op->getOperand(0), factor);
  return factor.isScalar() && factor.isPositive();
}

/// Writes `value` times `factor`. Multiplies the result if `value` does not
/// take the factor.
Value Scaler::times(Value value, const Factor &factor) {
  if (nn::getConstant(value))
    return constant(Factor(function.readConstant(value)) * factor);
  if (function.isSource(value) || !takes(value, factor))
    return multiply(value, factor);
  if (auto [x, inner] = split(value); x != value) {
    Factor whole = inner * factor;
    return takes(x, whole) ? times(x, whole) : multiply(x, whole);
  }
  Operation *op = value.getDefiningOp();
  if (auto mul = dyn_cast<nn::MulOp>(op))
    return timesProduct(mul, factor);
  if (isa<nn::HardSwishOp, nn::HardSigmoidOp>(op)) {
    // x = s q: s q g(s q) f = q (s f g(s q)).
    auto [x, scale] = splitScalar(op->getOperand(0));
    const double f = factor.numbers.front();
    if (auto sigmoid = dyn_cast<nn::HardSigmoidOp>(op))
      return hardSigmoid(x, scale * sigmoid.getAlpha().convertToDouble() * f,
                         sigmoid.getBeta().convertToDouble() * f, f);
    if (scale <= 0)
      std::tie(x, scale) = std::pair(op->getOperand(0), 1.0);
    const double most = scale * f;
    Value gate = hardSigmoid(x, scale * most / 6, most / 2, most);
    return nn::MulOp::create(*builder, loc, x, gate);
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(times(operand, factor));
  if (isa<nn::ReluOp>(op))
    return clamp(operands.front(), 0, HUGE_VAL);
  if (auto bounds = dyn_cast<nn::ClampOp>(op))
    return clamp(operands.front(),
                 bounds.getMin().convertToDouble() * factor.numbers.front(),
                 bounds.getMax().convertToDouble() * factor.numbers.front());
  Operation *scaled = builder->clone(*op);
  scaled->setOperands(operands);
  return scaled->getResult(0);
}

/// Writes a product of two computed factors. The factors of both are merged.
Value Scaler::timesProduct(nn::MulOp op, const Factor &factor) {
  auto [a, scaleOfA] = splitScalar(op.getA());
  auto [b, scaleOfB] = splitScalar(op.getB());
  const Factor whole = factor * scaleOfA * scaleOfB;
  auto size = [&](Value value) {
    return typeOf(value).hasStaticShape() ? typeOf(value).getNumElements()
                                          : std::numeric_limits<int64_t>::max();
  };
  // A source has no constants that could change.
  auto isBetter = [&](Value x, Value y) {
    return std::pair(function.isSource(x), size(x)) <
           std::pair(function.isSource(y), size(y));
  };
  const bool isOfA = takes(a, whole) && (isBetter(a, b) || !takes(b, whole));
  if (isOfA)
    a = times(a, whole);
  else
    b = times(b, whole);
  return nn::MulOp::create(*builder, loc, a, b);
}

/// Writes max(0, min(most, x * slope + middle)).
Value Scaler::hardSigmoid(Value x, double slope, double middle, double most) {
  Value line = multiply(x, slope);
  return clamp(nn::AddOp::create(*builder, loc, line, constant(middle)), 0,
               most);
}

Value Scaler::clamp(Value x, double min, double max) {
  // f32 holds the bounds of a clamp of f32.
  return nn::ClampOp::create(*builder, loc, x,
                             builder->getF64FloatAttr(double(float(min))),
                             builder->getF64FloatAttr(double(float(max))));
}

Value Scaler::constant(Factor factor) {
  const size_t place = numConstants++;
  for (auto [channel, number] : llvm::enumerate(factor.numbers)) {
    if (place < std::size(kNudges[0]) &&
        factor.numbers.size() == nudgeOf.size())
      number = moveBy(number, kNudges[nudgeOf[channel]][place]);
    areHeld &= number == 0 || std::isnormal(float(number));
  }
  return function.makeConstant(*builder, loc, factor.numbers);
}

/// Returns the channels in which `got` rounds to other integers than `want`,
/// after a clamp to `bounds`. In each channel, `mostOff` integers may be one
/// step off.
static SmallVector<size_t> findWrongChannels(ArrayRef<float> want,
                                             ArrayRef<float> got,
                                             std::pair<double, double> bounds,
                                             size_t inputs, size_t mostOff) {
  SmallVector<size_t> wrong;
  for (size_t first = 0; first < want.size(); first += inputs) {
    size_t off = 0;
    for (size_t i = first; i < first + inputs && off <= mostOff; ++i) {
      const double clamped =
          std::clamp(double(got[i]), bounds.first, bounds.second);
      const double distance = std::abs(std::nearbyint(clamped) - want[i]);
      off += distance <= 1 ? size_t(distance) : mostOff + 1;
    }
    if (off > mostOff)
      wrong.push_back(first / inputs);
  }
  return wrong;
}

/// Returns the number of inputs of a channel whose integers in `want` may be
/// one step off. Bytes must be equal. For words of a hard swish, the roundings
/// of f32 in the form that ONNX defines move about as many words.
static size_t mostOffIn(const ByteFunction &function, ArrayRef<float> want) {
  auto [least, most] = std::minmax_element(want.begin(), want.end());
  const bool areWords = *most - *least > kMaxByteRange;
  return areWords &&
                 llvm::any_of(function.getOps(), llvm::IsaPred<nn::HardSwishOp>)
             ? function.getInputs() / kInputsOfOneOff
             : 0;
}

namespace {

/// Replaces round(f(integers) / scale) by a function with fewer ops, if it
/// gives equal integers for all inputs. Few words of a hard swish may differ.
struct FoldIntoFunction : OpRewritePattern<nn::RoundOp> {
  FoldIntoFunction(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(nn::RoundOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<RoundedQuotient> quotient = RoundedQuotient::find(op);
    if (!quotient)
      return rewriter.notifyMatchFailure(op, "is not of a constant scale");
    auto [clamp, division, scale] = *quotient;
    if (!division->hasOneUse() || (clamp && !clamp->hasOneUse()))
      return rewriter.notifyMatchFailure(op, "has a quotient of several uses");
    StringRef reason;
    std::optional<ByteFunction> function =
        ByteFunction::find(op.getX(), reason);
    if (!function)
      return rewriter.notifyMatchFailure(op, reason);
    std::optional<std::vector<float>> want = function->evaluate(op.getX());
    if (!want)
      return rewriter.notifyMatchFailure(op, "has no scalar form");
    for (float &number : *want)
      number = std::nearbyint(number);

    std::pair<double, double> bounds{-HUGE_VAL, HUGE_VAL};
    if (clamp)
      bounds = {clamp.getMin().convertToDouble(),
                clamp.getMax().convertToDouble()};
    Scaler scaler(*function, function->getLoc());
    std::optional<std::vector<float>> got =
        findConstants(scaler, *function, division, *want, bounds);
    if (!got)
      return rewriter.notifyMatchFailure(
          op, "has a result near the middle of two integers");
    rewriter.setInsertionPoint(op);
    Value x = scaler.write(rewriter, division.getResult(), 1);
    // The saturation may have no effect.
    auto [least, most] = std::minmax_element(got->begin(), got->end());
    if (std::nearbyint(*least) >= bounds.first)
      bounds.first = -HUGE_VAL;
    if (std::nearbyint(*most) <= bounds.second)
      bounds.second = HUGE_VAL;
    if (std::isfinite(bounds.first) || std::isfinite(bounds.second)) {
      auto saturation = nn::ClampOp::create(
          rewriter, op.getLoc(), x, rewriter.getF64FloatAttr(bounds.first),
          rewriter.getF64FloatAttr(bounds.second));
      mergeClamps(rewriter, saturation);
      x = saturation;
    }
    rewriter.modifyOpInPlace(op, [&] { op.getXMutable().assign(x); });
    ++count;
    return success();
  }

  /// Tries constants until the results are right. Returns the results before
  /// they are clamped and rounded.
  static std::optional<std::vector<float>>
  findConstants(Scaler &scaler, const ByteFunction &function,
                nn::DivOp division, ArrayRef<float> want,
                std::pair<double, double> bounds) {
    const size_t mostOff = mostOffIn(function, want);
    while (true) {
      Block scratch;
      OpBuilder builder(division.getContext());
      builder.setInsertionPointToEnd(&scratch);
      Value x = scaler.write(builder, division.getResult(), 1);
      std::optional<std::vector<float>> got =
          scaler.holds() ? function.evaluate(x) : std::nullopt;
      if (!got)
        return std::nullopt;
      SmallVector<size_t> wrong =
          findWrongChannels(want, *got, bounds, function.getInputs(), mostOff);
      if (wrong.empty())
        return got;
      if (!llvm::all_of(wrong,
                        [&](size_t channel) { return scaler.nudge(channel); }))
        return std::nullopt;
    }
  }

  Pass::Statistic &count;
};

struct FoldByteScalesPass
    : ingot::impl::FoldByteScalesBase<FoldByteScalesPass> {
  using FoldByteScalesBase::FoldByteScalesBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldIntoFunction>(&getContext(), numFolded);
    if (failed(rewriteGreedily(getOperation(), std::move(patterns),
                               getArgument())))
      signalPassFailure();
  }
};

} // namespace
