//===- QuantizeWeights.cpp - nn-quantize-weights --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "passes/backend/Policy.h"
#include "passes/quantize/Passes.h"
#include "passes/quantize/QuantizationPoints.h"
#include "passes/support/PackedCodes.h"
#include "passes/support/PackedRange.h"
#include "passes/support/Reason.h"
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
  /// Adds the products of `function` that may have packed weights. Leaves out
  /// the products of loops for which the device's policy declines.
  void addCandidates(func::FuncOp function, const KeepRules &rules,
                     SmallVectorImpl<nn::MatMulOp> &all);
  /// Returns true if packed products can have the weights of `op`. Otherwise
  /// records that `op` stays float32.
  bool canPack(nn::MatMulOp op);
  /// Records the answer for `op`, and returns the choice.
  bool recordForm(nn::MatMulOp op, const Answer<bool> &answer);
  void quantize(nn::MatMulOp op);
};

} // namespace

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
  if (start == 0)
    return 1;
  // Kernels take smaller scales for zero.
  if (std::abs(start) < support::kMinPackedScale)
    return std::copysign(support::kMinPackedScale, start);
  // Search only with few bits. Clipping large numbers may then cost less than
  // larger steps.
  if (most > 7)
    return float(std::abs(extreme) / most);
  double best = start, lowest = squaredError(numbers, start, least, most);
  for (double factor : {-8.0 / 7, -1.0, 0.9, 0.95, 1.05, 1.1, -0.95, -1.05}) {
    double scale = float(start * factor);
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
  int64_t blocks = llvm::divideCeil(depth, block);
  int64_t bytes = llvm::divideCeil(block, 8 / bits);
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
        support::writeCode(codesOfBlock, int64_t(i), bits, code);
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

bool QuantizeWeightsPass::recordForm(nn::MatMulOp op,
                                     const Answer<bool> &answer) {
  return record(op, Question::precision, answer, "int" + std::to_string(bits),
                "float32");
}

/// Says why packed products cannot have the weights of `op`.
static Reason whyNotPacked(nn::MatMulOp op, unsigned bits) {
  if (typeOf(op.getB()).getRank() != 2)
    return "has a matrix of weights for each batch, and packed weights are one "
           "matrix";
  const std::vector<double> weights = *nn::getConstantDoubles(op.getB());
  double largest = 0;
  for (double weight : weights) {
    if (!std::isfinite(weight))
      return "has weights that are not finite";
    largest = std::max(largest, std::abs(weight));
  }
  const double scale = largest / double((1 << (bits - 1)) - 1);
  if (!support::fitPackedScales(scale))
    return "has weights so large or so small that packed products leave the "
           "range of float32";
  return std::nullopt;
}

bool QuantizeWeightsPass::canPack(nn::MatMulOp op) {
  Reason reason = whyNotPacked(op, bits);
  return !reason || recordForm(op, {false, *reason});
}

void QuantizeWeightsPass::addCandidates(func::FuncOp function,
                                        const KeepRules &rules,
                                        SmallVectorImpl<nn::MatMulOp> &all) {
  auto isWanted = [&](Operation *op) {
    auto matmul = dyn_cast<nn::MatMulOp>(op);
    // Packed products need weights, and a row length that is known at compile
    // time.
    return matmul && !matmul.getTransposeA() && !rules.keeps(op) &&
           typeOf(matmul.getB()).getNumElements() != 0 &&
           !ShapedType::isDynamic(typeOf(matmul.getA()).getShape().back());
  };
  quantize::recordBroadcastBatches(function);
  for (Operation *product : quantize::findProducts(function, isWanted))
    if (auto matmul = cast<nn::MatMulOp>(product); canPack(matmul))
      all.push_back(matmul);
  SmallVector<Operation *> inner =
      quantize::findInnerProducts(function, isWanted);
  llvm::erase_if(
      inner, [&](Operation *op) { return !canPack(cast<nn::MatMulOp>(op)); });
  llvm::DenseMap<Operation *, int64_t> weightsOf =
      quantize::countWeightsInLoops(inner);
  for (Operation *op : inner) {
    auto product = cast<nn::MatMulOp>(op);
    Operation *loop = quantize::loopOf(op);
    Answer<bool> answer = {true, ""};
    if (loop && !rules.converts(op))
      answer = Policy::of(op).packWeightsInLoop(product, weightsOf[loop]);
    if (answer.choice)
      all.push_back(product);
    else
      recordForm(product, answer);
  }
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
      KeepRules::parse(getOperation(), keep, bits == 8 ? "w8" : "w4");
  if (failed(rules))
    return signalPassFailure();
  SmallVector<nn::MatMulOp> all;
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (!function.isExternal())
      addCandidates(function, *rules, all);
  int64_t weights = 0;
  for (nn::MatMulOp product : all)
    weights += typeOf(product.getB()).getNumElements();
  for (nn::MatMulOp product : all)
    if (recordForm(product, rules->converts(product)
                                ? Answer<bool>{true, kRuleConverts}
                                : Policy::of(product).packWeights(
                                      product, {bits, weights, least})))
      quantize(product);
}
