//===- ValueGrid.cpp - tensors of multiples of a step ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/ValueGrid.h"

#include "dialects/nn/Constants.h"
#include "passes/quantize/QuantizationPoints.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Tolerance, relative to a step, for the rounding of f32 constants and for the
/// rounding when constants are folded.
static constexpr double kSlack = 1e-3;
/// Largest integer up to which f32 holds all integers.
static constexpr double kMaxSteps = 1 << 24;
/// Search depth. Ops further up rarely matter for a product's operands.
static constexpr int kMaxDepth = 64;

/// Returns `number` if it is an integer.
static std::optional<int64_t> toWhole(double number) {
  double whole = std::nearbyint(number);
  if (!(std::abs(number) < kMaxSteps) || std::abs(number - whole) > kSlack)
    return std::nullopt;
  return int64_t(whole);
}

static bool isSameStep(double a, double b) {
  return std::abs(a - b) <= 1e-6 * std::min(a, b);
}

/// Returns the grid of integers between two bounds; nullopt if the range is too
/// large or infinite.
static std::optional<ValueGrid> wholeNumbers(double least, double most) {
  if (!(least > -kMaxSteps && most < kMaxSteps && least <= most))
    return std::nullopt;
  return ValueGrid{1, int64_t(least), int64_t(most)};
}

static std::optional<ValueGrid> scaled(std::optional<ValueGrid> grid,
                                       std::optional<double> factor) {
  if (!grid || !factor || *factor == 0 || !std::isfinite(*factor))
    return std::nullopt;
  double step = grid->step * std::abs(*factor);
  if (!std::isnormal(float(step)))
    return std::nullopt;
  if (*factor < 0)
    return ValueGrid{step, -grid->most, -grid->least};
  return ValueGrid{step, grid->least, grid->most};
}

static std::optional<ValueGrid> shifted(std::optional<ValueGrid> grid,
                                        std::optional<double> by) {
  auto steps = grid && by ? toWhole(*by / grid->step) : std::nullopt;
  if (!steps)
    return std::nullopt;
  return ValueGrid{grid->step, grid->least + *steps, grid->most + *steps};
}

/// Returns the grid of clamped values. A bound that lies inside of the grid
/// must be a multiple of the step.
static std::optional<ValueGrid> clamped(std::optional<ValueGrid> grid,
                                        double least, double most) {
  if (!grid || std::isnan(least) || std::isnan(most))
    return std::nullopt;
  if (least > double(grid->least) * grid->step) {
    auto steps = toWhole(least / grid->step);
    if (!steps)
      return std::nullopt;
    grid->least = *steps;
    grid->most = std::max(grid->most, *steps);
  }
  if (most < double(grid->most) * grid->step) {
    auto steps = toWhole(most / grid->step);
    if (!steps)
      return std::nullopt;
    grid->most = *steps;
    grid->least = std::min(grid->least, *steps);
  }
  return grid;
}

/// Returns the grid of values that are one of two constants.
static std::optional<ValueGrid> ofTwo(std::optional<double> a,
                                      std::optional<double> b) {
  if (!a || !b)
    return std::nullopt;
  std::optional<double> step = findStep(
      2, [&](size_t i) { return i == 0 ? *a : *b; },
      std::max(std::abs(*a), std::abs(*b)), 127);
  if (!step)
    return std::nullopt;
  auto [least, most] = std::minmax(*toWhole(*a / *step), *toWhole(*b / *step));
  return ValueGrid{*step, least, most};
}

/// Returns the grid of 8-bit integers or booleans that are cast to float.
static std::optional<ValueGrid> ofCast(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.getWidth() > 8)
    return std::nullopt;
  if (integer.getWidth() == 1)
    return ValueGrid{1, 0, 1};
  auto [least, most] = rangeOf(type);
  return ValueGrid{1, least, most};
}

std::optional<ValueGrid> ValueGridAnalysis::joinedGrid(ValueRange values) {
  std::optional<ValueGrid> joined;
  for (Value value : values) {
    std::optional<ValueGrid> grid = gridOf(value);
    if (!grid)
      return std::nullopt;
    if (!joined) {
      joined = grid;
      continue;
    }
    if (!isSameStep(joined->step, grid->step) ||
        joined->bytes().zeroPoint != grid->bytes().zeroPoint)
      return std::nullopt;
    joined->least = std::min(joined->least, grid->least);
    joined->most = std::max(joined->most, grid->most);
  }
  return joined;
}

std::optional<ValueGrid> ValueGridAnalysis::findGrid(Operation *op) {
  auto constant = [&](unsigned i) { return nn::getSplat(op->getOperand(i)); };
  auto grid = [&](unsigned i) { return gridOf(op->getOperand(i)); };
  auto interval = [&] { return intervals.intervalOf(op->getOperand(0)); };
  if (movesValues(op))
    return isa<nn::ConcatOp>(op) ? joinedGrid(op->getOperands()) : grid(0);
  return llvm::TypeSwitch<Operation *, std::optional<ValueGrid>>(op)
      .Case([&](nn::RoundOp) {
        auto [least, most] = interval();
        return wholeNumbers(std::ceil(least - 0.5 - kSlack),
                            std::floor(most + 0.5 + kSlack));
      })
      .Case([&](nn::FloorOp) {
        auto [least, most] = interval();
        return wholeNumbers(std::floor(least + kSlack),
                            std::floor(most + kSlack));
      })
      .Case([&](nn::CeilOp) {
        auto [least, most] = interval();
        return wholeNumbers(std::ceil(least - kSlack),
                            std::ceil(most - kSlack));
      })
      .Case([](nn::SignOp) {
        return ValueGrid{1, -1, 1};
      })
      .Case([&](nn::CastOp cast) {
        return ofCast(typeOf(cast.getX()).getElementType());
      })
      .Case([&](nn::NegOp) { return scaled(grid(0), -1); })
      .Case([&](nn::MulOp) {
        auto factor = constant(1);
        return factor ? scaled(grid(0), factor) : scaled(grid(1), constant(0));
      })
      .Case([&](nn::DivOp) {
        auto divisor = constant(1);
        return scaled(grid(0), divisor ? std::optional(1 / *divisor) : divisor);
      })
      .Case([&](nn::AddOp) {
        auto by = constant(1);
        return by ? shifted(grid(0), by) : shifted(grid(1), constant(0));
      })
      .Case([&](nn::SubOp) {
        if (auto by = constant(1))
          return shifted(grid(0), -*by);
        return shifted(scaled(grid(1), -1), constant(0));
      })
      .Case([&](nn::ReluOp) { return clamped(grid(0), 0, kInfinity); })
      .Case([&](nn::ClampOp clamp) {
        return clamped(grid(0), clamp.getMin().convertToDouble(),
                       clamp.getMax().convertToDouble());
      })
      .Case([&](nn::SelectOp) { return ofTwo(constant(1), constant(2)); })
      .Default(std::nullopt);
}

std::optional<ValueGrid> ValueGridAnalysis::gridOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  Operation *op = value.getDefiningOp();
  if (!op || !type || !type.getElementType().isF32() || depth == kMaxDepth)
    return std::nullopt;
  if (auto known = grids.find(value); known != grids.end())
    return known->second;
  ++depth;
  std::optional<ValueGrid> grid = findGrid(op);
  --depth;
  return grids[value] = grid;
}

std::optional<double> quantize::findStep(size_t count,
                                         function_ref<double(size_t)> at,
                                         double largest, int64_t most) {
  // Error of folding constants in f32, relative to the largest value.
  constexpr double kRounding = 0x1p-18;
  if (largest == 0)
    return 1;
  if (!std::isfinite(largest))
    return std::nullopt;
  for (int64_t steps = 1; steps <= most; ++steps) {
    const double step = largest / double(steps);
    auto isMultiple = [&](size_t i) {
      double number = at(i) / step;
      return std::abs(number - std::nearbyint(number)) <=
             double(steps) * kRounding;
    };
    if (!llvm::all_of(llvm::seq(count), isMultiple))
      continue;
    // Choose the step that fits all values best. A step computed from the
    // largest value alone would inherit this value's rounding error.
    double products = 0, squares = 0;
    for (size_t i = 0; i < count; ++i) {
      double number = std::nearbyint(at(i) / step);
      products += at(i) * number;
      squares += number * number;
    }
    double fitted = double(float(products / squares));
    return std::isnormal(float(fitted)) ? std::optional(fitted) : std::nullopt;
  }
  return std::nullopt;
}
