//===- QuantizeWeights.cpp - nn-quantize-weights --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "passes/quantize/Passes.h"
#include "passes/quantize/QuantizationPoints.h"
#include "passes/quantize/WeightQuantizer.h"
#include "passes/support/Rules.h"
#include "passes/support/Shapes.h"
#include "passes/support/Thresholds.h"

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

/// Returns true if the product has so many rows that arithmetic limits its
/// speed. This must hold even for float weights that do not fit in the L2
/// cache. An unknown number of rows counts as few.
static bool haveManyRows(nn::MatMulOp op) {
  int64_t rows = support::productOf(support::shapeOf(op.getA()).drop_back());
  return !ShapedType::isDynamic(rows) && rows > threshold::weightsFewRows;
}

/// Returns `number` in steps of `scale`, rounded and clamped.
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

/// Chooses the scale for quantizing `numbers` to integers from `least` to
/// `most`. A negative scale maps the largest positive number to `least`, which
/// has no positive counterpart.
static double findScale(ArrayRef<double> numbers, double least, double most) {
  double extreme = 0;
  for (double number : numbers)
    if (std::abs(number) > std::abs(extreme))
      extreme = number;
  double start = float(extreme / least);
  // If all numbers are zero or almost zero, any scale will do.
  if (!std::isnormal(float(start)))
    return 1;
  // Search only with few bits. Clipping large numbers may then cost less than
  // larger steps.
  if (most > 7) {
    auto scale = float(std::abs(extreme) / most);
    // Decrease the scale until the largest dequantized number is finite.
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
  // If a loop has at most `inCache` float weights, they stay in the cache as
  // well. One kernel then multiplies these weights in all steps, so packing
  // gains nothing.
  const int64_t inCache = threshold::packedWeights(
                    TargetsAttr::of(getOperation()).getNumbers()),
                fewest = least < 0 ? inCache : int64_t(least);
  SmallVector<Operation *> all;
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    auto isWanted = [&](Operation *op) {
      auto matmul = dyn_cast<nn::MatMulOp>(op);
      // Packed products need weights, and a row length that is known at compile
      // time.
      return matmul && !matmul.getTransposeA() && !rules->keeps(op) &&
             typeOf(matmul.getB()).getNumElements() != 0 &&
             !ShapedType::isDynamic(typeOf(matmul.getA()).getShape().back()) &&
             quantize::areFinite(matmul.getB());
    };
    SmallVector<Operation *> products =
        quantize::findProducts(function, isWanted);
    products.append(
        quantize::findInnerProducts(function, inCache + 1, isWanted));
    llvm::append_range(all, products);
  }
  int64_t weights = 0;
  for (Operation *product : all)
    weights += typeOf(cast<nn::MatMulOp>(product).getB()).getNumElements();
  if (weights < fewest) {
    if (!all.empty())
      emitRemark(getOperation().getLoc())
          << "the " << weights
          << " weights of matrix products stay floats: with fewer than "
          << fewest << ", unpacking them takes longer than reading them";
    return;
  }
  bool areEnoughForRows = weights >= threshold::packedRowsFactor * fewest;
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
        << "fewer than " << threshold::packedRowsFactor * fewest
        << " in all, unpacking them takes longer than reading them";
}
