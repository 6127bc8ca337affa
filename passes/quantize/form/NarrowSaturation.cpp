//===- NarrowSaturation.cpp - nn-narrow-saturation ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "passes/quantize/form/ByteFunction.h"
#include "passes/quantize/form/Passes.h"

#include <cmath>

namespace ingot {
#define GEN_PASS_DEF_NARROWSATURATION
#include "passes/quantize/form/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;

/// Limit of ops between a rounding and the function that reads it.
static constexpr int kMaxDepth = 8;

/// Returns the integers that `round` computes for all inputs of `function`.
static std::optional<std::vector<float>>
computeIntegers(const ByteFunction &function, nn::RoundOp round) {
  std::optional<std::vector<float>> results = function.evaluate(round.getX());
  if (results)
    for (float &number : *results)
      number = std::nearbyint(number);
  return results;
}

/// Returns the bounds of a clamp or of a requantize.
static std::pair<double, double> boundsOf(Operation *op) {
  if (auto requantize = dyn_cast<nn::RequantizeOp>(op))
    return requantize.getBounds();
  auto clamp = cast<nn::ClampOp>(op);
  return {clamp.getMin().convertToDouble(), clamp.getMax().convertToDouble()};
}

static void setBounds(Operation *op, double least, double most) {
  if (auto requantize = dyn_cast<nn::RequantizeOp>(op)) {
    requantize.setLeast(int64_t(least));
    requantize.setMost(int64_t(most));
    return;
  }
  auto clamp = cast<nn::ClampOp>(op);
  clamp.setMin(APFloat(least));
  clamp.setMax(APFloat(most));
}

/// Returns the clamp or the requantize that limits the integers `source` to
/// [least, least + count - 1], apart from a shift. Only `source` may depend on
/// it. Returns null if there is no such op.
static Operation *findSaturation(Value source, size_t count) {
  auto ifLimits = [&](Operation *op) -> Operation * {
    if (!op || !op->hasOneUse() || !isa<nn::ClampOp, nn::RequantizeOp>(op))
      return nullptr;
    const auto [least, most] = boundsOf(op);
    return most - least + 1 == double(count) ? op : nullptr;
  };
  Value value = source;
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    Operation *op = value.getDefiningOp();
    if (!op || (value != source && !value.hasOneUse()))
      return nullptr;
    if (isa<nn::RequantizeOp>(op))
      return ifLimits(op);
    if (isa<nn::RoundOp>(op))
      return ifLimits(op->getOperand(0).getDefiningOp());
    // A zero point only shifts the integers.
    if (!isa<nn::CastOp>(op) &&
        (!isa<nn::AddOp, nn::SubOp>(op) || !nn::getSplat(op->getOperand(1))))
      return nullptr;
    value = op->getOperand(0);
  }
  return nullptr;
}

/// Raises the lower bound and lowers the upper bound of the saturation of a
/// source, as far as the function gives equal integers to `round`.
static bool narrowSource(const ByteFunction &function, nn::RoundOp round) {
  if (!function.hasOneSource())
    return false;
  const size_t count = function.getInputs();
  Operation *saturation = findSaturation(function.getSource(), count);
  if (!saturation || !function.isOnlyReader() ||
      !function.getOps().front()->hasOneUse())
    return false;
  std::optional<std::vector<float>> integers = computeIntegers(function, round);
  if (!integers)
    return false;
  // Counts the inputs at both ends that give one integer in each channel.
  size_t low = count - 1, high = count - 1;
  for (size_t channel = 0; channel < function.getChannels(); ++channel) {
    ArrayRef<float> own = ArrayRef(*integers).slice(channel * count, count);
    size_t equal = 0;
    while (equal + 1 < count && own[equal + 1] == own[0])
      ++equal;
    low = std::min(low, equal);
    equal = 0;
    while (equal + 1 < count && own[count - 2 - equal] == own[count - 1])
      ++equal;
    high = std::min(high, equal);
  }
  // A constant function needs no bound, but at least one input must stay.
  if (low + high >= count || (low == 0 && high == 0))
    return false;
  const auto [least, most] = boundsOf(saturation);
  setBounds(saturation, least + double(low), most - double(high));
  return true;
}

/// Removes the bounds of clamps of `function` that do not change its integers.
/// Returns the number of removed bounds.
static int64_t dropBounds(nn::RoundOp round) {
  StringRef reason;
  std::optional<ByteFunction> function =
      ByteFunction::find(round.getX(), reason);
  if (!function)
    return 0;
  std::optional<std::vector<float>> want = computeIntegers(*function, round);
  if (!want)
    return 0;
  int64_t dropped = 0;
  auto tryBound = [&](APFloat bound, double none, auto set) {
    if (!bound.isFinite())
      return;
    set(APFloat(none));
    if (computeIntegers(*function, round) == want)
      ++dropped;
    else
      set(bound);
  };
  for (Operation *op : function->getOps()) {
    auto clamp = dyn_cast<nn::ClampOp>(op);
    if (!clamp)
      continue;
    tryBound(clamp.getMin(), -HUGE_VAL,
             [&](APFloat bound) { clamp.setMin(bound); });
    tryBound(clamp.getMax(), HUGE_VAL,
             [&](APFloat bound) { clamp.setMax(bound); });
    if (!clamp.getMin().isFinite() && !clamp.getMax().isFinite())
      clamp.getResult().replaceAllUsesWith(clamp.getX());
  }
  return dropped;
}

namespace {

struct NarrowSaturationPass
    : ingot::impl::NarrowSaturationBase<NarrowSaturationPass> {
  using NarrowSaturationBase::NarrowSaturationBase;

  void runOnOperation() override {
    SmallVector<nn::RoundOp> rounds;
    getOperation()->walk([&](nn::RoundOp op) { rounds.push_back(op); });
    // A narrow saturation may allow to narrow the one before it.
    for (nn::RoundOp round : llvm::reverse(rounds)) {
      StringRef reason;
      std::optional<ByteFunction> function =
          ByteFunction::find(round.getX(), reason);
      if (function && narrowSource(*function, round)) {
        ++numNarrowed;
        numDropped += dropBounds(round);
      }
    }
    getOperation()->walk([&](nn::ClampOp op) {
      if (op.use_empty())
        op.erase();
    });
  }
};

} // namespace
