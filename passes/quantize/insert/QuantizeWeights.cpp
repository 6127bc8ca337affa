//===- QuantizeWeights.cpp - nn-quantize-weights --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "passes/quantize/Passes.h"
#include "passes/quantize/Sites.h"
#include "passes/quantize/Weights.h"
#include "passes/support/Rules.h"
#include "passes/support/Shapes.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"

#include <cmath>

namespace ingot {
#define GEN_PASS_DEF_QUANTIZEWEIGHTS
#include "passes/quantize/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using support::typeOf;

namespace {

struct QuantizeWeightsPass
    : ingot::impl::QuantizeWeightsBase<QuantizeWeightsPass> {
  using QuantizeWeightsBase::QuantizeWeightsBase;

  void runOnOperation() override;

private:
  void quantize(nn::MatMulOp op);
};

} // namespace

/// With fewer, weights of a loop stay in the nearest caches as floats, too, and
/// are multiplied in one kernel of all steps. Those of an LSTM of 256 units are
/// too few.
static constexpr int64_t kLeastInLoop = quantize::kWorthPacking + 1;

/// Whether weights serve so many rows that arithmetic takes as long as a cache
/// beyond the second takes to bring floats. Rows of open number may be few.
static bool haveManyRows(nn::MatMulOp op) {
  constexpr int64_t kFewRows = 4;
  int64_t rows = support::productOf(support::shapeOf(op.getA()).drop_back());
  return !ShapedType::isDynamic(rows) && rows > kFewRows;
}

/// So many times the weights that are worth it for few rows are for many.
static constexpr int64_t kTimesForRows = 4;

/// What is left of a number in steps of `scale`.
static double nearest(double number, double scale, double least, double most) {
  return std::clamp(std::nearbyint(number / scale), least, most);
}

static double squaredError(ArrayRef<double> numbers, double scale, double least,
                           double most) {
  double error = 0;
  for (double number : numbers) {
    double off = number - nearest(number, scale, least, most) * scale;
    error += off * off;
  }
  return error;
}

/// The scale of numbers that become integers from `least` to `most`. A negative
/// one lets the greatest be the one that has no counterpart.
static double findScale(ArrayRef<double> numbers, double least, double most) {
  double extreme = 0;
  for (double number : numbers)
    if (std::abs(number) > std::abs(extreme))
      extreme = number;
  double start = float(extreme / least);
  // One of only zeros, or of nearly nothing, has any scale.
  if (!std::isnormal(float(start)))
    return 1;
  // Few bits are worth a search: what is cut off may cost less than steps.
  if (most > 7) {
    auto scale = float(std::abs(extreme) / most);
    // The largest numbers stay numbers when they are multiplied out.
    while (!std::isfinite(scale * float(most)))
      scale = std::nextafter(scale, 0.0f);
    return scale;
  }
  double best = start, lowest = squaredError(numbers, start, least, most);
  for (double factor : {-8.0 / 7, -1.0, 0.9, 0.95, 1.05, 1.1, -0.95, -1.05}) {
    double scale = float(start * factor);
    if (!std::isfinite(float(scale * least)) ||
        !std::isfinite(float(scale * most)))
      continue;
    double error = squaredError(numbers, scale, least, most);
    if (error < lowest) {
      lowest = error;
      best = scale;
    }
  }
  return best;
}

void QuantizeWeightsPass::quantize(nn::MatMulOp op) {
  std::vector<double> values = *nn::getConstantDoubles(op.getB());
  RankedTensorType b = typeOf(op.getB());
  bool isTransposed = op.getTransposeB();
  int64_t depth = b.getDimSize(isTransposed ? 1 : 0),
          columns = b.getDimSize(isTransposed ? 0 : 1);
  int64_t block = bits == 8 ? depth : int64_t(blockSize);
  int64_t blocks = llvm::divideCeil(depth, block), perByte = 8 / bits;
  int64_t bytes = llvm::divideCeil(block, perByte);
  double middle = double(1 << (bits - 1)), most = middle - 1;
  std::vector<char> codes(columns * blocks * bytes, 0);
  std::vector<double> scales(columns * blocks), numbers;
  for (int64_t column = 0; column < columns; ++column)
    for (int64_t at = 0; at < blocks; ++at) {
      numbers.clear();
      for (int64_t k = at * block; k < std::min(depth, (at + 1) * block); ++k)
        numbers.push_back(
            values[isTransposed ? column * depth + k : k * columns + column]);
      double scale = findScale(numbers, -middle, most);
      scales[column * blocks + at] = scale;
      char *codesOfBlock = &codes[(column * blocks + at) * bytes];
      for (auto [i, number] : llvm::enumerate(numbers)) {
        auto code =
            unsigned(nearest(number, scale, -middle, most) + middle);
        codesOfBlock[i / perByte] |= char(code << (i % perByte * bits));
      }
    }
  OpBuilder builder(op);
  Location loc = op.getB().getLoc();
  Type byte = builder.getIntegerType(8, /*isSigned=*/false);
  auto codesType = RankedTensorType::get({columns, blocks, bytes}, byte);
  Value packed = arith::ConstantOp::create(
      builder, loc, nn::makeConstantAttr(codesType, std::move(codes)));
  Value factors = nn::makeConstant(
      builder, loc, b.clone(ArrayRef<int64_t>{columns, blocks}), scales);
  Value y = nn::PackedMatMulOp::create(
      builder, op.getLoc(), op.getType(), op.getA(), packed, factors,
      /*zero_points=*/Value(), bits, block, depth);
  if (Value bias = op.getBias())
    y = nn::AddOp::create(builder, op.getLoc(), op.getType(), y, bias);
  op.replaceAllUsesWith(y);
  op.erase();
  ++quantized;
}

void QuantizeWeightsPass::runOnOperation() {
  if ((bits != 4 && bits != 8) || blockSize < 8 || blockSize % 8 != 0) {
    emitError(UnknownLoc::get(&getContext()))
        << "expects 4 or 8 bits and blocks of whole words of 8 elements, but "
           "got "
        << bits << " and " << blockSize;
    return signalPassFailure();
  }
  FailureOr<KeepRules> rules =
      KeepRules::parse(getOperation(), keep);
  if (failed(rules))
    return signalPassFailure();
  SmallVector<Operation *> all;
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    auto isWanted = [&](Operation *op) {
      auto matmul = dyn_cast<nn::MatMulOp>(op);
      // Sums of nothing, and of rows whose length only a run knows, are no
      // packed products.
      return matmul && !matmul.getTransposeA() && !rules->keeps(op) &&
             typeOf(matmul.getB()).getNumElements() != 0 &&
             !ShapedType::isDynamic(typeOf(matmul.getA()).getShape().back()) &&
             quantize::areFinite(matmul.getB());
    };
    SmallVector<Operation *> products =
        quantize::findProducts(function, isWanted);
    products.append(
        quantize::findInnerProducts(function, kLeastInLoop, isWanted));
    llvm::append_range(all, products);
  }
  int64_t weights = 0;
  for (Operation *product : all)
    weights += typeOf(cast<nn::MatMulOp>(product).getB()).getNumElements();
  if (weights < least) {
    if (!all.empty())
      emitRemark(getOperation().getLoc())
          << "the " << weights
          << " weights of matrix products stay floats: with fewer than "
          << int64_t(least)
          << ", to unpack them takes longer than to read them";
    return;
  }
  bool areEnoughForRows = weights >= kTimesForRows * least;
  int64_t left = 0;
  for (Operation *product : all) {
    auto matmul = cast<nn::MatMulOp>(product);
    if (areEnoughForRows || !haveManyRows(matmul))
      quantize(matmul);
    else
      left += typeOf(matmul.getB()).getNumElements();
  }
  if (left != 0)
    emitRemark(getOperation().getLoc())
        << left << " weights of matrix products of many rows stay floats: with "
        << "fewer than " << kTimesForRows * least
        << " in all, to unpack them takes longer than to read them";
}
