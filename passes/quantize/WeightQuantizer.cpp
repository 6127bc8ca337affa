//===- WeightQuantizer.cpp - constant weights as int8 ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/WeightQuantizer.h"

#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "dialects/nn/NodeName.h"
#include "passes/backend/Policy.h"
#include "passes/quantize/PairFit.h"
#include "passes/quantize/QuantizationPoints.h"
#include "passes/quantize/ValueGrid.h"
#include "passes/support/Shapes.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;

static double mostOf(int bits) { return bits == 8 ? 127 : 64; }

bool quantize::findWeightScale(size_t count,
                               llvm::function_ref<double(size_t)> at,
                               double largest, int bits, double &scale) {
  const double most = mostOf(bits);
  if (auto step = findStep(count, at, largest, int64_t(most))) {
    scale = *step;
    return false;
  }
  scale = double(float(largest / most));
  // If the weights of the channel are almost zero, every scale is good enough.
  if (!std::isnormal(float(scale)))
    scale = 1;
  return true;
}

QuantizedWeights quantize::quantizeWeights(Value weights, int64_t axis,
                                           int bits,
                                           std::optional<int64_t> pairedAxis) {
  const double most = mostOf(bits);
  auto type = cast<RankedTensorType>(weights.getType());
  QuantizedWeights result;
  std::vector<double> &values = result.bytes;
  std::vector<double> &scales = result.scales;
  values = *nn::getConstantDoubles(weights);
  scales.resize(size_t(type.getDimSize(axis)));
  result.axis = axis;
  for (int64_t dim : type.getShape().drop_front(axis + 1))
    result.inner *= dim;
  result.forEachRun([&](size_t channel, size_t begin, size_t end) {
    double &scale = scales[channel];
    for (size_t i = begin; i < end; ++i)
      scale = std::max(scale, std::abs(values[i]));
  });
  llvm::BitVector isExact(unsigned(scales.size()));
  for (size_t channel = 0; channel < scales.size(); ++channel) {
    const size_t inner = result.inner;
    double &scale = scales[channel];
    auto at = [&](size_t i) {
      return values[(i / inner * scales.size() + channel) * inner + i % inner];
    };
    if (!findWeightScale(values.size() / scales.size(), at, scale, bits, scale))
      isExact.set(unsigned(channel));
  }
  result.isExact = isExact.all();
  std::optional<PairLayout> pairs;
  if (pairedAxis)
    pairs.emplace(type.getShape(), *pairedAxis);
  if (pairs && !widenForPairs(result, *pairs, isExact))
    pairs.reset();
  const std::vector<double> unrounded = pairs ? values : std::vector<double>();
  result.forEachRun([&](size_t channel, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      values[i] =
          std::clamp(std::nearbyint(values[i] / scales[channel]), -most, most);
  });
  if (pairs)
    lowerPairs(result, *pairs, unrounded, isExact);
  return result;
}

bool quantize::areFinite(Value weights) {
  return llvm::all_of(*nn::getConstantDoubles(weights),
                      [](double value) { return std::isfinite(value); });
}

bool quantize::fitBytes(Value weights) {
  return llvm::all_of(*nn::getConstantDoubles(weights), [](double value) {
    return std::abs(value) <= kMaxSumScale;
  });
}

WeightRoundings quantize::namedRoundings(CalibrationAttr calibration) {
  WeightRoundings roundings;
  for (WeightRoundingAttr rounding : calibration.getRounding())
    roundings[rounding.getName()] = rounding;
  return roundings;
}

/// Rounds each weight up or down as `rounding` says. Without a rounding,
/// weights are rounded to the nearest integer.
static void roundAsSaid(QuantizedWeights &quantized, Value weights,
                        WeightRoundingAttr rounding) {
  const std::vector<double> values = *nn::getConstantDoubles(weights);
  const ArrayRef<char> up = rounding.getBytes();
  for (size_t i = 0; i < values.size(); ++i) {
    const double steps = values[i] / quantized.scales[quantized.channelOf(i)];
    quantized.bytes[i] =
        std::clamp(WeightRoundingAttr::isUp(up, quantized.inChannelOrder(i))
                       ? std::ceil(steps)
                       : std::floor(steps),
                   -mostOf(8), mostOf(8));
  }
}

/// Creates the int8 weights and their nn.dequantize.
static Value makeBytes(Operation *product, Value weights, int64_t axis,
                       const QuantizedWeights &quantized) {
  auto type = cast<RankedTensorType>(weights.getType());
  OpBuilder builder(product);
  builder.setInsertionPointAfterValue(weights);
  Location loc = weights.getLoc();
  Type byte = builder.getIntegerType(8, /*isSigned=*/true);
  Value bytes =
      nn::makeConstant(builder, loc, type.clone(byte), quantized.bytes);
  Value scale =
      nn::makeConstant(builder, loc,
                       RankedTensorType::get(int64_t(quantized.scales.size()),
                                             type.getElementType()),
                       quantized.scales);
  return nn::DequantizeOp::create(builder, loc, type, bytes, scale,
                                  /*zero_point=*/Value(),
                                  builder.getI64IntegerAttr(axis));
}

/// Returns the rounding of the weights of `product`, or null. Products that
/// share weights share the rounding, which has the name of one of them.
WeightRoundingAttr WeightQuantizer::roundingOf(Operation *product) const {
  if (roundings.empty())
    return {};
  Value shared = product->getOperand(weightsOperand(product));
  for (OpOperand &use : shared.getUses()) {
    Operation *user = use.getOwner();
    // Use roundings only outside of loops. A product in a loop may have the
    // same node name as a product before the loop, which computes all steps.
    // The calibration's rounding belongs to the product before the loop.
    if (!isProduct(user) || !isa<func::FuncOp>(user->getParentOp()) ||
        use.getOperandNumber() != weightsOperand(user) ||
        weightsAxis(user) != weightsAxis(product))
      continue;
    if (auto rounding = roundings.find(nodeNameOf(user->getLoc()));
        rounding != roundings.end())
      return rounding->second;
  }
  return {};
}

/// Creates the weights of a product with a matrix for each batch as one matrix.
/// It has a row for each output of each batch.
static Value makeRows(nn::MatMulOp product) {
  Value weights = product.getB();
  auto type = cast<RankedTensorType>(weights.getType());
  const int64_t outputs = type.getDimSize(weightsAxis(product)),
                terms = type.getDimSize(termsAxis(product));
  const int64_t batches = support::productOf(type.getShape().drop_back(2));
  std::vector<double> values = *nn::getConstantDoubles(weights);
  if (!product.getTransposeB()) {
    std::vector<double> rows(values.size());
    for (int64_t b = 0; b < batches; ++b)
      for (int64_t k = 0; k < terms; ++k)
        for (int64_t o = 0; o < outputs; ++o)
          rows[size_t((b * outputs + o) * terms + k)] =
              values[size_t((b * terms + k) * outputs + o)];
    values = std::move(rows);
  }
  OpBuilder builder(product);
  builder.setInsertionPointAfterValue(weights);
  return nn::makeConstant(
      builder, weights.getLoc(),
      type.clone(ArrayRef<int64_t>{batches * outputs, terms}), values);
}

void quantize::WeightQuantizer::quantizeBatches(nn::MatMulOp product) {
  Value old = product.getB();
  auto type = cast<RankedTensorType>(old.getType());
  Value &done = weights[{old, {weightsAxis(product), -1}}];
  if (!done) {
    SmallVector<int64_t> shape(type.getShape().drop_back(2));
    shape.append({type.getDimSize(weightsAxis(product)),
                  type.getDimSize(termsAxis(product))});
    Value rows = makeRows(product);
    Value matrix = makeBytes(product, rows, /*axis=*/0,
                             quantizeWeights(rows, /*axis=*/0, form.bits));
    rows.getDefiningOp()->erase();
    OpBuilder builder(product);
    builder.setInsertionPointAfterValue(matrix);
    done =
        nn::ReshapeOp::create(builder, old.getLoc(), type.clone(shape), matrix);
  }
  product.getBMutable().assign(done);
  product.setTransposeB(true);
}

LogicalResult quantize::WeightQuantizer::quantize(Operation *product) {
  if (auto matmul = dyn_cast<nn::MatMulOp>(product);
      matmul && hasMatrixPerBatch(matmul)) {
    quantizeBatches(matmul);
    return success();
  }
  OpOperand &operand = product->getOpOperand(weightsOperand(product));
  const int64_t axis = weightsAxis(product);
  const bool isInLoop = !isa<func::FuncOp>(product->getParentOp());
  if (Value done = rounded.lookup({operand.get(), axis}); done && !isInLoop) {
    operand.set(done);
    return success();
  }
  WeightRoundingAttr rounding =
      isInLoop ? WeightRoundingAttr() : roundingOf(product);
  if (!rounding) {
    std::optional<int64_t> paired;
    if (form.fitsPairs) {
      auto fit = Policy::of(product).fitPairs(product);
      paired = fit.choice;
      record(product, Question::scales,
             paired ? "for pairs of weights" : "for the largest weights",
             fit.reason);
    }
    Value &done = weights[{operand.get(), {axis, paired.value_or(-1)}}];
    if (!done)
      done = makeBytes(product, operand.get(), axis,
                       quantizeWeights(operand.get(), axis, form.bits, paired));
    operand.set(done);
    return success();
  }
  QuantizedWeights quantized = quantizeWeights(operand.get(), axis, form.bits);
  const size_t bytes = llvm::divideCeil(quantized.bytes.size(), 8);
  const size_t given = rounding.getBytes().size();
  if (given != bytes)
    return product->emitError()
           << "expects the rounding of " << quantized.bytes.size()
           << " weights in " << bytes << " bytes, but the calibration has "
           << given;
  roundAsSaid(quantized, operand.get(), rounding);
  Value done = makeBytes(product, operand.get(), axis, quantized);
  rounded[{operand.get(), axis}] = done;
  operand.set(done);
  return success();
}
